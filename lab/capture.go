// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"io"
	"slices"
	"sync"
	"time"

	"incforge/live"
	"incforge/roce"
)

// taps gives the frames of links to whoever captures them. The frames of a link between two switches are those that its end A sees.
type taps struct {
	mu    sync.RWMutex
	sinks map[live.End][]*sink
}

// sink is a capture.
type sink struct {
	mu     sync.Mutex
	w      *roce.CaptureWriter
	failed chan error // once
	since  time.Time
	dead   bool
}

// flushTime is how long a capture may hold frames back.
const flushTime = 100 * time.Millisecond

// add begins to capture.
func (t *taps) add(at live.End, name string, w io.Writer) (*sink, error) {
	cw, err := roce.NewCaptureWriter(w, []string{name})
	if err == nil {
		err = cw.Flush()
	}
	if err != nil {
		return nil, err
	}
	s := &sink{w: cw, failed: make(chan error, 1), since: time.Now()}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sinks == nil {
		t.sinks = map[live.End][]*sink{}
	}
	t.sinks[at] = append(t.sinks[at], s)
	return s, nil
}

// remove ends a capture and writes out what it holds back.
func (t *taps) remove(at live.End, s *sink) error {
	t.mu.Lock()
	t.sinks[at] = slices.DeleteFunc(slices.Clone(t.sinks[at]), func(other *sink) bool { return other == s })
	t.mu.Unlock()
	return s.flush()
}

// see is the live.Tap.
func (t *taps) see(at live.End, when time.Time, frame []byte) {
	t.mu.RLock()
	sinks := t.sinks[at]
	t.mu.RUnlock()
	for _, s := range sinks {
		s.write(when, frame)
	}
}

func (s *sink) write(when time.Time, frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return
	}
	err := s.w.Write(roce.Captured{Time: when, Frame: frame})
	if err == nil && time.Since(s.since) > flushTime {
		s.since = time.Now()
		err = s.w.Flush()
	}
	if err != nil {
		s.dead = true
		s.failed <- err
	}
}

func (s *sink) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return nil // who captures knows
	}
	return s.w.Flush()
}
