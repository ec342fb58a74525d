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
	result := e.resultIn(g, s, psn)
	if g.HasParent {
		return []Out{e.dataTo(e.params.EndpointIndex(number, g.Parent), result)}
	}
	return e.replicate(number, result)
}

// resend sends the result in slot s once more because a child sent its contribution once more. An inner switch holds
// only its own part of the sum, so the retransmission must climb to the root (A6); the root answers the child that asked.
// Nothing is recycled and nothing added (A3).
func (e *Engine) resend(at place, s int, psn roce.PSN) []Out {
	to, g := at.ei, &e.groups[at.group]
	if g.HasParent {
		to = e.params.EndpointIndex(at.group, g.Parent)
	}
	return []Out{e.dataTo(to, e.resultIn(g, s, psn))}
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

// resultIn is the result in slot s, complete, as a packet of the shape the ranks used at that PSN (A17). Asked again, it
// is the same bits: what the slot keeps of the contributions is not touched. Its payload is the engine's memory, and holds
// until the next result is asked for.
func (e *Engine) resultIn(g *group, s int, psn roce.PSN) dataPacket {
	slot := &e.slots[s]
	payload := e.result[:slot.shape.length]
	a := g.arithmetic()
	if e.params.Reproducible {
		nodes, memory := make([][]uint32, e.params.Members+1), e.tree
		for member := range nodes {
			if slot.mask>>member&1 != 0 {
				kept := e.kept(&g.Group, s, member)
				nodes[member], memory = memory[:len(kept)], memory[len(kept):]
				copy(nodes[member], kept)
			}
		}
		a.encode(payload, a.tree(nodes))
	} else {
		a.encode(payload, e.kept(&g.Group, s, 0))
	}
	return dataPacket{
		op: slot.shape.op, psn: psn, pad: slot.shape.pad, se: slot.se, imm: slot.imm, ce: slot.ce,
		payload: payload,
	}
}
