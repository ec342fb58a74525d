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

	"incforge/control/rpc"
	"incforge/live"
	"incforge/live/socket"
	"incforge/verify/dut"
)

// liveFlags are those of incforge live.
type liveFlags struct {
	config                             configFlags
	dut                                dutFlags
	ports, loss, dup, reorder          []string
	groups, jsonFile, capture, control string
	topology                           string
	duration, status                   time.Duration
	seed, faultSeed                    uint64
	scale                              float64
	check, prepare, bridge             bool
	files                              rpc.Files // of agents
}

func (a *app) live() *cobra.Command {
	var l liveFlags
	cmd := &cobra.Command{Use: "live [CONFIG]", Short: "Attach the engine's ports to unix datagram sockets, in real time",
		Long: `Attach the engine's ports to unix datagram sockets: one datagram is one Ethernet frame without FCS, as QEMU's -netdev dgram speaks
it. --port N=unix:MINE,PEER binds MINE for port N and sends to PEER, which may be started later and restarted. The groups file describes the
groups and their endpoints, see live/README.md. --port N=eth:CARD takes a network card of this machine in a socket's place, for real hosts; that takes
CAP_NET_RAW. Everything the engine does is compared with the reference engine, unless --check=false.

--topology takes the place of CONFIG, --groups and --port: a file of several switches, their sockets and the links between them.

Groups that stand are reported with what they wait for. incforge live ctl speaks to the control socket of a running switch.
The first run of a configuration compiles its model, which takes minutes; --prepare does that and no more.

Runs until SIGINT, SIGTERM or the end of --duration; then prints the counters and removes the sockets.`,
		Args: cobra.MaximumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error { return a.liveRun(cmd, args, &l) }}
	l.config.bind(cmd)
	l.dut.bind(cmd)
	bindJSON(cmd, &l.jsonFile)
	f := cmd.Flags()
	f.StringArrayVar(&l.ports, "port", nil, "N=unix:MINE,PEER: bind port N to socket MINE and send its frames to PEER; N=eth:CARD: port N is a network card; once per port")
	f.StringVar(&l.groups, "groups", "", "YAML file of groups and endpoints")
	f.StringVar(&l.topology, "topology", "", "YAML file of several switches and the links between them")
	f.StringVar(&l.control, "control", "", "path of a control socket, for incforge live ctl")
	f.StringVar(&l.capture, "capture", "", "capture all frames to this file as pcapng, one interface per port")
	f.DurationVar(&l.duration, "duration", 0, "stop after this time, such as 30s; 0 runs until a signal")
	f.DurationVar(&l.status, "status", 10*time.Second, "time between status lines on stderr; 0 prints none")
	f.Uint64Var(&l.seed, "seed", 1, "seed of the engine's random initial state")
	f.Float64Var(&l.scale, "time-scale", 0, "seconds of the engine in a second of the hosts; 0: 1, or 0.001 for a simulated engine of Mode III or I")
	f.BoolVar(&l.check, "check", true, "run the reference beside the engine and compare")
	f.BoolVar(&l.prepare, "prepare", false, "compile the model and end")
	f.BoolVar(&l.bridge, "bridge", false, "pass frames that are not for the engine from port to port, as a learning switch")
	f.StringArrayVar(&l.loss, "loss", nil, "P or N=P: lose frames of all ports or of port N with probability P, each way")
	f.StringArrayVar(&l.dup, "dup", nil, "P or N=P: repeat frames")
	f.StringArrayVar(&l.reorder, "reorder", nil, "P or N=P: hold frames back until some others have passed")
	f.Uint64Var(&l.faultSeed, "fault-seed", 1, "seed of the faults")
	bindFiles(cmd, &l.files)
	cmd.AddCommand(a.liveCtl())
	return cmd
}

// liveRun is incforge live.
func (a *app) liveRun(cmd *cobra.Command, args []string, l *liveFlags) error {
	o := live.Options{Status: l.status, Seed: l.faultSeed, Control: l.control, Log: a.log}
	plans, err := l.plans(args)
	if err != nil {
		return err
	}
	if l.topology != "" {
		o.Links = plans[0].links
	}
	// What is wrong with the files is said, all of it, before a model is built.
	var wrong []error
	for i := range plans {
		done, err := plans[i].read(cmd, a, l)
		if done != nil {
			defer done()
		}
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	for i := range plans {
		sw, err := plans[i].build(cmd, a, l)
		if err != nil {
			return errors.Join(err, closeAll(o.Switches))
		}
		if sw != nil {
			o.Switches = append(o.Switches, *sw)
		}
	}
	if l.prepare {
		return nil
	}
	rep, err := a.runLive(cmd.Context(), o, l.capture, l.duration)
	return a.liveEnd(&rep, errors.Join(err, closeAll(o.Switches)), l.jsonFile)
}

func closeAll(switches []live.Switch) error {
	var errs []error
	for i := range switches {
		errs = append(errs, switches[i].Engine.Close())
	}
	return errors.Join(errs...)
}

// liveEnd prints what a run saw, if it began.
func (a *app) liveEnd(rep *live.Report, err error, jsonFile string) error {
	if errors.Is(err, socket.ErrTaken) {
		return usageError{err}
	}
	if rep.Switches == nil {
		return err
	}
	a.printLive(rep)
	return errors.Join(err, writeJSON(jsonFile, rep))
}

// timeScale is the time scale where the user says none. A simulated engine runs some thousand times slower than its clock says, so its
// timers, too, would take that much longer than the hosts expect.
func timeScale(mode int, kind string) float64 {
	if mode != 2 && kind != string(dut.KindReference) {
		return 0.001
	}
	return 1
}

// setFault reads P or N=P.
func setFault(ports []live.Port, name, arg string, at func(f *live.Faults) *float64) error {
	number, text, one := strings.Cut(arg, "=")
	if !one {
		number, text = "", arg
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return usagef("--%s %s: must be P or PORT=P, P being a probability", name, arg)
	}
	hit := false
	for i := range ports {
		if one && strconv.Itoa(ports[i].Number) != number {
			continue
		}
		hit, *at(&ports[i].Faults) = true, v
		if err := ports[i].Faults.Validate(); err != nil {
			return usagef("--%s %s: %w", name, arg, err)
		}
	}
	if !hit {
		return usagef("--%s %s: there is no port %s", name, arg, number)
	}
	return nil
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
		for i := range o.Switches {
			sw := &o.Switches[i]
			name := ""
			if len(o.Switches) > 1 {
				name = sw.Name + ": "
			}
			for j := range sw.Setup.Groups {
				g := &sw.Setup.Groups[j]
				a.log.Infof("live: %sgroup %d: %s, %d endpoints, start %v, window %d packets", name, g.Index, g.Kind(), len(g.Ends), g.Set.Start, 1<<g.Set.Log2N/2)
			}
			a.log.Infof("live: %stime: a second of the hosts is %g s of the engine%s", name, sw.TimeScale, sw.Timers())
		}
		a.log.Info("live: ready")
	}
	return live.Run(ctx, o)
}

// parsePorts reads N=unix:MINE,PEER.
func parsePorts(args []string) ([]live.Port, error) {
	var all []live.Port
	for _, arg := range args {
		number, rest, _ := strings.Cut(arg, "=")
		n, err := strconv.Atoi(number)
		card, eth := strings.CutPrefix(rest, "eth:")
		paths, unix := strings.CutPrefix(rest, "unix:")
		mine, peer, comma := strings.Cut(paths, ",")
		switch {
		case err != nil, n < 0, !eth && !unix, eth && card == "", unix && (!comma || mine == "" || peer == ""):
			return nil, usagef("--port %s: must be N=unix:MINE,PEER or N=eth:CARD", arg)
		case unix && mine == peer:
			return nil, usagef("--port %s: MINE and PEER are the same", arg)
		case slices.ContainsFunc(all, func(p live.Port) bool { return p.Number == n }):
			return nil, usagef("--port %s: port %d is given twice", arg, n)
		case unix && slices.ContainsFunc(all, func(p live.Port) bool { return p.Mine == mine }):
			return nil, usagef("--port %s: socket %s is given twice", arg, mine)
		case eth && slices.ContainsFunc(all, func(p live.Port) bool { return p.Card == card }):
			return nil, usagef("--port %s: card %s is given twice", arg, card)
		}
		p := live.Port{Number: n, Card: card}
		if unix {
			p.Mine, p.Peer, p.Card = mine, peer, ""
		}
		all = append(all, p)
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
	t := newTable("port", "in", "short", "long", "arp", "bridge", "out", "nobody", "full", "failed", "returned", "faults", "peer")
	counters := newTable("counter", "switch", "value")
	for i := range rep.Switches {
		sw := &rep.Switches[i]
		for _, p := range sw.Ports {
			name := strconv.Itoa(p.Port)
			if len(rep.Switches) > 1 {
				name = sw.Name + ":" + name
			}
			t.AppendRow(table.Row{name, p.In, p.Short, p.Long, p.ARP, p.BridgeIn, p.Out, p.Nobody, p.Full, p.Failed, p.Returned,
				p.LostIn + p.LostOut + p.Duplicated + p.Reordered, p.Peer})
		}
		for _, name := range sortedKeys(sw.Counters) {
			if sw.Counters[name] > 0 {
				counters.AppendRow(table.Row{name, sw.Name, sw.Counters[name]})
			}
		}
	}
	fmt.Fprintln(a.out, t.Render())
	fmt.Fprintln(a.out, counters.Render())
	for i := range rep.Switches {
		sw := &rep.Switches[i]
		fmt.Fprintf(a.out, "%s: %.1f s, %d cycles, %d of them simulated (%.0f a second), %d frames sent to ports without a socket, %d standstills\n", sw.Name,
			rep.WallSeconds, sw.Cycles, sw.Simulated, float64(sw.Simulated)/rep.WallSeconds, sw.Unattached, sw.Standstills)
	}
}
