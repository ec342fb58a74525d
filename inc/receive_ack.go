// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"math/bits"

	"incforge/roce"
)

// receiveAck is rule 7 of docs/engine.md section 3: ACK(p) says that an endpoint has everything up to p (A12), NAK(p) and
// RNR NAK(p) that it has everything before p (A13). What is sent on depends on the collective.
//
// No slot is looked at, let alone made (A20): an old ACK must not be able to disturb a newer PSN's slot.
func (e *Engine) receiveAck(in *incoming) []Out {
	g := &e.groups[in.group]
	end, upTo := &g.ends[in.member], in.psn.Prev()
	kind := roce.SyndromeKindOf(in.Syndrome)
	switch kind {
	case roce.SyndromeAck:
		e.count(RxAck)
		upTo = in.psn
	case roce.SyndromeRNR:
		e.count(RxRnr)
	default: // checkRole let nothing else through
		e.count(RxNak)
	}
	before, _ := g.nodeAck(in.span)
	// A switch that sends NAK of a range's first PSN has clamped it there: somebody below it may not have all of the range before.
	speaks := !g.InBand || kind == roce.SyndromeAck || in.psn != in.span.first || e.params.follows(RuleNakSpeaks)
	if speaks && upTo.Diff(end.acked) >= 0 {
		end.acked, end.ackMSN = upTo, in.MSN
	}
	switch in.span.collective {
	case CollectiveReduce:
		return e.copyAck(in)
	case CollectiveBroadcast:
		after, slowest := g.nodeAck(in.span)
		msn := g.ends[slowest].ackMSN
		switch {
		case kind != roce.SyndromeAck && e.params.follows(RuleA10):
			return []Out{e.ackUp(in, in.psn, in.Syndrome, msn)}
		case kind != roce.SyndromeAck && in.psn.Diff(after) > 0:
			return []Out{e.ackUp(in, after.Next(), in.Syndrome, msn)}
		case after.Diff(before) > 0 || in.psn.Diff(before) <= 0 && !e.params.follows(RuleA9):
			return []Out{e.ackUp(in, after, roce.AckSyndrome, msn)}
		}
		return nil
	}
	return e.reflectAck(in)
}

// nodeAck is the last PSN that every endpoint of the range's ack mask has, and which of them has no more: of equals the lowest.
// Without anybody in the mask it means nothing. In an in-band group what is said of a range stays within it: an endpoint that
// heard nothing of the ranges before never acknowledged them, and one that is ahead has no business in this one.
func (g *group) nodeAck(s *span) (psn roce.PSN, slowest int) {
	slowest = -1
	for mask := s.ack; mask != 0; mask &= mask - 1 {
		member := bits.TrailingZeros32(mask)
		if acked := g.ends[member].acked; slowest < 0 || acked.Before(psn) {
			psn, slowest = acked, member
		}
	}
	if g.InBand && slowest >= 0 {
		psn = psn.Max(s.first.Prev())
		if psn.Diff(s.last()) > 0 {
			psn = s.last()
		}
	}
	return psn, slowest
}

// ackUp answers a Broadcast's parent. A NAK says no more than that everybody has what is before the number: NAK(p) of one
// endpoint would tell the sender that all have what that one has (A10); and of what all have there is none: it is old, and what
// follows may never have been sent. An ACK that is repeated is a repeated answer, since the one before may have been lost (A9).
func (e *Engine) ackUp(in *incoming, psn roce.PSN, syndrome uint8, msn uint32) Out {
	e.count(TxAckUp)
	return e.answer(in, bits.TrailingZeros32(in.span.parent), psn, syndrome, msn, in.CE())
}

// copyAck gives a Reduce's receiver's answer to all who contribute: it has what they all have sent.
func (e *Engine) copyAck(in *incoming) []Out {
	var outs []Out
	for mask := in.span.in; mask != 0; mask &= mask - 1 {
		e.count(TxAckCopy)
		outs = append(outs, e.answer(in, bits.TrailingZeros32(mask), in.psn, in.Syndrome, in.MSN, in.CE()))
	}
	return outs
}

// reack answers data of the range before the current one that everybody has, so that nobody need be asked again: receivers may
// be in the current range already, and would repeat ACKs of that one. ok tells whether it is such data.
func (e *Engine) reack(in *incoming) (outs []Out, ok bool) {
	g := &e.groups[in.group]
	if in.span != &g.previous || in.span.reflects() || e.params.follows(RuleNoReack) {
		return nil, false
	}
	if in.span.in&in.bit() != 0 && in.PSN.Diff(g.ends[in.member].ePSN) >= 0 {
		return nil, false // not seen before
	}
	// A Reduce has one endpoint whose ACKs count, the parent.
	psn, slowest := g.nodeAck(in.span)
	if slowest < 0 || psn != in.span.last() {
		return nil, false
	}
	e.count(TxReack)
	return []Out{e.answer(in, in.member, psn, roce.AckSyndrome, g.ends[slowest].ackMSN, false)}, true
}

// answer is an ACK, NAK or RNR NAK to what an endpoint has sent in a packet's range; psn is the group's.
func (e *Engine) answer(in *incoming, to int, psn roce.PSN, syndrome uint8, msn uint32, ce bool) Out {
	return e.aeth(e.params.EndpointIndex(in.group, to), psn.Add(in.span.offsets[to].in), syndrome, msn, ce)
}

// receivePipeAck is docs/pipes.md section 2 for ACK, NAK and RNR NAK: they are about what this engine has sent, and end here. A NAK of
// PSN q acknowledges everything before q, and that is all that is taken from one that is late, or ahead of what was sent (B6).
func (e *Engine) receivePipeAck(in *incoming) {
	g, r := &e.groups[in.group], in.span
	if g.InBand {
		in.psn = in.PSN.Add(-r.offsets[in.member].out)
	}
	kind := roce.SyndromeKindOf(in.Syndrome)
	switch {
	case g.InBand && (r.hearers()&in.bit() == 0 || !r.has(in.psn)):
		e.count(DropStaleAck)
		return
	case r.hearers()&in.bit() == 0:
		e.count(DropWrongRole)
		return
	case kind == roce.SyndromeReserved:
		e.count(DropSyndrome)
		return
	}
	s, next := &g.sends[in.member], in.psn
	if kind == roce.SyndromeNAK {
		g.broken = g.broken || e.params.follows(RuleB6Assert) && in.psn != s.nextUnacked
		if e.params.follows(RuleB6Ack) {
			kind = roce.SyndromeAck
		}
	}
	if kind == roce.SyndromeAck {
		next = next.Next()
	}
	progress := next.Diff(s.nextUnacked)
	if progress < 0 || progress == 0 && kind == roce.SyndromeAck || next.Diff(s.beyond) > 0 {
		e.count(DropStaleAck)
		return
	}
	switch kind {
	case roce.SyndromeAck:
		e.count(RxAck)
	case roce.SyndromeRNR:
		e.count(RxRnr)
	default:
		e.count(RxNak)
		if in.Syndrome != roce.NAKSequence {
			s.failed = true
			e.raise(CauseFailed)
			return
		}
	}
	again := next.Before(s.beyond) // what the endpoint asks for was sent
	if progress > 0 {
		s.nextUnacked = next
		if s.sendNext.Before(next) {
			s.sendNext = next
		}
		s.backOff = 0
		if !s.waits {
			e.startTimer(s)
		}
		e.free(g, r.pipeTo(in.member))
	}
	switch {
	case kind == roce.SyndromeNAK && again && !s.waits:
		s.sendNext = next
	case kind == roce.SyndromeRNR && again:
		s.waits = true
		s.sendNext = s.nextUnacked // where it will go on; until then it means nothing, and states differ less
		s.deadline = e.now + answerTime(in.Syndrome)
	}
}
