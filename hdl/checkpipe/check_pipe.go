// SPDX-License-Identifier: Apache-2.0

package checkpipe

import (
	"fmt"
	"slices"
	"strings"

	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// CheckPipe is inc_check_pipe: decides what every frame does in Mode III. Its contract is the head of inc_check_pipe.v. SlotW is 1 to 22.
type CheckPipe struct {
	decider.Decider
}

// Module describes it, or says every reason why the parameters are illegal.
func (p CheckPipe) Module() (*graph.Module, error) {
	rules := p.Rules("inc_check_pipe", 3, 22)
	p.CountGroups(rules)
	p.WholeBytes(rules)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.SourceParking(files, "inc_check_pipe", p.Park != 0)
	if err != nil {
		return nil, err
	}
	groups := leaf.Pow2(p.GroupBits())
	memory, err := ram.RAM{Words: groups, Bits: p.SlotW + 1, AddrW: p.GroupBits()}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_pipe: %w", err)
	}
	ahead, err := decider.LookAhead{Bits: 4 * 24}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_pipe: %w", err)
	}
	past, err := decider.Past{}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_pipe: %w", err)
	}
	return &graph.Module{
		Name: "inc_check_pipe", Block: "CheckPipe", Source: source, Latency: "6 to 8 cycles, a frame in 2",
		Purpose: "decides what every frame does, takes the engine's own actions, keeps the pipes",
		Params: []graph.Param{
			{Name: "LEN_W", Value: p.LenW}, {Name: "WORDS_W", Value: p.WordsW}, {Name: "BYTES", Value: p.Bytes}, {Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW}, {Name: "MASK_W", Value: p.MaskW}, {Name: "SLOT_W", Value: p.SlotW}, {Name: "TREE", Value: p.Tree},
			{Name: "HALVES", Value: p.Halves}, {Name: "GROUPS", Value: p.Groups}, {Name: "APART", Value: p.Apart}, {Name: "COUNTERS", Value: p.Counters},
		},
		Ports: p.ports(),
		Memories: []graph.Memory{
			{Path: "u_heads", Words: groups, Bits: 2 * (24 + p.SlotW + 1), Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_settle", Words: groups, Bits: 2 * (24 + p.SlotW + 1), Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_sizes", Words: groups, Bits: p.SlotW + 1, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_tails", Words: groups, Bits: 4 * 24, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_sents", Words: groups, Bits: 2 * 24, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_contexts", Words: groups, Bits: 34 + 3*p.MaskW + 2*p.SlotW, Role: "state", Module: "inc_ram_1r1w"},
		},
		Submodules: []*graph.Module{ahead, memory, past},
	}, nil
}

// ports are those of the Verilog: a frame and its state, the blocks that only Mode III has, what is to be done.
func (p CheckPipe) ports() []graph.Port {
	return slices.Concat(
		[]graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("grp_live", p.Groups),
		},
		p.ParkPorts(),
		[]graph.Port{
			leaf.In("tbl_grp_we", 1),
			leaf.In("tbl_index", p.EIW),
			leaf.In("tbl_word", 4),
			leaf.In("tbl_data", 32),
		},
		[]graph.Port{leaf.In("frm_waits", 1)},
		p.FramePorts(frameNames()...),
		p.AckPorts(),
		p.VerdictPorts(),
		p.SlotPorts(leaf.In("slot_mask", p.MaskW), leaf.In("slot_opcode", 8), leaf.In("slot_plen", p.LenW), leaf.In("slot_pad", 2),
			leaf.In("slot_se", 1), leaf.In("slot_ext", 32), leaf.In("slot_ce", 1)),
		p.pipePorts(),
		p.WorkPorts(),
		p.TxPorts(),
		[]graph.Port{
			leaf.Out("mon_act_valid", 1),
			leaf.Out("mon_act_kind", 3),
			leaf.Out("mon_act_ei", p.EIW),
			leaf.Out("count", p.Counters),
		},
	)
}

// frameNames are what it asks of a frame in inc_frame_steps, and says to it.
func frameNames() []string {
	return strings.Fields("holds s_go s_ei s_data s_up s_spreads s_root s_parent s_base s_log2_n " +
		"a_ready a_follows_slot a_written_slot a_go a_valid a_bypass a_ei a_self a_data a_syn_ack a_ranged a_psn a_begin " +
		"a_in_range a_previous a_down a_reduces a_spreads a_out_mask a_parent_mask " +
		"b_stale redo b_first b_completes b_go b_valid b_second b_bypass b_ei b_self b_host b_ce b_data b_ack b_cnp b_ends b_syn_ack b_syn_rnr " +
		"b_syn_nak b_fine b_bad_tver b_bad_opcode b_too_long b_wire_psn b_ranged b_psn b_in_range b_previous b_opens " +
		"b_bad_control b_wrong_role b_contradicts b_up b_down b_whole b_dtype " +
		"f_first f_same f_same_imm f_full f_builds " +
		"c_free c_leaves c_wr c_lives c_decided c_opening c_done c_valid c_live c_bypass c_ei c_self c_syn_ack c_syn_rnr c_syn_nak " +
		"c_wire_psn c_ext c_words c_big_endian c_ranged c_rng c_psn c_end c_reduces c_spreads c_function c_dtype c_in_mask " +
		"c_out_mask c_parent_mask c_intact c_passed c_drops")
}

// pipePorts are the pins to the blocks that keep the pipes: the start of a group, SendAck (rcv_, ans_) and
// Retransmission (rt_, cm_, act_).
func (p CheckPipe) pipePorts() []graph.Port {
	return []graph.Port{
		leaf.In("init_valid", 1),
		leaf.Out("init_take", 1),
		leaf.In("init_clean", 1),
		leaf.In("init_ei", p.EIW),
		leaf.In("init_psn", 24),
		leaf.Out("rcv_rd", 1),
		leaf.Out("rcv_ei", p.EIW),
		leaf.Out("rcv_follows", 1),
		leaf.Out("rcv_written", 1),
		leaf.Out("rcv_redo", 1),
		leaf.Out("rcv_psn", 24),
		leaf.Out("rcv_ends", 1),
		leaf.Out("rcv_host", 1),
		leaf.In("rcv_behind", 1),
		leaf.In("rcv_expected", 1),
		leaf.Out("rcv_duplicate", 1),
		leaf.Out("rcv_gap", 1),
		leaf.Out("rcv_full", 1),
		leaf.Out("rcv_accept", 1),
		leaf.Out("rcv_go", 1),
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
		leaf.Out("rt_last", 24),
		leaf.Out("rt_next", 24),
		leaf.Out("rt_is_ack", 1),
		leaf.Out("rt_is_nak", 1),
		leaf.Out("rt_is_rnr", 1),
		leaf.Out("rt_code", 5),
		leaf.In("rt_keep", p.MaskW),
		leaf.In("rt_one_psn", 24),
		leaf.In("rt_stale", 1),
		leaf.In("rt_progress", 1),
		leaf.In("rt_one", 1),
		leaf.In("rt_again", 1),
		leaf.In("rt_timeout", 1),
		leaf.In("rt_resume", 1),
		leaf.Out("cm_we", 1),
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
		leaf.In("act_soon", 1),
		leaf.In("act_timer", 1),
		leaf.In("act_pipe", 1),
		leaf.In("act_ei", p.EIW),
		leaf.Out("act_done", 1),
	}
}
