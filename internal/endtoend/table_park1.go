// SPDX-License-Identifier: Apache-2.0

package endtoend

// park1Faults are of parking in Mode I (docs/parking.md).
func park1Faults() []Fault {
	const (
		emptyA, emptyB = "j_tails[24 +: 24] == j_heads[0 +: 24]", "j_tails[TAIL_W+24 +: 24] == j_heads[HEAD_W +: 24]"
		drained        = emptyA + " && " + emptyB
	)
	return []Fault{
		{Name: "a group is parked with messages in its aggregation pool", File: fileMessage, Old: drained, New: emptyB},
		{Name: "a group is parked with messages in its broadcast pool", File: fileMessage, Old: drained, New: emptyA},
		{Name: "a group is parked with a message that is not complete", File: fileMessage, Old: drained, New: "j_tails[0 +: 24] == j_heads[0 +: 24] && j_tails[TAIL_W +: 24] == j_heads[HEAD_W +: 24]"},
		{Name: "a group is parked with a message that is not acknowledged", File: fileMessage, Old: drained, New: "j_tails[24 +: 24] == j_tails[0 +: 24] && j_tails[TAIL_W+24 +: 24] == j_tails[TAIL_W +: 24]"},
		{Name: "another group is asked whether it is drained", File: fileMessage, Old: "parks ? park_group : act_next ? act_group : c_group", New: "act_next ? act_group : c_group"},
		{Name: "another group's pools begin anew", File: fileMessage, Old: "park_take ? park_group : was_group", New: "was_group"},
		{Name: "pools with other slots begin where they were", File: fileMessage, Old: "{first_head(j_heads[HEAD_W +: 24]), first_head(j_heads[0 +: 24])}", New: "j_heads"},
		{Name: "a parked group takes a message", File: fileMessage, Old: "parked_wide[{1'b0, c_group}] || !fits", New: "!fits"},
		{Name: "a parked group's message finds its pool full", File: fileMessage, At: "data_reg[C_DROP_PARKED]          <= is_full &&", Old: "f_parked", New: "1'b0",
			Also: []Change{{At: "data_reg[C_DROP_FULL]            <=", Old: "is_full && !f_parked", New: "is_full"}}},
		{Name: "what a parked group refuses counts as data", File: fileMessage, At: "is_duplicate || is_gap || (", Old: "is_full && !f_parked", New: "is_full"},
		{Name: "a parked group is silent", File: fileMessage, Old: "is_full && cfg_rnr", New: "is_full && cfg_rnr && !f_parked"},
		{Name: "what comes behind a refused message is NAKed", File: fileMessage, Old: "e_nak_sent || is_gap || is_full", New: "e_nak_sent || is_gap || (is_full && !f_parked)"},
	}
}
