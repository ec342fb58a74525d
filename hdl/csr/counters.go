// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// Counters is inc_counters: event counters in a RAM, and a copy of all of them. Its contract is the head of inc_counters.v.
type Counters struct {
	// Counters: number of counters, at least 4.
	Counters int
	// HalfW: bits of a counter's word, half of a counter.
	HalfW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Counters) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_counters")
	rules.Refuse(p.Counters < 4, "COUNTERS must be 4 to 2**INDEX_W")
	rules.Refuse(p.HalfW < leaf.Clog2(p.Counters+1), "HALF_W must be at least $clog2(COUNTERS + 1)")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_counters")
	if err != nil {
		return nil, err
	}
	indexW := leaf.IndexBits(p.Counters)
	memory, err := ram.RAM{Words: p.Counters, Bits: 2 * p.HalfW, AddrW: indexW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_counters: %w", err)
	}
	return &graph.Module{
		Name: "inc_counters", Source: source, Latency: "a copy in 2 * COUNTERS + 4 cycles",
		Purpose: "event counters in a RAM, and a copy of all of them",
		Params: []graph.Param{
			{Name: "COUNTERS", Value: p.Counters},
			{Name: "HALF_W", Value: p.HalfW},
			{Name: "INDEX_W", Value: indexW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("step", p.Counters),
			leaf.In("copy", 1), leaf.Out("busy", 1),
			leaf.In("rd_en", 1), leaf.In("rd_index", indexW), leaf.Out("rd_value", 2*p.HalfW),
		},
		Memories:   p.memories(""),
		Submodules: []*graph.Module{memory},
	}, nil
}

// memories are those of the module, at a path that ends in a dot or is empty.
func (p Counters) memories(path string) []graph.Memory {
	return []graph.Memory{
		{Path: path + "u_values", Words: p.Counters, Bits: 2 * p.HalfW, Role: "table", Module: "inc_ram_1r1w"},
		{Path: path + "u_copy", Words: p.Counters, Bits: 2 * p.HalfW, Role: "table", Module: "inc_ram_1r1w"},
	}
}
