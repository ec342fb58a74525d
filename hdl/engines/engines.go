// SPDX-License-Identifier: Apache-2.0

package engines

import (
	"fmt"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// Steer is inc_steer: holds a frame until it is known which engine it is for. Its contract is the head of inc_steer.v.
type Steer struct {
	// Bytes: bytes of a beat, a power of two, at least 8.
	Bytes int
	// Engines: number of engines, 2 to 8.
	Engines int
	// EIW: bits of an index into an engine's endpoint table, 1 to 21.
	EIW int
	// Tags: frames may have an 802.1Q tag.
	Tags bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Steer) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_steer")
	rules.Refuse(p.Bytes < 8 || p.Bytes&(p.Bytes-1) != 0, "BYTES must be a power of two, at least 8")
	rules.Refuse(p.Engines < 2 || p.Engines > contract.MaxEngines, "ENGINES must be 2 to 8")
	rules.Refuse(p.EIW < 1 || p.EIW > 21, "EI_W must be 1 to 21")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	beats := (p.header() + p.Bytes - 1) / p.Bytes
	depth := leaf.Clog2(beats + 1)
	parts := []graph.Describer{steerLook{p, 0}, stream.FIFO{Width: 9*p.Bytes + 2, DepthW: depth}, stream.FIFO{Width: p.Engines + 1, DepthW: depth}}
	if p.Tags {
		parts = append(parts, steerLook{p, tagBytes})
	}
	return module("inc_steer", fmt.Sprintf("%d cycles", beats), "holds a frame of a port until it is known which engine it is for",
		append(p.params(), graph.Param{Name: "TAGS", Value: leaf.Bit(p.Tags)}),
		join(axis("s_axis_", p.Bytes, 1, graph.In), beat(leaf.Out, "m_", p.Bytes, 1), leaf.Out("want", p.Engines+1), leaf.In("take", p.Engines+1)),
		[]graph.Stream{{Name: "s_axis", Dir: graph.In}}, parts...)
}

// What of a frame says whose it is, and what a tag adds.
const headerBytes, tagBytes = 54, 4

func (p Steer) header() int {
	if p.Tags {
		return headerBytes + tagBytes
	}
	return headerBytes
}

func (p Steer) params() []graph.Param {
	return []graph.Param{{Name: "BYTES", Value: p.Bytes}, {Name: "ENGINES", Value: p.Engines}, {Name: "EI_W", Value: p.EIW}}
}

// steerLook is inc_steer_look: says of a frame which engine it is for. Its contract is the head of inc_steer_look.v.
type steerLook struct {
	steer Steer
	// at: bytes before the EtherType that a frame without a tag has not.
	at int
}

// Module describes it.
func (p steerLook) Module() (*graph.Module, error) {
	beats := (p.steer.header() + p.steer.Bytes - 1) / p.steer.Bytes
	beatW := leaf.Clog2(beats + 1)
	return module("inc_steer_look", "0 cycles", "says of a frame which engine it is for",
		append(p.steer.params(), graph.Param{Name: "AT", Value: p.at}, graph.Param{Name: "BEAT_W", Value: beatW}, graph.Param{Name: "LAST", Value: beats - 1}),
		[]graph.Port{leaf.In("push", 1), leaf.In("beat", beatW), leaf.In("tdata", 8*p.steer.Bytes), leaf.In("tkeep", p.steer.Bytes), leaf.In("tlast", 1),
			leaf.Out("hit", p.steer.Engines)}, nil)
}

// Cross is inc_cross: one output of the crossbar. Its contract is the head of inc_cross.v.
type Cross struct {
	// Inputs: number of inputs, at least 1.
	Inputs int
	// InputW: bits of an input's number, at least 1.
	InputW int
	// Bytes: bytes of a beat.
	Bytes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Cross) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_cross")
	rules.Refuse(p.InputW < 1 || p.Inputs < 1 || p.Inputs > leaf.Pow2(p.InputW), "INPUTS must be 1 to 2**INPUT_W")
	rules.Refuse(p.Bytes < 1, "BYTES must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	return module("inc_cross", "0 cycles", "one output of the crossbar: of all inputs that want it, frame by frame in turn",
		[]graph.Param{{Name: "INPUTS", Value: p.Inputs}, {Name: "INPUT_W", Value: p.InputW}, {Name: "BYTES", Value: p.Bytes}},
		join(beat(leaf.In, "s_", p.Bytes, p.Inputs), leaf.In("want", p.Inputs), leaf.Out("take", p.Inputs), axis("m_axis_", p.Bytes, p.InputW+1, graph.Out),
			leaf.Out("mon_valid", 1), leaf.Out("mon_port", p.InputW)),
		[]graph.Stream{{Name: "m_axis", Dir: graph.Out}})
}

// Fan is inc_fan: offers each frame of an engine to the port that its tuser names. Its contract is the head of inc_fan.v.
type Fan struct {
	// Ports: number of ports, at least 1.
	Ports int
	// PortW: bits of a port number, at least 1.
	PortW int
	// Bytes: bytes of a beat.
	Bytes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Fan) Module() (*graph.Module, error) {
	if err := portRules("inc_fan", p.Ports, p.PortW, p.Bytes); err != nil {
		return nil, err
	}
	return module("inc_fan", "0 cycles", "offers each frame of an engine to the port that its tuser names", portParams(p.Ports, p.PortW, p.Bytes),
		join(axis("s_axis_", p.Bytes, p.PortW+1, graph.In), beat(leaf.Out, "m_", p.Bytes, 1), leaf.Out("want", p.Ports), leaf.In("take", p.Ports)),
		[]graph.Stream{{Name: "s_axis", Dir: graph.In}},
		stream.Skid{Width: 9*p.Bytes + 2 + p.PortW})
}

// Round is inc_round: the way round the engines. Its contract is the head of inc_round.v.
type Round struct {
	// Ports: number of ports, at least 1.
	Ports int
	// PortW: bits of a port number, at least 1.
	PortW int
	// Bytes: bytes of a beat.
	Bytes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Round) Module() (*graph.Module, error) {
	if err := portRules("inc_round", p.Ports, p.PortW, p.Bytes); err != nil {
		return nil, err
	}
	return module("inc_round", "0 cycles", "the way round the engines: by the port that is set for the one a frame came in on", portParams(p.Ports, p.PortW, p.Bytes),
		join(axis("s_axis_", p.Bytes, p.PortW+1, graph.In), axis("m_axis_", p.Bytes, p.PortW+1, graph.Out), leaf.In("exits", p.Ports*p.PortW),
			leaf.Out("count_frame", 1)),
		[]graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}})
}

// Regs is inc_engine_regs: one register space for several engines. Its contract is the head of inc_engine_regs.v.
type Regs struct {
	// AxilW: bits of a byte address; EngW: of one within a window.
	AxilW, EngW int
	// Engines: number of engines, 2 to 8.
	Engines int
	// Ports: number of ports; PortW: bits of a port number.
	Ports, PortW int
	// Counters: number of counters of an engine; RX and Bypass: numbers of those that what goes round the engines counts in.
	Counters, RX, Bypass int
	// Snapshot: byte address of COUNTER_SNAPSHOT.
	Snapshot int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Regs) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_engine_regs")
	rules.Refuse(p.Engines < 2 || p.Engines > contract.MaxEngines, "ENGINES must be 2 to 8")
	rules.Refuse(p.EngW < 16 || p.AxilW <= p.EngW || p.Engines >= leaf.Pow2(p.AxilW-p.EngW),
		"AXIL_W must reach a window of ENG_W bits, at least 16, for each engine and one more")
	rules.Refuse(p.PortW < 1 || p.Ports < 1 || p.Ports > 32 || p.Ports > leaf.Pow2(p.PortW), "PORTS must be 1 to 32, and to 2**PORT_W")
	rules.Refuse(p.Counters < 2 || p.Counters > 256 || p.RX < 0 || p.RX >= p.Counters || p.Bypass < 0 || p.Bypass >= p.Counters,
		"COUNTERS must be 2 to 256, with RX and BYPASS among them")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	ports := stream.AxilPorts("s_axil_", p.AxilW, 1, false)
	ports = append(ports, stream.AxilPorts("m_axil_", p.EngW, p.Engines, true)...)
	ports = append(ports, leaf.In("count_round", 1), leaf.Out("exits", p.Ports*p.PortW))
	return module("inc_engine_regs", fmt.Sprintf("%d cycles", 4+p.Engines), "one register space for several engines: a window each, and one in which a write reaches all and a counter is the sum",
		[]graph.Param{{Name: "AXIL_W", Value: p.AxilW}, {Name: "ENG_W", Value: p.EngW}, {Name: "ENGINES", Value: p.Engines}, {Name: "PORTS", Value: p.Ports},
			{Name: "PORT_W", Value: p.PortW}, {Name: "COUNTERS", Value: p.Counters}, {Name: "RX", Value: p.RX}, {Name: "BYPASS", Value: p.Bypass},
			{Name: "SNAPSHOT", Value: p.Snapshot}},
		ports, nil)
}

// portRules are the rules of what has ports on one side.
func portRules(name string, ports, portW, bytes int) error {
	rules := leaf.NewRules(name)
	rules.Refuse(portW < 1 || ports < 1 || ports > leaf.Pow2(portW), "PORTS must be 1 to 2**PORT_W")
	rules.Refuse(bytes < 1, "BYTES must be at least 1")
	return rules.Err()
}

// portParams are its parameters.
func portParams(ports, portW, bytes int) []graph.Param {
	return []graph.Param{{Name: "PORTS", Value: ports}, {Name: "PORT_W", Value: portW}, {Name: "BYTES", Value: bytes}}
}

// module is the description of one of this package, which has clock and reset beside its ports.
func module(name, latency, purpose string, params []graph.Param, ports []graph.Port, streams []graph.Stream, parts ...graph.Describer) (*graph.Module, error) {
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	m := &graph.Module{Name: name, Source: source, Latency: latency, Purpose: purpose, Params: params, Streams: streams,
		Ports: append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}, ports...)}
	for _, p := range parts {
		part, err := p.Module()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.Submodules = append(m.Submodules, part)
	}
	return m, nil
}

// beat are the signals of a beat without handshake, those of n inputs side by side; err is in tuser.
func beat(dir func(string, int) graph.Port, prefix string, bytes, n int) []graph.Port {
	return []graph.Port{dir(prefix+"tdata", n*8*bytes), dir(prefix+"tkeep", n*bytes), dir(prefix+"tlast", n), dir(prefix+"tuser", n)}
}

// axis are the signals of a stream.
func axis(prefix string, bytes, user int, dir graph.Dir) []graph.Port {
	forward, back := leaf.In, leaf.Out
	if dir == graph.Out {
		forward, back = leaf.Out, leaf.In
	}
	return []graph.Port{forward(prefix+"tdata", 8*bytes), forward(prefix+"tkeep", bytes), forward(prefix+"tvalid", 1), back(prefix+"tready", 1),
		forward(prefix+"tlast", 1), forward(prefix+"tuser", user)}
}

// join puts lists of ports and single ones one behind the other.
func join(parts ...any) []graph.Port {
	var out []graph.Port
	for _, p := range parts {
		switch p := p.(type) {
		case graph.Port:
			out = append(out, p)
		case []graph.Port:
			out = append(out, p...)
		}
	}
	return out
}
