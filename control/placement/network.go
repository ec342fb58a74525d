// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"time"

	"incforge/contract"
)

// Node is a switch or a host.
type Node struct {
	// Name is unique in the network.
	Name string
	Host bool
	// Level of a switch, from 1 beside the hosts upwards, if the network has levels.
	Level int
	// Engine are the parameters of the switch's engine, which say how many of them it has; nil if it has none.
	Engine *contract.Params
	// Shared is how many slots groups that take turns have in turn there, SetAside how many of the buffer no group has for as long as it lives; with several engines
	// in each of them. 0: such groups have slots of their own, as others have.
	Shared, SetAside int
}

// End is one end of a link: a node by its number, and the port there.
type End struct{ Node, Port int }

// Link joins two switches, or a switch and a host.
type Link struct {
	Ends [2]End
	// Mbps is its rate in either direction.
	Mbps int
}

// Network is what there is, whether in use or not.
type Network struct {
	Nodes []Node
	Links []Link
	// Levels: trees go down from level to level, as routes in a Clos network do. Otherwise they take any way.
	Levels bool
	// HopRTT is the round trip over one link and the switch at its end, queues not counted.
	HopRTT time.Duration
}

// mostDepth bounds trees in a network without levels.
const mostDepth = 16

// Validate reports everything that makes it no network.
func (n *Network) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if n.HopRTT <= 0 {
		bad("the round trip of a hop is %v: it must be more than 0", n.HopRTT)
	}
	names := map[string]bool{}
	for i, node := range n.Nodes {
		switch {
		case node.Name == "":
			bad("node %d has no name", i)
		case names[node.Name]:
			bad("there are two nodes %s", node.Name)
		case node.Host && node.Engine != nil:
			bad("host %s has an engine", node.Name)
		case n.Levels && !node.Host && node.Level < 1:
			bad("switch %s is on level %d: levels count from 1", node.Name, node.Level)
		case node.Shared < 0 || node.SetAside < node.Shared || node.SetAside > 0 && (node.Engine == nil || node.SetAside > node.Engine.Slots()):
			bad("switch %s shares %d slots and sets %d aside for it", node.Name, node.Shared, node.SetAside)
		}
		names[node.Name] = true
	}
	ports := map[End]bool{}
	for i, l := range n.Links {
		ok := true
		for _, e := range l.Ends {
			if e.Node < 0 || e.Node >= len(n.Nodes) {
				bad("link %d ends at node %d, there are %d", i, e.Node, len(n.Nodes))
				ok = false
			}
		}
		if !ok {
			continue
		}
		a, b := n.Nodes[l.Ends[0].Node], n.Nodes[l.Ends[1].Node]
		switch {
		case l.Ends[0].Node == l.Ends[1].Node:
			bad("a link joins %s to itself", a.Name)
		case a.Host && b.Host:
			bad("a link joins two hosts, %s and %s", a.Name, b.Name)
		case n.Levels && !a.Host && !b.Host && a.Level == b.Level:
			bad("a link joins %s and %s, which are both on level %d", a.Name, b.Name, a.Level)
		case l.Mbps < 1:
			bad("the link %s–%s has a rate of %d Mbit/s", a.Name, b.Name, l.Mbps)
		}
		for _, e := range l.Ends {
			if at := n.Nodes[e.Node]; ports[e] && !at.Host {
				bad("two links are at port %d of %s", e.Port, at.Name)
			} else if p := at.Engine; e.Port < 0 || p != nil && e.Port >= p.Ports {
				bad("the link %s–%s is at port %d of %s, which there is not", a.Name, b.Name, e.Port, at.Name)
			}
			ports[e] = true
		}
	}
	return errors.Join(errs...)
}

// Find is the number of the node with that name.
func (n *Network) Find(name string) (int, bool) {
	for i := range n.Nodes {
		if n.Nodes[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// LinkName names a link by its ends.
func (n *Network) LinkName(l int) string {
	e := n.Links[l].Ends
	return n.Nodes[e[0].Node].Name + "–" + n.Nodes[e[1].Node].Name
}

// depths is the greatest depth that a tree can have.
func (n *Network) depths() int {
	if !n.Levels {
		return min(mostDepth, len(n.Nodes))
	}
	top := 0
	for _, node := range n.Nodes {
		top = max(top, node.Level)
	}
	return top
}
