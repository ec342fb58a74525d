// SPDX-License-Identifier: Apache-2.0

package checkduplicate

import (
	"fmt"
	"slices"

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
	if err := common.Rules("inc_check_duplicate", 2, 23).Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_check_duplicate")
	if err != nil {
		return nil, err
	}
	memory, err := ram.RAM{Words: leaf.Pow2(p.EIW), Bits: 49, AddrW: p.EIW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	parts, err := common.Parts()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	least, err := LeastAck{EPW: p.EPW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_duplicate: %w", err)
	}
	return &graph.Module{
		Name: "inc_check_duplicate", Block: "CheckDuplicate", Source: source, Latency: "5 to 7 cycles, a frame in 2",
		Purpose: "decides what every frame does",
		Params:  append(common.Params(), graph.Param{Name: "COUNTERS", Value: p.Counters}),
		Ports: slices.Concat(
			[]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("cfg_gap_nak", 1), leaf.In("grp_live", p.Groups)},
			common.FramePorts(),
			[]graph.Port{leaf.In("init_valid", 1), leaf.Out("init_take", 1), leaf.In("init_ei", p.EIW), leaf.In("init_psn", 24)},
			common.WorkPorts(),
			[]graph.Port{leaf.Out("count", p.Counters)},
		),
		Memories: []graph.Memory{
			{Path: "u_endpoints", Words: leaf.Pow2(p.EIW), Bits: 49, Role: "state", Module: "inc_ram_1r1w"},
			{Path: "u_done", Words: leaf.Pow2(common.GroupBits()), Bits: 24, Role: "state", Module: "inc_ram_1r1w"},
		},
		Submodules: append(parts, least, memory),
	}, nil
}
