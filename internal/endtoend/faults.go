// SPDX-License-Identifier: Apache-2.0

// Package endtoend tests generator, Verilog, simulator and harness together: what is generated from presets and from shapes drawn
// at random passes its scenarios and cases of chaos, captures replay, the netlist behaves like its source, and faults planted in the Verilog are
// caught. The last is the measure of the harness: a fault that goes unnoticed is a hole in the scenarios.
package endtoend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Fault is a change to one generated file.
type Fault struct {
	// Name says what goes wrong, in the words of the protocol.
	Name string
	// File is relative to the generated folder; %s in it is the configuration's name.
	File string
	// Old stands exactly once in the file, New replaces it.
	Old, New string
	// Rare faults are planted only by the long form of the test.
	Rare bool
	// Sets are parameters, as KEY=VALUE, that the configuration needs for the fault to be there at all.
	Sets []string
}

// Every is what makes mini an engine of all element types and operations.
func Every() []string {
	return []string{"dtypes=[FP32, FP16, BF16, INT32]", "ops=[SUM, MIN, MAX]", "buffer_bytes=32768", "adder_stages=3"}
}

// Reproducible is Every with sums that do not depend on the order of arrival, and an odd number of members.
func Reproducible() []string {
	return append(Every(), "accumulate=reproducible", "members=5", "ports=5", "buffer_bytes=49152", "lanes=4")
}

// Protected is Every with a payload memory that corrects errors.
func Protected() []string { return append(Every(), "ecc=true") }

// Plant changes the file below dir, the generated folder of the configuration of that name.
func (f Fault) Plant(dir, config string) error {
	file := f.File
	if strings.Contains(file, "%s") {
		file = fmt.Sprintf(file, config)
	}
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("plant %q: %w", f.Name, err)
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		return fmt.Errorf("plant %q: %s holds the text to replace %d times, must be once: %s", f.Name, file, n, f.Old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), f.Old, f.New, 1)), 0o644); err != nil {
		return fmt.Errorf("plant %q: %w", f.Name, err)
	}
	return nil
}

// Faults are those that protocol.md and epic-facts.md warn of, and those that such designs are known to have had.
func Faults() []Fault {
	const (
		check     = "rtl/inc_check_duplicate.v"
		recycle   = "rtl/inc_recycle_buffer.v"
		aggregate = "rtl/inc_aggregate_data.v"
		lanes     = "rtl/inc_lanes.v"
		lane      = "rtl/inc_lane.v"
		take      = "rtl/inc_take_row.v"
		emit      = "rtl/inc_emit_word.v"
		widen     = "rtl/inc_widen.v"
		narrow    = "rtl/inc_narrow.v"
		tree      = "rtl/inc_reduce_tree.v"
		memory    = "rtl/inc_payload_memory.v"
		replicate = "rtl/inc_replicate_data.v"
		translate = "rtl/inc_translate_header.v"
		join      = "rtl/inc_assemble.v"
		insert    = "rtl/inc_icrc_insert.v"
		icrc      = "rtl/inc_icrc_check.v"
		lookup    = "rtl/inc_lookup_table.v"
		parse     = "rtl/inc_parser.v"
		forward   = "rtl/inc_forward.v"
		skid      = "rtl/inc_skid.v"
		arbiter   = "rtl/inc_port_arbiter.v"
		demux     = "rtl/inc_port_demux.v"
		csr       = "rtl/inc_csr.v"
		acks      = "rtl/inc_receive_ack.v"
		ranges    = "rtl/inc_control.v"
	)
	return []Fault{
		// slots (A1–A4, A18)
		{"a child's bit survives recycling (A1)", check,
			"mask_next = first ? self : slot_mask | self;",
			"mask_next = first ? self | (slot_mask & {{(MASK_W-1){1'b0}}, 1'b1}) : slot_mask | self;", false, nil},
		{"recycling on every arrival (A2)", check,
			"wire        has_it    = completes || takes;", "wire        has_it    = accept || takes;", false, nil},
		{"recycling on a retransmission (A3)", check,
			"assign wr_en       = apply && (accept || takes);", "assign wr_en       = apply && (accept || takes || resend);", true, nil},
		{"never recycled", check,
			"assign done_we   = (apply && has_it) ||", "assign done_we   = (apply && takes) ||", true, nil},
		{"a recycled slot keeps its shape", check,
			"wire         use_ent   = first;", "wire         use_ent   = slot_mask == NOBODY;", true, nil},
		{"a window begins behind the slots that complete", check,
			"beyond[23] || beyond <= half;", "beyond[23] || beyond < half;", true, nil},
		{"no slot tag (A4)", check,
			"wire tag_ok    = slot_tag == psn;", "wire tag_ok    = 1'b1;", false, nil},
		{"PSN compared without wrap (A18)", check,
			"wire behind    = distance[23];", "wire behind    = ent_psn < ep_epsn;", true, nil},
		{"a retransmission of an incomplete slot is resent", check,
			"up && behind && tag_ok && slot_complete;", "up && behind && tag_ok;", true, nil},
		{"a duplicate is added again", check,
			"assign ep_epsn_next     = accept || moves ?", "assign ep_epsn_next     = (accept && full) || moves ?", true, nil},
		{"a slot's shape is not kept", check,
			"assign tx_opcode = (accept ? new_opcode : resend ? slot_opcode :", "assign tx_opcode = (accept || resend ? 8'h04 :", true, nil},
		{"shapes are not compared", check,
			"accept    = up && in_order && window_ok && (first || same);", "accept    = up && in_order && window_ok && (first || same || 1'b1);", true, nil},
		// answers (A5, A11)
		{"NAK reflected as ACK (A11)", check,
			"is_ack && spreads ? up_ext : ent_ext;", "is_ack && spreads ? up_ext : is_ack ? {8'h1F, ent_ext[23:0]} : ent_ext;", false, nil},
		{"the gap NAK names the expected PSN (A5)", check,
			"assign tx_psn    = gap_nak ? gap_psn :", "assign tx_psn    = gap_nak ? ep_epsn :", true, nil},
		{"a NAK counts as an ACK of its own PSN", check,
			"syn_ack ? psn : psn - 24'd1;", "psn;", true, nil},
		{"a gap is answered every time", check,
			"accept || moves ? 1'b0 : nak ? 1'b1 : ep_nak_sent;", "1'b0;", true, nil},
		{"the MSN counts packets", check,
			"wire ends     = ent_opcode >= 8'h02;", "wire ends     = 1'b1 || ent_opcode >= 8'h02;", true, nil},
		// Reduce and Broadcast (A9, A10, A12, A20)
		{"an ACK of a Broadcast goes up only when the minimum rises (A9)", check,
			"wire        answers_up = rose || covered || !syn_ack;", "wire        answers_up = rose || !syn_ack;", false, nil},
		{"a NAK of a Broadcast goes up with its own number (A10)", check,
			"up_ack ? least_reg : least_reg + 24'd1;", "up_ack ? least_reg : psn;", true, nil},
		{"an old NAK of a Broadcast goes up as one of what follows", check,
			"wire        up_ack   = syn_ack || covered;", "wire        up_ack   = syn_ack;", true, nil},
		{"a cumulative ACK counts as one of its PSN alone (A12)", acks,
			"wire        rises     = !step[23];", "wire        rises     = step == 24'd1;", true, nil},
		{"the minimum leaves the last endpoint out", acks,
			"{ack_mask[n] && !ack_self[n], N, word", "{ack_mask[n] && !ack_self[n] && n != MASK_W - 2, N, word", true, nil},
		{"an ACK of a Reduce is reflected", check,
			"answer_mask = reduces ? in_mask : spreads", "answer_mask = reduces ? self : spreads", true, nil},
		{"a Broadcast takes data from a child", lookup,
			"|(one_hot & grp_in_mask) && !spreads;", "|(one_hot & grp_in_mask);", true, nil},
		{"a Reduce takes data from its parent", lookup,
			"wire down    = !up && !reduces &&", "wire down    = !up &&", true, nil},
		// in-band groups
		{"an ACK of no range creates state (A20)", check,
			"wire stale_ack   = is_ack && !in_range;", "wire stale_ack   = is_ack && !in_range && 1'b0;", false, nil},
		{"an ACK empties the slot of its PSN (A20)", check,
			"assign wr_en       = apply && (accept || takes);", "assign wr_en       = apply && (accept || takes || is_ack);", true, nil},
		{"a control that contradicts its range is taken", check,
			"wire contradicts = ranged &&", "wire contradicts = 1'b0 && ranged &&", true, nil},
		{"a control of a type that there is not opens a range", ranges, "HAS_DTYPE[ent_ext[26:25]] &&", "", true, nil},
		{"the offset of the range before is used", check, "assign tx_rng    = map_rng;", "assign tx_rng    = map_rng - 2'd1;", true, nil},
		{"an answer goes out with the offset of what the endpoint hears", check,
			"assign tx_dir    = nak || reack || is_ack;", "assign tx_dir    = nak || reack;", true, nil},
		{"data of the range before that all have is sent again", check,
			"wire        reack       = late_data && all_have;", "wire        reack       = 1'b0 && late_data && all_have;", true, nil},
		{"data behind its range is taken", ranges, "cur_rel <= {4'd0, cur_imm[19:0]};", "cur_rel <= {4'd0, cur_imm[19:0]} + 24'd2;", true, nil},
		{"what was complete before a range does not count when it opens", check,
			"(apply && has_it) || (decided && opened_reg);", "(apply && has_it);", true, nil},
		{"a lost control is not asked for", check,
			"wire base_nak  = astray && asks_nak && ep_epsn == map_base;", "wire base_nak  = 1'b0 && astray && asks_nak && ep_epsn == map_base;", true, nil},
		{"a NAK of a range's first PSN acknowledges the range before", check,
			"wire   speaks    = !ranged || syn_ack || psn != map_begin;", "wire   speaks    = !ranged || syn_ack || psn == psn;", true, nil},
		{"a range's type is the group's", check, "wire [1:0]        dtype       = ranged ? map_dtype : ent_dtype;",
			"wire [1:0]        dtype       = ranged && map_dtype == 2'd0 ? map_dtype : ent_dtype;", true, Every()},
		// commit
		{"a wrong ICRC is accepted", icrc,
			"assign icrc_ok      = state_reg == expected;", "assign icrc_ok      = state_reg[30:0] == expected[30:0] || 1'b1;", true, nil},
		{"a killed work leaves its last word", aggregate,
			"wire [DEPTH-1:0] v_kept    = v_reg & ~({DEPTH{op_kill}} & spec_reg);",
			"wire [DEPTH-1:0] v_kept    = v_reg & ~({DEPTH{op_kill && 1'b0}} & spec_reg);", true, nil},
		{"the sum under way is not taken", aggregate,
			"wire x_take_sum = same[DEPTH-1];", "wire x_take_sum = same[DEPTH-1] && 1'b0;", false, nil},
		{"a row is read in the cycle in which it is written", aggregate,
			"wire g_late  = g_read && s_go", "wire g_late  = 1'b0 && g_read && s_go", true, nil},
		{"CE of a contribution is forgotten", check,
			"use_ent ? ent_ce : slot_ce || ent_ce;", "use_ent ? ent_ce : slot_ce;", true, nil},
		// arithmetic
		{"the last lane's carry is cut", lanes,
			".b(b[32*i +: 32])", ".b(i == LANES - 1 ? b[32*i +: 32] & 32'hFFFF0FFF : b[32*i +: 32])", false, nil},
		{"big-endian elements are added as they lie", take,
			"assign full_host[32*i +: 32] = big_endian ?", "assign full_host[32*i +: 32] = big_endian && 1'b0 ?", true, nil},
		{"an adder's result is used before it is there", aggregate,
			"assign x_wait = x_read && same", "assign x_wait = 1'b0 && x_read && same", true, Every()},
		{"a tie is rounded up", lane,
			"wire        up        = round_r && (sticky_r || frac_r[0]);", "wire        up        = round_r && (sticky_r || frac_r[0] || 1'b1);", true, Every()},
		{"what falls out below does not count", lane,
			"align16, lost && !pass_b};", "align16, lost && !pass_b && 1'b0};", true, Every()},
		{"a NaN does not make a NaN", lane,
			"exp_s | {8{nan_s}}, norm[27], norm[26] || nan_s,", "exp_s | {8{nan_s}}, norm[27], norm[26],", true, Every()},
		{"infinity less infinity is infinity", lane,
			"|| (sub_a && a_ones && b_ones));", "|| (sub_a && a_ones && b_ones && 1'b0));", true, Every()},
		{"x less x is minus zero", lane,
			"wire       sign_l  = sign_c && !nan_l && !(sub_l && sum_l == 28'd0);", "wire       sign_l  = sign_c && !nan_l && !(sub_l && sum_l == 28'd1);", true, Every()},
		{"the top lanes are swapped", lanes, ".y(y[32*i +: 32])", ".y(y[32*(LANES > 1 && i >= LANES-2 ? 2*LANES-3-i : i) +: 32])", true, Every()},
		{"rounding is to odd", lane,
			"wire [30:0] magnitude = {exp_r & {8{top_r || keep_r}}, frac_r} + {30'd0, up};",
			"wire [30:0] magnitude = {exp_r & {8{top_r || keep_r}}, frac_r} | {30'd0, up || round_r || sticky_r};", true, Every()},
		{"a subnormal operand counts as zero", lane,
			"wire [31:0] small_a = swap ? a : b;", "wire [31:0] small_a = int_op || (swap ? a_norm : b_norm) ? (swap ? a : b) : 32'd0;", true, Every()},
		{"-0 and -0 make +0", lane,
			"wire       sign_l  = sign_c && !nan_l && !(sub_l && sum_l == 28'd0);", "wire       sign_l  = sign_c && !nan_l && sum_l != 28'd0;", true, Every()},
		{"MIN does not tell -0 from +0", lane,
			"wire settled = !sum_op && differ;", "wire settled = !sum_op && differ && (|a[30:0] || |b[30:0]);", true, Every()},
		{"MIN and MAX confused", lane, "assign max_op = op[1];", "assign max_op = !op[1];", true, Every()},
		{"INT32 MIN compares as floats do", lane,
			"wire flip    = !sum_op && !((a[31] && !int_op) ^ max_op);", "wire flip    = !sum_op && !(a[31] ^ max_op);", true, Every()},
		{"negative floats are compared as integers are", lane,
			"wire flip    = !sum_op && !((a[31] && !int_op) ^ max_op);", "wire flip    = !sum_op && !max_op;", true, Every()},
		{"FP16 ties are rounded up", narrow,
			"wire        h_up  = !big && moved[12] && (moved[13] || |moved[11:0] || lost);", "wire        h_up  = !big && moved[12];", true, Every()},
		{"BF16 is cut off", narrow, "wire        b_up  = !nan && w[15]", "wire        b_up  = 1'b0 && !nan && w[15]", true, Every()},
		{"a NaN loses its payload on the way out", narrow,
			"nan ? {w[22] || w[21:13] == 9'd0, w[21:13]} : 10'd0", "nan ? 10'h200 : 10'd0", true, Every()},
		{"FP16 subnormals are twice as large", widen, "wire [7:0] exp_sub    = 8'd112", "wire [7:0] exp_sub    = 8'd113", true, Every()},
		{"16-bit elements lie the wrong way round", take,
			"assign half_host[16*i +: 16] = big_endian ?", "assign half_host[16*i +: 16] = big_endian && 1'b0 ?", true, Every()},
		{"16-bit elements leave the wrong way round", emit,
			"assign half_wire[16*i +: 16] = row_big_endian ?", "assign half_wire[16*i +: 16] = row_big_endian && 1'b0 ?", true, Every()},
		{"slots of 16-bit types overlap", check,
			"(wide ? {index, 1'b0} : {1'b0, index});", "(wide && 1'b0 ? {index, 1'b0} : {1'b0, index});", true, Every()},
		{"a type that there is not is enabled", recycle, "HAS_DTYPE[cfg_collective[6:5]]", "(HAS_DTYPE[cfg_collective[6:5]] || 1'b1)", true, nil},
		{"an operation that there is not is enabled", recycle, "HAS_OP[cfg_collective[4:3]]", "(HAS_OP[cfg_collective[4:3]] || 1'b1)", true, nil},
		{"16-bit groups run over the end of the buffer", recycle,
			"(cfg_in_band && HALVES) || cfg_collective[6] != cfg_collective[5];", "cfg_in_band && HALVES;", true, Every()},
		{"in-band groups of a 32-bit type run over the end of the buffer", recycle,
			"(cfg_in_band && HALVES) || cfg_collective[6] != cfg_collective[5];", "cfg_collective[6] != cfg_collective[5];", true, Every()},
		{"a Reduce needs no parent", recycle, "&& (cfg_parent[8] || !cfg_needs_parent)", "", true, nil},
		// reproducible sums
		{"the tree adds an absent sibling as zero", tree, "wire             joins   = left_here && right_here;", "wire             joins   = left_here || right_here;", true, Reproducible()},
		{"the tree takes a pair that nobody wrote", check, "assign op_pairs[e] = |mask_sent[2*e +: 2];", "assign op_pairs[e] = 1'b1 || (|mask_sent[2*e +: 2]);", true, Reproducible()},
		{"the tree joins other pairs first", check, "assign op_pair = ent_ei[1 +: PAIR_W];", "assign op_pair = {ent_ei[1], ent_ei[2]};", true, Reproducible()},
		{"the sibling's contribution is overwritten", check,
			"accept && !first && (slot_mask & sibling) != NOBODY :", "accept && !first && (slot_mask & sibling & NOBODY) != NOBODY :", false, Reproducible()},
		// errors of the payload memory
		{"a frame with a poisoned word leaves as good", insert, "wire [31:0]        crc = tail_crc ^ {32{c_bad}};", "wire [31:0]        crc = tail_crc ^ {32{c_bad && 1'b0}};", true, Protected()},
		{"poison is not written back", aggregate, ".wpoison     (bad_reg[DEPTH-1]),\n        .re          (mem_lower_re),", ".wpoison     (bad_reg[DEPTH-1] && 1'b0),\n        .re          (mem_lower_re),", true, Protected()},
		{"corrections are not counted", memory, "assign r_corrected = corrected != {WORDS{1'b0}};", "assign r_corrected = 1'b0 && corrected != {WORDS{1'b0}};", true, Protected()},
		// frames out
		{"the ICRC is not recomputed", insert,
			"assign placed[8*b +: 8] = crc[8*BYTE +: 8] &", "assign placed[8*b +: 8] = crc[8*BYTE +: 8] & 8'h00 &", false, nil},
		{"the IP checksum's last carry is lost", translate,
			"~(fold[15:0] + {15'd0, fold[16]});", "~(fold[15:0] + {16{fold[16] && 1'b0}});", true, nil},
		{"the IP checksum's carries are lost", translate,
			"{1'b0, sum[15:0]} + {13'd0, sum[19:16]};", "{1'b0, sum[15:0]} + ({13'd0, sum[19:16]} & 17'd0);", true, nil},
		{"tkeep is full on the last beat", join,
			"assign keep[b]        = rest_blocks[b/FINE+1] ||", "assign keep[b]        = b > 3 || rest_blocks[b/FINE+1] ||", false, nil},
		{"bytes behind the payload are not zeroed", join,
			"wire in_payload = pay_blocks[b/FINE+1] ||", "wire in_payload = needs || pay_blocks[b/FINE+1] ||", true, nil},
		{"a frame is not padded to 60 bytes", translate,
			"unpadded < 16'd60 ? 16'd60 : unpadded;", "unpadded;", true, nil},
		{"AckReq is not set", translate,
			"is_data, 7'd0, wire_psn,", "is_data && 1'b0, 7'd0, wire_psn,", true, nil},
		{"the last endpoint gets no copy", replicate,
			"wire [MASK_W-1:0] rest    = mask & (mask - {{(MASK_W-1){1'b0}}, 1'b1});",
			"wire [MASK_W-1:0] rest    = mask & (mask - {{(MASK_W-1){1'b0}}, 1'b1}) & {1'b0, {(MASK_W-2){1'b1}}, 1'b0} & ~({{(MASK_W-1){1'b0}}, 1'b1} << (MASK_W - 2));", true, nil},
		// streams
		{"two ACKs on different ports are merged", arbiter,
			"assign ready[p] = m_axis_tready && at[p];", "assign ready[p] = m_axis_tready && (at[p] || !busy_reg);", true, nil},
		{"a beat is lost under back-pressure", skid,
			"ready_reg <= m_ready || !m_valid;", "ready_reg <= 1'b1;", false, nil},
		{"a busy port's frame is sent to another", demux,
			"assign s_axis_tready = (to & ~ready) == {PORTS{1'b0}};", "assign s_axis_tready = (to & ready) != {PORTS{1'b0}} || !s_axis_tlast;", true, nil},
		{"bypassed frames starve", forward,
			"(byp_valid && (!eng_valid || !owner_reg));", "(byp_valid && !eng_valid);", true, nil},
		{"err is lost on a bypassed frame", forward,
			"{beat_last && beat_err, way_port,", "{beat_last && beat_err && 1'b0, way_port,", true, nil},
		{"a bypassed frame waits for room that only frames behind it can make", parse,
			"wire skip      = skip_reg ||", "wire skip      = 1'b0 && skip_reg &&", true, nil},
		// classification
		{"a foreign source is taken", lookup,
			"wire foreign = q_src_ip != ep_remote_ip ||", "wire foreign = (q_src_ip != ep_remote_ip && 1'b0) ||", true, nil},
		{"a fragment is taken", parse,
			"f_fragment[13:0] == 14'd0", "f_fragment[12:0] == 13'd0", true, nil},
		{"a payload over the MTU is taken", parse,
			"hdr_too_long <= is_send && long_pay;", "hdr_too_long <= is_send && long_pay && 1'b0;", true, nil},
		{"ACKs of a switch are taken", lookup,
			"wire ackable = (ep_ctrl[1] || reduces || spreads) &&", "wire ackable = (ep_ctrl[1] || 1'b1) &&", true, nil},
		// control
		{"a counter starts at one", csr,
			"counter_reg[32*c +: 32] <= 32'd0;", "counter_reg[32*c +: 32] <= c == 3 ? 32'd1 : 32'd0;", true, nil},
		{"a counter misses one in two", csr,
			"end else if (step_reg[c]) begin", "end else if (step_reg[c] && (c != 6 || counter_reg[32*c])) begin", true, nil},
		{"a control register is not reset", csr,
			"gap_nak_reg        <= 1'b1;\n", "", false, nil},
		{"the state machine is not reset", check,
			"            state_reg  <= S_HEAD;\n            sent_reg   <= 1'b0;\n            opened_reg <= 1'b0;\n            start_reg", "            start_reg", true, nil},
		{"a group restarts with old slots", recycle,
			"{{(WORD_W-24){1'b0}}, walk_tag}", "{word_out[WORD_W-1:24], walk_tag}", true, nil},
		{"starting a group stops its neighbour", recycle,
			"started_reg <= started_reg & ~grp_start;", "started_reg <= started_reg & {GROUPS{grp_start == {GROUPS{1'b0}}}};", true, nil},
	}
}
