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
	if err := PortRules("inc_port_tx", p.PortBytes, p.Bytes, p.DepthW).Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_tx")
	if err != nil {
		return nil, err
	}
	words := PortWords("inc_mem_port", p.Bytes, p.DepthW)
	parts, err := modules(PortPut{Bytes: p.Bytes, DepthW: p.DepthW, Drop: p.Drop}, PortSend{PortBytes: p.PortBytes, Bytes: p.Bytes}, words)
	if err != nil {
		return nil, fmt.Errorf("inc_port_tx: %w", err)
	}
	ports := append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}, p.Streams()...)
	ports = append(ports, leaf.In("pause", 1), leaf.Out("count_frame", 1), leaf.Out("count_full", 1))
	return &graph.Module{
		Name: "inc_port_tx", Block: "", Source: source, Latency: "3 cycles",
		Purpose:    "the queue before a MAC: whole frames, in beats of the port",
		Params:     p.Params(),
		Ports:      ports,
		Streams:    []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}},
		Memories:   []graph.Memory{words.At("u_mem", "queue")},
		Submodules: parts,
	}, nil
}

// Params are the parameters with their names in Verilog.
func (p PortTx) Params() []graph.Param {
	return []graph.Param{
		{Name: "PORT_BYTES", Value: p.PortBytes},
		{Name: "BYTES", Value: p.Bytes},
		{Name: "DEPTH_W", Value: p.DepthW},
		{Name: "DROP", Value: p.Drop},
	}
}

// Streams are the signals of the stream from the bus and of that to the MAC.
func (p PortTx) Streams() []graph.Port {
	return append(axisPorts("s_axis_", leaf.In, leaf.Out, p.Bytes), axisPorts("m_axis_", leaf.Out, leaf.In, p.PortBytes)...)
}
