// SPDX-License-Identifier: Apache-2.0

package parking

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
	sent "incforge/verify/scenarios/messages"
)

// inMessages parks a group of Mode I between messages of several packets, and tries to within them. Connections have PSNs and path MTUs of their own, and pools
// get other slots and other sizes each time.
func inMessages(t *rig.T) {
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false, rig.WithLog2N(2))
	g.DrawConnections()
	g.Program()
	c := sent.NewCutter(g)
	most := 1
	for 2<<most*g.Units() <= t.Params.Slots() {
		most++
	}
	refused := uint64(0)
	c.Within = func() {
		if t.Rand.IntN(3) > 0 {
			return
		}
		if try(g) {
			t.Fatalf("the group was parked within a message")
		}
		status(g, false, true)
	}
	longest := g.Whole(t.Params.MessageBytes)
	c.Message(longest)
	for round := range t.Count(8, 80) {
		park(g)
		end := g.Members()[t.Rand.IntN(len(g.Members()))]
		next, mtu := c.Next(end), g.Ends[end].PathMTU
		for range 2 {
			f := g.Data(end, next, g.Values(mtu), func(p *roce.Packet) { p.Op = roce.SendFirst })
			g.Send(f).As("the first packet of a message of a parked group").Expect(rig.AETHTo(end, next, roce.RNRSyndrome|1))
			f = g.Data(end, next.Next(), g.Values(4), func(p *roce.Packet) { p.Op = roce.SendLast })
			g.Send(f).As("and the one behind it").Expect()
			refused++
		}
		g.Set.Log2N = 1 + t.Rand.IntN(most)
		g.Set.SlotBase = t.Rand.IntN(t.Params.Slots() - g.Units()<<g.Set.Log2N + 1)
		g.Set.PipeSlots = 1 + t.Rand.IntN(1<<g.Set.Log2N>>1)
		t.In(fmt.Sprintf("round %d, slots from %d on, pools of %d", round, g.Set.SlotBase, g.Set.PipeSlots), func() {
			unpark(g)
			for range 1 + t.Rand.IntN(2*g.Set.PipeSlots+1) {
				c.Message(g.Whole(t.Rand.IntN(longest + 1)))
			}
		})
	}
	g.E.Counted("in the end", map[inc.Counter]uint64{inc.DropParked: refused, inc.TxRnr: refused, inc.DropGap: refused, inc.DropFull: 0})
}

// withReleases tries to park a group of Mode I at every step of iterations of one message: before results are acknowledged, and before releases are.
func withReleases(t *rig.T) {
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	g.Set.Release, g.Set.Iteration = true, 1
	g.Program()
	m := g.Members()
	g.E.Mute = true
	undrained := func(what string) {
		if try(g) {
			t.Fatalf("the group was parked %s", what)
		}
		status(g, false, true)
	}
	rounds := t.Count(4, 40)
	for k := range rounds {
		psn := g.PSN(2 * k) // every iteration before took one for its release
		g.Round(g.PSN(k), 16).Send(m...).Out()
		undrained("before its results were acknowledged")
		for i, c := range m {
			var want []rig.Want
			if i == len(m)-1 {
				want = rig.Copies(rig.DataTo(0, psn.Next(), nil), m...)
			}
			g.Send(g.Ack(c, psn)).As("ACK(%v) of endpoint %d, for its result", psn, c).Expect(want...)
			undrained("before its releases were acknowledged")
		}
		for i, c := range m {
			g.Send(g.Ack(c, psn.Next())).As("ACK(%v) of endpoint %d, for its release", psn.Next(), c).Expect()
			if i < len(m)-1 {
				undrained("before its last release was acknowledged")
			}
		}
		park(g)
		for _, c := range m {
			g.Send(g.Data(c, g.PSN(k+1), g.Values(16))).As("the next message of a parked group").Expect(refusal(c, g.PSN(k+1))...)
		}
		unpark(g)
	}
	g.E.Counted("in the end", map[inc.Counter]uint64{inc.TxRelease: uint64(rounds * len(m)), inc.DropParked: uint64(rounds * len(m))})
}
