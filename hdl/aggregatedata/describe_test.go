// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"testing"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/hdltest"
	"incforge/rtlgen/graph"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type ad = aggregatedata.AggregateData
	with := func(change func(*ad)) ad {
		p := narrow()
		change(&p)
		return p
	}
	legal := []graph.Describer{
		narrow(), wide(),
		ad{Bytes: 4, Slots: 2, SlotW: 1, MTUWords: 2, WordsW: 2, PktW: 2},
		ad{Bytes: 12, Slots: 3, SlotW: 2, MTUWords: 4, WordsW: 3, PktW: 5},
		ad{Bytes: 16, Slots: 7, SlotW: 3, MTUWords: 8, WordsW: 4, PktW: 6},
		ad{Bytes: 32, Slots: 8, SlotW: 3, MTUWords: 32, WordsW: 6, PktW: 7},
		ad{Bytes: 128, Slots: 9, SlotW: 4, MTUWords: 32, WordsW: 6, PktW: 8},
		ad{Bytes: 256, Slots: 17, SlotW: 5, MTUWords: 16, WordsW: 5, PktW: 6},
	}
	bytes, slots := "BYTES must be a multiple of 4", "SLOTS must be 2 to 2**SLOT_W"
	words := "MTU_WORDS must be a power of two of WORDS_W - 1 bits, at least 2"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *ad) { p.Bytes = 6 }), Params: []graph.Param{{Name: "BYTES", Value: 6}}, Rule: bytes},
		{Leaf: with(func(p *ad) { p.Bytes = 2 }), Params: []graph.Param{{Name: "BYTES", Value: 2}}, Rule: bytes},
		{Leaf: with(func(p *ad) { p.Slots = 1 }), Params: []graph.Param{{Name: "SLOTS", Value: 1}}, Rule: slots},
		{Leaf: with(func(p *ad) { p.Slots = 5 }), Params: []graph.Param{{Name: "SLOTS", Value: 5}}, Rule: slots},
		{Leaf: with(func(p *ad) { p.MTUWords = 5 }), Params: []graph.Param{{Name: "MTU_WORDS", Value: 5}}, Rule: words},
		{Leaf: with(func(p *ad) { p.MTUWords, p.WordsW = 1, 1 }),
			Params: []graph.Param{{Name: "MTU_WORDS", Value: 1}, {Name: "WORDS_W", Value: 1}}, Rule: words},
	})
}

func TestLanesDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for _, n := range []int{1, 2, 3, 7, 8, 9, 64} {
		legal = append(legal, aggregatedata.Lanes{Lanes: n})
	}
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: aggregatedata.Lanes{Lanes: 0}, Params: []graph.Param{{Name: "LANES", Value: 0}}, Rule: "LANES must be at least 1"},
	})
}
