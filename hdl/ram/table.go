// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Table is inc_table: a table that is read for frames and written by the control plane now and then. Its contract is the head of
// inc_table.v.
type Table struct {
	// Words: number of words, at least 2.
	Words int
	// Bits: bits of a word, at least 1.
	Bits int
	// AddrW: bits of an address; 2**ADDR_W >= WORDS.
	AddrW int
	// OnePort: 1: a memory of one port, whose reader waits for writes.
	OnePort int
	// Block: 1: block RAM, however few words there are; not with OnePort.
	Block int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Table) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_table")
	rules.Refuse(p.OnePort < 0 || p.OnePort > 1, "ONE_PORT must be 0 or 1")
	rules.Refuse(p.Block < 0 || p.Block+p.OnePort > 1, "BLOCK must be 0 or 1, and 0 with ONE_PORT")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	built, err := RAM{Words: p.Words, Bits: p.Bits, AddrW: p.AddrW, Style: p.Block}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_table: %w", err)
	}
	other, err := OnePort{Words: p.Words, Bits: p.Bits, AddrW: p.AddrW}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_table: %w", err)
	}
	if p.OnePort != 0 {
		built, other = other, built
	}
	source, err := leaf.Source(files, "inc_table")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_table", Block: "", Source: source, Latency: "1 cycle",
		Purpose: "a table that is read for frames and written now and then",
		Params: []graph.Param{
			{Name: "WORDS", Value: p.Words},
			{Name: "BITS", Value: p.Bits},
			{Name: "ADDR_W", Value: p.AddrW},
			{Name: "ONE_PORT", Value: p.OnePort},
			{Name: "BLOCK", Value: p.Block},
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
		Memories:   []graph.Memory{p.At("", "table")},
		Submodules: []*graph.Module{built},
		Unbuilt:    []*graph.Module{other},
	}, nil
}

// At is how a module describes that it holds this table: path is the table's instance in it.
func (p Table) At(path, role string) graph.Memory {
	if path != "" {
		path += "."
	}
	if p.OnePort != 0 {
		return graph.Memory{Path: path + "gen_one.u_ram", Words: p.Words, Bits: p.Bits, Role: role, Module: "inc_ram_1rw", OnePort: true}
	}
	branch := "gen_two"
	if p.Block != 0 {
		branch = "gen_block"
	}
	return graph.Memory{Path: path + branch + ".u_ram", Words: p.Words, Bits: p.Bits, Role: role, Module: "inc_ram_1r1w"}
}
