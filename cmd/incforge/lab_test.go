// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// example is an example's text with other faults: loss, where it is not 0, on every link.
func example(t *testing.T, dir, name string, loss float64) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../lab/examples", name))
	require.NoError(t, err)
	changed := regexp.MustCompile(`, (loss|rate_mbit|delay_us): [0-9.]+`).ReplaceAllString(string(text), "")
	if loss > 0 {
		changed = regexp.MustCompile(`(?m)^(  - \{a: h.*)\}$`).ReplaceAllString(changed, fmt.Sprintf("$1, loss: %g}", loss))
	}
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	for _, design := range []string{"switch.yaml", "inband.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../lab/examples", design))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, design), text, 0o600))
	}
	return file
}

// TestLabExamples: the examples are right, and what is wrong on the command line or in a file starts nothing.
func TestLabExamples(t *testing.T) {
	home := filepath.Join(t.TempDir(), "run")
	t.Setenv("XDG_RUNTIME_DIR", home)
	dir := t.TempDir()
	for _, name := range []string{"four.yaml", "eight.yaml", "managed.yaml"} {
		file := example(t, dir, name, 0.01)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, bytes.ReplaceAll(text, []byte(", dut: rtl"), nil), 0o600)) // which would take minutes to compile
		status, _, stderr := try(t, "lab", file, "--prepare")
		assert.Equal(t, exitOK, status, stderr)
		status, _, stderr = try(t, "lab", file, "--guest", dir)
		assert.Equal(t, exitUsage, status)
		assert.Contains(t, stderr, "make lab builds it")
	}
	bad := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("switches: [{name: s, config: nothing}, {name: t, config: mini, dut: wood}]\nhosts: [{name: h}]\n"), 0o600))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{bad}, []string{bad + ":1:30: ", bad + `:1:69: dut is "wood"`, bad + ":2:16: host h has no link"}},
		{[]string{}, []string{"it takes one TOPOLOGY"}},
		{[]string{bad, "true"}, []string{"a command only behind --"}},
		{[]string{"exec", "h0", "true"}, []string{"no lab runs"}},
		{[]string{"state", "--lab", "two"}, []string{"lab two does not run"}},
	} {
		status, _, stderr := try(t, append([]string{"lab"}, c.args...)...)
		assert.Equal(t, exitUsage, status, c.args)
		for _, want := range c.want {
			assert.Contains(t, stderr, want)
		}
	}
	assert.NoDirExists(t, home)
}

// try is a run of the program.
func try(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}
