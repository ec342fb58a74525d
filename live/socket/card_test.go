// SPDX-License-Identifier: Apache-2.0

package socket_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/live/socket"
)

// inside is set in the process that has a network of its own.
const inside = "INCFORGE_TEST_CARD"

// TestCard runs itself where it has a network of its own, whose loopback is the card: what goes out by it comes in again.
func TestCard(t *testing.T) {
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCard$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Skipf("this system gives nobody a network of his own: %v", err)
		}
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: TestCard")
		return
	}
	_, err := socket.NewCard("none0")
	require.ErrorContains(t, err, "card none0: ")
	a, err := socket.NewCard("lo")
	require.NoError(t, err)
	b, err := socket.NewCard("lo")
	require.NoError(t, err)
	frame := append([]byte{0x52, 0x54, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x88, 0xB5}, slices.Repeat([]byte{7}, 1000)...) // to somebody else's address
	require.ErrorIs(t, a.Try("", frame), socket.ErrNobody, "the card is down")
	assert.False(t, a.Heard(""))
	up(t, "lo")
	assert.True(t, a.Heard(""))
	require.NoError(t, a.Send("", frame))
	buf := make([]byte, 2000)
	for _, c := range []*socket.Card{a, b} {
		require.NoError(t, c.SetReceiveDeadline(time.Now().Add(10*time.Second)))
		n, err := c.Receive(buf)
		require.NoError(t, err)
		assert.Equal(t, frame, buf[:n])
		require.NoError(t, c.SetReceiveDeadline(time.Now().Add(10*time.Millisecond)))
		_, err = c.Receive(buf)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "once, and not as it left")
	}
	require.ErrorContains(t, a.Try("", make([]byte, 1<<17)), "more than the card's MTU")
	require.NoError(t, b.SetReceiveDeadline(time.Time{}))
	ended := make(chan error, 1)
	go func() { _, err := b.Receive(make([]byte, 100)); ended <- err }()
	require.NoError(t, b.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	require.ErrorIs(t, b.Try("", frame), socket.ErrNobody)
	require.NoError(t, a.Close())
}

// up switches a card on.
func up(t *testing.T, name string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	require.NoError(t, err)
	defer func() { assert.NoError(t, syscall.Close(fd)) }()
	var request struct { // struct ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], name)
	request.flags = syscall.IFF_UP
	_, _, code := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	require.Zero(t, code)
}
