// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"slices"
	"strings"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// Control is inc_control: the ranges of in-band groups. Its contract is the head of inc_control.v.
type Control struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// Groups: number of groups; at most 2**(EIW-EPW).
	Groups int
	// DTypes and Ops: element types and operations that there are, bit i for code i.
	DTypes, Ops int
	// OnePort: 1 if what is kept of groups and endpoints is in memories of one port, else 0; not in Mode I.
	OnePort int
	// Messages: 1 in Mode I, whose ranges are of messages and need no offsets, else 0.
	Messages int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Control) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_control")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W")
	rules.Refuse(p.DTypes < 1 || p.DTypes > 15 || p.Ops < 1 || p.Ops > 7, "DTYPES must be 1 to 15 and OPS 1 to 7")
	rules.Refuse(p.OnePort < 0 || p.OnePort > 1, "ONE_PORT must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	var macros []string
	groups, ranges := leaf.Pow2(max(p.EIW-p.EPW, 1)), 2
	latency, purpose := "2 cycles, opening a range 2**EP_W + 3", "ranges of in-band groups: roles, offsets, what opens the next"
	if p.Messages != 0 {
		macros, ranges = []string{leaf.MessageRangesMacro}, 1
		latency, purpose = "2 cycles", "ranges of in-band groups of messages: roles, what asks for the next"
	}
	source, err := leaf.SourceWith(files, "inc_control", macros...)
	if err != nil {
		return nil, err
	}
	at := ram.EndpointIndex{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups}
	index, err := at.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_control: %w", err)
	}
	word := 2 + 24 + ranges*(p.MaskW+32+24+1)
	memory, err := ram.RAM{Words: groups, Bits: word, AddrW: leaf.IndexBits(groups)}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_control: %w", err)
	}
	submodules := []*graph.Module{memory}
	memories := []graph.Memory{{Path: "u_ranges", Words: groups, Bits: word, Role: "state", Module: "inc_ram_1r1w"}}
	if p.Messages == 0 {
		kept := ram.Table{Words: groups, Bits: word, AddrW: leaf.IndexBits(groups), OnePort: p.OnePort}
		offsets := ram.Table{Words: max(at.Words(), 2), Bits: 48, AddrW: at.IndexW(), OnePort: p.OnePort}
		table, err := offsets.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_control: %w", err)
		}
		memories = []graph.Memory{kept.At("u_ranges", "state"), offsets.At("u_offsets", "state")}
		submodules = []*graph.Module{table, index}
		if p.OnePort != 0 {
			latency = "2 cycles, opening a range 2 * MASK_W + 3"
		}
	}
	params := []graph.Param{{Name: "EP_W", Value: p.EPW}, {Name: "EI_W", Value: p.EIW}, {Name: "MASK_W", Value: p.MaskW}, {Name: "GROUPS", Value: p.Groups}}
	if p.Messages == 0 {
		params = append(params, graph.Param{Name: "ONE_PORT", Value: p.OnePort})
	}
	return &graph.Module{
		Name: "inc_control", Block: "Control", Source: source, Latency: latency, Purpose: purpose,
		Params:     append(params, graph.Param{Name: "DTYPES", Value: p.DTypes}, graph.Param{Name: "OPS", Value: p.Ops}),
		Ports:      p.ports(),
		Memories:   memories,
		Submodules: submodules,
	}, nil
}

// ports are those of the Verilog: a group's start, a frame's context, the range that it falls in, offsets for
// TranslateHeader.
func (p Control) ports() []graph.Port {
	all := []graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.In("init_valid", 1),
		leaf.Out("init_take", 1),
		leaf.In("init_ei", p.EIW),
		leaf.In("init_psn", 24),
		leaf.In("ctl_rd", 1),
		leaf.In("ctl_map", 1),
		leaf.In("ctl_ei", p.EIW),
		leaf.In("ent_ei", p.EIW),
		leaf.In("ent_psn", 24),
		leaf.In("ent_opcode", 8),
		leaf.In("ent_empty", 1),
		leaf.In("ent_ext", 32),
		leaf.In("ent_in_mask", p.MaskW),
		leaf.In("ent_out_mask", p.MaskW),
		leaf.In("ent_ack_mask", p.MaskW),
		leaf.In("ent_parent_mask", p.MaskW),
		leaf.In("ent_route_valid", 1),
		leaf.In("ent_route_mask", p.MaskW),
		leaf.In("ent_root_sends", 1),
		leaf.Out("map_current", 1),
		leaf.Out("map_previous", 1),
		leaf.Out("map_opens", 1),
		leaf.Out("map_opens_up", 1),
		leaf.Out("map_bad_control", 1),
		leaf.Out("map_wrong_role", 1),
		leaf.Out("map_contradicts", 1),
		leaf.Out("map_base", 24),
		leaf.Out("map_psn", 24),
		leaf.Out("map_rng", 2),
		leaf.Out("map_begin", 24),
		leaf.Out("map_end", 24),
		leaf.Out("map_up", 1),
		leaf.Out("map_down", 1),
		leaf.Out("map_ackable_any", 1),
		leaf.Out("map_needs_host", 1),
		leaf.Out("map_root", 1),
		leaf.Out("map_parent", 1),
		leaf.Out("map_reduces", 1),
		leaf.Out("map_spreads", 1),
		leaf.Out("map_barrier", 1),
		leaf.Out("map_function", 2),
		leaf.Out("map_dtype", 2),
		leaf.Out("map_in_mask", p.MaskW),
		leaf.Out("map_out_mask", p.MaskW),
		leaf.Out("map_ack_mask", p.MaskW),
		leaf.Out("map_parent_mask", p.MaskW),
		leaf.In("ctl_open", 1),
		leaf.Out("ctl_busy", 1),
		leaf.Out("off_we", 1),
		leaf.Out("off_ei", p.EIW),
		leaf.Out("off_rng", 2),
		leaf.Out("off_in", 24),
		leaf.Out("off_out", 24),
	}
	if p.Messages == 0 {
		return all
	}
	// nobody asks for what PSNs say
	for _, name := range strings.Fields("ent_psn map_previous map_opens_up map_base map_psn ctl_busy off_we off_ei off_rng off_in off_out") {
		all = slices.DeleteFunc(all, func(port graph.Port) bool { return port.Name == name })
	}
	return append(all, leaf.Out("open_rng", 2))
}
