// SPDX-License-Identifier: Apache-2.0

package score

import (
	"fmt"

	"incforge/verify/dut"
)

// Idle reports that stopping the engine's clock would change nothing: it rests, and no timer runs that SkipTo does not move.
func (b *Board) Idle() bool {
	if !b.Rests() {
		return false
	}
	if _, ok := b.Timers(); ok {
		return true
	}
	_, runs := b.ref.Timers()
	return !runs || b.deadline() == dut.Never
}

// Deadline is the cycle at which an engine that is idle acts by itself if no frame comes before, dut.Never if it does not.
func (b *Board) Deadline() uint64 {
	if next, ok := b.Timers(); ok {
		return next
	}
	return dut.Never
}

// deadline is when the reference's next time-out or wait is over.
func (b *Board) deadline() uint64 {
	next, _ := b.ref.Timers()
	return next
}

// Rests reports that nothing waits on any side but for time, and that the engine has been still: a little if all that was expected has left,
// for long if not.
func (b *Board) Rests() bool {
	if len(b.outs) > 0 {
		return false
	}
	words := uint64(b.man.Params.MTUBytes / b.man.Params.BusBytes)
	still := b.DUT.Still()
	return still >= words+quietCycles && (still >= b.patience() || b.complete())
}

// Bounds on how long a still engine may work on something inside: quietCycles covers what it does with frames that nothing
// leaves for, stuckCycles is when frames that should have left are called missing. Both come on top of whole packets.
const (
	quietCycles = 64
	stuckCycles = 2000
)

// complete reports that everything expected has left, and that the engine has nothing to do that could be done at once.
func (b *Board) complete() bool {
	if len(b.pending) > 0 || len(b.acts) > 0 || len(b.early) > 0 || len(b.sends()) > 0 {
		return false
	}
	for i := range b.ports {
		if !b.ports[i].empty() {
			return false
		}
	}
	return true
}

// patience is how many still cycles prove that nothing more will leave.
func (b *Board) patience() uint64 {
	return uint64(4*b.man.Params.MTUBytes/b.man.Params.BusBytes) + stuckCycles
}

// alive reports an engine that owes frames and is still, or has frames waiting and takes none.
func (b *Board) alive() error {
	switch still := b.DUT.Still(); {
	case b.Waiting() == 0:
		b.moved = b.Now()
		if still >= b.patience() {
			if err := b.Missing(); err != nil {
				return err
			}
			return b.late(still)
		}
	case b.Now()-b.moved > settleCycles:
		b.err = fmt.Errorf("%w: %d frames wait at the inputs and nothing has moved for %d cycles", ErrMismatch, b.Waiting(), settleCycles)
	}
	return b.err
}

// settleCycles is how long Settle lets an engine work at most before it calls it stuck.
const settleCycles = 400000

// Settle runs until the engine rests and everything expected has left; what left is still to be had by Out. It does not wait for timers:
// in Mode III an engine whose results nobody acknowledges rests until it sends them again.
func (b *Board) Settle() error {
	var outs []dut.Frame
	for limit := b.Now() + settleCycles; ; {
		if err := b.StepTo(b.Now() + 64); err != nil {
			return err
		}
		outs = append(outs, b.Out()...)
		if b.Rests() {
			break
		}
		if b.Now() > limit {
			return fmt.Errorf("%w: not at rest after %d cycles; %d frames wait at its inputs", ErrMismatch, settleCycles, b.Waiting())
		}
	}
	b.outs = outs
	return b.Missing()
}
