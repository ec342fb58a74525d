// SPDX-License-Identifier: Apache-2.0

package message

import (
	"fmt"

	"incforge/roce"
)

// Check verifies what holds between any two calls. The error names the first thing that does not:
//
//   - start ≤ S ≤ done ≤ the message of each endpoint that fills the pool ≤ room, and done is the lowest of these;
//   - of each out endpoint unacked ≤ next ≤ beyond, in PSNs and, walked packet by packet, in messages and bytes; start is the lowest unacked message, those who
//     go along were sent nothing beyond S, those who wait go on from unacked;
//   - a slot's mark is what the endpoint that is furthest in its message has sent, messages before done have a length, and who is in no message has sent
//     nothing of it; slots that hold nothing are empty.
func (g *Group) Check() error {
	for p := range pools {
		if !g.roles.Uses[p] {
			continue
		}
		if err := g.checkFilling(p); err != nil {
			return fmt.Errorf("pool %d: %w", p, err)
		}
		if err := g.checkSending(p); err != nil {
			return fmt.Errorf("pool %d: %w", p, err)
		}
	}
	return g.checkSlots()
}

// ascending tells whether no number is before the one that stands before it.
func ascending(numbers ...roce.PSN) bool {
	for i := 1; i < len(numbers); i++ {
		if numbers[i].Before(numbers[i-1]) {
			return false
		}
	}
	return true
}

func (g *Group) checkFilling(p Pool) error {
	r, room := &g.rings[p], g.room(p)
	least := room
	if g.roles.Fills[p] == 0 {
		least = r.start
	}
	for mask := g.roles.Fills[p]; mask != 0; mask &= mask - 1 {
		e := &g.ends[lowest(mask)]
		if !ascending(r.done, e.message, room) || e.inside && e.message == room || !e.inside && e.offset != 0 || e.inside && e.offset == 0 {
			return fmt.Errorf("endpoint %d is in message %v at byte %d (inside: %t), done is %v, room before %v", lowest(mask), e.message, e.offset, e.inside, r.done, room)
		}
		if e.message.Before(least) {
			least = e.message
		}
	}
	if least != r.done || !ascending(r.start, r.sent.message, r.done) {
		return fmt.Errorf("start %v, S %v, done %v, complete before %v", r.start, r.sent.message, r.done, least)
	}
	return nil
}

func (g *Group) checkSending(p Pool) error {
	r := &g.rings[p]
	least := r.start
	if outs := g.roles.Outs[p]; outs != 0 {
		least = g.outs[lowest(outs)].unacked.message
	}
	for mask := g.roles.Outs[p]; mask != 0; mask &= mask - 1 {
		end := lowest(mask)
		s := &g.outs[end]
		next, beyond := s.next.psn.Diff(s.unacked.psn), s.beyond.psn.Diff(s.unacked.psn)
		if next < 0 || beyond < next || s.waits && next != 0 {
			return fmt.Errorf("endpoint %d has unacked %v, next %v, beyond %v, waits: %t", end, s.unacked, s.next, s.beyond, s.waits)
		}
		if g.walk(end, s.unacked, next) != s.next || g.walk(end, s.next, beyond-next) != s.beyond {
			return fmt.Errorf("endpoint %d: from %v lead %d packets to %v, and %d more to %v, not to %v and %v", end, s.unacked, next,
				g.walk(end, s.unacked, next), beyond-next, g.walk(end, s.next, beyond-next), s.next, s.beyond)
		}
		at, most := s.beyond, r.sent
		if !g.goesAlong(end) {
			most = place{message: r.done, offset: g.set.Bytes}
		} else if s.next.along(r.sent) && !at.along(r.sent) {
			return fmt.Errorf("endpoint %d came to S %v and was sent %v", end, r.sent, at)
		}
		if most.message.Before(at.message) || most.message == at.message && at.offset > most.offset {
			return fmt.Errorf("endpoint %d was sent what lies before %v, S is %v", end, at, most)
		}
		if s.unacked.message.Before(least) {
			least = s.unacked.message
		}
	}
	if least != r.start {
		return fmt.Errorf("start is %v, acknowledged is what lies before %v", r.start, least)
	}
	return nil
}

func (g *Group) checkSlots() error {
	used := make([]bool, len(g.slots))
	for p := range pools {
		if !g.roles.Uses[p] {
			continue
		}
		r := &g.rings[p]
		for m := r.start; m.Before(g.room(p)); m = m.Next() {
			mark, ended := 0, false
			for mask := g.roles.Fills[p]; mask != 0; mask &= mask - 1 {
				e := &g.ends[lowest(mask)]
				ended = ended || m.Before(e.message)
				if e.message == m {
					mark = max(mark, e.offset)
				}
			}
			index := g.slotOf(p, m)
			s := &g.slots[index]
			if used[index] = mark > 0 || ended; used[index] && (s.known != ended || s.mark < mark || !ended && s.mark != mark) {
				return fmt.Errorf("message %v of pool %d has mark %d (length known: %t), its endpoints came to %d (one to its end: %t)", m, p, s.mark, s.known, mark, ended)
			}
		}
	}
	for i, s := range g.slots {
		if !used[i] && s != (slot{}) {
			return fmt.Errorf("slot %d holds no message and is not empty", i)
		}
	}
	return nil
}
