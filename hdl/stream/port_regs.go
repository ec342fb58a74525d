// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// PortRegs is inc_port_regs: the ports' counters on the register bus. Its contract is the head of inc_port_regs.v.
type PortRegs struct {
	// AxilW: bits of a byte address, 16 to 18.
	AxilW int
	// Ports: number of ports, 1 to 32.
	Ports int
	// Kinds: counters of a port, 1 to 8.
	Kinds int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortRegs) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_port_regs")
	rules.Refuse(p.AxilW < 16 || p.AxilW > 18, "AXIL_W must be 16 to 18")
	rules.Refuse(p.Ports < 1 || p.Ports > 32, "PORTS must be 1 to 32")
	rules.Refuse(p.Kinds < 1 || p.Kinds > 8, "KINDS must be 1 to 8")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_regs")
	if err != nil {
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
	ports = append(ports, leaf.In("count", p.Ports*p.Kinds))
	return &graph.Module{
		Name: "inc_port_regs", Block: "", Source: source, Latency: "4 cycles",
		Purpose: "the ports' counters on the register bus",
		Params: []graph.Param{
			{Name: "AXIL_W", Value: p.AxilW},
			{Name: "PORTS", Value: p.Ports},
			{Name: "KINDS", Value: p.Kinds},
		},
		Ports: ports,
	}, nil
}
