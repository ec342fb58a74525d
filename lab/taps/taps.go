// SPDX-License-Identifier: Apache-2.0

// Package taps gives the frames of a lab's links to whoever captures them: files that a lab's own file asks for, and operators who come and go while it runs.
package taps

import (
	"io"
	"slices"
	"sync"
	"time"

	"incforge/live"
	"incforge/roce"
)

// Taps are the captures that there are. The frames of a link between two switches are those that its end A sees.
type Taps struct {
	mu    sync.RWMutex
	sinks map[live.End][]*Sink
}

// Sink is a capture.
type Sink struct {
	mu     sync.Mutex
	w      *roce.CaptureWriter
	failed chan error // once
	since  time.Time
	dead   bool
}

// flushTime is how long a capture may hold frames back.
const flushTime = 100 * time.Millisecond

// Add begins to capture.
func (t *Taps) Add(at live.End, name string, w io.Writer) (*Sink, error) {
	cw, err := roce.NewCaptureWriter(w, []string{name})
	if err == nil {
		err = cw.Flush()
	}
	if err != nil {
		return nil, err
	}
	s := &Sink{w: cw, failed: make(chan error, 1), since: time.Now()}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sinks == nil {
		t.sinks = map[live.End][]*Sink{}
	}
	t.sinks[at] = append(t.sinks[at], s)
	return s, nil
}

// Remove ends a capture and writes out what it holds back.
func (t *Taps) Remove(at live.End, s *Sink) error {
	t.mu.Lock()
	t.sinks[at] = slices.DeleteFunc(slices.Clone(t.sinks[at]), func(other *Sink) bool { return other == s })
	t.mu.Unlock()
	return s.Flush()
}

// See is the live.Tap.
func (t *Taps) See(at live.End, when time.Time, frame []byte) {
	t.mu.RLock()
	sinks := t.sinks[at]
	t.mu.RUnlock()
	for _, s := range sinks {
		s.write(when, frame)
	}
}

// Failed receives the error with which whoever captures stops taking frames, once.
func (s *Sink) Failed() <-chan error { return s.failed }

func (s *Sink) write(when time.Time, frame []byte) {
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

// Flush writes out what it holds back.
func (s *Sink) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return nil // who captures knows
	}
	return s.w.Flush()
}
