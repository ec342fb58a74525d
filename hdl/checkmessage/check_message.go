// SPDX-License-Identifier: Apache-2.0

package checkmessage

import (
	"fmt"
	"slices"
	"strings"

	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
	"incforge/hdl/receiveack"
)

// CheckMessage is inc_check_message: decides what every frame does in Mode I. Its contract is the head of inc_check_message.v. SlotW is 1 to 22.
type CheckMessage struct {
	decider.Decider
	// MessageBytes: bytes of a message's slot, a power of two.
	MessageBytes int
	// UnitBytes: bytes of a unit of the payload memory, a power of two.
	UnitBytes int
	// UnitW: bits of a unit's number: SlotW, and those of its number in a slot.
	UnitW int
	// Open: 1 if packets of messages leave before these are complete.
	Open int
	// Release: 1 if hosts are sent releases, else 0.
	Release int
}

// offsetBits are the bits of a byte's number in a message, or a message's length.
func (p CheckMessage) offsetBits() int { return leaf.Clog2(p.MessageBytes) + 1 }

// innerBits are the bits of a unit's number in a slot.
func (p CheckMessage) innerBits() int { return leaf.Clog2(p.MessageBytes) - leaf.Clog2(p.UnitBytes) }

// Module describes it, or says every reason why the parameters are illegal.
func (p CheckMessage) Module() (*graph.Module, error) {
	rules := p.Rules("inc_check_message", 1, 22)
	p.CountGroups(rules)
	power := func(n int) bool { return n > 0 && n&(n-1) == 0 }
	rules.Refuse(!power(p.MessageBytes) || !power(p.UnitBytes) || p.UnitBytes < 2 || p.MessageBytes < p.UnitBytes || p.MessageBytes > 1<<23,
		"UNIT_BYTES and MESSAGE_BYTES must be powers of two, 2 to MESSAGE_BYTES and at most 2**23")
	rules.Refuse(p.Open < 0 || p.Open > 1 || p.Open == 1 && p.MessageBytes == p.UnitBytes, "OPEN must be 0, or 1 where a message has more than one unit")
	rules.Refuse(p.UnitW != p.SlotW+p.innerBits(), "SLOT_W must be 1 to 22, and UNIT_W hold the units of all slots")
	rules.Refuse(p.LenW > p.offsetBits(), "a payload must fit MESSAGE_BYTES")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	var macros []string
	if p.Park != 0 {
		macros = append(macros, leaf.ParkMacro)
	}
	if p.Release != 0 {
		macros = append(macros, leaf.ReleaseMacro)
	}
	if p.InBand != 0 {
		macros = append(macros, leaf.MessageRangesMacro)
	}
	source, err := leaf.SourceWith(files, "inc_check_message", macros...)
	if err != nil {
		return nil, err
	}
	at := ram.EndpointIndex{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups}
	groups, ends := leaf.Pow2(p.GroupBits()), max(at.Words(), 2)
	index, err := at.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_message: %w", err)
	}
	memory, err := ram.RAM{Words: groups, Bits: p.SlotW + 1, AddrW: p.GroupBits()}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_message: %w", err)
	}
	state := func(path string, words, bits int) graph.Memory {
		return graph.Memory{Path: path, Words: words, Bits: bits, Role: "state", Module: "inc_ram_1r1w"}
	}
	end := 2*24 + p.offsetBits() + 3 + 8 + 24
	memories := []graph.Memory{
		state("u_rq_psn", ends, 24), state("u_path_mtu", ends, 13-min(leaf.Clog2(p.UnitBytes), 12)), state("u_ends", ends, end), state("u_heads", groups, 2*(25+p.SlotW)),
		state("u_job_heads", groups, 2*(25+p.SlotW)), state("u_tails", groups, 4*24), state("u_job_tails", groups, 4*24),
		state("u_sizes", groups, p.SlotW+1), state("u_job_sizes", groups, p.SlotW+1), state("u_contexts", groups, 7+2*p.InBand+3*p.MaskW+2*p.SlotW),
	}
	if p.Tree != 0 {
		memories = append(memories, state("gen_siblings.u_siblings", ends, end))
	}
	past, err := decider.Past{}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_check_message: %w", err)
	}
	submodules := []*graph.Module{memory, index, past}
	if p.Open != 0 {
		here, err := receiveack.ReceiveAck{EPW: p.EPW, EIW: p.EIW, MaskW: p.MaskW, Groups: p.Groups, Stages: 2}.Module()
		if err != nil {
			return nil, fmt.Errorf("inc_check_message: %w", err)
		}
		submodules = append(submodules, here)
		memories = append(append(memories, state("gen_open.u_open", groups, 2*(p.innerBits()+1))), here.Inside("gen_open.u_here")...)
	}
	return &graph.Module{
		Name: "inc_check_message", Block: "CheckMessage", Source: source, Latency: "the cycle of the verdict; data the fourth cycle behind data before, or the second in C, the rest the first",
		Purpose: "decides what every frame does in Mode I, hands actions their turn, keeps the pools",
		Params: []graph.Param{
			{Name: "LEN_W", Value: p.LenW}, {Name: "WORDS_W", Value: p.WordsW}, {Name: "EP_W", Value: p.EPW}, {Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW}, {Name: "SLOT_W", Value: p.SlotW}, {Name: "UNIT_W", Value: p.UnitW},
			{Name: "MESSAGE_BYTES", Value: p.MessageBytes}, {Name: "UNIT_BYTES", Value: p.UnitBytes}, {Name: "TREE", Value: p.Tree},
			{Name: "HALVES", Value: p.Halves}, {Name: "OPEN", Value: p.Open}, {Name: "GROUPS", Value: p.Groups}, {Name: "COUNTERS", Value: p.Counters},
		},
		Ports:      p.ports(),
		Memories:   memories,
		Submodules: submodules,
	}, nil
}

// ports are those of the Verilog: settings, a frame, its slot, what is acknowledged, the send side, what is to be done.
func (p CheckMessage) ports() []graph.Port {
	work := p.Decider
	work.SlotW = p.UnitW
	var releases []graph.Port
	if p.Release != 0 {
		releases = []graph.Port{leaf.In("grp_releases", p.Groups*p.MaskW), leaf.Out("start_we", 1), leaf.Out("start_group", p.GroupBits()),
			leaf.Out("start_a", 24), leaf.Out("start_b", 24)}
	}
	if p.Release != 0 && p.InBand != 0 {
		releases = append(releases, leaf.In("grp_owes", p.Groups), leaf.Out("rng_group", p.GroupBits()), leaf.Out("rng_we", 1), leaf.Out("rng_last", 24),
			leaf.Out("rng_senders", p.MaskW), leaf.Out("rng_a", 1), leaf.Out("rng_b", 1))
	}
	return slices.Concat(
		[]graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("grp_live", p.Groups), leaf.In("cfg_ack_every", 8), leaf.In("cfg_rnr_timer", 5),
			leaf.In("cfg_rnr", 1), leaf.In("cfg_cnp", 1), leaf.In("grp_whole", p.Groups),
		},
		releases,
		[]graph.Port{
			leaf.Out("grp_invalid", p.Groups*p.MaskW), leaf.In("tbl_grp_we", 1),
			leaf.In("tbl_ep_we", 1), leaf.In("tbl_index", p.EIW), leaf.In("tbl_word", 4), leaf.In("tbl_data", 32),
			leaf.In("frm_waits", 1), leaf.In("frm_asks", 1),
		},
		p.ParkPorts(),
		p.FramePorts(p.frameNames()...),
		p.rangePorts(),
		p.AckPorts(),
		p.VerdictPorts(),
		p.slotPorts(),
		[]graph.Port{
			leaf.In("init_valid", 1), leaf.Out("init_take", 1), leaf.In("init_clean", 1), leaf.In("init_ei", p.EIW), leaf.In("init_psn", 24),
		},
		p.sendPorts(),
		work.WorkPorts(),
		[]graph.Port{leaf.Out("put_ei", p.EIW), leaf.Out("adds", p.innerBits()+1)},
		p.TxPorts(),
		[]graph.Port{leaf.Out("copies_asked", p.MaskW)},
		[]graph.Port{leaf.Out("mon_act_valid", 1), leaf.Out("mon_act_kind", 3), leaf.Out("mon_act_ei", p.EIW), leaf.Out("count", p.Counters)},
	)
}

// rangePorts are the pins to Control, and to inc_frame_steps about it; none without in-band groups.
func (p CheckMessage) rangePorts() []graph.Port {
	if p.InBand == 0 {
		return nil
	}
	return []graph.Port{leaf.Out("ctl_open", 1), leaf.Out("ctl_busy", 1)}
}

// frameNames are what it asks of a frame in inc_frame_steps, and says to it.
func (p CheckMessage) frameNames() []string {
	names := strings.Fields("s_go s_up s_spreads s_root s_base s_log2_n a_go a_ei b_go b_valid b_ei b_self b_host b_data b_ack b_cnp b_ends b_fine b_bad_tver b_bad_opcode b_too_long " +
		"b_wire_psn b_up b_down b_whole b_spreads b_dtype b_in_mask b_parent_mask c_free c_leaves c_lives c_decided c_done c_valid c_live c_bypass c_ei c_self c_syn_ack c_syn_rnr c_syn_nak c_opcode c_se c_ce " +
		"c_wire_psn c_ext c_plen c_words c_big_endian c_reduces c_spreads c_function c_dtype c_in_mask c_out_mask c_parent_mask c_intact c_passed c_drops")
	if p.InBand != 0 {
		names = append(names, strings.Fields("b_in_range b_opens b_bad_control b_wrong_role b_contradicts c_opening c_ranged c_rng c_begin c_end")...)
	}
	return names
}

// slotPorts are the pins to RecycleBuffer. What a slot is to hold comes from here, and not from inc_frame_steps.
func (p CheckMessage) slotPorts() []graph.Port {
	word := func(prefix string, turn func(string, int) graph.Port) []graph.Port {
		return []graph.Port{turn(prefix+"_tag", 24), turn(prefix+"_mask", p.MaskW), turn(prefix+"_complete", 1), turn(prefix+"_opcode", 8),
			turn(prefix+"_plen", p.LenW), turn(prefix+"_pad", 2), turn(prefix+"_se", 1), turn(prefix+"_ext", 32), turn(prefix+"_ce", 1)}
	}
	return slices.Concat([]graph.Port{leaf.Out("rd_en", 1), leaf.Out("rd_slot", p.SlotW)}, word("slot", leaf.In),
		[]graph.Port{leaf.Out("wr_en", 1), leaf.Out("wr_slot", p.SlotW)}, word("wr", leaf.Out))
}

// sendPorts are the pins to SendMessage: whose turn it is, its jobs, the messages that it asks for, what it sends.
func (p CheckMessage) sendPorts() []graph.Port {
	ports := []graph.Port{
		leaf.In("act_valid", 1), leaf.In("act_soon", 1), leaf.In("act_timer", 1), leaf.In("act_pipe", 1), leaf.In("act_ei", p.EIW),
		leaf.Out("snd_ack", 1), leaf.Out("snd_act", 1), leaf.Out("snd_note", 1), leaf.Out("snd_look", 1), leaf.Out("snd_moves", 1), leaf.Out("snd_ends", 1),
		leaf.Out("snd_fuse", 1), leaf.Out("snd_ended", 1),
		leaf.In("see_there", 1), leaf.In("see_full", 1), leaf.In("see_ei", p.EIW),
		leaf.In("see_ok", 1), leaf.In("see_msg", 24), leaf.In("see_pos", p.innerBits()+1), leaf.In("see_psn", 24), leaf.In("see_code", 3), leaf.In("see_keep", p.MaskW),
		leaf.Out("snd_ei", p.EIW), leaf.Out("snd_self", p.MaskW), leaf.Out("snd_psn", 24),
		leaf.Out("snd_is_ack", 1), leaf.Out("snd_is_nak", 1), leaf.Out("snd_is_rnr", 1), leaf.Out("snd_code", 5), leaf.Out("snd_pipe", 1),
		leaf.Out("ctx_outs", p.MaskW), leaf.Out("ctx_limit", 24), leaf.Out("ctx_open", p.offsetBits()), leaf.Out("ctx_wide", 1),
		leaf.In("snd_done", 1), leaf.In("snd_next", 1), leaf.In("snd_stale", 1), leaf.In("snd_moved", 1), leaf.In("snd_message", 24), leaf.Out("snd_room", 1), leaf.In("snd_acts", 1),
		leaf.In("snd_kind", 3), leaf.In("snd_again", 1), leaf.In("snd_act_ei", p.EIW),
		leaf.In("msg_rd", 1), leaf.In("msg_number", 24), leaf.Out("msg_valid", 1), leaf.Out("msg_length", p.offsetBits()), leaf.Out("msg_se", 1),
		leaf.Out("msg_has_imm", 1), leaf.Out("msg_imm", 32), leaf.Out("msg_ce", 1), leaf.Out("msg_unit", p.UnitW),
		leaf.In("snd_tx_valid", 1), leaf.In("snd_tx_mask", p.MaskW), leaf.In("snd_tx_opcode", 8), leaf.In("snd_tx_se", 1), leaf.In("snd_tx_pad", 2),
		leaf.In("snd_tx_ce", 1), leaf.In("snd_tx_psn", 24), leaf.In("snd_tx_ext", 32), leaf.In("snd_tx_plen", p.LenW), leaf.In("snd_tx_words", p.WordsW), leaf.In("snd_tx_ask", p.MaskW),
		leaf.In("snd_work_put", 1), leaf.In("snd_work_words", p.WordsW), leaf.In("snd_work_unit", p.UnitW),
	}
	if p.InBand == 0 {
		return ports
	}
	behind := 1 + slices.IndexFunc(ports, func(port graph.Port) bool { return port.Name == "snd_note" })
	return slices.Insert(ports, behind, leaf.Out("snd_open", 1))
}
