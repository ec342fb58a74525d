// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// PortTake is inc_port_take: the way into the queue behind a MAC. Its contract is the head of inc_port_take.v, its parameters are those of
// the queue.
type PortTake PortRx

// Module describes it, or says every reason why the parameters are illegal.
func (p PortTake) Module() (*graph.Module, error) {
	queue := PortRx(p)
	if err := queue.Rules("inc_port_take").Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_take")
	if err != nil {
		return nil, err
	}
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}
	ports = append(ports, axisPorts("s_axis_", leaf.In, leaf.Out, p.PortBytes)...)
	ports = append(ports, leaf.In("s_axis_tuser", 1))
	ports = append(ports, writePorts(p.Bytes, p.DepthW)...)
	for _, name := range append([]string{"high"}, append(RxCounts(), "mon_end", "mon_drop")...) {
		ports = append(ports, leaf.Out(name, 1))
	}
	return &graph.Module{
		Name: "inc_port_take", Block: "", Source: source, Latency: "1 cycle",
		Purpose: "the way into the queue behind a MAC",
		Params:  queue.Params(),
		Ports:   ports,
		Streams: []graph.Stream{{Name: "s_axis", Dir: graph.In}},
	}, nil
}

// PortPut is inc_port_put: the way into the queue before a MAC. Its contract is the head of inc_port_put.v.
type PortPut struct {
	// Bytes: bytes of a beat of the bus, a power of two, at least 2.
	Bytes int
	// DepthW: log2 of the queue's beats of the bus.
	DepthW int
	// Drop: 1 if a frame without room is dropped, 0 if it waits.
	Drop int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortPut) Module() (*graph.Module, error) {
	if err := PortRules("inc_port_put", 1, p.Bytes, p.DepthW).Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_put")
	if err != nil {
		return nil, err
	}
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("open", 1)}
	ports = append(ports, axisPorts("s_axis_", leaf.In, leaf.Out, p.Bytes)...)
	ports = append(ports, writePorts(p.Bytes, p.DepthW)...)
	ports = append(ports, leaf.Out("kept", 1), leaf.Out("count_full", 1))
	return &graph.Module{
		Name: "inc_port_put", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "the way into the queue before a MAC",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "DROP", Value: p.Drop},
		},
		Ports:   ports,
		Streams: []graph.Stream{{Name: "s_axis", Dir: graph.In}},
	}, nil
}

// PortSend is inc_port_send: the way out of the queue before a MAC. Its contract is the head of inc_port_send.v.
type PortSend struct {
	// PortBytes: bytes of a beat of the port, a power of two.
	PortBytes int
	// Bytes: bytes of a beat of the bus, a power of two from PORT_BYTES on, at least 2.
	Bytes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortSend) Module() (*graph.Module, error) {
	const anyDepth = 2
	if err := PortRules("inc_port_send", p.PortBytes, p.Bytes, anyDepth).Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_port_send")
	if err != nil {
		return nil, err
	}
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("more", 1), leaf.Out("re", 1), leaf.Out("begins", 1),
		leaf.In("rdata", PortWords("inc_mem_port", p.Bytes, anyDepth).Bits)}
	ports = append(ports, axisPorts("m_axis_", leaf.Out, leaf.In, p.PortBytes)...)
	ports = append(ports, leaf.In("pause", 1), leaf.Out("count_frame", 1))
	return &graph.Module{
		Name: "inc_port_send", Block: "", Source: source, Latency: "2 cycles",
		Purpose: "the way out of the queue before a MAC",
		Params: []graph.Param{
			{Name: "PORT_BYTES", Value: p.PortBytes},
			{Name: "BYTES", Value: p.Bytes},
		},
		Ports:   ports,
		Streams: []graph.Stream{{Name: "m_axis", Dir: graph.Out}},
	}, nil
}

// modules are those that parts describe.
func modules(parts ...graph.Describer) ([]*graph.Module, error) {
	var out []*graph.Module
	for _, p := range parts {
		m, err := p.Module()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// writePorts are the signals between what fills a queue and its memory.
func writePorts(bytes, depthW int) []graph.Port {
	return []graph.Port{leaf.Out("we", 1), leaf.Out("waddr", depthW), leaf.Out("wdata", PortWords("inc_mem_port", bytes, depthW).Bits),
		leaf.In("head", depthW+1), leaf.Out("done", depthW+1)}
}

// axisPorts are the signals of a stream without tuser.
func axisPorts(prefix string, forward, back func(name string, width int) graph.Port, bytes int) []graph.Port {
	return []graph.Port{
		forward(prefix+"tdata", 8*bytes), forward(prefix+"tkeep", bytes), forward(prefix+"tvalid", 1), back(prefix+"tready", 1), forward(prefix+"tlast", 1),
	}
}

// PortRules are the rules that all modules of a port's queues have.
func PortRules(module string, portBytes, bytes, depthW int) *leaf.Rules {
	rules := leaf.NewRules(module)
	rules.Refuse(bytes < 2 || bytes&(bytes-1) != 0, "BYTES must be a power of two, at least 2")
	rules.Refuse(portBytes < 1 || portBytes > bytes || portBytes&(portBytes-1) != 0, "PORT_BYTES must be a power of two up to BYTES")
	rules.Refuse(depthW < 2 || depthW > 16, "DEPTH_W must be 2 to 16")
	return rules
}

// PortWords is the memory of a port's queue, in the wrapper of that name: a beat, the number of its last byte, and whether it is the
// frame's last.
func PortWords(wrapper string, bytes, depthW int) ram.Memory {
	return ram.Memory{Name: wrapper, Words: leaf.Pow2(depthW), Bits: 8*bytes + leaf.Clog2(bytes) + 1, AddrW: depthW}
}
