// SPDX-License-Identifier: Apache-2.0

// Package score compares an engine with the reference while it runs. A Board stands between a scenario and an engine
// and is itself a DUT. Every register write goes to both. The reference is fed the frames that the engine accepted,
// in that order, and every frame that leaves must be the next one that the reference expects: engine-made frames in
// order on each port, bypassed frames in order on each port, the two kinds interleaved in any way.
//
// An engine of Mode III or I reports the frames it decides and the actions it takes in order, and the reference repeats them
// in that order. An action must be allowed at that point and a time-out must not come early. When the engine rests,
// no action may be due. A Mode II engine reports nothing: it counts as having decided what it accepted, unless it is
// held up (HoldUp).
package score

import (
	"errors"
	"fmt"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/cover"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// ErrMismatch is what every difference between engine and reference wraps.
var ErrMismatch = errors.New("engine and reference differ")

// Recorded is one frame in a Board's log.
type Recorded struct {
	dut.Frame
	Out bool
}

// Board is the scoreboard of one engine. The first difference found is returned by every later call, too.
type Board struct {
	dut.DUT
	ref   *dut.Reference
	man   *contract.Manifest
	ports []port

	// Cover collects functional coverage. The Boards of one test may share it.
	Cover cover.Map
	// OnAccept, if not nil, is called with every accepted frame and the counters it changed in the reference.
	OnAccept func(a dut.Frame, changed []inc.Counter)
	// OnAct, if not nil, is called with every action that an engine of Mode III or I took, and its cycle.
	OnAct func(at uint64, a inc.Action)
	// Decided is the cycle of the frame that OnAccept is called with: in which it was decided, if the engine reports that, else of its last beat.
	Decided uint64

	pending [inc.MaxEngines][]pending // accepted and not yet decided, in Modes III and I or held up, by engine
	acts    []dut.Act                 // reported, waiting for frames not accepted yet
	early   []dut.Frame               // left, before the report that explains them
	wants   []inc.Action              // scratch
	resting bool                      // no action was due, and nothing has changed since
	held    bool                      // no port takes anything from an engine that does not report what it decides

	moved   uint64 // last cycle in which a frame was accepted or left, or none waited
	lively  uint64 // last cycle in which a frame was accepted or decided or left, or an action was taken
	longest int    // bytes of the longest frame accepted since the engine last rested
	frames  uint64
	outs    []dut.Frame
	err     error
	log     []Recorded
	logSize int
	// injected: errors were injected into the payload memory (register ECC_INJECT); doubled: some were double errors.
	injected, doubled bool
	// drops: queues at the ports drop what they have no room for on the way out.
	drops bool
	// uncertain: causes of interrupts were cleared while frames were inside.
	uncertain bool
}

// pending is a frame that was accepted and is not decided.
type pending struct {
	dut.Frame
	stale bool // its group was started since
}

// logBytes bounds a Board's log of frames; the oldest are dropped first.
const logBytes = 16 << 20

// undecided is how many accepted frames have not been decided yet.
func (b *Board) undecided() int {
	n := 0
	for _, p := range b.pending {
		n += len(p)
	}
	return n
}

// New puts a board in front of d, which must be as after reset.
func New(d dut.DUT, m *contract.Manifest) (*Board, error) {
	ref, err := dut.NewReference(m)
	if err != nil {
		return nil, err
	}
	b := &Board{DUT: d, ref: ref, man: m, Cover: cover.Map{}, drops: m.Params.PortDrop && !d.TakesErrors()}
	b.forget()
	return b, nil
}

// guard does some of the board's work unless there was a difference before. A failure in it is a difference or ends the test otherwise.
func (b *Board) guard(work func()) error {
	if b.err == nil {
		func() {
			defer fail.Catch(&b.err, "")
			work()
		}()
	}
	return b.err
}

// differ ends what the board does with a difference.
func differ(format string, args ...any) {
	fail.On(fmt.Errorf("%w: %w", ErrMismatch, fmt.Errorf(format, args...)))
}

// pipes tells whether the engine reports its decisions: Modes III and I.
func (b *Board) pipes() bool { return b.man.Params.Pipes() }

func (b *Board) forget() {
	b.pending, b.acts, b.early, b.resting = [inc.MaxEngines][]pending{}, nil, nil, false
	b.ports = make([]port, b.man.Params.Ports)
	lines := b.lines() * b.man.Params.PriorityCount()
	for i := range b.ports {
		b.ports[i] = port{owed: make([][]dut.Frame, lines)}
		b.ports[i].clear()
	}
}

// Reference returns the reference engine.
func (b *Board) Reference() *dut.Reference { return b.ref }

// Frames is the number of frames the engine accepted.
func (b *Board) Frames() uint64 { return b.frames }

// Log returns the most recent frames in and out, in the order in which they were seen.
func (b *Board) Log() []Recorded { return b.log }

// WaitingFor is the number of frames that wait at the ports and have this destination QPN.
func (b *Board) WaitingFor(qpn uint32) int {
	n := 0
	for f := range b.Queued() {
		if destination(f.Data) == qpn {
			n++
		}
	}
	return n
}

// Accepted returns nothing: the Board consumes the accepted frames. OnAccept shows them.
func (b *Board) Accepted() []dut.Frame { return nil }

// Out returns what left since the last call, all of it as expected.
func (b *Board) Out() []dut.Frame {
	o := b.outs
	b.outs = nil
	return o
}

// StepTo runs the engine and compares.
func (b *Board) StepTo(cycle uint64) error { return b.guard(func() { b.step(cycle) }) }

func (b *Board) step(cycle uint64) {
	fail.On(b.DUT.StepTo(cycle))
	b.collect()
	b.alive()
}

// SkipTo advances the time. Skipped cycles do not count as cycles in which the engine was still.
func (b *Board) SkipTo(cycle uint64) {
	if now := b.Now(); cycle > now {
		b.moved += cycle - now
	}
	b.DUT.SkipTo(cycle)
}

// collect feeds the reference with what the engine accepted and compares what left.
func (b *Board) collect() {
	for _, a := range b.DUT.Accepted() {
		b.moved, b.lively = b.Now(), max(b.lively, a.Last)
		b.longest = max(b.longest, len(a.Data))
		b.record(Recorded{Frame: a})
		if to := b.ref.Engine().Steer(a.Data); (b.pipes() || b.held) && to < b.ref.Engine().Engines() {
			b.pending[to] = append(b.pending[to], pending{Frame: a})
		} else {
			b.accept(pending{Frame: a}, a.Last)
		}
	}
	b.decide()
	early := b.early
	b.early = nil
	for _, o := range early {
		b.see(o)
	}
	outs := b.DUT.Out()
	if len(outs) > 0 { // an engine from which something leaves is not held up
		b.counts(false)
	}
	for _, o := range outs {
		b.moved, b.lively = b.Now(), max(b.lively, o.Last)
		b.record(Recorded{Frame: o, Out: true})
		b.see(o)
	}
}

func (b *Board) record(r Recorded) {
	b.log = append(b.log, r)
	for b.logSize += len(r.Data); b.logSize > logBytes; {
		b.logSize -= len(b.log[0].Data)
		b.log = b.log[1:]
	}
}

// accept gives the reference a frame that the engine accepted and, if it reports decisions, decided in cycle at, and tells which counters that changed.
func (b *Board) accept(a pending, at uint64) (changed []inc.Counter) {
	b.frames++
	b.Decided = at
	handle := b.ref.Handle
	if a.stale {
		handle = b.ref.HandleStale
	}
	var packet *roce.Packet
	var saw *inc.Sight
	if p, err := a.Packet(); err == nil {
		packet, saw = p, b.sight(p)
	}
	before := b.ref.Engine().Counters()
	b.expect(handle(at, a.Port, a.Data, a.Err))
	after := b.ref.Engine().Counters()
	for c := range b.ref.Engine().Params().Counters() {
		if after[c] != before[c] {
			changed = append(changed, c)
		}
	}
	b.cover(packet, changed, saw)
	if b.OnAccept != nil {
		b.OnAccept(a.Frame, changed)
	}
	return changed
}

// Reset resets both and discards what was expected.
func (b *Board) Reset() error {
	return b.guard(func() {
		b.collect()
		fail.On(b.DUT.Reset())
		b.DUT.Accepted()
		b.DUT.Acts()
		b.DUT.Out()
		b.anew()
	})
}

// ResetIn resets both amid an access. What the engine reports then was behind the reset, as it forgets what was before, and so was an access that was
// begun once more.
func (b *Board) ResetIn(a dut.Access, cycles uint64) (again bool, err error) {
	err = b.guard(func() {
		b.collect()
		again = fail.Must(b.DUT.ResetIn(a, cycles))
		b.anew()
		if again && a.Write {
			fail.On(b.ref.Write(a.Addr, a.Value, ctrl.AllBytes))
		}
		b.collect()
	})
	return again, err
}

// anew forgets what was before a reset.
func (b *Board) anew() {
	b.outs = nil
	b.forget()
	fail.On(b.ref.Reset())
}
