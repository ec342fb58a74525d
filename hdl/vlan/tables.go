// SPDX-License-Identifier: Apache-2.0

package vlan

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/hdl/stream"
)

// Table says for which endpoints there are records.
type Table struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of {group, index}; EP_W or more, at most 23.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EP_W.
	MaskW int
	// Groups: groups; the table has room for MaskW endpoints of each.
	Groups int
}

func (t Table) index() ram.EndpointIndex {
	return ram.EndpointIndex{EPW: t.EPW, EIW: t.EIW, MaskW: t.MaskW, Groups: t.Groups}
}

// refuse are the rules that the blocks with tables have in common.
func (t Table) refuse(rules *leaf.Rules) {
	rules.Refuse(t.EPW < 1 || t.EIW < t.EPW || t.EIW > 23, "EI_W must be EP_W to 23")
	rules.Refuse(t.MaskW < 1 || t.MaskW > leaf.Pow2(t.EPW), "MASK_W must be at most 2**EP_W")
	t.refuseGroups(rules)
}

func (t Table) refuseGroups(rules *leaf.Rules) {
	rules.Refuse(t.Groups < 1 || t.Groups > leaf.Pow2(max(t.EIW-t.EPW, 0)) || t.Groups*t.MaskW < 2, "GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least")
}

func (t Table) params() []graph.Param {
	return []graph.Param{{Name: "EP_W", Value: t.EPW}, {Name: "EI_W", Value: t.EIW}, {Name: "MASK_W", Value: t.MaskW}, {Name: "GROUPS", Value: t.Groups}}
}

// writes are the ports by which a table is written, from the block's side.
func (t Table) writes(in func(string, int) graph.Port) []graph.Port {
	return []graph.Port{in("tbl_we", 1), in("tbl_index", t.EIW), in("tbl_data", TagBits)}
}

// module is a block with a table and queues.
func (t Table) module(name, purpose, latency string, params []graph.Param, ports []graph.Port, queues ...stream.FIFO) (*graph.Module, error) {
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	words := t.index().Words()
	parts := []graph.Describer{t.index(), ram.RAM{Words: words, Bits: TagBits, AddrW: t.index().IndexW()}}
	for _, q := range queues {
		parts = append(parts, q)
	}
	m := &graph.Module{Name: name, Source: source, Latency: latency, Purpose: purpose, Params: params, Ports: ports,
		Memories: []graph.Memory{{Path: "u_table", Words: words, Bits: TagBits, Role: "table", Module: "inc_ram_1r1w"}}}
	for _, p := range parts {
		sub, err := p.Module()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.Submodules = append(m.Submodules, sub)
	}
	return m, nil
}

// Check is inc_vlan_check: has frames with a wrong tag dropped. Its contract is the head of inc_vlan_check.v.
type Check struct {
	Table
	// DepthW: log2 of the number of frames that may wait for their decision, 4 to 9.
	DepthW int
	// Late: 1 if the ICRC's verdict comes a cycle before eof_*, else 0.
	Late int
	// Counters: number of counters; RxError: which of them counts frames that came with err.
	Counters, RxError int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Check) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_vlan_check")
	p.refuse(rules)
	rules.Refuse(p.DepthW < 4 || p.DepthW > 9, "DEPTH_W must be 4 to 9")
	rules.Refuse(p.Late < 0 || p.Late > 1, "LATE must be 0 or 1")
	rules.Refuse(p.Counters < 2 || p.RxError < 0 || p.RxError >= p.Counters, "RX_ERROR must be one of the COUNTERS")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	ports := append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}, p.writes(leaf.In)...)
	ports = append(ports,
		leaf.In("hdr_valid", 1), leaf.In("hdr_tag", TagBits), leaf.In("hdr_qpn", 24), leaf.Out("fwd_tag", TagBits),
		leaf.In("eof_valid", 1), leaf.In("eof_err", 1), leaf.In("eof_icrc_ok", 1), leaf.Out("end_err", 1), leaf.Out("end_icrc_ok", 1),
		leaf.In("vrd_pop", 1), leaf.In("count", p.Counters), leaf.Out("counted", p.Counters), leaf.Out("dropped", 1))
	return p.module("inc_vlan_check", "has frames with a wrong tag dropped", "1 cycle", append(p.params(), graph.Param{Name: "DEPTH_W", Value: p.DepthW},
		graph.Param{Name: "LATE", Value: p.Late}, graph.Param{Name: "COUNTERS", Value: p.Counters}, graph.Param{Name: "RX_ERROR", Value: p.RxError}),
		ports, stream.FIFO{Width: 1, DepthW: 4}, stream.FIFO{Width: 1, DepthW: p.DepthW + 1})
}

// Pick is inc_vlan_pick: finds the tag of a frame that the engine makes. Its contract is the head of inc_vlan_pick.v.
type Pick struct{ Table }

// Module describes it, or says every reason why the parameters are illegal.
func (p Pick) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_vlan_pick")
	p.refuse(rules)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	ports := append([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}, p.writes(leaf.In)...)
	ports = append(ports, leaf.In("req_valid", 1), leaf.In("req_ready", 1), leaf.In("req_ei", p.EIW), leaf.In("hdr_pop", 1), leaf.Out("hdr_tag", TagBits))
	return p.module("inc_vlan_pick", "finds the tag of a frame that the engine makes", "2 cycles", p.params(), ports, stream.FIFO{Width: TagBits, DepthW: 2})
}
