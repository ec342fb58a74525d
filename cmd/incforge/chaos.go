// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incforge/cmd/incforge/place"
	"incforge/network/chaos"
	"incforge/verify/dut"
)

// chaosFlags are the command line of incforge chaos.
type chaosFlags struct {
	sets                                []string
	seeds, kind, caseFile, json, failed string
	shrink, workers, mode               int
	park                                bool
	place                               place.Flags
}

func (a *app) chaos() *cobra.Command {
	var f chaosFlags
	cmd := &cobra.Command{Use: "chaos [CONFIG...]", Short: "Run random collectives on random trees with faulty links; shrink what fails",
		Long: `Each seed is a test case: a configuration, a tree of switches, groups with sequences of collectives, and links that lose, duplicate,
reorder, delay and corrupt frames. At the end every result must be exact, no connection in error and every buffer empty. With --dut rtl
each engine is also compared with the reference frame by frame; with --dut mixed some switches of a tree are RTL and some the reference.
Without CONFIG the cases choose from a list of small configurations: all types and operations, both accumulation modes, narrow and wide buses,
in Mode II or, with --mode 3, in Mode III, where pipe sizes, RNR NAKs, CNPs and timers are random too, or, with --mode 1, in Mode I, where path MTUs, first
PSNs and the messages' lengths are too (with Verilog in fixed groups without releases).
A failure prints the command that reproduces it, and is shrunk to a smaller case that fails in the same way, saved as YAML for --case.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.workers < 1 || f.shrink < 0 {
				return usagef("--workers must be at least 1, --shrink must not be negative")
			}
			if f.mode < 1 || f.mode > 3 {
				return usagef("--mode %d: must be 1, 2 or 3", f.mode)
			}
			if f.caseFile != "" {
				if len(args) > 0 || cmd.Flags().Changed("seeds") || cmd.Flags().Changed("mode") || len(f.sets) > 0 {
					return usagef("--case says everything about a run: CONFIG, --mode, --set and --seeds cannot be given with it")
				}
				kind := ""
				if cmd.Flags().Changed("dut") {
					kind = f.kind
				}
				if f.place.Elsewhere() {
					return usagef("--case is a single run, for --on here")
				}
				return a.chaosCase(cmd.Context(), &f, kind)
			}
			if f.park && (len(args) > 0 || f.caseFile != "") {
				return usagef("--park is for runs without CONFIG; --set park=true changes one")
			}
			if len(args) > 0 && cmd.Flags().Changed("mode") {
				return usagef("--mode is for runs without CONFIG, which has a mode of its own; --set mode=%d changes it", f.mode)
			}
			return a.chaosCampaign(cmd.Context(), &f, args)
		}}
	fl := cmd.Flags()
	fl.StringVar(&f.seeds, "seeds", "1:200", "first and last seed, FROM:TO, or one")
	fl.StringVar(&f.kind, "dut", chaos.Reference, "implementation: reference, rtl, mixed (some switches of a tree are one, some the other)")
	fl.IntVar(&f.mode, "mode", 2, "mode of the configurations used when no CONFIG is given: 1, 2, 3")
	fl.BoolVar(&f.park, "park", false, "configurations with park: groups are parked and unparked among their calls")
	fl.StringArrayVar(&f.sets, "set", nil, "override a parameter of every CONFIG, KEY=VALUE; may be given more than once")
	fl.StringVar(&f.caseFile, "case", "", "run the case in this YAML file instead of seeds")
	fl.StringVar(&f.failed, "failures", filepath.Join(buildDir, "failures"), "folder for shrunk cases")
	fl.IntVar(&f.shrink, "shrink", 500, "most runs to spend on shrinking the first failure; 0 does not shrink")
	f.place.Bind(cmd, "cases", buildDir)
	fl.IntVar(&f.workers, "workers", 1, "goroutines that simulate the switches of one case; results do not depend on it")
	bindJSON(cmd, &f.json)
	return cmd
}

// chaosCampaign runs a range of seeds.
func (a *app) chaosCampaign(ctx context.Context, f *chaosFlags, args []string) error {
	from, to, err := seedRange(f.seeds)
	if err != nil {
		return err
	}
	where, err := f.place.Place(a.args, a.log)
	if err != nil {
		return usageError{err}
	}
	mode := 0 // of the list
	var configs [][]string
	for _, name := range args {
		configs = append(configs, append([]string{name}, f.sets...))
	}
	switch {
	case len(args) == 0 && len(f.sets) > 0:
		return usagef("--set needs a CONFIG to change")
	case len(args) == 0:
		mode = f.mode
		configs = chaos.Standard(f.kind, f.mode)
		if f.park {
			configs = chaos.Parking(f.kind, f.mode)
		}
	}
	r, done, err := a.chaosRunner(ctx, f, f.kind, configs)
	if err != nil {
		return err
	}
	defer done()
	if err := r.Check(); err != nil {
		return usageError{err}
	}
	p := chaos.Campaign{From: from, To: to, Place: where, Progress: a.progress("chaos"), Failed: func(x chaos.Failure) {
		fmt.Fprintf(a.out, "FAIL seed %d: %s: %s\n  replay: %s\n", x.Seed, x.Kind, firstLine(x.Message), replayChaos(f, args, x.Seed))
	}}
	sum, err := r.Campaign(ctx, p)
	p.Progress.Stop()
	if err != nil && sum.Cases == 0 {
		return err
	}
	fmt.Fprintf(a.out, "%d cases, %d failed; %d calls, %d resets that began %d of them again, %d packets, %d lost, %d duplicated, %d reordered, %d corrupted, %d sent again\n"+
		"%.1f s, %.1f cases/s, %.0f packets/s\n",
		sum.Cases, len(sum.Failures), sum.Calls, sum.Resets, sum.Restarted, sum.Packets, sum.Lost, sum.Duplicated, sum.Reordered, sum.Corrupted,
		sum.Resent, sum.WallSeconds, sum.CasesPerSecond, sum.PacketsPerSecond)
	if sum.Parks > 0 {
		fmt.Fprintf(a.out, "%d times a group was parked, %d times a switch refused\n", sum.Parks, sum.Refused)
	}
	if f.json != "" {
		text, err := json.MarshalIndent(struct {
			Kind    string     `json:"kind"`
			DUT     string     `json:"dut"`
			Mode    int        `json:"mode,omitempty"`
			Configs [][]string `json:"configs"`
			From    uint64     `json:"from"`
			To      uint64     `json:"to"`
			chaos.Summary
		}{"chaos", f.kind, mode, configs, from, to, sum}, "", "  ")
		if err != nil {
			return fmt.Errorf("results as JSON: %w", err)
		}
		if err := write(f.json, append(text, '\n')); err != nil {
			return err
		}
	}
	if err != nil || len(sum.Failures) == 0 {
		return err
	}
	if err := a.shrinkChaos(ctx, r, sum.Failures[0].Case, f); err != nil {
		return err
	}
	return errFailed
}

// chaosCase runs one case from a file; kind, if not empty, is the implementation instead of the file's.
func (a *app) chaosCase(ctx context.Context, f *chaosFlags, kind string) error {
	text, err := os.ReadFile(f.caseFile)
	if err != nil {
		return usageError{fmt.Errorf("case: %w", err)}
	}
	c, err := chaos.Parse(text)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", f.caseFile, err)}
	}
	if kind != "" {
		c.DUT = kind
	}
	r, done, err := a.chaosRunner(ctx, f, c.DUT, [][]string{append([]string{c.Config}, c.Set...)})
	if err != nil {
		return err
	}
	defer done()
	start := time.Now()
	o, err := r.Run(ctx, c)
	if err != nil {
		return err
	}
	wall := time.Since(start).Seconds()
	fmt.Fprintf(a.out, "%s\n%d calls, %d cycles, %d packets, %d faults, %d sent again\n%.2f s, %.0f packets/s\n", c.String(), o.Calls, o.Cycles,
		o.Links.Frames, len(o.Events), o.Resent, wall, float64(o.Links.Frames)/wall)
	if f.json != "" {
		text, err := json.MarshalIndent(struct {
			Failure string `json:"failure,omitempty"`
			chaos.Outcome
		}{failureText(o), o}, "", "  ")
		if err != nil {
			return fmt.Errorf("result as JSON: %w", err)
		}
		if err := write(f.json, append(text, '\n')); err != nil {
			return err
		}
	}
	if o.Kind == chaos.Passed {
		fmt.Fprintln(a.out, "passed")
		return nil
	}
	fmt.Fprintf(a.out, "FAIL %s: %v\n", o.Kind, o.Err)
	return errFailed
}

// failureText is what went wrong, empty if nothing did.
func failureText(o chaos.Outcome) string {
	if o.Err == nil {
		return ""
	}
	return o.Err.Error()
}

// shrinkChaos reduces a failing case, prints it, and leaves it as a file.
func (a *app) shrinkChaos(ctx context.Context, r *chaos.Runner, c chaos.Case, f *chaosFlags) error {
	if f.shrink == 0 {
		return nil
	}
	stop := a.working("shrink seed %d", c.Seed)
	defer stop()
	o, err := r.Run(ctx, c)
	if err != nil {
		return err
	}
	s := r.Shrink(ctx, c, o, f.shrink) // the best so far, if interrupted
	text, err := s.Case.YAML()
	if err != nil {
		return err
	}
	file := filepath.Join(f.failed, fmt.Sprintf("chaos-%s-%d.yaml", c.DUT, c.Seed))
	head := fmt.Sprintf("# %s: %s\n# incforge chaos --case %s\n", s.Outcome.Kind, firstLine(s.Outcome.Err.Error()), file)
	fmt.Fprintf(a.out, "seed %d, shrunk in %d runs:\n%s%s", c.Seed, s.Runs, head, text)
	return write(file, append([]byte(head), text...))
}

// chaosRunner generates the configurations, and compiles them for RTL.
func (a *app) chaosRunner(ctx context.Context, f *chaosFlags, kind string, configs [][]string) (r *chaos.Runner, done func(), err error) {
	model := dut.Kind(kind)
	switch kind {
	case chaos.Reference, chaos.RTL:
	case chaos.Mixed:
		model = dut.KindRTL
	default:
		return nil, nil, usagef("--dut %s: must be %s, %s or %s", kind, chaos.Reference, chaos.RTL, chaos.Mixed)
	}
	var folders []func()
	clean := func() {
		for _, f := range folders {
			f()
		}
	}
	defer func() {
		if err != nil {
			clean()
		}
	}()
	r = &chaos.Runner{DUT: kind, Workers: f.workers}
	for _, c := range configs {
		source, remove, err := a.source(c[0], &configFlags{sets: c[1:]}, model)
		if err != nil {
			return nil, nil, err
		}
		folders = append(folders, remove)
		stop := a.working("build the model of %s", strings.Join(c, " "))
		m, engines, err := source.Open(ctx)
		stop()
		if err != nil {
			return nil, nil, err
		}
		r.Engines = append(r.Engines, chaos.Engine{Config: c[0], Set: c[1:], Manifest: m, Open: engines.New})
	}
	return r, clean, nil
}

// replayChaos is the command that runs one seed again.
func replayChaos(f *chaosFlags, args []string, seed uint64) string {
	s := append([]string{"incforge chaos"}, args...)
	if len(args) == 0 && f.mode != 2 {
		s = append(s, "--mode", strconv.Itoa(f.mode))
	}
	if f.park {
		s = append(s, "--park")
	}
	for _, set := range f.sets {
		s = append(s, "--set '"+set+"'")
	}
	return strings.Join(append(s, "--dut", f.kind, "--seeds", strconv.FormatUint(seed, 10)), " ")
}

// seedRange reads FROM:TO, or one number.
func seedRange(s string) (from, to uint64, err error) {
	a, b, two := strings.Cut(s, ":")
	if !two {
		b = a
	}
	from, err1 := strconv.ParseUint(a, 10, 64)
	to, err2 := strconv.ParseUint(b, 10, 64)
	if err := errors.Join(err1, err2); err != nil || to < from || to == math.MaxUint64 {
		return 0, 0, usagef("--seeds %s: must be FROM:TO, two numbers, the first not above the second", s)
	}
	return from, to, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
