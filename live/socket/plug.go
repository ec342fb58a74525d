// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"incforge/internal/fail"
)

// Plug is a unix socket of kind SOCK_SEQPACKET to which one other connects at a time; frames keep their bounds, as with datagrams. While
// the queue of a datagram socket ends after a number of datagrams that the system fixes (10, where nobody has changed it), and whoever
// sends stands still until somebody reads, that of a plug ends with the sender's buffer. Send and Receive may run at the same time; each
// is used by one goroutine.
type Plug struct {
	listener *net.UnixListener
	mu       sync.Mutex // of what follows
	conn     *net.UnixConn
	raw      syscall.RawConn
	closed   bool
	deadline time.Time // of Receive, which sets it
}

// plugBuffer is the room for what is sent, as far as the system allows it.
const plugBuffer = 1 << 20

// NewPlug binds a plug to a path. A socket file that nobody listens on any more is replaced; any other file is refused.
func NewPlug(path string) (p *Plug, err error) {
	defer fail.Catch(&err, "socket %s", path)
	fail.On(Vacate(path, "unixpacket"))
	return &Plug{listener: fail.Must(net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"}))}, nil
}

// Close ends Receive and removes the socket's file.
func (p *Plug) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return errors.Join(p.listener.Close(), p.drop())
}

// drop ends the connection, if there is one. The lock is held.
func (p *Plug) drop() error {
	c := p.conn
	if p.conn, p.raw = nil, nil; c == nil {
		return nil
	}
	return c.Close()
}

// Heard tells whether somebody is connected.
func (p *Plug) Heard(string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil
}

// SetReceiveDeadline makes Receive give up with os.ErrDeadlineExceeded at time t; the zero time never.
func (p *Plug) SetReceiveDeadline(t time.Time) error {
	if t.Equal(p.deadline) {
		return nil
	}
	p.deadline = t
	err := p.listener.SetDeadline(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		err = errors.Join(err, p.conn.SetReadDeadline(t))
	}
	return err
}

// Receive waits for a frame, and for somebody to connect where nobody is; see Socket.
func (p *Plug) Receive(buf []byte) (int, error) {
	for {
		c, err := p.connected()
		if err != nil {
			return 0, err
		}
		n, err := c.Read(buf)
		p.mu.Lock()
		switch {
		case p.closed:
			err = net.ErrClosed
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded):
		default: // it has gone
			_ = p.drop()
			p.mu.Unlock()
			continue
		}
		p.mu.Unlock()
		return n, err
	}
}

// connected is the connection, once there is one.
func (p *Plug) connected() (*net.UnixConn, error) {
	p.mu.Lock()
	c := p.conn
	p.mu.Unlock()
	if c == nil {
		var err error
		if c, err = p.listener.AcceptUnix(); err != nil {
			return nil, err
		}
		raw, err := c.SyscallConn()
		if err = errors.Join(err, c.SetWriteBuffer(plugBuffer), c.SetReadDeadline(p.deadline)); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		p.mu.Lock()
		p.conn, p.raw = c, raw
		closed := p.closed
		p.mu.Unlock()
		if closed {
			return nil, errors.Join(net.ErrClosed, c.Close())
		}
	}
	return c, nil
}

// Send sends a frame to whoever is connected: ErrNobody if there is none, ErrFull if there is no room for it for a while.
func (p *Plug) Send(path string, data []byte) error { return patiently(p, path, data) }

// Try is Send without patience.
func (p *Plug) Try(_ string, data []byte) error {
	p.mu.Lock()
	raw := p.raw
	p.mu.Unlock()
	if raw == nil {
		return ErrNobody
	}
	for {
		var err error
		if cerr := raw.Write(func(fd uintptr) bool {
			_, err = syscall.SendmsgN(int(fd), data, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
			return true
		}); cerr != nil {
			return ErrNobody // closed meanwhile
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ENOTCONN):
			return ErrNobody
		case errors.Is(err, syscall.EAGAIN):
			return ErrFull
		default:
			return fmt.Errorf("send: %w", err)
		}
	}
}
