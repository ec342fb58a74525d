// SPDX-License-Identifier: Apache-2.0

package message

import "incforge/roce"

// receiver is an endpoint's receive side.
type receiver struct {
	psn        roce.PSN // rqPSN, the next
	message    roce.PSN // the one that it is in, or comes to
	offset     int      // bytes of it that were taken
	inside     bool
	nakSent    bool
	unanswered int // packets taken since the last answer
	msn        uint32
	refused    bool
}

// Verdict is what becomes of a data packet.
type Verdict uint8

// The verdicts. Those from Refused on end the connection, those before do not.
const (
	// InOrder: nothing is wrong with it so far.
	InOrder Verdict = iota
	// Taken: it is part of its message now.
	Taken
	// Duplicate and Gap: it is before or after what is expected.
	Duplicate
	Gap
	// Full: it begins a message that has no slot.
	Full
	// Refused: its sender's connection was ended before.
	Refused
	// Sequence: FIRST or ONLY inside a message, MIDDLE or LAST outside one.
	Sequence
	// Segment: FIRST or MIDDLE not of the path MTU, LAST or ONLY above it, LAST of nothing.
	Segment
	// Size: its message is longer than a slot.
	Size
	// Length: its message has another length than those of others.
	Length
)

// Arrive judges a packet by its number, its opcode and its length (docs/termination.md section 3, numbers 2 to 6).
func (g *Group) Arrive(end int, p *roce.Packet) Verdict {
	e := &g.ends[end]
	switch d := p.PSN.Diff(e.psn); {
	case d < 0:
		return Duplicate
	case d > 0:
		return Gap
	case e.refused:
		return Refused
	case p.Op.StartsMessage() == e.inside && !g.set.Wrong.ByPSN:
		return Sequence
	}
	n, mtu := len(p.Payload), g.set.MTU[end]
	switch {
	case !p.Op.EndsMessage() && n != mtu, n > mtu, n == 0 && !p.Op.StartsMessage():
		return Segment
	}
	return InOrder
}

// Result is what came of a packet in order.
type Result struct {
	Verdict
	// Completed: its message is complete with it. Mismatch: its SE or immediate is not that of the message. Answer: it is to be acknowledged.
	Completed, Mismatch, Answer bool
}

// Take takes a packet that is in order and of whole elements into its message (numbers 9 to 12), unless it finds no room, or is too long.
func (g *Group) Take(end int, p *roce.Packet, ackEvery int) Result {
	e, pool := &g.ends[end], g.poolFrom(end)
	starts, ends := p.Op.StartsMessage() || g.set.Wrong.ByPSN, p.Op.EndsMessage() || g.set.Wrong.ByPSN
	if starts && !e.message.Before(g.room(pool)) {
		if g.set.Wrong.KeepRefused {
			g.join(g.slotOf(pool, e.message), end, p.Payload)
		}
		return Result{Verdict: Full}
	}
	to := e.offset + len(p.Payload)
	if to > g.set.Bytes {
		return Result{Verdict: Size}
	}
	index := g.slotOf(pool, e.message)
	s := &g.slots[index]
	if s.known && to > s.mark || ends && to < s.mark {
		return Result{Verdict: Length}
	}
	r := Result{Verdict: Taken}
	g.join(index, end, p.Payload)
	s.mark, s.ce = max(s.mark, to), s.ce || p.CE()
	e.psn, e.nakSent, e.inside, e.offset = e.psn.Next(), false, true, to
	e.unanswered++
	r.Answer = p.AckReq || ends || e.unanswered >= ackEvery
	if !ends {
		return r
	}
	imm := uint32(0)
	if p.Op.HasImm() {
		imm = p.Imm
	}
	if s.known {
		r.Mismatch = s.se != p.SE || s.hasImm != p.Op.HasImm() || s.imm != imm
	} else {
		s.known, s.se, s.hasImm, s.imm = true, p.SE, p.Op.HasImm(), imm
	}
	e.inside, e.offset, e.message = false, 0, e.message.Next()
	e.msn = (e.msn + 1) & roce.PSNMask
	r.Completed = g.finish(pool)
	return r
}

// join puts a payload where its endpoint's offset is: what lies below the high-water mark is added to, what lies above is overwritten.
func (g *Group) join(index, end int, payload []byte) {
	a, from := &g.roles.Arithmetic, g.ends[end].offset
	to, below := from+len(payload), 0
	if g.set.Memory.Plane == 0 {
		end, below = 0, min(max(g.slots[index].mark-from, 0), len(payload))
	}
	if below > 0 {
		addend := g.addend[:below/a.Bytes]
		a.Decode(addend, payload[:below])
		a.Add(g.kept(index, end, from, from+below), addend)
	}
	a.Decode(g.kept(index, end, from+below, to), payload[below:])
}

// Refuse ends an endpoint's connection for good.
func (g *Group) Refuse(end int) { g.ends[end].refused = true }

// RefusedMask is the endpoints that were refused, one bit each.
func (g *Group) RefusedMask() (mask uint32) {
	for i := range g.ends {
		if g.ends[i].refused {
			mask |= 1 << i
		}
	}
	return mask
}

// Asked tells whether a gap, or a want of room, was answered since something was last taken, and notes that one is now.
func (g *Group) Asked(end int) bool {
	e := &g.ends[end]
	before := e.nakSent
	e.nakSent = true
	return before
}

// Answered gives the MSN of an answer to an endpoint, and notes that it is sent.
func (g *Group) Answered(end int) (msn uint32) {
	e := &g.ends[end]
	e.unanswered = 0
	return e.msn
}

// Expected is an endpoint's next PSN, and the message that it is in or comes to.
func (g *Group) Expected(end int) (psn, message roce.PSN) {
	return g.ends[end].psn, g.ends[end].message
}
