// SPDX-License-Identifier: Apache-2.0

package message

import "incforge/roce"

// For those who watch.

// InUse is the number of slots that hold anything: messages of which something was taken and that not all have acknowledged.
func (g *Group) InUse() int {
	n := 0
	for p := range pools {
		n += g.begun(p)
	}
	return n
}

// Empty tells whether a group can give its slots up: nobody is in a message, what was begun is complete and acknowledged by all, and no release is
// under way. Then all of an endpoint's places are one.
func (g *Group) Empty() bool { return g.InUse() == 0 && !g.releasing }

// begun is how many messages from a pool's start on somebody has begun.
func (g *Group) begun(p Pool) int {
	most := 0
	for mask := g.roles.Fills[p]; mask != 0; mask &= mask - 1 {
		e := &g.ends[lowest(mask)]
		have := e.message.Diff(g.rings[p].start)
		if e.inside {
			have++
		}
		most = max(most, have)
	}
	return most
}

// Slot tells whether the message that an endpoint is in or comes to has a slot, and whether anybody has begun it.
func (g *Group) Slot(end int) (begun, fits bool) {
	p, m := g.poolFrom(end), g.ends[end].message
	if !m.Before(g.room(p)) {
		return false, false
	}
	s := &g.slots[g.slotOf(p, m)]
	return s.mark > 0 || s.known, true
}

// Progress is the first message that is not complete, of the pool that is filled first, and how many from there on somebody has begun.
func (g *Group) Progress() (done roce.PSN, partial int) {
	p := Aggregation
	if g.roles.Fills[Aggregation] == 0 {
		p = Broadcast
	}
	r := &g.rings[p]
	return r.done, max(g.begun(p)-r.done.Diff(r.start), 0)
}

// Owed is the first PSN that an endpoint has not acknowledged, and how many were sent to it from there on.
func (g *Group) Owed(end int) (unacked roce.PSN, packets int) {
	s := &g.outs[end]
	return s.unacked.psn, s.beyond.psn.Diff(s.unacked.psn)
}
