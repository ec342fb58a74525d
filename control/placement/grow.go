// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// branch is a node of a tree under construction.
type branch struct {
	node, dist int
	parent     int // index of the branch above, -1 at the root
	link, port int // the link to the parent, and the parent's port
	children   int
}

// grow makes the tree below a root that flood found. Every node is as near to the root as it can be; of the parents that this leaves it, a
// node takes one that is in the tree already and has a free endpoint. over is a switch that needs more endpoints than it has, -1 if
// there is none. Where several parents are possible, over may be reported although another choice would do; in a fat tree there is one.
func (s *search) grow(root, mbps, depth int) (tree []branch, over int) {
	k := s.log2N(mbps, depth)
	at := map[int]int{root: 0}
	all := []branch{{node: root, parent: -1, link: -1}}
	above := [][]arc{nil} // by branch: the arcs from the nodes above it, with their other ends in to
	for i := 0; i < len(all); i++ {
		from := all[i]
		for _, a := range s.p.arcs[from.node] {
			if !s.touched[a.to] || !s.p.downward(from.node, a.to) || s.room(a.link) < mbps {
				continue
			}
			host := s.p.net.Nodes[a.to].Host
			if !host && !s.usable(a.to, k) {
				continue
			}
			j, seen := at[a.to]
			if !seen {
				j = len(all)
				at[a.to] = j
				all = append(all, branch{node: a.to, dist: from.dist + 1, parent: -1})
				above = append(above, nil)
			}
			if all[j].dist == from.dist+1 {
				above[j] = append(above[j], arc{a.link, i, a.port})
			}
		}
	}
	return s.join(all, above, at)
}

// join chooses the parents, from the members up, and keeps what is needed.
func (s *search) join(all []branch, above [][]arc, at map[int]int) ([]branch, int) {
	needed := make([]bool, len(all))
	needed[0] = true
	for _, m := range s.members {
		needed[at[m]] = true
	}
	over := -1
	for i := len(all) - 1; i > 0; i-- { // farther ones come later in the list
		if !needed[i] {
			continue
		}
		best := slices.MinFunc(above[i], func(a, b arc) int {
			return cmp.Or(cmp.Compare(s.cost(&all[a.to], needed[a.to]), s.cost(&all[b.to], needed[b.to])), cmp.Compare(a.to, b.to), cmp.Compare(a.link, b.link))
		})
		all[i].parent, all[i].link, all[i].port = best.to, best.link, best.port
		needed[best.to] = true
		up := &all[best.to]
		if up.children++; up.children > s.p.net.Nodes[up.node].Engine.Members {
			over = up.node
		}
	}
	index := make([]int, len(all))
	var kept []branch
	for i, b := range all {
		if needed[i] {
			index[i] = len(kept)
			if i > 0 {
				b.parent = index[b.parent]
			}
			kept = append(kept, b)
		}
	}
	return kept, over
}

// cost orders the possible parents of a node: first one in the tree with an endpoint left, then another switch, last a full one.
func (s *search) cost(b *branch, needed bool) int {
	switch {
	case b.children >= s.p.net.Nodes[b.node].Engine.Members:
		return 2
	case needed:
		return 0
	}
	return 1
}

// tree is a candidate as a Tree. Its slots have no base yet.
func (s *search) tree(c Candidate) Tree {
	s.flood(c.Mbps, c.Depth)
	branches, _ := s.grow(c.root, c.Mbps, c.Depth)
	t := Tree{Group: s.r.Group, Policy: s.r.Policy.String(), Members: slices.Clone(s.r.Members), Depth: c.Depth, Mbps: c.Mbps, Window: 1 << c.Log2N / 2,
		Log2N: c.Log2N, MTU: s.r.MTU, Message: s.r.Message}
	rank := map[int]int{}
	for i, m := range s.members {
		rank[m] = i
	}
	index := make([]int, len(branches)) // in t.Switches
	for i, b := range branches {
		n := &s.p.net.Nodes[b.node]
		child := Child{Port: b.port, Switch: len(t.Switches), Rank: -1, link: b.link}
		if n.Host {
			child.Switch, child.Rank = -1, rank[b.node]
		} else {
			index[i] = len(t.Switches)
			sw := Switch{Name: n.Name, Parent: -1, Slots: s.slots(n.Engine, c.Log2N), InTurn: s.inTurn(b.node), node: b.node, link: b.link}
			if i > 0 {
				sw.Parent, sw.Port = index[b.parent], s.portOf(b.link, b.node)
			}
			t.Switches = append(t.Switches, sw)
		}
		if i > 0 {
			up := &t.Switches[index[b.parent]]
			up.Children = append(up.Children, child)
		}
	}
	return t
}

// portOf is a node's port at a link.
func (s *search) portOf(link, node int) int {
	for _, e := range s.p.net.Links[link].Ends {
		if e.Node == node {
			return e.Port
		}
	}
	return -1
}
