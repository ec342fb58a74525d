// SPDX-License-Identifier: Apache-2.0

package aggregatedata

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/lanes"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// EagerTree is inc_eager_tree: reduces a slot's payloads by the fixed tree, and merges nodes before the slot is complete. Its contract is the
// head of inc_eager_tree.v.
type EagerTree struct {
	ReduceTree
	// Units: slot units.
	Units int
}

// levels are those of the widest tree.
func (p EagerTree) levels() int { return leaf.Clog2(p.Planes) }

// rules are those for the parameters.
func (p EagerTree) rules() *leaf.Rules {
	rules := leaf.NewRules("inc_eager_tree")
	rules.Refuse(p.Row < 4 || p.Row%4 != 0, "ROW must be a multiple of 4")
	rules.Refuse(p.Planes < 1 || p.PairW != leaf.IndexBits(p.Planes), "PAIR_W must hold 0 to PLANES - 1")
	rules.Refuse(p.UnitW < 1 || p.Units < 2 || p.Units > leaf.Pow2(p.UnitW), "UNITS must be 2 to 2**UNIT_W")
	rules.Refuse(p.RowsW < 1 || p.AddrW < p.RowsW+1 || p.AddrW > p.UnitW+p.PairW+p.RowsW, "ADDR_W must hold the rows of all payloads")
	rules.Refuse(p.Stages < 1, "STAGES must be at least 1")
	rules.Refuse(p.ECC < 0 || p.ECC > 1, "ECC must be 0 or 1")
	return rules
}

// Module describes it, or says every reason why the parameters are illegal.
func (p EagerTree) Module() (*graph.Module, error) {
	if err := p.rules().Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_eager_tree")
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: "inc_eager_tree", Source: source, Latency: "log2(pairs) times the adder's and one",
		Purpose: "reduces a slot's payloads by the fixed binary tree over the pairs of endpoints, and merges nodes before the slot is complete",
		Params: []graph.Param{
			{Name: "ROW", Value: p.Row},
			{Name: "PLANES", Value: p.Planes},
			{Name: "PAIR_W", Value: p.PairW},
			{Name: "UNITS", Value: p.Units},
			{Name: "UNIT_W", Value: p.UnitW},
			{Name: "ROWS_W", Value: p.RowsW},
			{Name: "ADDR_W", Value: p.AddrW},
			{Name: "STAGES", Value: p.Stages},
			{Name: "ECC", Value: p.ECC},
			{Name: "FP", Value: leaf.Bit(p.FP)},
			{Name: "SUM", Value: leaf.Bit(p.Sum)},
			{Name: "MIN", Value: leaf.Bit(p.Min)},
			{Name: "MAX", Value: leaf.Bit(p.Max)},
		},
		Ports: p.ports(),
	}
	parts := []graph.Describer{lanes.Lanes{Lanes: p.Row / 4, Stages: p.Stages,
		Include: lanes.Include{FP: p.FP, Int: true, Sum: p.Sum, Min: p.Min, Max: p.Max}}}
	if p.levels() > 1 {
		parts = append(parts, MergePlan{Units: p.Units, UnitW: p.UnitW, Levels: p.levels(), RowW: p.RowsW + 2})
	}
	for _, part := range parts {
		sub, err := part.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_eager_tree: %w", err)
		}
		m.Submodules = append(m.Submodules, sub)
		for _, memory := range sub.Memories {
			memory.Path = "gen_plan.u_plan." + memory.Path
			m.Memories = append(m.Memories, memory)
		}
	}
	return m, nil
}

// ports are those of the Verilog: jobs, sums, what is merged, the memory, results.
func (p EagerTree) ports() []graph.Port {
	return []graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.Out("job_ready", 1),
		leaf.In("job_valid", 1),
		leaf.In("job_spec", 1),
		leaf.In("job_commit", 1),
		leaf.In("job_kill", 1),
		leaf.In("job_unit", p.UnitW),
		leaf.In("job_rows", p.RowsW+2),
		leaf.In("job_pairs", p.Planes),
		leaf.In("job_pair", p.PairW),
		leaf.In("job_take", 1),
		leaf.In("job_fresh", 1),
		leaf.In("job_op", 2),
		leaf.In("job_int", 1),
		leaf.In("job_wide", 1),
		leaf.In("job_bf16", 1),
		leaf.In("job_big_endian", 1),
		leaf.In("job_stay", 1),
		leaf.In("chk_unit", p.UnitW),
		leaf.Out("chk_busy", 1),
		leaf.Out("busy", 1),
		leaf.Out("owes", 1),
		leaf.In("sum_go", 1),
		leaf.In("sum_bad", 1),
		leaf.In("sum_data", 8*p.Row),
		leaf.Out("sum_wait", 1),
		leaf.In("note_clear", 1),
		leaf.In("note_full", 1),
		leaf.In("note_unit", p.UnitW),
		leaf.In("note_pair", p.PairW),
		leaf.In("note_rows", p.RowsW+2),
		leaf.In("note_op", 2),
		leaf.In("note_int", 1),
		leaf.In("note_wide", 1),
		leaf.Out("merge_unit", p.UnitW),
		leaf.Out("merge_busy", 1),
		leaf.In("merge_stay", 1),
		leaf.Out("mem_re", 1),
		leaf.Out("mem_addr", p.AddrW),
		leaf.Out("mem_own", 1),
		leaf.In("mem_taken", 1),
		leaf.In("mem_data", 8*p.Row),
		leaf.In("mem_bad", 1),
		leaf.Out("hold", 1),
		leaf.In("fix_free", 1),
		leaf.Out("fix_move", 1),
		leaf.Out("fix_hold", 1),
		leaf.Out("wb_valid", 1),
		leaf.In("wb_go", 1),
		leaf.Out("wb_addr", p.AddrW),
		leaf.In("out_room", 1),
		leaf.Out("out_turn", 1),
		leaf.Out("out_valid", 1),
		leaf.Out("out_wide", 1),
		leaf.Out("out_bf16", 1),
		leaf.Out("out_big_endian", 1),
		leaf.Out("out_bad", 1),
		leaf.Out("out_row", 8*p.Row),
	}
}

// MergePlan is inc_merge_plan: knows which nodes of a slot's tree are complete and which are merged. Its contract is the head of
// inc_merge_plan.v.
type MergePlan struct {
	// Units: slot units.
	Units int
	// UnitW: bits of a unit's number.
	UnitW int
	// Levels: log2 of the pairs, at least 2.
	Levels int
	// RowW: bits of the number of rows of a payload.
	RowW int
}

// nodes are the bits that it keeps of a unit.
func (p MergePlan) nodes() int { return 2*leaf.Pow2(p.Levels) - 2 }

// Module describes it, or says every reason why the parameters are illegal.
func (p MergePlan) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_merge_plan")
	rules.Refuse(p.Levels < 2, "LEVELS must be at least 2")
	rules.Refuse(p.UnitW < 1 || p.Units < 2 || p.Units > leaf.Pow2(p.UnitW), "UNITS must be 2 to 2**UNIT_W")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_merge_plan")
	if err != nil {
		return nil, err
	}
	memory, err := ram.RAM{Words: p.Units, Bits: p.nodes(), AddrW: p.UnitW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_merge_plan: %w", err)
	}
	return &graph.Module{
		Name: "inc_merge_plan", Source: source, Latency: "4 cycles",
		Purpose: "knows which nodes of a slot's tree are complete and which are merged, and says which two to merge next",
		Params: []graph.Param{
			{Name: "UNITS", Value: p.Units},
			{Name: "UNIT_W", Value: p.UnitW},
			{Name: "LEVELS", Value: p.Levels},
			{Name: "ROW_W", Value: p.RowW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("note_clear", 1),
			leaf.In("note_full", 1),
			leaf.In("note_unit", p.UnitW),
			leaf.In("note_pair", p.Levels),
			leaf.In("note_rows", p.RowW),
			leaf.In("note_op", 2),
			leaf.In("note_int", 1),
			leaf.In("note_wide", 1),
			leaf.In("drop", 1),
			leaf.In("drop_unit", p.UnitW),
			leaf.In("may_start", 1),
			leaf.Out("start", 1),
			leaf.In("done", 1),
			leaf.Out("closed", 1),
			leaf.Out("unit", p.UnitW),
			leaf.Out("left", p.Levels),
			leaf.Out("right", p.Levels),
			leaf.Out("rows", p.RowW),
			leaf.Out("op", 2),
			leaf.Out("is_int", 1),
			leaf.Out("wide", 1),
			leaf.In("look", 1),
			leaf.In("look_unit", p.UnitW),
			leaf.Out("look_nodes", p.nodes()),
		},
		Memories:   []graph.Memory{{Path: "u_nodes", Words: p.Units, Bits: p.nodes(), Role: "state", Module: "inc_ram_1r1w"}},
		Submodules: []*graph.Module{memory},
	}, nil
}
