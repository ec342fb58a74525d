// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// reset starts a group anew in the middle of a range, in each of the ways there are.
func reset(t *rig.T) {
	g := newGroup(t, false)
	for round := range 6 {
		for range t.Rand.IntN(3) {
			g.run(g.anything(), 1)
		}
		s := g.begin(g.anyKind(uint8(round%4), 0, 4))
		control := g.frame(s.packets[0], s.senders()[0])
		switch round % 3 {
		case 0:
			g.Reset()
		case 1: // another START
			g.Set.Start = roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
			g.Program()
		case 2:
			g.Disable()
			g.Send(control).As("a control while the group is disabled").Dropped(inc.DropGroupDisabled)
			g.Program()
		}
		g.restart()
		for c := range g.Ends {
			g.Send(g.Data(c, g.in[c].Add(-3), g.Values(8))).As("data of before the restart").Dropped(inc.DropRange)
			g.Send(g.Ack(c, g.out[c].Prev())).As("an ACK of before the restart").Dropped(inc.DropStaleAck)
		}
		g.run(g.anyKind(inc.CollectiveAllReduce, 0, 3), 1)
	}
}

// begin carries out some packets of a range, and one more that only the first of several contributors sends.
func (g *group) begin(c inc.Control) *span {
	s := g.enter(c)
	for range 1 + g.T.Rand.IntN(4) {
		s.next(16)
	}
	half := s.plan(16)
	if len(s.contributors) > 1 {
		g.E.Put(g.frame(half, s.senders()[0]))
	}
	g.Check(g.E.Settle())
	return s
}
