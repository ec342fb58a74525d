// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"sync/atomic"

	"incforge/verify/ctrl"
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

// Watched is a DUT that takes its cycles from a budget, so that every loop over it ends, whatever the engine does. It keeps two
// hashes: one of the stimulus of the engine behind it (frames, register accesses, pauses, troubles, resets, each with its cycle) and one
// of every frame that left it. The same seed must give the same stimulus, so two runs whose first hash differs were
// different tests. If only the second hash differs, the engine behaved differently.
type Watched struct {
	DUT
	budget           *Budget
	stimulus, egress hash.Hash
}

// Watch puts a Watched in front of d.
func Watch(d DUT, b *Budget) *Watched { return &Watched{d, b, sha256.New(), sha256.New()} }

// The first number of an entry tells its type.
const (
	watchedFrame = iota + 1
	watchedRead
	watchedWrite
	watchedPauses
	watchedReset
	watchedSkip
	watchedOut
	watchedResetIn
	watchedTogether
	watchedTrouble
	watchedPause
)

// note adds an entry to a hash: numbers of 64 bits, then bytes.
func note(h hash.Hash, data []byte, numbers ...uint64) {
	b := make([]byte, 0, 8*8)
	for _, n := range append(numbers, uint64(len(data))) {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	h.Write(b)
	h.Write(data)
}

func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

// Offer queues a frame.
func (w *Watched) Offer(port int, f Frame) {
	note(w.stimulus, f.Data, watchedFrame, uint64(port), max(f.First, w.Now()), uint64(flag(f.Err)))
	w.DUT.Offer(port, f)
}

// watchedStep is how many cycles pass between two checks of the context: less than a second on the slowest model.
const watchedStep = 1024

// StepTo runs until Now is at least cycle.
func (w *Watched) StepTo(cycle uint64) error {
	for {
		now := w.Now()
		next := min(cycle, now+watchedStep)
		if err := w.budget.spend(max(next, now) - now); err != nil {
			return err
		}
		if err := w.DUT.StepTo(next); err != nil || next >= cycle {
			return err
		}
	}
}

// Read reads a register; reads take time, so they are part of the stimulus.
func (w *Watched) Read(addr uint32) (uint32, error) {
	from := w.Now()
	note(w.stimulus, nil, watchedRead, from, uint64(addr))
	v, err := w.DUT.Read(addr)
	return v, errors.Join(err, w.budget.spend(w.Now()-from))
}

// Write writes some bytes of a register.
func (w *Watched) Write(addr, value uint32, strobes uint8) error {
	from := w.Now()
	numbers := []uint64{watchedWrite, from, uint64(addr), uint64(value)}
	if strobes != ctrl.AllBytes {
		numbers = append(numbers, uint64(strobes))
	}
	note(w.stimulus, nil, numbers...)
	err := w.DUT.Write(addr, value, strobes)
	return errors.Join(err, w.budget.spend(w.Now()-from))
}

// Together has several accesses under way at once.
func (w *Watched) Together(accesses []Access) ([]Answer, error) {
	from := w.Now()
	for _, a := range accesses {
		note(w.stimulus, nil, watchedTogether, from, uint64(a.Addr), uint64(flag(a.Write)), uint64(a.Value))
	}
	answers, err := w.DUT.Together(accesses)
	return answers, errors.Join(err, w.budget.spend(w.Now()-from))
}

// SetPauses changes the random pauses of all interfaces.
func (w *Watched) SetPauses(p Pauses) {
	note(w.stimulus, nil, watchedPauses, w.Now(), p.Seed, math.Float64bits(p.In), math.Float64bits(p.Ready), math.Float64bits(p.Registers),
		uint64(p.Burst))
	w.DUT.SetPauses(p)
}

// Trouble has something be wrong with what is at a port.
func (w *Watched) Trouble(port int, what Trouble) bool {
	note(w.stimulus, nil, watchedTrouble, w.Now(), uint64(port), uint64(what))
	return w.DUT.Trouble(port, what)
}

// Pause has a port begin no frame of some priorities.
func (w *Watched) Pause(port int, priorities uint32) bool {
	note(w.stimulus, nil, watchedPause, w.Now(), uint64(port), uint64(priorities))
	return w.DUT.Pause(port, priorities)
}

// Reset resets the engine.
func (w *Watched) Reset() error {
	note(w.stimulus, nil, watchedReset, w.Now())
	return w.DUT.Reset()
}

// ResetIn resets the engine amid an access.
func (w *Watched) ResetIn(a Access, cycles uint64) (again bool, err error) {
	from := w.Now()
	note(w.stimulus, nil, watchedResetIn, from, uint64(a.Addr), uint64(flag(a.Write)), uint64(a.Value), cycles)
	again, err = w.DUT.ResetIn(a, cycles)
	return again, errors.Join(err, w.budget.spend(w.Now()-from))
}

// SkipTo advances the time.
func (w *Watched) SkipTo(cycle uint64) {
	note(w.stimulus, nil, watchedSkip, w.Now(), cycle)
	w.DUT.SkipTo(cycle)
}

// Out returns what left since the last call.
func (w *Watched) Out() []Frame {
	outs := w.DUT.Out()
	for _, o := range outs {
		note(w.egress, o.Data, watchedOut, uint64(o.Port), o.First, o.Last, uint64(flag(o.Err)))
	}
	return outs
}

// Digest returns the SHA-256 of the stimulus and of what left, over several engines in their order.
func Digest(engines ...*Watched) (stimulus, egress string) {
	s, e := sha256.New(), sha256.New()
	for _, w := range engines {
		s.Write(w.stimulus.Sum(nil))
		e.Write(w.egress.Sum(nil))
	}
	return hex.EncodeToString(s.Sum(nil)), hex.EncodeToString(e.Sum(nil))
}
