// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/roce"
	"incforge/verify/replay"
)

func (a *app) replay() *cobra.Command {
	var (
		flags    configFlags
		which    dutFlags
		opt      replay.Options
		jsonFile string
	)
	cmd := &cobra.Command{Use: "replay CONFIG FILE", Short: "Feed a capture (pcap or pcapng) through the engine",
		Long: `Feed a capture through the engine, frame by frame. The output is checked against the reference engine and written as pcapng with one
interface per port. Without --ranks the frames go in unchanged, the interface id being the port, into an engine without groups.
With --ranks N each request is offered once per rank, re-addressed to the endpoints of a group that starts at the first request's PSN, and
each response in the capture becomes that rank's response.`,
		Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
			// Reject a bad file before a model is built.
			if _, _, err := roce.ReadCapture(args[1]); err != nil {
				return usageError{err}
			}
			dir, done, err := which.open(cmd, a, args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			opt.Source, opt.Input = which.source(dir, a), args[1]
			stop := a.working("replay %s", args[1])
			rep, runErr := replay.Run(cmd.Context(), opt)
			stop()
			if runErr != nil && !errors.Is(runErr, replay.ErrFailed) {
				if errors.Is(runErr, replay.ErrCapture) {
					return usageError{runErr}
				}
				return runErr
			}
			if err := writeJSON(jsonFile, rep); err != nil {
				return err
			}
			t := newTable("counter", "engine", "predicted")
			for _, name := range sortedKeys(rep.Counters) {
				predicted, has := rep.Predicted[name]
				if rep.Counters[name] == 0 && predicted == 0 {
					continue
				}
				row := table.Row{name, rep.Counters[name], ""}
				if has {
					row[2] = predicted
				}
				t.AppendRow(row)
			}
			fmt.Fprintln(a.out, t.Render())
			fmt.Fprintf(a.out, "%d frames read, %d requests, %d answers; %d offered, %d left, %d results checked by plain arithmetic, %d cycles\n",
				rep.FramesRead, rep.Requests, rep.Answers, rep.Offered, rep.Left, rep.Sums, rep.Cycles)
			return runErr
		}}
	flags.bind(cmd)
	which.bind(cmd)
	bindJSON(cmd, &jsonFile)
	f := cmd.Flags()
	f.StringVarP(&opt.Output, "output", "o", "", "pcapng file for the output, one interface per port")
	f.IntVar(&opt.Ranks, "ranks", 0, "send the requests once per rank to a group of this many members")
	f.Uint64Var(&opt.Seed, "seed", 1, "seed of the engine's random initial state and of the addresses")
	return cmd
}
