// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/mutate/mutant"
	"incforge/mutate/score"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

// TestReasonsFit: every reason is for a mutant that there is, in every configuration that it names.
func TestReasonsFit(t *testing.T) {
	t.Parallel()
	reasons, err := Reasons()
	require.NoError(t, err)
	for _, name := range []string{"mini", "mini3", "mini1", "mini_tree"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := name
			if name == "mini_tree" {
				from = filepath.Join("configs", name+".yaml")
			}
			p, err := params.Load(from)
			require.NoError(t, err)
			design, err := rtlgen.Generate(p)
			require.NoError(t, err)
			dir := t.TempDir()
			require.NoError(t, design.Write(dir))
			read, err := mutant.Read(dir, design.Manifest.Files)
			require.NoError(t, err)
			mutants := read.Mutants()
			for i, r := range reasons {
				if slices.Contains(r.Only, name) {
					assert.NotEmpty(t, r.of(name, mutants), "number %d, %s: no mutant of %s is %q in %q", i+1, r.Block, name, r.After, r.In)
				}
			}
		})
	}
	for _, r := range reasons {
		assert.Subset(t, []string{"mini", "mini3", "mini1", "mini_tree"}, r.Only, "only what a test looks at")
	}
}

// TestExplain: a reason is for the mutants that it tells apart, counts beside the score and not in it, and must not be for one that a scenario kills.
func TestExplain(t *testing.T) {
	t.Parallel()
	one := func(n int, block, context, after string) mutant.Mutant {
		return mutant.Mutant{Number: n, Module: block, Context: context, After: after, Operator: "stuck"}
	}
	all := []mutant.Mutant{one(1, "b", "if («x») begin", "1'b0"), one(2, "b", "if («x») begin", "1'b1"), one(3, "c", "if («x») begin", "1'b0"),
		one(4, "b", "if («x») begin", "1'b0"), one(5, "b", "if («y») begin", "1'b0")}
	result := func(n int, v score.Verdict) score.Result { return score.Result{Mutant: all[n-1], Verdict: v} }
	reason := Reason{Block: "b", In: "if («x»)", After: "1'b0", Only: []string{"mini"}, Why: "nobody looks"}
	r := score.Report{Config: "mini", Mutants: []score.Result{result(1, score.GivenUp), result(2, score.Survived), result(3, score.Survived), result(4, score.Equivalent), result(5, score.Killed)}}
	require.NoError(t, explain(&r, []Reason{reason}, all))
	r.Finish()
	assert.Equal(t, score.Counts{Mutants: 5, Equivalent: 1, Killed: 1, Survived: 2, GivenUp: 1, Explained: 1}, r.Total)
	assert.InDelta(t, 25, r.Total.Percent(), 0)
	assert.InDelta(t, 100.0/3, r.Total.PercentExplained(), 1e-9)
	living := r.Living()
	assert.Equal(t, []string{"", "", "nobody looks"}, []string{living[0].Reason, living[1].Reason, living[2].Reason})

	assert.Equal(t, []int{1, 4}, reason.of("mini", all))
	assert.Empty(t, reason.of("mini3", all), "another configuration")
	reason.Nth = 2
	assert.Equal(t, []int{4}, reason.of("mini", all))
	reason.Nth = 3
	assert.Empty(t, reason.of("mini", all), "there are two")
	reason.Nth, reason.Operator = 0, "reset"
	assert.Empty(t, reason.of("mini", all), "another operator")
	reason.Operator = "stuck"
	r.Mutants[0].Verdict, r.Mutants[0].By = score.Killed, "random"
	require.ErrorContains(t, explain(&r, []Reason{reason}, all), "random kills it, against the reason: nobody looks")
}
