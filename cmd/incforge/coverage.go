// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incforge/cmd/incforge/place"
	"incforge/contract"
	"incforge/verify"
	"incforge/verify/code"
	"incforge/verify/dut"
	"incforge/verify/scenarios"
)

// keepEvery is how often at most the coverage so far is written.
const keepEvery = 5 * time.Second

// errUncovered means that less than asked for was hit.
var errUncovered = errors.New("lines or branches that nothing came to")

func (a *app) coverage() *cobra.Command {
	var (
		flags    configFlags
		opt      verify.Options
		where    place.Flags
		jsonFile string
		merge    []string
		atLeast  float64
	)
	cmd := &cobra.Command{Use: "coverage CONFIG", Short: "Which lines, branches and bits of the Verilog the scenarios come through",
		Long: `Run the scenarios on a model that counts which lines, branches and bits of the Verilog they come through, all instances of a module taken
together. What nothing can come to may be excused in excuses.yaml, with a reason each; what else was missed is listed. With --json what is known is
written while the scenarios run, so that a run that is killed leaves it; --merge goes on from there.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := scenarios.Select(opt.Scenario); err != nil {
				return usageError{err}
			}
			var err error
			if opt.Place, err = where.Place(a.args, a.log); err != nil {
				return usageError{err}
			}
			if opt.Seeds < 1 {
				return usagef("--seeds must be at least 1")
			}
			dir, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			opt.Source, opt.Config, opt.Log = dut.Source{ManifestDir: dir, Kind: dut.KindRTL, Cover: true, Log: a.log}, args[0], a.log
			opt.Progress = a.progress("coverage of %s", args[0])
			var written time.Time
			opt.Code = func(_ string, c verify.Code) { // an hour's run that is killed leaves what it knew
				if jsonFile == "" || time.Since(written) < keepEvery {
					return
				}
				rep, err := coverageOf(dir, c, merge)
				if err == nil {
					err = writeJSON(jsonFile, rep)
				}
				if err != nil {
					a.log.WithError(err).Warn("the coverage so far")
				}
				written = time.Now()
			}
			found, runErr := verify.Run(cmd.Context(), opt)
			opt.Progress.Stop()
			if len(found.Code) == 0 {
				return cmp.Or(runErr, verify.ErrNothingRan)
			}
			rep, err := coverageOf(dir, found.Code[args[0]], merge)
			if err != nil {
				return err
			}
			a.printCoverage(rep)
			if err := writeJSON(jsonFile, rep); err != nil {
				return err
			}
			if runErr == nil && min(rep.Total.Line.Percent(), rep.Total.Branch.Percent()) < atLeast {
				return fmt.Errorf("%w: less than %g %%", errUncovered, atLeast)
			}
			return runErr
		}}
	flags.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Scenario, "scenario", "*", "patterns of scenario names, separated by commas; after ! of those to leave out")
	f.Uint64Var(&opt.Seed, "seed", 1, "first seed")
	f.IntVar(&opt.Seeds, "seeds", 1, "number of seeds of each scenario")
	f.BoolVar(&opt.Long, "long", false, "run the long variants")
	f.StringArrayVar(&merge, "merge", nil, "add what an earlier run of the same Verilog hit, from its --json; may be given more than once")
	f.Float64Var(&atLeast, "at-least", 0, "fail if less per cent of the lines, or of the branches, that are not excused were hit")
	where.Bind(cmd, "tests", buildDir)
	bindJSON(cmd, &jsonFile)
	return cmd
}

// coverageOf makes the report of a run, with what earlier runs hit.
func coverageOf(dir string, c verify.Code, merge []string) (*code.Report, error) {
	m, err := contract.Load(dir)
	if err != nil {
		return nil, err
	}
	lines := map[string][]string{}
	for _, file := range m.Sources() {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("coverage: %w", err)
		}
		lines[filepath.Base(file)] = strings.Split(string(text), "\n")
	}
	excuses, err := code.Excuses()
	if err != nil {
		return nil, err
	}
	rep := code.New(m.Name, m.Digest, c.Tests, c.Points, c.Hits, lines, excuses)
	for _, name := range merge {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("coverage: %w", err)
		}
		var earlier code.Report
		if err := json.Unmarshal(text, &earlier); err != nil {
			return nil, fmt.Errorf("coverage: %s: %w", name, err)
		}
		if err := rep.Merge(&earlier); err != nil {
			return nil, fmt.Errorf("coverage: %s: %w", name, err)
		}
	}
	if len(merge) > 0 {
		rep = code.New(m.Name, m.Digest, rep.Tests, c.Points, rep.Hits, lines, excuses)
	}
	return rep, nil
}

// printCoverage prints the coverage of each file, then what was missed without an excuse.
func (a *app) printCoverage(rep *code.Report) {
	t := newTable("file", "lines", "%", "branches", "%", "bits", "%")
	row := func(name string, s code.Score) []any {
		all := []any{name}
		for _, t := range []code.Tally{s.Line, s.Branch, s.Toggle} {
			all = append(all, fmt.Sprintf("%d/%d", t.Hit, t.Points-t.Excused), fmt.Sprintf("%.1f", t.Percent()))
		}
		return all
	}
	for _, f := range rep.Files {
		t.AppendRow(row(f.File, f))
	}
	t.AppendFooter(row("all", rep.Total))
	fmt.Fprintln(a.out, t.Render())
	for _, m := range rep.Missed {
		if m.Why == "" {
			fmt.Fprintf(a.out, "missed %s:%d %s %s: %s\n", m.File, m.Line, m.Kind, m.What, m.Text)
		}
	}
	for _, e := range rep.Stale {
		fmt.Fprintf(a.out, "excuse for nothing: %s %q\n", e.File, e.Text)
	}
	s := rep.Total
	fmt.Fprintf(a.out, "%s: %d tests, %.1f %% of %d lines and %.1f %% of %d branches that are not excused, %.1f %% of %d bits; excused %d lines, %d branches, %d bits\n",
		rep.Config, rep.Tests, s.Line.Percent(), s.Line.Points-s.Line.Excused, s.Branch.Percent(), s.Branch.Points-s.Branch.Excused, s.Toggle.Percent(),
		s.Toggle.Points-s.Toggle.Excused, s.Line.Excused, s.Branch.Excused, s.Toggle.Excused)
}
