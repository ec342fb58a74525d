// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/modelcheck/model"
)

// check searches with these options, and wants no error.
func check(t *testing.T, c model.Config, o Options) *Result {
	t.Helper()
	r, err := Check(context.Background(), c, o)
	require.NoError(t, err)
	return r
}

// small are models that hold and whose searches without any reduction take no more than a second or two.
func small() []model.Config {
	return []model.Config{
		{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Loss: 1},
		{Mode: 2, Collective: model.AllReduce, Tree: "star-3", Requests: 2, Window: 1, Loss: 2},
		{Mode: 2, Collective: model.AllReduce, Tree: "chain-1", Requests: 2, Window: 1, Loss: 1},
		{Mode: 2, Collective: model.Reduce, Tree: "chain-1", Requests: 3, Window: 2, Loss: 2},
		{Mode: 2, Collective: model.Reduce, Tree: "3-2", Requests: 1, Window: 1, Loss: 1},
		{Mode: 2, Collective: model.Broadcast, Tree: "3-2", Requests: 2, Window: 1, Loss: 1},
		{Mode: 2, Collective: model.Broadcast, Tree: "star-3", Requests: 3, Window: 2, Loss: 2},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Loss: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 1, Loss: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "chain-1", Requests: 2, Window: 1, Loss: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 2, Loss: 1, Free: true},
		{Mode: 3, Collective: model.Reduce, Tree: "3-2", Requests: 2, Window: 2, Loss: 1},
		{Mode: 3, Collective: model.Broadcast, Tree: "3-2", Requests: 2, Window: 2, Loss: 1},
		{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 1, Loss: 1},
		{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, PathMTUs: []int{4}, Free: true},
		{Mode: 1, Collective: model.Reduce, Tree: "3-2", Requests: 2, Window: 1, Loss: 1},
		{Mode: 2, Ranges: ranges("reduce:0", "allreduce"), Tree: "star-3", Requests: 1, Window: 1, Loss: 1},
		{Mode: 3, Ranges: ranges("allreduce", "broadcast:1"), Tree: "star-2", Requests: 1, Window: 1, Loss: 1},
	}
}

// Symmetry and reduction may change how much is looked at, never what is found: the verdict, and, as reduction leaves no state out in
// which nothing is on its way, the number of those. Workers change nothing.
func TestReductionsAgree(t *testing.T) {
	for _, c := range small() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			plain := check(t, c, Options{Workers: 2})
			require.Nil(t, plain.Violation)
			require.True(t, plain.Complete)
			assert.Positive(t, plain.Done)
			reduced := check(t, c, Options{Reduction: true, Workers: 1})
			assert.Nil(t, reduced.Violation)
			assert.Equal(t, [2]int{plain.Quiescent, plain.Done}, [2]int{reduced.Quiescent, reduced.Done})
			assert.Less(t, reduced.Distinct, plain.Distinct)

			var folded [2]*Result
			for i, reduction := range []bool{false, true} {
				r := check(t, c, Options{Symmetry: true, Reduction: reduction, Workers: 1})
				assert.Nil(t, r.Violation)
				more := check(t, c, Options{Symmetry: true, Reduction: reduction, Workers: 3})
				for _, x := range []*Result{r, more} {
					x.Seconds, x.CPUSeconds, x.Workers = 0, 0, 0
					x.Components, x.EngineSteps, x.Packets = 0, 0, 0 // tables that workers fill ahead of the search
				}
				assert.Equal(t, r, more)
				folded[i] = r
			}
			assert.Equal(t, folded[0].Quiescent, folded[1].Quiescent)
			assert.LessOrEqual(t, plain.Distinct, folded[0].Distinct*folded[0].Symmetry)
			if folded[0].Symmetry > 1 {
				assert.Less(t, folded[0].Distinct, plain.Distinct)
			}
			assert.Equal(t, plain.Diameter, folded[0].Diameter)
		})
	}
}

// What the paper's bounds never reach: more requests than slots, pipes of every small size, PSNs that wrap, timers that expire too
// early, packets that come twice or late, receivers without receives.
func TestBeyondThePaper(t *testing.T) {
	for _, c := range []model.Config{
		{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 7, Window: 1, Loss: 1},
		{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 5, Window: 2, Loss: 1, Early: 1},
		{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 5, Window: 1, Reorder: 1, Early: 1},
		{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Loss: 1, RNR: 1},
		{Mode: 2, Collective: model.AllReduce, Tree: "3-2", Requests: 3, Window: 1, Loss: 1},
		{Mode: 2, Collective: model.Reduce, Tree: "chain-1", Requests: 5, Window: 2, Loss: 1, Early: 1},
		{Mode: 2, Collective: model.Broadcast, Tree: "star-3", Requests: 5, Window: 2, Loss: 1, RNR: 1, Dup: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 5, Window: 2, Slots: 1, Loss: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 5, Window: 2, Slots: 2, Loss: 2},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 5, Window: 3, Slots: 3, Loss: 1, Free: true},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 1, Loss: 1, Early: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 2, Reorder: 1, Dup: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 2, Loss: 1, RNR: 1, Empty: true},
		{Mode: 3, Collective: model.AllReduce, Tree: "3-2", Requests: 3, Window: 1, Loss: 1},
		{Mode: 3, Collective: model.Reduce, Tree: "star-3", Requests: 7, Window: 3, Slots: 3, Loss: 1, Early: 1, Dup: 1},
		{Mode: 3, Collective: model.Broadcast, Tree: "chain-2", Requests: 5, Window: 2, Slots: 1, Loss: 1, RNR: 1},
		{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Slots: 1, Loss: 1, Early: 1, RNR: 1},
		{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 2, Bytes: 16, Loss: 2, RNR: 1},
		{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 2, Loss: 1, RNR: 1, Empty: true},
		{Mode: 1, Collective: model.AllReduce, Tree: "3-2", Requests: 1, Window: 1, Loss: 1},
	} {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := check(t, c, Options{Symmetry: true, Reduction: true, Workers: 1, MaxStates: 3e6})
			if r.Violation != nil {
				t.Fatal(r.Violation.Text, "\n", chartOf(t, r.Violation))
			}
			require.True(t, r.Complete)
			t.Logf("%d states, %.1f s", r.Distinct, r.CPUSeconds)
		})
	}
}

// The paper's models in full, those that take a second or two.
func TestPaperModels(t *testing.T) {
	for _, c := range []model.Config{
		{Mode: 2, Collective: model.Broadcast, Tree: "3-2", Requests: 3, Window: 3, Loss: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "3-2", Requests: 3, Window: 3, Loss: 1},
		{Mode: 3, Collective: model.Reduce, Tree: "3-2", Requests: 3, Window: 3, Loss: 1},
		{Mode: 3, Collective: model.Broadcast, Tree: "3-2", Requests: 3, Window: 3, Loss: 1},
	} {
		r := check(t, c, Options{Symmetry: true, Reduction: true})
		assert.True(t, r.Complete)
		assert.Nil(t, r.Violation)
		assert.Less(t, r.Collision, -80)
	}
}

// A search cut into pieces by a limit is the search in one piece, and so is one whose frontier lies in a file.
func TestResumeAndSpill(t *testing.T) {
	c := model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Loss: 1}
	whole := check(t, c, Options{Symmetry: true})
	require.True(t, whole.Complete)
	require.Nil(t, whole.Violation)
	same := func(r *Result) {
		t.Helper()
		assert.True(t, r.Complete)
		assert.Nil(t, r.Violation)
		assert.Equal(t, []any{whole.Transitions, whole.Distinct, whole.Diameter, whole.Quiescent, whole.Done},
			[]any{r.Transitions, r.Distinct, r.Diameter, r.Quiescent, r.Done})
	}
	file := filepath.Join(t.TempDir(), "search")
	pieces := 0
	for limit := 1000; ; limit += 1500 {
		r := check(t, c, Options{Symmetry: true, MaxStates: limit, Checkpoint: file, Workers: 2})
		if pieces++; r.Complete {
			same(r)
			break
		}
		assert.Nil(t, r.Violation)
	}
	assert.Greater(t, pieces, 3)
	big := model.Config{Mode: 3, Collective: model.AllReduce, Tree: "3-2", Requests: 3, Window: 3, Loss: 1}
	whole = check(t, big, Options{Symmetry: true, Reduction: true})
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "big")
	t.Setenv("TMPDIR", dir)
	r := check(t, big, Options{Symmetry: true, Reduction: true, SpillAfter: 1, MaxStates: whole.Distinct / 2, Checkpoint: file})
	require.False(t, r.Complete)
	same(check(t, big, Options{Symmetry: true, Reduction: true, SpillAfter: 1, Checkpoint: file, Every: 1}))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)

	// A violation behind a checkpoint is found, with its whole way.
	bad := model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 4, Window: 2, Slots: 2, Bad: []string{"B9"}}
	file = filepath.Join(t.TempDir(), "bad")
	require.False(t, check(t, bad, Options{Symmetry: true, MaxStates: 50, Checkpoint: file}).Complete)
	r = check(t, bad, Options{Symmetry: true, Checkpoint: file})
	require.NotNil(t, r.Violation)
	assert.Equal(t, check(t, bad, Options{Symmetry: true}).Violation.Text, r.Violation.Text)
	_, err = Check(context.Background(), c, Options{Symmetry: true, Checkpoint: file})
	require.ErrorIs(t, err, ErrCheckpoint)
	require.NoError(t, os.WriteFile(file, []byte("no checkpoint"), 0o600))
	_, err = Check(context.Background(), c, Options{Symmetry: true, Checkpoint: file})
	require.ErrorIs(t, err, ErrCheckpoint)
}

// A limit leaves no verdict.
func TestLimits(t *testing.T) {
	c := model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 4, Window: 2, Loss: 1}
	for _, o := range []Options{{MaxStates: 10}, {MaxBytes: 100}, {MaxTime: 1}} {
		r := check(t, c, o)
		assert.False(t, r.Complete)
		assert.Nil(t, r.Violation)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Check(ctx, c, Options{})
	require.ErrorIs(t, err, context.Canceled)

	// An interruption in the middle leaves what is known.
	ctx, cancel = context.WithCancel(context.Background())
	big := model.Config{Mode: 3, Collective: model.AllReduce, Tree: "3-2", Requests: 20, Window: 3, Loss: 3}
	r, err := Check(ctx, big, Options{Progress: func(p Counts) {
		if p.Distinct > 1000 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.False(t, r.Complete)
	assert.Nil(t, r.Violation)
	assert.Greater(t, r.Distinct, 1000)
}

func TestConfigIsChecked(t *testing.T) {
	good := model.Config{Mode: 2, Tree: "star-2", Requests: 1, Window: 1}
	for want, change := range map[string]func(c *model.Config){
		"modes are 1, 2 and 3":        func(c *model.Config) { c.Mode = 4 },
		"collective(7)":               func(c *model.Config) { c.Collective = 7 },
		"0 requests":                  func(c *model.Config) { c.Requests = 0 },
		"a window of 0":               func(c *model.Config) { c.Window = 0 },
		"power of two":                func(c *model.Config) { c.Slots = 3 },
		"takes twice as many":         func(c *model.Config) { c.Window, c.Slots = 2, 2 },
		"a budget of 16":              func(c *model.Config) { c.Loss = 16 },
		"send nothing":                func(c *model.Config) { c.Free = true },
		"rule A3 is none of":          func(c *model.Config) { c.Bad = []string{"A3"} },
		"is one of mode 3":            func(c *model.Config) { c.Bad = []string{"B9"} },
		"other shapes are star-HOSTS": func(c *model.Config) { c.Tree = "ring-3" },
		"and degree 2":                func(c *model.Config) { c.Tree = "6-1" },
		"1 hosts":                     func(c *model.Config) { c.Tree = "star-1" },
		"more than 24 nodes":          func(c *model.Config) { c.Tree = "4-4" },
		"a group is in-band or does":  func(c *model.Config) { c.Collective, c.Ranges = model.Reduce, ranges("allreduce") },
		"are not modelled":            func(c *model.Config) { c.Mode, c.Slots, c.Ranges = 1, 1, ranges("allreduce") },
		"ranges and parking":          func(c *model.Config) { c.Park, c.Ranges = 1, ranges("allreduce") },
		"108 packets, allowed are":    func(c *model.Config) { c.Requests, c.Ranges = 53, ranges("allreduce", "reduce") },
		"has hosts 0 to 1":            func(c *model.Config) { c.Ranges = ranges("reduce:2") },
		"of which the model has none": func(c *model.Config) { c.Bad = []string{"one-range"} },
		"and the model has ranges":    func(c *model.Config) { c.Bad, c.Ranges = []string{"A1"}, ranges("allreduce") },
		"17 hosts, allowed are":       func(c *model.Config) { c.Tree = "star-17" },
	} {
		c := good
		change(&c)
		if c.Collective == 7 {
			want = "collective 7"
			if _, err := c.Collective.MarshalText(); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Check(context.Background(), c, Options{})
		require.ErrorIs(t, err, model.ErrConfig, want)
		assert.ErrorContains(t, err, want)
	}
	require.ErrorIs(t, new(model.Collective).UnmarshalText([]byte("scan")), model.ErrConfig)
}

// Frontiers give back what they were given, in memory and from a file.
func TestFrontier(t *testing.T) {
	const stride, states = 3, 5*chunkStates + 7
	f := newFrontier(stride, 1)
	chunk := f.chunk()
	for i := range uint32(states) {
		if chunk = append(chunk, i, ^i, 2*i); len(chunk) == cap(chunk) {
			require.NoError(t, f.put(chunk))
			chunk = f.chunk()
		}
	}
	require.NoError(t, f.put(chunk))
	assert.Equal(t, states, f.states)
	assert.Positive(t, f.spilled)
	seen := map[uint32]bool{}
	for {
		c, err := f.take()
		require.NoError(t, err)
		if c == nil {
			break
		}
		for ; len(c) > 0; c = c[stride:] {
			assert.Equal(t, []uint32{^c[0], 2 * c[0]}, c[1:stride])
			seen[c[0]] = true
		}
	}
	assert.Len(t, seen, states)
	f.close()
}

// BenchmarkSearch is how fast states are seen.
func BenchmarkSearch(b *testing.B) {
	for _, c := range []model.Config{
		{Mode: 2, Collective: model.AllReduce, Tree: "3-2", Requests: 3, Window: 3, Loss: 1},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-3", Requests: 4, Window: 2, Loss: 1, Dup: 1},
	} {
		b.Run(c.String(), func(b *testing.B) {
			for b.Loop() {
				r, err := Check(context.Background(), c, Options{Symmetry: true, Workers: 1, MaxStates: 5e5})
				require.NoError(b, err)
				b.ReportMetric(float64(r.Transitions)/r.CPUSeconds, "transitions/s")
			}
		})
	}
}
