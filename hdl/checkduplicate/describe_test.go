// SPDX-License-Identifier: Apache-2.0

package checkduplicate_test

import (
	"testing"

	"incforge/contract"
	"incforge/hdl/checkduplicate"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

// counters is the number of the mode's counters.
var counters = len(contract.Counters(2))

// mini is the module at an MTU of 64 bytes, 8 bytes a word, two groups of five endpoints, in place, with all types.
func mini() checkduplicate.CheckDuplicate {
	return checkduplicate.CheckDuplicate{LenW: 7, WordsW: 4, Bytes: 8, EPW: 3, EIW: 4, MaskW: 5, SlotW: 5, Planes: 1, Halves: 1, Groups: 2, PktW: 6,
		ICRC: 1, Counters: counters}
}

func with(change func(*checkduplicate.CheckDuplicate)) checkduplicate.CheckDuplicate {
	p := mini()
	change(&p)
	return p
}

func TestDescription(t *testing.T) {
	t.Parallel()
	type cd = checkduplicate.CheckDuplicate
	legal := []graph.Describer{
		mini(),
		inBand(mini()),
		onePort(mini()),
		// one group, of one endpoint, two slots
		cd{LenW: 5, WordsW: 2, Bytes: 8, EPW: 1, EIW: 1, MaskW: 1, SlotW: 1, Planes: 1, Groups: 1, PktW: 5, Counters: counters},
		cd{LenW: 9, WordsW: 6, Bytes: 8, EPW: 1, EIW: 1, MaskW: 2, SlotW: 2, Planes: 1, Tree: 1, Halves: 1, Groups: 1, PktW: 8, ICRC: 1, Counters: counters},
		// groups 2^n-1, 2^n, 2^n+1
		cd{LenW: 9, WordsW: 5, Bytes: 16, EPW: 2, EIW: 4, MaskW: 3, SlotW: 3, Planes: 1, Tree: 1, Groups: 3, PktW: 7, ICRC: 1, Counters: counters},
		cd{LenW: 9, WordsW: 5, Bytes: 16, EPW: 2, EIW: 4, MaskW: 4, SlotW: 8, Planes: 2, Tree: 1, Halves: 1, Groups: 4, PktW: 7, Counters: counters},
		cd{LenW: 11, WordsW: 6, Bytes: 32, EPW: 3, EIW: 6, MaskW: 7, SlotW: 9, Planes: 3, Tree: 1, Halves: 1, Groups: 5, PktW: 9, ICRC: 1, Counters: counters},
		cd{LenW: 13, WordsW: 7, Bytes: 64, EPW: 5, EIW: 11, MaskW: 17, SlotW: 12, Planes: 8, Tree: 1, Halves: 1, Groups: 64, PktW: 9, ICRC: 1, InBand: 1, Counters: counters},
		// a word as long as the MTU
		cd{LenW: 9, WordsW: 1, Bytes: 256, EPW: 4, EIW: 5, MaskW: 9, SlotW: 23, Planes: 5, Tree: 1, Groups: 2, PktW: 5, ICRC: 1, Counters: counters},
	}
	tree, slot := "TREE and HALVES must be 0 or 1", "SLOT_W must be 1 to 23"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *cd) { p.Counters-- }), Params: []graph.Param{{Name: "COUNTERS", Value: counters - 1}}, Rule: "COUNTERS must be the number of the mode's counters"},
		{Leaf: with(func(p *cd) { p.Tree = 2 }), Params: []graph.Param{{Name: "TREE", Value: 2}}, Rule: tree},
		{Leaf: with(func(p *cd) { p.Tree = -1 }), Params: []graph.Param{{Name: "TREE", Value: -1}}, Rule: tree},
		{Leaf: with(func(p *cd) { p.Halves = 2 }), Params: []graph.Param{{Name: "HALVES", Value: 2}}, Rule: tree},
		{Leaf: with(func(p *cd) { p.SlotW = 24 }), Params: []graph.Param{{Name: "SLOT_W", Value: 24}}, Rule: slot},
		{Leaf: with(func(p *cd) { p.OnePort = 2 }), Params: []graph.Param{{Name: "ONE_PORT", Value: 2}}, Rule: "ONE_PORT must be 0 or 1"},
	})
}

func TestLeastAckDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{checkduplicate.LeastAck{EPW: 1}, checkduplicate.LeastAck{EPW: 4}},
		[]hdltest.Refused{{Leaf: checkduplicate.LeastAck{}, Params: []graph.Param{{Name: "EP_W", Value: 0}}, Rule: "EP_W must be at least 1"}})
}

// With groups that can be parked the module has more pins, and two counters more.
func TestParkingDescription(t *testing.T) {
	t.Parallel()
	parks := with(func(p *checkduplicate.CheckDuplicate) { p.Park, p.Counters = 1, counters+2 })
	hdltest.Check(t, []graph.Describer{parks}, []hdltest.Refused{{Leaf: with(func(p *checkduplicate.CheckDuplicate) { p.Park = 1 }),
		Params: []graph.Param{{Name: "COUNTERS", Value: counters}}, Rule: "COUNTERS must be the number of the mode's counters"}})
}
