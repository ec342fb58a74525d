// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"incforge/network/topology"
)

// MaxAutomorphisms is how many are used at most.
const MaxAutomorphisms = 1024

// Automorphism is a permutation of the nodes that maps the tree to itself.
type Automorphism struct {
	To        []int   // node
	Lane      []int   // host number
	Endpoints [][]int // endpoint of a switch to that of its image
}

// Automorphisms are all of the tree that leave host fixed alone (-1: none is fixed); the first is the identity. Beyond limit of them
// only the identity is given: a set that is no group would be unsound.
func Automorphisms(t *topology.Topology, fixed, limit int) []Automorphism {
	all := subtrees{t: t, fixed: fixed, limit: limit}.onto(0, 0)
	if len(all) > limit {
		id := make([]int, len(t.Nodes))
		for i := range id {
			id[i] = i
		}
		all = [][]int{id}
	}
	var out []Automorphism
	for _, m := range all {
		a := Automorphism{To: m, Lane: make([]int, len(t.Hosts)), Endpoints: make([][]int, len(t.Nodes))}
		for h, n := range t.Hosts {
			a.Lane[h] = t.Nodes[m[n]].Rank
		}
		for n := range t.Nodes {
			if t.Nodes[n].Rank >= 0 {
				continue
			}
			k := len(t.Nodes[n].Children)
			a.Endpoints[n] = make([]int, k+1)
			for i, c := range t.Nodes[n].Children {
				a.Endpoints[n][i] = t.Nodes[m[c]].Slot
			}
			a.Endpoints[n][k] = k
		}
		out = append(out, a)
	}
	return out
}

// subtrees maps parts of a tree onto each other.
type subtrees struct {
	t            *topology.Topology
	fixed, limit int
}

// shape is what a subtree looks like. Children keep their order: equal shapes are then interchangeable one by one, which all our trees are
// made of.
func (x subtrees) shape(n int) string {
	if h := x.t.Nodes[n].Rank; h >= 0 {
		if h == x.fixed {
			return "r"
		}
		return "h"
	}
	s := "("
	for _, c := range x.t.Nodes[n].Children {
		s += x.shape(c)
	}
	return s + ")"
}

// onto gives all ways to map the subtree of a onto that of b, by node; -1 stands for nodes outside. Beyond the limit it gives up.
func (x subtrees) onto(a, b int) [][]int {
	base := make([]int, len(x.t.Nodes))
	for i := range base {
		base[i] = -1
	}
	base[a] = b
	from, to := x.t.Nodes[a].Children, x.t.Nodes[b].Children
	if len(from) == 0 {
		return [][]int{base}
	}
	var all [][]int
	var extend func(i int, used uint32, m []int)
	extend = func(i int, used uint32, m []int) {
		if len(all) > x.limit {
			return
		}
		if i == len(from) {
			all = append(all, m)
			return
		}
		for j, y := range to {
			if used>>j&1 != 0 || x.shape(from[i]) != x.shape(y) {
				continue
			}
			for _, sub := range x.onto(from[i], y) {
				joined := slices.Clone(m)
				for k, v := range sub {
					if v >= 0 {
						joined[k] = v
					}
				}
				extend(i+1, used|1<<j, joined)
			}
		}
	}
	extend(0, 0, base)
	return all
}
