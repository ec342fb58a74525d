// SPDX-License-Identifier: Apache-2.0

package endtoend

// messageFaults are those of docs/termination.md: the receive side's rules in their order, marks, numbers, answers, pools, and what is sent.
func messageFaults() []Fault {
	return []Fault{
		{Name: "FIRST is taken inside a message", File: fileMessage, Old: "d_starts == inside_reg", New: "!d_starts && !inside_reg"},
		{Name: "MIDDLE is taken outside a message", File: fileMessage, Old: "d_starts == inside_reg", New: "d_starts && inside_reg"},
		{Name: "a LAST above the path MTU is taken", File: fileMessage, Old: "spare[16]", New: "1'b0"},
		{Name: "an empty LAST is taken", File: fileMessage, Old: "length == 16'd0 && !d_starts", New: "1'b0"},
		{Name: "a short MIDDLE is taken", File: fileMessage, Old: "(length ^ mtu) != 16'd0", New: "length > mtu"},
		{Name: "a message longer than a slot is taken", File: fileMessage, Old: "to > {1'b0, LONGEST}", New: "1'b0"},
		{Name: "a message longer than others is taken", File: fileMessage, Old: "known && over[OFF_W+1]", New: "1'b0"},
		{Name: "a message shorter than others is taken", File: fileMessage, Old: "d_ends && under[OFF_W+1]", New: "1'b0"},
		{Name: "a refused endpoint is heard again", File: fileMessage, Old: "e_refused || is_invalid", New: "is_invalid && 1'b0"},
		{Name: "MSN counts packets", File: fileMessage, Old: "is_taken && d_ends ? msn_up : e_msn", New: "is_taken ? msn_up : e_msn"},
		{Name: "the ACK of a duplicate is one too high", File: fileMessage, Old: "is_duplicate ? psn_down : e_psn", New: "e_psn"},
		{Name: "the offset is kept over a message's end", File: fileMessage, Old: "d_ends ? {OFF_W{1'b0}} : to_reg", New: "to_reg"},
		{Name: "AckReq is not looked at", File: fileMessage, At: "is_duplicate || (is_taken && (", Old: "r_answers || asks_reg", New: "r_answers"},
		{Name: "a LAST is not acknowledged", File: fileMessage, At: "r_answers <=", Old: "d_ends", New: "1'b0"},
		{Name: "an answer does not restart the count of packets", File: fileMessage, Old: "answers ? 8'd0 : is_taken ? more_unanswered : e_unanswered",
			New: "is_taken ? more_unanswered : e_unanswered"},
		{Name: "a message without a slot is taken", File: fileMessage, Old: "d_starts && !fits", New: "1'b0"},
		{Name: "a gap is answered each time", File: fileMessage, Old: "f_ahead && !e_nak_sent", New: "f_ahead"},
		{Name: "the mark falls back", File: fileMessage, Old: "r_longer ? to_reg : mark_reg", New: "to_reg"},
		{Name: "what lies above the mark is added to", File: fileCutWork, Old: "op_take ? adding : TREE == 0", New: "1'b1"},
		{Name: "what lies below the mark is overwritten", File: fileCutWork, Old: "op_take ? adding : TREE == 0", New: "!op_take"},
		{Name: "AckReq is read a byte too late", File: fileAckAsked, Old: "raw_data[8*LANE + 7]", New: "raw_data[8*LANE + 15]"},
		{Name: "a group with an illegal path MTU starts", File: fileMessageCSR, Old: "grp_start[g] && illegal", New: "1'b0"},
		{Name: "a path MTU need be no power of two", File: fileMessageCSR, Old: "(mtu_value & (mtu_value - 13'd1)) == 13'd0", New: "1'b1"},
		{Name: "an endpoint's words are written while its group runs", File: fileMessageCSR, Old: "enabled[{1'b0, w_group}]", New: "1'b0"},
		{Name: "a message is left with its FIRST", File: fileMessage, Old: "is_taken ? !d_ends : e_inside", New: "is_taken ? !d_starts : e_inside"},
		{Name: "a message is complete with the first LAST", File: fileMessage, Old: "(new_mask & c_in_mask) == c_in_mask", New: "1'b1"},
		{Name: "a pool takes one message more than it has slots", File: fileMessage, Old: "k_off - n_wide", New: "k_off - n_wide - 24'd1"},
		{Name: "a root's ring takes one message more than it has slots", File: fileMessage, Old: "k_lead - n_wide", New: "k_lead - n_wide - 24'd1"},
		{Name: "a new message is added to what lies in its slot", File: fileMessage, Old: "f_fresh ? {OFF_W{1'b0}} : slot_tag[OFF_W-1:0]",
			New: "slot_tag[OFF_W-1:0]"},
		{Name: "CE of a packet is forgotten by its message", File: fileMessage, Old: "old_ce || c_ce", New: "c_ce"},
		{Name: "the last LAST decides SE", File: fileMessage, Old: "old_known ? old_se : c_se", New: "c_se"},
		{Name: "what is refused is NAKed like a gap", File: fileMessage, Old: "is_gap ? NAK_SEQUENCE : NAK_INVALID", New: "NAK_SEQUENCE"},
		{Name: "a slot is free with its first ACK", File: fileMessage, Old: "ack_rest_any && least_past[23] ? ack_rest : acked_last",
			New: "acked_last"},
		{Name: "a root sends what is not in its broadcast pool", File: fileMessage, Old: "caps ? most : j_done", New: "j_done"},
		{Name: "ACK_EVERY is one too many", File: fileMessage, Old: "more_unanswered >= cfg_ack_every", New: "more_unanswered > cfg_ack_every"},
		{Name: "ACK_EVERY is not looked at", File: fileMessage, Old: "more_unanswered >= cfg_ack_every", New: "1'b0"},
		{Name: "a result being sent frees words of packets", File: fileCutWork, Old: "busy_reg && !spec_reg && take_reg",
			New: "busy_reg && !spec_reg"},
		{Name: "bytes leave that not all have sent", File: fileMessage, Old: "rest_least ? rest_last + 24'd1 : own_here",
			New: "own_here"},
		{Name: "an endpoint's packets behind each other do not see each other", File: fileMessage, Old: "end_fresh ? end_fresh_word : end_read", New: "end_read"},
		{Name: "packets of a pool behind each other do not see each other", File: fileMessage, Old: "tails_fresh ? tails_fresh_word : tails_read", New: "tails_read"},
		{Name: "an acknowledgement on its way makes no room", File: fileMessage, Old: "k_old && is_full", New: "1'b0",
			Also: []Change{{Old: "k_old && r_completes && !r_fusable", New: "1'b0"}}},
		{Name: "a result leaves at once as its packet was cut", File: fileMessage,
			At: "e_offset[OFF_W-1:PLACE_W] && ", Old: "see_fits", New: "1'b1"},
		{Name: "a packet leaves at once where its message may end", File: fileMessage, Old: "known && slot_tag[OFF_W-1:0] == mid[OFF_W-1:0]", New: "1'b0"},
		{Name: "a packet leaves at once before others have sent its bytes", File: fileMessage,
			Old: "!rest_least || (own_here ^ ~rest_last ^ {own_here[22:0] | ~rest_last[22:0], 1'b0}) == 24'd0", New: "1'b1"},
		{Name: "a packet that has left at once may not be sent again", File: fileMessage, Old: "snd_fuse ? q_open : NO_UNIT", New: "NO_UNIT"},
		{Name: "a packet that leaves at once asks whether more may leave", File: fileMessage, Old: "f_peeks && !fusing", New: "f_peeks"},
		{Name: "what a dropped packet adds stays", File: fileMessage, Old: "put_reg && commits", New: "put_reg && data_goes",
			Also: []Change{{Old: "put_reg && data_goes && !commits", New: "1'b0"}}},
		{Name: "a result leaves as it was guessed", File: fileMessage, Old: "emits_reg != fuses_reg", New: "1'b0"},
		{Name: "what waits for its verdict is not taken back for a job that sends", File: fileMessage, Old: "sends || mistaken", New: "mistaken"},
		{Name: "units behind the first of a dropped packet are kept", File: fileCutWork, At: "else if (", Old: "in_kill", New: "1'b0"},
		{Name: "a packet is looked up behind one that is not decided", File: fileMessage, Old: "!c_needs || c_leaves", New: "1'b1"},
		{Name: "a job begins with what was read for another group", File: fileMessage, Old: "j_idle || q_group == j_group", New: "1'b1"},
		{Name: "an answer does not know what the one before has moved", File: fileMessage, Old: "d5_valid && once_group == d_group", New: "1'b0"},
		{Name: "an answer does not know what the one before moves", File: fileMessage, Old: "!d1_valid || was_group == d_group", New: "!d1_valid"},
		{Name: "a result leaves at once as another pool was seen", File: fileMessage, Old: "see_ei == pool_ei", New: "1'b1"},
		{Name: "a result leaves a root at once beyond its broadcast pool", File: fileMessage, At: "wire may_fuse = is_taken &&", Old: "r_fusable", New: "r_completes"},
	}
}

// cutFaults are of what it sends, and what answers move (docs/termination.md sections 4 and 5).
func cutFaults() []Fault {
	return []Fault{
		{Name: "a NAK acknowledges what it names", File: fileMessage, Old: "q_psn + {23'd0, q_is_ack}", New: "q_psn + 24'd1"},
		{Name: "answers count from PSN 0", File: fileSendMessage, Old: "snd_psn - on_wire", New: "snd_psn"},
		{Name: "a packet behind which nothing may leave does not ask", File: fileSendMessage, At: "(made || is_last ||", Old: "!stay_more_reg", New: "1'b0"},
		{Name: "all go along, whatever their path MTU", File: fileSendMessage, Old: "codes[CODE_W*i +: CODE_W] == codes[CODE_W*j +: CODE_W]", New: "1'b1"},
		{Name: "who goes back sends on where it was", File: fileSendMessage, Old: "one_psn == unacked_psn", New: "1'b0"},
		{Name: "every packet has the message's SE", File: fileSendMessage, Old: "is_last && msg_se", New: "msg_se"},
		{Name: "an ACK does not pass a message's end", File: fileSendMessage, Old: "tail_msg == at_msg_reg || past[GAP_W-1]", New: "1'b1"},
		{Name: "the last packet is as long as the others", File: fileCutMessage, Old: "ends ? {{(31-TOP_W){1'b0}}, left_reg} : mtu", New: "mtu",
			Also: []Change{{Old: "ends ? filled[WORDS_W-1:0] : full[WORDS_W-1:0]", New: "full[WORDS_W-1:0]"}}},
		{Name: "a send that waits for room leaves though its group was stopped", File: fileSendMessage, Old: "use_it && live && snd_room", New: "use_it && snd_room",
			Also: []Change{{Old: "use_it && !live", New: "1'b0"}}},
		{Name: "nothing leaves of a message that is not complete", File: fileSendMessage, Old: "past_tail[POS_W]", New: "1'b0"},
		{Name: "a pool of several lanes rests with something to send", File: fileSendMessage, Old: "more_reg || after_more", New: "more_reg"},
		{Name: "an ACK passes one message's end at most", File: fileSendMessage, Old: "same || (heard_reg[GAP_W-1:0] ^ own_bound) == {GAP_W{1'b0}}", New: "1'b1"},
		{Name: "who lags is not told where messages end", File: fileSendMessage, Old: "bounds_end && lane_reg[e]", New: "bounds_end && keep[e]"},
		{Name: "all data asks for an acknowledgement", File: fileAskAck, Old: "hdr_bytes[ASK_BIT] && keeps", New: "hdr_bytes[ASK_BIT]"},
		{Name: "what was seen of a pool outlives a NAK", File: fileSendMessage, Old: "snd_is_ack && full_reg", New: "full_reg"},
		{Name: "a packet within a message that has left at once ends it", File: fileSendMessage, At: "{after_msg, after_pos} :", Old: "snd_ended", New: "1'b1"},
		{Name: "a path MTU may be below the least", File: fileMessageCSR, Old: "mtu_value >= LEAST[12:0]", New: "1'b1"},
	}
}

// wideMessageFaults are of packets whose first unit is shorter than the adder, mini1's is still being read when the verdict comes; and of ACKs of one
// endpoint that wait for each other, which come no faster than they are decided where each has eight beats.
func wideMessageFaults() []Fault {
	return []Fault{
		{Name: "an answer begins with what the endpoint's last has not written", File: fileMessage, Old: "j_fuse || q_fuse || q_ei != j_ei", New: "1'b1"},
		{Name: "units behind the first do not wait for the verdict", File: fileCutWork, Old: "op_ready && !spec_reg", New: "op_ready"},
	}
}

// askFaults are of who is asked for an acknowledgement in messages of more than 16 packets.
func askFaults() []Fault {
	return []Fault{
		{Name: "the 16th packet does not ask", File: fileSendMessage, At: "!stay_more_reg ||", Old: "silent_reg[4*i +: 4] == 4'd15", New: "1'b0"},
		{Name: "a copy asks because another one does", File: fileSendMessage, At: "assign snd_tx_ask =", Old: "ask",
			New: "ask == {MASK_W{1'b0}} ? ask : to"},
	}
}
