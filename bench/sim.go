// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"math"
	"slices"
	"time"

	"incforge/contract"
	"incforge/sim"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// Sim runs each side leastSimRuns to simRuns times: with a slow model as often as fits into simBudget of processor
// time.
const (
	simRuns      = 15
	leastSimRuns = 3
	simBudget    = 2 * time.Minute
)

// Sim compares the harness with a C++ loop that drives the same inputs into the same model: the switch top, all sources,
// sinks and checkers attached, full packets from all members in worst-case order and an ACK for each result.
//
//	go_over_cpp   time a cycle of the Go harness over that of the C++ loop
//	cycles_per_s, frames_per_s   of the Go harness; frames in and out
func Sim(ctx context.Context, o Options) (Result, error) {
	m, lib, err := dut.Source{ManifestDir: o.ManifestDir, BuildDir: o.BuildDir}.Model(ctx)
	if err != nil {
		return Result{}, err
	}
	b := o.result("sim", m)
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
	// The two sides alternate and are measured in processor time, because the machine may be busy. The ratio is the
	// median over the turns; the speeds are the best of each side.
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

// load is the stimulus of Sim on one model.
type load struct {
	t        *rig.T
	d        *dut.RTL
	measured uint64
}

// simPackets is the number of packets that each member sends in Sim.
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
	l := &load{d: d, t: rig.New(ctx, m, "bench", 1, func(uint64, int) (dut.DUT, error) { return d, nil })}
	if err := rig.Catch(l.offer); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// offer programs the engine and queues all frames. After it only the bare DUT runs, without scoreboard.
func (l *load) offer() {
	g := l.t.Engine().Group(0, 1, l.t.Params.Members, false)
	for k := range simPackets {
		for _, c := range g.Members() {
			l.d.Offer(g.Ends[c].Port, dut.Frame{Data: g.Data(c, g.Start().Add(k), g.Noise(l.t.Params.MTUBytes)).Data})
			if k >= g.MW() {
				l.d.Offer(g.Ends[c].Port, dut.Frame{Data: g.Ack(c, g.Start().Add(k-g.MW())).Data})
			}
		}
	}
}

// run runs until all frames are in and returns the number of frames that went in and out.
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
