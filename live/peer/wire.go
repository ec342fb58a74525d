// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"errors"

	"incforge/live/socket"
)

// Wire is a socket as a NIC in software has it (package commlib/softnic). What the engine does not take is lost.
type Wire struct {
	mine   *socket.Socket
	engine string
}

// Dial binds a socket at mine, whose frames go to the engine's.
func Dial(mine, engine string) (*Wire, error) {
	s, err := socket.Listen(mine)
	if err != nil {
		return nil, err
	}
	return &Wire{s, engine}, nil
}

// Send sends a frame.
func (w *Wire) Send(frame []byte) error {
	if err := w.mine.Send(w.engine, frame); !errors.Is(err, socket.ErrNobody) && !errors.Is(err, socket.ErrFull) {
		return err
	}
	return nil
}

// Receive waits for a frame.
func (w *Wire) Receive(buf []byte) (int, error) { return w.mine.Receive(buf) }

// Close closes the socket.
func (w *Wire) Close() error { return w.mine.Close() }
