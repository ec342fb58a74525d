// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"math"
	"slices"
	"time"

	"incforge/report"
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
func Sim(ctx context.Context, o Options) (report.Bench, error) {
	m, lib, err := dut.Source{ManifestDir: o.ManifestDir}.Model(ctx)
	if err != nil {
		return report.Bench{}, err
	}
	s := &speed{T: rig.New(ctx, m, "bench", o.Seed, nil), lib: lib, options: sim.Options{Random: true, Seed: o.Seed}}
	var found metrics
	// Nothing can stop the C++ loop.
	if err := until(ctx, func() error { return rig.Catch(func() { found = s.compare() }) }); err != nil {
		return report.Bench{}, err
	}
	return report.Bench{Bench: "sim", Config: m.Name, Metrics: found}, nil
}

// speed is the state of one Sim.
type speed struct {
	*rig.T
	lib     *sim.Lib
	options sim.Options
}

func (s *speed) compare() metrics {
	// What the Go harness drives is recorded once and proved to be the same run in C++.
	recorded := s.model((*sim.Model).Record)
	defer recorded.Close()
	first := s.drive(recorded)
	rec, err := recorded.Model().Recorded()
	s.Check(err)
	s.raw(rec, true)
	// The two sides alternate and are measured in processor time, because the machine may be busy. The ratio is the
	// median over the turns; the speeds are the best of each side.
	turns := min(max(int(simBudget.Seconds()/(2*first.seconds)), leastSimRuns), simRuns)
	goTime, cppTime := math.Inf(1), math.Inf(1)
	var ratios []float64
	for range turns {
		s.Check(s.Context().Err())
		d := s.model()
		took := s.drive(d).seconds
		s.Check(d.Close())
		bare := s.raw(rec, false)
		goTime, cppTime = min(goTime, took), min(cppTime, bare)
		ratios = append(ratios, took/float64(first.cycles)/(bare/float64(rec.Cycles())))
	}
	slices.Sort(ratios)
	return metrics{"go_over_cpp": ratios[len(ratios)/2], "cycles_per_s": float64(first.cycles) / goTime,
		"cpp_cycles_per_s": float64(rec.Cycles()) / cppTime, "frames_per_s": float64(first.frames) / goTime,
		"cycles": float64(first.cycles), "frames": float64(first.frames), "turns": float64(turns)}
}

// model makes a model, which the caller closes; before is called before its first cycle.
func (s *speed) model(before ...func(*sim.Model) error) *dut.RTL {
	d, err := dut.NewRTL(s.lib, s.Manifest, false, s.options, before...)
	s.Check(err)
	return d
}

// raw is the processor time of the C++ loop in seconds.
func (s *speed) raw(rec *sim.Recording, prove bool) float64 {
	model, err := s.lib.New(s.options)
	s.Check(err)
	defer model.Close()
	before := sim.CPUTime()
	_, err = model.RawLoop(rec, prove)
	s.Check(err)
	return (sim.CPUTime() - before).Seconds()
}

// driven is what one run of the Go harness was; frames are those in and out.
type driven struct {
	seconds float64 // of processor time
	cycles  uint64
	frames  int
}

// simPackets is the number of packets that each member sends in Sim.
const simPackets = 256

// drive programs an engine, queues all frames and runs until they are in. That is measured: the bare DUT, without scoreboard.
func (s *speed) drive(d *dut.RTL) (r driven) {
	t := rig.New(s.Context(), s.Manifest, "bench", 1, func(uint64, int) (dut.DUT, error) { return d, nil })
	g := t.Engine().Group(0, 1, t.Params.Members, false)
	for k := range simPackets {
		for _, c := range g.Members() {
			d.Offer(g.Ends[c].Port, dut.Frame{Data: g.Data(c, g.Start().Add(k), g.Noise(t.Params.MTUBytes)).Data})
			if k >= g.MW() {
				d.Offer(g.Ends[c].Port, dut.Frame{Data: g.Ack(c, g.Start().Add(k-g.MW())).Data})
			}
		}
	}
	start, before := d.Now(), sim.CPUTime()
	for d.Waiting() > 0 {
		s.Check(s.Context().Err())
		s.Check(d.StepTo(d.Now() + 1024))
		r.frames += len(d.Accepted()) + len(d.Out())
	}
	r.seconds, r.cycles = (sim.CPUTime() - before).Seconds(), d.Now()-start
	return r
}
