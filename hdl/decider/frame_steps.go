// SPDX-License-Identifier: Apache-2.0

package decider

import (
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// FrameSteps is inc_frame_steps: takes frames through the steps of the decision. Its contract is the head of inc_frame_steps.v.
type FrameSteps Decider

// Module describes it, or says every reason why the parameters are illegal.
func (p FrameSteps) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_frame_steps")
	rules.Refuse(p.Tree < 0 || p.Tree > 1, "TREE must be 0 or 1")
	rules.Refuse(p.Apart < 0 || p.Apart > 1, "APART must be 0 or 1")
	Decider(p).WholeBytes(rules)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_frame_steps")
	if err != nil {
		return nil, err
	}
	var parts []*graph.Module
	for _, d := range []graph.Describer{FrameEntry(p), FrameClass{}, LookAhead{Bits: Decider(p).slotBits()}, DropLadder{}} {
		m, err := d.Module()
		if err != nil {
			return nil, err
		}
		parts = append(parts, m)
	}
	d := Decider(p)
	entry := slices.Insert(d.entryPorts(), 2, leaf.Out("frm_waits", 1))
	return &graph.Module{
		Name: "inc_frame_steps", Block: "FrameSteps", Source: source, Latency: "1 cycle to A, 2 from B to C, in an in-band group 2 more",
		Purpose: "takes frames through the steps of the decision",
		Params: []graph.Param{
			{Name: "LEN_W", Value: p.LenW}, {Name: "WORDS_W", Value: p.WordsW}, {Name: "BYTES", Value: p.Bytes}, {Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW}, {Name: "MASK_W", Value: p.MaskW}, {Name: "SLOT_W", Value: p.SlotW}, {Name: "TREE", Value: p.Tree},
			{Name: "GROUPS", Value: p.Groups}, {Name: "ICRC", Value: p.ICRC}, {Name: "IN_BAND", Value: p.InBand},
			{Name: "APART", Value: p.Apart},
		},
		Ports: slices.Concat([]graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("grp_live", p.Groups)}, entry, d.rangePorts(),
			d.verdictPorts(), d.slotPorts(), d.stepPorts()),
		Submodules: parts,
	}, nil
}

// stepPorts are the pins to a mode's block.
func (p Decider) stepPorts() []graph.Port {
	return slices.Concat(p.sPorts(), p.aPorts(), p.bPorts(), p.fPorts(), p.cPorts(), p.endPorts())
}

// slotBits are the bits of a slot's word: tag, mask, complete, opcode, payload length, pad, SE, extension, CE.
func (p Decider) slotBits() int { return 24 + p.MaskW + 1 + 8 + p.LenW + 2 + 1 + 32 + 1 }

// frameBits are the bits of a frame's header as inc_frame_entry hands it on, and viewBits those of what its group computes there; the
// Verilog adds them up in inc_frame_steps.
func (p Decider) frameBits() int { return 7 + p.EIW + 8 + 4 + 24 + 32 + p.LenW + p.WordsW + 1 }
func (p Decider) viewBits() int  { return 4 + 4*24 + 7 + 4 + 2 + 4 + 4*p.MaskW }

// verdictPorts are the pins to PacketBuffer: how the frame ended.
func (p Decider) verdictPorts() []graph.Port {
	return []graph.Port{
		leaf.In("vrd_err", 1), leaf.In("vrd_len_ok", 1), leaf.In("vrd_icrc_ok", 1),
	}
}

// slotPorts are the pins to RecycleBuffer: what the slot holds, and shall hold.
func (p Decider) slotPorts() []graph.Port {
	return []graph.Port{
		leaf.In("slot_tag", 24), leaf.In("slot_mask", p.MaskW), leaf.In("slot_complete", 1), leaf.In("slot_opcode", 8),
		leaf.In("slot_plen", p.LenW), leaf.In("slot_pad", 2), leaf.In("slot_se", 1), leaf.In("slot_ext", 32), leaf.In("slot_ce", 1),
		leaf.Out("wr_tag", 24), leaf.Out("wr_mask", p.MaskW), leaf.Out("wr_complete", 1), leaf.Out("wr_opcode", 8), leaf.Out("wr_plen", p.LenW),
		leaf.Out("wr_pad", 2), leaf.Out("wr_se", 1), leaf.Out("wr_ext", 32), leaf.Out("wr_ce", 1),
	}
}

// sPorts are of the frame that goes into A.
func (p Decider) sPorts() []graph.Port {
	return []graph.Port{
		leaf.In("holds", 1), leaf.Out("s_go", 1), leaf.Out("s_ei", p.EIW), leaf.Out("s_data", 1),
		leaf.Out("s_up", 1), leaf.Out("s_spreads", 1), leaf.Out("s_root", 1), leaf.Out("s_parent", 1), leaf.Out("s_ranged", 1),
		leaf.Out("s_psn", 24), leaf.Out("s_dtype", 2), leaf.Out("s_base", p.SlotW), leaf.Out("s_log2_n", 5),
	}
}

// aPorts are of the frame in A.
func (p Decider) aPorts() []graph.Port {
	return []graph.Port{
		leaf.In("a_ready", 1), leaf.In("a_follows_slot", 1), leaf.In("a_written_slot", 1), leaf.Out("a_go", 1), leaf.Out("a_valid", 1),
		leaf.Out("a_bypass", 1), leaf.Out("a_ei", p.EIW), leaf.Out("a_self", p.MaskW), leaf.Out("a_data", 1), leaf.Out("a_ack", 1),
		leaf.Out("a_syn_ack", 1), leaf.Out("a_wire_psn", 24), leaf.Out("a_ranged", 1), leaf.Out("a_psn", 24), leaf.Out("a_begin", 24),
		leaf.Out("a_in_range", 1), leaf.Out("a_previous", 1), leaf.Out("a_down", 1), leaf.Out("a_reduces", 1), leaf.Out("a_spreads", 1),
		leaf.Out("a_out_mask", p.MaskW), leaf.Out("a_parent_mask", p.MaskW),
	}
}

// bPorts are of the frame in B.
func (p Decider) bPorts() []graph.Port {
	return []graph.Port{
		leaf.In("b_stale", 1), leaf.Out("redo", 1), leaf.In("b_first", 1), leaf.In("b_completes", 1), leaf.In("b_repeats", 1), leaf.In("b_empties", 1),
		leaf.Out("b_go", 1), leaf.Out("b_valid", 1), leaf.Out("b_second", 1), leaf.Out("b_bypass", 1), leaf.Out("b_ei", p.EIW),
		leaf.Out("b_self", p.MaskW), leaf.Out("b_host", 1), leaf.Out("b_ce", 1), leaf.Out("b_data", 1), leaf.Out("b_ack", 1),
		leaf.Out("b_cnp", 1), leaf.Out("b_ends", 1), leaf.Out("b_syn_ack", 1), leaf.Out("b_syn_rnr", 1), leaf.Out("b_syn_nak", 1),
		leaf.Out("b_fine", 1), leaf.Out("b_bad_tver", 1), leaf.Out("b_bad_opcode", 1), leaf.Out("b_too_long", 1), leaf.Out("b_wire_psn", 24),
		leaf.Out("b_ranged", 1), leaf.Out("b_opened", 1), leaf.Out("b_psn", 24), leaf.Out("b_begin", 24), leaf.Out("b_range_base", 24),
		leaf.Out("b_in_range", 1), leaf.Out("b_previous", 1), leaf.Out("b_opens", 1), leaf.Out("b_opens_up", 1), leaf.Out("b_bad_control", 1),
		leaf.Out("b_wrong_role", 1), leaf.Out("b_contradicts", 1), leaf.Out("b_up", 1), leaf.Out("b_down", 1), leaf.Out("b_ackable", 1),
		leaf.Out("b_whole", 1), leaf.Out("b_reduces", 1), leaf.Out("b_spreads", 1), leaf.Out("b_dtype", 2), leaf.Out("b_in_mask", p.MaskW),
		leaf.Out("b_out_mask", p.MaskW), leaf.Out("b_parent_mask", p.MaskW),
	}
}

// fPorts are of the slot of the frame in B, and how they compare.
func (p Decider) fPorts() []graph.Port {
	return []graph.Port{
		leaf.Out("b_takes_slot", 1), leaf.Out("b_tag", 24), leaf.Out("b_mask", p.MaskW), leaf.Out("b_complete", 1), leaf.Out("f_first", 1),
		leaf.Out("f_same", 1), leaf.Out("f_same_imm", 1), leaf.Out("f_full", 1), leaf.Out("f_builds", 1), leaf.Out("f_slot_words", p.WordsW),
	}
}

// cPorts are of the frame in C.
func (p Decider) cPorts() []graph.Port {
	return []graph.Port{
		leaf.In("c_free", 1), leaf.In("c_leaves", 1), leaf.In("c_wr", 1), leaf.In("c_lives", 1), leaf.In("c_decided", 1), leaf.In("c_opening", 1), leaf.In("c_done", 1),
		leaf.Out("c_valid", 1), leaf.Out("c_live", 1), leaf.Out("c_bypass", 1), leaf.Out("c_ei", p.EIW), leaf.Out("c_self", p.MaskW),
		leaf.Out("c_syn_ack", 1), leaf.Out("c_syn_rnr", 1), leaf.Out("c_syn_nak", 1), leaf.Out("c_opcode", 8), leaf.Out("c_se", 1),
		leaf.Out("c_pad", 2), leaf.Out("c_ce", 1), leaf.Out("c_wire_psn", 24), leaf.Out("c_ext", 32), leaf.Out("c_plen", p.LenW),
		leaf.Out("c_words", p.WordsW), leaf.Out("c_big_endian", 1), leaf.Out("c_ranged", 1), leaf.Out("c_opened", 1), leaf.Out("c_rng", 2),
		leaf.Out("c_psn", 24), leaf.Out("c_begin", 24), leaf.Out("c_end", 24), leaf.Out("c_range_base", 24), leaf.Out("c_reduces", 1),
		leaf.Out("c_spreads", 1), leaf.Out("c_function", 2), leaf.Out("c_dtype", 2), leaf.Out("c_in_mask", p.MaskW),
		leaf.Out("c_out_mask", p.MaskW), leaf.Out("c_ack_mask", p.MaskW), leaf.Out("c_parent_mask", p.MaskW),
	}
}

// endPorts are of how the frame in C ended.
func (p Decider) endPorts() []graph.Port {
	return []graph.Port{
		leaf.Out("c_intact", 1), leaf.Out("c_passed", 1), leaf.Out("c_drops", 6),
	}
}
