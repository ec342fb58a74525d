// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// PortTx is inc_port_tx: the queue before a MAC. Its contract is the head of inc_port_tx.v.
type PortTx struct {
	// PortBytes: bytes of a beat of the port, a power of two.
	PortBytes int
	// Bytes: bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2.
	Bytes int
	// DepthW: log2 of the queue's beats of the bus.
	DepthW int
	// Drop: 1 if a frame without room is dropped, 0 if it waits.
	Drop int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortTx) Module() (*graph.Module, error) {
	if err := portRules("inc_port_tx", p.PortBytes, p.Bytes, p.DepthW).Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_tx")
	if err != nil {
		return nil, err
	}
	words := portWords(p.Bytes, p.DepthW)
	memory, err := words.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_port_tx: %w", err)
	}
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}
	ports = append(ports, axisPorts("s_axis_", leaf.In, leaf.Out, p.Bytes)...)
	ports = append(ports, axisPorts("m_axis_", leaf.Out, leaf.In, p.PortBytes)...)
	ports = append(ports, leaf.In("pause", 1), leaf.Out("count_frame", 1), leaf.Out("count_full", 1))
	return &graph.Module{
		Name: "inc_port_tx", Block: "", Source: source, Latency: "3 cycles",
		Purpose: "the queue before a MAC: whole frames, in beats of the port",
		Params: []graph.Param{
			{Name: "PORT_BYTES", Value: p.PortBytes},
			{Name: "BYTES", Value: p.Bytes},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "DROP", Value: p.Drop},
		},
		Ports:      ports,
		Streams:    []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}},
		Memories:   []graph.Memory{words.At("u_mem", "queue")},
		Submodules: []*graph.Module{memory},
	}, nil
}
