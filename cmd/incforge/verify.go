// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/verify"
	"incforge/verify/result"
	"incforge/verify/scenarios"
)

func (a *app) verify() *cobra.Command {
	var (
		flags               configFlags
		which               dutFlags
		opt                 verify.Options
		junitFile, jsonFile string
		failures            = filepath.Join(buildDir, "failures")
	)
	cmd := &cobra.Command{Use: "verify CONFIG", Short: "Run the scenarios against the engine and judge it by the reference engine",
		Long: `Run the scenarios against the engine. Every frame and counter is compared with the reference engine, and every result with plain
arithmetic. A failure prints the command that reproduces it and leaves its frames as pcapng.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := scenarios.Select(opt.Scenario); err != nil {
				return usageError{err}
			}
			if opt.Jobs < 1 || opt.Seeds < 1 {
				return usagef("--jobs and --seeds must be at least 1")
			}
			if which.rtl != "" {
				opt.ReplayFlags += " --rtl " + which.rtl
			}
			for _, set := range flags.sets {
				opt.ReplayFlags += " --set " + set
			}
			dir, done, err := which.open(cmd, a, args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			var lines bytes.Buffer
			opt.Source, opt.Config = which.source(dir, a), args[0]
			opt.FailDir, opt.Results, opt.Log = failures, &lines, a.log
			opt.Progress = a.progress("verify %s", args[0])
			rep, runErr := verify.Run(cmd.Context(), opt)
			opt.Progress.Stop()
			if len(rep.Tests) == 0 && runErr != nil {
				return runErr
			}
			a.printTests(rep.Tests)
			if jsonFile != "" {
				if err := write(jsonFile, lines.Bytes()); err != nil {
					return err
				}
			}
			if junitFile != "" {
				var xml bytes.Buffer
				if err := result.WriteJUnit(&xml, rep.Tests); err != nil {
					return err
				}
				if err := write(junitFile, xml.Bytes()); err != nil {
					return err
				}
			}
			return runErr
		}}
	flags.bind(cmd)
	which.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Scenario, "scenario", "*", "pattern of scenario names; after ! of those to leave out")
	f.Uint64Var(&opt.Seed, "seed", 1, "first seed")
	f.IntVar(&opt.Seeds, "seeds", 1, "number of seeds of each scenario")
	f.IntVarP(&opt.Jobs, "jobs", "j", runtime.NumCPU(), "tests to run at once")
	f.BoolVar(&opt.FailFast, "fail-fast", false, "stop at the first failure; tests that have not started are missing from the results")
	f.BoolVar(&opt.Long, "long", false, "run the long variants: 200,000 mutated frames, every length")
	f.StringVar(&opt.WavesDir, "waves", "", "run failed tests again and save their waveforms (FST) in this folder")
	f.StringVar(&junitFile, "junit", "", "write the results to this file as JUnit XML")
	f.StringVar(&jsonFile, "json", "", "write the results to this file, one line of JSON per test")
	return cmd
}

// printTests prints a line a test, what failed in words, and the sum.
func (a *app) printTests(tests []result.Test) {
	t := newTable("scenario", "seed", "verdict", "frames", "cycles", "s")
	var failed []result.Test
	passed, skipped := 0, 0
	for _, r := range tests {
		switch r.Verdict {
		case result.Pass:
			passed++
		case result.NotApplicable:
			skipped++
		default:
			failed = append(failed, r)
		}
		t.AppendRow(table.Row{r.Scenario, r.Seed, r.Verdict, r.Frames, r.Cycles, fmt.Sprintf("%.2f", r.WallSeconds)})
	}
	fmt.Fprintln(a.out, t.Render())
	for _, r := range failed {
		first, _, _ := strings.Cut(r.Message, "\n")
		fmt.Fprintf(a.out, "FAIL %s seed %d: %s\n", r.Scenario, r.Seed, first)
		for _, file := range []string{r.Capture, r.Waves} {
			if file != "" {
				fmt.Fprintln(a.out, "  left behind:", file)
			}
		}
		fmt.Fprintln(a.out, "  replay:", r.Replay)
	}
	fmt.Fprintf(a.out, "%d passed, %d failed, %d not applicable\n", passed, len(failed), skipped)
}
