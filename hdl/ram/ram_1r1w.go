// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"bytes"
	"fmt"

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
	// Style: how the array is built: 0 as the tool chooses, but tables of up to 64 words from distributed RAM; 1 block RAM;
	// 2 registers. Instances leave it at the module's default, which Default sets.
	Style int
}

// Default returns the module's source with another default of STYLE, for a whole design at once.
func Default(source []byte, style int) ([]byte, error) {
	const line = "parameter STYLE  = 0"
	if bytes.Count(source, []byte(line)) != 1 {
		return nil, fmt.Errorf("inc_ram_1r1w: its source does not hold %q once", line)
	}
	return bytes.Replace(source, []byte(line), fmt.Appendf(nil, "parameter STYLE  = %d", style), 1), nil
}

// Module describes it, or says every reason why the parameters are illegal.
func (p RAM) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ram_1r1w")
	rules.Refuse(p.Words < 2, "WORDS must be at least 2")
	rules.Refuse(p.Bits < 1, "BITS must be at least 1")
	rules.Refuse(p.AddrW < 1 || p.AddrW > 30 || leaf.Pow2(p.AddrW) < p.Words, "2**ADDR_W must be at least WORDS")
	rules.Refuse(p.Style < 0 || p.Style > 2, "STYLE must be 0, 1 or 2")
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
			{Name: "STYLE", Value: p.Style},
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
