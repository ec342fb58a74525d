// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Assemble is inc_assemble: joins header and payload to the beats of a frame. Its contract is the head of inc_assemble.v.
type Assemble struct {
	// Bytes: bytes of a beat; a power of two, 8 to 2048.
	Bytes int
	// PortW: bits of a port number.
	PortW int
	// LenW: bits of a payload length.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Assemble) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_assemble")
	rules.Refuse(p.Bytes < 8 || p.Bytes > 2048 || 1<<leaf.Clog2(p.Bytes) != p.Bytes, "BYTES must be a power of two, 8 to 2048")
	rules.Refuse(p.LenW < 1 || p.LenW > 15 || p.LenW < leaf.Clog2(p.Bytes), "LEN_W must be 1 to 15")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_assemble")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_assemble", Block: "Forward (assemble)", Source: source, Latency: "1 cycle",
		Purpose: "joins header and payload to the beats of a frame",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("hdr_valid", 1),
			leaf.Out("hdr_pop", 1),
			leaf.In("hdr_port", p.PortW),
			leaf.In("hdr_bytes", 8*58),
			leaf.In("hdr_sum_a", 16),
			leaf.In("hdr_sum_b", 16),
			leaf.In("hdr_long", 1),
			leaf.In("hdr_plen", p.LenW),
			leaf.In("hdr_words", p.WordsW),
			leaf.In("hdr_covered", 16),
			leaf.In("hdr_total", 16),
			leaf.In("word_valid", 1),
			leaf.Out("word_ready", 1),
			leaf.In("word_data", 8*p.Bytes),
			leaf.In("word_bad", 1),
			leaf.Out("m_valid", 1),
			leaf.In("m_ready", 1),
			leaf.Out("m_data", 8*p.Bytes),
			leaf.Out("m_check", 16),
			leaf.Out("m_size", leaf.Clog2(p.Bytes)),
			leaf.Out("m_first", 1),
			leaf.Out("m_last", 1),
			leaf.Out("m_port", p.PortW),
			leaf.Out("m_front", max(64/p.Bytes, 1)),
			leaf.Out("m_left", 17),
			leaf.Out("m_bad", 1),
		},
	}, nil
}
