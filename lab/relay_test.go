// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/lab/relay"
)

// guestRelay starts the guest's end of a relay, which listens at the address that it returns, at a line.
func guestRelay(t *testing.T) (line net.Conn, address string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "relay")
	out, err := exec.Command("gcc", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "guest/relay.c", "-o", program).CombinedOutput()
	require.NoError(t, err, string(out))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = free.Addr().String()
	require.NoError(t, free.Close())
	line, tty, err := pair()
	require.NoError(t, err)
	t.Cleanup(func() { _ = line.Close() }) // most tests have closed it
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	cmd := exec.Command(program, port)
	cmd.Stdin, cmd.Stderr = tty, os.Stderr
	require.NoError(t, cmd.Run(), "it listens, and goes on in the background")
	require.NoError(t, tty.Close())
	return line, address
}

// serverAt answers every connection by what it is told to, until the test ends.
func serverAt(t *testing.T, answer func(net.Conn)) func(context.Context) (net.Conn, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answer(c)
		}
	}()
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}
}

// Streams of a guest's programs reach a server and come back whole, many at once and more one after the other than there are numbers; a server that
// is not there, that hangs up or that does not read ends its own stream; all end with the line.
func TestRelay(t *testing.T) {
	line, address := guestRelay(t)
	var mu sync.Mutex
	refused := false
	echo := serverAt(t, func(c net.Conn) {
		defer func() { _ = c.Close() }()
		kind := make([]byte, 1)
		if _, err := io.ReadFull(c, kind); err != nil {
			return
		}
		switch kind[0] {
		case 'e':
			_, _ = io.Copy(c, c)
		case 'b':
			_, _ = c.Write([]byte("bye"))
		case 's': // it does not read
			<-t.Context().Done()
		}
	})
	ended := make(chan error, 1)
	go func() {
		ended <- relay.Serve(t.Context(), line, func(ctx context.Context) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			if refused {
				return nil, errors.New("nobody is there")
			}
			return echo(ctx)
		})
	}()
	dial := func(kind string) net.Conn {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, c.SetDeadline(time.Now().Add(30*time.Second)))
		_, err = io.WriteString(c, kind)
		require.NoError(t, err)
		return c
	}
	around := func(seed uint64, size int) error {
		c := dial("e")
		defer func() { _ = c.Close() }()
		sent := make([]byte, size)
		for i, r := 0, rand.NewPCG(seed, 1); i < size; i++ {
			sent[i] = byte(r.Uint64())
		}
		go func() { _, _ = c.Write(sent) }()
		got := make([]byte, size)
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(sent, got) {
			return fmt.Errorf("stream %d: what came back is something else: %w", seed, err)
		}
		return nil
	}
	slow := dial("s")
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() { assert.NoError(t, around(uint64(i), 200_000)) })
	}
	all.Go(func() { // more than everybody on the way holds: it is cut, and the others go on
		_, err := slow.Write(make([]byte, 64<<20))
		assert.Error(t, err)
	})
	all.Wait()
	for i := range 150 {
		require.NoError(t, around(uint64(100+i), 100))
		short := dial("b")
		bye, err := io.ReadAll(short)
		require.NoError(t, errors.Join(err, short.Close()))
		require.Equal(t, "bye", string(bye))
	}
	mu.Lock()
	refused = true
	mu.Unlock()
	rest, err := io.ReadAll(dial("e"))
	require.Empty(t, rest)
	require.True(t, err == nil || errors.Is(err, syscall.ECONNRESET), "%v", err)
	mu.Lock()
	refused = false
	mu.Unlock()
	open := dial("e")
	require.NoError(t, line.Close())
	require.Error(t, <-ended)
	_, err = open.Read(make([]byte, 1))
	require.Error(t, err)
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, 5*time.Second, time.Millisecond, "the guest's end goes with its line")
}

// What is no frame ends the line.
func TestRelayGarbage(t *testing.T) {
	for _, text := range []string{"\x40\xff\xff", "\x00\x00\x00", "\x00\x00\x05hello", "\x00\xff\xff\x00\xff\xff", "\x00\xff\xff\x00\x10\x01"} {
		err := relay.Serve(t.Context(), struct {
			io.Reader
			io.Writer
		}{bytes.NewBufferString(text), io.Discard}, func(context.Context) (net.Conn, error) { return nil, errors.New("nobody is there") })
		require.ErrorContains(t, err, "no frame", "%q", text)
	}
}
