// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// others makes some switches of a tree of Mode I such of another mode.
func others(mode int, switches ...int) func(*Config) {
	return func(c *Config) {
		p := inMode(mode, c.Manifest.Params)
		p.MessageBytes, p.WindowMessages = 0, 0
		m := synthetic.Manifest(p)
		c.Others = map[int]*contract.Manifest{}
		for _, s := range switches {
			c.Others[s] = m
		}
		all := c.Switch
		c.Switch = func(s int) (dut.DUT, error) {
			if c.Others[s] != nil {
				return dut.NewReference(m)
			}
			return all(s)
		}
	}
}

// TestMixedTrees: switches of Modes I and III on one tree, whichever is above, over links that lose frames: messages of several packets and a shorter last
// one, every collective, exact. Hosts at a switch of Mode I have first PSNs of their own.
func TestMixedTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 11))
	for _, tc := range []struct {
		name  string
		piped []int
	}{{"the root is of Mode III", []int{0}}, {"the root is of Mode I", []int{1, 2}}, {"one leaf is of Mode III", []int{2}}, {"one leaf is of Mode I", []int{0, 1}}} {
		for _, collective := range Collectives() {
			if collective > Barrier {
				continue // what is made of ranges with other roots
			}
			t.Run(fmt.Sprintf("%s, %s", tc.name, collective), func(t *testing.T) {
				w := world(t, shape(3, 2), messages(2), others(3, tc.piped...), lossy(0.01))
				fixed := Request{Collective: collective, Root: 1, DType: arith.INT32}
				g, err := w.NewGroup(GroupConfig{Fixed: &fixed, PathMTU: 1024, Pipe: 4})
				require.NoError(t, err)
				for range 3 {
					r := fixed
					if collective != Barrier {
						r.In = values(rng, arith.Kind{DType: arith.INT32}, 4, 100_000)
					}
					call, err := g.Queue(r)
					require.NoError(t, err)
					require.NoError(t, w.Run(t.Context()))
					require.NoError(t, call.Check())
				}
				require.NoError(t, w.Finish(t.Context()))
				require.Positive(t, w.Net().Stats.Lost)
				for s, c := range counters(t, w) {
					_, terminates := c["TX_INVALID"]
					assert.Equal(t, w.terminates(s), terminates, "switch %d", s)
					assert.Zero(t, c["TX_INVALID"], "switch %d", s)
				}
			})
		}
	}
}

// TestMixedTreesRefused: modes that do not go with each other, and groups that such trees do not take, each by name.
func TestMixedTreesRefused(t *testing.T) {
	tree := shape(3, 2)
	start := func(p contract.Params, change func(*Config)) error {
		m := synthetic.Manifest(p)
		cfg := Config{Manifest: m, Tree: tree, Switch: func(int) (dut.DUT, error) { return dut.NewReference(m) }}
		change(&cfg)
		_, err := New(cfg)
		return err
	}
	for _, tc := range []struct {
		p     contract.Params
		other func(*Config)
		words string
	}{
		{messages(2), others(2, 1), "switch 1 is of mode 2, others of mode 1: Mode II goes with no other mode in a tree"},
		{pipes(2), others(2, 2), "switch 2 is of mode 2, others of mode 3: Mode II goes with no other mode in a tree"},
		{inMode(2, engine(2)), others(3, 0), "switch 0 is of mode 3, others of mode 2: Mode II goes with no other mode in a tree"},
		{messages(2), others(3, 3), "there is no switch 3"},
		{messages(2), func(c *Config) {
			others(3, 1)(c)
			c.Others[1].Params.Groups++
		}, "switch 1 has other groups, members, mtu_bytes or engines than those of Mode I"},
	} {
		assert.ErrorContains(t, start(tc.p, tc.other), tc.words)
	}
	fixed := Request{}
	for _, tc := range []struct {
		cfg   GroupConfig
		words string
	}{
		{GroupConfig{}, "an in-band group in a tree of Modes I and III"},
		{GroupConfig{Fixed: &fixed, Mixed: true}, "path MTUs of ranks in a tree of Modes I and III"},
		{GroupConfig{Fixed: &fixed, PathMTUs: []int{256}}, "path MTUs of ranks in a tree of Modes I and III"},
		{GroupConfig{Fixed: &fixed, Release: true, Iteration: 1}, "releases in a tree of Modes I and III"},
	} {
		_, err := world(t, tree, messages(2), others(3, 1)).NewGroup(tc.cfg)
		assert.ErrorContains(t, err, tc.words)
	}
}
