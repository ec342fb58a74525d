// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"math/rand/v2"
	"slices"

	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// random drives one group, across the wrap of the PSN, with frames chosen by what its slots might be in.
func random(t *rig.T) {
	e := t.Engine()
	g := e.Group(0, 1, t.Params.Members, false, rig.WithStart(roce.PSN(0).Add(-40)), rig.WithLog2N(1+t.Rand.IntN(4)))
	at := make([]int, len(g.Ends)) // the next packet of each endpoint, as far as it knows
	rounds := 200
	if t.Long {
		rounds = 1000
	}
	for range rounds {
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
