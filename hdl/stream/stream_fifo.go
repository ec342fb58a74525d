// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// StreamFIFO is inc_stream_fifo: deep queue in RAM. Its contract is the head of inc_stream_fifo.v.
type StreamFIFO struct {
	// Width: bits of a beat with all its sidebands, at least 1.
	Width int
	// DepthW: log2 of the number of entries, 2 to 16.
	DepthW int
	// Margin: entries kept free for pushes already under way; 0 to 2**DEPTH_W - 1.
	Margin int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p StreamFIFO) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_stream_fifo")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	rules.Refuse(p.DepthW < 2 || p.DepthW > 16, "DEPTH_W must be 2 to 16")
	rules.Refuse(p.Margin < 0 || p.Margin >= leaf.Pow2(p.DepthW), "MARGIN must be less than 2**DEPTH_W")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_stream_fifo")
	if err != nil {
		return nil, err
	}
	entries := ram.Memory{Name: "inc_mem_bypass", Words: leaf.Pow2(p.DepthW), Bits: p.Width, AddrW: p.DepthW}
	memory, err := entries.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_stream_fifo: %w", err)
	}
	return &graph.Module{
		Name: "inc_stream_fifo", Block: "", Source: source, Latency: "3 cycles",
		Purpose: "deep queue in RAM",
		Params: []graph.Param{
			{Name: "WIDTH", Value: p.Width},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "MARGIN", Value: p.Margin},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("push", 1),
			leaf.In("push_data", p.Width),
			leaf.Out("room", 1),
			leaf.Out("valid", 1),
			leaf.Out("data", p.Width),
			leaf.In("pop", 1),
		},
		Memories:   []graph.Memory{entries.At("u_mem", "queue")},
		Submodules: []*graph.Module{memory},
	}, nil
}
