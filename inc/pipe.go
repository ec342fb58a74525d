// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"math/bits"

	"incforge/roce"
)

// pipeState is a ring of slots (docs/pipes.md section 1), in group PSNs.
//
// At the root of an AllReduce or Barrier one ring of twice the size is both pipes: the state is that of the broadcast pipe, and the
// aggregation pipe is what lies from moved on.
type pipeState struct {
	start roce.PSN // the oldest that an out endpoint has not acknowledged
	done  roce.PSN // the first that is not complete
	sent  roce.PSN // S: one above the highest sent to anybody
	head  int      // number of start's slot within the ring
}

// pipeSlots is N, the number of slots of a pipe.
func (g *Group) pipeSlots() int {
	if g.PipeSlots == 0 {
		return g.window()
	}
	return g.PipeSlots
}

// lowest is the number of the lowest bit of a mask that is not 0.
func lowest(mask uint32) int { return bits.TrailingZeros32(mask) }

// turnsAround tells whether this switch is the root of an AllReduce or Barrier, where what is complete moves to the broadcast pipe.
func (r *roles) turnsAround() bool { return r.reflects() && r.parent == 0 }

// outs are a pipe's out endpoints. A parent that is in the out mask as well has one send side like everybody, which is the
// aggregation pipe's.
func (r *roles) outs(p Pipe) uint32 {
	switch {
	case r.collective == CollectiveReduce || r.collective == CollectiveBroadcast:
		if (r.collective == CollectiveReduce) == (p == PipeAggregation) {
			return r.hearers()
		}
		return 0
	case p == PipeAggregation:
		return r.parent
	}
	return r.out &^ r.parent
}

// pipeTo is the pipe that an endpoint hears from, if it hears.
func (r *roles) pipeTo(member int) Pipe {
	if r.outs(PipeAggregation)>>member&1 != 0 {
		return PipeAggregation
	}
	return PipeBroadcast
}

// pipeFrom is the pipe that the data of an endpoint goes into, if it sends. At a root it is the ring that is both.
func (r *roles) pipeFrom(bit uint32) Pipe {
	if r.in&bit != 0 && !r.turnsAround() {
		return PipeAggregation
	}
	return PipeBroadcast
}

// uses tells whether the collective uses a pipe's state.
func (r *roles) uses(p Pipe) bool {
	switch r.collective {
	case CollectiveReduce:
		return p == PipeAggregation
	case CollectiveBroadcast:
		return p == PipeBroadcast
	}
	return p == PipeBroadcast || r.parent != 0
}

// fillers are the endpoints whose data goes into a pipe.
func (r *roles) fillers(p Pipe) uint32 {
	switch {
	case !r.uses(p):
		return 0
	case p == PipeAggregation || r.turnsAround():
		return r.in
	}
	return r.parent &^ r.in
}

// moved is the first PSN that is not in the broadcast pipe: at a root what is complete moves there as long as it has room.
func (g *group) moved() roce.PSN {
	b := &g.pipes[PipeBroadcast]
	if g.selfAddressed && g.current.turnsAround() {
		return g.turned
	}
	if g.current.turnsAround() && b.done.Diff(b.start) > g.pipeSlots() {
		return b.start.Add(g.pipeSlots())
	}
	return b.done
}

// limit is the first PSN of a pipe that may not be sent yet.
func (g *group) limit(p Pipe) roce.PSN {
	if p == PipeBroadcast {
		return g.moved()
	}
	return g.pipes[p].done
}

// room is the first PSN that does not fit what goes into a pipe's ring.
func (g *group) room(p Pipe) roce.PSN {
	if g.current.turnsAround() {
		return g.moved().Add(g.pipeSlots())
	}
	return g.pipes[p].start.Add(g.pipeSlots())
}

// ring gives the first slot and the number of slots of a pipe's ring.
func (g *group) ring(p Pipe) (base, slots int) {
	n := g.pipeSlots()
	switch {
	case g.current.turnsAround():
		return g.SlotBase, 2 * n
	case p == PipeBroadcast:
		return g.SlotBase + n, n
	}
	return g.SlotBase, n
}

// pipeSlot is the slot of a PSN that is in a pipe. N need not be a power of two, so it is counted from the head and never taken
// modulo the PSN, which would jump where PSNs wrap.
func (g *group) pipeSlot(p Pipe, psn roce.PSN) int {
	base, slots := g.ring(p)
	at := g.pipes[p].head + psn.Diff(g.pipes[p].start)
	switch {
	case at >= slots:
		at -= slots
	case at < 0: // RuleB15 sends what has no slot any more
		at = slots - 1 - (-1-at)%slots
	}
	return base + at
}

// beginPipes empties both pipes; they begin at first, and nobody is owed anything. Who failed stays so.
func (e *Engine) beginPipes(g *group, first roce.PSN) {
	for p := range g.pipes {
		g.pipes[p] = pipeState{start: first, done: first, sent: first}
	}
	for i := range g.sends {
		g.sends[i] = sendSide{nextUnacked: first, sendNext: first, beyond: first, failed: g.sends[i].failed}
	}
	for i := range g.slotsOf(e) {
		g.slotsOf(e)[i] = emptySlot()
	}
	g.turned, g.broken = first, false
}

// empty empties a slot. With RuleA1 something stays.
func (e *Engine) empty(s *slot) {
	arrived := s.arrived | s.mask
	*s = emptySlot()
	if e.params.follows(RuleA1) {
		s.arrived = arrived
	}
}

// drained tells whether the next range may open: none is open, or all of the current one has been acknowledged.
func (g *group) drained() bool {
	s := &g.current
	if !s.open {
		return true
	}
	end := s.last().Next()
	for p := range numPipes {
		if s.uses(p) && (g.pipes[p].start != end || g.pipes[p].done != end) {
			return false
		}
	}
	return true
}

// allThrough is drained, in Mode I releases included.
func (g *group) allThrough() bool {
	if g.messages != nil {
		return !g.current.open || g.messages.Drained(g.current.last().Next())
	}
	return g.drained()
}

// openPipes begins the range that a control asks for. The one before is drained, so it is forgotten.
func (e *Engine) openPipes(g *group, r roles, immediate uint32) {
	e.count(RangeOpen)
	s, next := &g.current, g.Start
	if s.open {
		next = s.last().Next()
		for member := range s.offsets {
			s.offsets[member] = s.after(member)
		}
	}
	s.roles, s.open, s.first, s.immediate = r, true, next, immediate
	e.beginPipes(g, next)
}

// pipePacket is docs/pipes.md section 2 for a packet of ours that checkPacket found nothing wrong with.
func (e *Engine) pipePacket(at place, p *roce.Packet) {
	in := incoming{Packet: p, place: at, span: &e.groups[at.group].current, psn: p.PSN}
	switch p.Op {
	case roce.CNP:
		e.count(RxCnp)
	case roce.Acknowledge:
		e.receivePipeAck(&in)
	default:
		e.pipeData(&in)
	}
}

// pipeData is docs/pipes.md section 2, Data, with its numbers.
func (e *Engine) pipeData(in *incoming) {
	g, s := &e.groups[in.group], in.span
	end := &g.ends[in.member]
	if !g.InBand && s.senders()&in.bit() == 0 { // 1
		e.count(DropWrongRole)
		return
	}
	switch d := in.PSN.Diff(end.ePSN); {
	case d < 0: // 2
		e.duplicate(in)
		return
	case d > 0: // 3
		e.countData(in)
		e.count(DropGap)
		e.sendNak(in)
		return
	}
	if g.InBand {
		in.psn = in.PSN.Add(-s.offsets[in.member].in)
		if !e.inRange(in) { // 4
			return
		}
	}
	if len(in.Payload)%ElementBytes(s.dtype) != 0 || s.collective == CollectiveBarrier && len(in.Payload) != 0 { // 5
		e.count(DropBadLength)
		return
	}
	if g.parked {
		e.refuse(in)
		return
	}
	e.countData(in)
	p := s.pipeFrom(in.bit())
	if in.psn.Diff(g.room(p)) >= 0 { // 6
		e.refuse(in)
		return
	}
	slot := g.pipeSlot(p, in.psn)
	if e.arrivedBefore(in, slot) {
		e.count(RxDuplicate)
		e.sendAck(in, end.ePSN.Prev())
		return
	}
	if !e.fits(slot, in) { // 7
		e.count(DropShape)
		return
	}
	e.accept(in, p, slot) // 8
}

// duplicate acknowledges again what was accepted before, whatever range it belongs to: the ACK before may have been lost (B10).
func (e *Engine) duplicate(in *incoming) {
	e.countData(in)
	e.count(RxDuplicate)
	if !e.params.follows(RuleB10) {
		e.sendAck(in, e.groups[in.group].ends[in.member].ePSN.Prev())
	}
}

// countData counts data that is accepted, seen before, too early or not of its slot's shape, by the roles that hold now.
func (e *Engine) countData(in *incoming) {
	if in.span.parent&^in.span.in&in.bit() != 0 {
		e.count(DownData)
	} else {
		e.count(UpData)
	}
}

// inRange is number 4, in Mode I number 7 of docs/termination.md section 3: whether the next packet of an endpoint of an in-band group belongs to the current range, which it may open. If
// not, it is counted, and answered if it came too early. in.psn is the packet's by the offsets of the current range, and is put right
// if it opens the next one.
//
// An endpoint that has sent all of the current range, or does not send in it, expects the next control at the very PSN that the
// offsets of the next range give it (see after), so there is no need to compare it.
func (e *Engine) inRange(in *incoming) bool {
	g, s, control := &e.groups[in.group], in.span, isControl(in.Packet)
	if s.senders()&in.bit() != 0 && s.has(in.psn) {
		if control != (in.psn == s.first) || control && in.Imm != s.immediate {
			e.count(DropControl)
			return false
		}
		return true
	}
	if !control {
		e.count(DropRange)
		return false
	}
	r, legal := g.rangeRoles(e.params, ControlOf(in.Imm))
	switch {
	case !legal:
		e.count(DropBadControl)
		return false
	case r.senders()&in.bit() == 0:
		e.count(DropWrongRole)
		return false
	case g.parked:
		e.refuse(in)
		return false
	case !g.allThrough() && !e.params.follows(RuleUndrained):
		e.countData(in)
		e.refuse(in)
		return false
	}
	if e.params.terminates() {
		e.openMessages(in.group, r, in.Imm)
	} else {
		e.openPipes(g, r, in.Imm)
	}
	in.psn = s.first
	return true
}

// accept takes a packet into its slot and acknowledges it. What comes from the parent is complete with it.
func (e *Engine) accept(in *incoming, p Pipe, number int) {
	g, slot := &e.groups[in.group], &e.slots[number]
	need := in.span.in
	if in.span.in&in.bit() != 0 {
		e.count(Agg)
	} else {
		e.count(DownTaken)
		need = in.bit()
	}
	if e.params.follows(RuleB15) {
		g.overwrites(slot, p, in.psn)
	}
	e.contribute(in, number)
	e.sendAck(in, in.PSN)
	if slot.mask&need != need {
		e.count(Buffered)
		return
	}
	if need == in.span.in {
		e.count(TxResult)
	}
	slot.complete = true
	before := g.moved()
	g.pipes[p].done = in.psn.Next()
	if g.selfAddressed && in.span.turnsAround() {
		g.turnAround(in.psn)
	}
	if e.params.follows(RuleB15) {
		e.recycleByCompletion(g, p)
	}
	e.moves(g, before)
}

// moves counts the slots of a root's aggregation pipe that became free since moved was before.
func (e *Engine) moves(g *group, before roce.PSN) {
	if g.current.turnsAround() {
		e.counters[Wipe] += uint64(g.moved().Diff(before))
	}
}

// free lets a pipe's start follow its out endpoints: the slots that all of them have acknowledged are free.
func (e *Engine) free(g *group, p Pipe) {
	if e.params.follows(RuleB15) {
		return
	}
	pipe, outs := &g.pipes[p], g.current.outs(p)
	start := g.sends[lowest(outs)].nextUnacked
	for mask := outs; mask != 0; mask &= mask - 1 {
		if next := g.sends[lowest(mask)].nextUnacked; next.Before(start) {
			start = next
		}
	}
	before := g.moved()
	_, slots := g.ring(p)
	for pipe.start != start {
		slot := &e.slots[g.pipeSlot(p, pipe.start)]
		g.discard(slot)
		e.empty(slot)
		e.count(Wipe)
		pipe.start = pipe.start.Next()
		if pipe.head++; pipe.head == slots {
			pipe.head = 0
		}
	}
	e.moves(g, before)
}
