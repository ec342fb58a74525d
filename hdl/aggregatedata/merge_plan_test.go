// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/hdltest/rig"
)

// planBench drives inc_merge_plan and keeps what it must know.
type planBench struct {
	*rig.Rig
	p     aggregatedata.MergePlan
	known []uint64 // of each unit: nodes, as in a heap without the root
}

func newPlanBench(t *testing.T, p aggregatedata.MergePlan, seed uint64) *planBench {
	b := &planBench{Rig: rig.New(t, rig.Lib(t, p), seed), p: p, known: make([]uint64, p.Units)}
	for unit := range p.Units {
		b.note("note_clear", unit, 0)
		b.cycle()
	}
	return b
}

// note gives it a note in the next cycle.
func (b *planBench) note(kind string, unit, pair int) {
	b.Set(kind, 1)
	b.Set("note_unit", uint64(unit))
	b.Set("note_pair", uint64(pair))
	b.Set("note_rows", uint64(unit+1))
}

// cycle passes a clock and takes what was given away.
func (b *planBench) cycle() {
	b.Clock()
	for _, name := range []string{"note_clear", "note_full", "done", "look", "drop"} {
		b.Set(name, 0)
	}
}

// merged is the node that a start merges.
func (b *planBench) merged(t *testing.T) (unit, node int) {
	t.Helper()
	unit = int(b.Get("unit"))
	left, right := int(b.Get("left")), int(b.Get("right"))
	half := right - left
	require.Equal(t, 1, bits.OnesCount(uint(half)), "pairs %d and %d", left, right)
	require.Zero(t, left%(2*half))
	require.EqualValues(t, unit+1, b.Get("rows"))
	return unit, (1<<b.p.Levels + left) / (2 * half)
}

// TestMergePlan: only siblings that are complete are merged, never the root's, and what is looked at is what was merged since the unit's first
// contribution.
func TestMergePlan(t *testing.T) {
	t.Parallel()
	p := aggregatedata.MergePlan{Units: 3, UnitW: 2, Levels: 3, RowW: 4}
	b := newPlanBench(t, p, 1)
	rng := rand.New(rand.NewPCG(5, 6))
	running, left, starts := -1, 0, 0
	for range 30000 {
		unit, pair := rng.IntN(p.Units), rng.IntN(8)
		b.Settle()
		closed := b.Is("closed")
		busy := closed && int(b.Get("unit")) == unit
		full := b.known[unit]>>(6+pair)&1 != 0
		b.Set("may_start", uint64(rng.IntN(2)))
		looks := false
		switch k := rng.IntN(12); {
		case k < 3 && !full:
			b.note("note_full", unit, pair)
			b.known[unit] |= 1 << (6 + pair)
		case k == 3 && !busy && rng.IntN(4) == 0:
			b.note("note_clear", unit, 0)
			b.Set("may_start", 0) // who says so knows of the first contribution
			b.known[unit] = 0
		case k == 4 && !closed:
			looks = true
			b.Set("look", 1)
			b.Set("look_unit", uint64(unit))
			b.Set("may_start", 0)
		}
		if left--; running >= 0 && left == 0 {
			b.Set("done", 1)
			b.known[running>>8] |= 1 << (running&255 - 2)
			running = -1
		}
		b.Settle()
		if b.Is("start") {
			unit, node := b.merged(t)
			require.Greater(t, node, 1)
			require.Equal(t, uint64(3), b.known[unit]>>(2*node-2)&3, "children of node %d of unit %d", node, unit)
			require.Zero(t, b.known[unit]>>(node-2)&1, "node %d of unit %d is merged again", node, unit)
			running, left = unit<<8|node, 1+rng.IntN(9)
			starts++
		}
		b.cycle()
		if looks {
			b.Settle()
			require.Equal(t, b.known[unit]&(1<<6-1), b.Get("look_nodes")&(1<<6-1), "unit %d", unit)
		}
	}
	require.Greater(t, starts, 500)
}

// TestMergePlanTiming: 4 cycles from the second of two siblings to the start of their merging, and from its end to the next as many.
func TestMergePlanTiming(t *testing.T) {
	t.Parallel()
	b := newPlanBench(t, aggregatedata.MergePlan{Units: 2, UnitW: 1, Levels: 3, RowW: 4}, 2)
	b.Set("may_start", 1)
	untilStart := func() int {
		for n := range 20 {
			b.Settle()
			if b.Is("start") {
				return n
			}
			b.cycle()
		}
		return -1
	}
	for pair := range 4 {
		b.note("note_full", 1, pair)
		if pair%2 == 1 {
			require.Equal(t, 4, untilStart(), "pair %d", pair)
			_, node := b.merged(t)
			require.Equal(t, (8+pair)/2, node)
			b.cycle()
			b.Set("done", 1)
		}
		if pair < 3 {
			require.Equal(t, -1, untilStart(), "pair %d", pair)
		}
	}
	require.Equal(t, 3, untilStart(), "the node above")
	_, node := b.merged(t)
	require.Equal(t, 2, node)
}

func TestEagerDescription(t *testing.T) {
	t.Parallel()
	type et = aggregatedata.EagerTree
	base := et{ReduceTree: aggregatedata.ReduceTree{Row: 8, Planes: 4, PairW: 2, UnitW: 4, RowsW: 7, AddrW: 13, Stages: 1, Sum: true}, Units: 16}
	change := func(f func(*et)) et {
		p := base
		f(&p)
		return p
	}
	hdltest.Check(t, []graph.Describer{
		base,
		change(func(p *et) { p.Planes, p.PairW, p.AddrW, p.FP, p.Min = 1, 1, 12, true, true }),
		change(func(p *et) { p.Row, p.Planes, p.PairW, p.Stages, p.FP, p.ECC = 4, 3, 2, 6, true, 1 }),
		change(func(p *et) { p.Planes, p.PairW, p.Units, p.UnitW, p.RowsW, p.AddrW = 8, 3, 2, 1, 1, 5 }),
	}, []hdltest.Refused{
		{Leaf: change(func(p *et) { p.Row = 6 }), Params: []graph.Param{{Name: "ROW", Value: 6}}, Rule: "ROW must be a multiple of 4"},
		{Leaf: change(func(p *et) { p.Planes = 5 }), Params: []graph.Param{{Name: "PLANES", Value: 5}}, Rule: "PAIR_W must hold 0 to PLANES - 1"},
		{Leaf: change(func(p *et) { p.Units = 17 }), Params: []graph.Param{{Name: "UNITS", Value: 17}}, Rule: "UNITS must be 2 to 2**UNIT_W"},
		{Leaf: change(func(p *et) { p.AddrW = 7 }), Params: []graph.Param{{Name: "ADDR_W", Value: 7}}, Rule: "ADDR_W must hold the rows of all payloads"},
		{Leaf: change(func(p *et) { p.ECC = 2 }), Params: []graph.Param{{Name: "ECC", Value: 2}}, Rule: "ECC must be 0 or 1"},
	})
	type mp = aggregatedata.MergePlan
	hdltest.Check(t, []graph.Describer{mp{Units: 16, UnitW: 4, Levels: 2, RowW: 9}, mp{Units: 3, UnitW: 2, Levels: 4, RowW: 3}}, []hdltest.Refused{
		{Leaf: mp{Units: 16, UnitW: 4, Levels: 1, RowW: 9}, Params: []graph.Param{{Name: "LEVELS", Value: 1}}, Rule: "LEVELS must be at least 2"},
		{Leaf: mp{Units: 17, UnitW: 4, Levels: 2, RowW: 9}, Params: []graph.Param{{Name: "UNITS", Value: 17}}, Rule: "UNITS must be 2 to 2**UNIT_W"},
	})
}
