// SPDX-License-Identifier: Apache-2.0

package mmio

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resource0")
	require.NoError(t, os.WriteFile(path, make([]byte, 8192), 0o600))
	_, err := Open(path, 8193)
	require.ErrorContains(t, err, "is shorter than the 8193 bytes")
	_, err = Open(path+"x", 1)
	require.ErrorIs(t, err, os.ErrNotExist)
	b, err := Open(path, 8192)
	require.NoError(t, err)
	require.NoError(t, b.Write(4096, 0x12345678, 0xF))
	v, err := b.Read(4096)
	require.NoError(t, err)
	require.Equal(t, uint32(0x12345678), v)
	for _, addr := range []uint32{8192, 2, 0xFFFFFFFC} {
		_, err = b.Read(addr)
		require.ErrorIs(t, err, ErrAddress)
		require.ErrorIs(t, b.Write(addr, 1, 0xF), ErrAddress)
	}
	require.ErrorIs(t, b.Write(0, 1, 1), ErrAddress)
	require.NoError(t, b.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, uint32(0x12345678), binary.NativeEndian.Uint32(text[4096:]))
	require.Equal(t, make([]byte, 4096), text[:4096])
}
