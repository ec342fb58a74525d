// SPDX-License-Identifier: Apache-2.0

// Package message is what a group of the reference engine does in Mode I (docs/termination.md): endpoints are whole RC queue pairs, what is joined are
// messages. It knows packets by opcode, PSN and payload, and endpoints by number; addresses, ranges, counters and whose turn it is are the engine's.
//
//	group.go    settings, start, the beginning of a range, releases
//	pool.go     the rings of slots: where a message lies, what is complete, what is free
//	receive.go  the responder's side: what may be taken, and how it joins its message
//	cut.go      what an endpoint can be sent: results cut by its own path MTU
//	send.go     the requester's side: places, timers, acknowledgements
//	state.go    a group's state as bytes
//	look.go     how far it is, for those who watch
//	check.go    what holds between any two calls
package message

import (
	"math/bits"
	"slices"

	"incforge/roce"
)

// Time is in picoseconds, as the engine's.
type Time int64

// Clock is what timers go by.
type Clock struct{ Now, Timeout Time }

// Pool is one of a group's two pools.
type Pool uint8

// The pools (docs/termination.md section 2).
const (
	// Aggregation is filled by the children and sent to the parent.
	Aggregation Pool = iota
	// Broadcast is filled by the parent, or at a root by what is complete, and sent to the out mask.
	Broadcast

	pools
)

// Arithmetic is what is done to elements. Words are elements as a slot keeps them.
type Arithmetic struct {
	// Bytes is the size of an element in a payload.
	Bytes  int
	Decode func(words []uint32, payload []byte)
	Encode func(payload []byte, words []uint32)
	// Add reduces sum by addend.
	Add func(sum, addend []uint32)
	// Tree reduces what endpoints contributed, in their memory; nil stands for an endpoint that did not.
	Tree func(nodes [][]uint32) []uint32
}

// Memory is the payload memory of a group: Slot words from one slot to the next, Plane words from one endpoint's contribution to the next; if that is 0 they
// are added as they come.
type Memory struct {
	Words       []uint32
	Slot, Plane int
}

// Roles say who does what in a range, or in a fixed group for ever. Masks have one bit an endpoint.
type Roles struct {
	// Fills are those whose data goes into a pool, Outs those that a pool is sent to.
	Fills, Outs [pools]uint32
	// Uses tells which pools hold anything. At a root both are the ring of the broadcast pool.
	Uses [pools]bool
	Root bool
	// Release are those who are told that an iteration is over.
	Release    uint32
	Arithmetic Arithmetic
}

// Settings are a group's, from its registers.
type Settings struct {
	// N is the number of slots of a pool, Bytes the size of a slot.
	N, Bytes int
	// Whole keeps all of a message back until it is complete.
	Whole bool
	// RQ, SQ and MTU are by endpoint: the first PSN that it sends, the first that it is sent, its path MTU.
	RQ, SQ []roce.PSN
	MTU    []int
	Memory Memory
	Wrong  Wrong
}

// Wrong are rules known to be wrong, for model checking; a group for anything else has none. inc.Rules says what they are.
type Wrong struct{ ByPSN, FreeFirst, KeepRefused bool }

// Group is a group that was started.
type Group struct {
	set   Settings
	roles Roles
	first roce.PSN // of the range
	ends  []receiver
	outs  []sender
	rings [pools]ring
	slots []slot

	// Releases: at boundary an iteration of so many messages is over, if there is one.
	bounded   bool
	boundary  roce.PSN
	iteration int
	releasing bool
	over      bool // the iteration's release was acknowledged, and no other follows in the range

	poisoned bool // it sends nothing more

	addend []uint32
	// Freed counts slots that became free, those that moved at a root included.
	Freed uint64
}

// New makes a group as its start leaves it. Begin must follow.
func New(s Settings) *Group {
	g := &Group{set: s, ends: make([]receiver, len(s.MTU)), outs: make([]sender, len(s.MTU)), slots: make([]slot, 2*s.N)}
	g.addend = make([]uint32, slices.Max(s.MTU)/2)
	for i := range g.ends {
		g.ends[i].psn = s.RQ[i]
		g.outs[i].unacked.psn = s.SQ[i]
	}
	return g
}

// Begin begins a range, or what a fixed group does for ever, with message first; all before must be through. An iteration is of so many messages, and with
// again there follow others; 0 is an iteration that never ends.
func (g *Group) Begin(r Roles, first roce.PSN, iteration int, again bool) {
	g.roles, g.first, g.releasing, g.over = r, first, false, false
	g.bounded, g.boundary, g.iteration = r.Release != 0 && iteration > 0, first.Add(iteration), 0
	if again {
		g.iteration = iteration
	}
	for p := range g.rings {
		g.rings[p] = ring{start: first, done: first, sent: place{message: first}}
	}
	clear(g.slots)
	for i := range g.ends {
		g.ends[i].message, g.ends[i].offset, g.ends[i].inside = first, 0, false
		s := &g.outs[i]
		at := place{psn: s.unacked.psn, message: first}
		*s = sender{unacked: at, next: at, beyond: at, failed: s.failed, silent: s.silent}
	}
}

// Drained tells whether everything before message end is acknowledged by all, releases included.
func (g *Group) Drained(end roce.PSN) bool {
	for p, r := range g.rings {
		if g.roles.Uses[p] && (r.start != end || r.done != end) {
			return false
		}
	}
	return !g.bounded || g.over
}

// Poison stops sending for good: what is kept may be wrong, and would be asked for again for ever.
func (g *Group) Poison() { g.poisoned = true }

// Poisoned tells whether it was stopped so.
func (g *Group) Poisoned() bool { return g.poisoned }

// Hears are the endpoints that may be sent something.
func (g *Group) Hears() uint32 {
	return g.roles.Outs[Aggregation] | g.roles.Outs[Broadcast] | g.roles.Release
}

// settle begins a release when an iteration is acknowledged everywhere, and ends it when it is acknowledged itself.
func (g *Group) settle() {
	if !g.bounded || g.over {
		return
	}
	if !g.releasing {
		for p := range g.rings {
			if g.roles.Uses[p] && g.rings[p].start != g.boundary {
				return
			}
		}
		g.releasing = true
	}
	for mask := g.roles.Release; mask != 0; mask &= mask - 1 {
		if !g.outs[lowest(mask)].unacked.released {
			return
		}
	}
	for i := range g.outs {
		s := &g.outs[i]
		s.unacked.released, s.next.released, s.beyond.released = false, false, false
	}
	g.releasing = false
	if g.over = g.iteration == 0; !g.over {
		g.boundary = g.boundary.Add(g.iteration)
	}
}

// owed tells whether an endpoint at a place is to be sent a release.
func (g *Group) owed(end int, at place) bool {
	return g.releasing && g.roles.Release>>end&1 != 0 && !at.released
}

// lowest is the number of the lowest bit of a mask that is not 0.
func lowest(mask uint32) int { return bits.TrailingZeros32(mask) }
