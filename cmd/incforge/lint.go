// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"incforge/internal/fourstate"
	"incforge/internal/lint"
)

func (a *app) lint() *cobra.Command {
	var (
		flags    configFlags
		jsonFile string
		x        bool
		top      string
	)
	cmd := &cobra.Command{Use: "lint CONFIG|DIR", Short: "Check the Verilog with Verilator, Icarus Verilog, Yosys and, where they are installed, slang and Verible",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			defer a.working("lint %s", args[0])()
			if x {
				return a.fourState(cmd, dir, top, jsonFile)
			}
			if top != "" {
				return usagef("--top is for --x: lint reads all that is generated")
			}
			rep, err := lint.Dir(cmd.Context(), dir)
			if err != nil {
				return err
			}
			if err := writeJSON(jsonFile, rep); err != nil {
				return err
			}
			for _, f := range rep.Findings {
				fmt.Fprintln(a.out, f)
			}
			for _, r := range rep.Runs {
				a.log.Debugf("%s, top %s: %.1f s (%s)", r.Tool, r.Top, r.Seconds, r.Version)
			}
			if !rep.Clean() {
				return fmt.Errorf("%w: %s: %d lint findings", errFailed, rep.Name, len(rep.Findings))
			}
			var by []string
			for _, r := range rep.Runs {
				if !slices.Contains(by, r.Tool) {
					by = append(by, r.Tool)
				}
			}
			fmt.Fprintf(a.out, "%s: clean under %d readings by %s\n", rep.Name, len(rep.Runs), strings.Join(by, ", "))
			return nil
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	cmd.Flags().BoolVar(&x, "x", false, "simulate instead, in a simulator that knows X: frames of every length, back-pressure, a reset in traffic")
	cmd.Flags().StringVar(&top, "top", "", "with --x: core or switch (default both)")
	return cmd
}

// fourState simulates a generated folder in Icarus Verilog and says what left as X.
func (a *app) fourState(cmd *cobra.Command, dir, top, jsonFile string) error {
	var o fourstate.Options
	if top != "" {
		o.Tops = []string{top}
	}
	rep, err := fourstate.Dir(cmd.Context(), dir, o)
	if err != nil {
		return err
	}
	if err := writeJSON(jsonFile, rep); err != nil {
		return err
	}
	for _, f := range rep.Findings {
		fmt.Fprintln(a.out, f)
	}
	if !rep.Clean() {
		return fmt.Errorf("%w: %s: something unknown left", errFailed, rep.Name)
	}
	for _, r := range rep.Runs {
		fmt.Fprintf(a.out, "%s: no X in %d cycles, %d frames in, %d out, %d of them the engine's own (%.0f s)\n", r.Top, r.Cycles, r.In, r.Out, r.Made, r.Seconds)
	}
	return nil
}
