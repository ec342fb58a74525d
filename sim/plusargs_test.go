// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/sim"
)

// TestPlusArgs: instances of one library, alive at the same time, each have their own plusargs, from before the first cycle; and a
// model that reads them when it begins still stands still.
func TestPlusArgs(t *testing.T) {
	t.Parallel()
	lib := compile(t, sim.Build{Top: "chosen", Files: []string{"testdata/chosen.v"}})
	tests := []struct {
		args []string
		want uint32
	}{
		{nil, 0},
		{[]string{"choice=7"}, 7},
		{[]string{"else=3", "choice=12"}, 12},
		{[]string{"choices=9"}, 0},
	}
	models := make([]*sim.Model, len(tests))
	for i, test := range tests {
		models[i] = start(t, lib, sim.Options{Random: true, Seed: uint64(i), SkipStill: true, PlusArgs: test.args})
	}
	for i, test := range tests {
		number, err := models[i].Port("number")
		require.NoError(t, err)
		count, err := models[i].Port("count")
		require.NoError(t, err)
		assert.EqualValues(t, test.want, number.Uint64(), "%v: before the first cycle", test.args)
		require.NoError(t, models[i].ResetFor(1))
		for range 200 {
			require.NoError(t, models[i].Tick())
		}
		assert.EqualValues(t, test.want, count.Uint64(), "%v", test.args)
		assert.Positive(t, models[i].Skipped(), "%v: cycles left out", test.args)
	}
}
