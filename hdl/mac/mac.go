// SPDX-License-Identifier: Apache-2.0

package mac

import (
	"incforge/hdl/cdc"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// CMAC is inc_mac_cmac: between a port and AMD's CMAC. Its contract is the head of inc_mac_cmac.v.
type CMAC struct {
	// Priorities of the port, 1 to 8.
	Priorities int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p CMAC) Module() (*graph.Module, error) {
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}
	ports = append(ports, rx("", 64)...)
	ports = append(ports, tx(64)...)
	ports = append(ports, leaf.In("stat_rx_aligned", 1), leaf.Out("ctl_rx_enable", 1), leaf.Out("ctl_tx_enable", 1), leaf.Out("ctl_tx_send_rfi", 1),
		leaf.In("stat_rx_pause_req", 9), leaf.Out("ctl_rx_pause_enable", 9), leaf.Out("ctl_rx_pause_ack", 9), leaf.Out("ctl_tx_pause_enable", 9),
		leaf.Out("ctl_tx_pause_req", 9))
	ports = append(ports, port(64, p.Priorities)...)
	return module("inc_mac_cmac", "between a port and AMD's CMAC", p.Priorities, append(ports, leaf.Out("up", 1), leaf.Out("lost", 1)),
		Guard{Bytes: 64}, Pause(p))
}

// Taxi is inc_mac_taxi: between a port and an open MAC with a clock for each direction. Its contract is the head of inc_mac_taxi.v.
type Taxi struct {
	// Priorities of the port, 1 to 8.
	Priorities int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Taxi) Module() (*graph.Module, error) {
	const line = "rx_clk"
	ports := append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In(line, 1)}, rx(line, 8)...)
	ports = append(ports, leaf.On(line, leaf.Out("lost", 1)))
	ports = append(ports, tx(8)...)
	ports = append(ports, leaf.In("up", 1), leaf.In("rx_pause_req", 9), leaf.Out("rx_pause_enable", 9), leaf.Out("rx_pause_ack", 9), leaf.Out("tx_pause_req", 9))
	m, err := module("inc_mac_taxi", "between a port and an open MAC with a clock for each direction", p.Priorities, append(ports, port(8, p.Priorities)...),
		Guard{Bytes: 8}, Pause(p), cdc.Reset{}, cdc.Count{Width: depthW + 1}, ram.TwoClocks{Words: 1 << depthW, Bits: beatBits, AddrW: depthW})
	if err == nil {
		m.Memories = []graph.Memory{{Path: "u_beats", Words: 1 << depthW, Bits: beatBits, Role: "queue", Module: "inc_ram_2c"}}
	}
	return m, err
}

// The queue of inc_mac_taxi: log2 of its beats, and a beat's bits.
const (
	depthW   = 5
	beatBits = 74
)

// Guard is inc_mac_guard: marks frames of which a port missed a beat. Its contract is the head of inc_mac_guard.v.
type Guard struct {
	// Bytes: bytes of a beat, at least 1.
	Bytes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Guard) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_mac_guard")
	rules.Refuse(p.Bytes < 1, "BYTES must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_mac_guard")
	if err != nil {
		return nil, err
	}
	beat := func(prefix string, to, from func(string, int) graph.Port, ready bool) []graph.Port {
		out := []graph.Port{to(prefix+"tdata", 8*p.Bytes), to(prefix+"tkeep", p.Bytes), to(prefix+"tvalid", 1)}
		if ready {
			out = append(out, from(prefix+"tready", 1))
		}
		return append(out, to(prefix+"tlast", 1), to(prefix+"tuser", 1))
	}
	ports := append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}, beat("s_", leaf.In, leaf.Out, false)...)
	ports = append(append(ports, beat("m_", leaf.Out, leaf.In, true)...), leaf.Out("lost", 1))
	return &graph.Module{Name: "inc_mac_guard", Block: "", Source: source, Latency: "0 cycles", Purpose: "marks frames of which a port missed a beat",
		Params: []graph.Param{{Name: "BYTES", Value: p.Bytes}}, Ports: ports}, nil
}

// Pause is inc_mac_pause: a MAC's pause frames and a port's priorities. Its contract is the head of inc_mac_pause.v.
type Pause struct {
	// Priorities of the port, 1 to 8.
	Priorities int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Pause) Module() (*graph.Module, error) {
	return module("inc_mac_pause", "a MAC's pause frames and a port's priorities", p.Priorities, []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1),
		leaf.In("up", 1), leaf.In("rx_pause_req", 9), leaf.Out("rx_pause_enable", 9), leaf.Out("rx_pause_ack", 9), leaf.Out("tx_pause_req", 9),
		leaf.Out("port_pause", p.Priorities), leaf.In("port_high", 1)})
}

// rx is a stream from the line, which nobody holds up, in a clock.
func rx(clock string, bytes int) []graph.Port {
	ports := []graph.Port{leaf.In("rx_axis_tdata", 8*bytes), leaf.In("rx_axis_tkeep", bytes), leaf.In("rx_axis_tvalid", 1), leaf.In("rx_axis_tlast", 1),
		leaf.In("rx_axis_tuser", 1)}
	for i := range ports {
		if clock != "" {
			ports[i] = leaf.On(clock, ports[i])
		}
	}
	return ports
}

// tx is a stream to the line.
func tx(bytes int) []graph.Port {
	return []graph.Port{leaf.Out("tx_axis_tdata", 8*bytes), leaf.Out("tx_axis_tkeep", bytes), leaf.Out("tx_axis_tvalid", 1), leaf.In("tx_axis_tready", 1),
		leaf.Out("tx_axis_tlast", 1), leaf.Out("tx_axis_tuser", 1)}
}

// port is a port of the switch top, seen from the MAC.
func port(bytes, priorities int) []graph.Port {
	return []graph.Port{
		leaf.Out("m_axis_tdata", 8*bytes), leaf.Out("m_axis_tkeep", bytes), leaf.Out("m_axis_tvalid", 1), leaf.In("m_axis_tready", 1),
		leaf.Out("m_axis_tlast", 1), leaf.Out("m_axis_tuser", 1),
		leaf.In("s_axis_tdata", 8*bytes), leaf.In("s_axis_tkeep", bytes), leaf.In("s_axis_tvalid", 1), leaf.Out("s_axis_tready", 1), leaf.In("s_axis_tlast", 1), leaf.In("s_axis_tuser", 1),
		leaf.Out("port_pause", priorities), leaf.In("port_high", 1)}
}

// module describes one that has priorities.
func module(name, purpose string, priorities int, ports []graph.Port, inside ...graph.Describer) (*graph.Module, error) {
	rules := leaf.NewRules(name)
	rules.Refuse(priorities < 1 || priorities > 8, "PRIORITIES must be 1 to 8")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	m := &graph.Module{Name: name, Block: "", Source: source, Latency: "2 cycles", Purpose: purpose,
		Params: []graph.Param{{Name: "PRIORITIES", Value: priorities}}, Ports: ports}
	for _, d := range inside {
		sub, err := d.Module()
		if err != nil {
			return nil, err
		}
		m.Submodules = append(m.Submodules, sub)
	}
	return m, nil
}
