// SPDX-License-Identifier: Apache-2.0

// Package examples_test shows package sim on a Verilog file that nobody generated.
package examples_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/sim"
)

// pins names the ports the bench uses. A port that is missing, or has another
// direction or width, is reported before the first clock.
type pins struct {
	Rst   *sim.Port `port:"rst,in,1"`
	Write *sim.Port `port:"write,in,1"`
	In    *sim.Port `port:"data_in,in"`
	Full  *sim.Port `port:"full,out,1"`
	Read  *sim.Port `port:"read,in,1"`
	Out   *sim.Port `port:"data_out,out"`
	Empty *sim.Port `port:"empty,out,1"`
}

// Example is the smallest complete bench: build, instance, one task.
func Example() {
	build := sim.Build{Top: "fifo", Files: []string{"fifo.v"}, Params: map[string]string{"WIDTH": "8"}}
	lib, err := build.Compile(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	m, err := lib.New(sim.Options{Random: true, Seed: 42})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	var p pins
	if err := m.Bind(&p); err != nil {
		log.Fatal(err)
	}

	tb := sim.NewTB(m)
	tb.Start("main", func(t *sim.Task) {
		p.Rst.SetBool(true)
		t.ClockCycles(2)
		p.Rst.SetBool(false)
		for _, v := range []uint64{11, 22, 33} {
			p.Write.SetBool(true)
			p.In.SetUint64(v)
			t.RisingEdge()
		}
		p.Write.SetBool(false)
		p.Read.SetBool(true)
		for range 3 {
			t.RisingEdge()
			fmt.Println(p.Out.Uint64())
		}
		t.RisingEdge() // one read too many
	})
	fmt.Println(tb.Run(1000))
	// Output:
	// 11
	// 22
	// 33
	// fifo.v:31: Assertion failed in TOP.fifo.assert_no_underflow: read while empty (cycle 9)
}

// TestFIFO checks order under random traffic: a writer, a reader, and a queue between
// them as the model of what must come out.
func TestFIFO(t *testing.T) {
	build := sim.Build{Top: "fifo", Files: []string{"fifo.v"}, Params: map[string]string{"WIDTH": "8"}}
	lib, err := build.Compile(context.Background())
	require.NoError(t, err)
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			m, err := lib.New(sim.Options{Random: true, Seed: seed})
			require.NoError(t, err)
			defer m.Close()
			var p pins
			require.NoError(t, m.Bind(&p))

			const words = 500
			var expected sim.Queue[uint64]
			ready := sim.NewEvent("reset over")
			tb := sim.NewTB(m)

			tb.Start("reset", func(t *sim.Task) {
				p.Rst.SetBool(true)
				t.ClockCycles(2)
				p.Rst.SetBool(false)
				ready.Set()
			})
			tb.Start("writer", func(t *sim.Task) {
				r := rand.New(rand.NewPCG(seed, 1))
				ready.Wait(t)
				for range words {
					// full is as it was before the edge; one write may be under way.
					t.Check(t.Until(100, "room", func() bool { return !p.Full.Bool() }))
					v := r.Uint64N(256)
					p.Write.SetBool(true)
					p.In.SetUint64(v)
					expected.Put(t, v)
					t.RisingEdge()
					p.Write.SetBool(false)
					t.ClockCycles(1 + r.Uint64N(3))
				}
			})
			tb.Start("reader", func(t *sim.Task) {
				r := rand.New(rand.NewPCG(seed, 2))
				ready.Wait(t)
				for range words {
					t.RisingEdge()
					t.Check(t.Until(100, "data", func() bool { return !p.Empty.Bool() }))
					p.Read.SetBool(true)
					t.RisingEdge()
					p.Read.SetBool(false)
					require.Equal(t, expected.Get(t), p.Out.Uint64())
					t.ClockCycles(1 + r.Uint64N(4))
				}
			})
			require.NoError(t, tb.Run(100_000))
		})
	}
}

// TestWaves runs the example again with waves, as one does after a failure.
func TestWaves(t *testing.T) {
	build := sim.Build{Top: "fifo", Files: []string{"fifo.v"}, Params: map[string]string{"WIDTH": "8"}, Trace: true}
	lib, err := build.Compile(context.Background())
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "fifo.fst")
	m, err := lib.New(sim.Options{Random: true, Seed: 42, WavePath: path})
	require.NoError(t, err)
	require.NoError(t, m.ResetFor(2))
	require.NoError(t, m.Cycles(20))
	m.Close()
	require.FileExists(t, path)
}
