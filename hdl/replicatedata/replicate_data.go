// SPDX-License-Identifier: Apache-2.0

package replicatedata

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/hdl/stream"
)

// ReplicateData is inc_replicate_data: makes one frame per endpoint of each decision. Its contract is the head of inc_replicate_data.v.
type ReplicateData struct {
	// Bytes: bytes of a word.
	Bytes int
	// LenW: bits of a payload length.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EP_W.
	MaskW int
	// AddrW: log2 of the number of payload words kept, which are not fewer than a payload has; 1 to 20, at least WordsW - 1.
	AddrW int
	// DepthW: log2 of the number of decisions that may wait, 1 to 10.
	DepthW int
	// InBand: 1 if frames may be of in-band groups, else 0.
	InBand int
	// Flops: 1 if payload words wait in flip-flops, on an FPGA in distributed memory, 0 if in RAM.
	Flops int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p ReplicateData) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_replicate_data")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W, EP_W at most EI_W")
	rules.Refuse(p.AddrW < max(1, p.WordsW-1) || p.AddrW > 20, "ADDR_W must be 1 to 20, and at least WORDS_W - 1")
	rules.Refuse(p.InBand < 0 || p.InBand > 1, "IN_BAND must be 0 or 1")
	rules.Refuse(p.Flops < 0 || p.Flops > 1, "FLOPS must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_replicate_data")
	if err != nil {
		return nil, err
	}
	fifo, err := stream.FIFO{Width: 2 + p.EIW + p.MaskW + 8 + 1 + 2 + 1 + 24 + 32 + p.LenW + p.WordsW + 4*p.InBand, DepthW: p.DepthW, Margin: 0}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_replicate_data: %w", err)
	}
	submodules, memories, latency := []*graph.Module{fifo}, []graph.Memory(nil), "1 cycle to the header request, 1 to the payload"
	if p.Flops == 0 {
		words := ram.Memory{Name: "inc_mem_replay", Words: leaf.Pow2(p.AddrW), Bits: 8*p.Bytes + 1, AddrW: p.AddrW}
		memory, err := words.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_replicate_data: %w", err)
		}
		submodules, memories, latency = append(submodules, memory), []graph.Memory{words.At("gen_ram.u_payload", "replay")},
			"1 cycle to the header request, 2 to the payload"
	}
	return &graph.Module{
		Name: "inc_replicate_data", Block: "ReplicateData", Source: source, Latency: latency,
		Purpose: "makes one frame per endpoint of each decision",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "ADDR_W", Value: p.AddrW},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "IN_BAND", Value: p.InBand},
			{Name: "FLOPS", Value: p.Flops},
		},
		Ports:      p.ports(),
		Memories:   memories,
		Submodules: submodules,
	}, nil
}

// ports are those of the Verilog: decisions and payload in, header requests and payload out.
func (p ReplicateData) ports() []graph.Port {
	return []graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.Out("tx_room", 1),
		leaf.In("tx_valid", 1),
		leaf.In("tx_kind", 2),
		leaf.In("tx_ei", p.EIW),
		leaf.In("tx_mask", p.MaskW),
		leaf.In("tx_opcode", 8),
		leaf.In("tx_se", 1),
		leaf.In("tx_pad", 2),
		leaf.In("tx_ce", 1),
		leaf.In("tx_psn", 24),
		leaf.In("tx_in_band", 1),
		leaf.In("tx_rng", 2),
		leaf.In("tx_dir", 1),
		leaf.In("tx_ext", 32),
		leaf.In("tx_plen", p.LenW),
		leaf.In("tx_words", p.WordsW),
		leaf.Out("emit_room", 1),
		leaf.In("emit_valid", 1),
		leaf.In("emit_data", 8*p.Bytes),
		leaf.In("emit_bad", 1),
		leaf.In("req_ready", 1),
		leaf.Out("req_valid", 1),
		leaf.Out("req_ei", p.EIW),
		leaf.Out("req_opcode", 8),
		leaf.Out("req_se", 1),
		leaf.Out("req_pad", 2),
		leaf.Out("req_ce", 1),
		leaf.Out("req_psn", 24),
		leaf.Out("req_in_band", 1),
		leaf.Out("req_rng", 2),
		leaf.Out("req_dir", 1),
		leaf.Out("req_ext", 32),
		leaf.Out("req_plen", p.LenW),
		leaf.Out("req_words", p.WordsW),
		leaf.Out("word_valid", 1),
		leaf.In("word_ready", 1),
		leaf.Out("word_data", 8*p.Bytes),
		leaf.Out("word_bad", 1),
		leaf.Out("count_fanout", 1),
		leaf.Out("count_ack_copy", 1),
		leaf.Out("count_frame", 1),
	}
}
