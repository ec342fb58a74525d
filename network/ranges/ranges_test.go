// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPiecesCoverAll(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 1000} {
		total := 0
		for r := range 7 {
			piece := Pieces(n, 7, r+1) - Pieces(n, 7, r)
			assert.Contains(t, []int{n / 7, n/7 + 1}, piece)
			total += piece
		}
		assert.Equal(t, n, total)
	}
}

func TestCollectiveNames(t *testing.T) {
	for _, c := range Collectives() {
		text, err := c.MarshalText()
		require.NoError(t, err)
		var back Collective
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, c, back)
	}
	assert.ErrorContains(t, new(Collective).UnmarshalText([]byte("gather")), "allreduce")
	assert.Equal(t, "collective 77", Collective(77).String())
}
