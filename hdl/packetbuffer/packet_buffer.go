// SPDX-License-Identifier: Apache-2.0

package packetbuffer

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/hdl/stream"
)

// PacketBuffer is inc_packet_buffer: keeps a frame's payload until its ICRC is known. Its contract is the head of inc_packet_buffer.v.
type PacketBuffer struct {
	// Bytes: bytes of a word.
	Bytes int
	// AddrW: log2 of the number of words, 4 to 20.
	AddrW int
	// DepthW: log2 of the number of verdicts, 4 to 10.
	DepthW int
	// EOFDelay: EOFDelay of the parser, 0 to 15: how long before eof_valid the frame's words had all come.
	EOFDelay int
	// Margin: words that may still come when room has fallen; 1 to 2**ADDR_W - 2.
	Margin int
	// ECC: its memory has check bits (package ecc), and says of a word that it is lost.
	ECC bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PacketBuffer) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_packet_buffer")
	rules.Refuse(p.Bytes < 1, "BYTES must be at least 1")
	rules.Refuse(p.AddrW < 4 || p.AddrW > 20, "ADDR_W must be 4 to 20")
	rules.Refuse(p.Margin < 1 || p.Margin >= leaf.Pow2(p.AddrW)-1, "MARGIN must be 1 to 2**ADDR_W - 2")
	rules.Refuse(p.DepthW < 4 || p.DepthW > 10, "DEPTH_W must be 4 to 10")
	rules.Refuse(p.EOFDelay < 0 || p.EOFDelay > 15, "EOF_DELAY must be 0 to 15")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	macros, bad := []string{}, []graph.Port{}
	if p.ECC {
		macros, bad = append(macros, leaf.ECCMacro), append(bad, leaf.Out("rd_bad", 1))
	}
	source, err := leaf.SourceWith(files, "inc_packet_buffer", macros...)
	if err != nil {
		return nil, err
	}
	words := ram.Memory{Name: "inc_mem_packets", Words: leaf.Pow2(p.AddrW), Bits: 8 * p.Bytes, AddrW: p.AddrW, Flag: p.ECC}
	memory, err := words.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_packet_buffer: %w", err)
	}
	fifo, err := stream.FIFO{Width: p.AddrW + 3, DepthW: p.DepthW, Margin: 8, Head: 1}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_packet_buffer: %w", err)
	}
	return &graph.Module{
		Name: "inc_packet_buffer", Block: "PacketBuffer", Source: source, Latency: "2 cycles",
		Purpose: "keeps a frame's payload until its ICRC is known",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "ADDR_W", Value: p.AddrW},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "EOF_DELAY", Value: p.EOFDelay},
			{Name: "MARGIN", Value: p.Margin},
		},
		Ports: append([]graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.Out("room", 1),
			leaf.In("pay_valid", 1),
			leaf.In("pay_data", 8*p.Bytes),
			leaf.In("eof_valid", 1),
			leaf.In("eof_err", 1),
			leaf.In("eof_len_ok", 1),
			leaf.In("eof_icrc_ok", 1),
			leaf.Out("vrd_valid", 1),
			leaf.In("vrd_pop", 1),
			leaf.Out("vrd_err", 1),
			leaf.Out("vrd_len_ok", 1),
			leaf.Out("vrd_icrc_ok", 1),
			leaf.Out("vrd_end", p.AddrW),
			leaf.Out("newest", p.AddrW),
			leaf.In("oldest", p.AddrW),
			leaf.In("rd_en", 1),
			leaf.In("rd_addr", p.AddrW),
			leaf.Out("rd_data", 8*p.Bytes),
		}, bad...),
		Memories:   []graph.Memory{words.At("u_words", "packet")},
		Submodules: []*graph.Module{memory, fifo},
	}, nil
}
