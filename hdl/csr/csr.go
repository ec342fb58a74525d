// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"fmt"
	"slices"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// CSR is inc_csr: the registers behind an AXI4-Lite slave. Its contract is the head of inc_csr.v.
type CSR struct {
	// AxilW: bits of a byte address, 16 to 18.
	AxilW int
	// ID and Version: values of the registers of these names.
	ID, Version int
	// Mode to Window: values of PARAM_MODE to PARAM_WINDOW_PACKETS; Groups and Ports are also how many there are.
	Mode, Bytes, Lanes, Groups, Members, Ports, MTUBytes, Slots, Window int
	// Arith: value of PARAM_ARITH.
	Arith int
	// IPID: reset value of IP_ID, 16 bits.
	IPID int
	// PortW: bits of a port number, 1 to 8.
	PortW int
	// EPW: bits of an endpoint's index in its group, 1 to 5.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// Counters: number of counters, as many as the mode has.
	Counters int
	// Park: 1 if groups can be parked, else 0.
	Park int
	// Timeout: reset value of PIPE_TIMEOUT in microseconds, 0 to 65,535; only Mode 3 has that register.
	Timeout int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p CSR) Module() (*graph.Module, error) {
	groupBits := max(p.EIW-p.EPW, 1)
	rules := leaf.NewRules("inc_csr")
	rules.Refuse(p.AxilW < 16 || p.AxilW > 18, "AXIL_W must be 16 to 18")
	rules.Refuse(p.Groups < 1 || p.Groups > 64 || p.EIW < p.EPW || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 64 and fit EI_W - EP_W bits")
	rules.Refuse(p.EPW < 1 || p.EPW > 5 || p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "EP_W must be 1 to 5 and MASK_W at most 2**EP_W")
	rules.Refuse(p.PortW < 1 || p.PortW > 8 || p.Ports < 1 || p.Ports > 32 || p.Ports > leaf.Pow2(p.PortW), "PORTS must be 1 to 32 and fit PORT_W bits")
	// in Mode I, which has Mode III's registers here, there are its own behind those of Mode III
	messages := p.Mode == 3 && p.Counters == len(contract.Params{Mode: 1, Park: p.Park != 0}.Counters())
	rules.Refuse(!messages && p.Counters != len(contract.Params{Mode: p.Mode, Park: p.Park != 0}.Counters()), "COUNTERS must be the number of the mode's counters")
	rules.Refuse(p.Timeout < 0 || p.Timeout > 65535, "TIMEOUT must be 0 to 65535")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.SourceParking(files, "inc_csr", p.Park != 0)
	if err != nil {
		return nil, err
	}
	memory, err := ram.OnePort{Words: leaf.Pow2(groupBits + 4), Bits: 32, AddrW: groupBits + 4}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_csr: %w", err)
	}
	counters := Counters{Counters: p.Counters, HalfW: 32}
	counting, err := counters.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_csr: %w", err)
	}
	return &graph.Module{
		Name: "inc_csr", Block: "Registers", Source: source, Latency: "4 cycles",
		Purpose: "the registers behind an AXI4-Lite slave",
		Params: []graph.Param{
			{Name: "AXIL_W", Value: p.AxilW},
			{Name: "ID", Value: p.ID},
			{Name: "VERSION", Value: p.Version},
			{Name: "MODE", Value: p.Mode},
			{Name: "BYTES", Value: p.Bytes},
			{Name: "LANES", Value: p.Lanes},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "MEMBERS", Value: p.Members},
			{Name: "PORTS", Value: p.Ports},
			{Name: "MTU_BYTES", Value: p.MTUBytes},
			{Name: "SLOTS", Value: p.Slots},
			{Name: "WINDOW", Value: p.Window},
			{Name: "ARITH", Value: p.Arith},
			{Name: "IP_ID", Value: p.IPID},
			{Name: "PORT_W", Value: p.PortW},
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "COUNTERS", Value: p.Counters},
			{Name: "TIMEOUT", Value: p.Timeout},
		},
		Ports: p.ports(),
		Memories: append(counters.memories("u_counters."),
			graph.Memory{Path: "u_group_copy", Words: leaf.Pow2(groupBits + 4), Bits: 32, Role: "table", Module: "inc_ram_1rw", OnePort: true}),
		Submodules: []*graph.Module{counting, memory},
	}, nil
}

// ports are those of the Verilog: the AXI4-Lite slave, settings and tables for the other blocks, states and counters.
func (p CSR) ports() []graph.Port {
	var parking []graph.Port
	if p.Park != 0 {
		parking = []graph.Port{
			leaf.Out("cfg_park_rnr", 1), leaf.Out("cfg_park_timer", 5), leaf.Out("grp_park", p.Groups), leaf.Out("grp_unpark", p.Groups),
			leaf.In("grp_parked", p.Groups), leaf.In("grp_undrained", p.Groups),
		}
	}
	return slices.Concat([]graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.In("s_axil_awaddr", p.AxilW),
		leaf.In("s_axil_awvalid", 1),
		leaf.Out("s_axil_awready", 1),
		leaf.In("s_axil_wdata", 32),
		leaf.In("s_axil_wstrb", 4),
		leaf.In("s_axil_wvalid", 1),
		leaf.Out("s_axil_wready", 1),
		leaf.Out("s_axil_bresp", 2),
		leaf.Out("s_axil_bvalid", 1),
		leaf.In("s_axil_bready", 1),
		leaf.In("s_axil_araddr", p.AxilW),
		leaf.In("s_axil_arvalid", 1),
		leaf.Out("s_axil_arready", 1),
		leaf.Out("s_axil_rdata", 32),
		leaf.Out("s_axil_rresp", 2),
		leaf.Out("s_axil_rvalid", 1),
		leaf.In("s_axil_rready", 1),
		leaf.Out("ready", 1),
		leaf.Out("cfg_gap_nak", 1),
		leaf.Out("cfg_foreign_bypass", 1),
		leaf.Out("cfg_ip_id", 16),
		leaf.Out("cfg_bypass_port", p.Ports*p.PortW),
		leaf.Out("cfg_rnr_timer", 5),
		leaf.Out("cfg_rnr", 1),
		leaf.Out("cfg_cnp", 1),
		leaf.Out("cfg_timeout", 16),
		leaf.Out("inject_valid", 1),
		leaf.Out("inject_flips", 2),
		leaf.Out("tbl_ep_we", 1),
		leaf.In("tbl_waits", 1),
		leaf.Out("tbl_grp_we", 1),
		leaf.Out("tbl_index", p.EIW),
		leaf.Out("tbl_word", 4),
		leaf.Out("tbl_data", 32),
		leaf.Out("get_lookup", 1),
		leaf.Out("get_translate", 1),
		leaf.Out("get_index", p.EIW),
		leaf.Out("get_word", 4),
		leaf.In("got_lookup", 1),
		leaf.In("got_lookup_data", 32),
		leaf.In("got_translate", 1),
		leaf.In("got_translate_data", 32),
		leaf.Out("grp_enable", p.Groups),
		leaf.Out("grp_start", p.Groups),
		leaf.In("grp_busy", p.Groups),
		leaf.In("grp_live", p.Groups),
		leaf.In("grp_refused", p.Groups),
		leaf.In("grp_overlap", p.Groups),
	}, parking, []graph.Port{
		leaf.In("grp_failed", p.Groups*p.MaskW),
		leaf.In("count", p.Counters),
		leaf.In("count_fanout", 1),
		leaf.In("count_ack_copy", 1),
		leaf.In("count_frame", 1),
		leaf.In("count_corrected", 1),
		leaf.In("count_double", 1),
	})
}
