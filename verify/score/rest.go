// SPDX-License-Identifier: Apache-2.0

package score

import (
	"slices"

	"incforge/verify/dut"
)

// Idle reports that SkipTo is safe: the engine rests, and no timer runs that SkipTo does not advance.
func (b *Board) Idle() bool {
	if !b.Rests() {
		return false
	}
	_, known := b.Timers()
	return known || b.deadline() == dut.Never
}

// deadline is the cycle in which the reference's next time-out or wait ends.
func (b *Board) deadline() uint64 {
	next, _ := b.ref.Timers()
	return next
}

// Rests reports that nothing can happen before a timer expires: no frame waits, and the engine has been still, for a
// short time if all expected frames have left, for a long time if not.
func (b *Board) Rests() bool {
	if len(b.outs) > 0 {
		return false
	}
	still := b.DUT.Still()
	return still >= b.quiet() && (still >= b.patience() || b.complete())
}

// Bounds on how long an engine may work without moving a beat at a port. quietCycles covers frames that make nothing
// leave. After stuckCycles, expected frames count as missing. Both come on top of the time for whole packets.
const (
	quietCycles = 32
	stuckCycles = 2000
	// crossingCycles is how many cycles of either clock a frame takes from one clock to another at most (docs/ports.md).
	crossingCycles = 6
)

// quiet is the number of still cycles in which all frames since the last rest have gone through the engine, if they make nothing leave.
func (b *Board) quiet() uint64 {
	p := b.man.Params
	beats := p.Beats(b.longest)
	cycles := beats*p.CyclesPerBeat() + quietCycles
	if p.Mode == 1 { // an acknowledgement may pass a whole pool: 4 cycles a message, and up to two slots each, counted one a cycle
		cycles += 6 * p.WindowMessages
	}
	if p.InBand && !b.pipes() { // frames behind one that opens a range wait for it, two cycles an endpoint where tables have one port; the other modes report their decisions
		cycles += 2 * p.Members
	}
	if p.PortBytes > 0 { // every port's queue may hold a frame
		cycles += p.Ports * beats
	}
	if len(p.PortClockMHz) > 0 { // and crosses, in either direction
		cycles += int(crossingCycles*(1+float64(p.ClockMHz)/slices.Min(p.PortClockMHz))) + 1
	}
	return uint64(cycles)
}

// complete reports that everything expected has left and that no action is due at once.
func (b *Board) complete() bool {
	if b.undecided() > 0 || len(b.acts) > 0 || len(b.early) > 0 || len(b.sends()) > 0 {
		return false
	}
	return !slices.ContainsFunc(b.ports, func(p port) bool { return !p.empty() })
}

// patience is the number of still cycles after which nothing more will leave.
func (b *Board) patience() uint64 {
	p := b.man.Params
	cycles := 4*p.MTUBytes/p.BusBytes + stuckCycles
	if p.PortBytes > 0 { // what all ports bring at once is added, and then reduced, one after the other
		cycles += 2 * p.Ports * p.Beats(p.MTUBytes) * p.CyclesPerBeat()
	}
	return uint64(cycles)
}

// Patience is the same for scenarios that hold an engine up.
func (b *Board) Patience() uint64 { return b.patience() }

// stuck reports that frames wait inside for a decision, and have for so long that it will not come by itself.
func (b *Board) stuck() bool {
	return b.undecided() > 0 && b.Now()-b.lively >= b.patience()
}

// alive ends the test if the engine is still though frames are expected, or accepts none though frames wait.
func (b *Board) alive() {
	still := b.DUT.Still()
	if b.Waiting() > 0 {
		if b.Now()-b.moved > settleCycles {
			differ("%d frames wait at the inputs and nothing has moved for %d cycles", b.Waiting(), settleCycles)
		}
		return
	}
	if b.moved = b.Now(); still >= b.patience() {
		b.missing()
		if b.pipes() {
			b.late(still)
		}
	}
}

// settleCycles is how long Settle lets an engine work before it counts as stuck. missingStep is how long it waits at a time for expected
// frames that do not come.
const (
	settleCycles = 400000
	missingStep  = 64
)

// Settle runs until the engine rests and everything expected has left; Out then returns what left. It does not wait
// for timers: an engine of Mode III or I whose results are not acknowledged rests between retransmissions.
func (b *Board) Settle() error { return b.guard(b.settle) }

func (b *Board) settle() {
	var outs []dut.Frame
	for limit := b.Now() + settleCycles; ; {
		need := uint64(missingStep)
		if still := b.DUT.Still(); still < b.quiet() {
			need = b.quiet() - still
		}
		b.step(b.Now() + need)
		outs = append(outs, b.Out()...)
		if b.Rests() {
			break
		}
		if b.Now() > limit {
			differ("not at rest after %d cycles; %d frames wait at its inputs", settleCycles, b.Waiting())
		}
	}
	b.outs, b.longest = outs, 0
	b.missing()
}
