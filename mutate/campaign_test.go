// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/jobs"
	"incforge/internal/progress"
	"incforge/mutate/mutant"
	"incforge/mutate/score"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// tried is a campaign of two scenarios, cheap and dear, on a model that a runner stands for.
func tried(t *testing.T, o Options, with runner) *campaign {
	t.Helper()
	e, err := LoadExperience(filepath.Join(t.TempDir(), "none.json"))
	require.NoError(t, err)
	o.Experience, o.Config = e, "half"
	o.Progress = func(string, ...any) *progress.Task { return nil }
	return &campaign{Options: o, man: &contract.Manifest{}, scenarios: []rig.Scenario{{Name: "dear"}, {Name: "cheap"}, {Name: "foreign"}},
		given: given{Healthy: map[string]healthy{"cheap": {Clocked: 100, Seconds: 0.1}, "dear": {Clocked: 1000, Seconds: 10}}},
		open:  func() (runner, error) { return with, nil }}
}

func TestTry(t *testing.T) {
	t.Parallel()
	failure := errors.New("port 2: a frame is missing\nand more")
	wedge := fmt.Errorf("dear: %w", dut.ErrLimit)
	for name, tt := range map[string]struct {
		fails map[string]error
		limit float64
		want  score.Result
	}{
		"killed at once":     {map[string]error{"cheap": failure}, 0, score.Result{Verdict: score.Killed, By: "cheap", Why: "port 2: a frame is missing", Tried: 1, Seconds: 2}},
		"wedged":             {map[string]error{"dear": wedge}, 0, score.Result{Verdict: score.Killed, By: "dear", Why: wedge.Error(), Wedged: true, Outlived: []string{"cheap"}, Tried: 2, Seconds: 4}},
		"survived":           {map[string]error{"foreign": failure}, 60, score.Result{Verdict: score.Survived, Outlived: []string{"cheap", "dear"}, Tried: 2, Seconds: 4}},
		"dear is over a cap": {map[string]error{"dear": failure}, 1, score.Result{Verdict: score.GivenUp, Outlived: []string{"cheap"}, Tried: 1, Seconds: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tried(t, Options{Cap: tt.limit, Seed: 5}, func(_ context.Context, s rig.Scenario, number int, limit uint64) run {
				assert.Equal(t, 7, number)
				assert.Equal(t, map[string]uint64{"cheap": 3*100 + 20_000, "dear": 3*1000 + 20_000}[s.Name], limit)
				return run{applies: true, err: tt.fails[s.Name], seconds: 2}
			})
			m := mutant.Mutant{Number: 7, Module: "half"}
			got, err := c.try(t.Context(), m)
			require.NoError(t, err)
			tt.want.Mutant, tt.want.Replay = m, "incforge mutate half --seed 5 --mutant 7"
			assert.Equal(t, tt.want, got)
			if got.By != "" {
				assert.Equal(t, Tally{1, 1}, c.Experience.Blocks["half"][got.By])
			}
		})
	}
}

// What lived in an earlier campaign meets first what it did not meet there; all others keep their verdicts.
func TestAgain(t *testing.T) {
	t.Parallel()
	lived := score.Result{Mutant: mutant.Mutant{Number: 7, Module: "half"}, Verdict: score.GivenUp, Outlived: []string{"cheap"}}
	killed := score.Result{Mutant: mutant.Mutant{Number: 3}, Verdict: score.Killed, By: "cheap"}
	var met []string
	c := tried(t, Options{Again: &score.Report{Mutants: []score.Result{killed, lived}}, Only: []int{7}}, func(_ context.Context, s rig.Scenario, _ int, _ uint64) run {
		met = append(met, s.Name)
		return run{applies: true}
	})
	_, err := c.try(t.Context(), lived.Mutant)
	require.NoError(t, err)
	assert.Equal(t, []string{"dear", "cheap"}, met)
	rep := &score.Report{}
	c.report(rep)
	assert.Equal(t, []score.Result{killed}, rep.Mutants)
}

// A shard leaves its results to the process that asked for them, and makes no report. That process learns from them.
func TestShard(t *testing.T) {
	with := func(context.Context, rig.Scenario, int, uint64) run { return run{applies: true} }
	shard := tried(t, Options{NoProof: true}, with)
	shard.man, shard.drawn = &contract.Manifest{}, []mutant.Mutant{{Number: 7, Module: "half"}}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.json"), []byte(`{"task": "mutate", "pieces": 1, "shards": 1}`), 0o600))
	t.Run("shard", func(t *testing.T) {
		for key, value := range map[string]string{"INCFORGE_SHARD_FOLDER": dir, "INCFORGE_SHARD_ATTEMPT": "1", "SLURM_ARRAY_TASK_ID": "0"} {
			t.Setenv(key, value)
		}
		rep, err := shard.all(t.Context())
		require.ErrorIs(t, err, jobs.ErrServed)
		assert.Nil(t, rep)
	})
	t.Run("parent", func(t *testing.T) {
		bin := t.TempDir()
		for name, text := range map[string]string{"squeue": "exit 1", "scancel": "",
			"sbatch": `for script; do :; done; cp ` + dir + `/results-0-1.jsonl "$(dirname "$script")"; echo 12`} {
			require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
		}
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		parent := tried(t, Options{NoProof: true, Place: jobs.Place{Slurm: &jobs.Slurm{Folder: t.TempDir(), Shards: 1, Poll: 10 * time.Millisecond,
			Silence: 5 * time.Second}}}, nil)
		parent.man, parent.drawn = shard.man, shard.drawn
		rep, err := parent.all(t.Context())
		require.NoError(t, err)
		require.Len(t, rep.Mutants, 1)
		assert.Equal(t, map[string]Tally{"cheap": {Tried: 1}, "dear": {Tried: 1}}, parent.Experience.Blocks["half"])
	})
}

// A run that was cut off is no verdict.
func TestTryInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := tried(t, Options{}, func(context.Context, rig.Scenario, int, uint64) run {
		cancel()
		return run{applies: true, err: context.Canceled}
	})
	_, err := c.try(ctx, mutant.Mutant{Number: 7})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, c.Experience.Blocks)
}

// The design must be healthy, and the model with its mutants off must do as the design.
func TestCompare(t *testing.T) {
	t.Parallel()
	good := run{applies: true, clocked: 5, seconds: 1, stimulus: "s", egress: "e"}
	other := good
	other.egress = "f"
	sick := run{applies: true, err: errors.New("it fails")}
	always := func(r run) runner { return func(context.Context, rig.Scenario, int, uint64) run { return r } }
	for name, tt := range map[string]struct {
		original, planted run
		want              string
	}{
		"alike":            {good, good, ""},
		"not of this kind": {run{}, run{}, ""},
		"sick":             {sick, sick, "the design fails without a mutant: dear: it fails"},
		"spoilt":           {good, sick, "the model with all mutants off is not the design"},
		"other frames":     {good, other, "other frames left it"},
	} {
		c := tried(t, Options{}, nil)
		c.scenarios = c.scenarios[:1]
		err := c.compare(t.Context(), always(tt.original), always(tt.planted))
		if tt.want != "" {
			require.ErrorContains(t, err, tt.want, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Len(t, c.given.Healthy, map[bool]int{true: 1}[tt.original.applies], name)
	}
}
