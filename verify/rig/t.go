// SPDX-License-Identifier: Apache-2.0

// Package rig is the language that scenarios are written in. It offers engines with a scoreboard in front and a
// driver for their registers, groups programmed on them, frames from the far ends of their endpoints, and
// expectations of what leaves:
//
//	e := t.Engine()
//	g := e.Group(0, 1, 2, false)                                  // group 0 of 1, with two ranks and no parent
//	psn := g.Start()
//	g.Send(g.Data(0, psn, a)).Expect()                            // nothing leaves before the last rank
//	g.Send(g.Data(1, psn, b)).Expect(rig.DataTo(0, psn, sum), rig.DataTo(1, psn, sum))
//	g.Send(g.Data(0, psn.Add(2), a)).Dropped(inc.DropGap)
//
// As with testing.T, a failed expectation ends the scenario on the spot: nothing here returns an error.
package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/verify/arith"
	"incforge/verify/cover"
	"incforge/verify/dut"
)

// Opener makes the n-th engine of a test. Its registers start at random values drawn from seed.
type Opener func(seed uint64, n int) (dut.DUT, error)

// T is one running test: a scenario, a seed, and the engines made for it.
type T struct {
	// Params are the design's parameters. A scenario takes every number from them: it will meet one member, one port and two slots.
	Params   contract.Params
	Manifest *contract.Manifest
	// Rand is the only source of chance, so that a seed says everything.
	Rand *rand.Rand
	Seed uint64
	// Long asks for the long form.
	Long bool
	// OneQueue: what the engine sends leaves in one order, as the reference's does; nothing can overtake.
	OneQueue bool
	// Turn is which of the included types, operations and byte orders the next group takes.
	Turn int
	// Values are figures that the result shows.
	Values map[string]uint64
	Cover  cover.Map

	ctx     context.Context
	open    Opener
	engines []*Engine
	pending *Sending
}

// New makes a test of the scenario of that name. Another name or seed draws other numbers.
func New(ctx context.Context, m *contract.Manifest, name string, seed uint64, open Opener) *T {
	h := fnv.New64a()
	h.Write([]byte(name))
	t := &T{ctx: ctx, Manifest: m, Params: m.Params, Rand: rand.New(rand.NewPCG(seed, h.Sum64())), Seed: seed, open: open,
		Cover: cover.Map{}, Values: map[string]uint64{}, Turn: int((h.Sum64() + seed) % 1024)}
	for _, k := range t.Kinds() {
		t.Cover.Expect(cover.Arith{Kind: k.String(), Accumulate: m.Params.Accumulate})
	}
	return t
}

// NotApplicable says what a scenario needs that the engine at hand lacks, where only the engine, not the parameters, could tell.
type NotApplicable string

// Error is what is lacking.
func (e NotApplicable) Error() string { return string(e) }

// Fatalf ends the scenario as failed. %w wraps as in fmt.Errorf.
func (t *T) Fatalf(format string, args ...any) { fail.Now(format, args...) }

// Promise ends the scenario as failed if a number of cycles that the engine promises does not hold. The reference has cycles of its own.
func (t *T) Promise(holds bool, format string, args ...any) {
	if !holds && !t.OneQueue {
		t.Fatalf(format, args...)
	}
}

// StartsGroup is what GROUP_CTRL is written with to start a group, one that runs too.
func (t *T) StartsGroup() uint32 {
	return t.Field("GROUP_CTRL", "enable").Put(1) | t.Field("GROUP_CTRL", "reset").Put(1)
}

// Check ends the scenario if err is not nil.
func (t *T) Check(err error) { fail.On(err) }

// Skipf ends the scenario as not applicable.
func (t *T) Skipf(format string, args ...any) {
	fail.On(NotApplicable(fmt.Sprintf(format, args...)))
}

// In runs f; a failure in it is prefixed by what was being done.
func (t *T) In(what string, f func()) {
	fail.On(func() (err error) {
		defer fail.Catch(&err, "%s", what)
		f()
		return nil
	}())
}

// Run runs a scenario and returns how it ended. A panic that is no failure of the scenario's own becomes one, with its stack.
// The engines are settled afterwards, their counters compared with the reference's, and closed.
func (t *T) Run(scenario func(t *T)) (err error) {
	defer func() { err = cmp.Or(err, t.Close()) }()
	return Catch(func() {
		scenario(t)
		t.flush()
		for i, e := range t.engines {
			if _, err := e.Finish(); err != nil {
				t.Fatalf("engine %d: %w", i, err)
			}
		}
	})
}

// Catch runs f and returns the failure that ended it, or nil.
func Catch(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the scenario panicked: %v\n%s", p, debug.Stack())
		}
	}()
	defer fail.Catch(&err, "")
	f()
	return nil
}

// Context ends when the run is to end.
func (t *T) Context() context.Context { return t.ctx }

// Engines are those made so far.
func (t *T) Engines() []*Engine { return t.engines }

// Close closes the engines, for those who do not use Run.
func (t *T) Close() error {
	var all []error
	for _, e := range t.engines {
		all = append(all, e.Close())
	}
	return errors.Join(all...)
}

// Pipes tells whether the engines acknowledge and repeat by themselves: Modes III and I.
func (t *T) Pipes() bool { return t.Params.Pipes() }

// Reacks tells whether the engines answer data whose result is not kept, if its receiver has acknowledged that: in Mode II with park
// (docs/parking.md section 4).
func (t *T) Reacks() bool { return t.Params.Mode == 2 && t.Params.Park }

// Messages tells whether the engines are of Mode I.
func (t *T) Messages() bool { return t.Params.Mode == 1 }

// Field is where a field lies in its register.
func (t *T) Field(register, field string) contract.Field {
	return fail.Must(t.Manifest.Registers.Field(register, field))
}

// MTUBeats is the number of beats of the longest frame.
func (t *T) MTUBeats() int { return t.Params.Beats(t.Params.MTUBytes + 62) }

// Time is a cycle as a time of day in captures: since 1970, at the configured clock.
func (t *T) Time(cycle uint64) time.Time {
	return time.Unix(0, int64(cycle*1000/t.Params.CyclesPerMicrosecond())).UTC()
}

// Words is a payload of n random words.
func (t *T) Words(n int) []byte {
	b := make([]byte, 4*n)
	for i := range b {
		b[i] = byte(t.Rand.Uint32())
	}
	return b
}

// Shuffled are the same endpoints in another order.
func (t *T) Shuffled(who []int) []int {
	who = slices.Clone(who)
	t.Rand.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
	return who
}

// Kinds are the included types and operations in both byte orders.
func (t *T) Kinds() []arith.Kind { return arith.Kinds(t.Params.DTypeMask(), t.Params.OpMask()) }

// Fitting are those of Kinds of which each of n groups can have a window.
func (t *T) Fitting(n int) []arith.Kind {
	return slices.DeleteFunc(t.Kinds(), func(k arith.Kind) bool { return !t.fits(k, n) })
}

// fits tells whether a group of that kind has a window in the room of one of n.
func (t *T) fits(k arith.Kind, n int) bool {
	return 2*t.Params.Units(uint8(k.DType), false) <= t.Room(n)
}

// Room is how many slots of the buffer each of n groups has, 2 at least.
func (t *T) Room(n int) int { return max(t.Params.Slots()/n, 2) }

// Children is how many endpoints a group can have beside a parent that may contribute too.
func (t *T) Children() int {
	if t.Params.Reproducible() && t.Params.Members%2 == 0 {
		return t.Params.Members - 1 // the last endpoint has no place in the pairs of the buffer
	}
	return t.Params.Members
}

// AllBut are the same endpoints without c.
func AllBut(who []int, c int) []int {
	return slices.DeleteFunc(slices.Clone(who), func(x int) bool { return x == c })
}

// PipeSize takes sizes of pipes in turn: all there is, then 1, 2 and 3 slots, or as many as fit.
func (t *T) PipeSize(i int) int {
	most := 1 << t.MaxLog2N(1, t.Params.MostUnits()) >> 1
	return []int{0, 1, min(2, most), min(3, most)}[i%4]
}
