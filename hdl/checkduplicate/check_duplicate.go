// SPDX-License-Identifier: Apache-2.0

package checkduplicate

import (
	"fmt"
	"slices"
	"strings"

	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// CheckDuplicate is inc_check_duplicate: decides what every frame does. Its contract is the head of inc_check_duplicate.v. SlotW is 1 to
// 23.
type CheckDuplicate decider.Decider

// Module describes it, or says every reason why the parameters are illegal.
func (p CheckDuplicate) Module() (*graph.Module, error) {
	common := decider.Decider(p)
	rules := common.Rules("inc_check_duplicate", 2, 23)
	common.CountGroups(rules)
	rules.Refuse(p.OnePort < 0 || p.OnePort > 1, "ONE_PORT must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.SourceParking(files, "inc_check_duplicate", p.Park != 0)
	if err != nil {
		return nil, err
	}
	at := ram.EndpointIndex{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups}
	index, err := at.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	endpoints := ram.Table{Words: max(at.Words(), 2), Bits: 49, AddrW: at.IndexW(), OnePort: p.OnePort}
	table, err := endpoints.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	memory, err := ram.RAM{Words: leaf.Pow2(common.GroupBits()), Bits: 24, AddrW: common.GroupBits()}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	ahead, err := decider.LookAhead{Bits: 49}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	least, err := LeastAck{EPW: p.EPW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	module := &graph.Module{
		Name: "inc_check_duplicate", Block: "CheckDuplicate", Source: source, Latency: "5 to 7 cycles, a frame in 2",
		Purpose: "decides what every frame does",
		Params: []graph.Param{
			{Name: "LEN_W", Value: p.LenW}, {Name: "WORDS_W", Value: p.WordsW}, {Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW}, {Name: "MASK_W", Value: p.MaskW}, {Name: "SLOT_W", Value: p.SlotW}, {Name: "TREE", Value: p.Tree},
			{Name: "HALVES", Value: p.Halves}, {Name: "GROUPS", Value: p.Groups}, {Name: "ONE_PORT", Value: p.OnePort},
			{Name: "COUNTERS", Value: p.Counters},
		},
		Ports: slices.Concat(
			[]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("cfg_gap_nak", 1)},
			p.parkPorts(),
			[]graph.Port{leaf.Out("holds", 1)},
			common.FramePorts(frameNames()...),
			common.AckPorts(),
			[]graph.Port{leaf.In("ack_waits", 1)},
			common.VerdictPorts(),
			common.SlotPorts(),
			[]graph.Port{leaf.In("init_valid", 1), leaf.Out("init_take", 1), leaf.In("init_ei", p.EIW), leaf.In("init_psn", 24)},
			common.WorkPorts(),
			common.TxPorts(),
			[]graph.Port{leaf.Out("count", p.Counters)},
		),
		Memories: []graph.Memory{
			endpoints.At("u_endpoints", "state"),
			{Path: "u_done", Words: leaf.Pow2(common.GroupBits()), Bits: 24, Role: "state", Module: "inc_ram_1r1w"},
		},
		Submodules: []*graph.Module{ahead, least, table, memory, index},
	}
	if p.Park != 0 {
		module.Memories = append(module.Memories,
			graph.Memory{Path: "u_lasts", Words: leaf.Pow2(common.GroupBits()), Bits: p.MaskW + 24, Role: "state", Module: "inc_ram_1r1w"})
	}
	return module, nil
}

// parkPorts are the pins about groups that are parked: how their data is answered, and those to RecycleBuffer.
func (p CheckDuplicate) parkPorts() []graph.Port {
	if p.Park == 0 {
		return nil
	}
	return slices.Concat([]graph.Port{leaf.In("cfg_park_rnr", 1), leaf.In("cfg_park_timer", 5)}, decider.Decider(p).ParkPorts())
}

// frameNames are what it asks of a frame in inc_frame_steps, and says to it.
func frameNames() []string {
	return strings.Fields("s_ranged s_psn s_dtype s_base s_log2_n " +
		"a_follows_slot a_written_slot a_go a_valid a_bypass a_ei a_wire_psn a_psn a_begin " +
		"b_stale redo b_first b_completes b_repeats b_empties b_go b_valid b_second b_bypass b_ei b_self b_host b_data b_ack b_cnp b_ends " +
		"b_syn_ack b_syn_rnr b_syn_nak b_fine b_bad_tver b_bad_opcode b_too_long b_wire_psn b_ranged b_opened b_psn b_begin " +
		"b_range_base b_in_range b_previous b_opens b_opens_up b_bad_control b_wrong_role b_contradicts b_up b_down b_ackable " +
		"b_whole b_reduces b_spreads b_in_mask b_out_mask b_parent_mask b_takes_slot b_tag b_mask b_complete " +
		"f_first f_same f_same_imm f_full f_builds f_slot_words " +
		"c_free c_leaves c_wr c_lives c_decided c_opening c_done c_valid c_live c_bypass c_ei c_self c_syn_ack c_syn_rnr c_syn_nak " +
		"c_opcode c_se c_pad c_ce c_wire_psn c_ext c_plen c_words c_big_endian c_ranged c_opened c_rng c_psn c_begin c_end " +
		"c_range_base c_reduces c_spreads c_function c_dtype c_ack_mask c_parent_mask c_intact c_passed c_drops")
}
