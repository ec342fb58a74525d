// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"incforge/internal/fail"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/report"
	"incforge/verify/arith"
)

const (
	// lossShortUS is a time-out closer to what the network needs: a few windows and round trips.
	lossShortUS = 100
	// lossPipeUS is PIPE_TIMEOUT: eight round trips of a hop, like the register's reset value.
	lossPipeUS = 8 * 2 * starLatencyUS
	// lossSwitch is the engine's part of a round trip in cycles: docs/engine.md section 9.
	lossSwitch = 9
)

// lossSweep is one of the paper's two tables: throughput in Gibit/s of Mode II and III at each point of the sweep.
type lossSweep struct {
	name  string
	rates []float64 // frame loss of each lossy link
	links []int     // number of lossy links
	paper map[int][]float64
}

// lossSweeps are the tables "Throughput vs Loss Rate" (one link) and "Throughput vs Lossy Links" (0.1 %).
func lossSweeps() []lossSweep {
	return []lossSweep{
		{"rate", []float64{0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2}, []int{1, 1, 1, 1, 1, 1, 1, 1},
			map[int][]float64{2: {88.3, 88.3, 88.2, 88.1, 87.6, 86.7, 68.1, 52.7}, 3: {89.9, 89.9, 89.9, 89.7, 89.4, 88.3, 87.9, 87.6}}},
		{"links", slices.Repeat([]float64{1e-3}, starRanks+1), []int{0, 1, 2, 3, 4, 5, 6, 7, 8},
			map[int][]float64{2: {88.3, 86.7, 82.3, 68.1, 65.5, 62.9, 60.6, 58.4, 56.4}, 3: {89.9, 88.3, 88.4, 87.6, 88.0, 87.4, 87.8, 87.3, 87.6}}},
	}
}

func lossVariants() []report.LossVariant {
	return []report.LossVariant{
		{Name: "nak", Mode: 2, GapNAK: true, TimeoutUS: starTimeoutUS,
			Doc: "Mode II, data lost on its way up, as in the paper; the engine sends gap NAKs; time-out 1 ms"},
		{Name: "nak-100us", Mode: 2, GapNAK: true, TimeoutUS: lossShortUS,
			Doc: "Mode II, data lost on its way up; gap NAKs; time-out 100 µs"},
		{Name: "timeout", Mode: 2, TimeoutUS: starTimeoutUS,
			Doc: "Mode II, data lost on its way up; no gap NAKs; time-out 1 ms"},
		{Name: "all", Mode: 2, GapNAK: true, TimeoutUS: starTimeoutUS, All: true,
			Doc: "Mode II, frames of all kinds lost in both directions; gap NAKs; time-out 1 ms"},
		{Name: "pipes", Mode: 3, GapNAK: true, TimeoutUS: starTimeoutUS,
			Doc: "Mode III, data lost on its way up, as in the paper; hosts' time-out 1 ms, engine's 16 µs"},
		{Name: "pipes-100us", Mode: 3, GapNAK: true, TimeoutUS: lossShortUS,
			Doc: "Mode III, data lost on its way up; hosts' time-out 100 µs, engine's 16 µs"},
		{Name: "pipes-all", Mode: 3, GapNAK: true, TimeoutUS: starTimeoutUS, All: true,
			Doc: "Mode III, frames of all kinds lost in both directions; hosts' time-out 1 ms"},
		{Name: "pipes-all-100us", Mode: 3, GapNAK: true, TimeoutUS: lossShortUS, All: true,
			Doc: "Mode III, frames of all kinds lost in both directions; hosts' time-out 100 µs"},
		{Name: "messages", Mode: 1, GapNAK: true, TimeoutUS: starTimeoutUS,
			Doc: "Mode I, data lost on its way up; hosts' time-out 1 ms, engine's 16 µs"},
		{Name: "messages-100us", Mode: 1, GapNAK: true, TimeoutUS: lossShortUS,
			Doc: "Mode I, data lost on its way up; hosts' time-out 100 µs, engine's 16 µs"},
		{Name: "messages-all-100us", Mode: 1, GapNAK: true, TimeoutUS: lossShortUS, All: true,
			Doc: "Mode I, frames of all kinds lost in both directions; hosts' time-out 100 µs"},
	}
}

// LossOptions say what Loss measures.
type LossOptions struct {
	// ManifestDir is that of the design in Mode II. Seed is the first.
	StarOptions
	// PipesDir is the folder of the same design in Mode III, MessagesDir in Mode I. A mode whose folder is empty is not measured.
	PipesDir, MessagesDir string
	// Seeds is the number of runs of each point, at least 1.
	Seeds int
	// Variants are the names of the variants to measure, Rates the loss rates besides 0; empty means all.
	Variants []string
	Rates    []float64
}

// Loss measures the throughput of AllReduce over Tree-2-8 where links lose frames. Every result is checked. Metrics:
//
//	link_percent, engine_percent   bounds on a rank's throughput: by its link, and by the engine's single stream, which all ranks share
//	lossless_percent, pipes_lossless_percent, messages_lossless_percent   measured without loss, in Mode II, III and I
//	packet_cycles            time of a packet at the lower of the bounds
//	round_trip_cycles        a link there and back
//	gobackn_packets          packets that a loss costs, k in docs/loss.md: 1 + (packet + round trip + switch) / packet
//	packets, seeds           packets per rank and run, runs per point
//
// and of each variant V of Modes III and I, over all points:
//
//	V_of_bound               the lowest throughput as a fraction of the bound
//	V_drop                   throughput lost with 0.1 % of loss on one link, as a fraction of the throughput without loss
//	V_of_mode2               the lowest ratio to the same point in Mode II
//
// The bound of a point is the throughput without loss / (1 + r/(1−r)·k). r is the probability that any of the links
// loses the packet of a PSN, in one direction or, where frames of all kinds are lost, in either. Without gap NAKs the
// time-out takes the place of packet, round trip and switch in k. After a NAK no other follows until a packet in
// order has come (docs/pipes.md), so a loss also costs the hop's time-out if its retransmission or the NAK is lost.
// The expected throughput of a point counts that, with the same r.
func Loss(ctx context.Context, o LossOptions) (_ *report.Loss, err error) {
	defer fail.Catch(&err, "")
	designs := map[int]design{}
	for _, d := range []struct {
		mode int
		dir  string
	}{{2, o.ManifestDir}, {3, o.PipesDir}, {1, o.MessagesDir}} {
		if d.dir != "" {
			designs[d.mode] = fail.Must(load(ctx, d.dir, o.DUT))
		}
	}
	b := fail.Must(newLossBench(ctx, o, designs))
	return &b.Loss, b.measure(ctx)
}

// lossBench is the state of one Loss.
type lossBench struct {
	report.Loss
	starBench
	o       LossOptions
	designs map[int]design // by mode
}

// errNoDesign means that there is nothing to measure.
var errNoDesign = errors.New("no design of Mode II, III or I")

func newLossBench(ctx context.Context, o LossOptions, designs map[int]design) (b *lossBench, err error) {
	defer fail.Catch(&err, "loss")
	d, ok := designs[2]
	for _, mode := range []int{3, 1} {
		if !ok {
			d, ok = designs[mode]
		}
	}
	if !ok {
		return nil, errNoDesign
	}
	p := d.man.Params
	for mode, other := range designs {
		other.fits(mode)
		q := other.man.Params
		if q.BusBytes != p.BusBytes || q.MTUBytes != p.MTUBytes || q.ClockMHz != p.ClockMHz || q.DTypeMask() != p.DTypeMask() {
			fail.Now("%s and %s differ in more than their mode", d.man.Name, other.man.Name)
		}
	}
	kinds := arith.Kinds(p.DTypeMask(), p.OpMask())
	kind := arith.Kind{DType: arith.INT32}
	if !slices.Contains(kinds, kind) {
		kind = kinds[0]
	}
	b = &lossBench{o: o, designs: designs, starBench: newStar(ctx, o.StarOptions, d, kind)}
	link := float64(p.MTUBytes+frameOverhead) / b.bytesPerCycle(starLinkGbps)
	engine := float64(starRanks * (p.Beats(p.MTUBytes+58) + p.Beats(60))) // a packet and an ACK of each rank
	percent := func(cycles float64) float64 {
		return 100 * float64(p.MTUBytes) / cycles / b.bytesPerCycle(starLinkGbps)
	}
	packet, trip := max(link, engine), float64(2*starLatencyUS*b.mhz)
	b.Loss = report.Loss{DUT: string(o.DUT), Bench: report.Bench{Bench: "loss", Config: d.man.Name, Metrics: map[string]float64{
		"link_percent": percent(link), "engine_percent": percent(engine), "packet_cycles": packet, "round_trip_cycles": trip,
		"gobackn_packets": 1 + (packet+trip+lossSwitch)/packet,
		"simulated_mhz":   float64(b.mhz), "bus_bytes": float64(p.BusBytes), "packets": float64(o.Packets), "seeds": float64(o.Seeds)}}}
	for _, v := range lossVariants() {
		if _, ok := designs[v.Mode]; ok && (len(o.Variants) == 0 || slices.Contains(o.Variants, v.Name)) {
			b.Variants = append(b.Variants, v)
		}
	}
	if len(b.Variants) == 0 {
		fail.Now("no variant of %v", o.Variants)
	}
	return b, nil
}

// measure runs every point with every seed, several at once.
func (b *lossBench) measure(ctx context.Context) error {
	for _, s := range lossSweeps() {
		for _, v := range b.Variants {
			for i, rate := range s.rates {
				if rate == 0 || len(b.o.Rates) == 0 || slices.Contains(b.o.Rates, rate) {
					p := report.LossPoint{Sweep: s.name, Variant: v.Name, Rate: rate, Links: s.links[i]}
					if paper, ok := s.paper[v.Mode]; ok { // which has not measured Mode I
						p.Paper = paper[i] * report.Gibi
					}
					b.Points = append(b.Points, p)
				}
			}
		}
	}
	seeds := b.o.Seeds
	runs := make([]report.LossPoint, len(b.Points)*seeds)
	err := b.o.each(ctx, len(runs), func(ctx context.Context, i int) (err error) {
		p, seed := b.Points[i/seeds], b.o.Seed+uint64(i%seeds)
		defer fail.Catch(&err, "loss %s, %g on %d links, seed %d", p.Variant, p.Rate, p.Links, seed)
		runs[i] = b.one(ctx, p, seed)
		return nil
	})
	if err != nil {
		return err
	}
	for i := range b.Points {
		p := &b.Points[i]
		average(p, runs[i*seeds:(i+1)*seeds])
		if name := losslessMetric(b.variant(p.Variant).Mode); (p.Rate == 0 || p.Links == 0) && b.Metrics[name] == 0 {
			b.Metrics[name] = p.Percent
		}
	}
	for i := range b.Points {
		b.Points[i].Bound, b.Points[i].Expected = b.bound(&b.Points[i])
	}
	b.compare()
	return nil
}

func losslessMetric(mode int) string {
	return map[int]string{1: "messages_lossless_percent", 2: "lossless_percent", 3: "pipes_lossless_percent"}[mode]
}

// compare makes the metrics of the variants of Modes III and I, each beside its rival of Mode II.
func (b *lossBench) compare() {
	rivals := map[string]string{"pipes": "nak", "pipes-100us": "nak-100us", "pipes-all": "all", "pipes-all-100us": "all",
		"messages": "nak", "messages-100us": "nak-100us", "messages-all-100us": "all"}
	for i := range b.Points {
		p := &b.Points[i]
		rival, ok := rivals[p.Variant]
		if !ok {
			continue
		}
		name := strings.ReplaceAll(p.Variant, "-", "_")
		if p.Bound > 0 {
			metrics(b.Metrics).lower(name+"_of_bound", p.Percent/p.Bound)
		}
		if p.Rate == 1e-3 && p.Links == 1 && p.Sweep == "rate" {
			b.Metrics[name+"_drop"] = 1 - p.Percent/b.Metrics[losslessMetric(b.variant(p.Variant).Mode)]
		}
		k := slices.IndexFunc(b.Points, func(q report.LossPoint) bool {
			return q.Variant == rival && q.Sweep == p.Sweep && q.Rate == p.Rate && q.Links == p.Links
		})
		if k >= 0 {
			metrics(b.Metrics).lower(name+"_of_mode2", p.Percent/b.Points[k].Percent)
		}
	}
}

// average puts the means of what the runs measured into a point, and their deviation.
func average(p *report.LossPoint, runs []report.LossPoint) {
	n := float64(len(runs))
	for _, r := range runs {
		p.Percent += r.Percent / n
		p.Lost += r.Lost / n
		p.Resent += r.Resent / n
		p.Timeouts += r.Timeouts / n
		p.Retransmitted += r.Retransmitted / n
		p.EngineTimeouts += r.EngineTimeouts / n
	}
	squares := 0.0
	for _, r := range runs {
		squares += (r.Percent - p.Percent) * (r.Percent - p.Percent)
	}
	if n > 1 {
		p.Deviation = math.Sqrt(squares / (n - 1))
	}
}

func (b *lossBench) variant(name string) report.LossVariant {
	return b.Variants[slices.IndexFunc(b.Variants, func(v report.LossVariant) bool { return v.Name == name })]
}

// bound returns the throughput that go-back-N leaves, and what is left of it after time-outs; zeros where there is no
// formula.
func (b *lossBench) bound(p *report.LossPoint) (bound, expected float64) {
	v, k := b.variant(p.Variant), b.Metrics["gobackn_packets"]
	inPackets := func(us int) float64 { return float64(us*b.mhz) / b.Metrics["packet_cycles"] }
	kept := math.Pow(1-p.Rate, float64(p.Links))
	up := (1 - kept) / kept // losses per packet
	cost, waits := up*k, up*p.Rate*inPackets(v.TimeoutUS)
	switch {
	case v.All && v.Mode != 2:
		// Each direction is recovered by its own hop, which has its own time-out. A lost ACK mostly costs nothing.
		both := 1/(kept*kept) - 1
		cost, waits = both*k, 2*p.Rate*(up*inPackets(v.TimeoutUS)+(both-up)*inPackets(lossPipeUS))
	case v.All:
		return 0, 0 // a lost result is detected later than a lost contribution, and a lost ACK mostly never
	case !v.GapNAK:
		cost, waits = up*(1+inPackets(v.TimeoutUS)), 0 // the bound includes them
	}
	lossless := b.Metrics[losslessMetric(v.Mode)]
	return lossless / (1 + cost), lossless / (1 + cost + waits)
}

// one is a point measured once.
func (b *lossBench) one(ctx context.Context, p report.LossPoint, seed uint64) report.LossPoint {
	v := b.variant(p.Variant)
	link := func(e commlib.Edge) *fabric.Link {
		l := &fabric.Link{Latency: starLatencyUS * b.mhz, BytesPerCycle: b.bytesPerCycle(starLinkGbps)}
		if e.Rank < p.Links {
			l.Up = fabric.Faults{Loss: p.Rate, Only: fabric.Only{Loss: fabric.ClassData}}
			if v.All {
				l.Up.Only, l.Down = fabric.Only{}, fabric.Faults{Loss: p.Rate}
			}
		}
		return l
	}
	o := fail.Must(b.run(ctx, b.designs[v.Mode], seed, commlib.AllReduce,
		commlib.Config{Link: link, NoGapNAK: !v.GapNAK, Pipes: commlib.Pipes{TimeoutUS: lossPipeUS}},
		commlib.GroupConfig{Timeout: uint64(v.TimeoutUS * b.mhz)}))
	t := o.Total
	return report.LossPoint{Percent: b.percent(o.BitsPerCycle()), Lost: float64(o.links.Lost), Resent: float64(t.Resent), Timeouts: float64(t.Timeouts),
		Retransmitted: float64(o.counters["TX_RETRANSMIT"]), EngineTimeouts: float64(o.counters["TIMEOUT"])}
}
