// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"incforge/contract"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// The network is that of the loss sweeps, without loss and with a slower link at the last rank. Hosts' windows are
// twice a pipe: whoever sizes pipes need not know what NICs keep in flight.
const (
	rateSlowGbps  = 25
	rateTimeoutUS = 1000
	rateWindows   = 2 // a host's window, in pipes
)

// RatePolicy says how the engine answers when a pipe is full, and how hosts react.
type RatePolicy struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	// RNR and CNP are fields of PIPE_CTRL. Paced NICs cut their rate on a CNP.
	RNR   bool `json:"rnr"`
	CNP   bool `json:"cnp"`
	Paced bool `json:"paced"`
}

func ratePolicies() []RatePolicy {
	return []RatePolicy{
		{"silent", "dropped in silence; hosts' time-out 1 ms", false, false, false},
		{"rnr", "RNR NAK, 10 µs", true, false, false},
		{"cnp", "a CNP alone, hosts slow down; time-out 1 ms", false, true, true},
		{"rnr-cnp", "RNR NAK and CNP, hosts slow down", true, true, true},
	}
}

// RateOptions say what Rate measures.
type RateOptions struct {
	// Options name a Mode III design, cache and seed.
	Options
	DUT dut.Kind
	// Packets is the number of packets that a rank sends, at least 1. Jobs is the number of runs at once; 0 means one
	// per processor.
	Packets, Jobs int
	// Pipes are the sizes of pipes to measure, in slots.
	Pipes []int
}

// RatePoint is one run.
type RatePoint struct {
	// Call is the collective. The slow rank sends and receives in an AllReduce, only sends in a Reduce to rank 0, and
	// only receives in a Broadcast from rank 0.
	Call   string `json:"call"`
	Policy string `json:"policy"`
	// Pipe is N, the number of slots.
	Pipe int `json:"pipe"`
	// Percent is the payload per rank in per cent of a fast link's rate, OfBound its fraction of what the slow link can carry.
	Percent float64 `json:"percent"`
	OfBound float64 `json:"of_bound"`
	// Full counts packets that found a pipe full, Gaps the packets dropped after one of those, RNRs and CNPs the
	// answers, Cuts the rate cuts of NICs.
	Full uint32 `json:"full"`
	Gaps uint32 `json:"gaps"`
	RNRs uint32 `json:"rnrs"`
	CNPs uint32 `json:"cnps"`
	Cuts int    `json:"cuts"`
	// Packets counts packets sent by all ranks, Resent those sent again, Timeouts the ranks' time-outs.
	Packets  int `json:"packets"`
	Resent   int `json:"resent"`
	Timeouts int `json:"timeouts"`
}

// RateResult is what Rate measured.
type RateResult struct {
	Result
	DUT      dut.Kind     `json:"dut"`
	Policies []RatePolicy `json:"policies"`
	Rate     []RatePoint  `json:"rate"`
}

// Rate measures how much one congested member slows a group in Mode III, with and without RNR NAKs and CNPs:
// collectives over Tree-2-8 with links of 100 Gbit/s and 1 µs, except one of 25 Gbit/s. Every result is checked.
// Metrics:
//
//	bound_percent    the slow link's rate in payload, in per cent of a fast link's
//	CALL_POLICY_NN_of_bound   of each point, N = NN: goodput as a fraction of the bound
//	CALL_POLICY_NN_resent     of each point: resent packets as a fraction of all
func Rate(ctx context.Context, o RateOptions) (RateResult, error) {
	man, engines, err := dut.Source{ManifestDir: o.ManifestDir, Kind: o.DUT, BuildDir: o.BuildDir}.Open(ctx)
	if err != nil {
		return RateResult{}, err
	}
	return benchRate(ctx, o, man, engines.New)
}

// rateBench is the state of one Rate.
type rateBench struct {
	RateResult
	o    RateOptions
	man  *contract.Manifest
	open dut.Maker
	kind arith.Kind
	in   [][]byte
	mhz  int
}

func benchRate(ctx context.Context, o RateOptions, man *contract.Manifest, open dut.Maker) (RateResult, error) {
	p := man.Params
	switch {
	case p.Mode != 3:
		return RateResult{}, fmt.Errorf("rate: %s is of Mode %d, pipes are Mode III's", man.Name, p.Mode)
	case p.Members < lossRanks:
		return RateResult{}, fmt.Errorf("rate: a star of %d ranks needs as many members, %s has %d", lossRanks, man.Name, p.Members)
	}
	b := rateBench{o: o, man: man, open: open, kind: arith.Kinds(p.DTypeMask(), p.OpMask())[0], mhz: max(p.ClockMHz, 1)}
	rng := rand.New(rand.NewPCG(o.Seed, 0x72617465))
	for range lossRanks {
		b.in = append(b.in, b.kind.Values(rng, o.Seed, lossRanks, o.Packets*p.MTUBytes))
	}
	b.RateResult = RateResult{Result: Result{Bench: "rate", Config: man.Name, Metrics: map[string]float64{
		"bound_percent": 100 * rateSlowGbps / lossLinkGbps * float64(p.MTUBytes) / float64(p.MTUBytes+lossFrame),
		"packets":       float64(o.Packets), "simulated_mhz": float64(b.mhz), "bus_bytes": float64(p.BusBytes)}},
		DUT: o.DUT, Policies: ratePolicies()}
	for _, call := range []commlib.Collective{commlib.AllReduce, commlib.Reduce, commlib.Broadcast} {
		for _, pipe := range o.Pipes {
			for _, policy := range b.Policies {
				b.Rate = append(b.Rate, RatePoint{Call: call.String(), Policy: policy.Name, Pipe: pipe})
			}
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(rateJobs(o.Jobs))
	for i := range b.Rate {
		g.Go(func() error { return b.run(ctx, &b.Rate[i]) })
	}
	if err := g.Wait(); err != nil {
		return b.RateResult, err
	}
	for i := range b.Rate {
		x := &b.Rate[i]
		name := fmt.Sprintf("%s_%s_%d_", x.Call, x.Policy, x.Pipe)
		b.Metrics[name+"of_bound"], b.Metrics[name+"resent"] = x.OfBound, float64(x.Resent)/float64(max(x.Packets, 1))
	}
	return b.RateResult, nil
}

// rateJobs is the number of runs at once.
func rateJobs(jobs int) int {
	if jobs <= 0 {
		return runtime.NumCPU()
	}
	return jobs
}

// bytesPerCycle converts a link's rate in Gbit/s.
func (b *rateBench) bytesPerCycle(gbps float64) float64 { return gbps * 1000 / 8 / float64(b.mhz) }

// run runs one collective on a network of its own.
func (b *rateBench) run(ctx context.Context, x *RatePoint) (err error) {
	policy := b.Policies[slices.IndexFunc(b.Policies, func(p RatePolicy) bool { return p.Name == x.Policy })]
	link := func(e commlib.Edge) *fabric.Link {
		l := &fabric.Link{Latency: lossLatencyUS * b.mhz, BytesPerCycle: b.bytesPerCycle(lossLinkGbps)}
		if e.Rank == lossRanks-1 {
			l.BytesPerCycle = b.bytesPerCycle(rateSlowGbps)
		}
		return l
	}
	w, err := commlib.New(commlib.Config{Manifest: b.man, Tree: topology.Tree{Levels: 2, Degree: lossRanks}, Link: link, Seed: b.o.Seed,
		Pipes:  commlib.Pipes{NoRNR: !policy.RNR, CNP: policy.CNP, TimeoutUS: ratePipeUS},
		Switch: func(int) (dut.DUT, error) { return b.open(b.o.Seed) }})
	if err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	call, err := commlib.ParseCollective(x.Call)
	if err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	start := roce.PSN(0)
	cfg := commlib.GroupConfig{Start: &start, Timeout: uint64(rateTimeoutUS * b.mhz), Pipe: x.Pipe, Window: rateWindows * x.Pipe,
		Fixed: &commlib.Fixed{Collective: call, DType: b.kind.DType, Op: b.kind.Op}}
	if policy.Paced {
		c := host.DCQCN(b.bytesPerCycle(lossLinkGbps), uint64(b.mhz))
		cfg.Rate = &c
	}
	g, err := w.NewGroup(cfg)
	if err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	c, err := g.Queue(commlib.Request{Collective: call, In: b.in, DType: b.kind.DType, Op: b.kind.Op})
	if err == nil {
		err = w.Run(ctx)
	}
	if err == nil {
		err = c.Check()
	}
	if err == nil {
		err = w.Finish(ctx)
	}
	if err != nil {
		return fmt.Errorf("rate %s, %s, pipes of %d: %w", x.Call, x.Policy, x.Pipe, err)
	}
	n, err := w.Driver(0).Counters()
	if err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	x.Full, x.Gaps, x.RNRs, x.CNPs = n["DROP_FULL"], n["DROP_GAP"], n["TX_RNR"], n["TX_CNP"]
	for r := range g.Ranks() {
		x.Cuts += g.Host(r).Stats.RateCuts
	}
	t := c.Total()
	x.Percent, x.Packets, x.Resent, x.Timeouts = 100*c.BitsPerCycle()/8/b.bytesPerCycle(lossLinkGbps), t.Packets, t.Resent, t.Timeouts
	x.OfBound = x.Percent / b.Metrics["bound_percent"]
	return nil
}

// ratePipeUS is PIPE_TIMEOUT: longer than the slow link takes to carry a full pipe.
const ratePipeUS = 100
