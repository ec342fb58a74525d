// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/testcost"
	"incforge/network/chaos"
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// chaosEngine is a configuration's Verilog for cases of chaos.
func chaosEngine(t *testing.T, config string, sets []string) chaos.Engine {
	t.Helper()
	m, engines, err := dut.Source{ManifestDir: generate(t, named(t, config, sets...))}.Open(testcost.Context(t))
	require.NoError(t, err)
	return chaos.Engine{Config: config, Set: sets, Manifest: m, Open: engines.New}
}

// TestRegressionsOnVerilog: cases that showed a fault once pass on the Verilog of the configuration that they name; on those that are no
// presets, which no other test compiles, with -every-config.
func TestRegressionsOnVerilog(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../network/chaos/testdata/regress/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	byEngine := map[string][]string{}
	cases := map[string]chaos.Case{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		c, err := chaos.Parse(text)
		require.NoError(t, err, f)
		if len(c.Set) > 0 && !*everyConfig {
			continue
		}
		c.DUT = chaos.RTL
		cases[f] = c
		name := strings.Join(append([]string{c.Config}, c.Set...), " ")
		byEngine[name] = append(byEngine[name], f)
	}
	for name, files := range byEngine {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := cases[files[0]]
			r := &chaos.Runner{DUT: chaos.RTL, Engines: []chaos.Engine{chaosEngine(t, first.Config, first.Set)}}
			for _, f := range files {
				o, err := r.Run(testcost.Context(t), cases[f])
				require.NoError(t, err, f)
				assert.Equal(t, chaos.Passed, o.Kind, "%s: %v", f, o.Err)
				assert.NotZero(t, o.Links.Frames, f)
			}
		})
	}
}

// TestCampaignOnVerilog: so do the first cases of the campaign on mini.
func TestCampaignOnVerilog(t *testing.T) {
	t.Parallel()
	const cases = 20
	r := &chaos.Runner{DUT: chaos.RTL, Engines: []chaos.Engine{chaosEngine(t, "mini", nil)}}
	require.NoError(t, r.Check())
	s, err := r.Campaign(testcost.Context(t), chaos.Campaign{From: 1, To: cases})
	require.NoError(t, err)
	for _, f := range s.Failures {
		t.Errorf("seed %d: %s: %s", f.Seed, f.Kind, f.Message)
	}
	assert.Equal(t, cases, s.Cases)
	assert.Positive(t, s.Lost)
	assert.Positive(t, s.Resent)
}

// TestMixedTree: a Tree-3-2 of which some switches are Verilog, the others references, gives what a tree of references alone gives, to
// every rank, call for call, with losses on all links, in both modes.
func TestMixedTree(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"mini", "mini3"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			mixedTree(t, generate(t, named(t, preset)))
		})
	}
}

// mixedTree is TestMixedTree for the engine generated in a folder.
func mixedTree(t *testing.T, dir string) {
	t.Helper()
	m, verilog, err := dut.Source{ManifestDir: dir}.Open(testcost.Context(t))
	require.NoError(t, err)
	_, reference, err := dut.Source{ManifestDir: dir, Kind: dut.KindReference}.Open(testcost.Context(t))
	require.NoError(t, err)
	tree := topology.Tree{Levels: 3, Degree: 2}
	outputs := func(rtl ...int) [][][]byte {
		w, err := comm.New(comm.Config{Manifest: m, Tree: tree, Seed: 3,
			Link: func(comm.Edge) *fabric.Link {
				return &fabric.Link{Latency: 40, BytesPerCycle: 8, Up: fabric.Faults{Loss: 0.01}, Down: fabric.Faults{Loss: 0.01}}
			},
			Switch: func(n int) (dut.DUT, error) {
				if slices.Contains(rtl, n) {
					return verilog.New(uint64(n))
				}
				return reference.New(uint64(n))
			}})
		require.NoError(t, err)
		defer func() { assert.NoError(t, w.Close()) }()
		g, err := w.NewGroup(comm.GroupConfig{PathMTU: 256})
		require.NoError(t, err)
		k, rng := arith.Kind{DType: arith.INT32}, rand.New(rand.NewPCG(8, 3))
		var calls []*comm.Call
		for i, c := range append(comm.Collectives(), comm.Collectives()...) {
			r := comm.Request{Collective: c, Root: i % tree.Ranks(), DType: k.DType, Op: k.Op}
			for range tree.Ranks() {
				if c != comm.Barrier {
					r.In = append(r.In, k.Values(rng, uint64(i), tree.Ranks(), 4*(300+70*i)))
				}
			}
			call, err := g.Queue(r)
			require.NoError(t, err)
			calls = append(calls, call)
		}
		require.NoError(t, w.Run(testcost.Context(t)))
		require.NoError(t, w.Finish(testcost.Context(t)))
		assert.Positive(t, w.Net().Stats.Lost)
		var out [][][]byte
		for _, c := range calls {
			require.NoError(t, c.Check())
			out = append(out, c.Out)
		}
		return out
	}
	want := outputs()
	for _, rtl := range [][]int{{0}, {1}, {0, 2}} {
		assert.Empty(t, cmp.Diff(want, outputs(rtl...)), "switches %v are Verilog", rtl)
	}
}

// TestMixedModes: a Tree-3-2 with switches of Modes I and III on Verilog, over links that lose frames: the root is of one mode and the leaves of the other, or one
// leaf is of Mode III. Every collective is exact; messages have several packets and a shorter last one. Without -every-config one of the twelve.
func TestMixedModes(t *testing.T) {
	t.Parallel()
	open := func(preset string) (*contract.Manifest, dut.Engines) {
		m, engines, err := dut.Source{ManifestDir: generate(t, named(t, preset))}.Open(testcost.Context(t))
		require.NoError(t, err)
		return m, engines
	}
	messages, terminates := open("mini1")
	packets, pipes := open("mini3")
	tree := topology.Tree{Levels: 3, Degree: 2}
	for _, piped := range [][]int{{0}, {1, 2}, {2}} {
		for _, collective := range []comm.Collective{comm.AllReduce, comm.Reduce, comm.Broadcast, comm.Barrier} {
			if !*everyConfig && (collective != comm.AllReduce || len(piped) != 2) {
				continue
			}
			t.Run(fmt.Sprintf("%s, %v of Mode III", collective, piped), func(t *testing.T) {
				others := map[int]*contract.Manifest{}
				for _, s := range piped {
					others[s] = packets
				}
				w, err := comm.New(comm.Config{Manifest: messages, Others: others, Tree: tree, Seed: 3,
					Link: func(comm.Edge) *fabric.Link {
						return &fabric.Link{Latency: 40, BytesPerCycle: 8, Up: fabric.Faults{Loss: 0.01}, Down: fabric.Faults{Loss: 0.01}}
					},
					Switch: func(n int) (dut.DUT, error) {
						if others[n] != nil {
							return pipes.New(uint64(n))
						}
						return terminates.New(uint64(n))
					}})
				require.NoError(t, err)
				defer func() { assert.NoError(t, w.Close()) }()
				fixed := comm.Request{Collective: collective, Root: 1, DType: arith.INT32}
				g, err := w.NewGroup(comm.GroupConfig{Fixed: &fixed, PathMTU: 256})
				require.NoError(t, err)
				rng := rand.New(rand.NewPCG(31, 11))
				for calls := uint64(0); calls < 3 || w.Net().Stats.Lost == 0; calls++ {
					r := fixed
					for range tree.Ranks() {
						if collective != comm.Barrier {
							r.In = append(r.In, arith.Kind{DType: arith.INT32}.Values(rng, calls, tree.Ranks(), 3*messages.Params.MTUBytes+100))
						}
					}
					call, err := g.Queue(r)
					require.NoError(t, err)
					require.NoError(t, w.Run(testcost.Context(t)))
					require.NoError(t, call.Check())
				}
				require.NoError(t, w.Finish(testcost.Context(t)))
				for s := range tree.Switches() {
					c, err := w.Driver(s).Counters()
					require.NoError(t, err)
					_, one := c["TX_INVALID"]
					assert.Equal(t, others[s] == nil, one, "switch %d", s)
					assert.Zero(t, c["TX_INVALID"], "switch %d", s)
					assert.Positive(t, c["RX_FRAMES"], "switch %d", s)
				}
			})
		}
	}
}
