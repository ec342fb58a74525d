// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/contract"
	"incforge/roce"
	"incforge/verify/cover"
	"incforge/verify/dut"
	"incforge/verify/result"
)

// Kind is what stands behind the DUT contract.
type Kind string

// The kinds. RTL is the top with a stream a port, Core the one with a single stream; Netlist is RTL from other sources.
const (
	KindRTL       Kind = "rtl"
	KindCore      Kind = "core"
	KindNetlist   Kind = "netlist"
	KindReference Kind = "reference"
)

// Kinds lists them in the order of the command line's help.
func Kinds() []Kind { return []Kind{KindRTL, KindCore, KindNetlist, KindReference} }

// Options say what Run does.
type Options struct {
	// ManifestDir is the generated folder.
	ManifestDir string
	// Manifest, if not nil, is used in place of ManifestDir's.
	Manifest *contract.Manifest
	// Config is the configuration as the user named it, for the replay line; empty means the manifest's name.
	Config string
	// DUT is the kind; empty means KindRTL.
	DUT Kind
	// Sources replaces the manifest's files, for KindNetlist: paths of Verilog files.
	Sources []string
	// Scenario is a pattern over scenario names; empty means all.
	Scenario string
	// Seed is the first seed; Seeds how many are run of each scenario, 0 means one.
	Seed  uint64
	Seeds int
	// Jobs is how many tests run at once; 0 means one.
	Jobs int
	// FirstFailure ends the run at the first test that fails: those not begun by then are missing from the report.
	FirstFailure bool
	// Quick takes models that are compiled in half the time; on large engines they run by a quarter slower.
	Quick bool
	// Long runs the long forms: 200,000 mutated frames, every length.
	Long bool
	// FailDir is where frames of failed tests are written as pcapng; empty means nowhere.
	FailDir string
	// WavesDir, if not empty, is where failed tests leave waves: each is run once more with a traced model.
	WavesDir string
	// BuildDir is where models are cached; empty means the simulator's default.
	BuildDir string
	// ReplayFlags is appended to replay lines, for instance " --rtl DIR".
	ReplayFlags string
	// Progress receives a line a second once a run takes longer than two; nil means none.
	Progress io.Writer
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

// missingError says what a scenario needs that only an engine can tell it lacks: the test is not applicable.
type missingError string

func (e missingError) Error() string { return string(e) }

// job is one test to run.
type job struct {
	scenario Scenario
	seed     uint64
}

// runner is what the tests of a run share.
type runner struct {
	opt Options
	man *contract.Manifest
	cov []cover.Map
}

// Run runs the scenarios that match and returns their results. The error is ErrFailed if a test failed, ErrNothingRan if none
// ran, or what kept the run from starting; the Report is complete in the first two cases.
func Run(ctx context.Context, opt Options) (Report, error) {
	r := &runner{opt: opt, man: opt.Manifest}
	if r.opt.DUT == "" {
		r.opt.DUT = KindRTL
	}
	if r.man == nil {
		m, err := contract.Load(opt.ManifestDir)
		if err != nil {
			return Report{}, err
		}
		r.man = m
	}
	if r.opt.Config == "" {
		r.opt.Config = r.man.Name
	}
	scenarios, err := Select(opt.Scenario)
	if err != nil {
		return Report{}, err
	}
	maker, err := r.maker(ctx)
	if err != nil {
		return Report{}, err
	}
	var jobs []job
	for _, s := range scenarios {
		for k := range max(opt.Seeds, 1) {
			jobs = append(jobs, job{s, opt.Seed + uint64(k)})
		}
	}
	rep := Report{Tests: make([]result.Test, len(jobs)), Coverage: cover.Map{}}
	r.cov = make([]cover.Map, len(jobs))
	r.runAll(ctx, jobs, rep.Tests, maker)
	for _, c := range r.cov {
		rep.Coverage.Merge(c)
	}
	rep.Tests = slices.DeleteFunc(rep.Tests, func(t result.Test) bool { return t.Verdict == "" }) // not begun
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
func (r *runner) runAll(ctx context.Context, jobs []job, tests []result.Test, maker maker) {
	var mu sync.Mutex
	done, failed, running := 0, 0, map[string]bool{}
	start := time.Now()
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(r.opt.Jobs, 1) {
		wg.Go(func() {
			for i := range next {
				name := fmt.Sprintf("%s seed %d", jobs[i].scenario.Name, jobs[i].seed)
				mu.Lock()
				enough := r.opt.FirstFailure && failed > 0
				running[name] = !enough
				mu.Unlock()
				if enough {
					continue
				}
				t, c := r.one(ctx, jobs[i], maker)
				mu.Lock()
				delete(running, name)
				tests[i], r.cov[i] = t, c
				if done++; t.Verdict == result.Fail {
					failed++
				}
				if r.opt.Results != nil {
					if err := t.Write(r.opt.Results); err != nil && r.opt.Log != nil {
						r.opt.Log.WithError(err).Error("results")
					}
				}
				mu.Unlock()
			}
		})
	}
	stop := make(chan struct{})
	var reporter sync.WaitGroup
	if r.opt.Progress != nil {
		reporter.Go(func() {
			tick := time.NewTicker(2 * time.Second)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
					mu.Lock()
					var names []string
					for n, on := range running {
						if on {
							names = append(names, n)
						}
					}
					fmt.Fprintf(r.opt.Progress, "verify %s: %d of %d tests done, %d failed, %.0f s; running %s\n", r.opt.Config, done,
						len(jobs), failed, time.Since(start).Seconds(), strings.Join(names, ", "))
					mu.Unlock()
				}
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	close(stop)
	reporter.Wait()
}

// one runs a test; a failed one leaves its frames and, if asked for, its waves.
func (r *runner) one(ctx context.Context, j job, maker maker) (result.Test, cover.Map) {
	res := result.Test{Config: r.man.Name, Digest: r.man.Digest, DUT: string(r.opt.DUT), Scenario: j.scenario.Name, Seed: j.seed,
		Replay: r.replay(j)}
	if j.scenario.Needs != nil {
		if why := j.scenario.Needs(r.man.Params); why != "" {
			res.Verdict, res.Message = result.NotApplicable, why
			return res, nil
		}
	}
	start := time.Now()
	t, err := r.attempt(ctx, j, maker, "")
	var missing missingError
	if errors.As(err, &missing) {
		res.Verdict, res.Message = result.NotApplicable, missing.Error()
		return res, nil
	}
	res.WallSeconds = time.Since(start).Seconds()
	res.Verdict = result.Pass
	for _, e := range t.engines {
		res.Cycles += e.Now()
		res.Frames += e.Frames()
	}
	res.Stimulus, res.Egress = dut.Digest(t.recorded...)
	sum := t.cover.Summary()
	res.Coverage, res.Values = &sum, t.values
	if err == nil {
		if len(t.engines) == 0 || res.Frames == 0 && j.scenario.Name != "registers" {
			err = errors.New("the scenario put no frame through an engine")
		}
	}
	if err != nil {
		res.Verdict, res.Message = result.Fail, err.Error()
		name := fmt.Sprintf("%s-%s-%s-%d", r.man.Name, r.opt.DUT, j.scenario.Name, j.seed)
		if r.opt.FailDir != "" {
			file := filepath.Join(r.opt.FailDir, name+".pcapng")
			if werr := t.writeCapture(file); werr == nil {
				res.Capture = file
			} else if r.opt.Log != nil {
				r.opt.Log.WithError(werr).Error("capture of a failed test")
			}
		}
		if r.opt.WavesDir != "" && r.opt.DUT != KindReference {
			file := filepath.Join(r.opt.WavesDir, name+".fst")
			if merr := os.MkdirAll(r.opt.WavesDir, 0o755); merr == nil {
				if _, werr := r.attempt(ctx, j, maker, file); werr != nil {
					res.Waves = file
				}
			}
		}
		if r.opt.Log != nil {
			r.opt.Log.WithFields(logrus.Fields{"scenario": j.scenario.Name, "seed": j.seed}).Errorf("%s\nreplay: %s", res.Message, res.Replay)
		}
	}
	return res, t.cover
}

// attempt runs the scenario once. A panic in it is a failed test, not the end of the run.
func (r *runner) attempt(ctx context.Context, j job, maker maker, waves string) (t *T, err error) {
	t = newT(ctx, r.man, j.scenario.Name, j.seed, func(seed uint64, n int) (dut.DUT, error) {
		file := waves
		if waves != "" && n > 0 {
			file = strings.TrimSuffix(waves, ".fst") + fmt.Sprintf("-%d.fst", n)
		}
		d, err := maker(seed, file)
		if err != nil {
			return nil, err
		}
		if r.opt.wrap != nil {
			d = r.opt.wrap(d)
		}
		rec := dut.Record(d)
		t.recorded = append(t.recorded, rec)
		return rec, nil
	})
	t.long, t.oneQueue = r.opt.Long, r.opt.DUT == KindReference
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the scenario panicked: %v\n%s", p, debug.Stack())
		}
		for _, e := range t.engines {
			if cerr := e.Close(); cerr != nil && err == nil {
				err = cerr
			}
		}
	}()
	if err = j.scenario.run(t); err != nil {
		return t, err
	}
	for i, e := range t.engines {
		if _, err := e.Finish(); err != nil {
			return t, fmt.Errorf("engine %d: %w", i, err)
		}
	}
	return t, nil
}

// replay is the command that runs one test again.
func (r *runner) replay(j job) string {
	s := fmt.Sprintf("incforge verify %s --dut %s --scenario %s --seed %d", r.opt.Config, r.opt.DUT, j.scenario.Name, j.seed)
	if r.opt.Long {
		s += " --long"
	}
	return s + r.opt.ReplayFlags
}

// writeCapture writes what went in and out of a test's engines, one interface a port: engine 0's in, engine 0's out, and so on.
func (t *T) writeCapture(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	var ports []string
	var frames []roce.Captured
	for i, e := range t.engines {
		base := len(ports)
		for _, dir := range []string{"in", "out"} {
			for p := range t.p.Ports {
				ports = append(ports, fmt.Sprintf("engine%d.p%d.%s", i, p, dir))
			}
		}
		for _, f := range e.Log() {
			id := base + f.Port
			if f.Out {
				id += t.p.Ports
			}
			frames = append(frames, roce.Captured{Port: id, Time: t.time(f.At), Frame: f.Data})
		}
	}
	return roce.WriteCapture(file, ports, frames)
}

// time is a cycle as a time of day in captures: since 1970, at the configured clock.
func (t *T) time(cycle uint64) time.Time {
	return time.Unix(0, int64(cycle*1000/uint64(max(t.p.ClockMHz, 1)))).UTC()
}
