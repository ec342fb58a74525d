// SPDX-License-Identifier: Apache-2.0

package icrc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFolds: the polynomial divides them, and they come in the order in which they are used.
func TestFolds(t *testing.T) {
	t.Parallel()
	highest := 1 << 14
	for _, terms := range folds() {
		sum := uint32(0)
		for _, e := range terms {
			v := uint32(1) << 31 // x to the power of 0
			for range e {
				v = zeroBit(v)
			}
			sum ^= v
		}
		require.Zero(t, sum, "%v", terms)
		require.Less(t, terms[0], highest)
		highest = terms[0]
	}
}
