// SPDX-License-Identifier: Apache-2.0

package messagecsr

import (
	"fmt"
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// MessageCSR is inc_message_csr: the registers that Mode I adds. Its contract is the head of inc_message_csr.v.
type MessageCSR struct {
	// AxilW: bits of a byte address, 16 to 18.
	AxilW int
	// MessageBytes, Window, MTUBytes: parameters message_bytes, window_messages and mtu_bytes. Least: the least path MTU.
	MessageBytes, Window, MTUBytes, Least int
	// Groups: number of groups, 1 to 64.
	Groups int
	// EPW: bits of an endpoint's index in its group, 1 to 5. EIW: in the table. MaskW: of an endpoint mask; at most 2**EPW.
	EPW, EIW, MaskW int
	// Poison: 1 if a double error of the payload memory ends what its group sends, else 0.
	Poison int
	// Release: 1 if groups may ask for releases, else 0.
	Release int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p MessageCSR) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_message_csr")
	rules.Refuse(p.AxilW < 16 || p.AxilW > 18, "AXIL_W must be 16 to 18")
	rules.Refuse(p.Groups < 1 || p.Groups > 64 || p.EIW < p.EPW || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 64 and fit EI_W - EP_W bits")
	rules.Refuse(p.EPW < 1 || p.EPW > 5 || p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "EP_W must be 1 to 5 and MASK_W at most 2**EP_W")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	var macros []string
	if p.Poison != 0 {
		macros = append(macros, leaf.PoisonMacro)
	}
	if p.Release != 0 {
		macros = append(macros, leaf.ReleaseMacro)
	}
	source, err := leaf.SourceWith(files, "inc_message_csr", macros...)
	if err != nil {
		return nil, err
	}
	at := ram.EndpointIndex{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups}
	index, err := at.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_message_csr: %w", err)
	}
	memory, err := ram.RAM{Words: max(at.Words(), 2), Bits: 24, AddrW: at.IndexW()}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_message_csr: %w", err)
	}
	table := func(path string, bits int) graph.Memory {
		return graph.Memory{Path: path, Words: max(at.Words(), 2), Bits: bits, Role: "table", Module: "inc_ram_1r1w"}
	}
	return &graph.Module{
		Name: "inc_message_csr", Block: "Registers", Source: source, Latency: "4 cycles",
		Purpose: "the registers that Mode I adds",
		Params: []graph.Param{
			{Name: "AXIL_W", Value: p.AxilW}, {Name: "MESSAGE_BYTES", Value: p.MessageBytes}, {Name: "WINDOW", Value: p.Window},
			{Name: "MTU_BYTES", Value: p.MTUBytes}, {Name: "LEAST", Value: p.Least}, {Name: "GROUPS", Value: p.Groups}, {Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW}, {Name: "MASK_W", Value: p.MaskW},
		},
		Ports:      p.ports(),
		Memories:   []graph.Memory{table("u_rq_psn", 24), table("u_sq_psn", 24), table("u_path_mtu", 13)},
		Submodules: []*graph.Module{memory, index},
	}, nil
}

// axil are an AXI4-Lite slave's signals, or seen from the other end a master's.
func (p MessageCSR) axil(prefix string, in, out func(string, int) graph.Port) []graph.Port {
	return []graph.Port{
		in(prefix+"_awaddr", p.AxilW), in(prefix+"_awvalid", 1), out(prefix+"_awready", 1),
		in(prefix+"_wdata", 32), in(prefix+"_wstrb", 4), in(prefix+"_wvalid", 1), out(prefix+"_wready", 1),
		out(prefix+"_bresp", 2), out(prefix+"_bvalid", 1), in(prefix+"_bready", 1),
		in(prefix+"_araddr", p.AxilW), in(prefix+"_arvalid", 1), out(prefix+"_arready", 1),
		out(prefix+"_rdata", 32), out(prefix+"_rresp", 2), out(prefix+"_rvalid", 1), in(prefix+"_rready", 1),
	}
}

// ports are those of the Verilog: both slaves, tables on their way, groups.
func (p MessageCSR) ports() []graph.Port {
	var poisoned, releases []graph.Port
	if p.Poison != 0 {
		poisoned = []graph.Port{leaf.In("grp_poisoned", p.Groups)}
	}
	if p.Release != 0 {
		releases = []graph.Port{leaf.Out("grp_release", p.Groups), leaf.Out("grp_iteration", 23*p.Groups)}
	}
	return slices.Concat(
		[]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)},
		p.axil("s_axil", leaf.In, leaf.Out),
		p.axil("m_axil", leaf.Out, leaf.In),
		[]graph.Port{
			leaf.In("ready", 1), leaf.Out("cfg_ack_every", 8),
			leaf.In("tbl_ep_we", 1), leaf.In("tbl_grp_we", 1), leaf.In("tbl_index", p.EIW), leaf.In("tbl_word", 4), leaf.In("tbl_data", 32),
			leaf.Out("out_ep_we", 1), leaf.Out("out_index", p.EIW), leaf.Out("out_word", 4), leaf.Out("out_data", 32),
			leaf.In("grp_enable", p.Groups), leaf.In("grp_start", p.Groups), leaf.In("in_refused", p.Groups), leaf.Out("grp_refused", p.Groups), leaf.Out("grp_whole", p.Groups),
			leaf.In("in_overlap", p.Groups), leaf.Out("grp_overlap", p.Groups),
		},
		poisoned,
		releases,
		[]graph.Port{leaf.In("grp_invalid", p.Groups*p.MaskW)})
}
