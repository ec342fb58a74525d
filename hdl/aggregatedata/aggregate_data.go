// SPDX-License-Identifier: Apache-2.0

package aggregatedata

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/lanes"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// AggregateData is inc_aggregate_data: adds a frame's words to its slot's. Its contract is the head of inc_aggregate_data.v.
type AggregateData struct {
	// Bytes: bytes of a word, a power of two.
	Bytes int
	// Row: bytes of a row, a power of two, 4 to Bytes.
	Row int
	// Double: 1 for two rows side by side, else 0.
	Double int
	// Slots: number of slot units.
	Slots int
	// SlotW: bits of a unit's number.
	SlotW int
	// Planes: payloads a unit: 1, or the pairs of endpoints.
	Planes int
	// MTUWords: words of a payload of mtu_bytes, a power of two, at least 2.
	MTUWords int
	// WordsW: bits that hold 0 to MTU_WORDS.
	WordsW int
	// PktW: bits of a word's address in the packet buffer.
	PktW int
	// Tree: 1 for reproducible sums, else 0.
	Tree int
	// Eager: whether the tree merges siblings as soon as both are complete; only with Tree.
	Eager bool
	// Stages: register stages of an adder, 1 to 6.
	Stages int
	// ECC: 1 if the payload memory corrects single errors, else 0.
	ECC int
	// Flagged: whether words of the packet buffer may be lost, and say so; only with ECC.
	Flagged bool
	// Banks: single-port banks of the payload memory; 1: one memory with two ports.
	Banks int
	// F32, F16 and B16: whether the type is there; INT32's adder always is.
	F32, F16, B16 bool
	// Sum, Min and Max: whether the operation is there.
	Sum, Min, Max bool
}

// fp tells whether there are types that are added as FP32.
func (p AggregateData) fp() bool { return p.F32 || p.F16 || p.B16 }

// rows is how many rows the payload memory has, each of two if there are two side by side.
func (p AggregateData) rows() int {
	return p.Slots * p.Planes * p.MTUWords * (p.Bytes / p.Row) / (1 + p.Double)
}

// pairBits are the bits of a pair's number.
func (p AggregateData) pairBits() int { return leaf.IndexBits(p.Planes) }

// rules are those for the parameters.
func (p AggregateData) rules() *leaf.Rules {
	rules := leaf.NewRules("inc_aggregate_data")
	rules.Refuse(p.Bytes < 4 || leaf.Pow2(leaf.Clog2(p.Bytes)) != p.Bytes, "BYTES must be a power of two of at least 4")
	rules.Refuse(p.Row < 4 || p.Row > p.Bytes || leaf.Pow2(leaf.Clog2(p.Row)) != p.Row, "ROW must be a power of two, 4 to BYTES")
	rules.Refuse(p.Double < 0 || p.Double > 1 || p.Double == 1 && (p.Row != p.Bytes || p.Tree == 1),
		"DOUBLE must be 0, or 1 in place with ROW equal to BYTES")
	rules.Refuse(p.SlotW < 1 || p.Slots < 2 || p.Slots > leaf.Pow2(p.SlotW), "SLOTS must be 2 to 2**SLOT_W")
	rules.Refuse(p.Planes < 1 || p.Tree == 0 && p.Planes != 1, "PLANES must be 1 in place, and PAIR_W hold 0 to PLANES - 1")
	rules.Refuse(p.MTUWords < 2 || p.MTUWords != leaf.Pow2(p.WordsW-1),
		"MTU_WORDS must be a power of two of WORDS_W - 1 bits, at least 2")
	rules.Refuse(p.Stages < 1 || p.ECC < 0 || p.ECC > 1, "STAGES must be at least 1 and ECC 0 or 1")
	rules.Refuse(p.Eager && p.Tree == 0, "only a tree can be eager")
	rules.Refuse(p.Flagged && p.ECC == 0, "words that may be lost go with ECC")
	return rules
}

// Module describes it, or says every reason why the parameters are illegal.
func (p AggregateData) Module() (*graph.Module, error) {
	if err := p.rules().Err(); err != nil {
		return nil, err
	}
	source, err := p.source()
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: "inc_aggregate_data", Block: "AggregateData", Source: source, Latency: "2 cycles and the adder's",
		Purpose: "adds a frame's words to its slot's",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "ROW", Value: p.Row},
			{Name: "DOUBLE", Value: p.Double},
			{Name: "SLOTS", Value: p.Slots},
			{Name: "SLOT_W", Value: p.SlotW},
			{Name: "PLANES", Value: p.Planes},
			{Name: "PAIR_W", Value: p.pairBits()},
			{Name: "MTU_WORDS", Value: p.MTUWords},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "PKT_W", Value: p.PktW},
			{Name: "TREE", Value: p.Tree},
			{Name: "STAGES", Value: p.Stages},
			{Name: "ECC", Value: p.ECC},
			{Name: "BANKS", Value: p.Banks},
			{Name: "F32", Value: leaf.Bit(p.F32)},
			{Name: "F16", Value: leaf.Bit(p.F16)},
			{Name: "B16", Value: leaf.Bit(p.B16)},
			{Name: "SUM", Value: leaf.Bit(p.Sum)},
			{Name: "MIN", Value: leaf.Bit(p.Min)},
			{Name: "MAX", Value: leaf.Bit(p.Max)},
		},
		Ports: p.ports(),
	}
	for _, part := range p.parts() {
		sub, err := part.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_aggregate_data: %w", err)
		}
		m.Submodules = append(m.Submodules, sub)
	}
	if tree := m.Submodules[len(m.Submodules)-1]; p.Eager {
		for _, memory := range tree.Memories {
			memory.Path = "gen_tree.u_tree." + memory.Path
			m.Memories = append(m.Memories, memory)
		}
	}
	payload := m.Submodules[0]
	paths := []string{"u_payload"}
	if p.Double == 1 {
		paths = append(paths, "gen_double.u_payload_upper")
	}
	for _, path := range paths {
		for _, memory := range payload.Memories {
			memory.Path = path + "." + memory.Path
			m.Memories = append(m.Memories, memory)
		}
	}
	return m, nil
}

// source is its text, with what it has.
func (p AggregateData) source() ([]byte, error) {
	var macros []string
	if p.Eager {
		macros = append(macros, leaf.EagerMacro)
	}
	if p.Flagged {
		macros = append(macros, leaf.ECCMacro)
	}
	return leaf.SourceWith(files, "inc_aggregate_data", macros...)
}

// parts are its submodules; the payload memory is the first.
func (p AggregateData) parts() []graph.Describer {
	addrW := leaf.Clog2(p.rows())
	payload := ram.Payload{Rows: p.rows(), Bits: 8 * p.Row, AddrW: addrW, Banks: p.Banks, ECC: p.ECC}
	parts := []graph.Describer{
		payload,
		TakeRow{Bytes: p.Bytes, Row: p.Row, Double: p.Double, F16: p.F16, B16: p.B16, SubW: leaf.Clog2(p.Bytes/p.Row) + 1, Cut: p.ECC},
		EmitWord{Bytes: p.Bytes, Row: p.Row, Double: p.Double, F16: p.F16, B16: p.B16},
		lanes.Lanes{Lanes: p.Row / 4 * (1 + p.Double), Stages: p.Stages,
			Include: lanes.Include{FP: p.fp(), Int: true, Sum: p.Sum, Min: p.Min, Max: p.Max}},
	}
	if p.Tree == 1 {
		tree := ReduceTree{Row: p.Row, Planes: p.Planes, PairW: p.pairBits(), UnitW: p.SlotW, RowsW: leaf.Clog2(p.MTUWords * (p.Bytes / p.Row) / (1 + p.Double)), AddrW: addrW,
			Stages: p.Stages, ECC: p.ECC, FP: p.fp(), Sum: p.Sum, Min: p.Min, Max: p.Max}
		if p.Eager {
			parts = append(parts, EagerTree{ReduceTree: tree, Units: p.Slots})
		} else {
			parts = append(parts, tree)
		}
	}
	return parts
}

// ports are those of the Verilog: operations, words of the packet buffer, results, the memory's errors.
func (p AggregateData) ports() []graph.Port {
	var bad []graph.Port
	if p.Flagged {
		bad = append(bad, leaf.In("rd_bad", 1))
	}
	return append([]graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.Out("op_ready", 1),
		leaf.In("op_valid", 1),
		leaf.In("op_spec", 1),
		leaf.In("op_commit", 1),
		leaf.In("op_kill", 1),
		leaf.In("op_start", p.PktW),
		leaf.In("op_imm", 1),
		leaf.In("op_words", p.WordsW),
		leaf.In("op_slot", p.SlotW),
		leaf.In("op_pair", p.pairBits()),
		leaf.In("op_read", 1),
		leaf.In("op_take", 1),
		leaf.In("op_write", 1),
		leaf.In("op_emit", 1),
		leaf.In("op_reduce", 1),
		leaf.In("op_pairs", p.Planes),
		leaf.In("op_function", 2),
		leaf.In("op_dtype", 2),
		leaf.In("op_big_endian", 1),
		leaf.In("pkt_start", p.PktW),
		leaf.Out("oldest", p.PktW),
		leaf.In("newest", p.PktW),
		leaf.Out("rd_wants", 1),
		leaf.In("rd_ready", 1),
		leaf.Out("rd_en", 1),
		leaf.Out("rd_again", 1),
		leaf.Out("rd_imm", 1),
		leaf.Out("rd_addr", p.PktW),
		leaf.Out("rd_next", p.PktW),
		leaf.In("rd_data", 8*p.Bytes),
		leaf.In("rd_there", 1),
		leaf.In("emit_room", 1),
		leaf.Out("emit_valid", 1),
		leaf.Out("emit_bad", 1),
		leaf.Out("emit_data", 8*p.Bytes),
		leaf.In("inject_valid", 1),
		leaf.In("inject_flips", 2),
		leaf.Out("count_corrected", 1),
		leaf.Out("count_double", 1),
	}, bad...)
}
