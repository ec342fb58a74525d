// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Groups that take turns have no slots where switches share some: any number of them is placed, at the roots that the fewest slots of others are asked of. Others cannot have what
// is set aside, and where nothing is shared such a group has slots of its own.
func TestInTurn(t *testing.T) {
	net, err := small(2, 2, 2, engine(8, 4, 256)).Network()
	require.NoError(t, err)
	for i := range net.Nodes {
		if n := &net.Nodes[i]; !n.Host && n.Name != "leaf1" {
			n.Shared, n.SetAside = 80, 90
		}
	}
	p, err := New(net)
	require.NoError(t, err)
	turn := func(group string, numbers ...int) Request {
		r := ask(group, Spatial{}, numbers...)
		r.Mbps, r.InTurn = 10_000, true
		return r
	}
	roots := map[string]int{}
	var trees []Tree
	for i := range 4 {
		tree, err := p.Place(turn(fmt.Sprint("t", i), 0, 2))
		require.NoError(t, err)
		roots[tree.Switches[0].Name]++
		trees = append(trees, tree)
		for _, sw := range tree.Switches {
			require.Equal(t, sw.Name != "leaf1", sw.InTurn)
			require.Equal(t, 8, sw.Slots)
		}
	}
	require.Equal(t, map[string]int{"spine0": 2, "spine1": 2}, roots)
	usage := map[string][]int{}
	for _, u := range p.Usage() {
		usage[u.Name] = []int{u.Slots, u.Free}
	}
	require.Equal(t, map[string][]int{"leaf0": {166, 166}, "leaf1": {256, 224}, "spine0": {166, 166}, "spine1": {166, 166}}, usage)

	late, err := New(net)
	require.NoError(t, err)
	for _, tree := range trees {
		require.NoError(t, late.Hold(tree))
	}
	require.Equal(t, p.nodes, late.nodes)
	late.Vacate("t0", "leaf0")
	late.Release("t1")
	require.Equal(t, 16, late.nodes[late.names["leaf0"]].engines[0].inTurn)
	for _, tree := range trees {
		late.Release(tree.Group)
	}
	fresh, err := New(net)
	require.NoError(t, err)
	require.Equal(t, fresh.Usage(), late.Usage())

	wide := turn("wide", 0, 1)
	wide.MTU, wide.Mbps, wide.Least = 64, 100_000, 100_000 // 512 packets
	_, err = p.Place(wide)
	require.ErrorContains(t, err, "leaf0, above h0, has 256 KiB in all, 512 KiB asked")
	wide.MTU = 256 // 128
	_, err = p.Place(wide)
	require.ErrorContains(t, err, "leaf0 shares 80 KiB, 128 KiB asked")
	for _, tree := range trees {
		p.Release(tree.Group)
	}
	wide.InTurn = false
	_, err = p.Place(wide)
	require.NoError(t, err)
	p.Release("wide")
	wide.Mbps, wide.Least, wide.MTU = 30_000, 30_000, 64 // 128 again
	_, err = p.Place(wide)
	require.NoError(t, err)
	wide.Group = "more"
	_, err = p.Place(wide)
	require.ErrorContains(t, err, "leaf0 has 38 KiB left, 128 KiB asked")

	less := *net
	less.Nodes = append([]Node{}, net.Nodes...)
	for i := range less.Nodes {
		less.Nodes[i].Shared, less.Nodes[i].SetAside = min(less.Nodes[i].Shared, 7), min(less.Nodes[i].SetAside, 7)
	}
	small, err := New(&less)
	require.NoError(t, err)
	require.ErrorContains(t, small.Hold(trees[0]), "it needs 8 slots in turn, spine")
	require.Equal(t, 256, small.Usage()[1].Free)
	less.Nodes[p.names["leaf0"]].Shared = 8
	_, err = New(&less)
	require.ErrorContains(t, err, "shares 8 slots and sets 7 aside for it")
}
