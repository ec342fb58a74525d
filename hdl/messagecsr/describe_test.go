// SPDX-License-Identifier: Apache-2.0

package messagecsr_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/messagecsr"
)

func mini() messagecsr.MessageCSR {
	return messagecsr.MessageCSR{AxilW: 16, MessageBytes: 4096, Window: 2, MTUBytes: 1024, Least: 256, Groups: 2, EPW: 3, EIW: 4, MaskW: 5}
}

func with(change func(*messagecsr.MessageCSR)) messagecsr.MessageCSR {
	p := mini()
	change(&p)
	return p
}

func TestDescription(t *testing.T) {
	t.Parallel()
	type mc = messagecsr.MessageCSR
	legal := []graph.Describer{
		mini(),
		with(func(p *mc) { p.EPW, p.EIW, p.MaskW, p.Groups = 1, 1, 2, 1 }),
		with(func(p *mc) { p.Poison, p.Release = 1, 1 }),
		with(func(p *mc) { p.AxilW, p.EPW, p.EIW, p.MaskW, p.Groups = 18, 5, 11, 17, 64 }),
	}
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *mc) { p.AxilW = 15 }), Params: []graph.Param{{Name: "AXIL_W", Value: 15}}, Rule: "AXIL_W must be 16 to 18"},
		{Leaf: with(func(p *mc) { p.Groups = 3 }), Params: []graph.Param{{Name: "GROUPS", Value: 3}}, Rule: "GROUPS must be 1 to 64 and fit EI_W - EP_W bits"},
		{Leaf: with(func(p *mc) { p.EPW = 6 }), Params: []graph.Param{{Name: "MASK_W", Value: 9}}, Rule: "EP_W must be 1 to 5 and MASK_W at most 2**EP_W"},
	})
}
