// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// TestStream: in either mode and order everything that is offered is added, with a pipe full nowhere, and the middle of it is measured.
func TestStream(t *testing.T) {
	for _, mode := range []int{2, 3} {
		d := designOf(mode, synthetic.Mini())
		r := rig.New(t.Context(), d.man, "bench", 1, func(seed uint64, _ int) (dut.DUT, error) { return d.open(seed) })
		require.NoError(t, r.Run(func(r *rig.T) {
			for _, worst := range []bool{false, true} {
				g := r.Engine().Group(0, 1, 4, false)
				s := stream(g, traffic{bytes: 64, worst: worst, every: one(r.Pipes())})
				offered := throughputRounds * 4
				if r.Pipes() { // and the ACKs
					offered += (throughputRounds - g.MW()*3/4) * 4
				}
				assert.Equal(t, offered-2*4*g.MW(), s.frames)
				assert.GreaterOrEqual(t, s.beats, 8*s.frames, "ACKs have 8 beats, data more")
				assert.Positive(t, s.cycles)
			}
		}), "mode %d", mode)
	}
}
