// SPDX-License-Identifier: Apache-2.0

package vlan_test

import (
	"testing"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/vlan"
)

func param(name string, v int) []graph.Param { return []graph.Param{{Name: name, Value: v}} }

func small() vlan.Table { return vlan.Table{EPW: 3, EIW: 4, MaskW: 5, Groups: 2} }

func one() vlan.Table { return vlan.Table{EPW: 2, EIW: 2, MaskW: 3, Groups: 1} }

func TestDescriptions(t *testing.T) {
	t.Parallel()
	with := func(change func(t *vlan.Table)) vlan.Table {
		x := small()
		change(&x)
		return x
	}
	const index, mask = "EI_W must be EP_W to 23", "MASK_W must be at most 2**EP_W"
	const groups, bytes = "GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least", "BYTES must be a power of two, 8 to 2048"
	few, many, three := with(func(x *vlan.Table) { x.EIW = 24 }), with(func(x *vlan.Table) { x.MaskW = 9 }), with(func(x *vlan.Table) { x.Groups = 3 })
	check := vlan.Check{Table: small(), DepthW: 5, Counters: 46, RxError: 22}
	checked := func(change func(p *vlan.Check)) vlan.Check {
		p := check
		change(&p)
		return p
	}
	registers := func(change func(p *vlan.Regs)) vlan.Regs {
		p := regs()
		change(&p)
		return p
	}
	for name, x := range map[string]struct {
		legal   []graph.Describer
		refused []hdltest.Refused
	}{
		"strip": {[]graph.Describer{vlan.Strip{Bytes: 16, PortW: 1}}, []hdltest.Refused{
			{Leaf: vlan.Strip{Bytes: 12, PortW: 2}, Params: param("BYTES", 12), Rule: bytes},
			{Leaf: vlan.Strip{Bytes: 8}, Params: param("PORT_W", 0), Rule: "PORT_W must be at least 1"}}},
		"tag": {[]graph.Describer{vlan.Tag{Bytes: 16, PortW: 1}}, []hdltest.Refused{
			{Leaf: vlan.Tag{Bytes: 4, PortW: 2}, Params: param("BYTES", 4), Rule: bytes},
			{Leaf: vlan.Tag{Bytes: 8}, Params: param("PORT_W", 0), Rule: "PORT_W must be at least 1"}}},
		"check": {[]graph.Describer{check, vlan.Check{Table: one(), DepthW: 4, Late: 1, Counters: 60, RxError: 0}}, []hdltest.Refused{
			{Leaf: checked(func(p *vlan.Check) { p.Table = few }), Params: param("EI_W", 24), Rule: index},
			{Leaf: checked(func(p *vlan.Check) { p.Table = many }), Params: param("MASK_W", 9), Rule: mask},
			{Leaf: checked(func(p *vlan.Check) { p.Table = three }), Params: param("GROUPS", 3), Rule: groups},
			{Leaf: checked(func(p *vlan.Check) { p.DepthW = 10 }), Params: param("DEPTH_W", 10), Rule: "DEPTH_W must be 4 to 9"},
			{Leaf: checked(func(p *vlan.Check) { p.Late = 2 }), Params: param("LATE", 2), Rule: "LATE must be 0 or 1"},
			{Leaf: checked(func(p *vlan.Check) { p.RxError = 46 }), Params: param("RX_ERROR", 46), Rule: "RX_ERROR must be one of the COUNTERS"}}},
		"pick": {[]graph.Describer{vlan.Pick{Table: small()}, vlan.Pick{Table: one()}}, []hdltest.Refused{
			{Leaf: vlan.Pick{Table: many}, Params: param("MASK_W", 9), Rule: mask},
			{Leaf: vlan.Pick{Table: three}, Params: param("GROUPS", 3), Rule: groups}}},
		"regs": {[]graph.Describer{regs(), vlan.Regs{Table: one(), AxilW: 18, Counters: 60, AtEP: 0x8000, AtCounter: 0x800, AtCounterHigh: 0xC00, AtSnapshot: 64, Word: 13}},
			[]hdltest.Refused{
				{Leaf: registers(func(p *vlan.Regs) { p.AxilW = 19 }), Params: param("AXIL_W", 19), Rule: "AXIL_W must be 16 to 18"},
				{Leaf: registers(func(p *vlan.Regs) { p.EIW = 12 }), Params: param("EI_W", 12), Rule: "EP_W must be 1 to 5, EI_W EP_W to 11, MASK_W at most 2**EP_W"},
				{Leaf: registers(func(p *vlan.Regs) { p.Table = three }), Params: param("GROUPS", 3), Rule: groups},
				{Leaf: registers(func(p *vlan.Regs) { p.Counters = 256 }), Params: param("COUNTERS", 256), Rule: "COUNTERS must be 1 to 255"},
				{Leaf: registers(func(p *vlan.Regs) { p.Word = 16 }), Params: param("WORD", 16), Rule: "WORD must be 0 to 15"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hdltest.Check(t, x.legal, x.refused)
		})
	}
}
