// SPDX-License-Identifier: Apache-2.0

package checkduplicate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/checkduplicate"
	"incforge/hdl/hdltest/rig"
)

// TestParkingTiming: the cycles that the head of the file states, for answers about acknowledgements that take their time.
func TestParkingTiming(t *testing.T) {
	t.Parallel()
	p := with(func(p *checkduplicate.CheckDuplicate) { p.Park, p.Counters = 1, counters+2 })
	lib := rig.Lib(t, steps{p})
	const done = 0xFFFFFD // of a group that quiet has started
	for _, c := range []struct {
		name    string
		data    bool   // of one member
		least   uint64 // acknowledged
		counts  uint64 // somebody's acknowledgements do
		drained bool
	}{
		{"nothing yet", false, done, 1, true},
		{"acknowledged more", false, (done + 3) & mask24, 1, true},
		{"not all acknowledged", false, done - 1, 1, false},
		{"nobody's acknowledgements count", false, done - 1, 0, true},
		{"a contribution", true, done, 1, false},
		{"a contribution, nobody's acknowledgements count", true, done, 0, false},
	} {
		for _, wait := range []int{3, 5} {
			t.Run(fmt.Sprintf("%s, known after %d cycles", c.name, wait), func(t *testing.T) {
				t.Parallel()
				b := quiet(t, lib, p, 1)
				if c.data {
					b.play(func() *frame { return b.data(0) })
					for range 8 {
						b.cycle()
					}
				}
				// from here on the bench knows of no frames, and acknowledgements are asked for the group alone
				b.Set("park_valid", 1)
				b.Set("park_group", 0)
				b.Set("ack_rest", c.least)
				b.Set("ack_rest_any", c.counts)
				asked := -1
				for n := range 5 + wait {
					b.SetBool("ack_ready", asked >= 0 && n-asked >= wait)
					b.Clock()
					if b.Is("ack_rd") {
						require.Equal(t, 2, n, "a cycle to begin, one to read")
						require.Zero(t, b.Get("ack_group"))
						asked = n
					}
					require.Equal(t, n == 4+wait, b.Is("park_take"), "cycle %d", n)
				}
				assert.Equal(t, c.drained, b.Is("park_drained"))
			})
		}
	}
}
