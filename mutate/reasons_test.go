// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/mutate/mutant"
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
			mutants := map[string][]mutant.Mutant{}
			for _, m := range read.Mutants() {
				mutants[m.Module] = append(mutants[m.Module], m)
			}
			for i, r := range reasons {
				fits := !slices.Contains(r.Only, name)
				for _, m := range mutants[r.Block] {
					fits = fits || r.holds(name, m)
				}
				assert.True(t, fits, "number %d, %s: no mutant of %s is %q in %q", i+1, r.Block, name, r.After, r.In)
			}
		})
	}
	for _, r := range reasons {
		assert.Subset(t, []string{"mini", "mini3", "mini1", "mini_tree"}, r.Only, "only what a test looks at")
	}
}

// TestExplain: a reason is for one mutant, counts beside the score and not in it, and must not be for one that a scenario kills.
func TestExplain(t *testing.T) {
	t.Parallel()
	result := func(block, context, after string, v Verdict) Result {
		return Result{Mutant: mutant.Mutant{Module: block, Context: context, After: after, Operator: "stuck"}, Verdict: v}
	}
	reason := Reason{Block: "b", In: "if («x»)", After: "1'b0", Only: []string{"mini"}, Why: "nobody looks"}
	r := Report{Config: "mini", Mutants: []Result{result("b", "if («x») begin", "1'b0", GivenUp), result("b", "if («x») begin", "1'b1", Survived),
		result("c", "if («x») begin", "1'b0", Survived), result("b", "if («x») begin", "1'b0", Equivalent), result("b", "if («y») begin", "1'b0", Killed)}}
	require.NoError(t, r.explain([]Reason{reason}))
	r.finish()
	assert.Equal(t, Score{Mutants: 5, Equivalent: 1, Killed: 1, Survived: 2, GivenUp: 1, Explained: 1}, r.Total)
	assert.InDelta(t, 25, r.Total.Percent(), 0)
	assert.InDelta(t, 100.0/3, r.Total.PercentExplained(), 1e-9)
	living := r.Living()
	assert.Equal(t, []string{"", "", "nobody looks"}, []string{living[0].Reason, living[1].Reason, living[2].Reason})

	reason.Operator = "reset"
	assert.False(t, reason.holds("mini", r.Mutants[0].Mutant), "of another operator")
	reason.Operator = "stuck"
	assert.True(t, reason.holds("mini", r.Mutants[0].Mutant))
	assert.False(t, reason.holds("mini3", r.Mutants[0].Mutant), "of another configuration")
	r.Mutants[0].Verdict, r.Mutants[0].By = Killed, "random"
	require.ErrorContains(t, r.explain([]Reason{reason}), "random kills it, against the reason: nobody looks")
}
