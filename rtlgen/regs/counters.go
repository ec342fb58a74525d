// SPDX-License-Identifier: Apache-2.0

package regs

// Counter is the name of one event counter and what it counts.
type Counter struct {
	Name string
	Doc  string
}

// Counters returns the counters of an engine of that mode in the order of their registers (docs/engine.md section 7 and docs/pipes.md
// section 6, which are under test here). Those of Mode II have the same places in Mode III.
func Counters(mode int) []Counter {
	counters := []Counter{
		{"RX_FRAMES", "Frames that came in."},
		{"BYPASS", "Frames that are not the engine's and left unchanged."},
		{"UP_DATA", "Data packets from children."},
		{"AGG", "Contributions added."},
		{"BUFFERED", "Contributions that did not complete their slot."},
		{"WIPE", "Slots recycled."},
		{"TX_RESULT", "Slots completed, whose result was sent up or replicated."},
		{"TX_FANOUT", "Copies sent to endpoints of the out mask."},
		{"TX_RESEND", "Results sent again for a retransmission."},
		{"DOWN_DATA", "Data packets from the parent."},
		{"RX_ACK", "ACKs from hosts."},
		{"RX_NAK", "NAKs from hosts."},
		{"RX_RNR", "RNR NAKs from hosts."},
		{"RX_CNP", "Congestion notifications from hosts."},
		{"TX_REFLECT", "ACKs, NAKs and RNR NAKs returned."},
		{"TX_GAP_NAK", "NAKs made for a gap in a host's data."},
		{"TX_CNP", "Congestion notifications returned."},
		{"TX_FRAMES", "Frames that the engine made."},
		{"IMM_MISMATCH", "Contributions whose SE or immediate differs from the slot's first."},
		{"DROP_FOREIGN", "Dropped: known QPN, but another address, port or P_Key."},
		{"DROP_GROUP_DISABLED", "Dropped: the group is disabled or starting."},
		{"DROP_RX_ERROR", "Dropped: marked bad by the MAC."},
		{"DROP_IP_CHECKSUM", "Dropped: wrong IPv4 header checksum."},
		{"DROP_LENGTH_MISMATCH", "Dropped: lengths that contradict each other or the frame."},
		{"DROP_ICRC", "Dropped: wrong invariant CRC."},
		{"DROP_TVER", "Dropped: BTH transport version other than 0."},
		{"DROP_OPCODE", "Dropped: an opcode that is not taken."},
		{"DROP_TOO_LONG", "Dropped: payload longer than the MTU."},
		{"DROP_BAD_LENGTH", "Dropped: no whole number of elements, or payload in a barrier."},
		{"DROP_WRONG_ROLE", "Dropped: from an endpoint that may not send this."},
		{"DROP_SYNDROME", "Dropped: an AETH syndrome without a meaning."},
		{"DROP_GAP", "Dropped: ahead of the expected PSN."},
		{"DROP_STALE", "Dropped: behind the expected PSN, and its slot has no result to resend."},
		{"DROP_WINDOW", "Dropped: its slot is still in use, the sender overran its window."},
		{"DROP_SHAPE", "Dropped: opcode, length or padding differ from the slot's."},
		{"ECC_CORRECTED", "Rows of the payload memory read with a single error, which was corrected."},
		{"ECC_DOUBLE", "Rows of the payload memory read with a double error; a frame made of one leaves with a wrong ICRC."},
		{"RANGE_OPEN", "Ranges opened by a control."},
		{"TX_ACK_COPY", "Copies of acknowledgements and congestion notifications to the children of a reduce."},
		{"TX_ACK_UP", "Acknowledgements sent to the parent of a broadcast."},
		{"TX_REACK", "Answers to data of the range before that everybody has."},
		{"DROP_RANGE", "Dropped: data of no range."},
		{"DROP_BAD_CONTROL", "Dropped: a control that asks for what there is not."},
		{"DROP_CONTROL", "Dropped: a control that contradicts its range or is not at its beginning, or no control where one must be."},
		{"DROP_STALE_ACK", "Dropped: an acknowledgement of no range."},
	}
	if mode == 3 {
		counters = append(counters,
			Counter{"TX_ACK", "ACKs made for data taken, or taken before."},
			Counter{"TX_RNR", "RNR NAKs made for data that found its pipe full."},
			Counter{"TX_RETRANSMIT", "Data frames sent again; TX_FANOUT has them too."},
			Counter{"TIMEOUT", "Time-outs of endpoints that did not acknowledge."},
			Counter{"RX_DUPLICATE", "Data packets taken before."},
			Counter{"DOWN_TAKEN", "Data packets from the parent taken into the broadcast pipe."},
			Counter{"DROP_FULL", "Dropped: in order, but its pipe is full."})
	}
	return counters
}

// CounterNames returns the names alone, as the manifest lists them.
func CounterNames(mode int) []string {
	var out []string
	for _, c := range Counters(mode) {
		out = append(out, c.Name)
	}
	return out
}
