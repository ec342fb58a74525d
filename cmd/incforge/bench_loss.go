// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"incforge/bench"
	"incforge/verify/dut"
)

// benchLoss is `incforge bench loss`, apart from the other benchmarks: it takes minutes, and has flags of its own.
func (a *app) benchLoss() *cobra.Command {
	var (
		flags                     configFlags
		o                         bench.LossOptions
		config, jsonFile, svgFile string
		kind                      string
		modes                     []int
	)
	cmd := &cobra.Command{Use: "loss", Short: "AllReduce over links that lose frames, beside the paper's figures and the bound of go-back-N",
		Long: `Measure the throughput of AllReduce over a star of eight ranks, 100 Gbit/s and 1 µs a link, where one link loses up to 1 % of its
frames, and where up to eight links lose 0.1 %; in Mode II with gap NAKs and without, and in Mode III; beside the paper's curves and the bound of
go-back-N. The configuration is taken in both modes, or in those of --modes; in Mode I it has the same memory in messages of four packets.
The engine's one stream is shared by all ports: at 250 MHz it takes 512 bytes to carry eight links of 100 Gbit/s, so without --config and
--set it is fpga100g with bus_bytes=512, lanes=128. docs/loss.md explains the figures.`,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			o.DUT = dut.Kind(kind)
			if !slices.Contains([]dut.Kind{dut.KindRTL, dut.KindReference}, o.DUT) {
				return usagef("--dut %s: must be %s or %s", kind, dut.KindRTL, dut.KindReference)
			}
			if len(modes) == 0 {
				return usagef("--modes: one at least")
			}
			if o.Seeds < 1 || o.Packets < 1 || o.Jobs < 0 {
				return usagef("--seeds and --packets must be at least 1, --jobs not negative")
			}
			if !cmd.Flags().Changed("config") && len(flags.sets) == 0 {
				flags.sets = []string{"bus_bytes=512", "lanes=128"}
			}
			for _, mode := range modes {
				own, err := lossSets(config, mode, flags.sets)
				if err != nil {
					return err
				}
				dir, done, err := a.generated(config, &own)
				if err != nil {
					return err
				}
				defer done()
				*map[int]*string{1: &o.MessagesDir, 2: &o.ManifestDir, 3: &o.PipesDir}[mode] = dir
			}
			stop := a.working("bench loss %s", config)
			got, err := bench.Loss(cmd.Context(), o)
			stop()
			if err != nil {
				return err
			}
			fmt.Fprint(a.out, got.Table())
			if svgFile != "" {
				if err := write(svgFile, got.SVG()); err != nil {
					return err
				}
			}
			if jsonFile == "" {
				return nil
			}
			text, err := json.Marshal(got) // a line, as those of the other benchmarks
			if err != nil {
				return fmt.Errorf("bench loss: %w", err)
			}
			return write(jsonFile, append(text, '\n'))
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	f := cmd.Flags()
	f.StringVar(&config, "config", "fpga100g", "configuration to measure: a preset, or a YAML file")
	f.StringVar(&kind, "dut", string(dut.KindRTL), "implementation: rtl, reference")
	f.Uint64Var(&o.Seed, "seed", 1, "first seed of losses and of the engine's random initial state")
	f.IntVar(&o.Seeds, "seeds", 5, "runs per point")
	f.IntVar(&o.Packets, "packets", 4096, "packets a rank sends in a run")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "parallel runs; 0 is one per processor")
	f.IntSliceVar(&modes, "modes", []int{2, 3}, "modes to measure")
	f.StringSliceVar(&o.Variants, "variants", nil, "names of the variants to measure (default: all)")
	f.Float64SliceVar(&o.Rates, "rates", nil, "loss rates to measure besides 0, of 0.00001 to 0.01 (default: all)")
	f.StringVar(&svgFile, "svg", "", "plot both sweeps into this SVG file")
	return cmd
}

// lossSets are the overrides that make the configuration one of a mode. In Mode I it has as much memory as in Mode III: messages of four packets,
// and a fourth of the window of them.
func lossSets(config string, mode int, sets []string) (configFlags, error) {
	own := configFlags{sets: append(slices.Clone(sets), fmt.Sprintf("mode=%d", mode))}
	switch mode {
	case 2, 3:
		return own, nil
	case 1:
		p, err := (&configFlags{sets: append(slices.Clone(sets), "mode=3")}).load(config)
		if err != nil {
			return own, err
		}
		own.sets = append(own.sets, "in_band=false", "no_releases=true", fmt.Sprintf("message_bytes=%d", 4*p.MTUBytes),
			fmt.Sprintf("window_messages=%d", max(p.WindowPackets/4, 1)))
		return own, nil
	}
	return own, usagef("--modes %d: must be 1, 2 or 3", mode)
}
