// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// fits tells whether a contribution has the shape that slot s took from its first one (A17). The result can only be one
// packet, and receivers break a connection over an opcode out of turn, so ranks that disagree about message boundaries
// must not be mixed.
func (e *Engine) fits(s int, in *incoming) bool {
	slot := &e.slots[s]
	return slot.mask == 0 || slot.tag != in.psn || slot.shape == shapeOf(in.Packet)
}

// aggregate takes an in-order contribution into slot s: the accepting half of docs/engine.md section 3, rule 5. The first
// contribution overwrites whatever the slot held, which is why recycling need not clear it.
//
// In place, each contribution is added to the sum of those accepted before it. A reproducible engine keeps them apart
// until the slot is complete (see resultIn): then the order in which they came cannot matter.
func (e *Engine) aggregate(in *incoming, s int) {
	e.count(Agg)
	e.contribute(in, s)
}

// contribute is what both modes do with a packet that a slot takes, from a child or, in Mode III, from the parent.
func (e *Engine) contribute(in *incoming, s int) {
	g, slot, p := &e.groups[in.group], &e.slots[s], in.Packet
	first := slot.mask == 0 || slot.tag != in.psn
	if first {
		g.discard(slot)
		slot.recycle(in.psn)
		slot.shape, slot.se, slot.imm = shapeOf(p), p.SE, immediateOf(p)
	} else if slot.se != p.SE || slot.imm != immediateOf(p) {
		e.count(ImmMismatch) // not worth losing the data over; the first one's stay
	}
	a, kept := in.span.arithmetic(g.BigEndian), e.kept(&g.Group, s, in.member, in.span.dtype)
	if first || e.params.Reproducible {
		a.decode(kept, p.Payload)
	} else {
		addend := e.addend[:len(kept)]
		a.decode(addend, p.Payload)
		a.add(kept, addend)
	}
	slot.mask |= in.bit()
	slot.ce = slot.ce || p.CE() // congestion on any way in is congestion of the result

	child := &g.ends[in.member]
	child.ePSN = child.ePSN.Next()
	child.nakSent = false
	if p.Op.EndsMessage() {
		child.msn = (child.msn + 1) & roce.PSNMask
	}
}

// arithmetic is what the collective does to elements.
func (r *roles) arithmetic(bigEndian bool) arithmetic { return arithmeticOf(r.dtype, r.op, bigEndian) }

// shapeOf is what all contributions to a slot must have in common.
func shapeOf(p *roce.Packet) shape {
	return shape{op: p.Op, length: uint16(len(p.Payload)), pad: p.Pad}
}

// immediateOf is the packet's immediate, 0 for opcodes without one.
func immediateOf(p *roce.Packet) uint32 {
	if p.Op.HasImm() {
		return p.Imm
	}
	return 0
}
