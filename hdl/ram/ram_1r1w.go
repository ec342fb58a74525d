// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"incforge/hdl/leaf"
	"incforge/rtlgen/graph"
)

// RAM is inc_ram_1r1w: memory with one write and one read port. Its contract is the head of inc_ram_1r1w.v.
type RAM struct {
	// Words: number of words, at least 2.
	Words int
	// Bits: bits of a word, at least 1.
	Bits int
	// AddrW: bits of an address; 2**ADDR_W >= WORDS.
	AddrW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p RAM) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ram_1r1w")
	rules.Refuse(p.Words < 2, "WORDS must be at least 2")
	rules.Refuse(p.Bits < 1, "BITS must be at least 1")
	rules.Refuse(p.AddrW < 1 || p.AddrW > 30 || leaf.Pow2(p.AddrW) < p.Words, "2**ADDR_W must be at least WORDS")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_ram_1r1w")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_ram_1r1w", Block: "", Source: source, Latency: "1 cycle",
		Purpose: "memory with one write and one read port",
		Params: []graph.Param{
			{Name: "WORDS", Value: p.Words},
			{Name: "BITS", Value: p.Bits},
			{Name: "ADDR_W", Value: p.AddrW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("we", 1),
			leaf.In("waddr", p.AddrW),
			leaf.In("wdata", p.Bits),
			leaf.In("re", 1),
			leaf.In("raddr", p.AddrW),
			leaf.Out("rdata", p.Bits),
		},
		Memories: []graph.Memory{{Words: p.Words, Bits: p.Bits, Role: "memory"}},
	}, nil
}
