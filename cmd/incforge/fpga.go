// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/fpga"
	"incforge/synth/yosys"
)

func (a *app) fpga() *cobra.Command {
	var (
		flags    configFlags
		opt      fpga.Options
		family   string
		where    placeFlags
		jsonFile string
	)
	cmd := &cobra.Command{Use: "fpga CONFIG|DIR", Short: "Estimate resources and LUT levels on an FPGA family with Yosys, place and route with nextpnr", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if where.scripts == "" && family == "" {
				return usagef(`required flag(s) "family" not set, or "scripts"`)
			}
			if where.scripts == "" && !slices.Contains(fpga.Families(), fpga.Family(family)) {
				return usagef("--family %s: must be one of %v", family, fpga.Families())
			}
			for _, n := range []struct {
				flag string
				v    int
			}{{"over", opt.Over}, {"levels", opt.Levels}} {
				if n.v < 0 {
					return usagef("--%s %d: must be at least 0", n.flag, n.v)
				}
			}
			if err := where.set(&opt, fpga.Family(family)); err != nil {
				return err
			}
			dir, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			if where.scripts != "" {
				return where.write(a, dir, opt.Top)
			}
			defer a.working("synthesis of %s for %s", args[0], family)()
			m, err := fpga.Run(cmd.Context(), dir, fpga.Family(family), opt)
			if errors.Is(err, contract.ErrNoTop) || errors.Is(err, yosys.ErrModule) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			fmt.Fprint(a.out, m.Table())
			if jsonFile == "" {
				return nil
			}
			var text bytes.Buffer
			if err := m.WriteJSON(&text); err != nil {
				return err
			}
			return write(jsonFile, text.Bytes())
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	f := cmd.Flags()
	f.StringVar(&family, "family", "", fmt.Sprintf("FPGA family: %v", fpga.Families()))
	where.bind(cmd)
	f.StringVar(&opt.Top, "top", "core", "core, switch, or a module of the design, with the parameters that it has there")
	f.IntVar(&opt.Over, "over", 0, "list the blocks between which paths have more levels than this; 0 lists none")
	f.IntVar(&opt.Levels, "levels", 0, "xcup: levels that the longest path may have; of two mappings with no more the smaller is kept, else that with the shorter path")
	f.StringVar(&opt.WorkDir, "work", "", "keep the tool's files in this folder")
	return cmd
}

// required marks a flag that was just defined.
func required(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}
