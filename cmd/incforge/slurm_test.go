// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/jobs/slurmtest"
)

// inFolder runs the program in a folder; during is called while it runs.
func inFolder(t *testing.T, dir string, during func(), args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.Command("incforge", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &said
	require.NoError(t, cmd.Start())
	if during != nil {
		during()
	}
	err = cmd.Wait()
	return out.String(), said.String(), err
}

// timeless are JSON documents, one a line, without the times, in the order of the lines.
func timeless(t *testing.T, file string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(read(t, file)) {
		var doc map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &doc))
		delete(doc, "wall_s")
		line, err := json.Marshal(doc)
		require.NoError(t, err)
		all = append(all, string(line))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// began waits until so many jobs of the run in a folder have begun.
func began(t *testing.T, dir string, jobs int) {
	t.Helper()
	require.Eventually(t, func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "build", "jobs", "*", "results-*"))
		return len(files) >= jobs
	}, 10*time.Minute, 50*time.Millisecond)
}

// TestOnSlurm: what commands find out does not depend on where their pieces ran, not even if a machine dies meanwhile.
func TestOnSlurm(t *testing.T) {
	cluster := slurmtest.Start(t, "a", "b")
	t.Run("verify", func(t *testing.T) {
		dir := t.TempDir()
		args := []string{"verify", "mini", "trio3", "--dut", "reference", "--seeds", "2", "--json"}
		want, _, err := inFolder(t, dir, nil, append(args, "here.jsonl")...)
		require.NoError(t, err)
		got, said, err := inFolder(t, dir, nil, append(args, "there.jsonl", "--on", "slurm", "--shards", "6")...)
		require.NoError(t, err, said)
		last := func(s string) string { lines := strings.Split(strings.TrimSpace(s), "\n"); return lines[len(lines)-1] }
		assert.Equal(t, last(want), last(got))
		assert.Equal(t, timeless(t, filepath.Join(dir, "here.jsonl")), timeless(t, filepath.Join(dir, "there.jsonl")))
		assert.Contains(t, said, "jobs running", "progress")
	})
	t.Run("synth", func(t *testing.T) {
		dir := t.TempDir()
		args := []string{"synth", "mini", "--set", "members=2", "--top", "inc_lookup_table", "--clock-mhz", "1500", "--rounds", "2", "--json"}
		t.Setenv("INCFORGE_CACHE", t.TempDir())
		got, said, err := inFolder(t, dir, func() { began(t, dir, 2) }, append(args, "there.json", "--on", "slurm", "--shards", "4")...)
		require.NoError(t, err, said)
		t.Setenv("INCFORGE_CACHE", t.TempDir())
		want, said, err := inFolder(t, dir, nil, append(args, "here.json")...)
		require.NoError(t, err, said)
		assert.Contains(t, said, "round=2", "modules are mapped again")
		assert.Equal(t, want, got)
		assert.Equal(t, read(t, filepath.Join(dir, "here.json")), read(t, filepath.Join(dir, "there.json")), "bit for bit")
	})
	t.Run("interrupted", func(t *testing.T) {
		_, said, err := inFolder(t, t.TempDir(), nil, "--verbose", "chaos", "--seeds", "1:20", "--on", "slurm", "--sbatch=--partition=none")
		assert.Error(t, err)
		assert.Contains(t, said, "invalid partition")

		cmd := exec.Command("incforge", "chaos", "--seeds", "1:100000", "--on", "slurm", "--shards", "4")
		cmd.Dir = t.TempDir()
		require.NoError(t, cmd.Start())
		running := func() string {
			out, err := exec.Command("squeue", "--noheader", "--states=running").Output()
			require.NoError(t, err)
			return string(out)
		}
		require.Eventually(t, func() bool { return running() != "" }, time.Minute, 200*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		begin := time.Now()
		assert.Error(t, cmd.Wait())
		assert.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
		assert.Less(t, time.Since(begin), 2*time.Second)
		assert.Eventually(t, func() bool { return running() == "" }, 20*time.Second, 200*time.Millisecond, "the jobs are cancelled")
	})
	t.Run("chaos, and a node dies", func(t *testing.T) { // the last test: it stays dead
		dir := t.TempDir()
		args := []string{"chaos", "--seeds", "1:400", "--json"}
		want, _, err := inFolder(t, dir, nil, append(args, "here.json")...)
		require.NoError(t, err)
		got, said, err := inFolder(t, dir, func() {
			began(t, dir, 8) // of 20
			cluster.Kill("b")
		}, append(args, "there.json", "--on", "slurm", "--shards", "20")...)
		require.NoError(t, err, said)
		first := func(s string) string { l, _, _ := strings.Cut(s, "\n"); return l }
		assert.Equal(t, first(want), first(got))
		assert.Equal(t, read(t, filepath.Join(dir, "here.json")), read(t, filepath.Join(dir, "there.json")), "bit for bit")
		assert.Contains(t, said, "died and run again")
		assert.Contains(t, said, "NODE_FAIL")
		t.Log(said)
	})
}

// TestSweepOnSlurm: every file of a sweep is the same, bit for bit, if a machine dies in the middle. Either run synthesises with a cache of its own.
func TestSweepOnSlurm(t *testing.T) {
	for _, tool := range []string{"yosys", "sta"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: make tools", tool)
		}
	}
	cluster := slurmtest.Start(t, "a", "b")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte("base: mini\nset: {members: 2, ports: 2, mtu_bytes: 256, window_packets: 2, in_band: false}\n"+
		"parameters: {groups: [1, 2], buffer_bytes: [2048, 4096, 8192]}\n"), 0o644))
	files := func(where string) map[string]string {
		all := map[string]string{}
		require.NoError(t, fs.WalkDir(os.DirFS(filepath.Join(dir, where)), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			all[name] = read(t, filepath.Join(dir, where, name))
			return nil
		}))
		return all
	}
	args := []string{"sweep", "spec.yaml", "--full", "all", "--all", "-o"}
	t.Setenv("INCFORGE_CACHE", t.TempDir())
	begin := time.Now()
	got, said, err := inFolder(t, dir, func() {
		began(t, dir, 3)            // of 6
		time.Sleep(5 * time.Second) // Slurm itself starts a job again whose machine dies while it launches it
		cluster.Kill("b")
	}, append(args, "there", "--on", "slurm")...)
	require.NoError(t, err, said)
	assert.Contains(t, said, "NODE_FAIL")
	assert.Contains(t, got, "6 points: 6 run in full")
	t.Logf("on Slurm, %v:\n%s\n%s", time.Since(begin).Round(time.Second), said, got)

	again, said, err := inFolder(t, dir, nil, append(args, "there", "--on", "slurm")...)
	require.NoError(t, err, said)
	assert.Equal(t, got, again)
	assert.NotContains(t, said, "points in full", "what was run is not run again")

	t.Setenv("INCFORGE_CACHE", t.TempDir())
	begin = time.Now()
	want, said, err := inFolder(t, dir, nil, append(args, "here")...)
	require.NoError(t, err, said)
	t.Logf("here, %v", time.Since(begin).Round(time.Second))
	assert.Equal(t, strings.ReplaceAll(want, "in here", "in there"), got)
	assert.Len(t, files("here"), 6+2, "points, table, drawing")
	assert.Equal(t, files("here"), files("there"))
}
