// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"incforge/control/placement"
)

// sharing is the policy of links in spatial and temporal: rates are not reserved, as max-min shares them whatever was planned. A link's room is
// what a further group would get of it. Tensor and data parallelism of a job take turns, so each has a count of its own: a digit of what is held.
type sharing struct{ kind kind }

// digit is large enough for all groups of a kind on a link.
const digit = 1 << 20

func (p sharing) String() string { return Spatial }

func (p sharing) one() int {
	if p.kind == data {
		return digit
	}
	return 1
}

// Room is the rate over the groups that there would be.
func (p sharing) Room(mbps, held, _ int) int { return mbps / (held/p.one()%digit + 1) }

// Hold counts the group.
func (p sharing) Hold(int, int) int { return p.one() }

// Pick is that of placement's own spatial policy.
func (p sharing) Pick(front []placement.Candidate, want int) int {
	return placement.Spatial{}.Pick(front, want)
}

// engines are the trees that groups have, and what is locked at switches.
type engines struct {
	spec   *Spec
	policy string
	placer *placement.Placer
	node   map[string]int
	at     map[placement.End]int
	// free is, by node, what a lock can still take of limit: units or slots. Temporal alone uses them.
	free  []int
	limit int
	// onLink and onNode count the trees that have a link, and the engine of a switch.
	onLink, onNode []int
	// unplaced counts the groups that got no tree.
	unplaced int
}

func (c *cluster) engines(s *Spec, policy string, limit int) (*engines, error) {
	placer, err := placement.New(c.net)
	if err != nil {
		return nil, fmt.Errorf("flows: %w", err)
	}
	e := &engines{spec: s, policy: policy, placer: placer, node: map[string]int{}, at: map[placement.End]int{}, limit: limit, free: make([]int, len(c.net.Nodes)),
		onLink: make([]int, len(c.net.Links)), onNode: make([]int, len(c.net.Nodes))}
	for i, n := range c.net.Nodes {
		e.node[n.Name] = i
		e.free[i] = limit
	}
	for i, l := range c.net.Links {
		e.at[l.Ends[0]] = i
	}
	return e, nil
}

// request is what a group asks of the placement.
func (e *engines) request(c *cluster, g *group) placement.Request {
	r := placement.Request{Group: g.name, Mbps: c.shape.Mbps, Least: 1, MTU: e.spec.Payload, Mode: 2, Policy: sharing{g.kind}}
	if e.policy == EdgeDisjoint {
		r.Policy = placement.EdgeDisjoint{}
	}
	for _, h := range g.hosts {
		r.Members = append(r.Members, c.net.Nodes[h].Name)
	}
	return r
}

// hopeless tells that a group gets no tree because what is next to a member is taken, link or leaf. The placement would say the same, and
// name every reason, which takes most of the time of a simulation in which many are refused.
func (e *engines) hopeless(c *cluster, g *group) bool {
	for _, h := range g.hosts {
		l := c.upLink(h, 1, 0)
		leaf := c.net.Links[l].Ends[0].Node
		switch e.policy {
		case EdgeDisjoint:
			if e.onLink[l] > 0 {
				return true
			}
		case Spatial:
			if e.onNode[leaf] >= c.net.Nodes[leaf].Engine.AllGroups() {
				return true
			}
		}
	}
	return false
}

// count enters a tree in the counts, or with by -1 takes it out.
func (e *engines) count(g *group, by int) {
	for _, sw := range g.switches {
		e.onNode[sw] += by
	}
	for _, u := range g.uses {
		if u.link%2 == up {
			e.onLink[u.link/2] += by
		}
	}
}

// place looks for a tree for a group, and leaves the group without one if there is none.
func (e *engines) place(c *cluster, g *group) error {
	if e.hopeless(c, g) {
		e.unplaced++
		return nil
	}
	t, err := e.placer.Place(e.request(c, g))
	var refused *placement.Refusal
	switch {
	case errors.As(err, &refused):
		e.unplaced++
		return nil
	case err != nil:
		return fmt.Errorf("flows: %w", err)
	}
	g.tree, g.uses, g.cap = &t, c.tree(t, e.node, e.at), math.Inf(1)
	for _, sw := range t.Switches {
		g.switches, g.slots = append(g.switches, e.node[sw.Name]), append(g.slots, sw.Slots)
	}
	e.count(g, 1)
	if len(e.spec.Units) > 0 { // a unit is as much as a group can use
		for i := range g.slots {
			g.slots[i] = 1
		}
		return nil
	}
	window := t.Window
	if e.policy == Temporal { // the tree was planned without a bound on memory: a smaller window fits
		for slices.Max(g.slots) > e.limit && window > 1 {
			window /= 2
			for i := range g.slots {
				g.slots[i] /= 2
			}
		}
	}
	g.cap = float64(window) * float64(t.MTU) / (c.shape.HopRTT.Seconds() * float64(t.Depth))
	return nil
}

// lock takes what a group needs at all switches of its tree, or nothing. Only under the temporal policy can it fail.
func (e *engines) lock(g *group) bool {
	if g.tree == nil {
		return false
	}
	if e.policy != Temporal {
		return true
	}
	for i, sw := range g.switches {
		if e.free[sw] < g.slots[i] {
			return false
		}
	}
	for i, sw := range g.switches {
		e.free[sw] -= g.slots[i]
	}
	return true
}

func (e *engines) unlock(g *group) {
	if e.policy == Temporal {
		for i, sw := range g.switches {
			e.free[sw] += g.slots[i]
		}
	}
}

// release gives back the trees of a job's groups.
func (e *engines) release(groups [kinds][]*group) {
	for _, g := range slices.Concat(groups[:]...) {
		if g.tree != nil {
			e.placer.Release(g.name)
			e.count(g, -1)
		}
	}
}
