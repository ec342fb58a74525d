// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// reflectAck is rule 7 of docs/engine.md section 3. In Mode II a host that acknowledges the result of PSN p has thereby
// proof that its own contribution p arrived, so its ACK goes back to it as the answer to its own data, and likewise a NAK
// makes it resend from where its results stop. PSN and syndrome stay (A11), and with them the cumulative meaning (A12).
//
// No slot is looked at, let alone made (A20): an old ACK must not be able to disturb a newer PSN's slot.
func (e *Engine) reflectAck(at place, p *roce.Packet) []Out {
	end := &e.groups[at.group].ends[at.member]
	switch roce.SyndromeKindOf(p.Syndrome) {
	case roce.SyndromeAck:
		e.count(RxAck)
		end.acked = end.acked.Max(p.PSN)
	case roce.SyndromeRNR:
		e.count(RxRnr)
		end.acked = end.acked.Max(p.PSN.Prev()) // everything before p was received
	case roce.SyndromeNAK:
		e.count(RxNak)
		end.acked = end.acked.Max(p.PSN.Prev())
	}
	e.count(TxReflect)
	out := e.translate(at.ei, p.CE())
	out.Packet.Op, out.Packet.PSN = roce.Acknowledge, p.PSN
	out.Packet.Syndrome, out.Packet.MSN = p.Syndrome, p.MSN
	return []Out{out}
}

// gapNak answers a contribution that came too early, once until the child makes progress, if CTRL.gap_nak is set and
// the child is a host: without an answer the host would find out by its timeout only.
//
// Its PSN is not the one missing. To the host a NAK(p) acknowledges everything before p, and whoever has sent p has not
// thereby got the results before p; told otherwise, it would give up the data it needs to ask for them again, and run out
// of its window (A5). The one number that acknowledges nothing new is that after the last ACK reflected to this host.
func (e *Engine) gapNak(at place) []Out {
	end := &e.groups[at.group].ends[at.member]
	if !e.gapNAK || !e.table[at.ei].Host || end.nakSent {
		return nil
	}
	end.nakSent = true
	e.count(TxGapNak)
	out := e.translate(at.ei, false)
	out.Packet.Op, out.Packet.PSN = roce.Acknowledge, end.acked.Next()
	out.Packet.Syndrome, out.Packet.MSN = roce.NAKSequence, end.msn
	return []Out{out}
}

// reflectCNP is rule 8: congestion on the way of the results slows down the one sender this switch can address, the
// receiver itself.
func (e *Engine) reflectCNP(at place, p *roce.Packet) []Out {
	e.count(RxCnp)
	e.count(TxCnp)
	out := e.translate(at.ei, p.CE())
	out.Packet.Op, out.Packet.PSN, out.Packet.BECN = roce.CNP, p.PSN, true
	out.Packet.Payload = make([]byte, cnpBytes)
	return []Out{out}
}
