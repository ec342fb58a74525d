// SPDX-License-Identifier: Apache-2.0

package verilate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStorePrunes(t *testing.T) {
	s, err := openStore(t.TempDir())
	require.NoError(t, err)
	fill := func(string) error { return nil }
	for _, name := range []string{"old", "used", "new"} {
		_, hit, err := s.get(context.Background(), name, fill)
		require.NoError(t, err)
		require.False(t, hit)
	}
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "tmp-1"), 0o755))
	long := time.Now().Add(-30 * 24 * time.Hour)
	for _, name := range []string{"old", "used", "tmp-1"} {
		require.NoError(t, os.Chtimes(filepath.Join(s.dir, name), long, long))
	}
	_, hit, err := s.get(context.Background(), "used", fill)
	require.NoError(t, err)
	assert.True(t, hit)
	failure := errors.New("no build")
	_, _, err = s.get(context.Background(), "another", func(string) error { return failure })
	require.ErrorIs(t, err, failure)
	for name, want := range map[string]bool{"old": false, "used": true, "new": true, "tmp-1": false, "another": false} {
		assert.Equal(t, want, isDir(filepath.Join(s.dir, name)), name)
	}
}

func TestStoreWaitsNoLongerThanTheCaller(t *testing.T) {
	s, err := openStore(t.TempDir())
	require.NoError(t, err)
	unlock, err := s.lock(context.Background(), "x")
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, _, err = s.get(ctx, "x", func(string) error { return nil })
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestStorePlace(t *testing.T) {
	t.Setenv(cacheEnv, filepath.Join(t.TempDir(), "a", "b"))
	s, err := openStore("")
	require.NoError(t, err)
	assert.Equal(t, os.Getenv(cacheEnv), s.dir)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = openStore(file)
	assert.ErrorContains(t, err, "folder of compiled models")
	t.Setenv(cacheEnv, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s, err = openStore("")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(os.Getenv("XDG_CACHE_HOME"), "incforge", "models"), s.dir)
}

func TestParsePorts(t *testing.T) {
	ports, err := parsePorts(`
    VL_IN8(&clk,0,0);
    VL_OUT16(&a___05Fb,15,4);
    VL_IN64(&__SYM__int,40,0);
    VL_INW(&wide,511,0,16);
`)
	require.NoError(t, err)
	assert.Equal(t, []genPort{
		{"clk", "clk", 1, "INCSIM_IN"}, {"a___05Fb", "a__b", 12, "INCSIM_OUT"},
		{"__SYM__int", "int", 41, "INCSIM_IN"}, {"wide", "wide", 512, "INCSIM_IN"},
	}, ports)
	_, err = parsePorts("    VL_IN8((&arr)[4],7,0);\n")
	assert.ErrorContains(t, err, "a port is an array")
}

func TestCPUIdentity(t *testing.T) {
	one := cpuIdentity([]byte("processor\t: 0\nmodel\t: 85\nflags\t: avx2\ncpu MHz\t: 2000\n\nprocessor\t: 1\nmodel\t: 85\nflags\t: avx2\n"))
	faster := cpuIdentity([]byte("processor\t: 0\nmodel\t: 85\nflags\t: avx2\ncpu MHz\t: 3000\n"))
	other := cpuIdentity([]byte("processor\t: 0\nmodel\t: 85\nflags\t: avx2 avx512f\n"))
	assert.Equal(t, one, faster, "neither the number of processors nor their clock matters")
	assert.NotEqual(t, one, other)
}
