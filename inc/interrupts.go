// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"slices"
)

// Cause is something that happened and for which software may want to be called (docs/interrupts.md). Register fields are found by the name.
type Cause uint8

// The causes of interrupts.
const (
	// CauseCorrected and CauseDouble are errors of the payload memory. The reference's memory has none.
	CauseCorrected Cause = iota
	CauseDouble
	// CauseRefused: a group's start was refused, or its unparking because of slots of another.
	CauseRefused
	// CauseDamaged: a frame was dropped as damaged.
	CauseDamaged
	// CauseForeign: a frame was dropped that names a queue pair and is not of its other end.
	CauseForeign
	// CauseIllegal: a packet was dropped or refused that breaks the protocol.
	CauseIllegal
	// CauseOverrun: a sender overran its window.
	CauseOverrun
	// CauseTimeout, in Modes III and I: an endpoint did not acknowledge in time.
	CauseTimeout
	// CauseFailed, in Modes III and I: an endpoint ended its connection.
	CauseFailed

	// NumCauses is the number of causes.
	NumCauses
)

// String is the name of the cause's bit in IRQ_CAUSE.
func (c Cause) String() string {
	names := [NumCauses]string{"ecc_corrected", "ecc_double", "group_refused", "damaged", "foreign", "illegal", "overrun", "timeout", "endpoint_failed"}
	if c >= NumCauses {
		return fmt.Sprintf("Cause(%d)", uint8(c))
	}
	return names[c]
}

// counters are those whose step is the event; none if the event is no counter's.
func (c Cause) counters() []Counter {
	switch c {
	case CauseCorrected:
		return []Counter{EccCorrected}
	case CauseDouble:
		return []Counter{EccDouble}
	case CauseDamaged:
		return []Counter{DropRxError, DropIPChecksum, DropLengthMismatch, DropICRC}
	case CauseForeign:
		return []Counter{DropForeign, DropVLAN}
	case CauseIllegal:
		return []Counter{DropTVer, DropOpcode, DropTooLong, DropBadLength, DropWrongRole, DropSyndrome, DropShape, DropBadControl, DropControl, TxInvalid}
	case CauseOverrun:
		return []Counter{DropWindow, DropFull}
	case CauseTimeout:
		return []Counter{Timeout}
	}
	return nil
}

// Follows tells whether a step of the counter of that name is an event of the cause.
func (c Cause) Follows(counter string) bool {
	return slices.ContainsFunc(c.counters(), func(n Counter) bool { return n.String() == counter })
}

// interrupts are what an engine's interrupt line depends on.
type interrupts struct {
	set, enabled [NumCauses]bool
	seen         Counters // as they were when the causes were looked at last
}

// look sets the causes whose counters have stepped since the last look.
func (e *Engine) look() *interrupts {
	i := &e.interrupts
	for c := range NumCauses {
		for _, n := range c.counters() {
			i.set[c] = i.set[c] || e.counters[n] != i.seen[n]
		}
	}
	i.seen = e.counters
	return i
}

// raise sets a cause.
func (e *Engine) raise(c Cause) { e.interrupts.set[c] = true }

// HasCause tells whether something happened since it was cleared.
func (e *Engine) HasCause(c Cause) bool { return e.look().set[c] }

// ClearCause forgets that something happened.
func (e *Engine) ClearCause(c Cause) { e.look().set[c] = false }

// EnableCause says whether a cause raises the line; before that, none does.
func (e *Engine) EnableCause(c Cause, on bool) { e.interrupts.enabled[c] = on }

// Interrupt tells whether the line is high.
func (e *Engine) Interrupt() bool {
	i := e.look()
	for c := range NumCauses {
		if i.set[c] && i.enabled[c] {
			return true
		}
	}
	return false
}

// OfEngine is one of the engines of a switch, for what each has for itself.
func (s *Switch) OfEngine(engine int) *Engine { return s.engines[engine] }

// Interrupt tells whether the line of an engine is high.
func (s *Switch) Interrupt() bool {
	for _, e := range s.engines {
		if e.Interrupt() {
			return true
		}
	}
	return false
}
