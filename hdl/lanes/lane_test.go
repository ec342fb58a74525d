// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/lanes"
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
		b := newBench(t, lanes.Lanes{Lanes: 64, Stages: stages, Include: all()}, 1)
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

// random gives at least n pairs, each word with an operation and type of its own.
func (b *bench) random(n int, r *rand.Rand) {
	for left := n; left > 0; left -= b.n {
		w := b.next()
		w.op, w.isInt = r.IntN(3), r.IntN(4) == 0
		if r.IntN(2) == 0 {
			w.op = sum
		}
		for i := range w.a {
			w.a[i], w.b[i] = pair(r)
		}
		b.give(w)
	}
	b.drain()
}

func TestRandom(t *testing.T) {
	eachStages(t, func(t *testing.T, stages int) {
		b := newBench(t, lanes.Lanes{Lanes: 64, Stages: stages, Include: all()}, 2)
		b.random(1_000_000, rand.New(rand.NewPCG(uint64(stages), 7)))
		require.GreaterOrEqual(t, b.pairs, 1_000_000)
		require.Zero(t, b.wrong)
	})
}
