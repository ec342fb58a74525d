// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
)

// TestPrinted: what the contract prints into modules and documents is up to date in every file that has its marks.
func TestPrinted(t *testing.T) {
	t.Parallel()
	var marked []string
	for _, pattern := range []string{"../hdl/*/*.v", "../docs/*.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := contract.Fill(text)
			if !assert.NoError(t, err, file) {
				continue
			}
			again, err := contract.Fill(want)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(again), "%s: printed once more it is the same", file)
			if len(want) != len(text) || &want[0] != &text[0] {
				marked = append(marked, filepath.Base(file))
			}
			if *update && string(want) != string(text) {
				require.NoError(t, os.WriteFile(file, want, 0o644))
				continue
			}
			if d := cmp.Diff(string(text), string(want)); d != "" {
				t.Errorf("%s is behind the contract (-file +contract); `go generate ./contract` prints it anew:\n%s", file, d)
			}
		}
	}
	assert.Subset(t, marked, []string{"inc_check_duplicate.v", "inc_check_pipe.v", "inc_csr.v", "engine.md", "pipes.md"})
}
