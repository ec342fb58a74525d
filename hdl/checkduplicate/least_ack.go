// SPDX-License-Identifier: Apache-2.0

package checkduplicate

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// LeastAck is inc_least_ack: the minimum that a Broadcast's acknowledgement leaves. Its contract is the head of inc_least_ack.v.
type LeastAck struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
}

// Module describes it, or says why the parameter is illegal.
func (p LeastAck) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_least_ack")
	rules.Refuse(p.EPW < 1, "EP_W must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_least_ack")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_least_ack", Source: source, Latency: "2 cycles",
		Purpose: "the minimum that a Broadcast's acknowledgement leaves",
		Params:  []graph.Param{{Name: "EP_W", Value: p.EPW}},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("ack_rd", 1), leaf.In("ack_ready", 1), leaf.In("ack_own", 24), leaf.In("ack_own_msn", 24), leaf.In("ack_rest", 24),
			leaf.In("ack_rest_msn", 24), leaf.In("ack_rest_any", 1), leaf.In("ack_rest_ep", p.EPW),
			leaf.In("endpoint", p.EPW), leaf.In("counts", 1), leaf.In("number", 24), leaf.In("msn", 24), leaf.In("psn", 24),
			leaf.In("ranged", 1), leaf.In("range_before", 24), leaf.In("range_begin", 24), leaf.In("range_end", 24),
			leaf.Out("ready", 1), leaf.Out("rose", 1), leaf.Out("covered", 1), leaf.Out("least", 24), leaf.Out("least_msn", 24),
		},
	}, nil
}
