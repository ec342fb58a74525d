// SPDX-License-Identifier: Apache-2.0

// Package allreduce has the scenarios of an AllReduce or Barrier over one engine, frame by frame: slots, windows, answers, headers.
package allreduce

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "allreduce-1psn", Run: onePSN,
			Doc: "All ranks contribute to one PSN: nothing leaves before the last one, then each gets the result."},
		{Name: "barrier", Run: barrier,
			Doc: "Barriers one after the other: each rank is released by a frame padded to 60 bytes, and a barrier with payload is dropped."},
		{Name: "ack-reflect", Needs: rig.ModeII(), Run: reflect,
			Doc: "An ACK, NAK or RNR NAK of any syndrome comes back unchanged to the rank that sent it, as often as it is sent."},
		{Name: "duplicate-before", Run: duplicateBefore,
			Doc: "A contribution that is sent twice before its PSN is complete counts once."},
		{Name: "duplicate-after", Needs: rig.ModeII(), Run: duplicateAfter,
			Doc: "A rank that repeats a complete PSN gets the result again, and nobody else does, though the others are a window ahead."},
		{Name: "no-double-recycle", Needs: rig.ModeII(), Run: noDoubleRecycle,
			Doc: "Repeating a complete PSN does not recycle the slot half a ring ahead a second time: what it already holds stays."},
		{Name: "slot-reuse", Run: slotReuse,
			Doc: "Ten rings of slots, ranks interleaved at random with repetitions and gaps: every result is right."},
		{Name: "stale-alias", Needs: rig.ModeII(), Run: staleAlias,
			Doc: "Old PSNs that share a slot with younger ones are dropped from the moment their slot is used again, and so are window overruns."},
		{Name: "psn-wrap", Run: wrap,
			Doc: "Streams across the wrap of the PSN and across half its range: every result is right, and so is the PSN of a gap NAK."},
		{Name: "gap-nak", Needs: rig.ModeII(), Run: gapNAK,
			Doc: "A gap is answered by one NAK, for the PSN after the last ACK; a switch gets none, nor does anybody while they are off."},
		{Name: "big-endian", Run: byteOrders,
			Doc: "Full packets of every type and operation in both byte orders, with carries through every byte: the results are exact."},
		{Name: "lengths", Run: lengths,
			Doc: "Payloads of every length, all data opcodes, bytes behind the ICRC: the result has the data's length, opcode, SE and immediate."},
		{Name: "acks-simultaneous", Needs: rig.ModeII(), Run: simultaneousAcks,
			Doc: "ACKs enter by all ports in the same cycles while what leaves is held up: each comes back once, to its own rank."},
		{Name: "checksum-carry", Run: checksumCarry,
			Doc: "IPv4 header sums that carry twice when folded, and their neighbours: frames that come in are taken, those that leave are right."},
		{Name: "ecn-cnp", Run: congestion,
			Doc: "A congestion mark on a contribution marks the result; CNPs come back; immediates that differ are counted, the first one leaves."},
		{Name: "inner-node", Needs: rig.ModeII(), Run: innerNode,
			Doc: "A node with a parent sends results up and the parent's data down to its children, and a repetition by a child climbs too; of what nobody hears nothing leaves."},
		{Name: "held-up", Run: heldUp, Needs: rig.All(rig.NeedBare, rig.NeedSlots(8)),
			Doc: "no port takes anything while more is answered and sent again than the engine can keep: all of it leaves once it may"},
		{Name: "held-up-damaged", Run: heldUpDamaged, Needs: rig.All(rig.NeedBare, rig.NeedSlots(8)),
			Doc: "damaged contributions wait for room for what they would have sent: what stands behind them is not told by them"},
	}
}
