// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"

	"incforge/internal/fail"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/report"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// The network is that of the loss sweeps, without loss and with a slower link at the last rank.
const (
	rateSlowGbps = 25
	// ratePipeUS is PIPE_TIMEOUT: longer than the slow link takes to carry a full pipe.
	ratePipeUS = 100
	// rateWindows is a host's window, in pipes: whoever sizes pipes need not know what NICs keep in flight.
	rateWindows = 2
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
	// ManifestDir is that of a Mode III design.
	StarOptions
	// Pipes are the sizes of pipes to measure, in slots.
	Pipes []int
}

// RatePoint is one run.
type RatePoint struct {
	// Call is the collective. The slow rank sends and receives in an AllReduce, only sends in a Reduce to rank 0, and
	// only receives in a Broadcast from rank 0.
	Call   commlib.Collective `json:"call"`
	Policy string             `json:"policy"`
	// Pipe is N, the number of slots.
	Pipe int `json:"pipe"`
	// Percent is the payload per rank in per cent of a fast link's rate, OfBound its fraction of what the slow link can carry.
	Percent float64 `json:"percent"`
	OfBound float64 `json:"of_bound"`
	// Full counts packets that found a pipe full, Gaps the packets dropped after one of those, RNRs and CNPs the
	// answers, Cuts the rate cuts of NICs.
	Full uint64 `json:"full"`
	Gaps uint64 `json:"gaps"`
	RNRs uint64 `json:"rnrs"`
	CNPs uint64 `json:"cnps"`
	Cuts int    `json:"cuts"`
	// Packets counts packets sent by all ranks, Resent those sent again, Timeouts the ranks' time-outs.
	Packets  int `json:"packets"`
	Resent   int `json:"resent"`
	Timeouts int `json:"timeouts"`
}

// RateResult is what Rate measured.
type RateResult struct {
	report.Bench
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
	d, err := load(ctx, o.ManifestDir, o.DUT)
	if err != nil {
		return RateResult{}, err
	}
	return benchRate(ctx, o, d)
}

// rateBench is the state of one Rate.
type rateBench struct {
	RateResult
	starBench
	design
}

func benchRate(ctx context.Context, o RateOptions, d design) (_ RateResult, err error) {
	defer fail.Catch(&err, "rate")
	d.fits(3)
	p := d.man.Params
	b := rateBench{design: d, starBench: newStar(ctx, o.StarOptions, d, arith.Kinds(p.DTypeMask(), p.OpMask())[0])}
	b.DUT, b.Policies = o.DUT, ratePolicies()
	b.Bench = report.Bench{Bench: "rate", Config: d.man.Name, Metrics: map[string]float64{
		"bound_percent": 100 * rateSlowGbps / starLinkGbps * float64(p.MTUBytes) / float64(p.MTUBytes+frameOverhead),
		"packets":       float64(o.Packets), "simulated_mhz": float64(b.mhz), "bus_bytes": float64(p.BusBytes)}}
	for _, call := range []commlib.Collective{commlib.AllReduce, commlib.Reduce, commlib.Broadcast} {
		for _, pipe := range o.Pipes {
			for _, policy := range b.Policies {
				b.Rate = append(b.Rate, RatePoint{Call: call, Policy: policy.Name, Pipe: pipe})
			}
		}
	}
	fail.On(o.each(ctx, len(b.Rate), func(ctx context.Context, i int) (err error) {
		x := &b.Rate[i]
		defer fail.Catch(&err, "%s, %s, pipes of %d", x.Call, x.Policy, x.Pipe)
		b.one(ctx, x, b.Policies[i%len(b.Policies)], o.Seed)
		return nil
	}))
	for _, x := range b.Rate {
		name := fmt.Sprintf("%s_%s_%d_", x.Call, x.Policy, x.Pipe)
		b.Metrics[name+"of_bound"], b.Metrics[name+"resent"] = x.OfBound, float64(x.Resent)/float64(max(x.Packets, 1))
	}
	return b.RateResult, nil
}

// one measures a point.
func (b *rateBench) one(ctx context.Context, x *RatePoint, policy RatePolicy, seed uint64) {
	link := func(e commlib.Edge) *fabric.Link {
		l := &fabric.Link{Latency: starLatencyUS * b.mhz, BytesPerCycle: b.bytesPerCycle(starLinkGbps)}
		if e.Rank == starRanks-1 {
			l.BytesPerCycle = b.bytesPerCycle(rateSlowGbps)
		}
		return l
	}
	group := commlib.GroupConfig{Timeout: uint64(starTimeoutUS * b.mhz), Pipe: x.Pipe, Window: rateWindows * x.Pipe}
	if policy.Paced {
		c := host.DCQCN(b.bytesPerCycle(starLinkGbps), uint64(b.mhz))
		group.Rate = &c
	}
	o := fail.Must(b.run(ctx, b.design, seed, x.Call,
		commlib.Config{Link: link, Pipes: commlib.Pipes{NoRNR: !policy.RNR, CNP: policy.CNP, TimeoutUS: ratePipeUS}}, group))
	n, t := o.counters, o.Total
	x.Full, x.Gaps, x.RNRs, x.CNPs, x.Cuts = n["DROP_FULL"], n["DROP_GAP"], n["TX_RNR"], n["TX_CNP"], o.cuts
	x.Percent, x.Packets, x.Resent, x.Timeouts = b.percent(o.BitsPerCycle()), t.Packets, t.Resent, t.Timeouts
	x.OfBound = x.Percent / b.Metrics["bound_percent"]
}
