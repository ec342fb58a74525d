// SPDX-License-Identifier: Apache-2.0

package vlan

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Regs is inc_vlan_regs: the endpoints' tags and the counter of wrong ones on the register bus. Its contract is the head of inc_vlan_regs.v.
type Regs struct {
	Table
	// AxilW: bits of a byte address, 16 to 18.
	AxilW int
	// Counters: counters of the other registers, at most 255.
	Counters int
	// AtEP, AtCounter, AtCounterHigh, AtSnapshot: byte addresses of the endpoints, the counters' low and high words, and COUNTER_SNAPSHOT.
	AtEP, AtCounter, AtCounterHigh, AtSnapshot int
	// Word: word of an endpoint's record, 0 to 15.
	Word int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Regs) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_vlan_regs")
	rules.Refuse(p.AxilW < 16 || p.AxilW > 18, "AXIL_W must be 16 to 18")
	rules.Refuse(p.EPW < 1 || p.EPW > 5 || p.EIW < p.EPW || p.EIW > 11 || p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW),
		"EP_W must be 1 to 5, EI_W EP_W to 11, MASK_W at most 2**EP_W")
	p.refuseGroups(rules)
	rules.Refuse(p.Counters < 1 || p.Counters > 255, "COUNTERS must be 1 to 255")
	rules.Refuse(p.Word < 0 || p.Word > 15, "WORD must be 0 to 15")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}
	for _, bus := range []struct {
		name             string
		request, respond func(string, int) graph.Port
	}{{"s_axil_", leaf.In, leaf.Out}, {"m_axil_", leaf.Out, leaf.In}} {
		to, from := bus.request, bus.respond
		ports = append(ports,
			to(bus.name+"awaddr", p.AxilW), to(bus.name+"awvalid", 1), from(bus.name+"awready", 1),
			to(bus.name+"wdata", 32), to(bus.name+"wstrb", 4), to(bus.name+"wvalid", 1), from(bus.name+"wready", 1),
			from(bus.name+"bresp", 2), from(bus.name+"bvalid", 1), to(bus.name+"bready", 1),
			to(bus.name+"araddr", p.AxilW), to(bus.name+"arvalid", 1), from(bus.name+"arready", 1),
			from(bus.name+"rdata", 32), from(bus.name+"rresp", 2), from(bus.name+"rvalid", 1), to(bus.name+"rready", 1))
	}
	ports = append(ports, leaf.In("ready", 1), leaf.In("grp_enable", p.Groups), leaf.In("clr_we", 1), leaf.In("clr_index", p.EIW), leaf.In("clr_word", 4),
		leaf.In("dropped", 1))
	ports = append(ports, p.writes(leaf.Out)...)
	return p.module("inc_vlan_regs", "the endpoints' tags on the register bus", "4 cycles",
		append([]graph.Param{{Name: "AXIL_W", Value: p.AxilW}}, append(p.params(), graph.Param{Name: "COUNTERS", Value: p.Counters},
			graph.Param{Name: "AT_EP", Value: p.AtEP}, graph.Param{Name: "AT_COUNTER", Value: p.AtCounter},
			graph.Param{Name: "AT_COUNTER_HIGH", Value: p.AtCounterHigh}, graph.Param{Name: "AT_SNAPSHOT", Value: p.AtSnapshot},
			graph.Param{Name: "WORD", Value: p.Word})...), ports)
}
