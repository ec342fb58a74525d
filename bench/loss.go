// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"incforge/contract"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// The network of EPIC's loss sweeps (SIGCOMM '26, packet simulation): a star of eight ranks, links of 100 Gbit/s and
// 1 µs, packets of 4 KB, host time-outs of 1 ms, no congestion control. What is simulated is cycles: the clock that the configuration asks
// for turns these into bytes a cycle and cycles.
const (
	lossRanks     = 8
	lossLinkGbps  = 100
	lossLatencyUS = 1
	lossTimeoutUS = 1000
	// lossShortUS is a time-out closer to what the network needs: a few windows and round trips.
	lossShortUS = 100
	// lossPipeUS is PIPE_TIMEOUT: eight round trips of a hop, like the register's reset value.
	lossPipeUS = 8 * 2 * lossLatencyUS
	// lossSwitch is the engine's part of a round trip in cycles: docs/engine.md section 9.
	lossSwitch = 9
	// lossFrame is the overhead of a packet on a link in bytes: headers, ICRC, FCS, preamble, gap.
	lossFrame = 58 + 24
)

// gibi converts Gibit/s to Gbit/s: what the paper calls Gbit/s are Gibit/s.
const gibi = 1 << 30 / 1e9

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
		{"links", slices.Repeat([]float64{1e-3}, lossRanks+1), []int{0, 1, 2, 3, 4, 5, 6, 7, 8},
			map[int][]float64{2: {88.3, 86.7, 82.3, 68.1, 65.5, 62.9, 60.6, 58.4, 56.4}, 3: {89.9, 88.3, 88.4, 87.6, 88.0, 87.4, 87.8, 87.3, 87.6}}},
	}
}

// LossVariant says which frames are lost and how the loss is detected.
type LossVariant struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	// Mode is 2 or 3.
	Mode int `json:"mode"`
	// GapNAK is CTRL.gap_nak, which Mode III ignores; TimeoutUS the NICs' time-out. All loses frames of all kinds in
	// both directions, otherwise only data on its way up is lost.
	GapNAK    bool `json:"gap_nak"`
	TimeoutUS int  `json:"timeout_us"`
	All       bool `json:"all"`
}

func lossVariants() []LossVariant {
	return []LossVariant{
		{"nak", "Mode II, data lost on its way up, as in the paper; the engine sends gap NAKs; time-out 1 ms", 2, true, lossTimeoutUS, false},
		{"nak-100us", "Mode II, data lost on its way up; gap NAKs; time-out 100 µs", 2, true, lossShortUS, false},
		{"timeout", "Mode II, data lost on its way up; no gap NAKs; time-out 1 ms", 2, false, lossTimeoutUS, false},
		{"all", "Mode II, frames of all kinds lost in both directions; gap NAKs; time-out 1 ms", 2, true, lossTimeoutUS, true},
		{"pipes", "Mode III, data lost on its way up, as in the paper; hosts' time-out 1 ms, engine's 16 µs", 3, true, lossTimeoutUS, false},
		{"pipes-100us", "Mode III, data lost on its way up; hosts' time-out 100 µs, engine's 16 µs", 3, true, lossShortUS, false},
		{"pipes-all", "Mode III, frames of all kinds lost in both directions; hosts' time-out 1 ms", 3, true, lossTimeoutUS, true},
		{"pipes-all-100us", "Mode III, frames of all kinds lost in both directions; hosts' time-out 100 µs", 3, true, lossShortUS, true},
	}
}

// lossRivals maps each variant of Mode III to the variant of Mode II it is compared with.
func lossRivals() map[string]string {
	return map[string]string{"pipes": "nak", "pipes-100us": "nak-100us", "pipes-all": "all", "pipes-all-100us": "all"}
}

// LossOptions say what Loss measures.
type LossOptions struct {
	// Options name the design of Mode II, cache and first seed. If ManifestDir is empty only Mode III is measured.
	Options
	// PipesDir is the folder of the same design in Mode III. If it is empty only Mode II is measured.
	PipesDir string
	DUT      dut.Kind
	// Seeds is the number of runs of each point, Packets the number of packets that a rank sends in a run; both at
	// least 1.
	Seeds, Packets int
	// Jobs is the number of runs at once; 0 means one per processor.
	Jobs int
	// Variants are the names of the variants to measure, Rates the loss rates besides 0; empty means all.
	Variants []string
	Rates    []float64
}

// LossPoint is one point of one sweep. Throughputs are payload per rank in per cent of a link's rate: the network is simulated in cycles, so
// no clock has part in them.
type LossPoint struct {
	// Sweep is rate or links; Variant the name of a LossVariant.
	Sweep   string `json:"sweep"`
	Variant string `json:"variant"`
	// Rate is the fraction of frames that each of Links links loses.
	Rate  float64 `json:"rate"`
	Links int     `json:"links"`
	// Percent is the mean over the seeds, Deviation their standard deviation.
	Percent   float64 `json:"percent"`
	Deviation float64 `json:"deviation"`
	// Bound is what go-back-N leaves of the throughput without loss; 0 where no formula is given.
	Bound float64 `json:"bound"`
	// Expected is Bound less the time-outs that are needed where no NAK helps: a lost retransmission and, where NAKs
	// are lost, a lost NAK.
	Expected float64 `json:"expected"`
	// Paper is the published figure of the variant's mode: its links have 100 Gbit/s.
	Paper float64 `json:"paper"`
	// Means per run: Lost frames on links, packets Resent by all ranks, and their Timeouts. Retransmitted and
	// EngineTimeouts are the engine's, in Mode III.
	Lost           float64 `json:"lost"`
	Resent         float64 `json:"resent"`
	Timeouts       float64 `json:"timeouts"`
	Retransmitted  float64 `json:"retransmitted"`
	EngineTimeouts float64 `json:"engine_timeouts"`
}

// LossResult is what Loss measured.
type LossResult struct {
	Result
	DUT      dut.Kind      `json:"dut"`
	Variants []LossVariant `json:"variants"`
	Loss     []LossPoint   `json:"loss"`
}

// Loss measures the throughput of AllReduce over Tree-2-8 where links lose frames. Every result is checked. Metrics:
//
//	link_percent, engine_percent   bounds on a rank's throughput: by its link, and by the engine's single stream, which all ranks share
//	lossless_percent, pipes_lossless_percent   measured without loss, in Mode II and III
//	packet_cycles            time of a packet at the lower of the bounds
//	round_trip_cycles        a link there and back
//	gobackn_packets          packets that a loss costs, k in docs/loss.md: 1 + (packet + round trip + switch) / packet
//	packets, seeds           packets per rank and run, runs per point
//
// and of each variant V of Mode III, over all points:
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
func Loss(ctx context.Context, o LossOptions) (LossResult, error) {
	designs := map[int]lossDesign{}
	for mode, dir := range map[int]string{2: o.ManifestDir, 3: o.PipesDir} {
		if dir == "" {
			continue
		}
		man, engines, err := dut.Source{ManifestDir: dir, Kind: o.DUT, BuildDir: o.BuildDir}.Open(ctx)
		if err != nil {
			return LossResult{}, err
		}
		designs[mode] = lossDesign{man, engines.New}
	}
	b, err := newLossBench(o, designs)
	if err != nil {
		return LossResult{}, err
	}
	err = b.measure(ctx)
	return b.LossResult, err
}

// lossDesign is a configuration to measure.
type lossDesign struct {
	man  *contract.Manifest
	open dut.Maker
}

// lossBench is the state of one Loss.
type lossBench struct {
	LossResult
	o       LossOptions
	designs map[int]lossDesign // by mode
	tensors [][]byte
	kind    arith.Kind
	mhz     int
}

// errNoDesign means that there is nothing to measure.
var errNoDesign = errors.New("loss: no design of Mode II or III")

func newLossBench(o LossOptions, designs map[int]lossDesign) (*lossBench, error) {
	man := designs[2].man
	if man == nil {
		man = designs[3].man
	}
	if man == nil {
		return nil, errNoDesign
	}
	p := man.Params
	for mode, d := range designs {
		q := d.man.Params
		switch {
		case q.Mode != mode:
			return nil, fmt.Errorf("loss: %s is of Mode %d, expected %d", d.man.Name, q.Mode, mode)
		case q.Members < lossRanks:
			return nil, fmt.Errorf("loss: a star of %d ranks needs as many members, %s has %d", lossRanks, d.man.Name, q.Members)
		case q.BusBytes != p.BusBytes || q.MTUBytes != p.MTUBytes || q.ClockMHz != p.ClockMHz || q.DTypeMask() != p.DTypeMask():
			return nil, fmt.Errorf("loss: %s and %s differ in more than their mode", man.Name, d.man.Name)
		}
	}
	if o.Jobs <= 0 {
		o.Jobs = runtime.NumCPU()
	}
	b := &lossBench{o: o, designs: designs, kind: arith.Kinds(p.DTypeMask(), p.OpMask())[0], mhz: max(p.ClockMHz, 1)}
	if k := (arith.Kind{DType: arith.INT32}); slices.Contains(arith.Kinds(p.DTypeMask(), p.OpMask()), k) {
		b.kind = k
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x6c6f7373))
	for range lossRanks {
		b.tensors = append(b.tensors, b.kind.Values(rng, o.Seed, lossRanks, o.Packets*p.MTUBytes))
	}
	link := float64(p.MTUBytes+lossFrame) / b.bytesPerCycle()
	beats := (p.MTUBytes + lossFrame - 24 + p.BusBytes - 1) / p.BusBytes
	engine := float64(lossRanks * (beats + (60+p.BusBytes-1)/p.BusBytes)) // a packet and an ACK of each rank
	percent := func(cycles float64) float64 { return 100 * float64(p.MTUBytes) / cycles / b.bytesPerCycle() }
	trip := float64(2 * lossLatencyUS * b.mhz)
	b.LossResult = LossResult{Result: Result{Bench: "loss", Config: man.Name, Metrics: map[string]float64{
		"link_percent": percent(link), "engine_percent": percent(engine), "packet_cycles": max(link, engine), "round_trip_cycles": trip,
		"gobackn_packets": 1 + (max(link, engine)+trip+lossSwitch)/max(link, engine),
		"simulated_mhz":   float64(b.mhz), "bus_bytes": float64(p.BusBytes), "packets": float64(o.Packets), "seeds": float64(o.Seeds)}},
		DUT: o.DUT}
	for _, v := range lossVariants() {
		if designs[v.Mode].man != nil && (len(o.Variants) == 0 || slices.Contains(o.Variants, v.Name)) {
			b.Variants = append(b.Variants, v)
		}
	}
	if len(b.Variants) == 0 {
		return nil, fmt.Errorf("loss: no variant of %v", o.Variants)
	}
	return b, nil
}

func (b *lossBench) bytesPerCycle() float64 { return lossLinkGbps * 1000 / 8 / float64(b.mhz) }

// measure runs every point with every seed, several at once.
func (b *lossBench) measure(ctx context.Context) error {
	for _, s := range lossSweeps() {
		for _, v := range b.Variants {
			for i := range s.rates {
				if s.rates[i] > 0 && len(b.o.Rates) > 0 && !slices.Contains(b.o.Rates, s.rates[i]) {
					continue
				}
				b.Loss = append(b.Loss, LossPoint{Sweep: s.name, Variant: v.Name, Rate: s.rates[i], Links: s.links[i], Paper: s.paper[v.Mode][i] * gibi})
			}
		}
	}
	runs := make([][]lossRun, len(b.Loss))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(b.o.Jobs)
	for i := range b.Loss {
		runs[i] = make([]lossRun, b.o.Seeds)
		for k := range runs[i] {
			g.Go(func() error {
				var err error
				runs[i][k], err = b.run(ctx, &b.Loss[i], b.o.Seed+uint64(k))
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range b.Loss {
		p := &b.Loss[i]
		p.sum(runs[i])
		if name := losslessMetric(b.variant(p.Variant).Mode); (p.Rate == 0 || p.Links == 0) && b.Metrics[name] == 0 {
			b.Metrics[name] = p.Percent
		}
	}
	for i := range b.Loss {
		b.Loss[i].Bound, b.Loss[i].Expected = b.bound(&b.Loss[i])
	}
	b.compare()
	return nil
}

func losslessMetric(mode int) string {
	if mode == 3 {
		return "pipes_lossless_percent"
	}
	return "lossless_percent"
}

// compare makes the metrics of Mode III's variants.
func (b *lossBench) compare() {
	lower := func(name string, v float64) {
		if old, ok := b.Metrics[name]; !ok || v < old {
			b.Metrics[name] = v
		}
	}
	for i := range b.Loss {
		p := &b.Loss[i]
		rival, ok := lossRivals()[p.Variant]
		if !ok {
			continue
		}
		name := strings.ReplaceAll(p.Variant, "-", "_")
		if p.Bound > 0 {
			lower(name+"_of_bound", p.Percent/p.Bound)
		}
		if p.Rate == 1e-3 && p.Links == 1 && p.Sweep == "rate" {
			b.Metrics[name+"_drop"] = 1 - p.Percent/b.Metrics[losslessMetric(3)]
		}
		k := slices.IndexFunc(b.Loss, func(q LossPoint) bool {
			return q.Variant == rival && q.Sweep == p.Sweep && q.Rate == p.Rate && q.Links == p.Links
		})
		if k >= 0 {
			lower(name+"_of_mode2", p.Percent/b.Loss[k].Percent)
		}
	}
}

// lossRun is the result of one run.
type lossRun struct {
	percent                float64
	lost, resent, timeouts int
	// the engine's
	retransmitted, engineTimeouts uint32
}

// sum computes means and deviation.
func (p *LossPoint) sum(runs []lossRun) {
	n := float64(len(runs))
	for _, r := range runs {
		p.Percent += r.percent / n
		p.Lost += float64(r.lost) / n
		p.Resent += float64(r.resent) / n
		p.Timeouts += float64(r.timeouts) / n
		p.Retransmitted += float64(r.retransmitted) / n
		p.EngineTimeouts += float64(r.engineTimeouts) / n
	}
	squares := 0.0
	for _, r := range runs {
		squares += (r.percent - p.Percent) * (r.percent - p.Percent)
	}
	if n > 1 {
		p.Deviation = math.Sqrt(squares / (n - 1))
	}
}

func (b *lossBench) variant(name string) LossVariant {
	return b.Variants[slices.IndexFunc(b.Variants, func(v LossVariant) bool { return v.Name == name })]
}

// bound returns the throughput that go-back-N leaves, and what is left of it after time-outs; zeros where there is no
// formula.
func (b *lossBench) bound(p *LossPoint) (bound, expected float64) {
	v, k := b.variant(p.Variant), b.Metrics["gobackn_packets"]
	inPackets := func(us int) float64 { return float64(us*b.mhz) / b.Metrics["packet_cycles"] }
	kept := math.Pow(1-p.Rate, float64(p.Links))
	up := (1 - kept) / kept // losses per packet
	cost, waits := up*k, up*p.Rate*inPackets(v.TimeoutUS)
	switch {
	case v.All && v.Mode == 3:
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

// run is one AllReduce on a network of its own.
func (b *lossBench) run(ctx context.Context, p *LossPoint, seed uint64) (res lossRun, err error) {
	v := b.variant(p.Variant)
	link := func(e commlib.Edge) *fabric.Link {
		l := &fabric.Link{Latency: lossLatencyUS * b.mhz, BytesPerCycle: b.bytesPerCycle()}
		if e.Rank < p.Links {
			l.Up = fabric.Faults{Loss: p.Rate, Only: fabric.Only{Loss: fabric.ClassData}}
			if v.All {
				l.Up.Only, l.Down = fabric.Only{}, fabric.Faults{Loss: p.Rate}
			}
		}
		return l
	}
	d := b.designs[v.Mode]
	w, err := commlib.New(commlib.Config{Manifest: d.man, Tree: topology.Tree{Levels: 2, Degree: lossRanks}, Link: link, Seed: seed, NoGapNAK: !v.GapNAK,
		Pipes: commlib.Pipes{TimeoutUS: lossPipeUS}, Switch: func(int) (dut.DUT, error) { return d.open(seed) }})
	if err != nil {
		return res, fmt.Errorf("loss: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	start := roce.PSN(0)
	g, err := w.NewGroup(commlib.GroupConfig{Start: &start, Timeout: uint64(v.TimeoutUS * b.mhz),
		Fixed: &commlib.Fixed{Collective: commlib.AllReduce, DType: b.kind.DType, Op: b.kind.Op}})
	if err != nil {
		return res, fmt.Errorf("loss: %w", err)
	}
	c, err := g.Queue(commlib.Request{Collective: commlib.AllReduce, In: b.tensors, DType: b.kind.DType, Op: b.kind.Op})
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
		return res, fmt.Errorf("loss %s, %g on %d links, seed %d: %w", p.Variant, p.Rate, p.Links, seed, err)
	}
	counters, err := w.Driver(0).Counters()
	if err != nil {
		return res, fmt.Errorf("loss: %w", err)
	}
	t := c.Total()
	return lossRun{retransmitted: counters["TX_RETRANSMIT"], engineTimeouts: counters["TIMEOUT"], percent: 100 * c.BitsPerCycle() / 8 / b.bytesPerCycle(), lost: w.Net().Stats.Lost, resent: t.Resent, timeouts: t.Timeouts}, nil
}
