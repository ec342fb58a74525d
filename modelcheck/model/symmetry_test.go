// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/network/topology"
)

func TestAutomorphisms(t *testing.T) {
	for _, c := range []struct {
		tree         string
		fixed, count int
	}{{"3-2", -1, 8}, {"3-2", 3, 2}, {"star-4", -1, 24}, {"star-4", 3, 6}, {"chain-2", -1, 4}, {"4-2", -1, 128}, {"star-8", -1, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			topo, err := topology.Parse(c.tree)
			require.NoError(t, err)
			all := Automorphisms(topo, c.fixed, MaxAutomorphisms, func(int) int { return 0 })
			require.Len(t, all, c.count)
			seen := map[string]bool{}
			for _, a := range all {
				seen[fmt.Sprint(a.To)] = true
				for n := range topo.Nodes {
					if p := topo.Nodes[n].Parent; p >= 0 {
						assert.Equal(t, a.To[p], topo.Nodes[a.To[n]].Parent)
						assert.Equal(t, a.Endpoints[p][topo.Nodes[n].Slot], topo.Nodes[a.To[n]].Slot)
					}
				}
				if c.fixed >= 0 {
					assert.Equal(t, c.fixed, a.Lane[c.fixed])
				}
			}
			assert.Len(t, seen, c.count)
			for n := range topo.Nodes {
				assert.Equal(t, n, all[0].To[n], "the first is the identity")
			}
		})
	}
}
