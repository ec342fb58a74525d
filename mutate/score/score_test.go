// SPDX-License-Identifier: Apache-2.0

package score

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	t.Parallel()
	result := func(n int, block string, v Verdict, seconds float64) Result {
		r := Result{Verdict: v, Seconds: seconds}
		r.Number, r.Module = n, block
		if v == Killed {
			r.By = "all"
		}
		return r
	}
	r := Report{Mutants: []Result{result(4, "b", Survived, 9), result(1, "a", Killed, 1), result(3, "b", Equivalent, 0), result(2, "a", Killed, 2),
		result(5, "b", GivenUp, 60), result(6, "b", Killed, 3)}}
	r.Finish()
	assert.Equal(t, Counts{Mutants: 6, Equivalent: 1, Killed: 3, Survived: 1, GivenUp: 1}, r.Total)
	assert.InDelta(t, 60, r.Total.Percent(), 0)
	assert.Equal(t, []Counts{{Block: "a", Mutants: 2, Killed: 2}, {Block: "b", Mutants: 4, Equivalent: 1, Killed: 1, Survived: 1, GivenUp: 1}}, r.Blocks)
	assert.InDelta(t, 3, r.Median, 0)
	assert.Equal(t, map[string]int{"all": 3}, r.Scenarios)
	living := r.Living()
	require.Len(t, living, 2)
	assert.Equal(t, []int{4, 5}, []int{living[0].Number, living[1].Number})
}
