// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"incforge/cmd/incforge/place"
	"incforge/prove"
)

func (a *app) prove() *cobra.Command {
	var (
		flags    configFlags
		opt      prove.Options
		where    place.Flags
		jsonFile string
	)
	cmd := &cobra.Command{Use: "prove CONFIG [BLOCK...]", Short: "Prove properties of the Verilog, without a harness",
		Long: `Prove, for every input that a block's contract allows: that groups do not touch each other (a), that what is dropped changes nothing (b),
that the block is ready again within a stated number of cycles (c), that nothing overflows or is lost (d), and that pointers and masks stay in
their ranges (e). A fault planted in the block for each property must be found. docs/proofs.md has the properties.`,
		Args: cobra.MinimumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opt.Place, err = where.Place(a.args, a.log); err != nil {
				return usageError{err}
			}
			if opt.Limit < time.Second {
				return usagef("--limit must be at least 1s")
			}
			dir, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			opt.Dir, opt.Blocks, opt.Progress = dir, args[1:], a.progress
			rep, runErr := prove.Run(cmd.Context(), opt)
			switch {
			case errors.Is(runErr, prove.ErrNone):
				return usageError{runErr}
			case rep == nil:
				return runErr
			}
			a.printProofs(rep, !opt.NoFaults)
			if err := writeJSON(jsonFile, rep); err != nil {
				return err
			}
			if runErr != nil {
				return runErr
			}
			if slices.ContainsFunc(rep.Verdicts, func(v prove.Verdict) bool { return !v.OK(!opt.NoFaults) }) {
				return errFailed
			}
			return nil
		}}
	flags.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Kinds, "property", "", "properties to prove, by letter: abcde (default: all)")
	f.BoolVar(&opt.NoFaults, "no-faults", false, "do not look for the planted faults")
	f.DurationVar(&opt.Limit, "limit", 10*time.Minute, "give a search up after this time")
	where.Bind(cmd, "properties", buildDir)
	bindJSON(cmd, &jsonFile)
	return cmd
}

// printProofs prints a line a property.
func (a *app) printProofs(rep *prove.Report, faults bool) {
	t := newTable("block", "property", "verdict", "depth", "s", "fault", "at", "s ")
	for _, v := range rep.Verdicts {
		verdict, depth := "BROKEN", fmt.Sprint(v.Depth)
		switch {
		case v.Error != "":
			verdict = "no verdict"
		case v.Proven && v.Depth == 0:
			verdict, depth = "proven", "all"
		case v.Proven:
			verdict = "holds"
		}
		row := []any{v.Block, v.Kind, verdict, depth, fmt.Sprintf("%.1f", v.Seconds)}
		if faults && v.Error == "" {
			found := "found"
			switch {
			case !v.Found:
				found = "NOT FOUND"
			case v.TooLate():
				found = "TOO LATE"
			}
			row = append(row, found, v.FoundAt, fmt.Sprintf("%.1f", v.FaultSeconds))
		}
		t.AppendRow(row)
	}
	fmt.Fprintln(a.out, t.Render())
	for _, v := range rep.Verdicts {
		if v.Error != "" {
			fmt.Fprintf(a.out, "%s %s: %s\n", v.Block, v.Kind, v.Error)
		}
	}
}
