// SPDX-License-Identifier: Apache-2.0

package sendmessage

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// AskAck is inc_ask_ack: it clears AckReq in the headers of copies that are not asked for an acknowledgement. Its contract is the head of inc_ask_ack.v.
type AskAck struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// DepthW: log2 of the number of decisions that may wait, 1 to 10.
	DepthW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p AskAck) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ask_ack")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W, EP_W at most EI_W")
	rules.Refuse(p.DepthW < 1 || p.DepthW > 10, "DEPTH_W must be 1 to 10")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_ask_ack")
	if err != nil {
		return nil, err
	}
	submodules, err := modules(stream.FIFO{Width: 2 * p.MaskW, DepthW: p.DepthW})
	if err != nil {
		return nil, fmt.Errorf("inc_ask_ack: %w", err)
	}
	return &graph.Module{
		Name: "inc_ask_ack", Block: "TranslateHeader", Source: source, Latency: "0 cycles",
		Purpose: "clears AckReq in the headers of copies that are not asked",
		Params: []graph.Param{
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "DEPTH_W", Value: p.DepthW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("tx_valid", 1),
			leaf.In("tx_mask", p.MaskW),
			leaf.In("tx_ask", p.MaskW),
			leaf.In("req_valid", 1),
			leaf.In("req_ready", 1),
			leaf.In("req_ei", p.EIW),
			leaf.In("hdr_pop", 1),
			leaf.In("hdr_bytes", 8*58),
			leaf.Out("asked_bytes", 8*58),
		},
		Submodules: submodules,
	}, nil
}
