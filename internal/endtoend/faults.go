// SPDX-License-Identifier: Apache-2.0

// Package endtoend tests generator, Verilog, simulator and harness together: what is generated from presets and from shapes drawn
// at random passes its scenarios, captures replay, the netlist behaves like its source, and faults planted in the Verilog are
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
}

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
	)
	return []Fault{
		// slots (A1–A4, A18)
		{"a child's bit survives recycling (A1)", check,
			"assign wr_mask     = recycles ? {MASK_W{1'b0}} : mask_next;",
			"assign wr_mask     = recycles ? {{(MASK_W-1){1'b0}}, 1'b1} : mask_next;", false},
		{"recycling on every arrival (A2)", check,
			"apply && completes ? S_RECYCLE : S_LOOK;", "apply && accept ? S_RECYCLE : S_LOOK;", false},
		{"recycling on a retransmission (A3)", check,
			"apply && completes ? S_RECYCLE : S_LOOK;", "apply && (completes || resend) ? S_RECYCLE : S_LOOK;", false},
		{"never recycled", check,
			"apply && completes ? S_RECYCLE : S_LOOK;", "S_LOOK;", true},
		{"no slot tag (A4)", check,
			"wire tag_ok    = slot_tag == ent_psn;", "wire tag_ok    = 1'b1;", false},
		{"PSN compared without wrap (A18)", check,
			"wire behind    = distance[23];", "wire behind    = ent_psn < ep_epsn;", false},
		{"a retransmission of an incomplete slot is resent", check,
			"up && behind && tag_ok && slot_complete;", "up && behind && tag_ok;", true},
		{"a duplicate is added again", check,
			"assign ep_epsn_next     = accept ? ep_epsn + 24'd1 : ep_epsn;",
			"assign ep_epsn_next     = accept && full ? ep_epsn + 24'd1 : ep_epsn;", true},
		{"a slot's shape is not kept", check,
			"assign tx_opcode = (accept ? new_opcode : resend ? slot_opcode :", "assign tx_opcode = (accept || resend ? 8'h04 :", true},
		{"shapes are not compared", check,
			"accept    = up && in_order && tag_ok && (first || same);", "accept    = up && in_order && tag_ok && (first || same || 1'b1);", true},
		// answers (A5, A11)
		{"NAK reflected as ACK (A11)", check,
			"gap_nak ? {NAK_SEQUENCE, ep_msn} : ent_ext;",
			"gap_nak ? {NAK_SEQUENCE, ep_msn} : is_ack ? {8'h1F, ent_ext[23:0]} : ent_ext;", false},
		{"the gap NAK names the expected PSN (A5)", check,
			"assign tx_psn    = gap_nak ? ep_acked + 24'd1 : ent_psn;",
			"assign tx_psn    = gap_nak ? ep_epsn : ent_psn;", true},
		{"a NAK counts as an ACK of its own PSN", check,
			"wire [23:0] ack_to   = syn_ack ? ent_psn : ent_psn - 24'd1;", "wire [23:0] ack_to   = ent_psn;", true},
		{"a gap is answered every time", check,
			"accept ? 1'b0 : gap_nak ? 1'b1 : ep_nak_sent;", "1'b0;", true},
		{"the MSN counts packets", check,
			"wire ends     = ent_opcode >= 8'h02;", "wire ends     = 1'b1 || ent_opcode >= 8'h02;", true},
		// commit
		{"a wrong ICRC is accepted", icrc,
			"assign icrc_ok      = state_reg == residue;", "assign icrc_ok      = state_reg[30:0] == residue[30:0] || 1'b1;", true},
		{"a killed work leaves its last word", aggregate,
			"if ((d_valid && s_free) ? d_spec : s_spec) begin", "if ((d_valid && s_free) ? d_spec && 1'b0 : s_spec && 1'b0) begin", true},
		{"the read-after-write hazard is not seen", aggregate,
			"wire              g_hazard = g_read &&", "wire              g_hazard = 1'b0 && g_read &&", false},
		{"CE of a contribution is forgotten", check,
			"use_ent ? ent_ce : slot_ce || ent_ce;", "use_ent ? ent_ce : slot_ce;", true},
		// arithmetic
		{"the last lane's carry is cut", lanes,
			"wire [31:0] z = x + y;", "wire [31:0] z = i == LANES - 1 ? {x[31:16] + y[31:16], x[15:0] + y[15:0]} : x + y;", false},
		{"big-endian elements are added as they lie", lanes,
			"assign sum[32*i +: 32] = big_endian ? {z[7:0], z[15:8], z[23:16], z[31:24]} : z;",
			"assign sum[32*i +: 32] = big_endian ? wire_a + wire_b : z;", true},
		// frames out
		{"the ICRC is not recomputed", insert,
			"assign placed[8*b +: 8] = c_left == FIRST ? tail_crc[8*BYTE +: 8] : 8'h00;", "assign placed[8*b +: 8] = c_left == FIRST ? tail_crc[8*BYTE +: 8] & 8'h00 : 8'h00;", false},
		{"the IP checksum's last carry is lost", translate,
			"~(fold[15:0] + {15'd0, fold[16]});", "~(fold[15:0] + {16{fold[16] && 1'b0}});", false},
		{"the IP checksum's carries are lost", translate,
			"{1'b0, sum[15:0]} + {13'd0, sum[19:16]};", "{1'b0, sum[15:0]} + ({13'd0, sum[19:16]} & 17'd0);", true},
		{"tkeep is full on the last beat", join,
			"assign keep[b]        = rest > LANE;", "assign keep[b]        = rest > LANE || b > 3;", false},
		{"bytes behind the payload are not zeroed", join,
			"wire in_payload = !pay[LEFT_W] && pay > PAY;", "wire in_payload = !pay[LEFT_W] || pay > PAY;", true},
		{"a frame is not padded to 60 bytes", translate,
			"unpadded < 16'd60 ? 16'd60 : unpadded;", "unpadded;", true},
		{"AckReq is not set", translate,
			"is_data, 7'd0, q_psn,", "is_data && 1'b0, 7'd0, q_psn,", true},
		{"the last endpoint gets no copy", replicate,
			"wire [MASK_W-1:0] rest    = mask & (mask - {{(MASK_W-1){1'b0}}, 1'b1});",
			"wire [MASK_W-1:0] rest    = mask & (mask - {{(MASK_W-1){1'b0}}, 1'b1}) & {1'b0, {(MASK_W-2){1'b1}}, 1'b0} & ~({{(MASK_W-1){1'b0}}, 1'b1} << (MASK_W - 2));", true},
		// streams
		{"two ACKs on different ports are merged", arbiter,
			"assign ready[p] = m_axis_tready && at[p];", "assign ready[p] = m_axis_tready && (at[p] || !busy_reg);", false},
		{"a beat is lost under back-pressure", skid,
			"ready_reg <= m_ready || !m_valid;", "ready_reg <= 1'b1;", false},
		{"a busy port's frame is sent to another", demux,
			"assign s_axis_tready = (to & ~ready) == {PORTS{1'b0}};", "assign s_axis_tready = (to & ready) != {PORTS{1'b0}} || !s_axis_tlast;", true},
		{"bypassed frames starve", forward,
			"(byp_valid && (!eng_valid || !owner_reg));", "(byp_valid && !eng_valid);", true},
		{"err is lost on a bypassed frame", forward,
			"{beat_last && beat_err, way_port,", "{beat_last && beat_err && 1'b0, way_port,", true},
		{"a bypassed frame waits for room that only frames behind it can make", parse,
			"wire skip      = skip_reg ||", "wire skip      = 1'b0 && skip_reg &&", true},
		// classification
		{"a foreign source is taken", lookup,
			"wire foreign = q_src_ip != ep_remote_ip ||", "wire foreign = (q_src_ip != ep_remote_ip && 1'b0) ||", true},
		{"a fragment is taken", parse,
			"f_fragment[13:0] == 14'd0", "f_fragment[12:0] == 13'd0", true},
		{"a payload over the MTU is taken", parse,
			"hdr_too_long <= is_send && long_pay;", "hdr_too_long <= is_send && long_pay && 1'b0;", true},
		{"ACKs of a switch are taken", lookup,
			"wire ackable = ep_ctrl[1] &&", "wire ackable = (ep_ctrl[1] || 1'b1) &&", true},
		// control
		{"a counter starts at one", csr,
			"counter_reg[32*c +: 32] <= 32'd0;", "counter_reg[32*c +: 32] <= c == 3 ? 32'd1 : 32'd0;", false},
		{"a counter misses one in two", csr,
			"end else if (step_reg[c]) begin", "end else if (step_reg[c] && (c != 6 || counter_reg[32*c])) begin", true},
		{"a control register is not reset", csr,
			"gap_nak_reg        <= 1'b1;\n", "", false},
		{"the state machine is not reset", check,
			"            state_reg <= S_LOOK;\n            sent_reg  <= 1'b0;\n            start_reg", "            start_reg", false},
		{"a group restarts with old tags", recycle,
			"wire [23:0] walk_tag = start_reg + walk_off;", "wire [23:0] walk_tag = slot_tag;", true},
		{"starting a group stops its neighbour", recycle,
			"started_reg <= started_reg & ~grp_start;", "started_reg <= started_reg & {GROUPS{grp_start == {GROUPS{1'b0}}}};", true},
	}
}
