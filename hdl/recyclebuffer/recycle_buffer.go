// SPDX-License-Identifier: Apache-2.0

package recyclebuffer

import (
	"fmt"
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// RecycleBuffer is inc_recycle_buffer: state words of all slots, and the start of a group. Its contract is the head of inc_recycle_buffer.v.
type RecycleBuffer struct {
	// Slots: number of slots, at least 2.
	Slots int
	// SlotW: bits of a slot's number.
	SlotW int
	// Groups: number of groups.
	Groups int
	// EPW: bits of an endpoint's index in its group, at least 1.
	EPW int
	// EIW: bits of an endpoint's index in the table.
	EIW int
	// MaskW: bits of an endpoint mask.
	MaskW int
	// LenW: bits of a payload length.
	LenW int
	// DTypes and Ops: element types and operations that there are, bit i for code i.
	DTypes, Ops int
	// Tree: 1 if contributions are kept by pairs of endpoints, else 0; then an odd last endpoint may not contribute.
	Tree int
	// InBand: 1 if there are in-band groups, else 0.
	InBand int
	// Pending: frames that may have been looked up and not yet decided.
	Pending int
	// Pipes: 1 if groups have pipes, whose size GROUP_PIPE has, else 0.
	Pipes int
	// Park: 1 if groups can be parked, else 0.
	Park int
}

// groupBits are the bits of a group's number.
func (p RecycleBuffer) groupBits() int { return max(p.EIW-p.EPW, 1) }

// Module describes it, or says every reason why the parameters are illegal.
func (p RecycleBuffer) Module() (*graph.Module, error) {
	groupBits := p.groupBits()
	rules := leaf.NewRules("inc_recycle_buffer")
	rules.Refuse(p.SlotW < 1 || p.SlotW > 23 || p.Slots < 2 || p.Slots > leaf.Pow2(p.SlotW), "SLOTS must be 2 to 2**SLOT_W")
	rules.Refuse(p.EPW < 1 || p.EIW < p.EPW || p.Groups < 1 || p.Groups > leaf.Pow2(p.EIW-p.EPW), "GROUPS must be 1 to 2**(EI_W - EP_W)")
	rules.Refuse(p.DTypes < 1 || p.DTypes > 15 || p.Ops < 1 || p.Ops > 7, "DTYPES must be 1 to 15 and OPS 1 to 7")
	rules.Refuse(p.Tree < 0 || p.Tree > 1, "TREE must be 0 or 1")
	rules.Refuse(p.InBand < 0 || p.InBand > 1, "IN_BAND must be 0 or 1")
	rules.Refuse(p.Pending < 1 || p.Pending > 255, "PENDING must be 1 to 255")
	rules.Refuse(p.Pipes < 0 || p.Pipes > 1, "PIPES must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.SourceParking(files, "inc_recycle_buffer", p.Park != 0)
	if err != nil {
		return nil, err
	}
	memory, err := ram.RAM{Words: leaf.Pow2(groupBits), Bits: 24, AddrW: groupBits}.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_recycle_buffer: %w", err)
	}
	words := ram.Memory{Name: "inc_mem_slots", Words: p.Slots, Bits: 24 + p.MaskW + 1 + 8 + p.LenW + 2 + 1 + 32 + 1, AddrW: p.SlotW}
	slots, err := words.Module()
	if err != nil {
		return nil, fmt.Errorf("inc_recycle_buffer: %w", err)
	}
	module := &graph.Module{
		Name: "inc_recycle_buffer", Block: "RecycleBuffer", Source: source, Latency: "1 cycle",
		Purpose: "state words of all slots, and the start of a group",
		Params: []graph.Param{
			{Name: "SLOTS", Value: p.Slots},
			{Name: "SLOT_W", Value: p.SlotW},
			{Name: "GROUPS", Value: p.Groups},
			{Name: "EP_W", Value: p.EPW},
			{Name: "EI_W", Value: p.EIW},
			{Name: "MASK_W", Value: p.MaskW},
			{Name: "LEN_W", Value: p.LenW},
			{Name: "DTYPES", Value: p.DTypes},
			{Name: "OPS", Value: p.Ops},
			{Name: "TREE", Value: p.Tree},
			{Name: "IN_BAND", Value: p.InBand},
			{Name: "PENDING", Value: p.Pending},
			{Name: "PIPES", Value: p.Pipes},
		},
		Ports: p.ports(),
		Memories: []graph.Memory{
			{Path: "u_cfg_start", Words: leaf.Pow2(groupBits), Bits: 24, Role: "table", Module: "inc_ram_1r1w"},
			{Path: "u_cfg_slots", Words: leaf.Pow2(groupBits), Bits: 29, Role: "table", Module: "inc_ram_1r1w"},
			{Path: "u_cfg_parent", Words: leaf.Pow2(groupBits), Bits: 9, Role: "table", Module: "inc_ram_1r1w"},
			{Path: "u_cfg_collective", Words: leaf.Pow2(groupBits), Bits: 8, Role: "table", Module: "inc_ram_1r1w"},
			{Path: "u_held", Words: leaf.Pow2(groupBits), Bits: 2*p.SlotW + 1, Role: "table", Module: "inc_ram_1r1w"},
			words.At("u_slots", "state"),
		},
		Submodules: []*graph.Module{memory, slots},
	}
	if p.Pipes != 0 {
		module.Memories = append(module.Memories,
			graph.Memory{Path: "gen_pipes.u_cfg_pipe", Words: leaf.Pow2(groupBits), Bits: 24, Role: "table", Module: "inc_ram_1r1w"})
	}
	if p.Tree != 0 && p.MaskW%2 != 0 { // whether the endpoint without a pair contributes
		module.Memories = append(module.Memories,
			graph.Memory{Path: "gen_lone.u_cfg_lone", Words: leaf.Pow2(groupBits), Bits: 1, Role: "table", Module: "inc_ram_1r1w"})
		if p.InBand != 0 { // or belongs to the group at all
			module.Memories = append(module.Memories,
				graph.Memory{Path: "gen_lone.gen_in_band.u_cfg_lone_out", Words: leaf.Pow2(groupBits), Bits: 1, Role: "table", Module: "inc_ram_1r1w"})
		}
	}
	return module, nil
}

// ports are those of the Verilog: slots to be read and written, the start of groups, the tables to be written.
func (p RecycleBuffer) ports() []graph.Port {
	var parking []graph.Port
	if p.Park != 0 {
		parking = []graph.Port{
			leaf.In("grp_park", p.Groups), leaf.In("grp_unpark", p.Groups), leaf.Out("grp_parked", p.Groups), leaf.Out("grp_undrained", p.Groups),
			leaf.Out("park_valid", 1), leaf.Out("park_group", p.groupBits()), leaf.In("park_take", 1), leaf.In("park_drained", 1),
		}
	}
	return slices.Concat([]graph.Port{
		leaf.In("clk", 1),
		leaf.In("rst", 1),
		leaf.In("grp_enable", p.Groups),
		leaf.In("grp_start", p.Groups),
		leaf.Out("grp_busy", p.Groups),
		leaf.Out("grp_live", p.Groups),
		leaf.Out("grp_refused", p.Groups),
		leaf.Out("grp_overlap", p.Groups),
	}, parking, []graph.Port{
		leaf.In("tbl_grp_we", 1),
		leaf.In("tbl_index", p.EIW),
		leaf.In("tbl_word", 4),
		leaf.In("tbl_data", 32),
		leaf.In("frm_waits", 1),
		leaf.In("frm_gone", 1),
		leaf.Out("init_valid", 1),
		leaf.In("init_take", 1),
		leaf.Out("init_ei", p.EIW),
		leaf.Out("init_psn", 24),
		leaf.Out("acks_valid", 1),
		leaf.In("acks_take", 1),
		leaf.Out("acks_group", p.groupBits()),
		leaf.Out("ranges_valid", 1),
		leaf.In("ranges_take", 1),
		leaf.In("rd_en", 1),
		leaf.In("rd_slot", p.SlotW),
		leaf.Out("slot_tag", 24),
		leaf.Out("slot_mask", p.MaskW),
		leaf.Out("slot_complete", 1),
		leaf.Out("slot_opcode", 8),
		leaf.Out("slot_plen", p.LenW),
		leaf.Out("slot_pad", 2),
		leaf.Out("slot_se", 1),
		leaf.Out("slot_ext", 32),
		leaf.Out("slot_ce", 1),
		leaf.In("wr_en", 1),
		leaf.In("wr_slot", p.SlotW),
		leaf.In("wr_tag", 24),
		leaf.In("wr_mask", p.MaskW),
		leaf.In("wr_complete", 1),
		leaf.In("wr_opcode", 8),
		leaf.In("wr_plen", p.LenW),
		leaf.In("wr_pad", 2),
		leaf.In("wr_se", 1),
		leaf.In("wr_ext", 32),
		leaf.In("wr_ce", 1),
	})
}
