// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHere(t *testing.T) {
	for _, n := range []int{0, 1, 3} {
		var at, most atomic.Int64
		var all sync.WaitGroup // so many that may run at once
		all.Add(max(n, 1))
		sum := 0
		task := Task[int]{Name: "sum", Pieces: 50, Run: func(_ context.Context, i int) (int, error) {
			now := at.Add(1)
			defer at.Add(-1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			if i < max(n, 1) {
				all.Done()
				all.Wait()
			}
			return i, nil
		}, Done: func(i, r int) error {
			assert.Equal(t, i, r)
			sum += r
			return nil
		}}
		require.NoError(t, Run(t.Context(), Place{Jobs: n}, task))
		assert.Equal(t, 49*50/2, sum)
		assert.EqualValues(t, max(n, 1), most.Load())
	}
}

// The first error ends the run, and is the one that is returned.
func TestHereFails(t *testing.T) {
	broken := errors.New("broken")
	var began atomic.Int64
	err := Run(t.Context(), Place{Jobs: 2}, Task[int]{Name: "x", Pieces: 1000, Run: func(ctx context.Context, i int) (int, error) {
		if began.Add(1); i == 3 {
			return 0, broken
		}
		if i < 3 {
			return i, nil
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}})
	require.ErrorIs(t, err, broken)
	assert.Less(t, began.Load(), int64(10))
}

// After ErrStop nothing new begins, and what runs comes to its end.
func TestHereStops(t *testing.T) {
	done := 0
	err := Run(t.Context(), Place{Jobs: 2}, Task[int]{Name: "x", Pieces: 1000, Run: func(ctx context.Context, i int) (int, error) {
		if i == 1 {
			time.Sleep(50 * time.Millisecond)
		}
		return i, ctx.Err()
	}, Done: func(i, _ int) error {
		if done++; i == 0 {
			return ErrStop
		}
		return nil
	}})
	require.NoError(t, err)
	assert.LessOrEqual(t, done, 2)
}

func TestHereInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	err := Run(ctx, Place{}, Task[int]{Name: "x", Pieces: 10, Run: func(ctx context.Context, i int) (int, error) { return i, nil }, Done: func(i, _ int) error {
		if done++; i == 4 {
			cancel()
		}
		return nil
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 5, done)
}

// A process that is a shard runs its own pieces, those that no earlier attempt has done, and leaves them in a file.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	text, err := json.Marshal(plan{Task: "squares", Pieces: 10, Shards: 3, Given: json.RawMessage("[3, 5]")})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, planFile), text, 0o644))
	require.NoError(t, os.WriteFile(resultsFile(dir, 1, 1), []byte(`{"piece":4,"result":{"Of":4,"Is":16}}`+"\n"+`{"pie`), 0o644))
	for key, value := range map[string]string{envFolder: dir, envAttempt: "2", envNumber: "1", envCPUs: "2"} {
		t.Setenv(key, value)
	}
	require.ErrorIs(t, Run(t.Context(), Place{}, squares([]string{"pieces=10"})), ErrServed)
	lines, _, err := readLines(resultsFile(dir, 1, 2), 0)
	require.NoError(t, err)
	var pieces []int
	for _, l := range lines {
		pieces = append(pieces, l.Piece)
	}
	assert.ElementsMatch(t, []int{1, 7}, pieces)

	assert.ErrorContains(t, Run(t.Context(), Place{}, squares([]string{"pieces=11"})), "this process makes 11 pieces of squares")
	t.Run("of a later task", func(t *testing.T) {
		before := squares([]string{"pieces=3"})
		before.Name = "before"
		done := 0
		before.Done = func(int, square) error { done++; return nil }
		require.NoError(t, Run(t.Context(), Place{Slurm: &Slurm{}}, before), "here, and not as one more array")
		assert.Equal(t, 3, done)
	})
	for _, tc := range []struct {
		task string
		mine bool
		want []int
	}{{"squares", true, []int{3, 5}}, {"before", false, nil}} {
		var given []int
		mine, err := Asked(tc.task, &given)
		require.NoError(t, err)
		assert.Equal(t, tc.mine, mine)
		assert.Equal(t, tc.want, given)
	}
	t.Setenv(envNumber, "")
	assert.ErrorContains(t, Run(t.Context(), Place{}, squares([]string{"pieces=10"})), "not by Slurm")
}
