// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
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
	After     []int   // the number of the automorphism that is first the one of this index, then this one
}

// Automorphisms are all of the tree that leave host fixed alone (-1: none is fixed) and exchange only hosts of the same kind; the
// first is the identity. Beyond limit of them only the identity is given: a set that is no group would be unsound.
func Automorphisms(t *topology.Topology, fixed, limit int, kind func(host int) int) []Automorphism {
	all := permutations(t, fixed, limit, kind)
	if len(all) > limit {
		all = all[:1]
	}
	out := make([]Automorphism, len(all))
	for i, to := range all {
		a := Automorphism{To: to, Lane: make([]int, len(t.Hosts)), Endpoints: make([][]int, len(t.Nodes))}
		for h, n := range t.Hosts {
			a.Lane[h] = t.Nodes[to[n]].Rank
		}
		for n := range t.Nodes {
			for _, c := range t.Nodes[n].Children {
				a.Endpoints[n] = append(a.Endpoints[n], t.Nodes[to[c]].Slot)
			}
			a.Endpoints[n] = append(a.Endpoints[n], len(t.Nodes[n].Children)) // the parent's
		}
		for _, first := range all {
			both := make([]int, len(to))
			for n := range both {
				both[n] = to[first[n]]
			}
			a.After = append(a.After, slices.IndexFunc(all, func(x []int) bool { return slices.Equal(x, both) }))
		}
		out[i] = a
	}
	return out
}

// permutations are the automorphisms as images of the nodes, the identity first. Beyond the limit it gives up.
func permutations(t *topology.Topology, fixed, limit int, kind func(host int) int) (all [][]int) {
	shapes := make([]string, len(t.Nodes))
	for n := range shapes {
		shapes[n] = shape(t, fixed, n, kind)
	}
	// Nodes are numbered level by level, so a node's parent has its image before it. Among nodes of one shape any choice can be completed.
	var extend func(to []int)
	extend = func(to []int) {
		if len(all) > limit {
			return
		}
		n := len(to)
		if n == len(t.Nodes) {
			all = append(all, slices.Clone(to))
			return
		}
		for _, c := range t.Nodes[to[t.Nodes[n].Parent]].Children {
			if shapes[c] == shapes[n] && !slices.Contains(to, c) {
				extend(append(to, c))
			}
		}
	}
	extend([]int{0})
	return all
}

// shape is what a subtree looks like. Children keep their order: equal shapes are then interchangeable one by one, which all our trees are
// made of.
func shape(t *topology.Topology, fixed, n int, kind func(host int) int) string {
	switch rank := t.Nodes[n].Rank; rank {
	case -1:
		s := "("
		for _, c := range t.Nodes[n].Children {
			s += shape(t, fixed, c, kind)
		}
		return s + ")"
	case fixed:
		return "r"
	default:
		return fmt.Sprintf("h%d", kind(rank))
	}
}
