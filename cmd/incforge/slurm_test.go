// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
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

// timeless is a JSON document, or one a line, without the times, in the order of its lines.
func timeless(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var all []string
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var doc map[string]any
		require.NoError(t, d.Decode(&doc))
		for _, key := range []string{"wall_seconds", "wall_s", "cases_per_second", "packets_per_second"} {
			delete(doc, key)
		}
		line, err := json.Marshal(doc)
		require.NoError(t, err)
		all = append(all, string(line))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
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
	t.Run("sweep", func(t *testing.T) {
		for _, tool := range []string{"yosys", "sta"} {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skipf("%s is missing: make tools", tool)
			}
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte("base: mini\nset: {members: 2, ports: 2, mtu_bytes: 256, window_packets: 2, in_band: false}\n"+
			"parameters: {groups: [1], buffer_bytes: [2048, 4096]}\n"), 0o644))
		args := []string{"sweep", "spec.yaml", "--full", "all", "-o"}
		_, said, err := inFolder(t, dir, nil, append(args, "there", "--on", "slurm")...)
		require.NoError(t, err, said)
		_, said, err = inFolder(t, dir, nil, append(args, "here")...)
		require.NoError(t, err, said)
		assert.Equal(t, timeless(t, filepath.Join(dir, "here", "sweep.json")), timeless(t, filepath.Join(dir, "there", "sweep.json")))
		assert.NotContains(t, timeless(t, filepath.Join(dir, "there", "sweep.json")), `"why"`, "all points have figures")
		begin := time.Now()
		_, said, err = inFolder(t, dir, nil, append(args, "there", "--on", "slurm")...)
		require.NoError(t, err, said)
		assert.Less(t, time.Since(begin), time.Minute, "what was run is not run again")
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
			results := filepath.Join(dir, "build", "jobs", "chaos-*", "results-*")
			require.Eventually(t, func() bool {
				files, _ := filepath.Glob(results)
				return len(files) >= 8 // of 20
			}, 5*time.Minute, 50*time.Millisecond)
			cluster.Kill("b")
		}, append(args, "there.json", "--on", "slurm", "--shards", "20")...)
		require.NoError(t, err, said)
		first := func(s string) string { l, _, _ := strings.Cut(s, "\n"); return l }
		assert.Equal(t, first(want), first(got))
		assert.Equal(t, timeless(t, filepath.Join(dir, "here.json")), timeless(t, filepath.Join(dir, "there.json")))
		assert.Contains(t, said, "died and run again")
		assert.Contains(t, said, "NODE_FAIL")
		t.Log(said)
	})
}
