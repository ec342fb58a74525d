// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"strings"
)

// engineState is what groups have of one of the engines of a switch. Engines share nothing: a group has its record and its slots at one of them.
type engineState struct {
	memory memory
	inTurn int // slots that groups have in turn, one beside the other
	groups int
	load   int // what they may send: the rate of each, as often as it has endpoints there
}

// groups are those of all engines of a switch.
func (n *nodeState) groups() (sum int) {
	for i := range n.engines {
		sum += n.engines[i].groups
	}
	return sum
}

// left are the free slots of all engines of a switch.
func (n *nodeState) left() (sum int) {
	for i := range n.engines {
		sum += n.engines[i].memory.left()
	}
	return sum
}

// at is the engine at which a group is.
func (p *Placer) at(sw *Switch) *engineState { return &p.nodes[sw.node].engines[sw.Engine] }

// load is what a group puts on the engine at a switch of its tree.
func load(t *Tree, sw *Switch) int {
	ends := len(sw.Children)
	if sw.Parent >= 0 {
		ends++
	}
	return t.Mbps * ends
}

// takes tells whether an engine of a switch has a record and so many slots for the group.
func (s *search) takes(node, engine, slots int) bool {
	e := &s.p.nodes[node].engines[engine]
	room := e.memory.most
	if s.inTurn(node) {
		room = s.p.net.Nodes[node].Shared
	}
	return e.groups < s.p.engines[s.p.engine[node]].Groups && room >= slots
}

// takesSome tells whether some engine of a switch has them.
func (s *search) takesSome(node, slots int) bool {
	for i := range s.p.nodes[node].engines {
		if s.takes(node, i, slots) {
			return true
		}
	}
	return false
}

// engineFor is the engine of a switch at which the group is put: of those that can take it the one with the least load, of equals the one with the most slots
// left, then the first. Of a group that has its slots in turn those count most that others like it have. -1: none can take it.
func (s *search) engineFor(node, slots int) int {
	all, best := s.p.nodes[node].engines, -1
	for i := range all {
		if s.takes(node, i, slots) && (best < 0 || s.order(node, &all[i], &all[best]) < 0) {
			best = i
		}
	}
	return best
}

// order compares engines of a switch: the one that comes first is the better one.
func (s *search) order(node int, a, b *engineState) int {
	if s.inTurn(node) {
		return cmp.Or(a.inTurn-b.inTurn, a.load-b.load)
	}
	return cmp.Or(a.load-b.load, b.memory.left()-a.memory.left())
}

// left is how many slots the engine has that the group would get at a switch; where it has them in turn, less what others like it have, which may be more than there are.
func (s *search) left(node, k int) int {
	i := s.engineFor(node, s.slots(s.p.net.Nodes[node].Engine, k))
	switch {
	case i < 0:
		return 0
	case s.inTurn(node):
		return s.p.net.Nodes[node].Shared - s.p.nodes[node].engines[i].inTurn
	}
	return s.p.nodes[node].engines[i].memory.left()
}

// noEngine says why no engine of a switch takes a group of so many slots.
func (s *search) noEngine(node, slots int) string {
	p, all := s.p.net.Nodes[node].Engine, s.p.nodes[node].engines
	has := func(e *engineState) string {
		text := fmt.Sprintf("has %s left", kib(p, e.memory.left()))
		if e.memory.left() >= slots {
			text += fmt.Sprintf(", at most %s of it in one piece", kib(p, e.memory.most))
		}
		if e.groups >= p.Groups {
			text = fmt.Sprintf("serves %d groups and can serve no more", e.groups)
		}
		return text
	}
	if len(all) == 1 {
		text := fmt.Sprintf("has %s left, %s asked", kib(p, all[0].memory.left()), kib(p, slots))
		if all[0].memory.left() >= slots {
			text += fmt.Sprintf("; at most %s of it in one piece", kib(p, all[0].memory.most))
		}
		return text
	}
	var each []string
	for i := range all {
		each = append(each, fmt.Sprintf("engine %d %s", i, has(&all[i])))
	}
	return fmt.Sprintf("has no engine with %s, which are asked of one: %s", kib(p, slots), strings.Join(each, ", "))
}
