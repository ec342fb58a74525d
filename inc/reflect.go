// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"math/bits"

	"incforge/roce"
)

// reflectAck is rule 7 of docs/engine.md section 3 for AllReduce and Barrier. In Mode II a host that acknowledges the result
// of PSN p has thereby proof that its own contribution p arrived, so its ACK goes back to it as the answer to its own data,
// and likewise a NAK makes it resend from where its results stop. PSN and syndrome stay (A11), and with them the cumulative
// meaning (A12).
func (e *Engine) reflectAck(in *incoming) []Out {
	e.count(TxReflect)
	return []Out{e.answer(in, in.member, in.psn, in.Syndrome, in.MSN, in.CE())}
}

// gapNak answers a contribution that came too early.
//
// Its PSN is not the one missing. To the host a NAK(p) acknowledges everything before p, and whoever has sent p has not
// thereby got the results before p; told otherwise, it would give up the data it needs to ask for them again, and run out
// of its window (A5). The one number that acknowledges nothing new is that after the last ACK this host was sent: its own,
// or in a Reduce the parent's. Ranges before this one are acknowledged, or it would not have begun this one.
func (e *Engine) gapNak(in *incoming) []Out {
	g, told := &e.groups[in.group], in.member
	if in.span.collective == CollectiveReduce {
		told = bits.TrailingZeros32(in.span.parent)
	}
	acked := g.ends[told].acked
	if g.InBand {
		acked = acked.Max(in.span.first.Prev())
	}
	return e.nak(in.place, acked.Next().Add(in.span.offsets[in.member].in))
}

// nak tells an endpoint to send again from a PSN on its wire, once until it makes progress, if CTRL.gap_nak is set and it is
// a host: without an answer the host would find out by its timeout only.
func (e *Engine) nak(at place, wire roce.PSN) []Out {
	end := &e.groups[at.group].ends[at.member]
	if !e.gapNAK || !e.table[at.ei].Host || end.nakSent {
		return nil
	}
	end.nakSent = true
	e.count(TxGapNak)
	return []Out{e.aeth(at.ei, wire, roce.NAKSequence, end.msn, false)}
}

// receiveCNP is rule 8: congestion on the way of data slows down who sends it. In AllReduce and Barrier the one sender this
// switch can address is the receiver itself; in a Broadcast it is the parent, in a Reduce all who contribute. A CNP's PSN is
// nobody's, so it is kept and belongs to no range.
func (e *Engine) receiveCNP(in *incoming) []Out {
	e.count(RxCnp)
	counter, to := TxCnp, in.bit()
	switch in.span.collective {
	case CollectiveReduce:
		counter, to = TxAckCopy, in.span.in
	case CollectiveBroadcast:
		to = in.span.parent
	}
	var outs []Out
	for ; to != 0; to &= to - 1 {
		e.count(counter)
		out := e.translate(e.params.EndpointIndex(in.group, bits.TrailingZeros32(to)), in.CE())
		out.Packet.Op, out.Packet.PSN, out.Packet.BECN = roce.CNP, in.PSN, true
		out.Packet.Payload = make([]byte, cnpBytes)
		outs = append(outs, out)
	}
	return outs
}
