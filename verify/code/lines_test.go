// SPDX-License-Identifier: Apache-2.0

package code_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/rtlgen"
	"incforge/rtlgen/params"
	"incforge/verify/code"
)

// An excuse that names no line of a configuration which it is for excuses nothing there, and hides that the text has changed.
func TestExcusesNameLines(t *testing.T) {
	t.Parallel()
	all, err := code.Excuses()
	require.NoError(t, err)
	for _, config := range []string{"mini", "mini3", "mini1"} {
		p, err := params.Preset(config)
		require.NoError(t, err)
		d, err := rtlgen.Generate(p)
		require.NoError(t, err)
		files := d.Files.Map()
		for _, e := range all {
			if slices.Contains(e.Only, config) {
				assert.True(t, strings.Contains(string(files["rtl/"+e.File]), e.Text), "%s: %s has no %q", config, e.File, e.Text)
			}
		}
	}
}
