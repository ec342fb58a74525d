// SPDX-License-Identifier: Apache-2.0

package parser_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/parser"
)

// TestBypassedFrameNeedsNoRoom: once a frame is known to be bypassed only room_raw stops it, all of it is to be kept, and the frame behind it
// does not slip in with it. Of one that is not, what the longest payload may lie in.
func TestBypassedFrameNeedsNoRoom(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, parser.Parser{Bytes: 64, PortW: 2, MTUBytes: 1024, LenW: 11, WordsW: 5})
	for _, bypassed := range []bool{true, false} {
		for _, roomLeft := range []bool{true, false} {
			r := rig.New(t, lib, 3)
			const beats = 40
			full := make([]byte, 8)
			for i := range full {
				full[i] = 0xFF
			}
			r.SetBytes("s_axis_tkeep", full)
			r.SetBool("room", true)
			r.SetBool("room_raw", true)
			taken, kept, came, offered := 0, 0, 0, 0
			decision := -1 // cycles until LookupTable answers
			for cycle := range 200 {
				r.SetBool("s_axis_tvalid", true)
				r.SetBool("s_axis_tlast", offered%beats == beats-1)
				r.SetBool("fwd_valid", decision == 0)
				r.SetBool("fwd_bypass", decision == 0 && bypassed)
				if cycle == 20 {
					r.SetBool("room", roomLeft)
				}
				r.SetBool("room_raw", cycle < 30 || cycle >= 40)
				r.Clock()
				if decision--; r.Is("hdr_valid") {
					decision = 0
				}
				if r.Is("s_axis_tready") {
					taken++
					offered++
				}
				if r.Is("raw_valid") && came < beats {
					came++
					if r.Is("raw_store") {
						kept++
					}
				}
				if !roomLeft && cycle > 31 && cycle < 40 {
					require.False(t, r.Is("s_axis_tready"), "no room at all, cycle %d", cycle)
				}
			}
			switch {
			case bypassed:
				assert.Equal(t, came, kept)
			case roomLeft:
				assert.Equal(t, 1024/64+1, kept, "headers and payload of one of 1,024 bytes")
			}
			switch {
			case roomLeft:
				assert.Greater(t, taken, 2*beats)
			case bypassed:
				assert.Equal(t, beats, taken, "the whole frame, and nothing of the next")
			default:
				assert.Less(t, taken, beats, "a frame of the engine's waits for room")
			}
		}
	}
}
