// SPDX-License-Identifier: Apache-2.0

package commlib_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"incforge/commlib"
	"incforge/live"
	"incforge/verify/arith"
)

// trial is a call of all ranks and what must come of it.
type trial struct {
	requests []commlib.Request
	want     [][]byte // by rank; nil: nothing
}

func kind(t commlib.Type, op commlib.Op) arith.Kind {
	return arith.Kind{DType: arith.DType(t), Op: arith.Op(op)}
}

// data is a tensor of small whole numbers, whose sums are exact in any order and every type.
func data(rng *rand.Rand, t commlib.Type, bytes int) []byte {
	out := make([]byte, bytes)
	small := [][]byte{commlib.FP32: {0, 0, 0x80, 0x3F}, commlib.FP16: {0, 0x3C}, commlib.BF16: {0x80, 0x3F}} // 1
	for i := 0; i+t.Size() <= bytes; i += t.Size() {
		switch {
		case t == commlib.INT32:
			binary.LittleEndian.PutUint32(out[i:], rng.Uint32())
		case rng.IntN(2) == 0:
			copy(out[i:], small[t])
			out[i+t.Size()-1] |= byte(rng.IntN(2)) << 7 // or -1
		}
	}
	return out
}

// draw makes a call of n ranks with tensors of so many elements.
func draw(t *testing.T, rng *rand.Rand, c commlib.Collective, n, elements int, dtype commlib.Type, op commlib.Op) trial {
	t.Helper()
	var x trial
	root := rng.IntN(n)
	var parts [][]byte
	for rank := range n {
		r := commlib.Request{Collective: c, Root: root, Type: dtype, Op: op}
		bytes := elements * dtype.Size()
		if !c.Reduces() {
			bytes += rng.IntN(4) // what is copied need not be whole elements; all ranks give as much
			bytes = len(slices.Concat(parts...))/max(len(parts), 1) + bytes*max(0, 1-len(parts))
		}
		if c != commlib.Barrier {
			parts = append(parts, data(rng, dtype, bytes))
			r.Send, r.Recv = parts[rank], make([]byte, bytes)
		}
		x.requests, x.want = append(x.requests, r), append(x.want, nil)
	}
	for rank := range n {
		r := &x.requests[rank]
		switch c {
		case commlib.AllReduce:
			x.want[rank] = exact(t, dtype, op, parts)
		case commlib.Reduce:
			if rank == root {
				x.want[rank] = exact(t, dtype, op, parts)
			} else {
				r.Recv = nil
			}
		case commlib.Broadcast:
			if rank == root {
				r.Recv = nil
			} else {
				r.Send, x.want[rank] = nil, parts[root]
			}
		case commlib.ReduceScatter:
			first, beyond := commlib.Part(elements, n, rank)
			x.want[rank] = exact(t, dtype, op, parts)[first*dtype.Size() : beyond*dtype.Size()]
			r.Recv = make([]byte, len(x.want[rank]))
		case commlib.AllGather:
			x.want[rank] = slices.Concat(parts...)
			r.Recv = make([]byte, len(x.want[rank]))
		}
	}
	return x
}

func exact(t *testing.T, dtype commlib.Type, op commlib.Op, parts [][]byte) []byte {
	t.Helper()
	if len(parts[0]) == 0 {
		return []byte{}
	}
	want, err := kind(dtype, op).Exact(parts...)
	require.NoError(t, err)
	return want
}

// check compares.
func (x *trial) check(t *testing.T, what string) {
	t.Helper()
	for rank, want := range x.want {
		if want != nil {
			require.Equal(t, want, x.requests[rank].Recv, "%s, rank %d", what, rank)
		}
	}
}

// run does a trial on all ranks at once.
func (x *trial) run(ctx context.Context, all []*commlib.Group) error {
	return everybody(len(all), func(rank int) error { return all[rank].Do(ctx, x.requests[rank]) })
}

// All collectives, types and sizes, one after the other and many at once, on hosts of one leaf and of two.
func TestCollectives(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	rng := rand.New(rand.NewPCG(1, 2))
	for i, members := range [][]string{{"h2", "h0", "h1", "h3"}, {"h1", "h0"}} {
		all, err := c.init(ctx, fmt.Sprint("g", i), members, func(cfg *commlib.Config) { cfg.Tuning.RangePackets = 7 })
		require.NoError(t, err)
		n := len(members)
		for _, what := range commlib.Collectives() {
			for _, elements := range []int{0, 1, 300, 5000} {
				for _, dtype := range commlib.Types() {
					x := draw(t, rng, what, n, elements, dtype, commlib.Op(rng.IntN(3)))
					name := fmt.Sprintf("%v, %d elements", &x.requests[0], elements)
					require.NoError(t, x.run(ctx, all), name)
					x.check(t, name)
				}
			}
		}
		many(ctx, t, rng, all)
		require.NoError(t, everybody(n, func(rank int) error { return all[rank].Destroy(ctx) }))
	}
	c.empty()
}

// many queues calls with handles.
func many(ctx context.Context, t *testing.T, rng *rand.Rand, all []*commlib.Group) {
	t.Helper()
	var trials []trial
	for range 40 {
		what := commlib.Collectives()[rng.IntN(6)]
		trials = append(trials, draw(t, rng, what, len(all), rng.IntN(600), commlib.INT32, commlib.Sum))
	}
	require.NoError(t, everybody(len(all), func(rank int) error {
		var calls []*commlib.Call
		for i := range trials {
			c, err := all[rank].Start(trials[i].requests[rank])
			if err != nil {
				return err
			}
			calls = append(calls, c)
		}
		for _, c := range calls {
			if err := c.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range trials {
		trials[i].check(t, fmt.Sprint("handle ", i))
	}
}

// empty checks that nothing is left anywhere.
func (c *cluster) empty() {
	c.t.Helper()
	for name, n := range c.switches {
		require.Eventually(c.t, func() bool {
			l, err := n.agent.List(context.Background(), nil)
			return err == nil && len(l.Groups) == 0 && int(l.FreeSlots) == c.own() && int(l.FreeRecords) == c.params.AllGroups()
		}, 5*time.Second, 10*time.Millisecond, name)
	}
	for name, h := range c.hosts {
		qps, regions := h.nic.InUse()
		require.Zero(c.t, qps, name)
		require.Zero(c.t, regions, name)
	}
}

// Frames are lost, doubled and held back on every wire, in each mode: what comes is exact. In Mode I the members have first PSNs of their own.
func TestLossyWires(t *testing.T) {
	for _, mode := range []int{1, 2, 3} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			p := paramsOf(mode)
			c, ctx := newCluster(t, p, live.Faults{Loss: 0.01, Duplicate: 0.01, Reorder: 0.01}), within(t, time.Minute)
			rng := rand.New(rand.NewPCG(7, 8))
			all, err := c.init(ctx, "g", []string{"h3", "h1", "h2", "h0"}, func(cfg *commlib.Config) { cfg.Tuning.QPTimeout = 12 })
			require.NoError(t, err)
			for range 2 {
				for _, what := range commlib.Collectives() {
					x := draw(t, rng, what, 4, 5000, commlib.INT32, commlib.Sum)
					require.NoError(t, x.run(ctx, all), what)
					x.check(t, what.String())
				}
			}
			require.NoError(t, everybody(4, func(rank int) error { return all[rank].Destroy(ctx) }))
			c.empty()
		})
	}
}

// Inputs and outputs are the same memory, wherever that can be.
func TestInPlace(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{Loss: 0.005}), within(t, time.Minute)
	rng := rand.New(rand.NewPCG(9, 10))
	all, err := c.init(ctx, "g", []string{"h3", "h1", "h2"}, func(cfg *commlib.Config) { cfg.Tuning.QPTimeout = 12 })
	require.NoError(t, err)
	for _, what := range []commlib.Collective{commlib.AllReduce, commlib.Reduce, commlib.ReduceScatter, commlib.AllGather} {
		x := draw(t, rng, what, 3, 9000, commlib.INT32, commlib.Max)
		for rank := range x.requests {
			r := &x.requests[rank]
			switch {
			case what == commlib.AllGather:
				own := r.Recv[rank*len(r.Send):][:len(r.Send)]
				copy(own, r.Send)
				r.Send = own
			case what == commlib.ReduceScatter:
				first, _ := commlib.Part(9000, 3, rank)
				r.Recv = r.Send[4*first:][:len(r.Recv)]
			case r.Recv != nil:
				r.Recv = r.Send
			}
		}
		require.NoError(t, x.run(ctx, all), what)
		x.check(t, what.String())
	}
	require.NoError(t, everybody(3, func(rank int) error { return all[rank].Destroy(ctx) }))
}

// Groups that registers fix to one collective do that, and refuse everything else.
func TestFixedGroups(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	rng := rand.New(rand.NewPCG(11, 12))
	for _, what := range []commlib.Collective{commlib.AllReduce, commlib.Reduce, commlib.Broadcast, commlib.Barrier} {
		x := draw(t, rng, what, 4, 3000, commlib.FP16, commlib.Sum)
		y := draw(t, rng, what, 4, 0, commlib.FP16, commlib.Sum)
		fixed := commlib.Request{Collective: what, Root: x.requests[0].Root, Type: commlib.FP16}
		all, err := c.init(ctx, "g", []string{"h0", "h3", "h1", "h2"}, func(cfg *commlib.Config) { cfg.Fixed = &fixed })
		require.NoError(t, err)
		require.NoError(t, x.run(ctx, all), what)
		x.check(t, what.String())
		if y.requests[0].Root == fixed.Root || !what.Rooted() {
			require.NoError(t, y.run(ctx, all), what)
			y.check(t, what.String())
		}
		require.ErrorContains(t, all[0].AllReduce(ctx, make([]byte, 4), make([]byte, 4), commlib.FP32, commlib.Sum), "the engines have")
		require.ErrorContains(t, all[0].AllGather(ctx, nil, nil), "the group does nothing but "+what.String())
		require.NoError(t, all[2].Abort(ctx, "enough"))
		for rank, g := range all {
			if rank != 2 {
				require.Eventually(t, func() bool { return g.Err() != nil }, 5*time.Second, time.Millisecond)
				require.ErrorContains(t, g.Err(), "enough")
			}
			require.NoError(t, g.Abort(ctx, ""))
		}
	}
	c.empty()
}

// What cannot be is refused before anything is sent, and the group goes on.
func TestRefused(t *testing.T) {
	c, ctx := newCluster(t, params(), live.Faults{}), within(t, time.Minute)
	all, err := c.init(ctx, "g", []string{"h0", "h1"}, nil)
	require.NoError(t, err)
	b := func(n int) []byte { return make([]byte, n) }
	for want, r := range map[string]commlib.Request{
		"there is no such collective":                 {Collective: 9},
		"root 2 of 2 ranks":                           {Collective: commlib.Reduce, Root: 2},
		"root -1 of 2 ranks":                          {Collective: commlib.Broadcast, Root: -1},
		"the engines have [fp32 fp16 bf16 int32]":     {Collective: commlib.AllReduce, Type: 7},
		"the engines have [sum min max]":              {Collective: commlib.AllReduce, Op: 3},
		"6 bytes are no whole number of elements":     {Collective: commlib.AllReduce, Send: b(6), Recv: b(6)},
		"there is room for 4 bytes, 8 come":           {Collective: commlib.AllReduce, Send: b(8), Recv: b(4)},
		"there is room for 0 bytes, 8 come":           {Collective: commlib.Reduce, Send: b(8)},
		"there is room for 8 bytes, 4 come":           {Collective: commlib.ReduceScatter, Send: b(8), Recv: b(8)},
		"there is room for 8 bytes, 16 come":          {Collective: commlib.AllGather, Send: b(8), Recv: b(8)},
		"reduce root 0 fp32 sum of 8 bytes: there is": {Collective: commlib.Reduce, Send: b(8), Recv: b(3)},
	} {
		require.ErrorContains(t, all[0].Do(ctx, r), want)
	}
	require.NoError(t, everybody(2, func(rank int) error { return all[rank].Barrier(ctx) }))
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	require.ErrorIs(t, all[0].Barrier(short), context.DeadlineExceeded, "the other one does not come")
	require.NoError(t, all[1].Barrier(ctx), "it goes on nevertheless")
	require.NoError(t, everybody(2, func(rank int) error { return all[rank].Destroy(ctx) }))
	_, err = commlib.InitGroup(ctx, commlib.Config{Name: "x", Rank: 1, Members: []string{"h0"}})
	require.ErrorContains(t, err, "rank 1 of 1 members")
	cfg := c.config("y", []string{"h0", "nobody"}, 0)
	_, err = commlib.InitGroup(ctx, cfg)
	require.ErrorContains(t, err, "rank 0 (h0): join group y")
	require.ErrorContains(t, err, "nobody")
	_, err = c.init(ctx, "z", []string{"h0", "h1"}, func(cfg *commlib.Config) { cfg.Tuning.Packets = 1000 })
	require.ErrorContains(t, err, "messages of 1000 packets in a window of")
	c.empty()
}
