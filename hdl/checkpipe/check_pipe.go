// SPDX-License-Identifier: Apache-2.0

package checkpipe

import (
	"fmt"

	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/rtlgen/graph"
)

// CheckPipe is inc_check_pipe: decides what every frame does in Mode III. Its contract is the head of inc_check_pipe.v.
type CheckPipe struct {
	// LenW: bits of a payload length.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// Bytes: bytes of a word, a power of two.
	Bytes int
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// SlotW: bits of a slot's number, 1 to 22.
	SlotW int
	// Planes: payloads a slot unit holds: 1, or the pairs of endpoints.
	Planes int
	// Tree: 1 if contributions are kept by pairs and reduced when the slot is complete, else 0.
	Tree int
	// Halves: 1 if there are element types of 16 bits, else 0.
	Halves int
	// Groups: number of groups; at most 2**(EIW-EPW).
	Groups int
	// PktW: bits of a word's address in the packet buffer.
	PktW int
	// ICRC: 1 if a wrong ICRC drops the frame, else 0.
	ICRC int
	// InBand: 1 if there are in-band groups, else 0.
	InBand int
	// PipeWord: number of the word of a group on tbl_* that is GROUP_PIPE, 0 to 15.
	PipeWord int
	// Counters: number of counters, 52.
	Counters int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p CheckPipe) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_check_pipe")
	rules.Refuse(p.Counters != 52, "COUNTERS must be 52")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W")
	rules.Refuse(p.Tree < 0 || p.Tree > 1 || p.Halves < 0 || p.Halves > 1 || p.InBand < 0 || p.InBand > 1, "TREE, HALVES and IN_BAND must be 0 or 1")
	rules.Refuse(p.Planes < 1 || p.Tree == 0 && p.Planes != 1 || p.Tree == 1 && (2*p.Planes+1 < p.MaskW || p.Planes > 1 && 2*p.Planes > p.MaskW+1),
		"PLANES must be 1 in place, pairs for all endpoints but the last in a tree, PAIR_W hold them")
	rules.Refuse(p.SlotW < 1 || p.SlotW > 22, "SLOT_W must be 1 to 22")
	rules.Refuse(1<<leaf.Clog2(p.Bytes) != p.Bytes || p.LenW < leaf.Clog2(p.Bytes), "BYTES must be a power of two of at most LEN_W bits")
	rules.Refuse(p.PipeWord < 0 || p.PipeWord > 15, "PIPE_WORD must be 0 to 15")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_check_pipe")
	if err != nil {
		return nil, err
	}
	pairW, groupBits := leaf.IndexBits(p.Planes), max(p.EIW-p.EPW, 1)
	groups := leaf.Pow2(groupBits)
	memory, err := ram.RAM{Words: groups, Bits: p.SlotW, AddrW: groupBits}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_pipe: %w", err)
	}
	return &graph.Module{
		Name: "inc_check_pipe", Block: "CheckPipe", Source: source, Latency: "3 cycles a frame or action, in-band 4",
		Purpose: "decides what every frame does, takes the engine's own actions, keeps the pipes",
		Params: []graph.Param{
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "BYTES", Value: p.Bytes},
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "SLOT_W", Value: p.SlotW},
			{Name: "PLANES", Value: p.Planes},
			{Name: "PAIR_W", Value: pairW},
			{Name: "TREE", Value: p.Tree},
			{Name: "HALVES", Value: p.Halves},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "PKT_W", Value: p.PktW},
			{Name: "ICRC", Value: p.ICRC},
			{Name: "IN_BAND", Value: p.InBand},
			{Name: "PIPE_WORD", Value: p.PipeWord},
			{Name: "COUNTERS", Value: p.Counters},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("grp_live", p.Groups),
			leaf.In("tbl_grp_we", 1),
			leaf.In("tbl_index", p.EIW),
			leaf.In("tbl_word", 4),
			leaf.In("tbl_data", 32),
			leaf.In("ent_valid", 1),
			leaf.Out("ent_pop", 1),
			leaf.In("ent_bypass", 1),
			leaf.In("ent_foreign", 1),
			leaf.In("ent_ei", p.EIW),
			leaf.In("ent_host", 1),
			leaf.In("ent_up", 1),
			leaf.In("ent_down", 1),
			leaf.In("ent_ackable", 1),
			leaf.In("ent_sum_ok", 1),
			leaf.In("ent_len_ok", 1),
			leaf.In("ent_tver_ok", 1),
			leaf.In("ent_too_long", 1),
			leaf.In("ent_whole", 1),
			leaf.In("ent_empty", 1),
			leaf.In("ent_opcode", 8),
			leaf.In("ent_se", 1),
			leaf.In("ent_pad", 2),
			leaf.In("ent_ce", 1),
			leaf.In("ent_psn", 24),
			leaf.In("ent_ext", 32),
			leaf.In("ent_plen", p.LenW),
			leaf.In("ent_words", p.WordsW),
			leaf.In("ent_base", p.SlotW),
			leaf.In("ent_log2_n", 5),
			leaf.In("ent_in_mask", p.MaskW),
			leaf.In("ent_out_mask", p.MaskW),
			leaf.In("ent_ack_mask", p.MaskW),
			leaf.In("ent_parent_mask", p.MaskW),
			leaf.In("ent_collective", 3),
			leaf.In("ent_function", 2),
			leaf.In("ent_dtype", 2),
			leaf.In("ent_big_endian", 1),
			leaf.In("ent_in_band", 1),
			leaf.Out("ctl_rd", 1),
			leaf.Out("ctl_open", 1),
			leaf.In("ctl_busy", 1),
			leaf.In("map_current", 1),
			leaf.In("map_previous", 1),
			leaf.In("map_opens", 1),
			leaf.In("map_opens_up", 1),
			leaf.In("map_bad_control", 1),
			leaf.In("map_wrong_role", 1),
			leaf.In("map_contradicts", 1),
			leaf.In("map_base", 24),
			leaf.In("map_psn", 24),
			leaf.In("map_rng", 2),
			leaf.In("map_begin", 24),
			leaf.In("map_end", 24),
			leaf.In("map_up", 1),
			leaf.In("map_down", 1),
			leaf.In("map_ackable_any", 1),
			leaf.In("map_needs_host", 1),
			leaf.In("map_collective", 3),
			leaf.In("map_function", 2),
			leaf.In("map_dtype", 2),
			leaf.In("map_in_mask", p.MaskW),
			leaf.In("map_out_mask", p.MaskW),
			leaf.In("map_ack_mask", p.MaskW),
			leaf.In("map_parent_mask", p.MaskW),
			leaf.Out("ack_rd", 1),
			leaf.Out("ack_group", groupBits),
			leaf.Out("ack_self", p.MaskW),
			leaf.Out("ack_mask", p.MaskW),
			leaf.Out("ack_pick", p.MaskW),
			leaf.In("ack_ready", 1),
			leaf.In("ack_picked", 24),
			leaf.In("ack_picked_msn", 24),
			leaf.In("ack_rest", 24),
			leaf.In("ack_rest_msn", 24),
			leaf.In("ack_rest_any", 1),
			leaf.In("ack_rest_ep", p.EPW),
			leaf.In("ack_own", 24),
			leaf.In("ack_own_msn", 24),
			leaf.Out("ack_we", 1),
			leaf.Out("ack_lift", 1),
			leaf.Out("ack_psn", 24),
			leaf.Out("ack_msn", 24),
			leaf.In("vrd_valid", 1),
			leaf.Out("vrd_pop", 1),
			leaf.In("vrd_err", 1),
			leaf.In("vrd_len_ok", 1),
			leaf.In("vrd_icrc_ok", 1),
			leaf.In("vrd_end", p.PktW),
			leaf.Out("rd_en", 1),
			leaf.Out("rd_slot", p.SlotW),
			leaf.In("slot_tag", 24),
			leaf.In("slot_mask", p.MaskW),
			leaf.In("slot_complete", 1),
			leaf.In("slot_opcode", 8),
			leaf.In("slot_plen", p.LenW),
			leaf.In("slot_pad", 2),
			leaf.In("slot_se", 1),
			leaf.In("slot_ext", 32),
			leaf.In("slot_ce", 1),
			leaf.Out("wr_en", 1),
			leaf.Out("wr_slot", p.SlotW),
			leaf.Out("wr_tag", 24),
			leaf.Out("wr_mask", p.MaskW),
			leaf.Out("wr_complete", 1),
			leaf.Out("wr_opcode", 8),
			leaf.Out("wr_plen", p.LenW),
			leaf.Out("wr_pad", 2),
			leaf.Out("wr_se", 1),
			leaf.Out("wr_ext", 32),
			leaf.Out("wr_ce", 1),
			leaf.In("init_valid", 1),
			leaf.Out("init_take", 1),
			leaf.In("init_clean", 1),
			leaf.In("init_ei", p.EIW),
			leaf.In("init_psn", 24),
			leaf.Out("rcv_rd", 1),
			leaf.Out("rcv_ei", p.EIW),
			leaf.Out("rcv_psn", 24),
			leaf.Out("rcv_ends", 1),
			leaf.Out("rcv_host", 1),
			leaf.In("rcv_behind", 1),
			leaf.In("rcv_ahead", 1),
			leaf.Out("rcv_duplicate", 1),
			leaf.Out("rcv_gap", 1),
			leaf.Out("rcv_full", 1),
			leaf.Out("rcv_accept", 1),
			leaf.Out("rcv_we", 1),
			leaf.In("ans_ack", 1),
			leaf.In("ans_nak", 1),
			leaf.In("ans_rnr", 1),
			leaf.In("ans_cnp", 1),
			leaf.In("ans_psn", 24),
			leaf.In("ans_syndrome", 8),
			leaf.In("ans_msn", 24),
			leaf.Out("rt_rd", 1),
			leaf.Out("rt_ei", p.EIW),
			leaf.Out("rt_self", p.MaskW),
			leaf.Out("rt_out", p.MaskW),
			leaf.Out("rt_pipe", 1),
			leaf.Out("rt_sent", 24),
			leaf.Out("rt_acked", 24),
			leaf.Out("rt_psn", 24),
			leaf.Out("rt_is_ack", 1),
			leaf.Out("rt_is_nak", 1),
			leaf.Out("rt_is_rnr", 1),
			leaf.Out("rt_code", 5),
			leaf.In("rt_keep", p.MaskW),
			leaf.In("rt_one_psn", 24),
			leaf.In("rt_stale", 1),
			leaf.In("rt_progress", 1),
			leaf.In("rt_next", 24),
			leaf.In("rt_one", 1),
			leaf.In("rt_again", 1),
			leaf.In("rt_timeout", 1),
			leaf.In("rt_resume", 1),
			leaf.Out("cm_ack", 1),
			leaf.Out("cm_send", 1),
			leaf.Out("cm_one", 1),
			leaf.Out("cm_timeout", 1),
			leaf.Out("cm_resume", 1),
			leaf.Out("cm_open", 1),
			leaf.Out("cm_drop", 1),
			leaf.Out("cm_data", 1),
			leaf.Out("cm_more", 1),
			leaf.In("act_valid", 1),
			leaf.In("act_timer", 1),
			leaf.In("act_pipe", 1),
			leaf.In("act_ei", p.EIW),
			leaf.Out("act_done", 1),
			leaf.In("op_ready", 1),
			leaf.Out("op_valid", 1),
			leaf.Out("op_spec", 1),
			leaf.Out("op_commit", 1),
			leaf.Out("op_kill", 1),
			leaf.Out("op_start", p.PktW),
			leaf.Out("op_words", p.WordsW),
			leaf.Out("op_slot", p.SlotW),
			leaf.Out("op_pair", pairW),
			leaf.Out("op_read", 1),
			leaf.Out("op_take", 1),
			leaf.Out("op_write", 1),
			leaf.Out("op_emit", 1),
			leaf.Out("op_reduce", 1),
			leaf.Out("op_pairs", p.Planes),
			leaf.Out("op_function", 2),
			leaf.Out("op_dtype", 2),
			leaf.Out("op_big_endian", 1),
			leaf.Out("pkt_start", p.PktW),
			leaf.In("tx_room", 1),
			leaf.Out("tx_valid", 1),
			leaf.Out("tx_kind", 2),
			leaf.Out("tx_ei", p.EIW),
			leaf.Out("tx_mask", p.MaskW),
			leaf.Out("tx_opcode", 8),
			leaf.Out("tx_se", 1),
			leaf.Out("tx_pad", 2),
			leaf.Out("tx_ce", 1),
			leaf.Out("tx_psn", 24),
			leaf.Out("tx_in_band", 1),
			leaf.Out("tx_rng", 2),
			leaf.Out("tx_dir", 1),
			leaf.Out("tx_ext", 32),
			leaf.Out("tx_plen", p.LenW),
			leaf.Out("tx_words", p.WordsW),
			leaf.Out("mon_act_valid", 1),
			leaf.Out("mon_act_kind", 3),
			leaf.Out("mon_act_ei", p.EIW),
			leaf.Out("count", p.Counters),
		},
		Memories: []graph.Memory{
			{Path: "u_pipes", Words: groups, Bits: 2 * (4*24 + p.SlotW + 1), Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_sizes", Words: groups, Bits: p.SlotW, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_contexts", Words: groups, Bits: 35 + 3*p.MaskW + 2*p.SlotW, Role: "state", Module: "inc_ram_1r1w"},
		},
		Submodules: []*graph.Module{memory},
	}, nil
}
