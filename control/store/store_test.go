// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	open := func() Store {
		s, err := Open(path)
		require.NoError(t, err)
		return s
	}
	for name, s := range map[string]Store{"file": open(), "memory": NewMemory()} {
		t.Run(name, func(t *testing.T) {
			reopen := func() {
				if name == "file" {
					require.NoError(t, s.Close())
					s = open()
				}
			}
			require.NoError(t, s.Put("b", []byte("1")))
			require.NoError(t, s.Put("a", []byte("2")))
			reopen()
			require.NoError(t, s.Put("b", []byte("3")))
			require.NoError(t, s.Put("c", nil))
			require.NoError(t, s.Delete("c"))
			require.NoError(t, s.Delete("d"))
			reopen()
			all, err := s.All()
			require.NoError(t, err)
			require.Equal(t, []Record{{"a", []byte("2")}, {"b", []byte("3")}}, all)
			if name == "file" {
				_, err := Open(path)
				require.ErrorContains(t, err, "another process has it open")
			}
			require.NoError(t, s.Close())
		})
	}
	require.NoError(t, os.WriteFile(path+"x", []byte("no store at all, but long enough to look like one"), 0o600))
	_, err := Open(path + "x")
	require.ErrorContains(t, err, "store "+path+"x: ")
}
