// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"

	"incforge/contract"
	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/internal/splitmix"
	"incforge/mutate/mutant"
	"incforge/mutate/score"
	"incforge/verify/dut"
	"incforge/verify/rig"
	"incforge/verify/scenarios"
)

// Options say what a campaign does.
type Options struct {
	// Dir is the generated folder, Config the configuration as the user named it, with what else a replay line needs.
	Dir, Config string
	// Block is a pattern of blocks' names, Operator of operators', empty for all. Count mutants of them are drawn by Seed; 0 is all. Only, if there are any, are
	// those and no others.
	Block, Operator string
	Count           int
	Seed            uint64
	Only            []int
	// Scenario is a pattern of those that are tried.
	Scenario string
	// Cap is the processor time in seconds after which a mutant that lives is given up.
	Cap float64
	// NoProof leaves out what Yosys finds.
	NoProof bool
	// Search has ABC look whether each mutant that lives can make a difference.
	Search bool
	// Again is an earlier report of the same Verilog, nil if there is none: what lived there and has no reason is tried again, all else stays as it was found.
	Again *score.Report
	// Experience orders the scenarios, and learns; nil is none.
	Experience *Experience
	// Place is where mutants run.
	Place jobs.Place
	// Progress starts a report on a step; nil is none.
	Progress func(format string, args ...any) *progress.Task
	// Log receives what tools say; nil is none.
	Log *logrus.Logger
}

// Errors of Run.
var (
	// ErrSick means that the design fails without a mutant, so that nothing can be said of one.
	ErrSick = errors.New("the design fails without a mutant")
	// ErrNone means that there is no mutant to try.
	ErrNone = errors.New("no mutant to try")
	// ErrOther means that an earlier report is of other Verilog, in which the same number is another mutant.
	ErrOther = errors.New("the earlier report is of other Verilog")
)

// healthy is what a scenario takes without a mutant.
type healthy struct {
	Clocked uint64  `json:"clocked"`
	Seconds float64 `json:"seconds"`
}

// A mutant has wedged the engine if a scenario takes slack times the cycles that it takes without one, and spare.
const (
	slack = 3
	spare = 20_000
)

// campaign is one under way.
type campaign struct {
	Options
	man       *contract.Manifest
	top       string // module
	design    *mutant.Design
	possible  []mutant.Mutant
	drawn     []mutant.Mutant // what is tried of them
	scenarios []rig.Scenario
	reasons   []Reason
	given     given
	open      func() (runner, error) // compiles the model, once
}

// given is what shards are told, which they need not find out again.
type given struct {
	Healthy map[string]healthy `json:"healthy"`
	Proven  map[int]string     `json:"proven"`
}

// Run makes a campaign. The report has what is known by the time that ctx ends. In a shard there is none, and the error is jobs.ErrServed.
func Run(ctx context.Context, o Options) (*score.Report, error) {
	if o.Log == nil {
		o.Log = logrus.New()
		o.Log.SetOutput(io.Discard)
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) *progress.Task { return nil }
	}
	if o.Experience == nil {
		o.Experience = &Experience{Blocks: map[string]map[string]Tally{}}
	}
	c := &campaign{Options: o}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "incforge-mutate-")
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	defer os.RemoveAll(dir)
	c.open = sync.OnceValues(func() (runner, error) {
		defer c.Progress("build a model with %d mutants", len(c.drawn)).Stop()
		if err := plantIn(dir, c.man, c.design, c.drawn); err != nil {
			return nil, err
		}
		return openBench(ctx, dir, c.Seed, c.Log)
	})
	shard, err := jobs.Asked(taskName, &c.given)
	if err != nil {
		return nil, err
	}
	if shard {
		c.leave()
	} else if err := c.begin(ctx); err != nil {
		return nil, err
	}
	return c.all(ctx)
}

// prepare reads the design and draws the mutants.
func (c *campaign) prepare() error {
	var err error
	if c.man, err = contract.Load(c.Dir); err != nil {
		return fmt.Errorf("mutate: %w", err)
	}
	if c.scenarios, err = scenarios.Select(c.Scenario); err != nil {
		return err
	}
	if c.reasons, err = Reasons(); err != nil {
		return err
	}
	if c.design, err = mutant.Read(c.man.Dir, c.man.Files); err != nil {
		return err
	}
	top, err := c.man.Top(contract.TopSwitch)
	if err != nil {
		return fmt.Errorf("mutate: %w", err)
	}
	c.top, c.possible = top.Module, c.design.Mutants()
	if c.Again != nil {
		if c.Only, err = c.unexplained(); err != nil {
			return err
		}
	}
	c.drawn, err = draw(c.possible, c.Options)
	return err
}

// unexplained are the mutants that lived in the earlier campaign, and for which there is no reason.
func (c *campaign) unexplained() (numbers []int, err error) {
	if c.Again.Digest != c.man.Digest {
		return nil, fmt.Errorf("%w: its digest is %.12s, today's %.12s", ErrOther, c.Again.Digest, c.man.Digest)
	}
	if err := explain(c.Again, c.reasons, c.possible); err != nil {
		return nil, err
	}
	for _, r := range c.Again.Living() {
		if r.Reason == "" {
			numbers = append(numbers, r.Number)
		}
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("%w: all that lived is explained", ErrNone)
	}
	return numbers, nil
}

// draw chooses mutants: those asked for, or so many of the blocks that are asked for. More of the same seed are the same and others. They come in the order
// in which they were drawn, so that what is known of a campaign that was cut off is of all blocks.
func draw(all []mutant.Mutant, o Options) ([]mutant.Mutant, error) {
	var of []mutant.Mutant
	for _, n := range o.Only {
		if n < 1 || n > len(all) {
			return nil, fmt.Errorf("%w: there is no number %d, they are 1 to %d", ErrNone, n, len(all))
		}
		of = append(of, all[n-1])
	}
	if len(of) > 0 {
		return of, nil
	}
	for _, m := range all {
		block, err := matches(o.Block, m.Module)
		if err != nil {
			return nil, fmt.Errorf("mutate: block pattern: %w", err)
		}
		operator, err := matches(o.Operator, m.Operator)
		if err != nil {
			return nil, fmt.Errorf("mutate: operator pattern: %w", err)
		}
		if block && operator {
			of = append(of, m)
		}
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("%w: no block matches %q and operator %q", ErrNone, cmp.Or(o.Block, "*"), cmp.Or(o.Operator, "*"))
	}
	lot := func(m mutant.Mutant) uint64 { return splitmix.Mix(splitmix.Mix(o.Seed) + uint64(m.Number)) }
	slices.SortFunc(of, func(a, b mutant.Mutant) int { return cmp.Compare(lot(a), lot(b)) })
	if o.Count != 0 {
		of = of[:min(o.Count, len(of))]
	}
	return of, nil
}

// matches tells whether a name matches a pattern; an empty one is all.
func matches(pattern, name string) (bool, error) {
	if pattern == "" {
		return true, nil
	}
	ok, err := path.Match(pattern, name)
	if err != nil {
		return false, fmt.Errorf("%q: %w", pattern, err)
	}
	return ok, nil
}

// begin finds out what all mutants need: which are equivalent, and what the scenarios take without one.
func (c *campaign) begin(ctx context.Context) error {
	if !c.NoProof && len(c.Only) == 0 {
		task := c.Progress("prove which of %d mutants make no difference", len(c.drawn))
		proven, err := prove(ctx, c.man.Files, c.top, c.design, c.drawn)
		task.Stop()
		if err != nil {
			return err
		}
		c.given.Proven = proven
	}
	c.leave()
	if len(c.drawn) == 0 {
		return nil
	}
	planted, err := c.open()
	if err != nil {
		return err
	}
	original, err := openBench(ctx, c.Dir, c.Seed, c.Log)
	if err != nil {
		return err
	}
	return c.compare(ctx, original, planted)
}

// leave takes those out that are proven to be equivalent.
func (c *campaign) leave() {
	c.drawn = slices.DeleteFunc(c.drawn, func(m mutant.Mutant) bool { return c.given.Proven[m.Number] != "" })
}

// compare runs all scenarios on the design and on the model with its mutants off. They must pass, and the two must behave alike.
func (c *campaign) compare(ctx context.Context, original, planted runner) error {
	c.given.Healthy = map[string]healthy{}
	task := c.Progress("run the scenarios without a mutant")
	defer task.Stop()
	limit := rig.Limit(c.man.Params)
	var mu sync.Mutex
	return jobs.Run(ctx, jobs.Place{Jobs: c.Place.Jobs}, jobs.Task[healthy]{Name: "mutate-healthy", Pieces: len(c.scenarios), Progress: task, Unit: "scenarios",
		Run: func(ctx context.Context, i int) (healthy, error) {
			s := c.scenarios[i]
			was := original(ctx, s, 0, limit)
			is := planted(ctx, s, 0, limit)
			if was.err == nil && is.err == nil && !was.same(is) { // the two draw other values to begin with, which may tell in when something happens
				was, is = original(ctx, s, zeros, limit), planted(ctx, s, zeros, limit)
			}
			switch {
			case ctx.Err() != nil:
				return healthy{}, ctx.Err()
			case was.err != nil:
				return healthy{}, fmt.Errorf("%w: %s: %w", ErrSick, s.Name, was.err)
			case is.err != nil, !was.same(is):
				return healthy{}, fmt.Errorf("mutate: the model with all mutants off is not the design: %s: %w", s.Name, errors.Join(is.err, errDiffers))
			case is.applies:
				mu.Lock()
				defer mu.Unlock()
				c.given.Healthy[s.Name] = healthy{is.clocked, is.seconds}
			}
			return healthy{}, nil
		}})
}

var errDiffers = errors.New("other frames left it, or other frames were sent to it")

// taskName is that of the campaign's pieces, for shards.
const taskName = "mutate"

// all tries the mutants.
func (c *campaign) all(ctx context.Context) (*score.Report, error) {
	rep := &score.Report{Kind: score.Kind, Config: c.man.Name, Digest: c.man.Digest, Seed: c.Seed, Cap: c.Cap}
	c.report(rep)
	task := c.Progress("mutate %s", c.man.Name)
	defer task.Stop()
	lives := 0
	err := jobs.Run(ctx, c.Place, jobs.Task[score.Result]{Name: taskName, Pieces: len(c.drawn), Given: &c.given, Progress: task, Unit: "mutants",
		Run: func(ctx context.Context, i int) (score.Result, error) { return c.try(ctx, c.drawn[i]) },
		Note: func() string {
			if lives == 0 {
				return ""
			}
			return fmt.Sprintf("%d live", lives)
		},
		Done: func(_ int, r score.Result) error {
			if r.Verdict == score.Survived || r.Verdict == score.GivenUp {
				lives++
			}
			if c.Place.Slurm != nil { // other processes tried it, and only they have learned
				c.Experience.learn(r)
			}
			rep.Mutants = append(rep.Mutants, r)
			return nil
		}})
	if errors.Is(err, jobs.ErrServed) {
		return nil, err // the report is for the process that asked
	}
	rep.Finish()
	if err == nil && !c.NoProof {
		err = c.excuse(ctx, rep)
	}
	if reasons := explain(rep, c.reasons, c.possible); err == nil {
		err = reasons
	}
	rep.Finish()
	return rep, err
}

// excuse looks once more at what lives: few mutants keep less of each other's code alive, and are worth a search each.
func (c *campaign) excuse(ctx context.Context, rep *score.Report) error {
	var living []mutant.Mutant
	for _, r := range rep.Living() {
		living = append(living, c.possible[r.Number-1])
	}
	if len(living) == 0 {
		return nil
	}
	defer c.Progress("prove which of the %d that live make no difference", len(living)).Stop()
	methods := []func(mutants []mutant.Mutant) (map[int]string, error){
		func(ms []mutant.Mutant) (map[int]string, error) { return prove(ctx, c.man.Files, c.top, c.design, ms) },
	}
	if c.Search {
		methods = append(methods, func(ms []mutant.Mutant) (map[int]string, error) {
			return same(ctx, c.man.Files, c.top, c.design, ms, c.Place.Jobs)
		})
	}
	for _, method := range methods {
		if len(living) == 0 {
			break
		}
		proven, err := method(living)
		if err != nil {
			return err
		}
		for i := range rep.Mutants {
			if why := proven[rep.Mutants[i].Number]; why != "" {
				rep.Mutants[i].Verdict, rep.Mutants[i].Why = score.Equivalent, why
			}
		}
		living = slices.DeleteFunc(living, func(m mutant.Mutant) bool { return proven[m.Number] != "" })
	}
	rep.Finish()
	return nil
}

// report has what is known before a mutant was simulated.
func (c *campaign) report(rep *score.Report) {
	rep.Possible = len(c.possible)
	if c.Again != nil {
		rep.Mutants = slices.DeleteFunc(slices.Clone(c.Again.Mutants), func(r score.Result) bool { return slices.Contains(c.Only, r.Number) })
	}
	for _, m := range c.possible {
		if why := c.given.Proven[m.Number]; why != "" {
			rep.Mutants = append(rep.Mutants, score.Result{Mutant: m, Verdict: score.Equivalent, Why: why})
		}
	}
}

// behind puts the scenarios that a mutant outlived in an earlier campaign behind those that it did not meet.
func (c *campaign) behind(m mutant.Mutant, all []rig.Scenario) []rig.Scenario {
	if c.Again == nil {
		return all
	}
	i := slices.IndexFunc(c.Again.Mutants, func(r score.Result) bool { return r.Number == m.Number })
	outlived := c.Again.Mutants[i].Outlived
	slices.SortStableFunc(all, func(a, b rig.Scenario) int {
		rank := func(s rig.Scenario) int {
			if slices.Contains(outlived, s.Name) {
				return 1
			}
			return 0
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return all
}

// try runs scenarios on a mutant until one kills it.
func (c *campaign) try(ctx context.Context, m mutant.Mutant) (score.Result, error) {
	with, err := c.open()
	if err != nil {
		return score.Result{}, err
	}
	r := score.Result{Mutant: m, Verdict: score.Survived, Replay: fmt.Sprintf("incforge mutate %s --seed %d --mutant %d", c.Config, c.Seed, m.Number)}
	var fit []rig.Scenario
	seconds := map[string]float64{}
	for _, s := range c.scenarios {
		if h, ok := c.given.Healthy[s.Name]; ok {
			fit = append(fit, s)
			seconds[s.Name] = h.Seconds
		}
	}
	for _, s := range c.behind(m, c.Experience.order(m.Module, fit, seconds)) {
		if c.Cap > 0 && r.Seconds > c.Cap {
			r.Verdict = score.GivenUp
			break
		}
		got := with(ctx, s, m.Number, slack*c.given.Healthy[s.Name].Clocked+spare)
		if ctx.Err() != nil {
			return score.Result{}, ctx.Err()
		}
		r.Seconds += got.seconds
		r.Tried++
		if got.err != nil {
			r.Verdict, r.By, r.Why = score.Killed, s.Name, first(got.err.Error())
			r.Wedged = errors.Is(got.err, dut.ErrLimit)
			break
		}
		r.Outlived = append(r.Outlived, s.Name)
	}
	c.Experience.learn(r)
	return r, nil
}

// first is the first line of a text.
func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
