// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"errors"
	"fmt"
	"slices"
)

// ancestry is the names of the states on the shortest way found to a state, the start's first.
func (s *search) ancestry(id uint32) []hash128 {
	var names []hash128
	for {
		e := s.seen.at(id)
		names = append(names, e.name)
		if e.parent == nextNone {
			break
		}
		id = e.parent
	}
	slices.Reverse(names)
	return names
}

// walked is a transition that was taken, and the state it led to.
type walked struct {
	label
	before, state []uint32
	fault         uint32
}

// errLost means that a way could not be found again: two states had one name.
var errLost = errors.New("a way that was found could not be walked again: two states have the same name, or the engine is not symmetric")

// walk goes the way of these names from the start, over real states instead of representatives.
func (s *search) walk(names []hash128) ([]walked, error) {
	var way []walked
	at := s.start
	for _, name := range names[1:] {
		w, ok := s.stepTo(at, name, false)
		if !ok {
			return nil, errLost
		}
		way = append(way, w)
		at = w.state
	}
	return way, nil
}

// stepTo is the transition from a state to one of this name.
func (s *search) stepTo(at []uint32, name hash128, faulty bool) (w walked, ok bool) {
	next, rep := make([]uint32, len(s.start)), make([]uint32, len(s.start))
	s.expand(at, false, next, func(l label, next []uint32, fault uint32, _ bool) {
		if !ok && (fault != 0) == faulty && s.canonical(next, rep) == name {
			w, ok = walked{label: l, before: at, state: slices.Clone(next), fault: fault}, true
		}
	})
	return w, ok
}

// Trace is a way to a violation.
type Trace struct {
	Steps []TraceStep `json:"steps"`
}

// TraceStep is one transition.
type TraceStep struct {
	Text string `json:"text"`
}

// trace is the way to a finding.
func (s *search) trace(f finding) (Trace, error) {
	way, err := s.walk(s.ancestry(f.at))
	if err != nil {
		return Trace{}, err
	}
	at := s.start
	if len(way) > 0 {
		at = way[len(way)-1].state
	}
	if f.step {
		w, ok := s.stepTo(at, f.name, true)
		if !ok {
			return Trace{}, errLost
		}
		way = append(way, w)
	}
	var t Trace
	for _, w := range way {
		t.Steps = append(t.Steps, TraceStep{Text: s.describe(w)})
	}
	return t, nil
}

func (s *system) describe(w walked) string {
	return fmt.Sprint(w.label)
}
