// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlug: one after the other connects, frames keep their bounds, and more of them wait than a datagram socket would keep.
func TestPlug(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	p, err := NewPlug(path)
	require.NoError(t, err)
	_, err = NewPlug(path)
	require.ErrorIs(t, err, ErrTaken)
	require.ErrorIs(t, p.Try("", []byte("x")), ErrNobody)
	assert.False(t, p.Heard(""))
	for range 3 {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
		require.NoError(t, err)
		const count = 40
		for i := range count {
			_, err := c.Write(make([]byte, 100+i))
			require.NoError(t, err)
		}
		buf := make([]byte, 5000)
		for i := range count {
			n, err := p.Receive(buf)
			require.NoError(t, err)
			require.Equal(t, 100+i, n)
		}
		require.NoError(t, p.SetReceiveDeadline(time.Now().Add(10*time.Millisecond)))
		_, err = p.Receive(buf)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, p.SetReceiveDeadline(time.Time{}))
		assert.True(t, p.Heard(""))
		for i := range count {
			require.NoError(t, p.Try("", make([]byte, 1000+i)))
		}
		for i := range count {
			n, err := c.Read(buf)
			require.NoError(t, err)
			require.Equal(t, 1000+i, n)
		}
		for err = nil; err == nil; err = p.Try("", buf) { // nobody reads
		}
		require.ErrorIs(t, err, ErrFull)
		require.ErrorIs(t, p.Send("", buf), ErrFull)
		require.NoError(t, c.Close())
		require.ErrorIs(t, p.Try("", buf), ErrNobody)
	}
	done := make(chan error, 1)
	go func() {
		_, err := p.Receive(make([]byte, 1))
		done <- err
	}()
	require.NoError(t, p.Close())
	require.ErrorIs(t, <-done, net.ErrClosed)
	assert.NoFileExists(t, path)
}
