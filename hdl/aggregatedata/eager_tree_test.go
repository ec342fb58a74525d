// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/hdltest/rig"
	"incforge/inc"
	"incforge/sim"
)

// TestEagerTreeLatency: from the last contribution to the result, in a chip28, whatever pair comes last: 6 cycles for the pair, one more to be
// an operand, and the adder's two for each level. Where works come so fast that nothing is merged before, all pairs are read first.
// From the verdict on a speculative one, whose siblings are operands by then, it is one, and as many for the levels, and one to leave S.
func TestEagerTreeLatency(t *testing.T) {
	t.Parallel()
	for planes, want := range map[int]struct{ alone, verdict, most uint64 }{2: {9, 4, 14}, 4: {11, 6, 18}, 8: {14, 8, 25}} {
		t.Run(fmt.Sprintf("%d pairs", planes), func(t *testing.T) {
			t.Parallel()
			p := eager(chip(planes))
			lib := rig.Lib(t, p)
			for last := range planes {
				require.Equal(t, want.alone, lastToResult(t, lib, p, last, 40, false), "pair %d last", last)
				require.LessOrEqual(t, lastToResult(t, lib, p, last, 0, false), want.most, "pair %d last, back to back", last)
				require.Equal(t, want.verdict, lastToResult(t, lib, p, last, 40, true), "pair %d last, speculative", last)
			}
		})
	}
}

// lastToResult is the cycles from the last contribution, or the verdict on it, to the result, where each comes some cycles after the one before.
func lastToResult(t *testing.T, lib *sim.Lib, p aggregatedata.AggregateData, last, wait int, spec bool) uint64 {
	t.Helper()
	b := newBench(t, lib, p, 1)
	s := &slot{unit: 0, dtype: inc.DTypeFP32}
	m, seen := newModel(p), uint64(0)
	for i := range 2 * p.Planes {
		e := (2*last + 2 + i) % (2 * p.Planes)
		seen |= 1 << e
		b.add(frame{data: b.payload(1), words: 1, slot: s, endpoint: e, read: e%2 == 1, take: true, write: true, wait: wait,
			spec: spec, commit: true, reduce: i == 2*p.Planes-1, pairs: pairs(seen)})
	}
	b.run(t)
	for _, f := range b.frames {
		m.applyTree(f)
	}
	require.Equal(t, m.emitted, b.emitted)
	at := b.opAt
	if spec {
		at = b.decideAt
	}
	return b.emitAt[0] - at[len(at)-1]
}

// TestEagerMerges: works with time between them, so that most nodes are merged, and merging meets works of every kind.
func TestEagerMerges(t *testing.T) {
	t.Parallel()
	for name, p := range shapes() {
		if !p.Eager {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			for seed := range uint64(8) {
				b := newBench(t, lib, p, 100+seed)
				b.arrive = often(b.rng, []int{8, 4, 15, 2}[seed%4])
				b.room = often(b.rng, []int{100, 60}[seed%2])
				m := newModel(p)
				b.addTree(40)
				b.run(t)
				for _, f := range b.frames {
					m.applyTree(f)
				}
				require.Equal(t, m.emitted, b.emitted, "seed %d", seed)
				require.NotContains(t, b.bad, true)
				require.Zero(t, b.corrected+b.double)
			}
		})
	}
}

// TestEagerPoison: a double error of one contribution marks all that is made with the pair, merged or not, a single one nothing.
func TestEagerPoison(t *testing.T) {
	t.Parallel()
	p := eager(chip(8))
	lib := rig.Lib(t, p)
	for _, wait := range []int{0, 60} {
		for flips := range uint64(3) {
			b := newBench(t, lib, p, flips)
			b.inject = map[int]uint64{3: flips}
			for round := range 2 {
				for e := range 16 {
					wait := wait
					if e < 5 { // bits are inverted in the row that is written next
						wait = 60
					}
					b.add(frame{data: b.payload(2), words: 2, slot: b.slots[0], endpoint: e, read: e%2 == 1, take: true, write: true, wait: wait,
						reduce: e == 15, pairs: pairs(1<<(e+1) - 1)})
				}
				b.add(frame{words: 2, slot: b.slots[0], reduce: true, pairs: 1<<8 - 1, wait: 60 * round})
			}
			b.run(t)
			m := newModel(p)
			for _, f := range b.frames {
				m.applyTree(f)
			}
			require.Len(t, b.bad, 8)
			for i, bad := range b.bad {
				poisoned := flips == 2 && (i == 0 || i == 2)
				require.Equal(t, poisoned, bad, "%d flips, wait %d, word %d", flips, wait, i)
				if !poisoned {
					require.Equal(t, m.emitted[i], b.emitted[i], "%d flips, wait %d, word %d", flips, wait, i)
				}
			}
			require.Equal(t, flips == 1, b.corrected > 0, "corrected %d", b.corrected)
			require.Equal(t, flips == 2, b.double > 0, "double %d", b.double)
		}
	}
}
