// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// PortRegs is inc_port_regs: the ports' counters on the register bus. Its contract is the head of inc_port_regs.v.
type PortRegs struct {
	// AxilW: bits of a byte address, 16 to 22.
	AxilW int
	// Ports: number of ports, 1 to 32.
	Ports int
	// Kinds: counters of a port, 1 to 8.
	Kinds int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortRegs) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_port_regs")
	rules.Refuse(p.AxilW < 16 || p.AxilW > 22, "AXIL_W must be 16 to 22")
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
	ports = append(ports, AxilPorts("s_axil_", p.AxilW, 1, false)...)
	ports = append(ports, AxilPorts("m_axil_", p.AxilW, 1, true)...)
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

// AxilPorts are the signals of an AXI4-Lite slave or, asked as a master, of the other end of n of them, whose requests are the same words.
func AxilPorts(prefix string, addrW, n int, master bool) []graph.Port {
	to, from := leaf.In, leaf.Out
	if master {
		to, from = leaf.Out, leaf.In
	}
	return []graph.Port{
		to(prefix+"awaddr", addrW), to(prefix+"awvalid", n), from(prefix+"awready", n),
		to(prefix+"wdata", 32), to(prefix+"wstrb", 4), to(prefix+"wvalid", n), from(prefix+"wready", n),
		from(prefix+"bresp", 2*n), from(prefix+"bvalid", n), to(prefix+"bready", n),
		to(prefix+"araddr", addrW), to(prefix+"arvalid", n), from(prefix+"arready", n),
		from(prefix+"rdata", 32*n), from(prefix+"rresp", 2*n), from(prefix+"rvalid", n), to(prefix+"rready", n),
	}
}
