// SPDX-License-Identifier: Apache-2.0

package checkpipe

import (
	"fmt"
	"slices"

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
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_check_pipe")
	if err != nil {
		return nil, err
	}
	groups := leaf.Pow2(p.GroupBits())
	memory, err := ram.RAM{Words: groups, Bits: p.SlotW, AddrW: p.GroupBits()}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_pipe: %w", err)
	}
	parts, err := p.Parts()
	if err != nil {
		return nil, fmt.Errorf("inc_check_pipe: %w", err)
	}
	return &graph.Module{
		Name: "inc_check_pipe", Block: "CheckPipe", Source: source, Latency: "6 to 8 cycles, a frame in 2",
		Purpose: "decides what every frame does, takes the engine's own actions, keeps the pipes",
		Params:  append(p.Params(), graph.Param{Name: "COUNTERS", Value: p.Counters}),
		Ports:   p.ports(),
		Memories: []graph.Memory{
			{Path: "u_heads", Words: groups, Bits: 2 * (24 + p.SlotW + 1), Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_settle", Words: groups, Bits: 2 * (24 + p.SlotW + 1), Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_sizes", Words: groups, Bits: p.SlotW, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_tails", Words: groups, Bits: 4 * 24, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_sents", Words: groups, Bits: 2 * 24, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_contexts", Words: groups, Bits: 34 + 3*p.MaskW + 2*p.SlotW, Role: "state", Module: "inc_ram_1r1w"},
		},
		Submodules: append(parts, memory),
	}, nil
}

// ports are those of the Verilog: a frame and its state, the blocks that only Mode III has, what is to be done.
func (p CheckPipe) ports() []graph.Port {
	return slices.Concat(
		[]graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("grp_live", p.Groups),
			leaf.In("tbl_grp_we", 1),
			leaf.In("tbl_index", p.EIW),
			leaf.In("tbl_word", 4),
			leaf.In("tbl_data", 32),
		},
		p.FramePorts(),
		p.pipePorts(),
		p.WorkPorts(),
		[]graph.Port{
			leaf.Out("mon_act_valid", 1),
			leaf.Out("mon_act_kind", 3),
			leaf.Out("mon_act_ei", p.EIW),
			leaf.Out("count", p.Counters),
		},
	)
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
		leaf.In("rcv_takes", 1),
		leaf.Out("rcv_psn", 24),
		leaf.Out("rcv_ends", 1),
		leaf.Out("rcv_host", 1),
		leaf.In("rcv_behind", 1),
		leaf.In("rcv_ahead", 1),
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
		leaf.Out("rt_psn", 24),
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
