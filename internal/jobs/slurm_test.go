// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/jobs/slurmtest"
)

// onCluster runs squares there.
func onCluster(t *testing.T, ctx context.Context, s Slurm, args ...string) (got map[int]square, log string, err error) {
	t.Helper()
	var said bytes.Buffer
	s.Log = logrus.New()
	s.Log.SetOutput(&said)
	s.Log.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableColors: true, DisableQuote: true}) // as the program has it
	if s.Folder == "" {
		s.Folder = t.TempDir()
	}
	s.Args, s.Poll, s.Ask = args, 100*time.Millisecond, 300*time.Millisecond
	if s.Grace == 0 {
		s.Grace = time.Second
	}
	got = map[int]square{}
	task := squares(args)
	task.Done = func(i int, r square) error {
		if _, twice := got[i]; twice {
			return fmt.Errorf("piece %d came twice", i)
		}
		got[i] = r
		return nil
	}
	err = Run(ctx, Place{Slurm: &s}, task)
	return got, said.String(), err
}

// check looks at all results.
func check(t *testing.T, got map[int]square, pieces int) (byNode map[string]int) {
	t.Helper()
	byNode = map[string]int{}
	assert.Len(t, got, pieces)
	for i, r := range got {
		assert.Equal(t, i, r.Of)
		assert.Equal(t, i*i, r.Is)
		byNode[r.Node]++
	}
	return byNode
}

// TestSlurm is with a cluster of two nodes.
func TestSlurm(t *testing.T) {
	cluster := slurmtest.Start(t, "a", "b")
	t.Run("both nodes work", func(t *testing.T) {
		dir := t.TempDir()
		got, _, err := onCluster(t, t.Context(), Slurm{Folder: dir, Shards: 4}, "pieces=40", "ms=100", "it's quoted; $HOME")
		require.NoError(t, err)
		by := check(t, got, 40)
		assert.Positive(t, by["a"])
		assert.Positive(t, by["b"])
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is left of a run that went well")
	})
	t.Run("a job that died once runs again", func(t *testing.T) {
		got, log, err := onCluster(t, t.Context(), Slurm{Shards: 5}, "pieces=20", "fail-once-7")
		require.NoError(t, err)
		check(t, got, 20)
		assert.Contains(t, log, "1 of 5 jobs died and run again; job 2: FAILED, it said:\nout of memory, so to speak")
	})
	t.Run("a job that dies twice is reported", func(t *testing.T) {
		got, _, err := onCluster(t, t.Context(), Slurm{Shards: 5}, "pieces=20", "fail-7")
		var dead *DeadError
		require.ErrorAs(t, err, &dead)
		require.Len(t, dead.Dead, 1)
		assert.Equal(t, []int{7, 12, 17}, dead.Dead[0].Pieces)
		assert.Contains(t, err.Error(), "piece 7 cannot be done")
		assert.FileExists(t, dead.Dead[0].Log)
		assert.Len(t, got, 17, "the others' results, and what it did before")
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		got, _, err := onCluster(t, ctx, Slurm{Shards: 4}, "pieces=400", "ms=100")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotEmpty(t, got, "what was done counts")
		assert.Less(t, len(got), 400)
		assert.Eventually(t, func() bool {
			out, err := exec.Command("squeue", "--noheader").Output()
			return err == nil && len(out) == 0
		}, 10*time.Second, 100*time.Millisecond, "no job is left")
	})
	t.Run("a node dies", func(t *testing.T) { // the last test: it stays dead
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(3 * time.Second)
			cluster.Kill("b")
		}()
		got, log, err := onCluster(t, t.Context(), Slurm{Shards: 6}, "pieces=90", "ms=200")
		<-killed
		require.NoError(t, err)
		by := check(t, got, 90)
		assert.Greater(t, by["a"], by["b"])
		assert.Positive(t, by["b"])
		assert.Contains(t, log, "died and run again")
		assert.Contains(t, log, "NODE_FAIL, it said nothing")
	})
}

// programs puts shell scripts of these names in front of the PATH.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// What a controller says that is away for a moment, or refuses, cannot be had from a real one when it is wanted.
func TestSlurmRefuses(t *testing.T) {
	serve := `for script; do :; done; for k in 0 1; do SLURM_ARRAY_TASK_ID=$k sh "$script" || exit 1; done; echo 12`
	for _, tc := range []struct{ name, sbatch, squeue, words string }{
		{name: "no queue for it", sbatch: "echo 'invalid partition specified: none' >&2; exit 1", words: "invalid partition specified: none"},
		{name: "answers nonsense", sbatch: "echo queued", words: `sbatch answered "queued\n"`},
		{name: "squeue fails, the results come", sbatch: serve, squeue: "exit 1"},
		{name: "squeue fails for good", sbatch: "echo 12", squeue: "echo down; exit 1", words: "no answer from Slurm for 500ms: jobs: squeue: exit status 1"},
		{name: "squeue is not understood", sbatch: "echo 12", squeue: "echo what", words: `squeue says "what\n"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			programs(t, map[string]string{"sbatch": tc.sbatch, "squeue": tc.squeue, "scancel": ""})
			got, _, err := onCluster(t, t.Context(), Slurm{Shards: 2, Silence: 500 * time.Millisecond}, "pieces=6")
			if tc.words == "" {
				require.NoError(t, err)
				check(t, got, 6)
				return
			}
			require.ErrorContains(t, err, tc.words)
		})
	}
}

// A job that Slurm has forgotten is dead, of what it died of if that was known, and the number of its array is the one that is cancelled.
func TestSlurmForgets(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	programs(t, map[string]string{"sbatch": "echo '77;east'", "scancel": "echo $@ > " + note,
		"squeue": "if mkdir " + note + ".known 2>&-; then echo 0 NODE_FAIL; echo 1 RUNNING; exit; fi; rmdir " + note + ".known\n" +
			"echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"})
	_, _, err := onCluster(t, t.Context(), Slurm{Shards: 2, Grace: time.Millisecond}, "pieces=6")
	var dead *DeadError
	require.ErrorAs(t, err, &dead)
	assert.Equal(t, "NODE_FAIL", dead.Dead[0].State)
	assert.Equal(t, gone, dead.Dead[1].State)
	assert.Contains(t, err.Error(), "2 of 2 jobs died, each of them twice; 6 results are missing")
	text, err := os.ReadFile(note)
	require.NoError(t, err)
	assert.Equal(t, "77 77\n", string(text))
}

func TestRanges(t *testing.T) {
	assert.Equal(t, "0-3,7,9-10", ranges([]int{0, 1, 2, 3, 7, 9, 10}))
	assert.Equal(t, "5", ranges([]int{5}))
}

// What a machine leaves in a file that dies while it writes.
func TestTornResults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	require.NoError(t, os.WriteFile(file, []byte(`{"piece":3,"result":9}`+"\n\x00\x00\x00\n"+`{"piece":4,"resu`), 0o644))
	lines, next, err := readLines(file, 0)
	require.NoError(t, err)
	require.Len(t, lines, 1)
	assert.Equal(t, 3, lines[0].Piece)
	require.NoError(t, appendTo(file, `lt":16}`+"\n"))
	lines, _, err = readLines(file, next)
	require.NoError(t, err)
	require.Len(t, lines, 1)
	assert.Equal(t, 4, lines[0].Piece)
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
