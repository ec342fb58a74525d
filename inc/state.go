// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"incforge/inc/internal/message"
	"incforge/roce"
)

// ErrState means that bytes given to Restore are no state of an engine with this configuration.
var ErrState = errors.New("not a state of this engine")

// group is a group's settings and its state apart from the slots.
type group struct {
	Group
	enabled bool
	parked  bool            // enabled, and without slots (see park.go)
	ends    []endpointState // one an endpoint, 0 to Members
	done    roce.PSN        // the last PSN that is complete on this switch

	// The range that is open and the one before, if they are open: packets of both are taken. In a fixed group current is
	// everything, in an in-band one before its first range it is closed and has the roles of the registers.
	current, previous span

	// Mode III: the pipes, and what was sent to each endpoint, 0 to Members.
	pipes         [numPipes]pipeState
	sends         []sendSide
	turned        roce.PSN // RuleB9's: the first PSN that has not gone to the broadcast pipe
	selfAddressed bool     // RuleB9 holds
	broken        bool     // RuleB6Assert, RuleB9: what must never be, was
	queued        uint64   // who stands in Engine.queue (see Action.queued), for the time of a call

	messages *message.Group // Mode I: everything that Mode III has in the fields above

	discarded int // slots emptied or recycled while incomplete since New; for judges, no state
}

// endpointState is what the engine remembers of an endpoint.
type endpointState struct {
	ePSN    roce.PSN // the next data expected, on the wire
	acked   roce.PSN // the last PSN of the group that it acknowledged
	ackMSN  uint32   // the MSN that came with it
	nakSent bool     // a gap was answered and there was no progress since
	msn     uint32   // messages completed by this endpoint, 24 bits
}

// shape is what the contributions to a slot have in common.
type shape struct {
	op     roce.Opcode
	length uint16 // of the payload in bytes, without pad
	pad    uint8
}

// slot is a slot's state word. It means something only while mask is not 0.
type slot struct {
	tag      roce.PSN // the PSN this slot is for
	mask     uint32   // who has contributed
	complete bool     // all have; the payload is a result until the slot is recycled
	ce       bool     // a contribution had congestion experienced
	se       bool
	imm      uint32
	shape    shape
	arrived  uint32 // RuleA1's, in Mode III: who contributed when the slot was used before
}

// slotOf is the slot of a PSN: base + psn mod N. N is a power of two, so the ring runs on across the wrap (A18).
func (g *group) slotOf(psn roce.PSN) int { return g.SlotBase + int(psn)&(1<<g.Log2N-1) }

// contributions is the number of payloads that are kept apart in a slot: one, the sum of those accepted so far, or one for
// each endpoint.
func (p Params) contributions() int {
	if p.Reproducible {
		return p.Members + 1
	}
	return 1
}

// slotWords is the size of a slot in words of 32 bits.
func (p Params) slotWords() int { return p.contributions() * p.slotBytes() / 4 }

// slotsOf are the state words of the group's slots.
func (g *group) slotsOf(e *Engine) []slot { return e.slots[g.SlotBase:][:1<<g.Log2N] }

// kept is what slot s of group g, in use, keeps: the sum of the contributions so far, or in a reproducible engine the
// contribution of endpoint member. dtype is that of the slot's PSN.
//
// The packet's state word is number s of all, but its elements take packetSlots slots, so they are as many times as far
// from the group's first slot.
func (e *Engine) kept(g *Group, s, member int, dtype uint8) []uint32 {
	units := g.packetSlots(e.params)
	at := (g.SlotBase + (s-g.SlotBase)*units) * e.params.slotWords()
	if e.params.Reproducible {
		at += member * units * e.params.MTU / 4
	}
	return e.words[at:][:int(e.slots[s].shape.length)/ElementBytes(dtype)]
}

// keepers are the members under whose number a slot with this mask keeps something, one bit each.
func (p Params) keepers(mask uint32) uint32 {
	if p.Reproducible {
		return mask
	}
	return 1
}

// start brings a group to where docs/engine.md section 5 says a start leaves it: everything expected from START on,
// everything before acknowledged and complete, every slot empty, no range open. In this engine it takes no time, so
// STATUS.busy is never seen.
func (e *Engine) start(number int) {
	g := &e.groups[number]
	for i := range g.ends {
		g.ends[i] = endpointState{ePSN: g.Start, acked: g.Start.Prev()}
	}
	g.done = g.Start.Prev()
	g.current, g.previous = e.noRange(g), e.noRange(g)
	for i := range g.slotsOf(e) {
		g.slotsOf(e)[i] = emptySlot()
	}
	if e.params.pipes() {
		for i := range g.sends {
			g.sends[i].failed = false
		}
		e.beginPipes(g, g.Start)
	}
	if e.params.terminates() {
		e.startMessages(number)
	}
}

// noRange is what there is before the first range: the registers' roles, all offsets 0.
func (e *Engine) noRange(g *group) span {
	return span{roles: g.registerRoles(), offsets: make([]offsets, len(g.ends)), same: e.params.follows(RuleSameOffsets), forgotten: e.params.follows(RuleOneRange)}
}

// stateParked is the first byte of an enabled group that is parked; 1 is that of any other.
const stateParked = 2

// Flags of a slot in AppendState.
const (
	flagComplete = 1 << iota
	flagCE
	flagSE
	flagUsed // mask is not 0: mask, shape, immediate and payload follow
)

// AppendState appends the engine's whole state to b, group after group. Configuration and counters are not in it. It is
// canonical: engines of equal configuration that will behave alike from now on because their groups hold the same have
// equal bytes, whatever their slots held before. A disabled group is one byte.
func (e *Engine) AppendState(b []byte) []byte {
	for g := range e.groups {
		b = e.AppendGroupState(b, g)
	}
	return b
}

// AppendGroupState appends the part of AppendState that belongs to group g, which must exist.
//
// The form is: enabled (1 byte, nothing follows a 0; 2 is a parked group, whose slots are left out); in an in-band group the number of open ranges, 0 to 2 (1), of two the
// first PSN (3) and the immediate (4) of the one before and for each endpoint its offsets in and out (3 each), and of one or
// two the immediate of the current range (4), whose PSNs follow from those of the one before; done (3); for each endpoint
// ePSN, acked, the MSN beside it, msn (3 each) and nakSent (1); for each slot flags (1) and, if flagUsed is among them, tag
// (3), mask (4), opcode (1), length (2), pad (1), immediate (4) and what it keeps: the elements of the sum so far, or in a
// reproducible engine those of each endpoint in the mask, in ascending order, 4 bytes each, 16-bit types as FP32. Numbers are
// big-endian. In Modes III and I the form is another one, see appendPipes and appendMessages.
func (e *Engine) AppendGroupState(b []byte, number int) []byte {
	be := binary.BigEndian
	g := &e.groups[number]
	if !g.enabled {
		return append(b, 0)
	}
	if g.parked {
		b = append(b, stateParked)
	} else {
		b = append(b, 1)
	}
	switch {
	case e.params.pipes():
		return e.appendPipes(b, number)
	case e.params.terminates():
		return e.appendMessages(b, number)
	}
	if g.InBand {
		b = g.appendRanges(b)
	}
	b = append24(b, uint32(g.done))
	for _, end := range g.ends {
		b = append24(b, uint32(end.ePSN))
		b = append24(b, uint32(end.acked))
		b = append24(b, end.ackMSN)
		b = append24(b, end.msn)
		b = append(b, flag(end.nakSent, 1))
	}
	for i := range 1 << g.Log2N {
		if g.parked {
			break
		}
		index := g.SlotBase + i
		s := &e.slots[index]
		if s.mask == 0 {
			b = append(b, 0)
			continue
		}
		b = append(b, flagUsed|flag(s.complete, flagComplete)|flag(s.ce, flagCE)|flag(s.se, flagSE))
		b = append24(b, uint32(s.tag))
		b = be.AppendUint32(b, s.mask)
		b = append(b, byte(s.shape.op))
		b = be.AppendUint16(b, s.shape.length)
		b = append(b, s.shape.pad)
		b = be.AppendUint32(b, s.imm)
		dtype := g.spanOf(s.tag).dtype // open leaves no slot in use that is of neither range
		for members := e.params.keepers(s.mask); members != 0; members &= members - 1 {
			for _, w := range e.kept(&g.Group, index, bits.TrailingZeros32(members), dtype) {
				b = be.AppendUint32(b, w)
			}
		}
	}
	return b
}

// appendRanges appends the ranges of an in-band group.
func (g *group) appendRanges(b []byte) []byte {
	be := binary.BigEndian
	switch {
	case !g.current.open:
		return append(b, 0)
	case !g.previous.open:
		return be.AppendUint32(append(b, 1), g.current.immediate)
	}
	b = append24(append(b, 2), uint32(g.previous.first))
	b = be.AppendUint32(b, g.previous.immediate)
	for _, o := range g.previous.offsets {
		b = append24(b, uint32(o.in))
		b = append24(b, uint32(o.out))
	}
	return be.AppendUint32(b, g.current.immediate)
}

// Restore puts the engine into a state that AppendState gave, of this engine or of another one with the same
// configuration. Counters stay as they are. In Mode III what waits for a time is due at once, and no time is doubled. Bytes that are no such state are refused with ErrState and the engine stays
// as it was.
func (e *Engine) Restore(b []byte) error {
	for _, apply := range []bool{false, true} {
		r := reader{rest: b}
		for g := range e.groups {
			if err := e.restoreGroup(&r, g, apply); err != nil {
				return fmt.Errorf("group %d: %w", g, err)
			}
		}
		if len(r.rest) != 0 {
			return fmt.Errorf("%d bytes left over: %w", len(r.rest), ErrState)
		}
	}
	return nil
}

// restoreGroup reads what AppendGroupState wrote. It checks everything and changes the engine only if apply is set.
func (e *Engine) restoreGroup(r *reader, number int, apply bool) error {
	g := e.groups[number] // a copy, with the same endpoints' state
	v := r.uint(1)
	r.require(v <= 1 || v == stateParked && e.params.Park)
	g.enabled, g.parked = v != 0, v == stateParked
	if g.enabled {
		if err := g.legal(e.params); err != nil {
			return fmt.Errorf("%w: %w", ErrState, err)
		}
		if e.params.pipes() {
			if r.err != nil {
				return r.err
			}
			return e.restorePipes(r, number, g.parked, apply)
		}
		if e.params.terminates() {
			return e.restoreMessages(r, number, g.parked, apply)
		}
		e.restoreRanges(r, &g)
		g.done = roce.PSN(r.uint(3))
	}
	if apply {
		e.groups[number] = g
	}
	if !g.enabled {
		return r.err
	}
	for i := range g.ends {
		end := endpointState{ePSN: roce.PSN(r.uint(3)), acked: roce.PSN(r.uint(3)), ackMSN: r.uint(3), msn: r.uint(3), nakSent: r.flags(1) != 0}
		if apply {
			g.ends[i] = end
		}
	}
	for i := range 1 << g.Log2N {
		if g.parked {
			break
		}
		var s slot
		var of *span
		index := g.SlotBase + i
		if flags := r.flags(flagComplete | flagCE | flagSE | flagUsed); flags != 0 {
			s.complete, s.ce, s.se = flags&flagComplete != 0, flags&flagCE != 0, flags&flagSE != 0
			s.tag, s.mask = roce.PSN(r.uint(3)), r.uint(4)
			s.shape = shape{op: roce.Opcode(r.uint(1)), length: uint16(r.uint(2)), pad: uint8(r.uint(1))}
			s.imm = r.uint(4)
			of = g.spanOf(s.tag)
			// What cannot be, because no packet that gets here could have brought it about.
			r.require(of != nil && g.slotOf(s.tag) == index)
			if r.err != nil {
				return r.err
			}
			r.require(flags&flagUsed != 0 && s.mask != 0 && s.mask&^of.in == 0)
			r.require(s.complete == (s.mask == of.in))
			r.require(s.shape.op.IsSend() && s.shape.pad <= 3 && (s.shape.op.HasImm() || s.imm == 0))
			r.require(int(s.shape.length) <= e.params.MTU && int(s.shape.length)%ElementBytes(of.dtype) == 0)
			r.require(of.collective != CollectiveBarrier || s.shape.length == 0)
		}
		if r.err != nil {
			return r.err
		}
		if apply {
			e.slots[index] = s
		}
		e.restoreWords(r, &g.Group, index, s, of, apply)
	}
	return r.err
}

// restoreRanges reads what appendRanges wrote.
func (e *Engine) restoreRanges(r *reader, g *group) {
	g.current, g.previous = e.noRange(g), e.noRange(g)
	if !g.InBand {
		return
	}
	ranges := r.uint(1)
	r.require(ranges <= 2)
	if r.err != nil || ranges == 0 {
		return
	}
	opened := func(s *span, first roce.PSN) {
		s.first, s.immediate = first, r.uint(4)
		var legal bool
		s.roles, legal = g.rangeRoles(e.params, ControlOf(s.immediate))
		s.open = true
		r.require(legal)
	}
	first := g.Start
	if ranges == 2 {
		opened(&g.previous, roce.PSN(r.uint(3)))
		for i := range g.previous.offsets {
			g.previous.offsets[i] = offsets{in: int(r.uint(3)), out: int(r.uint(3))}
			g.current.offsets[i] = g.previous.after(i)
		}
		first = g.previous.last().Next()
	}
	opened(&g.current, first)
}

// restoreWords reads what slot s, number index, of group g keeps; of is the range it belongs to. It refuses words that so many
// contributions cannot have left: an operation makes no NaN but the canonical one, and elements of a 16-bit type are still of
// that type as long as nothing was added to them.
func (e *Engine) restoreWords(r *reader, g *Group, index int, s slot, of *span, apply bool) {
	if s.mask == 0 {
		return
	}
	a := of.arithmetic(g.BigEndian)
	operated := !e.params.Reproducible && s.mask&(s.mask-1) != 0
	for members := e.params.keepers(s.mask); members != 0; members &= members - 1 {
		for i := range a.elements(int(s.shape.length)) {
			w := r.uint(4)
			r.require(of.dtype == DTypeINT32 || !operated || !isNaN(w) || w == canonicalNaN)
			r.require(a.widen == nil || operated && of.op == OpSum || a.widen(a.narrow(w)) == w)
			if r.err != nil {
				return
			}
			if apply {
				e.kept(g, index, bits.TrailingZeros32(members), of.dtype)[i] = w
			}
		}
	}
}

// reader takes bytes apart and remembers the first thing that was wrong.
type reader struct {
	rest []byte
	err  error
}

// bytes takes n bytes; nil once something was wrong.
func (r *reader) bytes(n int) []byte {
	r.require(n <= len(r.rest))
	if r.err != nil {
		return nil
	}
	head := r.rest[:n]
	r.rest = r.rest[n:]
	return head
}

// uint takes a big-endian number of n bytes.
func (r *reader) uint(n int) uint32 {
	var v uint32
	for _, b := range r.bytes(n) {
		v = v<<8 | uint32(b)
	}
	return v
}

// flags takes a byte in which no bit outside allowed may be set.
func (r *reader) flags(allowed uint32) uint32 {
	v := r.uint(1)
	r.require(v&^allowed == 0)
	return v
}

// require notes an error unless ok.
func (r *reader) require(ok bool) {
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%d bytes before the end: %w", len(r.rest), ErrState)
	}
}

// append24 appends a number of 24 bits, most significant byte first.
func append24(b []byte, v uint32) []byte { return append(b, byte(v>>16), byte(v>>8), byte(v)) }

// flag is bit if v is set and 0 otherwise.
func flag(v bool, bit byte) byte {
	if v {
		return bit
	}
	return 0
}
