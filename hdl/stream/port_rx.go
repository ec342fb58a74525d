// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
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
	if err := p.Rules("inc_port_rx").Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_rx")
	if err != nil {
		return nil, err
	}
	words := PortWords("inc_mem_port", p.Bytes, p.DepthW)
	parts, err := modules(PortTake(p), words)
	if err != nil {
		return nil, fmt.Errorf("inc_port_rx: %w", err)
	}
	ports := append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}, p.Streams()...)
	for _, name := range append([]string{"high"}, append(RxCounts(), "mon_end", "mon_drop")...) {
		ports = append(ports, leaf.Out(name, 1))
	}
	return &graph.Module{
		Name: "inc_port_rx", Block: "", Source: source, Latency: "3 cycles",
		Purpose:    "the queue behind a MAC: whole frames, in beats of the bus",
		Params:     p.Params(),
		Ports:      ports,
		Streams:    []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}},
		Memories:   []graph.Memory{words.At("u_mem", "queue")},
		Submodules: parts,
	}, nil
}

// Rules are those of the module of that name, which has these parameters.
func (p PortRx) Rules(module string) *leaf.Rules {
	rules := PortRules(module, p.PortBytes, p.Bytes, p.DepthW)
	refuseLongest(rules, p.MaxBytes, p.Bytes, p.DepthW)
	rules.Refuse(p.Stall < 4, "STALL must be at least 4")
	return rules
}

// Params are the parameters with their names in Verilog.
func (p PortRx) Params() []graph.Param {
	return []graph.Param{
		{Name: "PORT_BYTES", Value: p.PortBytes},
		{Name: "BYTES", Value: p.Bytes},
		{Name: "DEPTH_W", Value: p.DepthW},
		{Name: "MAX_BYTES", Value: p.MaxBytes},
		{Name: "STALL", Value: p.Stall},
		{Name: "DROP", Value: p.Drop},
	}
}

// Streams are the signals of the stream from the MAC and of that to the bus.
func (p PortRx) Streams() []graph.Port {
	ports := append(axisPorts("s_axis_", leaf.In, leaf.Out, p.PortBytes), leaf.In("s_axis_tuser", 1))
	return append(ports, axisPorts("m_axis_", leaf.Out, leaf.In, p.Bytes)...)
}

// RxCounts are the counters' inputs that the queue behind a MAC drives.
func RxCounts() []string {
	return []string{"count_frame", "count_error", "count_long", "count_hung", "count_full"}
}
