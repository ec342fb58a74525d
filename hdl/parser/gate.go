// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Gate is inc_gate: high while all of its inputs are. Its contract is the head of inc_gate.v.
type Gate struct {
	// Width: number of inputs, at least 1.
	Width int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Gate) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_gate")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_gate")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_gate", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "high while all of its inputs are",
		Params: []graph.Param{
			{Name: "WIDTH", Value: p.Width},
		},
		Ports: []graph.Port{
			leaf.In("each", p.Width),
			leaf.Out("all", 1),
		},
	}, nil
}
