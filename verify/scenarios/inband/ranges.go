// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"slices"
	"strings"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// inBand checks every number on every wire, across the wrap, at the root of a tree and below it.
func inBand(t *rig.T) {
	for _, parent := range []bool{false, true} {
		for _, start := range []roce.PSN{roce.PSN(t.Rand.Uint32() & 0xFFFFFF), 0xFFFFF4} {
			for _, rootSends := range []bool{false, true} {
				opts := []rig.GroupOption{rig.WithStart(start), func(g *rig.Group) { g.Set.RootSends = rootSends }}
				if parent {
					opts = append(opts, rig.WithParentAt(t.Rand.IntN(t.Children()+1)))
				}
				g := newGroup(t, parent, opts...)
				for _, c := range g.mixture() {
					g.run(c, []int{1, 3, 1 << 20}[t.Rand.IntN(3)])
				}
				g.clean()
			}
		}
	}
	besideRange(t)
}

// besideRange has the last endpoint send CNPs, of which all that it may do is that: in a range of an AllReduce it gets them back, in others they have
// no role.
func besideRange(t *rig.T) {
	g := newGroup(t, false, rig.WithBystander())
	last := len(g.Ends) - 1
	for _, collective := range []uint8{inc.CollectiveAllReduce, inc.CollectiveBroadcast, inc.CollectiveBarrier, inc.CollectiveReduce} {
		s := g.enter(g.anyKind(collective, 0, 1))
		s.next(0)
		psn := roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
		cnp := g.Send(g.CNP(last, psn)).As("%v, a CNP of one that has no part in it", s)
		if collective == inc.CollectiveReduce || collective == inc.CollectiveBroadcast {
			cnp.Dropped(inc.DropWrongRole)
		} else {
			cnp.Expect(rig.CNPTo(last, psn))
		}
		s.next(8)
		s.acknowledge()
	}
}

// mixture is ranges of every collective, short ones and some longer than the ring of slots, then anything.
func (g *group) mixture() []inc.Control {
	long := 2*g.MW() + 2
	list := []inc.Control{
		g.anyKind(inc.CollectiveAllReduce, 0, 10), g.anyKind(inc.CollectiveBroadcast, 1, 7),
		g.anyKind(inc.CollectiveAllReduce, 0, 10), g.anyKind(inc.CollectiveReduce, 0, 5),
		g.anyKind(inc.CollectiveBarrier, 0, 0), g.anyKind(inc.CollectiveReduce, 1, 0),
		g.anyKind(inc.CollectiveBroadcast, 0, long), g.anyKind(inc.CollectiveAllReduce, 0, long),
	}
	for range 8 {
		list = append(list, g.anything())
	}
	return list
}

// run carries out a range packet by packet. Every ackEvery-th packet and the last are acknowledged; none if it is 0.
func (g *group) run(c inc.Control, ackEvery int) *span {
	t, s := g.T, g.enter(c)
	for i := range c.Packets + 1 {
		s.next(t.Rand.IntN(min(t.Params.MTUBytes, 96) + 1))
		if ackEvery > 0 && (i%ackEvery == ackEvery-1 || i == c.Packets) {
			s.acknowledge()
		}
		if i == c.Packets/2 {
			s.congested()
		}
	}
	return s
}

// answered are those to whom goes what endpoint c says of the range's data. In a Broadcast it is the source, once all have said it.
func (s *span) answered(c int) []int {
	switch s.control.Collective {
	case inc.CollectiveReduce:
		return s.contributors
	case inc.CollectiveBroadcast:
		return []int{s.source}
	}
	return []int{c}
}

// passedOn must leave for an answer of endpoint c to a packet.
func (s *span) passedOn(p *packet, c int, syndrome uint8) []rig.Want {
	var all []rig.Want
	for _, to := range s.answered(c) {
		all = append(all, rig.AETHTo(to, p.in[to], syndrome))
	}
	return all
}

// acknowledge has everybody whose ACKs count acknowledge the last packet, which has reached them all.
func (s *span) acknowledge() {
	g, t, p := s.g, s.g.T, s.last()
	order := t.Shuffled(s.acks)
	for i, c := range order {
		var want []rig.Want
		if s.control.Collective != inc.CollectiveBroadcast || i == len(order)-1 {
			want = s.passedOn(p, c, roce.AckSyndrome)
		}
		g.Send(t.Marked(g.Ack(c, p.out[c]))).As("%v, ACK of packet %d from endpoint %d", s, len(s.packets)-1, c).Expect(want...)
	}
}

// congested has every endpoint send a CNP of whatever PSN: it goes to those whose data the endpoint hears.
func (s *span) congested() {
	g, t := s.g, s.g.T
	for c := range g.Ends {
		psn := roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
		if !slices.Contains(s.acks, c) {
			g.Send(g.CNP(c, psn)).As("%v, a CNP of endpoint %d, whose role has none", s, c).Dropped(inc.DropWrongRole)
			continue
		}
		g.Send(t.Marked(g.CNP(c, psn))).As("%v, a CNP of endpoint %d", s, c).Expect(rig.Copies(rig.CNPTo(0, psn), s.answered(c)...)...)
	}
}

// clean checks that as many ranges were opened as there were, and that nothing was dropped, sent again or answered instead.
func (g *group) clean() {
	counts := g.E.Counters()
	for _, name := range g.T.Manifest.Counters {
		drop := strings.HasPrefix(name, "DROP_") && name != inc.DropWrongRole.String()
		if n := counts[name]; n != 0 && (drop || name == "TX_REACK" || name == "TX_RESEND" || name == "TX_GAP_NAK") {
			g.T.Fatalf("%s is %d after a clean run", name, n)
		}
	}
	if n := counts[inc.RangeOpen.String()]; n != uint64(g.entered) {
		g.T.Fatalf("%v is %d, expected %d", inc.RangeOpen, n, g.entered)
	}
}

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
