// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"math/bits"
)

// sendResult sends the result in slot s, just completed: up if there is a parent, else, this being the root, to all of
// the out mask (docs/engine.md section 3, rule 5). TX_RESULT counts it once.
func (e *Engine) sendResult(in *incoming, s int) []Out {
	e.count(TxResult)
	result := e.resultIn(in, s)
	if in.span.parent != 0 {
		return []Out{e.dataTo(in, bits.TrailingZeros32(in.span.parent), result)}
	}
	return e.replicate(in, result)
}

// resend sends the result in slot s once more because a child sent its contribution once more. An inner switch holds
// only its own part of the sum, so the retransmission must climb to the root (A6); the root answers the child that asked.
// Nothing is recycled and nothing added (A3).
func (e *Engine) resend(in *incoming, s int) []Out {
	to := in.member
	if in.span.parent != 0 {
		to = bits.TrailingZeros32(in.span.parent)
	}
	return []Out{e.dataTo(in, to, e.resultIn(in, s))}
}

// replicate makes one copy for each endpoint of the out mask, in ascending order.
func (e *Engine) replicate(in *incoming, d dataPacket) []Out {
	mask := in.span.out
	if mask == 0 {
		return nil
	}
	outs := make([]Out, 0, bits.OnesCount32(mask))
	for ; mask != 0; mask &= mask - 1 {
		e.count(TxFanout)
		outs = append(outs, e.dataTo(in, bits.TrailingZeros32(mask), d))
	}
	return outs
}

// resultIn is the result in slot s, complete and of in's PSN, as a packet of the shape the ranks used at that PSN (A17). Asked
// again, it is the same bits: what the slot keeps of the contributions is not touched. Its payload is the engine's memory, and
// holds until the next result is asked for.
func (e *Engine) resultIn(in *incoming, s int) dataPacket {
	g := &e.groups[in.group].Group
	slot := &e.slots[s]
	payload := e.result[:slot.shape.length]
	a := in.span.arithmetic(g.BigEndian)
	if e.params.Reproducible {
		nodes, memory := make([][]uint32, e.params.Members+1), e.tree
		for member := range nodes {
			if slot.mask>>member&1 != 0 {
				kept := e.kept(g, s, member, in.span.dtype)
				nodes[member], memory = memory[:len(kept)], memory[len(kept):]
				copy(nodes[member], kept)
			}
		}
		a.encode(payload, a.tree(nodes))
	} else {
		a.encode(payload, e.kept(g, s, 0, in.span.dtype))
	}
	return dataPacket{
		op: slot.shape.op, psn: in.psn, pad: slot.shape.pad, se: slot.se, imm: slot.imm, ce: slot.ce,
		payload: payload,
	}
}
