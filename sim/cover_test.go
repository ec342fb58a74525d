// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/sim"
	"incforge/sim/verilate"
)

// TestCoverage: what a run did not come to has no count, of each instance for itself; a model that does not count says so.
func TestCoverage(t *testing.T) {
	t.Parallel()
	lib := compile(t, sim.Build{Top: "chosen", Files: []string{"testdata/chosen.v"}, Cover: true, Brief: true})
	require.True(t, lib.Covered())
	counts := func(choice string) map[string]uint64 {
		m := start(t, lib, sim.Options{SkipStill: true, PlusArgs: []string{"choice=" + choice}})
		require.NoError(t, m.ResetFor(1))
		for range 20 {
			require.NoError(t, m.Tick())
		}
		points, counts, err := m.Coverage()
		require.NoError(t, err)
		require.Len(t, counts, len(points))
		all := map[string]uint64{}
		for i, p := range points {
			assert.Equal(t, "chosen.v", p.File)
			if p.Kind == verilate.CoverToggle {
				all[p.What] = counts[i]
			} else if p.Line == 17 { // else if (count != number)
				all[p.What] += counts[i]
			}
		}
		return all
	}
	still, three := counts("0"), counts("3")
	assert.Zero(t, still["if"])
	assert.EqualValues(t, 3, three["if"])
	assert.Positive(t, still["else"])
	assert.Positive(t, three["count[1]"])
	assert.Zero(t, three["count[2]"])
}
