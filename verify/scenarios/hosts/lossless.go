// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"

	"incforge/inc"
	"incforge/verify/rig"
)

func messages(t *rig.T) {
	n, c := t.StarNet(t.DefaultLink())
	c.PostRandom(20)
	n.Run()
	finishLossless(n, c)
}

func barriers(t *rig.T) {
	n, c := t.StarNet(t.DefaultLink(), rig.WithBarrier())
	for range 40 {
		c.Post(0, false, false)
	}
	n.Run()
	finishLossless(n, c)
}

func lineRate(t *rig.T) {
	link := t.DefaultLink()
	link.Latency, link.BytesPerCycle = 2, float64(4*t.Params.BusBytes)
	n, c := t.StarNet(link)
	for range 10 {
		c.Post(4*t.Params.MTUBytes, false, false)
	}
	n.Run()
	finishLossless(n, c)
}

func tree(t *rig.T) {
	for _, levels := range []int{3, 4} {
		t.In(fmt.Sprintf("%d levels", levels), func() {
			n := t.Tree(levels, min(2, t.Params.Members), t.DefaultLink())
			c := n.AddComm(0, 1)
			c.PostRandom(15)
			n.Run()
			n.Finish()
			for _, h := range c.Hosts {
				if h.Stats.Resent > 0 && !t.Pipes() { // there a rank may run ahead of the others until a pipe is full
					t.Fatalf("no fault was planted, but %+v", h.Stats)
				}
			}
		})
	}
}

// finishLossless finishes the run of a star without faults and checks hosts and counters: each packet went through once.
func finishLossless(n *rig.Network, c *rig.Comm) {
	n.Finish()
	t, ranks := n.T, uint64(len(c.Hosts))
	for _, h := range c.Hosts {
		if !t.Pipes() && h.Stats.Resent > 0 || h.Stats.Timeouts+h.Stats.NAKsSent+h.Stats.DupSeen > 0 {
			t.Fatalf("no fault was planted, but %+v", h.Stats)
		}
	}
	got, err := n.Nodes[0].E.Finish()
	t.Check(err)
	packets := uint64(c.Hosts[0].Acknowledged())
	ranAhead := got[inc.DropFull.String()] > 0 // in Mode III, ahead of the others; it was refused and sent again
	counted := func(counter inc.Counter, want uint64) {
		if n, ok := got[counter.String()]; !ok || n != want {
			t.Fatalf("%v is %d, expected %d (%d ranks, %d packets)", counter, n, want, ranks, packets)
		}
	}
	counted(inc.Agg, ranks*packets)
	counted(inc.Buffered, (ranks-1)*packets)
	counted(inc.TxResult, packets)
	counted(inc.TxFanout, ranks*packets)
	counted(inc.RxAck, ranks*packets)
	if !ranAhead {
		counted(inc.UpData, ranks*packets)
	}
	if !t.Pipes() {
		counted(inc.Wipe, packets)
		counted(inc.TxReflect, ranks*packets)
		return
	}
	if !ranAhead {
		counted(inc.TxAck, ranks*packets)
	}
	counted(inc.Wipe, 2*packets)
	counted(inc.TxReflect, 0)
	counted(inc.RxNak, 0)
	counted(inc.Timeout, 0)
}
