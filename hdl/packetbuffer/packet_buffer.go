// SPDX-License-Identifier: Apache-2.0

package packetbuffer

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/parser"
	"incforge/hdl/ram"
	"incforge/hdl/stream"
)

// PacketBuffer is inc_packet_buffer: keeps frames until they are added or have left. Its contract is the head of inc_packet_buffer.v.
type PacketBuffer struct {
	// Bytes: bytes of a beat, a power of two of at least 8.
	Bytes int
	// AddrW: log2 of the number of beats, 4 to 20.
	AddrW int
	// DepthW: log2 of the number of verdicts, 4 to 10.
	DepthW int
	// EOFDelay: EOFDelay of the parser, 0 to 15: eof_valid comes a cycle more than that behind the frame's last beat.
	EOFDelay int
	// Margin: beats that may still come when room has fallen; 1 to 2**ADDR_W - 2.
	Margin int
	// ECC: its memories have check bits (package ecc), and say of a word that it is lost.
	ECC bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PacketBuffer) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_packet_buffer")
	rules.Refuse(p.Bytes < 8 || leaf.Pow2(leaf.Clog2(p.Bytes)) != p.Bytes, "BYTES must be a power of two of at least 8")
	rules.Refuse(p.AddrW < 4 || p.AddrW > 20, "ADDR_W must be 4 to 20")
	rules.Refuse(p.Margin < 1 || p.Margin >= leaf.Pow2(p.AddrW)-1, "MARGIN must be 1 to 2**ADDR_W - 2")
	rules.Refuse(p.DepthW < 4 || p.DepthW > 10, "DEPTH_W must be 4 to 10")
	rules.Refuse(p.EOFDelay < 0 || p.EOFDelay > 15, "EOF_DELAY must be 0 to 15")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	macros, bad := []string{}, []graph.Port{}
	if p.ECC {
		macros, bad = append(macros, leaf.ECCMacro), append(bad, leaf.Out("rd_bad", 1), leaf.Out("byp_bad", 1))
	}
	source, err := leaf.SourceWith(files, "inc_packet_buffer", macros...)
	if err != nil {
		return nil, err
	}
	memories, inside, err := p.columns()
	if err != nil {
		return nil, fmt.Errorf("inc_packet_buffer: %w", err)
	}
	fifo, err := stream.FIFO{Width: p.AddrW + 3, DepthW: p.DepthW, Margin: 8, Head: 1}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_packet_buffer: %w", err)
	}
	return &graph.Module{
		Name: "inc_packet_buffer", Block: "PacketBuffer", Source: source, Latency: "2 cycles",
		Purpose: "keeps frames until their payload is added or they have left",
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
			leaf.Out("room_beats", 1),
			leaf.In("raw_valid", 1),
			leaf.In("raw_store", 1),
			leaf.In("raw_imm", 1),
			leaf.In("raw_data", 8*p.Bytes),
			leaf.In("raw_last", 1),
			leaf.Out("raw_end", p.AddrW),
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
			leaf.In("rd_again", 1),
			leaf.In("rd_imm", 1),
			leaf.In("rd_addr", p.AddrW),
			leaf.In("rd_next", p.AddrW),
			leaf.Out("rd_data", 8*p.Bytes),
			leaf.Out("rd_there", 1),
			leaf.Out("byp_fill", p.AddrW),
			leaf.In("byp_from", p.AddrW),
			leaf.In("byp_alone", 1),
			leaf.In("byp_re", 1),
			leaf.In("byp_addr", p.AddrW),
			leaf.Out("byp_data", 8*p.Bytes),
		}, bad...),
		Memories:   memories,
		Submodules: append(inside, fifo),
	}, nil
}

// columns are the memories side by side that make the ring, cut where payload words begin; the last has the bit that tells how a beat lies in it.
func (p PacketBuffer) columns() (memories []graph.Memory, inside []*graph.Module, err error) {
	start, high := parser.Start%p.Bytes, p.Bytes-(parser.StartImm-parser.Start)
	first, second := min(start, high), max(start, high)
	for _, column := range []struct {
		path string
		bits int
	}{{"u_low", 8 * first}, {"u_mid", 8 * (second - first)}, {"u_high", 8*(p.Bytes-second) + 1}} {
		words := ram.Memory{Name: "inc_mem_packets", Words: leaf.Pow2(p.AddrW), Bits: column.bits, AddrW: p.AddrW, Flag: p.ECC}
		memory, err := words.Module()
		if err != nil {
			return nil, nil, err
		}
		memories, inside = append(memories, words.At(column.path, "packet")), append(inside, memory)
	}
	return memories, inside, nil
}
