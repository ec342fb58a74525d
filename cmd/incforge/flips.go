// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"incforge/verify/dut"
	"incforge/verify/flips"
)

func (a *app) flips() *cobra.Command {
	var (
		flags    configFlags
		kind     string
		jsonFile string
		o        flips.Options
	)
	cmd := &cobra.Command{Use: "flips CONFIG|DIR", Short: "Invert bits in every memory of an engine with ecc: all while messages run through it",
		Long: `Invert bits in the memories of a Verilated engine, and of the queues of its ports, with ecc: all and memory_pins: 64 or more, one bit and two, while hosts exchange messages
through it and frames pass it by. What leaves is judged by plain arithmetic: one bit changes nothing, not a frame and not a cycle; two may cost
frames or stop the engine, which goes on when its groups are started again; nothing wrong leaves that a receiver takes (docs/memories.md).`,
		Example: "  incforge flips mini --set ecc=all --set memory_pins=64 --set port_bytes=4 --count 10000",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, done, err := a.source(args[0], &flags, dut.Kind(kind))
			if err != nil {
				return err
			}
			defer done()
			defer a.working("flips %s", args[0])()
			o.Source, o.Progress = source, func(text string) { fmt.Fprintln(a.out, text) }
			results, err := flips.Run(cmd.Context(), o)
			if werr := writeJSON(jsonFile, results); werr != nil {
				return werr
			}
			if errors.Is(err, flips.ErrWrong) {
				return fmt.Errorf("%w: %w", errFailed, err)
			}
			return err
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	cmd.Flags().StringVar(&kind, "dut", string(dut.KindRTL), "implementation: rtl, core")
	cmd.Flags().IntVar(&o.Count, "count", 1000, "how many times bits are inverted, of each kind of memory, one bit and two")
	cmd.Flags().StringSliceVar(&o.Kinds, "kind", nil, "kinds of memories, separated by commas (default all)")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of groups, messages and places")
	return cmd
}
