// SPDX-License-Identifier: Apache-2.0

package translateheader_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/translateheader"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type th = translateheader.TranslateHeader
	with := func(change func(*th)) th {
		p := mini()
		change(&p)
		return p
	}
	legal := []graph.Describer{
		mini(),
		fixed(),
		late(),
		onePort(mini()),
		single(mini()),
		single(onePort(late())),
		three(),
		alone(),
		th{PortW: 1, LenW: 1, WordsW: 1, EPW: 1, EIW: 1, MaskW: 2, Groups: 1},
		th{PortW: 2, LenW: 9, WordsW: 6, EPW: 1, EIW: 2, MaskW: 1, Groups: 2, Late: 1},
		th{PortW: 3, LenW: 11, WordsW: 7, EPW: 2, EIW: 3, MaskW: 4, Groups: 2, InBand: 1, Block: 1, OneBeat: 1},
		th{PortW: 7, LenW: 13, WordsW: 3, EPW: 5, EIW: 7, MaskW: 17, Groups: 4},
		th{PortW: 8, LenW: 15, WordsW: 12, EPW: 5, EIW: 11, MaskW: 20, Groups: 64, InBand: 1},
	}
	port, length := "PORT_W must be 1 to 8", "LEN_W must be 1 to 15"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *th) { p.PortW = 9 }), Params: []graph.Param{{Name: "PORT_W", Value: 9}}, Rule: port},
		{Leaf: with(func(p *th) { p.InBand = -1 }), Params: []graph.Param{{Name: "IN_BAND", Value: -1}}, Rule: "IN_BAND must be 0 or 1"},
		{Leaf: with(func(p *th) { p.Single = 2 }), Params: []graph.Param{{Name: "SINGLE", Value: 2}}, Rule: "SINGLE must be 0 or 1"},
		{Leaf: with(func(p *th) { p.Late = 2 }), Params: []graph.Param{{Name: "LATE", Value: 2}}, Rule: "LATE must be 0 or 1"},
		{Leaf: with(func(p *th) { p.OneBeat = 2 }), Params: []graph.Param{{Name: "ONE_BEAT", Value: 2}}, Rule: "ONE_BEAT must be 0 or 1"},
		{Leaf: with(func(p *th) { p.Block = 2 }), Params: []graph.Param{{Name: "BLOCK", Value: 2}}, Rule: "BLOCK must be 0 or 1, and 0 with ONE_PORT"},
		{Leaf: with(func(p *th) { p.OnePort = 2 }), Params: []graph.Param{{Name: "ONE_PORT", Value: 2}}, Rule: "ONE_PORT must be 0 or 1"},
		{Leaf: with(func(p *th) { p.MaskW = 5 }), Params: []graph.Param{{Name: "MASK_W", Value: 5}}, Rule: "MASK_W must be at most 2**EP_W, EP_W at most EI_W"},
		{Leaf: with(func(p *th) { p.Groups = 3 }), Params: []graph.Param{{Name: "GROUPS", Value: 3}}, Rule: "GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least"},
		{Leaf: with(func(p *th) { p.LenW = 16 }), Params: []graph.Param{{Name: "LEN_W", Value: 16}}, Rule: length},
	})
}
