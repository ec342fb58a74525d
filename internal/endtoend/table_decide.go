// SPDX-License-Identifier: Apache-2.0

package endtoend

// slotFaults are of slots and their shapes, and of answers (A1–A5, A11, A18).
func slotFaults() []Fault {
	return []Fault{
		{Name: "a child's bit survives recycling (A1)", File: fileCheck,
			Old: "first ? self : slot_mask | self",
			New: "first ? self | (slot_mask & {{(MASK_W-1){1'b0}}, 1'b1}) : slot_mask | self"},
		{Name: "recycling on every arrival (A2)", File: fileCheck,
			Old: "completes || takes", New: "accept || takes"},
		{Name: "recycling on a retransmission (A3)", File: fileCheck,
			Old: "accept || takes", New: "accept || takes || resend"},
		{Name: "never recycled", File: fileCheck,
			Old: "apply && has_it", New: "apply && takes"},
		{Name: "a recycled slot keeps its shape", File: fileCheck,
			At: "use_ent =", Old: "first", New: "slot_mask == NOBODY"},
		{Name: "a window begins behind the slots that complete", File: fileCheck,
			Old: "opened_reg || beyond[23] || beyond <= half", New: "opened_reg || beyond[23] || beyond < half"},
		{Name: "no slot tag (A4)", File: fileCheck,
			Old: "slot_tag == psn", New: "1'b1"},
		{Name: "PSN compared without wrap (A18)", File: fileCheck,
			Old: "distance[23]", New: "ent_psn < ep_epsn"},
		{Name: "a retransmission of an incomplete slot is resent", File: fileCheck,
			Old: "up && behind && tag_ok && slot_complete", New: "up && behind && tag_ok"},
		{Name: "a duplicate is added again", File: fileCheck,
			Old: "accept || moves ? ent_psn + 24'd1 : ep_epsn", New: "(accept && full) || moves ? ent_psn + 24'd1 : ep_epsn"},
		{Name: "a slot's shape is not kept", File: fileCheck,
			Old: "accept ? new_opcode : resend ? slot_opcode : nak || reack ? OP_ACK : ent_opcode",
			New: "accept || resend ? 8'h04 : nak || reack ? OP_ACK : ent_opcode"},
		{Name: "shapes are not compared", File: fileCheck,
			Old: "first || same", New: "1'b1"},
		{Name: "NAK reflected as ACK (A11)", File: fileCheck,
			Old: "is_ack && spreads ? up_ext : ent_ext",
			New: "is_ack && spreads ? up_ext : is_ack ? {8'h1F, ent_ext[23:0]} : ent_ext"},
		{Name: "the gap NAK names the expected PSN (A5)", File: fileCheck,
			Old: "gap_nak ? gap_psn : base_nak ? map_base : reack ? map_end : is_cnp ? ent_psn : is_ack && spreads ? up_psn : psn",
			New: "gap_nak ? ep_epsn : base_nak ? map_base : reack ? map_end : is_cnp ? ent_psn : is_ack && spreads ? up_psn : psn"},
		{Name: "a NAK counts as an ACK of its own PSN", File: fileCheck,
			Old: "is_data ? range_before : syn_ack ? psn : psn - 24'd1", New: "is_data ? range_before : psn"},
		{Name: "a gap is answered every time", File: fileCheck,
			Old: "accept || moves ? 1'b0 : nak ? 1'b1 : ep_nak_sent", New: "1'b0"},
		{Name: "the MSN counts packets", File: fileCheck,
			Old: "ent_opcode >= 8'h02", New: "1'b1"},
	}
}

// rootedFaults are of Reduce and Broadcast (A9, A10, A12, A20).
func rootedFaults() []Fault {
	return []Fault{
		{Name: "an ACK of a Broadcast goes up only when the minimum rises (A9)", File: fileCheck,
			Old: "rose || covered || !syn_ack", New: "rose || !syn_ack"},
		{Name: "a NAK of a Broadcast goes up with its own number (A10)", File: fileCheck,
			Old: "up_ack ? least_reg : least_reg + 24'd1", New: "up_ack ? least_reg : psn"},
		{Name: "an old NAK of a Broadcast goes up as one of what follows", File: fileCheck,
			Old: "syn_ack || covered", New: "syn_ack"},
		{Name: "a cumulative ACK counts as one of its PSN alone (A12)", File: fileAcks,
			Old: "!step[23]", New: "step == 24'd1"},
		{Name: "the minimum leaves the last endpoint out", File: fileAcks,
			Old: "ack_mask[n] && !ack_self[n]", New: "ack_mask[n] && !ack_self[n] && n != MASK_W - 2"},
		{Name: "an ACK of a Reduce is reflected", File: fileCheck,
			Old: "reduces ? in_mask : spreads ? parent_mask : self", New: "reduces ? self : spreads ? parent_mask : self"},
		{Name: "a Broadcast takes data from a child", File: fileLookup,
			Old: "|(one_hot & grp_in_mask) && !spreads", New: "|(one_hot & grp_in_mask)"},
		{Name: "a Reduce takes data from its parent", File: fileLookup,
			Old: "!up && !reduces && |(one_hot & parent_hot)", New: "!up && |(one_hot & parent_hot)"},
	}
}

// inBandFaults are of in-band groups.
func inBandFaults() []Fault {
	return []Fault{
		{Name: "an ACK of no range creates state (A20)", File: fileCheck,
			Old: "is_ack && !in_range", New: "1'b0"},
		{Name: "an ACK empties the slot of its PSN (A20)", File: fileCheck,
			Old: "accept || takes", New: "accept || takes || is_ack"},
		{Name: "a control that contradicts its range is taken", File: fileCheck,
			Old: "ranged && is_data && in_range && map_contradicts", New: "1'b0"},
		{Name: "a control of a type that there is not opens a range", File: fileControl,
			Old: "HAS_DTYPE[ent_ext[26:25]]", New: "1'b1"},
		{Name: "the offset of the range before is used", File: fileCheck,
			At: "assign tx_rng =", Old: "map_rng", New: "map_rng - 2'd1"},
		{Name: "an answer goes out with the offset of what the endpoint hears", File: fileCheck,
			Old: "nak || reack || is_ack", New: "nak || reack"},
		{Name: "data of the range before that all have is sent again", File: fileCheck,
			Old: "late_data && all_have", New: "1'b0"},
		{Name: "data behind its range is taken", File: fileControl,
			Old: "ranged && cur_valid && cur_takes && cur_rel <= {4'd0, cur_imm[19:0]}",
			New: "ranged && cur_valid && cur_takes && cur_rel <= {4'd0, cur_imm[19:0]} + 24'd2"},
		{Name: "what was complete before a range does not count when it opens", File: fileCheck,
			Old: "(apply && has_it) || (decided && opened_reg)", New: "(apply && has_it)"},
		{Name: "a lost control is not asked for", File: fileCheck,
			Old: "astray && asks_nak && ep_epsn == map_base", New: "1'b0"},
		{Name: "a NAK of a range's first PSN acknowledges the range before", File: fileCheck,
			Old: "!ranged || syn_ack || psn != map_begin", New: "1'b1"},
	}
}
