// SPDX-License-Identifier: Apache-2.0

// Package relay carries streams of bytes over a terminal of a guest, which has no other way to the machine that it runs on: what programs there
// connect to is a server here. guest/relay.c is the far end.
//
// A frame is the number of a stream, a length of two bytes, the higher one first, and as many bytes. The length 0 ends a stream; each end says so
// once, and the number is free when both have. The guest alone opens streams, by the length 0xFFFF without bytes.
package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

const (
	header   = 3
	streams  = 64
	mostData = 4096
	opens    = 0xFFFF
	// mostBehind is how many frames may wait for a server that does not read. The stream of one that is further behind ends, so that it holds up
	// no other.
	mostBehind = 256
)

// errFrame means that what came is no frame.
var errFrame = errors.New("no frame")

// link is a terminal.
type link struct {
	line    io.ReadWriter
	dial    func(ctx context.Context) (net.Conn, error)
	writing sync.Mutex
	running sync.WaitGroup
	streams [streams]*stream // those that the guest has not ended
}

// stream is a stream that the guest has opened.
type stream struct {
	number byte
	in     chan []byte // from the guest; closed when it has ended the stream
	cut    func()      // closes the connection
}

// Serve carries streams until the line ends, and returns why. dial connects a new one.
func Serve(ctx context.Context, line io.ReadWriter, dial func(ctx context.Context) (net.Conn, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	l := &link{line: line, dial: dial}
	var err error
	for err == nil {
		err = l.frame(ctx)
	}
	cancel()
	for _, s := range l.streams {
		if s != nil {
			close(s.in)
		}
	}
	l.running.Wait()
	return err
}

// frame takes one from the guest. It never waits for a server.
func (l *link) frame(ctx context.Context) error {
	var head [header]byte
	if _, err := io.ReadFull(l.line, head[:]); err != nil {
		return err
	}
	number, n := head[0], int(binary.BigEndian.Uint16(head[1:]))
	if number >= streams {
		return fmt.Errorf("%w: stream %d", errFrame, number)
	}
	s := l.streams[number]
	switch {
	case n == opens && s == nil:
		sctx, cut := context.WithCancel(ctx)
		s = &stream{number: number, in: make(chan []byte, mostBehind), cut: cut}
		l.streams[number] = s
		l.running.Go(func() { l.carry(sctx, s) })
	case n == opens || s == nil || n > mostData:
		return fmt.Errorf("%w: stream %d, length %d", errFrame, number, n)
	case n == 0:
		close(s.in)
		l.streams[number] = nil
	default:
		data := make([]byte, n)
		if _, err := io.ReadFull(l.line, data); err != nil {
			return err
		}
		select {
		case s.in <- data:
		default:
			s.cut()
		}
	}
	return nil
}

// carry connects a stream and carries it until either end has ended it.
func (l *link) carry(ctx context.Context, s *stream) {
	defer s.cut()
	defer l.send(s.number, nil)
	conn, err := l.dial(ctx)
	if err != nil {
		return
	}
	closed := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer closed()
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		defer func() { _ = conn.Close() }() // which ends the reading, too
		for {
			select {
			case data, more := <-s.in:
				if !more {
					return
				}
				if _, err := conn.Write(data); err != nil {
					return
				}
			case <-ctx.Done(): // the server has ended first
				return
			}
		}
	})
	buf := make([]byte, mostData)
	for {
		n, err := conn.Read(buf)
		if n > 0 && l.send(s.number, buf[:n]) != nil || err != nil {
			break
		}
	}
	s.cut()
}

// send sends data, or the end of a stream.
func (l *link) send(number byte, data []byte) error {
	frame := append(binary.BigEndian.AppendUint16([]byte{number}, uint16(len(data))), data...)
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.line.Write(frame)
	return err
}
