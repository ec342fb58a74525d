// SPDX-License-Identifier: Apache-2.0

package sendmessage

import (
	"fmt"
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/hdl/retransmission"
)

// SendMessage is inc_send_message: the send side of every endpoint in Mode I. Its contract is the head of inc_send_message.v.
type SendMessage struct {
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// Groups: number of groups; at most 2**(EIW-EPW).
	Groups int
	// ClockMHz: cycles of a microsecond, 1 to 4095.
	ClockMHz int
	// Bytes of a word, a power of two.
	Bytes int
	// LenW: bits of a payload length.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// OffW: bits of a message's length, at most 24.
	OffW int
	// UnitW: bits of the number of a unit of payload memory.
	UnitW int
	// UnitBytes: bytes of a unit, the least path MTU: a power of two of 256 to 4096.
	UnitBytes int
	// Release: 1 if endpoints are sent releases, else 0.
	Release int
	// InBand: 1 if there are in-band groups, else 0.
	InBand int
}

// posBits are the bits of a unit's number in a message, and of one behind its last.
func posBits(offW, unitBytes int) int { return offW - leaf.Clog2(unitBytes) }

// Module describes it, or says every reason why the parameters are illegal.
func (p SendMessage) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_send_message")
	pos := posBits(p.OffW, p.UnitBytes)
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.MaskW < 1 || p.MaskW > leaf.Pow2(p.EPW), "MASK_W must be at most 2**EP_W")
	rules.Refuse(p.UnitBytes < 256 || p.UnitBytes > 4096 || leaf.Pow2(leaf.Clog2(p.UnitBytes)) != p.UnitBytes,
		"U_BYTES must be a power of two of 256 to 4096")
	rules.Refuse(p.OffW <= leaf.Clog2(p.UnitBytes) || p.OffW > 24 || p.UnitW < pos,
		"OFF_W must be more than a unit's bits and at most 24, UNIT_W enough for a slot's units")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	var macros []string
	if p.Release != 0 {
		macros = append(macros, leaf.ReleaseMacro)
	}
	if p.InBand != 0 {
		macros = append(macros, leaf.MessageRangesMacro)
	}
	source, err := leaf.SourceWith(files, "inc_send_message", macros...)
	if err != nil {
		return nil, err
	}
	submodules, err := modules(
		ram.RAM{Words: max(p.index().Words(), 2), Bits: 24, AddrW: p.index().IndexW()},
		retransmission.Retransmission{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups, ClockMHz: p.ClockMHz},
		CutMessage{Bytes: p.Bytes, LenW: p.LenW, WordsW: p.WordsW, OffW: p.OffW, PosW: pos, UnitBytes: p.UnitBytes},
		p.index())
	if err != nil {
		return nil, fmt.Errorf("inc_send_message: %w", err)
	}
	return &graph.Module{
		Name: "inc_send_message", Block: "Retransmission", Source: source, Latency: "3 cycles or more",
		Purpose: "what every endpoint is sent of its messages, and how far it has acknowledged them",
		Params: []graph.Param{
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "CLOCK_MHZ", Value: p.ClockMHz},
			{Name: "BYTES", Value: p.Bytes},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "WORDS_W", Value: p.WordsW},
			{Name: "OFF_W", Value: p.OffW},
			{Name: "UNIT_W", Value: p.UnitW},
			{Name: "U_BYTES", Value: p.UnitBytes},
		},
		Ports:      p.ports(),
		Memories:   append(p.memories(), submodules[1].Inside("u_repeat")...),
		Submodules: submodules,
	}, nil
}

// index is where tables keep an endpoint.
func (p SendMessage) index() ram.EndpointIndex {
	return ram.EndpointIndex{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups}
}

// codeBits is bits of log2 of the units of a packet.
func (p SendMessage) codeBits() int {
	return max(leaf.Clog2(p.LenW-leaf.Clog2(p.UnitBytes)), 1)
}

// memories are the tables: words by endpoint, and by group.
func (p SendMessage) memories() []graph.Memory {
	groups, ends, pos := leaf.Pow2(max(p.EIW-p.EPW, 1)), max(p.index().Words(), 2), posBits(p.OffW, p.UnitBytes)
	messages := max(p.UnitW-pos, 1)
	one := func(path string, words, bits int, role string) graph.Memory {
		return graph.Memory{Path: path, Words: words, Bits: bits, Role: role, Module: "inc_ram_1r1w"}
	}
	out := []graph.Memory{
		one("u_first", ends, 24, "table"),
		one("u_unacked", ends, 48+pos, "state"),
		one("u_later", ends, 24+pos, "state"),
		one("u_tails", ends, 48+pos, "state"),
		one("u_silent", groups, 4*p.MaskW, "state"),
	}
	if p.Release != 0 || p.InBand != 0 {
		out = append(out, one("u_gone", ends, 24, "state"))
	}
	if p.InBand != 0 {
		out = append(out, one("u_top", groups, 24, "state"))
	}
	for e := range p.MaskW {
		out = append(out, one(fmt.Sprintf("gen_mtu[%d].u_mtu", e), groups, p.codeBits(), "table"),
			one(fmt.Sprintf("gen_bound[%d].u_bound", e), groups<<messages, messages+pos, "state"))
	}
	return out
}

// modules describes several, in their order.
func modules(all ...graph.Describer) ([]*graph.Module, error) {
	var out []*graph.Module
	for _, d := range all {
		m, err := d.Module()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// ports are those of the Verilog: tables and a group's start, jobs and how they end, messages that are asked for, packets, what is to be done next.
func (p SendMessage) ports() []graph.Port {
	return slices.Concat(p.startPorts(), p.releasePorts(p.jobPorts()), []graph.Port{
		leaf.Out("msg_rd", 1),
		leaf.Out("msg_number", 24),
		leaf.In("msg_valid", 1),
		leaf.In("msg_length", p.OffW),
		leaf.In("msg_se", 1),
		leaf.In("msg_has_imm", 1),
		leaf.In("msg_imm", 32),
		leaf.In("msg_ce", 1),
		leaf.In("msg_unit", p.UnitW),
		leaf.In("snd_room", 1),
		leaf.Out("snd_tx_valid", 1),
		leaf.Out("snd_tx_mask", p.MaskW),
		leaf.Out("snd_tx_opcode", 8),
		leaf.Out("snd_tx_se", 1),
		leaf.Out("snd_tx_pad", 2),
		leaf.Out("snd_tx_ce", 1),
		leaf.Out("snd_tx_psn", 24),
		leaf.Out("snd_tx_ext", 32),
		leaf.Out("snd_tx_plen", p.LenW),
		leaf.Out("snd_tx_words", p.WordsW),
		leaf.Out("snd_tx_ask", p.MaskW),
		leaf.Out("snd_work_put", 1),
		leaf.Out("snd_work_words", p.WordsW),
		leaf.Out("snd_work_unit", p.UnitW),
		leaf.Out("act_valid", 1),
		leaf.Out("act_soon", 1),
		leaf.Out("act_timer", 1),
		leaf.Out("act_pipe", 1),
		leaf.Out("act_ei", p.EIW),
	})
}

// releasePorts are jobs' ports with those of releases among them, if they are sent, and of ranges.
func (p SendMessage) releasePorts(jobs []graph.Port) []graph.Port {
	behind := 1 + slices.IndexFunc(jobs, func(port graph.Port) bool { return port.Name == "snd_note" })
	if p.InBand != 0 {
		jobs = slices.Insert(jobs, behind, leaf.In("snd_open", 1))
		behind++
	}
	if p.Release == 0 && p.InBand == 0 {
		return jobs
	}
	if p.Release == 0 {
		return slices.Insert(jobs, behind, leaf.In("open_rng", 2))
	}
	return slices.Insert(jobs, behind, leaf.In("snd_owe", 1), leaf.In("rel_owes", 1), leaf.In("rel_rng", 2), leaf.Out("rel_ei", p.EIW), leaf.In("rel_owed", 1),
		leaf.In("rel_sent", 1), leaf.Out("rel_puts", 1), leaf.Out("rel_told", 1))
}

// startPorts are the tables, and a group's start.
func (p SendMessage) startPorts() []graph.Port {
	return []graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.In("cfg_timeout", 16),
		leaf.In("tbl_ep_we", 1), leaf.In("tbl_index", p.EIW), leaf.In("tbl_word", 4), leaf.In("tbl_data", 32),
		leaf.In("grp_live", p.Groups),
		leaf.Out("grp_failed", p.Groups*p.MaskW),
		leaf.In("init_valid", 1),
		leaf.In("init_we", 1),
		leaf.In("init_ei", p.EIW),
		leaf.In("init_psn", 24),
		leaf.Out("init_clean", 1),
		leaf.Out("off_we", 1),
		leaf.Out("off_ei", p.EIW),
		leaf.Out("off_rng", 2),
		leaf.Out("off_in", 24),
		leaf.Out("off_out", 24),
	}
}

// jobPorts are jobs, what they are about, and how they end.
func (p SendMessage) jobPorts() []graph.Port {
	return []graph.Port{
		leaf.In("snd_ack", 1),
		leaf.In("snd_act", 1),
		leaf.In("snd_note", 1),
		leaf.In("snd_look", 1),
		leaf.In("snd_moves", 1),
		leaf.In("snd_ends", 1),
		leaf.In("snd_fuse", 1),
		leaf.In("snd_ended", 1),
		leaf.Out("see_there", 1),
		leaf.Out("see_full", 1),
		leaf.Out("see_ei", p.EIW),
		leaf.Out("see_ok", 1),
		leaf.Out("see_msg", 24),
		leaf.Out("see_pos", posBits(p.OffW, p.UnitBytes)),
		leaf.Out("see_psn", 24),
		leaf.Out("see_code", 3),
		leaf.Out("see_keep", p.MaskW),
		leaf.In("snd_ei", p.EIW),
		leaf.In("snd_self", p.MaskW),
		leaf.In("snd_pipe", 1),
		leaf.In("snd_psn", 24),
		leaf.In("snd_is_ack", 1),
		leaf.In("snd_is_nak", 1),
		leaf.In("snd_is_rnr", 1),
		leaf.In("snd_code", 5),
		leaf.In("ctx_outs", p.MaskW),
		leaf.In("ctx_limit", 24),
		leaf.In("ctx_open", p.OffW),
		leaf.In("ctx_wide", 1),
		leaf.Out("snd_done", 1),
		leaf.Out("snd_next", 1),
		leaf.Out("snd_stale", 1),
		leaf.Out("snd_moved", 1),
		leaf.Out("snd_message", 24),
		leaf.Out("snd_acts", 1),
		leaf.Out("snd_kind", 3),
		leaf.Out("snd_act_ei", p.EIW),
		leaf.Out("snd_again", 1),
	}
}
