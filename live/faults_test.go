// SPDX-License-Identifier: Apache-2.0

package live

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/live/groups"
)

// frames goes through a lane with frames 0 to n−1, of one byte each, and returns what goes on and how often each fate befell.
func frames(f Faults, seed uint64, n int) (on []byte, count [held + 1]int) {
	l := newLane(f, seed, 3)
	for i := range n {
		out, what := l.pass([]byte{byte(i)})
		count[what]++
		for _, o := range out {
			on = append(on, o...)
		}
	}
	for _, o := range l.overdue() {
		on = append(on, o...)
	}
	return on, count
}

func TestLane(t *testing.T) {
	const n = 200
	straight := make([]byte, n)
	for i := range straight {
		straight[i] = byte(i)
	}
	on, _ := frames(Faults{}, 1, n)
	assert.Equal(t, straight, on)
	on, count := frames(Faults{Loss: 0.25, Duplicate: 0.125, Reorder: 0.125}, 1, n)
	assert.Len(t, on, n-count[lost]+count[doubled])
	for what, want := range map[fate]int{lost: 50, doubled: 20, held: 20} {
		assert.InDelta(t, want, count[what], float64(want)/2, "%d", what)
	}
	again, _ := frames(Faults{Loss: 0.25, Duplicate: 0.125, Reorder: 0.125}, 1, n)
	assert.Equal(t, on, again, "the same seed")
	other, _ := frames(Faults{Loss: 0.25, Duplicate: 0.125, Reorder: 0.125}, 2, n)
	assert.NotEqual(t, on, other)
	on, count = frames(Faults{Reorder: 0.25}, 1, n)
	assert.False(t, slices.IsSorted(on))
	slices.Sort(on)
	assert.Equal(t, straight, on, "nothing is lost or doubled")
	assert.Positive(t, count[held])
	// The frames that are lost are the same with other faults beside the loss.
	alone, _ := frames(Faults{Loss: 0.25}, 1, n)
	both, _ := frames(Faults{Loss: 0.25, Duplicate: 0.5}, 1, n)
	assert.Equal(t, alone, slices.Compact(both))

	l := newLane(Faults{Reorder: 1}, 1, 0)
	assert.Zero(t, l.due())
	out, what := l.pass([]byte{1})
	assert.Empty(t, out)
	assert.Equal(t, held, what)
	assert.InDelta(t, float64(holdTime), float64(time.Until(l.due())), float64(holdTime))
	assert.Equal(t, [][]byte{{1}}, l.overdue())
	assert.Zero(t, l.due())
	for _, bad := range []Faults{{Loss: 1.5}, {Duplicate: -1}, {Reorder: math.NaN()}} {
		require.Error(t, bad.Validate())
	}
}

func TestTimeout(t *testing.T) {
	assert.Equal(t, uint16(20), (&groups.Pipes{TimeoutUS: 20_000}).Timeout(0.001))
	assert.Equal(t, uint16(1), (&groups.Pipes{TimeoutUS: 7}).Timeout(0.001))
	assert.Equal(t, uint16(math.MaxUint16), (&groups.Pipes{TimeoutUS: 1000}).Timeout(1e6))
}
