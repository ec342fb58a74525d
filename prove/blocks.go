// SPDX-License-Identifier: Apache-2.0

package prove

import "strings"

// watch puts f_watched in the place of a RAM, or of a table of two ports: the word at the place at is shown on the wire word.
func watch(module, head, instance, at, word string) Change {
	return Change{module, head + " " + instance + " (", "f_watched" + head[strings.Index(head, " #("):] + " " + instance + " (.f_at(" + at + "), .f_word(" + word + "),"}
}

// blocks are all blocks, in the order of the page.
func blocks() []Block {
	return []Block{checkDuplicate(), receiveAck(), recycleBuffer(), replicateData(), control(), checkPipe(), retransmission()}
}

func checkDuplicate() Block {
	const m = "inc_check_duplicate"
	return Block{
		Name: "check_duplicate", Mode: 2, InBand: true, Keep: []string{"u_steps", "u_check", "u_work"},
		Texts: map[string]string{m: "check_duplicate", core: "around_check_duplicate"},
		Changes: []Change{
			watch(m, "inc_table #(.WORDS(RECORDS), .BITS(EP_BITS), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT))", "u_endpoints", "f_at", "f_ep"),
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(24), .ADDR_W(GRP_W))", "u_done", "f_g", "f_done_now"),
		},
		Properties: []Property{
			{Isolation, "an endpoint's and a group's numbers are written by their own frames and starts alone; what a frame sends and asks is of its own group", 0,
				Change{m, "ep_we ? c_at : init_at)", "ep_we ? a_at : init_at)"}},
			{Dropped, "a frame that is damaged or of a dead group changes nothing; one that is dropped writes no slot, number or work, and sends a gap's NAK at most", 16,
				Change{m, "assign wr_en    = good && t_wr;", "assign wr_en    = c_leaves && t_wr;"}},
			{Wedge, "a frame is done within 30 cycles in which its verdict is there, and whatever it needs has room or is ready", 40,
				Change{m, "c_need_min ? least_ready :", "c_need_min ? least_ready && !ack_ready :"}},
			{Overflow, "decisions find room; a work is put when none is held, and has one verdict before the next; acknowledgements are committed once, after their look", 0,
				Change{m, "(!t_sends || tx_room)", "1'b1"}},
			{Range, "slots are the group's own; a contribution is of one endpoint and noted, and what is sent goes to endpoints of the group", 0,
				Change{m, "s_psn[SLOT_W-1:0] & s_last", "s_psn[SLOT_W-1:0]"}},
		},
	}
}

func receiveAck() Block {
	const m = "inc_receive_ack"
	return Block{
		Name: "receive_ack", Keep: []string{"u_acks"}, Texts: map[string]string{m: "receive_ack"},
		Changes: []Change{watch(m, "inc_table #(.WORDS(1 << GRP_W), .BITS(48 * MASK_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT))", "u_acks", "f_group", "f_mem")},
		Properties: []Property{
			{Isolation, "what an endpoint acknowledged is what the commits and starts of its own group make it, and that is what its group's frames are shown", 0,
				Change{m, "raised & {MASK_W{ack_we && group_reg == ack_group}}", "raised & {MASK_W{ack_we}}"}},
			{Dropped, "a frame that is not committed leaves every number as it was", 0,
				Change{m, ".we    (puts || init_take)", ".we    (puts || init_take || ack_rd)"}},
			{Wedge, "the minimum is ready STAGES + 1 cycles after every read and stays; a start waits for nothing but a commit", 0,
				Change{m, "{age_reg[STAGES] || age_reg[STAGES-1], age_reg[STAGES-1:0] << 1}", "{age_reg[STAGES-1], age_reg[STAGES-1:0] << 1}"}},
			{Range, "the endpoint with the minimum is one of the mask, not the frame's own, below MASK_W, and the minimum is its number", 0,
				Change{m, "{ack_mask[n] && !ack_self[n], N,", "{ack_mask[n], N,"}},
		},
	}
}

func recycleBuffer() Block {
	const m = "inc_recycle_buffer"
	return Block{
		Name: "recycle_buffer", Keep: []string{"u_recycle"}, Texts: map[string]string{m: "recycle_buffer"},
		Changes: []Change{watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2*SLOT_W + 1), .ADDR_W(GRP_W))", "u_held", "f_h", "f_held")},
		Cut:     []string{"*inc_recycle_buffer*/c:u_slots"},
		Properties: []Property{
			{Isolation, "a group comes alive by its own start alone and stays until its own end; what a start sets is its group's, and no slot in units that another group has", 0,
				Change{m, "state_reg == W_OTHERS && !overlap && probe_reg[GROUPS-1]", "state_reg == W_OTHERS && !overlap && probe_reg[0]"}},
			{Dropped, "a start that is refused has set nothing, and its group is not alive", 0,
				Change{m, "assign acks_valid   = state_reg == W_ACKS;", "assign acks_valid   = state_reg == W_ACKS || state_reg == W_OTHERS;"}},
			{Wedge, "a start is over within 19 + GROUPS + 2 * 2**EP_W + SLOTS cycles in which nobody holds it up", 0,
				Change{m, "quiet_reg <= frm_waits ? 4'd0 : quiet_reg + 4'd1;", "quiet_reg <= frm_waits ? 4'd0 : quiet_reg + 4'd2;"}},
			{Overflow, "no start is forgotten while others are under way; the fence never counts past its end", 0,
				Change{m, "pending_reg <= (pending_reg & ~lowest) | grp_start;", "pending_reg <= pending_reg & ~lowest;"}},
			{Range, "one group is being started, and it exists; its units lie in the buffer, and what is written in them", 0,
				Change{m, "legal_reg && !overlong_reg && {1'b0, cfg_slots[23:0]} <= highest_reg", "legal_reg && !overlong_reg"}},
		},
	}
}

func replicateData() Block {
	const m = "inc_replicate_data"
	return Block{
		Name: "replicate_data", Keep: []string{"u_replicate"}, Texts: map[string]string{m: "replicate_data"},
		Changes: []Change{
			{m, ".WIDTH(DESC_W), .DEPTH_W(DEPTH_W)", ".WIDTH(DESC_W), .DEPTH_W(1)"},
			{m, ".WIDTH(WORDS_W + 1), .DEPTH_W(3)", ".WIDTH(WORDS_W + 1), .DEPTH_W(1)"},
		},
		Properties: []Property{
			{Isolation, "a decision's copies go to its own group's endpoints, each of the mask once, in order, with its PSN", 0,
				Change{m, "partly_reg  <= !is_last;", "partly_reg  <= 1'b1;"}},
			{Dropped, "no copy and no word leaves that no decision asked for", 12,
				Change{m, ".push      (issue && has_words)", ".push      (issue)"}},
			{Wedge, "in three cycles in which the request and the word are taken and the payload's words are there, a copy is asked for or a word fetched", 0,
				Change{m, "index_reg == job_words", "index_reg > job_words"}},
			{Overflow, "decisions, jobs and words never overflow, and what is kept is what came less what was freed", 30,
				Change{m, "{(ADDR_W+1){emit_valid && !frees}}", "{(ADDR_W+1){emit_valid}}"}},
			{Range, "copies go to endpoints that there are, below MASK_W and in the mask", 0,
				Change{m, "{number_of(lowest_of(tx_mask)), others_of", "{number_of(tx_mask), others_of"}},
		},
	}
}

func control() Block {
	const m = "inc_control"
	return Block{
		Name: "control", InBand: true, Keep: []string{"u_control"}, Texts: map[string]string{m: "control"},
		Changes: []Change{
			watch(m, "inc_table #(.WORDS(1 << GRP_W), .BITS(WORD_W), .ADDR_W(GRP_W), .ONE_PORT(ONE_PORT))", "u_ranges", "f_g", "f_range"),
			watch(m, "inc_table #(.WORDS(RECORDS), .BITS(48), .ADDR_W(INDEX_W), .ONE_PORT(ONE_PORT))", "u_offsets", "f_at", "f_offset"),
		},
		Properties: []Property{
			{Isolation, "a group's ranges are what its own start and its own controls make them, and an endpoint's offsets change by those of its own group alone", 0,
				Change{m, ".waddr (begin_reg ? group : init_group)", ".waddr (begin_reg ? init_group : init_group)"}},
			{Dropped, "without a control that opens a range, or a start, no range and no offset changes", 0,
				Change{m, ".we    (begin_reg || init)", ".we    (begin_reg || init || ctl_map)"}},
			{Wedge, "an opening is over in 2**EP_W + 1 cycles; a start waits for nothing else", 0,
				Change{m, "wire walk_last = walk_reg == LAST[EP_W-1:0];", "wire walk_last = walk_reg == LAST[EP_W-1:0] && !init_valid;"}},
			{Overflow, "every endpoint of a group that opens a range is told its offsets, once", 0,
				Change{m, "walking_reg <= !walk_last;", "walking_reg <= !walk_last && walk_reg != {EP_W{1'b0}};"}},
			{Range, "a frame belongs to one range at most, and to one kind; nobody sends in a Broadcast or hears in a Reduce who may not", 0,
				Change{m, "BROADCAST: roles = {others, others, {MASK_W{1'b0}}, route};", "BROADCAST: roles = {others, others, in_mask, route};"}},
		},
	}
}

func checkPipe() Block {
	const m = "inc_check_pipe"
	return Block{
		Name: "check_pipe", Mode: 3, InBand: true, Keep: []string{"u_steps", "u_check", "u_answer", "u_work"},
		Texts: map[string]string{m: "check_pipe", core: "around_check_pipe"},
		Changes: []Change{
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * HEAD_W), .ADDR_W(GRP_W))", "u_heads", "f_g", "f_heads_now"),
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * HEAD_W), .ADDR_W(GRP_W))", "u_settle", "f_g", "f_settle_now"),
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SLOT_W + 1), .ADDR_W(GRP_W))", "u_sizes", "f_g", "f_size_now"),
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(2 * TAIL_W), .ADDR_W(GRP_W))", "u_tails", "f_g", "f_tails_now"),
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(48), .ADDR_W(GRP_W))", "u_sents", "f_g", "f_sents_now"),
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(CTX_W), .ADDR_W(GRP_W))", "u_contexts", "f_g", "f_ctx_now"),
		},
		Cut: []string{"*inc_send_ack*/c:u_endpoints"},
		Properties: []Property{
			{Isolation, "a group's pipes change by its own frames, actions and starts alone, which see and leave them as they are; what is sent is of its own group", 14,
				Change{m, "wire follows_grp  = b_valid ? b_group == a_group :", "wire follows_grp  = b_valid ? 1'b1 :"}},
			{Dropped, "a frame that is damaged or of a dead group changes nothing; one that is dropped writes nothing, and sends the NAK of a gap or the answer of a full pipe at most", 0,
				Change{m, "assign tails_we = good && c_tails;", "assign tails_we = decided && c_tails;"}},
			{Wedge, "a frame is done, and an action, within 40 cycles in which the verdict is there and whatever it needs has room or is ready", 50,
				Change{m, "wire turn_next = !c_done && (x_acts || turn_reg);", "wire turn_next = 1'b0;"}},
			{Overflow, "decisions find room; a work is put when none is held, and has one verdict before the next; ReceiveACK and Retransmission are used as they ask for", 0,
				Change{m, "&& !(has_work && work_held);", ";"}},
			{Range, "slots are the group's own, of the pipe that a frame or action belongs to; a contribution is of one endpoint and noted", 18,
				Change{m, "wire [HEAD_W-1:0] head_on    = {d2_start, d_bias}", "wire [HEAD_W-1:0] head_on    = {d2_start, bias_past}"}},
		},
	}
}

func retransmission() Block {
	const m = "inc_retransmission"
	return Block{
		Name: "retransmission", Mode: 3, Keep: []string{"u_repeat"}, Texts: map[string]string{m: "retransmission"},
		Changes: []Change{
			watch(m, "inc_ram_1r1w #(.WORDS(1 << GRP_W), .BITS(SIDE_W), .ADDR_W(GRP_W))", "u_sides", "f_g", "f_side_kept"),
			watch(m, "inc_ram_1r1w #(.WORDS(1 << EI_W), .BITS(51), .ADDR_W(EI_W))", "u_senders", "f_i", "f_own_kept"),
		},
		Cut: []string{"*inc_retransmission*/c:u_queue", "*inc_retransmission*/c:u_walk"},
		Properties: []Property{
			{Isolation, "who lags, waits or has failed in a group, and what an endpoint gets next, change by frames and starts of that group alone, and are what its frames are shown", 0,
				Change{m, "side_fresh <= (side_we && group == look_group)", "side_fresh <= side_we"}},
			{Dropped, "without a commit or a start nothing changes and nobody joins the queue", 0,
				Change{m, "assign own_we  = cm_we && (one_endpoint", "assign own_we  = (cm_we || cm_ack) && (one_endpoint"}},
			{Wedge, "an action that act_soon announces is there in four cycles; a start is clean in so many cycles in which no action waits", 0,
				Change{m, "head_reg != tail_reg && (!shown_reg || takes_first)", "head_reg != tail_reg && takes_first"}},
			{Overflow, "nobody joins the queue who stands in it, and who lags, neither waits nor has failed, does stand in it", 24,
				Change{m, "one_endpoint && own_wants && !own_there", "one_endpoint && own_wants"}},
			{Range, "the walk stays among the endpoints that there are; no timer runs of who waits or has failed, and who does lags", 0,
				Change{m, "wire ack_on    = !held_reg &&", "wire ack_on    = !waits_reg &&"}},
		},
	}
}
