// SPDX-License-Identifier: Apache-2.0

package aggregatedata

import (
	"fmt"

	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/rtlgen/graph"
)

// AggregateData is inc_aggregate_data: adds a frame's words to its slot's. Its contract is the head of inc_aggregate_data.v.
type AggregateData struct {
	// Bytes: bytes of a word, a multiple of 4.
	Bytes int
	// Slots: number of slots.
	Slots int
	// SlotW: bits of a slot's number.
	SlotW int
	// MTUWords: words of a slot, a power of two, at least 2.
	MTUWords int
	// WordsW: bits that hold 0 to MTU_WORDS.
	WordsW int
	// PktW: bits of a word's address in the packet buffer.
	PktW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p AggregateData) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_aggregate_data")
	rules.Refuse(p.Bytes < 4 || p.Bytes%4 != 0, "BYTES must be a multiple of 4")
	rules.Refuse(p.SlotW < 1 || p.Slots < 2 || p.Slots > leaf.Pow2(p.SlotW), "SLOTS must be 2 to 2**SLOT_W")
	rules.Refuse(p.MTUWords < 2 || p.MTUWords != leaf.Pow2(p.WordsW-1), "MTU_WORDS must be a power of two of WORDS_W - 1 bits, at least 2")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_aggregate_data")
	if err != nil {
		return nil, err
	}
	memory, err := ram.RAM{Words: p.Slots * p.MTUWords, Bits: 8 * p.Bytes, AddrW: p.SlotW + p.WordsW - 1}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_aggregate_data: %w", err)
	}
	lanes, err := Lanes{Lanes: p.Bytes / 4}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_aggregate_data: %w", err)
	}
	return &graph.Module{
		Name: "inc_aggregate_data", Block: "AggregateData", Source: source, Latency: "3 cycles",
		Purpose: "adds a frame's words to its slot's",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "SLOTS", Value: p.Slots},
			{Name: "SLOT_W", Value: p.SlotW},
			{Name: "MTU_WORDS", Value: p.MTUWords},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "PKT_W", Value: p.PktW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.Out("op_ready", 1),
			leaf.In("op_valid", 1),
			leaf.In("op_spec", 1),
			leaf.In("op_commit", 1),
			leaf.In("op_kill", 1),
			leaf.In("op_start", p.PktW),
			leaf.In("op_words", p.WordsW),
			leaf.In("op_slot", p.SlotW),
			leaf.In("op_read", 1),
			leaf.In("op_take", 1),
			leaf.In("op_write", 1),
			leaf.In("op_emit", 1),
			leaf.In("op_big_endian", 1),
			leaf.In("pkt_start", p.PktW),
			leaf.Out("oldest", p.PktW),
			leaf.In("newest", p.PktW),
			leaf.Out("rd_en", 1),
			leaf.Out("rd_addr", p.PktW),
			leaf.In("rd_data", 8*p.Bytes),
			leaf.In("emit_room", 1),
			leaf.Out("emit_valid", 1),
			leaf.Out("emit_data", 8*p.Bytes),
		},
		Memories: []graph.Memory{
			{Path: "u_payload", Words: p.Slots * p.MTUWords, Bits: 8 * p.Bytes, Role: "payload", Module: "inc_ram_1r1w"},
		},
		Submodules: []*graph.Module{memory, lanes},
	}, nil
}
