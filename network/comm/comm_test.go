// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/network/fabric"
	"incforge/network/ranges"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// engine are parameters of an engine that has everything, for trees of that degree.
func engine(degree int) contract.Params {
	p := synthetic.Full()
	p.Members, p.Ports, p.MTUBytes, p.WindowPackets = degree+1, degree+1, 256, 64
	p.BufferBytes = p.MTUBytes * 1024
	return p
}

// inMode is the same engine in Mode II or III.
func inMode(mode int, p contract.Params) contract.Params {
	p.Mode = mode
	return p
}

// inBoth runs a test in both modes.
func inBoth(t *testing.T, test func(t *testing.T, mode int)) {
	t.Helper()
	for _, mode := range []int{2, 3} {
		t.Run(fmt.Sprintf("mode %d", mode), func(t *testing.T) { test(t, mode) })
	}
}

// world is a tree of reference engines.
func world(t *testing.T, tree topology.Tree, p contract.Params, change ...func(*Config)) *World {
	t.Helper()
	m := synthetic.Manifest(p)
	cfg := Config{Manifest: m, Tree: tree, Seed: 1, Switch: func(int) (dut.DUT, error) { return dut.NewReference(m) }}
	for _, c := range change {
		c(&cfg)
	}
	w, err := New(cfg)
	require.NoError(t, err)
	return w
}

// lossy loses frames on every link in both directions.
func lossy(p float64) func(*Config) {
	return func(c *Config) {
		c.Link = func(Edge) *fabric.Link {
			return &fabric.Link{Latency: 40, BytesPerCycle: 8, Up: fabric.Faults{Loss: p}, Down: fabric.Faults{Loss: p}}
		}
	}
}

// values are tensors of so many bytes whose reduction is exact.
func values(rng *rand.Rand, k arith.Kind, ranks, n int) [][]byte {
	all := make([][]byte, ranks)
	salt := rng.Uint64()
	for r := range all {
		all[r] = k.Values(rng, salt, ranks, n)
	}
	return all
}

// tensors are data for a request of n bytes: exact sums where there are any, anything otherwise.
func tensors(rng *rand.Rand, r Request, ranks, n int) [][]byte {
	switch {
	case r.Collective == Barrier:
		return nil
	case r.Collective.Reduces():
		return values(rng, arith.Kind{DType: r.DType, Op: r.Op}, ranks, n/r.DType.Size()*r.DType.Size())
	}
	return values(rng, arith.Kind{DType: arith.INT32}, ranks, n)
}

// finish runs what is queued and checks results and what is left.
func finish(t *testing.T, w *World, calls ...*Call) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, w.Run(ctx))
	for _, c := range calls {
		require.True(t, c.Done())
		require.NoError(t, c.Check())
	}
	require.NoError(t, w.Finish(ctx))
}

// do makes one call, from start to end, and gives what each rank has then.
func do(t *testing.T, g *Group, r Request) [][]byte {
	t.Helper()
	c, err := g.Queue(r)
	require.NoError(t, err)
	require.NoError(t, g.w.Run(context.Background()))
	require.NoError(t, c.Err)
	return c.Out
}

// shape is Tree-levels-degree.
func shape(levels, degree int) topology.Tree { return topology.Tree{Levels: levels, Degree: degree} }

func trees() []topology.Tree {
	return []topology.Tree{shape(2, 4), shape(3, 2), shape(4, 2), shape(2, 16)}
}

// TestCollectives: each collective, every type, roots at both ends and in the middle.
func TestCollectives(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		for _, tree := range trees() {
			t.Run(tree.String(), func(t *testing.T) {
				w := world(t, tree, inMode(mode, engine(tree.Degree)))
				g, err := w.NewGroup(GroupConfig{Message: 3, Window: 5})
				require.NoError(t, err)
				n := tree.Ranks()
				rng := rand.New(rand.NewPCG(3, uint64(n)))
				for d := arith.FP32; d <= arith.INT32; d++ {
					k := arith.Kind{DType: d, Op: arith.Op(rng.IntN(3))}
					in := values(rng, k, n, 4*n*33+2*(4-d.Size()))
					sum, err := k.Exact(in...)
					require.NoError(t, err)

					all := do(t, g, Request{Collective: AllReduce, In: in, DType: k.DType, Op: k.Op})
					parts := do(t, g, Request{Collective: ReduceScatter, In: in, DType: k.DType, Op: k.Op})
					for r := range n {
						assert.Equal(t, sum, all[r], "AllReduce %s rank %d", k, r)
					}
					assert.Equal(t, sum, slices.Concat(parts...), "ReduceScatter %s", k)

					do(t, g, Request{Collective: Barrier})
					for _, root := range []int{0, n / 2, n - 1} {
						got := do(t, g, Request{Collective: Reduce, Root: root, In: in, DType: k.DType, Op: k.Op})
						assert.Equal(t, sum, got[root], "Reduce %s root %d", k, root)
						data := make([][]byte, n)
						data[root] = in[root][:len(in[root])-int(d)] // not whole elements of anything
						for r, got := range do(t, g, Request{Collective: Broadcast, Root: root, In: data}) {
							assert.Equal(t, data[root], got, "Broadcast root %d rank %d", root, r)
						}
					}
					each := make([][]byte, n)
					for r := range n {
						each[r] = in[r][:17*r+int(d)]
					}
					for r, got := range do(t, g, Request{Collective: AllGather, In: each}) {
						assert.Equal(t, slices.Concat(each...), got, "AllGather rank %d", r)
					}
				}
				require.NoError(t, w.Finish(context.Background()))
			})
		}
	})
}

// mixed is a random sequence of calls on one group, drawn from a seed.
func mixed(t *testing.T, mode int, tree topology.Tree, seed uint64, loss float64) {
	rng := rand.New(rand.NewPCG(seed, 99))
	w := world(t, tree, inMode(mode, engine(tree.Degree)), lossy(loss), func(c *Config) {
		c.Seed, c.NoGapNAK = seed, seed%4 == 3
		c.Pipes = Pipes{NoRNR: seed%3 == 1, RNRTimer: uint8(seed % 4), CNP: seed%2 == 1}
	})
	message := 1 + rng.IntN(4)
	cfg := GroupConfig{Message: message, Window: 1 + rng.IntN(64/message), RootLocal: rng.IntN(3) == 0, BigEndian: rng.IntN(4) == 0,
		PathMTU: []int{256, 200, 64}[rng.IntN(3)]}
	if mode == 3 {
		cfg.Pipe = 1 + rng.IntN(64)
	}
	g, err := w.NewGroup(cfg)
	require.NoError(t, err)
	n := tree.Ranks()
	var calls []*Call
	for range 8 {
		r := Request{Collective: Collective(rng.IntN(6)), Root: rng.IntN(n), DType: arith.DType(rng.IntN(4)), Op: arith.Op(rng.IntN(3))}
		size := rng.IntN(4000)
		if k := (arith.Kind{DType: r.DType, Op: r.Op, BigEndian: g.cfg.BigEndian}); r.Collective.Reduces() {
			r.In = values(rng, k, n, size/4*4)
		} else {
			r.In = tensors(rng, r, n, size)
		}
		c, err := g.Queue(r)
		require.NoError(t, err)
		calls = append(calls, c)
	}
	finish(t, w, calls...)
	if loss == 0 && !w.cfg.Pipes.NoRNR { // what finds a pipe full without an answer is sent again after the time-out
		assert.Zero(t, g.ranks[0].host.Stats.Timeouts, "nothing was lost")
	}
}

// TestSequences mixes collectives, roots, types and sizes on one set of connections, windows from 1 to 64 packets.
func TestSequences(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		for _, tree := range trees() {
			for _, loss := range []float64{0, 0.01} {
				t.Run(fmt.Sprintf("%s loss %g", tree, loss), func(t *testing.T) {
					for seed := range uint64(12) {
						mixed(t, mode, tree, seed, loss)
					}
				})
			}
		}
	})
}

// TestWindows: the same tensor in every window, in messages of one and of four packets; nothing is lost, so nothing is sent twice.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	in := values(rng, arith.Kind{}, 4, 64*256+100)
	var cycles []uint64
	for _, c := range []GroupConfig{{Message: 1, Window: 1}, {Message: 1, Window: 2}, {Message: 4, Window: 1}, {Message: 1, Window: 7}, {Message: 4, Window: 4},
		{Message: 1, Window: 64}, {Message: 4, Window: 16}} {
		w := world(t, shape(3, 2), engine(2))
		g, err := w.NewGroup(c)
		require.NoError(t, err)
		call, err := g.Queue(Request{Collective: AllReduce, In: in})
		require.NoError(t, err)
		finish(t, w, call)
		assert.Zero(t, call.Total.Resent)
		assert.Equal(t, 4*(65+1), call.Total.Packets)
		cycles = append(cycles, call.Cycles())
	}
	assert.Greater(t, cycles[0], cycles[1])
	assert.Greater(t, cycles[1], cycles[3])
	assert.Greater(t, cycles[3], cycles[5], "a larger window is faster as long as it does not fill the path")
}

// TestLengths: nothing, one element, odd tails, a message and a window to the byte, and calls of many ranges.
func TestLengths(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		rng := rand.New(rand.NewPCG(8, 8))
		for _, fixed := range []bool{false, true} {
			for _, n := range []int{0, 2, 4, 6, 254, 256, 258, 512, 514, 1024, 1026, 5120, 5122} {
				for _, k := range []Collective{AllReduce, Reduce, Broadcast} {
					r := Request{Collective: k, Root: 2, DType: arith.BF16, Op: arith.Sum}
					c := GroupConfig{Message: 2, Window: 2, RangePackets: 5}
					if fixed {
						c.Fixed = &Request{Collective: k, Root: 2, DType: arith.BF16}
					}
					w := world(t, shape(2, 4), inMode(mode, engine(4)))
					g, err := w.NewGroup(c)
					require.NoError(t, err)
					r.In = tensors(rng, r, 4, n)
					call, err := g.Queue(r)
					require.NoError(t, err)
					finish(t, w, call)
					opened, err := w.Driver(0).Counters()
					require.NoError(t, err)
					if ranges := max(1, (n+5*256-1)/(5*256)); fixed {
						assert.Zero(t, opened["RANGE_OPEN"])
					} else {
						assert.EqualValues(t, ranges, opened["RANGE_OPEN"], "%d bytes", n)
					}
				}
			}
		}
	})
}

// TestFixed: groups without controls, every root, under loss.
func TestFixed(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		for _, tree := range []topology.Tree{shape(2, 4), shape(3, 2), shape(4, 2)} {
			n := tree.Ranks()
			for _, k := range []Collective{AllReduce, Reduce, Broadcast, Barrier} {
				for root := range n {
					if root > 0 && !k.Rooted() {
						continue
					}
					rng := rand.New(rand.NewPCG(uint64(root), uint64(k)))
					f := &Request{Collective: k, Root: root, DType: arith.DType(root % 4), Op: arith.Op(root % 3)}
					w := world(t, tree, inMode(mode, engine(tree.Degree)), lossy(0.01))
					g, err := w.NewGroup(GroupConfig{Message: 2, Window: 4, Fixed: f, RootLocal: root%2 == 1})
					require.NoError(t, err)
					var calls []*Call
					for range 3 {
						r := Request{Collective: k, Root: root, DType: f.DType, Op: f.Op}
						r.In = tensors(rng, r, n, 3000)
						c, err := g.Queue(r)
						require.NoError(t, err)
						calls = append(calls, c)
					}
					finish(t, w, calls...)
					if k == AllReduce {
						do(t, g, Request{Collective: Barrier})
					}
				}
			}
		}
	})
}

// TestGroupsOverlap: two groups at the same time take less than one after the other, and more than the slower one alone.
func TestGroupsOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	in := values(rng, arith.Kind{}, 4, 8000)
	requests := []Request{{Collective: ReduceScatter, In: in}, {Collective: AllGather, In: [][]byte{in[0][:2000], in[1][:2000], in[2][:2000], in[3][:2000]}}}
	take := func(which ...int) uint64 {
		w := world(t, shape(3, 2), engine(2))
		var calls []*Call
		for _, i := range which {
			g, err := w.NewGroup(GroupConfig{Message: 1, Window: 16})
			require.NoError(t, err)
			c, err := g.Queue(requests[i])
			require.NoError(t, err)
			calls = append(calls, c)
		}
		finish(t, w, calls...)
		end := uint64(0)
		for _, c := range calls {
			end = max(end, c.End)
		}
		return end
	}
	scatter, gather, both := take(0), take(1), take(0, 1)
	assert.Less(t, both, scatter+gather)
	assert.Greater(t, both, max(scatter, gather))
}

// TestReproducible: sums of floats that no order makes exact have the same bits in every run, those of the tree.
func TestReproducible(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		p := inMode(mode, engine(4))
		p.Accumulate, p.Members = "reproducible", 5
		p.BufferBytes *= p.Planes()
		for _, tree := range []topology.Tree{shape(2, 4), shape(3, 2)} {
			n := tree.Ranks()
			for seed := range uint64(6) {
				w := world(t, tree, p, lossy(0.01), func(c *Config) { c.Seed = seed })
				g, err := w.NewGroup(GroupConfig{Window: 8, RootLocal: seed%2 == 1})
				require.NoError(t, err)
				rng := rand.New(rand.NewPCG(5, 5)) // the same numbers for all seeds
				var calls []*Call
				for _, k := range []Collective{AllReduce, Reduce, ReduceScatter} {
					for d := arith.FP32; d <= arith.BF16; d++ {
						in := make([][]byte, n)
						for r := range in {
							in[r] = arith.Kind{DType: d}.Noise(rng, 2000)
						}
						c, err := g.Queue(Request{Collective: k, Root: 1, In: in, DType: d})
						require.NoError(t, err)
						calls = append(calls, c)
					}
				}
				finish(t, w, calls...)
			}
		}
	})
}

// TestInexactSums: in place the bits depend on the order, and are near float64's.
func TestInexactSums(t *testing.T) {
	w := world(t, shape(3, 2), engine(2))
	g, err := w.NewGroup(GroupConfig{})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(5, 6))
	var calls []*Call
	for d := arith.FP32; d <= arith.BF16; d++ {
		k := arith.Kind{DType: d}
		in := make([][]byte, 4)
		for r := range in {
			in[r] = k.Smooth(rng, 1000)
			for i := range k.Elements(500) { // some cancel
				k.Set(in[r], i, k.Number(in[r], i)*float64(1-2*(r%2)))
			}
		}
		_, err := k.Exact(in...)
		require.ErrorIs(t, err, arith.ErrInexact)
		c, err := g.Queue(Request{Collective: AllReduce, In: in, DType: d})
		require.NoError(t, err)
		calls = append(calls, c)
	}
	finish(t, w, calls...)
	for _, c := range calls {
		k := c.kind()
		i := 200
		size := 0.0
		for _, in := range c.In {
			size += math.Abs(k.Number(in, i))
		}
		for r := range c.Out {
			k.Set(c.Out[r], i, k.Number(c.Out[r], i)+2*float64(len(c.In))*k.DType.Ulp(size))
		}
		require.ErrorIs(t, c.Check(), ErrWrong)
	}
}

// TestCheckFinds: one wrong bit anywhere, a wrong length, or a rank that differs is found.
func TestCheckFinds(t *testing.T) {
	w := world(t, shape(2, 4), engine(4))
	g, err := w.NewGroup(GroupConfig{})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(7, 7))
	for _, k := range []Collective{AllReduce, Reduce, Broadcast, ReduceScatter, AllGather} {
		r := Request{Collective: k, Root: 3, DType: arith.INT32, Op: arith.Max}
		r.In = tensors(rng, r, 4, 80)
		c, err := g.Queue(r)
		require.NoError(t, err)
		require.ErrorContains(t, c.Check(), "no result")
		finish(t, w, c)
		for rank, out := range c.Out {
			if out == nil {
				continue
			}
			i := rng.IntN(len(out))
			out[i] ^= 1 << rng.IntN(8)
			require.ErrorIs(t, c.Check(), ErrWrong, "%s rank %d byte %d", k, rank, i)
			copy(out, bytesOfRight(t, c, rank))
			require.NoError(t, c.Check())
			c.Out[rank] = out[:len(out)-4]
			require.ErrorIs(t, c.Check(), ErrWrong, "%s rank %d is short", k, rank)
			c.Out[rank] = out
		}
	}
}

// bytesOfRight is what a rank of an exact call should have.
func bytesOfRight(t *testing.T, c *Call, rank int) []byte {
	t.Helper()
	if !c.Collective.Reduces() {
		if c.Collective == Broadcast {
			return c.In[c.Root]
		}
		var all []byte
		for _, b := range c.In {
			all = append(all, b...)
		}
		return all
	}
	sum, err := c.kind().Exact(c.In...)
	require.NoError(t, err)
	if c.Collective == ReduceScatter {
		first, beyond := ranges.Part(len(sum)/4, 4, rank)
		return sum[4*first : 4*beyond]
	}
	return sum
}

// TestDeathAndReset: without one host a call never ends and the world says whom it waits for; a reset of the group brings everything back, and
// another group has not noticed.
func TestDeathAndReset(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		ctx := context.Background()
		w := world(t, shape(3, 2), inMode(mode, engine(2)))
		start := roce.PSN(0xFFFFF0)
		g, err := w.NewGroup(GroupConfig{Window: 4, Start: &start})
		require.NoError(t, err)
		other, err := w.NewGroup(GroupConfig{Window: 4})
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(6, 6))
		in := values(rng, arith.Kind{}, 4, 10_000)
		lost, err := g.Queue(Request{Collective: AllReduce, In: in})
		require.NoError(t, err)
		after, err := g.Queue(Request{Collective: Barrier})
		require.NoError(t, err)
		kept, err := other.Queue(Request{Collective: AllReduce, In: in})
		require.NoError(t, err)
		w.Net().At(3000, func() error { g.Host(2).Kill(); return nil })
		err = w.Run(ctx)
		require.ErrorIs(t, err, ErrStuck)
		assert.ErrorContains(t, err, "which these ranks have not sent: 2")
		assert.ErrorContains(t, err, "rank 2, dead")
		require.NoError(t, kept.Check())
		require.Error(t, w.Finish(ctx), "the group's queues are not empty")

		require.NoError(t, g.Reset())
		for _, c := range []*Call{lost, after} {
			require.True(t, c.Done())
			require.ErrorIs(t, c.Err, ErrReset)
			require.ErrorIs(t, c.Check(), ErrReset)
		}
		again, err := g.Queue(Request{Collective: AllReduce, In: in})
		require.NoError(t, err)
		more, err := other.Queue(Request{Collective: Reduce, Root: 1, In: in})
		require.NoError(t, err)
		finish(t, w, again, more)
	})
}

// TestResetWhileFramesFly: what is on the links for connections that are gone disturbs nobody.
func TestResetWhileFramesFly(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		ctx := context.Background()
		w := world(t, shape(3, 2), inMode(mode, engine(2)))
		g, err := w.NewGroup(GroupConfig{Window: 16})
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(6, 7))
		for i := range 5 {
			c, err := g.Queue(Request{Collective: AllReduce, In: values(rng, arith.Kind{}, 4, 20_000)})
			require.NoError(t, err)
			stop := w.Now() + uint64(1000+700*i)
			require.NoError(t, w.run(ctx, func() bool { return w.Now() >= stop }))
			require.False(t, c.Done())
			require.Positive(t, w.Net().InFlight())
			require.NoError(t, g.Reset())
		}
		c, err := g.Queue(Request{Collective: AllReduce, In: values(rng, arith.Kind{}, 4, 5000)})
		require.NoError(t, err)
		finish(t, w, c)
		counters, err := w.Driver(0).Counters()
		require.NoError(t, err)
		assert.Positive(t, counters["BYPASS"], "frames for QPNs that are nobody's any more")
	})
}

// TestCancelled: a run whose context has ended ends.
func TestCancelled(t *testing.T) {
	w := world(t, shape(2, 4), engine(4))
	g, err := w.NewGroup(GroupConfig{Window: 1})
	require.NoError(t, err)
	_, err = g.Queue(Request{Collective: Barrier})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	require.ErrorIs(t, w.Run(ctx), context.Canceled)
}

// TestSameSeedSameRun: a lossy run is the same every time, whoever runs the engines, and another seed makes another one.
func TestSameSeedSameRun(t *testing.T) {
	inBoth(t, func(t *testing.T, mode int) {
		run := func(seed uint64, workers int) (fabric.Stats, Stats, uint64) {
			w := world(t, shape(3, 2), inMode(mode, engine(2)), lossy(0.05), func(c *Config) { c.Seed = seed })
			w.Net().Workers = workers
			g, err := w.NewGroup(GroupConfig{Window: 8})
			require.NoError(t, err)
			c, err := g.Queue(Request{Collective: AllReduce, In: values(rand.New(rand.NewPCG(1, 1)), arith.Kind{}, 4, 8000)})
			require.NoError(t, err)
			finish(t, w, c)
			return w.Net().Stats, c.Total, c.Cycles()
		}
		links, total, cycles := run(5, 1)
		links2, total2, cycles2 := run(5, 3)
		assert.Equal(t, links, links2)
		assert.Equal(t, total, total2)
		assert.Equal(t, cycles, cycles2)
		links3, _, _ := run(6, 1)
		assert.NotEqual(t, links, links3)
	})
}

// TestRefusals: what cannot be is refused with its reason, and nothing is queued.
func TestRefusals(t *testing.T) {
	four := [][]byte{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}
	w := world(t, shape(2, 4), engine(4))
	g, err := w.NewGroup(GroupConfig{})
	require.NoError(t, err)
	fixed, err := w.NewGroup(GroupConfig{Window: 4, Fixed: &Request{Collective: Reduce, Root: 1, DType: arith.INT32}})
	require.NoError(t, err)
	for _, c := range []struct {
		g    *Group
		r    Request
		want string
	}{
		{g, Request{Collective: 9, In: four}, "no such collective"},
		{g, Request{Collective: AllReduce, In: four[:3]}, "data of 3 ranks"},
		{g, Request{Collective: Barrier, In: four}, "has no data"},
		{g, Request{Collective: Reduce, Root: 4, In: four}, "root 4"},
		{g, Request{Collective: Broadcast, Root: -1, In: four}, "root -1"},
		{g, Request{Collective: AllReduce, In: [][]byte{{0, 0, 0, 0}, {0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}}, "rank 1 has 2 bytes"},
		{g, Request{Collective: AllReduce, Op: 3, In: four}, "op 3"},
		{fixed, Request{Collective: Reduce, Root: 2, DType: arith.INT32, In: four}, "fixed to reduce, root 1"},
		{fixed, Request{Collective: Reduce, Root: 1, In: four}, "fixed to reduce"},
		{fixed, Request{Collective: Barrier}, "fixed to reduce"},
	} {
		_, err := c.g.Queue(c.r)
		require.ErrorContains(t, err, c.want)
	}
	_, err = w.NewGroup(GroupConfig{})
	require.ErrorContains(t, err, "2 groups")
	for want, c := range map[string]GroupConfig{
		"units of the buffer":    {Message: 64, Window: 64},
		"path MTU 254":           {PathMTU: 254},
		"a window of -1":         {Window: -1},
		"ranges of":              {RangePackets: 1 << 20},
		"root 4":                 {Fixed: &Request{Collective: Reduce, Root: 4}},
		"fixed to allgather":     {Fixed: &Request{Collective: AllGather}},
		"refuses the group's se": {Fixed: &Request{Collective: AllReduce, Op: 3}},
	} {
		_, err := world(t, shape(2, 4), engine(4)).NewGroup(c)
		require.ErrorContains(t, err, want)
	}
	finish(t, w)

	// A window that nobody gave takes what is left.
	small := engine(4)
	small.BufferBytes = 12 * small.MTUBytes
	w = world(t, shape(2, 4), small)
	g, err = w.NewGroup(GroupConfig{})
	require.NoError(t, err)
	assert.Equal(t, 2, g.Config().Window)
	_, err = w.NewGroup(GroupConfig{Window: 2})
	require.ErrorContains(t, err, "of 12 are 4 left")
	g, err = w.NewGroup(GroupConfig{})
	require.NoError(t, err)
	assert.Equal(t, 1, g.Config().Window)

	m := synthetic.Manifest(engine(2))
	_, err = New(Config{Manifest: m, Tree: shape(2, 4)})
	require.ErrorContains(t, err, "members")
	_, err = New(Config{Manifest: m, Tree: shape(1, 4)})
	require.ErrorContains(t, err, "levels")
	broken := errors.New("broken")
	_, err = New(Config{Manifest: m, Tree: shape(2, 2), Switch: func(int) (dut.DUT, error) { return nil, broken }})
	require.ErrorIs(t, err, broken)

	big := world(t, shape(3, 6), engine(6))
	g, err = big.NewGroup(GroupConfig{Window: 2})
	require.NoError(t, err)
	in := make([][]byte, 36)
	for r := range in {
		in[r] = make([]byte, 4)
	}
	_, err = g.Queue(Request{Collective: Reduce, Root: 32, In: in})
	require.ErrorContains(t, err, "controls can name")
	_, err = g.Queue(Request{Collective: AllGather, In: in})
	require.ErrorContains(t, err, "controls can name")
	do(t, g, Request{Collective: Reduce, Root: 31, In: in})
}
