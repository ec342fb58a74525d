// SPDX-License-Identifier: Apache-2.0

package checkpipe_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/hdl/checkpipe"
	"incforge/hdl/hdltest/rig"
)

// TestParkingTiming: the cycles that the head of the file states, with pipes that are empty and pipes that are not.
func TestParkingTiming(t *testing.T) {
	t.Parallel()
	p := with(func(p *checkpipe.CheckPipe) { p.Park, p.Counters = 1, counters+1 })
	lib := rig.Lib(t, trio{p})
	for name, c := range map[string]struct {
		contributions int
		drained       bool
	}{"nothing yet": {0, true}, "a contribution": {1, false}, "a result": {2, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, lib, p, 1)
			b.rush = true
			b.Set("cfg_timeout", 60000)
			*b.m.groups[0] = group{base: 4, log2: 3, in: 0b11, out: 0b11, start: mask24 - 1, ends: make([]endpoint, 5), dtype: 3}
			require.NoError(t, b.begin(0))
			n := 0
			b.more = func() *frame {
				if n == c.contributions {
					return nil
				}
				n++
				return &frame{endpoint: n - 1, icrcOK: true, whole: true, opcode: 4, psn: b.expected(0, n-1), plen: 16}
			}
			for len(b.popAt) < c.contributions {
				require.NoError(t, b.cycle())
				require.Less(t, b.Now(), uint64(2000))
			}
			for range 40 { // what that makes it do
				require.NoError(t, b.cycle())
			}
			for range 2 { // it is asked again
				b.Set("park_valid", 1)
				for n := range 3 {
					require.NoError(t, b.cycle())
					require.Equal(t, n == 2, b.Is("park_take"), "cycle %d", n)
				}
				assert.Equal(t, c.drained, b.Is("park_drained"))
				b.Set("park_valid", 0)
				require.NoError(t, b.cycle())
				require.False(t, b.Is("park_take"))
			}
		})
	}
}

// TestParkWaits: a look waits for the frame that has left A, however late its verdict, and then sees what it did; a frame that is still in A stays
// there while the group is asked about.
func TestParkWaits(t *testing.T) {
	t.Parallel()
	p := with(func(p *checkpipe.CheckPipe) { p.Park, p.Counters = 1, counters+1 })
	lib := rig.Lib(t, trio{p})
	stayed, went := 0, 0
	for ask := range uint64(12) {
		b := newBench(t, lib, p, 1)
		b.rush = true
		b.Set("cfg_timeout", 60000)
		*b.m.groups[0] = group{base: 4, log2: 3, in: 0b11, out: 0b11, start: mask24 - 1, ends: make([]endpoint, 5), dtype: 3}
		require.NoError(t, b.begin(0))
		offered := false
		b.more = func() *frame {
			if offered {
				return nil
			}
			offered = true
			return &frame{icrcOK: true, whole: true, opcode: 4, psn: b.expected(0, 0), plen: 16, verdictWait: 40}
		}
		took, drained := uint64(0), false
		for begun := b.Now(); b.Now() < begun+120; {
			b.SetBool("park_valid", b.Now() >= begun+ask)
			require.NoError(t, b.cycle())
			if b.Is("park_take") && took == 0 {
				took, drained = b.Now(), b.Is("park_drained")
			}
		}
		require.NotZero(t, took, "asked in cycle %d", ask)
		if drained {
			require.Empty(t, b.popAt, "asked in cycle %d: a frame was on its way", ask)
			stayed++
			continue
		}
		require.Len(t, b.popAt, 1, "asked in cycle %d", ask)
		require.Greater(t, took, b.popAt[0], "asked in cycle %d", ask)
		went++
	}
	require.Positive(t, stayed)
	require.Positive(t, went)
}
