// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// resets resets the engine in any cycle of a short traffic: while a group starts, a range opens, frames are decided. The same traffic then finds an
// engine as new. Every other round is in-band, if there are such groups, so that what one kind leaves would meet the other.
func resets(t *rig.T) {
	const rounds, longest = 8, 160
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 2)
	start := t.Field("GROUP_CTRL", "enable").Put(1) | t.Field("GROUP_CTRL", "reset").Put(1)
	for round := range rounds {
		inBand := t.Params.InBand && !t.Messages() && round%2 == 1
		t.In(fmt.Sprintf("round %d", round), func() {
			before := programmed(e, count, inBand)
			shortTraffic(before[0], inBand)
			e.Write("GROUP_CTRL", before[len(before)-1].Index, start)
			e.StepTo(e.Now() + uint64(t.Rand.IntN(longest)))
			e.Out()
			t.Check(e.Reset())
			e.Settle() // what still waited at the ports finds no group
			for _, g := range programmed(e, count, inBand) {
				shortTraffic(g, inBand)
			}
			e.Settle()
		})
	}
}

// programmed are so many groups, fixed or in-band.
func programmed(e *rig.Engine, count int, inBand bool) (all []*rig.Group) {
	var opts []rig.GroupOption
	if inBand {
		opts = append(opts, rig.WithInBand())
	}
	for i := range count {
		all = append(all, e.Group(i, count, e.T.Params.Members, false, opts...))
	}
	return all
}

// shortTraffic offers an AllReduce of two packets, in-band with its controls.
func shortTraffic(g *rig.Group, inBand bool) {
	k := 0
	if inBand {
		says := inc.Control{Collective: inc.CollectiveAllReduce, Op: g.Set.Op, DType: g.Set.DType, Packets: 2}
		for _, c := range g.Members() {
			g.E.Put(g.Data(c, g.PSN(0), nil, func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, says.Immediate() }))
		}
		k++
	}
	for range 2 {
		for _, c := range g.T.Shuffled(g.Members()) {
			g.E.Put(g.Data(c, g.PSN(k), g.Noise(4*g.T.Rand.IntN(17))))
		}
		k++
	}
}
