// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"incforge/contract"
	"incforge/internal/progress"
	"incforge/verify/cover"
	"incforge/verify/dut"
	"incforge/verify/result"
	"incforge/verify/rig"
	"incforge/verify/scenarios"
)

// Options say what Run does.
type Options struct {
	// Source is the engine under test.
	Source dut.Source
	// Config is the configuration as the user named it, for the replay line; empty means the manifest's name.
	Config string
	// Scenario is a pattern over scenario names; empty means all.
	Scenario string
	// Seed is the first seed; Seeds how many are run of each scenario, 0 means one.
	Seed  uint64
	Seeds int
	// Jobs is how many tests run at once; 0 means one.
	Jobs int
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
	// wrap lets tests of this package plant faults between engine and scoreboard.
	wrap func(dut.DUT) dut.DUT
}

// Report is what a run found.
type Report struct {
	Tests    []result.Test
	Coverage cover.Map
}

// Failed counts failed tests.
func (r *Report) Failed() int { return r.count(result.Fail) }

// Passed counts passed tests.
func (r *Report) Passed() int { return r.count(result.Pass) }

func (r *Report) count(v result.Verdict) int {
	n := 0
	for i := range r.Tests {
		if r.Tests[i].Verdict == v {
			n++
		}
	}
	return n
}

// Errors of Run.
var (
	// ErrFailed means that at least one test failed.
	ErrFailed = errors.New("verification failed")
	// ErrNothingRan means that no test ran at all, which proves nothing and therefore is a failure.
	ErrNothingRan = errors.New("no scenario ran")
)

// job is one test to run.
type job struct {
	scenario rig.Scenario
	seed     uint64
}

// runner is what the tests of a run share, and how far it is.
type runner struct {
	opt     Options
	man     *contract.Manifest
	engines dut.Engines

	mu           sync.Mutex
	tests        []result.Test
	covers       []cover.Map
	running      []string
	done, failed int
}

// Run runs the scenarios that match and returns their results. The error is ErrFailed if a test failed, ErrNothingRan if none
// ran, or what kept the run from starting; the Report is complete in the first two cases. Where ctx ended the run, the report has the tests
// that had ended by then.
func Run(ctx context.Context, opt Options) (Report, error) {
	if opt.Log == nil {
		opt.Log = logrus.New()
		opt.Log.SetOutput(io.Discard)
	}
	opt.Source.Kind, opt.Source.Log = cmp.Or(opt.Source.Kind, dut.KindRTL), opt.Log
	chosen, err := scenarios.Select(opt.Scenario)
	if err != nil {
		return Report{}, err
	}
	r := &runner{opt: opt}
	if r.man, r.engines, err = opt.Source.Open(ctx); err != nil {
		return Report{}, err
	}
	r.opt.Config = cmp.Or(opt.Config, r.man.Name)
	var jobs []job
	for _, s := range chosen {
		for k := range max(opt.Seeds, 1) {
			jobs = append(jobs, job{s, opt.Seed + uint64(k)})
		}
	}
	rep := r.runAll(ctx, jobs)
	if err := ctx.Err(); err != nil {
		return rep, err
	}
	switch {
	case rep.Failed() > 0:
		return rep, fmt.Errorf("%w: %d of %d tests", ErrFailed, rep.Failed(), len(rep.Tests))
	case rep.Passed() == 0:
		return rep, ErrNothingRan
	}
	return rep, nil
}

// runAll runs the jobs on opt.Jobs goroutines; results keep the order of the jobs.
func (r *runner) runAll(ctx context.Context, jobs []job) Report {
	r.tests, r.covers = make([]result.Test, len(jobs)), make([]cover.Map, len(jobs))
	var g errgroup.Group
	g.SetLimit(max(r.opt.Jobs, 1))
	for i, j := range jobs {
		g.Go(func() error {
			if ctx.Err() == nil && r.begin(j.name()) {
				t, c := r.one(ctx, j)
				r.end(i, j.name(), t, c)
			}
			return nil
		})
	}
	_ = g.Wait() // its functions return no errors
	rep := Report{Coverage: cover.Map{}}
	for i, t := range r.tests {
		if t.Verdict != "" {
			rep.Tests = append(rep.Tests, t)
			rep.Coverage.Merge(r.covers[i])
		}
	}
	return rep
}

// begin tells whether a test is to be run at all.
func (r *runner) begin(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opt.FailFast && r.failed > 0 {
		return false
	}
	r.running = append(r.running, name)
	r.tell()
	return true
}

// end keeps a test's result.
func (r *runner) end(i int, name string, t result.Test, c cover.Map) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = slices.DeleteFunc(r.running, func(n string) bool { return n == name })
	r.tests[i], r.covers[i] = t, c
	if t.Verdict == "" {
		return
	}
	if r.done++; t.Verdict == result.Fail {
		r.failed++
	}
	r.tell()
	if r.opt.Results != nil {
		if err := t.Write(r.opt.Results); err != nil {
			r.opt.Log.WithError(err).Error("results")
		}
	}
}

// tell reports how far the run is.
func (r *runner) tell() {
	note := "running " + strings.Join(r.running, ", ")
	if r.failed > 0 {
		note = fmt.Sprintf("%d failed, %s", r.failed, note)
	}
	r.opt.Progress.Set(uint64(r.done), uint64(len(r.tests)), "tests", note)
}

// name is a job's in progress reports.
func (j job) name() string { return fmt.Sprintf("%s seed %d", j.scenario.Name, j.seed) }

// replay is the command that runs one test again.
func (r *runner) replay(j job) string {
	s := fmt.Sprintf("incforge verify %s --dut %s --scenario %s --seed %d", r.opt.Config, r.opt.Source.Kind, j.scenario.Name, j.seed)
	if r.opt.Long {
		s += " --long"
	}
	return s + r.opt.ReplayFlags
}
