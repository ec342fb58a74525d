// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"errors"
	"fmt"

	"incforge/roce"
)

// ErrInvariant means that an engine's state is one that its rules never lead to.
var ErrInvariant = errors.New("invariant does not hold")

// CheckInvariants verifies what holds of every group of an engine of Mode III or I between two calls, for those who judge it; the error, which wraps
// ErrInvariant, names the first thing that does not hold. In Mode II it finds nothing. For Mode I see
// package message. In Mode III, with start, done, S, limit and N as in docs/pipes.md:
//
//   - start ≤ S ≤ limit ≤ done ≤ the ePSN of each endpoint that fills the pipe ≤ start + N (at a root: moved + N), and done is the
//     lowest of these;
//   - start ≤ nextUnacked ≤ sendNext ≤ maxSent + 1 ≤ S for each out endpoint, start is the lowest nextUnacked, and those that have
//     come to S were sent S − 1, those that wait go on from nextUnacked;
//   - slots before done are complete, slots from done on have the contributions of just those who are past them, all others none;
//   - in an in-band group all of that lies in the current range, and who does not send or hear in it has nothing.
func (e *Engine) CheckInvariants() error {
	if !e.params.acts() {
		return nil
	}
	for number := range e.groups {
		g := &e.groups[number]
		if !g.enabled {
			continue
		}
		var err error
		switch {
		case g.broken:
			err = fmt.Errorf("by a rule known to be wrong: %w", ErrInvariant)
		case e.params.follows(RuleB15):
		case g.parked && !g.empty():
			err = fmt.Errorf("it is parked while slots are in use: %w", ErrInvariant)
		case g.messages != nil:
			if err = g.messages.Check(); err != nil {
				err = fmt.Errorf("%w: %w", err, ErrInvariant)
			}
		default:
			if err = g.checkPipes(); err == nil && !g.parked {
				err = e.checkSlots(g)
			}
		}
		if err != nil {
			return fmt.Errorf("group %d: %w", number, err)
		}
	}
	return nil
}

// expected is the next PSN of the group that an endpoint is to send, by the offsets of the current range.
func (g *group) expected(member int) roce.PSN {
	return g.ends[member].ePSN.Add(-g.current.offsets[member].in)
}

// begins is where the pipes of a group began.
func (g *group) begins() roce.PSN {
	if g.current.open {
		return g.current.first
	}
	return g.Start
}

// ascending tells whether no PSN is before the one that stands before it, nor far from it.
func ascending(psns ...roce.PSN) bool {
	for i := 1; i < len(psns); i++ {
		if psns[i].Before(psns[i-1]) {
			return false
		}
	}
	return true
}

// checkPipes is CheckInvariants but for the slots.
func (g *group) checkPipes() error {
	s := &g.current
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrInvariant)
	}
	for p := range numPipes {
		pipe := &g.pipes[p]
		if !s.uses(p) {
			if first := g.begins(); pipe.start != first || pipe.done != first || pipe.sent != first {
				return wrong("the %v pipe, which is not used, has start %v, done %v, S %v", p, pipe.start, pipe.done, pipe.sent)
			}
			continue
		}
		limit, room := g.limit(p), g.room(p)
		if !ascending(pipe.start, pipe.sent, limit, pipe.done, room) {
			return wrong("the %v pipe has start %v, S %v, limit %v, done %v, room before %v", p, pipe.start, pipe.sent, limit, pipe.done, room)
		}
		if g.InBand && (!s.open && pipe.done != g.Start || s.open && !ascending(s.first, pipe.start, pipe.done, s.last().Next())) {
			return wrong("the %v pipe has start %v, done %v, outside the range", p, pipe.start, pipe.done)
		}
		lowestNext := room
		for mask := s.fillers(p); mask != 0; mask &= mask - 1 {
			next := g.expected(lowest(mask))
			if !ascending(pipe.done, next, room) || s.open && s.last().Next().Before(next) {
				return wrong("endpoint %d is to send %v, the %v pipe has done %v, room before %v", lowest(mask), next, p, pipe.done, room)
			}
			if next.Before(lowestNext) {
				lowestNext = next
			}
		}
		if s.fillers(p) == 0 {
			lowestNext = pipe.start
		}
		if lowestNext != pipe.done {
			return wrong("the %v pipe is complete before %v, done is %v", p, lowestNext, pipe.done)
		}
		lowestNext = pipe.sent
		for mask := s.outs(p); mask != 0; mask &= mask - 1 {
			out := &g.sends[lowest(mask)]
			if !ascending(pipe.start, out.nextUnacked, out.sendNext, out.beyond, pipe.sent) ||
				out.sendNext == pipe.sent && out.beyond != pipe.sent || out.waits && out.sendNext != out.nextUnacked {
				return wrong("endpoint %d has nextUnacked %v, sendNext %v, maxSent %v, the %v pipe start %v, S %v", lowest(mask),
					out.nextUnacked, out.sendNext, out.beyond.Prev(), p, pipe.start, pipe.sent)
			}
			if out.nextUnacked.Before(lowestNext) {
				lowestNext = out.nextUnacked
			}
		}
		if s.outs(p) == 0 {
			lowestNext = pipe.start
		}
		if lowestNext != pipe.start {
			return wrong("the %v pipe is acknowledged before %v, start is %v", p, lowestNext, pipe.start)
		}
	}
	for member := range g.ends {
		if out := &g.sends[member]; s.hearers()>>member&1 == 0 {
			if first := g.begins(); out.nextUnacked != first || out.sendNext != first || out.beyond != first || out.waits {
				return wrong("endpoint %d, which does not hear, has nextUnacked %v, sendNext %v, maxSent %v", member, out.nextUnacked, out.sendNext, out.beyond.Prev())
			}
		}
		if next := g.expected(member); s.senders()>>member&1 == 0 || !s.open && g.InBand {
			if first := g.begins(); next != first {
				return wrong("endpoint %d, which does not send, is to send %v", member, next)
			}
		}
	}
	return nil
}

// past are the endpoints that have filled a PSN's slot, by what is expected of them.
func (g *group) past(p Pipe, psn roce.PSN) uint32 {
	var mask uint32
	for from := g.current.fillers(p); from != 0; from &= from - 1 {
		if psn.Before(g.expected(lowest(from))) {
			mask |= from & -from
		}
	}
	return mask
}

// filled is the number of slots from a pipe's start on that somebody has filled.
func (g *group) filled(p Pipe) int {
	n := 0
	for from := g.current.fillers(p); from != 0; from &= from - 1 {
		n = max(n, g.expected(lowest(from)).Diff(g.pipes[p].start))
	}
	return n
}

// checkSlots is CheckInvariants' part on slots.
func (e *Engine) checkSlots(g *group) error {
	used := 0
	for p := range numPipes {
		if !g.current.uses(p) {
			continue
		}
		used += g.filled(p)
		for i := range g.filled(p) {
			psn := g.pipes[p].start.Add(i)
			s := &e.slots[g.pipeSlot(p, psn)]
			if s.tag != psn || s.mask != g.past(p, psn) || s.complete != psn.Before(g.pipes[p].done) {
				return fmt.Errorf("slot of %v in the %v pipe has tag %v, contributions of %#x, complete %t; expected are %#x, and complete before %v: %w",
					psn, p, s.tag, s.mask, s.complete, g.past(p, psn), g.pipes[p].done, ErrInvariant)
			}
		}
	}
	for _, s := range g.slotsOf(e) {
		if s.mask != 0 {
			used--
		}
	}
	if used != 0 {
		return fmt.Errorf("%d slots more are in use than the pipes have: %w", -used, ErrInvariant)
	}
	return nil
}
