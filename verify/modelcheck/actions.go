// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"fmt"

	"incforge/inc"
)

// setMode makes parameters those of the mode, with the rules that are known to be wrong.
func setMode(p *inc.Params, c Config) error {
	p.Mode = c.Mode
	return nil
}

// setPipe sets a pipe's size.
func setPipe(g *inc.Group, c Config) {
	if c.Mode == 3 {
		g.PipeSlots = c.Slots
	}
}

// setUp leaves the actions of the engine to the model.
func (e *engine) setUp() { e.inc.SetManual(true) }

// action is something an engine does by itself; wait tells that it takes time (a time-out or the end of a wait).
type action struct {
	inc.Action
	wait bool
}

// permute is the action about the image of its endpoint.
func (a action) permute(endpoints []int) action {
	if a.Kind != inc.ActSend {
		a.Endpoint = endpoints[a.Endpoint]
	}
	return a
}

func (a action) same(b action) bool { return a == b }

// actions are those that may be taken in a state.
func (e *engine) actions(state []byte) ([]action, error) {
	if e.mode == 2 {
		return nil, e.restore(state)
	}
	if err := e.restore(state); err != nil {
		return nil, err
	}
	var acts []action
	e.scratch = e.inc.Actions(e.scratch[:0])
	for _, a := range e.scratch {
		acts = append(acts, action{a, a.Kind == inc.ActTimeout || a.Kind == inc.ActResume})
	}
	return acts, nil
}

// restore puts the engine into a state.
func (e *engine) restore(state []byte) error {
	if err := e.inc.Restore(state); err != nil {
		return fmt.Errorf("restore a state: %w", err)
	}
	return nil
}

// act takes an action in a state.
func (e *engine) act(state []byte, a action) (stepped, error) {
	return e.do(state, func() ([]inc.Out, error) { return e.inc.ActStep(0, a.Action) })
}

// settle takes the sends that may be taken, unless they are free.
func (e *engine) settle(s *stepped) error {
	if e.mode == 2 || e.free {
		return nil
	}
	for {
		e.scratch = e.inc.Actions(e.scratch[:0])
		if len(e.scratch) == 0 {
			return nil
		}
		a := e.scratch[0] // sends come first
		if a.Kind != inc.ActSend && a.Kind != inc.ActSendOne {
			return nil
		}
		outs, err := e.inc.ActStep(0, a)
		if err != nil {
			return fmt.Errorf("%v, which the engine offered: %w", a, err)
		}
		s.add(e, outs)
	}
}

// invariants are the engine's own.
func (e *engine) invariants() error {
	if err := e.inc.CheckInvariants(); err != nil {
		return fmt.Errorf("invariant: %w", err)
	}
	return nil
}

// idle tells whether nothing is unfinished.
func (e *engine) idle() bool { return e.inc.Unfinished(0) == 0 }

// badRules are the rules known to be wrong, by their names in the evidence, and what they do.
func badRules() map[string]string {
	return map[string]string{badSilentHost: "hosts do not acknowledge again what they have"}
}
