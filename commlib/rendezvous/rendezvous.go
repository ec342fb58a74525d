// SPDX-License-Identifier: Apache-2.0

// Package rendezvous joins a group without a manager: by files in a folder that the hosts and incforge lab share (package lab says which). A rank
// writes the number of its queue pair, in Mode I also the first PSN that it sends and its path MTU, reads where to connect it, says that it can receive, and reads that
// all can.
package rendezvous

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"incforge/commlib"
	"incforge/commlib/verbs"
	"incforge/roce"
)

// Names of a rank's files, behind its number. Those that the rank writes come first.
const (
	joinFile  = "join"
	readyFile = "ready"
	goFile    = "go"
	runFile   = "run"
	groupFile = "group"
)

// period is the time between two looks at a file.
const period = 3 * time.Millisecond

// Join makes a group of the one that the folder is for, together with its other members. host is this member's name there. It returns
// when all members can receive.
func Join(ctx context.Context, d verbs.Device, folder, host string, t commlib.Tuning) (*commlib.Group, error) {
	e, err := read(folder, host)
	if err != nil {
		return nil, err
	}
	file := func(what string) string { return filepath.Join(folder, fmt.Sprintf("%d.%s", e.Rank, what)) }
	say := func(what, text string) error {
		hidden := filepath.Join(folder, fmt.Sprintf(".%d.%s", e.Rank, what)) // so that nobody reads half of it
		if err := os.WriteFile(hidden, []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(hidden, file(what))
	}
	if err := forget(file, joinFile, readyFile, goFile, runFile); err != nil {
		return nil, fmt.Errorf("group %s: %w", e.Name, err)
	}
	g, err := commlib.Connect(d, e, t, func(qpn uint32, e *commlib.Endpoint) error {
		own := fmt.Sprintln(qpn)
		if e.Message > 0 {
			own = fmt.Sprintln(qpn, uint32(e.OwnStart), cmp.Or(t.PathMTU, e.PathMTU))
		}
		if err := say(joinFile, own); err != nil {
			return err
		}
		text, err := await(ctx, file(goFile), "the others to join")
		if err != nil {
			return errors.Join(err, forget(file, joinFile))
		}
		return connection(text, e)
	})
	if err != nil {
		return nil, err
	}
	if err = say(readyFile, "\n"); err == nil {
		_, err = await(ctx, file(runFile), "the others to be ready")
	}
	if err != nil {
		g.Close()
		return nil, fmt.Errorf("group %s: %w", e.Name, errors.Join(err, forget(file, readyFile)))
	}
	return g, nil
}

// forget removes files that a rank, or one before it that was killed, has left.
func forget(file func(string) string, names ...string) error {
	for _, name := range names {
		if err := os.Remove(file(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// await waits for a file, reads it and takes it away. One that says that something is wrong is an error.
func await(ctx context.Context, path, what string) (string, error) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
			if reason, wrong := strings.CutPrefix(string(text), "error "); wrong {
				err = errors.New(strings.TrimSpace(reason))
			}
			return string(text), err
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}

// connection reads what the lab says of the far end: its address, its queue pair, and the first PSN that it sends, which in other modes than Mode I is START, both ways.
func connection(text string, e *commlib.Endpoint) error {
	f := strings.Fields(text)
	if len(f) != 3 {
		return fmt.Errorf("the lab says %q; an address and two numbers were expected", text)
	}
	ip, err := roce.ParseIP4(f[0])
	qpn, qerr := strconv.ParseUint(f[1], 10, 24)
	first, serr := strconv.ParseUint(f[2], 10, 24)
	if err := errors.Join(err, qerr, serr); err != nil {
		return fmt.Errorf("the lab says %q: %w", text, err)
	}
	e.Peer.IP, e.PeerQPN, e.Start, e.PeerStart = ip, uint32(qpn), roce.PSN(first), roce.PSN(first)
	return nil
}

// read reads what a group is, a line a key.
func read(folder, host string) (e commlib.Endpoint, err error) {
	path := filepath.Join(folder, groupFile)
	text, err := os.Open(path)
	if err != nil {
		return e, fmt.Errorf("group: %w", err)
	}
	defer func() { err = errors.Join(err, text.Close()) }()
	e.Name = filepath.Base(folder)
	fixed, inBand, messages := &commlib.Request{Root: -1}, false, 0
	lines := bufio.NewScanner(text)
	for n := 1; lines.Scan(); n++ {
		key, rest, _ := strings.Cut(lines.Text(), " ")
		rest = strings.ToLower(rest)
		var lerr error
		switch key {
		case "hosts":
			e.Members = strings.Fields(lines.Text())[1:]
		case "collective":
			if inBand = rest == "in-band"; !inBand {
				lerr = fixed.Collective.UnmarshalText([]byte(rest))
			}
		case "dtype":
			if rest != "" {
				lerr = fixed.Type.UnmarshalText([]byte(rest))
			}
		case "op":
			lerr = fixed.Op.UnmarshalText([]byte(rest))
		case "root":
			fixed.Root, lerr = strconv.Atoi(rest)
		case "window":
			e.Window, lerr = strconv.Atoi(rest)
		case "mtu":
			e.PathMTU, lerr = strconv.Atoi(rest)
		case "least_mtu":
			e.LeastMTU, lerr = strconv.Atoi(rest)
		case "message":
			e.Message, lerr = strconv.Atoi(rest)
		case "messages":
			messages, lerr = strconv.Atoi(rest)
		case "dtypes":
			e.Types, lerr = all[commlib.Type](rest)
		case "ops":
			e.Ops, lerr = all[commlib.Op](rest)
		}
		if lerr != nil {
			return e, fmt.Errorf("%s:%d: %w", path, n, lerr)
		}
	}
	if err := lines.Err(); err != nil {
		return e, fmt.Errorf("%s: %w", path, err)
	}
	if e.Message > 0 {
		e.Window = messages
	}
	if e.Rank = slices.Index(e.Members, host); e.Rank < 0 {
		return e, fmt.Errorf("%s: %s is none of the hosts %s", path, host, strings.Join(e.Members, ", "))
	}
	if inBand {
		return e, nil
	}
	if e.Fixed = fixed; fixed.Root < 0 && fixed.Collective.Rooted() {
		return e, fmt.Errorf("%s: it does not say which rank is the root of the %v", path, fixed.Collective)
	}
	fixed.Root = max(fixed.Root, 0)
	return e, nil
}

// all reads a list of names.
func all[T any, P interface {
	*T
	UnmarshalText([]byte) error
}](text string) (values []T, err error) {
	for _, name := range strings.Fields(text) {
		var v T
		if err := P(&v).UnmarshalText([]byte(name)); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}
