// SPDX-License-Identifier: Apache-2.0

package modelcheck

import "incforge/network/topology"

// automorphism is a permutation of the nodes that maps the tree to itself.
type automorphism struct {
	to        []int   // node
	lane      []int   // host number
	endpoints [][]int // endpoint of a switch to that of its image
}

// automorphisms are all of the tree that leave host fixed alone (-1: none is fixed); the first is the identity. Beyond limit of them
// only the identity is given: a set that is no group would be unsound.
func automorphisms(t *topology.Topology, fixed, limit int) []automorphism {
	var shape func(n int) string
	shape = func(n int) string {
		if h := t.Nodes[n].Rank; h >= 0 {
			if h == fixed {
				return "r"
			}
			return "h"
		}
		// Children keep their order: equal shapes are then interchangeable one by one, which all our trees are made of.
		s := "("
		for _, c := range t.Nodes[n].Children {
			s += shape(c)
		}
		return s + ")"
	}
	// maps gives all ways to map the subtree of a onto that of b.
	var maps func(a, b int) [][]int
	maps = func(a, b int) [][]int {
		base := make([]int, len(t.Nodes))
		for i := range base {
			base[i] = -1
		}
		base[a] = b
		all := [][]int{base}
		ca, cb := t.Nodes[a].Children, t.Nodes[b].Children
		var extend func(i int, used uint32, m []int)
		if len(ca) == 0 {
			return all
		}
		all = nil
		extend = func(i int, used uint32, m []int) {
			if len(all) > limit {
				return
			}
			if i == len(ca) {
				all = append(all, m)
				return
			}
			for j, y := range cb {
				if used>>j&1 != 0 || shape(ca[i]) != shape(y) {
					continue
				}
				for _, sub := range maps(ca[i], y) {
					joined := append([]int(nil), m...)
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
	all := maps(0, 0)
	if len(all) > limit {
		id := make([]int, len(t.Nodes))
		for i := range id {
			id[i] = i
		}
		all = [][]int{id}
	}
	var out []automorphism
	for _, m := range all {
		a := automorphism{to: m, lane: make([]int, len(t.Hosts)), endpoints: make([][]int, len(t.Nodes))}
		for h, n := range t.Hosts {
			a.lane[h] = t.Nodes[m[n]].Rank
		}
		for n := range t.Nodes {
			if t.Nodes[n].Rank >= 0 {
				continue
			}
			k := len(t.Nodes[n].Children)
			a.endpoints[n] = make([]int, k+1)
			for i, c := range t.Nodes[n].Children {
				a.endpoints[n][i] = t.Nodes[m[c]].Slot
			}
			a.endpoints[n][k] = k
		}
		out = append(out, a)
	}
	return out
}
