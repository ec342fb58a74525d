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
