// SPDX-License-Identifier: Apache-2.0

package endtoend

// Pipes is what makes mini3 an engine of all types and operations with sums that do not depend on the order of arrival.
func Pipes() []string { return append(Reproducible(), "name=pipes3", "buffer_bytes=98304") }

// Wide is what makes mini3 an engine on whose bus a short frame is one beat, so that frames can come in faster than they are decided.
func Wide() []string { return []string{"bus_bytes=64", "lanes=16"} }

// PipeFaults are those of Mode III, for mini3: the known mistakes of epic-facts.md 5.B (B1–B18), and what docs/pipes.md asks besides.
func PipeFaults() []Fault {
	const (
		check = "rtl/inc_check_pipe.v"
		send  = "rtl/inc_send_ack.v"
		rt    = "rtl/inc_retransmission.v"
		acks  = "rtl/inc_receive_ack.v"
	)
	return []Fault{
		// answers to data (B1–B3, B10)
		{"a full pipe is acknowledged (B1)", send,
			"assign ans_ack = rcv_accept || rcv_duplicate;", "assign ans_ack = rcv_accept || rcv_duplicate || rcv_full;", false, nil},
		{"a full pipe is answered like a gap (B1)", send,
			"ans_ack ? ACK_PLAIN : rcv_full ? {3'b001, cfg_rnr_timer} : NAK_SEQUENCE;", "ans_ack ? ACK_PLAIN : NAK_SEQUENCE;", true, nil},
		{"a gap NAK names the last PSN taken (B2)", send,
			"rcv_duplicate ? epsn - 24'd1 : epsn;", "rcv_duplicate || rcv_gap ? epsn - 24'd1 : epsn;", true, nil},
		{"duplicates are NAKed (B2)", send,
			"assign ans_ack = rcv_accept || rcv_duplicate;\n    assign ans_nak = rcv_gap && !nak_sent;",
			"assign ans_ack = rcv_accept;\n    assign ans_nak = (rcv_gap || rcv_duplicate) && !nak_sent;", true, nil},
		{"a duplicate is added again (B3)", check,
			"wire frame_work = accept &&", "wire frame_work = (accept || (duplicate && off_reg < room)) &&", true, nil},
		{"a duplicate is not acknowledged again (B10)", send,
			"assign ans_ack = rcv_accept || rcv_duplicate;", "assign ans_ack = rcv_accept;", false, nil},
		{"a duplicate's ACK has its own number", send,
			"rcv_duplicate ? epsn - 24'd1 : epsn;", "rcv_duplicate ? rcv_psn : epsn;", true, nil},
		{"what finds its pipe full does not silence the gap behind it", send,
			"(nak_sent || rcv_gap || rcv_full);", "(nak_sent || rcv_gap);", true, nil},
		{"a gap is NAKed once and never again", send,
			"assign nak_sent_next = !rcv_accept && (nak_sent", "assign nak_sent_next = (nak_sent", true, nil},
		{"a gap is NAKed every time in Mode III", send,
			"assign ans_nak = rcv_gap && !nak_sent;", "assign ans_nak = rcv_gap;", true, nil},
		{"a CNP goes to a switch", send,
			"rcv_full && cfg_cnp && rcv_host;", "rcv_full && cfg_cnp;", true, nil},
		{"the PSN of data is compared without wrap", send,
			"assign rcv_behind = distance[23];\n    assign rcv_ahead  = !distance[23] && distance != 24'd0;",
			"assign rcv_behind = rcv_psn < epsn;\n    assign rcv_ahead  = rcv_psn > epsn;", true, nil},
		// pipes (B9, B14, B15)
		{"a root moves one slot more than the broadcast pipe has (B9)", check,
			"limit    = root && span_reg > n_wide ? n_wide : span_reg;", "limit    = root && span_reg > n_wide ? n_wide + 24'd1 : span_reg;", false, nil},
		{"a result leaves a root though it is not in the broadcast pipe (B9)", check,
			"rt_keep != NOBODY && (!root || off_reg < n_wide);", "rt_keep != NOBODY;", true, nil},
		{"a pipe takes one packet more than it has slots", check,
			"wire        fits     = off_reg < room;", "wire        fits     = off_reg <= room;", true, nil},
		{"children fill the broadcast pipe of a root", check,
			"room     = root ? limit + n_wide : n_wide;", "room     = root ? n_wide + n_wide : n_wide;", true, nil},
		{"start is the minimum over the endpoints of both pipes (B14)", check,
			"assign ack_mask  = outs;", "assign ack_mask  = outs | parent_mask | out_mask;", true, nil},
		{"a pipe's minimum leaves the last endpoint out (B14)", acks,
			"{ack_mask[n] && !ack_self[n], N, word", "{ack_mask[n] && !ack_self[n] && n != MASK_W - 2, N, word", true, nil},
		{"a slot is free when its PSN is complete (B15)", check,
			"room     = root ? limit + n_wide : n_wide;", "room     = span_reg + n_wide;", false, nil},
		{"a slot is the PSN modulo N", check,
			"wire [SLOT_W-1:0] place = raw >= size ? wrap[SLOT_W-1:0] : raw[SLOT_W-1:0];",
			"wire [23:0] remains = at % {{(23-SLOT_W){1'b0}}, size};\n    wire [SLOT_W-1:0] place = remains[SLOT_W-1:0];", true, nil},
		{"the ring of a pipe is as long as a power of two", check,
			"raw >= size ? wrap[SLOT_W-1:0] : raw[SLOT_W-1:0];", "raw[SLOT_W-1:0];", true, nil},
		{"a slot keeps the contributors of the PSN before", check,
			"mask_next = first ? self : slot_mask | self;", "mask_next = slot_mask | self;", true, nil},
		{"room for the next result wakes nobody", check,
			"moving ? unsent_left_reg < limit_left :", "moving ? 1'b0 :", true, nil},
		{"what two pipes share is kept once", check,
			"wire [SLOT_W-1:0] shift = pipe_b && !root ? n : {SLOT_W{1'b0}};", "wire [SLOT_W-1:0] shift = {SLOT_W{1'b0}};", true, nil},
		// acknowledgements (B6, B18)
		{"a NAK counts as an ACK of its own number (B6)", rt,
			"next    = rt_is_ack ? rt_psn + 24'd1 : rt_psn;", "next    = rt_psn + 24'd1;", false, nil},
		{"a NAK acknowledges nothing", rt,
			"gain != 24'd0 && (rt_is_ack || rt_is_nak || rt_is_rnr);", "gain != 24'd0 && (rt_is_ack || rt_is_rnr);", true, nil},
		{"an ACK of what was never sent is taken (B18)", rt,
			"stale_reg    <= under[23] || gain[23]", "stale_reg    <= gain[23]", true, nil},
		{"an old NAK has all sent again", rt,
			"stale_reg    <= under[23] || gain[23] ||", "stale_reg    <= under[23] || (gain[23] && rt_is_ack) ||", true, nil},
		{"an ACK of what was sent before a NAK is stale", rt,
			"top     = own_lag ? max_sent + 24'd1 : rt_sent;", "top     = own_lag ? send_next : rt_sent;", true, nil},
		{"an ACK's PSN is compared without wrap", rt,
			"stale_reg    <= under[23] || gain[23]", "stale_reg    <= next > top || gain[23]", true, nil},
		// sending, first and again
		{"fresh results overtake what is sent again", rt,
			"assign rt_keep     = rt_out & ~lag;", "assign rt_keep     = rt_out & ~waits & ~failed;", true, nil},
		{"who has all that it missed lags for ever", rt,
			"|| (cm_one && !caught_reg)", "|| cm_one", true, nil},
		{"what is sent again goes to all", check,
			"assign tx_mask    = result || pointed ? rt_keep : self;", "assign tx_mask    = result || acting_reg ? rt_keep | self : self;", true, nil},
		{"a failed endpoint gets results", rt,
			"wire own_lag_next = own_failed_next || own_waits_next", "wire own_lag_next = own_waits_next", true, nil},
		{"an RNR NAK has all sent again at once", rt,
			"wire back  = cm_ack && rt_is_nak && !at_top_reg;\n    wire rests = cm_ack && rt_is_rnr && !at_top_reg;",
			"wire back  = cm_ack && (rt_is_nak || rt_is_rnr) && !at_top_reg;\n    wire rests = 1'b0;", true, nil},
		// timers (B12)
		{"progress does not start the timer again (B12)", rt,
			"(cm_resume && !nothing_reg) || (moves && !at_top_reg);", "(cm_resume && !nothing_reg);", true, nil},
		{"a NAK of nothing new starts the timer again (B12)", rt,
			"(cm_resume && !nothing_reg) || (moves && !at_top_reg);", "(cm_resume && !nothing_reg) || (cm_ack && !at_top_reg);", true, nil},
		{"the timer runs on when all is acknowledged (B12)", rt,
			"own_waits_next || (moves && at_top_reg) ||", "own_waits_next ||", false, nil},
		{"a time-out does not take longer the second time (B12)", rt,
			"cm_timeout && backoff != 2'd3 ? backoff + 2'd1 : backoff;", "backoff;", true, nil},
		{"the fourth time-out is as short as the first (B12)", rt,
			"cm_timeout && backoff != 2'd3 ? backoff", "cm_timeout ? backoff", true, nil},
		{"progress does not shorten a time-out again (B12)", rt,
			"backoff_next   = moves ? 2'd0 : cm_timeout", "backoff_next   = cm_timeout", true, nil},
		{"the last endpoint has no timer", rt,
			"localparam [31:0]  LAST_EP  = MASK_W - 1;", "localparam [31:0]  LAST_EP  = MASK_W - 2;", true, nil},
		{"a time-out comes a microsecond early", rt,
			"wire [TIME_W-1:0] soon    = now_reg + {{(TIME_W-1){1'b0}}, 1'b1};", "wire [TIME_W-1:0] soon    = now_reg;", true, nil},
		// in-band groups
		{"a range opens when the one before is complete, not acknowledged", check,
			"a_drained = rec_a[SLOT_W+1 +: 24] == ctx_after;\n    wire        b_drained = rec_b[SLOT_W+1 +: 24]",
			"a_drained = rec_a[SLOT_W+25 +: 24] == ctx_after;\n    wire        b_drained = rec_b[SLOT_W+25 +: 24]", true, nil},
		{"a control is taken whatever is still in the pipes", check,
			"wire opens       = opener && drained_reg;", "wire opens       = opener;", true, nil},
		{"who did not send or hear in a range holds up the next", check,
			"assign ack_lift = opening;", "assign ack_lift = 1'b0;", true, nil},
		// turns
		{"actions go before frames", check,
			"!(ent_valid && vrd_valid && turn_reg);", "1'b1;", true, nil},
		{"frames go before actions", check,
			"!(ent_valid && vrd_valid && turn_reg);", "!(ent_valid && vrd_valid);", true, Wide()},
		{"an action in between leaves a frame's work standing", check,
			"assign op_kill   = sent_reg && ((decided && !commits_op) || yields);", "assign op_kill   = sent_reg && decided && !commits_op;", true, nil},
		{"a start leaves endpoints that wait where they are", rt,
			"{stands_next, failed_next, lag_next, waits_next, on_next, deadline_next} : {SIDE_W{1'b0}}),",
			"{stands_next, failed_next, lag_next, waits_next, on_next, deadline_next} : {stands, failed, lag, waits, on, deadline}),", true, nil},
		// what is told
		{"WIPE leaves out what a root moves", check,
			"moved_data = root ? limit_next - limit : 24'd0;", "moved_data = 24'd0;", true, nil},
		{"WIPE leaves out what is acknowledged", check,
			"moves ? step_reg + moved_acks : 24'd0;", "moves ? moved_acks : 24'd0;", true, nil},
		{"TX_RETRANSMIT counts what is late but new", check,
			"acted && to_one && rt_again;", "acted && to_one;", true, nil},
		{"the monitor does not show time-outs", check,
			"(acted && (resends || to_go_back || to_resume));", "(acted && (resends || to_resume));", true, nil},
		{"the monitor names another pipe", check,
			"wire [EP_W-1:0] pipe_ep = {{(EP_W-1){1'b0}}, pipe_b};", "wire [EP_W-1:0] pipe_ep = {{(EP_W-1){1'b0}}, !pipe_b};", true, nil},
		// sums by pairs
		{"what the parent sent is reduced once more", check,
			"assign op_pairs[e] = copied ? e == 0 : there;", "assign op_pairs[e] = there;", true, Pipes()},
		{"a sum sent again is that of the last pair", check,
			"wire [MASK_W-1:0] mask_sent = acting_reg ? slot_mask : mask_next;", "wire [MASK_W-1:0] mask_sent = acting_reg ? self : mask_next;", true, Pipes()},
	}
}
