// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// What a Mode III engine answers to data (docs/pipes.md section 2). All answers have the wire's numbers, the MSN of what their endpoint has
// sent, and the endpoint's ECN bits.

// sendAck tells an endpoint that everything up to a PSN on its wire has been taken.
func (e *Engine) sendAck(in *incoming, wire roce.PSN) {
	e.count(TxAck)
	e.answerData(in, wire, roce.AckSyndrome)
}

// sendNak tells an endpoint once, until something of its is taken, from where it must send again.
func (e *Engine) sendNak(in *incoming) {
	end := &e.groups[in.group].ends[in.member]
	if end.nakSent {
		return
	}
	end.nakSent = true
	e.count(TxGapNak)
	e.answerData(in, end.ePSN, roce.NAKSequence)
}

// refuse drops data that finds its pipe full, or its group parked, or comes before its range may open. It is never acknowledged. An RNR NAK says just
// that; what is on its way behind the packet draws no NAK, which would make the sender fill the wire with what cannot be taken.
func (e *Engine) refuse(in *incoming) {
	if e.groups[in.group].parked {
		e.count(DropParked)
	} else {
		e.count(DropFull)
	}
	if m := e.groups[in.group].messages; m != nil {
		m.Asked(in.member)
	} else {
		e.groups[in.group].ends[in.member].nakSent = true
	}
	if e.pipeCtrl.RNR {
		e.count(TxRnr)
		e.answerData(in, in.PSN, roce.RNRSyndrome|e.pipeCtrl.RNRTimer)
	}
	if e.pipeCtrl.CNP && e.table[in.ei].Host {
		e.count(TxCnp)
		out := e.translate(in.ei, false)
		out.Packet.Op, out.Packet.PSN, out.Packet.BECN = roce.CNP, in.PSN, true
		out.Packet.Payload = make([]byte, cnpBytes)
		e.outs = append(e.outs, out)
	}
}

// answerData sends an endpoint an ACK, NAK or RNR NAK.
func (e *Engine) answerData(in *incoming, wire roce.PSN, syndrome uint8) {
	g := &e.groups[in.group]
	msn := g.ends[in.member].msn
	if g.messages != nil {
		msn = g.messages.Answered(in.member)
	}
	e.outs = append(e.outs, e.aeth(in.ei, wire, syndrome, msn, false))
}
