// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"errors"
	"slices"

	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
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

// trace is the way to a finding.
func (s *search) trace(f finding) (*scenario.Trace, error) {
	way, err := s.walk(s.ancestry(f.at))
	if err != nil {
		return nil, err
	}
	at := s.start
	if len(way) > 0 {
		at = way[len(way)-1].state
	}
	if f.step {
		w, ok := s.stepTo(at, f.name, true)
		if !ok {
			return nil, errLost
		}
		way = append(way, w)
	}
	if f.kind == scenario.KindLivelock {
		way = append(way, s.idle(at)...)
	}
	t := &scenario.Trace{Config: s.cfg, Kind: f.kind, Text: f.text}
	for _, w := range way {
		t.Steps = append(t.Steps, s.describe(&w))
	}
	return t, nil
}

// idle goes on from a state from which there is no way to the end, without faults, until nothing is on its way: by then it shows what
// is stuck. It gives up after a while, should that never be.
func (s *search) idle(at []uint32) (way []walked) {
	const most = 200
	next := make([]uint32, len(s.start))
	for len(way) < most {
		var w walked
		quiet := s.expand(at, true, next, func(l label, next []uint32, fault uint32, free bool) {
			if w.kind == 0 && free {
				w = walked{label: l, before: at, state: slices.Clone(next), fault: fault}
			}
		})
		if quiet || w.kind == 0 || w.fault != 0 {
			break
		}
		way = append(way, w)
		at = w.state
	}
	return way
}

// describe puts a transition into words.
func (s *system) describe(w *walked) scenario.Step {
	at := int(w.node)
	step := scenario.Step{Do: scenario.MoveNames()[w.kind], At: s.topo.Name(at)}
	switch w.kind {
	case scenario.MoveSend, scenario.MoveTimeout, scenario.MoveEarly:
		if s.hosts[at] != nil {
			break
		}
		n := s.comps.at(w.before[at]).n
		acts := n.waits
		if w.kind == scenario.MoveSend {
			acts = n.sends
		}
		step.Action = model.ActionName(s.topo, at, acts[w.index])
		return step
	default:
		link, up := at, false
		if s.hosts[at] == nil && int(w.from) < len(s.topo.Nodes[at].Children) {
			link, up = s.topo.Nodes[at].Children[w.from], true
		}
		c := s.comps.at(w.before[link])
		q := c.down
		step.From = s.topo.Name(link)
		if up {
			q = c.up
		} else {
			step.From = s.topo.Name(s.topo.Nodes[at].Parent)
		}
		step.Index = int(w.index)
		step.Packet = s.packets.at(s.queues.at(q).packets[w.index]).String()
	}
	return step
}
