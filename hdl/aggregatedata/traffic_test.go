// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/hdltest/rig"
	"incforge/inc"
)

// chip is the aggregator of a chip28 but for its widths: error correction, two banks, an adder of two stages.
func chip(planes int) aggregatedata.AggregateData {
	return tree(with(all(2), func(p *aggregatedata.AggregateData) { p.ECC, p.Banks, p.PktW = 1, 2, 6 }), planes)
}

// traffic has members contribute to all slots, some times over: all of them to a slot before the next, or each to all slots in turn.
func (b *bench) traffic(members, words int, together bool) {
	const rounds = 10
	slots := b.p.Slots
	full := uint64(1)<<members - 1
	for range rounds {
		seen := make([]uint64, slots)
		order := b.rng.Perm(members)
		for i := range slots * members {
			at, e := i%slots, order[i/slots]
			if together {
				at, e = i/members, order[i%members]
			}
			partner := seen[at]>>(e^1)&1 != 0
			seen[at] |= 1 << e
			b.add(frame{data: b.payload(words), words: words, slot: &slot{unit: at, dtype: inc.DTypeFP32}, endpoint: e, read: partner, take: true,
				write: true, reduce: seen[at] == full, pairs: pairs(seen[at])})
		}
	}
}

// TestTreeTraffic: cycles a work, where works come as fast as a bus of 1,024 bytes brings packets of 1 KB, in 2 cycles, and of 4 KB, in 5,
// and results leave at once: of the tree that begins when a slot is complete, and of the eager one.
func TestTreeTraffic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		members, words, every int
		together              bool
		most                  [2]float64
	}{
		{8, 1, 2, true, [2]float64{2.01, 2.03}}, {8, 1, 2, false, [2]float64{2.25, 2.23}},
		{8, 4, 5, true, [2]float64{5.28, 5.29}}, {8, 4, 5, false, [2]float64{6.35, 6.25}},
		{16, 1, 2, true, [2]float64{2.01, 2.01}}, {16, 1, 2, false, [2]float64{2.19, 2.17}},
		{16, 4, 5, true, [2]float64{5.28, 5.28}}, {16, 4, 5, false, [2]float64{6.35, 6.32}},
	} {
		for i, most := range c.most {
			t.Run(fmt.Sprintf("%d members, %d words, together %v, eager %v", c.members, c.words, c.together, i == 1), func(t *testing.T) {
				t.Parallel()
				p := chip(c.members / 2)
				p.Eager = i == 1
				b := newBench(t, rig.Lib(t, p), p, 1)
				b.traffic(c.members, c.words, c.together)
				clock := 0
				b.arrive = func() bool { clock++; return clock%c.every < c.words }
				b.run(t)
				m := newModel(p)
				for _, f := range b.frames {
					m.applyTree(f)
				}
				require.Equal(t, m.emitted, b.emitted)
				last := len(b.opAt) - 1
				require.LessOrEqual(t, float64(b.opAt[last]-b.opAt[0])/float64(last), most)
			})
		}
	}
}

// pairs are those with an endpoint of the mask.
func pairs(seen uint64) uint64 {
	var out uint64
	for p := range 32 {
		if seen>>(2*p)&3 != 0 {
			out |= 1 << p
		}
	}
	return out
}
