// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/synthetic"
)

// engine is an engine with room for so many groups of so many members, in a buffer of so many slots of 1,024 bytes.
func engine(groups, members, slots int) *contract.Params {
	p := synthetic.Mini()
	p.Groups, p.Members, p.BufferBytes, p.Ports = groups, members, slots*p.MTUBytes, 64
	return &p
}

func build(t testing.TB, c Clos) *Placer {
	t.Helper()
	net, err := c.Network()
	require.NoError(t, err)
	p, err := New(net)
	require.NoError(t, err)
	return p
}

func hosts(numbers ...int) (all []string) {
	for _, n := range numbers {
		all = append(all, fmt.Sprintf("h%d", n))
	}
	return all
}

// ask is a request at 100 Gbit/s over hops of a microsecond: a window of 2^4 packets of 1,024 bytes a hop.
func ask(group string, policy Policy, numbers ...int) Request {
	return Request{Group: group, Members: hosts(numbers...), Policy: policy, Mbps: 100_000, MTU: 1024, Mode: 2, DType: 3}
}

func small(leaves, spines, under int, e *contract.Params) Clos {
	c := LeafSpine(leaves, spines, under)
	c.Engine, c.Mbps, c.HopRTT = e, 100_000, time.Microsecond
	return c
}

func TestLeafSpine(t *testing.T) {
	p := build(t, small(2, 2, 2, engine(4, 4, 256)))
	got, err := p.Place(ask("low", EdgeDisjoint{}, 0, 1))
	require.NoError(t, err)
	want := Tree{Group: "low", Policy: "edge-disjoint", Members: hosts(0, 1), Depth: 1, Mbps: 100_000, Window: 16, Log2N: 5, MTU: 1024,
		Switches: []Switch{{Name: "leaf0", Parent: -1, Slots: 32, Children: []Child{{0, -1, 0, 0}, {1, -1, 1, 0}}}}}
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".node" || p.Last().String() == ".link"
	}, cmp.Ignore())
	require.Empty(t, cmp.Diff(want, got, cmp.AllowUnexported(Switch{}, Child{}), ignore))

	_, err = p.Place(ask("high", EdgeDisjoint{}, 1, 2))
	require.EqualError(t, err, "group high: best is the tree below spine0, but the link leaf0–h1 is taken by low (1 other roots lack as much or more)")
	require.True(t, p.Release("low"))
	require.False(t, p.Release("low"))

	got, err = p.Place(ask("high", EdgeDisjoint{}, 3, 1))
	require.NoError(t, err)
	want = Tree{Group: "high", Policy: "edge-disjoint", Members: hosts(3, 1), Depth: 2, Mbps: 100_000, Window: 32, Log2N: 6, MTU: 1024, Switches: []Switch{
		{Name: "spine0", Parent: -1, Slots: 64, Children: []Child{{0, 1, -1, 0}, {1, 2, -1, 0}}},
		{Name: "leaf0", Parent: 0, Port: 2, Slots: 64, Children: []Child{{1, -1, 1, 0}}},
		{Name: "leaf1", Parent: 0, Port: 2, Slots: 64, Children: []Child{{1, -1, 0, 0}}}}}
	require.Empty(t, cmp.Diff(want, got, cmp.AllowUnexported(Switch{}, Child{}), ignore))
	got, err = p.Place(ask("beside", EdgeDisjoint{}, 0, 2))
	require.NoError(t, err)
	assert.Equal(t, "spine1", got.Switches[0].Name, "spine0's links are taken, and so are its slots")
	assert.Equal(t, 64, got.Switches[1].Base)
	assert.Equal(t, []string{"beside", "high"}, p.Uses("leaf1"))
	assert.Equal(t, []string{"beside"}, p.Uses("h2"))
}

// What is refused is explained with the place, with what is left and with what was asked.
func TestRefusals(t *testing.T) {
	mixed := func(change func(net *Network)) *Placer {
		net, err := small(2, 2, 2, engine(1, 2, 256)).Network()
		require.NoError(t, err)
		change(net)
		p, err := New(net)
		require.NoError(t, err)
		return p
	}
	plain := func() *Placer { return mixed(func(*Network) {}) }
	for want, try := range map[string]func() error{
		"group g: best is the tree below leaf0, but leaf0 has 16 KiB left, 32 KiB asked": func() error {
			p := build(t, small(1, 1, 2, engine(4, 4, 48)))
			r := ask("f", Spatial{}, 0, 1)
			r.Mbps = 50_000
			_, err := p.Place(r)
			require.NoError(t, err)
			r.Group = "f2"
			_, err = p.Place(r)
			require.NoError(t, err)
			p.links[0].held, p.links[1].held = 0, 0 // the slots alone are what this is about
			_, err = p.Place(ask("g", Spatial{}, 0, 1))
			return err
		},
		"group g: best is the tree below leaf0, but leaf0 has 32 KiB left, 32 KiB asked; at most 16 KiB of it in one piece": func() error {
			p := build(t, small(1, 1, 2, engine(4, 4, 48)))
			r := ask("", Spatial{}, 0, 1)
			r.Mbps = 33_000
			for _, name := range []string{"a", "b", "c"} {
				r.Group = name
				_, err := p.Place(r)
				require.NoError(t, err)
			}
			p.Release("a")
			p.Release("c")
			r.Group, r.Mbps = "g", 66_000
			_, err := p.Place(r)
			return err
		},
		"group g: best is the tree below leaf0, but leaf0 serves 1 groups and can serve no more": func() error {
			p := plain()
			r := ask("f", Spatial{}, 0, 1)
			r.Mbps = 1000
			_, err := p.Place(r)
			require.NoError(t, err)
			r.Group = "g"
			_, err = p.Place(r)
			return err
		},
		"group g: best is the tree below leaf0, but leaf0 can have 2 below it, 3 asked": func() error {
			_, err := build(t, small(1, 1, 3, engine(1, 2, 256))).Place(ask("g", Spatial{}, 0, 1, 2))
			return err
		},
		"group g: best is the tree below leaf0, but the link leaf0–h1 has 60000 Mbit/s left, 100000 asked": func() error {
			p := build(t, small(1, 1, 3, engine(4, 4, 256)))
			r := ask("f", Spatial{}, 1, 2)
			r.Mbps = 40_000
			_, err := p.Place(r)
			require.NoError(t, err)
			_, err = p.Place(ask("g", Spatial{}, 0, 1))
			return err
		},
		"group g: best is the tree below spine0, but the link leaf1–h3 is down (1 other roots lack as much or more)": func() error {
			p := plain()
			require.NoError(t, p.SetLinkDown(3, true))
			_, err := p.Place(ask("g", Spatial{}, 0, 3))
			return err
		},
		"group g: best is the tree below leaf0, but h1 is down": func() error {
			p := plain()
			require.NoError(t, p.SetDown("h1", true))
			_, err := p.Place(ask("g", EdgeDisjoint{}, 0, 1))
			return err
		},
		"group g: best is the tree below leaf0, but leaf0 is down": func() error {
			p := plain()
			require.NoError(t, p.SetDown("leaf0", true))
			_, err := p.Place(ask("g", EdgeDisjoint{}, 0, 1))
			return err
		},
		"group g: leaf0, above h0, has no engine": func() error {
			_, err := mixed(func(n *Network) { n.Nodes[4].Engine = nil }).Place(ask("g", Spatial{}, 0, 3))
			return err
		},
		"group g: leaf0, above h0, has an engine of mode 3, 2 asked": func() error {
			_, err := mixed(func(n *Network) { e := *n.Nodes[4].Engine; e.Mode = 3; n.Nodes[4].Engine = &e }).Place(ask("g", Spatial{}, 0, 3))
			return err
		},
		"group g: no switch with engines all the way down reaches all 2 members at 100000 Mbit/s, even if nothing were in use": func() error {
			_, err := mixed(func(n *Network) { n.Nodes[6].Engine, n.Nodes[7].Engine = nil, nil }).Place(ask("g", Spatial{}, 0, 3))
			return err
		},
		"group g: leaf0, above h0, has an engine without FP32, leaf1, above h3, has an engine without FP32": func() error {
			r := ask("g", Spatial{}, 0, 3)
			r.DType = 0
			_, err := plain().Place(r)
			return err
		},
		"group g: leaf0, above h0, takes packets of 1024 bytes, 4096 asked, leaf0, above h1, takes packets of 1024 bytes, 4096 asked": func() error {
			r := ask("g", Spatial{}, 0, 1)
			r.MTU = 4096
			_, err := plain().Place(r)
			return err
		},
		"group g: the link leaf0–h0 has 100000 Mbit/s in all, 200000 asked, the link leaf0–h1 has 100000 Mbit/s in all, 200000 asked": func() error {
			r := ask("g", Spatial{}, 0, 1)
			r.Mbps = 200_000
			_, err := plain().Place(r)
			return err
		},
		"group g: 1 members: a group has at least 2":                func() error { _, err := plain().Place(ask("g", Spatial{}, 0)); return err },
		"group g: host h0 is a member twice":                        func() error { _, err := plain().Place(ask("g", Spatial{}, 0, 0)); return err },
		"group g: host h9: not in the network":                      func() error { _, err := plain().Place(ask("g", Spatial{}, 0, 9)); return err },
		"group g: no policy":                                        func() error { _, err := plain().Place(ask("g", nil, 0, 1)); return err },
		"group g: an MTU of 1023 bytes: it must be a multiple of 4": func() error { r := ask("g", Spatial{}, 0, 1); r.MTU = 1023; _, err := plain().Place(r); return err },
		"group g: a width of 0 Mbit/s, at least 0":                  func() error { r := ask("g", Spatial{}, 0, 1); r.Mbps = 0; _, err := plain().Front(r); return err },
		"group g: no element type has the code 9":                   func() error { r := ask("g", Spatial{}, 0, 1); r.DType = 9; _, err := plain().Front(r); return err },
	} {
		assert.EqualError(t, try(), want)
	}
}

// A tree that is higher may be wider, and then it is the administrator's choice, or the policy's.
func TestFront(t *testing.T) {
	net, err := small(2, 1, 2, engine(4, 4, 256)).Network()
	require.NoError(t, err)
	net.Nodes[4].Engine = engine(4, 4, 16) // leaf0: 8 packets under way
	net.Levels = false
	// A second way from h0 and h1 to the spine, which has much memory, without leaf0.
	net.Nodes = append(net.Nodes, Node{Name: "side", Engine: engine(4, 4, 256)})
	side := len(net.Nodes) - 1
	net.Links = append(net.Links, Link{[2]End{{side, 0}, {0, 1}}, 100_000}, Link{[2]End{{side, 1}, {6, 5}}, 90_000})
	p, err := New(net)
	require.NoError(t, err)
	r := ask("g", Spatial{}, 0, 2)
	r.Least = 1
	front, err := p.Front(r)
	require.NoError(t, err)
	require.Len(t, front, 1)
	assert.Equal(t, Candidate{Root: "spine0", Depth: 2, Mbps: 90_000, Log2N: 6, root: 6}, front[0], "past leaf0, which has a window of 8")

	r.Members = hosts(0, 1)
	front, err = p.Front(r)
	require.NoError(t, err)
	assert.Equal(t, []Candidate{{Root: "leaf0", Depth: 1, Mbps: 65_536, Log2N: 4, root: 4}}, front, "h1 has no other way")

	net.Links = append(net.Links, Link{[2]End{{side, 2}, {5, 6}}, 100_000}, Link{[2]End{{5, 7}, {1, 1}}, 100_000})
	p, err = New(net)
	require.NoError(t, err)
	front, err = p.Front(r)
	require.NoError(t, err)
	assert.Equal(t, []Candidate{{Root: "leaf0", Depth: 1, Mbps: 65_536, Log2N: 4, root: 4}, {Root: "side", Others: 1, Depth: 2, Mbps: 100_000, Log2N: 6, root: 7}},
		slices.Collect(func(yield func(Candidate) bool) {
			for _, c := range front {
				if c.Depth == 2 {
					c.Root, c.root = "side", 7 // leaf1 is as good
				}
				if !yield(c) {
					return
				}
			}
		}))
	got, err := p.Place(r)
	require.NoError(t, err)
	assert.Equal(t, 2, got.Depth, "spatial: as wide as was asked")
	p.Release("g")
	r.Mbps = 50_000
	got, err = p.Place(r)
	require.NoError(t, err)
	assert.Equal(t, 1, got.Depth, "spatial: the lowest that is wide enough")
	p.Release("g")
	r.Mbps, r.Policy = 100_000, EdgeDisjoint{}
	got, err = p.Place(r)
	require.NoError(t, err)
	assert.Equal(t, 1, got.Depth, "edge-disjoint: the lowest")
}

func TestPolicyOf(t *testing.T) {
	for name, want := range map[string]Policy{"": Spatial{}, "spatial": Spatial{}, "edge-disjoint": EdgeDisjoint{}} {
		got, err := PolicyOf(name)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := PolicyOf("random")
	require.EqualError(t, err, `no policy "random": there are spatial and edge-disjoint`)
}

// Groups that are placed can be entered into the account of another Placer, where they hold the same; what contradicts is refused whole.
func TestHold(t *testing.T) {
	c := small(4, 2, 4, engine(4, 4, 256))
	p := build(t, c)
	var trees []Tree
	for i, members := range [][]int{{0, 1, 5}, {2, 9}, {3, 12, 13}, {6, 7}} {
		r := ask(fmt.Sprint("g", i), Spatial{}, members...)
		r.Mbps = 30_000
		tree, err := p.Place(r)
		require.NoError(t, err)
		trees = append(trees, tree)
	}
	other := build(t, c)
	for _, tree := range trees {
		require.NoError(t, other.Hold(tree))
	}
	require.Equal(t, p.Usage(), other.Usage())
	require.Equal(t, p.links, other.links)
	require.ErrorIs(t, other.Hold(trees[0]), ErrExists)

	for want, change := range map[string]func(t *Tree){
		"are not free":       func(*Tree) {},
		"not in the network": func(t *Tree) { t.Switches[1].Name = "leaf77" },
		"from port 3 of leaf0 to h5: not in the network": func(t *Tree) { t.Switches[1].Children[0] = Child{Port: 3, Switch: -1, Rank: 2} },
		"its parent at 1: no tree":                       func(t *Tree) { t.Switches[1].Parent = 1 },
		"no policy":                                      func(t *Tree) { t.Policy = "x" },
		"child 0 of switch leaf0: no tree":               func(t *Tree) { t.Switches[1].Children[0].Rank = 9 },
	} {
		tree := trees[0].clone()
		tree.Group = "again"
		change(&tree)
		require.ErrorContains(t, other.Hold(tree), want)
		require.Equal(t, p.Usage(), other.Usage())
	}
	// A tree that is being removed gives back switch by switch, and what it no longer has others may have.
	gone := trees[0].Switches[1].Name
	other.Vacate("g0", gone)
	other.Vacate("g0", gone)
	late := build(t, c)
	for _, tree := range trees[1:] {
		require.NoError(t, late.Hold(tree))
	}
	require.NoError(t, late.HoldRest(trees[0], []string{gone}))
	require.Equal(t, other.Usage(), late.Usage())
	require.Equal(t, other.links, late.links)
	require.ErrorIs(t, late.HoldRest(trees[0], nil), ErrExists)
	late.Release("g0")
	again := trees[0].clone()
	again.Group = "again"
	require.NoError(t, late.Hold(again))
	require.NoError(t, late.HoldRest(trees[0], nil), "others have all of it")
	require.Equal(t, p.Usage(), late.Usage())
	late.Release("g0")
	require.Equal(t, p.Usage(), late.Usage())

	fresh := build(t, c)
	for _, tree := range trees {
		other.Release(tree.Group)
	}
	require.Equal(t, fresh.Usage(), other.Usage())
	require.Equal(t, fresh.links, other.links)
}

// 200 groups among 10,000 hosts in a fat tree of three levels: of neighbours with links of their own, and of hosts anywhere that share them.
func cluster(t testing.TB) (*Placer, func(policy Policy, scattered bool) int) {
	c := FatTree(36)
	c.Engine, c.Mbps, c.HopRTT = engine(64, 40, 1<<16), 100_000, 2*time.Microsecond
	p := build(t, c)
	require.GreaterOrEqual(t, c.Hosts(), 10_000)
	return p, func(policy Policy, scattered bool) int {
		rng, refused := rand.New(rand.NewPCG(1, 2)), 0
		for _, g := range p.Groups() {
			p.Release(g)
		}
		order := make([]int, c.Hosts())
		for i := range order {
			order[i] = i
		}
		if scattered {
			order = rng.Perm(c.Hosts())
		}
		for g := range 200 {
			r := ask(fmt.Sprint("g", g), policy, order[g*50:(g+1)*50]...)
			r.Least = 1_000
			if scattered {
				r.Mbps = 10_000
			}
			if _, err := p.Place(r); err != nil {
				refused++
			}
		}
		return refused
	}
}

func TestCluster(t *testing.T) {
	_, place := cluster(t)
	assert.Zero(t, place(EdgeDisjoint{}, false))
	assert.Zero(t, place(Spatial{}, true))
}

func BenchmarkCluster(b *testing.B) {
	_, place := cluster(b)
	for _, c := range []struct {
		name      string
		policy    Policy
		scattered bool
	}{{"neighbours", EdgeDisjoint{}, false}, {"scattered", Spatial{}, true}, {"refused", EdgeDisjoint{}, true}} {
		b.Run(c.name, func(b *testing.B) {
			refused := 0
			for range b.N {
				refused = place(c.policy, c.scattered)
			}
			b.ReportMetric(float64(refused), "refused")
		})
	}
}
