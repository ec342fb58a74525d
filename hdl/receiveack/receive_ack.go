// SPDX-License-Identifier: Apache-2.0

package receiveack

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// ReceiveAck is inc_receive_ack: what every endpoint has acknowledged, and the minimum. Its contract is the head of inc_receive_ack.v.
type ReceiveAck struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// Groups: number of groups; at most 2**(EIW-EPW).
	Groups int
	// Stages: register stages of the minimum's tree, 1 to 4.
	Stages int
	// OnePort: 1 if the words are in a memory of one port, else 0.
	OnePort int
	// Behind: 1 if what is committed is written a cycle later, else 0; 0 with OnePort.
	Behind int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p ReceiveAck) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_receive_ack")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W")
	rules.Refuse(p.Stages < 1 || p.Stages > 4, "STAGES must be 1 to 4")
	rules.Refuse(p.OnePort < 0 || p.OnePort > 1, "ONE_PORT must be 0 or 1")
	rules.Refuse(p.Behind < 0 || p.Behind > 1-p.OnePort, "BEHIND must be 0, or 1 with two ports")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_receive_ack")
	if err != nil {
		return nil, err
	}
	groupBits := max(p.EIW-p.EPW, 1)
	words := ram.Table{Words: leaf.Pow2(groupBits), Bits: 48 * p.MaskW, AddrW: groupBits, OnePort: p.OnePort}
	table, err := words.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_receive_ack: %w", err)
	}
	return &graph.Module{
		Name: "inc_receive_ack", Block: "ReceiveACK", Source: source, Latency: "1 cycle, the minimum STAGES + 1",
		Purpose: "what every endpoint has acknowledged, and the minimum",
		Params: []graph.Param{
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "STAGES", Value: p.Stages},
			{Name: "ONE_PORT", Value: p.OnePort},
			{Name: "BEHIND", Value: p.Behind},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("init_valid", 1),
			leaf.Out("init_take", 1),
			leaf.In("init_group", groupBits),
			leaf.In("init_psn", 24),
			leaf.Out("init_waits", 1),
			leaf.In("ack_rd", 1),
			leaf.In("ack_group", groupBits),
			leaf.In("ack_self", p.MaskW),
			leaf.In("ack_mask", p.MaskW),
			leaf.In("ack_pick", p.MaskW),
			leaf.Out("ack_ready", 1),
			leaf.Out("ack_picked", 24),
			leaf.Out("ack_picked_msn", 24),
			leaf.Out("ack_rest", 24),
			leaf.Out("ack_rest_msn", 24),
			leaf.Out("ack_rest_any", 1),
			leaf.Out("ack_rest_ep", p.EPW),
			leaf.Out("ack_own", 24),
			leaf.Out("ack_own_msn", 24),
			leaf.In("ack_we", 1),
			leaf.In("ack_lift", 1),
			leaf.In("ack_psn", 24),
			leaf.In("ack_msn", 24),
		},
		Memories:   []graph.Memory{words.At("u_acks", "state")},
		Submodules: []*graph.Module{table},
	}, nil
}
