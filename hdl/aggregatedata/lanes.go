// SPDX-License-Identifier: Apache-2.0

package aggregatedata

import (
	"incforge/hdl/leaf"
	"incforge/rtlgen/graph"
)

// Lanes is inc_lanes: one adder an element, side by side. Its contract is the head of inc_lanes.v.
type Lanes struct {
	// Lanes: number of elements, at least 1.
	Lanes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Lanes) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_lanes")
	rules.Refuse(p.Lanes < 1, "LANES must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_lanes")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_lanes", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "one adder an element, side by side",
		Params: []graph.Param{
			{Name: "LANES", Value: p.Lanes},
		},
		Ports: []graph.Port{
			leaf.In("big_endian", 1),
			leaf.In("a", 32*p.Lanes),
			leaf.In("b", 32*p.Lanes),
			leaf.Out("sum", 32*p.Lanes),
		},
	}, nil
}
