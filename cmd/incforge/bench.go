// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"incforge/bench"
	"incforge/contract"
	"incforge/internal/clocked"
	"incforge/report"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

// benchmark is one of the names that `incforge bench` takes.
type benchmark struct {
	name, doc string
	run       func(ctx context.Context, o bench.Options) (report.Bench, error)
	// also are presets it runs for, before the configuration to measure, unless one is named.
	also []string
}

func benchmarks() []benchmark {
	return []benchmark{
		{"gen", "time to generate every preset", benchGen, nil},
		{"latency", "cycles from contribution to result, next to the paper's figures", bench.Latency, nil},
		{"throughput", "input beats per cycle by payload size, for the best and the worst order of arrival; in Mode I also messages of several packets", bench.Throughput, nil},
		{"aggregate", "the shortest payloads, back to back into one slot and in turn, and the aggregator alone; also for mini",
			bench.Aggregate, []string{"mini"}},
		{"isolation", "a group's time and counters alone, next to a busy group, and next to one with faulty links", bench.Isolation, nil},
		{"sim", "speed of the Go harness against a plain C++ loop on the same model", bench.Sim, nil},
	}
}

func (a *app) bench() *cobra.Command {
	var (
		flags            configFlags
		config, jsonFile string
		seed             uint64
		members          int
		found            foundFlag
		messages         messageFlags
		names            []string
		doc              strings.Builder
	)
	for _, b := range benchmarks() {
		names = append(names, b.name)
		fmt.Fprintf(&doc, "\n  %-11s %s", b.name, b.doc)
	}
	cmd := &cobra.Command{Use: "bench [NAME...]", Short: "Measure latency, throughput, simulator and generator",
		Long: "Measure on the RTL in the simulator. Without a name, all of these; loss and rate take long and are commands of their own:\n" + doc.String(), ValidArgs: names,
		Args: cobra.OnlyValidArgs, RunE: func(cmd *cobra.Command, args []string) error {
			// Without --config some benchmarks run for other presets too.
			alone := cmd.Flags().Changed("config")
			loads, err := messages.loads(args)
			if err != nil {
				return err
			}
			var lines bytes.Buffer
			err = a.benchAll(cmd.Context(), &lines, args, config, alone, &flags, bench.Options{Seed: seed, Members: members, Messages: loads}, found)
			if jsonFile == "" || lines.Len() == 0 {
				return err
			}
			return errors.Join(err, write(jsonFile, lines.Bytes())) // what was measured before an error is worth keeping
		}}
	flags.bind(cmd)
	bindJSON(cmd, &jsonFile)
	found.bind(cmd)
	cmd.Flags().StringVar(&config, "config", "fpga100g", "configuration to measure: a preset, or a YAML file")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the model's random initial state")
	cmd.Flags().IntVar(&members, "members", 0, "latency: most members of the group (default 8)")
	messages.bind(cmd)
	cmd.AddCommand(a.benchLoss(), a.benchRate())
	return cmd
}

// benchAll runs the benchmarks of these names, all if there are none, prints their tables and adds a JSON line each.
func (a *app) benchAll(ctx context.Context, lines *bytes.Buffer, named []string, config string, alone bool, flags *configFlags, o bench.Options,
	found foundFlag) error {
	dir, done, err := a.generated(config, flags)
	if err != nil {
		return err
	}
	defer done()
	o.ManifestDir = dir
	m, err := contract.Load(dir)
	if err != nil {
		return err
	}
	if err := o.Messages.Check(m.Name, m.Params); err != nil {
		return usageError{err}
	}
	if o.Found, err = found.clock(m); err != nil {
		return err
	}
	if len(named) == 0 || slices.Contains(named, "latency") {
		unchecked := configFlags{sets: append(slices.Clone(flags.sets), "icrc_check=false")}
		dir, done, err := a.generated(config, &unchecked)
		if err != nil {
			return err
		}
		defer done()
		o.NoICRCDir = dir
	}
	for _, b := range benchmarks() {
		if len(named) > 0 && !slices.Contains(named, b.name) {
			continue
		}
		configs := []string{config}
		if !alone {
			configs = append(slices.Clone(b.also), config)
		}
		for _, c := range configs {
			got, err := a.measure(ctx, b, c, config, flags, o)
			if err != nil {
				return err
			}
			fmt.Fprint(a.out, report.BenchTable(got))
			text, err := json.Marshal(got)
			if err != nil {
				return fmt.Errorf("bench %s: %w", b.name, err)
			}
			lines.Write(append(text, '\n'))
		}
	}
	return nil
}

// measure runs a benchmark for configuration c; o is for the configuration named main.
func (a *app) measure(ctx context.Context, b benchmark, c, main string, flags *configFlags, o bench.Options) (report.Bench, error) {
	if c != main {
		dir, done, err := a.generated(c, flags)
		if err != nil {
			return report.Bench{}, err
		}
		defer done()
		o.ManifestDir, o.NoICRCDir, o.Found = dir, "", clocked.Clock{}
	}
	stop := a.working("bench %s %s", b.name, c)
	defer stop()
	return b.run(ctx, o)
}

// benchGen times the generator; files are not written.
func benchGen(ctx context.Context, _ bench.Options) (report.Bench, error) {
	b := report.Bench{Bench: "gen", Config: "presets", Metrics: map[string]float64{}}
	names, err := params.Presets()
	if err != nil {
		return b, err
	}
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return b, err
		}
		start := time.Now()
		p, err := params.Load(n)
		if err != nil {
			return b, err
		}
		if _, err := rtlgen.Generate(p); err != nil {
			return b, err
		}
		b.Metrics[n+"_s"] = time.Since(start).Seconds()
	}
	return b, nil
}
