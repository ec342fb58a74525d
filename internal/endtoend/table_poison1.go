// SPDX-License-Identifier: Apache-2.0

package endtoend

// poisonFaults are of groups of Mode I that met a double error of the payload memory (docs/termination.md section 9).
func poisonFaults() []Fault {
	return []Fault{
		{Name: "a group that sent what is wrong in the memory goes on", File: filePoisoned, Old: "grp_live & ~marked_reg", New: "grp_live"},
		{Name: "all groups are stopped", File: filePoisoned, Old: "marks && group == k[GRP_W-1:0]", New: "marks"},
		{Name: "another group is stopped", File: filePoisoned, At: "marks &&", Old: "group == k[GRP_W-1:0]", New: "group != k[GRP_W-1:0]"},
		{Name: "a work's words are counted one too many", File: filePoisoned, Old: "after == words_reg[head_reg*WORDS_W +: WORDS_W]",
			New: "left_reg == words_reg[head_reg*WORDS_W +: WORDS_W]"},
		{Name: "works that emit nothing are waited for", File: filePoisoned, Old: "work_put && (work_emit || work_reduce)", New: "work_put"},
		{Name: "works that were killed are waited for", File: filePoisoned, Old: "work_kills && pushed_reg", New: "1'b0"},
		{Name: "a mark outlives its group", File: filePoisoned, At: "for (k = 0; k < GROUPS; k = k + 1) begin if (",
			Old: "init_we && init_group == k[GRP_W-1:0]", New: "1'b0"},
		{Name: "a mark is not told", File: filePoisoned, Old: "in_act_valid || tells", New: "in_act_valid"},
		{Name: "what is told is that group 0 stopped", File: filePoisoned, Old: "{told_group, {EP_W{1'b0}}}", New: "{EI_W{1'b0}}"},
		{Name: "poisoned is not shown", File: fileMessageCSR, Old: "grp_poisoned[k]", New: "1'b0"},
		{Name: "good words stop a group", File: filePoisoned, Old: "emit_valid && emit_bad && counts_reg[head_reg]", New: "emit_valid && counts_reg[head_reg]"},
	}
}
