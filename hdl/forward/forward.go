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
	// Bytes: bytes of a beat, a power of two of at least 4.
	Bytes int
	// PortW: bits of a port number.
	PortW int
	// BeatsW: log2 of the number of beats that may wait, 2 to 16; with Flops at most 10.
	BeatsW int
	// DepthW: log2 of the number of decisions that may wait, 4 to 10; never more than beats.
	DepthW int
	// Margin: beats that may still come when room has fallen; 0 to 2**BEATS_W - 1.
	Margin int
	// Flops: 1 if beats wait in flip-flops, 0 if in RAM.
	Flops int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Forward) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_forward")
	rules.Refuse(p.Bytes < 4 || leaf.Pow2(leaf.Clog2(p.Bytes)) != p.Bytes, "BYTES must be a power of two of at least 4")
	rules.Refuse(p.PortW < 1, "PORT_W must be at least 1")
	rules.Refuse(p.BeatsW < 2 || p.BeatsW > 16 || p.Flops != 0 && p.BeatsW > 10, "BEATS_W must be 2 to 16, with FLOPS to 10")
	rules.Refuse(p.Margin < 0 || p.Margin >= leaf.Pow2(p.BeatsW), "MARGIN must be less than 2**BEATS_W")
	rules.Refuse(p.Flops < 0 || p.Flops > 1, "FLOPS must be 0 or 1")
	rules.Refuse(p.DepthW < 4 || p.DepthW > 10, "DEPTH_W must be 4 to 10")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_forward")
	if err != nil {
		return nil, err
	}
	beats, memories, err := p.beats()
	if err != nil {
		return nil, fmt.Errorf("inc_forward: %w", err)
	}
	ways := stream.FIFO{Width: p.PortW + 1, DepthW: p.DepthW, Margin: 8, Head: 1}
	if p.BeatsW < p.DepthW {
		ways.DepthW, ways.Margin = p.BeatsW, 0
	}
	fifo, err := ways.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_forward: %w", err)
	}
	skid, err := stream.Skid{Width: 8*p.Bytes + p.marks() + p.PortW + 2}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_forward: %w", err)
	}
	return &graph.Module{
		Name: "inc_forward", Block: "Forward", Source: source, Latency: p.latency(),
		Purpose: "bypasses frames that are not the engine's and shares the output",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "BEATS_W", Value: p.BeatsW},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "MARGIN", Value: p.Margin},
			{Name: "FLOPS", Value: p.Flops},
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
			leaf.In("eng_size", leaf.Clog2(p.Bytes)),
			leaf.In("eng_last", 1),
			leaf.In("eng_port", p.PortW),
			leaf.Out("m_axis_tdata", 8*p.Bytes),
			leaf.Out("m_axis_tkeep", p.Bytes),
			leaf.Out("m_axis_tvalid", 1),
			leaf.In("m_axis_tready", 1),
			leaf.Out("m_axis_tlast", 1),
			leaf.Out("m_axis_tuser", p.PortW+1),
		},
		Streams:    []graph.Stream{{Name: "m_axis", Dir: graph.Out}},
		Memories:   memories,
		Submodules: []*graph.Module{beats, fifo, skid},
	}, nil
}

// latency is that of the head of the file.
func (p Forward) latency() string {
	if p.Flops != 0 {
		return "2 cycles for a bypassed frame, 0 for the engine's"
	}
	return "4 cycles for a bypassed frame, 0 for the engine's"
}

// width is that of a beat with its size, last and err.
func (p Forward) width() int { return 8*p.Bytes + leaf.Clog2(p.Bytes) + 2 }

// marks is what tkeep is made of, in bits.
func (p Forward) marks() int {
	size := leaf.Clog2(p.Bytes)
	return 1 + 2*leaf.Pow2(size-size/2) + leaf.Pow2(size/2)
}

// beats is the queue in which beats wait, and its memory if it has one.
func (p Forward) beats() (*graph.Module, []graph.Memory, error) {
	width := p.width()
	if p.Flops != 0 {
		m, err := stream.FIFO{Width: width, DepthW: p.BeatsW, Margin: p.Margin}.Module()
		return m, nil, err
	}
	m, err := stream.StreamFIFO{Width: width, DepthW: p.BeatsW, Margin: p.Margin}.Module()
	return m, []graph.Memory{{Path: "gen_ram.u_beats.u_mem.u_ram", Words: leaf.Pow2(p.BeatsW), Bits: width, Role: "queue", Module: "inc_ram_1r1w"}}, err
}
