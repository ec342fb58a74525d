// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/verify/rig"
)

// TestEnginesNotices: the reference takes one frame at a time, whatever engine it is for, so engines there are neither faster together nor apart in time.
func TestEnginesNotices(t *testing.T) {
	p := synthetic.Mini()
	p.Engines, p.Groups, p.Ports = 2, 1, 8
	d := designOf(2, p)
	m := metrics{}
	require.ErrorIs(t, engineIsolation(t.Context(), Options{Seed: 1}, d, m), ErrNotIsolated)
	assert.Positive(t, m["engine_frames"])
	assert.Positive(t, m["engine_frames_moved"], "in time")

	s, err := newSwitchBench(t.Context(), d, 1)
	require.NoError(t, err)
	require.NoError(t, s.t.Run(func(*rig.T) {
		one, two := s.rate(1, 256, false), s.rate(2, 256, false)
		assert.InDelta(t, one, two, 0.1)
	}))
}
