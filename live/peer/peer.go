// SPDX-License-Identifier: Apache-2.0

// Package peer is the far end of package live's sockets: host models (package host) that speak datagrams in real time. It shows
// what a program at a port has to do, and is what tests and demonstrations use in the place of virtual machines.
package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"incforge/live"
	"incforge/live/socket"
	"incforge/network/host"
)

// PerMicrosecond is what host.Config.CyclesPerMicrosecond must be: a peer's cycle is a nanosecond.
const PerMicrosecond = 1000

// look is how long a peer waits for a datagram before it looks at ctx and done again.
const look = 5 * time.Millisecond

// Run keeps a host at socket mine, whose frames go to the engine's socket, until done reports true or ctx ends, whose error it
// returns then. Frames to an engine that is not there, or does not read, are lost.
func Run(ctx context.Context, mine *socket.Socket, engine string, h *host.Host, done func() bool) error {
	start := time.Now()
	now := func() uint64 { return uint64(time.Since(start).Nanoseconds()) }
	buf := make([]byte, live.MaxFrame)
	for !done() {
		if err := errors.Join(ctx.Err(), h.Err()); err != nil {
			return err
		}
		if h.Deadline() <= now() {
			h.Tick(now())
		}
		for h.Ready() {
			err := mine.Send(engine, h.Next(now()))
			if err != nil && !errors.Is(err, socket.ErrNobody) && !errors.Is(err, socket.ErrFull) {
				return err
			}
		}
		wait := look
		if d := h.Deadline(); d != host.Never {
			wait = min(wait, time.Duration(max(d, now())-now()))
		}
		if err := mine.SetReceiveDeadline(time.Now().Add(wait)); err != nil {
			return err
		}
		n, err := mine.Receive(buf)
		switch {
		case err == nil:
			h.Receive(now(), buf[:n])
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("peer: %w", err)
		}
	}
	return nil
}
