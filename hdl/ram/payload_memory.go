// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Payload is inc_payload_memory: the payload rows of all slots. Its contract is the head of inc_payload_memory.v.
type Payload struct {
	// Rows: number of rows, at least 2 a bank.
	Rows int
	// Bits of a row, a multiple of 32; with ECC 32, 64 or a multiple of 128.
	Bits int
	// AddrW: bits of a row's number; 2**ADDR_W >= ROWS.
	AddrW int
	// Banks: 1: one memory with two ports; 2, 4, 8 or 16: so many with one.
	Banks int
	// ECC is 1 if rows are kept with check bits, else 0.
	ECC int
	// Style: how the memories are built, as in RAM.
	Style int
}

// A row that is a multiple of wideWord bits is kept in codewords of so many data bits. They take 12 check bits in
// place of 72, which is a twentieth of the memory, and a deeper correction: rows of an FPGA are narrower, and its memories have spare bits.
const wideWord = 1024

// word is how many data bits a codeword has.
func (p Payload) word() int {
	if p.Bits%wideWord == 0 {
		return wideWord
	}
	return min(p.Bits, 128)
}

// StoredBits is how many bits a row takes in memory, check bits included.
func (p Payload) StoredBits() int {
	if p.ECC == 0 {
		return p.Bits
	}
	return p.Bits / p.word() * (p.word() + checkBits(p.word()))
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Payload) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_payload_memory")
	banks := p.Banks == 1 || p.Banks == 2 || p.Banks == 4 || p.Banks == 8 || p.Banks == 16
	rules.Refuse(!banks, "BANKS must be 1, 2, 4, 8 or 16")
	rules.Refuse(p.Rows < 2*p.Banks, "ROWS must be at least 2 * BANKS")
	rules.Refuse(p.Bits < 32 || p.Bits%32 != 0, "BITS must be a multiple of 32")
	rules.Refuse(p.ECC != 0 && p.Bits != 32 && p.Bits != 64 && p.Bits%128 != 0, "with ECC, BITS must be 32, 64 or a multiple of 128")
	rules.Refuse(p.ECC != 0 && p.ECC != 1, "ECC must be 0 or 1")
	rules.Refuse(p.AddrW < 1 || p.AddrW > 30 || leaf.Pow2(p.AddrW) < p.Rows, "2**ADDR_W must be at least ROWS")
	rules.Refuse(p.Style < 0 || p.Style > 2, "STYLE must be 0, 1 or 2")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_payload_memory")
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: "inc_payload_memory", Block: "", Source: source, Latency: "1 cycle, with ECC 2",
		Purpose: "the payload rows of all slots, in one memory or in banks, with or without error correction",
		Params: []graph.Param{
			{Name: "ROWS", Value: p.Rows},
			{Name: "BITS", Value: p.Bits},
			{Name: "ADDR_W", Value: p.AddrW},
			{Name: "BANKS", Value: p.Banks},
			{Name: "ECC", Value: p.ECC},
			{Name: "STYLE", Value: p.Style},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("we", 1),
			leaf.In("waddr", p.AddrW),
			leaf.In("wdata", p.Bits),
			leaf.In("wpoison", 1),
			leaf.In("re", 1),
			leaf.In("raddr", p.AddrW),
			leaf.Out("re_ready", 1),
			leaf.In("move", 1),
			leaf.Out("rdata", p.Bits),
			leaf.Out("r_corrected", 1),
			leaf.Out("r_poison", 1),
			leaf.In("inject", 2),
		},
	}
	memory := Memory{
		Name: "inc_mem_payload_2p", Words: p.Rows, Bits: p.StoredBits(), AddrW: p.AddrW, Style: p.Style,
	}
	if p.Banks > 1 {
		memory.Name = "inc_mem_payload_1p"
		memory.Words = (p.Rows + p.Banks - 1) / p.Banks
		memory.AddrW = p.AddrW - leaf.Clog2(p.Banks)
	}
	parts := []graph.Describer{memory}
	if p.ECC == 1 {
		parts = append(parts, Encode{p.word()}, Decode{p.word()})
	}
	for _, d := range parts {
		sub, err := d.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_payload_memory: %w", err)
		}
		m.Submodules = append(m.Submodules, sub)
	}
	for i := range p.Banks {
		path := "gen_one.u_mem"
		if p.Banks > 1 {
			path = fmt.Sprintf("gen_banks.gen_bank[%d].u_mem", i)
		}
		m.Memories = append(m.Memories, memory.At(path, "payload"))
	}
	return m, nil
}
