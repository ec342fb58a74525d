// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/synth/openroad"
)

func (a *app) openroad() *cobra.Command {
	var (
		flags              configFlags
		opt                openroad.Options
		check              openroad.CheckOptions
		dir, jsonFile      string
		checkFolder, start bool
	)
	cmd := &cobra.Command{Use: "openroad CONFIG|DIR", Short: "Write a design folder for OpenROAD-flow-scripts and LibreLane, check it, run it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := openroad.ByName(opt.Platform); err != nil {
				return usagef("--platform %s: must be one of %s", opt.Platform, strings.Join(openroad.Names(), ", "))
			}
			if opt.ClockMHz < 0 {
				return usagef("--clock-mhz %g: must be above 0", opt.ClockMHz)
			}
			if checkFolder != (check.Liberty != "") {
				return usagef("--check and --liberty belong together: a folder is checked with the platform's library, which IncForge does not have")
			}
			from, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			m, err := contract.Load(from)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = filepath.Join(buildDir, m.Name+"-"+opt.Platform)
			}
			r, err := openroad.Write(from, dir, opt)
			if errors.Is(err, contract.ErrNoTop) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			if checkFolder {
				stop := a.working("synthesis of %s for %s", args[0], opt.Platform)
				r.Timing, err = openroad.Check(cmd.Context(), from, dir, opt, check)
				stop()
				if err != nil {
					return err
				}
			}
			fmt.Fprintf(a.out, "%sin %s\n", r.Table(), dir)
			if err := writeJSON(jsonFile, r); err != nil || !start {
				return err
			}
			defer a.working("the flow on %s", dir)()
			log, err := openroad.Run(cmd.Context(), dir, opt.Platform)
			if err == nil {
				fmt.Fprintln(a.out, "the flow ended; what it said is in", log)
			}
			return err
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	f := cmd.Flags()
	f.StringVar(&opt.Platform, "platform", "", "one of "+strings.Join(openroad.Names(), ", "))
	f.StringVarP(&dir, "output", "o", "", "folder to write to (default build/NAME-PLATFORM)")
	f.StringVar(&opt.Top, "top", contract.TopCore, "core, or switch")
	f.Float64Var(&opt.ClockMHz, "clock-mhz", 0, "clock to constrain for (default: the configuration's)")
	f.BoolVar(&checkFolder, "check", false, "map the design with Yosys and time it with the folder's constraints and memories in OpenSTA; needs --liberty")
	f.StringVar(&check.Liberty, "liberty", "", "of --check: the platform's library of cells, .lib or .lib.gz")
	f.StringVar(&check.WorkDir, "work", "", "of --check: keep the tools' scripts, logs and netlist in this folder")
	f.BoolVar(&start, "run", false, "then run the flow: "+openroad.FlowHomeEnv+" names OpenROAD-flow-scripts, or openroad or librelane is on the PATH")
	required(cmd, "platform")
	return cmd
}
