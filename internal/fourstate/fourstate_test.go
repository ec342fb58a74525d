// SPDX-License-Identifier: Apache-2.0

package fourstate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/fourstate"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

// generated is a preset's folder.
func generated(t *testing.T, name string) string {
	t.Helper()
	p, err := params.Preset(name)
	require.NoError(t, err)
	d, err := rtlgen.Generate(p)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, d.Write(dir))
	return dir
}

// Nothing unknown leaves the core of either mode, with frames of every remainder of the bus. make lint-x has all presets, their other top, and
// on 8-byte buses all lengths.
func TestNoX(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mini", "mini3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rep, err := fourstate.Dir(t.Context(), generated(t, name), fourstate.Options{Tops: []string{"core"}, Brief: true})
			require.NoError(t, err)
			require.Empty(t, rep.Findings)
			require.Len(t, rep.Runs, 1)
			assert.Greater(t, rep.Runs[0].Made, 200, "frames of the engine's own")
			assert.Greater(t, rep.Runs[0].In, 600)
		})
	}
}

// A comparison that asks for a header that is not there, of a frame that is too short for one, is found, and the words say where.
func TestFindsX(t *testing.T) {
	t.Parallel()
	dir := generated(t, "mini")
	file := filepath.Join(dir, "rtl", "inc_parser.v")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	const good = "<= !short_frame"
	require.Equal(t, 1, strings.Count(string(text), good))
	wrong := strings.ReplaceAll(string(text), good, "<= 1'b1")
	require.NoError(t, os.WriteFile(file, []byte(wrong), 0o644))
	rep, err := fourstate.Dir(t.Context(), dir, fourstate.Options{Brief: true})
	require.NoError(t, err)
	require.Len(t, rep.Findings, 2, "both tops")
	assert.Equal(t, "m_axis_tvalid", rep.Findings[0].Port)
	assert.Equal(t, "all lengths", rep.Findings[0].Phase)
	assert.Contains(t, rep.Findings[0].String(), "mini_core: m_axis_tvalid is X in cycle ")
	assert.Contains(t, rep.Findings[0].Frame, "62 bytes")
}

func TestBadFolder(t *testing.T) {
	t.Parallel()
	_, err := fourstate.Dir(context.Background(), t.TempDir(), fourstate.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = fourstate.Dir(context.Background(), generated(t, "mini"), fourstate.Options{Tops: []string{"side"}})
	require.ErrorContains(t, err, `no top "side"`)
}
