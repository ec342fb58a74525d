// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"testing"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type ad = aggregatedata.AggregateData
	legal := []graph.Describer{
		narrow(),
		with(narrow(), func(p *ad) { p.Bytes, p.Row, p.Slots, p.SlotW, p.MTUWords, p.WordsW, p.PktW = 4, 4, 2, 1, 2, 2, 2 }),
		with(all(6), func(p *ad) { p.Bytes, p.Row, p.Slots, p.SlotW, p.MTUWords, p.WordsW = 32, 16, 7, 3, 8, 4 }),
		with(all(2), func(p *ad) { p.Bytes, p.Row, p.Double, p.MTUWords, p.WordsW = 128, 128, 1, 2, 2 }),
		with(all(4), func(p *ad) { p.Bytes, p.Row, p.Banks, p.ECC = 256, 128, 16, 1 }),
		tree(with(all(3), func(p *ad) { p.Bytes, p.Row, p.SlotW, p.Slots = 64, 32, 3, 5 }), 5),
	}
	bytes, row := "BYTES must be a power of two of at least 4", "ROW must be a power of two, 4 to BYTES"
	double, slots := "DOUBLE must be 0, or 1 in place with ROW equal to BYTES", "SLOTS must be 2 to 2**SLOT_W"
	words := "MTU_WORDS must be a power of two of WORDS_W - 1 bits, at least 2"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(narrow(), func(p *ad) { p.Bytes = 12 }), Params: []graph.Param{{Name: "BYTES", Value: 12}}, Rule: bytes},
		{Leaf: with(narrow(), func(p *ad) { p.Row = 2 }), Params: []graph.Param{{Name: "ROW", Value: 2}}, Rule: row},
		{Leaf: with(narrow(), func(p *ad) { p.Row = 16 }), Params: []graph.Param{{Name: "ROW", Value: 16}}, Rule: row},
		{Leaf: with(narrow(), func(p *ad) { p.Double, p.Row = 1, 4 }),
			Params: []graph.Param{{Name: "DOUBLE", Value: 1}, {Name: "ROW", Value: 4}}, Rule: double},
		{Leaf: with(narrow(), func(p *ad) { p.Slots = 1 }), Params: []graph.Param{{Name: "SLOTS", Value: 1}}, Rule: slots},
		{Leaf: with(narrow(), func(p *ad) { p.Slots = 5 }), Params: []graph.Param{{Name: "SLOTS", Value: 5}}, Rule: slots},
		{Leaf: with(narrow(), func(p *ad) { p.Planes = 2 }), Params: []graph.Param{{Name: "PLANES", Value: 2}},
			Rule: "PLANES must be 1 in place, and PAIR_W hold 0 to PLANES - 1"},
		{Leaf: with(narrow(), func(p *ad) { p.MTUWords = 5 }), Params: []graph.Param{{Name: "MTU_WORDS", Value: 5}}, Rule: words},
		{Leaf: with(narrow(), func(p *ad) { p.MTUWords, p.WordsW = 1, 1 }),
			Params: []graph.Param{{Name: "MTU_WORDS", Value: 1}, {Name: "WORDS_W", Value: 1}}, Rule: words},
		{Leaf: with(narrow(), func(p *ad) { p.ECC = 2 }), Params: []graph.Param{{Name: "ECC", Value: 2}},
			Rule: "STAGES must be at least 1 and ECC 0 or 1"},
	})
}

func TestRowsDescription(t *testing.T) {
	t.Parallel()
	type take = aggregatedata.TakeRow
	hdltest.Check(t, []graph.Describer{
		take{Bytes: 8, Row: 8, F16: true, SubW: 1},
		take{Bytes: 4, Row: 4, SubW: 1},
		take{Bytes: 8, Row: 8, Double: 1, F16: true, B16: true, SubW: 1},
		take{Bytes: 64, Row: 4, B16: true, SubW: 5},
		take{Bytes: 8, Row: 4, F16: true, SubW: 2, Cut: 1},
		take{Bytes: 256, Row: 128, SubW: 3},
	}, []hdltest.Refused{
		{Leaf: take{Bytes: 12, Row: 8, SubW: 1}, Params: []graph.Param{{Name: "BYTES", Value: 12}}, Rule: "BYTES must be a power of two of at least 4"},
		{Leaf: take{Bytes: 8, Row: 16, SubW: 1}, Params: []graph.Param{{Name: "ROW", Value: 16}}, Rule: "ROW must be a power of two, 4 to BYTES"},
		{Leaf: take{Bytes: 8, Row: 4, Double: 1, SubW: 2}, Params: []graph.Param{{Name: "ROW", Value: 4}, {Name: "DOUBLE", Value: 1}, {Name: "SUB_W", Value: 2}},
			Rule: "DOUBLE must be 0, or 1 with ROW equal to BYTES"},
		{Leaf: take{Bytes: 8, Row: 4, SubW: 1}, Params: []graph.Param{{Name: "ROW", Value: 4}}, Rule: "SUB_W must hold the rows of a word"},
		{Leaf: take{Bytes: 8, Row: 8, SubW: 1, Cut: 2}, Params: []graph.Param{{Name: "CUT", Value: 2}}, Rule: "CUT must be 0 or 1"},
	})
	type emit = aggregatedata.EmitWord
	hdltest.Check(t, []graph.Describer{
		emit{Bytes: 8, Row: 8, F16: true},
		emit{Bytes: 4, Row: 4},
		emit{Bytes: 8, Row: 8, Double: 1, F16: true, B16: true},
		emit{Bytes: 64, Row: 4, B16: true},
		emit{Bytes: 256, Row: 128},
	}, []hdltest.Refused{
		{Leaf: emit{Bytes: 12, Row: 8}, Params: []graph.Param{{Name: "BYTES", Value: 12}}, Rule: "BYTES must be a power of two of at least 4"},
		{Leaf: emit{Bytes: 8, Row: 16}, Params: []graph.Param{{Name: "ROW", Value: 16}}, Rule: "ROW must be a power of two, 4 to BYTES"},
		{Leaf: emit{Bytes: 8, Row: 4, Double: 1}, Params: []graph.Param{{Name: "ROW", Value: 4}, {Name: "DOUBLE", Value: 1}},
			Rule: "DOUBLE must be 0, or 1 with ROW equal to BYTES"},
	})
}

func TestTreeDescription(t *testing.T) {
	t.Parallel()
	type rt = aggregatedata.ReduceTree
	base := rt{Row: 8, Planes: 2, PairW: 1, UnitW: 4, RowsW: 7, AddrW: 12, Stages: 1, Sum: true}
	change := func(f func(*rt)) rt {
		p := base
		f(&p)
		return p
	}
	hdltest.Check(t, []graph.Describer{
		base,
		change(func(p *rt) { p.Planes, p.FP, p.Min = 1, true, true }),
		change(func(p *rt) { p.Row, p.Planes, p.PairW, p.Stages, p.FP, p.ECC = 4, 3, 2, 6, true, 1 }),
		change(func(p *rt) { p.Row, p.Planes, p.PairW, p.UnitW, p.RowsW, p.AddrW = 64, 8, 3, 1, 1, 5 }),
		change(func(p *rt) { p.Planes, p.PairW, p.Sum, p.Max, p.AddrW = 9, 4, false, true, 13 }),
	}, []hdltest.Refused{
		{Leaf: change(func(p *rt) { p.Row = 6 }), Params: []graph.Param{{Name: "ROW", Value: 6}}, Rule: "ROW must be a multiple of 4"},
		{Leaf: change(func(p *rt) { p.Planes = 3 }), Params: []graph.Param{{Name: "PLANES", Value: 3}}, Rule: "PAIR_W must hold 0 to PLANES - 1"},
		{Leaf: change(func(p *rt) { p.AddrW = 7 }), Params: []graph.Param{{Name: "ADDR_W", Value: 7}}, Rule: "ADDR_W must hold the rows of all payloads"},
		{Leaf: change(func(p *rt) { p.ECC = 2 }), Params: []graph.Param{{Name: "ECC", Value: 2}}, Rule: "ECC must be 0 or 1"},
	})
}
