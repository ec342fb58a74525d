// SPDX-License-Identifier: Apache-2.0

package axis

import (
	"errors"
	"fmt"

	"incforge/sim"
)

// poison fills the bytes of a last beat that tkeep leaves out, so that a model that
// uses them is found out.
const poison = 0xDB

// Source sends frames to a model, back to back unless its Pause holds it back.
type Source struct {
	checker
	pause  Pause
	queue  []Frame // ring; length a power of two
	head   int
	count  int
	offset int  // bytes of the head frame already taken
	size   int  // bytes of the beat being offered
	hold   bool // reset in the cycle before: offer nothing
	keepN  int  // what tkeep shows now
	sent   func(*Frame)
	idle   *sim.Event
	frames uint64
	beats  uint64
	again  uint64
}

// NewSource sends to the interface with this prefix.
func NewSource(m *sim.Model, prefix string) (*Source, error) { return newSource(m, m, prefix) }

// NewSourceOn is NewSource for an interface in another clock of the model than the first.
func NewSourceOn(c *sim.Clock, prefix string) (*Source, error) {
	return newSource(c.Model(), c, prefix)
}

func newSource(m *sim.Model, clk clock, prefix string) (*Source, error) {
	b, err := bind(m, clk, prefix, sim.In, sim.Out)
	if err != nil {
		return nil, err
	}
	s := &Source{checker: newChecker(b), queue: make([]Frame, 16), idle: sim.NewEvent(prefix + " idle")}
	s.own = true
	s.idle.Set()
	*s.valid = 0
	clk.OnSample(s.sample)
	clk.OnDrive(s.drive)
	return s, nil
}

// SetPause makes the source hold back a beat that it has not offered yet, whenever p
// says so; nil makes it send back to back.
func (s *Source) SetPause(p Pause) { s.pause = p }

// OnSent makes f see every frame when its last beat has been taken, with First and
// Last filled in; its Data may be reused from then on.
func (s *Source) OnSent(f func(*Frame)) { s.sent = f }

// Send queues a frame. Its Data is not copied and must not change until it is sent.
// Refused: a frame without data, tuser values wider than tuser, and, where the
// interface has no tkeep or no tlast, a frame that would need them.
func (s *Source) Send(f Frame) error {
	switch w := len(s.data); {
	case len(f.Data) == 0:
		return s.refuse(errors.New("a frame without data"))
	case s.keep == nil && len(f.Data)%w != 0:
		return s.refuse(fmt.Errorf("a frame of %d bytes needs tkeep", len(f.Data)))
	case s.last == nil && len(f.Data) > w:
		return s.refuse(fmt.Errorf("a frame of %d bytes needs tlast", len(f.Data)))
	case (f.User|f.FirstUser)>>s.UserBits() != 0 && s.UserBits() < 64:
		return s.refuse(fmt.Errorf("tuser %#x or %#x is wider than %d bits", f.User, f.FirstUser, s.UserBits()))
	}
	if s.count == len(s.queue) {
		bigger := make([]Frame, 2*len(s.queue))
		for i := range s.count {
			bigger[i] = *s.at(i)
		}
		s.queue, s.head = bigger, 0
	}
	*s.at(s.count) = f
	s.count++
	s.idle.Clear()
	return nil
}

// SendBytes queues a frame with the same tuser on all beats.
func (s *Source) SendBytes(data []byte, user uint64) error {
	return s.Send(Frame{Data: data, User: user, FirstUser: user})
}

func (s *Source) refuse(err error) error { return fmt.Errorf("sending on %s: %w", s.prefix, err) }

func (s *Source) at(i int) *Frame { return &s.queue[(s.head+i)&(len(s.queue)-1)] }

// Pending returns the number of frames queued and not wholly sent.
func (s *Source) Pending() int { return s.count }

// WaitIdle waits in a task until everything queued has been sent.
func (s *Source) WaitIdle(t *sim.Task) { s.idle.Wait(t) }

// Idle fires when nothing is left to send.
func (s *Source) Idle() sim.Trigger { return s.idle }

// Frames returns the number of frames sent.
func (s *Source) Frames() uint64 { return s.frames }

// Beats returns the number of beats taken.
func (s *Source) Beats() uint64 { return s.beats }

// Restarts returns the number of frames begun again because of a reset.
func (s *Source) Restarts() uint64 { return s.again }

// sample learns whether the offered beat was taken.
func (s *Source) sample() {
	if s.straight() {
		s.hold = false
		s.taken()
		return
	}
	beat, inReset := s.check()
	s.hold = inReset
	if beat {
		s.taken()
		return
	}
	if inReset {
		if s.offset > 0 {
			s.again++
		}
		s.offset, s.size = 0, 0
	}
}

func (s *Source) taken() {
	if s.size == 0 { // somebody else drives tvalid
		return
	}
	f := s.at(0)
	if s.offset == 0 {
		f.First = s.clk.Now()
	}
	s.beats++
	s.offset += s.size
	s.size = 0
	if s.offset < len(f.Data) {
		return
	}
	f.Last = s.clk.Now()
	s.offset = 0
	s.frames++
	if s.sent != nil {
		s.sent(f)
	}
	f = s.at(0) // sent may have queued a frame and moved the ring
	f.Data = nil
	s.head = (s.head + 1) & (len(s.queue) - 1)
	if s.count--; s.count == 0 {
		s.idle.Set()
	}
}

// drive offers the next beat once the last one was taken.
func (s *Source) drive() {
	if s.size > 0 {
		return
	}
	if s.count == 0 || s.hold {
		*s.valid = 0
		return
	}
	f := s.at(0)
	if s.clk.Now()+1 < f.NotBefore || (s.pause != nil && s.pause()) {
		*s.valid = 0
		return
	}
	rest := f.Data[s.offset:]
	w := len(s.data)
	last := len(rest) <= w
	n := copy(s.data, rest)
	if n < w {
		tail := s.data[n:]
		for i := range tail {
			tail[i] = poison
		}
	}
	s.size = n
	*s.valid = 1
	if s.last != nil {
		*s.last = 0
		if last {
			*s.last = 1
		}
	}
	if s.keep != nil && n != s.keepN {
		s.driveKeep(n)
	}
	if s.user != nil {
		if last {
			s.user.SetUint64(f.User)
		} else {
			s.user.SetUint64(f.FirstUser)
		}
	}
}

func (s *Source) driveKeep(n int) {
	s.keepN = n
	mem := s.keeps
	for i := range mem {
		switch have := n - 8*i; {
		case have >= 8:
			mem[i] = 0xFF
		case have > 0:
			mem[i] = 1<<have - 1
		default:
			mem[i] = 0
		}
	}
}
