// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// roles say who does what in a collective (docs/engine.md section 3.3; protocol.md section 1). The masks have one bit an
// endpoint. In a Broadcast nobody is in in, in a Reduce nobody in out.
type roles struct {
	collective, op, dtype uint8
	in, out, ack          uint32 // whose data is added, who gets copies, whose ACKs count
	parent                uint32 // the bit of the endpoint toward the root, 0 if there is none
}

// senders are those whose data belongs to the collective.
func (r *roles) senders() uint32 {
	if r.collective == CollectiveReduce {
		return r.in
	}
	return r.in | r.parent
}

// hearers are those to whom the collective's data is sent.
func (r *roles) hearers() uint32 {
	switch r.collective {
	case CollectiveReduce:
		return r.parent
	case CollectiveBroadcast:
		return r.out
	}
	return r.out | r.parent
}

// reflects tells whether ACKs and CNPs go back to where they come from, which only hosts' may.
func (r *roles) reflects() bool {
	return r.collective == CollectiveAllReduce || r.collective == CollectiveBarrier
}

// registerRoles are a group's roles by its registers: those of a fixed group, those of every AllReduce and Barrier of an
// in-band one.
func (g *Group) registerRoles() roles {
	r := roles{collective: g.Collective, op: g.Op, dtype: g.DType, in: g.InMask, out: g.OutMask, ack: g.AckMask}
	if g.HasParent {
		r.parent = 1 << g.Parent
	}
	switch g.Collective {
	case CollectiveReduce:
		r.out = 0
	case CollectiveBroadcast:
		r.in = 0
	}
	return r
}

// Where the fields of a control's immediate are.
const (
	collectiveAt = 29
	opAt         = 27
	dtypeAt      = 25
	rootAt       = 20
	packetsMask  = 1<<rootAt - 1
)

// Control is what a control message says: its immediate (docs/engine.md section 3.3).
type Control struct {
	// Collective (0 to 7), Op and DType (0 to 3) take the constants of this package, if it is to be legal.
	Collective, Op, DType uint8
	// Root is the root rank of a Reduce or Broadcast, 0 to Roots−1.
	Root uint8
	// Packets is the number of packets that follow the control in its range, 0 to 2^20−1.
	Packets int
}

// Immediate is the control as it is on the wire.
func (c Control) Immediate() uint32 {
	return uint32(c.Collective)<<collectiveAt | uint32(c.Op)<<opAt | uint32(c.DType)<<dtypeAt | uint32(c.Root)<<rootAt | uint32(c.Packets)
}

// ControlOf is the control with this immediate.
func ControlOf(immediate uint32) Control {
	return Control{
		Collective: uint8(immediate >> collectiveAt), Op: uint8(immediate >> opAt & 3), DType: uint8(immediate >> dtypeAt & 3),
		Root: uint8(immediate >> rootAt & (Roots - 1)), Packets: int(immediate & packetsMask),
	}
}

// isControl tells whether a packet is a control if its group is in-band: SEND ONLY with immediate, nothing in it.
func isControl(p *roce.Packet) bool { return p.Op == roce.SendOnlyImm && len(p.Payload) == 0 }

// rangeRoles are the roles in the range that a control asks for. The tree is re-rooted at the root rank: for a Reduce all
// lead there, for a Broadcast all come from there. It is not legal if the engine cannot do it.
func (g *Group) rangeRoles(p Params, c Control) (r roles, legal bool) {
	if c.Collective > CollectiveBarrier || p.Ops>>c.Op&1 == 0 || p.DTypes>>c.DType&1 == 0 {
		return roles{}, false
	}
	r = g.registerRoles()
	r.collective, r.op, r.dtype = c.Collective, c.Op, c.DType
	if r.reflects() {
		return r, true
	}
	route := g.Route[c.Root]
	if !route.Valid || int(route.Endpoint) > p.Members || c.Collective == CollectiveBroadcast && c.Packets == 0 {
		return roles{}, false
	}
	r.parent = 1 << route.Endpoint
	rest := g.tree() &^ r.parent
	if c.Collective == CollectiveBroadcast {
		r.in, r.out, r.ack = 0, rest, rest
		return r, true
	}
	r.in, r.out, r.ack = rest, 0, r.parent
	if g.RootSends {
		r.in |= r.parent & g.AckMask & g.tree()
	}
	return r, true
}

// offsets lead from an endpoint's group PSNs to those on its wire, for what it sends and for what it hears.
type offsets struct {
	in, out int // 0 to 2^24−1
}

// span is a range: PSNs that belong together, with their roles. A fixed group has one that never ends and no offsets.
type span struct {
	roles
	open      bool
	first     roce.PSN // of the control
	immediate uint32
	offsets   []offsets // one an endpoint
	same      bool      // RuleSameOffsets holds
	forgotten bool      // RuleOneRange holds: not there when it is not the current one
}

// packets is how many follow the control.
func (s *span) packets() int { return int(s.immediate & packetsMask) }

// last is the range's last PSN.
func (s *span) last() roce.PSN { return s.first.Add(s.packets()) }

// has tells whether a group PSN is in the range.
func (s *span) has(psn roce.PSN) bool {
	return s.open && (uint32(psn)-uint32(s.first))&roce.PSNMask <= uint32(s.packets())
}

// after are the offsets of an endpoint in the range after s: whoever did not take part in s has not spent its PSNs on the
// wire.
func (s *span) after(member int) offsets {
	o, spent := s.offsets[member], s.packets()+1
	if s.same {
		return o
	}
	if s.senders()>>member&1 == 0 {
		o.in = (o.in - spent) & roce.PSNMask
	}
	if s.hearers()>>member&1 == 0 {
		o.out = (o.out - spent) & roce.PSNMask
	}
	return o
}

// base is the wire PSN at which the next range would begin for an endpoint.
func (g *group) base(member int) roce.PSN {
	if !g.current.open {
		return g.Start
	}
	return g.current.last().Next().Add(g.current.after(member).in)
}

// spanOf is the range that a group PSN is in, the current one or the one before; nil if it is in neither. In a fixed group
// it is that one range of all.
func (g *group) spanOf(psn roce.PSN) *span {
	switch {
	case !g.InBand || g.current.has(psn):
		return &g.current
	case g.previous.has(psn):
		return &g.previous
	}
	return nil
}

// open begins the range that a control asks for: the current one becomes the one before.
//
// By the rules that hosts keep to, everybody is through with the range before that, and is taken to have acknowledged it: an
// endpoint whose ACKs have not counted for long would otherwise be ahead of everybody 2^23 PSNs later. Its slots are emptied,
// which nobody can tell from leaving them, as their PSNs are in no range any more, until 2^24 PSNs later.
func (e *Engine) open(g *group, r roles, immediate uint32) {
	e.count(RangeOpen)
	next := g.Start
	if g.current.open {
		next = g.current.last().Next()
	}
	g.previous, g.current = g.current, g.previous
	s := &g.current
	s.roles, s.open, s.first, s.immediate = r, true, next, immediate
	for member := range s.offsets {
		s.offsets[member] = offsets{}
		if g.previous.open {
			s.offsets[member] = g.previous.after(member)
		}
	}
	g.done = g.done.Max(next.Prev())
	if g.previous.open {
		for i := range g.ends {
			g.ends[i].acked = g.ends[i].acked.Max(g.previous.first.Prev())
		}
	}
	for i := range g.slotsOf(e) {
		if slot := &g.slotsOf(e)[i]; slot.mask != 0 && g.spanOf(slot.tag) == nil {
			g.discard(slot)
			*slot = emptySlot()
		}
	}
}

// sent gives the range in which an endpoint sends a PSN on its wire, and which one of the group's that is; nil if there is none.
func (g *group) sent(member int, wire roce.PSN) (*span, roce.PSN) {
	return g.find(member, func(s *span) uint32 { return s.senders() }, func(o offsets) roce.PSN { return wire.Add(-o.in) })
}

// heard is sent for what the endpoint hears.
func (g *group) heard(member int, wire roce.PSN) (*span, roce.PSN) {
	return g.find(member, func(s *span) uint32 { return s.hearers() }, func(o offsets) roce.PSN { return wire.Add(-o.out) })
}

// find asks the current range first, then the one before, which RuleOneRange forgets.
func (g *group) find(member int, part func(*span) uint32, translate func(offsets) roce.PSN) (*span, roce.PSN) {
	for _, s := range [...]*span{&g.current, &g.previous} {
		if psn := translate(s.offsets[member]); part(s)>>member&1 != 0 && s.has(psn) && (s == &g.current || !s.forgotten) {
			return s, psn
		}
	}
	return nil, 0
}

// findSpan gives the range that a packet of an in-band group belongs to, opening it if the packet is the control that does
// (docs/engine.md section 3.3), and its PSN in the group. The range is nil if the packet is dropped, which is counted; outs is
// what leaves then.
func (e *Engine) findSpan(at place, p *roce.Packet) (s *span, psn roce.PSN, outs []Out) {
	g := &e.groups[at.group]
	if p.Op == roce.Acknowledge {
		if s, psn = g.heard(at.member, p.PSN); s == nil {
			e.count(DropStaleAck)
		}
		return s, psn, nil
	}

	control := isControl(p)
	if s, psn = g.sent(at.member, p.PSN); s != nil {
		if control != (psn == s.first) || control && p.Imm != s.immediate {
			e.count(DropControl)
			return nil, 0, nil
		}
		return s, psn, nil
	}

	base, end := g.base(at.member), &g.ends[at.member]
	if control && p.PSN == base {
		r, legal := g.rangeRoles(e.params, ControlOf(p.Imm))
		switch {
		case !legal:
			e.count(DropBadControl)
			return nil, 0, nil
		case r.senders()&at.bit() == 0:
			e.count(DropWrongRole)
			return nil, 0, nil
		case g.parked && (r.in&at.bit() == 0 || end.ePSN == base):
			return nil, 0, e.withoutSlot(at, p)
		case r.in&at.bit() == 0 || end.ePSN == base:
			e.open(g, r, p.Imm)
			return &g.current, g.current.first, nil
		}
	}
	e.count(DropRange)
	if p.PSN.Diff(end.ePSN) > 0 && end.ePSN == base { // the control that would have opened its range is lost
		outs = e.nak(at, base)
	}
	return nil, 0, outs
}
