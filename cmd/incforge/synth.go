// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"incforge/cmd/incforge/place"
	"incforge/contract"
	"incforge/internal/jobs"
	"incforge/synth"
	"incforge/synth/yosys"
)

func (a *app) synth() *cobra.Command {
	var (
		flags    configFlags
		opt      synth.Options
		where    place.Flags
		jsonFile string
	)
	cmd := &cobra.Command{Use: "synth CONFIG|DIR", Short: "Estimate area and timing as an ASIC, with Yosys and OpenSTA", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.Tech != synth.Generic28 && opt.Tech != synth.OSU018 {
				if _, err := os.Stat(opt.Tech); err != nil {
					return usagef("--tech %s: must be %s, %s or a Liberty file: %w", opt.Tech, synth.Generic28, synth.OSU018, err)
				}
			}
			if opt.ClockMHz < 0 {
				return usagef("--clock-mhz %g: must be above 0", opt.ClockMHz)
			}
			if opt.Rounds < 0 {
				return usagef("--rounds %d: must not be below 0", opt.Rounds)
			}
			var err error
			if opt.Place, err = where.Place(a.args, a.log); err != nil {
				return usageError{err}
			}
			if jobs.Shard() {
				opt.WorkDir = "" // it is for the process that waits
			}
			dir, done, err := a.generated(args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			defer a.working("synthesis of %s", args[0])()
			m, err := synth.Run(cmd.Context(), dir, opt)
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
	f.StringVar(&opt.Tech, "tech", synth.Generic28, "cell library: "+synth.Generic28+" (built in), "+synth.OSU018+" (Debian), or a Liberty file")
	f.Float64Var(&opt.ClockMHz, "clock-mhz", 0, "clock to aim at (default: the configuration's)")
	f.StringVar(&opt.Top, "top", "core", "core, switch, or a module of the design, with the parameters that it has there")
	f.StringVar(&opt.Corner, "corner", "", "of "+synth.Generic28+": typical (default) or slow")
	where.Bind(cmd, "modules", buildDir)
	f.IntVar(&opt.Rounds, "rounds", 0, "how often at most to map and time while the clock is missed; 0 is 6")
	f.BoolVar(&opt.Flatten, "flat", false, "dissolve the hierarchy, to compare with: slow, no areas by module")
	f.BoolVar(&opt.NoClockGates, "no-clock-gates", false, "leave enables as multiplexers, to compare with")
	f.StringVar(&opt.WorkDir, "work", "", "keep the tools' scripts, logs and netlist in this folder")
	return cmd
}
