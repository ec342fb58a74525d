// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"incforge/contract"
	"incforge/control/agent"
	"incforge/control/agentpb"
	"incforge/control/mmio"
	"incforge/control/rpc"
	"incforge/control/store"
	"incforge/live"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// bindFiles adds the flags for certificates.
func bindFiles(cmd *cobra.Command, f *rpc.Files) {
	cmd.Flags().StringVar(&f.CA, "ca", "", "PEM file of the authority of all certificates; without certificates only loopback is served")
	cmd.Flags().StringVar(&f.Cert, "cert", "", "PEM file of this program's certificate")
	cmd.Flags().StringVar(&f.Key, "key", "", "PEM file of its key")
}

func (a *app) agent() *cobra.Command {
	var (
		files                    rpc.Files
		name, listen, file, regs string
		ip, mac                  string
		neighbours               []string
		simulate                 bool
		shared                   int
		life                     time.Duration
	)
	cmd := &cobra.Command{Use: "agent DIR", Short: "Serve a switch's engine to a manager: its groups, slots and queue pair numbers",
		Long: `Serve a switch's engine to a manager, see docs/control.md. DIR is the folder in which the engine was generated, or its manifest.json.
The engine's registers are in --registers, a file that can be mapped (a PCIe device's resource, or a UIO device), or, with --simulate, in a reference
engine in this process, which has no ports and ends with it. Runs until SIGINT or SIGTERM; groups that are installed go on.`,
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) (err error) {
			cfg := agent.Config{Name: name, Shared: shared, Lifetime: life, Log: a.log}
			if cfg.Manifest, err = contract.Load(args[0]); err != nil {
				return usageError{err}
			}
			var errs [3]error
			cfg.IP, errs[0] = roce.ParseIP4(ip)
			cfg.MAC, errs[1] = roce.ParseMAC(mac)
			cfg.Neighbours, errs[2] = parseNeighbours(neighbours)
			if err := errors.Join(errs[:]...); err != nil {
				return usageError{err}
			}
			if simulate == (regs != "") {
				return usagef("one of --registers and --simulate is needed")
			}
			if regs != "" {
				bus, mapErr := mmio.Open(regs, mapBytes(cfg.Manifest))
				if mapErr != nil {
					return mapErr
				}
				defer func() { err = errors.Join(err, bus.Close()) }()
				cfg.Bus = bus
			} else if cfg.Bus, err = simulated(cfg.Manifest); err != nil {
				return err
			}
			return a.runAgent(cmd.Context(), cfg, file, listen, files)
		}}
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "the switch's name in the manager's file")
	f.StringVar(&listen, "listen", "127.0.0.1:7471", "HOST:PORT to serve at")
	f.StringVar(&file, "store", "agent.db", "file that keeps what must be known after a crash")
	f.StringVar(&regs, "registers", "", "file whose memory is the engine's registers")
	f.BoolVar(&simulate, "simulate", false, "use a reference engine in this process")
	f.StringVar(&ip, "ip", "", "the engine's IPv4 address")
	f.StringVar(&mac, "mac", "", "the MAC address of port 0; port N has the N-th after it")
	f.StringArrayVar(&neighbours, "neighbour", nil, "N=NAME: the node at the other end of port N; once per port")
	f.IntVar(&shared, "shared", 0, "slots that groups which take turns have in turn, of an engine with park the last of the buffer, and so many in each of several engines; 0: such a group has slots of its own")
	f.DurationVar(&life, "lifetime", lifetime, "longest time a packet can be under way; a queue pair number rests as long before it is used again")
	bindFiles(cmd, &files)
	for _, name := range []string{"name", "ip", "mac"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // a flag that is not there
		}
	}
	return cmd
}

// lifetime is how long a packet can be under way where nobody says.
const lifetime = 10 * time.Second

// agentBeside is the agent of an engine at sockets.
func (a *app) agentBeside(name string, m *contract.Manifest, w *live.WantedAgent, files rpc.Files) func(ctx context.Context, h *live.Hand) error {
	return func(ctx context.Context, h *live.Hand) error {
		return a.runAgent(ctx, agent.Config{Name: name, Manifest: m, Bus: h, Switch: h, IP: w.Own.IP, MAC: w.Own.MAC, Neighbours: w.Neighbours,
			Shared: w.Shared, Lifetime: lifetime, Log: a.log}, w.Store, w.Listen, files)
	}
}

// runAgent serves until ctx ends. An empty file is memory alone.
func (a *app) runAgent(ctx context.Context, cfg agent.Config, file, listen string, files rpc.Files) (err error) {
	var seed [4]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return fmt.Errorf("random number: %w", err)
	}
	cfg.Seed = binary.LittleEndian.Uint32(seed[:])
	if file == "" {
		cfg.Store = store.NewMemory()
	} else if cfg.Store, err = store.Open(file); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cfg.Store.Close()) }()
	served, err := agent.New(cfg)
	if err != nil {
		return err
	}
	server, err := rpc.Server(files, rpc.Manager, rpc.Operator)
	if err != nil {
		return usageError{err}
	}
	agentpb.RegisterAgentServer(server, served)
	return a.serve(ctx, server, listen, files, "agent "+cfg.Name)
}

// serve serves until ctx ends.
func (a *app) serve(ctx context.Context, server *grpc.Server, listen string, files rpc.Files, what string) error {
	l, err := rpc.Listen(listen, files)
	if err != nil {
		return usageError{err}
	}
	a.log.Infof("%s: ready at %v", what, l.Addr())
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	if err := server.Serve(l); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return ctx.Err()
}

// mapBytes is the size of a register map.
func mapBytes(m *contract.Manifest) int {
	size := 0
	for _, r := range m.Registers {
		size = max(size, int(r.At(r.Size()-1))+4)
	}
	return size
}

// simulated is a reference engine; the agent uses it by one call at a time.
func simulated(m *contract.Manifest) (ctrl.Bus, error) { return dut.NewReference(m) }

// parseNeighbours reads N=NAME.
func parseNeighbours(args []string) (map[int]string, error) {
	all := map[int]string{}
	for _, arg := range args {
		port, name, ok := strings.Cut(arg, "=")
		n, err := strconv.Atoi(port)
		if _, twice := all[n]; !ok || err != nil || n < 0 || name == "" || twice {
			return nil, fmt.Errorf("--neighbour %s: must be N=NAME, each port once", arg)
		}
		all[n] = name
	}
	return all, nil
}
