// SPDX-License-Identifier: Apache-2.0

package sendack

import (
	"fmt"

	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// SendAck is inc_send_ack: the receive side of every endpoint. Its contract is the head of inc_send_ack.v.
type SendAck struct {
	// EIW: bits of an endpoint's index in the table, 1 to 23.
	EIW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p SendAck) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_send_ack")
	rules.Refuse(p.EIW < 1 || p.EIW > 23, "EI_W must be 1 to 23")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_send_ack")
	if err != nil {
		return nil, err
	}
	memory, err := ram.RAM{Words: leaf.Pow2(p.EIW), Bits: 49, AddrW: p.EIW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_send_ack: %w", err)
	}
	ahead, err := decider.LookAhead{Bits: 49}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_send_ack: %w", err)
	}
	return &graph.Module{
		Name: "inc_send_ack", Block: "SendAck", Source: source, Latency: "2 cycles",
		Purpose: "what every endpoint sends next, and what its data is answered with",
		Params: []graph.Param{
			{Name: "EI_W", Value: p.EIW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("cfg_rnr_timer", 5),
			leaf.In("cfg_rnr", 1),
			leaf.In("cfg_cnp", 1),
			leaf.In("init_we", 1),
			leaf.In("init_ei", p.EIW),
			leaf.In("init_psn", 24),
			leaf.In("rcv_rd", 1),
			leaf.In("rcv_ei", p.EIW),
			leaf.In("rcv_follows", 1),
			leaf.In("rcv_written", 1),
			leaf.In("rcv_redo", 1),
			leaf.In("rcv_psn", 24),
			leaf.In("rcv_ends", 1),
			leaf.In("rcv_host", 1),
			leaf.Out("rcv_behind", 1),
			leaf.Out("rcv_expected", 1),
			leaf.In("rcv_go", 1),
			leaf.In("rcv_duplicate", 1),
			leaf.In("rcv_gap", 1),
			leaf.In("rcv_full", 1),
			leaf.In("rcv_accept", 1),
			leaf.In("rcv_we", 1),
			leaf.Out("ans_ack", 1),
			leaf.Out("ans_nak", 1),
			leaf.Out("ans_rnr", 1),
			leaf.Out("ans_cnp", 1),
			leaf.Out("ans_psn", 24),
			leaf.Out("ans_syndrome", 8),
			leaf.Out("ans_msn", 24),
		},
		Memories: []graph.Memory{
			{Path: "u_endpoints", Words: leaf.Pow2(p.EIW), Bits: 49, Role: "state", Module: "inc_ram_1r1w"},
		},
		Submodules: []*graph.Module{memory, ahead},
	}, nil
}
