// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// Forward is inc_forward: bypasses frames that are not the engine's and shares the output. Its contract is the head of inc_forward.v.
type Forward struct {
	// Bytes: bytes of a beat.
	Bytes int
	// PortW: bits of a port number.
	PortW int
	// BeatsW: log2 of the number of beats that may wait, 4 to 16.
	BeatsW int
	// DepthW: log2 of the number of decisions that may wait, 4 to 10.
	DepthW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Forward) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_forward")
	rules.Refuse(p.Bytes < 1 || p.PortW < 1, "BYTES and PORT_W must be at least 1")
	rules.Refuse(p.BeatsW < 4 || p.BeatsW > 16, "BEATS_W must be 4 to 16")
	rules.Refuse(p.DepthW < 4 || p.DepthW > 10, "DEPTH_W must be 4 to 10")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_forward")
	if err != nil {
		return nil, err
	}
	streamFIFO, err := stream.StreamFIFO{Width: 9*p.Bytes + 2, DepthW: p.BeatsW, Margin: 8}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_forward: %w", err)
	}
	fifo, err := stream.FIFO{Width: p.PortW + 1, DepthW: p.DepthW, Margin: 8}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_forward: %w", err)
	}
	skid, err := stream.Skid{Width: 9*p.Bytes + p.PortW + 2}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_forward: %w", err)
	}
	return &graph.Module{
		Name: "inc_forward", Block: "Forward", Source: source, Latency: "2 cycles for a bypassed frame, 0 for the engine's",
		Purpose: "bypasses frames that are not the engine's and shares the output",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "BEATS_W", Value: p.BeatsW},
			{Name: "DEPTH_W", Value: p.DepthW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.Out("room", 1),
			leaf.In("raw_valid", 1),
			leaf.In("raw_data", 8*p.Bytes),
			leaf.In("raw_keep", p.Bytes),
			leaf.In("raw_last", 1),
			leaf.In("raw_err", 1),
			leaf.In("fwd_valid", 1),
			leaf.In("fwd_bypass", 1),
			leaf.In("fwd_port", p.PortW),
			leaf.In("eng_valid", 1),
			leaf.Out("eng_ready", 1),
			leaf.In("eng_data", 8*p.Bytes),
			leaf.In("eng_keep", p.Bytes),
			leaf.In("eng_last", 1),
			leaf.In("eng_port", p.PortW),
			leaf.Out("m_axis_tdata", 8*p.Bytes),
			leaf.Out("m_axis_tkeep", p.Bytes),
			leaf.Out("m_axis_tvalid", 1),
			leaf.In("m_axis_tready", 1),
			leaf.Out("m_axis_tlast", 1),
			leaf.Out("m_axis_tuser", p.PortW+1),
		},
		Streams: []graph.Stream{{Name: "m_axis", Dir: graph.Out}},
		Memories: []graph.Memory{
			{Path: "u_beats.u_mem.u_ram", Words: leaf.Pow2(p.BeatsW), Bits: 9*p.Bytes + 2, Role: "queue", Module: "inc_ram_1r1w"},
		},
		Submodules: []*graph.Module{streamFIFO, fifo, skid},
	}, nil
}
