// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"slices"

	"incforge/inc"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// mutate sends mutated frames to a root and, if there are two groups, to one with a parent.
func mutate(t *rig.T) {
	mutateGroups(t, 30000, min(rig.MaxGroups(t.Params), 2)).lives()
}

// inBandMutate does so with in-band groups, whose data moves on by ranges.
func inBandMutate(t *rig.T) {
	count := min(rig.MaxGroups(t.Params), 2)
	if t.Params.DTypeMask()&rig.WideTypes != 0 { // whatever the type of their registers
		count = min(count, t.Params.Slots()/rig.WideSlots)
	}
	m := mutateGroups(t, 12000, count, rig.WithInBand())
	m.muchHappened()
	m.lives()
}

// mutation is mutated traffic of some groups of one engine.
type mutation struct {
	e        *rig.Engine
	mutators []*rig.Mutator
	// newState tells the guard of the groups' state that something changed it that is neither frame nor action.
	newState func()
	// invalid is how many frames were counted as what must not change any state.
	invalid uint64
}

// mutateGroups sends so many mutated frames, in the long form 200,000, to count groups.
func mutateGroups(t *rig.T, frames, count int, opts ...rig.GroupOption) *mutation {
	if t.Long {
		frames = 200000
	}
	m := &mutation{e: t.Engine()}
	for i := range count {
		members, parent := t.Params.Members, i == 1
		if parent {
			members = max(1, t.Children()-1)
		}
		g := m.e.Group(i, count, members, parent, append([]rig.GroupOption{rig.WithLog2N(3)}, opts...)...)
		m.mutators = append(m.mutators, rig.NewMutator(g))
	}
	m.newState = m.e.Guard(m.e.Reference().Engine().AppendState, func(_ dut.Frame, changed []inc.Counter) bool {
		bad := slices.ContainsFunc(changed, stateless)
		if bad {
			m.invalid++
		}
		return !bad
	})
	const burst = 64
	for sent := 0; sent < frames; sent += burst {
		m.send(burst)
	}
	m.e.SetPauses(dut.Pauses{})
	m.e.Settle()
	t.Values["mutated_frames"], t.Values["invalid_frames"] = uint64(frames), m.invalid
	return m
}

// send sends so many frames at once, lets most of them in, and now and then resets an in-band group or changes how interfaces hesitate.
func (m *mutation) send(frames int) {
	e, r := m.e, m.e.T.Rand
	draw := func() *rig.Mutator { return m.mutators[r.IntN(len(m.mutators))] }
	for range frames {
		e.Put(draw().Next())
	}
	for e.Waiting() > 16 {
		e.StepTo(e.Now() + 64)
		e.Out()
	}
	if x := draw(); x.Group.Set.InBand && r.IntN(4) == 0 {
		e.Settle()
		x.Group.Reset()
		x.Restart()
		m.newState()
	}
	if r.IntN(20) == 0 {
		e.SetPauses(dut.Pauses{Seed: r.Uint64(), In: 0.3 * r.Float64(), Ready: 0.4 * r.Float64(), Burst: 1 + r.IntN(6)})
	}
}

// muchHappened checks that in-band groups got further than their first range, and that spoilt controls and late frames were among it.
func (m *mutation) muchHappened() {
	late := inc.DropRange // data of a range that is over
	if m.e.T.Pipes() {
		late = inc.RxDuplicate
	}
	c := m.e.Counters()
	for _, x := range []struct {
		counter inc.Counter
		least   uint32
	}{{inc.RangeOpen, 10}, {inc.TxResult, 10}, {inc.DropControl, 1}, {late, 1}, {inc.DropStaleAck, 1}} {
		if n := c[x.counter.String()]; n < x.least {
			m.e.T.Fatalf("too little happened: %v is %d, expected %d or more", x.counter, n, x.least)
		}
	}
}

// lives checks that each group can be programmed again, and that a root of a fixed group then works.
func (m *mutation) lives() {
	for _, x := range m.mutators {
		g := x.Group
		g.Program()
		if g.Parent < 0 && !g.Set.InBand {
			g.Complete(g.Start())
		}
	}
}
