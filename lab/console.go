// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// ErrGone means that a guest ended, or was killed, while it was spoken to.
var ErrGone = errors.New("the guest is gone")

// readyText is what a guest says on a terminal that takes commands; see guest/serve.
const readyText = "<ready>"

// console is a terminal of a guest, on which it takes one command at a time.
type console struct {
	conn net.Conn
	rest []byte // read and not used yet
}

func newConsole(conn net.Conn) *console { return &console{conn: conn} }

func (c *console) close() error { return c.conn.Close() }

// await waits until the guest takes commands.
func (c *console) await(until time.Time) error {
	if err := c.conn.SetReadDeadline(until); err != nil {
		return err
	}
	if _, err := c.copyUntil(io.Discard, []byte(readyText)); err != nil {
		return err
	}
	return c.conn.SetReadDeadline(time.Time{})
}

// run has the guest do a command, "run" or "shell", of which it knows by a token. What it prints goes to out, what comes from in to the
// guest. A failure of out does not end it, for the terminal would stay taken.
func (c *console) run(kind, token string, in io.Reader, out io.Writer) (status int, err error) {
	// What was typed when the shell before had ended is no part of this line.
	if _, err := fmt.Fprintf(c.conn, "\n%s %s\n", kind, token); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrGone, err)
	}
	if in != nil {
		go func() { _, _ = io.Copy(c.conn, in) }() // ends with in
	}
	if _, err := c.copyUntil(out, []byte("<"+token+":")); err != nil {
		return 0, err
	}
	var text bytes.Buffer
	if _, err := c.copyUntil(&text, []byte(">")); err != nil {
		return 0, err
	}
	if status, err = strconv.Atoi(text.String()); err != nil {
		return 0, fmt.Errorf("the guest says %q: %w", text.String(), err)
	}
	return status, nil
}

// copyUntil copies what comes, up to a mark, and takes the mark.
func (c *console) copyUntil(out io.Writer, mark []byte) (n int64, err error) {
	buf := make([]byte, 4096)
	give := func(b []byte) {
		if len(b) > 0 && err == nil {
			_, err = out.Write(b)
			n += int64(len(b))
		}
	}
	for {
		if at := bytes.Index(c.rest, mark); at >= 0 {
			give(c.rest[:at])
			c.rest = c.rest[at+len(mark):]
			return n, nil
		}
		// The mark may have begun.
		keep := min(len(c.rest), len(mark)-1)
		for keep > 0 && !bytes.HasPrefix(mark, c.rest[len(c.rest)-keep:]) {
			keep--
		}
		give(c.rest[:len(c.rest)-keep])
		c.rest = append([]byte(nil), c.rest[len(c.rest)-keep:]...)
		got, rerr := c.conn.Read(buf)
		c.rest = append(c.rest, buf[:got]...)
		if rerr != nil && got == 0 {
			return n, fmt.Errorf("%w: %w", ErrGone, rerr)
		}
	}
}
