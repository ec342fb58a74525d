// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Skid is inc_skid: cuts the ready path of a stream. Its contract is the head of inc_skid.v.
type Skid struct {
	// Width: bits of a beat with all its sidebands, at least 1.
	Width int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Skid) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_skid")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_skid")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_skid", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "cuts the ready path of a stream",
		Params: []graph.Param{
			{Name: "WIDTH", Value: p.Width},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("s_data", p.Width),
			leaf.In("s_valid", 1),
			leaf.Out("s_ready", 1),
			leaf.Out("m_data", p.Width),
			leaf.Out("m_valid", 1),
			leaf.In("m_ready", 1),
		},
	}, nil
}
