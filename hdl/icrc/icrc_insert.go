// SPDX-License-Identifier: Apache-2.0

package icrc

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Insert is inc_icrc_insert: computes the ICRC of frames that the engine makes. Its contract is the head of inc_icrc_insert.v.
type Insert struct {
	// Bytes: bytes of a beat; a power of two, 8 to 2048.
	Bytes int
	// PortW: bits of a port number.
	PortW int
	// Init: CRC register before the Ethernet header's 14 zeroed bytes.
	Init int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Insert) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_icrc_insert")
	rules.Refuse(p.Bytes < 8 || p.Bytes > 2048 || leaf.Pow2(leaf.Clog2(p.Bytes)) != p.Bytes, bytesRule)
	rules.Refuse(p.PortW < 1, "PORT_W must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_icrc_insert")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_icrc_insert", Block: "Forward (ICRC)", Source: source, Latency: p.latency(),
		Purpose: "computes the ICRC of frames that the engine makes",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "INIT", Value: p.Init},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("rst", 1),
			leaf.In("s_valid", 1),
			leaf.Out("s_ready", 1),
			leaf.In("s_data", 8*p.Bytes),
			leaf.In("s_check", 16),
			leaf.In("s_size", leaf.Clog2(p.Bytes)),
			leaf.In("s_first", 1),
			leaf.In("s_last", 1),
			leaf.In("s_port", p.PortW),
			leaf.In("s_front", max(64/p.Bytes, 1)),
			leaf.In("s_left", 17),
			leaf.In("s_bad", 1),
			leaf.Out("step_en", 1),
			leaf.Out("step_data", 8*p.Bytes),
			leaf.Out("step_state", 32),
			leaf.In("step_next", 32),
			leaf.Out("tail_en", 1),
			leaf.Out("tail_index", leaf.Clog2(p.Bytes)-2),
			leaf.Out("tail_state", 32),
			leaf.In("tail_crc", 32),
			leaf.Out("m_valid", 1),
			leaf.In("m_ready", 1),
			leaf.Out("m_data", 8*p.Bytes),
			leaf.Out("m_size", leaf.Clog2(p.Bytes)),
			leaf.Out("m_last", 1),
			leaf.Out("m_port", p.PortW),
		},
	}, nil
}

// latency is a beat's way in the words of the contract's head.
func (p Insert) latency() string {
	if p.Bytes == 64 {
		return "1 cycle"
	}
	return "2 cycles"
}
