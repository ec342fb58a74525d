// SPDX-License-Identifier: Apache-2.0

// Package wire lets frames take their time: over a wire with a rate and a delay.
package wire

import (
	"time"

	"incforge/internal/strictyaml"
)

// Shape is how fast and how far the frames of a port or a link go, each way. The zero value is a wire without end and length.
type Shape struct {
	// RateMbit is in 10^6 bits a second of frames as captured; 0 is no limit.
	RateMbit float64 `json:"rate_mbit,omitempty"`
	// DelayUS is how many microseconds a frame is under way.
	DelayUS float64 `json:"delay_us,omitempty"`
}

// Bounds of shapes: a frame of 9,216 bytes takes at most 74 s, and nothing is under way for longer than 10.
const (
	LeastRateMbit = 0.001
	MostRateMbit  = 1e6
	MostDelayUS   = 1e7
)

// queue is how many frames wait for a wire or are on it. Behind it whoever sends waits.
const queue = 1024

// Wire is one way over a wire with a shape. Frames stay in order. One goroutine puts and closes, another runs.
type Wire struct {
	perByte float64 // nanoseconds
	delay   time.Duration
	free    time.Time // when the wire has taken in all that was put
	q       chan shaped
}

type shaped struct {
	due   time.Time
	frame []byte
}

// New is nil for the zero shape.
func New(s Shape) *Wire {
	if s == (Shape{}) {
		return nil
	}
	w := &Wire{delay: time.Duration(s.DelayUS * float64(time.Microsecond)), q: make(chan shaped, queue)}
	if s.RateMbit > 0 {
		w.perByte = 8000 / s.RateMbit
	}
	return w
}

// arrival is when a frame that is put now reaches the far end.
func (w *Wire) arrival(now time.Time, bytes int) time.Time {
	if w.free.Before(now) {
		w.free = now
	}
	w.free = w.free.Add(time.Duration(float64(bytes) * w.perByte))
	return w.free.Add(w.delay)
}

// Put sends a frame on its way; false after stop.
func (w *Wire) Put(frame []byte, stop <-chan struct{}) bool {
	select {
	case w.q <- shaped{w.arrival(time.Now(), len(frame)), frame}:
		return true
	case <-stop:
		return false
	}
}

// Close tells that nothing more comes.
func (w *Wire) Close() { close(w.q) }

// Run hands over what arrives, until there is nothing more to come, or stop.
func (w *Wire) Run(arrive func(frame []byte), stop <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		var next shaped
		var open bool
		select {
		case next, open = <-w.q:
			if !open {
				return
			}
		case <-stop:
			return
		}
		timer.Reset(time.Until(next.due))
		select {
		case <-timer.C:
			arrive(next.frame)
		case <-stop:
			return
		}
	}
}

// Read takes a shape from a file, and notes what is wrong with it.
func Read(m *strictyaml.Mistakes, rate, delay *strictyaml.Value[float64]) Shape {
	if rate.Given && !(rate.V >= LeastRateMbit && rate.V <= MostRateMbit) {
		m.Addf(rate.Pos, "rate_mbit is %g, it must be %g to %g", rate.V, LeastRateMbit, MostRateMbit)
	}
	if !(delay.V >= 0 && delay.V <= MostDelayUS) {
		m.Addf(delay.Pos, "delay_us is %g, it must be 0 to %g", delay.V, MostDelayUS)
	}
	return Shape{RateMbit: rate.V, DelayUS: delay.V}
}
