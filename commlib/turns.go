// SPDX-License-Identifier: Apache-2.0

package commlib

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"incforge/control/managerpb"
)

// locker is a control plane that gives turns.
type locker interface {
	Lock(ctx context.Context, r *managerpb.LockRequest) (*managerpb.LockResponse, error)
	Unlock(ctx context.Context, sequence uint64) error
}

// turns gets the group its turn before each collective: rank 0 asks, the others hear from the rank before them. The group's goroutine has it.
type turns struct {
	ring     *ring
	wait     time.Duration
	sequence uint64 // of the collective
	call     uint64 // what it is, as shape has it
	bytes    uint64
	stop     func() // of what prolongs the turn
	silence  func() // of what gives the last turn back; nil if nothing was said yet
	// with and without count the collectives that had a turn and those that had none. Guarded by the group's mu.
	with, without int
}

// note is what a rank tells the next: the collective's number, what there is to say, and which call it makes with how many bytes. Members that make others are
// found out by it, as they are by controls on the tree.
type note [32]byte

// shape is a call in a number, without what does not matter to it.
func shape(q *Request) (call, bytes uint64) {
	call, bytes = uint64(q.Collective), uint64(max(len(q.Send), len(q.Recv)))
	if q.Collective.Rooted() {
		call |= uint64(q.Root) << 32
	}
	if q.Collective.Reduces() {
		call |= uint64(q.Type)<<8 | uint64(q.Op)<<16
	}
	if q.Collective == AllGather || q.Collective == ReduceScatter {
		bytes = uint64(len(q.Send))
	}
	return call, bytes
}

const (
	turnRefused = iota
	turnGranted
	turnDone
)

// noted receives a note from the rank before, if there is one, and hands it on, if somebody is next. It returns what was said.
func (t *turns) noted(what uint64, receive, send bool) (uint64, error) {
	buffer := make([]byte, 2*len(note{}))
	known, err := t.ring.g.device.Register(buffer)
	if err != nil {
		return 0, err
	}
	out, in := buffer[:len(note{})], buffer[len(note{}):]
	if receive {
		if err = t.ring.exchange(nil, in, known); err == nil {
			word := func(i int) uint64 { return binary.LittleEndian.Uint64(in[8*i:]) }
			if what = word(1); word(0) != t.sequence || word(2) != t.call || word(3) != t.bytes {
				err = t.ring.toward(-1, &Error{Kind: ErrMismatch, Reason: fmt.Sprintf("the rank before makes call %d, %#x with %d bytes; this one call %d, %#x with %d bytes",
					word(0), word(2), word(3), t.sequence, t.call, t.bytes)})
			}
		}
	}
	if send && err == nil {
		for i, word := range []uint64{t.sequence, what, t.call, t.bytes} {
			binary.LittleEndian.PutUint64(out[8*i:], word)
		}
		err = t.ring.exchange(out, nil, known)
	}
	if gone := known.Deregister(); err == nil {
		err = gone
	}
	return what, err
}

// begin finds out whether the group has its turn for the next collective.
func (t *turns) begin(c *Call) (granted bool, err error) {
	g := t.ring.g
	n, own := len(g.at.Members), g.at.Rank
	t.sequence++
	t.call, t.bytes = shape(&c.Request)
	what := uint64(turnRefused)
	if own == 0 {
		if granted, err = t.ask(); err != nil {
			return false, err
		}
		if granted {
			what = turnGranted
		}
	}
	t.ring.longer = t.wait + 2*goodbye // rank 0 gives the last turn back, and asks for this one
	what, err = t.noted(what, own > 0, own < n-1)
	t.ring.longer = 0
	if err != nil {
		return false, err
	}
	granted = what == turnGranted
	g.mu.Lock()
	defer g.mu.Unlock()
	if granted {
		t.with++
	} else {
		t.without++
	}
	return granted, nil
}

// ask has the manager ask. It waits no longer than the group lives, and ends it if there is no sense in what it asks.
func (t *turns) ask() (granted bool, err error) {
	g := t.ring.g
	l := g.leave.(locker)
	ctx, cancel := context.WithTimeout(context.Background(), t.wait+goodbye)
	defer cancel()
	t.hush() // what is asked now stands for what was to be given back
	var a *managerpb.LockResponse
	answer := make(chan error, 1)
	sequence, wait := t.sequence, uint32(t.wait.Milliseconds())
	go func() {
		var err error
		a, err = l.Lock(ctx, &managerpb.LockRequest{Sequence: sequence, WaitMs: wait})
		answer <- err
	}()
	select {
	case err := <-answer:
		switch {
		case status.Code(err) == codes.InvalidArgument:
			reason := "the manager gives no turn: " + status.Convert(err).Message()
			_ = g.leave.Abort(ctx, reason) // who does not hear it finds this member gone
			return false, &Error{Kind: ErrEnded, Reason: reason}
		case err != nil:
			t.release(l) // the manager may have got the turn
			return false, nil
		case !a.Granted:
			return false, nil
		}
		t.prolong(l, sequence, time.Duration(a.LeaseMs)*time.Millisecond)
		return true, nil
	case <-g.leave.Ended():
	case <-g.stop:
	}
	return false, nil
}

// prolong keeps the turn until stop.
func (t *turns) prolong(l locker, sequence uint64, lease time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.stop = func() { cancel(); <-done; t.stop = nil }
	go func() {
		defer close(done)
		tick := time.NewTicker(max(lease/3, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, err := l.Lock(ctx, &managerpb.LockRequest{Sequence: sequence, Prolong: true})
				if status.Code(err) == codes.Aborted {
					_ = t.ring.g.leave.Abort(ctx, "its turn has run out: "+status.Convert(err).Message()) // who does not hear it finds that nothing moves
					return
				}
			}
		}
	}()
}

// release tells the manager that the turn is over, until it has heard it, the group asks for another, or ends.
func (t *turns) release(l locker) (heard <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.silence = func() { cancel(); <-done }
	sequence := t.sequence
	go func() {
		defer close(done)
		for {
			call, over := context.WithTimeout(ctx, goodbye)
			err := l.Unlock(call, sequence)
			over()
			if err == nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(askAgain):
			}
		}
	}()
	return done
}

// hush ends a release.
func (t *turns) hush() {
	if t.silence != nil {
		t.silence()
		t.silence = nil
	}
}

// end gives the turn back, once all members have done with it. It waits until the manager has heard it, so that others who ask have a chance before this group asks
// again; but not for long.
func (t *turns) end() error {
	g := t.ring.g
	own := g.at.Rank
	if _, err := t.noted(turnDone, own != 1, own != 0); err != nil {
		return err
	}
	if own == 0 {
		t.stop()
		select {
		case <-t.release(g.leave.(locker)):
		case <-time.After(goodbye):
		case <-g.leave.Ended():
		case <-g.stop:
		}
	}
	return nil
}
