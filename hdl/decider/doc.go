// SPDX-License-Identifier: Apache-2.0

// Package decider has what inc_check_duplicate, inc_check_pipe and inc_check_message share: parameters, their rules, the pins to the blocks around, and
// the parts of a decision that are the same in all three modes. A frame goes through its steps in inc_frame_steps: how it comes in, and by
// which range (inc_frame_entry), what it is (inc_frame_class), its slot, which the frame ahead of it may be about to write
// (inc_look_ahead), how it ended (inc_drop_ladder). inc_offer_work offers its work on the payload, which waits to be taken
// (inc_hold_work). How far something is past where a pipe or a pool begins, and its size, is found by inc_past. The block of a mode stands between the two and says what the frame does.
package decider

import "embed"

//go:embed *.v
var files embed.FS
