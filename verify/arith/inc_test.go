// SPDX-License-Identifier: Apache-2.0

package arith_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/inc"
	"incforge/verify/arith"
)

// TestReferenceAgrees: the two opinions that judge every engine are the same, on values as hard as they come.
func TestReferenceAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, k := range arith.Kinds(15, 7) {
		for _, ranks := range []int{1, 2, 3, 5, 8, 17, 32} {
			parts := make([][]byte, ranks)
			for i := range parts {
				parts[i] = k.Noise(rng, 2048)
			}
			require.Equal(t, inc.Reduce(uint8(k.DType), uint8(k.Op), k.BigEndian, parts), k.InOrder(parts...), k)
			require.Equal(t, inc.ReduceTree(uint8(k.DType), uint8(k.Op), k.BigEndian, parts), k.Tree(parts), k)
			for i := range parts[1:] {
				if rng.IntN(3) == 0 {
					parts[i+1] = nil
				}
			}
			require.Equal(t, inc.ReduceTree(uint8(k.DType), uint8(k.Op), k.BigEndian, parts), k.Tree(parts), k)
		}
	}
}
