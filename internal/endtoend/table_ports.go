// SPDX-License-Identifier: Apache-2.0

package endtoend

// tagFaults are of 802.1Q tags (docs/vlan.md).
func tagFaults() []Fault {
	return []Fault{
		{Name: "a tag of another VLAN is taken", File: fileTags, Old: "q_tag[11:0] != record[11:0]", New: "1'b0"},
		{Name: "a tag's priority is never compared", File: fileTags, Old: "record[16] && q_tag[15:13] != record[14:12]", New: "1'b0"},
		{Name: "a tag's priority is always compared", File: fileTags, Old: "record[16]", New: "1'b1", At: "wire other_pcp ="},
		{Name: "no tag is as good as the endpoint's", File: fileTags, Old: "!q_tag[16] || other_vid || other_pcp", New: "q_tag[16] && (other_vid || other_pcp)"},
		{Name: "a tag that carries a priority alone is refused", File: fileTags, Old: "q_tag[16] && q_tag[11:0] != 12'd0", New: "q_tag[16]"},
		{Name: "a wrong tag counts as an error of the MAC too", File: fileTags, Old: "count & ~({COUNTERS{drop_reg}} & (ONE << RX_ERROR))", New: "count"},
		{Name: "a tag has no priority", File: "rtl/inc_vlan_pick.v", Old: "{record[15], record[14:12], 1'b0, record[11:0]}", New: "{record[15], 3'd0, 1'b0, record[11:0]}"},
		{Name: "a tag's last beat is never one more", File: "rtl/inc_vlan_tag.v", Old: "moves && s_axis_tlast && s_axis_tkeep[BYTES-4]", New: "1'b0"},
		{Name: "a frame that ends behind its tag has a beat too many", File: "rtl/inc_vlan_strip.v", Old: "needs && s_axis_tlast && !s_axis_tkeep[4]", New: "1'b0"},
	}
}

// steerFaults are of what gives frames, with tags and without, to several engines (docs/engines.md section 1).
func steerFaults() []Fault {
	return []Fault{
		{Name: "a frame with a tag goes round the engines", File: "rtl/inc_steer.v", Old: "plain | behind", New: "plain"},
		{Name: "a frame without a tag goes round the engines", File: "rtl/inc_steer.v", Old: "plain | behind", New: "behind"},
		{Name: "a frame goes to every engine but its own", File: fileSteerLook, Old: "name == E", New: "name != E"},
		{Name: "what a frame before it was makes a frame somebody else's", File: fileSteerLook, Old: "!tlast && (foreign_reg || wrong != {(TO-FROM){1'b0}})",
			New: "foreign_reg || wrong != {(TO-FROM){1'b0}}"},
		{Name: "the number of an engine is taken from the beat that comes next", File: fileSteerLook, Old: "push && beat == BIT_AT", New: "push && beat != BIT_AT"},
	}
}

// callFaults are of interrupts (docs/interrupts.md).
func callFaults() []Fault {
	return []Fault{
		{Name: "clearing a cause clears all", File: fileInterrupts, Old: "wdata[CAUSES-1:0] & {CAUSES{we && wword == W_CLEAR}}", New: "{CAUSES{we && wword == W_CLEAR}}"},
		{Name: "a cause raises the line whether it is enabled or not", File: fileInterrupts, Old: "|(cause_reg & enable_reg)", New: "|cause_reg"},
		{Name: "which causes are enabled reads elsewhere", File: fileInterrupts, Old: "rword == W_ENABLE", New: "rword == W_CLEAR"},
		{Name: "a page has a register too many", File: fileInterrupts, Old: "rword != 2'd3", New: "1'b1"},
		{Name: "some bytes of a register of a page are written", File: "rtl/inc_page.v", Old: "exists && w_strb_reg == 4'hF", New: "exists"},
	}
}

// priorityFaults are of ports with a queue for each priority (docs/ports.md).
func priorityFaults() []Fault {
	return []Fault{
		{Name: "a tag's priority is looked up as a DSCP", File: fileClassOut, Old: "{4'b1000, said[23:21]}", New: "{1'b0, said[31:26]}"},
		{Name: "the lowest bit of a DSCP does not count", File: fileClassOut, Old: "{1'b0, said[31:26]}", New: "{1'b0, said[31:27], 1'b0}", At: ": ipv4 ?"},
		{Name: "a priority that is paused goes on", File: filePick, Old: "s_axis_tvalid & ~pause", New: "s_axis_tvalid"},
		{Name: "the lowest priority goes first", File: filePick, Old: "busy_reg ? last_reg : highest", New: "busy_reg ? last_reg : may & (~may + 1)"},
	}
}
