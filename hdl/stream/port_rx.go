// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// PortRx is inc_port_rx: the queue behind a MAC. Its contract is the head of inc_port_rx.v.
type PortRx struct {
	// PortBytes: bytes of a beat of the port, a power of two.
	PortBytes int
	// Bytes: bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2.
	Bytes int
	// DepthW: log2 of the queue's beats of the bus.
	DepthW int
	// MaxBytes: the longest frame.
	MaxBytes int
	// Stall: cycles without a beat after which a frame that has begun is given up, at least 4.
	Stall int
	// Drop: 1 if a frame without room is dropped, 0 if it waits.
	Drop int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortRx) Module() (*graph.Module, error) {
	rules := portRules("inc_port_rx", p.PortBytes, p.Bytes, p.DepthW)
	rules.Refuse(p.Bytes > 0 && (p.MaxBytes < 2*p.Bytes || (p.MaxBytes+p.Bytes-1)/p.Bytes > leaf.Pow2(p.DepthW)-1),
		"MAX_BYTES must be two beats at least, and fit the queue with a beat to spare")
	rules.Refuse(p.Stall < 4, "STALL must be at least 4")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_rx")
	if err != nil {
		return nil, err
	}
	words := portWords(p.Bytes, p.DepthW)
	memory, err := words.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_port_rx: %w", err)
	}
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}
	ports = append(ports, axisPorts("s_axis_", leaf.In, leaf.Out, p.PortBytes)...)
	ports = append(ports, leaf.In("s_axis_tuser", 1))
	ports = append(ports, axisPorts("m_axis_", leaf.Out, leaf.In, p.Bytes)...)
	for _, name := range []string{"high", "count_frame", "count_error", "count_long", "count_hung", "count_full", "mon_end", "mon_drop"} {
		ports = append(ports, leaf.Out(name, 1))
	}
	return &graph.Module{
		Name: "inc_port_rx", Block: "", Source: source, Latency: "3 cycles",
		Purpose: "the queue behind a MAC: whole frames, in beats of the bus",
		Params: []graph.Param{
			{Name: "PORT_BYTES", Value: p.PortBytes},
			{Name: "BYTES", Value: p.Bytes},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "MAX_BYTES", Value: p.MaxBytes},
			{Name: "STALL", Value: p.Stall},
			{Name: "DROP", Value: p.Drop},
		},
		Ports:      ports,
		Streams:    []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}},
		Memories:   []graph.Memory{words.At("u_mem", "queue")},
		Submodules: []*graph.Module{memory},
	}, nil
}

// axisPorts are the signals of a stream without tuser.
func axisPorts(prefix string, forward, back func(name string, width int) graph.Port, bytes int) []graph.Port {
	return []graph.Port{
		forward(prefix+"tdata", 8*bytes), forward(prefix+"tkeep", bytes), forward(prefix+"tvalid", 1), back(prefix+"tready", 1), forward(prefix+"tlast", 1),
	}
}

// portRules are the rules that both queues of a port have.
func portRules(module string, portBytes, bytes, depthW int) *leaf.Rules {
	rules := leaf.NewRules(module)
	rules.Refuse(bytes < 2 || bytes&(bytes-1) != 0, "BYTES must be a power of two, at least 2")
	rules.Refuse(portBytes < 1 || portBytes > bytes || portBytes&(portBytes-1) != 0, "PORT_BYTES must be a power of two up to BYTES")
	rules.Refuse(depthW < 2 || depthW > 16, "DEPTH_W must be 2 to 16")
	return rules
}

// portWords is the memory of a port's queue: a beat, the number of its last byte, and whether it is the frame's last.
func portWords(bytes, depthW int) ram.Memory {
	return ram.Memory{Name: "inc_mem_port", Words: leaf.Pow2(depthW), Bits: 8*bytes + leaf.Clog2(bytes) + 1, AddrW: depthW}
}
