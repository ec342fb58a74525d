// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// mutate sends mutated frames to a root and, if there are two groups, to one with a parent.
func mutate(t *rig.T) {
	mutateGroups(t, t.Count(30_000, 200_000), min(rig.MaxGroups(t.Params), 2)).lives()
}

// inBandMutate does so with in-band groups, whose data moves on by ranges.
func inBandMutate(t *rig.T) {
	count := min(rig.MaxGroups(t.Params), 2, t.Params.Slots()/(2*t.Params.MostUnits())) // whatever the type of their registers
	frames := t.Count(12_000, 200_000)
	m := mutateGroups(t, frames, count, rig.WithInBand())
	const more = 10 // parts, each a tenth of the frames, for what is rare: in Mode I connections end before a control is contradicted
	for range more {
		if m.missing() == "" {
			break
		}
		m.run(frames / more)
	}
	if missing := m.missing(); missing != "" {
		t.Fatalf("too little happened: %s", missing)
	}
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

// mutateGroups sends so many mutated frames to count groups.
func mutateGroups(t *rig.T, frames, count int, opts ...rig.GroupOption) *mutation {
	m := &mutation{e: t.Engine()}
	for i := range count {
		members, parent := t.Params.Members, i == 1
		if parent {
			members = max(1, t.Children()-1)
		}
		g := m.e.Group(i, count, members, parent, append([]rig.GroupOption{rig.WithLog2N(3), rig.WithPathMTU(t.Params.LeastPathMTU())}, opts...)...)
		m.mutators = append(m.mutators, rig.NewMutator(g))
	}
	m.newState = m.e.Guard(m.e.Reference().Engine().AppendState, func(_ dut.Frame, changed []inc.Counter) bool {
		bad := slices.ContainsFunc(changed, stateless) && !slices.Contains(changed, inc.TxInvalid)
		if bad {
			m.invalid++
		}
		return !bad
	})
	m.run(frames)
	return m
}

// run sends so many mutated frames and lets all of them in.
func (m *mutation) run(frames int) {
	const burst = 64
	for sent := 0; sent < frames; sent += burst {
		m.send(burst)
	}
	m.e.SetPauses(dut.Pauses{})
	m.e.Settle()
	m.e.T.Values["mutated_frames"] += uint64(frames)
	m.e.T.Values["invalid_frames"] = m.invalid
}

// send sends so many frames at once, lets most of them in, and now and then resets a group that is in-band or of Mode I, or changes how interfaces hesitate.
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
	if x := draw(); (x.Group.Set.InBand || e.T.Messages()) && r.IntN(4) == 0 { // or every connection of Mode I would be over soon
		e.Settle()
		x.Group.Reset()
		x.Restart()
		m.newState()
	}
	if r.IntN(20) == 0 {
		e.SetPauses(dut.Pauses{Seed: r.Uint64(), In: 0.3 * r.Float64(), Ready: 0.4 * r.Float64(), Burst: 1 + r.IntN(6)})
	}
}

// missing is what did not happen, or not as often as it must, or nothing: in-band groups are to get further than their first range, with spoilt controls
// and late frames among what comes.
func (m *mutation) missing() string {
	late := rig.ByMode(m.e.T, inc.DropRange, inc.RxDuplicate) // data of a range that is over
	c := m.e.Counters()
	for _, x := range []struct {
		counter inc.Counter
		least   uint64
	}{{inc.RangeOpen, 10}, {inc.TxResult, 10}, {inc.DropControl, 1}, {late, 1}, {inc.DropStaleAck, 1}} {
		if n := c[x.counter.String()]; n < x.least {
			return fmt.Sprintf("%v is %d, expected %d or more", x.counter, n, x.least)
		}
	}
	return ""
}

// lives checks that each group can be programmed again, and that a root of a fixed group then works. All are first, so that
// none repeats a packet meanwhile.
func (m *mutation) lives() {
	for _, x := range m.mutators {
		x.Group.Program()
	}
	m.newState()
	m.e.Settle() // what left before that
	for _, x := range m.mutators {
		g := x.Group
		if g.Parent < 0 && !g.Set.InBand {
			g.Complete(g.Start())
		}
	}
}

// random drives one group, across the wrap of the PSN, with frames chosen by what its slots might be in.
func random(t *rig.T) {
	e := t.Engine()
	g := e.Group(0, 1, t.Params.Members, false, rig.WithStart(roce.PSN(0).Add(-40)), rig.WithLog2N(1+t.Rand.IntN(4)))
	at := make([]int, len(g.Ends)) // the next packet of each endpoint, as far as it knows
	for range t.Count(200, 1000) {
		e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), In: 0.5 * t.Rand.Float64(), Ready: 0.6 * t.Rand.Float64(), Burst: 1 + t.Rand.IntN(10)})
		for range 10 + t.Rand.IntN(40) {
			e.Put(anything(g, at))
		}
		e.Settle()
		// What an endpoint believes may be wrong by now: a packet ahead of its window was dropped. It goes back to within the window.
		slowest := slices.Min(at)
		for c := range at {
			at[c] = min(at[c], slowest+g.MW()-1)
		}
	}
}

// anything is what some endpoint sends next: what its window allows, a duplicate, a small or large gap, or an answer.
func anything(g *rig.Group, at []int) rig.Frame {
	r := g.T.Rand
	c := r.IntN(len(g.Ends))
	switch k := r.IntN(12); {
	case k < 7 && at[c] < slices.Min(at)+g.MW():
		at[c]++
		return shaped(g, c, at[c]-1)
	case k == 7:
		return shaped(g, c, at[c]-1-r.IntN(2*g.MW()+1))
	case k == 8:
		return shaped(g, c, at[c]+1+r.IntN(4*g.MW()))
	case k == 9:
		return shaped(g, c, at[c]+1<<r.IntN(24))
	default:
		psn := g.PSN(at[c] - 1 - r.IntN(3))
		return g.AETH(c, psn, []uint8{roce.AckSyndrome, roce.NAKSequence, roce.RNRSyndrome | 0x1F}[r.IntN(3)])
	}
}

// shaped is packet k of endpoint c. Its opcode and length follow from k, so that all endpoints send the same shape.
func shaped(g *rig.Group, c, k int) rig.Frame {
	p := g.T.Params
	r := rand.New(rand.NewPCG(uint64(int64(k)), g.T.Seed))
	op, elements := roce.Opcode(r.IntN(6)), r.IntN(min(p.MTUBytes/g.Size(), 2*p.BusBytes)+1)
	return g.Data(c, g.PSN(k), g.Noise(elements*g.Size()), func(p *roce.Packet) { p.Op = op })
}
