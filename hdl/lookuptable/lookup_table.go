// SPDX-License-Identifier: Apache-2.0

package lookuptable

import (
	"fmt"
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/hdl/stream"
)

// LookupTable is inc_lookup_table: finds the endpoint and group of a frame by its destination QPN. Its contract is the head of inc_lookup_table.v.
type LookupTable struct {
	// PortW: bits of a port number, at least 1.
	PortW int
	// LenW: bits of a payload length.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of {group, index}; EP_W or more, at most 23.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EP_W and 32.
	MaskW int
	// Groups: groups; the table has room for MaskW endpoints of each.
	Groups int
	// SlotW: bits of a slot's number, at least 1.
	SlotW int
	// Ports: number of ports.
	Ports int
	// DepthW: log2 of the number of entries in the queue, 4 to 10.
	DepthW int
	// InBand: 1 if there are in-band groups, and routes, else 0.
	InBand int
	// OnePort: 1 if the endpoints' tables are in memories of one port, else 0.
	OnePort int
	// ECC: its memories have check bits (package ecc), and what they say counts only where somebody looks.
	ECC bool
}

// Module describes it, or says every reason why the parameters are illegal.
func (p LookupTable) Module() (*graph.Module, error) {
	groupBits := max(p.EIW-p.EPW, 1)
	rules := leaf.NewRules("inc_lookup_table")
	rules.Refuse(p.PortW < 1 || p.Ports < 1 || p.Ports > leaf.Pow2(p.PortW), "PORTS must be 1 to 2**PORT_W")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.EIW > 23, "EI_W must be EP_W to 23")
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW) || p.MaskW > 32, "MASK_W must be at most 2**EP_W and 32")
	rules.Refuse(p.Groups < 1 || p.Groups > leaf.Pow2(max(p.EIW-p.EPW, 0)) || p.Groups*p.MaskW < 2, "GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least")
	rules.Refuse(p.SlotW < 1 || p.SlotW > 24, "SLOT_W must be 1 to 24")
	rules.Refuse(p.DepthW < 4 || p.DepthW > 10, "DEPTH_W must be 4 to 10")
	rules.Refuse(p.InBand < 0 || p.InBand > 1, "IN_BAND must be 0 or 1")
	rules.Refuse(p.OnePort < 0 || p.OnePort > 1, "ONE_PORT must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	var macros []string
	if p.ECC {
		macros = append(macros, leaf.ECCMacro)
	}
	source, err := leaf.SourceWith(files, "inc_lookup_table", macros...)
	if err != nil {
		return nil, err
	}
	at := ram.EndpointIndex{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups}
	index, err := at.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_lookup_table: %w", err)
	}
	table, err := p.table(at, 10).Module()
	if err != nil {
		return nil, fmt.Errorf("inc_lookup_table: %w", err)
	}
	width := 1 + 1 + p.EIW + 1 + 3 + 6 + 8 + 1 + 2 + 1 + 24 + 32 + p.LenW + p.WordsW + p.SlotW + 5 + 4*p.MaskW + 8 + p.InBand*(p.MaskW+2)
	fifo, err := stream.FIFO{Width: width, DepthW: p.DepthW, Margin: 8}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_lookup_table: %w", err)
	}
	module := &graph.Module{
		Name: "inc_lookup_table", Block: "LookupTable", Source: source, Latency: "2 cycles",
		Purpose: "finds the endpoint and group of a frame by its destination QPN",
		Params: []graph.Param{
			{Name: "PORT_W", Value: p.PortW},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "SLOT_W", Value: p.SlotW},
			{Name: "PORTS", Value: p.Ports},
			{Name: "DEPTH_W", Value: p.DepthW},
			{Name: "IN_BAND", Value: p.InBand},
			{Name: "ONE_PORT", Value: p.OnePort},
		},
		Ports: p.ports(),
		Memories: []graph.Memory{
			p.table(at, 10).At("u_ep_ctrl", "table"),
			p.table(at, 24).At("u_ep_local_qpn", "table"),
			p.table(at, 32).At("u_ep_local_ip", "table"),
			p.table(at, 32).At("u_ep_remote_ip", "table"),
			p.group(groupBits, p.SlotW+5).At("u_grp_slots", "table"),
			p.group(groupBits, p.MaskW).At("u_grp_in_mask", "table"),
			p.group(groupBits, p.MaskW).At("u_grp_out_mask", "table"),
			p.group(groupBits, p.MaskW).At("u_grp_ack_mask", "table"),
			p.group(groupBits, 9).At("u_grp_parent", "table"),
			p.group(groupBits, 8+2*p.InBand).At("u_grp_collective", "table"),
		},
		Submodules: []*graph.Module{table, fifo, index},
	}
	if p.InBand != 0 {
		module.Memories = append(module.Memories, p.group(groupBits+3, 30).At("gen_in_band.u_grp_route", "table"))
	}
	return module, nil
}

// table is one of the endpoints' tables.
func (p LookupTable) table(at ram.EndpointIndex, bits int) ram.Table {
	return ram.Table{Words: at.Words(), Bits: bits, AddrW: at.IndexW(), OnePort: p.OnePort}
}

// group is one of the groups' tables, by an address of so many bits.
func (p LookupTable) group(addrW, bits int) ram.Table {
	return ram.Table{Words: leaf.Pow2(addrW), Bits: bits, AddrW: addrW, OnePort: p.OnePort}
}

// ports are those of the Verilog: parsed headers in, their context out, the tables to be written.
func (p LookupTable) ports() []graph.Port {
	return slices.Concat(p.tablePorts(), p.headerPorts(), []graph.Port{
		leaf.Out("fwd_valid", 1),
		leaf.Out("fwd_bypass", 1),
		leaf.Out("fwd_port", p.PortW),
		leaf.Out("ent_valid", 1),
		leaf.In("ent_pop", 1),
		leaf.Out("ent_bypass", 1),
		leaf.Out("ent_foreign", 1),
		leaf.Out("ent_ei", p.EIW),
		leaf.Out("ent_host", 1),
		leaf.Out("ent_up", 1),
		leaf.Out("ent_down", 1),
		leaf.Out("ent_ackable", 1),
		leaf.Out("ent_sum_ok", 1),
		leaf.Out("ent_len_ok", 1),
		leaf.Out("ent_tver_ok", 1),
		leaf.Out("ent_too_long", 1),
		leaf.Out("ent_whole", 1),
		leaf.Out("ent_empty", 1),
		leaf.Out("ent_opcode", 8),
		leaf.Out("ent_se", 1),
		leaf.Out("ent_pad", 2),
		leaf.Out("ent_ce", 1),
		leaf.Out("ent_psn", 24),
		leaf.Out("ent_ext", 32),
		leaf.Out("ent_plen", p.LenW),
		leaf.Out("ent_words", p.WordsW),
		leaf.Out("ent_base", p.SlotW),
		leaf.Out("ent_log2_n", 5),
		leaf.Out("ent_in_mask", p.MaskW),
		leaf.Out("ent_out_mask", p.MaskW),
		leaf.Out("ent_ack_mask", p.MaskW),
		leaf.Out("ent_parent_mask", p.MaskW),
		leaf.Out("ent_collective", 3),
		leaf.Out("ent_function", 2),
		leaf.Out("ent_dtype", 2),
		leaf.Out("ent_big_endian", 1),
		leaf.Out("ent_in_band", 1),
		leaf.Out("route_valid", 1),
		leaf.Out("route_mask", p.MaskW),
		leaf.Out("root_sends", 1),
	}, p.looked())
}

// tablePorts write the tables and read them.
func (p LookupTable) tablePorts() []graph.Port {
	return []graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.In("cfg_foreign_bypass", 1),
		leaf.In("cfg_bypass_port", p.Ports*p.PortW),
		leaf.In("tbl_ep_we", 1),
		leaf.Out("tbl_waits", 1),
		leaf.In("tbl_grp_we", 1),
		leaf.In("tbl_index", p.EIW),
		leaf.In("tbl_word", 4),
		leaf.In("tbl_data", 32),
		leaf.In("get_valid", 1),
		leaf.In("get_index", p.EIW),
		leaf.In("get_word", 4),
		leaf.Out("got", 1),
		leaf.Out("got_data", 32),
		leaf.Out("room", 1),
	}
}

// headerPorts are the parser's.
func (p LookupTable) headerPorts() []graph.Port {
	return []graph.Port{
		leaf.In("seek_valid", 1),
		leaf.In("seek_qpn", 24),
		leaf.In("seek_root", 5),
		leaf.In("hdr_valid", 1),
		leaf.In("hdr_port", p.PortW),
		leaf.In("hdr_rocev2", 1),
		leaf.In("hdr_qpn", 24),
		leaf.In("hdr_src_ip", 32),
		leaf.In("hdr_dst_ip", 32),
		leaf.In("hdr_pkey_ok", 1),
		leaf.In("hdr_ce", 1),
		leaf.In("hdr_sum_ok", 1),
		leaf.In("hdr_len_ok", 1),
		leaf.In("hdr_tver_ok", 1),
		leaf.In("hdr_opcode", 8),
		leaf.In("hdr_se", 1),
		leaf.In("hdr_pad", 2),
		leaf.In("hdr_psn", 24),
		leaf.In("hdr_ext", 32),
		leaf.In("hdr_too_long", 1),
		leaf.In("hdr_plen", p.LenW),
		leaf.In("hdr_words", p.WordsW),
	}
}

// looked is the port that only an engine has whose tables have check bits.
func (p LookupTable) looked() []graph.Port {
	if !p.ECC {
		return nil
	}
	return []graph.Port{leaf.Out("looked", 1)}
}
