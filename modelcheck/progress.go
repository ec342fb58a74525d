// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"incforge/modelcheck/scenario"
)

// progressPossible checks that all can be done from every state, without any more faults: AG EF done.
//
// Of each state that is not quiet one transition that costs nothing was kept, so those states form paths, each of which ends in a quiet
// state or runs in a circle. Of quiet states, which are few, all transitions were kept. So it is enough to go backward from the ends
// over quiet states alone. A state from which this finds no way proves nothing yet: it is searched from again, with all transitions.
func (s *search) progressPossible(ctx context.Context) error {
	s.shorten()
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("model checking: %w", err)
		}
		s.spread()
		stuck, steps, ok := s.firstStuck()
		if !ok {
			return nil
		}
		reached, err := s.endReachable(ctx, stuck)
		if err != nil {
			return err
		}
		if !reached {
			s.found = append(s.found, finding{kind: scenario.KindLivelock, at: stuck, name: s.seen.at(stuck).name,
				text: fmt.Sprintf("after %d steps nothing leads to the end, whatever is delivered and whichever timer expires", steps)})
			return nil
		}
		s.seen.at(stuck).next = nextDone
	}
}

// shorten lets next of each state that is not quiet be the quiet state that its path leads to, or nextNone.
func (s *search) shorten() {
	const onPath = nextLimit
	var path []*entry
	for id, e := range s.seen.all() {
		path = path[:0]
		for e.next < nextLimit {
			path = append(path, e)
			id, e.next = e.next, onPath
			e = s.seen.at(id)
		}
		if e.next != nextMany && e.next != nextDone { // onPath too: a circle
			id = nextNone
		}
		for _, e := range path {
			e.next = id
		}
	}
}

// good tells that a way to the end is known, after shorten: the state or the one that its path leads to is marked as an end.
func (s *search) good(id uint32) bool {
	e := s.seen.at(id)
	if e.next < nextLimit {
		e = s.seen.at(e.next)
	}
	return e.next == nextDone
}

// spread marks as ends the quiet states that lead to what is good.
func (s *search) spread() {
	for changed := true; changed; {
		changed = false
		for q, edges := range s.edges {
			if e := s.seen.at(q); e.next != nextDone && slices.ContainsFunc(edges, s.good) {
				e.next, changed = nextDone, true
			}
		}
	}
}

// firstStuck is a state with the fewest steps from the start of those that are not good; of several the one with the least name.
func (s *search) firstStuck() (stuck uint32, steps int, ok bool) {
	for id, e := range s.seen.all() {
		if s.good(id) || e.parent != nextNone && !s.good(e.parent) { // a parent has a step less
			continue
		}
		n := len(s.ancestry(id)) - 1
		if !ok || cmp.Or(cmp.Compare(n, steps), e.name.compare(s.seen.at(stuck).name)) < 0 {
			stuck, steps, ok = id, n, true
		}
	}
	return stuck, steps, ok
}

// endReachable searches from a state, by transitions that cost nothing, for an end. Stubborn sets keep all states without transitions
// reachable, and ends are such.
func (s *search) endReachable(ctx context.Context, id uint32) (bool, error) {
	state, _, err := s.walk(id)
	if err != nil {
		return false, err
	}
	start := slices.Clone(state)
	start[len(start)-1] = 0 // no budget is left
	opt := s.opt
	opt.Checkpoint, opt.MaxStates, opt.MaxTime, opt.Progress = "", 1<<31, 0, nil
	from := &search{system: s.system, start: start, opt: opt, seen: newVisited(), edges: map[uint32][]uint32{}}
	_, err = from.explore(ctx)
	return from.counts.Done > 0, err
}
