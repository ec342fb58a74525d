// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"time"
)

// Recording is the stimulus of a run: all inputs of every cycle. It lives in the model
// it was recorded on, until that is closed or records again.
type Recording struct {
	model  *Model
	cycles uint64
	digest uint64
}

// Cycles returns the length of the recording.
func (r *Recording) Cycles() uint64 { return r.cycles }

// Record begins to record the inputs of every cycle and to digest the outputs; it must
// be called before the first. Only whole cycles are recorded: inputs that a task
// drives at a falling edge or a timer are not. Recording costs time; do not measure
// while it is on.
func (m *Model) Record() error {
	switch {
	case m.err != nil:
		return m.err
	case m.now != 0:
		return fmt.Errorf("recording must begin before the first cycle, this is cycle %d", m.now)
	}
	m.inst.record(true)
	return nil
}

// Recorded ends recording and returns what was recorded.
func (m *Model) Recorded() (*Recording, error) {
	if m.closed {
		return nil, errClosed
	}
	m.inst.record(false)
	_, cycles, digest := m.inst.recorded()
	if cycles == 0 {
		return nil, errors.New("nothing was recorded")
	}
	return &Recording{model: m, cycles: cycles, digest: digest}, nil
}

// RawLoop drives the recording into this model in a plain C++ loop compiled with the
// model (drive inputs, clock low, evaluate, clock high, evaluate) and returns the time
// it took on the wall clock (see CPUTime for machines with other users): the bound that a harness is measured against. The model must be fresh, of
// the same library, seed and options as the recorded one. With verify, every output of
// every cycle is folded into a digest, which costs time, and a difference from the
// recorded run is an error.
func (m *Model) RawLoop(r *Recording, verify bool) (time.Duration, error) {
	switch {
	case m.err != nil:
		return 0, m.err
	case r.model.closed:
		return 0, errors.New("the recorded model is closed")
	case m.lib.lib != r.model.lib.lib && m.lib.Digest != r.model.lib.Digest:
		return 0, fmt.Errorf("the recording is of another model (%s)", r.model.lib.top)
	case m.now != 0:
		return 0, fmt.Errorf("model has run %d cycles already; a raw loop needs a fresh one", m.now)
	case m.lib.clock == "":
		return 0, fmt.Errorf("model %s has no clock", m.lib.top)
	}
	stimulus, _, _ := r.model.inst.recorded()
	var digest uint64
	var to *uint64
	if verify {
		to = &digest
	}
	ns := m.inst.replay(stimulus, r.cycles, to)
	m.now = m.inst.numCycles()
	if err := m.attend(m.inst.cycles(0)); err != nil {
		return 0, err
	}
	if verify && digest != r.digest {
		return 0, m.Fail(errors.New("the raw loop gave other outputs than the recorded run"))
	}
	return time.Duration(ns), nil
}
