// SPDX-License-Identifier: Apache-2.0

// Package decider has what inc_check_duplicate and inc_check_pipe share: parameters, their rules, the pins to the blocks around, and
// the parts of a decision that are the same in both modes: how a frame comes in, and by which range (inc_frame_entry), what it is
// (inc_frame_class), the state that the frame ahead of it is about to write (inc_look_ahead), the first reasons to drop it
// (inc_drop_ladder), and the work that waits to be taken (inc_hold_work).
package decider

import "embed"

//go:embed *.v
var files embed.FS
