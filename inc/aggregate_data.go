// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"

	"incforge/roce"
)

// elementBytes is the size of an INT32.
const elementBytes = 4

// fits tells whether a contribution has the shape that slot s took from its first one (A17). The result can only be one
// packet, and receivers break a connection over an opcode out of turn, so ranks that disagree about message boundaries
// must not be mixed.
func (e *Engine) fits(s int, p *roce.Packet) bool {
	slot := &e.slots[s]
	return slot.mask == 0 || slot.shape == shapeOf(p)
}

// aggregate takes an in-order contribution into slot s: the accepting half of docs/engine.md section 3, rule 5. The first
// contribution overwrites whatever the slot held, which is why recycling need not clear it.
func (e *Engine) aggregate(at place, s int, p *roce.Packet) {
	e.count(Agg)
	g, slot := &e.groups[at.group], &e.slots[s]
	sum := e.slotPayload(s)[:len(p.Payload)]
	if slot.mask == 0 {
		slot.shape, slot.se, slot.imm = shapeOf(p), p.SE, immediateOf(p)
		copy(sum, p.Payload)
	} else {
		if slot.se != p.SE || slot.imm != immediateOf(p) {
			e.count(ImmMismatch) // not worth losing the data over; the first one's stay
		}
		addInt32(sum, p.Payload, g.BigEndian)
	}
	slot.mask |= at.bit()
	slot.ce = slot.ce || p.CE() // congestion on any way in is congestion of the result

	child := &g.ends[at.member]
	child.ePSN = child.ePSN.Next()
	child.nakSent = false
	if p.Op.EndsMessage() {
		child.msn = (child.msn + 1) & roce.PSNMask
	}
}

// addInt32 adds addend to sum, element by element: two's complement, wrapping (protocol.md section 3). Both have the same
// length, a multiple of four. The byte order decides which way carries run, so it is the group's and not the machine's.
func addInt32(sum, addend []byte, bigEndian bool) {
	if bigEndian {
		for order := binary.BigEndian; len(sum) >= elementBytes && len(addend) >= elementBytes; {
			order.PutUint32(sum, order.Uint32(sum)+order.Uint32(addend))
			sum, addend = sum[elementBytes:], addend[elementBytes:]
		}
		return
	}
	for order := binary.LittleEndian; len(sum) >= elementBytes && len(addend) >= elementBytes; {
		order.PutUint32(sum, order.Uint32(sum)+order.Uint32(addend))
		sum, addend = sum[elementBytes:], addend[elementBytes:]
	}
}

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
