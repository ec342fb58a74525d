// SPDX-License-Identifier: Apache-2.0

package translateheader

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// TranslateHeader is inc_translate_header: writes the header of a frame from the out endpoint's record. Its contract is the head of inc_translate_header.v.
type TranslateHeader struct {
	// PortW: bits of a port number, 1 to 8.
	PortW int
	// LenW: bits of a payload length, at most 15.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// EPW: bits of an endpoint's number in its group.
	EPW int
	// EIW: bits of {group, number}.
	EIW int
	// MaskW: endpoints of a group.
	MaskW int
	// Groups: groups.
	Groups int
	// InBand: 1 if there are in-band groups, and offsets, else 0.
	InBand int
	// Single: 1 if an endpoint has one offset, for all ranges and both directions, else 0.
	Single int
	// Late: 1 if the last additions, of an offset and of the IP header's sum, are behind the header's register, so that the tables' memories
	// have the cycle before it to themselves, else 0.
	Late int
	// Block: 1 if the MACs' tables are block RAM, else 0; not with OnePort.
	Block int
	// OneBeat: 1 if frames may be of one beat, so that a header is popped in each cycle, else 0.
	OneBeat int
	// OnePort: 1 if tables and offsets are in memories of one port, whose writes make requests wait, else 0.
	OnePort int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p TranslateHeader) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_translate_header")
	rules.Refuse(p.PortW < 1 || p.PortW > 8, "PORT_W must be 1 to 8")
	rules.Refuse(p.LenW < 1 || p.LenW > 15, "LEN_W must be 1 to 15")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W, EP_W at most EI_W")
	rules.Refuse(p.Groups < 1 || p.Groups > leaf.Pow2(max(p.EIW-p.EPW, 0)) || p.Groups*p.MaskW < 2, "GROUPS must be 1 to 2**(EI_W - EP_W), and two endpoints at least")
	rules.Refuse(p.InBand < 0 || p.InBand > 1, "IN_BAND must be 0 or 1")
	rules.Refuse(p.Single < 0 || p.Single > 1, "SINGLE must be 0 or 1")
	rules.Refuse(p.Late < 0 || p.Late > 1, "LATE must be 0 or 1")
	rules.Refuse(p.OneBeat < 0 || p.OneBeat > 1, "ONE_BEAT must be 0 or 1")
	rules.Refuse(p.Block < 0 || p.Block+p.OnePort > 1, "BLOCK must be 0 or 1, and 0 with ONE_PORT")
	rules.Refuse(p.OnePort < 0 || p.OnePort > 1, "ONE_PORT must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_translate_header")
	if err != nil {
		return nil, err
	}
	at := ram.EndpointIndex{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups}
	index, err := at.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_translate_header: %w", err)
	}
	memory, err := p.table(at.Words(), p.PortW).Module()
	if err != nil {
		return nil, fmt.Errorf("inc_translate_header: %w", err)
	}
	module := &graph.Module{
		Name: "inc_translate_header", Block: "TranslateHeader", Source: source, Latency: "2 cycles",
		Purpose: "writes the header of a frame from the out endpoint's record",
		Params: []graph.Param{
			{Name: "PORT_W", Value: p.PortW},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "IN_BAND", Value: p.InBand},
			{Name: "SINGLE", Value: p.Single},
			{Name: "LATE", Value: p.Late},
			{Name: "BLOCK", Value: p.Block},
			{Name: "ONE_BEAT", Value: p.OneBeat},
			{Name: "ONE_PORT", Value: p.OnePort},
		},
		Ports: p.ports(),
		Memories: []graph.Memory{
			p.table(at.Words(), p.PortW).At("u_port", "table"),
			p.table(at.Words(), 24).At("u_remote_qpn", "table"),
			p.table(at.Words(), 32).At("u_local_ip", "table"),
			p.table(at.Words(), 32).At("u_remote_ip", "table"),
			p.mac(at.Words(), 32).At("u_local_mac_lo", "table"),
			p.mac(at.Words(), 16).At("u_local_mac_hi", "table"),
			p.mac(at.Words(), 32).At("u_remote_mac_lo", "table"),
			p.mac(at.Words(), 16).At("u_remote_mac_hi", "table"),
			p.table(at.Words(), 32).At("u_header", "table"),
		},
		Submodules: []*graph.Module{memory, index},
	}
	switch {
	case p.InBand == 0:
	case p.Single != 0:
		module.Memories = append(module.Memories, p.table(at.Words(), 24).At("gen_in_band.gen_single.u_offsets", "state"))
	default:
		module.Memories = append(module.Memories, p.table(4*at.Words(), 48).At("gen_in_band.gen_ranges.u_offsets", "state"))
	}
	return module, nil
}

// table is one of its tables.
func (p TranslateHeader) table(words, bits int) ram.Table {
	return ram.Table{Words: words, Bits: bits, AddrW: leaf.IndexBits(words), OnePort: p.OnePort}
}

// mac is one that holds a part of a MAC.
func (p TranslateHeader) mac(words, bits int) ram.Table {
	t := p.table(words, bits)
	t.Block = p.Block
	return t
}

// ports are those of the Verilog: requests in, headers out, the tables to be written.
func (p TranslateHeader) ports() []graph.Port {
	return []graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.In("cfg_ip_id", 16),
		leaf.In("tbl_ep_we", 1),
		leaf.In("tbl_index", p.EIW),
		leaf.In("tbl_word", 4),
		leaf.In("tbl_data", 32),
		leaf.In("get_valid", 1),
		leaf.In("get_index", p.EIW),
		leaf.In("get_word", 4),
		leaf.Out("got", 1),
		leaf.Out("got_data", 32),
		leaf.In("off_we", 1),
		leaf.In("off_ei", p.EIW),
		leaf.In("off_rng", 2),
		leaf.In("off_in", 24),
		leaf.In("off_out", 24),
		leaf.Out("req_ready", 1),
		leaf.In("req_valid", 1),
		leaf.In("req_ei", p.EIW),
		leaf.In("req_opcode", 8),
		leaf.In("req_se", 1),
		leaf.In("req_pad", 2),
		leaf.In("req_ce", 1),
		leaf.In("req_psn", 24),
		leaf.In("req_in_band", 1),
		leaf.In("req_rng", 2),
		leaf.In("req_dir", 1),
		leaf.In("req_ext", 32),
		leaf.In("req_plen", p.LenW),
		leaf.In("req_words", p.WordsW),
		leaf.Out("hdr_valid", 1),
		leaf.In("hdr_pop", 1),
		leaf.Out("hdr_port", p.PortW),
		leaf.Out("hdr_bytes", 8*58),
		leaf.Out("hdr_sum_a", 16),
		leaf.Out("hdr_sum_b", 16),
		leaf.Out("hdr_long", 1),
		leaf.Out("hdr_plen", p.LenW),
		leaf.Out("hdr_words", p.WordsW),
		leaf.Out("hdr_covered", 16),
		leaf.Out("hdr_total", 16),
	}
}
