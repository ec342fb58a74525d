// SPDX-License-Identifier: Apache-2.0

package endtoend

// receiveFaults are of answers to data (B1–B3, B10).
func receiveFaults() []Fault {
	return []Fault{
		{Name: "a full pipe is acknowledged (B1)", File: fileSend,
			Old: "rcv_accept || rcv_duplicate", New: "rcv_accept || rcv_duplicate || rcv_full"},
		{Name: "a full pipe is answered like a gap (B1)", File: fileSend,
			Old: "acks ? ACK_PLAIN : rcv_full ? {3'b001, cfg_rnr_timer} : NAK_SEQUENCE",
			New: "acks ? ACK_PLAIN : NAK_SEQUENCE"},
		{Name: "a gap NAK names the last PSN taken (B2)", File: fileSend,
			Old: "rcv_duplicate ? epsn - 24'd1 : epsn", New: "rcv_duplicate || rcv_gap ? epsn - 24'd1 : epsn"},
		{Name: "duplicates are NAKed (B2)", File: fileSend,
			Old: "rcv_accept || rcv_duplicate", New: "rcv_accept", Also: []Change{
				{Old: "rcv_gap && !nak_sent", New: "(rcv_gap || rcv_duplicate) && !nak_sent"},
			}},
		{Name: "a duplicate is added again (B3)", File: filePipe,
			Old: "c_accept && c_live && c_words != {WORDS_W{1'b0}}",
			New: "(c_accept || (c_count[C_RX_DUPLICATE] && c_near)) && c_live && c_words != {WORDS_W{1'b0}}"},
		{Name: "a duplicate is not acknowledged again (B10)", File: fileSend,
			Old: "rcv_accept || rcv_duplicate", New: "rcv_accept"},
		{Name: "a duplicate's ACK has its own number", File: fileSend,
			Old: "rcv_duplicate ? epsn - 24'd1 : epsn", New: "rcv_duplicate ? rcv_psn : epsn"},
		{Name: "what finds its pipe full does not silence the gap behind it", File: fileSend,
			Old: "nak_sent || rcv_gap || rcv_full", New: "nak_sent || rcv_gap"},
		{Name: "a gap is NAKed once and never again", File: fileSend,
			Old: "!rcv_accept && (nak_sent || rcv_gap || rcv_full)", New: "(nak_sent || rcv_gap || rcv_full)"},
		{Name: "a gap is NAKed every time in Mode III", File: fileSend,
			Old: "rcv_gap && !nak_sent", New: "rcv_gap"},
		{Name: "a CNP goes to a switch", File: fileSend,
			Old: "rcv_full && cfg_cnp && rcv_host", New: "rcv_full && cfg_cnp"},
		{Name: "the PSN of data is compared without wrap", File: fileSend,
			At: "behind_reg <=", Old: "distance[23]", New: "rcv_psn < word_epsn"},
	}
}

// pipeFaults are of the two pipes (B9, B14, B15).
func pipeFaults() []Fault {
	return []Fault{
		{Name: "a root moves one slot more than the broadcast pipe has (B9)", File: filePipe,
			Old: "x_any && (!x_root || x_unsent < x_n)", New: "x_any && (!x_root || x_unsent <= x_n)"},
		{Name: "a result leaves a root though it is not in the broadcast pipe (B9)", File: filePipe,
			At: "rt_keep != NOBODY &&", Old: "(!c_root || c_near)", New: "1'b1"},
		{Name: "a pipe takes one packet more than it has slots", File: filePipe,
			At: "inc_past u_past_n    (.number(a_psn), .from(a_start), .places(", Old: "a_wide", New: "a_wide + 24'd1"},
		{Name: "children fill the broadcast pipe of a root", File: filePipe,
			Old: "b_near || (b_in_ring && f_moved)", New: "b_in_ring"},
		{Name: "start is the minimum over the endpoints of both pipes (B14)", File: filePipe,
			At: "assign ack_mask = x_busy ? x_outs :", Old: "c_outs", New: "c_outs | c_parent_mask | c_out_mask"},
		{Name: "a pipe's minimum leaves the last endpoint out (B14)", File: fileAcks,
			Old: "ack_mask[n] && !ack_self[n]", New: "ack_mask[n] && !ack_self[n] && n != MASK_W - 2"},
		{Name: "a slot is free when its PSN is complete (B15)", File: filePipe,
			Old: "b_near || (b_in_ring && f_moved)", New: "f_moved"},
		{Name: "a slot is the PSN modulo N", File: filePipe,
			At: "wire [SLOT_W-1:0] place =", Old: "wraps_reg ? wrap[SLOT_W-1:0] : raw_reg[SLOT_W-1:0]",
			New: "a_psn % {{(23-SLOT_W){1'b0}}, size_reg}"},
		{Name: "the ring of a pipe is as long as a power of two", File: filePipe,
			Old: "wraps_reg ? wrap[SLOT_W-1:0] : raw_reg[SLOT_W-1:0]", New: "raw_reg[SLOT_W-1:0]"},
		{Name: "a slot keeps the contributors of the PSN before", File: fileSteps,
			Old: "f_first ? b_self : b_repeats ? f_mask : f_mask | b_self", New: "b_repeats ? f_mask : f_mask | b_self"},
		{Name: "room for the next result wakes nobody", File: filePipe,
			Old: "sent_psn != c_done_psn", New: "1'b0"},
		{Name: "what two pipes share is kept once", File: filePipe,
			Old: "a_pipe_b && !a_root ? a_n : {SLOT_W{1'b0}}", New: "{SLOT_W{1'b0}}", Also: []Change{
				{Old: "x_pipe_b && !x_root ? ctx_n : {SLOT_W{1'b0}}", New: "{SLOT_W{1'b0}}"},
			}},
	}
}

// sendFaults are of acknowledgements and of sending, first and again (B6, B18).
func sendFaults() []Fault {
	return []Fault{
		{Name: "a NAK counts as an ACK of its own number (B6)", File: filePipe,
			Old: "a_data || a_syn_ack ? a_psn + 24'd1 : a_psn", New: "a_psn + 24'd1", Also: []Change{
				{Old: "a_syn_ack ? a_psn : a_psn - 24'd1", New: "a_psn"},
			}},
		{Name: "a NAK acknowledges nothing", File: fileRetransmission,
			Old: "rt_is_ack || rt_is_nak || rt_is_rnr", New: "rt_is_ack || rt_is_rnr"},
		{Name: "an ACK of what was never sent is taken (B18)", File: fileRetransmission,
			Old: "(beyond && gains) || gain[23] || (!gains && rt_is_ack)", New: "gain[23] || (!gains && rt_is_ack)"},
		{Name: "an old NAK has all sent again", File: fileRetransmission,
			Old: "(beyond && gains) || gain[23] || (!gains && rt_is_ack)",
			New: "(beyond && gains) || (gain[23] && rt_is_ack) || (!gains && rt_is_ack)"},
		{Name: "an ACK of what was sent before a NAK is stale", File: fileRetransmission,
			Old: "max_sent - rt_last", New: "send_next - rt_next"},
		{Name: "an ACK's PSN is compared without wrap", File: fileRetransmission,
			Old: "(beyond && gains) || gain[23] || (!gains && rt_is_ack)",
			New: "rt_next > (own_lag ? max_sent + 24'd1 : rt_sent) || gain[23] || (!gains && rt_is_ack)"},
		{Name: "fresh results overtake what is sent again", File: fileRetransmission,
			At: "assign rt_keep =", Old: "rt_out & ~lag", New: "rt_out & ~waits & ~failed"},
		{Name: "who has all that it missed lags for ever", File: fileRetransmission,
			Old: "cm_one && !caught_reg", New: "cm_one"},
		{Name: "what is sent again goes to all", File: filePipe,
			Old: "pointed ? rt_keep : x_self", New: "rt_keep | x_self"},
		{Name: "a send that waits for room leaves though its group was stopped", File: filePipe,
			At: "(x_word && !x_acts)) &&", Old: "live_wide[{1'b0, act_group}]", New: "1'b1"},
		{Name: "what an action is to do outlives a reset", File: filePipe, At: "to_drop} <=", Old: "6'd0",
			New: "{{2{x_then}} & {sends_pipe, sends_one}, x_then && (sends_pipe || sends_one), {2{x_then && act_timer}} & {rt_timeout, rt_resume}, " +
				"x_then && !act_timer && !sends_pipe && !sends_one}"},
		{Name: "a failed endpoint gets results", File: fileRetransmission,
			At: "held_reg     <=", Old: "own_waits || own_failed || ends", New: "own_waits"},
		{Name: "an RNR NAK has all sent again at once", File: fileRetransmission,
			At: "wire back =", Old: "cm_ack && nak_reg && !at_top_reg", New: "cm_ack && turns_reg && !at_top_reg", Also: []Change{
				{At: "wire rests =", Old: "cm_ack && rt_is_rnr && !at_top_reg", New: "1'b0"},
			}},
		{Name: "the longest RNR wait is the shortest", File: fileRetransmission,
			Old: "rt_code == 5'd0 ? 5'd16 : {1'b0, rt_code[4:1]}", New: "rt_code == 5'd0 ? 5'd0 : {1'b0, rt_code[4:1]}"},
	}
}

// timerFaults are of timers (B12).
func timerFaults() []Fault {
	return []Fault{
		{Name: "progress does not start the timer again (B12)", File: fileRetransmission,
			Old: "rests || (moves && !waits_reg)", New: "rests"},
		{Name: "a NAK of nothing new starts the timer again (B12)", File: fileRetransmission,
			Old: "moves && !waits_reg", New: "cm_ack && !waits_reg"},
		{Name: "the timer runs on when all is acknowledged (B12)", File: fileRetransmission,
			At: "wire ack_on = !held_reg && (at_top_reg ?", Old: "on_reg && !progress_reg", New: "on_reg"},
		{Name: "a time-out does not take longer the second time (B12)", File: fileRetransmission,
			Old: "backoff != 2'd3 ? backoff + 2'd1 : backoff", New: "backoff"},
		{Name: "the fourth time-out is as short as the first (B12)", File: fileRetransmission,
			Old: "backoff != 2'd3 ? backoff + 2'd1 : backoff", New: "backoff + 2'd1"},
		{Name: "progress does not shorten a time-out again (B12)", File: fileRetransmission,
			Old: "moves ? 2'd0 : cm_timeout ? backoff_more : backoff", New: "cm_timeout ? backoff_more : backoff", Also: []Change{
				{Old: "rnr_reg ? due_rnr_reg : due_new_reg", New: "rnr_reg ? due_rnr_reg : due_once_reg"},
			}},
		{Name: "the last endpoint has no timer", File: fileRetransmission,
			Old: "walk_ep_reg == LAST_EP[EP_W-1:0]", New: "walk_ep_reg == LAST_EP[EP_W-1:0] - 1'b1"},
		{Name: "a time-out comes a microsecond early", File: fileRetransmission,
			At: "soon =", Old: "now_reg + {{(TIME_W-1){1'b0}}, 1'b1}", New: "now_reg"},
	}
}

// rangeFaults are of in-band groups of Mode III.
func rangeFaults() []Fault {
	return []Fault{
		{Name: "a range opens when the one before is complete, not acknowledged", File: filePipe,
			Old: "opener && b_drained", New: "opener && (b_drained || f_tails[TAIL_W +: 24] == b_fresh)", Also: []Change{
				{Old: "opener && !b_drained", New: "opener && !opens"},
			}},
		{Name: "a control is taken whatever is still in the pipes", File: filePipe,
			Old: "opener && b_drained", New: "opener", Also: []Change{{Old: "opener && !b_drained", New: "1'b0"}}},
		{Name: "data behind the control that opens a range is counted by the roles of the one before", File: filePipe,
			Old: "a_ranged && (!a_in_range || a_previous)", New: "a_ranged && !a_in_range"},
		{Name: "who did not send or hear in a range holds up the next", File: filePipe,
			At: "assign ack_lift =", Old: "c_opening", New: "1'b0"},
		{Name: "a range makes endpoints whole that have failed", File: fileRetransmission,
			Old: "mine ? own_failed_next : failed[e]", New: "mine ? own_failed_next : !cm_open && failed[e]", Also: []Change{
				{Old: "mine ? own_lag_next : cm_open ? failed[e] : lag[e]", New: "mine ? own_lag_next : !cm_open && lag[e]"},
			}},
	}
}

// turnFaults are of turns, starts, counters and the monitor.
func turnFaults() []Fault {
	return []Fault{
		{Name: "actions go before frames", File: filePipe,
			Old: "frames_turn && vrd_valid", New: "1'b0"},
		{Name: "an action in between leaves a frame's work standing", File: filePipe,
			Old: "c_sent && ((decided && !good) || x_start)", New: "c_sent && decided && !good"},
		{Name: "a start leaves endpoints that wait where they are", File: fileRetransmission,
			Old: "{SIDE_W{1'b0}}", New: "{stands, failed, lag, waits, on, deadline}"},
		{Name: "WIPE leaves out what a root moves", File: filePipe,
			Old: "good && c_completes && c_root && c_near", New: "1'b0"},
		{Name: "WIPE leaves out what is acknowledged", File: filePipe,
			Old: "w3_step + w3_moved", New: "w3_moved"},
		{Name: "TX_RETRANSMIT counts what is late but new", File: filePipe,
			Old: "x_acts && to_one && rt_again", New: "x_acts && to_one"},
		{Name: "the monitor does not show time-outs", File: filePipe,
			Old: "resends || to_go_back || to_resume", New: "resends || to_resume"},
		{Name: "the monitor names another pipe", File: filePipe,
			At: "pipe_ep = {{(EP_W-1){1'b0}},", Old: "r_pipe_b", New: "!r_pipe_b"},
	}
}

// widePipeFaults are of buses on which a short frame is one beat, and frames come in faster than they are decided.
func widePipeFaults() []Fault {
	return []Fault{
		{Name: "a start waits as long as frames of one beat come right behind each other", File: fileTurn, Old: "waited_reg == 4'd15", New: "1'b0"},
		{Name: "frames go before actions", File: filePipe,
			Old: "turn_next && frm_waits", New: "frm_waits", Also: []Change{
				{Old: "!(act_soon && !opened_reg)", New: "1'b1"},
			}},
		{Name: "frames pass an action that is on its way", File: filePipe,
			Old: "!(act_soon && !opened_reg)", New: "!(act_valid && !opened_reg)"},
		{Name: "data does not see that the one before it is of its endpoint", File: fileSend,
			At: ".follows (", Old: "rcv_follows", New: "1'b0"},
		{Name: "data does not see what the one before it does to its pipe", File: filePipe,
			At: ".read(a_go), .follows(", Old: "follows_grp", New: "1'b0"},
		{Name: "data does not see what the one before it does to its slot", File: filePipe,
			At: "assign a_follows_slot =", Old: "b_valid ? b_same : c_stays && c_same", New: "1'b0"},
		{Name: "data does not see the slot that was written while it was looked up", File: filePipe,
			Old: "wr_en && c_same", New: "1'b0"},
		{Name: "data does not see that a result was sent while it was looked up", File: filePipe,
			Old: "sents_we && sents_group == look_group", New: "1'b0"},
		{Name: "an acknowledgement does not see who was sent something while it was looked up", File: fileRetransmission,
			Old: "side_we && group == look_group", New: "1'b0"},
		{Name: "what was taken from a damaged frame is kept in Mode III", File: filePipe,
			Old: "!commits && b_follows && c_writes", New: "1'b0"},
		{Name: "what completes behind an acknowledgement does not wait for it", File: filePipe,
			Old: "c_completes && c_root && !c_near && !c_sure", New: "1'b0"},
	}
}

// pairFaults are of sums by pairs in Mode III.
func pairFaults() []Fault {
	return []Fault{
		{Name: "what the parent sent is reduced once more", File: fileWork,
			Old: "work_copied ? e == 0 : there", New: "there"},
		{Name: "a sum sent again is that of the last pair", File: filePipe,
			Old: "x_busy ? slot_mask : wr_mask", New: "x_busy ? x_self : wr_mask"},
	}
}
