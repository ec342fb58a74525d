// SPDX-License-Identifier: Apache-2.0

package message

import "incforge/roce"

// ring is a pool's slots, by message number. At a root there is one of twice the size, whose state is the broadcast pool's.
type ring struct {
	start roce.PSN // the oldest that an out endpoint has not acknowledged
	done  roce.PSN // the first that is not complete
	head  int      // start's slot within the ring
	sent  place    // S: one packet behind the last that went to those that go along
}

// slot is what is known of a message beside its bytes.
type slot struct {
	mark   int  // the high-water mark: bytes below are somebody's
	known  bool // a LAST or ONLY was taken: mark is the length
	ce     bool
	se     bool
	hasImm bool
	imm    uint32
}

// Move gives a group that is empty other slots: n for each pool. Numbers, PSNs and whatever else is known of its endpoints stay.
func (g *Group) Move(n int, m Memory) {
	g.set.N, g.set.Memory, g.slots = n, m, make([]slot, 2*n)
	for p := range g.rings {
		g.rings[p].head = 0
	}
}

// ringOf gives a pool's first slot and the number of its slots.
func (g *Group) ringOf(p Pool) (base, slots int) {
	switch {
	case g.roles.Root:
		return 0, 2 * g.set.N
	case p == Broadcast:
		return g.set.N, g.set.N
	}
	return 0, g.set.N
}

// slotOf is the slot of a message that is in a pool's ring.
func (g *Group) slotOf(p Pool, m roce.PSN) int {
	base, slots := g.ringOf(p)
	return base + (g.rings[p].head+m.Diff(g.rings[p].start))%slots
}

// moved is the first message that is not in a root's broadcast pool.
func (g *Group) moved() roce.PSN {
	r := &g.rings[Broadcast]
	if most := r.start.Add(g.set.N); most.Before(r.done) {
		return most
	}
	return r.done
}

// room is the first message that has no slot to be received in.
func (g *Group) room(p Pool) roce.PSN {
	if g.roles.Root {
		return g.moved().Add(g.set.N)
	}
	return g.rings[p].start.Add(g.set.N)
}

// poolFrom is the pool that an endpoint fills.
func (g *Group) poolFrom(end int) Pool {
	if g.roles.Fills[Aggregation]>>end&1 != 0 {
		return Aggregation
	}
	return Broadcast
}

// poolTo is the pool that an endpoint hears from, if it hears.
func (g *Group) poolTo(end int) Pool {
	if g.roles.Outs[Aggregation]>>end&1 != 0 {
		return Aggregation
	}
	return Broadcast
}

// here is how many bytes of a message that is not complete every in endpoint has sent.
func (g *Group) here(p Pool, m roce.PSN, mark int) int {
	for mask := g.roles.Fills[p]; mask != 0; mask &= mask - 1 {
		e := &g.ends[lowest(mask)]
		switch d := m.Diff(e.message); {
		case d > 0:
			return 0
		case d == 0:
			mark = min(mark, e.offset)
		}
	}
	return mark
}

// finish lets done follow the in endpoints of a pool, and tells whether a message became complete.
func (g *Group) finish(p Pool) bool {
	r, least := &g.rings[p], g.room(p)
	for mask := g.roles.Fills[p]; mask != 0; mask &= mask - 1 {
		if m := g.ends[lowest(mask)].message; m.Before(least) {
			least = m
		}
	}
	if least == r.done {
		return false
	}
	before := g.moved()
	r.done = least
	g.moves(before)
	return true
}

// moves counts what has left a root's aggregation pool since moved was before.
func (g *Group) moves(before roce.PSN) {
	if g.roles.Root {
		g.Freed += uint64(g.moved().Diff(before))
	}
}

// free lets a pool's start follow its out endpoints.
func (g *Group) free(p Pool) {
	outs := g.roles.Outs[p]
	if outs == 0 {
		return
	}
	r, start := &g.rings[p], g.outs[lowest(outs)].unacked.message
	for mask := outs; mask != 0; mask &= mask - 1 {
		if m := g.outs[lowest(mask)].unacked.message; m.Before(start) != g.set.Wrong.FreeFirst {
			start = m
		}
	}
	if g.set.Wrong.FreeFirst {
		g.leaveBehind(outs, start)
	}
	before := g.moved()
	_, slots := g.ringOf(p)
	for r.start != start {
		g.slots[g.slotOf(p, r.start)] = slot{}
		g.Freed++
		r.start = r.start.Next()
		r.head = (r.head + 1) % slots
	}
	g.moves(before)
}

// leaveBehind is FreeFirst's mistake: what is before start is gone, so who has not acknowledged it is not sent it again, or at all.
func (g *Group) leaveBehind(outs uint32, start roce.PSN) {
	for ; outs != 0; outs &= outs - 1 {
		s := &g.outs[lowest(outs)]
		for s.unacked.message.Before(start) {
			s.unacked = g.behind(lowest(outs), s.unacked)
		}
		if s.next.psn.Before(s.unacked.psn) {
			s.next = s.unacked
		}
		if s.beyond.psn.Before(s.unacked.psn) {
			s.beyond = s.unacked
		}
	}
}

// kept are the words of a message's bytes from one to another, of an endpoint where contributions are kept apart.
func (g *Group) kept(index, end, from, to int) []uint32 {
	m, size := &g.set.Memory, g.roles.Arithmetic.Bytes
	at := index*m.Slot + end*m.Plane
	return m.Words[at+from/size : at+to/size]
}
