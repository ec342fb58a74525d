// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"

	"incforge/inc"
	"incforge/verify/dut"
)

// FirstAccepted runs f and returns the first frame that the engine accepts meanwhile, and what it is counted as. What others answer comes
// later.
func (e *Engine) FirstAccepted(f func()) (first dut.Frame, counted []inc.Counter) {
	e.OnAccept = func(a dut.Frame, changed []inc.Counter) {
		if first.Data == nil {
			first, counted = a, changed
		}
	}
	f()
	if e.OnAccept = nil; first.Data == nil {
		e.T.Fatalf("the engine never took the frame")
	}
	return first, counted
}

// Guard watches a state of the reference: a frame that changes it though changes says that it must not fails the scenario. Actions may
// change it. renew takes the state as it is, after something else that may.
func (e *Engine) Guard(state func(b []byte) []byte, may func(a dut.Frame, changed []inc.Counter) bool) (renew func()) {
	var before, after []byte
	renew = func() { before = state(before[:0]) }
	e.OnAccept = func(a dut.Frame, changed []inc.Counter) {
		after = state(after[:0])
		if !may(a, changed) && !bytes.Equal(before, after) {
			e.T.Fatalf("a frame counted under %v changed a state that is not its to change: %x", changed, a.Data)
		}
		before, after = after, before
	}
	e.OnAct = func(uint64, inc.Action) { renew() }
	renew()
	return renew
}
