// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/roce"
	"incforge/verify/code"
	"incforge/verify/dut"
	"incforge/verify/result"
	"incforge/verify/rig"
)

// one runs a test; a failed one leaves its frames and, if asked for, its waves. One that the end of the run has cut off has no verdict.
func (r *runner) one(ctx context.Context, j job) outcome {
	res := result.Test{Config: r.man.Name, Digest: r.man.Digest, DUT: string(r.opt.Source.Kind), Scenario: j.scenario.Name, Seed: j.seed,
		Replay: r.replay(j)}
	if j.scenario.Needs != nil {
		if why := j.scenario.Needs(r.man.Params); why != "" {
			res.Verdict, res.Message = result.NotApplicable, why
			return outcome{Test: res}
		}
	}
	start := time.Now()
	a, err := r.attempt(ctx, j, "")
	if err != nil && ctx.Err() != nil {
		return outcome{}
	}
	var lacks rig.NotApplicable
	if errors.As(err, &lacks) {
		res.Verdict, res.Message = result.NotApplicable, lacks.Error()
		return outcome{Test: res}
	}
	res.WallSeconds = time.Since(start).Seconds()
	res.Verdict = result.Pass
	for _, e := range a.t.Engines() {
		res.Cycles += e.Now()
		res.Frames += e.Frames()
	}
	res.Clocked = a.budget.Used()
	res.Stimulus, res.Egress = dut.Digest(a.recorded...)
	sum := a.t.Cover.Summary()
	res.Coverage, res.Values = &sum, a.t.Values
	if err == nil && res.Frames == 0 && j.scenario.Name != "registers" {
		err = errors.New("the scenario put no frame through an engine")
	}
	if err == nil {
		return outcome{res, a.t.Cover, a.hits()}
	}
	res.Verdict, res.Message = result.Fail, err.Error()
	r.keepFrames(a, j, &res)
	r.keepWaves(ctx, j, &res)
	r.opt.Log.WithFields(logrus.Fields{"scenario": j.scenario.Name, "seed": j.seed}).Errorf("%s\nreplay: %s", res.Message, res.Replay)
	return outcome{res, a.t.Cover, a.hits()}
}

// attempt is one run of a scenario.
type attempt struct {
	t        *rig.T
	budget   *dut.Budget
	recorded []*dut.Watched
}

// attempt runs the scenario once; waves is a file, or empty.
func (r *runner) attempt(ctx context.Context, j job, waves string) (*attempt, error) {
	limit := rig.Limit(r.man.Params)
	if r.opt.Long {
		limit *= 10
	}
	a := &attempt{budget: dut.NewBudget(ctx, limit)}
	a.t = rig.New(ctx, r.man, j.scenario.Name, j.seed, func(seed uint64, n int) (dut.DUT, error) {
		file := waves
		if waves != "" && n > 0 {
			file = strings.TrimSuffix(waves, ".fst") + fmt.Sprintf("-%d.fst", n)
		}
		d, err := r.engines(seed, file)
		if err != nil {
			return nil, err
		}
		if r.opt.wrap != nil {
			d = r.opt.wrap(d)
		}
		rec := dut.Watch(d, a.budget)
		a.recorded = append(a.recorded, rec)
		return rec, nil
	})
	a.t.Long, a.t.OneQueue = r.opt.Long, r.opt.Source.Kind == dut.KindReference
	return a, a.t.Run(j.scenario.Run)
}

// hits are what the engines of the attempt came through, if they count that; they are closed by then.
func (a *attempt) hits() (all code.Hits) {
	for _, rec := range a.recorded {
		if d, ok := rec.DUT.(*dut.RTL); ok && d.Hits() != nil {
			all.Add(d.Hits())
		}
	}
	return all
}

// covered are the points of the Verilog, which an engine tells that does nothing.
func (r *runner) covered() ([]code.Point, error) {
	d, err := r.engines(1, "")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	e, ok := d.(*dut.RTL)
	if !ok {
		return nil, fmt.Errorf("a %s has no lines to cover", r.opt.Source.Kind)
	}
	points, _, err := e.Model().Coverage()
	if err != nil {
		return nil, err
	}
	var all []code.Point
	for _, p := range points {
		all = append(all, code.Point{File: p.File, Line: p.Line, Column: p.Column, Kind: code.Kind(p.Kind), What: p.What})
	}
	return all, nil
}

// name is what a failed test's files are called.
func (r *runner) name(j job) string {
	return fmt.Sprintf("%s-%s-%s-%d", r.man.Name, r.opt.Source.Kind, j.scenario.Name, j.seed)
}

// keepWaves runs a failed test once more with a traced model.
func (r *runner) keepWaves(ctx context.Context, j job, res *result.Test) {
	if r.opt.WavesDir == "" || r.opt.Source.Kind == dut.KindReference {
		return
	}
	file := filepath.Join(r.opt.WavesDir, r.name(j)+".fst")
	if err := os.MkdirAll(r.opt.WavesDir, 0o755); err == nil {
		if _, err := r.attempt(ctx, j, file); err != nil {
			res.Waves = file
		}
	}
}

// keepFrames writes what went in and out of a test's engines, one interface a port: engine 0's in, engine 0's out, and so on.
func (r *runner) keepFrames(a *attempt, j job, res *result.Test) {
	if r.opt.FailDir == "" {
		return
	}
	file := filepath.Join(r.opt.FailDir, r.name(j)+".pcapng")
	if err := r.writeFrames(a.t, file); err != nil {
		r.opt.Log.WithError(err).Error("capture of a failed test")
		return
	}
	res.Capture = file
}

func (r *runner) writeFrames(t *rig.T, file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	var ports []string
	var frames []roce.Captured
	for i, e := range t.Engines() {
		base := len(ports)
		for _, dir := range []string{"in", "out"} {
			for p := range t.Params.Ports {
				ports = append(ports, fmt.Sprintf("engine%d.p%d.%s", i, p, dir))
			}
		}
		for _, f := range e.Log() {
			id := base + f.Port
			if f.Out {
				id += t.Params.Ports
			}
			frames = append(frames, roce.Captured{Port: id, Time: t.Time(f.Last), Frame: f.Data})
		}
	}
	return roce.WriteCapture(file, ports, frames)
}
