// SPDX-License-Identifier: Apache-2.0

package message

import (
	"math/bits"

	"incforge/roce"
)

// place is where a packet stands: on the wire of its endpoint, and in which message from which byte on. Those of S have no PSN.
type place struct {
	psn     roce.PSN
	message roce.PSN
	offset  int
	// released: the release at the end of the iteration before is behind it.
	released bool
}

// along tells whether two places are at the same byte, whatever their PSNs are.
func (a place) along(b place) bool { return a.message == b.message && a.offset == b.offset }

// cut gives the end of a pool's packet at a place for a path MTU, and whether it is the last of its message; ok is false if there is none yet
// (docs/termination.md section 4).
func (g *Group) cut(p Pool, at place, mtu int) (to int, last, ok bool) {
	r := &g.rings[p]
	if at.message.Diff(r.start) >= g.set.N || r.done.Before(at.message) || g.bounded && !at.message.Before(g.boundary) {
		return 0, false, false
	}
	s := &g.slots[g.slotOf(p, at.message)]
	to = at.offset + mtu
	if at.message.Before(r.done) { // complete
		return min(to, s.mark), to >= s.mark, true
	}
	more := s.mark > to || s.mark == to && !s.known // a LAST has a byte at least
	return to, false, !g.set.Whole && more && g.here(p, at.message, s.mark) >= to
}

// behind is the place one packet further for an endpoint; the packet must be there, or have been sent.
func (g *Group) behind(end int, at place) place {
	if g.owed(end, at) {
		at.psn, at.released = at.psn.Next(), true
		return at
	}
	if to, last, _ := g.cut(g.poolTo(end), at, g.set.MTU[end]); last {
		at.message, at.offset = at.message.Next(), 0
	} else {
		at.offset = to
	}
	at.psn = at.psn.Next()
	return at
}

// walk is the place some packets further.
func (g *Group) walk(end int, at place, packets int) place {
	for range packets {
		at = g.behind(end, at)
	}
	return at
}

// mtuOf is a pool's path MTU, that of its lowest out endpoint; 0 if it has none.
func (g *Group) mtuOf(p Pool) int {
	if g.roles.Outs[p] == 0 {
		return 0
	}
	return g.set.MTU[lowest(g.roles.Outs[p])]
}

// exists tells whether there is a packet for an endpoint at a place.
func (g *Group) exists(end int, at place) bool {
	if g.owed(end, at) {
		return true
	}
	p := g.poolTo(end)
	if g.roles.Outs[p]>>end&1 == 0 {
		return false // it hears of releases alone
	}
	_, _, ok := g.cut(p, at, g.set.MTU[end])
	return ok
}

// Piece is a packet of a result and who gets it.
type Piece struct {
	Op      roce.Opcode
	Payload []byte
	SE, CE  bool
	Imm     uint32
	Release bool
	Copies  []Copy
}

// Copy is a Piece on its way to an endpoint.
type Copy struct {
	End    int
	PSN    roce.PSN
	AckReq bool
	// Again: it was sent before.
	Again bool
}

// piece makes the packet of a pool at a place, for nobody yet.
func (g *Group) piece(p Pool, at place, mtu int) Piece {
	to, last, _ := g.cut(p, at, mtu)
	index := g.slotOf(p, at.message)
	s := &g.slots[index]
	out := Piece{Op: opcode(at.offset == 0, last, last && s.hasImm), CE: s.ce, SE: last && s.se, Payload: make([]byte, to-at.offset)}
	if out.Op.HasImm() {
		out.Imm = s.imm
	}
	a := &g.roles.Arithmetic
	if g.set.Memory.Plane == 0 {
		a.Encode(out.Payload, g.kept(index, 0, at.offset, to))
		return out
	}
	nodes := make([][]uint32, bits.Len32(g.roles.Fills[p]))
	for mask := g.roles.Fills[p]; mask != 0; mask &= mask - 1 {
		nodes[lowest(mask)] = append([]uint32{}, g.kept(index, lowest(mask), at.offset, to)...)
	}
	a.Encode(out.Payload, a.Tree(nodes))
	return out
}

// opcode is that of a packet of a message.
func opcode(first, last, imm bool) roce.Opcode {
	switch {
	case first && last && imm:
		return roce.SendOnlyImm
	case first && last:
		return roce.SendOnly
	case first:
		return roce.SendFirst
	case last && imm:
		return roce.SendLastImm
	case last:
		return roce.SendLast
	}
	return roce.SendMiddle
}
