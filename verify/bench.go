// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/sim"
	"incforge/verify/dut"
)

// BenchOptions say what a benchmark measures.
type BenchOptions struct {
	// ManifestDir is the generated folder.
	ManifestDir string
	// NoICRCDir is the same configuration with icrc_check false, for Latency's result_min_cycles; may be empty.
	NoICRCDir string
	// BuildDir is where models are cached; empty means the simulator's default.
	BuildDir string
	// Seed is of the model's random initial state.
	Seed uint64
}

// Bench is what a benchmark measured.
type Bench struct {
	Bench   string             `json:"bench"`
	Config  string             `json:"config"`
	Metrics map[string]float64 `json:"metrics"`
}

// What the paper prints for its FPGA engine (EPIC, SIGCOMM '26), in ns. Their basis is unstated.
const (
	paperResultNS  = 244 // last contribution in to result out, VU13P, FP32
	paperForwardNS = 96  // a packet that is only forwarded
	paperCoreNS    = 53  // the aggregation core alone, Agilex, 8 ranks
)

// benchPayload is the payload of latency figures in bytes.
const benchPayload = 1024

func (b *Bench) cycles(name string, cycles uint64, mhz int) {
	b.Metrics[name+"_cycles"] = float64(cycles)
	b.Metrics[name+"_ns"] = float64(cycles) * 1000 / float64(max(mhz, 1))
}

// BenchLatency measures, on the core with its single stream and an idle output, with payloads of 1,024 bytes and up to eight
// members, first copy:
//
//	result_cycles             last contribution's first beat in to result's first beat out
//	result_after_last_cycles  last contribution's last beat in to result's first beat out
//	result_total_cycles       last contribution's first beat in to result's last beat out
//	ack_cycles                Mode III: last contribution's first beat in to the first beat out of its ACK, which leaves before the result
//	forward_cycles            bypassed frame's first beat in to first beat out
//	result_min_cycles         result_cycles of the configuration without ICRC check
//	core_cycles               the aggregator alone, last contribution's payload word in to sum out; core_CLASS_cycles by element type
//
// each also in ns, and the paper's figures. Several runs must agree to the cycle; the worst counts.
func BenchLatency(ctx context.Context, o BenchOptions) (Bench, error) {
	m, err := contract.Load(o.ManifestDir)
	if err != nil {
		return Bench{}, err
	}
	b := Bench{Bench: "latency", Config: m.Name, Metrics: map[string]float64{"paper_result_ns": paperResultNS,
		"paper_forward_ns": paperForwardNS, "clock_mhz": float64(m.Params.ClockMHz)}}
	l, err := latency(ctx, o, o.ManifestDir)
	if err != nil {
		return b, err
	}
	b.Metrics["members"], b.Metrics["payload_bytes"] = float64(l.members), float64(l.payload)
	b.cycles("result", l.result, m.Params.ClockMHz)
	b.cycles("result_after_last", l.afterLast, m.Params.ClockMHz)
	b.cycles("result_total", l.total, m.Params.ClockMHz)
	if m.Params.Mode == 3 {
		b.cycles("ack", l.ack, m.Params.ClockMHz)
	}
	b.cycles("forward", l.forward, m.Params.ClockMHz)
	if o.NoICRCDir != "" {
		n, err := latency(ctx, o, o.NoICRCDir)
		if err != nil {
			return b, err
		}
		b.cycles("result_min", n.result, m.Params.ClockMHz)
	}
	t := newT(ctx, m, "bench", o.Seed, nil)
	return b, t.core(ctx, o.BuildDir, &b)
}

type latencies struct {
	result, afterLast, total, ack, forward uint64
	members, payload                       int
}

func latency(ctx context.Context, o BenchOptions, dir string) (latencies, error) {
	var l latencies
	t, err := single(ctx, Options{ManifestDir: dir, DUT: KindCore, BuildDir: o.BuildDir}, "bench", o.Seed)
	if err != nil {
		return l, err
	}
	defer t.close()
	e, err := t.newEngine()
	if err != nil {
		return l, err
	}
	e.mute = true // who acknowledges what, and when, is the benchmark's to say
	l.members, l.payload = min(t.p.Members, 8), min(benchPayload, t.p.MTUBytes)
	g, err := e.newGroup(0, 1, l.members, false)
	if err != nil {
		return l, err
	}
	var in dut.Accepted
	e.OnAccept = func(a dut.Accepted, _ []inc.Counter) error {
		in = a
		return nil
	}
	for k := range 3 * g.mw() {
		var outs []dut.Out
		for _, c := range g.members() {
			if outs, err = e.exchange(g.data(c, g.set.Start.Add(k), g.noise(l.payload))); err != nil {
				return l, err
			}
		}
		last := in
		if t.pipes() {
			if len(outs) == 0 {
				return l, failf("no ACK")
			}
			l.ack = max(l.ack, outs[0].First-last.First)
			outs = outs[1:]
			for _, c := range g.members() {
				if _, err := e.exchange(g.aeth(c, g.set.Start.Add(k), roce.AckSyndrome)); err != nil {
					return l, err
				}
			}
		}
		if len(outs) != l.members {
			return l, failf("%d results instead of %d", len(outs), l.members)
		}
		l.result = max(l.result, outs[0].First-last.First)
		l.afterLast = max(l.afterLast, outs[0].First-min(last.At, outs[0].First))
		l.total = max(l.total, outs[0].Last-last.First)
	}
	for range 8 {
		f := g.data(0, 0, g.noise(l.payload), func(p *roce.Packet) { p.DestQP ^= 0x800000 })
		outs, err := e.exchange(f)
		if err != nil {
			return l, err
		}
		if len(outs) != 1 {
			return l, failf("a stranger left %d times", len(outs))
		}
		l.forward = max(l.forward, outs[0].First-in.First)
	}
	return l, nil
}

// throughputRounds is how many packets each member sends in a measurement: a multiple of every window.
const throughputRounds = 96

// BenchThroughput measures how many input beats a cycle the core accepts while its input never rests and its output is never
// held up: AllReduce over up to eight members, payloads from 64 bytes to the MTU. The keys are
// beats_per_cycle_SIZE_ORDER[_acks]: ORDER is worst (all members' packets of one slot back to back) or best (in turn, but each
// member at a slot of its own); with acks every result of a window before is acknowledged by every member between the
// data. ingress_gbps and egress_gbps are raw, at the largest payload up to 1,024 bytes in the worst order. In Mode III results must be
// acknowledged, so all measurements are with acks, three quarters of a window behind, and members are half a window apart at most: no
// packet may find its pipe full, and no result has to wait for an ACK.
func BenchThroughput(ctx context.Context, o BenchOptions) (Bench, error) {
	t, err := single(ctx, Options{ManifestDir: o.ManifestDir, DUT: KindCore, BuildDir: o.BuildDir}, "bench", o.Seed)
	if err != nil {
		return Bench{}, err
	}
	defer t.close()
	b := Bench{Bench: "throughput", Config: t.man.Name, Metrics: map[string]float64{"clock_mhz": float64(t.p.ClockMHz)}}
	gbps := float64(t.p.BusBytes*8*t.p.ClockMHz) / 1000
	for size := 64; size <= t.p.MTUBytes; size *= 2 {
		for _, worst := range []bool{false, true} {
			for _, acks := range []bool{false, true} {
				if t.pipes() && !acks {
					continue
				}
				in, out, err := t.throughput(size, worst, acks)
				name := strconv.Itoa(size) + map[bool]string{false: "_best", true: "_worst"}[worst] + map[bool]string{true: "_acks"}[acks]
				if err != nil {
					return b, fmt.Errorf("throughput %s: %w", name, err)
				}
				b.Metrics["beats_per_cycle_"+name] = in
				if worst && acks == t.pipes() && size <= 1024 {
					b.Metrics["ingress_gbps"], b.Metrics["egress_gbps"] = in*gbps, out*gbps
				}
			}
		}
	}
	return b, nil
}

// throughput runs one measurement and returns input and output beats a cycle.
func (t *T) throughput(size int, worst, acks bool) (in, out float64, err error) {
	e, err := t.newEngine()
	if err != nil {
		return 0, 0, err
	}
	e.mute = true
	members := min(t.p.Members, 8)
	g, err := e.newGroup(0, 1, members, false)
	if err != nil {
		return 0, 0, err
	}
	spread, lag := g.mw(), g.mw() // how far apart members are at most, and how far behind data its ACKs are, in packets
	if t.pipes() {
		spread, lag = spread/2, lag-lag/4
	}
	rounds := max(throughputRounds/g.mw(), 3) * g.mw()
	data := func(c, k int) {
		f := g.data(c, g.set.Start.Add(k), g.noise(size))
		e.send(f.port, f.data)
		if acks && k >= lag {
			a := g.aeth(c, g.set.Start.Add(k-lag), roce.AckSyndrome)
			e.send(a.port, a.data)
		}
	}
	for k := range rounds + g.mw() {
		for c := range members {
			ahead := 0 // in the best order every member works on a slot of its own, as far apart as the window lets it
			if !worst {
				ahead = c * spread / members
			}
			if p := k - ahead; p >= 0 && p < rounds {
				data(c, p)
			}
		}
	}
	// The first and the last window are left out: the pipe fills and empties.
	skip := members * g.mw()
	total := e.Waiting()
	n, beats := 0, 0
	var first, last uint64
	e.OnAccept = func(a dut.Accepted, _ []inc.Counter) error {
		if n++; n == skip {
			first = a.At
		} else if n > skip && n <= total-skip {
			beats += t.beats(len(a.Data))
			last = a.At
		}
		return nil
	}
	outs, err := e.settle()
	if err != nil {
		return 0, 0, err
	}
	if last <= first {
		return 0, 0, errors.New("nothing was measured")
	}
	outBeats := 0
	for _, o := range outs {
		if o.Last > first && o.Last <= last {
			outBeats += t.beats(len(o.Data))
		}
	}
	if t.pipes() {
		for _, c := range g.members() {
			if _, err := e.exchange(g.aeth(c, g.set.Start.Add(rounds-1), roce.AckSyndrome)); err != nil {
				return 0, 0, err
			}
		}
		if err := e.counted("throughput", map[inc.Counter]uint32{inc.DropFull: 0, inc.DropGap: 0, inc.DropStaleAck: 0}); err != nil {
			return 0, 0, err
		}
	}
	if _, err := e.Finish(); err != nil {
		return 0, 0, err
	}
	cycles := float64(last - first)
	return float64(beats) / cycles, float64(outBeats) / cycles, nil
}

// simRuns is how many turns each side of BenchSim has at most, leastSimRuns at least: a model that takes long gets no more than
// fit in simBudget of processor time.
const (
	simRuns      = 15
	leastSimRuns = 3
	simBudget    = 2 * time.Minute
)

// BenchSim compares the harness with a C++ loop that drives the same inputs into the same model: the switch top, all sources,
// sinks and checkers attached, full packets from all members in worst-case order and an ACK for each result.
//
//	go_over_cpp   time a cycle of the Go harness over that of the C++ loop
//	cycles_per_s, frames_per_s   of the Go harness; frames in and out
func BenchSim(ctx context.Context, o BenchOptions) (Bench, error) {
	m, err := contract.Load(o.ManifestDir)
	if err != nil {
		return Bench{}, err
	}
	b := Bench{Bench: "sim", Config: m.Name, Metrics: map[string]float64{}}
	r := &runner{opt: Options{DUT: KindRTL, BuildDir: o.BuildDir}, man: m}
	build, err := r.build(false)
	if err != nil {
		return b, err
	}
	lib, err := build.Compile(ctx)
	if err != nil {
		return b, err
	}
	so := sim.Options{Random: true, Seed: o.Seed}
	// What the Go harness drives is recorded once and proved to be the same run in C++.
	recorded, err := newLoad(ctx, lib, m, so, true)
	if err != nil {
		return b, err
	}
	defer recorded.close()
	before := sim.CPUTime()
	if _, err := recorded.run(); err != nil {
		return b, err
	}
	turns := min(max(int(simBudget/(2*(sim.CPUTime()-before)+1)), leastSimRuns), simRuns)
	rec, err := recorded.d.Model().Recorded()
	if err != nil {
		return b, err
	}
	raw := func(prove bool) (time.Duration, error) {
		model, err := lib.New(so)
		if err != nil {
			return 0, err
		}
		defer model.Close()
		before := sim.CPUTime()
		_, err = model.RawLoop(rec, prove)
		return sim.CPUTime() - before, err
	}
	if _, err := raw(true); err != nil {
		return b, err
	}
	// The two take turns, in processor time, since the machine may have other work: the ratio is the median over the turns,
	// the speeds are the best of each side.
	goTime, cppTime := math.Inf(1), math.Inf(1)
	var ratios []float64
	var cycles uint64
	var frames int
	for range turns {
		if err := ctx.Err(); err != nil {
			return b, err
		}
		l, err := newLoad(ctx, lib, m, so, false)
		if err != nil {
			return b, err
		}
		before := sim.CPUTime()
		frames, err = l.run()
		took := (sim.CPUTime() - before).Seconds()
		goTime = min(goTime, took)
		cycles = l.measured
		l.close()
		if err != nil {
			return b, err
		}
		bare, err := raw(false)
		if err != nil {
			return b, err
		}
		cppTime = min(cppTime, bare.Seconds())
		ratios = append(ratios, took/float64(cycles)/(bare.Seconds()/float64(rec.Cycles())))
	}
	slices.Sort(ratios)
	perGo, perCPP := goTime/float64(cycles), cppTime/float64(rec.Cycles())
	b.Metrics["go_over_cpp"] = ratios[len(ratios)/2]
	b.Metrics["cycles_per_s"], b.Metrics["cpp_cycles_per_s"] = 1/perGo, 1/perCPP
	b.Metrics["frames_per_s"] = float64(frames) / goTime
	b.Metrics["cycles"], b.Metrics["frames"], b.Metrics["turns"] = float64(cycles), float64(frames), float64(turns)
	return b, nil
}

// load is the stimulus of BenchSim on one model.
type load struct {
	t        *T
	d        *dut.RTL
	measured uint64
}

// simPackets is how many packets each member sends in BenchSim.
const simPackets = 256

func newLoad(ctx context.Context, lib *sim.Lib, m *contract.Manifest, so sim.Options, record bool) (*load, error) {
	d, err := dut.NewRTL(lib, m, false, so, func(model *sim.Model) error {
		if record {
			return model.Record()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l := &load{d: d}
	l.t = newT(ctx, m, "bench", 1, func(uint64, int) (dut.DUT, error) { return d, nil })
	e, err := l.t.newEngine()
	if err == nil {
		err = l.offer(e)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// offer programs the engine and queues everything; from here on only the bare DUT is run, without scoreboard.
func (l *load) offer(e *engine) error {
	g, err := e.newGroup(0, 1, l.t.p.Members, false)
	if err != nil {
		return err
	}
	for k := range simPackets {
		for _, c := range g.members() {
			f := g.data(c, g.set.Start.Add(k), g.noise(l.t.p.MTUBytes))
			l.d.Offer(f.port, dut.Frame{Data: f.data})
			if k >= g.mw() {
				a := g.aeth(c, g.set.Start.Add(k-g.mw()), roce.AckSyndrome)
				l.d.Offer(a.port, dut.Frame{Data: a.data})
			}
		}
	}
	return nil
}

// run runs until everything is in and returns the number of frames that went in and out.
func (l *load) run() (int, error) {
	start := l.d.Now()
	frames := 0
	for l.d.Waiting() > 0 {
		if err := l.d.StepTo(l.d.Now() + 1024); err != nil {
			return 0, err
		}
		frames += len(l.d.Accepted()) + len(l.d.Out())
	}
	l.measured = l.d.Now() - start
	return frames, nil
}

func (l *load) close() { _ = l.d.Close() }

// close ends all engines of a T that is not run by Run.
func (t *T) close() {
	for _, e := range t.engines {
		_ = e.Close() // the figures are taken
	}
}
