// SPDX-License-Identifier: Apache-2.0

package decider

import (
	"fmt"
	"slices"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Decider are the parameters of a block that decides, in any of the three modes.
type Decider struct {
	// LenW: bits of a payload length.
	LenW int
	// WordsW: bits of a payload's number of words.
	WordsW int
	// Bytes: bytes of a word, a power of two.
	Bytes int
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask; at most 2**EPW.
	MaskW int
	// SlotW: bits of a slot's number, as many as the block allows.
	SlotW int
	// Planes: payloads a slot unit holds: 1, or the pairs of endpoints.
	Planes int
	// Tree: 1 if contributions are kept by pairs and reduced when the slot is complete, else 0.
	Tree int
	// Halves: 1 if there are element types of 16 bits, else 0.
	Halves int
	// Groups: number of groups; at most 2**(EIW-EPW).
	Groups int
	// PktW: bits of a word's address in the packet buffer.
	PktW int
	// ICRC: 1 if a wrong ICRC drops the frame, else 0.
	ICRC int
	// InBand: 1 if there are in-band groups, else 0.
	InBand int
	// Park: 1 if groups can be parked, else 0.
	Park int
	// OnePort: 1 if Mode II's state of endpoints is in a memory of one port, else 0.
	OnePort int
	// Apart: 1 if a frame goes on in the cycle behind that in which the one ahead is decided, 0 if in that cycle.
	Apart int
	// Prompt: 1 if a work is offered in the cycle in which it is put, 0 if in the next.
	Prompt int
	// Counters: number of counters.
	Counters int
}

// CountGroups refuses groups that endpoints' indices have no room for.
func (p Decider) CountGroups(rules *leaf.Rules) {
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
}

// WholeBytes refuses words that are not a power of two of bytes.
func (p Decider) WholeBytes(rules *leaf.Rules) {
	rules.Refuse(1<<leaf.Clog2(p.Bytes) != p.Bytes || p.LenW < leaf.Clog2(p.Bytes), "BYTES must be a power of two of at most LEN_W bits")
}

// GroupBits are the bits of a group's number, at least 1.
func (p Decider) GroupBits() int { return max(p.EIW-p.EPW, 1) }

// pairBits are the bits of a pair's number.
func (p Decider) pairBits() int { return leaf.IndexBits(p.Planes) }

// Rules are the rules for the parameters of a block that decides in that mode and takes so many bits of a slot's number at the most.
func (p Decider) Rules(module string, mode, slotBits int) *leaf.Rules {
	rules := leaf.NewRules(module)
	rules.Refuse(p.Counters != len(contract.Params{Mode: mode, Park: p.Park != 0}.Counters()), "COUNTERS must be the number of the mode's counters")
	rules.Refuse(p.Tree < 0 || p.Tree > 1 || p.Halves < 0 || p.Halves > 1, "TREE and HALVES must be 0 or 1")
	rules.Refuse(p.SlotW < 1 || p.SlotW > slotBits, fmt.Sprintf("SLOT_W must be 1 to %d", slotBits))
	return rules
}

// entryPorts are the pins to LookupTable: what the frame is and of whom.
func (p Decider) entryPorts() []graph.Port {
	return []graph.Port{
		leaf.In("ent_valid", 1),
		leaf.Out("ent_pop", 1),
		leaf.In("ent_bypass", 1),
		leaf.In("ent_foreign", 1),
		leaf.In("ent_ei", p.EIW),
		leaf.In("ent_host", 1),
		leaf.In("ent_up", 1),
		leaf.In("ent_down", 1),
		leaf.In("ent_ackable", 1),
		leaf.In("ent_sum_ok", 1),
		leaf.In("ent_len_ok", 1),
		leaf.In("ent_tver_ok", 1),
		leaf.In("ent_too_long", 1),
		leaf.In("ent_whole", 1),
		leaf.In("ent_empty", 1),
		leaf.In("ent_opcode", 8),
		leaf.In("ent_se", 1),
		leaf.In("ent_pad", 2),
		leaf.In("ent_ce", 1),
		leaf.In("ent_psn", 24),
		leaf.In("ent_ext", 32),
		leaf.In("ent_plen", p.LenW),
		leaf.In("ent_words", p.WordsW),
		leaf.In("ent_base", p.SlotW),
		leaf.In("ent_log2_n", 5),
		leaf.In("ent_in_mask", p.MaskW),
		leaf.In("ent_out_mask", p.MaskW),
		leaf.In("ent_ack_mask", p.MaskW),
		leaf.In("ent_parent_mask", p.MaskW),
		leaf.In("ent_collective", 3),
		leaf.In("ent_function", 2),
		leaf.In("ent_dtype", 2),
		leaf.In("ent_big_endian", 1),
		leaf.In("ent_in_band", 1),
		leaf.In("ent_route_valid", 1),
		leaf.In("ent_route_mask", p.MaskW),
		leaf.In("ent_root_sends", 1),
	}
}

// rangePorts are the pins to Control: where the frame lies in an in-band group's ranges.
func (p Decider) rangePorts() []graph.Port {
	return []graph.Port{
		leaf.Out("ctl_rd", 1),
		leaf.Out("ctl_map", 1),
		leaf.Out("ctl_ei", p.EIW),
		leaf.Out("ask_ei", p.EIW),
		leaf.Out("ask_psn", 24),
		leaf.Out("ask_opcode", 8),
		leaf.Out("ask_empty", 1),
		leaf.Out("ask_ext", 32),
		leaf.Out("ask_in_mask", p.MaskW),
		leaf.Out("ask_out_mask", p.MaskW),
		leaf.Out("ask_ack_mask", p.MaskW),
		leaf.Out("ask_parent_mask", p.MaskW),
		leaf.Out("ask_route_valid", 1),
		leaf.Out("ask_route_mask", p.MaskW),
		leaf.Out("ask_root_sends", 1),
		leaf.In("ctl_busy", 1),
		leaf.In("map_current", 1),
		leaf.In("map_previous", 1),
		leaf.In("map_opens", 1),
		leaf.In("map_opens_up", 1),
		leaf.In("map_bad_control", 1),
		leaf.In("map_wrong_role", 1),
		leaf.In("map_contradicts", 1),
		leaf.In("map_base", 24),
		leaf.In("map_psn", 24),
		leaf.In("map_rng", 2),
		leaf.In("map_begin", 24),
		leaf.In("map_end", 24),
		leaf.In("map_up", 1),
		leaf.In("map_down", 1),
		leaf.In("map_ackable_any", 1),
		leaf.In("map_needs_host", 1),
		leaf.In("map_root", 1),
		leaf.In("map_parent", 1),
		leaf.In("map_reduces", 1),
		leaf.In("map_spreads", 1),
		leaf.In("map_barrier", 1),
		leaf.In("map_function", 2),
		leaf.In("map_dtype", 2),
		leaf.In("map_in_mask", p.MaskW),
		leaf.In("map_out_mask", p.MaskW),
		leaf.In("map_ack_mask", p.MaskW),
		leaf.In("map_parent_mask", p.MaskW),
	}
}

// AckPorts are the pins to ReceiveAck: what the endpoints have acknowledged.
func (p Decider) AckPorts() []graph.Port {
	return []graph.Port{
		leaf.Out("ack_rd", 1),
		leaf.Out("ack_group", p.GroupBits()),
		leaf.Out("ack_self", p.MaskW),
		leaf.Out("ack_mask", p.MaskW),
		leaf.Out("ack_pick", p.MaskW),
		leaf.In("ack_ready", 1),
		leaf.In("ack_picked", 24),
		leaf.In("ack_picked_msn", 24),
		leaf.In("ack_rest", 24),
		leaf.In("ack_rest_msn", 24),
		leaf.In("ack_rest_any", 1),
		leaf.In("ack_rest_ep", p.EPW),
		leaf.In("ack_own", 24),
		leaf.In("ack_own_msn", 24),
		leaf.Out("ack_we", 1),
		leaf.Out("ack_lift", 1),
		leaf.Out("ack_psn", 24),
		leaf.Out("ack_msn", 24),
	}
}

// ParkPorts are the pins of a mode's block to RecycleBuffer about groups that are parked; none if groups cannot be.
func (p Decider) ParkPorts() []graph.Port {
	if p.Park == 0 {
		return nil
	}
	return []graph.Port{
		leaf.In("grp_parked", p.Groups), leaf.In("park_valid", 1), leaf.In("park_group", p.GroupBits()), leaf.Out("park_take", 1), leaf.Out("park_drained", 1),
	}
}

// VerdictPorts are the pins of a mode's block to PacketBuffer: the frame has its verdict, and is done.
func (p Decider) VerdictPorts() []graph.Port {
	return []graph.Port{leaf.In("vrd_valid", 1), leaf.Out("vrd_pop", 1)}
}

// SlotPorts are the pins of a mode's block to RecycleBuffer, which slot it is, and to what it will hold.
func (p Decider) SlotPorts(read ...graph.Port) []graph.Port {
	return slices.Concat([]graph.Port{leaf.Out("rd_en", 1), leaf.Out("rd_slot", p.SlotW)}, read, []graph.Port{
		leaf.Out("wr_en", 1), leaf.Out("wr_slot", p.SlotW), leaf.In("wr_mask", p.MaskW), leaf.In("wr_opcode", 8), leaf.In("wr_plen", p.LenW),
		leaf.In("wr_pad", 2), leaf.In("wr_se", 1), leaf.In("wr_ext", 32), leaf.In("wr_ce", 1), leaf.Out("ctl_open", 1),
	})
}

// workPorts are the pins of inc_offer_work to a mode's block.
func (p Decider) workPorts() []graph.Port {
	return []graph.Port{
		leaf.Out("work_held", 1), leaf.In("work_put", 1), leaf.In("work_words", p.WordsW), leaf.In("work_unit", p.SlotW), leaf.In("work_ep", p.EPW),
		leaf.In("work_mask", p.MaskW), leaf.In("work_copied", 1), leaf.In("work_read", 1), leaf.In("work_take", 1), leaf.In("work_write", 1),
		leaf.In("work_emit", 1), leaf.In("work_reduce", 1), leaf.In("work_function", 2), leaf.In("work_dtype", 2), leaf.In("work_big_endian", 1),
		leaf.In("work_commits", 1), leaf.In("work_kills", 1),
	}
}

// opPorts are the pins of inc_offer_work to AggregateData.
func (p Decider) opPorts() []graph.Port {
	return []graph.Port{
		leaf.In("op_ready", 1),
		leaf.Out("op_valid", 1),
		leaf.Out("op_spec", 1),
		leaf.Out("op_commit", 1),
		leaf.Out("op_kill", 1),
		leaf.Out("op_start", p.PktW),
		leaf.Out("op_imm", 1),
		leaf.Out("op_words", p.WordsW),
		leaf.Out("op_slot", p.SlotW),
		leaf.Out("op_pair", p.pairBits()),
		leaf.Out("op_read", 1),
		leaf.Out("op_take", 1),
		leaf.Out("op_write", 1),
		leaf.Out("op_emit", 1),
		leaf.Out("op_reduce", 1),
		leaf.Out("op_pairs", p.Planes),
		leaf.Out("op_function", 2),
		leaf.Out("op_dtype", 2),
		leaf.Out("op_big_endian", 1),
		leaf.Out("pkt_start", p.PktW),
	}
}

// WorkPorts are the pins of a mode's block to inc_offer_work.
func (p Decider) WorkPorts() []graph.Port { return facing(p.workPorts()) }

// FramePorts are the pins of a mode's block to those of inc_frame_steps of these names.
func (p Decider) FramePorts(names ...string) []graph.Port {
	var ports []graph.Port
	for _, port := range p.stepPorts() {
		if slices.Contains(names, port.Name) {
			ports = append(ports, port)
		}
	}
	return facing(ports)
}

// TxPorts are the pins of a mode's block to ReplicateData: frames to be made.
func (p Decider) TxPorts() []graph.Port {
	return []graph.Port{
		leaf.In("tx_room", 1),
		leaf.Out("tx_valid", 1),
		leaf.Out("tx_kind", 2),
		leaf.Out("tx_ei", p.EIW),
		leaf.Out("tx_mask", p.MaskW),
		leaf.Out("tx_opcode", 8),
		leaf.Out("tx_se", 1),
		leaf.Out("tx_pad", 2),
		leaf.Out("tx_ce", 1),
		leaf.Out("tx_psn", 24),
		leaf.Out("tx_in_band", 1),
		leaf.Out("tx_rng", 2),
		leaf.Out("tx_dir", 1),
		leaf.Out("tx_ext", 32),
		leaf.Out("tx_plen", p.LenW),
		leaf.Out("tx_words", p.WordsW),
	}
}

// facing are the same ports, seen from the block at their other end.
func facing(ports []graph.Port) []graph.Port {
	turned := slices.Clone(ports)
	for i := range turned {
		if turned[i].Dir == graph.Out {
			turned[i].Dir = graph.In
		} else {
			turned[i].Dir = graph.Out
		}
	}
	return turned
}
