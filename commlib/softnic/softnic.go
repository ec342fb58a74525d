// SPDX-License-Identifier: Apache-2.0

// Package softnic is a verbs.Device in software: every queue pair is a model of a NIC with one connection (package host), run in real time. Its
// frames go over a Wire, such as a socket of package live.
package softnic

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"incforge/commlib/verbs"
	"incforge/network/host"
	"incforge/roce"
)

// Wire carries Ethernet frames without FCS. Send and Receive may be called at the same time.
type Wire interface {
	// Send sends a frame, or loses it. An error ends the NIC.
	Send(frame []byte) error
	// Receive waits for a frame and returns its length. An error ends the NIC; Close makes it return one.
	Receive(buf []byte) (int, error)
	Close() error
}

// Limits of the device.
const (
	firstQPN   = 17 // as rxe counts
	mostFrame  = 9216
	perMicro   = 1000 // a cycle is a nanosecond
	endless    = 7
	mostExp    = 31
	qpnAt      = 47 // in a RoCEv2 frame
	qpnEnd     = qpnAt + 3
	minPathMTU = 16
	maxPathMTU = 4096
)

// ErrClosed is the error of whatever is asked of a NIC that was closed, or whose wire broke.
var ErrClosed = errors.New("the NIC is closed")

// NIC is a device. Make it with New.
type NIC struct {
	wire  Wire
	at    verbs.Address
	begun time.Time

	mu      sync.Mutex
	qps     map[uint32]*qp
	order   []*qp // in the order in which they were made
	next    uint32
	regions int
	strays  int
	err     error
	kick    chan struct{}
	done    sync.WaitGroup
}

// New starts a NIC, which has the wire from now on.
func New(wire Wire, at verbs.Address) *NIC {
	n := &NIC{wire: wire, at: at, begun: time.Now(), qps: map[uint32]*qp{}, next: firstQPN, kick: make(chan struct{}, 1)}
	n.done.Go(n.receive)
	n.done.Go(n.send)
	return n
}

// Close ends the NIC and the wire. Queue pairs that are left fail.
func (n *NIC) Close() error {
	err := n.wire.Close()
	n.fail(ErrClosed)
	n.done.Wait()
	return err
}

// Address is the port's.
func (n *NIC) Address() verbs.Address { return n.at }

// InUse counts the queue pairs and the regions of memory that there are.
func (n *NIC) InUse() (qps, regions int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.qps), n.regions
}

// Strays counts the frames that came and were no queue pair's.
func (n *NIC) Strays() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.strays
}

// now is the time in cycles.
func (n *NIC) now() uint64 { return uint64(time.Since(n.begun).Nanoseconds()) }

// fail ends the NIC, once.
func (n *NIC) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return
	}
	n.err = err
	for _, q := range n.order {
		q.flush(verbs.Fatal, err.Error())
	}
	n.wake()
}

// wake has the sender look.
func (n *NIC) wake() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// receive hands frames to the queue pairs until the wire ends.
func (n *NIC) receive() {
	buf := make([]byte, mostFrame+1)
	for {
		size, err := n.wire.Receive(buf)
		if err != nil {
			n.fail(fmt.Errorf("wire: %w", err))
			return
		}
		if size > mostFrame {
			continue
		}
		n.take(append([]byte(nil), buf[:size]...)) // the receiver keeps parts of it
	}
}

func (n *NIC) take(frame []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return // all requests are flushed, and their memory is no longer the NIC's
	}
	if len(frame) < qpnEnd {
		n.strays++
		return
	}
	q := n.qps[uint32(frame[qpnAt])<<16|uint32(frame[qpnAt+1])<<8|uint32(frame[qpnAt+2])]
	if q == nil || q.host == nil || !q.host.Receive(n.now(), frame) {
		n.strays++
		return
	}
	q.look()
	n.wake()
}

// send runs timers and sends what is to be sent, until the NIC ends.
func (n *NIC) send() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		frames, deadline, ended := n.due()
		if ended {
			return
		}
		for _, f := range frames {
			if err := n.wire.Send(f); err != nil {
				n.fail(fmt.Errorf("wire: %w", err))
				return
			}
		}
		if len(frames) > 0 {
			continue
		}
		wait := time.Hour
		if deadline != host.Never {
			wait = time.Duration(deadline - min(deadline, n.now()))
		}
		timer.Reset(wait)
		select {
		case <-n.kick:
		case <-timer.C:
		}
	}
}

// perRound bounds the frames that are taken from a queue pair before the next has its turn.
const perRound = 16

// due are frames that may leave now, and when there is something to do if no frame comes.
func (n *NIC) due() (frames [][]byte, deadline uint64, ended bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	deadline = host.Never
	for _, q := range n.order {
		if q.host == nil {
			continue
		}
		if q.host.Deadline() <= now {
			q.host.Tick(now)
			q.look()
		}
		for range perRound {
			f := q.host.Next(now)
			if f == nil {
				break
			}
			frames = append(frames, f)
		}
		deadline = min(deadline, q.host.Deadline())
	}
	return frames, deadline, n.err != nil
}

// region is memory that was registered.
type region struct {
	nic    *NIC
	memory []byte
}

// Register makes memory known.
func (n *NIC) Register(memory []byte) (verbs.Region, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return nil, n.err
	}
	if len(memory) == 0 {
		return nil, errors.New("register memory: there is none")
	}
	n.regions++
	return &region{n, memory}, nil
}

// Deregister forgets the memory.
func (r *region) Deregister() error {
	r.nic.mu.Lock()
	defer r.nic.mu.Unlock()
	if r.memory == nil {
		return errors.New("deregister memory: it is not registered")
	}
	r.memory = nil
	r.nic.regions--
	return nil
}

// covers tells whether memory lies in a region.
func covers(have verbs.Region, memory []byte) bool {
	if len(memory) == 0 {
		return true
	}
	r, ok := have.(*region)
	if !ok || len(r.memory) == 0 {
		return false
	}
	first, at := uintptr(unsafe.Pointer(unsafe.SliceData(r.memory))), uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	return at >= first && at+uintptr(len(memory)) <= first+uintptr(len(r.memory))
}

// CreateQP makes a queue pair.
func (n *NIC) CreateQP(c verbs.Caps) (verbs.QP, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return nil, n.err
	}
	if c.Sends < 1 || c.Receives < 1 {
		return nil, fmt.Errorf("queue pair: room for %d sends and %d receives", c.Sends, c.Receives)
	}
	if len(n.qps) >= roce.PSNMask-firstQPN {
		return nil, errors.New("queue pair: there are no numbers left")
	}
	for n.qps[n.next] != nil || n.next < firstQPN { // numbers count up, so that one comes again as late as can be
		n.next = (n.next + 1) & roce.PSNMask
	}
	q := &qp{nic: n, qpn: n.next, caps: c, events: make(chan struct{}, 1)}
	n.next = (n.next + 1) & roce.PSNMask
	n.qps[q.qpn], n.order = q, append(n.order, q)
	return q, nil
}
