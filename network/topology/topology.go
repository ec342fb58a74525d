// SPDX-License-Identifier: Apache-2.0

// Package topology describes trees of switches with hosts as leaves: who is above and below whom, by which endpoint, and in which
// order they are numbered. All that simulates or explores a network of switches takes its numbers from here.
//
// Nodes are numbered level by level from the root, which is 0, those of a level from left to right. Switches among themselves and hosts
// among themselves are numbered in the same order; a host's number is its rank. Endpoint i of a switch leads to its i-th child, the
// endpoint after the last child's to its parent.
package topology

import (
	"fmt"
	"strconv"
	"strings"
)

// Node is a switch or a host.
type Node struct {
	// Parent is the switch above, by its node number; -1 at the root. Slot is the parent's endpoint that leads here.
	Parent, Slot int
	// Children are the nodes below, by endpoint.
	Children []int
	// Switch is the number among the switches, -1 for a host. Rank is the number among the hosts, -1 for a switch.
	Switch, Rank int
}

// Topology is a tree. Make it with Parse or Tree.Topology.
type Topology struct {
	name string
	// Nodes are all switches and hosts. Switches and Hosts are their node numbers, by switch number and by rank.
	Nodes           []Node
	Switches, Hosts []int
}

// maxRanks bounds trees to what a simulation can do anything with.
const maxRanks = 1 << 12

// Tree is the paper's Tree-x-y: Levels counts the hosts, every switch has Degree children, there are Degree^(Levels-1) ranks.
type Tree struct {
	// Levels is at least 2, Degree at least 2.
	Levels, Degree int
}

// ParseTree reads "3-2", "tree-3-2" or "Tree-3-2".
func ParseTree(s string) (Tree, error) {
	x, y, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(s, "Tree-"), "tree-"), "-")
	levels, err := strconv.Atoi(x)
	degree, err2 := strconv.Atoi(y)
	if !ok || err != nil || err2 != nil {
		return Tree{}, fmt.Errorf("tree %q: must be LEVELS-DEGREE, such as 3-2", s)
	}
	t := Tree{levels, degree}
	return t, t.Validate()
}

// String is the paper's name of it.
func (t Tree) String() string { return fmt.Sprintf("Tree-%d-%d", t.Levels, t.Degree) }

// Validate reports a shape that is none, or far too large.
func (t Tree) Validate() error {
	if t.Levels < 2 || t.Degree < 2 {
		return fmt.Errorf("%s: it takes at least 2 levels, the hosts among them, and degree 2", t)
	}
	if t.Ranks() > maxRanks {
		return fmt.Errorf("%s: more than %d ranks", t, maxRanks)
	}
	return nil
}

// Ranks is the number of hosts; of a tree that is too large some number that is too large.
func (t Tree) Ranks() int {
	n := 1
	for i := 1; i < t.Levels && n <= maxRanks; i++ {
		n *= t.Degree
	}
	return n
}

// Switches is the number of switches.
func (t Tree) Switches() int { return (t.Ranks() - 1) / (t.Degree - 1) }

// Topology is the tree with its nodes. The shape must be valid.
func (t Tree) Topology() *Topology {
	return build(t.String(), func(_, depth int) (switches, hosts int) {
		if depth == t.Levels-2 {
			return 0, t.Degree
		}
		return t.Degree, 0
	})
}

// Parse reads a Tree as ParseTree does; star-S, which is one switch with S hosts; or chain-S, which is two switches, the second being the
// root's first child, with S hosts each.
func Parse(s string) (*Topology, error) {
	shape, count, _ := strings.Cut(s, "-")
	hosts, err := strconv.Atoi(count)
	below := map[string]func(number, depth int) (switches, hosts int){
		"star":  func(int, int) (int, int) { return 0, hosts },
		"chain": func(number, _ int) (int, int) { return 1 - number, hosts },
	}[shape]
	switch {
	case below == nil:
		t, err := ParseTree(s)
		if err != nil {
			return nil, fmt.Errorf("%w; other shapes are star-HOSTS and chain-HOSTS", err)
		}
		return t.Topology(), nil
	case err != nil || hosts < 1 || hosts > maxRanks:
		return nil, fmt.Errorf("%q: must be %s-HOSTS, 1 to %d of them", s, shape, maxRanks)
	}
	return build(fmt.Sprintf("%s-%d", shape, hosts), below), nil
}

// build makes a tree. below gives how many switches, and how many hosts after them, are below a switch, by its number and by its distance
// from the root.
func build(name string, below func(number, depth int) (switches, hosts int)) *Topology {
	t := &Topology{name: name, Nodes: []Node{{Parent: -1, Rank: -1}}, Switches: []int{0}}
	depth := []int{0}
	for s := 0; s < len(t.Switches); s++ { // which grows meanwhile
		at := t.Switches[s]
		switches, hosts := below(s, depth[s])
		for slot := range switches + hosts {
			n := Node{Parent: at, Slot: slot, Switch: -1, Rank: -1}
			id := len(t.Nodes)
			if slot >= switches {
				n.Rank = len(t.Hosts)
				t.Hosts = append(t.Hosts, id)
			} else {
				n.Switch = len(t.Switches)
				t.Switches, depth = append(t.Switches, id), append(depth, depth[s]+1)
			}
			t.Nodes = append(t.Nodes, n)
			t.Nodes[at].Children = append(t.Nodes[at].Children, id)
		}
	}
	return t
}

// String is the topology's name, which Parse reads.
func (t *Topology) String() string { return t.name }

// Ranks is the number of hosts.
func (t *Topology) Ranks() int { return len(t.Hosts) }

// Name is a node's name: s0, s1, … for switches, h0, h1, … for hosts.
func (t *Topology) Name(n int) string {
	if r := t.Nodes[n].Rank; r >= 0 {
		return fmt.Sprintf("h%d", r)
	}
	return fmt.Sprintf("s%d", t.Nodes[n].Switch)
}

// Neighbour is the node that endpoint e of node n, a switch, leads to; -1 above the root.
func (t *Topology) Neighbour(n, e int) int {
	if e < len(t.Nodes[n].Children) {
		return t.Nodes[n].Children[e]
	}
	return t.Nodes[n].Parent
}

// node is switch s.
func (t *Topology) node(s int) *Node { return &t.Nodes[t.Switches[s]] }

// Degree is the number of children of switch s, and the number of its endpoint that leads up.
func (t *Topology) Degree(s int) int { return len(t.node(s).Children) }

// Toward is the endpoint of switch s on the way to a rank.
func (t *Topology) Toward(s, rank int) int {
	at := t.Hosts[rank]
	for at > t.Switches[s] { // parents have lower numbers
		n := &t.Nodes[at]
		if n.Parent == t.Switches[s] {
			return n.Slot
		}
		at = n.Parent
	}
	return t.Degree(s)
}

// ChildMask is the endpoints of switch s downwards, a bit each. This and the masks below are for switches of at most 31 children.
func (t *Topology) ChildMask(s int) uint32 { return 1<<t.Degree(s) - 1 }

// EdgeMask is all endpoints of switch s, a bit each.
func (t *Topology) EdgeMask(s int) uint32 {
	if s == 0 {
		return t.ChildMask(s)
	}
	return t.ChildMask(s) | 1<<t.Degree(s)
}

// HostMask is the endpoints of switch s that lead to hosts, a bit each.
func (t *Topology) HostMask(s int) (mask uint32) {
	for e, c := range t.node(s).Children {
		if t.Nodes[c].Rank >= 0 {
			mask |= 1 << e
		}
	}
	return mask
}
