// SPDX-License-Identifier: Apache-2.0

package endtoend

// parkFaults are of parking where both modes are alike (docs/parking.md).
func parkFaults() []Fault {
	return []Fault{
		{Name: "a parked group keeps its slots", File: fileRecycle,
			Old: "holds_reg & grp_enable & ~current_reg", New: "holds_reg & grp_enable"},
		{Name: "a group is given slots of another", File: fileRecycle, At: "if (", Old: "overlap", New: "overlap && starting_reg"},
		{Name: "a group is given slots that there are not", File: fileRecycle, At: "if (", Old: "legal", New: "legal || !starting_reg"},
		{Name: "a group that gets slots again begins at START", File: fileRecycle, Old: "starting_reg ? W_ACKS : W_SLOT", New: "W_ACKS"},
		{Name: "a group that was parked stays so", File: fileRecycle,
			Old: "parked_reg & ~current_reg & grp_enable & ~grp_start", New: "parked_reg & grp_enable & ~grp_start"},
		{Name: "a group that is stopped stays parked", File: fileRecycle,
			At: "// a start gives it slots, or stops it parked_reg <=", Old: "parked_reg & grp_enable & ~grp_start", New: "parked_reg & ~grp_start"},
		{Name: "a refused park does not show", File: fileCSR,
			Old: "!here && (undrained_reg[g] || grp_undrained[g])", New: "1'b0"},
		{Name: "a refused park shows for ever", File: fileCSR,
			Old: "!here && (undrained_reg[g] || grp_undrained[g])", New: "undrained_reg[g] || grp_undrained[g]"},
		{Name: "all settings of a parked group may be written", File: fileCSR, Old: "!(wr_movable && parked[{1'b0, wr_owner}])", New: "!parked[{1'b0, wr_owner}]"},
		{Name: "no setting of a parked group may be written", File: fileCSR, Old: "!(wr_movable && parked[{1'b0, wr_owner}])", New: "1'b1"},
	}
}

// park2Faults are of parking in Mode II.
func park2Faults() []Fault {
	return []Fault{
		{Name: "a group is parked with contributions in its slots", File: fileCheck,
			Old: "!k_ahead[23] && !(ack_rest_any && k_unacked[23])", New: "!(ack_rest_any && k_unacked[23])"},
		{Name: "a group is parked before its results are acknowledged", File: fileCheck,
			Old: "!k_ahead[23] && !(ack_rest_any && k_unacked[23])", New: "!k_ahead[23]"},
		{Name: "a parked group takes data", File: fileCheck, Old: "parked_wide[{1'b0, b_group}]", New: "1'b0"},
		{Name: "a parked group sends what is in slots of another", File: fileCheck, Old: "f_tag_ok && f_complete && !parked", New: "f_tag_ok && f_complete"},
		{Name: "a control opens a range of a parked group", File: fileCheck, Old: "would_open && !parked", New: "would_open"},
		{Name: "a parked group is never silent", File: fileCheck, Old: "slotless && cfg_park_rnr && b_host", New: "slotless && b_host"},
		{Name: "a parked group's RNR NAK has a timer of its own", File: fileCheck, Old: "{3'b001, cfg_park_timer, c_msn}", New: "{3'b001, 5'd1, c_msn}"},
		{Name: "whose result is gone hears nothing", File: fileCheck, Old: "c_gone && !reack && gone_has", New: "1'b0"},
		{Name: "whose result is gone hears of its own PSN alone", File: fileCheck,
			Old: "(c_ranged && parent_has ? c_end : picked_reg)", New: "c_psn"},
		{Name: "data of a parked group is stale", File: fileCheck, Old: "c_slotless && !reack", New: "1'b0"},
		{Name: "a park does not wait for frames under decision", File: fileCheck, Old: "k_holds && !b_valid && !c_valid && !l_valid", New: "k_holds"},
	}
}

// park3Faults are of parking in Mode III.
func park3Faults() []Fault {
	return []Fault{
		{Name: "a group is parked with data in its pipes", File: filePipe,
			Old: "start_a == tails[24 +: 24] && start_b == tails[TAIL_W+24 +: 24]", New: "1'b1"},
		{Name: "a group is parked with data in its broadcast pipe", File: filePipe,
			Old: "start_a == tails[24 +: 24] && start_b == tails[TAIL_W+24 +: 24]", New: "start_a == tails[24 +: 24]"},
		{Name: "a parked group takes data", File: filePipe, Old: "parked_wide[{1'b0, b_group}]", New: "1'b0"},
		{Name: "a control opens a range of a parked group", File: filePipe, Old: "opener && b_drained && !parked", New: "opener && b_drained"},
		{Name: "pipes with other slots begin where they were", File: filePipe, At: "k_heads <=", Old: "{start_b, k_bias_b, start_a, k_bias_a}", New: "heads"},
		{Name: "a parked group's data finds its pipe full", File: filePipe, At: "steps[C_DROP_PARKED] =", Old: "slotless", New: "1'b0"},
		{Name: "a parked group is silent", File: filePipe, Old: "full || slotless", New: "full"},
	}
}
