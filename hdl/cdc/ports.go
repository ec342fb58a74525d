// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"fmt"
	"slices"
	"strings"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// portClock is the clock of the MAC's side, eventBits the width of the counts by which a port's counters cross.
const (
	portClock = "port_clk"
	eventBits = 5
)

// PortRx is inc_port_rx_cdc: stream.PortRx for a port with a clock of its own. Its contract is the head of inc_port_rx_cdc.v.
type PortRx stream.PortRx

// Module describes it, or says every reason why the parameters are illegal.
func (p PortRx) Module() (*graph.Module, error) {
	queue := stream.PortRx(p)
	if err := queue.Rules("inc_port_rx_cdc").Err(); err != nil {
		return nil, err
	}
	m, err := portQueue("inc_port_rx_cdc", p.Bytes, p.DepthW, p.DepthW+1, stream.PortTake(p))
	if err != nil {
		return nil, err
	}
	m.Latency, m.Purpose = "7 cycles", "the queue behind a MAC that has a clock of its own"
	m.Params = queue.Params()
	m.Ports = append(m.Ports, across("s_axis_", queue.Streams())...)
	m.Ports = append(m.Ports, leaf.On(portClock, leaf.Out("high", 1)))
	for _, name := range stream.RxCounts() {
		m.Ports = append(m.Ports, leaf.Out(name, 1))
	}
	m.Ports = append(m.Ports, leaf.On(portClock, leaf.Out("mon_end", 1)), leaf.On(portClock, leaf.Out("mon_drop", 1)))
	return m, nil
}

// PortTx is inc_port_tx_cdc: stream.PortTx for a port with a clock of its own. Its contract is the head of inc_port_tx_cdc.v.
type PortTx stream.PortTx

// Module describes it, or says every reason why the parameters are illegal.
func (p PortTx) Module() (*graph.Module, error) {
	queue := stream.PortTx(p)
	if err := stream.PortRules("inc_port_tx_cdc", p.PortBytes, p.Bytes, p.DepthW).Err(); err != nil {
		return nil, err
	}
	m, err := portQueue("inc_port_tx_cdc", p.Bytes, p.DepthW, p.DepthW+1, stream.PortPut{Bytes: p.Bytes, DepthW: p.DepthW, Drop: p.Drop},
		stream.PortSend{PortBytes: p.PortBytes, Bytes: p.Bytes})
	if err != nil {
		return nil, err
	}
	m.Latency, m.Purpose = "7 cycles", "the queue before a MAC that has a clock of its own"
	m.Params = queue.Params()
	m.Ports = append(m.Ports, across("m_axis_", queue.Streams())...)
	m.Ports = append(m.Ports, leaf.On(portClock, leaf.In("pause", 1)), leaf.Out("count_frame", 1), leaf.Out("count_full", 1))
	return m, nil
}

// PortTxCut is inc_port_tx_cut_cdc: stream.PortTxCut for a port with a clock of its own. Its contract is the head of inc_port_tx_cut_cdc.v.
type PortTxCut stream.PortTxCut

// Module describes it, or says every reason why the parameters are illegal.
func (p PortTxCut) Module() (*graph.Module, error) {
	queue := stream.PortTxCut(p)
	if err := queue.Rules("inc_port_tx_cut_cdc").Err(); err != nil {
		return nil, err
	}
	m, err := portQueue("inc_port_tx_cut_cdc", p.Bytes, p.DepthW, p.DepthW+2, queue.Admit(), stream.PortSend{PortBytes: p.PortBytes, Bytes: p.Bytes})
	if err != nil {
		return nil, err
	}
	m.Latency, m.Purpose = "7 cycles", "the queue before a MAC that has a clock of its own, whose frames leave before they are whole"
	m.Params = queue.Params()
	m.Ports = append(m.Ports, across("m_axis_", queue.Streams())...)
	m.Ports = append(m.Ports, leaf.On(portClock, leaf.In("pause", 1)), leaf.Out("count_frame", 1), leaf.Out("count_full", 1))
	return m, nil
}

// portQueue is what all queues have: clocks, the memory between them, and what crosses, in counts of so many bits.
func portQueue(name string, bytes, depthW, countW int, parts ...graph.Describer) (*graph.Module, error) {
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	words := stream.PortWords("inc_mem_port_2c", bytes, depthW)
	m := &graph.Module{
		Name: name, Block: "", Source: source,
		Ports:    []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In(portClock, 1)},
		Streams:  []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}},
		Memories: []graph.Memory{words.At("u_mem", "queue")},
	}
	for _, d := range append(parts, Reset{}, Count{Width: countW}, Event{Width: eventBits}, words) {
		sub, err := d.Module()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.Submodules = append(m.Submodules, sub)
	}
	return m, nil
}

// across puts the ports of that prefix in the port's clock.
func across(prefix string, ports []graph.Port) []graph.Port {
	ports = slices.Clone(ports)
	for i, p := range ports {
		if strings.HasPrefix(p.Name, prefix) {
			ports[i] = leaf.On(portClock, p)
		}
	}
	return ports
}
