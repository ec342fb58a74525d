// SPDX-License-Identifier: Apache-2.0

package lookuptable_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/lookuptable"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescription(t *testing.T) {
	t.Parallel()
	base := lookuptable.LookupTable{PortW: 1, LenW: 5, WordsW: 2, EPW: 1, EIW: 1, MaskW: 2, Groups: 1, SlotW: 1, Ports: 1, DepthW: 4}
	change := func(f func(p *lookuptable.LookupTable)) lookuptable.LookupTable { p := base; f(&p); return p }
	const (
		groups = "GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least"
		ports  = "PORTS must be 1 to 2**PORT_W"
		index  = "EI_W must be EP_W to 23"
		mask   = "MASK_W must be at most 2**EP_W and 32"
		slot   = "SLOT_W must be 1 to 24"
		depth  = "DEPTH_W must be 4 to 10"
	)
	hdltest.Check(t, []graph.Describer{
		base,
		change(func(p *lookuptable.LookupTable) { p.EIW, p.MaskW, p.Groups, p.LenW, p.WordsW = 2, 1, 2, 2, 1 }),
		change(func(p *lookuptable.LookupTable) {
			p.Ports, p.PortW, p.EPW, p.EIW, p.MaskW, p.Groups, p.SlotW = 3, 2, 2, 4, 3, 4, 3
		}),
		change(func(p *lookuptable.LookupTable) {
			p.Ports, p.PortW, p.EPW, p.EIW, p.MaskW, p.Groups, p.DepthW = 4, 2, 3, 4, 5, 2, 10
		}),
		change(func(p *lookuptable.LookupTable) {
			p.Ports, p.PortW, p.EPW, p.EIW, p.MaskW, p.Groups, p.LenW, p.WordsW, p.SlotW, p.InBand = 16, 4, 5, 10, 17, 31, 13, 10, 24, 1
		}),
		change(func(p *lookuptable.LookupTable) {
			p.Ports, p.PortW, p.EPW, p.EIW, p.MaskW, p.InBand = 5, 7, 5, 5, 32, 1
		}),
		change(func(p *lookuptable.LookupTable) { p.PortW, p.EPW, p.EIW = 8, 8, 9 }),
		change(func(p *lookuptable.LookupTable) { p.InBand, p.OnePort = 1, 1 }),
		change(func(p *lookuptable.LookupTable) { p.PortW, p.EPW, p.EIW = 9, 9, 10 }),
	}, []hdltest.Refused{
		{Leaf: change(func(p *lookuptable.LookupTable) { p.Ports = 0 }), Params: param("PORTS", 0), Rule: ports},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.Ports = 3 }), Params: param("PORTS", 3), Rule: ports},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.PortW = 0 }), Params: param("PORT_W", 0), Rule: ports},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.EPW = 2 }), Params: param("EP_W", 2), Rule: index},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.EPW, p.MaskW = 0, 1 }), Params: []graph.Param{{Name: "EP_W", Value: 0}, {Name: "MASK_W", Value: 1}}, Rule: index},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.EIW = 24 }), Params: param("EI_W", 24), Rule: index},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.MaskW = 3 }), Params: param("MASK_W", 3), Rule: mask},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.MaskW = 0 }), Params: param("MASK_W", 0), Rule: mask},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.EPW, p.EIW, p.MaskW = 6, 6, 33 }),
			Params: []graph.Param{{Name: "EP_W", Value: 6}, {Name: "EI_W", Value: 6}, {Name: "MASK_W", Value: 33}}, Rule: mask},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.Groups = 2 }), Params: param("GROUPS", 2), Rule: groups},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.MaskW = 1 }), Params: param("MASK_W", 1), Rule: groups},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.SlotW = 0 }), Params: param("SLOT_W", 0), Rule: slot},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.SlotW = 25 }), Params: param("SLOT_W", 25), Rule: slot},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.DepthW = 3 }), Params: param("DEPTH_W", 3), Rule: depth},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.InBand = 2 }), Params: param("IN_BAND", 2), Rule: "IN_BAND must be 0 or 1"},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.OnePort = 2 }), Params: param("ONE_PORT", 2), Rule: "ONE_PORT must be 0 or 1"},
		{Leaf: change(func(p *lookuptable.LookupTable) { p.DepthW = 11 }), Params: param("DEPTH_W", 11), Rule: depth},
	})
}
