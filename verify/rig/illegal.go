// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"math/bits"

	"incforge/inc"
)

// ProgramRefused programs settings that the engine must not take: enable must not stick, and what is sent must be dropped.
func (g *Group) ProgramRefused() {
	if g.TryProgram() {
		g.T.Fatalf("illegal settings were enabled: %+v", g.Set)
	}
	g.Send(g.Data(0, g.Start(), g.T.Words(2))).As("to a group with illegal settings %+v", g.Set).Dropped(inc.DropGroupDisabled)
}

// IllegalSettings are settings of a group that must not be enabled, each one step away from legal ones.
func (t *T) IllegalSettings(legal inc.Group) []inc.Group {
	var all []inc.Group
	change := func(f func(g *inc.Group)) {
		g := legal
		f(&g)
		all = append(all, g)
	}
	for c := range uint8(8) {
		switch {
		case c > inc.CollectiveBarrier:
			change(func(g *inc.Group) { g.Collective = c })
		case c == inc.CollectiveReduce, c == inc.CollectiveBroadcast: // without the way to the root rank
			change(func(g *inc.Group) { g.Collective, g.HasParent = c, false })
		}
		if c != inc.CollectiveAllReduce {
			change(func(g *inc.Group) { g.Collective, g.HasParent, g.InBand = c, true, true })
		}
	}
	if !t.Params.InBand {
		change(func(g *inc.Group) { g.Collective, g.InBand = inc.CollectiveAllReduce, true })
	}
	for v := range uint8(4) {
		if t.Params.OpMask()>>v&1 == 0 {
			change(func(g *inc.Group) { g.Op = v })
		}
		if t.Params.DTypeMask()>>v&1 == 0 {
			change(func(g *inc.Group) { g.DType = v })
		}
	}
	units := t.Params.Units(legal.DType, false) << legal.Log2N
	change(func(g *inc.Group) { g.SlotBase = t.Params.Slots() })
	change(func(g *inc.Group) { g.SlotBase = t.Params.Slots() - units + 1 })
	change(func(g *inc.Group) { g.SlotBase, g.Log2N = 0, 31 })
	change(func(g *inc.Group) { g.SlotBase, g.Log2N = 0, bits.Len(uint(t.Params.Slots())) })
	change(func(g *inc.Group) { g.Log2N = 0 })
	change(func(g *inc.Group) { g.Parent, g.HasParent = t.Params.Members+1, true })
	if t.Params.Reproducible() && t.Params.Members%2 == 0 { // the endpoint without a partner in the pairs of the buffer
		last := uint32(1) << t.Params.Members
		change(func(g *inc.Group) { g.InMask |= last })
		change(func(g *inc.Group) { g.OutMask, g.InBand, g.Collective = g.OutMask|last, true, inc.CollectiveAllReduce })
		change(func(g *inc.Group) {
			g.Parent, g.HasParent, g.InBand, g.Collective = t.Params.Members, true, true, inc.CollectiveAllReduce
		})
	}
	if most := t.Params.MostUnits(); t.Params.InBand && most > 1 { // in-band, a packet takes so many whatever the type
		change(func(g *inc.Group) {
			g.InBand, g.Collective, g.SlotBase = true, inc.CollectiveAllReduce, t.Params.Slots()-most<<g.Log2N+1
		})
	}
	return all
}
