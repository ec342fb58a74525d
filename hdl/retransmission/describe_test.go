// SPDX-License-Identifier: Apache-2.0

package retransmission_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/retransmission"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	type rt = retransmission.Retransmission
	base := several()
	change := func(f func(p *rt)) rt { p := base; f(&p); return p }
	param := func(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }
	const (
		groups = "GROUPS must be 1 to 2**(EI_W - EP_W)"
		mask   = "MASK_W must be at most 2**EP_W"
		clock  = "CLOCK_MHZ must be 1 to 4095"
	)
	hdltest.Check(t, []graph.Describer{
		base, single(), behind(single()),
		rt{EPW: 1, EIW: 1, MaskW: 1, Groups: 1, ClockMHz: 1},
		rt{EPW: 2, EIW: 4, MaskW: 4, Groups: 4, ClockMHz: 256},
		rt{EPW: 5, EIW: 11, MaskW: 17, Groups: 64, ClockMHz: 1000},
	}, []hdltest.Refused{
		{Leaf: change(func(p *rt) { p.Groups = 0 }), Params: param("GROUPS", 0), Rule: groups},
		{Leaf: change(func(p *rt) { p.Behind = 2 }), Params: param("BEHIND", 2), Rule: "BEHIND must be 0 or 1"},
		{Leaf: change(func(p *rt) { p.Groups = 5 }), Params: param("GROUPS", 5), Rule: groups},
		{Leaf: change(func(p *rt) { p.MaskW = 9 }), Params: param("MASK_W", 9), Rule: mask},
		{Leaf: change(func(p *rt) { p.ClockMHz = 0 }), Params: param("CLOCK_MHZ", 0), Rule: clock},
		{Leaf: change(func(p *rt) { p.ClockMHz = 4096 }), Params: param("CLOCK_MHZ", 4096), Rule: clock},
	})
}
