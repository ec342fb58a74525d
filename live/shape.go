// SPDX-License-Identifier: Apache-2.0

package live

import "time"

// Shape is how fast and how far the frames of a port or a link go, each way. The zero value is a wire without end and length.
type Shape struct {
	// RateMbit is in 10^6 bits a second of frames as captured; 0 is no limit.
	RateMbit float64 `json:"rate_mbit,omitempty"`
	// DelayUS is how many microseconds a frame is under way.
	DelayUS float64 `json:"delay_us,omitempty"`
}

// Bounds of shapes: a frame of MaxFrame bytes takes at most 74 s, and nothing is under way for longer than 10.
const (
	LeastRateMbit = 0.001
	MostRateMbit  = 1e6
	MostDelayUS   = 1e7
)

// shapeQueue is how many frames wait for a wire or are on it. Behind it whoever sends waits.
const shapeQueue = 1024

// shaper is one way over a wire with a shape. Frames stay in order. One goroutine puts, another runs.
type shaper struct {
	perByte, delay time.Duration
	free           time.Time // when the wire has taken in all that was put
	q              chan shaped
}

type shaped struct {
	due   time.Time
	frame []byte
}

// newShaper is nil for the zero shape.
func newShaper(s Shape) *shaper {
	if s == (Shape{}) {
		return nil
	}
	w := &shaper{delay: time.Duration(s.DelayUS * float64(time.Microsecond)), q: make(chan shaped, shapeQueue)}
	if s.RateMbit > 0 {
		w.perByte = time.Duration(8 / s.RateMbit * float64(time.Microsecond))
	}
	return w
}

// arrival is when a frame that is put now reaches the far end.
func (s *shaper) arrival(now time.Time, bytes int) time.Time {
	if s.free.Before(now) {
		s.free = now
	}
	s.free = s.free.Add(time.Duration(bytes) * s.perByte)
	return s.free.Add(s.delay)
}

// put sends a frame on its way; false after stop.
func (s *shaper) put(frame []byte, stop <-chan struct{}) bool {
	select {
	case s.q <- shaped{s.arrival(time.Now(), len(frame)), frame}:
		return true
	case <-stop:
		return false
	}
}

// run hands over what arrives, until there is nothing more to come, or stop.
func (s *shaper) run(arrive func(frame []byte), stop <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		var w shaped
		var open bool
		select {
		case w, open = <-s.q:
			if !open {
				return
			}
		case <-stop:
			return
		}
		timer.Reset(time.Until(w.due))
		select {
		case <-timer.C:
			arrive(w.frame)
		case <-stop:
			return
		}
	}
}
