// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/lanes"
	"incforge/hdl/verilog"
	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/synth/yosys"
)

// work is what a word of lanes was asked in one cycle.
type work struct {
	op    int
	isInt bool
	a, b  []uint32
}

// bench drives inc_lanes and compares what leaves it with what want says of what entered.
type bench struct {
	*rig.Rig
	t      testing.TB
	n      int // lanes
	stages int
	flight []work // the last one entered first
	spare  []work
	pairs  int
	wrong  int
}

func newBench(t testing.TB, p lanes.Lanes, seed uint64) *bench {
	return &bench{Rig: rig.New(t, rig.Lib(t, p), seed), t: t, n: p.Lanes, stages: p.Stages}
}

// next is a word to fill in for give.
func (b *bench) next() work {
	if n := len(b.spare); n > 0 {
		w := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return w
	}
	return work{a: make([]uint32, b.n), b: make([]uint32, b.n)}
}

// give has one word enter, and looks at the one that leaves.
func (b *bench) give(w work) {
	b.Set("op", uint64(w.op))
	b.SetBool("is_int", w.isInt)
	copy(b.Pin("a").Words(), w.a)
	copy(b.Pin("b").Words(), w.b)
	b.SetBool("en", true)
	b.Clock()
	b.look()
	b.flight = append(b.flight, w)
}

// look compares the outputs with the word that entered STAGES enabled cycles ago. The sample is of before the edge.
func (b *bench) look() {
	if len(b.flight) < b.stages {
		return
	}
	w := b.flight[len(b.flight)-b.stages]
	y := b.Pin("y").Words()
	for i := range w.a {
		b.pairs++
		if y[i] == want(w.op, w.isInt, w.a[i], w.b[i]) {
			continue
		}
		if b.wrong++; b.wrong <= 10 {
			b.t.Errorf("%d stages, lane %d, op %d, int %t: %08x and %08x make %08x, want %08x",
				b.stages, i, w.op, w.isInt, w.a[i], w.b[i], y[i], want(w.op, w.isInt, w.a[i], w.b[i]))
		}
	}
	if n := len(b.flight); n > b.stages {
		b.spare = append(b.spare, b.flight[:n-b.stages]...)
		b.flight = append(b.flight[:0], b.flight[n-b.stages:]...)
	}
}

// drain lets the words in flight leave.
func (b *bench) drain() {
	for range b.stages {
		w := b.next()
		clear(w.a)
		clear(w.b)
		b.give(w)
	}
}

// stall is a cycle in which nothing may move, whatever the inputs.
func (b *bench) stall(r *rand.Rand) {
	b.Set("op", uint64(r.IntN(4)))
	b.SetBool("is_int", r.IntN(2) == 0)
	for i := range b.n {
		b.Pin("a").Words()[i], b.Pin("b").Words()[i] = pair(r)
	}
	b.SetBool("en", false)
	b.Clock()
	b.look()
}

func eachStages(t *testing.T, f func(t *testing.T, stages int)) {
	t.Parallel()
	for stages := 1; stages <= lanes.MaxStages; stages++ {
		t.Run(fmt.Sprintf("stages=%d", stages), func(t *testing.T) {
			t.Parallel()
			f(t, stages)
		})
	}
}

// TestSpecial adds and orders every pair of special values, as FP32 and as INT32.
func TestSpecial(t *testing.T) {
	values := special()
	require.GreaterOrEqual(t, len(values), 100)
	eachStages(t, func(t *testing.T, stages int) {
		b := newBench(t, lanes.Lanes{Lanes: 16, Stages: stages, Include: all()}, 1)
		want := 0
		for op := sum; op <= maximum; op++ {
			for _, isInt := range []bool{false, true} {
				w, n := b.next(), 0
				for _, x := range values {
					for _, y := range values {
						w.op, w.isInt = op, isInt
						w.a[n], w.b[n] = x, y
						if n++; n == b.n {
							b.give(w)
							w, n = b.next(), 0
						}
						want++
					}
				}
				clear(w.a[n:])
				clear(w.b[n:])
				w.op, w.isInt = op, isInt
				b.give(w)
			}
		}
		b.drain()
		require.GreaterOrEqual(t, b.pairs, want)
	})
}

// operands is a word of random pairs.
func (b *bench) operands(r *rand.Rand) work {
	w := b.next()
	for i := range w.a {
		w.a[i], w.b[i] = pair(r)
	}
	return w
}

// draw is a word of random pairs with an operation and type of its own.
func (b *bench) draw(r *rand.Rand) work {
	w := b.operands(r)
	w.op, w.isInt = r.IntN(3), r.IntN(4) == 0
	if r.IntN(2) == 0 {
		w.op = sum
	}
	return w
}

func TestRandom(t *testing.T) {
	eachStages(t, func(t *testing.T, stages int) {
		b := newBench(t, lanes.Lanes{Lanes: 16, Stages: stages, Include: all()}, 2)
		r := rand.New(rand.NewPCG(uint64(stages), 7))
		for b.pairs < 1_000_000 {
			b.give(b.draw(r))
		}
		b.drain()
		require.Zero(t, b.wrong)
	})
}

// TestStall: cycles without en are as if they had not been.
func TestStall(t *testing.T) {
	eachStages(t, func(t *testing.T, stages int) {
		b := newBench(t, lanes.Lanes{Lanes: 16, Stages: stages, Include: all()}, 3)
		r := rand.New(rand.NewPCG(uint64(stages), 8))
		for range 2000 {
			b.give(b.draw(r))
			for range r.IntN(4) {
				b.stall(r)
			}
		}
		b.drain()
		require.GreaterOrEqual(t, b.pairs, 64*1000)
	})
}

// TestLong adds 10^8 pairs at every number of stages. Its log is testdata/long.log.
func TestLong(t *testing.T) {
	if os.Getenv("INCFORGE_LONG") == "" {
		t.Skip("takes minutes: set INCFORGE_LONG=1")
	}
	const pairs, part = 100_000_000, 10_000_000
	for stages := 1; stages <= lanes.MaxStages; stages++ {
		b := newBench(t, lanes.Lanes{Lanes: 16, Stages: stages, Include: all()}, 4)
		r := rand.New(rand.NewPCG(uint64(stages), 9))
		for b.pairs < pairs {
			for goal := b.pairs + part; b.pairs < goal; {
				w := b.operands(r)
				w.op, w.isInt = sum, false
				b.give(w)
			}
			fmt.Fprintf(os.Stderr, "%d stages: %d pairs added, %d wrong\n", stages, b.pairs, b.wrong)
		}
		require.Zero(t, b.wrong)
	}
}

// TestChoices: every choice of types and operations does what it includes, and the adder alone adds.
func TestChoices(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.v")
	require.NoError(t, err)
	lib, err := sim.Build{Top: "t_lanes", Brief: true, Files: append(files, "testdata/t_lanes.v")}.Compile(testcost.Context(t))
	require.NoError(t, err)
	r := rig.New(t, lib, 5)
	rng := rand.New(rand.NewPCG(5, 5))
	choices := includes()
	has := func(p lanes.Include, op int, isInt bool) bool {
		return (isInt && p.Int || !isInt && p.FP) && []bool{p.Sum, p.Min, p.Max}[op]
	}
	var flight []work
	checked := make([]int, len(choices))
	r.SetBool("en", true)
	for n := range 60_000 {
		w := work{op: rng.IntN(3), isInt: rng.IntN(2) == 0, a: make([]uint32, 1), b: make([]uint32, 1)}
		w.a[0], w.b[0] = pair(rng)
		r.Set("op", uint64(w.op))
		r.SetBool("is_int", w.isInt)
		r.Set("a", uint64(w.a[0]))
		r.Set("b", uint64(w.b[0]))
		r.Clock()
		at := func(stages int) work { return flight[n-stages] }
		for k, p := range choices {
			if stages := 1 + k%6; n >= stages && has(p, at(stages).op, at(stages).isInt) {
				was := at(stages)
				checked[k]++
				require.Equal(t, want(was.op, was.isInt, was.a[0], was.b[0]), r.Pin("y_lane").Words()[k], "%+v: %+v", p, was)
			}
		}
		for stages := 1; stages <= min(n, lanes.MaxStages); stages++ {
			was := at(stages)
			require.Equal(t, want(sum, false, was.a[0], was.b[0]), r.Pin("y_add").Words()[stages-1], "adder: %+v", was)
		}
		flight = append(flight, w)
	}
	require.Greater(t, slices.Min(checked), 5_000)
}

// TestExcluded: what is not included has no hardware.
func TestExcluded(t *testing.T) {
	t.Parallel()
	const stages = 3
	const plain = 2*32 + 32*(stages-1) // without FP32 SUM: both operands, then results
	full := elaborate(t, all(), stages)
	shifts := []string{"$shl", "$shr", "$sshl", "$shiftx", "$sub", "$eq"}
	for name, c := range map[string]struct {
		p      lanes.Include
		count  map[string]int // cells of these types
		absent []string
		unread []string // ports
		flops  int      // registers' bits at most
	}{
		"all":           {all(), map[string]int{"$lt": 1, "$sub": 1}, nil, nil, 32 + 45 + 72},
		"INT32 SUM":     {lanes.Include{Int: true, Sum: true}, map[string]int{"$add": 1}, append(shifts, "$lt", "$gt", "$mux", "$xor"), []string{"op", "is_int"}, plain},
		"INT32 MIN":     {lanes.Include{Int: true, Min: true}, map[string]int{"$lt": 1}, append(shifts, "$add", "$gt"), []string{"op", "is_int"}, plain},
		"INT32":         {lanes.Include{Int: true, Sum: true, Min: true, Max: true}, map[string]int{"$add": 1, "$lt": 1}, append(shifts, "$gt"), []string{"is_int"}, plain + 2},
		"FP32 SUM":      {lanes.Include{FP: true, Sum: true}, map[string]int{"$lt": 1, "$sub": 1}, nil, []string{"op", "is_int"}, full.flops - 10},
		"FP32 MIN, MAX": {lanes.Include{FP: true, Min: true, Max: true}, map[string]int{"$lt": 1}, append(shifts, "$add"), []string{"is_int"}, plain + 1},
		"all of FP32":   {lanes.Include{FP: true, Sum: true, Min: true, Max: true}, map[string]int{"$lt": 1, "$sub": 1}, nil, []string{"is_int"}, full.flops - 10},
		"SUM of both":   {lanes.Include{FP: true, Int: true, Sum: true}, map[string]int{"$lt": 1, "$sub": 1}, nil, []string{"op"}, full.flops},
		"MAX of both":   {lanes.Include{FP: true, Int: true, Max: true}, map[string]int{"$lt": 1}, append(shifts, "$add"), []string{"op"}, plain + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := elaborate(t, c.p, stages)
			for typ, n := range c.count {
				require.Equal(t, n, got.cells[typ], "%s: %v", typ, got.cells)
			}
			for _, typ := range c.absent {
				require.Zero(t, got.cells[typ], "%s: %v", typ, got.cells)
			}
			require.LessOrEqual(t, got.flops, c.flops)
			for _, port := range []string{"op", "is_int"} {
				require.Equal(t, !slices.Contains(c.unread, port), got.read[port], "port %s is read", port)
			}
		})
	}
}

// hardware is what Yosys makes of a lane.
type hardware struct {
	cells map[string]int  // word-level cells by type
	read  map[string]bool // inputs that something depends on
	flops int             // bits of registers
}

func elaborate(t *testing.T, p lanes.Include, stages int) hardware {
	t.Helper()
	m, err := lanes.Lane{Stages: stages, Include: p}.Module()
	require.NoError(t, err)
	sources, err := verilog.Collect(m)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, sources.Write(dir))
	top := "hierarchy -check -top inc_lane"
	for _, q := range m.Params {
		top += fmt.Sprintf(" -chparam %s %d", q.Name, q.Value)
	}
	script := []string{
		"read_verilog -defer " + strings.Join(sources.Paths(), " "), top, "proc", "flatten", "opt", "wreduce", "opt", "opt_clean -purge",
		"tee -q -o stat.json stat -json", "tee -q -o op.txt select -list i:op %co1 t:* %i", "tee -q -o is_int.txt select -list i:is_int %co1 t:* %i",
		"simplemap", "opt", "opt_clean -purge", "tee -q -o gates.json stat -json",
	}
	require.NoError(t, yosys.Run(testcost.Context(t), dir, "cells", script, 0))
	h := hardware{read: map[string]bool{}}
	stat, err := yosys.ReadStat(filepath.Join(dir, "stat.json"))
	require.NoError(t, err)
	h.cells = stat.Modules["inc_lane"]
	gates, err := yosys.ReadStat(filepath.Join(dir, "gates.json"))
	require.NoError(t, err)
	for typ, n := range gates.Modules["inc_lane"] {
		if strings.Contains(typ, "DFF") {
			h.flops += n
		}
	}
	for _, port := range []string{"op", "is_int"} {
		list, err := os.ReadFile(filepath.Join(dir, port+".txt"))
		require.NoError(t, err)
		h.read[port] = len(strings.TrimSpace(string(list))) > 0
	}
	return h
}
