// SPDX-License-Identifier: Apache-2.0

package checkmessage

import (
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// CutWork is inc_cut_work: cuts works on payload into units. Its contract is the head of inc_cut_work.v.
type CutWork struct {
	// UnitWords: words of a unit, a power of two.
	UnitWords int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// AddsW: bits of the number of units that are added.
	AddsW int
	// UnitW: bits of a unit's number, at least 1.
	UnitW int
	// Planes: payloads of a unit: 1, or the pairs of endpoints.
	Planes int
	// PktW: bits of a word's address in the packet buffer.
	PktW int
	// Tree: 1 if contributions are kept by pairs, Halves: 1 if there are element types of 16 bits, else 0.
	Tree, Halves int
}

// partBits are the bits of the number of words of a unit.
func (p CutWork) partBits() int { return leaf.Clog2(p.UnitWords) + 1 }

// Module describes it, or says why the parameters are illegal.
func (p CutWork) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_cut_work")
	rules.Refuse(p.UnitWords < 1 || p.UnitWords&(p.UnitWords-1) != 0 || p.WordsW < p.partBits() || p.PktW < p.partBits(),
		"UNIT_WORDS must be a power of two of PART_W - 1 bits, at most a payload's words and the packet buffer's")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_cut_work")
	if err != nil {
		return nil, err
	}
	pair := leaf.IndexBits(p.Planes)
	// a work; what is read is for this block to say
	op := func(prefix string, turn func(string, int) graph.Port, words int, read ...graph.Port) []graph.Port {
		return slices.Concat([]graph.Port{turn(prefix+"_start", p.PktW), turn(prefix+"_imm", 1), turn(prefix+"_words", words), turn(prefix+"_slot", p.UnitW),
			turn(prefix+"_pair", pair)}, read, []graph.Port{turn(prefix+"_take", 1), turn(prefix+"_write", 1), turn(prefix+"_emit", 1),
			turn(prefix+"_reduce", 1), turn(prefix+"_pairs", p.Planes), turn(prefix+"_function", 2), turn(prefix+"_dtype", 2),
			turn(prefix+"_big_endian", 1)})
	}
	ports := slices.Concat(
		[]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.Out("in_ready", 1), leaf.In("in_valid", 1), leaf.In("in_spec", 1),
			leaf.In("in_commit", 1), leaf.In("in_kill", 1)}, op("in", leaf.In, p.WordsW),
		[]graph.Port{leaf.In("in_adds", p.AddsW), leaf.In("in_oldest", p.PktW), leaf.In("op_ready", 1), leaf.Out("op_valid", 1),
			leaf.Out("op_spec", 1), leaf.Out("op_commit", 1), leaf.Out("op_kill", 1)},
		op("op", leaf.Out, p.partBits(), leaf.Out("op_read", 1)), []graph.Port{leaf.Out("oldest", p.PktW)})
	return &graph.Module{
		Name: "inc_cut_work", Block: "CutWork", Source: source, Latency: "0 cycles",
		Purpose: "cuts a work on a packet's payload into units, and says which are added",
		Params: []graph.Param{
			{Name: "UNIT_WORDS", Value: p.UnitWords}, {Name: "WORDS_W", Value: p.WordsW}, {Name: "PART_W", Value: p.partBits()},
			{Name: "ADDS_W", Value: p.AddsW}, {Name: "UNIT_W", Value: p.UnitW}, {Name: "PAIR_W", Value: pair}, {Name: "PLANES", Value: p.Planes},
			{Name: "PKT_W", Value: p.PktW}, {Name: "TREE", Value: p.Tree}, {Name: "HALVES", Value: p.Halves},
		},
		Ports: ports,
	}, nil
}

// AckAsked is inc_ack_asked: the AckReq bits of frames that wait for their decision. Its contract is the head of inc_ack_asked.v.
type AckAsked struct {
	// Bytes: bytes of a beat, a power of two.
	Bytes int
	// DepthW: log2 of the number of frames that may wait, 1 to 10.
	DepthW int
}

// Module describes it, or says why the parameters are illegal.
func (p AckAsked) Module() (*graph.Module, error) {
	queue, err := stream.FIFO{Width: 1, DepthW: p.DepthW}.Module()
	if err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_ack_asked")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_ack_asked", Block: "AckAsked", Source: source, Latency: "1 cycle",
		Purpose: "whether packets ask for an acknowledgement, until they are decided",
		Params:  []graph.Param{{Name: "BYTES", Value: p.Bytes}, {Name: "DEPTH_W", Value: p.DepthW}},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("raw_valid", 1), leaf.In("raw_data", 8*p.Bytes), leaf.In("raw_last", 1),
			leaf.In("frm_gone", 1), leaf.Out("frm_asks", 1),
		},
		Submodules: []*graph.Module{queue},
	}, nil
}
