// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"incforge/internal/lint"
)

func (a *app) lint() *cobra.Command {
	var (
		flags    configFlags
		jsonFile string
	)
	cmd := &cobra.Command{Use: "lint CONFIG|DIR", Short: "Check the Verilog with Verilator, Icarus Verilog and Yosys", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			defer a.working("lint %s", args[0])()
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
			fmt.Fprintf(a.out, "%s: clean under %d readings by Verilator, Icarus and Yosys\n", rep.Name, len(rep.Runs))
			return nil
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	return cmd
}
