// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// PortTxCut is inc_port_tx_cut: the queue before a MAC, whose frames begin to leave before they are whole. Its contract is the head of
// inc_port_tx_cut.v.
type PortTxCut struct {
	// PortBytes: bytes of a beat of the port, a power of two.
	PortBytes int
	// Bytes: bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2.
	Bytes int
	// DepthW: log2 of the queue's beats of the bus.
	DepthW int
	// MaxBytes: the longest frame.
	MaxBytes int
	// Start: words with which a frame begins to leave.
	Start int
	// Drop: 1 if a frame without room is dropped, 0 if it waits.
	Drop int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortTxCut) Module() (*graph.Module, error) {
	if err := p.Rules("inc_port_tx_cut").Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_tx_cut")
	if err != nil {
		return nil, err
	}
	words := PortWords("inc_mem_port", p.Bytes, p.DepthW)
	parts, err := modules(p.Admit(), PortSend{PortBytes: p.PortBytes, Bytes: p.Bytes}, words)
	if err != nil {
		return nil, fmt.Errorf("inc_port_tx_cut: %w", err)
	}
	ports := append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}, p.Streams()...)
	ports = append(ports, leaf.In("pause", 1), leaf.Out("count_frame", 1), leaf.Out("count_full", 1))
	return &graph.Module{
		Name: "inc_port_tx_cut", Block: "", Source: source, Latency: "3 cycles",
		Purpose:    "the queue before a MAC: frames leave before they are whole, in beats of the port",
		Params:     p.Params(),
		Ports:      ports,
		Streams:    []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}},
		Memories:   []graph.Memory{words.At("u_mem", "queue")},
		Submodules: parts,
	}, nil
}

// Rules are those of the module of that name, which has these parameters.
func (p PortTxCut) Rules(module string) *leaf.Rules {
	rules := PortRules(module, p.PortBytes, p.Bytes, p.DepthW)
	refuseLongest(rules, p.MaxBytes, p.Bytes, p.DepthW)
	rules.Refuse(p.Bytes > 0 && (p.Start < 1 || p.Start > (p.MaxBytes+p.Bytes-1)/p.Bytes), "START must be 1 to the words of MAX_BYTES")
	return rules
}

// Params are the parameters with their names in Verilog.
func (p PortTxCut) Params() []graph.Param {
	return []graph.Param{
		{Name: "PORT_BYTES", Value: p.PortBytes},
		{Name: "BYTES", Value: p.Bytes},
		{Name: "DEPTH_W", Value: p.DepthW},
		{Name: "MAX_BYTES", Value: p.MaxBytes},
		{Name: "START", Value: p.Start},
		{Name: "DROP", Value: p.Drop},
	}
}

// Streams are the signals of the stream from the bus and of that to the MAC.
func (p PortTxCut) Streams() []graph.Port {
	return PortTx{PortBytes: p.PortBytes, Bytes: p.Bytes}.Streams()
}

// Admit is the way into the queue.
func (p PortTxCut) Admit() PortAdmit {
	return PortAdmit{Bytes: p.Bytes, DepthW: p.DepthW, MaxBytes: p.MaxBytes, Drop: p.Drop}
}

// PortAdmit is inc_port_admit: the way into a queue before a MAC whose frames leave before they are whole. Its contract is the head of
// inc_port_admit.v.
type PortAdmit struct {
	// Bytes: bytes of a beat of the bus, a power of two, at least 2.
	Bytes int
	// DepthW: log2 of the queue's beats of the bus.
	DepthW int
	// MaxBytes: the longest frame.
	MaxBytes int
	// Drop: 1 if a frame without room is dropped, 0 if it waits.
	Drop int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortAdmit) Module() (*graph.Module, error) {
	rules := PortRules("inc_port_admit", 1, p.Bytes, p.DepthW)
	refuseLongest(rules, p.MaxBytes, p.Bytes, p.DepthW)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_admit")
	if err != nil {
		return nil, err
	}
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("open", 1)}
	ports = append(ports, axisPorts("s_axis_", leaf.In, leaf.Out, p.Bytes)...)
	ports = append(ports, writePorts(p.Bytes, p.DepthW)...)
	ports = append(ports, leaf.Out("tail", p.DepthW+1), leaf.Out("kept", 1), leaf.Out("count_full", 1))
	return &graph.Module{
		Name: "inc_port_admit", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "the way into a queue before a MAC whose frames leave before they are whole",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "MAX_BYTES", Value: p.MaxBytes},
			{Name: "DROP", Value: p.Drop},
		},
		Ports:   ports,
		Streams: []graph.Stream{{Name: "s_axis", Dir: graph.In}},
	}, nil
}

// refuseLongest refuses a longest frame that is too short, or too long for the queue.
func refuseLongest(rules *leaf.Rules, longest, bytes, depthW int) {
	rules.Refuse(bytes > 0 && (longest < 2*bytes || (longest+bytes-1)/bytes > leaf.Pow2(depthW)-1),
		"MAX_BYTES must be two beats at least, and fit the queue with a beat to spare")
}
