// SPDX-License-Identifier: Apache-2.0

package ranges_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/inc"
	"incforge/network/ranges"
)

func TestPartsCoverAll(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 1000} {
		total := 0
		for r := range 7 {
			first, beyond := ranges.Part(n, 7, r)
			assert.Equal(t, total, first)
			assert.Contains(t, []int{n / 7, n/7 + 1}, beyond-first)
			total = beyond
		}
		assert.Equal(t, n, total)
	}
}

func TestCollectiveNames(t *testing.T) {
	for _, c := range ranges.Collectives() {
		text, err := c.MarshalText()
		require.NoError(t, err)
		var back ranges.Collective
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, c, back)
	}
	assert.ErrorContains(t, new(ranges.Collective).UnmarshalText([]byte("gather")), "allreduce")
	assert.Equal(t, "collective 77", ranges.Collective(77).String())
}

// Every byte is in one message of one range, no range has more packets than its control says, and no message more than it may.
func TestCut(t *testing.T) {
	for _, n := range []int{0, 4, 256, 257, 1000, 5000} {
		for _, fixed := range []bool{false, true} {
			for _, kind := range []ranges.Collective{ranges.AllReduce, ranges.Reduce, ranges.Broadcast} {
				s := ranges.Shape{MTU: 256, Packets: 3, RangePackets: 7, Fixed: fixed}
				all := s.Cut(kind, 2, 3, 1, n)
				at := 0
				for _, r := range all {
					require.Equal(t, at, r.From)
					packets, inRange := 0, 0
					for i := range r.Messages {
						from, to := r.Bounds(i)
						require.Equal(t, inRange, from)
						if r.HasControl && i == 0 {
							require.Equal(t, from, to)
							continue
						}
						require.True(t, to > from || n == 0, "a message without payload")
						require.LessOrEqual(t, to-from, 3*256)
						packets += max((to-from+255)/256, 1)
						inRange = to
					}
					require.Equal(t, r.Bytes(), inRange)
					at = r.To
					require.Equal(t, !fixed, r.HasControl)
					if !fixed {
						want := inc.Control{Collective: uint8(kind), Op: 1, DType: 3, Packets: packets}
						if kind.Rooted() {
							want.Root = 2
						}
						require.Equal(t, want, inc.ControlOf(r.Control))
					}
					require.Equal(t, kind != ranges.Broadcast, r.Sends(1))
					require.Equal(t, kind == ranges.AllReduce || kind == ranges.Broadcast, r.Hears(1))
					require.Equal(t, kind != ranges.Broadcast, r.Hears(2))
				}
				require.Equal(t, n, at)
				require.Len(t, all, max((n+7*256-1)/(7*256), 1))
			}
		}
	}
}
