// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"testing"

	"incforge/contract"
	"incforge/hdl/csr"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	with := func(change func(*csr.CSR)) csr.CSR {
		p := mini()
		change(&p)
		return p
	}
	legal := []graph.Describer{
		mini(),
		with(func(p *csr.CSR) { p.Groups, p.EPW, p.EIW, p.MaskW, p.Ports, p.PortW = 1, 1, 1, 1, 1, 1 }),
		with(func(p *csr.CSR) { p.Groups, p.EPW, p.EIW, p.MaskW, p.Ports, p.PortW = 1, 1, 1, 2, 2, 1 }),
		with(func(p *csr.CSR) { p.Groups, p.EPW, p.EIW, p.MaskW, p.Ports, p.PortW = 3, 2, 4, 3, 3, 2 }),
		with(func(p *csr.CSR) { p.Groups, p.EPW, p.EIW, p.MaskW, p.Ports, p.PortW = 4, 3, 5, 8, 7, 3 }),
		with(func(p *csr.CSR) { p.Groups, p.EPW, p.EIW, p.MaskW, p.Ports, p.PortW, p.AxilW = 5, 4, 7, 9, 9, 4, 17 }),
		with(func(p *csr.CSR) {
			p.Groups, p.EPW, p.EIW, p.MaskW, p.Ports, p.PortW, p.AxilW = 64, 5, 11, 32, 32, 8, 18
		}),
		pipes(),
		messages(0),
		with(func(p *csr.CSR) {
			p.Mode, p.Groups, p.EPW, p.EIW, p.MaskW, p.Counters, p.Timeout = 3, 1, 1, 1, 1, pipes().Counters, 65535
		}),
		with(func(p *csr.CSR) {
			p.Mode, p.Groups, p.EPW, p.EIW, p.MaskW, p.Ports, p.PortW, p.AxilW, p.Counters = 3, 64, 5, 11, 32, 32, 8, 18, pipes().Counters
		}),
	}
	axil, groups := "AXIL_W must be 16 to 18", "GROUPS must be 1 to 64 and fit EI_W - EP_W bits"
	mask, ports, counters := "EP_W must be 1 to 5 and MASK_W at most 2**EP_W", "PORTS must be 1 to 32 and fit PORT_W bits", "COUNTERS must be the number of the mode's counters"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *csr.CSR) { p.AxilW = 19 }), Params: []graph.Param{{Name: "AXIL_W", Value: 19}}, Rule: axil},
		{Leaf: with(func(p *csr.CSR) { p.Groups = 5 }), Params: []graph.Param{{Name: "GROUPS", Value: 5}}, Rule: groups},
		{Leaf: with(func(p *csr.CSR) { p.MaskW = 9 }), Params: []graph.Param{{Name: "MASK_W", Value: 9}}, Rule: mask},
		{Leaf: with(func(p *csr.CSR) { p.Ports = 5 }), Params: []graph.Param{{Name: "PORTS", Value: 5}}, Rule: ports},
		{Leaf: with(func(p *csr.CSR) { p.PortW = 9 }), Params: []graph.Param{{Name: "PORT_W", Value: 9}}, Rule: ports},
		{Leaf: with(func(p *csr.CSR) { p.Counters-- }), Params: []graph.Param{{Name: "COUNTERS", Value: mini().Counters - 1}}, Rule: counters},
		{Leaf: with(func(p *csr.CSR) { p.Counters++ }), Params: []graph.Param{{Name: "COUNTERS", Value: mini().Counters + 1}}, Rule: counters},
		{Leaf: with(func(p *csr.CSR) { p.Timeout = 65536 }), Params: []graph.Param{{Name: "TIMEOUT", Value: 65536}}, Rule: "TIMEOUT must be 0 to 65535"},
	})
}

// messages are the registers of an engine in Mode I: Mode III's, with more counters.
func messages(park int) csr.CSR {
	p := pipes()
	p.Park, p.Counters = park, len(contract.Params{Mode: 1, Park: park != 0}.Counters())
	return p
}

// With groups that can be parked the registers have more pins and counters, in every mode.
func TestParkingDescription(t *testing.T) {
	t.Parallel()
	two, three := mini(), pipes()
	two.Park, two.Counters = 1, two.Counters+2
	three.Park, three.Counters = 1, three.Counters+1
	half := two
	half.Counters--
	hdltest.Check(t, []graph.Describer{messages(1), two, three}, []hdltest.Refused{{Leaf: half, Params: []graph.Param{{Name: "COUNTERS", Value: half.Counters}}, Rule: "COUNTERS must be the number of the mode's counters"}})
}
