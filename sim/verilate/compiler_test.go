// SPDX-License-Identifier: Apache-2.0

package verilate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/cache"
	"incforge/internal/testcost"
	"incforge/internal/tool"
)

// TestHeaderIsUsed: the compiler takes the precompiled header with the flags of a model. It says nothing when it passes one over, and
// all that is left to see is a build three times as long.
func TestHeaderIsUsed(t *testing.T) {
	t.Parallel()
	ctx := testcost.Context(t)
	st, err := cache.Open("", "models")
	require.NoError(t, err)
	tools, err := probeTools(ctx)
	require.NoError(t, err)
	root, err := tool.Run(ctx, tool.Command{Name: "verilator", Args: []string{"--getenv", "VERILATOR_ROOT"}})
	require.NoError(t, err)
	c := compiler{d: &Design{}, ctx: ctx, store: st, tools: tools, dir: t.TempDir(), root: strings.TrimSpace(string(root.Stdout)), opt: smallOpt}
	pre, err := c.header(ctx)
	require.NoError(t, err)

	var log strings.Builder
	c.d = &Design{Log: &log}
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "empty.cpp"), nil, 0o644))
	require.NoError(t, c.cxx(ctx, "empty.cpp", "empty.o", c.opt, "-H", "-include", pre))
	assert.Contains(t, log.String(), "! "+pre+".gch\n", "of the headers that it names, the one it took compiled")
	assert.Equal(t, 1, strings.Count(log.String(), "\n"), "and nothing else was read: %s", log.String())
}

func TestBundle(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".cpp"), make([]byte, size), 0o644))
		return name
	}
	read := func(unit string) string {
		text, err := os.ReadFile(filepath.Join(dir, unit+".cpp"))
		require.NoError(t, err)
		return string(text)
	}
	slow := []string{write("s0", 100), write("s1", 100)}
	fast := []string{write("f0", unitBytes/2), write("f1", unitBytes/4)}
	units, size, err := bundle(dir, "all.h", slow, fast)
	require.NoError(t, err)
	assert.EqualValues(t, unitBytes*3/4+200, size)
	require.Len(t, units, 1, "a small model is one unit")
	assert.Equal(t, `#include "all.h"
#pragma GCC push_options
#pragma GCC optimize("O0")
#include "s0.cpp"
#include "s1.cpp"
#pragma GCC pop_options
#include "f0.cpp"
#include "f1.cpp"
`, read(units[0]))

	fast = append(fast, write("f2", unitBytes/2), write("f3", unitBytes*2), write("f4", 1))
	units, size, err = bundle(dir, "all.h", slow, fast)
	require.NoError(t, err)
	assert.Greater(t, size, int64(3*unitBytes))
	var all []string
	for _, u := range units {
		text := strings.TrimPrefix(read(u), "#include \"all.h\"\n")
		assert.Equal(t, len(all) == 0, strings.Contains(text, `optimize("O0")`), "what runs once is apart from the rest")
		all = append(all, strings.Join(strings.Fields(strings.NewReplacer("#include", "", `"`, "", ".cpp", "").Replace(text)), " "))
	}
	assert.Equal(t, []string{"f0 f1", "f2", "f3", "f4"}, all[1:])

	_, _, err = bundle(dir, "all.h", slow, []string{"gone"})
	assert.ErrorContains(t, err, "gone.cpp")
}

func TestLevel(t *testing.T) {
	assert.Equal(t, "-O1", (&Design{}).level(2<<20))
	assert.Equal(t, "-O2", (&Design{}).level(5<<20))
	assert.Equal(t, "-O1", (&Design{Short: true}).level(5<<20))
	assert.Equal(t, "-O0", (&Design{Brief: true}).level(5<<20))
}

func TestParseRoot(t *testing.T) {
	root, err := parseRoot("# a makefile\nPERL = perl\nVERILATOR_ROOT = /usr/share/verilator\nSYSTEMC_INCLUDE ?= \n")
	require.NoError(t, err)
	assert.Equal(t, "/usr/share/verilator", root)
	_, err = parseRoot("PERL = perl\n")
	assert.ErrorContains(t, err, "run-time library")
}
