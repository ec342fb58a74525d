// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// psns favours the ends of the range.
func psns() *rapid.Generator[PSN] {
	return rapid.Map(rapid.OneOf(rapid.Uint32Max(PSNMask), rapid.Uint32Range(PSNMask-9, PSNMask), rapid.Uint32Max(9),
		rapid.Uint32Range(1<<23-5, 1<<23+5)), func(v uint32) PSN { return PSN(v) })
}

func TestPSNTable(t *testing.T) {
	for _, tc := range []struct {
		p, q PSN
		diff int
		max  PSN
	}{
		{0, 0, 0, 0},
		{1, 0, 1, 1},
		{0, 0xFFFFFF, 1, 0},
		{0xFFFFFF, 0, -1, 0},
		{0x000010, 0xFFFFF0, 0x20, 0x10},
		{0x7FFFFF, 0, 1<<23 - 1, 0x7FFFFF},
		{0x800000, 0, -1 << 23, 0x800000}, // as far as it gets: each is before the other, Max keeps its receiver
		{0, 0x800000, -1 << 23, 0},
		{0x800001, 0, -(1<<23 - 1), 0},
	} {
		require.Equal(t, tc.diff, tc.p.Diff(tc.q), "%v - %v", tc.p, tc.q)
		require.Equal(t, tc.diff < 0, tc.p.Before(tc.q))
		require.Equal(t, tc.max, tc.p.Max(tc.q), "max of %v, %v", tc.p, tc.q)
	}
	require.Equal(t, PSN(0), PSN(0xFFFFFF).Next())
	require.Equal(t, PSN(0xFFFFFF), PSN(0).Prev())
	require.Equal(t, "0x00abcd", PSN(0xabcd).String())
	require.Equal(t, PSN(0xabcdef).String(), PSN(0x12abcdef).String())
}

func TestPSNProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := psns().Draw(t, "p"), psns().Draw(t, "q")
		n := rapid.IntRange(-(1<<23), 1<<23-1).Draw(t, "n")
		wild := rapid.Int().Draw(t, "wild")
		junk := PSN(rapid.Uint32Max(255).Draw(t, "junk")) << 24

		require.Equal(t, n, p.Add(n).Diff(p), "Diff undoes Add")
		require.Equal(t, p, q.Add(p.Diff(q)), "Add undoes Diff")
		d := p.Diff(q)
		require.True(t, d >= -(1<<23) && d < 1<<23)
		require.Zero(t, (d-(int(p)-int(q)))%(1<<24), "Diff is the difference mod 2^24")
		require.LessOrEqual(t, p.Add(wild), PSN(PSNMask))
		require.Equal(t, p, p.Add(wild).Add(-wild))
		require.Equal(t, p, p.Next().Prev())
		require.Equal(t, 1, p.Next().Diff(p))

		if d != -(1 << 23) {
			require.Equal(t, -d, q.Diff(p))
			require.Equal(t, p.Max(q), q.Max(p))
			require.False(t, p.Max(q).Before(p) || p.Max(q).Before(q))
		}
		require.Contains(t, []PSN{p, q}, p.Max(q))

		require.Equal(t, d, (p | junk).Diff(q), "bits 31:24 do not matter")
		require.Equal(t, d, p.Diff(q|junk))
		require.Equal(t, p.Add(n), (p | junk).Add(n))
		require.Equal(t, p.Max(q), (p | junk).Max(q|junk))
	})
}
