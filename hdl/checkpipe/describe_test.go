// SPDX-License-Identifier: Apache-2.0

package checkpipe_test

import (
	"testing"

	"incforge/contract"
	"incforge/hdl/checkpipe"
	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

// at is the module with GROUP_PIPE at its word.
func at(d decider.Decider) checkpipe.CheckPipe {
	return checkpipe.CheckPipe{Decider: d}
}

// counters is the number of the mode's counters.
var counters = len(contract.Counters(3))

// mini is the module at an MTU of 64 bytes, 8 bytes a word, two groups of five endpoints, in place, with all types.
func mini() checkpipe.CheckPipe {
	return at(decider.Decider{LenW: 7, WordsW: 4, Bytes: 8, EPW: 3, EIW: 4, MaskW: 5, SlotW: 5, Planes: 1, Halves: 1, Groups: 2, PktW: 6,
		ICRC: 1, Counters: counters})
}

func with(change func(*checkpipe.CheckPipe)) checkpipe.CheckPipe {
	p := mini()
	change(&p)
	return p
}

func TestDescription(t *testing.T) {
	t.Parallel()
	type cd = checkpipe.CheckPipe
	legal := []graph.Describer{
		mini(),
		with(func(p *cd) { p.InBand = 1 }),
		// one group, of one endpoint, two slots
		at(decider.Decider{LenW: 5, WordsW: 2, Bytes: 8, EPW: 1, EIW: 1, MaskW: 1, SlotW: 1, Planes: 1, Groups: 1, PktW: 5, Counters: counters}),
		at(decider.Decider{LenW: 9, WordsW: 6, Bytes: 8, EPW: 1, EIW: 1, MaskW: 2, SlotW: 2, Planes: 1, Tree: 1, Halves: 1, Groups: 1, PktW: 8, ICRC: 1, Counters: counters}),
		// groups 2^n-1, 2^n, 2^n+1
		at(decider.Decider{LenW: 9, WordsW: 5, Bytes: 16, EPW: 2, EIW: 4, MaskW: 3, SlotW: 3, Planes: 1, Tree: 1, Groups: 3, PktW: 7, ICRC: 1, Counters: counters}),
		at(decider.Decider{LenW: 9, WordsW: 5, Bytes: 16, EPW: 2, EIW: 4, MaskW: 4, SlotW: 8, Planes: 2, Tree: 1, Halves: 1, Groups: 4, PktW: 7, Counters: counters}),
		at(decider.Decider{LenW: 11, WordsW: 6, Bytes: 32, EPW: 3, EIW: 6, MaskW: 7, SlotW: 9, Planes: 3, Tree: 1, Halves: 1, Groups: 5, PktW: 9, ICRC: 1, Counters: counters}),
		at(decider.Decider{LenW: 13, WordsW: 7, Bytes: 64, EPW: 5, EIW: 11, MaskW: 17, SlotW: 12, Planes: 8, Tree: 1, Halves: 1, Groups: 64, PktW: 9, ICRC: 1, InBand: 1, Counters: counters}),
		// a word as long as the MTU
		at(decider.Decider{LenW: 9, WordsW: 1, Bytes: 256, EPW: 4, EIW: 5, MaskW: 9, SlotW: 22, Planes: 5, Tree: 1, Groups: 2, PktW: 5, ICRC: 1, Counters: counters}),
	}
	groups, tree := "GROUPS must be 1 to 2**(EI_W - EP_W)", "TREE and HALVES must be 0 or 1"
	slot, bytes := "SLOT_W must be 1 to 22", "BYTES must be a power of two of at most LEN_W bits"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *cd) { p.Counters-- }), Params: []graph.Param{{Name: "COUNTERS", Value: counters - 1}}, Rule: "COUNTERS must be the number of the mode's counters"},
		{Leaf: with(func(p *cd) { p.Groups = 0 }), Params: []graph.Param{{Name: "GROUPS", Value: 0}}, Rule: groups},
		{Leaf: with(func(p *cd) { p.Groups = 3 }), Params: []graph.Param{{Name: "GROUPS", Value: 3}}, Rule: groups},
		{Leaf: with(func(p *cd) { p.Tree = 2 }), Params: []graph.Param{{Name: "TREE", Value: 2}}, Rule: tree},
		{Leaf: with(func(p *cd) { p.Tree = -1 }), Params: []graph.Param{{Name: "TREE", Value: -1}}, Rule: tree},
		{Leaf: with(func(p *cd) { p.Halves = 2 }), Params: []graph.Param{{Name: "HALVES", Value: 2}}, Rule: tree},
		{Leaf: with(func(p *cd) { p.SlotW = 23 }), Params: []graph.Param{{Name: "SLOT_W", Value: 23}}, Rule: slot},
		{Leaf: with(func(p *cd) { p.Bytes = 12 }), Params: []graph.Param{{Name: "BYTES", Value: 12}}, Rule: bytes},
	})
}

// With groups that can be parked the module has more pins, and one counter more.
func TestParkingDescription(t *testing.T) {
	t.Parallel()
	parks := with(func(p *checkpipe.CheckPipe) { p.Park, p.Counters = 1, counters+1 })
	hdltest.Check(t, []graph.Describer{parks}, []hdltest.Refused{{Leaf: with(func(p *checkpipe.CheckPipe) { p.Park = 1 }),
		Params: []graph.Param{{Name: "COUNTERS", Value: counters}}, Rule: "COUNTERS must be the number of the mode's counters"}})
}
