// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The switches of a tree have the numbers that a formula gives, and as many ranks as they should.
func TestTreeNumbers(t *testing.T) {
	for _, c := range []struct {
		text            string
		ranks, switches int
	}{{"2-4", 4, 1}, {"Tree-2-16", 16, 1}, {"3-2", 4, 3}, {"tree-4-2", 8, 7}, {"3-4", 16, 5}, {"5-3", 81, 40}} {
		shape, err := ParseTree(c.text)
		require.NoError(t, err)
		tree, err := Parse(c.text)
		require.NoError(t, err)
		assert.Equal(t, []int{c.ranks, c.switches}, []int{shape.Ranks(), shape.Switches()})
		assert.Equal(t, []int{c.ranks, c.switches, c.ranks + c.switches}, []int{tree.Ranks(), len(tree.Switches), len(tree.Nodes)})
		firstLeaf := c.switches - c.ranks/shape.Degree
		for s := range tree.Switches {
			assert.Equal(t, s >= firstLeaf, tree.HostMask(s) == tree.ChildMask(s))
			for e := range tree.Degree(s) {
				n := tree.Switches[s]
				want := Node{Parent: n, Slot: e, Switch: s*shape.Degree + 1 + e, Rank: -1}
				if s >= firstLeaf {
					want.Switch, want.Rank = -1, (s-firstLeaf)*shape.Degree+e
				}
				below := tree.Nodes[tree.Neighbour(n, e)]
				below.Children = nil
				assert.Equal(t, want, below)
			}
		}
	}
	for _, bad := range []string{"", "3", "3-x", "1-4", "3-1", "40-2", "2-100000", "a-2", "star", "star-0", "star-x", "chain--1", "chain-5000", "ring-3"} {
		_, err := Parse(bad)
		assert.Error(t, err, bad)
	}
}

func TestStarAndChain(t *testing.T) {
	star, err := Parse("star-3")
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff([]Node{{Parent: -1, Children: []int{1, 2, 3}, Rank: -1},
		{Slot: 0, Switch: -1, Rank: 0}, {Slot: 1, Switch: -1, Rank: 1}, {Slot: 2, Switch: -1, Rank: 2}}, star.Nodes))

	chain, err := Parse("chain-2")
	require.NoError(t, err)
	assert.Equal(t, "chain-2", chain.String())
	assert.Empty(t, cmp.Diff([]Node{{Parent: -1, Children: []int{1, 2, 3}, Rank: -1},
		{Slot: 0, Children: []int{4, 5}, Switch: 1, Rank: -1}, {Slot: 1, Switch: -1, Rank: 0}, {Slot: 2, Switch: -1, Rank: 1},
		{Parent: 1, Slot: 0, Switch: -1, Rank: 2}, {Parent: 1, Slot: 1, Switch: -1, Rank: 3}}, chain.Nodes))
	assert.Equal(t, []uint32{0b110, 0b111, 0b111}, []uint32{chain.HostMask(0), chain.ChildMask(0), chain.EdgeMask(0)})
	assert.Equal(t, []uint32{0b11, 0b11, 0b111}, []uint32{chain.HostMask(1), chain.ChildMask(1), chain.EdgeMask(1)})
	assert.Equal(t, []string{"s0", "s1", "h0", "h1", "h2", "h3"}, names(chain))
	assert.Equal(t, []int{1, 2, 3, -1}, []int{chain.Neighbour(0, 0), chain.Neighbour(0, 1), chain.Neighbour(0, 2), chain.Neighbour(0, 3)})
	assert.Equal(t, 0, chain.Neighbour(1, 2))
}

func names(t *Topology) (all []string) {
	for n := range t.Nodes {
		all = append(all, t.Name(n))
	}
	return all
}

// Whoever follows the endpoints from any switch arrives at the rank.
func TestToward(t *testing.T) {
	for _, name := range []string{"2-5", "3-2", "3-3", "4-2", "star-4", "chain-3"} {
		tree, err := Parse(name)
		require.NoError(t, err)
		for s := range tree.Switches {
			for r := range tree.Ranks() {
				at, steps := s, 0
				for {
					e := tree.Toward(at, r)
					require.NotZero(t, tree.EdgeMask(at)>>e&1)
					if steps++; steps > 2*bits.Len(uint(len(tree.Nodes)))+2 {
						t.Fatalf("%s: no way from switch %d to rank %d", tree, s, r)
					}
					n := tree.Neighbour(tree.Switches[at], e)
					if tree.Nodes[n].Rank >= 0 {
						require.Equal(t, r, tree.Nodes[n].Rank)
						break
					}
					at = tree.Nodes[n].Switch
				}
			}
		}
	}
}
