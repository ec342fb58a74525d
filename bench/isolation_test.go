// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/synthetic"
	"incforge/verify/dut"
)

func TestIsolation(t *testing.T) {
	for _, mode := range []int{2, 3, 1} {
		p := synthetic.Mini()
		if mode == 1 { // room for two groups of two pools of messages
			p.BufferBytes = 65536
		}
		b, err := benchIsolation(t.Context(), Options{Seed: 1}, designOf(mode, p))
		require.NoError(t, err, "mode %d", mode)
		assert.Zero(t, b.Metrics["counters_moved"])
		assert.Greater(t, b.Metrics["neighbour_resent"], 10.0)
		assert.Greater(t, b.Metrics["beside_chaos_cycles"], b.Metrics["alone_cycles"], "they share a stream")
		assert.Less(t, b.Metrics["chaos_over_bound"], 1.0)
	}
}

// forgetful loses some frames after it has sent many: only with a neighbour are there so many.
type forgetful struct {
	dut.DUT
	sent int
}

func (f *forgetful) Out() []dut.Frame {
	var out []dut.Frame
	for _, o := range f.DUT.Out() {
		if f.sent++; f.sent < 2300 || f.sent > 2400 {
			out = append(out, o)
		}
	}
	return out
}

func TestIsolationNotices(t *testing.T) {
	m := synthetic.Manifest(synthetic.Mini())
	_, err := benchIsolation(t.Context(), Options{Seed: 1}, design{m, func(uint64) (dut.DUT, error) {
		d, err := dut.NewReference(m)
		return &forgetful{DUT: d}, err
	}})
	require.ErrorIs(t, err, ErrNotIsolated)

	p := synthetic.Mini()
	p.Groups = 1
	_, err = benchIsolation(t.Context(), Options{}, designOf(2, p))
	require.ErrorContains(t, err, "two groups")
}
