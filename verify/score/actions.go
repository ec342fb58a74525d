// SPDX-License-Identifier: Apache-2.0

package score

import (
	"fmt"
	"math"

	"incforge/inc"
	"incforge/verify/cover"
	"incforge/verify/dut"
)

// sends are the actions of a Mode III engine that are due at once.
func (b *Board) sends() []inc.Action {
	if !b.pipes() || b.resting {
		return nil
	}
	b.wants = b.ref.Engine().Due(math.MinInt64, b.wants[:0])
	b.resting = len(b.wants) == 0
	return b.wants
}

// decide has the reference repeat, in order, what a Mode III engine reported.
func (b *Board) decide() error {
	b.acts = append(b.acts, b.DUT.Acts()...)
	for len(b.acts) > 0 {
		a := b.acts[0]
		if a.Kind == dut.ActFrame && len(b.pending) == 0 {
			return nil // the frame's end is not in yet
		}
		b.acts = b.acts[1:]
		b.resting = false
		if a.Kind == dut.ActFrame {
			f := b.pending[0]
			b.pending = b.pending[1:]
			if err := b.accept(f, a.At); err != nil {
				return err
			}
			continue
		}
		if err := b.act(a); err != nil {
			return err
		}
	}
	return nil
}

// act has the reference take an action. It must be allowed and not early.
func (b *Board) act(a dut.Act) error {
	action, err := b.ref.Action(a)
	if err != nil {
		return fmt.Errorf("%w: cycle %d: %w", ErrMismatch, a.At, err)
	}
	if at, ok := b.ref.Engine().Deadline(action); ok && a.At < b.ref.Cycle(at) {
		return fmt.Errorf("%w: cycle %d: the engine did %v, which docs/pipes.md section 3 does not allow before cycle %d", ErrMismatch, a.At, action, b.ref.Cycle(at))
	}
	outs, err := b.ref.Act(a)
	if err != nil {
		return fmt.Errorf("%w: cycle %d: the engine did %v, which docs/pipes.md section 3 does not allow now; it allows %v", ErrMismatch, a.At, action,
			b.ref.Engine().Actions(nil))
	}
	b.expect(outs)
	b.Cover.Add(cover.Point{Opcode: "-", Class: "action", Slot: "-", Outcome: action.Kind.String()})
	if b.OnAct != nil {
		return b.OnAct(a.At, action)
	}
	return nil
}

// late returns an error if the engine is still long after a time-out or wait has ended.
func (b *Board) late(still uint64) error {
	if !b.pipes() || b.err != nil {
		return b.err
	}
	if next := b.deadline(); next != dut.Never && next+b.patience() < b.Now() {
		var all []inc.Action
		for _, a := range b.ref.Engine().Actions(nil) {
			if at, ok := b.ref.Engine().Deadline(a); ok && b.ref.Cycle(at) == next {
				all = append(all, a)
			}
		}
		b.err = fmt.Errorf("%w: cycle %d: actions due since cycle %d were not taken, though nothing has moved for %d cycles: %v",
			ErrMismatch, b.Now(), next, still, all)
	}
	return b.err
}
