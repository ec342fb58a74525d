// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
)

// ranges reads ranges that a test names.
func ranges(texts ...string) []model.Range {
	all, err := model.ParseRanges(texts)
	if err != nil {
		panic(err)
	}
	return all
}

// In-band groups end all of their collectives exactly, whatever is lost, late or not received, where roots change and where a switch stands below another.
func TestRanges(t *testing.T) {
	for _, c := range []model.Config{
		{Mode: 2, Ranges: ranges("allreduce", "barrier", "reduce:1", "broadcast:0", "allreduce"), Tree: "star-2", Requests: 2, Window: 2, Loss: 1, Early: 1},
		{Mode: 2, Ranges: ranges("allreduce", "reduce:1", "broadcast:0", "allreduce"), Tree: "star-2", Requests: 1, Window: 1, Loss: 1, RNR: 1, Dup: 1, Reorder: 1},
		{Mode: 2, Ranges: ranges("broadcast:0", "broadcast:1", "reduce:3"), Tree: "chain-2", Requests: 1, Window: 1, Loss: 1, RNR: 1},
		{Mode: 2, Ranges: ranges("reduce:0", "broadcast:3", "allreduce"), Tree: "3-2", Requests: 1, Window: 1, Loss: 1},
		{Mode: 3, Ranges: ranges("allreduce", "barrier", "reduce:1", "broadcast:0", "allreduce"), Tree: "star-2", Requests: 2, Window: 2, Slots: 1, Loss: 1, RNR: 1},
		{Mode: 3, Ranges: ranges("allreduce", "reduce:3", "broadcast:0"), Tree: "chain-2", Requests: 1, Window: 1, Loss: 1},
		{Mode: 3, Ranges: ranges("allreduce", "broadcast:1", "reduce:0"), Tree: "star-2", Requests: 1, Window: 1, Loss: 1, Free: true, Empty: true},
	} {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := check(t, c, Options{Symmetry: true, Reduction: true, Workers: 1})
			if r.Violation != nil {
				t.Fatal(r.Violation.Text, "\n", chartOf(t, r.Violation))
			}
			assert.True(t, r.Complete)
			assert.Positive(t, r.Done)
		})
	}
}

// Rules about ranges show in models that nobody has to choose; those of longer searches are among the models of bad.
func TestRangesWrong(t *testing.T) {
	for _, c := range []struct {
		rule string
		mode int
		want string
	}{
		{"same-offsets", 2, "mode 2 ranges reduce:0 allreduce tree star-2 requests 1 window 1 slots 2 loss 0 bad same-offsets"},
		{"one-range", 2, "mode 2 ranges allreduce allreduce tree star-2 requests 1 window 1 slots 2 loss 0 bad one-range"},
		{"undrained", 3, "mode 3 ranges allreduce allreduce tree star-2 requests 1 window 1 slots 1 loss 1 bad undrained"},
		{model.BadEarlyReceives, 2, "mode 2 ranges allreduce reduce:0 tree star-2 requests 1 window 1 slots 2 loss 1 bad early-receives"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			found, err := Smallest(context.Background(), c.mode, []string{c.rule}, Options{Symmetry: true, Reduction: true})
			require.NoError(t, err)
			assert.Equal(t, c.want, found.Config.String())
			assert.Equal(t, scenario.KindLivelock, found.Violation.Kind)
			chartOf(t, found.Violation)
		})
	}
}

// A search with ranges speaks of rules about ranges, and of those of hosts that are about anything.
func TestRangesNotices(t *testing.T) {
	r := check(t, model.Config{Mode: 2, Ranges: ranges("reduce:0", "allreduce"), Tree: "star-2", Requests: 1, Window: 1}, Options{Symmetry: true, Reduction: true, Notice: true})
	kinds := map[string]string{}
	for _, n := range r.Notices {
		kinds[n.Rule] = n.Kind
	}
	none, stuck := "", scenario.KindLivelock
	assert.Equal(t, map[string]string{"same-offsets": stuck, "one-range": none, "no-reack": none, "nak-speaks": none, "B10-host": none,
		"eager-host": stuck, "impatient-root": none, "early-receives": none}, kinds)
}

func TestRangeText(t *testing.T) {
	for in, out := range map[string]string{"allreduce": "allreduce", "Barrier": "barrier", "reduce": "reduce:0", "broadcast:3": "broadcast:3"} {
		assert.Equal(t, out, ranges(in)[0].String())
	}
	for _, bad := range []string{"scan", "allreduce:1", "reduce:x", "reduce:-1", "broadcast:"} {
		_, err := model.ParseRanges([]string{bad})
		require.ErrorIs(t, err, model.ErrConfig, bad)
	}
}
