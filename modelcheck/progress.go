// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"context"
	"fmt"

	"incforge/modelcheck/scenario"
)

// progressPossible checks that all can be done from every state, without any more faults: AG EF done.
//
// Of each state that is not quiet one transition that costs nothing was kept, so those states form paths, each of which ends in a quiet
// state or runs in a circle. Of quiet states, which are few, all transitions were kept. So it is enough to go backward from the ends
// over quiet states alone. A state from which this finds no way proves nothing yet: it is searched from again, with all transitions.
func (s *search) progressPossible(ctx context.Context) error {
	s.shorten()
	good := map[uint32]bool{} // quiet states from which an end can be reached
	var quiet []uint32
	s.seen.all(func(id uint32, e *entry) {
		switch e.next {
		case nextDone:
			good[id] = true
		case nextMany:
			quiet = append(quiet, id)
		}
	})
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("model checking: %w", err)
		}
		s.spread(good, quiet)
		stuck, level, found := uint32(0), 0, false
		s.seen.all(func(id uint32, e *entry) {
			if good[id] || e.next < nextLimit && good[e.next] {
				return
			}
			l := s.seen.level(id)
			if !found || l < level || l == level && e.name.less(s.seen.at(stuck).name) {
				stuck, level, found = id, l, true
			}
		})
		if !found {
			return nil
		}
		reached, err := s.endReachable(ctx, stuck)
		if err != nil {
			return err
		}
		if !reached {
			s.found = append(s.found, finding{kind: scenario.KindLivelock, at: stuck,
				text: fmt.Sprintf("after %d steps nothing leads to the end, whatever is delivered and whichever timer expires", level)})
			return nil
		}
		if e := s.seen.at(stuck); e.next == nextMany {
			good[stuck] = true
		} else {
			e.next = s.anEnd(good) // there is a way, so there is an end
		}
	}
}

// anEnd is any state that is an end.
func (s *search) anEnd(good map[uint32]bool) uint32 {
	for id := range good {
		if s.seen.at(id).next == nextDone {
			return id
		}
	}
	return nextNone
}

// shorten lets next of each state that is not quiet be the quiet state that its path leads to, or nextNone.
func (s *search) shorten() {
	const onPath = nextLimit
	type link struct {
		e    *entry
		next uint32
	}
	var path []link
	s.seen.all(func(id uint32, e *entry) {
		path = path[:0]
		end := nextNone
		for {
			if e.next == nextMany || e.next == nextDone {
				end = id
				break
			}
			if e.next >= nextLimit { // onPath too: a circle
				break
			}
			path = append(path, link{e, e.next})
			id = e.next
			e.next = onPath
			e = s.seen.at(id)
		}
		for _, l := range path {
			l.e.next = end
		}
	})
}

// spread adds to the good quiet states those that lead to them.
func (s *search) spread(good map[uint32]bool, quiet []uint32) {
	before := map[uint32][]uint32{}
	var pending []uint32
	for _, q := range quiet {
		for _, to := range s.edges[q] {
			if n := s.seen.at(to).next; n < nextLimit {
				to = n
			} else if n == nextNone {
				continue
			}
			before[to] = append(before[to], q)
		}
	}
	for g := range good {
		pending = append(pending, g)
	}
	for len(pending) > 0 {
		g := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, q := range before[g] {
			if !good[q] {
				good[q] = true
				pending = append(pending, q)
			}
		}
	}
}

// endReachable searches from a state, by transitions that cost nothing, for an end. Stubborn sets keep all states without transitions
// reachable, and ends are such.
func (s *search) endReachable(ctx context.Context, id uint32) (bool, error) {
	steps, err := s.walk(s.ancestry(id))
	if err != nil {
		return false, err
	}
	state := s.start
	if len(steps) > 0 {
		state = steps[len(steps)-1].state
	}
	seen := map[hash128]bool{}
	pending := [][]uint32{append([]uint32(nil), state...)}
	next, rep := make([]uint32, len(s.start)), make([]uint32, len(s.start))
	for len(pending) > 0 {
		if err := ctx.Err(); err != nil {
			return false, fmt.Errorf("model checking: %w", err)
		}
		at := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		count := 0
		quiet := s.expand(at, s.opt.Reduction, next, func(_ label, next []uint32, _ uint32, free bool) {
			count++
			if !free {
				return
			}
			if name := s.canonical(next, rep); !seen[name] {
				seen[name] = true
				pending = append(pending, append([]uint32(nil), rep...))
			}
		})
		if quiet && count == 0 {
			return true, nil
		}
	}
	return false, nil
}
