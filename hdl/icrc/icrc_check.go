// SPDX-License-Identifier: Apache-2.0

package icrc

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Check is inc_icrc_check: checks the ICRC of frames that come in. Its contract is the head of inc_icrc_check.v.
type Check struct {
	// Bytes: bytes of a beat; a power of two, 8 to 2048.
	Bytes int
	// Init: CRC register before the Ethernet header's 14 zeroed bytes, so that behind them it is what eight 0xFF bytes leave.
	Init int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Check) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_icrc_check")
	rules.Refuse(p.Bytes < 8 || p.Bytes > 2048 || leaf.Pow2(leaf.Clog2(p.Bytes)) != p.Bytes, bytesRule)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_icrc_check")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_icrc_check", Block: "Parser (ICRC)", Source: source, Latency: latency("1 cycle", "2 cycles", p.Bytes),
		Purpose: "checks the ICRC of frames that come in",
		Params: []graph.Param{
			{Name: "BYTES", Value: p.Bytes},
			{Name: "INIT", Value: p.Init},
		},
		Ports: []graph.Port{
			leaf.In("clk", 1),
			leaf.In("crc_valid", 1),
			leaf.In("crc_first", 1),
			leaf.In("crc_data", 8*p.Bytes),
			leaf.In("crc_tail", leaf.Clog2(p.Bytes)),
			leaf.Out("step_en", 1),
			leaf.Out("step_data", 8*p.Bytes),
			leaf.Out("step_state", 32),
			leaf.In("step_next", 32),
			leaf.Out("residue_tail", leaf.Clog2(p.Bytes)),
			leaf.In("residue", 32),
			leaf.Out("icrc_ok", 1),
		},
	}, nil
}
