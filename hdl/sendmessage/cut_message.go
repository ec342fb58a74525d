// SPDX-License-Identifier: Apache-2.0

package sendmessage

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// CutMessage is inc_cut_message: a complete message cut by a path MTU. Its contract is the head of inc_cut_message.v.
type CutMessage struct {
	// Bytes of a word, a power of two.
	Bytes int
	// LenW: bits of a payload length.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// OffW: bits of a message's length.
	OffW int
	// PosW: bits of a place in a message.
	PosW int
	// UnitBytes: bytes of a unit, a power of two of at least 256 and Bytes.
	UnitBytes int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p CutMessage) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_cut_message")
	unit, word := leaf.Clog2(p.UnitBytes), leaf.Clog2(p.Bytes)
	rules.Refuse(p.Bytes < 1 || leaf.Pow2(word) != p.Bytes || leaf.Pow2(unit) != p.UnitBytes || p.UnitBytes < 256 || p.UnitBytes < p.Bytes,
		"BYTES and U_BYTES must be powers of two, U_BYTES at least 256 and BYTES")
	rules.Refuse(p.OffW <= unit || p.OffW > 24 || p.PosW != posBits(p.OffW, p.UnitBytes),
		"OFF_W must be more than a unit's bits and at most 24, POS_W what it has beyond them")
	rules.Refuse(p.LenW <= unit || p.LenW > 16 || p.WordsW < 1 || p.WordsW+word < p.LenW,
		"LEN_W must be more than a unit's bits and at most 16, WORDS_W enough for its words")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_cut_message")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_cut_message", Block: "", Source: source, Latency: "2 cycles",
		Purpose: "the packet at a place of a message, and whether it is the last",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "OFF_W", Value: p.OffW},
			{Name: "POS_W", Value: p.PosW},
			{Name: "U_BYTES", Value: p.UnitBytes},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("pos", p.PosW),
			leaf.In("code", 3),
			leaf.In("length", p.OffW),
			leaf.Out("last", 1),
			leaf.Out("plen", p.LenW),
			leaf.Out("words", p.WordsW),
			leaf.Out("pad", 2),
		},
	}, nil
}
