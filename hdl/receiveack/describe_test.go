// SPDX-License-Identifier: Apache-2.0

package receiveack_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/receiveack"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func TestDescription(t *testing.T) {
	t.Parallel()
	base := several()
	change := func(f func(p *receiveack.ReceiveAck)) receiveack.ReceiveAck { p := base; f(&p); return p }
	const (
		groups = "GROUPS must be 1 to 2**(EI_W - EP_W)"
		mask   = "MASK_W must be at most 2**EP_W"
		stages = "STAGES must be 1 to 4"
	)
	hdltest.Check(t, []graph.Describer{
		base, single(), deep(), lonely(), wide(), onePort(base), onePort(lonely()), late(base), late(lonely()),
		change(func(p *receiveack.ReceiveAck) { p.Stages = 1 }),
		change(func(p *receiveack.ReceiveAck) { p.EPW, p.EIW, p.MaskW, p.Groups, p.Stages = 1, 2, 2, 2, 3 }),
		change(func(p *receiveack.ReceiveAck) { p.EPW, p.EIW, p.MaskW, p.Groups = 6, 12, 33, 64 }),
	}, []hdltest.Refused{
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.Groups = 0 }), Params: param("GROUPS", 0), Rule: groups},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.Groups = 5 }), Params: param("GROUPS", 5), Rule: groups},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.EIW = 2 }), Params: param("EI_W", 2), Rule: groups},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.EPW, p.MaskW = 0, 1 }),
			Params: []graph.Param{{Name: "EP_W", Value: 0}, {Name: "MASK_W", Value: 1}}, Rule: groups},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.MaskW = 0 }), Params: param("MASK_W", 0), Rule: mask},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.MaskW = 9 }), Params: param("MASK_W", 9), Rule: mask},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.Stages = 0 }), Params: param("STAGES", 0), Rule: stages},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.Stages = 5 }), Params: param("STAGES", 5), Rule: stages},
		{Leaf: change(func(p *receiveack.ReceiveAck) { p.OnePort = 2 }), Params: param("ONE_PORT", 2), Rule: "ONE_PORT must be 0 or 1"},
		{Leaf: late(onePort(base)), Params: []graph.Param{{Name: "ONE_PORT", Value: 1}, {Name: "BEHIND", Value: 1}}, Rule: "BEHIND must be 0, or 1 with two ports"},
	})
}
