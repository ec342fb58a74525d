// SPDX-License-Identifier: Apache-2.0

package endtoend

// commitFaults are of what is done ahead of the verdict, and of work that meets its own results.
func commitFaults() []Fault {
	return []Fault{
		{Name: "a wrong ICRC is accepted", File: fileICRC,
			Old: "state_reg == expected_reg", New: "1'b1"},
		{Name: "a killed work leaves its last word", File: fileAggregate,
			At: "v_reg & ~({DEPTH{", Old: "op_kill", New: "1'b0"},
		{Name: "the sum under way is not taken", File: fileAggregate,
			Old: "same[DEPTH-1]", New: "1'b0"},
		{Name: "a row is read in the cycle in which it is written", File: fileAggregate,
			Old: "g_read && s_go && s_write && s_addr == g_addr", New: "1'b0"},
		{Name: "CE of a contribution is forgotten", File: fileSteps,
			Old: "f_first ? b_ce : f_slot_ce || (b_ce && !b_repeats)", New: "f_first ? b_ce : f_slot_ce"},
		{Name: "a frame that waits for room does not see that its group is stopped", File: fileSteps,
			Old: "(b_go ? b_live_reg : c_live_reg) && live_wide[{1'b0, b_go ? b_group : c_group}]",
			New: "b_go ? b_live_reg && live_wide[{1'b0, b_group}] : c_live_reg"},
	}
}

// arithmeticFaults are of every element type and of settings.
func arithmeticFaults() []Fault {
	return []Fault{
		{Name: "the last lane's carry is cut", File: fileLanes,
			Old: "b[32*i +: 32]", New: "i == LANES - 1 ? b[32*i +: 32] & 32'hFFFF0FFF : b[32*i +: 32]"},
		{Name: "big-endian elements are added as they lie", File: fileTake,
			Old: "big_endian ? {e[7:0], e[15:8], e[23:16], e[31:24]} : e",
			New: "big_endian && 1'b0 ? {e[7:0], e[15:8], e[23:16], e[31:24]} : e"},
		{Name: "a type that there is not is enabled", File: fileRecycle,
			Old: "HAS_DTYPE[cfg_collective[6:5]]", New: "1'b1"},
		{Name: "an operation that there is not is enabled", File: fileRecycle,
			Old: "HAS_OP[cfg_collective[4:3]]", New: "1'b1"},
		{Name: "a Reduce needs no parent", File: fileRecycle,
			Old: "(cfg_parent[8] || !cfg_needs_parent)", New: "1'b1"},
	}
}

// typeFaults are of types and operations that mini leaves out.
func typeFaults() []Fault {
	return []Fault{
		{Name: "a range's type is the group's", File: fileEntry,
			Old: "ranged ? map_dtype : by ? ent_dtype : dtype_reg", New: "ranged && map_dtype == 2'd0 ? map_dtype : by ? ent_dtype : dtype_reg"},
		{Name: "an adder's result is used before it is there", File: fileAggregate,
			Old: "x_read && same[DEPTH-2:0] != {(DEPTH-1){1'b0}}", New: "1'b0"},
		{Name: "a tie is rounded up", File: fileLane,
			Old: "sticky_r || frac_r[0]", New: "1'b1"},
		{Name: "what falls out below does not count", File: fileLane,
			Old: "lost && !pass_b", New: "1'b0"},
		{Name: "a NaN does not make a NaN", File: fileLane,
			Old: "norm[26] || nan_s", New: "norm[26]"},
		{Name: "infinity less infinity is infinity", File: fileLane,
			Old: "sub_a && a_ones && b_ones", New: "1'b0"},
		{Name: "x less x is minus zero", File: fileLane,
			Old: "sub_s && sum_s == 28'd0", New: "sub_s && sum_s == 28'd1"},
		{Name: "the top lanes are swapped", File: fileLanes,
			Old: "a[32*i +: 32]", New: "a[32*(LANES > 1 && i >= LANES-2 ? 2*LANES-3-i : i) +: 32]", Also: []Change{
				{Old: "b[32*i +: 32]", New: "b[32*(LANES > 1 && i >= LANES-2 ? 2*LANES-3-i : i) +: 32]"},
			}},
		{Name: "rounding is to odd", File: fileLane,
			Old: "{exp_r & {8{top_r || keep_r}}, frac_r} + {30'd0, up}",
			New: "{exp_r & {8{top_r || keep_r}}, frac_r} | {30'd0, up || round_r || sticky_r}"},
		{Name: "a subnormal operand counts as zero", File: fileLane,
			Old: "swap_b ? a_b : b_b", New: "int_b || (swap_b ? a_high : b_high) ? (swap_b ? a_b : b_b) : 32'd0"},
		{Name: "-0 and -0 make +0", File: fileLane,
			Old: "sign_ls && !(sub_s && sum_s == 28'd0)", New: "sign_ls && (keep_s || sum_s != 28'd0)"},
		{Name: "MIN does not tell -0 from +0", File: fileLane,
			Old: "!sum_op && differ", New: "!sum_op && differ && (|a[30:0] || |b[30:0])"},
		{Name: "MIN and MAX confused", File: fileLane,
			Old: "op[1]", New: "!op[1]"},
		{Name: "INT32 MIN compares as floats do", File: fileLane,
			Old: "(a[31] && !int_op) ^ max_op", New: "a[31] ^ max_op"},
		{Name: "negative floats are compared as integers are", File: fileLane,
			Old: "!sum_op && !((a[31] && !int_op) ^ max_op)", New: "!sum_op && !max_op"},
		{Name: "FP16 ties are rounded up", File: fileNarrow,
			Old: "!big && moved[0] && (moved[1] || lost)", New: "!big && moved[0]"},
		{Name: "BF16 is cut off", File: fileNarrow,
			Old: "!nan && w[15] && (w[16] || |w[14:12] || low)", New: "1'b0 && !nan && w[15] && (w[16] || |w[14:12] || low)"},
		{Name: "a NaN loses its payload on the way out", File: fileNarrow,
			Old: "nan ? {w[22] || w[21:13] == 9'd0, w[21:13]} : 10'd0", New: "nan ? 10'h200 : 10'd0"},
		{Name: "FP16 subnormals are twice as large", File: fileWiden,
			Old: "8'd112 - {4'd0, z8, z4, z2, z1}", New: "8'd113 - {4'd0, z8, z4, z2, z1}"},
		{Name: "16-bit elements lie the wrong way round", File: fileTake,
			Old: "big_endian ? {e[7:0], e[15:8]} : e", New: "big_endian && 1'b0 ? {e[7:0], e[15:8]} : e"},
		{Name: "16-bit elements leave the wrong way round", File: fileEmit,
			Old: "row_big_endian ? {e[7:0], e[15:8]} : e", New: "row_big_endian && 1'b0 ? {e[7:0], e[15:8]} : e"},
		{Name: "slots of 16-bit types overlap", File: fileCheck,
			Old: "s_wide ? {s_index, 1'b0} : {1'b0, s_index}", New: "s_wide && 1'b0 ? {s_index, 1'b0} : {1'b0, s_index}"},
		{Name: "16-bit groups run over the end of the buffer", File: fileRecycle,
			Old: "(cfg_in_band && HALVES) || cfg_collective[6] != cfg_collective[5]", New: "cfg_in_band && HALVES"},
		{Name: "in-band groups of a 32-bit type run over the end of the buffer", File: fileRecycle,
			Old: "(cfg_in_band && HALVES) || cfg_collective[6] != cfg_collective[5]",
			New: "cfg_collective[6] != cfg_collective[5]"},
	}
}

// treeFaults are of reproducible sums.
func treeFaults() []Fault {
	return []Fault{
		{Name: "the tree adds an absent sibling as zero", File: fileTree,
			Old: "left_here && right_here", New: "left_here || right_here"},
		{Name: "the tree takes a pair that nobody wrote", File: fileWork,
			Old: "|work_mask[2*e +: 2]", New: "1'b1"},
		{Name: "the tree joins other pairs first", File: fileWork,
			Old: "work_ep[1 +: PAIR_W]", New: "{work_ep[1], work_ep[2]}"},
		{Name: "the sibling's contribution is overwritten", File: fileSteps,
			Old: "b_mask & b_sibling", New: "b_mask & b_sibling & NOBODY"},
		{Name: "the tree reads what is still being added", File: fileAggregate,
			Old: "writes_here != {DEPTH{1'b0}}", New: "1'b0"},
	}
}

// eagerFaults are of a tree that merges siblings as soon as both are complete.
func eagerFaults() []Fault {
	return []Fault{
		{Name: "what was merged for the slot's last packet still counts", File: fileMergePlan,
			Old: "note_clear ? {NODES{1'b0}} : now", New: "now"},
		{Name: "a sum takes the place of the right child", File: fileMergePlan,
			At: "found_left =", Old: "i[LEVELS-1:0] << l", New: "(i[LEVELS-1:0] << l) | ({{(LEVELS-1){1'b0}}, 1'b1} << (l - 1))"},
		{Name: "a node is complete when one child is", File: fileMergePlan,
			Old: "now[2 * ((SPAN >> l) + i) - 1]", New: "1'b1"},
		{Name: "a merged node is added to itself alone", File: fileEagerTree,
			Old: "visit_reg[0] ? merge_right : merge_left", New: "merge_left"},
		{Name: "a merged node's pairs are read again", File: fileEagerTree,
			At: "assign next_visit = (", Old: "visit_reg | low", New: "visit_reg"},
		{Name: "the last sum overtakes its siblings", File: fileEagerTree,
			Old: "wants_sum && t_empty && u_free && sum_go", New: "wants_sum && u_free && sum_go"},
		{Name: "a sum that was taken is read too", File: fileEagerTree,
			Old: "sum_go && !sum_taken", New: "sum_go"},
		{Name: "a slot is written while its result is made", File: fileAggregate,
			Old: "g_handed || g_hands || !tree_chk", New: "1'b1"},
		{Name: "a merged sum forgets its poison", File: fileAggregate,
			Old: "s_we ? bad_reg[DEPTH-1] : wb_bad", New: "s_we && bad_reg[DEPTH-1]"},
		{Name: "a merged sum is written where a contribution is", File: fileAggregate,
			Old: "wb_valid && !s_valid", New: "wb_valid"},
	}
}

// eccFaults are of errors of the payload memory.
func eccFaults() []Fault {
	return []Fault{
		{Name: "a frame with a poisoned word leaves as good", File: fileInsert,
			At: "tail_crc ^ {32{", Old: "c_bad", New: "1'b0"},
		{Name: "poison is not written back", File: fileAggregate,
			At: ".wdata (s_data[8*ROW-1:0]), .wpoison (", Old: "bad_reg[DEPTH-1]", New: "1'b0"},
		{Name: "corrections are not counted", File: fileMemory,
			Old: "corrected != {WORDS{1'b0}}", New: "1'b0"},
		{Name: "what was read before it was written is used", File: fileAggregate,
			Old: "valid_reg && read_reg && meets_m_reg[DEPTH] && !later && s_go", New: "1'b0"},
	}
}
