// SPDX-License-Identifier: Apache-2.0

package endtoend

// releaseFaults are of releases, and of what comes behind them (docs/termination.md section 6).
func releaseFaults() []Fault {
	return []Fault{
		{Name: "a release does not wait for those who hear", File: fileRelease, Old: "(!has_a || start_a == bound_reg) && (!has_b || start_b == bound_reg)",
			New: "!has_a || start_a == bound_reg"},
		{Name: "the first iteration is a message too long", File: fileRelease, Old: "init_psn + {1'b0, length}", New: "init_psn + {1'b0, length} + 24'd1"},
		{Name: "the next iteration ends where the first did", File: fileRelease, Old: "bound_reg + {1'b0, length}", New: "bound_reg"},
		{Name: "results of the next iteration do not wait", File: fileRelease, Old: "job_bounded && !limit_past[23]", New: "1'b0"},
		{Name: "a result that leaves with its last packet does not wait", File: fileRelease, Old: "in_see_ok && !(job_bounded && !see_past[23])", New: "in_see_ok"},
		{Name: "hosts are told that did not send", File: fileRelease, Old: "senders & host_reg", New: "host_reg"},
		{Name: "switches are told", File: fileRelease, Old: "senders & host_reg", New: "senders"},
		{Name: "releases are not counted", File: fileRelease, Old: "g == C_TX_RELEASE && puts_reg", New: "1'b0"},
		{Name: "what waited for a release is not sent", File: fileRelease, Old: "in_snd_note || (in_snd_act && news)", New: "in_snd_note"},
		{Name: "a release that is sent again counts as the first", File: fileSendMessage, Old: "again && (!rel_owed || rel_sent)", New: "again && !rel_owed"},
		{Name: "the first release counts as sent again", File: fileSendMessage, Old: "again && (!rel_owed || rel_sent)", New: "again"},
		{Name: "data goes by the PSNs of the first iteration", File: fileRelease, Old: "tx_number", At: "assign tx_rng =", New: "2'd0"},
		{Name: "PSNs behind a release are as before it", File: fileSendMessage, Old: "on_wire + {23'd0, rel_owes}", New: "on_wire"},
		{Name: "answers behind a release are taken for those before it", File: fileSendMessage, Old: "snd_psn - on_wire", New: "snd_psn - first_psn"},
		{Name: "a release has a message's bytes", File: fileSendMessage, At: ".length (", Old: "released ? {OFF_W{1'b0}} : partly_reg ? {1'b1, {(OFF_W-1){1'b0}}} : msg_length",
			New: "partly_reg ? {1'b1, {(OFF_W-1){1'b0}}} : msg_length"},
		{Name: "an acknowledged release moves its pool", File: fileSendMessage, Old: "owe_reg || rel_owed", New: "owe_reg"},
		{Name: "who sends alone may not acknowledge its release", File: fileMessage, Old: "(c_self & f_releases) != NOBODY", New: "1'b0"},
	}
}

// parkReleaseFaults are of groups with releases that are parked.
func parkReleaseFaults() []Fault {
	return []Fault{
		{Name: "a group is parked that owes releases", File: fileRelease, Old: "in_park_drained && owing_group == {GROUPS{1'b0}}", New: "in_park_drained"},
		{Name: "a group is parked whose releases are not acknowledged", File: fileRelease, Old: "due_reg || walks_reg || releasing_reg", New: "due_reg || walks_reg"},
		{Name: "a group with releases is never drained", File: fileRelease, Old: "park_group == G && (due_reg || walks_reg || releasing_reg)", New: "park_group == G"},
	}
}

// rangeReleaseFaults are of in-band groups with releases, whose iterations are ranges.
func rangeReleaseFaults() []Fault {
	return []Fault{
		{Name: "a range opens before releases are acknowledged", File: fileMessage, Old: "is_drained && !owes_wide[{1'b0, c_group}]", New: "is_drained"},
		{Name: "a range of which nobody is told never ends", File: fileRelease, Old: "bounded[g] && ranged_reg && !ends_range", New: "armed_reg && ranged_reg && !ends_range"},
		{Name: "who sends by the registers is told of a range", File: fileRelease, Old: "ranged_reg ? sends_reg : length != 23'd0 ? senders : NOBODY",
			New: "ranged_reg || length != 23'd0 ? senders : NOBODY"},
		{Name: "a Reduce waits for those who hear by the registers", File: fileRelease, Old: "ranged_reg ? b_reg : collective_reg != REDUCE", New: "collective_reg != REDUCE"},
		{Name: "a Broadcast waits for what goes up by the registers", File: fileRelease, Old: "ranged_reg ? a_reg : has_parent", New: "has_parent"},
		{Name: "a range is over a message early", File: fileRelease, Old: "rng_last + 24'd1", New: "rng_last"},
		{Name: "the root of a Broadcast is not told", File: fileMessage, Old: "c_reduces ? c_in_mask : c_in_mask | c_parent_mask", New: "c_in_mask"},
		{Name: "PSNs behind a range's release are as before it", File: fileSendMessage, Old: "gone + {23'd0, rel_owes}", New: "gone"},
		{Name: "a range forgets the releases before it", File: fileSendMessage, Old: "gone + unacked_psn - top_reg", New: "unacked_psn - top_reg"},
	}
}
