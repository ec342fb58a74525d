// SPDX-License-Identifier: Apache-2.0

package replicatedata_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/replicatedata"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type rd = replicatedata.ReplicateData
	with := func(change func(*rd)) rd {
		p := mini()
		change(&p)
		return p
	}
	legal := []graph.Describer{
		mini(),
		fixed(),
		flops(),
		rd{Bytes: 8, LenW: 4, WordsW: 1, EPW: 1, EIW: 1, MaskW: 1, AddrW: 1, DepthW: 1},
		rd{Bytes: 8, LenW: 5, WordsW: 2, EPW: 1, EIW: 2, MaskW: 2, AddrW: 2, DepthW: 2},
		rd{Bytes: 16, LenW: 9, WordsW: 5, EPW: 2, EIW: 2, MaskW: 3, AddrW: 6, DepthW: 3},
		rd{Bytes: 32, LenW: 11, WordsW: 6, EPW: 2, EIW: 5, MaskW: 4, AddrW: 7, DepthW: 5},
		rd{Bytes: 64, LenW: 13, WordsW: 7, EPW: 5, EIW: 11, MaskW: 17, AddrW: 8, DepthW: 6},
		rd{Bytes: 128, LenW: 13, WordsW: 6, EPW: 3, EIW: 4, MaskW: 7, AddrW: 7, DepthW: 10},
		rd{Bytes: 256, LenW: 13, WordsW: 5, EPW: 3, EIW: 4, MaskW: 8, AddrW: 6, DepthW: 4, InBand: 1},
	}
	index, addr := "MASK_W must be at most 2**EP_W, EP_W at most EI_W", "ADDR_W must be 1 to 20, and at least WORDS_W - 1"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *rd) { p.MaskW = 9 }), Params: []graph.Param{{Name: "MASK_W", Value: 9}}, Rule: index},
		{Leaf: with(func(p *rd) { p.InBand = 2 }), Params: []graph.Param{{Name: "IN_BAND", Value: 2}}, Rule: "IN_BAND must be 0 or 1"},
		{Leaf: with(func(p *rd) { p.AddrW = 2 }), Params: []graph.Param{{Name: "ADDR_W", Value: 2}}, Rule: addr},
		{Leaf: with(func(p *rd) { p.Flops = 2 }), Params: []graph.Param{{Name: "FLOPS", Value: 2}}, Rule: "FLOPS must be 0 or 1"},
		{Leaf: with(func(p *rd) { p.AddrW = 21 }), Params: []graph.Param{{Name: "ADDR_W", Value: 21}}, Rule: addr},
	})
}
