// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// piped has one range after the other in Mode III. An endpoint's numbers go on from where they were, whether it sent or heard in a range or
// not; a control that comes before all is acknowledged is told to wait, and old data is acknowledged.
func piped(t *rig.T) {
	for round := range 4 {
		parent := round%2 == 1
		g := newGroup(t, parent, rig.WithPipe(t.PipeSize(round)), func(g *rig.Group) {
			g.Set.RootSends = round > 1
			if parent { // whose rank sends, too, in a Reduce toward it
				g.Set.AckMask |= 1 << g.Parent
			}
		})
		g.E.Mute = true
		g.aheadOfAll()
		list := []inc.Control{g.anyKind(inc.CollectiveAllReduce, 0, 10), g.anyKind(inc.CollectiveBroadcast, 1, 7),
			g.anyKind(inc.CollectiveAllReduce, 0, 5), g.anyKind(inc.CollectiveReduce, 0, 6), g.anyKind(inc.CollectiveBarrier, 0, 2)}
		if parent {
			list = append(list, g.anyKind(inc.CollectiveReduce, len(g.Members()), 2)) // a rank beyond the parent
		}
		for range 5 {
			list = append(list, g.anything())
		}
		for _, c := range list {
			before := g.current
			g.pass(c)
			before.takenLongBefore()
			g.tooEarly(g.anything())
			if len(g.Members()) > 1 {
				c := g.anyKind(inc.CollectiveAllReduce, 0, 1)
				g.wrongBetweenRanges(c)
				g.wrongInRange(c)
			}
			g.takenBefore()
		}
		if !t.Messages() { // where it ends the connection
			g.barrierOfSomething()
			g.partsOfElements()
		}
		g.overAtOnce()
		if t.Params.PortBytes == 0 { // else what finds its queue full is lost
			g.nextAtOnce()
		}
		g.connectionEnds()
	}
}

// pass carries out a range: packets are acknowledged now and then, all of them at its end.
func (g *group) pass(c inc.Control) {
	t, s := g.T, g.enter(c)
	for i := range c.Packets + 1 {
		p := s.next(t.Rand.IntN(min(t.Params.MTUBytes, 96) + 1))
		if i%g.MW() == g.MW()-1 || i == c.Packets || t.Rand.IntN(2) > 0 {
			g.acknowledge(p, t.Shuffled(s.hearers())...)
		}
	}
}

// acknowledge has endpoints acknowledge a packet, for which nothing leaves.
func (g *group) acknowledge(p *packet, who ...int) {
	for _, c := range who {
		g.Send(g.Ack(c, p.out[c])).As("ACK of endpoint %d", c).Expect()
	}
}

// tooEarly has one endpoint acknowledge a range late, and somebody begin the next one before that.
func (g *group) tooEarly(next inc.Control) {
	s := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 0))
	p := s.next(0)
	order := g.T.Shuffled(s.hearers())
	g.acknowledge(p, order[1:]...)
	c := g.rangeOf(next).senders()[0]
	refused := []rig.Want{rig.AETHTo(c, g.in[c], roce.RNRSyndrome|1)}
	if ctrl := (inc.PipeCtrl{RNRTimer: 1, RNR: true, CNP: g.T.Rand.IntN(2) == 0}); !g.T.Messages() {
		g.T.Check(g.E.Ctl.SetPipes(ctrl, rig.LongTimeout))
		if ctrl.CNP && g.Ends[c].Host {
			refused = append(refused, rig.CNPTo(c, g.in[c]))
		}
	}
	g.Send(g.controlFrame(c, g.in[c], next)).As("a control before all is acknowledged").Expect(refused...)
	g.acknowledge(p, order[0])
}

// wrongBetweenRanges sends what must not be where the next range would begin.
func (g *group) wrongBetweenRanges(c inc.Control) {
	a, b := g.Members()[0], g.Members()[1]
	bad := func(why inc.Counter, what string, change func(c *inc.Control)) {
		g.wrongControl(why, a, what, c, change)
	}
	g.Send(g.Data(a, g.in[a], g.Noise(8))).As("data where a control must be").Dropped(inc.DropRange)
	bad(inc.DropBadControl, "a collective that there is not", func(c *inc.Control) { c.Collective = 5 })
	bad(inc.DropBadControl, "a Broadcast of nothing", func(c *inc.Control) {
		c.Collective, c.Root, c.Packets = inc.CollectiveBroadcast, uint8(a), 0
	})
	bad(inc.DropBadControl, "a root that is nowhere", func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveReduce, inc.Roots-1 })
	bad(inc.DropWrongRole, "somebody else's Broadcast", func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveBroadcast, uint8(b) })
	g.Send(g.Ack(a, g.out[a])).As("an ACK of the next range").Dropped(inc.DropStaleAck)
	g.Send(g.CNP(a, g.out[a])).As("a CNP").Dropped(inc.RxCnp)
}

// wrongInRange carries out an AllReduce of one packet; before its control is complete there are others in its place.
func (g *group) wrongInRange(c inc.Control) {
	a, b := g.Members()[0], g.Members()[1]
	s := g.enter(c)
	p := s.plan(0)
	s.send(p, a, g.frame(p, a), false)
	g.Send(g.controlFrame(b, p.in[b], g.anyKind(inc.CollectiveBarrier, 0, 2))).As("another control").Dropped(inc.DropControl)
	g.Send(g.Data(b, p.in[b], g.Noise(8))).As("data in the place of the control").Dropped(inc.DropControl)
	g.Send(g.controlFrame(a, p.in[a].Next(), c)).As("a control within the range").Dropped(inc.DropControl)
	others := s.contributors[1:]
	for i, e := range others {
		s.send(p, e, g.frame(p, e), i == len(others)-1)
	}
	if e := s.source; e >= 0 {
		s.send(p, e, g.frame(p, e), false)
	}
	g.acknowledge(p, s.hearers()...)
	g.acknowledge(s.next(8), s.hearers()...)
}

// takenBefore sends one of the last packets once more: all that was taken is acknowledged.
func (g *group) takenBefore() {
	s := g.current
	for _, c := range s.senders() {
		back := g.T.Rand.IntN(min(len(s.packets), 3))
		p := s.packets[len(s.packets)-1-back]
		g.Send(g.frame(p, c)).As("data taken before").Expect(rig.AckTo(c, s.last().in[c]))
	}
}

// aheadOfAll has everybody leave out PSNs before there is a range: the registers say who is the parent.
func (g *group) aheadOfAll() {
	for c := range g.Ends {
		g.Send(g.Data(c, g.in[c].Add(2), g.Noise(8))).As("a gap before the first range").Expect(rig.AETHTo(c, g.in[c], roce.NAKSequence))
	}
}

// takenLongBefore has everybody who sent in a range, the one before the current, send its last packet once more: all that was taken is acknowledged.
func (s *span) takenLongBefore() {
	g := s.g
	if len(s.packets) == 0 {
		return
	}
	for _, c := range s.senders() {
		g.Send(g.frame(s.last(), c)).As("data of the range before").Expect(rig.AckTo(c, g.in[c].Prev()))
	}
}

// barrierOfSomething has everybody send something where nothing must be.
func (g *group) barrierOfSomething() {
	s := g.enter(g.anyKind(inc.CollectiveBarrier, 0, 1))
	g.acknowledge(s.next(0), s.hearers()...)
	for _, c := range s.senders() {
		g.Send(g.Data(c, g.in[c], g.Noise(8))).As("a Barrier's packet with a payload").Dropped(inc.DropBadLength)
	}
	g.acknowledge(s.next(0), s.hearers()...)
}

// partsOfElements has everybody send data of which the last element is not whole: nobody takes it.
func (g *group) partsOfElements() {
	s := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 1))
	g.acknowledge(s.next(0), s.hearers()...)
	for _, c := range s.senders() {
		for size := 5; size < 8; size++ {
			if size%g.Size() != 0 {
				g.Send(g.Data(c, g.in[c], g.T.Words(2)[:size])).As("%d bytes of elements of %d", size, g.Size()).Dropped(inc.DropBadLength)
			}
		}
	}
	g.acknowledge(s.next(8), s.hearers()...)
}

// overAtOnce has somebody who hears ask for time and then acknowledge all, so that the range is over: in the next one nobody waits.
func (g *group) overAtOnce() {
	s := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 0))
	p, who := s.next(0), g.T.Shuffled(s.hearers())
	g.Send(g.AETH(who[0], p.out[who[0]], roce.RNRSyndrome)).As("RNR NAK of 655.36 ms").Expect()
	g.acknowledge(p, who...)
	g.pass(g.anyKind(inc.CollectiveAllReduce, 0, 1))
}

// nextAtOnce has the last ACKs of a range, data of no range and the next control wait right behind each other, after more answers than the queues keep while no
// port takes anything: the control opens its range all the same.
func (g *group) nextAtOnce() {
	const answers = 40
	t, e := g.T, g.E
	for range 3 {
		s := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 0))
		p := s.next(0)
		old, from := g.frame(p, s.contributors[0]), e.Now()
		e.SetPauses(dut.Pauses{Ready: 1})
		for range answers {
			e.Put(old)
		}
		for _, c := range t.Shuffled(s.hearers()) {
			e.Put(g.Ack(c, p.out[c]))
		}
		s = g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 0))
		p, order := s.plan(0), t.Shuffled(s.contributors)
		astray := g.Data(order[0], p.in[order[0]], g.Noise(8)) // a control must be there
		e.Put(astray, g.frame(p, order[0]))
		e.StepTo(from + uint64(2*answers*t.Params.Beats(len(old.Data))))
		e.SetPauses(dut.Pauses{})
		e.Settle()
		g.Send(g.frame(p, order[0])).Out() // another port may have brought an ACK late
		s.complete(p, order[1:]...)
		if s.source >= 0 {
			s.send(p, s.source, g.frame(p, s.source), false)
		}
		g.acknowledge(p, s.hearers()...)
	}
}

// connectionEnds has one endpoint end its connection and acknowledge what it has all the same, so that the range is over. The next one goes
// to the others alone; a start of the group makes the connection whole.
func (g *group) connectionEnds() {
	t, m := g.T, g.Members()
	ended := m[t.Rand.IntN(len(m))]
	s := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 0))
	p := s.next(0)
	g.Send(g.AETH(ended, p.out[ended], roce.NAKInvalidRequest)).As("a NAK that ends the connection").Expect()
	g.acknowledge(p, t.Shuffled(s.hearers())...)

	s = g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 0))
	s.receivers = rig.AllBut(s.receivers, ended)
	s.next(0)
	g.Reset()
	g.restart()
	g.pass(g.anyKind(inc.CollectiveAllReduce, 0, 2))
}
