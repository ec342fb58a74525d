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
// and results leave at once. A tree that is to be faster must not take more.
func TestTreeTraffic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		members, words, every int
		together              bool
		most                  float64
	}{
		{8, 1, 2, true, 2.01}, {8, 1, 2, false, 2.25}, {8, 4, 5, true, 5.28}, {8, 4, 5, false, 6.35},
		{16, 1, 2, true, 2.01}, {16, 1, 2, false, 2.19}, {16, 4, 5, true, 5.28}, {16, 4, 5, false, 6.35},
	} {
		t.Run(fmt.Sprintf("%d members, %d words, together %v", c.members, c.words, c.together), func(t *testing.T) {
			t.Parallel()
			p := eager(chip(c.members / 2))
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
			t.Log(float64(b.opAt[last]-b.opAt[0])/float64(last), c.most)
		})
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
