// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// MaxStages is the largest number of stages of a lane.
const MaxStages = 6

// MaxLanes is the largest number of lanes side by side.
const MaxLanes = 1024

// Include says which types and operations have hardware: at least one of each.
type Include struct {
	FP, Int       bool // FP32, INT32
	Sum, Min, Max bool
}

func (p Include) check(r *leaf.Rules) {
	r.Refuse(!p.FP && !p.Int, "FP or INT must be included")
	r.Refuse(!p.Sum && !p.Min && !p.Max, "SUM, MIN or MAX must be included")
}

func (p Include) params() []graph.Param {
	return []graph.Param{
		{Name: "FP", Value: leaf.Bit(p.FP)},
		{Name: "INT", Value: leaf.Bit(p.Int)},
		{Name: "SUM", Value: leaf.Bit(p.Sum)},
		{Name: "MIN", Value: leaf.Bit(p.Min)},
		{Name: "MAX", Value: leaf.Bit(p.Max)},
	}
}

func checkStages(r *leaf.Rules, stages int) {
	r.Refuse(stages < 1 || stages > MaxStages, "STAGES must be 1 to 6")
}

// Lanes is inc_lanes: a word of 32-bit elements, a lane for each. Its contract is the head of inc_lanes.v.
type Lanes struct {
	// Lanes: number of elements, 1 to MaxLanes.
	Lanes int
	// Stages: registers from input to output, 1 to MaxStages.
	Stages int
	Include
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Lanes) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_lanes")
	rules.Refuse(p.Lanes < 1 || p.Lanes > MaxLanes, "LANES must be 1 to 1024")
	checkStages(rules, p.Stages)
	p.check(rules)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_lanes")
	if err != nil {
		return nil, err
	}
	lane, err := Lane{Stages: p.Stages, Include: p.Include}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_lanes: %w", err)
	}
	return &graph.Module{
		Name: "inc_lanes", Block: "", Source: source, Latency: cycles(p.Stages),
		Purpose: "a word of 32-bit elements, a lane for each",
		Params:  append([]graph.Param{{Name: "LANES", Value: p.Lanes}, {Name: "STAGES", Value: p.Stages}}, p.params()...),
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("en", 1),
			leaf.In("op", 2),
			leaf.In("is_int", 1),
			leaf.In("a", 32*p.Lanes),
			leaf.In("b", 32*p.Lanes),
			leaf.Out("y", 32*p.Lanes),
		},
		Submodules: []*graph.Module{lane},
	}, nil
}

// Lane is inc_lane: one 32-bit element. Its contract is the head of inc_lane.v.
type Lane struct {
	// Stages: registers from input to output, 1 to MaxStages.
	Stages int
	Include
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Lane) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_lane")
	checkStages(rules, p.Stages)
	p.check(rules)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_lane")
	if err != nil {
		return nil, err
	}
	cut, err := Cut{Width: 32, Registers: true}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_lane: %w", err)
	}
	return &graph.Module{
		Name: "inc_lane", Block: "", Source: source, Latency: cycles(p.Stages),
		Purpose: "one 32-bit element",
		Params:  append([]graph.Param{{Name: "STAGES", Value: p.Stages}}, p.params()...),
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("en", 1),
			leaf.In("op", 2),
			leaf.In("is_int", 1),
			leaf.In("a", 32),
			leaf.In("b", 32),
			leaf.Out("y", 32),
		},
		Submodules: []*graph.Module{cut},
	}, nil
}

// FP32Add is inc_fp32_add: the FP32 adder alone. Its contract is the head of inc_fp32_add.v.
type FP32Add struct {
	// Stages: registers from input to output, 1 to MaxStages.
	Stages int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p FP32Add) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_fp32_add")
	checkStages(rules, p.Stages)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_fp32_add")
	if err != nil {
		return nil, err
	}
	lane, err := Lane{Stages: p.Stages, Include: Include{FP: true, Sum: true}}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_fp32_add: %w", err)
	}
	return &graph.Module{
		Name: "inc_fp32_add", Block: "", Source: source, Latency: cycles(p.Stages),
		Purpose: "the FP32 adder alone",
		Params:  []graph.Param{{Name: "STAGES", Value: p.Stages}},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("en", 1),
			leaf.In("a", 32),
			leaf.In("b", 32),
			leaf.Out("y", 32),
		},
		Submodules: []*graph.Module{lane},
	}, nil
}

// Cut is inc_lane_cut: a place in a pipeline where registers may stand. Its contract is the head of inc_lane_cut.v.
type Cut struct {
	// Width: bits, at least 1.
	Width int
	// Registers: else wires.
	Registers bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Cut) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_lane_cut")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_lane_cut")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_lane_cut", Block: "", Source: source, Latency: cycles(leaf.Bit(p.Registers)),
		Purpose: "a place in a pipeline where registers may stand",
		Params:  []graph.Param{{Name: "WIDTH", Value: p.Width}, {Name: "CUT", Value: leaf.Bit(p.Registers)}},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("en", 1),
			leaf.In("d", p.Width),
			leaf.Out("q", p.Width),
		},
	}, nil
}

func cycles(n int) string {
	if n == 1 {
		return "1 cycle"
	}
	return fmt.Sprintf("%d cycles", n)
}
