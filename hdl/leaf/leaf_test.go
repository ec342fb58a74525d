// SPDX-License-Identifier: Apache-2.0

package leaf_test

import (
	"embed"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

//go:embed leaf.go
var files embed.FS

// TestClog2 holds Clog2 to the words of IEEE 1364-2005, 17.11.1: the least w with 2**w >= n, and 0 for 0.
func TestClog2(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 4100; n++ {
		w := leaf.Clog2(n)
		require.GreaterOrEqual(t, 1<<w, n)
		if w > 0 {
			require.Less(t, 1<<(w-1), n)
		}
	}
	assert.Zero(t, leaf.Clog2(0))
	assert.Zero(t, leaf.Clog2(-5), "no width comes from a number that is none")
	assert.Equal(t, 63, leaf.Clog2(math.MaxInt))
}

func TestPow2(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{-1: 0, 0: 1, 1: 2, 10: 1024, 62: 1 << 62, 63: 0, 64: 0, math.MaxInt: 0, math.MinInt: 0} {
		assert.Equal(t, want, leaf.Pow2(n), "2**%d", n)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	r := leaf.NewRules("inc_x")
	require.NoError(t, r.Err())
	r.Refuse(false, "A must be odd")
	require.NoError(t, r.Err())
	r.Refuse(true, "B must be even")
	r.Refuse(true, "C must be prime")
	require.EqualError(t, r.Err(), "inc_x: B must be even\ninc_x: C must be prime", "every reason, not the first alone")
}

func TestPortsAndSource(t *testing.T) {
	t.Parallel()
	assert.Equal(t, graph.Port{Name: "a", Width: 3, Dir: graph.In}, leaf.In("a", 3))
	assert.Equal(t, graph.Port{Name: "b", Width: 4, Dir: graph.Out}, leaf.Out("b", 4))
	_, err := leaf.Source(files, "inc_x")
	require.ErrorContains(t, err, "source of inc_x")
}
