// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"time"

	"incforge/contract"
)

// Clos is the shape of a folded Clos network of any number of levels: Down[i] is how many nodes are below a switch of level i+1, hosts below
// level 1, and Up[i] how many switches of the next level are above it; the highest level has no Up. Switches of a pod that have the same
// place in it are joined to the same switches above, as in a fat tree; so a switch of the top has one way down to every host.
type Clos struct {
	Down, Up []int
	// Engine is in every switch. Mbps is the rate of all links. HopRTT is as in Network.
	Engine *contract.Params
	Mbps   int
	HopRTT time.Duration
}

// LeafSpine is two levels: leaves with hosts below them, each leaf joined to every spine.
func LeafSpine(leaves, spines, hosts int) Clos {
	return Clos{Down: []int{hosts, leaves}, Up: []int{spines}}
}

// FatTree is the three-level fat tree of switches with k ports, k even: k³/4 hosts.
func FatTree(k int) Clos { return Clos{Down: []int{k / 2, k / 2, k}, Up: []int{k / 2, k / 2}} }

// mostNodes bounds what a shape of a few numbers can ask for.
const mostNodes = 1 << 20

// Hosts is the number of hosts.
func (c Clos) Hosts() int {
	n := 1
	for _, d := range c.Down {
		n *= d
	}
	return n
}

// nodes is how many nodes it has, or some number above mostNodes.
func (c Clos) nodes() int {
	hosts := 1
	for _, d := range c.Down {
		if hosts *= d; hosts > mostNodes {
			return hosts
		}
	}
	all, pods, width := hosts, hosts, 1
	for i, d := range c.Down {
		pods /= d
		if i > 0 {
			width *= c.Up[i-1]
		}
		if all += pods * width; all > mostNodes {
			break
		}
	}
	return all
}

// Network makes it. Hosts are h0, h1, …; switches are leaf0, …, spine0, …, core0, … and l4-0, … above.
func (c Clos) Network() (*Network, error) {
	levels := len(c.Down)
	if levels < 1 || len(c.Up) != levels-1 {
		return nil, fmt.Errorf("a Clos network of %d levels has %d numbers of switches above: %d are needed", levels, len(c.Up), levels-1)
	}
	for _, n := range append(append([]int{}, c.Down...), c.Up...) {
		if n < 1 {
			return nil, fmt.Errorf("a Clos network with %d down and %d up: numbers must be at least 1", c.Down, c.Up)
		}
	}
	if c.nodes() > mostNodes {
		return nil, fmt.Errorf("a Clos network with %d down and %d up has more than %d nodes", c.Down, c.Up, mostNodes)
	}
	net := &Network{Levels: true, HopRTT: c.HopRTT}
	var below []int // first the hosts, then the switches of the level that was made last, pod by pod
	for h := range c.Hosts() {
		below = append(below, h)
		net.Nodes = append(net.Nodes, Node{Name: fmt.Sprintf("h%d", h), Host: true})
	}
	// A pod of a level is all that its switches reach: width switches side by side, each joined to every lower pod.
	width := 1 // switches of a pod
	for level := 1; level <= levels; level++ {
		if level > 1 {
			width *= c.Up[level-2]
		}
		below = c.level(net, level, width, below)
	}
	return net, net.Validate()
}

// level adds the switches of a level and joins them to what is below.
func (c Clos) level(net *Network, level, width int, below []int) []int {
	var made []int
	down := c.Down[level-1]
	ups := 1
	if level > 1 {
		ups = c.Up[level-2]
	}
	lower := width / ups // switches of a pod below
	for pod := range len(below) / (down * lower) {
		for s := range width {
			id := len(net.Nodes)
			made = append(made, id)
			net.Nodes = append(net.Nodes, Node{Name: levelName(level, pod*width+s), Level: level, Engine: c.Engine})
			for d := range down {
				under := below[(pod*down+d)*lower+s/ups]
				port := 0
				if level > 1 {
					port = c.Down[level-2] + s%ups
				}
				net.Links = append(net.Links, Link{Ends: [2]End{{id, d}, {under, port}}, Mbps: c.Mbps})
			}
		}
	}
	return made
}

func levelName(level, i int) string {
	if level <= 3 {
		return fmt.Sprintf("%s%d", []string{"leaf", "spine", "core"}[level-1], i)
	}
	return fmt.Sprintf("l%d-%d", level, i)
}
