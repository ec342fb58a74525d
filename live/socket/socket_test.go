// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListenReplacesOnlyStaleSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s, err := Listen(path)
	require.NoError(t, err)
	_, err = Listen(path)
	require.ErrorIs(t, err, ErrTaken)
	require.ErrorContains(t, err, "somebody listens")
	require.NoError(t, s.conn.Close(), "as a program that dies: the file stays")
	require.FileExists(t, path)

	s, err = Listen(path)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	_, err = Listen(path)
	require.ErrorIs(t, err, ErrTaken)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))

	stream, err := net.Listen("unix", filepath.Join(t.TempDir(), "t"))
	require.NoError(t, err)
	_, err = Listen(stream.Addr().String())
	require.ErrorIs(t, err, ErrTaken, "a socket of another kind that is in use")
	require.NoError(t, stream.Close())

	_, err = Listen(filepath.Join(t.TempDir(), "none", "s"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Listen(filepath.Join(t.TempDir(), strings.Repeat("x", 120)))
	require.ErrorContains(t, err, "the system allows 107")
}

// A file that took the socket's place is not removed.
func TestCloseRemovesItsOwnFileOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s, err := Listen(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, s.Close())
	require.FileExists(t, path)
}

func TestSend(t *testing.T) {
	dir := t.TempDir()
	a, err := Listen(filepath.Join(dir, "a"))
	require.NoError(t, err)
	peer := filepath.Join(dir, "b")
	require.ErrorIs(t, a.Send(peer, []byte("x")), ErrNobody)

	b, err := Listen(peer)
	require.NoError(t, err)
	require.NoError(t, a.Send(peer, []byte("hello")))
	buf := make([]byte, 4)
	n, err := b.Receive(buf)
	require.NoError(t, err)
	assert.Equal(t, "hell", string(buf[:n]), "cut, not continued")

	// The queue fills; Send waits a while and gives up; when the peer reads again it works again.
	sent := 0
	for err = a.Send(peer, buf); err == nil; err = a.Send(peer, buf) {
		sent++
	}
	require.ErrorIs(t, err, ErrFull)
	require.NoError(t, b.SetReceiveDeadline(time.Now().Add(time.Minute)))
	for range sent {
		_, err := b.Receive(buf)
		require.NoError(t, err)
	}
	require.NoError(t, a.Send(peer, buf))

	require.NoError(t, b.conn.Close())
	require.ErrorIs(t, a.Send(peer, buf), ErrNobody, "a file nobody listens on")
	require.NoError(t, a.Close())
	require.Error(t, a.Send(peer, buf))
	_, err = a.Receive(buf)
	require.ErrorIs(t, err, net.ErrClosed)
}
