// SPDX-License-Identifier: Apache-2.0

package endtoend

// messageRangeFaults are of in-band groups in Mode I, whose ranges are of messages (docs/termination.md sections 3, 6 and 11).
func messageRangeFaults() []Fault {
	return []Fault{
		{Name: "a range opens whatever is not acknowledged", File: fileMessage, At: "is_drained =",
			Old: "(!uses_a || left_a == 24'd0) && (c_reduces || left_b == 24'd0)", New: "1'b1"},
		{Name: "a range opens when what goes up is acknowledged", File: fileMessage, Old: "c_reduces || left_b == 24'd0", New: "1'b1"},
		{Name: "a range waits for a pool that it does not use", File: fileMessage, Old: "!uses_a || left_a == 24'd0", New: "left_a == 24'd0"},
		{Name: "who did not send stays in the message where it was", File: fileMessage, Old: "renumbers ? {end_read[END_W-1:48], range_first, end_read[23:0]} : end_next",
			New: "renumbers ? end_read : end_next"},
		{Name: "a control may say something else than the range's", File: fileMessage, Old: "d_control && d_differs", New: "1'b0"},
		{Name: "a control is taken in the place of data", File: fileMessage, Old: "d_control != f_begins", New: "f_begins && !d_control"},
		{Name: "data is taken in the place of a control", File: fileMessage, Old: "d_control != f_begins", New: "d_control && !f_begins"},
		{Name: "data behind the range is of the range", File: fileMessage, Old: "(!d_up && !d_down) || f_left == 24'd0", New: "!d_up && !d_down"},
		{Name: "who does not send in the range may", File: fileMessage, Old: "(!d_up && !d_down) || f_left == 24'd0", New: "f_left == 24'd0"},
		{Name: "who hears nothing in the range may acknowledge", File: fileMessage, Old: "hears && (!c_ranged || d_in_range)", New: "hears || c_ranged"},
		{Name: "an answer out of its range is a word of a wrong role", File: fileMessage, Old: "d_ack && !hears && !c_ranged", New: "d_ack && !hears"},
		{Name: "who did not hear in a range holds up the next", File: fileMessage, At: "assign ack_lift =", Old: "j_state == J_BEGUN && snd_done && begun_all", New: "1'b0"},
		{Name: "who has sent nothing in a range has sent a message", File: fileMessage, Old: "range_opens ? {c_end[23-IN_W:0], {IN_W{1'b1}}} : own_last",
			New: "range_opens ? {c_end[23-IN_W:0] + 1'b1, {IN_W{1'b1}}} : own_last"},
		{Name: "the last endpoint begins no range", File: fileMessage, Old: "j_ei[EP_W-1:0] == LAST_EP[EP_W-1:0]", New: "j_ei[EP_W-1:0] == LAST_EP[EP_W-1:0] - 1'b1"},
		{Name: "results go out with the offsets of the first range", File: fileMessage, Old: "more_reg ? r_number : j_number", New: "2'd0"},
		{Name: "a result that leaves at once goes by the range of another", File: fileMessage, Old: "more_reg ? r_number : j_number", New: "j_number + {1'b0, more_reg}"},
		{Name: "a Reduce counts what its root sends as going up", File: fileMessage, Old: "(c_self & c_parent_mask & ~c_in_mask) != NOBODY", New: "d_down"},
		{Name: "PSNs on a wire begin anew with a range", File: fileSendMessage, Old: "first_psn + gone_next", New: "first_psn - top_reg"},
		{Name: "answers go by the PSNs of the first range", File: fileSendMessage, Old: "snd_psn - on_wire", New: "snd_psn - first_psn"},
		{Name: "all count from 0 with each range", File: fileSendMessage, Old: "gone + unacked_psn - top_reg", New: "gone + unacked_psn"},
		{Name: "a range is a message short", File: fileControl, Old: "{cur_last, 1'b1} + {4'd0, ent_ext[19:0], 1'b1}", New: "{cur_last, 1'b0} + {4'd0, ent_ext[19:0], 1'b1}"},
		{Name: "an answer before the first range is heard", File: fileControl, Old: "is_ack ? cur_valid : !is_control", New: "!is_control"},
	}
}
