// SPDX-License-Identifier: Apache-2.0

package contract

import "slices"

// Modes returns the modes of engines that there are, in order.
func Modes() []int { return []int{1, 2, 3} }

// Counter is the name of one event counter and what it counts.
type Counter struct {
	Name string
	Doc  string
	// Mode is the mode that has the counter: 0 stands for all, 3 for Mode III and for Mode I, whose endpoints send as Mode III's do.
	Mode int
}

// in tells whether a mode has the counter.
func (c Counter) in(mode int) bool { return c.Mode == 0 || c.Mode == mode || c.Mode == 3 && mode == 1 }

// counters are the counters of all modes. COUNTER[i] is the i-th of those that a mode has: a counter can be added anywhere in the list,
// and every index in code and Verilog follows. Software outside that was printed from an older list does not: it reads the wrong register
// until it is printed again, so a counter that need not stand beside another goes to the end of its mode's.
//
// What else a new counter needs: a line in each block that decides (hdl/checkduplicate in Mode II, hdl/checkpipe in Mode III) that says
// when it steps; its constant, its name and the step in package inc (counters.go); the rule in docs/engine.md; a scenario; and, if it
// belongs to an identity (docs/engine.md section 7), that equation in inc/counters.go.
func counters() []Counter {
	return []Counter{
		{Name: "RX_FRAMES", Doc: "Frames that came in."},
		{Name: "BYPASS", Doc: "Frames that are not the engine's and left unchanged."},
		{Name: "UP_DATA", Doc: "Data packets from children."},
		{Name: "AGG", Doc: "Contributions added."},
		{Name: "BUFFERED", Doc: "Contributions that did not complete their slot."},
		{Name: "WIPE", Doc: "Slots recycled."},
		{Name: "TX_RESULT", Doc: "Slots completed, whose result was sent up or replicated."},
		{Name: "TX_FANOUT", Doc: "Copies sent to endpoints of the out mask."},
		{Name: "TX_RESEND", Doc: "Results sent again for a retransmission."},
		{Name: "DOWN_DATA", Doc: "Data packets from the parent."},
		{Name: "RX_ACK", Doc: "ACKs from hosts."},
		{Name: "RX_NAK", Doc: "NAKs from hosts."},
		{Name: "RX_RNR", Doc: "RNR NAKs from hosts."},
		{Name: "RX_CNP", Doc: "Congestion notifications from hosts."},
		{Name: "RX_CE", Doc: "Undamaged frames to endpoints of enabled groups that came with ECN congestion experienced (CE), whatever became of them."},
		{Name: "TX_REFLECT", Doc: "ACKs, NAKs and RNR NAKs returned."},
		{Name: "TX_GAP_NAK", Doc: "NAKs made for a gap in a host's data."},
		{Name: "TX_CNP", Doc: "Congestion notifications returned."},
		{Name: "TX_FRAMES", Doc: "Frames that the engine made."},
		{Name: "IMM_MISMATCH", Doc: "Contributions whose SE or immediate differs from the slot's first."},
		{Name: "DROP_FOREIGN", Doc: "Dropped: known QPN, but another address, port or P_Key."},
		{Name: "DROP_GROUP_DISABLED", Doc: "Dropped: the group is disabled or starting."},
		{Name: "DROP_RX_ERROR", Doc: "Dropped: marked bad by the MAC."},
		{Name: "DROP_IP_CHECKSUM", Doc: "Dropped: wrong IPv4 header checksum."},
		{Name: "DROP_LENGTH_MISMATCH", Doc: "Dropped: lengths that contradict each other or the frame."},
		{Name: "DROP_ICRC", Doc: "Dropped: wrong invariant CRC."},
		{Name: "DROP_TVER", Doc: "Dropped: BTH transport version other than 0."},
		{Name: "DROP_OPCODE", Doc: "Dropped: an opcode that is not taken."},
		{Name: "DROP_TOO_LONG", Doc: "Dropped: payload longer than the MTU."},
		{Name: "DROP_BAD_LENGTH", Doc: "Dropped: no whole number of elements, or payload in a barrier."},
		{Name: "DROP_WRONG_ROLE", Doc: "Dropped: from an endpoint that may not send this."},
		{Name: "DROP_SYNDROME", Doc: "Dropped: an AETH syndrome without a meaning."},
		{Name: "DROP_GAP", Doc: "Dropped: ahead of the expected PSN."},
		{Name: "DROP_STALE", Doc: "Dropped: behind the expected PSN, and its slot has no result to resend."},
		{Name: "DROP_WINDOW", Doc: "Dropped: its slot is still in use, the sender overran its window."},
		{Name: "DROP_SHAPE", Doc: "Dropped: opcode, length or padding differ from the slot's."},
		{Name: "ECC_CORRECTED", Doc: "Rows of the payload memory read with a single error, which was corrected."},
		{Name: "ECC_DOUBLE", Doc: "Rows of the payload memory read with a double error; a frame made of one leaves with a wrong ICRC."},
		{Name: "RANGE_OPEN", Doc: "Ranges opened by a control."},
		{Name: "TX_ACK_COPY", Doc: "Copies of acknowledgements and congestion notifications to the children of a reduce."},
		{Name: "TX_ACK_UP", Doc: "Acknowledgements sent to the parent of a broadcast."},
		{Name: "TX_REACK", Doc: "Answers to data of the range before that everybody has."},
		{Name: "DROP_RANGE", Doc: "Dropped: data of no range."},
		{Name: "DROP_BAD_CONTROL", Doc: "Dropped: a control that asks for what there is not."},
		{Name: "DROP_CONTROL", Doc: "Dropped: a control that contradicts its range or is not at its beginning, or no control where one must be."},
		{Name: "DROP_STALE_ACK", Doc: "Dropped: an acknowledgement of no range."},
		{Name: "TX_ACK", Mode: 3, Doc: "ACKs made for data taken, or taken before."},
		{Name: "TX_RNR", Mode: 3, Doc: "RNR NAKs made for data that found its pipe full."},
		{Name: "TX_RETRANSMIT", Mode: 3, Doc: "Data frames sent again; TX_FANOUT has them too."},
		{Name: "TIMEOUT", Mode: 3, Doc: "Time-outs of endpoints that did not acknowledge."},
		{Name: "RX_DUPLICATE", Mode: 3, Doc: "Data packets taken before."},
		{Name: "DOWN_TAKEN", Mode: 3, Doc: "Data packets from the parent taken into the broadcast pipe."},
		{Name: "DROP_FULL", Mode: 3, Doc: "Dropped: in order, but its pipe is full."},
		{Name: "TX_INVALID", Mode: 1, Doc: "NAKs 0x61 made for packets that end their sender's connection."},
		{Name: "TX_RELEASE", Mode: 1, Doc: "Releases sent, first and again; TX_FANOUT has them too."},
		{Name: "DROP_REFUSED", Mode: 1, Doc: "Dropped: in order, from an endpoint whose connection was ended."},
		{Name: "DROP_SEQUENCE", Mode: 1, Doc: "Dropped: FIRST or ONLY inside a message, MIDDLE or LAST outside one."},
		{Name: "DROP_SEGMENT", Mode: 1, Doc: "Dropped: FIRST or MIDDLE not of the path MTU, LAST or ONLY above it, LAST without payload."},
		{Name: "DROP_MESSAGE_SIZE", Mode: 1, Doc: "Dropped: its message is longer than message_bytes."},
		{Name: "DROP_MESSAGE_LENGTH", Mode: 1, Doc: "Dropped: its message has another length than those of other endpoints."},
	}
}

// Counters returns the counters of an engine of that mode in the order of their registers, but for what Params.Counters adds.
func Counters(mode int) []Counter {
	return slices.DeleteFunc(counters(), func(c Counter) bool { return !c.in(mode) })
}

// parking are the counters that parking adds to those of a mode, behind them (docs/parking.md). In Mode II an engine makes RNR NAKs for nothing else.
func parking(mode int) []Counter {
	var out []Counter
	if mode == 2 {
		out = append(out, Counter{Name: "TX_RNR", Doc: "RNR NAKs made for data of a parked group."})
	}
	return append(out, Counter{Name: "DROP_PARKED", Doc: "Dropped: needs a slot, and its group is parked."})
}

// vlanCounter is the counter that vlan adds behind all others (docs/vlan.md).
func vlanCounter() Counter {
	return Counter{Name: "DROP_VLAN", Doc: "Dropped: no 802.1Q tag, another or one too many for its endpoint."}
}

// Counters returns the counters of an engine with these parameters in the order of their registers: those of its mode, parking's, that of vlan.
func (p Params) Counters() []Counter {
	list := Counters(p.Mode)
	if p.Park {
		list = append(list, parking(p.Mode)...)
	}
	if p.VLAN {
		list = append(list, vlanCounter())
	}
	return list
}

// CounterNames returns the names alone, as the manifest of a mode without parking and vlan lists them.
func CounterNames(mode int) []string { return Params{Mode: mode}.CounterNames() }

// CounterNames returns the names of the counters of an engine with these parameters, as the manifest lists them.
func (p Params) CounterNames() []string {
	var out []string
	for _, c := range p.Counters() {
		out = append(out, c.Name)
	}
	return out
}

// CounterIndex is the place of a counter among those of a mode, -1 if the mode has none of that name.
func CounterIndex(mode int, name string) int { return slices.Index(CounterNames(mode), name) }
