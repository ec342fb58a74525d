// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"incforge/cmd/incforge/place"
	"incforge/mutate"
	"incforge/mutate/score"
	"incforge/verify/scenarios"
)

func (a *app) mutate() *cobra.Command {
	var (
		flags    configFlags
		opt      mutate.Options
		where    place.Flags
		jsonFile string
		learned  string
		again    string
	)
	cmd := &cobra.Command{Use: "mutate CONFIG", Short: "Make mistakes in the Verilog, and count those that the scenarios notice",
		Long: `Make mistakes in the generated Verilog, one at a time, and count how many of them some scenario notices. Those that cannot make a
difference in the configuration are taken out first, by proof. What lives is listed with its place, a command that tries it again
and, if somebody found one, the reason why nothing can notice it (docs/mutate.md).`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opt.Place, err = where.Place(a.args, a.log); err != nil {
				return usageError{err}
			}
			if err := drawn(&opt, again); err != nil {
				return err
			}
			dir, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			if opt.Experience, err = mutate.LoadExperience(learned); err != nil {
				return err
			}
			opt.Dir, opt.Config, opt.Log, opt.Progress = dir, args[0], a.log, a.progress
			for _, set := range flags.sets {
				opt.Config += " --set '" + set + "'"
			}
			rep, runErr := mutate.Run(cmd.Context(), opt)
			switch {
			case errors.Is(runErr, mutate.ErrNone), errors.Is(runErr, mutate.ErrOther):
				return usageError{runErr}
			case rep == nil:
				return runErr
			}
			a.printMutants(rep)
			if err := opt.Experience.Save(learned); err != nil {
				return err
			}
			if jsonFile != "" {
				text, err := json.MarshalIndent(rep, "", "  ")
				if err != nil {
					return fmt.Errorf("results as JSON: %w", err)
				}
				if err := write(jsonFile, append(text, '\n')); err != nil {
					return err
				}
			}
			return runErr
		}}
	flags.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Block, "block", "", "mutants of the blocks (Verilog modules) that this pattern matches")
	f.StringVar(&opt.Operator, "operator", "", "mutants of the operators (docs/mutate.md) that this pattern matches")
	f.IntVar(&opt.Count, "count", 300, "draw so many mutants; 0 takes all")
	f.Uint64Var(&opt.Seed, "seed", 1, "of the draw, and of the scenarios")
	f.IntSliceVar(&opt.Only, "mutant", nil, "try these alone, by their numbers, separated by commas")
	f.StringVar(&again, "again", "", "try again what lived, without a reason, in this earlier report (--json) of the same Verilog; all others keep their verdicts")
	f.StringVar(&opt.Scenario, "scenario", "*", "patterns of scenario names, separated by commas; after ! of those to leave out")
	f.Float64Var(&opt.Cap, "cap", 60, "give a mutant up after so many seconds of processor time; 0 is never")
	f.BoolVar(&opt.NoProof, "no-proof", false, "do not look for mutants that make no difference")
	f.BoolVar(&opt.Search, "search", false, "look whether each mutant that lives can make a difference in any state that follows a reset; up to a minute each")
	f.StringVar(&learned, "learned", filepath.Join(buildDir, "mutate.json"), "file that keeps what scenarios have killed, for the order in which they are tried")
	where.Bind(cmd, "mutants", buildDir)
	bindJSON(cmd, &jsonFile)
	return cmd
}

// drawn checks what the flags say of the mutants, and reads the report of an earlier campaign if one is named.
func drawn(opt *mutate.Options, again string) error {
	switch {
	case opt.Count < 0 || opt.Cap < 0:
		return usagef("--count and --cap must not be negative")
	case opt.Search && opt.NoProof:
		return usagef("--search and --no-proof exclude each other")
	case again != "" && (len(opt.Only) > 0 || opt.Block != "" || opt.Operator != ""):
		return usagef("--again says which mutants are tried: no --mutant, --block or --operator beside it")
	}
	if again != "" {
		text, err := os.ReadFile(again)
		if err != nil {
			return fmt.Errorf("--again: %w", err)
		}
		if err := json.Unmarshal(text, &opt.Again); err != nil {
			return fmt.Errorf("--again: %s: %w", again, err)
		}
		opt.Seed = opt.Again.Seed
	}
	if _, err := scenarios.Select(opt.Scenario); err != nil {
		return usageError{err}
	}
	return nil
}

// printMutants prints the score of each block, then what lives.
func (a *app) printMutants(rep *score.Report) {
	t := newTable("block", "mutants", "equivalent", "killed", "live", "explained", "%", "% of not explained")
	row := func(name string, s score.Counts) []any {
		percent, explained := "", ""
		if s.Matter() > 0 {
			percent = strconv.FormatFloat(s.Percent(), 'f', 1, 64)
		}
		if s.Matter() > s.Explained {
			explained = strconv.FormatFloat(s.PercentExplained(), 'f', 1, 64)
		}
		return []any{name, s.Mutants, s.Equivalent, s.Killed, s.Live(), s.Explained, percent, explained}
	}
	for _, b := range rep.Blocks {
		t.AppendRow(row(b.Block, b))
	}
	t.AppendFooter(row("all", rep.Total))
	fmt.Fprintln(a.out, t.Render())
	for _, m := range rep.Living() {
		after := m.After
		if after == "" {
			after = "(nothing)"
		}
		fmt.Fprintf(a.out, "%s %s:%d %s\n  in:  %s\n  was: %s\n  is:  %s\n  again: %s\n", m.Verdict, m.File, m.Line, m.Operator, m.Context, m.Before, after, m.Replay)
		if m.Reason != "" {
			fmt.Fprintf(a.out, "  why: %s\n", m.Reason)
		}
	}
	s := rep.Total
	fmt.Fprintf(a.out, "%s: %d mutants of %d: %d equivalent, %d of %d others killed (%.1f %%), %d survived, %d given up; %d of them explained (%.1f %% without those); median %.2f s of processor time\n",
		rep.Config, s.Mutants, rep.Possible, s.Equivalent, s.Killed, s.Matter(), s.Percent(), s.Survived, s.GivenUp, s.Explained, s.PercentExplained(), rep.Median)
}
