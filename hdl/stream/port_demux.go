// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// PortDemux is inc_port_demux: sends each frame to the port that its tuser names. Its contract is the head of inc_port_demux.v.
type PortDemux struct {
	// Ports: number of ports, at least 1.
	Ports int
	// PortW: bits of a port number, at least 1.
	PortW int
	// Bytes: bytes of a beat.
	Bytes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortDemux) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_port_demux")
	rules.Refuse(p.PortW < 1 || p.Ports < 1 || p.Ports > leaf.Pow2(p.PortW), "PORTS must be 1 to 2**PORT_W")
	rules.Refuse(p.Bytes < 1, "BYTES must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_demux")
	if err != nil {
		return nil, err
	}
	skid, err := Skid{Width: (9*p.Bytes + 2)}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_port_demux: %w", err)
	}
	return &graph.Module{
		Name: "inc_port_demux", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "sends each frame to the port that its tuser names",
		Params: []graph.Param{
			{Name: "PORTS", Value: p.Ports},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "BYTES", Value: p.Bytes},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("s_axis_tdata", 8*p.Bytes),
			leaf.In("s_axis_tkeep", p.Bytes),
			leaf.In("s_axis_tvalid", 1),
			leaf.Out("s_axis_tready", 1),
			leaf.In("s_axis_tlast", 1),
			leaf.In("s_axis_tuser", p.PortW+1),
			leaf.Out("m_axis_tdata", p.Ports*8*p.Bytes),
			leaf.Out("m_axis_tkeep", p.Ports*p.Bytes),
			leaf.Out("m_axis_tvalid", p.Ports),
			leaf.In("m_axis_tready", p.Ports),
			leaf.Out("m_axis_tlast", p.Ports),
			leaf.Out("m_axis_tuser", p.Ports),
		},
		Streams:    []graph.Stream{{Name: "s_axis", Dir: graph.In}},
		Submodules: []*graph.Module{skid},
	}, nil
}
