// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrLimit means that a test clocked its engines for longer than it should ever take: the design hangs, or the test
// waits for an event that never comes.
var ErrLimit = errors.New("stuck")

// Budget is how many cycles the engines of a test may be clocked, all together.
type Budget struct {
	ctx   context.Context
	limit uint64
	used  atomic.Uint64 // a network runs its engines side by side
}

// NewBudget makes a budget of limit cycles. It is also used up when ctx ends.
func NewBudget(ctx context.Context, limit uint64) *Budget { return &Budget{ctx: ctx, limit: limit} }

// Used is the number of cycles clocked so far, without those that SkipTo skipped.
func (b *Budget) Used() uint64 { return b.used.Load() }

// spend subtracts cycles.
func (b *Budget) spend(cycles uint64) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if b.used.Add(cycles) > b.limit {
		return fmt.Errorf("%w: the scenario was clocked for more than its limit of %d cycles", ErrLimit, b.limit)
	}
	return nil
}

// Bounded is a DUT that takes its cycles from a budget, so that every loop over it ends, whatever the engine does.
type Bounded struct {
	DUT
	budget *Budget
}

// Bound puts a Bounded in front of d.
func Bound(d DUT, b *Budget) *Bounded { return &Bounded{d, b} }

// boundedStep is how many cycles pass between two checks of the context: less than a second on the slowest model.
const boundedStep = 1024

// StepTo runs until Now is at least cycle.
func (b *Bounded) StepTo(cycle uint64) error {
	for {
		now := b.Now()
		next := min(cycle, now+boundedStep)
		if err := b.budget.spend(max(next, now) - now); err != nil {
			return err
		}
		if err := b.DUT.StepTo(next); err != nil || next >= cycle {
			return err
		}
	}
}

// Read reads a register.
func (b *Bounded) Read(addr uint32) (uint32, error) {
	from := b.Now()
	v, err := b.DUT.Read(addr)
	return v, errors.Join(err, b.budget.spend(b.Now()-from))
}

// Write writes a register.
func (b *Bounded) Write(addr, value uint32) error { return b.WriteStrobes(addr, value, allStrobes) }

// WriteStrobes writes some bytes of a register.
func (b *Bounded) WriteStrobes(addr, value uint32, strobes uint8) error {
	from := b.Now()
	err := b.DUT.WriteStrobes(addr, value, strobes)
	return errors.Join(err, b.budget.spend(b.Now()-from))
}
