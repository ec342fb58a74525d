// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/csr"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
)

func TestCountersDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{
		csr.Counters{Counters: 46, HalfW: 32}, csr.Counters{Counters: 53, HalfW: 32},
		csr.Counters{Counters: 4, HalfW: 3}, csr.Counters{Counters: 7, HalfW: 3}, csr.Counters{Counters: 8, HalfW: 4}, csr.Counters{Counters: 9, HalfW: 5},
		csr.Counters{Counters: 63, HalfW: 6}, csr.Counters{Counters: 64, HalfW: 16}, csr.Counters{Counters: 65, HalfW: 7},
	}, []hdltest.Refused{
		{Leaf: csr.Counters{Counters: 3, HalfW: 32}, Params: []graph.Param{{Name: "COUNTERS", Value: 3}}, Rule: "COUNTERS must be 4 to 2**INDEX_W"},
		{Leaf: csr.Counters{Counters: 46, HalfW: 5}, Params: []graph.Param{{Name: "HALF_W", Value: 5}}, Rule: "HALF_W must be at least $clog2(COUNTERS + 1)"},
	})
}

// bank is a model of inc_counters beside what it must count.
type bank struct {
	*rig.Rig
	t    *testing.T
	p    csr.Counters
	rng  *rand.Rand
	rate []float64  // by counter
	all  []uint64   // steps so far
	past [][]uint64 // all, by cycle, since the last copy was asked for
}

func newBank(t *testing.T, lib *sim.Lib, p csr.Counters, seed uint64) *bank {
	return &bank{Rig: rig.New(t, lib, seed), t: t, p: p, rng: rand.New(rand.NewPCG(seed, 2)), rate: make([]float64, p.Counters), all: make([]uint64, p.Counters)}
}

// cycle steps every counter at its rate.
func (b *bank) cycle() {
	steps := make([]byte, (b.p.Counters+7)/8)
	for i, rate := range b.rate {
		if b.rng.Float64() < rate {
			steps[i/8] |= 1 << (i % 8)
			b.all[i]++
		}
	}
	b.SetBytes("step", steps)
	b.Clock()
	b.past = append(b.past, slices.Clone(b.all))
}

// copied has all counters copied, reads the copy while they go on, and says in how many cycles from now they stood so.
func (b *bank) copied() {
	asked := slices.Clone(b.all)
	b.past = [][]uint64{asked}
	b.Set("copy", 1)
	b.cycle()
	b.Set("copy", 0)
	waited := 0
	for b.cycle(); b.Is("busy"); b.cycle() {
		waited++
		require.LessOrEqual(b.t, waited, 2*b.p.Counters+4)
	}
	mask := uint64(1)<<(2*b.p.HalfW) - 1
	var got []uint64
	for i := range b.p.Counters {
		b.Set("rd_index", uint64(i))
		b.Set("rd_en", 1)
		b.cycle()
		b.Set("rd_en", 0)
		for range b.rng.IntN(2) {
			b.cycle()
		}
		b.cycle()
		got = append(got, b.Get("rd_value"))
	}
	require.True(b.t, slices.ContainsFunc(b.past, func(then []uint64) bool {
		return slices.EqualFunc(then, got, func(a, c uint64) bool { return a&mask == c })
	}), "they stood so in no cycle since: %v", got)
}

// TestCountersLoseNothing: all counters in every cycle, some, one, none, with carries into the high word all the time, and bursts that
// begin and end anywhere in a turn.
func TestCountersLoseNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []csr.Counters{{Counters: 53, HalfW: 6}, {Counters: 46, HalfW: 8}, {Counters: 63, HalfW: 6}, {Counters: 4, HalfW: 3}, {Counters: 64, HalfW: 16}} {
		t.Run(fmt.Sprint(p.Counters, " of ", p.HalfW), func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			for seed := range uint64(4) {
				b := newBank(t, lib, p, seed)
				for i := range b.rate {
					b.rate[i] = 1
				}
				for range 20 * p.Counters {
					b.cycle()
				}
				b.copied()
				for range 30 {
					one := b.rng.IntN(p.Counters)
					share := []float64{0, 0.01, 0.5, 1}[b.rng.IntN(4)]
					for i := range b.rate {
						b.rate[i] = share * b.rng.Float64()
					}
					b.rate[one] = float64(b.rng.IntN(2))
					for range b.rng.IntN(3 * p.Counters) {
						b.cycle()
					}
					b.copied()
				}
				clear(b.rate)
				for range 2 { // nothing is under way
					for range 3*p.Counters + 8 {
						b.cycle()
					}
					b.copied()
				}
			}
		})
	}
}

// TestCountersRest: when nothing has stepped for three turns, nothing changes, and a model has nothing to work out.
func TestCountersRest(t *testing.T) {
	t.Parallel()
	p := csr.Counters{Counters: 46, HalfW: 32}
	lib := rig.Lib(t, p)
	m, err := lib.New(sim.Options{Random: true, SkipStill: true})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	set := func(name string, v uint64) {
		port, err := m.Port(name)
		require.NoError(t, err)
		port.SetUint64(v)
	}
	cycles := func(n int) {
		for range n {
			require.NoError(t, m.Tick())
		}
	}
	set("rst", 1)
	cycles(2)
	set("rst", 0)
	for range 3 {
		set("step", 1<<20)
		cycles(1)
		set("step", 0)
		cycles(3 * p.Counters)
		before := m.Skipped()
		cycles(1000)
		require.Equal(t, uint64(1000), m.Skipped()-before)
	}
}
