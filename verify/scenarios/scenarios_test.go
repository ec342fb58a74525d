// SPDX-License-Identifier: Apache-2.0

package scenarios_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/verify/scenarios"
)

// names are those that a pattern selects.
func names(t *testing.T, pattern string) (out []string) {
	t.Helper()
	chosen, err := scenarios.Select(pattern)
	require.NoError(t, err)
	for _, s := range chosen {
		out = append(out, s.Name)
	}
	return out
}

func TestSelect(t *testing.T) {
	t.Parallel()
	all, chaos, calm := names(t, ""), names(t, "chaos-*"), names(t, "!chaos-*")
	assert.ElementsMatch(t, all, append(chaos, calm...))
	assert.Subset(t, chaos, []string{"chaos-star", "chaos-tree"})
	for _, name := range calm {
		assert.False(t, strings.HasPrefix(name, "chaos-"), name)
	}
	assert.Equal(t, []string{"chaos-star"}, names(t, "chaos-star,no-such-*"))
	assert.ElementsMatch(t, all, append(names(t, "!chaos-*,!drops"), append(chaos, "drops")...))
	assert.ElementsMatch(t, chaos, append(names(t, "chaos-*,!chaos-star"), "chaos-star"))
	_, err := scenarios.Select("no-such-*")
	require.EqualError(t, err, `no scenario matches "no-such-*"`)
	_, err = scenarios.Select("![")
	require.ErrorIs(t, err, path.ErrBadPattern)
}
