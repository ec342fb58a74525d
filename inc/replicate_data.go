// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"math/bits"

	"incforge/roce"
)

// sendResult sends the result in slot s, just completed: up if there is a parent, else, this being the root, to all of
// out_mask (docs/engine.md section 3, rule 5). TX_RESULT counts it once.
func (e *Engine) sendResult(g *group, number, s int, psn roce.PSN) []Out {
	e.count(TxResult)
	result := e.resultIn(s, psn)
	if g.HasParent {
		return []Out{e.dataTo(e.params.EndpointIndex(number, g.Parent), result)}
	}
	return e.replicate(number, result)
}

// resend sends the result in slot s once more because a child sent its contribution once more. An inner switch holds
// only its own part of the sum, so the retransmission must climb to the root (A6); the root answers the child that asked.
// Nothing is recycled and nothing added (A3).
func (e *Engine) resend(at place, s int, psn roce.PSN) []Out {
	to := at.ei
	if g := &e.groups[at.group]; g.HasParent {
		to = e.params.EndpointIndex(at.group, g.Parent)
	}
	return []Out{e.dataTo(to, e.resultIn(s, psn))}
}

// replicate makes one copy for each endpoint of the group's out_mask, in ascending order.
func (e *Engine) replicate(number int, d dataPacket) []Out {
	mask := e.groups[number].OutMask
	if mask == 0 {
		return nil
	}
	outs := make([]Out, 0, bits.OnesCount32(mask))
	for ; mask != 0; mask &= mask - 1 {
		e.count(TxFanout)
		outs = append(outs, e.dataTo(e.params.EndpointIndex(number, bits.TrailingZeros32(mask)), d))
	}
	return outs
}

// resultIn is the content of slot s as a packet, of the shape the ranks used at that PSN (A17). Its payload is the
// slot's memory.
func (e *Engine) resultIn(s int, psn roce.PSN) dataPacket {
	slot := &e.slots[s]
	return dataPacket{
		op: slot.shape.op, psn: psn, pad: slot.shape.pad, se: slot.se, imm: slot.imm, ce: slot.ce,
		payload: e.slotPayload(s)[:slot.shape.length],
	}
}
