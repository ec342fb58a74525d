// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// FIFO is inc_fifo: shallow queue with its head in view. Its contract is the head of inc_fifo.v.
type FIFO struct {
	// Width: bits of an entry, at least 1.
	Width int
	// DepthW: log2 of the number of entries, 1 to 10.
	DepthW int
	// Margin: entries kept free for pushes already under way; 0 to 2**DEPTH_W - 1.
	Margin int
	// Head: so many of the head's lowest bits stand in flip-flops; 0 to WIDTH.
	Head int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p FIFO) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_fifo")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	rules.Refuse(p.DepthW < 1 || p.DepthW > 10, "DEPTH_W must be 1 to 10")
	rules.Refuse(p.Margin < 0 || p.Margin >= leaf.Pow2(p.DepthW), "MARGIN must be less than 2**DEPTH_W")
	rules.Refuse(p.Head < 0 || p.Head > p.Width, "HEAD must be 0 to WIDTH")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_fifo")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_fifo", Block: "", Source: source, Latency: "1 cycle",
		Purpose: "shallow queue with its head in view",
		Params: []graph.Param{
			{Name: "WIDTH", Value: p.Width},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "MARGIN", Value: p.Margin},
			{Name: "HEAD", Value: p.Head},
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
	}, nil
}
