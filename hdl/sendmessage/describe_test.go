// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import (
	"testing"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/sendmessage"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescription(t *testing.T) {
	t.Parallel()
	type sm = sendmessage.SendMessage
	base := several()
	change := func(f func(p *sm)) sm { p := base; f(&p); return p }
	const (
		groups = "GROUPS must be 1 to 2**(EI_W - EP_W)"
		mask   = "MASK_W must be at most 2**EP_W"
		unit   = "U_BYTES must be a power of two of 256 to 4096"
		off    = "OFF_W must be more than a unit's bits and at most 24, UNIT_W enough for a slot's units"
	)
	hdltest.Check(t, []graph.Describer{
		base, single(), change(func(p *sm) { p.Release = 1 }), change(func(p *sm) { p.InBand = 1 }), change(func(p *sm) { p.Release, p.InBand = 1, 1 }),
		sm{EPW: 1, EIW: 1, MaskW: 1, Groups: 1, ClockMHz: 1, Bytes: 1, LenW: 9, WordsW: 9, OffW: 9, UnitW: 1, UnitBytes: 256},
		sm{EPW: 5, EIW: 11, MaskW: 17, Groups: 64, ClockMHz: 1000, Bytes: 2048, LenW: 13, WordsW: 2, OffW: 21, UnitW: 16, UnitBytes: 4096},
	}, []hdltest.Refused{
		{Leaf: change(func(p *sm) { p.Groups = 5 }), Params: param("GROUPS", 5), Rule: groups},
		{Leaf: change(func(p *sm) { p.MaskW = 9 }), Params: param("MASK_W", 9), Rule: mask},
		{Leaf: change(func(p *sm) { p.UnitBytes = 768 }), Params: param("U_BYTES", 768), Rule: unit},
		{Leaf: change(func(p *sm) { p.OffW = 25 }), Params: param("OFF_W", 25), Rule: off},
		{Leaf: change(func(p *sm) { p.UnitW = 4 }), Params: param("UNIT_W", 4), Rule: off},
	})
}

func TestDescriptionOfCut(t *testing.T) {
	t.Parallel()
	type cut = sendmessage.CutMessage
	base := cut{Bytes: 8, LenW: 11, WordsW: 8, OffW: 13, PosW: 5, UnitBytes: 256}
	change := func(f func(p *cut)) cut { p := base; f(&p); return p }
	const (
		bytes  = "BYTES and U_BYTES must be powers of two, U_BYTES at least 256 and BYTES"
		off    = "OFF_W must be more than a unit's bits and at most 24, POS_W what it has beyond them"
		length = "LEN_W must be more than a unit's bits and at most 16, WORDS_W enough for its words"
	)
	hdltest.Check(t, []graph.Describer{
		base,
		cut{Bytes: 1, LenW: 9, WordsW: 9, OffW: 9, PosW: 1, UnitBytes: 256},
		cut{Bytes: 4096, LenW: 13, WordsW: 1, OffW: 24, PosW: 12, UnitBytes: 4096},
	}, []hdltest.Refused{
		{Leaf: change(func(p *cut) { p.Bytes = 24 }), Params: param("BYTES", 24), Rule: bytes},
		{Leaf: change(func(p *cut) { p.PosW = 4 }), Params: param("POS_W", 4), Rule: off},
		{Leaf: change(func(p *cut) { p.WordsW = 7 }), Params: param("WORDS_W", 7), Rule: length},
	})
}

func TestDescriptionOfRelease(t *testing.T) {
	t.Parallel()
	type release = sendmessage.Release
	n := len(contract.Counters(1))
	base := release{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, OffW: 12, Counters: n}
	change := func(f func(p *release)) release { p := base; f(&p); return p }
	hdltest.Check(t, []graph.Describer{
		base,
		release{EPW: 1, EIW: 1, MaskW: 1, Groups: 1, OffW: 1, Counters: n},
		release{EPW: 5, EIW: 7, MaskW: 17, Groups: 4, OffW: 21, Park: 1, Counters: n + 1},
		change(func(p *release) { p.InBand = 1 }),
		release{EPW: 1, EIW: 1, MaskW: 1, Groups: 1, OffW: 1, Park: 1, InBand: 1, Counters: n + 1},
	}, []hdltest.Refused{
		{Leaf: change(func(p *release) { p.Groups = 5 }), Params: param("GROUPS", 5), Rule: "GROUPS must be 1 to 2**(EI_W - EP_W)"},
		{Leaf: change(func(p *release) { p.MaskW = 9 }), Params: param("MASK_W", 9), Rule: "MASK_W must be at most 2**EP_W"},
		{Leaf: change(func(p *release) { p.Counters-- }), Params: param("COUNTERS", n-1), Rule: "COUNTERS must be the number of the mode's counters"},
	})
}

func TestDescriptionOfPoisoned(t *testing.T) {
	t.Parallel()
	type mark = sendmessage.Poisoned
	base := mark{EPW: 3, EIW: 5, Groups: 3, WordsW: 8}
	hdltest.Check(t, []graph.Describer{
		base,
		mark{EPW: 1, EIW: 1, Groups: 1, WordsW: 1},
		mark{EPW: 5, EIW: 8, Groups: 8, WordsW: 12},
	}, []hdltest.Refused{
		{Leaf: mark{EPW: 3, EIW: 5, Groups: 5, WordsW: 8}, Params: param("GROUPS", 5), Rule: "GROUPS must be 1 to 2**(EI_W - EP_W)"},
	})
}

func TestDescriptionOfAsk(t *testing.T) {
	t.Parallel()
	type ask = sendmessage.AskAck
	base := ask{EPW: 3, EIW: 5, MaskW: 5, DepthW: 2}
	change := func(f func(p *ask)) ask { p := base; f(&p); return p }
	hdltest.Check(t, []graph.Describer{
		base,
		ask{EPW: 1, EIW: 1, MaskW: 1, DepthW: 1},
		ask{EPW: 5, EIW: 11, MaskW: 17, DepthW: 5},
	}, []hdltest.Refused{
		{Leaf: change(func(p *ask) { p.MaskW = 9 }), Params: param("MASK_W", 9), Rule: "MASK_W must be at most 2**EP_W, EP_W at most EI_W"},
		{Leaf: change(func(p *ask) { p.DepthW = 11 }), Params: param("DEPTH_W", 11), Rule: "DEPTH_W must be 1 to 10"},
	})
}
