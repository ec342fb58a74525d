// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/live/socket"
	"incforge/live/wire"
)

// PortReport counts the frames of one port. Every datagram that came counts in exactly one of In, Short, Long, ARP, BridgeIn and LostIn;
// every frame for the peer in exactly one of Out, Nobody, Full, Failed and LostOut. A frame that a fault doubles counts twice.
type PortReport struct {
	Port int `json:"port"`
	// Mine is the socket's path, empty for a link and a card; Peer the path of the far end, the other SWITCH:PORT or the card's name.
	Mine string `json:"mine,omitempty"`
	Peer string `json:"peer"`
	// In went into the engine. Short and Long are datagrams of fewer bytes than MinFrame or more than MaxFrame, ARP the requests
	// that were answered outside of the engine, BridgeIn frames for the bridge.
	In       uint64 `json:"in"`
	Short    uint64 `json:"short"`
	Long     uint64 `json:"long"`
	ARP      uint64 `json:"arp"`
	BridgeIn uint64 `json:"bridge_in"`
	// Out were sent, ARP replies and bridged frames included. Nobody were lost because nobody was at the peer's path, Full because the
	// peer did not read, Failed for other reasons.
	Out    uint64 `json:"out"`
	Nobody uint64 `json:"nobody"`
	Full   uint64 `json:"full"`
	Failed uint64 `json:"failed"`
	// Returned were not the engine's and came back out of it, the port having no bypass; they end here.
	Returned uint64 `json:"returned"`
	// Down tells that the port carries nothing because it, or the other end of its link, was taken down.
	Down bool `json:"down,omitempty"`
	// What faults did, on purpose, and what was lost because the port was down.
	LostIn     uint64 `json:"lost_in"`
	LostOut    uint64 `json:"lost_out"`
	Duplicated uint64 `json:"duplicated"`
	Reordered  uint64 `json:"reordered"`
}

// load is a copy taken while others count.
func (r *PortReport) load() PortReport {
	c := PortReport{Port: r.Port, Mine: r.Mine, Peer: r.Peer}
	for _, n := range []struct{ to, from *uint64 }{{&c.In, &r.In}, {&c.Short, &r.Short}, {&c.Long, &r.Long}, {&c.ARP, &r.ARP},
		{&c.BridgeIn, &r.BridgeIn}, {&c.Out, &r.Out}, {&c.Nobody, &r.Nobody}, {&c.Full, &r.Full}, {&c.Failed, &r.Failed}, {&c.Returned, &r.Returned},
		{&c.LostIn, &r.LostIn}, {&c.LostOut, &r.LostOut}, {&c.Duplicated, &r.Duplicated}, {&c.Reordered, &r.Reordered}} {
		*n.to = atomic.LoadUint64(n.from)
	}
	return c
}

// datagram is a frame that came, or the error after which none comes any more.
type datagram struct {
	port *port
	when time.Time
	data []byte
	err  error
}

// outlet is a socket that frames come and go by.
type outlet interface {
	Receive(buf []byte) (int, error)
	SetReceiveDeadline(t time.Time) error
	Send(path string, frame []byte) error
	Try(path string, frame []byte) error
	Heard(path string) bool
	Close() error
}

// The two ways through a port.
const (
	inward = iota
	outward
)

// port is a Port, or an end of a Link, at work.
type port struct {
	number int
	end    End
	sock   outlet          // of a Port
	far    *port           // of a Link: the other end
	farIn  chan<- datagram // of a Link: what the other end's engine takes in
	index  int             // of the capture
	out    chan []byte
	behind atomic.Int64 // frames handed to the sender that are not yet at the far end
	lane   [2]*lane     // what befalls frames, by way; nil: nothing does
	down   atomic.Bool
	wire   [2]*wire.Wire
	log    *logrus.Logger
	// Loop, receiver and sender count atomically.
	counts PortReport
}

// lanes gives both ways of the port, which is one of switch number sw, their faults.
func (p *port) lanes(f Faults, seed uint64, sw int) {
	if f == (Faults{}) {
		return
	}
	for way := range p.lane {
		p.lane[way] = newLane(f, seed, uint64(sw)<<16|uint64(p.number)<<1|uint64(way))
	}
}

// receive hands datagrams to the loop until the socket is closed or fails.
func (p *port) receive(in chan<- datagram, stop <-chan struct{}) {
	buf := make([]byte, MaxFrame+1)
	arrive := func(f []byte) bool {
		select {
		case in <- datagram{port: p, when: time.Now(), data: f}:
			return true
		case <-stop:
			return false
		}
	}
	put := arrive
	if w := p.wire[inward]; w != nil {
		var far sync.WaitGroup
		far.Go(func() { w.Run(func(f []byte) { arrive(f) }, stop) })
		defer far.Wait()
		defer w.Close()
		put = func(f []byte) bool { return w.Put(f, stop) }
	}
	pass := func(frames [][]byte) bool {
		for _, f := range frames {
			if !put(f) {
				return false
			}
		}
		return true
	}
	for {
		if err := p.sock.SetReceiveDeadline(p.lane[inward].due()); err != nil {
			return // closed
		}
		n, err := p.sock.Receive(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !pass(p.lane[inward].overdue()) {
				return
			}
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			select {
			case in <- datagram{port: p, err: fmt.Errorf("live: port %d: %w", p.number, err)}:
			case <-stop:
			}
			return
		case n < MinFrame:
			atomic.AddUint64(&p.counts.Short, 1)
		case n > MaxFrame:
			atomic.AddUint64(&p.counts.Long, 1)
		default:
			if !pass(p.befall(inward, slices.Clone(buf[:n]))) {
				return
			}
		}
	}
}

// send sends what the loop hands over until the queue is closed.
func (p *port) send(stop <-chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	put := func(f []byte) { p.count(p.deliver(f, stop)) }
	if w := p.wire[outward]; w != nil {
		var far sync.WaitGroup
		arrive := put
		far.Go(func() { w.Run(arrive, stop) })
		defer far.Wait()
		defer w.Close()
		put = func(f []byte) {
			if !w.Put(f, stop) {
				atomic.AddUint64(&p.counts.Nobody, 1)
			}
		}
	}
	for {
		var late <-chan time.Time
		if due := p.lane[outward].due(); !due.IsZero() {
			timer.Reset(time.Until(due))
			late = timer.C
		}
		select {
		case frame, open := <-p.out:
			if !open {
				return
			}
			for _, f := range p.befall(outward, frame) {
				put(f)
			}
			p.behind.Add(-1)
		case <-late:
			for _, f := range p.lane[outward].overdue() {
				put(f)
			}
		}
	}
}

// hurry gives a frame to whoever is at the far end at once, if nothing is to befall it, none is before it and there is room: that spares
// waking the sender. It tells whether it did.
func (p *port) hurry(frame []byte) bool {
	if p.lane[outward] != nil || p.wire[outward] != nil || p.isDown() || p.behind.Load() > 0 {
		return false
	}
	if p.far != nil {
		select {
		case p.farIn <- datagram{port: p.far, when: time.Now(), data: frame}:
			p.count(nil)
			return true
		default:
			return false
		}
	}
	err := p.sock.Try(p.counts.Peer, frame)
	if errors.Is(err, socket.ErrFull) {
		return false
	}
	p.count(err)
	return true
}

// errStopped means that the run ended while a frame waited.
var errStopped = errors.New("stopped")

// deliver gives a frame to whoever is at the far end.
func (p *port) deliver(frame []byte, stop <-chan struct{}) error {
	if p.far == nil {
		return p.sock.Send(p.counts.Peer, frame)
	}
	select {
	case p.farIn <- datagram{port: p.far, when: time.Now(), data: frame}:
		return nil
	case <-stop:
		return errStopped
	}
}

// count counts what became of a frame that was to leave.
func (p *port) count(err error) {
	n := &p.counts.Failed
	switch {
	case err == nil:
		n = &p.counts.Out
	case errors.Is(err, socket.ErrNobody), errors.Is(err, errStopped):
		n = &p.counts.Nobody
	case errors.Is(err, socket.ErrFull):
		n = &p.counts.Full
	case atomic.LoadUint64(n) == 0:
		p.log.WithError(err).Warnf("live: port %d", p.number)
	}
	atomic.AddUint64(n, 1)
}

// befall lets a frame's fate happen: what goes on, and in which order.
func (p *port) befall(way int, frame []byte) [][]byte {
	if p.isDown() {
		atomic.AddUint64([]*uint64{&p.counts.LostIn, &p.counts.LostOut}[way], 1)
		return nil
	}
	l := p.lane[way]
	if l == nil {
		return [][]byte{frame}
	}
	frames, what := l.pass(frame)
	switch what {
	case lost:
		atomic.AddUint64([]*uint64{&p.counts.LostIn, &p.counts.LostOut}[way], 1)
	case doubled:
		atomic.AddUint64(&p.counts.Duplicated, 1)
	case held:
		atomic.AddUint64(&p.counts.Reordered, 1)
	}
	return frames
}
