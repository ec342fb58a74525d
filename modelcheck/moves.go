// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"fmt"
	"math/bits"

	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
)

// label says what a transition is.
type label struct {
	kind      string // one of scenario's moves
	node      uint8  // that does something, or that gets a packet
	link      uint8  // the node between which and its parent the packet was
	direction uint8  // of the packet
	index     uint8  // of the packet in the queue, of the action in the node's list
}

// Places of the budgets in the last word of a state.
const (
	lossAt    = 0
	dupAt     = 4
	reorderAt = 8
	earlyAt   = 12
	rnrAt     = 16
	parkAt    = 20
)

func left(budget uint32, at int) bool { return budget>>at&15 != 0 }

// A visitor is told of a transition: next is the state it leads to, which holds until the visitor returns; fault is what the transition
// breaks; free transitions cost nothing of a budget.
type visitor func(l label, next []uint32, fault error, free bool)

// expansion finds the transitions of states, one state after the other.
type expansion struct {
	*system
	reduce bool // only those of a stubborn set
	visit  visitor
	next   []uint32 // what the visitor gets

	state  []uint32 // at hand
	comps  []*component
	budget uint32
}

// expansion is one whose transitions a visitor is told of.
func (s *system) expansion(reduce bool, visit visitor) *expansion {
	return &expansion{system: s, reduce: reduce, visit: visit, next: make([]uint32, len(s.start)), comps: make([]*component, len(s.start)-1)}
}

// of visits each transition of a state.
func (e *expansion) of(state []uint32) (quiet bool) {
	n := len(e.comps)
	e.state, e.budget = state, state[n]
	for i, c := range state[:n] {
		e.comps[i] = e.system.comps.at(c)
	}
	if e.quiet() {
		for i := range n {
			e.timeouts(i, scenario.MoveTimeout, 0)
			e.parks(i)
		}
		return true
	}
	set := uint32(1)<<n - 1
	if e.reduce {
		set = e.stubborn()
	}
	for i, c := range e.comps {
		if set>>i&1 == 0 {
			continue
		}
		if c.length(down) > 0 {
			e.deliver(i, down, i)
		}
		for _, child := range e.Topo.Nodes[i].Children {
			if e.comps[child].length(up) > 0 {
				e.deliver(child, up, i)
			}
		}
		for a := range c.n.sends {
			e.try(label{kind: scenario.MoveSend, node: uint8(i), index: uint8(a)}, i, e.state[i], 0, ask{code: codeAction + uint32(a)})
		}
		if left(e.budget, earlyAt) {
			e.timeouts(i, scenario.MoveEarly, 1<<earlyAt)
		}
		e.parks(i)
	}
	return false
}

// quiet tells whether nothing is on its way and no engine wants to send.
func (e *expansion) quiet() bool {
	for _, c := range e.comps {
		if c.length(up)|c.length(down) != 0 || c.n.sends != 0 {
			return false
		}
	}
	return true
}

// stubborn is a set of nodes whose steps are enough to look at in a state: see the package comment. It is all of them if the order of
// packets on a link may still change.
func (e *expansion) stubborn() uint32 {
	all := uint32(1)<<len(e.comps) - 1
	if left(e.budget, reorderAt) {
		return all
	}
	for _, h := range e.Topo.Hosts {
		if e.comps[h].length(down) > 0 {
			return 1 << h
		}
	}
	best, fewest := all, 1<<30
	for _, seed := range e.Topo.Switches {
		set, moves := e.closure(seed)
		if moves > 0 && moves < fewest {
			best, fewest = set, moves
		}
	}
	return best
}

// closure is the least set with a node such that every empty link into it comes from it, and the number of its free transitions.
func (e *expansion) closure(seed int) (set uint32, moves int) {
	set = uint32(1) << seed
	for todo := set; todo != 0; {
		n := bits.TrailingZeros32(todo)
		todo &= todo - 1
		moves += e.comps[n].n.sends
		link := func(length, from int) {
			if length != 0 {
				moves++
			} else if set>>from&1 == 0 {
				todo |= 1 << from
				set |= 1 << from
			}
		}
		if parent := e.Topo.Nodes[n].Parent; parent >= 0 {
			link(e.comps[n].length(down), parent)
		}
		for _, c := range e.Topo.Nodes[n].Children {
			link(e.comps[c].length(up), c)
		}
	}
	return set, moves
}

// timeouts are the time-outs and resumptions of a node.
func (e *expansion) timeouts(i int, kind string, cost uint32) {
	l := label{kind: kind, node: uint8(i)}
	n := e.comps[i].n
	if e.Roles[i] != nil && n.host.Outstanding() {
		e.try(l, i, e.state[i], cost, ask{code: codeTimeout})
	}
	for a := n.sends; a < len(n.acts) && n.acts[a].Kind != model.ActPark; a++ {
		l.index = uint8(a)
		e.try(l, i, e.state[i], cost, ask{code: codeAction + uint32(a)})
	}
}

// parks is a node's parking, the last of its actions.
func (e *expansion) parks(i int) {
	acts := e.comps[i].n.acts
	if last := len(acts) - 1; last >= 0 && acts[last].Kind == model.ActPark && left(e.budget, parkAt) {
		e.try(label{kind: scenario.MovePark, node: uint8(i), index: uint8(last)}, i, e.state[i], 1<<parkAt, ask{code: codeAction + uint32(last)})
	}
}

// deliver is all that may happen to the packets on the link between a node and its parent in a direction, on their way to node to.
func (e *expansion) deliver(link, direction, to int) {
	c, comp := e.comps[link], e.state[link]
	l := label{node: uint8(to), link: uint8(link), direction: uint8(direction)}
	a := ask{code: codeDeliver, packet: c.head[direction]}
	switch {
	case direction == up:
		a.code = uint32(e.Topo.Nodes[link].Slot)
	case e.Roles[to] == nil:
		a.code = uint32(len(e.Topo.Nodes[to].Children))
	}
	rest := e.take(comp, direction, 0)
	try := func(kind string, comp uint32, cost uint32, a ask) {
		l.kind = kind
		e.try(l, link, comp, cost, a)
	}
	try(scenario.MoveDeliver, rest, 0, a)
	if left(e.budget, lossAt) {
		try(scenario.MoveLose, rest, 1<<lossAt, ask{code: codeNothing})
	}
	if left(e.budget, dupAt) {
		try(scenario.MoveDuplicate, comp, 1<<dupAt, a)
	}
	if left(e.budget, reorderAt) {
		packets := *e.queues.at(c.Queues[direction])
		for i := 1; i < len(packets); i++ {
			l.index = uint8(i)
			try(scenario.MoveDeliver, e.take(comp, direction, i), 1<<reorderAt, ask{code: a.code, packet: packets[i]})
		}
		l.index = 0
	}
	if a.code == codeDeliver && left(e.budget, rnrAt) {
		ready, unready := ask{rest, codeDeliver, a.packet}, ask{rest, codeNotReady, a.packet}
		if e.step(ready).comp != e.step(unready).comp {
			try(scenario.MoveNotReady, rest, 1<<rnrAt, unready)
		}
	}
}

// try takes a transition: node link's component becomes comp, and then the label's node does what is asked of it.
func (e *expansion) try(l label, link int, comp, cost uint32, a ask) {
	copy(e.next, e.state)
	e.next[link] = comp
	e.next[len(e.comps)] -= cost
	var fault error
	if a.code != codeNothing {
		a.of = e.next[l.node]
		o := e.step(a)
		e.next[l.node] = o.comp
		for _, d := range o.down {
			e.next[d.node] = e.push(e.next[d.node], d.queue)
		}
		fault = o.fault
	}
	e.visit(l, e.next, fault, cost == 0)
}

// finished tells whether a quiet state without transitions is what all should end in, and what is missing if not.
func (s *system) finished(state []uint32) (missing string, ok bool) {
	for i, role := range s.Roles {
		n := s.comps.at(state[i]).n
		switch {
		case n.idle:
			continue
		case role != nil:
			missing = fmt.Sprintf("%s has %d of %d packets acknowledged and got %d of %d",
				s.Topo.Name(i), n.host.Base, role.Send, n.host.Expected, role.Receive)
		default:
			missing = s.Topo.Name(i) + " holds unfinished slots"
		}
		return "nothing is on its way, no timer runs, and " + missing, false
	}
	return "", true
}
