// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	pb "incforge/control/agentpb"
	"incforge/control/placement"
)

// portsPrefix begins the store's records of who is at a switch's ports.
const portsPrefix = "ports/"

// network is what the placer knows, with the links that agents have reported; before there is one, the topology file's. Called with mu held.
func (m *Manager) network() *placement.Network {
	if m.placer == nil {
		return m.cfg.Network
	}
	return m.placer.Network()
}

// meet keeps what a switch says of its neighbours, for the time when it cannot be asked. Called with mu held.
func (m *Manager) meet(s *node, ports []*pb.Port) error {
	if m.cfg.ReportedMbps == 0 {
		return nil
	}
	neighbours := map[int]string{}
	for _, p := range ports {
		if p.Neighbour != "" {
			neighbours[int(p.Port)] = p.Neighbour
		}
	}
	if maps.Equal(neighbours, s.neighbours) {
		return nil
	}
	text, err := json.Marshal(neighbours)
	if err == nil {
		err = m.cfg.Store.Put(portsPrefix+s.name, text)
	}
	if err != nil {
		return fmt.Errorf("neighbours of %s: %w", s.name, err)
	}
	s.neighbours, m.stale = neighbours, true
	return nil
}

// reported are the links that the agents report and the topology file does not have. Of a link between switches both ends must have been reported; where
// several join the same two, they are paired in the order of their ports. Called with mu held.
func (m *Manager) reported() (links []placement.Link) {
	if m.cfg.ReportedMbps == 0 {
		return nil
	}
	net := m.cfg.Network
	known := map[placement.End]bool{}
	for _, l := range net.Links {
		known[l.Ends[0]], known[l.Ends[1]] = true, true
	}
	toward := func(from, to int) (ports []int) {
		s := m.switches[net.Nodes[from].Name]
		if s == nil {
			return nil
		}
		for _, port := range slices.Sorted(maps.Keys(s.neighbours)) {
			there := s.neighbours[port] == net.Nodes[to].Name && !known[placement.End{Node: from, Port: port}]
			if there && (s.engine == nil || port < s.engine.Ports) {
				ports = append(ports, port)
			}
		}
		return ports
	}
	for a, from := range net.Nodes {
		for b, to := range net.Nodes {
			if from.Host || a == b || !to.Host && (b < a || net.Levels && from.Level == to.Level) {
				continue
			}
			near, far := toward(a, b), []int{0}
			if !to.Host {
				far = toward(b, a)
			}
			for i := range min(len(near), len(far)) {
				links = append(links, placement.Link{Ends: [2]placement.End{{Node: a, Port: near[i]}, {Node: b, Port: far[i]}}, Mbps: m.cfg.ReportedMbps})
			}
		}
	}
	return links
}
