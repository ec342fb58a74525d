// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/commlib"
	"incforge/commlib/perf"
	"incforge/commlib/softnic"
	"incforge/commlib/verbs"
	"incforge/control/managerpb"
	"incforge/control/rpc"
	"incforge/live/peer"
	"incforge/roce"
)

// hostFlags are those of incforge host.
type hostFlags struct {
	files                  rpc.Files
	manager, wire, ip, mac string
	group, policy          string
	members, what          []string
	dtype, op              string
	sizes                  []string
	iterations             int
	mbps, least            int
	timeout                time.Duration
	seed                   uint64
	hold                   bool
	jsonFile               string
}

func (a *app) host() *cobra.Command {
	var h hostFlags
	cmd := &cobra.Command{Use: "host NAME", Short: "Be a member of a group: make it with the others, run collectives, check every element, end it",
		Long: `Be a member of a group, see docs/control.md. NAME is this host's in the manager's topology file, and one of --members. The NIC is a model in this
process, whose frames go over a socket of incforge live (--wire unix:MINE,PEER). Every member runs the same command line, but for NAME, --wire, --ip and --mac.

The table has the mean time of a call, the tensor over the time (alg), and what a ring would have to send for it (bus), as nccl-tests has them. --hold runs no
collective and stays in the group until that ends, or until SIGINT. Exit status 1: the group has failed, or a result was wrong.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error { return a.runHost(cmd.Context(), args[0], &h) }}
	f := cmd.Flags()
	f.StringVar(&h.manager, "manager", managerAddress, "HOST:PORT of the manager")
	f.StringVar(&h.wire, "wire", "", "unix:MINE,PEER: bind socket MINE and send frames to PEER")
	f.StringVar(&h.ip, "ip", "", "the NIC's IPv4 address")
	f.StringVar(&h.mac, "mac", "", "the NIC's MAC address")
	f.StringVar(&h.group, "group", "", "the group's name")
	f.StringSliceVar(&h.members, "members", nil, "the hosts of the group, by rank")
	f.StringVar(&h.policy, "policy", "", "edge-disjoint or spatial; default spatial")
	f.IntVar(&h.mbps, "mbps", 1000, "megabits a second wanted")
	f.IntVar(&h.least, "least", 0, "the least that will do; 0 is the same")
	f.StringSliceVar(&h.what, "collective", []string{"all"}, "what to run: allreduce, reduce, broadcast, barrier, reducescatter, allgather; or all")
	f.StringVar(&h.dtype, "type", "int32", "element type: fp32, fp16, bf16, int32")
	f.StringVar(&h.op, "op", "sum", "operation: sum, min, max")
	f.StringSliceVar(&h.sizes, "bytes", []string{"1Ki", "64Ki"}, "sizes of a tensor; Ki and Mi are 2^10 and 2^20")
	f.IntVar(&h.iterations, "iterations", 5, "calls of each kind and size")
	f.Uint64Var(&h.seed, "seed", 1, "seed of the numbers in the tensors")
	f.DurationVar(&h.timeout, "timeout", 30*time.Second, "how long a call may stand, and the group take to be made; 0 is for ever")
	f.BoolVar(&h.hold, "hold", false, "run nothing and stay until the group ends")
	bindFiles(cmd, &h.files)
	bindJSON(cmd, &h.jsonFile)
	for _, name := range []string{"wire", "ip", "mac", "group", "members"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // a flag that is not there
		}
	}
	return cmd
}

// plan reads what is to be run.
func (h *hostFlags) plan() (p perf.Plan, err error) {
	p = perf.Plan{Iterations: h.iterations, Seed: h.seed}
	errs := []error{p.Type.UnmarshalText([]byte(h.dtype)), p.Op.UnmarshalText([]byte(h.op))}
	for _, name := range h.what {
		if name == "all" {
			p.Collectives = commlib.Collectives()
			continue
		}
		var c commlib.Collective
		errs = append(errs, c.UnmarshalText([]byte(name)))
		p.Collectives = append(p.Collectives, c)
	}
	for _, s := range h.sizes {
		n, err := parseSize(s)
		errs = append(errs, err)
		p.Bytes = append(p.Bytes, n)
	}
	if h.iterations < 1 {
		errs = append(errs, fmt.Errorf("--iterations %d: must be at least 1", h.iterations))
	}
	return p, errors.Join(errs...)
}

// mostBytes bounds a tensor.
const mostBytes = 1 << 30

// parseSize reads a number with Ki or Mi behind it.
func parseSize(text string) (int, error) {
	number, factor := text, 1
	for suffix, f := range map[string]int{"Ki": 1 << 10, "Mi": 1 << 20} {
		if cut, ok := strings.CutSuffix(text, suffix); ok {
			number, factor = cut, f
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > mostBytes/factor {
		return 0, fmt.Errorf("--bytes %s: must be a number, such as 4096 or 64Ki, of at most 1024Mi", text)
	}
	return n * factor, nil
}

// open makes the NIC.
func (h *hostFlags) open() (nic *softnic.NIC, err error) {
	var at verbs.Address
	var errs [2]error
	at.IP, errs[0] = roce.ParseIP4(h.ip)
	at.MAC, errs[1] = roce.ParseMAC(h.mac)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, usageError{err}
	}
	rest, ok := strings.CutPrefix(h.wire, "unix:")
	mine, engine, comma := strings.Cut(rest, ",")
	if !ok || !comma || mine == "" || engine == "" || mine == engine {
		return nil, usagef("--wire %s: must be unix:MINE,PEER", h.wire)
	}
	w, err := peer.Dial(mine, engine)
	if err != nil {
		return nil, usageError{err}
	}
	return softnic.New(w, at), nil
}

// runHost is incforge host.
func (a *app) runHost(ctx context.Context, name string, h *hostFlags) (err error) {
	plan, err := h.plan()
	if err != nil {
		return usageError{err}
	}
	rank := slices.Index(h.members, name)
	if rank < 0 {
		return usagef("%s is none of the members %s", name, strings.Join(h.members, ", "))
	}
	conn, err := rpc.Dial(h.manager, rpc.Manager, h.files)
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	nic, err := h.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nic.Close()) }()
	begin := ctx
	if h.timeout > 0 {
		var cancel context.CancelFunc
		begin, cancel = context.WithTimeout(ctx, h.timeout)
		defer cancel()
	}
	g, err := commlib.InitGroup(begin, commlib.Config{Manager: managerpb.NewManagerClient(conn), Device: nic, Tuning: commlib.Tuning{Timeout: h.timeout},
		Name: h.group, Members: h.members, Rank: rank, Policy: h.policy, Mbps: h.mbps, LeastMbps: h.least})
	if err != nil {
		return err
	}
	e := g.Endpoint()
	a.log.Infof("host %s: group %s is ready: rank %d of %d, toward %v queue pair %#x, window %d packets of %d bytes", name, e.Name, rank, len(e.Members),
		e.Peer.IP, e.PeerQPN, e.Window, e.PathMTU)
	if h.hold {
		return a.holdGroup(ctx, g)
	}
	return a.runPlan(ctx, g, plan, h.jsonFile)
}

// holdGroup waits for the group's end, or ends it.
func (a *app) holdGroup(ctx context.Context, g *commlib.Group) error {
	select {
	case <-g.Ended():
		return errors.Join(g.Err(), g.Abort(ctx, ""))
	case <-ctx.Done():
		return errors.Join(ctx.Err(), g.Abort(ctx, "interrupted"))
	}
}

// runPlan runs collectives, prints the table and ends the group.
func (a *app) runPlan(ctx context.Context, g *commlib.Group, plan perf.Plan, jsonFile string) error {
	t := newTable("collective", "type", "bytes", "µs", "alg Mbit/s", "bus Mbit/s", "wrong")
	rows, wrong := []perf.Row{}, 0
	err := perf.Run(ctx, g, plan, func(r perf.Row) {
		rows, wrong = append(rows, r), wrong+r.Wrong
		t.AppendRow(table.Row{r.Collective, strings.TrimSpace(r.Type + " " + r.Op), r.Bytes, fmt.Sprintf("%.0f", r.Microsec), fmt.Sprintf("%.1f", r.AlgMbps),
			fmt.Sprintf("%.1f", r.BusMbps), r.Wrong})
	})
	fmt.Fprintln(a.out, t.Render())
	if err != nil {
		return errors.Join(err, g.Abort(ctx, err.Error()))
	}
	if err := errors.Join(g.Destroy(ctx), writeJSON(jsonFile, rows)); err != nil {
		return err
	}
	if wrong > 0 {
		return errFailed
	}
	return nil
}
