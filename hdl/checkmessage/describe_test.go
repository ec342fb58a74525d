// SPDX-License-Identifier: Apache-2.0

package checkmessage_test

import (
	"testing"

	"incforge/contract"
	"incforge/hdl/checkmessage"
	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/leaf"
)

// mini is the module at a path MTU of 64 bytes, 8 bytes a word, two groups of five endpoints, in place, with all types.
func mini() checkmessage.CheckMessage {
	return checkmessage.CheckMessage{MessageBytes: 256, UnitBytes: 16, UnitW: 9, Decider: decider.Decider{LenW: 7, WordsW: 4, Bytes: 8, EPW: 3, EIW: 4, MaskW: 5,
		SlotW: 5, Planes: 1, Halves: 1, Groups: 2, PktW: 6, ICRC: 1, Counters: len(contract.Counters(1))}}
}

func with(change func(*checkmessage.CheckMessage)) checkmessage.CheckMessage {
	p := mini()
	change(&p)
	p.UnitW = p.SlotW + leaf.Clog2(p.MessageBytes) - leaf.Clog2(p.UnitBytes)
	return p
}

func TestDescription(t *testing.T) {
	t.Parallel()
	type cm = checkmessage.CheckMessage
	legal := []graph.Describer{
		mini(),
		with(func(p *cm) { p.InBand, p.Tree, p.Planes, p.Open = 1, 1, 2, 1 }),
		with(func(p *cm) { p.Release = 1 }),
		with(func(p *cm) { p.Release, p.InBand = 1, 1 }),
		// one group of two endpoints, a message of one unit
		with(func(p *cm) {
			p.EPW, p.EIW, p.MaskW, p.Groups, p.SlotW, p.MessageBytes, p.UnitBytes, p.Halves = 1, 1, 2, 1, 1, 64, 64, 0
		}),
		with(func(p *cm) {
			p.LenW, p.EPW, p.EIW, p.MaskW, p.Groups, p.SlotW, p.MessageBytes, p.UnitBytes = 13, 5, 11, 17, 64, 12, 1<<20, 256
		}),
	}
	odd := mini()
	odd.UnitW = 8
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: odd, Params: []graph.Param{{Name: "UNIT_W", Value: 8}}, Rule: "SLOT_W must be 1 to 22, and UNIT_W hold the units of all slots"},
		{Leaf: with(func(p *cm) { p.Counters-- }), Params: []graph.Param{{Name: "COUNTERS", Value: mini().Counters - 1}}, Rule: "COUNTERS must be the number of the mode's counters"},
		{Leaf: with(func(p *cm) { p.Groups = 3 }), Params: []graph.Param{{Name: "GROUPS", Value: 3}}, Rule: "GROUPS must be 1 to 2**(EI_W - EP_W)"},
		{Leaf: with(func(p *cm) { p.Tree = 2 }), Params: []graph.Param{{Name: "TREE", Value: 2}}, Rule: "TREE and HALVES must be 0 or 1"},
		{Leaf: with(func(p *cm) { p.Open = 2 }), Params: []graph.Param{{Name: "OPEN", Value: 2}}, Rule: "OPEN must be 0, or 1 where a message has more than one unit"},
		{Leaf: with(func(p *cm) { p.MessageBytes = 32 }), Params: []graph.Param{{Name: "MESSAGE_BYTES", Value: 32}, {Name: "UNIT_W", Value: 6}}, Rule: "a payload must fit MESSAGE_BYTES"},
		{Leaf: with(func(p *cm) { p.UnitBytes = 24 }), Params: []graph.Param{{Name: "UNIT_BYTES", Value: 24}},
			Rule: "UNIT_BYTES and MESSAGE_BYTES must be powers of two, 2 to MESSAGE_BYTES and at most 2**23"},
	})
}

// With groups that can be parked the module has more pins, and one counter more.
func TestParkingDescription(t *testing.T) {
	t.Parallel()
	parks := with(func(p *checkmessage.CheckMessage) { p.Park, p.Counters = 1, p.Counters+1 })
	hdltest.Check(t, []graph.Describer{parks}, []hdltest.Refused{{Leaf: with(func(p *checkmessage.CheckMessage) { p.Park = 1 }),
		Params: []graph.Param{{Name: "COUNTERS", Value: mini().Counters}}, Rule: "COUNTERS must be the number of the mode's counters"}})
}

func TestPartsDescription(t *testing.T) {
	t.Parallel()
	cut := checkmessage.CutWork{UnitWords: 32, WordsW: 8, AddsW: 5, UnitW: 6, Planes: 1, PktW: 9}
	tree := cut
	tree.Tree, tree.Planes, tree.Halves = 1, 3, 1
	one := cut
	one.UnitW, one.AddsW, one.Halves = 1, 1, 0
	odd := cut
	odd.UnitWords = 31
	hdltest.Check(t, []graph.Describer{cut, tree, one, checkmessage.AckAsked{Bytes: 8, DepthW: 5}, checkmessage.AckAsked{Bytes: 64, DepthW: 3},
		checkmessage.AckAsked{Bytes: 256, DepthW: 1}}, []hdltest.Refused{
		{Leaf: odd, Params: []graph.Param{{Name: "UNIT_WORDS", Value: 31}},
			Rule: "UNIT_WORDS must be a power of two of PART_W - 1 bits, at most a payload's words and the packet buffer's"},
	})
}
