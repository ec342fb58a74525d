// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"testing"

	"incforge/hdl/control"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescription(t *testing.T) {
	t.Parallel()
	base := several()
	change := func(f func(p *control.Control)) control.Control { p := base; f(&p); return p }
	const (
		groups     = "GROUPS must be 1 to 2**(EI_W - EP_W)"
		mask       = "MASK_W must be at most 2**EP_W"
		arithmetic = "DTYPES must be 1 to 15 and OPS 1 to 7"
	)
	hdltest.Check(t, []graph.Describer{
		base, single(), messages(), onePort(base), onePort(single()),
		// one endpoint; as many as there are indices; two; many
		change(func(p *control.Control) { p.EPW, p.EIW, p.MaskW, p.Groups, p.DTypes, p.Ops = 1, 1, 1, 1, 15, 7 }),
		change(func(p *control.Control) { p.EPW, p.EIW, p.MaskW, p.Groups = 1, 3, 2, 4 }),
		change(func(p *control.Control) { p.EPW, p.EIW, p.MaskW, p.Groups = 5, 11, 17, 64 }),
		change(func(p *control.Control) { p.EPW, p.EIW, p.MaskW, p.Groups = 5, 6, 32, 2 }),
	}, []hdltest.Refused{
		{Leaf: change(func(p *control.Control) { p.Groups = 0 }), Params: param("GROUPS", 0), Rule: groups},
		{Leaf: change(func(p *control.Control) { p.Groups = 5 }), Params: param("GROUPS", 5), Rule: groups},
		{Leaf: change(func(p *control.Control) { p.EIW = 2 }), Params: param("EI_W", 2), Rule: groups},
		{Leaf: change(func(p *control.Control) { p.EPW, p.MaskW = 0, 1 }),
			Params: []graph.Param{{Name: "EP_W", Value: 0}, {Name: "MASK_W", Value: 1}}, Rule: groups},
		{Leaf: change(func(p *control.Control) { p.MaskW = 9 }), Params: param("MASK_W", 9), Rule: mask},
		{Leaf: change(func(p *control.Control) { p.OnePort = 2 }), Params: param("ONE_PORT", 2), Rule: "ONE_PORT must be 0 or 1"},
		{Leaf: change(func(p *control.Control) { p.DTypes = 0 }), Params: param("DTYPES", 0), Rule: arithmetic},
		{Leaf: change(func(p *control.Control) { p.DTypes = 16 }), Params: param("DTYPES", 16), Rule: arithmetic},
		{Leaf: change(func(p *control.Control) { p.Ops = 0 }), Params: param("OPS", 0), Rule: arithmetic},
		{Leaf: change(func(p *control.Control) { p.Ops = 8 }), Params: param("OPS", 8), Rule: arithmetic},
	})
}
