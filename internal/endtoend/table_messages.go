// SPDX-License-Identifier: Apache-2.0

package endtoend

// messageFaults are those of docs/termination.md: the receive side's rules in their order, marks, numbers, answers, pools, and what is sent.
func messageFaults() []Fault {
	return []Fault{
		{Name: "FIRST is taken inside a message", File: fileMessage, Old: "d_starts == e_inside", New: "!d_starts && !e_inside"},
		{Name: "MIDDLE is taken outside a message", File: fileMessage, Old: "d_starts == e_inside", New: "d_starts && e_inside"},
		{Name: "a LAST above the path MTU is taken", File: fileMessage, Old: "length > mtu", New: "1'b0"},
		{Name: "an empty LAST is taken", File: fileMessage, Old: "length == 16'd0 && !d_starts", New: "1'b0"},
		{Name: "a short MIDDLE is taken", File: fileMessage, Old: "length != mtu", New: "length > mtu"},
		{Name: "a message longer than a slot is taken", File: fileMessage, Old: "to > {1'b0, LONGEST}", New: "1'b0"},
		{Name: "a message longer than others is taken", File: fileMessage, Old: "old_known && to > {1'b0, old_mark}", New: "1'b0"},
		{Name: "a message shorter than others is taken", File: fileMessage, Old: "d_ends && to < {1'b0, old_mark}", New: "1'b0"},
		{Name: "a refused endpoint is heard again", File: fileMessage, Old: "e_refused || is_invalid", New: "is_invalid && 1'b0"},
		{Name: "MSN counts packets", File: fileMessage, Old: "is_taken && d_ends ? e_msn + 24'd1 : e_msn", New: "is_taken ? e_msn + 24'd1 : e_msn"},
		{Name: "the ACK of a duplicate is one too high", File: fileMessage, Old: "is_duplicate ? e_psn - 24'd1 : e_psn", New: "e_psn"},
		{Name: "the offset is kept over a message's end", File: fileMessage, Old: "d_ends ? {OFF_W{1'b0}} : to[OFF_W-1:0]", New: "to[OFF_W-1:0]"},
		{Name: "AckReq is not looked at", File: fileMessage, Old: "frm_asks || d_ends", New: "d_ends"},
		{Name: "a LAST is not acknowledged", File: fileMessage, Old: "frm_asks || d_ends", New: "frm_asks"},
		{Name: "unasked packets are never acknowledged", File: fileMessage, Old: "more_unanswered >= cfg_ack_every", New: "1'b0"},
		{Name: "an answer does not restart the count of packets", File: fileMessage, Old: "answers ? 8'd0 : is_taken", New: "is_taken"},
		{Name: "a message without a slot is taken", File: fileMessage, Old: "d_starts && f_off >= (k_root ? moves + n_wide : n_wide)", New: "1'b0"},
		{Name: "a gap is answered each time", File: fileMessage, Old: "is_gap && !e_nak_sent", New: "is_gap"},
		{Name: "the mark falls back", File: fileMessage, Old: "to > {1'b0, old_mark} ? to[OFF_W-1:0] : old_mark", New: "to[OFF_W-1:0]"},
		{Name: "what lies above the mark is added to", File: fileCutWork, Old: "take_reg ? adding : TREE == 0", New: "1'b1"},
		{Name: "what lies below the mark is overwritten", File: fileCutWork, Old: "take_reg ? adding : TREE == 0", New: "!take_reg"},
		{Name: "a result being sent frees words of packets", File: fileCutWork, Old: "take_reg ? start_reg + UNIT_WORDS[PKT_W-1:0] : start_reg",
			New: "start_reg + UNIT_WORDS[PKT_W-1:0]"},
		{Name: "AckReq is read a byte too late", File: fileAckAsked, Old: "raw_data[8*LANE + 7]", New: "raw_data[8*LANE + 15]"},
		{Name: "a group with an illegal path MTU starts", File: fileMessageCSR, Old: "grp_start[g] && illegal", New: "1'b0"},
		{Name: "a path MTU need be no power of two", File: fileMessageCSR, Old: "(mtu_value & (mtu_value - 13'd1)) == 13'd0", New: "1'b1"},
		{Name: "an endpoint's words are written while its group runs", File: fileMessageCSR, Old: "enabled[{1'b0, w_group}]", New: "1'b0"},
	}
}
