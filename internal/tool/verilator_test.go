// SPDX-License-Identifier: Apache-2.0

package tool_test

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/tool"
)

// TestVerilatorWithoutItsScript: with and without the script that a package puts before it, Verilator says the same, of what it is and of
// what it cannot read; a variable that the script goes by still counts.
func TestVerilatorWithoutItsScript(t *testing.T) {
	path, err := exec.LookPath("verilator")
	if err != nil {
		t.Skip("Verilator is not installed")
	}
	for _, args := range [][]string{{"--version"}, {"--getenv", "VERILATOR_ROOT"}, {"--lint-only", "-Wall", "--top-module", "m", "no such $file.v"}} {
		want, wantErr := exec.Command(path, args...).CombinedOutput()
		got, gotErr := tool.Run(context.Background(), tool.Command{Name: "verilator", Args: args})
		assert.Equal(t, string(want), string(got.Output), args)
		assert.Equal(t, wantErr == nil, gotErr == nil, args)
	}
	var exit *tool.ExitError
	_, err = tool.Run(context.Background(), tool.Command{Name: "verilator", Args: []string{"--lint-only", "no-such-file.v"}})
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, "verilator", exit.Name)

	t.Setenv("VERILATOR_ROOT", t.TempDir())
	_, err = tool.Run(context.Background(), tool.Command{Name: "verilator", Args: []string{"--version"}})
	assert.Error(t, err, "there is none in that folder")
}
