// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/live"
)

func (a *app) live() *cobra.Command {
	var (
		flags                     configFlags
		which                     dutFlags
		ports                     []string
		groups, jsonFile, capture string
		duration, status          time.Duration
		seed                      uint64
	)
	cmd := &cobra.Command{Use: "live CONFIG", Short: "Attach the engine's ports to unix datagram sockets, in real time",
		Long: `Attach the engine's ports to unix datagram sockets: one datagram is one Ethernet frame without FCS, as QEMU's -netdev dgram speaks
it. --port N=unix:MINE,PEER binds MINE for port N and sends to PEER, which may be started later and restarted. The groups file describes the
groups and their endpoints, see live/README.md. Everything the engine does is compared with the reference engine.

Runs until SIGINT, SIGTERM or the end of --duration; then prints the counters and removes the sockets.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			o := live.Options{Status: status, Log: a.log}
			var err error
			if o.Ports, err = parsePorts(ports); err != nil {
				return err
			}
			dir, done, err := which.open(cmd, a, args[0], &flags)
			if err != nil {
				return err
			}
			defer done()
			// What is wrong with the file is said before a model is built.
			if o.Manifest, err = contract.Load(dir); err != nil {
				return err
			}
			for _, p := range o.Ports {
				if p.Number >= o.Manifest.Params.Ports {
					return usagef("--port %d: %s has ports 0 to %d", p.Number, o.Manifest.Name, o.Manifest.Params.Ports-1)
				}
			}
			if o.Setup, err = live.ReadSetup(groups, o.Manifest, numbers(o.Ports)); err != nil {
				return usageError{err}
			}
			stop := a.working("build %s", args[0])
			_, engines, err := which.source(dir, a).Open(cmd.Context())
			stop()
			if err != nil {
				return err
			}
			if o.Engine, err = engines.New(seed); err != nil {
				return err
			}
			rep, err := a.runLive(cmd.Context(), o, capture, duration)
			if cerr := o.Engine.Close(); cerr != nil {
				err = errors.Join(err, cerr)
			}
			if errors.Is(err, live.ErrTaken) {
				return usageError{err}
			}
			if rep.Config == "" { // it did not begin
				return err
			}
			a.printLive(&rep)
			return errors.Join(err, writeJSON(jsonFile, &rep))
		}}
	flags.bind(cmd)
	which.bind(cmd)
	bindJSON(cmd, &jsonFile)
	f := cmd.Flags()
	f.StringArrayVar(&ports, "port", nil, "N=unix:MINE,PEER: bind port N to socket MINE and send its frames to PEER; once per port")
	f.StringVar(&groups, "groups", "", "YAML file of groups and endpoints")
	f.StringVar(&capture, "capture", "", "capture all frames to this file as pcapng, one interface per port")
	f.DurationVar(&duration, "duration", 0, "stop after this time, such as 30s; 0 runs until a signal")
	f.DurationVar(&status, "status", 10*time.Second, "time between status lines on stderr; 0 prints none")
	f.Uint64Var(&seed, "seed", 1, "seed of the engine's random initial state")
	for _, name := range []string{"port", "groups"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // a flag that is not there
		}
	}
	return cmd
}

// runLive runs until ctx ends or the duration is over, with a capture if one is wanted.
func (a *app) runLive(ctx context.Context, o live.Options, capture string, duration time.Duration) (rep live.Report, err error) {
	if capture != "" {
		file, cerr := os.Create(capture)
		if cerr != nil {
			return rep, fmt.Errorf("capture: %w", cerr)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		o.Capture = file
	}
	if duration > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, duration)
		defer stop()
	}
	o.Ready = func() {
		for _, g := range o.Setup.Groups {
			a.log.Infof("live: group %d: %s, %d endpoints, start %v, window %d packets", g.Index, g.Kind(), len(g.Ends), g.Set.Start, 1<<g.Set.Log2N/2)
		}
		a.log.Info("live: ready")
	}
	return live.Run(ctx, o)
}

// parsePorts reads N=unix:MINE,PEER.
func parsePorts(args []string) ([]live.Port, error) {
	var all []live.Port
	for _, arg := range args {
		number, rest, ok := strings.Cut(arg, "=unix:")
		n, err := strconv.Atoi(number)
		mine, peer, comma := strings.Cut(rest, ",")
		switch {
		case !ok, err != nil, n < 0, !comma, mine == "", peer == "":
			return nil, usagef("--port %s: must be N=unix:MINE,PEER", arg)
		case mine == peer:
			return nil, usagef("--port %s: MINE and PEER are the same", arg)
		case slices.ContainsFunc(all, func(p live.Port) bool { return p.Number == n }):
			return nil, usagef("--port %s: port %d is given twice", arg, n)
		case slices.ContainsFunc(all, func(p live.Port) bool { return p.Mine == mine }):
			return nil, usagef("--port %s: socket %s is given twice", arg, mine)
		}
		all = append(all, live.Port{Number: n, Mine: mine, Peer: peer})
	}
	return all, nil
}

// numbers are the ports' numbers.
func numbers(ports []live.Port) []int {
	all := []int{}
	for _, p := range ports {
		all = append(all, p.Number)
	}
	return all
}

func (a *app) printLive(rep *live.Report) {
	t := newTable("port", "in", "short", "long", "arp", "out", "nobody", "full", "failed", "returned", "socket")
	for _, p := range rep.Ports {
		t.AppendRow(table.Row{p.Port, p.In, p.Short, p.Long, p.ARP, p.Out, p.Nobody, p.Full, p.Failed, p.Returned, p.Mine})
	}
	fmt.Fprintln(a.out, t.Render())
	t = newTable("counter", "engine")
	for _, name := range sortedKeys(rep.Counters) {
		if rep.Counters[name] > 0 {
			t.AppendRow(table.Row{name, rep.Counters[name]})
		}
	}
	fmt.Fprintln(a.out, t.Render())
	fmt.Fprintf(a.out, "%.1f s, %d cycles, %d frames sent to ports without a socket\n", rep.WallSeconds, rep.Cycles, rep.Unattached)
}
