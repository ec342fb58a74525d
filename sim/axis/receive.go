// SPDX-License-Identifier: Apache-2.0

package axis

import (
	"fmt"
	"slices"

	"incforge/sim"
)

// receiver gathers beats into frames; Sink and Monitor are made of it.
type receiver struct {
	checker
	frame   *Frame // being gathered; nil between frames
	free    []*Frame
	queue   *sim.Queue[*Frame]
	deliver func(*Frame)
	frames  uint64
	beats   uint64
	cut     uint64
}

func newReceiver(b bus) receiver {
	return receiver{checker: newChecker(b), queue: sim.NewQueue[*Frame](b.prefix, 0)}
}

// OnFrame makes f receive every frame, in the sample phase of the Tick in which its
// last beat was taken, instead of the queue. The frame is the receiver's again when f
// returns. Frames already queued stay there.
func (r *receiver) OnFrame(f func(*Frame)) { r.deliver = f }

// Recv takes the oldest frame, if there is one. Give it back with Release.
func (r *receiver) Recv() (*Frame, bool) { return r.queue.TryGet() }

// Get waits for a frame in a task. Give it back with Release.
func (r *receiver) Get(t *sim.Task) *Frame { return r.queue.Get(t) }

// NotEmpty fires when there is a frame to take.
func (r *receiver) NotEmpty() sim.Trigger { return r.queue.NotEmpty() }

// Len returns the number of frames to take.
func (r *receiver) Len() int { return r.queue.Len() }

// Release gives a frame's memory back for later frames. It is not needed, only cheaper.
func (r *receiver) Release(f *Frame) { r.free = append(r.free, f) }

// Frames returns the number of frames received.
func (r *receiver) Frames() uint64 { return r.frames }

// Beats returns the number of beats received.
func (r *receiver) Beats() uint64 { return r.beats }

// Cut returns the number of frames that a reset cut off.
func (r *receiver) Cut() uint64 { return r.cut }

// InFrame reports whether a frame has begun and not ended.
func (r *receiver) InFrame() bool { return r.frame != nil }

func (r *receiver) sample() {
	if r.idle() {
		return
	}
	if r.straight() && r.keptFull() && r.frame != nil && !r.isLast() && r.maxFrame == 0 {
		r.beats++ // the middle of a frame at full speed: nothing else can be wrong
		r.frame.Data = append(r.frame.Data, r.data...)
		return
	}
	beat, inReset := r.check()
	if beat {
		r.take()
	} else if inReset && r.frame != nil {
		r.cut++
		r.Release(r.frame)
		r.frame = nil
	}
}

func (r *receiver) take() {
	r.beats++
	f := r.frame
	if f == nil {
		if n := len(r.free); n > 0 {
			f, r.free = r.free[n-1], r.free[:n-1]
			*f = Frame{Data: f.Data[:0]}
		} else {
			f = &Frame{Data: make([]byte, 0, max(256, 4*len(r.data)))}
		}
		f.First, f.FirstUser = r.clk.Now(), r.userValue()
		r.frame = f
	}
	if r.keptFull() {
		f.Data = append(f.Data, r.data...)
	} else if n, contiguous := r.kept(); contiguous {
		f.Data = append(f.Data, r.data[:n]...)
	} else { // a broken rule, already reported: the bytes that count, in order
		for i, b := range r.data {
			if r.keep.Bits(i, 1) != 0 {
				f.Data = append(f.Data, b)
			}
		}
	}
	if r.maxFrame > 0 && len(f.Data) > r.maxFrame && len(f.Data)-len(r.data) <= r.maxFrame {
		r.broken(RuleLength, fmt.Sprintf("more than %d bytes", r.maxFrame))
	}
	if !r.isLast() {
		return
	}
	f.Last, f.User = r.clk.Now(), r.userValue()
	r.frame = nil
	r.frames++
	if r.deliver != nil {
		r.deliver(f)
		r.free = append(r.free, f)
		return
	}
	r.queue.TryPut(f)
}

// Monitor watches an interface and drives nothing.
type Monitor struct{ receiver }

// NewMonitor watches the interface with this prefix, on either side of the model.
func NewMonitor(m *sim.Model, prefix string) (*Monitor, error) { return newMonitor(m, m, prefix) }

// NewMonitorOn is NewMonitor for an interface in another clock of the model than the first.
func NewMonitorOn(c *sim.Clock, prefix string) (*Monitor, error) {
	return newMonitor(c.Model(), c, prefix)
}

func newMonitor(m *sim.Model, clk clock, prefix string) (*Monitor, error) {
	forward, backward := sim.Out, sim.In
	if p, err := m.Port(prefix + "_tvalid"); err == nil && p.Dir() == sim.In {
		forward, backward = sim.In, sim.Out
	}
	b, err := bind(m, clk, prefix, forward, backward)
	if err != nil {
		return nil, err
	}
	r := &Monitor{newReceiver(b)}
	clk.OnSample(r.sample)
	return r, nil
}

// Sink receives what a model sends. It is ready in every cycle in which its Pause does
// not hold it back.
type Sink struct {
	receiver
	pause Pause
}

// NewSink receives from the interface with this prefix.
func NewSink(m *sim.Model, prefix string) (*Sink, error) { return newSink(m, m, prefix) }

// NewSinkOn is NewSink for an interface in another clock of the model than the first.
func NewSinkOn(c *sim.Clock, prefix string) (*Sink, error) { return newSink(c.Model(), c, prefix) }

func newSink(m *sim.Model, clk clock, prefix string) (*Sink, error) {
	b, err := bind(m, clk, prefix, sim.Out, sim.In)
	if err != nil {
		return nil, err
	}
	s := &Sink{receiver: newReceiver(b)}
	*s.ready = 1
	clk.OnSample(s.sample)
	clk.OnDrive(s.drive)
	return s, nil
}

// SetPause makes the sink not ready whenever p says so; nil makes it always ready.
func (s *Sink) SetPause(p Pause) { s.pause = p }

func (s *Sink) drive() {
	if s.pause == nil {
		*s.ready = 1
		return
	}
	if s.pause() {
		*s.ready = 0
	} else {
		*s.ready = 1
	}
}

// Clone returns a copy of a frame with memory of its own.
func (f *Frame) Clone() *Frame {
	c := *f
	c.Data = slices.Clone(f.Data)
	return &c
}
