// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"incforge/internal/fail"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// The network of EPIC's loss sweeps (SIGCOMM '26, packet simulation), on which Loss and Rate measure: a star of eight ranks, links of
// 100 Gbit/s and 1 µs, packets of 4 KB, host time-outs of 1 ms.
const (
	starRanks     = 8
	starLinkGbps  = 100
	starLatencyUS = 1
	starTimeoutUS = 1000
	// frameOverhead is what a packet has on a link besides its payload, in bytes: headers and ICRC, then FCS, preamble and gap.
	frameOverhead = 58 + 24
)

// StarOptions say how Loss and Rate measure.
type StarOptions struct {
	Options
	DUT dut.Kind
	// Packets is the number of packets that a rank sends in a run, at least 1. Jobs is the number of runs at once; 0 means one per
	// processor.
	Packets, Jobs int
}

// starBench is what the runs of a benchmark over a star have in common.
type starBench struct {
	kind arith.Kind
	in   [][]byte // by rank
	mhz  int
}

// newStar draws what the ranks send, which takes seconds. It fails as package fail does.
func newStar(ctx context.Context, o StarOptions, d design, kind arith.Kind) starBench {
	b := starBench{kind: kind, mhz: max(d.man.Params.ClockMHz, 1)}
	rng := rand.New(rand.NewPCG(o.Seed, 0x73746172))
	for range starRanks {
		fail.On(ctx.Err())
		b.in = append(b.in, kind.Values(rng, o.Seed, starRanks, o.Packets*d.man.Params.MTUBytes))
	}
	return b
}

// fits fails where a design is too small for the star, or of another mode.
func (d design) fits(mode int) {
	p := d.man.Params
	switch {
	case p.Mode != mode:
		fail.Now("%s is of Mode %d, expected %d", d.man.Name, p.Mode, mode)
	case p.Members < starRanks:
		fail.Now("a star of %d ranks needs as many members, %s has %d", starRanks, d.man.Name, p.Members)
	}
}

// percent is a rank's throughput in per cent of a fast link's rate: the network is simulated in cycles, so no clock has part in it.
func (b *starBench) percent(bitsPerCycle float64) float64 {
	return 100 * bitsPerCycle / 8 / b.bytesPerCycle(starLinkGbps)
}

// bytesPerCycle converts a link's rate in Gbit/s.
func (b *starBench) bytesPerCycle(gbps float64) float64 { return gbps * 1000 / 8 / float64(b.mhz) }

// outcome is what a run left behind: of the links, of the rate cuts of all NICs, and of the engine.
type outcome struct {
	*commlib.Call
	links    fabric.Stats
	cuts     int
	counters map[string]uint64
}

// run is one collective in a group of its own on a network of its own.
func (b *starBench) run(ctx context.Context, d design, seed uint64, what commlib.Collective, net commlib.Config,
	group commlib.GroupConfig) (o outcome, err error) {
	defer fail.Catch(&err, "")
	w := fail.Must(d.star(starRanks, seed, net))
	defer w.Close()
	group.Start = new(roce.PSN)
	group.Fixed = &commlib.Request{Collective: what, DType: b.kind.DType, Op: b.kind.Op}
	g := fail.Must(w.NewGroup(group))
	o.Call = fail.Must(g.Queue(commlib.Request{Collective: what, In: b.in, DType: b.kind.DType, Op: b.kind.Op}))
	fail.On(complete(ctx, w, o.Call))
	for r := range starRanks {
		o.cuts += g.Host(r).Stats.RateCuts
	}
	o.links, o.counters = w.Net().Stats, fail.Must(w.Driver(0).Counters())
	return o, w.Close()
}

// star makes a network of one switch and the ranks around it, which the caller closes.
func (d design) star(ranks int, seed uint64, net commlib.Config) (*commlib.World, error) {
	net.Manifest, net.Tree, net.Seed = d.man, topology.Tree{Levels: 2, Degree: ranks}, seed
	net.Switch = func(int) (dut.DUT, error) { return d.open(seed) }
	return commlib.New(net)
}

// complete runs all calls to their end and checks every result, NIC and counter.
func complete(ctx context.Context, w *commlib.World, calls ...*commlib.Call) (err error) {
	defer fail.Catch(&err, "")
	fail.On(w.Run(ctx))
	for _, c := range calls {
		fail.On(until(ctx, c.Check))
	}
	return w.Finish(ctx)
}

// each calls f with 0 to n−1, several at once, until ctx ends or a call fails.
func (o *StarOptions) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(o.Jobs, runtime.NumCPU()))
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(ctx, i)
		})
	}
	return g.Wait()
}
