// SPDX-License-Identifier: Apache-2.0

package recyclebuffer

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// StartTurn is inc_start_turn: has frames pause when a start has waited long for a cycle between them. Its contract is the head of inc_start_turn.v.
type StartTurn struct{}

// Module describes it.
func (StartTurn) Module() (*graph.Module, error) {
	source, err := leaf.Source(files, "inc_start_turn")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_start_turn", Block: "RecycleBuffer", Source: source, Latency: "16 cycles",
		Purpose: "has frames pause when a start has waited long for a cycle between them",
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("init_valid", 1), leaf.In("init_clean", 1), leaf.In("init_take", 1), leaf.Out("room", 1),
		},
	}, nil
}
