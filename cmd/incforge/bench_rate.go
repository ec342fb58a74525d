// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"incforge/bench"
	"incforge/verify/dut"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
)

// benchRate is `incforge bench rate`, with flags of its own as bench loss.
func (a *app) benchRate() *cobra.Command {
	var (
		flags                  configFlags
		o                      bench.RateOptions
		config, jsonFile, kind string
	)
	cmd := &cobra.Command{Use: "rate", Short: "One congested member of a group in Mode III: goodput with RNR NAKs, with CNPs, and without",
		Long: `Measure AllReduce, Reduce and Broadcast over a star of eight ranks in Mode III, 100 Gbit/s and 1 µs a link, where one rank's link has 25 Gbit/s, so
that pipes fill up: dropped in silence, answered by RNR NAKs, by CNPs to hosts that slow down, and by both. docs/loss.md explains the figures.
Without --config and --set it is fpga100g with mode=3, bus_bytes=512, lanes=128, as for bench loss.`,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			o.DUT = dut.Kind(kind)
			if !slices.Contains([]dut.Kind{dut.KindRTL, dut.KindReference}, o.DUT) {
				return usagef("--dut %s: must be %s or %s", kind, dut.KindRTL, dut.KindReference)
			}
			if o.Packets < 1 || o.Jobs < 0 || len(o.Pipes) == 0 || slices.Min(o.Pipes) < 1 {
				return usagef("--packets and --pipes must be at least 1, --jobs not negative")
			}
			if !cmd.Flags().Changed("config") && len(flags.sets) == 0 {
				flags.sets = []string{"mode=3", "bus_bytes=512", "lanes=128"}
			}
			dir, done, err := a.generated(config, &flags)
			if err != nil {
				return err
			}
			defer done()
			o.ManifestDir = dir
			stop := a.working("bench rate %s", config)
			got, err := bench.Rate(cmd.Context(), o)
			stop()
			if err != nil {
				return err
			}
			t := newTable("call", "N", "full pipe", "Gbit/s", "of bound", "packets", "resent", "time-outs", "DROP_FULL", "DROP_GAP", "RNR NAKs", "CNPs", "cuts")
			for _, p := range got.Rate {
				t.AppendRow(table.Row{p.Call.String(), p.Pipe, p.Policy, fmt.Sprintf("%.2f", p.Gbps), fmt.Sprintf("%.3f", p.OfBound), p.Packets, p.Resent, p.Timeouts,
					p.Full, p.Gaps, p.RNRs, p.CNPs, p.Cuts})
			}
			fmt.Fprintln(a.out, t.Render())
			for _, p := range got.Policies {
				fmt.Fprintf(a.out, "%s: %s\n", p.Name, p.Doc)
			}
			fmt.Fprintf(a.out, "%s on %s: the slow link carries %.2f Gbit/s of payload\n", got.Config, got.DUT, got.Metrics["bound_gbps"])
			return writeJSON(jsonFile, got)
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	f := cmd.Flags()
	f.StringVar(&config, "config", "fpga100g", "configuration to measure, of Mode III: a preset, or a YAML file")
	f.StringVar(&kind, "dut", string(dut.KindReference), "implementation: reference, rtl")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of data and of the engine's random initial state")
	f.IntVar(&o.Packets, "packets", 2048, "packets a rank sends in a run")
	f.IntSliceVar(&o.Pipes, "pipes", []int{8, 32}, "pipe sizes in slots")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "parallel runs; 0 is one per processor")
	return cmd
}
