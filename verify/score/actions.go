// SPDX-License-Identifier: Apache-2.0

package score

import (
	"math"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/verify/cover"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// sends are the actions of an engine of Mode III or I that are due at once.
func (b *Board) sends() []inc.Action {
	if !b.pipes() || b.resting {
		return nil
	}
	b.wants = b.ref.Engine().Due(math.MinInt64, b.wants[:0])
	b.resting = len(b.wants) == 0
	return b.wants
}

// decide has the reference repeat, in order, what an engine of Mode III or I reported.
func (b *Board) decide() {
	for _, a := range b.DUT.Acts() {
		b.lively = max(b.lively, a.At)
		b.acts = append(b.acts, a)
	}
	for len(b.acts) > 0 {
		a := b.acts[0]
		engine := min(a.EI/b.man.Params.EngineRecords(), inc.MaxEngines-1)
		if a.Kind == dut.ActFrame && len(b.pending[engine]) == 0 {
			return // the frame's end is not in yet
		}
		b.acts = b.acts[1:]
		b.resting = false
		if a.Kind != dut.ActFrame {
			b.act(a)
			continue
		}
		f := b.pending[engine][0]
		b.pending[engine] = b.pending[engine][1:]
		b.named(f, a, b.accept(f, a.At))
	}
}

// named ends the test if the monitor named another endpoint than the frame's, of a frame that was counted as some endpoint's.
func (b *Board) named(f pending, a dut.Act, changed []inc.Counter) {
	p, err := f.Packet()
	if err != nil || !b.pipes() || !slices.ContainsFunc(changed, func(c inc.Counter) bool {
		return slices.Contains([]inc.Counter{inc.UpData, inc.DownData, inc.RxAck, inc.RxNak, inc.RxRnr, inc.RxCnp}, c)
	}) {
		return
	}
	if of := int(p.DestQP) % b.man.Params.Records(); a.EI != of {
		differ("cycle %d: the engine decided a frame of table index %d and named %d", a.At, of, a.EI)
	}
}

// HoldUp has no port take anything until LetGo. So scenarios stop groups of one engine whose frames wait inside for a decision: a Mode II engine, which does
// not report what it decides, has counted it.
func (b *Board) HoldUp() {
	b.held = !b.pipes()
	b.SetPauses(dut.Pauses{Ready: 1})
}

// LetGo has all ports take what comes. What waits inside is decided by the registers as they are.
func (b *Board) LetGo() error {
	return b.guard(func() {
		b.collect()
		b.counts(false)
		b.held = false
		b.SetPauses(dut.Pauses{})
	})
}

// counts has the reference decide what an engine that is held up has decided by what it counts; if it is not stuck, all that it has accepted.
func (b *Board) counts(stuck bool) {
	if !b.held {
		return
	}
	n := uint64(b.undecided())
	if stuck {
		all, before := fail.Must(ctrl.New(b.DUT, b.man).Counter(slices.Index(b.man.Counters, inc.RxFrames.String()))), b.ref.Engine().Counters()[inc.RxFrames]
		if all < before || all > before+n {
			differ("%v is %d of a stuck engine that has taken %d frames, of which %d were decided before", inc.RxFrames, all, before+n, before)
		}
		n = all - before
	}
	b.acts = append(b.acts, slices.Repeat([]dut.Act{{At: b.Now()}}, int(n))...)
	b.decide()
}

// poison has a group of the reference stop, as the engine's did. Its memory must have been given a double error.
func (b *Board) poison(a dut.Act) {
	group := a.EI / b.man.Params.EPS()
	if !b.doubled {
		differ("cycle %d: group %d stopped sending for a double error of the payload memory, which has none", a.At, group)
	}
	if err := b.ref.Engine().Poison(group); err != nil {
		differ("cycle %d: %w", a.At, err)
	}
}

// act has the reference take an action. It must be allowed and not early.
func (b *Board) act(a dut.Act) {
	if a.Kind == dut.ActPoisoned {
		b.poison(a)
		return
	}
	action, err := b.ref.Action(a)
	if err != nil {
		differ("cycle %d: %w", a.At, err)
	}
	if at, ok := b.ref.Engine().Deadline(action); ok && a.At < b.ref.Cycle(at) {
		differ("cycle %d: the engine did %v, which docs/pipes.md section 3 does not allow before cycle %d", a.At, action, b.ref.Cycle(at))
	}
	outs, err := b.ref.Act(a.At, action)
	if err != nil {
		differ("cycle %d: the engine did %v, which docs/pipes.md section 3 does not allow now; it allows %v", a.At, action, b.ref.Engine().Actions(nil))
	}
	b.expect(outs)
	b.Cover.Add(cover.Point{Opcode: "-", Class: "action", Slot: "-", Outcome: action.Kind.String()})
	if b.OnAct != nil {
		b.OnAct(a.At, action)
	}
}

// late ends the test if the engine is still long after a time-out or wait has ended.
func (b *Board) late(still uint64) {
	next := b.deadline()
	if next == dut.Never || next+b.patience() >= b.Now() {
		return
	}
	all := slices.DeleteFunc(b.ref.Engine().Actions(nil), func(a inc.Action) bool {
		at, ok := b.ref.Engine().Deadline(a)
		return !ok || b.ref.Cycle(at) != next
	})
	differ("cycle %d: actions due since cycle %d were not taken, though nothing has moved for %d cycles: %v", b.Now(), next, still, all)
}
