// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"incforge/contract"
)

// drawNetwork draws a network of a few switches and hosts that may be joined in any way, with engines that differ.
func drawNetwork(t *rapid.T) *Network {
	net := &Network{HopRTT: time.Microsecond, Levels: rapid.Bool().Draw(t, "levels")}
	mode := rapid.IntRange(1, 3).Draw(t, "mode")
	switches, members := rapid.IntRange(2, 4).Draw(t, "switches"), rapid.IntRange(2, 4).Draw(t, "hosts")
	for i := range switches {
		e := engine(rapid.IntRange(1, 3).Draw(t, "groups"), 8, rapid.IntRange(4, 96).Draw(t, "slots"))
		e.Mode, e.Engines = mode, rapid.IntRange(1, 3).Draw(t, "engines")
		if mode == 1 {
			e.MessageBytes = 1024 // as long as a slot of the others
			if rapid.IntRange(0, 3).Draw(t, "short messages") > 0 {
				e.MessageBytes, e.BufferBytes = 4096, e.BufferBytes*4
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "wide") == 0 { // in-band groups take two slots a packet
			e.DTypes = contract.ElementNames()
		}
		if rapid.IntRange(0, 9).Draw(t, "none") == 0 {
			e = nil
		}
		net.Nodes = append(net.Nodes, Node{Name: fmt.Sprint("s", i), Level: rapid.IntRange(1, 3).Draw(t, "level"), Engine: e})
	}
	for i := range members {
		net.Nodes = append(net.Nodes, Node{Name: fmt.Sprint("h", i), Host: true})
	}
	ports := make([]int, len(net.Nodes))
	join := func(a, b int) {
		if net.Levels && !net.Nodes[a].Host && !net.Nodes[b].Host && net.Nodes[a].Level == net.Nodes[b].Level {
			return
		}
		net.Links = append(net.Links, Link{[2]End{{a, ports[a]}, {b, ports[b]}}, 1000 * rapid.IntRange(1, 100).Draw(t, "mbps")})
		ports[a]++
		ports[b]++
	}
	for i := range members { // most hosts have a link
		join(rapid.IntRange(0, switches-1).Draw(t, "at"), switches+i)
	}
	for range rapid.IntRange(3, 11-members).Draw(t, "more") {
		a, b := rapid.IntRange(0, switches-1).Draw(t, "a"), rapid.IntRange(0, switches+members-1).Draw(t, "b")
		if a != b && !slices.ContainsFunc(net.Links, func(l Link) bool { return l.Ends[0].Node == a && l.Ends[1].Node == b }) {
			join(a, b)
		}
	}
	return net
}

// drawRequest draws a group of some of the hosts.
func drawRequest(t *rapid.T, net *Network, name string) Request {
	var all []string
	for _, n := range net.Nodes {
		if n.Host {
			all = append(all, n.Name)
		}
	}
	members := rapid.Permutation(all).Draw(t, "members")[:rapid.IntRange(2, len(all)).Draw(t, "count")]
	want := 1000 * rapid.IntRange(1, 100).Draw(t, "want")
	least := rapid.IntRange(1, want).Draw(t, "least")
	if rapid.IntRange(0, 3).Draw(t, "as much as there is") > 0 {
		want, least = 100_000, 1
	}
	r := Request{Group: name, Members: members, Policy: Spatial{}, Mbps: want, Least: least, MTU: 1024, Mode: 2, DType: 3, InBand: rapid.Bool().Draw(t, "in-band")}
	for _, n := range net.Nodes {
		if n.Engine != nil {
			r.Mode = n.Engine.Mode
		}
	}
	if r.Mode == 1 {
		r.Message = 1024 << rapid.IntRange(0, 2).Draw(t, "message")
	}
	if rapid.Bool().Draw(t, "edge-disjoint") {
		r.Policy = EdgeDisjoint{}
	}
	return r
}

// account is what groups hold, added up anew from their trees.
type account struct {
	net    *Network
	trees  []Tree
	policy []Policy
}

// room is what a policy leaves of a link.
func (a *account) room(link int, policy Policy) int {
	held, groups := 0, 0
	for i, t := range a.trees {
		if slices.Contains(a.links(t), link) {
			groups++
			held += a.policy[i].Hold(a.net.Links[link].Mbps, t.Mbps)
		}
	}
	if _, alone := policy.(EdgeDisjoint); alone {
		if groups > 0 {
			return 0
		}
		return a.net.Links[link].Mbps
	}
	return max(a.net.Links[link].Mbps-held, 0)
}

// links of a tree, found by its switches' ports.
func (a *account) links(t Tree) (all []int) {
	for _, sw := range t.Switches {
		at, _ := a.net.Find(sw.Name)
		for _, c := range sw.Children {
			for i, l := range a.net.Links {
				if l.Ends[0] == (End{at, c.Port}) || l.Ends[1] == (End{at, c.Port}) {
					all = append(all, i)
				}
			}
		}
	}
	return all
}

// run is the longest run of free slots of an engine of a node that can serve one group more; 0 if none can.
func (a *account) run(node int) (most int) {
	if e := a.net.Nodes[node].Engine; e != nil {
		for engine := range e.EngineCount() {
			run, _ := a.engine(node, engine)
			most = max(most, run)
		}
	}
	return most
}

// engine is the longest run of free slots of one engine of a node, 0 if it can serve no group more, and what its groups may send: their rates, each as often as it has
// endpoints there.
func (a *account) engine(node, engine int) (most, load int) {
	e := a.net.Nodes[node].Engine
	used, groups := make([]bool, e.Slots()), 0
	for _, t := range a.trees {
		for j, sw := range t.Switches {
			if sw.Name == a.net.Nodes[node].Name && sw.Engine == engine {
				groups++
				load += t.Mbps * (len(sw.Children) + min(j, 1))
				for i := range sw.Slots {
					used[sw.Base+i] = true
				}
			}
		}
	}
	run := 0
	for _, u := range used {
		if run++; u {
			run = 0
		}
		most = max(most, run)
	}
	if groups >= e.Groups {
		most = 0
	}
	return most, load
}

// bruteForce looks at every set of links, at every root, and returns the widest tree of each depth, without those that a lower one is as
// wide as.
func bruteForce(a *account, r Request) (front [][2]int) {
	least := max(r.Least, 1)
	best := map[int]int{}
	for set := range uint(1) << len(a.net.Links) {
		for root := range a.net.Nodes {
			depth, mbps, ok := judge(a, r, set, root)
			if mbps = min(mbps, r.Mbps); ok && mbps >= least {
				best[depth] = max(best[depth], mbps)
			}
		}
	}
	for depth := 1; depth <= len(a.net.Nodes); depth++ {
		if best[depth] > 0 && (len(front) == 0 || best[depth] > front[len(front)-1][1]) {
			front = append(front, [2]int{depth, best[depth]})
		}
	}
	return front
}

// judge tells whether links, as a set of bits, are a tree for the group below a root, and how deep and wide it is.
func judge(a *account, r Request, set uint, root int) (depth, mbps int, ok bool) {
	if a.net.Nodes[root].Host {
		return 0, 0, false
	}
	mbps = 1 << 30
	dist := map[int]int{root: 0}
	for todo, used := []int{root}, uint(0); len(todo) > 0; todo = todo[1:] {
		for i, l := range a.net.Links {
			if set>>i&1 == 0 || used>>i&1 == 1 || l.Ends[0].Node != todo[0] && l.Ends[1].Node != todo[0] {
				continue
			}
			used |= 1 << i
			to := l.Ends[0].Node + l.Ends[1].Node - todo[0]
			from, n := a.net.Nodes[todo[0]], a.net.Nodes[to]
			if _, ring := dist[to]; ring || from.Host || a.net.Levels && !n.Host && from.Level <= n.Level || n.Host && !slices.Contains(r.Members, n.Name) {
				return 0, 0, false
			}
			dist[to] = dist[todo[0]] + 1
			depth = max(depth, dist[to])
			mbps = min(mbps, a.room(i, r.Policy))
			todo = append(todo, to)
		}
	}
	if len(dist)-1 != bits.OnesCount(set) {
		return 0, 0, false // some links are elsewhere
	}
	for _, m := range r.Members {
		if at, _ := a.net.Find(m); dist[at] == 0 {
			return 0, 0, false
		}
	}
	for node := range dist {
		if !a.net.Nodes[node].Host {
			packets := 0 // under way
			slots, hops := 1, depth
			if e := a.net.Nodes[node].Engine; e != nil && len(e.DTypes) > 1 && r.InBand {
				slots = 2
			}
			for n := 2; n*slots <= a.run(node); n *= 2 {
				packets = n / 2
			}
			if r.Mode != 2 {
				hops = 1
			}
			if r.Mode == 1 && a.net.Nodes[node].Engine != nil && a.net.Nodes[node].Engine.MessageBytes < r.Message {
				return 0, 0, false
			}
			mbps = min(mbps, packets*max(r.MTU, r.Message)*8*1000/(hops*1000))
		}
	}
	return depth, mbps, true
}

// Groups come and go in networks of any form. The front is always what looking at every tree finds, the tree is the one that the policy wants,
// what the groups hold fits, and in the end everything is free.
func TestFrontIsBest(t *testing.T) {
	for range 5 {
		rapid.Check(t, frontIsBest)
	}
}

func frontIsBest(t *rapid.T) {
	net := drawNetwork(t)
	p, err := New(net)
	require.NoError(t, err)
	a := &account{net: net}
	for step := range rapid.IntRange(1, 4).Draw(t, "steps") {
		if len(a.trees) > 0 && rapid.IntRange(0, 3).Draw(t, "release") == 0 {
			i := rapid.IntRange(0, len(a.trees)-1).Draw(t, "which")
			require.True(t, p.Release(a.trees[i].Group))
			a.trees, a.policy = slices.Delete(a.trees, i, i+1), slices.Delete(a.policy, i, i+1)
		}
		r := drawRequest(t, net, fmt.Sprint("g", step))
		want := bruteForce(a, r)
		front, err := p.Front(r)
		tree, err2 := p.Place(r)
		if len(want) == 0 {
			var refused *Refusal
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Lacks)
			require.ErrorAs(t, err2, &refused)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, err2)
		var got [][2]int
		for _, c := range front {
			got = append(got, [2]int{c.Depth, c.Mbps})
		}
		require.Equal(t, want, got)
		checkTree(t, a, r, tree, want)
		a.trees, a.policy = append(a.trees, tree), append(a.policy, r.Policy)
		checkAccount(t, a)
	}
	for _, tree := range a.trees {
		require.True(t, p.Release(tree.Group))
	}
	fresh, err := New(net)
	require.NoError(t, err)
	require.Equal(t, fresh.Usage(), p.Usage())
	require.Equal(t, fresh.links, p.links)
}

// checkTree compares a tree that was placed with the front.
func checkTree(t *rapid.T, a *account, r Request, tree Tree, front [][2]int) {
	pick := front[0]
	if _, ok := r.Policy.(Spatial); ok {
		pick = front[len(front)-1]
	}
	require.Equal(t, pick, [2]int{tree.Depth, tree.Mbps})
	set := uint(0)
	for _, l := range a.links(tree) {
		require.Zero(t, set>>l&1, "a link twice")
		set |= 1 << l
	}
	root, _ := a.net.Find(tree.Switches[0].Name)
	depth, mbps, ok := judge(a, r, set, root)
	require.True(t, ok)
	require.Equal(t, pick[0], depth)
	require.GreaterOrEqual(t, mbps, tree.Mbps)
	require.Equal(t, 1<<tree.Log2N, 2*tree.Window)
	for i, sw := range tree.Switches {
		at, _ := a.net.Find(sw.Name)
		require.LessOrEqual(t, len(sw.Children), a.net.Nodes[at].Engine.Members)
		room, load := a.engine(at, sw.Engine)
		require.GreaterOrEqual(t, room, sw.Slots)
		for other := range a.net.Nodes[at].Engine.EngineCount() { // no other that could take the group has less to do
			if room, less := a.engine(at, other); room >= sw.Slots {
				require.LessOrEqual(t, load, less)
			}
		}
		require.NotEmpty(t, sw.Children)
		if i > 0 { // its port leads where the parent's leads here
			up, _ := a.net.Find(tree.Switches[sw.Parent].Name)
			require.True(t, slices.ContainsFunc(tree.Switches[sw.Parent].Children, func(c Child) bool {
				l := [2]End{{at, sw.Port}, {up, c.Port}}
				return c.Switch == i && slices.ContainsFunc(a.net.Links, func(x Link) bool { return x.Ends == l || x.Ends == [2]End{l[1], l[0]} })
			}))
		}
	}
}

// checkAccount looks for links with more on them than they have, and for slots and records that two groups have.
func checkAccount(t *rapid.T, a *account) {
	type slot struct{ name, at any }
	seen, groups := map[slot]string{}, map[slot]int{} // by switch and engine
	for i, tree := range a.trees {
		for j, other := range a.trees[:i] {
			_, alone := a.policy[i].(EdgeDisjoint)
			_, alone2 := a.policy[j].(EdgeDisjoint)
			for _, l := range a.links(tree) {
				require.False(t, (alone || alone2) && slices.Contains(a.links(other), l), "an edge that is shared")
			}
		}
		for _, sw := range tree.Switches {
			groups[slot{sw.Name, sw.Engine}]++
			for s := range sw.Slots {
				at := slot{fmt.Sprint(sw.Name, "/", sw.Engine), sw.Base + s}
				require.Empty(t, seen[at])
				seen[at] = tree.Group
			}
		}
	}
	for l := range a.net.Links {
		held := 0
		for i, tree := range a.trees {
			if slices.Contains(a.links(tree), l) {
				held += a.policy[i].Hold(a.net.Links[l].Mbps, tree.Mbps)
			}
		}
		require.LessOrEqual(t, held, a.net.Links[l].Mbps)
	}
	for of, n := range groups {
		at, _ := a.net.Find(of.name.(string))
		require.LessOrEqual(t, n, a.net.Nodes[at].Engine.Groups)
		require.Less(t, of.at.(int), a.net.Nodes[at].Engine.EngineCount())
	}
}

// Engines with few endpoints: in networks with one way down from each root, a tree is refused only if every root's has too many branches.
func TestFewEndpoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.IntRange(1, 4).Draw(t, "members")
		c := LeafSpine(rapid.IntRange(1, 5).Draw(t, "leaves"), 2, 4)
		c.Engine, c.Mbps, c.HopRTT = engine(4, few, 256), 100_000, time.Microsecond
		net, err := c.Network()
		require.NoError(t, err)
		p, err := New(net)
		require.NoError(t, err)
		members := rapid.SliceOfNDistinct(rapid.IntRange(0, c.Hosts()-1), 2, 8, rapid.ID[int]).Draw(t, "hosts")
		under := map[int]int{}
		most := 0
		for _, h := range members {
			under[h/4]++
			most = max(most, under[h/4])
		}
		if len(under) > 1 {
			most = max(most, len(under))
		}
		_, err = p.Place(ask("g", Spatial{}, members...))
		if most <= few {
			require.NoError(t, err)
			return
		}
		var refused *Refusal
		require.True(t, errors.As(err, &refused))
		require.Contains(t, err.Error(), fmt.Sprintf("can have %d below it", few))
	})
}

// The buffer's account against a list of flags.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, used := newMemory(64), make([]bool, 64)
		var held []span
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				m.give(held[i].base, held[i].n)
				for s := range held[i].n {
					used[held[i].base+s] = false
				}
				held = slices.Delete(held, i, i+1)
			} else if n := rapid.IntRange(1, 20).Draw(t, "n"); true {
				fits := m.most >= n
				base, ok := m.take(n)
				require.Equal(t, fits, ok)
				for s := 0; ok && s < n; s++ {
					require.False(t, used[base+s])
					used[base+s] = true
				}
				if ok {
					held = append(held, span{base, n})
				}
			}
			most, run, free := 0, 0, 0
			for _, u := range used {
				if run++; u {
					run = 0
				} else {
					free++
				}
				most = max(most, run)
			}
			require.Equal(t, most, m.most)
			require.Equal(t, free, m.left())
		}
	})
}

// Every level of a Clos network of any shape has as many switches and ways as its numbers say, and each switch of the top reaches every host.
func TestClos(t *testing.T) {
	for name, c := range map[string]Clos{"leaf-spine": LeafSpine(3, 2, 4), "fat tree": FatTree(4), "four levels": {Down: []int{2, 2, 3, 2}, Up: []int{2, 1, 2}}, "one": {Down: []int{3}}} {
		t.Run(name, func(t *testing.T) {
			c.Engine, c.Mbps, c.HopRTT = engine(1, 64, 64), 1000, time.Microsecond
			p := build(t, c)
			net := p.Network()
			require.Equal(t, c.nodes(), len(net.Nodes))
			degree := make([]int, len(net.Nodes))
			for _, l := range net.Links {
				degree[l.Ends[0].Node]++
				degree[l.Ends[1].Node]++
			}
			top, s := 0, &search{p: p}
			for i, n := range net.Nodes {
				switch {
				case n.Host:
					s.members = append(s.members, i)
					require.Equal(t, 1, degree[i])
				case n.Level < len(c.Down):
					require.Equal(t, c.Down[n.Level-1]+c.Up[n.Level-1], degree[i])
				default:
					require.Equal(t, c.Down[n.Level-1], degree[i])
					top++
				}
			}
			var all []int
			for h := range c.Hosts() {
				all = append(all, h)
			}
			r := ask("g", Spatial{}, all...)
			r.Mbps = 1
			front, err := p.Front(r)
			require.NoError(t, err)
			require.Equal(t, []int{len(c.Down), top - 1}, []int{front[0].Depth, front[0].Others})
		})
	}
	_, err := Clos{Down: []int{2, 2}}.Network()
	require.EqualError(t, err, "a Clos network of 2 levels has 0 numbers of switches above: 1 are needed")
	_, err = Clos{Down: []int{2, 0}, Up: []int{1}}.Network()
	require.ErrorContains(t, err, "at least 1")
	_, err = Clos{Down: []int{1 << 30, 1 << 40}, Up: []int{1 << 40}}.Network()
	require.ErrorContains(t, err, "more than")
}

func TestValidate(t *testing.T) {
	e := engine(1, 4, 16)
	host, sw := Node{Name: "h", Host: true}, Node{Name: "s", Level: 1, Engine: e}
	for want, net := range map[string]Network{
		"the round trip of a hop is 0s: it must be more than 0": {Nodes: []Node{host}},
		"node 1 has no name":                                  {HopRTT: 1, Nodes: []Node{host, {}}},
		"there are two nodes h":                               {HopRTT: 1, Nodes: []Node{host, host}},
		"host x has an engine":                                {HopRTT: 1, Nodes: []Node{{Name: "x", Host: true, Engine: e}}},
		"switch x is on level 0: levels count from 1":         {HopRTT: 1, Levels: true, Nodes: []Node{{Name: "x"}}},
		"link 0 ends at node 7, there are 1":                  {HopRTT: 1, Nodes: []Node{host}, Links: []Link{{[2]End{{0, 0}, {7, 0}}, 1}}},
		"a link joins s to itself":                            {HopRTT: 1, Nodes: []Node{sw}, Links: []Link{{[2]End{{0, 0}, {0, 1}}, 1}}},
		"a link joins two hosts, h and i":                     {HopRTT: 1, Nodes: []Node{host, {Name: "i", Host: true}}, Links: []Link{{[2]End{{0, 0}, {1, 0}}, 1}}},
		"a link joins s and t, which are both on level 1":     {HopRTT: 1, Levels: true, Nodes: []Node{sw, {Name: "t", Level: 1}}, Links: []Link{{[2]End{{0, 0}, {1, 0}}, 1}}},
		"the link h–s has a rate of 0 Mbit/s":                 {HopRTT: 1, Nodes: []Node{host, sw}, Links: []Link{{[2]End{{0, 0}, {1, 0}}, 0}}},
		"two links are at port 1 of s":                        {HopRTT: 1, Nodes: []Node{host, sw}, Links: []Link{{[2]End{{0, 0}, {1, 1}}, 1}, {[2]End{{0, 1}, {1, 1}}, 1}}},
		"the link h–s is at port 64 of s, which there is not": {HopRTT: 1, Nodes: []Node{host, sw}, Links: []Link{{[2]End{{0, 0}, {1, 64}}, 1}}},
	} {
		_, err := New(&net)
		require.EqualError(t, err, "network: "+want)
	}
}
