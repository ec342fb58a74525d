// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"incforge/control/store"
)

// willing is memory that does as it is told.
type willing struct{}

func (willing) Give(string, int, int) error { return nil }
func (willing) Take(string) (bool, error)   { return true, nil }
func (willing) Evict(string) error          { return nil }

// The tables of a switch's engines share a store, and nothing else: each has all its slots, and after a restart its own turns and fences.
func TestTablesOfEngines(t *testing.T) {
	s := store.NewMemory()
	tables := func() (all [2]*Table) {
		for e := range all {
			all[e] = &Table{Engine: e, Slots: 8, Runs: true, Memory: willing{}, Store: s, Now: func() time.Time { return time.Unix(1, 0) }}
			require.NoError(t, all[e].Load())
		}
		return all
	}
	both := tables()
	require.NoError(t, both[0].Lock("a", 3, 8, time.Second, false))
	require.NoError(t, both[1].Lock("b", 5, 6, time.Second, false))
	require.ErrorIs(t, both[1].Lock("c", 6, 4, time.Second, false), ErrBusy)
	both = tables()
	require.Equal(t, []int{0, 2}, []int{both[0].Free(), both[1].Free()})
	turn, ok := both[1].Turn("b")
	require.True(t, ok)
	require.Equal(t, 1, turn.Engine)
	_, ok = both[0].Turn("b")
	require.False(t, ok)
	require.ErrorIs(t, both[1].Lock("b", 4, 6, time.Second, false), ErrStale)
	require.NoError(t, both[1].Unlock("b", 5))
	require.NoError(t, both[1].Lock("c", 7, 4, time.Second, false))
	require.NoError(t, both[0].Forget("a"))
	both = tables()
	require.Equal(t, []int{8, 4}, []int{both[0].Free(), both[1].Free()})
}
