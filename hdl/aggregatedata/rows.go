// SPDX-License-Identifier: Apache-2.0

package aggregatedata

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/lanes"
	"incforge/hdl/leaf"
)

// TakeRow is inc_take_row: cuts a row for the adders out of a payload word. Its contract is the head of inc_take_row.v.
type TakeRow struct {
	// Bytes: bytes of a word, a power of two.
	Bytes int
	// Row: bytes of a row, a power of two, 4 to Bytes; Bytes if Double is set.
	Row int
	// Double: 1 for rows of two Rows, else 0.
	Double int
	// F16 and B16: whether the type is there.
	F16, B16 bool
	// SubW: bits of a row's number in its word, at least 1.
	SubW int
	// Cut: 1 for a register between cutting and widening, else 0.
	Cut int
}

// width is the bytes of what the adders take at once.
func (p TakeRow) width() int { return p.Row * (1 + p.Double) }

// refuseRows says why words and rows of these sizes do not go together.
func refuseRows(rules *leaf.Rules, bytes, row, double int) {
	rules.Refuse(bytes < 4 || leaf.Pow2(leaf.Clog2(bytes)) != bytes, "BYTES must be a power of two of at least 4")
	rules.Refuse(row < 4 || row > bytes || leaf.Pow2(leaf.Clog2(row)) != row, "ROW must be a power of two, 4 to BYTES")
	rules.Refuse(double < 0 || double > 1 || double == 1 && row != bytes, "DOUBLE must be 0, or 1 with ROW equal to BYTES")
}

// Module describes it, or says every reason why the parameters are illegal.
func (p TakeRow) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_take_row")
	refuseRows(rules, p.Bytes, p.Row, p.Double)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	rules.Refuse(p.SubW < 1 || p.SubW < leaf.Clog2(2*p.Bytes/p.Row)-p.Double, "SUB_W must hold the rows of a word")
	rules.Refuse(p.Cut < 0 || p.Cut > 1, "CUT must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_take_row")
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: "inc_take_row", Source: source, Latency: "0 cycles, with CUT 1",
		Purpose: "cuts a row for the adders out of a payload word",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "ROW", Value: p.Row},
			{Name: "DOUBLE", Value: p.Double},
			{Name: "F16", Value: leaf.Bit(p.F16)},
			{Name: "B16", Value: leaf.Bit(p.B16)},
			{Name: "SUB_W", Value: p.SubW},
			{Name: "CUT", Value: p.Cut},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("en", 1),
			leaf.In("word", 8*p.Bytes),
			leaf.In("sub", p.SubW),
			leaf.In("wide", 1),
			leaf.In("big_endian", 1),
			leaf.In("row_wide", 1),
			leaf.In("row_bf16", 1),
			leaf.Out("row", 8*p.width()),
		},
	}
	if p.F16 || p.B16 {
		widen, err := lanes.Widen{Convert: lanes.Convert{Halves: p.width() / 4, F16: p.F16, B16: p.B16}}.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_take_row: %w", err)
		}
		m.Submodules = append(m.Submodules, widen)
	}
	return m, nil
}

// EmitWord is inc_emit_word: packs rows of the adders into payload words. Its contract is the head of inc_emit_word.v.
type EmitWord struct {
	// Bytes: bytes of a word, a power of two.
	Bytes int
	// Row: bytes of a row, a power of two, 4 to Bytes; Bytes if Double is set.
	Row int
	// Double: 1 for rows of two Rows, else 0.
	Double int
	// F16 and B16: whether the type is there.
	F16, B16 bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p EmitWord) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_emit_word")
	refuseRows(rules, p.Bytes, p.Row, p.Double)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_emit_word")
	if err != nil {
		return nil, err
	}
	width := p.Row * (1 + p.Double)
	m := &graph.Module{
		Name: "inc_emit_word", Source: source, Latency: "0 cycles",
		Purpose: "packs rows of the adders into payload words",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "ROW", Value: p.Row},
			{Name: "DOUBLE", Value: p.Double},
			{Name: "F16", Value: leaf.Bit(p.F16)},
			{Name: "B16", Value: leaf.Bit(p.B16)},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("row_valid", 1),
			leaf.In("row_last", 1),
			leaf.In("row_upper", 1),
			leaf.In("row_wide", 1),
			leaf.In("row_bf16", 1),
			leaf.In("row_big_endian", 1),
			leaf.In("row_bad", 1),
			leaf.In("row", 8*width),
			leaf.Out("word_valid", 1),
			leaf.Out("word_bad", 1),
			leaf.Out("word", 8*p.Bytes),
		},
	}
	if p.F16 || p.B16 {
		narrow, err := lanes.Narrow{Convert: lanes.Convert{Halves: width / 4, F16: p.F16, B16: p.B16}}.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_emit_word: %w", err)
		}
		m.Submodules = append(m.Submodules, narrow)
	}
	return m, nil
}
