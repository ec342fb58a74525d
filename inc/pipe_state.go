// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"fmt"

	"incforge/roce"
)

// Flags of a slot's first byte in a Mode III state, beside its opcode.
const (
	pipeSlotCE  = 1 << 3
	pipeSlotSE  = 1 << 4
	pipeSlotPad = 5 // the pad count's place
)

// appendPipes is AppendGroupState for an enabled group in Mode III, after its first byte.
//
// The form is, with numbers in LEB128 (of 24 bits, where they are differences of PSNs) but where bytes are given:
// in an in-band group whether a range is open (1 byte), and of the open one first (3 bytes), immediate (4 bytes) and for each endpoint
// its offsets in and out (3 bytes each); the failed endpoints' mask;
// for each pipe that is used, start (3 bytes), done − start and S − start;
// for each endpoint that sends, in an in-band group for each endpoint, twice the distance of what is expected of it from the start of its pipe, plus 1 if
// nakSent is set, and how far its msn lags behind the packets it has sent;
// for each endpoint that hears, four times the distance of nextUnacked from start, plus 2 if it waits, plus 1 if it does not stand where S
// is, and then sendNext − nextUnacked and maxSent + 1 − sendNext;
// for each PSN of each pipe from start on that somebody has filled: opcode and flags (1 byte), length, the immediate (4 bytes) if the opcode has
// one, and what the slot keeps, as in Mode II. Who has filled it follows from the endpoints.
//
// With rules known to be wrong there is more in it, and every slot.
//
// Where a slot lies, when a timer runs out and how often its time was doubled are not in it: engines that differ in that do
// the same, if not at the same time.
func (e *Engine) appendPipes(b []byte, number int) []byte {
	g := &e.groups[number]
	s := &g.current
	be := binary.BigEndian
	if g.InBand {
		b = append(b, flag(s.open, 1))
		if s.open {
			b = append24(b, uint32(s.first))
			b = be.AppendUint32(b, s.immediate)
			for _, o := range s.offsets {
				b = append24(append24(b, uint32(o.in)), uint32(o.out))
			}
		}
	}
	b = binary.AppendUvarint(b, uint64(e.Failed(number)))
	for p := range numPipes {
		if pipe := &g.pipes[p]; g.uses(p) {
			b = append24(b, uint32(pipe.start))
			b = appendDiff(b, pipe.done, pipe.start)
			b = appendDiff(b, pipe.sent, pipe.start)
		}
	}
	for member := range g.ends {
		if end := &g.ends[member]; g.remembers(member) {
			b = binary.AppendUvarint(b, uint64(distance(g.expected(member), g.reference(member)))<<1|uint64(flag(end.nakSent, 1)))
			b = appendDiff(b, end.ePSN, g.Start.Add(int(end.msn)))
		}
	}
	for mask := g.hears(); mask != 0; mask &= mask - 1 {
		out := &g.sends[lowest(mask)]
		pipe := &g.pipes[s.pipeTo(lowest(mask))]
		elsewhere := out.sendNext != pipe.sent
		b = binary.AppendUvarint(b, uint64(distance(out.nextUnacked, pipe.start))<<2|uint64(flag(out.waits, 2)|flag(elsewhere, 1)))
		if elsewhere {
			b = appendDiff(b, out.sendNext, out.nextUnacked)
			b = appendDiff(b, out.beyond, out.sendNext)
		}
	}
	if e.params.Rules != 0 {
		return e.appendWrong(b, g)
	}
	for p := range numPipes {
		if !g.uses(p) {
			continue
		}
		for i := range g.filled(p) {
			index := g.pipeSlot(p, g.pipes[p].start.Add(i))
			b = e.appendPipeSlot(b, g, index)
		}
	}
	return b
}

// appendPipeSlot appends what a slot in use has, but for its tag and mask.
func (e *Engine) appendPipeSlot(b []byte, g *group, index int) []byte {
	slot := &e.slots[index]
	b = append(b, byte(slot.shape.op)|flag(slot.ce, pipeSlotCE)|flag(slot.se, pipeSlotSE)|slot.shape.pad<<pipeSlotPad)
	b = binary.AppendUvarint(b, uint64(slot.shape.length))
	if slot.shape.op.HasImm() {
		b = binary.BigEndian.AppendUint32(b, slot.imm)
	}
	for members := e.params.keepers(slot.mask); members != 0; members &= members - 1 {
		for _, w := range e.kept(&g.Group, index, lowest(members), g.current.dtype) {
			b = binary.BigEndian.AppendUint32(b, w)
		}
	}
	return b
}

// uses tells whether a pipe may hold anything: in an in-band group before its first range neither does.
func (g *group) uses(p Pipe) bool { return (g.current.open || !g.InBand) && g.current.uses(p) }

// hears are the endpoints to which something may have been sent.
func (g *group) hears() uint32 {
	if g.InBand && !g.current.open {
		return 0
	}
	return g.current.hearers()
}

// remembers tells whether an endpoint's receive side can be other than at the start.
func (g *group) remembers(member int) bool {
	return g.InBand || g.current.senders()>>member&1 != 0
}

// reference is the PSN from which what is expected of an endpoint is counted in a state.
func (g *group) reference(member int) roce.PSN {
	if bit := uint32(1) << member; (g.current.open || !g.InBand) && g.current.senders()&bit != 0 {
		return g.pipes[g.current.pipeFrom(bit)].start
	}
	return g.begins()
}

// distance is how far p is ahead of q, 0 to 2^24−1.
func distance(p, q roce.PSN) uint32 { return (uint32(p) - uint32(q)) & roce.PSNMask }

// appendDiff appends the distance of p from q.
func appendDiff(b []byte, p, q roce.PSN) []byte {
	return binary.AppendUvarint(b, uint64(distance(p, q)))
}

// restorePipes reads what appendPipes wrote. It checks everything and changes the engine only if apply is set.
func (e *Engine) restorePipes(r *reader, number int, parked, apply bool) error {
	g := &e.spare
	g.Group, g.enabled, g.parked = e.groups[number].Group, true, parked
	e.restoreRange(r, g)
	if r.err != nil {
		return r.err
	}
	first := g.begins()
	failed := r.uvarint()
	r.require(failed < 1<<len(g.ends))
	for p := range numPipes {
		g.pipes[p] = pipeState{start: first, done: first, sent: first}
		if pipe := &g.pipes[p]; g.uses(p) {
			pipe.start = roce.PSN(r.uint(3))
			pipe.done, pipe.sent = r.psn(pipe.start), r.psn(pipe.start)
		}
	}
	for member := range g.ends {
		end := endpointState{ePSN: g.Start, acked: g.Start.Prev()}
		if g.remembers(member) {
			v := r.uvarint()
			r.require(v>>1 <= roce.PSNMask)
			end.nakSent = v&1 != 0
			end.ePSN = g.reference(member).Add(int(v>>1) + g.current.offsets[member].in)
			end.msn = distance(end.ePSN, r.psn(g.Start))
		}
		g.ends[member] = end
		g.sends[member] = sendSide{nextUnacked: first, sendNext: first, beyond: first, failed: failed>>member&1 != 0}
	}
	for mask := g.hears(); mask != 0 && r.err == nil; mask &= mask - 1 {
		out := &g.sends[lowest(mask)]
		pipe := &g.pipes[g.current.pipeTo(lowest(mask))]
		v := r.uvarint()
		r.require(v>>2 <= roce.PSNMask)
		out.nextUnacked = pipe.start.Add(int(v >> 2))
		out.waits = v&2 != 0
		out.sendNext, out.beyond = pipe.sent, pipe.sent
		if v&1 != 0 {
			out.sendNext = r.psn(out.nextUnacked)
			out.beyond = r.psn(out.sendNext)
			r.require(out.sendNext != pipe.sent)
		}
	}
	if r.err != nil {
		return r.err
	}
	if e.params.Rules != 0 {
		return e.restoreWrong(r, number, apply)
	}
	if err := g.checkPipes(); err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	if r.require(!parked || g.emptyPipes()); apply && !parked {
		clear(g.slotsOf(e))
	}
	for p := range numPipes {
		if !g.uses(p) {
			continue
		}
		for i := range g.filled(p) {
			psn := g.pipes[p].start.Add(i)
			slot := slot{tag: psn, mask: g.past(p, psn), complete: psn.Before(g.pipes[p].done)}
			e.restorePipeSlot(r, g, g.pipeSlot(p, psn), slot, apply)
		}
	}
	if r.err == nil && apply {
		e.setPipes(number)
	}
	return r.err
}

// setPipes makes group number what the spare one is.
func (e *Engine) setPipes(number int) {
	g, from := &e.groups[number], &e.spare
	copy(g.ends, from.ends)
	copy(g.sends, from.sends)
	copy(g.current.offsets, from.current.offsets)
	offsets := g.current.offsets
	g.current = from.current
	g.current.offsets = offsets
	g.pipes, g.enabled, g.parked = from.pipes, true, from.parked
	g.turned, g.broken = from.turned, from.broken
}

// restoreRange reads an in-band group's range, and gives a group the roles and offsets it has then.
func (e *Engine) restoreRange(r *reader, g *group) {
	s := &g.current
	s.roles, s.open, s.first, s.immediate = g.registerRoles(), false, 0, 0
	clear(s.offsets)
	if !g.InBand || r.flags(1) == 0 || r.err != nil {
		return
	}
	var legal bool
	s.open, s.first, s.immediate = true, roce.PSN(r.uint(3)), r.uint(4)
	s.roles, legal = g.rangeRoles(e.params, ControlOf(s.immediate))
	r.require(legal)
	for member := range s.offsets {
		s.offsets[member] = offsets{in: int(r.uint(3)), out: int(r.uint(3))}
	}
}

// restorePipeSlot reads what appendPipeSlot wrote; s has the tag and mask already.
func (e *Engine) restorePipeSlot(r *reader, g *group, index int, s slot, apply bool) {
	v := r.uint(1)
	s.ce, s.se = v&pipeSlotCE != 0, v&pipeSlotSE != 0
	s.shape = shape{op: roce.Opcode(v & 7), pad: uint8(v >> pipeSlotPad)}
	length := r.uvarint()
	r.require(s.shape.op.IsSend() && s.shape.pad <= 3 && length <= uint64(e.params.MTU) && int(length)%ElementBytes(g.current.dtype) == 0)
	r.require(g.current.collective != CollectiveBarrier || length == 0)
	if r.err != nil {
		return
	}
	s.shape.length = uint16(length)
	if s.shape.op.HasImm() {
		s.imm = r.uint(4)
	}
	if apply {
		e.slots[index] = s
	}
	e.restoreWords(r, &g.Group, index, s, &g.current, apply)
}

// uvarint takes a number in LEB128 that is as short as it can be.
func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	r.require(n > 0 && (n == 1 || r.rest[n-1] != 0))
	if r.err != nil {
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// psn takes a PSN's distance from another one.
func (r *reader) psn(from roce.PSN) roce.PSN {
	v := r.uvarint()
	r.require(v <= roce.PSNMask)
	return from.Add(int(v))
}

// appendWrong appends what the state of an engine with rules known to be wrong has beside: whether it is broken (1 byte), turned − start,
// and of each slot of each pipe's ring, from start's on, who contributed before, the mask and, if that is not 0, whether it is complete (1
// byte), its tag (3 bytes) and what appendPipeSlot gives.
func (e *Engine) appendWrong(b []byte, g *group) []byte {
	b = append(b, flag(g.broken, 1))
	b = appendDiff(b, g.turned, g.pipes[PipeBroadcast].start)
	g.eachSlot(func(index int) bool {
		s := &e.slots[index]
		b = binary.AppendUvarint(b, uint64(s.arrived))
		if b = binary.AppendUvarint(b, uint64(s.mask)); s.mask != 0 {
			b = append24(append(b, flag(s.complete, 1)), uint32(s.tag))
			b = e.appendPipeSlot(b, g, index)
		}
		return true
	})
	return b
}

// restoreWrong reads what appendWrong wrote, and ends what restorePipes does.
func (e *Engine) restoreWrong(r *reader, number int, apply bool) error {
	g := &e.spare
	g.broken = r.flags(1) != 0
	g.turned = r.psn(g.pipes[PipeBroadcast].start)
	if apply {
		clear(g.slotsOf(e))
	}
	g.eachSlot(func(index int) bool {
		var s slot
		arrived, mask := r.uvarint(), r.uvarint()
		r.require(max(arrived, mask) < 1<<len(g.ends))
		s.arrived, s.mask = uint32(arrived), uint32(mask)
		if r.err == nil && s.mask != 0 {
			s.complete = r.flags(1) != 0
			s.tag = roce.PSN(r.uint(3))
			e.restorePipeSlot(r, g, index, s, apply)
		} else if r.err == nil && apply {
			e.slots[index] = s
		}
		return r.err == nil
	})
	if r.err == nil && apply {
		e.setPipes(number)
	}
	return r.err
}

// eachSlot calls f for each slot of each pipe that is used, from start's on, until it returns false.
func (g *group) eachSlot(f func(index int) bool) {
	for p := range numPipes {
		if !g.uses(p) {
			continue
		}
		base, slots := g.ring(p)
		for i := range slots {
			if !f(base + (g.pipes[p].head+i)%slots) {
				return
			}
		}
	}
}
