// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// exitInterrupted is the exit status after SIGINT or SIGTERM, as shells count it for SIGINT.
const exitInterrupted = 130

// grace is how long a command may take to end after the first signal.
const grace = 1500 * time.Millisecond

// interrupts ends a command on signals: the first cancels its context, so that it prints what it knows and returns; the second, or
// a command that has not returned when the grace is over, ends the process.
type interrupts struct {
	signals <-chan os.Signal
	cancel  context.CancelFunc
	kill    func() // ends the foreign programs still running
	exit    func(status int)
	stderr  io.Writer
	grace   time.Duration
}

// watch waits for signals until done is closed.
func (i *interrupts) watch(done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-i.signals:
	}
	i.cancel()
	late := time.NewTimer(i.grace)
	defer late.Stop()
	why := "interrupted twice"
	select {
	case <-done:
		return
	case <-i.signals:
	case <-late.C:
		why = fmt.Sprintf("interrupted, and still busy after %v", i.grace)
	}
	i.kill()
	fmt.Fprintln(i.stderr, "incforge:", why)
	i.exit(exitInterrupted)
}
