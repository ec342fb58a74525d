// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/sirupsen/logrus"

	"incforge/contract"
	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/verify/code"
	"incforge/verify/cover"
	"incforge/verify/dut"
	"incforge/verify/result"
	"incforge/verify/rig"
	"incforge/verify/scenarios"
)

// Options say what RunAll does.
type Options struct {
	// Source is the engine under test.
	Source dut.Source
	// Config is the configuration as the user named it, for the replay line; empty means the manifest's name.
	Config string
	// Scenario is a pattern over scenario names (scenarios.Matches); empty means all.
	Scenario string
	// Seed is the first seed; Seeds how many are run of each scenario, 0 means one.
	Seed  uint64
	Seeds int
	// Place is where tests run.
	Place jobs.Place
	// FailFast ends the run at the first test that fails: those not begun by then are missing from the report.
	FailFast bool
	// Long runs the long forms: 200,000 mutated frames, every length.
	Long bool
	// FailDir is where frames of failed tests are written as pcapng; empty means nowhere.
	FailDir string
	// WavesDir, if not empty, is where failed tests leave waves: each is run once more with a traced model.
	WavesDir string
	// ReplayFlags is appended to replay lines, for instance " --rtl DIR".
	ReplayFlags string
	// Progress is told how many tests are done and which run; nil is none.
	Progress *progress.Task
	// Log receives diagnostics; nil means none.
	Log *logrus.Logger
	// Results, if not nil, receives each test's JSON line as it ends.
	Results io.Writer
	// Code, if not nil, is told as each test ends what the tests of its engine have hit of the Verilog by then, if the source has Cover.
	Code func(config string, c Code)
	// wrap lets tests of this package plant faults between engine and scoreboard.
	wrap func(dut.DUT) dut.DUT
}

// Report is what a run found.
type Report struct {
	Tests    []result.Test
	Coverage cover.Map
	// Code is what was hit of the Verilog, by configuration, if its source has Cover.
	Code map[string]Code
}

// Code is what the tests of an engine hit of its Verilog.
type Code struct {
	Points []code.Point
	Hits   code.Hits
	Tests  int
}

// Failed counts failed tests.
func (r *Report) Failed() int {
	n := 0
	for i := range r.Tests {
		if r.Tests[i].Verdict == result.Fail {
			n++
		}
	}
	return n
}

// Errors of RunAll.
var (
	// ErrFailed means that at least one test failed.
	ErrFailed = errors.New("verification failed")
	// ErrNothingRan means that no test ran at all, which proves nothing and therefore is a failure.
	ErrNothingRan = errors.New("no scenario ran")
)

// Engine is one under test: Options' Source and Config, of several.
type Engine struct {
	Source dut.Source
	Config string
}

// job is one test to run.
type job struct {
	*runner
	scenario rig.Scenario
	seed     uint64
}

// runner is what the tests of an engine share.
type runner struct {
	opt     Options
	man     *contract.Manifest
	engines dut.Engines
	points  []code.Point // of the Verilog, if its source has Cover
	open    func() error // compiles the model and sets the two above, once
}

// Run is RunAll of one engine, the options' own.
func Run(ctx context.Context, opt Options) (Report, error) {
	return RunAll(ctx, []Engine{{opt.Source, opt.Config}}, opt)
}

// RunAll runs the scenarios that match on several engines and returns their results. The error is ErrFailed if a test failed, ErrNothingRan
// if of an engine none ran, or what kept the run from starting; the Report is complete in the first two cases. Where ctx ended the run, or
// jobs on other machines died, the report has the tests that had ended by then.
func RunAll(ctx context.Context, engines []Engine, opt Options) (Report, error) {
	if opt.Log == nil {
		opt.Log = logrus.New()
		opt.Log.SetOutput(io.Discard)
	}
	chosen, err := scenarios.Select(opt.Scenario)
	if err != nil {
		return Report{}, err
	}
	all := plan{scenarios: chosen, seeds: max(opt.Seeds, 1), first: opt.Seed}
	for _, e := range engines {
		r := newRunner(ctx, e, opt)
		if !jobs.Shard() { // which needs only those that it gets tests for
			if err := r.open(); err != nil {
				return Report{}, err
			}
		}
		all.runners = append(all.runners, r)
	}
	rep, ran, err := runAll(ctx, all, opt)
	if err != nil {
		return rep, err
	}
	if rep.Failed() > 0 {
		return rep, fmt.Errorf("%w: %d of %d tests", ErrFailed, rep.Failed(), len(rep.Tests))
	}
	for _, r := range all.runners {
		if !ran[r] {
			return rep, fmt.Errorf("%s: %w", r.opt.Config, ErrNothingRan)
		}
	}
	return rep, nil
}

func newRunner(ctx context.Context, e Engine, opt Options) *runner {
	r := &runner{opt: opt}
	r.opt.Source, r.opt.Config = e.Source, e.Config
	r.opt.Source.Kind, r.opt.Source.Log = cmp.Or(e.Source.Kind, dut.KindRTL), opt.Log
	r.open = sync.OnceValue(func() (err error) {
		if r.man, r.engines, err = r.opt.Source.Open(ctx); err == nil {
			r.opt.Config = cmp.Or(r.opt.Config, r.man.Name)
		}
		if err == nil && r.opt.Source.Cover {
			r.points, err = r.covered()
		}
		return err
	})
	return r
}

// plan is every test of a run, by number; there may be millions.
type plan struct {
	runners   []*runner
	scenarios []rig.Scenario
	seeds     int // of each scenario, from the first one on
	first     uint64
}

func (p plan) job(i int) job {
	scenario := i / p.seeds
	return job{p.runners[scenario/len(p.scenarios)], p.scenarios[scenario%len(p.scenarios)], p.first + uint64(i%p.seeds)}
}

// outcome is what a test leaves behind, wherever it ran.
type outcome struct {
	Test  result.Test `json:"test"`
	Cover cover.Map   `json:"cover"`
	Code  code.Hits   `json:"code,omitempty"`
}

// runAll runs the tests; results keep the order of the jobs. ran has the engines that passed a test.
func runAll(ctx context.Context, all plan, opt Options) (rep Report, ran map[*runner]bool, err error) {
	outcomes := map[int]outcome{}
	failed := 0
	ran, rep.Code = map[*runner]bool{}, map[string]Code{}
	tests := len(all.runners) * len(all.scenarios) * all.seeds
	err = jobs.Run(ctx, opt.Place, jobs.Task[outcome]{Name: "verify", Pieces: tests, Progress: opt.Progress, Unit: "tests",
		Run: func(ctx context.Context, i int) (outcome, error) {
			j := all.job(i)
			if err := j.open(); err != nil {
				return outcome{}, err
			}
			o := j.one(ctx, j)
			if o.Test.Verdict == "" {
				return outcome{}, ctx.Err()
			}
			return o, nil
		},
		Label: func(i int) string { return all.job(i).name(len(all.runners) > 1) },
		Note: func() string {
			if failed == 0 {
				return ""
			}
			return fmt.Sprintf("%d failed", failed)
		},
		Done: func(i int, o outcome) error {
			outcomes[i] = o
			all.job(i).addCode(rep.Code, o.Code)
			if opt.Results != nil {
				if err := json.NewEncoder(opt.Results).Encode(&o.Test); err != nil {
					return fmt.Errorf("results: %w", err)
				}
			}
			switch o.Test.Verdict {
			case result.Pass:
				ran[all.job(i).runner] = true
			case result.Fail:
				if failed++; opt.FailFast {
					return jobs.ErrStop
				}
			}
			return nil
		}})
	rep.Coverage = cover.Map{}
	for _, i := range slices.Sorted(maps.Keys(outcomes)) {
		rep.Tests = append(rep.Tests, outcomes[i].Test)
		rep.Coverage.Merge(outcomes[i].Cover)
	}
	return rep, ran, err
}

// addCode adds what a test has hit to what its engine's tests have.
func (j job) addCode(all map[string]Code, hits code.Hits) {
	if hits == nil {
		return
	}
	config := j.opt.Config
	c := all[config]
	c.Points, c.Tests = j.points, c.Tests+1
	c.Hits.Merge(hits)
	all[config] = c
	if j.opt.Code != nil {
		j.opt.Code(config, c)
	}
}

// name is a job's in progress reports, with the configuration if there are several.
func (j job) name(several bool) string {
	name := fmt.Sprintf("%s seed %d", j.scenario.Name, j.seed)
	if several {
		return j.opt.Config + " " + name
	}
	return name
}

// replay is the command that runs one test again.
func (r *runner) replay(j job) string {
	s := fmt.Sprintf("incforge verify %s --dut %s --scenario %s --seed %d", r.opt.Config, r.opt.Source.Kind, j.scenario.Name, j.seed)
	if r.opt.Long {
		s += " --long"
	}
	return s + r.opt.ReplayFlags
}
