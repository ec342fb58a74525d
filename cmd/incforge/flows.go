// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"incforge/flows"
	"incforge/flows/paper"
)

// flowsFlags are the command line of incforge flows.
type flowsFlags struct {
	paper     bool
	json, svg string
}

func (a *app) flows() *cobra.Command {
	f := flowsFlags{}
	cmd := &cobra.Command{Use: "flows [FILE.yaml]", Short: "Simulate training jobs on a cluster, flow by flow, under each policy of placing groups",
		Long: `Simulate clusters and training jobs at the level of flows: jobs compute and do collectives, on trees of engines where the placement finds them and
memory is free, otherwise as rings of hosts; links are shared max-min fair. FILE.yaml holds the network, the memory of its switches, the
policies (none, edge-disjoint, spatial, temporal) and the jobs: docs/flows.md has every key.

--paper takes no file: it simulates the paper's clusters and prints its tables beside ours.`,
		Args: cobra.MaximumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.paper == (len(args) == 1):
				return usagef("flows takes a file, or --paper")
			case f.paper && f.svg != "":
				return usagef("--svg draws the jobs of a file, not the paper's tables")
			case f.paper:
				return a.flowsPaper(cmd.Context(), f)
			}
			return a.flowsFile(cmd.Context(), args[0], f)
		}}
	cmd.Flags().BoolVar(&f.paper, "paper", false, "simulate the paper's clusters and print its tables beside ours")
	cmd.Flags().StringVar(&f.json, "json", "", "write the results to this file")
	cmd.Flags().StringVar(&f.svg, "svg", "", "draw the completion times of the jobs in this file")
	return cmd
}

func (a *app) flowsPaper(ctx context.Context, f flowsFlags) error {
	stop := a.working("simulating the paper's clusters")
	d, err := paper.All(ctx)
	stop()
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, d.Text())
	if f.json == "" {
		return nil
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("flows: print the tables as JSON: %w", err)
	}
	return write(f.json, append(text, '\n'))
}

func (a *app) flowsFile(ctx context.Context, name string, f flowsFlags) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return usageError{fmt.Errorf("flows: %w", err)}
	}
	spec, err := flows.Parse(name, text)
	var problems flows.Problems
	if errors.As(err, &problems) {
		return usageError{problems}
	} else if err != nil {
		return err
	}
	stop := a.working("simulating %d cases", len(spec.Cases()))
	r, err := flows.Run(ctx, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), spec)
	stop()
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, r.Table())
	if f.json != "" {
		var doc bytes.Buffer
		if err := r.Write(&doc); err != nil {
			return err
		}
		if err := write(f.json, doc.Bytes()); err != nil {
			return err
		}
	}
	if f.svg == "" {
		return nil
	}
	svg, err := r.Draw()
	if err != nil {
		return err
	}
	return write(f.svg, svg)
}
