// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"incforge/inc"
	"incforge/roce"
)

// Collective is what the hosts do together.
type Collective uint8

// The collectives, with the engine's numbers.
const (
	AllReduce Collective = inc.CollectiveAllReduce
	Reduce    Collective = inc.CollectiveReduce
	Broadcast Collective = inc.CollectiveBroadcast
)

// String is the collective's name on command lines.
func (c Collective) String() string {
	switch c {
	case AllReduce:
		return "allreduce"
	case Reduce:
		return "reduce"
	case Broadcast:
		return "broadcast"
	}
	return fmt.Sprintf("collective(%d)", uint8(c))
}

// MarshalText makes it that name in files.
func (c Collective) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is ParseCollective.
func (c *Collective) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCollective(string(b))
	return err
}

// ParseCollective is the collective of that name, without regard to case.
func ParseCollective(s string) (Collective, error) {
	for _, c := range []Collective{AllReduce, Reduce, Broadcast} {
		if strings.EqualFold(s, c.String()) {
			return c, nil
		}
	}
	return 0, fmt.Errorf("collective %q is none of allreduce, reduce, broadcast: %w", s, ErrConfig)
}

// ErrConfig means that a model cannot be made as asked for.
var ErrConfig = errors.New("no such model")

// Limits of a model. They keep a payload's lanes apart (see packet.go) and counts in their bytes.
const (
	maxHosts    = 8
	maxRequests = 100
	maxBudget   = 15
	maxNodes    = 24
)

// defaultStart is where PSNs begin, so that they wrap after two packets.
const defaultStart roce.PSN = 1<<24 - 2

// Config is one model: the network, what the hosts do, what the links may do to it. The zero value of a field is its default where one
// is named.
type Config struct {
	// Mode is the engine's, 2 or 3.
	Mode int `yaml:"mode" json:"mode"`
	// Collective is done once, by Requests packets.
	Collective Collective `yaml:"collective" json:"collective"`
	// Tree is the topology: "star-S" is one switch with S hosts, "chain-S" a root with S hosts and one switch below it with S more, "L-Y"
	// EPIC's Tree-L-Y, L levels counting the hosts, Y children each.
	Tree string `yaml:"tree" json:"tree"`
	// Requests is the number of packets each sender sends, 1 to 100.
	Requests int `yaml:"requests" json:"requests"`
	// Window is the most packets a sender has unacknowledged, 1 to 100.
	Window int `yaml:"window" json:"window"`
	// Slots is N: in Mode II a power of two, at least 2, default twice the power of two at or above Window; in Mode III any
	// number from 1, default Window.
	Slots int `yaml:"slots" json:"slots"`
	// Loss, Dup, Reorder, Early and RNR say how often in a whole run a packet is lost, delivered twice, delivered before packets sent
	// earlier on its link; a timer expires although something is still on its way; a host has no receive posted. 0 to 15 each.
	Loss    int `yaml:"loss" json:"loss"`
	Dup     int `yaml:"dup" json:"dup"`
	Reorder int `yaml:"reorder" json:"reorder"`
	Early   int `yaml:"early" json:"early"`
	RNR     int `yaml:"rnr" json:"rnr"`
	// Free lets the sends of a Mode III engine happen at any time, interleaved with everything else. Otherwise they follow the frame
	// or timer that made them possible at once.
	Free bool `yaml:"free,omitempty" json:"free,omitempty"`
	// Empty sends packets without payload, as a Barrier does.
	Empty bool `yaml:"empty,omitempty" json:"empty,omitempty"`
	// Bad names rules known to be wrong, which the search should find: those of badRules.
	Bad []string `yaml:"bad,omitempty" json:"bad,omitempty"`
}

// withDefaults fills in what is not said, and refuses what cannot be modelled.
func (c Config) withDefaults() (Config, error) {
	if c.Slots == 0 {
		c.Slots = c.Window
		if c.Mode == 2 {
			c.Slots = 2
			for c.Slots < 2*c.Window {
				c.Slots *= 2
			}
		}
	}
	bad := func(format string, args ...any) (Config, error) {
		return c, fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrConfig)
	}
	switch {
	case c.Mode != 2 && c.Mode != 3:
		return bad("mode %d, modes are 2 and 3", c.Mode)
	case c.Collective > Broadcast:
		return bad("collective %d", c.Collective)
	case c.Requests < 1 || c.Requests > maxRequests:
		return bad("%d requests, allowed are 1 to %d", c.Requests, maxRequests)
	case c.Window < 1 || c.Window > maxRequests:
		return bad("a window of %d, allowed are 1 to %d", c.Window, maxRequests)
	case c.Slots < 1 || c.Slots > 1024:
		return bad("%d slots, allowed are 1 to 1024", c.Slots)
	case c.Mode == 2 && (c.Slots < 2 || c.Slots&(c.Slots-1) != 0):
		return bad("%d slots in Mode II, where they are a power of two and at least 2", c.Slots)
	case c.Mode == 2 && c.Slots < 2*c.Window:
		return bad("%d slots in Mode II for a window of %d, which takes twice as many", c.Slots, c.Window)
	case c.Mode == 2 && c.Free:
		return bad("free sends in Mode II, whose engines send nothing by themselves")
	}
	for _, b := range []int{c.Loss, c.Dup, c.Reorder, c.Early, c.RNR} {
		if b < 0 || b > maxBudget {
			return bad("a budget of %d, allowed are 0 to %d", b, maxBudget)
		}
	}
	for _, name := range c.Bad {
		rule, ok := badRules()[name]
		switch {
		case !ok:
			return bad("rule %s is none of %s", name, strings.Join(slices.Sorted(maps.Keys(badRules())), ", "))
		case rule.mode != 0 && rule.mode != c.Mode:
			return bad("rule %s is one of mode %d", name, rule.mode)
		}
	}
	return c, nil
}

// String is the configuration in one line.
func (c Config) String() string {
	s := fmt.Sprintf("mode %d %s tree %s requests %d window %d slots %d loss %d", c.Mode, c.Collective, c.Tree, c.Requests, c.Window, c.Slots, c.Loss)
	for _, f := range []struct {
		name string
		n    int
	}{{"dup", c.Dup}, {"reorder", c.Reorder}, {"early", c.Early}, {"rnr", c.RNR}} {
		if f.n > 0 {
			s += fmt.Sprintf(" %s %d", f.name, f.n)
		}
	}
	if c.Free {
		s += " free sends"
	}
	if c.Empty {
		s += " empty"
	}
	for _, b := range c.Bad {
		s += " bad " + b
	}
	return s
}

// node is a host or a switch. Nodes are numbered breadth first from the root, which is 0. A switch's endpoint i is child i, and
// endpoint len(children) its parent.
type node struct {
	parent   int // -1 for the root
	endpoint int // of the parent that leads here
	children []int
	host     int // number among the hosts, -1 for a switch
}

// topology is a tree of switches with hosts as leaves.
type topology struct {
	nodes []node
	hosts []int // their nodes
}

// parseTree makes the topology of Config.Tree.
func parseTree(s string) (topology, error) {
	var t topology
	bad := func(why string) (topology, error) {
		return topology{}, fmt.Errorf("tree %q: %s: %w", s, why, ErrConfig)
	}
	kind, count, two := strings.Cut(strings.TrimPrefix(s, "tree-"), "-")
	n, err := strconv.Atoi(count)
	if !two || err != nil || n < 1 || n > maxHosts {
		return bad("want star-S, chain-S or LEVELS-CHILDREN")
	}
	t.nodes = []node{{parent: -1, host: -1}}
	add := func(parent int, host bool) int {
		i := len(t.nodes)
		t.nodes = append(t.nodes, node{parent: parent, endpoint: len(t.nodes[parent].children), host: -1})
		t.nodes[parent].children = append(t.nodes[parent].children, i)
		if host {
			t.nodes[i].host = len(t.hosts)
			t.hosts = append(t.hosts, i)
		}
		return i
	}
	switch kind {
	case "star":
		for range n {
			add(0, true)
		}
	case "chain":
		below := add(0, false)
		for range n {
			add(0, true)
		}
		for range n {
			add(below, true)
		}
	default:
		levels, err := strconv.Atoi(kind)
		if err != nil || levels < 2 || levels > 5 {
			return bad("want star-S, chain-S or LEVELS-CHILDREN, 2 to 5 levels")
		}
		level := []int{0}
		for l := 1; l < levels; l++ {
			var next []int
			for _, p := range level {
				for range n {
					if len(t.nodes) < maxNodes {
						next = append(next, add(p, l == levels-1))
					} else {
						return bad(fmt.Sprintf("more than %d nodes", maxNodes))
					}
				}
			}
			level = next
		}
	}
	if len(t.hosts) < 2 || len(t.hosts) > maxHosts {
		return bad(fmt.Sprintf("%d hosts, allowed are 2 to %d", len(t.hosts), maxHosts))
	}
	return t, nil
}

// toward is the endpoint of switch n that leads to the host with this number.
func (t *topology) toward(n, host int) int {
	at := t.hosts[host]
	for at != 0 && t.nodes[at].parent != n {
		at = t.nodes[at].parent
	}
	if at == 0 {
		return len(t.nodes[n].children)
	}
	return t.nodes[at].endpoint
}

// automorphism is a permutation of the nodes that maps the tree to itself.
type automorphism struct {
	to        []int   // node
	lane      []int   // host number
	endpoints [][]int // endpoint of a switch to that of its image
}

// automorphisms are all of the tree that leave host fixed alone (-1: none is fixed); the first is the identity. Beyond limit of them
// only the identity is given: a set that is no group would be unsound.
func (t *topology) automorphisms(fixed, limit int) []automorphism {
	var shape func(n int) string
	shape = func(n int) string {
		if h := t.nodes[n].host; h >= 0 {
			if h == fixed {
				return "r"
			}
			return "h"
		}
		// Children keep their order: equal shapes are then interchangeable one by one, which all our trees are made of.
		s := "("
		for _, c := range t.nodes[n].children {
			s += shape(c)
		}
		return s + ")"
	}
	// maps gives all ways to map the subtree of a onto that of b.
	var maps func(a, b int) [][]int
	maps = func(a, b int) [][]int {
		base := make([]int, len(t.nodes))
		for i := range base {
			base[i] = -1
		}
		base[a] = b
		all := [][]int{base}
		ca, cb := t.nodes[a].children, t.nodes[b].children
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
		id := make([]int, len(t.nodes))
		for i := range id {
			id[i] = i
		}
		all = [][]int{id}
	}
	var out []automorphism
	for _, m := range all {
		a := automorphism{to: m, lane: make([]int, len(t.hosts)), endpoints: make([][]int, len(t.nodes))}
		for h, n := range t.hosts {
			a.lane[h] = t.nodes[m[n]].host
		}
		for n := range t.nodes {
			if t.nodes[n].host >= 0 {
				continue
			}
			k := len(t.nodes[n].children)
			a.endpoints[n] = make([]int, k+1)
			for i, c := range t.nodes[n].children {
				a.endpoints[n][i] = t.nodes[m[c]].endpoint
			}
			a.endpoints[n][k] = k
		}
		out = append(out, a)
	}
	return out
}
