// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/clocked"
)

// The clock asked for is the configuration's, whatever the flow was asked.
func TestFound(t *testing.T) {
	m := &contract.Manifest{Digest: "d", Params: contract.Params{ClockMHz: 250}, Tops: map[string]contract.Top{"core": {Module: "e_core"}}}
	c, err := (&foundFlag{}).clock(m)
	require.NoError(t, err)
	assert.Equal(t, clocked.Clock{AskedMHz: 250}, c)
	file := filepath.Join(t.TempDir(), "synth.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"digest":"d","top":"e_core","clock":{"asked_mhz":400,"found_mhz":261,"by":"generic28 typical"}}`), 0o644))
	c, err = (&foundFlag{file}).clock(m)
	require.NoError(t, err)
	assert.Equal(t, clocked.Clock{AskedMHz: 250, FoundMHz: 261, By: "generic28 typical"}, c)
	m.Digest = "another"
	_, err = (&foundFlag{file}).clock(m)
	require.ErrorIs(t, err, clocked.ErrOther)
	assert.ErrorAs(t, err, &usageError{})
}
