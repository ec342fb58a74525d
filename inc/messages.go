// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"math/bits"

	"incforge/inc/internal/message"
	"incforge/roce"
)

// Mode I: what a group does with messages is package message; here are its registers, its ranges, its counters and what leaves
// (docs/termination.md).

// resetAckEvery is ACK_EVERY after reset.
const resetAckEvery = 16

// SetAckEvery writes ACK_EVERY, how many packets in a row may go without an answer; 0 stands for 1. Before that it is 16. Modes II and
// III do without.
func (e *Engine) SetAckEvery(packets uint8) { e.ackEvery = max(int(packets), 1) }

// Refused is the mask of GROUP_REFUSED of group g: the endpoints that were answered with NAK 0x61 since the group's start, one bit each. It
// is 0 for a group that does not exist, and in other modes than I.
func (e *Engine) Refused(group int) uint32 {
	if group < 0 || group >= len(e.groups) || e.groups[group].messages == nil {
		return 0
	}
	return e.groups[group].messages.RefusedMask()
}

// Poison tells group g that a double error of the payload memory was read for it: it sends nothing more until it is started again, because go-back-N would
// repeat what is wrong for ever (docs/termination.md section 9). The reference's memory has no errors, so whoever knows of one must say so. It is an
// error, ErrAction, for a group that does not run in Mode I.
func (e *Engine) Poison(g int) error {
	if g < 0 || g >= len(e.groups) || !e.groups[g].enabled || e.groups[g].messages == nil {
		return fmt.Errorf("poison group %d: %w", g, ErrAction)
	}
	e.groups[g].messages.Poison()
	return nil
}

// Poisoned is GROUP_REFUSED.poisoned of group g. It is false for a group that does not exist, and in other modes than I.
func (e *Engine) Poisoned(g int) bool {
	return g >= 0 && g < len(e.groups) && e.groups[g].messages != nil && e.groups[g].messages.Poisoned()
}

// legalMessages reports what of Mode I keeps a group from being enabled: an endpoint's path MTU, or releases where there are none.
func (e *Engine) legalMessages(number int) error {
	if !e.params.terminates() {
		return nil
	}
	if e.params.NoReleases && e.groups[number].Release {
		return fmt.Errorf("group %d: this engine makes no releases: %w", number, ErrIllegalGroup)
	}
	least := e.params.LeastPathMTU
	if least == 0 {
		least = IBTALeastMTU
	}
	for mask := e.groups[number].tree(); mask != 0; mask &= mask - 1 {
		member := lowest(mask)
		if mtu := e.table[e.params.EndpointIndex(number, member)].PathMTU; bits.OnesCount(uint(mtu)) != 1 || mtu < least || mtu > e.params.MTU {
			return fmt.Errorf("group %d: path MTU of endpoint %d is %d, it must be a power of two from %d to %d: %w", number, member, mtu, least, e.params.MTU, ErrIllegalGroup)
		}
	}
	return nil
}

// startMessages is start for what Mode I has.
func (e *Engine) startMessages(number int) {
	g := &e.groups[number]
	g.messages = e.newMessages(number)
	g.beginMessages(e, number, g.Start)
}

// newMessages are a group's messages as its start leaves them, before a range is begun.
func (e *Engine) newMessages(number int) *message.Group {
	g, p := &e.groups[number], e.params
	s := message.Settings{N: g.pipeSlots(), Bytes: p.slotBytes(), Whole: g.WholeMessages || p.WholeMessages, Memory: e.messageMemory(g),
		Wrong: message.Wrong{ByPSN: p.follows(RuleByPSN), FreeFirst: p.follows(RuleFreeFirst), KeepRefused: p.follows(RuleKeepRefused)}}
	for member := range g.ends {
		record := &e.table[e.params.EndpointIndex(number, member)]
		s.RQ, s.SQ, s.MTU = append(s.RQ, record.RQPSN), append(s.SQ, record.SQPSN), append(s.MTU, record.PathMTU)
	}
	return message.New(s)
}

// messageMemory is the payload memory of the slots that a group's settings name.
func (e *Engine) messageMemory(g *group) message.Memory {
	words, units := e.params.slotWords(), g.packetSlots(e.params)
	m := message.Memory{Words: e.words[g.SlotBase*words:][:2*g.pipeSlots()*units*words], Slot: units * words}
	if e.params.Reproducible {
		m.Plane = units * e.params.slotBytes() / 4
	}
	return m
}

// beginMessages begins the current range, or what a fixed group does, with message first.
func (g *group) beginMessages(e *Engine, number int, first roce.PSN) {
	s := &g.current
	r := message.Roles{Root: s.turnsAround()}
	for p := range numPipes {
		if g.uses(p) {
			r.Fills[p], r.Outs[p], r.Uses[p] = s.fillers(p), s.outs(p), true
		}
	}
	a := s.arithmetic(g.BigEndian)
	r.Arithmetic = message.Arithmetic{Bytes: a.elementBytes(), Decode: a.decode, Encode: a.encode, Add: a.add, Tree: a.tree}
	iteration := g.Iteration
	if g.InBand {
		iteration = s.packets() + 1
	}
	for mask := s.senders(); g.Release && (s.open || !g.InBand) && mask != 0; mask &= mask - 1 {
		if e.table[e.params.EndpointIndex(number, lowest(mask))].Host {
			r.Release |= mask & -mask
		}
	}
	g.messages.Begin(r, first, iteration, !g.InBand)
}

// messagePacket is docs/termination.md for a packet of ours that checkPacket found nothing wrong with.
func (e *Engine) messagePacket(at place, p *roce.Packet) {
	in := incoming{Packet: p, place: at, span: &e.groups[at.group].current, psn: p.PSN}
	freed := e.groups[at.group].messages.Freed
	switch p.Op {
	case roce.CNP:
		e.count(RxCnp)
	case roce.Acknowledge:
		e.messageAck(&in)
	default:
		e.messageData(&in)
	}
	e.counters[Wipe] += e.groups[at.group].messages.Freed - freed
}

// messageData is docs/termination.md section 3, with its numbers.
func (e *Engine) messageData(in *incoming) {
	g, s := &e.groups[in.group], in.span
	if !g.InBand && s.senders()&in.bit() == 0 { // 1
		e.count(DropWrongRole)
		return
	}
	wire, number := g.messages.Expected(in.member)
	switch v := g.messages.Arrive(in.member, in.Packet); v {
	case message.Duplicate: // 2
		e.countData(in)
		e.count(RxDuplicate)
		e.count(TxAck)
		e.answerData(in, wire.Prev(), roce.AckSyndrome)
		return
	case message.Gap: // 3
		e.countData(in)
		e.count(DropGap)
		if !g.messages.Asked(in.member) {
			e.count(TxGapNak)
			e.answerData(in, wire, roce.NAKSequence)
		}
		return
	case message.Refused: // 4
		e.invalid(in, DropRefused)
		return
	case message.Sequence: // 5
		e.invalid(in, DropSequence)
		return
	case message.Segment: // 6
		e.invalid(in, DropSegment)
		return
	}
	if in.psn = number; g.InBand && in.Op.StartsMessage() && !e.inRange(in) { // 7
		return
	}
	if len(in.Payload)%ElementBytes(s.dtype) != 0 || s.collective == CollectiveBarrier && len(in.Payload) != 0 { // 8
		e.invalid(in, DropBadLength)
		return
	}
	if g.parked { // 9, whatever slots its settings name
		e.refuse(in)
		return
	}
	r := g.messages.Take(in.member, in.Packet, e.ackEvery)
	switch r.Verdict {
	case message.Full: // 9
		e.countData(in)
		if e.params.follows(RuleAckFull) {
			e.answerData(in, in.PSN, roce.AckSyndrome)
			return
		}
		e.refuse(in)
	case message.Size: // 10
		e.invalid(in, DropMessageSize)
	case message.Length: // 11
		e.invalid(in, DropMessageLength)
	default: // 12
		e.countData(in)
		e.countTaken(in, r)
		if r.Answer {
			e.count(TxAck)
			e.answerData(in, in.PSN, roce.AckSyndrome)
		}
	}
}

// countTaken counts a packet that is part of its message now.
func (e *Engine) countTaken(in *incoming, r message.Result) {
	if r.Mismatch {
		e.count(ImmMismatch)
	}
	if in.span.in&in.bit() == 0 {
		e.count(DownTaken)
		return
	}
	e.count(Agg)
	if r.Completed {
		e.count(TxResult)
	} else {
		e.count(Buffered)
	}
}

// invalid ends the connection of a packet's sender.
func (e *Engine) invalid(in *incoming, why Counter) {
	e.count(why)
	e.count(TxInvalid)
	e.groups[in.group].messages.Refuse(in.member)
	e.answerData(in, in.PSN, roce.NAKInvalidRequest)
}

// messageAck is docs/termination.md section 5.
func (e *Engine) messageAck(in *incoming) {
	g := &e.groups[in.group]
	kind := roce.SyndromeKindOf(in.Syndrome)
	switch {
	case g.InBand && !g.current.open, g.messages.Hears()&in.bit() == 0 && g.InBand:
		e.count(DropStaleAck)
		return
	case g.messages.Hears()&in.bit() == 0:
		e.count(DropWrongRole)
		return
	case kind == roce.SyndromeReserved:
		e.count(DropSyndrome)
		return
	case !g.messages.Fresh(in.member, kind, in.PSN):
		e.count(DropStaleAck)
		return
	case kind == roce.SyndromeAck:
		e.count(RxAck)
	case kind == roce.SyndromeRNR:
		e.count(RxRnr)
	default:
		e.count(RxNak)
		if in.Syndrome != roce.NAKSequence {
			g.messages.Fail(in.member)
			e.raise(CauseFailed)
			return
		}
	}
	g.messages.Answer(e.clock(), in.member, kind, in.PSN, message.Time(answerTime(in.Syndrome)))
}

// clock is what timers go by.
func (e *Engine) clock() message.Clock {
	return message.Clock{Now: message.Time(e.now), Timeout: message.Time(e.pipeTimeout)}
}

// allowsMessages is allows in Mode I.
func (g *group) allowsMessages(a Action) bool {
	if a.Kind == ActSend {
		return a.Pipe < numPipes && g.messages.MaySend(message.Pool(a.Pipe))
	}
	if a.Endpoint < 0 || a.Endpoint >= len(g.ends) || g.messages.Hears()>>a.Endpoint&1 == 0 {
		return false
	}
	switch a.Kind {
	case ActSendOne:
		return g.messages.MaySendOne(a.Endpoint)
	case ActTimeout:
		return g.messages.MayTimeout(a.Endpoint)
	case ActResume:
		return g.messages.MayResume(a.Endpoint)
	}
	return false
}

// messagesWant is wantsToSend in Mode I.
func (g *group) messagesWant() bool {
	for mask := g.messages.Hears(); mask != 0; mask &= mask - 1 {
		if g.messages.MaySendOne(lowest(mask)) {
			return true
		}
	}
	return g.messages.MaySend(message.Aggregation) || g.messages.MaySend(message.Broadcast)
}

// takeMessages is take in Mode I.
func (e *Engine) takeMessages(a Action) {
	g := &e.groups[a.Group]
	switch a.Kind {
	case ActSend:
		e.sendPiece(a.Group, g.messages.Send(e.clock(), message.Pool(a.Pipe)))
	case ActSendOne:
		e.sendPiece(a.Group, g.messages.SendOne(e.clock(), a.Endpoint))
	case ActTimeout:
		e.count(Timeout)
		g.messages.Timeout(e.clock(), a.Endpoint)
	case ActResume:
		g.messages.Resume(e.clock(), a.Endpoint)
	}
}

// sendPiece sends a packet of a result, or a release, to those it is for.
func (e *Engine) sendPiece(number int, piece message.Piece) {
	for _, c := range piece.Copies {
		e.count(TxFanout)
		if c.Again {
			e.count(TxRetransmit)
		}
		if piece.Release {
			e.count(TxRelease)
		}
		out := e.translate(e.params.EndpointIndex(number, c.End), piece.CE)
		p := &out.Packet
		p.Op, p.PSN, p.Pad, p.SE, p.AckReq = piece.Op, c.PSN, uint8(-len(piece.Payload)&3), piece.SE, c.AckReq
		p.Payload, p.Imm = piece.Payload, piece.Imm
		e.outs = append(e.outs, out)
	}
}

// openMessages begins the range that a control asks for. All before is through, so it is forgotten.
func (e *Engine) openMessages(number int, r roles, immediate uint32) {
	e.count(RangeOpen)
	g := &e.groups[number]
	s, next := &g.current, g.Start
	if s.open {
		next = s.last().Next()
	}
	s.roles, s.open, s.first, s.immediate = r, true, next, immediate
	g.beginMessages(e, number, next)
}

// appendMessages is AppendGroupState for an enabled group in Mode I, after its first byte: in an in-band group whether a range is open (1
// byte), and of the open one first (3 bytes) and immediate (4 bytes); then what package message has.
func (e *Engine) appendMessages(b []byte, number int) []byte {
	g := &e.groups[number]
	if s := &g.current; g.InBand {
		b = append(b, flag(s.open, 1))
		if s.open {
			b = append24(b, uint32(s.first))
			b = append(b, byte(s.immediate>>24), byte(s.immediate>>16), byte(s.immediate>>8), byte(s.immediate))
		}
	}
	return g.messages.Append(b)
}

// restoreMessages reads what appendMessages wrote. It checks everything and changes the engine only if apply is set.
func (e *Engine) restoreMessages(r *reader, number int, parked, apply bool) error {
	before := e.groups[number]
	g := &e.groups[number]
	g.enabled, g.parked = true, parked
	g.messages = e.newMessages(number)
	s := &g.current
	first := g.Start
	s.roles, s.open, s.first, s.immediate = g.registerRoles(), false, 0, 0
	if g.InBand && r.flags(1) != 0 && r.err == nil {
		s.open, s.first, s.immediate = true, roce.PSN(r.uint(3)), r.uint(4)
		var legal bool
		s.roles, legal = g.rangeRoles(e.params, ControlOf(s.immediate))
		r.require(legal)
		first = s.first
	}
	if r.err == nil {
		g.beginMessages(e, number, first)
		rest, err := g.messages.Restore(r.rest, apply)
		if err != nil {
			r.require(false)
		} else {
			r.rest = rest
			r.require(!parked || g.messages.Empty() || e.params.follows(RuleParkBusy))
		}
	}
	if !apply || r.err != nil {
		e.groups[number] = before
	}
	return r.err
}

// lookMessages is Look in Mode I, where one packet alone has a place: the endpoint's next.
func (g *group) lookMessages(member int, wire roce.PSN) (s Sight, ok bool) {
	c := &g.current
	psn, number := g.messages.Expected(member)
	if psn != wire || c.senders()>>member&1 == 0 || g.InBand && !c.has(number) {
		return Sight{}, false
	}
	s = Sight{Collective: c.collective, Op: c.op, DType: c.dtype, BigEndian: g.BigEndian, PSN: number, Slot: SlotOther}
	if begun, fits := g.messages.Slot(member); g.parked {
		return s, true
	} else if fits && begun {
		s.Slot = SlotPartial
	} else if fits {
		s.Slot = SlotEmpty
	}
	return s, true
}

// messageStanding is Standing in Mode I.
func (g *group) messageStanding(s *Standing) {
	s.Next, s.Partial = g.messages.Progress()
	for member := range g.ends {
		bit := uint32(1) << member
		expected, number := g.messages.Expected(member)
		end := EndStanding{Sends: g.current.senders()&bit != 0, Hears: g.messages.Hears()&bit != 0, Expected: expected, Sent: number}
		end.Unacknowledged, end.Owed = g.messages.Owed(member)
		end.Waits, end.Failed = g.messages.MayResume(member), g.messages.FailedMask()&bit != 0
		s.Ends = append(s.Ends, end)
	}
}
