// SPDX-License-Identifier: Apache-2.0

package endtoend

// slotFaults are of slots and their shapes, and of answers (A1–A5, A11, A18).
func slotFaults() []Fault {
	return []Fault{
		{Name: "a child's bit survives recycling (A1)", File: fileSteps,
			Old: "f_first ? b_self : b_repeats ? f_mask : f_mask | b_self",
			New: "f_first ? b_self | (f_mask & {{(MASK_W-1){1'b0}}, 1'b1}) : b_repeats ? f_mask : f_mask | b_self"},
		{Name: "recycling on every arrival (A2)", File: fileCheck,
			At: "c_done_we <=", Old: "completes || takes", New: "accept || takes",
			Also: []Change{{At: "n_done <=", Old: "completes || takes", New: "accept || takes"}}},
		{Name: "recycling on a retransmission (A3)", File: fileCheck,
			At: "c_wr_reg <=", Old: "accept || takes", New: "accept || takes || resend"},
		{Name: "never recycled", File: fileCheck,
			At: "c_done_we <=", Old: "completes || takes", New: "takes"},
		{Name: "a recycled slot keeps its shape", File: fileSteps,
			At: "n_opcode <=", Old: "f_first", New: "f_mask == NOBODY", Also: []Change{
				{At: "n_plen <=", Old: "f_first", New: "f_mask == NOBODY"},
				{At: "n_pad <=", Old: "f_first", New: "f_mask == NOBODY"},
				{At: "n_se <=", Old: "f_first", New: "f_mask == NOBODY"},
				{At: "n_ext <=", Old: "f_first", New: "f_mask == NOBODY"},
				{At: "n_ce <= !b_empties && (", Old: "f_first", New: "f_mask == NOBODY"},
			}},
		{Name: "a window begins behind the slots that complete", File: fileCheck,
			Old: "a_psn + ~a_half", New: "a_psn - a_half"},
		{Name: "no slot tag (A4)", File: fileCheck,
			Old: "b_tag == b_psn", New: "1'b1"},
		{Name: "PSN compared without wrap (A18)", File: fileCheck,
			Old: "distance[23]", New: "b_wire_psn < b_epsn"},
		{Name: "a retransmission of an incomplete slot is resent", File: fileCheck,
			Old: "up && f_behind && f_tag_ok && f_complete", New: "up && f_behind && f_tag_ok"},
		{Name: "a duplicate is added again", File: fileCheck,
			Old: "accept || moves ? b_psn_next : f_epsn", New: "(accept && f_full) || moves ? b_psn_next : f_epsn"},
		{Name: "a slot's shape is not kept", File: fileCheck,
			Old: "from_slot ? wr_opcode : makes_ack ? OP_ACK : c_opcode", New: "from_slot ? 8'h04 : makes_ack ? OP_ACK : c_opcode"},
		{Name: "shapes are not compared", File: fileCheck,
			Old: "f_first || f_same", New: "1'b1"},
		{Name: "NAK reflected as ACK (A11)", File: fileCheck,
			Old: "c_need_min ? {up_ack ? ACK_PLAIN : c_ext[31:24], least_msn} : c_ext",
			New: "c_need_min ? {up_ack ? ACK_PLAIN : c_ext[31:24], least_msn} : c_ack ? {8'h1F, c_ext[23:0]} : c_ext"},
		{Name: "the gap NAK names the expected PSN (A5)", File: fileCheck,
			At: "t_psn <= c_gap_nak ?", Old: "gap_psn", New: "n_ep[23:0]"},
		{Name: "a NAK counts as an ACK of its own PSN", File: fileCheck,
			Old: "b_data ? b_range_before : b_syn_ack ? b_psn : b_psn_before", New: "b_data ? b_range_before : b_psn"},
		{Name: "a gap is answered every time", File: fileCheck,
			Old: "!(accept || moves) && (nak || f_nak_sent)", New: "1'b0"},
		{Name: "the MSN counts packets", File: fileClass,
			Old: "opcode >= 8'h02", New: "1'b1"},
	}
}

// rootedFaults are of Reduce and Broadcast (A9, A10, A12, A20).
func rootedFaults() []Fault {
	return []Fault{
		{Name: "an ACK of a Broadcast goes up only when the minimum rises (A9)", File: fileCheck,
			Old: "rose || covered || !c_syn_ack", New: "rose || !c_syn_ack"},
		{Name: "a NAK of a Broadcast goes up with its own number (A10)", File: fileCheck,
			Old: "up_ack ? least : least + 24'd1", New: "up_ack ? least : c_psn"},
		{Name: "an old NAK of a Broadcast goes up as one of what follows", File: fileCheck,
			Old: "c_syn_ack || covered", New: "c_syn_ack"},
		{Name: "a cumulative ACK counts as one of its PSN alone (A12)", File: fileAcks,
			Old: "!above[23]", New: "(ack_lift ? !above[23] : above == 24'd1)"},
		{Name: "the minimum leaves the last endpoint out", File: fileAcks,
			Old: "ack_mask[n] && !ack_self[n]", New: "ack_mask[n] && !ack_self[n] && n != MASK_W - 2"},
		{Name: "an ACK of a Reduce is reflected", File: fileCheck,
			Old: "b_reduces ? b_in_mask : b_spreads ? b_parent_mask : b_self", New: "b_reduces ? b_self : b_spreads ? b_parent_mask : b_self"},
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
			Old: "b_ack && !b_in_range", New: "1'b0"},
		{Name: "an ACK empties the slot of its PSN (A20)", File: fileCheck,
			At: "c_wr_reg <=", Old: "accept || takes", New: "accept || takes || b_ack"},
		{Name: "a control that contradicts its range is taken", File: fileCheck,
			Old: "b_data && b_in_range && b_contradicts", New: "1'b0"},
		{Name: "a control of a type that there is not opens a range", File: fileControl,
			Old: "HAS_DTYPE[ent_ext[26:25]]", New: "1'b1"},
		{Name: "the offset of the range before is used", File: fileCheck,
			At: "assign tx_rng =", Old: "c_rng", New: "c_rng - 2'd1"},
		{Name: "an answer goes out with the offset of what the endpoint hears", File: fileCheck,
			Old: "makes_ack || c_ack", New: "makes_ack"},
		{Name: "data of the range before that all have is sent again", File: fileCheck,
			Old: "c_late && (c_reduces ? c_behind && parent_has : c_spreads && all_have_reg)", New: "1'b0"},
		{Name: "data behind its range is taken", File: fileControl,
			Old: "cur_takes_reg && !cur_past[23] && !cur_left[23]",
			New: "cur_takes_reg && !cur_past[23] && (!cur_left[23] || cur_behind)"},
		{Name: "what was complete before a range does not count when it opens", File: fileCheck,
			Old: "c_opened || (c_live && c_intact && t_done_we)", New: "c_live && c_intact && t_done_we"},
		{Name: "a lost control is not asked for", File: fileCheck,
			Old: "b_fine && astray && asks_nak && f_at_base", New: "1'b0"},
		{Name: "a NAK of a range's first PSN acknowledges the range before", File: fileCheck,
			Old: "!b_ranged || b_syn_ack || !f_at_begin", New: "1'b1"},
	}
}

// stepFaults are of several frames at a time in the steps of the decision.
func stepFaults() []Fault {
	return []Fault{
		{Name: "a frame does not see what the one before it does to its endpoint", File: fileCheck,
			At: ".ram(ram_ep), .writes(", Old: "c_ep_we", New: "1'b0"},
		{Name: "a frame does not see what the one before it does to its slot", File: fileCheck,
			At: "assign c_wr =", Old: "c_wr_reg", New: "1'b0"},
		{Name: "a frame does not see what was written while it was looked up", File: fileCheck,
			Old: "ep_we && c_ei == a_ei", New: "1'b0"},
		{Name: "a frame does not see the slot that was written while it was looked up", File: fileCheck,
			Old: "wr_en && c_slot == a_slot", New: "1'b0"},
		{Name: "a frame takes the state of the one before it, whosever that is", File: fileCheck,
			Old: "b_valid ? b_ei == a_ei : c_stays && c_ei == a_ei", New: "b_valid || c_stays"},
		{Name: "what was taken from a damaged frame is kept", File: fileCheck,
			Old: "b_valid && takes_any && (t_reack || !c_live || !c_intact)",
			New: "1'b0"},
	}
}
