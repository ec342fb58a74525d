// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/rig"
)

// controls does so where a control would open a range, and in one that is open, which ends as it should all the same.
func controls(t *rig.T) {
	for _, parent := range []bool{false, true} {
		if parent && t.Children() < 2 {
			continue // nobody to contradict
		}
		g := newGroup(t, parent, rig.WithStart(0xFFFFFA))
		for range 3 {
			good := g.anyKind(inc.CollectiveAllReduce, 0, 3)
			g.outOfPlace(good)
			g.illegal(good)
			g.lost(good)
			g.contradicted(g.anyKind(inc.CollectiveAllReduce, 0, 3))
			g.run(g.anything(), 1)
		}
		g.lostTwice()
		g.openedBehind()
	}
}

// lostTwice has the controls of two ranges lost that endpoint 0 sends in: between them it is the source of a Broadcast alone, and is told of both.
func (g *group) lostTwice() {
	spread := g.anyKind(inc.CollectiveBroadcast, 0, 2)
	g.lost(spread)
	g.run(spread, 1)
	next := g.anyKind(inc.CollectiveAllReduce, 0, 2)
	g.lost(next)
	g.run(next, 1)
}

// openedBehind has a member open two ranges at once, the first of which is nothing but its control, and between the two another's data of no range: all three
// wait for each other inside.
func (g *group) openedBehind() {
	t, members := g.T, g.Members()
	for range 2 {
		order := t.Shuffled(members)
		c, other := order[0], order[1]
		astray := g.Data(other, g.in[other].Add(5), g.Values(8))
		first := g.enter(g.anyKind(inc.CollectiveBarrier, 0, 0))
		p := first.plan(0)
		second := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 1))
		q := second.plan(0)
		g.E.Put(g.frame(p, c), astray, g.frame(q, c))
		g.E.Settle()
		for _, s := range []*span{first, second} {
			s.complete(s.last(), order[1:]...)
			if s.source >= 0 {
				s.send(s.last(), s.source, g.frame(s.last(), s.source), false)
			}
		}
		second.next(8)
		second.acknowledge()
	}
}

// outOfPlace sends what is no control where one must be, a control where none may be, and ACKs of what the engine has not sent.
func (g *group) outOfPlace(good inc.Control) {
	base := g.in[0]
	full, otherOpcode := func(p *roce.Packet) { p.Payload = g.Noise(8) }, func(p *roce.Packet) { p.Op = roce.SendLastImm }
	g.Send(g.Data(0, base, g.Values(8))).As("data in the place of a control").Dropped(inc.DropRange)
	g.Send(g.Data(0, base, nil)).As("data without payload in the place of a control").Dropped(inc.DropRange)
	g.Send(g.controlFrame(0, base, good, full)).As("an immediate with payload").Dropped(inc.DropRange)
	g.Send(g.controlFrame(0, base, good, otherOpcode)).As("a control of another opcode").Dropped(inc.DropRange)
	g.Send(g.controlFrame(0, base.Add(-1<<20), good)).As("a control before its number").Dropped(inc.DropRange)
	g.Send(g.Ack(0, g.out[0])).As("an ACK of what nobody has sent").Dropped(inc.DropStaleAck)
	g.Send(g.Ack(0, g.out[0].Add(1<<23))).As("an ACK half the numbers away").Dropped(inc.DropStaleAck)
}

// illegal sends controls that no range can have, where one would open it.
func (g *group) illegal(good inc.Control) {
	t := g.T
	try := func(why inc.Counter, what string, change func(c *inc.Control)) {
		g.wrongControl(why, 0, what, good, change)
	}
	bad := func(what string, change func(c *inc.Control)) { try(inc.DropBadControl, what, change) }
	bad("a Broadcast of nothing", func(c *inc.Control) { c.Collective, c.Packets = inc.CollectiveBroadcast, 0 })
	bad("a Reduce to nobody", func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveReduce, inc.Roots-1 })
	bad("a Broadcast from nobody", func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveBroadcast, inc.Roots-1 })
	try(inc.DropWrongRole, "a Reduce's control of its root", func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveReduce, 0 })
	g.Send(g.controlFrame(0, g.in[0], good, func(p *roce.Packet) { p.TVer = 1 })).As("a transport version").Dropped(inc.DropTVer)
	g.Send(g.controlFrame(0, g.in[0], good, func(p *roce.Packet) { p.SrcIP[3] ^= 1 })).As("a stranger's address").Dropped(inc.DropForeign)
	for v := uint8(4); v < 8; v++ {
		bad("no such collective", func(c *inc.Control) { c.Collective = v })
	}
	for v := range uint8(4) {
		if t.Params.OpMask()>>v&1 == 0 {
			bad("an excluded operation", func(c *inc.Control) { c.Op = v })
		}
	}
	for v := range uint8(4) {
		if t.Params.DTypeMask()>>v&1 == 0 {
			bad("an excluded type", func(c *inc.Control) { c.DType = v })
		}
	}
	if len(g.Ends) > 1 {
		ofRank1 := func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveBroadcast, 1 }
		try(inc.DropWrongRole, "a Broadcast's control of another rank", ofRank1)
	}
}

// lost has endpoint 0's control damaged on its way. It goes on without it, and is told so once.
func (g *group) lost(good inc.Control) {
	t, base := g.T, g.in[0]
	if t.Params.ICRCCheck {
		f := g.controlFrame(0, base, good)
		f.Data[len(f.Data)-1] ^= 1
		g.Send(f).As("a damaged control").Dropped(inc.DropICRC)
	}
	if s := g.current; len(s.packets) > 1 && slices.Contains(s.senders(), 0) {
		g.Send(g.controlFrame(0, base.Prev(), good)).As("a control in the place of the last data").Dropped(inc.DropControl)
	}
	g.Send(t.Marked(g.Data(0, base.Next(), g.Values(8)))).As("data whose control is lost").
		Expect(rig.Own(false, rig.AETHTo(0, base, roce.NAKSequence))...)
	g.Send(g.controlFrame(0, base.Next(), good)).As("a control after the one that is lost").Dropped(inc.DropRange)
}

// contradicted opens an AllReduce by endpoint 0's control and has everybody contradict it, then carries it out.
func (g *group) contradicted(good inc.Control) {
	t, first, others := g.T, g.in[0], g.Members()[1:]
	g.Send(g.controlFrame(0, first, good)).As("the control").Expect()
	g.Send(g.controlFrame(0, first, good)).As("the control again").Dropped(inc.DropStale)
	half := t.Words(1)[:arith.DType(good.DType).Size()/2]
	g.Send(g.Data(0, first.Next(), half)).As("half an element").Dropped(inc.DropBadLength)
	g.Send(g.controlFrame(0, first.Next(), good)).As("the control in the middle").Dropped(inc.DropControl)
	g.Send(g.controlFrame(0, first.Add(3), g.anyKind(inc.CollectiveBarrier, 0, 0))).As("another one in the middle").Dropped(inc.DropControl)
	g.Send(g.Data(0, first.Add(4), g.Values(8))).As("data beyond the end").Dropped(inc.DropRange)
	g.Send(g.controlFrame(0, first.Add(4), good)).As("the next control before the end").Dropped(inc.DropRange)
	g.Send(g.controlFrame(0, first, g.anyKind(inc.CollectiveAllReduce, 0, 4))).As("another one again").Dropped(inc.DropControl)
	for _, c := range others {
		g.contradict(c, good)
	}
	for _, c := range others {
		g.Send(t.Marked(g.Data(c, g.in[c].Next(), g.Values(8)))).As("a gap across the range's start").
			Expect(rig.Own(false, rig.AETHTo(c, g.in[c], roce.NAKSequence))...)
		g.Send(g.Data(c, g.in[c].Next(), g.Values(8))).As("the same gap again").Dropped(inc.DropGap)
	}
	g.begun = 0
	g.run(good, 1)
	for _, c := range g.Members() {
		g.Send(g.AETH(c, g.out[c], roce.NAKSequence)).As("a NAK of what is beyond the end").Dropped(inc.DropStaleAck)
	}
}

// contradict has endpoint c send, where its control must be, every other control and data.
func (g *group) contradict(c int, good inc.Control) {
	for _, x := range []struct {
		what   string
		change func(c *inc.Control)
	}{
		{"another collective", func(c *inc.Control) { c.Collective = inc.CollectiveBarrier }},
		{"a Reduce", func(c *inc.Control) { c.Collective = inc.CollectiveReduce }},
		{"no collective", func(c *inc.Control) { c.Collective = 7 }},
		{"another operation", func(c *inc.Control) { c.Op ^= 1 }},
		{"no operation", func(c *inc.Control) { c.Op = 3 }},
		{"another type", func(c *inc.Control) { c.DType ^= 2 }},
		{"another root", func(c *inc.Control) { c.Root = 3 }},
		{"fewer packets", func(c *inc.Control) { c.Packets-- }},
		{"many more packets", func(c *inc.Control) { c.Packets += 1 << 19 }},
	} {
		g.wrongControl(inc.DropControl, c, x.what, good, x.change)
	}
	g.Send(g.Data(c, g.in[c], g.Values(4))).As("data in the place of the control of endpoint %d", c).Dropped(inc.DropControl)
	g.Send(g.Data(c, g.in[c], nil)).As("data without payload in the place of the control of endpoint %d", c).Dropped(inc.DropControl)
}
