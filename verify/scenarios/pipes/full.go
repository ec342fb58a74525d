// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"fmt"
	"math/bits"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// full tries every way of refusing data, to hosts and to switches.
func full(t *rig.T) {
	for round, ctrl := range []inc.PipeCtrl{{RNRTimer: 1, RNR: true}, {RNRTimer: 31, RNR: true, CNP: true}, {RNRTimer: 0, RNR: true},
		{RNR: false, CNP: true}, {}} {
		for _, host := range []bool{true, false} {
			t.In(fmt.Sprintf("%+v, host %v", ctrl, host), func() { overtaking(t, t.PipeSize(round), ctrl, host) })
		}
	}
}

// overtaking has one endpoint run ahead of the others until its pipe is full, be refused each time that it tries again, and go on once
// they have caught up.
func overtaking(t *rig.T, size int, ctrl inc.PipeCtrl, host bool) {
	g := star(t, rig.WithPipe(size))
	m, n := g.Members(), g.MW()
	fast := m[0]
	g.Ends[fast].Host = host
	g.Program()
	t.Check(g.E.Ctl.SetPipes(ctrl, rig.LongTimeout))
	var rounds []*rig.Round
	for k := range n + 3 {
		rounds = append(rounds, g.Round(g.PSN(k), 12).Draw(fast))
	}
	send := func(k int) *rig.Sending { return rounds[k].Send(fast) }
	for k := range n {
		send(k).As("within the pipe").Expect(rig.AckTo(fast, g.PSN(k)))
	}
	counted := map[inc.Counter]uint64{inc.DropFull: 2, inc.DropGap: 4, inc.TxRnr: 0, inc.TxCnp: 0, inc.TxGapNak: 0}
	var refusal []rig.Want
	if ctrl.RNR {
		refusal = append(refusal, rig.AETHTo(fast, g.PSN(n), roce.RNRSyndrome|ctrl.RNRTimer))
		counted[inc.TxRnr] = 2
	}
	if ctrl.CNP && host {
		refusal = append(refusal, rig.CNPTo(fast, g.PSN(n)))
		counted[inc.TxCnp] = 2
	}
	for range 2 {
		send(n).As("beyond the pipe").Expect(refusal...)
		send(n + 1).As("behind what was refused").Expect()
		send(n + 2).As("behind what was refused").Expect()
	}
	for k := range n { // the others catch up
		g.contribute(rounds[k], m[1:], m...)
		g.Acknowledge(g.PSN(k), m...)
	}
	for k := n; k < min(n+3, 2*n); k++ {
		send(k).As("sent again").Expect(rig.AckTo(fast, g.PSN(k)))
	}
	g.E.Counted("in the end", counted)
}

func turn(t *rig.T) {
	for round := range 5 {
		size, members := t.PipeSize(round), t.Params.Members
		if round == 4 {
			members = 1 // when it has acknowledged it is the only one that keeps up
		}
		// The PSN wraps between what is in one pipe and what is in the other: 2^24 is a multiple of few sizes.
		g := group{t.PipeEngine(rig.LongTimeout).Group(0, 1, members, false, rig.WithPipe(size), rig.WithStart(roce.PSN(0).Add(-size)))}
		m, n := g.Members(), g.MW()
		results := g.fillBoth()
		for _, c := range m {
			g.Send(g.Data(c, g.PSN(2*n), g.Values(16))).As("beyond both pipes").Expect(refusalTo(c, g.PSN(2*n)))
		}
		var again []rig.Want // what nobody has acknowledged is still there, whole
		for k := range n {
			again = append(again, rig.DataTo(m[0], g.PSN(k), results[k]))
		}
		g.Send(g.NAK(m[0], g.PSN(0))).As("a NAK with both pipes full").Expect(again...)
		for k := range n {
			order := t.Shuffled(m)
			g.Acknowledge(g.PSN(k), order[1:]...)
			g.Send(g.Ack(order[0], g.PSN(k))).As("the last ACK").Expect(rig.Copies(rig.DataTo(0, g.PSN(n+k), results[n+k]), m...)...)
		}
		g.Acknowledge(g.PSN(2*n-1), m...)
		g.E.StepTo(g.E.Now() + uint64(2*n)) // slots that are freed are counted one a cycle
		g.E.Counted("both pipes filled and emptied", map[inc.Counter]uint64{inc.Wipe: uint64(4 * n), inc.TxResult: uint64(2 * n),
			inc.TxFanout: uint64(2*n*len(m) + n), inc.TxRetransmit: uint64(n), inc.DropFull: uint64(len(m)), inc.TxGapNak: 0})
	}
}

// fillBoth fills a root's pipes and returns the results: those of the first leave, the others wait for room.
func (g group) fillBoth() (results [][]byte) {
	for k := range 2 * g.MW() {
		var to []int
		if k < g.MW() {
			to = g.Members()
		}
		results = append(results, g.collective(g.PSN(k), to...))
	}
	return results
}

func settings(t *rig.T) {
	e := t.PipeEngine(rig.LongTimeout)
	g := group{e.MakeGroup(0, 1, t.Params.Members, false)}
	most := 1 << g.Set.Log2N >> 1
	for _, n := range []int{0, 1, 2, 3, most - 1, most, most + 1, 2 * most, 1 << 23, 1<<24 - 1} {
		t.In(fmt.Sprintf("pipes of %d slots, of at most %d", n, most), func() {
			if g.Set.PipeSlots = n; n > most {
				if g.Disable(); g.TryEnable() {
					t.Fatalf("enabled")
				}
				return
			}
			g.Program()
			g.fillBoth()
			c, end := g.Members()[0], g.PSN(2*g.MW())
			g.Send(g.Data(c, end, nil)).As("beyond both pipes").Expect(refusalTo(c, end))
		})
	}
	t.In("the ring of all slots", func() { aroundTheEnd(t) })
}

// aroundTheEnd fills the pipes of a root that has all the slots there are, for pipes of one less than half of them. Once the first half has been acknowledged, what comes
// lies behind the end of the ring, and leaves as it is.
func aroundTheEnd(t *rig.T) {
	const most = 5
	g := group{t.PipeEngine(rig.LongTimeout).MakeGroup(0, 1, t.Params.Members, false)}
	g.Set.Log2N = min(bits.Len(uint(t.Params.Slots()/g.Units()))-1, most)
	g.Set.PipeSlots = max(1<<g.Set.Log2N>>1-1, 1)
	g.Program()
	m, n, results := g.Members(), g.MW(), g.fillBoth()
	acknowledged := func(k int) { // and the next pipe leaves
		g.Acknowledge(g.PSN(k*n-1), m[1:]...)
		var want []rig.Want
		for i := range n {
			want = append(want, rig.Copies(rig.DataTo(0, g.PSN(k*n+i), results[k*n+i]), m...)...)
		}
		g.Send(g.Ack(m[0], g.PSN(k*n-1))).As("the last ACK").Expect(want...)
	}
	acknowledged(1)
	for i := range n {
		results = append(results, g.collective(g.PSN(2*n+i)))
	}
	acknowledged(2)
}
