// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"incforge/contract"
)

// Request asks for a tree.
type Request struct {
	// Group names it among the groups that are placed.
	Group string
	// Members are hosts by name, in the order of their ranks.
	Members []string
	Policy  Policy
	// Mbps is the width that is wanted, Least the least that will do; 0 is Mbps.
	Mbps, Least int
	// MTU is the payload of a full packet in bytes. Mode is the engines' mode. Message is the longest message in bytes, in Mode I, where a slot has room for one; other
	// modes have none.
	MTU, Mode, Message int
	// DType is the element type's code. InBand is a group that is told by its ranks what to do next, whatever the type.
	DType  uint8
	InBand bool
	// InTurn is a group that takes turns: it has no slots between them where switches share some in time.
	InTurn bool
}

// Tree is a tree that was placed.
type Tree struct {
	Group   string   `json:"group"`
	Policy  string   `json:"policy"`
	Members []string `json:"members"`
	Depth   int      `json:"depth"`
	// Mbps is the width, Window the packets under way with which it is reached, in Mode I messages of at most Message bytes; engines keep 2^Log2N of them.
	Mbps   int `json:"mbps"`
	Window int `json:"window"`
	Log2N  int `json:"log2_n"`
	MTU    int `json:"mtu"`
	// Message is 0 in other modes than Mode I.
	Message int `json:"message,omitempty"`
	// Switches begin with the root; parents come before their children.
	Switches []Switch `json:"switches"`
}

// String is the tree from its root, every switch with what is below it: spine0(leaf0(h0 h1) leaf1(h4)).
func (t *Tree) String() string {
	if len(t.Switches) == 0 {
		return ""
	}
	var below func(i int) string
	below = func(i int) string {
		var all []string
		for _, c := range t.Switches[i].Children {
			switch {
			case c.Switch > i && c.Switch < len(t.Switches): // parents come before their children
				all = append(all, below(c.Switch))
			case c.Rank >= 0 && c.Rank < len(t.Members):
				all = append(all, t.Members[c.Rank])
			}
		}
		return t.Switches[i].Name + "(" + strings.Join(all, " ") + ")"
	}
	return below(0)
}

// Switch is a switch of a tree and what the group has there.
type Switch struct {
	Name string `json:"name"`
	// Parent is the index of the switch above, -1 at the root; Port leads there.
	Parent int `json:"parent"`
	Port   int `json:"port"`
	// Children are by endpoint; the endpoint after the last child's leads to the parent.
	Children []Child `json:"children"`
	// Engine is the one of the switch's engines that serves the group. Base is the group's first slot there, Slots how many it has. InTurn: it has them in its turns
	// alone, and Base is 0.
	Engine int  `json:"engine,omitempty"`
	Base   int  `json:"base"`
	Slots  int  `json:"slots"`
	InTurn bool `json:"in_turn,omitempty"`

	node, link int // the link to the parent
}

// Child is what is below an endpoint.
type Child struct {
	Port int `json:"port"`
	// Switch is the index of the switch in the tree, -1 for a host; Rank is the host's, -1 for a switch.
	Switch int `json:"switch"`
	Rank   int `json:"rank"`

	link int
}

// Placer keeps account of a network. It is not safe for use by several goroutines at once.
type Placer struct {
	net    *Network
	names  map[string]int
	arcs   [][]arc // by node
	links  []linkState
	nodes  []nodeState
	groups map[string]*placed
	// Engines that differ, and by node which of them it has; -1 is none.
	engines []*contract.Params
	engine  []int
}

// arc is a link as one of its ends sees it.
type arc struct{ link, to, port int }

type linkState struct {
	held, groups int
	down         bool
}

type nodeState struct {
	engines []engineState
	down    bool
}

// placed is a tree with what it holds of each of its links. It holds nothing any more at the switches that are gone, and of the links below them.
type placed struct {
	tree Tree
	held map[int]int
	gone map[string]bool
}

// Errors of a Placer beside refusals.
var (
	ErrUnknown = errors.New("not in the network")
	ErrExists  = errors.New("the group is placed already")
)

// New makes the account of a network in which no group is.
func New(net *Network) (*Placer, error) {
	if err := net.Validate(); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	p := &Placer{net: net, names: make(map[string]int, len(net.Nodes)), arcs: make([][]arc, len(net.Nodes)), links: make([]linkState, len(net.Links)),
		nodes: make([]nodeState, len(net.Nodes)), groups: map[string]*placed{}}
	known := map[*contract.Params]int{}
	for i, n := range net.Nodes {
		p.names[n.Name] = i
		p.engine = append(p.engine, -1)
		if n.Engine == nil {
			continue
		}
		for range n.Engine.EngineCount() {
			p.nodes[i].engines = append(p.nodes[i].engines, engineState{memory: newMemory(n.Engine.Slots() - n.SetAside)})
		}
		e, ok := known[n.Engine]
		if !ok {
			e = len(p.engines)
			known[n.Engine] = e
			p.engines = append(p.engines, n.Engine)
		}
		p.engine[i] = e
	}
	for i, l := range net.Links {
		a, b := l.Ends[0], l.Ends[1]
		p.arcs[a.Node] = append(p.arcs[a.Node], arc{i, b.Node, a.Port})
		p.arcs[b.Node] = append(p.arcs[b.Node], arc{i, a.Node, b.Port})
	}
	return p, nil
}

// Network is the network. It must not be changed.
func (p *Placer) Network() *Network { return p.net }

// Groups are the names of the groups that are placed, in order.
func (p *Placer) Groups() []string { return slices.Sorted(maps.Keys(p.groups)) }

// Tree is the tree of a group.
func (p *Placer) Tree(group string) (Tree, bool) {
	g, ok := p.groups[group]
	if !ok {
		return Tree{}, false
	}
	return g.tree.clone(), true
}

// Front are the best trees that could be had now: each is wider than all that are less deep. It takes nothing.
func (p *Placer) Front(r Request) ([]Candidate, error) {
	s, err := p.search(r)
	if err != nil {
		return nil, err
	}
	front := s.front()
	if len(front) == 0 {
		return nil, s.refusal()
	}
	return front, nil
}

// Place finds a tree and takes what it needs. What is not to be had is an *Refusal.
func (p *Placer) Place(r Request) (Tree, error) {
	if _, ok := p.groups[r.Group]; ok {
		return Tree{}, fmt.Errorf("place group %s: %w", r.Group, ErrExists)
	}
	s, err := p.search(r)
	if err != nil {
		return Tree{}, err
	}
	front := s.front()
	if len(front) == 0 {
		return Tree{}, s.refusal()
	}
	c := front[r.Policy.Pick(front, r.Mbps)]
	g := &placed{tree: s.tree(c), held: map[int]int{}, gone: map[string]bool{}}
	for i := range g.tree.Switches {
		sw := &g.tree.Switches[i]
		if sw.Engine = s.engineFor(sw.node, sw.Slots); sw.Engine < 0 {
			panic(fmt.Sprintf("placement: %s lost slots while a tree was searched", sw.Name)) // search saw them free
		}
		if !sw.InTurn {
			sw.Base, _ = p.at(sw).memory.take(sw.Slots)
		}
	}
	p.hold(g, r.Policy)
	return g.tree.clone(), nil
}

// hold enters the links and group records of a tree whose slots are taken.
func (p *Placer) hold(g *placed, policy Policy) {
	for i := range g.tree.Switches {
		sw := &g.tree.Switches[i]
		if g.gone[sw.Name] {
			continue
		}
		e := p.at(sw)
		e.groups++
		e.load += load(&g.tree, sw)
		if sw.InTurn {
			e.inTurn += sw.Slots
		}
		for _, c := range sw.Children {
			l := &p.links[c.link]
			held := policy.Hold(p.net.Links[c.link].Mbps, g.tree.Mbps)
			g.held[c.link] = held
			l.held += held
			l.groups++
		}
	}
	p.groups[g.tree.Group] = g
}

// Hold enters a tree that was placed earlier, by another Placer of the same network, say. It refuses what contradicts the network or what
// another group has; then nothing is taken.
func (p *Placer) Hold(t Tree) error {
	g, policy, err := p.earlier(t)
	if err != nil {
		return err
	}
	for i := range g.tree.Switches {
		sw := &g.tree.Switches[i]
		if p.claim(sw) {
			continue
		}
		for j := range i {
			if back := &g.tree.Switches[j]; !back.InTurn {
				p.at(back).memory.give(back.Base, back.Slots)
			}
		}
		if sw.InTurn {
			return fmt.Errorf("hold group %s: it needs %d slots in turn, %s shares %d", t.Group, sw.Slots, sw.Name, p.net.Nodes[sw.node].Shared)
		}
		where := sw.Name
		if len(p.nodes[sw.node].engines) > 1 {
			where = fmt.Sprintf("engine %d of %s", sw.Engine, sw.Name)
		}
		return fmt.Errorf("hold group %s: slots %d to %d of %s are not free", t.Group, sw.Base, sw.Base+sw.Slots-1, where)
	}
	p.hold(g, policy)
	return nil
}

// claim takes what a tree has of a switch's slots, if all of them are free.
func (p *Placer) claim(sw *Switch) bool {
	if sw.InTurn {
		return sw.Slots <= p.net.Nodes[sw.node].Shared
	}
	return p.at(sw).memory.claim(sw.Base, sw.Slots)
}

// HoldRest enters what is left of a tree that is being removed: not the switches that are gone, nor those whose slots others have by now.
func (p *Placer) HoldRest(t Tree, gone []string) error {
	g, policy, err := p.earlier(t)
	if err != nil {
		return err
	}
	for i := range g.tree.Switches {
		sw := &g.tree.Switches[i]
		g.gone[sw.Name] = slices.Contains(gone, sw.Name) || !p.claim(sw)
	}
	p.hold(g, policy)
	return nil
}

// earlier finds a tree in the network.
func (p *Placer) earlier(t Tree) (*placed, Policy, error) {
	if _, ok := p.groups[t.Group]; ok {
		return nil, nil, fmt.Errorf("hold group %s: %w", t.Group, ErrExists)
	}
	policy, err := PolicyOf(t.Policy)
	g := &placed{tree: t.clone(), held: map[int]int{}, gone: map[string]bool{}}
	if err == nil {
		err = p.locate(&g.tree)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("hold group %s: %w", t.Group, err)
	}
	return g, policy, nil
}

// clone copies what a caller could change.
func (t Tree) clone() Tree {
	t.Members = slices.Clone(t.Members)
	t.Switches = slices.Clone(t.Switches)
	for i := range t.Switches {
		t.Switches[i].Children = slices.Clone(t.Switches[i].Children)
	}
	return t
}

// locate finds a tree's nodes and links in the network.
func (p *Placer) locate(t *Tree) error {
	for i := range t.Switches {
		sw := &t.Switches[i]
		n, ok := p.names[sw.Name]
		if !ok || p.net.Nodes[n].Engine == nil {
			return fmt.Errorf("switch %s, or an engine in it: %w", sw.Name, ErrUnknown)
		}
		if sw.Parent >= i || (sw.Parent < 0) != (i == 0) {
			return fmt.Errorf("switch %s has its parent at %d: no tree", sw.Name, sw.Parent)
		}
		if engines := p.net.Nodes[n].Engine.EngineCount(); sw.Engine < 0 || sw.Engine >= engines {
			return fmt.Errorf("switch %s has %d engines, the group is at engine %d", sw.Name, engines, sw.Engine)
		}
		sw.node = n
	}
	for i := range t.Switches {
		sw := &t.Switches[i]
		for j := range sw.Children {
			c := &sw.Children[j]
			var to string
			switch {
			case c.Switch > i && c.Switch < len(t.Switches) && t.Switches[c.Switch].Parent == i:
				to = t.Switches[c.Switch].Name
			case c.Switch < 0 && c.Rank >= 0 && c.Rank < len(t.Members):
				to = t.Members[c.Rank]
			default:
				return fmt.Errorf("child %d of switch %s: no tree", j, sw.Name)
			}
			at := slices.IndexFunc(p.arcs[sw.node], func(a arc) bool { return a.port == c.Port && p.net.Nodes[a.to].Name == to })
			if at < 0 {
				return fmt.Errorf("a link from port %d of %s to %s: %w", c.Port, sw.Name, to, ErrUnknown)
			}
			c.link = p.arcs[sw.node][at].link
			if c.Switch >= 0 {
				t.Switches[c.Switch].link = c.link
			}
		}
	}
	return nil
}

// Release gives back all that a group holds. It reports whether the group was placed.
func (p *Placer) Release(group string) bool {
	g, ok := p.groups[group]
	if !ok {
		return false
	}
	for i := range g.tree.Switches {
		p.vacate(g, &g.tree.Switches[i])
	}
	delete(p.groups, group)
	return true
}

// Vacate gives back what a group holds at a switch and of the links below it. Nothing happens if there is no such group, or it is not there.
func (p *Placer) Vacate(group, node string) {
	g, ok := p.groups[group]
	if !ok {
		return
	}
	for i := range g.tree.Switches {
		if sw := &g.tree.Switches[i]; sw.Name == node {
			p.vacate(g, sw)
		}
	}
}

func (p *Placer) vacate(g *placed, sw *Switch) {
	if g.gone[sw.Name] {
		return
	}
	g.gone[sw.Name] = true
	e := p.at(sw)
	if sw.InTurn {
		e.inTurn -= sw.Slots
	} else {
		e.memory.give(sw.Base, sw.Slots)
	}
	e.groups--
	e.load -= load(&g.tree, sw)
	for _, c := range sw.Children {
		p.links[c.link].held -= g.held[c.link]
		p.links[c.link].groups--
		delete(g.held, c.link)
	}
}

// SetDown says that a node cannot be used for new trees, or can again.
func (p *Placer) SetDown(node string, down bool) error {
	n, ok := p.names[node]
	if !ok {
		return fmt.Errorf("node %s: %w", node, ErrUnknown)
	}
	p.nodes[n].down = down
	return nil
}

// SetLinkDown says the same of a link, by its number in the network.
func (p *Placer) SetLinkDown(link int, down bool) error {
	if link < 0 || link >= len(p.links) {
		return fmt.Errorf("link %d: %w", link, ErrUnknown)
	}
	p.links[link].down = down
	return nil
}

// LinkDown tells what SetLinkDown said last.
func (p *Placer) LinkDown(link int) bool { return p.links[link].down }

// Usage is what groups hold of a switch's engine.
type Usage struct {
	Name          string
	Slots, Free   int // of all buffers, without what is set aside for turns
	SlotBytes     int // that a slot holds
	Groups, Limit int
	Down          bool
	// Engines are the engines one by one, where there are several.
	Engines []EngineUsage
}

// EngineUsage is what groups hold of one of the engines of a switch: Free are its slots that nobody has.
type EngineUsage struct{ Groups, Free int }

// Usage lists the switches that have an engine.
func (p *Placer) Usage() []Usage {
	var all []Usage
	for i, n := range p.net.Nodes {
		if n.Engine == nil {
			continue
		}
		s, e := &p.nodes[i], n.Engine
		u := Usage{Name: n.Name, Slots: e.EngineCount() * (e.Slots() - n.SetAside), Free: s.left(), SlotBytes: slotBytes(e), Groups: s.groups(), Limit: e.AllGroups(), Down: s.down}
		for j := range s.engines {
			if len(s.engines) > 1 {
				u.Engines = append(u.Engines, EngineUsage{s.engines[j].groups, s.engines[j].memory.left()})
			}
		}
		all = append(all, u)
	}
	return all
}

// Uses lists the groups that have a node, a switch or a host, in order.
func (p *Placer) Uses(node string) []string {
	var all []string
	for _, name := range p.Groups() {
		t := &p.groups[name].tree
		if slices.Contains(t.Members, node) || slices.ContainsFunc(t.Switches, func(s Switch) bool { return s.Name == node }) {
			all = append(all, name)
		}
	}
	return all
}

// Broken says what of a group's tree is down; empty if nothing is, or if there is no such group.
func (p *Placer) Broken(group string) string {
	g, ok := p.groups[group]
	if !ok {
		return ""
	}
	for _, sw := range g.tree.Switches {
		for _, c := range sw.Children {
			if p.links[c.link].down {
				return fmt.Sprintf("the link %s is down", p.net.LinkName(c.link))
			}
		}
	}
	return ""
}
