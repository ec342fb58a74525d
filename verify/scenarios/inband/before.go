// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// before opens the range after each kind of range and goes on in the one before: results are sent again with its numbers and its type, its
// ACKs and NAKs count, and data that everybody has is answered with an ACK. What is older is gone.
func before(t *rig.T) {
	for _, parent := range []bool{false, true} {
		for _, start := range []roce.PSN{roce.PSN(t.Rand.Uint32() & 0xFFFFFF), 0xFFFFF2} {
			g := newGroup(t, parent, rig.WithStart(start))
			for _, c := range []inc.Control{g.anyKind(inc.CollectiveAllReduce, 0, 3), g.anyKind(inc.CollectiveReduce, 0, 2),
				g.anyKind(inc.CollectiveAllReduce, 0, 2), g.anyKind(inc.CollectiveBroadcast, 1, 2), g.anyKind(inc.CollectiveBarrier, 0, 2),
				g.anyKind(inc.CollectiveReduce, 1, 3), g.anyKind(inc.CollectiveBroadcast, 0, 3)} {
				g.goBackTo(c)
			}
		}
	}
}

// goBackTo carries out a range and goes on in it after a member has opened the next.
func (g *group) goBackTo(c inc.Control) {
	t, members := g.T, g.Members() // at least two, so that the next range's control is not complete at once
	old := g.run(c, 0)
	g.begun = members[t.Rand.IntN(len(members))]
	next := g.anyKind(inc.CollectiveAllReduce, 0, 2)
	g.Send(g.controlFrame(g.begun, g.in[g.begun], next)).As("the next control").Expect()
	t.In("while the next range is open", func() {
		for _, c := range members { // which says nothing of what came before
			g.Send(g.AETH(c, g.out[c], roce.NAKSequence)).As("a NAK of the next control from endpoint %d", c).Expect(rig.AETHTo(c, g.in[c], roce.NAKSequence))
		}
		old.again(false)
		old.refuse()
		old.acknowledge()
		t.In("all is acknowledged", func() { old.again(true) })
	})
	g.run(next, 1)
	g.run(g.anyKind(inc.CollectiveBarrier, 0, 0), 1)
	for _, c := range old.senders() {
		g.Send(g.frame(old.packets[1], c)).As("%v is over, data of endpoint %d", old, c).Dropped(inc.DropRange)
	}
}

// again has everybody send every packet of the range once more. Once all is acknowledged, the data of a Reduce or a Broadcast is answered
// with an ACK of the whole range.
func (s *span) again(acknowledged bool) {
	g, t := s.g, s.g.T
	oneWay := s.control.Collective == inc.CollectiveReduce || s.control.Collective == inc.CollectiveBroadcast
	for i, p := range s.packets {
		for _, c := range s.senders() {
			var want []rig.Want
			switch {
			case acknowledged && oneWay:
				want = rig.Own(false, rig.AckTo(c, s.last().in[c]))
			case c == s.source:
				want = s.copies(p)
			case i+2*g.MW() <= len(s.packets): // its slot is in use again
			case s.toward >= 0:
				want = s.sums(p)
			default:
				want = rig.Own(p.ce, p.to(p.sum, c)...)
			}
			g.Send(t.Marked(g.frame(p, c))).As("%v, packet %d sent again by endpoint %d", s, i, c).Expect(want...)
		}
	}
}

// refuse has those whose answers count send a NAK and an RNR NAK of the range's packet 1, and others say what they may not.
func (s *span) refuse() {
	g, t, p := s.g, s.g.T, s.packets[1]
	for _, c := range s.acks {
		for _, syndrome := range []uint8{roce.NAKSequence, roce.RNRSyndrome | 12} {
			refused := p
			if s.control.Collective == inc.CollectiveBroadcast && c != s.acks[len(s.acks)-1] {
				refused = s.packets[0] // until all have said so, nobody is known to have anything
			}
			g.Send(t.Marked(g.AETH(c, p.out[c], syndrome))).As("%v, syndrome %#02x to packet 1 from endpoint %d", s, syndrome, c).
				Expect(s.passedOn(refused, c, syndrome)...)
		}
	}
	for c := range g.Ends {
		if !slices.Contains(s.acks, c) && !slices.Contains(s.hearers(), c) {
			g.Send(g.Ack(c, p.out[c].Prev())).As("%v, an ACK of endpoint %d, which heard nothing", s, c).Dropped(inc.DropStaleAck)
		}
	}
}

// early has a rank without a part in a Reduce go on before that is complete, as hosts that keep to the rules do not: the range that it
// opens has a window of its own. If the ring has room for both ranges, the others can still finish them.
func early(t *rig.T) {
	g := newGroup(t, false)
	g.goOnEarly(2 * g.MW())
	g.Reset()
	g.restart()
	g.goOnEarly(g.MW() - 1)
	if g.MW() < 2 {
		return // a packet behind a control would wait for it
	}
	g.Reset()
	g.restart()
	g.acknowledgedEarly()
	g.Reset()
	g.restart()
	g.comeRound()
}

// goOnEarly has the last rank, the root of a Reduce, fill a window of the next range while one contributor has sent nothing yet.
func (g *group) goOnEarly(packets int) {
	t, members, window := g.T, g.Members(), g.MW()
	rank, late := members[len(members)-1], members[len(members)-2]
	reduce := g.enter(g.anyKind(inc.CollectiveReduce, rank, packets))
	for range packets + 1 {
		reduce.plan(32)
	}
	for _, c := range rig.AllBut(reduce.contributors, late) {
		reduce.send(reduce.packets[0], c, g.frame(reduce.packets[0], c), false)
	}
	reduce.acknowledge() // nothing of it has come: what is late counts all the same
	taken := g.E.Counter(inc.Agg)
	next := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 2*window))
	for range window {
		g.E.Put(g.frame(next.plan(32), rank)) // one behind the other, the first of which opens the range
	}
	for _, o := range g.E.Settle() {
		t.Fatalf("a frame left by port %d: nobody else has contributed", o.Port)
	}
	if taken = g.E.Counter(inc.Agg) - taken; taken != uint64(window) {
		t.Fatalf("%d contributions to the range that was opened early were taken, expected a window of %d", taken, window)
	}
	g.Send(g.Data(rank, g.in[rank], g.Values(32))).As("one packet more than the window").Dropped(inc.DropWindow)
	if packets >= window {
		return // the next range has taken slots that the Reduce would need
	}
	reduce.complete(reduce.packets[0], late)
	for _, p := range reduce.packets[1:] {
		reduce.complete(p, reduce.contributors...)
	}
	reduce.acknowledge()
	for _, p := range next.packets {
		next.complete(p, rig.AllBut(members, rank)...)
	}
	for len(next.packets) <= next.control.Packets {
		next.next(32)
	}
	next.acknowledge()
}

// acknowledgedEarly has everybody acknowledge a whole Broadcast of which only the control has come, and a receiver open the next range. A packet of the Broadcast
// is then answered with an ACK and changes nothing, least of all the slot that the next range's packet 1 has by now.
func (g *group) acknowledgedEarly() {
	members, window := g.Members(), g.MW()
	source, first, other := members[len(members)-1], members[0], members[1]
	old := g.enter(g.anyKind(inc.CollectiveBroadcast, source, 2*window))
	for range 2*window + 1 {
		old.plan(32)
	}
	old.send(old.packets[0], source, g.frame(old.packets[0], source), false)
	old.acknowledge()
	next := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 2))
	for _, size := range []int{0, 32} {
		p := next.plan(size)
		next.send(p, first, g.frame(p, first), false)
	}
	g.Send(g.frame(old.packets[2], source)).As("a packet that all have acknowledged").
		Expect(rig.Own(false, rig.AckTo(source, old.last().in[source]))...)
	next.send(next.packets[0], other, g.frame(next.packets[0], other), false)
	g.Send(g.Data(other, next.packets[1].in[other], g.Values(16))).As("another length than the first contribution has").Dropped(inc.DropShape)
}

// comeRound opens Broadcasts of the greatest length one after the other, of which nothing comes but the controls and one packet, until the group's PSNs have
// come round: a contribution to that packet's PSN finds its slot as the Broadcast left it, and is the first there.
func (g *group) comeRound() {
	const ranges, longest = 16, 1<<20 - 1 // 1 << 24 PSNs
	for i := range ranges {
		s := g.enter(g.anyKind(inc.CollectiveBroadcast, i%2, longest))
		s.send(s.plan(0), s.source, g.frame(s.last(), s.source), false)
		rest := longest
		if i == 0 {
			s.send(s.plan(32), s.source, g.frame(s.last(), s.source), false)
			rest--
		}
		for _, c := range s.senders() {
			g.in[c] = g.in[c].Add(rest)
		}
		for _, c := range s.hearers() {
			g.out[c] = g.out[c].Add(rest)
		}
	}
	third := g.Members()[2] // who has sent nothing yet: the others' numbers lack what did not come
	next := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 2))
	taken := g.E.Counter(inc.Agg)
	for _, size := range []int{0, 16} {
		next.send(next.plan(size), third, g.frame(next.last(), third), false)
	}
	if taken = g.E.Counter(inc.Agg) - taken; taken != 2 {
		g.T.Fatalf("%d contributions were taken, expected 2", taken)
	}
}
