// SPDX-License-Identifier: Apache-2.0

package vlan

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// TagBits are the bits of a tag inside the engine: whether there is one, and those behind its 0x8100.
const TagBits = 17

// Strip is inc_vlan_strip: takes the tag out of frames on their way in. Its contract is the head of inc_vlan_strip.v.
type Strip struct {
	// Bytes: bytes of a beat; a power of two, 8 to 2048.
	Bytes int
	// PortW: bits of a port number, at least 1.
	PortW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Strip) Module() (*graph.Module, error) {
	return tagStream("inc_vlan_strip", "takes the tag out of frames on their way in", "1 cycle", p.Bytes, p.PortW, p.PortW+1, p.PortW+1+TagBits)
}

// Tag is inc_vlan_tag: puts a tag into frames on their way out. Its contract is the head of inc_vlan_tag.v.
type Tag struct {
	// Bytes: bytes of a beat; a power of two, 8 to 2048.
	Bytes int
	// PortW: bits of a port number, at least 1.
	PortW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Tag) Module() (*graph.Module, error) {
	return tagStream("inc_vlan_tag", "puts a tag into frames on their way out", "0 cycles", p.Bytes, p.PortW, p.PortW+1+TagBits, p.PortW+1)
}

// tagStream describes a block between a stream with one width of tuser and a stream with another.
func tagStream(name, purpose, latency string, bytes, portW, userIn, userOut int) (*graph.Module, error) {
	rules := leaf.NewRules(name)
	rules.Refuse(bytes < 8 || bytes > 2048 || 1<<leaf.Clog2(bytes) != bytes, "BYTES must be a power of two, 8 to 2048")
	rules.Refuse(portW < 1, "PORT_W must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	skid, err := stream.Skid{Width: 9*bytes + 1 + userOut}.Module()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &graph.Module{
		Name: name, Block: "", Source: source, Latency: latency, Purpose: purpose,
		Params: []graph.Param{{Name: "BYTES", Value: bytes}, {Name: "PORT_W", Value: portW}},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1),
			leaf.In("s_axis_tdata", 8*bytes), leaf.In("s_axis_tkeep", bytes), leaf.In("s_axis_tvalid", 1), leaf.Out("s_axis_tready", 1),
			leaf.In("s_axis_tlast", 1), leaf.In("s_axis_tuser", userIn),
			leaf.Out("m_axis_tdata", 8*bytes), leaf.Out("m_axis_tkeep", bytes), leaf.Out("m_axis_tvalid", 1), leaf.In("m_axis_tready", 1),
			leaf.Out("m_axis_tlast", 1), leaf.Out("m_axis_tuser", userOut),
		},
		Submodules: []*graph.Module{skid},
		Streams:    []graph.Stream{{Name: "s_axis", Dir: graph.In}, {Name: "m_axis", Dir: graph.Out}},
	}, nil
}
