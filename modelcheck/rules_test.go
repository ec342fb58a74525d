// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
)

// Rules known to be wrong are found without anybody saying where, in a model that holds without them and in none that is smaller.
func TestSmallest(t *testing.T) {
	for _, c := range []struct {
		rule string
		mode int
		want string
		kind string
	}{
		{"A1", 0, "mode 2 allreduce tree star-2 requests 3 window 1 slots 2 loss 0 bad A1", scenario.KindLivelock},
		{"A1", 3, "mode 3 reduce tree star-2 requests 2 window 1 slots 1 loss 0 bad A1", scenario.KindLivelock},
		{"A2", 0, "mode 2 allreduce tree star-2 requests 2 window 1 slots 2 loss 1 bad A2", scenario.KindLivelock},
		{"A9", 2, "mode 2 broadcast tree star-2 requests 1 window 1 slots 2 loss 1 bad A9", scenario.KindLivelock},
		{"B9", 0, "mode 3 allreduce tree star-2 requests 2 window 1 slots 1 loss 0 bad B9", scenario.KindDeadlock},
		{"B10", 0, "mode 3 allreduce tree star-2 requests 1 window 1 slots 1 loss 1 bad B10", scenario.KindLivelock},
		{"B15", 0, "mode 3 allreduce tree star-2 requests 1 window 1 slots 1 loss 0 bad B15", scenario.KindDeadlock},
		{"by-psn", 0, "mode 1 allreduce tree star-2 requests 1 window 1 slots 1 loss 0 bytes 8 path MTUs [4 8] bad by-psn", scenario.KindFault},
		{"ack-full", 0, "mode 1 allreduce tree star-2 requests 2 window 1 slots 1 loss 0 bytes 8 path MTUs [4 8] bad ack-full", scenario.KindDeadlock},
		{"free-first", 0, "mode 1 allreduce tree star-2 requests 1 window 1 slots 1 loss 1 bytes 8 path MTUs [4 8] bad free-first", scenario.KindDeadlock},
		{"keep-refused", 0, "mode 1 reduce tree star-3 requests 2 window 1 slots 1 loss 0 bytes 8 path MTUs [4 8] bad keep-refused", scenario.KindFault},
	} {
		t.Run(c.rule, func(t *testing.T) {
			found, err := Smallest(context.Background(), c.mode, []string{c.rule}, Options{Symmetry: true, Reduction: true})
			require.NoError(t, err)
			assert.Equal(t, c.want, found.Config.String())
			assert.Equal(t, c.kind, found.Violation.Kind)
			assert.Nil(t, found.Right.Violation)
			assert.True(t, found.Right.Complete)
			chartOf(t, found.Violation)
		})
	}
	_, err := Smallest(context.Background(), 0, []string{"A9", "B9"}, Options{})
	require.ErrorIs(t, err, model.ErrConfig, "rules of two modes")

	none, err := Smallest(context.Background(), 3, []string{"B15"}, Options{Symmetry: true, Reduction: true, MaxStates: 1})
	require.ErrorIs(t, err, ErrNotShown)
	require.ErrorContains(t, err, "without a verdict")
	assert.Nil(t, none.Result)
	assert.Equal(t, none.Tried, none.Undecided, "nothing shows in a single state")
}

// No size is left out between the smallest model and the largest, and none comes before a smaller one.
func TestSmallModelsAreInOrder(t *testing.T) {
	for _, mode := range []int{2, 3} {
		all := smallModels(mode)
		require.Greater(t, len(all), 500)
		seen := map[int]bool{}
		for i, c := range all {
			seen[sizeOf(c)] = true
			if i > 0 {
				require.LessOrEqual(t, sizeOf(all[i-1]), sizeOf(c))
			}
		}
		for size := sizeOf(all[0]); size <= largestSize; size++ {
			assert.True(t, seen[size], "mode %d, size %d", mode, size)
		}
	}
}

// The paper's bounds have as many packets as the window: no slot is used twice, and rules about that cannot be told from the right ones.
func TestNotices(t *testing.T) {
	verdicts := func(c model.Config) (kinds map[string]string) {
		kinds = map[string]string{}
		for _, n := range check(t, c, Options{Symmetry: true, Reduction: true, Notice: true}).Notices {
			assert.NotEqual(t, n.Complete, n.Kind != "", n.Rule)
			kinds[n.Rule] = n.Kind
		}
		return kinds
	}
	none, stuck := "", scenario.KindLivelock
	assert.Equal(t, map[string]string{"A1": none, "A2": none, "A9": none, "A10": none, "B10-host": stuck},
		verdicts(model.Config{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 3, Loss: 1}))
	assert.Equal(t, map[string]string{"A1": stuck, "A2": stuck, "A9": none, "A10": none, "B10-host": stuck},
		verdicts(model.Config{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 1, Loss: 1}))
	assert.Equal(t, map[string]string{"A1": none, "A2": none, "A9": stuck, "A10": none, "B10-host": stuck},
		verdicts(model.Config{Mode: 2, Collective: model.Broadcast, Tree: "star-2", Requests: 1, Window: 1, Loss: 1}))
	assert.ElementsMatch(t, []string{"B10-host", "ack-full", "by-psn", "free-first", "keep-refused"},
		slices.Collect(maps.Keys(verdicts(model.Config{Mode: 1, Collective: model.Broadcast, Tree: "star-2", Requests: 1, Window: 1}))))
	// Three messages of up to three packets, a slot used again, one loss and one missing receive: enough for every rule about messages.
	for rule, kind := range verdicts(model.Config{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 1, Bytes: 12, Loss: 1, RNR: 1}) {
		assert.NotEmpty(t, kind, rule)
	}
}

// A rule is left out without a search only if it never makes a difference.
func TestDiffers(t *testing.T) {
	for _, c := range []struct {
		rule string
		want bool
	}{{"A9", false}, {"A1", true}} {
		s, err := newSearch(model.Config{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 1}, Options{Reduction: true})
		require.NoError(t, err)
		complete, err := s.explore(context.Background())
		require.NoError(t, err)
		require.True(t, complete)
		bad := s.Config
		bad.Bad = []string{c.rule}
		got, err := s.differs(bad)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}
