// SPDX-License-Identifier: Apache-2.0

package aggregatedata

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/lanes"
	"incforge/hdl/leaf"
)

// ReduceTree is inc_reduce_tree: reduces a complete slot's payloads by the fixed tree. Its contract is the head of
// inc_reduce_tree.v.
type ReduceTree struct {
	// Row: bytes of a row, a multiple of 4.
	Row int
	// Planes: pairs of endpoints, at least 1.
	Planes int
	// PairW: bits of a pair's number, at least 1.
	PairW int
	// UnitW: bits of a unit's number.
	UnitW int
	// RowsW: log2 of the number of rows of a payload of 32-bit elements, at least 1.
	RowsW int
	// AddrW: bits of a row's address.
	AddrW int
	// Stages: register stages of an adder, 1 to 6.
	Stages int
	// ECC: 1 if what is read passes a register, is corrected, and passes another, else 0.
	ECC int
	// FP: whether there are types that are added as FP32.
	FP bool
	// Sum, Min and Max: whether the operation is there.
	Sum, Min, Max bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p ReduceTree) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_reduce_tree")
	rules.Refuse(p.Row < 4 || p.Row%4 != 0, "ROW must be a multiple of 4")
	rules.Refuse(p.Planes < 1 || p.PairW != leaf.IndexBits(p.Planes), "PAIR_W must hold 0 to PLANES - 1")
	rules.Refuse(p.UnitW < 1 || p.RowsW < 1 || p.AddrW < p.RowsW+1 || p.AddrW > p.UnitW+p.PairW+p.RowsW,
		"ADDR_W must hold the rows of all payloads")
	rules.Refuse(p.Stages < 1, "STAGES must be at least 1")
	rules.Refuse(p.ECC < 0 || p.ECC > 1, "ECC must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_reduce_tree")
	if err != nil {
		return nil, err
	}
	adders, err := lanes.Lanes{Lanes: p.Row / 4, Stages: p.Stages,
		Include: lanes.Include{FP: p.FP, Int: true, Sum: p.Sum, Min: p.Min, Max: p.Max}}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_reduce_tree: %w", err)
	}
	return &graph.Module{
		Name: "inc_reduce_tree", Source: source, Latency: "log2(pairs) times the adder's",
		Purpose: "reduces a complete slot's payloads by the fixed binary tree over the pairs of endpoints",
		Params: []graph.Param{
			{Name: "ROW", Value: p.Row},
			{Name: "PLANES", Value: p.Planes},
			{Name: "PAIR_W", Value: p.PairW},
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
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.Out("job_ready", 1),
			leaf.In("job_valid", 1),
			leaf.In("job_unit", p.UnitW),
			leaf.In("job_rows", p.RowsW+2),
			leaf.In("job_pairs", p.Planes),
			leaf.In("job_op", 2),
			leaf.In("job_int", 1),
			leaf.In("job_wide", 1),
			leaf.In("job_bf16", 1),
			leaf.In("job_big_endian", 1),
			leaf.In("chk_unit", p.UnitW),
			leaf.Out("chk_busy", 1),
			leaf.Out("busy", 1),
			leaf.Out("mem_re", 1),
			leaf.Out("mem_addr", p.AddrW),
			leaf.In("mem_taken", 1),
			leaf.In("mem_data", 8*p.Row),
			leaf.In("mem_bad", 1),
			leaf.Out("hold", 1),
			leaf.In("fix_free", 1),
			leaf.Out("fix_move", 1),
			leaf.Out("fix_hold", 1),
			leaf.In("out_room", 1),
			leaf.Out("out_turn", 1),
			leaf.Out("out_valid", 1),
			leaf.Out("out_wide", 1),
			leaf.Out("out_bf16", 1),
			leaf.Out("out_big_endian", 1),
			leaf.Out("out_bad", 1),
			leaf.Out("out_row", 8*p.Row),
		},
		Submodules: []*graph.Module{adders},
	}, nil
}
