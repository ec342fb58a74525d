// SPDX-License-Identifier: Apache-2.0

// Package socket is unix datagram sockets that frames come and go by.
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"incforge/internal/fail"
)

// Socket is a unix datagram socket that is bound to a path. Send and Receive may run at the same time; each is used by one goroutine.
type Socket struct {
	conn *net.UnixConn
	raw  syscall.RawConn
	path string
	file fs.FileInfo
}

// Errors of Listen and Send.
var (
	// ErrTaken means that the path is a file that is no socket, or a socket that somebody listens on.
	ErrTaken = errors.New("path is taken")
	// ErrNobody means that nobody is bound to the peer's path now.
	ErrNobody = errors.New("nobody listens")
	// ErrFull means that the peer has not read for a while and its queue is full.
	ErrFull = errors.New("the peer does not read")
)

// Listen binds a socket to a path. A socket file that nobody listens on any more is replaced; any other file is refused.
func Listen(path string) (s *Socket, err error) {
	defer fail.Catch(&err, "socket %s", path)
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(path) > most {
		fail.Now("the path has %d bytes, the system allows %d", len(path), most)
	}
	addr := &net.UnixAddr{Name: path, Net: "unixgram"}
	fail.On(Vacate(path, "unixgram"))
	s = &Socket{conn: fail.Must(net.ListenUnixgram("unixgram", addr)), path: path}
	if s.file, err = os.Lstat(path); err == nil {
		s.raw, err = s.conn.SyscallConn()
	}
	if err != nil {
		return nil, errors.Join(err, s.conn.Close())
	}
	return s, nil
}

// Vacate removes the file of a socket of that network that nobody listens on any more, and refuses any other file.
func Vacate(path, network string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // what is wrong with it, binding says
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%w: the file is no socket", ErrTaken)
	}
	probe, err := net.DialUnix(network, nil, &net.UnixAddr{Name: path, Net: network})
	if err == nil {
		err = probe.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: somebody listens on it", ErrTaken)
	}
	return os.Remove(path)
}

// Heard tells whether somebody is bound to a path now.
func (s *Socket) Heard(path string) bool { return Heard(path) }

// Heard tells whether somebody is bound to a path now.
func Heard(path string) bool {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// Close closes the socket, which ends Receive, and removes its file unless another has taken the place.
func (s *Socket) Close() error {
	err := s.conn.Close()
	if info, serr := os.Lstat(s.path); serr == nil && os.SameFile(info, s.file) {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}

// SetReceiveDeadline makes Receive give up with os.ErrDeadlineExceeded at time t; the zero time never.
func (s *Socket) SetReceiveDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// Receive waits for a datagram and returns how many bytes of it are in buf; a longer one is cut, so buf is made larger by one byte
// than what is wanted. net.ErrClosed after Close.
func (s *Socket) Receive(buf []byte) (int, error) {
	return s.conn.Read(buf)
}

// patience is how long Send waits for room in the peer's queue, and pause how long between two attempts at most.
const (
	patience = 100 * time.Millisecond
	pause    = time.Millisecond
)

// Send sends a datagram to whoever is bound to path now: ErrNobody if there is none, ErrFull if its queue stays full.
func (s *Socket) Send(path string, data []byte) error { return patiently(s, path, data) }

// patiently tries until there is room, for a while.
func patiently(s interface{ Try(string, []byte) error }, path string, data []byte) error {
	start, wait := time.Now(), 20*time.Microsecond
	for {
		// The poller wakes up for room in the own queue, not in the peer's; so it is asked again and again.
		err := s.Try(path, data)
		if !errors.Is(err, ErrFull) || time.Since(start) > patience {
			return err
		}
		time.Sleep(wait)
		wait = min(2*wait, pause)
	}
}

// Try is Send without patience.
func (s *Socket) Try(path string, data []byte) error {
	to := &syscall.SockaddrUnix{Name: path}
	for {
		var err error
		if cerr := s.raw.Write(func(fd uintptr) bool {
			err = syscall.Sendto(int(fd), data, syscall.MSG_DONTWAIT, to)
			return true
		}); cerr != nil {
			return cerr
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
			return ErrNobody
		case errors.Is(err, syscall.EAGAIN):
			return ErrFull
		default:
			return fmt.Errorf("send to %s: %w", path, err)
		}
	}
}
