// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"incforge/control/agentpb"
	"incforge/control/manager"
	"incforge/control/managerpb"
	"incforge/control/rpc"
	"incforge/control/store"
)

const managerAddress = "127.0.0.1:7470"

func (a *app) manager() *cobra.Command {
	var (
		files              rpc.Files
		cfg                = managerDefaults()
		listen, file, page string
	)
	cmd := &cobra.Command{Use: "manager TOPOLOGY", Short: "Place groups in a cluster and have the switches' agents install them",
		Long: `Place groups in a cluster and have the switches' agents install them, see docs/control.md. TOPOLOGY is a YAML file of switches, hosts and
links. What was decided is kept in --store: a manager that starts again finishes it. Groups that are installed go on without a manager, but nobody
sees then what fails. Runs until SIGINT or SIGTERM.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			c, err := manager.ReadCluster(args[0])
			if err != nil {
				return usageError{err}
			}
			if cfg.Lease <= 2*cfg.Call || cfg.Patience <= cfg.Call || cfg.Gather <= 0 || cfg.Call <= 0 {
				return usagef("--lease must be more than twice --call, --patience more than --call, and --gather more than 0")
			}
			cfg.Network, cfg.ReportedMbps, cfg.Now, cfg.Random, cfg.Log = c.Network, c.ReportedMbps, time.Now, rand.Reader, a.log
			return a.runManager(cmd.Context(), cfg, c.Agents, file, listen, page, files)
		}}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", managerAddress, "HOST:PORT to serve at")
	f.StringVar(&page, "page", "", "HOST:PORT on loopback for a page with the state of the cluster")
	f.StringVar(&file, "store", "manager.db", "file that keeps what was decided")
	f.DurationVar(&cfg.Lease, "lease", cfg.Lease, "how long switches keep what is reserved and not decided, and a turn that nobody prolongs")
	f.DurationVar(&cfg.Gather, "gather", cfg.Gather, "how long the members of a group may take to make their queue pairs")
	f.DurationVar(&cfg.Call, "call", cfg.Call, "longest time for a call to an agent")
	f.DurationVar(&cfg.Patience, "patience", cfg.Patience, "how long a switch or a member may be silent before its groups are ended")
	f.IntVar(&cfg.Groups, "groups", 0, "how many groups a tenant may have; 0 is any number")
	bindFiles(cmd, &files)
	return cmd
}

// pollPeriod is the time between two looks at the switches.
const pollPeriod = 500 * time.Millisecond

// runManager serves until ctx ends.
func (a *app) runManager(ctx context.Context, cfg manager.Config, agents map[string]string, file, listen, page string, files rpc.Files) (err error) {
	if cfg.Store, err = store.Open(file); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cfg.Store.Close()) }()
	cfg.Agents = map[string]agentpb.AgentClient{}
	for _, name := range sortedKeys(agents) {
		conn, dialErr := rpc.Dial(agents[name], rpc.Agent, files)
		if dialErr != nil {
			return usageError{fmt.Errorf("switch %s: %w", name, dialErr)}
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		cfg.Agents[name] = agentpb.NewAgentClient(conn)
	}
	m, err := manager.New(cfg)
	if err != nil {
		return err
	}
	server, err := rpc.Server(files, rpc.Tenant, rpc.Operator)
	if err != nil {
		return usageError{err}
	}
	managerpb.RegisterManagerServer(server, m)
	polling, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(polling, pollPeriod)
	}()
	defer func() { stop(); <-done }()
	if page != "" {
		closePage, err := a.servePage(m, page)
		if err != nil {
			return err
		}
		defer closePage()
	}
	return a.serve(ctx, server, listen, files, "manager")
}

// servePage serves the page of the cluster's state on loopback.
func (a *app) servePage(m *manager.Manager, address string) (stop func(), err error) {
	l, err := rpc.Listen(address, rpc.Files{}) // which takes loopback alone
	if err != nil {
		return nil, usageError{fmt.Errorf("--page: %w", err)}
	}
	server := &http.Server{Handler: m.Page(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.log.Errorf("manager: page: %v", err)
		}
	}()
	a.log.Infof("manager: page at http://%v", l.Addr())
	return func() { _ = server.Close() }, nil // nobody is owed the rest of a page
}

func (a *app) clusterStatus() *cobra.Command {
	var (
		files            rpc.Files
		address, ofAgent string
		jsonFile         string
	)
	cmd := &cobra.Command{Use: "status", Short: "Ask a manager for its groups, switches and latest events, or an agent for its engine", Args: cobra.NoArgs,
		Long: `Ask a manager for its groups, switches and latest events. A tenant sees its own groups. With --agent, ask a switch's agent instead: for its
ports, the groups that its engine holds, what is free, and the engine's counters that are not 0.`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			at, role := address, rpc.Manager
			if ofAgent != "" {
				at, role = ofAgent, rpc.Agent
			}
			conn, err := rpc.Dial(at, role, files)
			if err != nil {
				return usageError{err}
			}
			defer func() { err = errors.Join(err, conn.Close()) }()
			ctx, cancel := context.WithTimeout(cmd.Context(), 10*time.Second)
			defer cancel()
			if ofAgent != "" {
				return a.agentStatus(ctx, agentpb.NewAgentClient(conn), jsonFile)
			}
			s, err := managerpb.NewManagerClient(conn).Status(ctx, &managerpb.StatusRequest{})
			if err != nil {
				return fmt.Errorf("status of %s: %w", address, err)
			}
			a.printStatus(s)
			return writeJSON(jsonFile, s)
		}}
	cmd.Flags().StringVar(&address, "manager", managerAddress, "HOST:PORT of the manager")
	cmd.Flags().StringVar(&ofAgent, "agent", "", "HOST:PORT of an agent that is asked instead")
	bindFiles(cmd, &files)
	bindJSON(cmd, &jsonFile)
	return cmd
}

// agentStatus prints what an agent says of its engine.
func (a *app) agentStatus(ctx context.Context, c agentpb.AgentClient, jsonFile string) error {
	d, err := c.Describe(ctx, &agentpb.DescribeRequest{})
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	l, err := c.List(ctx, &agentpb.ListRequest{})
	if err != nil {
		return fmt.Errorf("agent %s: %w", d.Name, err)
	}
	counters, err := c.Counters(ctx, &agentpb.CountersRequest{})
	if err != nil {
		return fmt.Errorf("agent %s: %w", d.Name, err)
	}
	fmt.Fprintf(a.out, "%s: engine %s, %d slots, %d groups and %d queue pair numbers free\n", d.Name, d.Digest, l.FreeSlots, l.FreeRecords, l.FreeQpns)
	t := newTable("port", "neighbour", "")
	for _, p := range d.Ports {
		t.AppendRow(table.Row{p.Port, p.Neighbour, map[bool]string{true: "down"}[p.Down]})
	}
	fmt.Fprintln(a.out, t.Render())
	t = newTable("record", "group", "engine", "state", "slots", "from", "trouble")
	for _, g := range l.Groups {
		t.AppendRow(table.Row{g.Record, g.Group, g.Engine, strings.ToLower(strings.TrimPrefix(g.State.String(), "STATE_")), g.Slots,
			map[bool]any{false: g.Base, true: "in turn"}[g.InTurn], g.Trouble})
	}
	fmt.Fprintln(a.out, t.Render())
	t = newTable("turn of", "engine", "slots", "from", "lease")
	for _, turn := range l.Turns {
		t.AppendRow(table.Row{turn.Group, turn.Engine, turn.Slots, turn.Base, time.Duration(turn.LeaseMs) * time.Millisecond})
	}
	fmt.Fprintln(a.out, t.Render())
	t = newTable("trouble", "at", "times")
	for _, what := range l.Troubles {
		at := fmt.Sprintf("engine %d", what.GetEngine())
		if what.Port != nil {
			at = fmt.Sprintf("port %d", *what.Port)
		}
		t.AppendRow(table.Row{what.Cause, at, what.Times})
	}
	if len(l.Troubles) > 0 {
		fmt.Fprintln(a.out, t.Render())
	}
	t = newTable("counter", "")
	for _, n := range counters.Counters {
		if n.Count > 0 {
			t.AppendRow(table.Row{n.Name, n.Count})
		}
	}
	fmt.Fprintln(a.out, t.Render())
	return writeJSON(jsonFile, map[string]any{"agent": d, "holds": l, "counters": counters.Counters})
}

func (a *app) printStatus(s *managerpb.StatusResponse) {
	t := newTable("group", "state", "Mbit/s", "members", "tree", "slots a switch", "reason")
	for _, g := range s.Groups {
		t.AppendRow(table.Row{g.Group, g.State, g.Mbps, strings.Join(g.Members, " "), g.Tree, manager.SlotsOf(g), g.Reason})
	}
	fmt.Fprintln(a.out, t.Render())
	if len(s.Switches) > 0 {
		t = newTable("switch", "slots free", "of", "memory free", "groups", "of", "queue pair numbers left", "trouble")
		for _, w := range s.Switches {
			t.AppendRow(table.Row{w.Name, w.Free, w.Slots, manager.MemoryOf(w, w.Free), w.Groups, w.Records, w.Qpns, w.Trouble})
			for i, e := range w.Engines {
				t.AppendRow(table.Row{fmt.Sprintf("  engine %d", i), e.Free, "", "", e.Groups, "", "", ""})
			}
		}
		fmt.Fprintln(a.out, t.Render())
	}
	for _, e := range s.Events[max(0, len(s.Events)-20):] {
		fmt.Fprintln(a.out, e)
	}
}
