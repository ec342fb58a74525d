// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"time"

	"incforge/control/manager"
	"incforge/control/placement"
	"incforge/control/rpc"
	"incforge/lab"
	"incforge/live"
	"incforge/live/groups"
)

// labManaged gives a lab's switches to agents, and these to a manager, all of them in this process and at sockets in the lab's folder.
func (a *app) labManaged(o *lab.Options) {
	t := o.Topology
	agentSocket := func(dir string, sw int) string { return "unix:" + filepath.Join(dir, "agent-"+t.Switches[sw].Name) }
	o.Agent = func(dir string, sw int) func(ctx context.Context, h *live.Hand) error {
		return a.agentBeside(t.Switches[sw].Name, t.Switches[sw].Manifest, &live.WantedAgent{Listen: agentSocket(dir, sw), Own: t.Own(sw), Shared: t.Switches[sw].Shared,
			Neighbours: t.Neighbours(sw)}, rpc.Files{})
	}
	o.Manager = func(ctx context.Context, dir string) error {
		agents := map[string]string{}
		for i := range t.Switches {
			agents[t.Switches[i].Name] = agentSocket(dir, i)
		}
		cfg := managerDefaults()
		cfg.Network, cfg.Now, cfg.Random, cfg.Log = labNetwork(t), time.Now, rand.Reader, a.log
		return a.runManager(ctx, cfg, agents, filepath.Join(dir, "manager.db"), "unix:"+lab.ManagerSocket(dir), t.Manager.Page, rpc.Files{})
	}
	for i := range t.Switches {
		t.Switches[i].Setup = groups.Managed(t.Switches[i].Manifest, t.Own(i))
	}
}

// managerDefaults are the times of a manager where nobody says.
func managerDefaults() manager.Config {
	return manager.Config{Lease: 15 * time.Second, Gather: 30 * time.Second, Call: time.Second, Patience: 3 * time.Second}
}

// labNetwork is a lab's network as a manager sees it.
func labNetwork(t *lab.Topology) *placement.Network {
	n := &placement.Network{HopRTT: t.Manager.HopRTT}
	for i := range t.Switches {
		n.Nodes = append(n.Nodes, placement.Node{Name: t.Switches[i].Name})
	}
	for i := range t.Hosts {
		n.Nodes = append(n.Nodes, placement.Node{Name: t.Hosts[i].Name, Host: true})
	}
	end := func(e lab.End) placement.End {
		if e.Host >= 0 {
			return placement.End{Node: len(t.Switches) + e.Host}
		}
		return placement.End{Node: e.Switch, Port: e.Port}
	}
	for i := range t.Links {
		l := &t.Links[i]
		mbps := t.Manager.Mbps
		if l.Shape.RateMbit > 0 {
			mbps = max(int(l.Shape.RateMbit), 1)
		}
		n.Links = append(n.Links, placement.Link{Ends: [2]placement.End{end(l.A), end(l.B)}, Mbps: mbps})
	}
	return n
}
