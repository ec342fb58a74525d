// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"

	"incforge/inc"
	"incforge/network/fabric"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

func messages(t *rig.T) {
	n, c := t.StarNet(t.DefaultLink())
	c.PostRandom(20)
	runLossless(n, c)
}

func barriers(t *rig.T) {
	n, c := t.StarNet(t.DefaultLink(), rig.WithBarrier())
	for range 40 {
		c.Post(0, false, false)
	}
	runLossless(n, c)
}

func lineRate(t *rig.T) {
	link := t.DefaultLink()
	link.Latency, link.BytesPerCycle = 2, float64(4*t.Params.BusBytes)
	n, c := t.StarNet(link)
	for range 10 {
		c.Post(4*t.Params.MTUBytes, false, false)
	}
	runLossless(n, c)
}

func tree(t *rig.T) {
	for _, levels := range []int{3, 4} {
		t.In(fmt.Sprintf("%d levels", levels), func() {
			n := t.Tree(levels, min(2, t.Params.Members), t.DefaultLink())
			c := n.AddComm(0, 1)
			c.PostRandom(15)
			n.Run()
			n.Finish()
			undisturbed(c)
		})
	}
}

// runLossless runs a star without faults and checks hosts and counters: each packet went through once.
func runLossless(n *rig.Network, c *rig.Comm) {
	n.Run()
	n.Finish()
	t, ranks := n.T, uint64(len(c.Hosts))
	if !undisturbed(c) {
		return
	}
	got, err := n.Nodes[0].E.Finish()
	t.Check(err)
	if t.Messages() {
		t.Counted(fmt.Sprintf("%d ranks", ranks), got, ofMessages(c))
		return
	}
	packets := uint64(c.Hosts[0].Acknowledged())
	ranAhead := got[inc.DropFull.String()] > 0 // in Mode III, ahead of the others; it was refused and sent again
	want := map[inc.Counter]uint64{inc.Agg: ranks * packets, inc.Buffered: (ranks - 1) * packets, inc.TxResult: packets,
		inc.TxFanout: ranks * packets, inc.RxAck: ranks * packets}
	if !ranAhead {
		want[inc.UpData] = ranks * packets
	}
	if !t.Pipes() {
		want[inc.Wipe], want[inc.TxReflect] = packets, ranks*packets
	} else {
		want[inc.Wipe], want[inc.TxReflect], want[inc.RxNak], want[inc.Timeout] = 2*packets, 0, 0, 0
		if !ranAhead {
			want[inc.TxAck] = ranks * packets
		}
	}
	t.Counted(fmt.Sprintf("%d ranks, %d packets", ranks, packets), got, want)
}

// ofMessages is what a Mode I engine has counted when nothing was lost: packets by every host's own cuts. How many ACKs these took is up to
// who asked for them.
func ofMessages(c *rig.Comm) map[inc.Counter]uint64 {
	in, out, messages := uint64(0), uint64(0), uint64(len(c.Hosts[0].Received()))
	for _, h := range c.Hosts {
		in, out = in+uint64(h.Acknowledged()), out+uint64(h.Stats.Accepted)
	}
	return map[inc.Counter]uint64{inc.Agg: in, inc.Buffered: in - messages, inc.TxResult: messages, inc.TxFanout: out, inc.TxRetransmit: 0,
		inc.Wipe: 2 * messages, inc.TxReflect: 0, inc.RxNak: 0, inc.Timeout: 0, inc.TxInvalid: 0}
}

func wrap(t *rig.T) {
	link := t.DefaultLink()
	link.Up, link.Down = fabric.Faults{Loss: 0.02}, fabric.Faults{Loss: 0.02}
	n, c := t.StarNet(link, rig.WithStart(0xFFFFF0))
	for range 64 {
		c.Post(4+4*t.Rand.IntN(8), false, false)
	}
	n.Run()
	n.Finish()
}

func receiverNotReady(t *rig.T) {
	n, c := t.StarNet(t.DefaultLink())
	for _, h := range c.Hosts {
		h.SetReceives(0)
	}
	n.Net.OnQuantum = func(uint64) error {
		for _, h := range c.Hosts {
			answered := rig.ByMode(t, h.Stats.RNRsObeyed, h.Stats.RNRsSent) // in Mode III it is the switch that obeys
			if h.Receives() == 0 && answered > len(h.Received())/4 {
				h.SetReceives(3)
			}
		}
		return nil
	}
	c.PostRandom(12)
	n.Run()
	for _, h := range c.Hosts {
		if !t.Pipes() && h.Stats.RNRsObeyed == 0 {
			t.Fatalf("a host without receives never saw its RNR NAK come back: %+v", h.Stats)
		}
		h.SetReceives(-1)
	}
	n.Finish()
}

func groups(t *rig.T) {
	n := t.Tree(2, t.Params.Members, t.DefaultLink())
	count := min(rig.MaxGroups(t.Params), 8)
	for i := range count {
		var opts []rig.GroupOption
		if i%3 == 2 {
			opts = append(opts, rig.WithBarrier())
		}
		n.AddComm(i, count, opts...).PostRandom(6)
	}
	hesitate(n)
	n.Run()
	n.Finish()
}

func chaosStar(t *rig.T) { chaos(t, 2, t.Params.Members) }

func chaosTree(t *rig.T) { chaos(t, 3+t.Rand.IntN(2), min(2, t.Params.Members)) }

func chaosBarrier(t *rig.T) { chaos(t, 3+t.Rand.IntN(2), min(2, t.Params.Members), rig.WithBarrier()) }

// chaos runs messages, or barriers, over links with faults of every kind.
func chaos(t *rig.T, levels, degree int, opts ...rig.GroupOption) {
	link := t.DefaultLink()
	link.Up, link.Down = faults(t, 0.01), faults(t, 0.01)
	n := t.Tree(levels, degree, link)
	c := n.AddComm(0, 1, opts...)
	hesitate(n)
	for _, h := range c.Hosts { // receives run out now and then
		h.SetReceives(2)
	}
	n.Net.OnQuantum = func(uint64) error {
		for _, h := range c.Hosts {
			if h.Receives() == 0 && t.Rand.IntN(40) == 0 {
				h.SetReceives(1 + t.Rand.IntN(4))
			}
		}
		return nil
	}
	if c.Barrier {
		for range t.Count(80, 800) {
			c.Post(0, false, false)
		}
	} else {
		c.PostRandom(t.Count(80, 400))
	}
	n.Run()
	n.Finish()
}

// faults are those of a link, of every kind at that rate.
func faults(t *rig.T, rate float64) fabric.Faults {
	f := fabric.Faults{Loss: rate, Duplicate: rate, Reorder: rate, Corrupt: rate, Jitter: 60, ReorderDelay: 1500, FlagErrors: 0.3}
	if !t.Params.ICRCCheck { // then the Ethernet FCS must find all of it
		f.FlagErrors = 1
	}
	return f
}

// hesitate makes all interfaces of all engines pause now and then, more on some than on others.
func hesitate(n *rig.Network) {
	r := n.T.Rand
	for _, nd := range n.Nodes {
		nd.E.SetPauses(dut.Pauses{Seed: r.Uint64(), In: 0.2 * r.Float64(), Ready: 0.3 * r.Float64(), Registers: 0.3, Burst: 1 + r.IntN(12)})
	}
}
