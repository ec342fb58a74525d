// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"errors"
	"slices"

	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
)

// ancestry is the names of the states on the shortest way found to a state, the start's first.
func (s *search) ancestry(id uint32) (names []hash128) {
	for id != nextNone {
		e := s.seen.at(id)
		names = append(names, e.name)
		id = e.parent
	}
	slices.Reverse(names)
	return names
}

// errLost means that a way could not be found again: two states had one name.
var errLost = errors.New("a way that was found could not be walked again: two states have the same name, or the engine is not symmetric")

// walk goes the shortest way found to a state from the start, over real states instead of representatives.
func (s *search) walk(id uint32) (at []uint32, way []scenario.Step, err error) {
	at = s.start
	for _, name := range s.ancestry(id)[1:] {
		next, step := s.stepTo(at, name, false)
		if next == nil {
			return nil, nil, errLost
		}
		at, way = next, append(way, step)
	}
	return at, way, nil
}

// stepTo is the transition, breaking something or not, from a state to one of this name; nil if there is none.
func (s *search) stepTo(at []uint32, name hash128, faulty bool) ([]uint32, scenario.Step) {
	rep := make([]uint32, len(s.start))
	return s.first(at, false, func(next []uint32, fault error, _ bool) bool {
		return (fault != nil) == faulty && s.canonical(next, rep) == name
	})
}

// first is the first transition from a state that is wanted; nil if there is none.
func (s *search) first(
	at []uint32, reduce bool, wanted func(next []uint32, fault error, free bool) bool,
) (to []uint32, step scenario.Step) {
	s.expansion(reduce, func(l label, next []uint32, fault error, free bool) {
		if to == nil && wanted(next, fault, free) {
			to, step = slices.Clone(next), s.describe(l, at)
		}
	}).of(at)
	return to, step
}

// trace is the way to a finding.
func (s *search) trace(f finding) (*scenario.Trace, error) {
	at, way, err := s.walk(f.at)
	if err != nil {
		return nil, err
	}
	switch f.kind {
	case scenario.KindFault:
		to, step := s.stepTo(at, f.name, true)
		if to == nil {
			return nil, errLost
		}
		way = append(way, step)
	case scenario.KindLivelock:
		way = append(way, s.idle(at)...)
	}
	return &scenario.Trace{Config: s.Config, Kind: f.kind, Text: f.text, Steps: way}, nil
}

// idle goes on from a state from which there is no way to the end, without faults, until nothing is on its way: by then it shows what
// is stuck. It gives up after a while, should that never be.
func (s *search) idle(at []uint32) (way []scenario.Step) {
	const most = 200
	for len(way) < most {
		to, step := s.first(at, true, func(_ []uint32, fault error, free bool) bool { return free && fault == nil })
		if to == nil || step.Do == scenario.MoveTimeout {
			break
		}
		at, way = to, append(way, step)
	}
	return way
}

// describe puts a transition from a state into words.
func (s *system) describe(l label, before []uint32) scenario.Step {
	at := int(l.node)
	step := scenario.Step{Do: l.kind, At: s.Topo.Name(at)}
	switch l.kind {
	case scenario.MoveSend, scenario.MoveTimeout, scenario.MoveEarly, scenario.MovePark:
		if s.Roles[at] == nil {
			step.Action = model.ActionName(s.Topo, at, s.comps.at(before[at]).n.acts[l.index])
		}
		return step
	}
	from := int(l.link)
	if l.direction == down {
		from = s.Topo.Nodes[at].Parent
	}
	step.From, step.Index = s.Topo.Name(from), int(l.index)
	queue := s.comps.at(before[l.link]).Queues[l.direction]
	step.Packet = s.packets.at((*s.queues.at(queue))[l.index]).String()
	return step
}
