// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/cmd/incforge/place"
	"incforge/verify"
	"incforge/verify/dut"
	"incforge/verify/result"
	"incforge/verify/scenarios"
)

func (a *app) verify() *cobra.Command {
	var (
		flags               configFlags
		which               dutFlags
		opt                 verify.Options
		where               place.Flags
		junitFile, jsonFile string
		failures            = filepath.Join(buildDir, "failures")
	)
	cmd := &cobra.Command{Use: "verify CONFIG...", Short: "Run the scenarios against the engine and judge it by the reference engine",
		Long: `Run the scenarios against the engine. Every frame and counter is compared with the reference engine, and every result with plain
arithmetic. A failure prints the command that reproduces it and leaves its frames as pcapng.`,
		Args: cobra.MinimumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := scenarios.Select(opt.Scenario); err != nil {
				return usageError{err}
			}
			var err error
			if opt.Place, err = where.Place(a.args, a.log); err != nil {
				return usageError{err}
			}
			switch {
			case opt.Seeds < 1:
				return usagef("--seeds must be at least 1")
			case len(args) > 1 && which.rtl != "":
				return usagef("--rtl is for one CONFIG")
			case which.assert && !slices.Contains([]dut.Kind{dut.KindRTL, dut.KindCore}, dut.Kind(which.kind)):
				return usagef("--assert: a %s has no assertions", which.kind)
			case where.Elsewhere() && dut.Kind(which.kind) == dut.KindNetlist:
				return usagef("--dut %s: every job would make the netlist anew; run it here", which.kind)
			case which.rtl != "":
				opt.ReplayFlags += " --rtl " + which.rtl
			}
			if which.assert {
				opt.ReplayFlags += " --assert"
			}
			for _, set := range flags.sets {
				opt.ReplayFlags += " --set " + set
			}
			var engines []verify.Engine
			for _, config := range args {
				w := which // each netlist has files of its own
				source, done, err := w.engines(cmd, a, config, &flags)
				if err != nil {
					return err
				}
				defer done()
				engines = append(engines, verify.Engine{Source: source, Config: config})
			}
			var lines bytes.Buffer
			opt.FailDir, opt.Results, opt.Log = failures, &lines, a.log
			opt.Progress = a.progress("verify %s", strings.Join(args, " "))
			rep, runErr := verify.RunAll(cmd.Context(), engines, opt)
			opt.Progress.Stop()
			if len(rep.Tests) == 0 && runErr != nil {
				return runErr
			}
			a.printTests(rep.Tests, len(args) > 1)
			if err := writeTests(rep.Tests, lines.Bytes(), jsonFile, junitFile); err != nil {
				return err
			}
			return runErr
		}}
	flags.bind(cmd)
	which.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Scenario, "scenario", "*", "patterns of scenario names, separated by commas; after ! of those to leave out")
	f.Uint64Var(&opt.Seed, "seed", 1, "first seed")
	f.IntVar(&opt.Seeds, "seeds", 1, "number of seeds of each scenario")
	f.BoolVar(&which.assert, "assert", false, "the design's assertions judge every cycle too (docs/assertions.md)")
	where.Bind(cmd, "tests", buildDir)
	f.BoolVar(&opt.FailFast, "fail-fast", false, "stop at the first failure; tests that have not started are missing from the results")
	f.BoolVar(&opt.Long, "long", false, "run the long variants: 200,000 mutated frames, every length")
	f.StringVar(&opt.WavesDir, "waves", "", "run failed tests again and save their waveforms (FST) in this folder")
	f.StringVar(&junitFile, "junit", "", "write the results to this file as JUnit XML")
	f.StringVar(&jsonFile, "json", "", "write the results to this file, one line of JSON per test")
	return cmd
}

// writeTests writes the results to those files that have a name.
func writeTests(tests []result.Test, lines []byte, jsonFile, junitFile string) error {
	if jsonFile != "" {
		if err := write(jsonFile, lines); err != nil {
			return err
		}
	}
	if junitFile == "" {
		return nil
	}
	var xml bytes.Buffer
	if err := result.WriteJUnit(&xml, tests); err != nil {
		return err
	}
	return write(junitFile, xml.Bytes())
}

// printTests prints a line a test, what failed in words, and the sum; the configuration too, if there are several.
func (a *app) printTests(tests []result.Test, several bool) {
	header := []string{"scenario", "seed", "verdict", "frames", "cycles", "s"}
	if several {
		header = append([]string{"config"}, header...)
	}
	t := newTable(header...)
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
		row := table.Row{r.Scenario, r.Seed, r.Verdict, r.Frames, r.Cycles, fmt.Sprintf("%.2f", r.WallSeconds)}
		if several {
			row = append(table.Row{r.Config}, row...)
		}
		t.AppendRow(row)
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
