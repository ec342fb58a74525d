// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"

	"incforge/inc"
	"incforge/network/topology"
)

// setMode makes parameters those of the mode, with the rules that are known to be wrong.
func setMode(p *inc.Params, c Config) {
	p.Mode = c.Mode
	for _, name := range c.Bad {
		p.Rules |= BadRules()[name].engine
	}
}

// setPipe sets a pipe's size.
func setPipe(g *inc.Group, c Config) {
	if c.Mode == 3 {
		g.PipeSlots = c.Slots
	}
}

// setUp leaves the actions of the engine to the model.
func (e *Engine) setUp() { e.Reference.SetManual(true) }

// Action is something an engine does by itself; wait tells that it takes time (a time-out or the end of a wait).
type Action struct {
	inc.Action
	Wait bool
}

// Permute is the action about the image of its endpoint.
func (a Action) Permute(endpoints []int) Action {
	if a.Kind != inc.ActSend {
		a.Endpoint = endpoints[a.Endpoint]
	}
	return a
}

// Same tells whether two actions are one.
func (a Action) Same(b Action) bool { return a == b }

// Actions are those that may be taken in a state.
func (e *Engine) Actions(state []byte) ([]Action, error) {
	if e.Mode == 2 {
		return nil, e.restore(state)
	}
	if err := e.restore(state); err != nil {
		return nil, err
	}
	var acts []Action
	e.scratch = e.Reference.Actions(e.scratch[:0])
	for _, a := range e.scratch {
		acts = append(acts, Action{a, a.Kind == inc.ActTimeout || a.Kind == inc.ActResume})
	}
	return acts, nil
}

// restore puts the engine into a state.
func (e *Engine) restore(state []byte) error {
	if err := e.Reference.Restore(state); err != nil {
		return fmt.Errorf("restore a state: %w", err)
	}
	return nil
}

// Act takes an action in a state.
func (e *Engine) Act(state []byte, a Action) (Stepped, error) {
	return e.do(state, func() ([]inc.Out, error) { return e.Reference.ActStep(0, a.Action) })
}

// settle takes the sends that may be taken, unless they are free.
func (e *Engine) settle(s *Stepped) error {
	if e.Mode == 2 || e.Free {
		return nil
	}
	for {
		e.scratch = e.Reference.Actions(e.scratch[:0])
		if len(e.scratch) == 0 {
			return nil
		}
		a := e.scratch[0] // sends come first
		if a.Kind != inc.ActSend && a.Kind != inc.ActSendOne {
			return nil
		}
		outs, err := e.Reference.ActStep(0, a)
		if err != nil {
			return fmt.Errorf("%v, which the engine offered: %w", a, err)
		}
		s.add(e, outs)
	}
}

// invariants are the engine's own.
func (e *Engine) invariants() error {
	if err := e.Reference.CheckInvariants(); err != nil {
		return fmt.Errorf("invariant: %w", err)
	}
	return nil
}

// Idle tells whether nothing is unfinished.
func (e *Engine) Idle() bool { return e.Reference.Unfinished(0) == 0 }

// badRule is a rule known to be wrong: the engine's, or the hosts'.
type badRule struct {
	engine inc.Rules
	mode   int // 0: both
}

// BadSilentHost is the host's half of B10: it does not acknowledge again what it has.
const BadSilentHost = "B10-host"

// BadRules are the rules known to be wrong, by their names in Config.Bad, which are those of the findings.
func BadRules() map[string]badRule {
	return map[string]badRule{
		"A1": {inc.RuleA1, 0}, "A2": {inc.RuleA2, 2}, "A9": {inc.RuleA9, 2}, "A10": {inc.RuleA10, 2}, "B6-ack": {inc.RuleB6Ack, 3},
		"B6-assert": {inc.RuleB6Assert, 3}, "B9": {inc.RuleB9, 3}, "B10": {inc.RuleB10, 3}, "B15": {inc.RuleB15, 3}, BadSilentHost: {0, 0},
	}
}

// ActionName is the action in a scenario.
func ActionName(t *topology.Topology, n int, a Action) string {
	if a.Kind == inc.ActSend {
		return fmt.Sprintf("%v %v", a.Kind, a.Pipe)
	}
	return fmt.Sprintf("%v %s", a.Kind, t.Name(t.Neighbour(n, a.Endpoint)))
}
