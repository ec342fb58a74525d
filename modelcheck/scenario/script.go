// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/modelcheck/model"
)

// Exchange is something that happens at a switch, and what leaves because of it.
type Exchange struct {
	// Port is the port a frame comes in by, and Frame the frame; Frame is nil if the switch does something by itself.
	Port  int
	Frame []byte
	// Action is what it does.
	Action inc.Action
	// Outs are the frames that leave, in order, with their ports.
	Outs []Frame
}

// Frame is a frame at a port.
type Frame struct {
	Port int
	Data []byte
}

// Script is what one switch sees in a scenario: what a DUT is to be given, and what it should answer.
type Script struct {
	// Engine is the switch, which follows the right rules.
	*model.Engine
	Exchanges []Exchange
}

// Switches are the names of the switches in the scenario's tree.
func (t *Trace) Switches() ([]string, error) {
	m, err := model.NewNetwork(t.Config)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range m.Topo.Switches {
		names = append(names, m.Topo.Name(n))
	}
	return names, nil
}

// Script gives what the switch of a name sees in the scenario. In Mode III the sends that follow a frame at once are exchanges of their
// own. The answers are those of an engine without the wrong rules of the configuration, which may differ from what the scenario's own
// switches did: what comes in is the scenario's, what goes out is right.
func (t *Trace) Script(name string) (_ *Script, err error) {
	defer fail.Catch(&err, "")
	w := fail.Must(NewWorld(t.Config))
	n := w.node(name)
	refuse(w.Engines[n] == nil, "%s is a host", name)
	right := w.Config
	right.Bad = nil
	s := &Script{Engine: fail.Must(model.NewEngine(right, w.Topo, n))}
	for i, step := range t.Steps {
		h, err := w.Do(step)
		if err == nil && h.node == n && step.Do != MoveLose {
			err = s.follow(&h)
		}
		fail.If(err != nil, "step %d: %w", i+1, err)
	}
	return s, nil
}

// follow has the right engine do what the switch did.
func (s *Script) follow(h *Happening) error {
	if h.from >= 0 {
		p := h.packet.Wire(h.port)
		frame := p.AppendFrame(nil)
		s.Exchanges = append(s.Exchanges, Exchange{Port: h.port, Frame: frame, Outs: FramesOf(s.Reference.Handle(0, h.port, frame, false))})
	} else if err := s.act(h.action); err != nil {
		return err
	}
	return s.Settle(s.act)
}

// act takes an action and notes what leaves; one that a right engine may not take here is left out.
func (s *Script) act(a inc.Action) error {
	outs, err := s.Reference.Act(0, a)
	switch {
	case errors.Is(err, inc.ErrAction):
		return nil
	case err != nil:
		return fmt.Errorf("%v: %w", a, err)
	}
	s.Exchanges = append(s.Exchanges, Exchange{Action: a, Outs: FramesOf(outs)})
	return nil
}

// FramesOf copies the frames of what leaves.
func FramesOf(outs []inc.Out) []Frame {
	var frames []Frame
	for _, o := range outs {
		frames = append(frames, Frame{o.Port, slices.Clone(o.Frame)})
	}
	return frames
}
