// SPDX-License-Identifier: Apache-2.0

package cache

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
	s, err := Open(t.TempDir(), "models")
	require.NoError(t, err)
	fill := func(string) error { return nil }
	for _, name := range []string{"old", "used", "new"} {
		_, hit, err := s.Get(context.Background(), name, fill)
		require.NoError(t, err)
		require.False(t, hit)
	}
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "tmp-1"), 0o755))
	long := time.Now().Add(-30 * 24 * time.Hour)
	for _, name := range []string{"old", "used", "tmp-1"} {
		require.NoError(t, os.Chtimes(filepath.Join(s.dir, name), long, long))
	}
	s, err = Open(s.dir, "models") // a process removes before its first build only
	require.NoError(t, err)
	_, hit, err := s.Get(context.Background(), "used", fill)
	require.NoError(t, err)
	assert.True(t, hit)
	failure := errors.New("no build")
	_, _, err = s.Get(context.Background(), "another", func(string) error { return failure })
	require.ErrorIs(t, err, failure)
	for name, want := range map[string]bool{"old": false, "used": true, "new": true, "tmp-1": false, "another": false} {
		assert.Equal(t, want, IsDir(filepath.Join(s.dir, name)), name)
	}
}

func TestStoreWaitsNoLongerThanTheCaller(t *testing.T) {
	s, err := Open(t.TempDir(), "models")
	require.NoError(t, err)
	unlock, err := s.lock(context.Background(), "x")
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, _, err = s.Get(ctx, "x", func(string) error { return nil })
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestStorePlace(t *testing.T) {
	t.Setenv(Env, filepath.Join(t.TempDir(), "a", "b"))
	s, err := Open("", "models")
	require.NoError(t, err)
	assert.Equal(t, os.Getenv(Env), s.dir)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = Open(file, "models")
	assert.ErrorContains(t, err, "folder of models")
	t.Setenv(Env, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s, err = Open("", "models")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(os.Getenv("XDG_CACHE_HOME"), "incforge", "models"), s.dir)
}
