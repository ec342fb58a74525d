// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"incforge/internal/cache"
)

// TestMain makes this test binary the program `incforge` of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"incforge": main})
}

// repository is the root of this module.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

// environment gives scripts the caches of the machine, so that models and packages are not built again, $REPO and $BIN.
func environment(t *testing.T) func(*testscript.Env) error {
	root := repository(t)
	userCache, err := os.UserCacheDir()
	require.NoError(t, err)
	return func(env *testscript.Env) error {
		env.Setenv("REPO", root)
		env.Setenv("BIN", filepath.SplitList(os.Getenv("PATH"))[0]) // where testscript put incforge, and nothing else
		env.Setenv("XDG_CACHE_HOME", userCache)
		for _, key := range []string{cache.Env, "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN"} {
			if v := os.Getenv(key); v != "" {
				env.Setenv(key, v)
			}
		}
		return nil
	}
}

// status runs `status N PROGRAM...`: the program must end with exactly that exit status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s: exit status %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               environment(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status},
	})
}
