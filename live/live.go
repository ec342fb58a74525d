// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// Port is one port of the engine and its socket.
type Port struct {
	// Number is the engine's port; Mine the path that is bound, Peer that to which frames are sent.
	Number     int
	Mine, Peer string
}

// Options say what Run does.
type Options struct {
	// Manifest describes Engine, which must be as after reset. Run does not close it.
	Manifest *contract.Manifest
	Engine   dut.DUT
	Setup    *Setup
	// Ports are those with a socket. What leaves by another is lost.
	Ports []Port
	// Capture receives a pcapng of all ports, one interface each; nil means nobody.
	Capture io.Writer
	// Status is the time between two lines of state in Log; 0 means none.
	Status time.Duration
	// Log receives what happens.
	Log *logrus.Logger
	// Ready, if not nil, is called once all sockets are bound and the groups enabled.
	Ready func()
}

// Report is what Run saw.
type Report struct {
	Config string `json:"config"`
	// WallSeconds is real time; Cycles are those of the engine's clock, skipped ones included.
	WallSeconds float64 `json:"wall_s"`
	Cycles      uint64  `json:"cycles"`
	// Ports are in the order of their numbers; Unattached are frames that left by ports without a socket.
	Ports      []PortReport `json:"ports"`
	Unattached uint64       `json:"unattached"`
	// Counters are the engine's.
	Counters map[string]uint32 `json:"counters"`
}

// PortReport counts the frames of one port. Every datagram that came counts in exactly one of In, Short, Long and ARP; every frame
// for the peer in exactly one of Out, Nobody, Full and Failed.
type PortReport struct {
	Port int    `json:"port"`
	Mine string `json:"mine"`
	Peer string `json:"peer"`
	// In went into the engine. Short and Long are datagrams of fewer bytes than MinFrame or more than MaxFrame, ARP the requests
	// that were answered outside of the engine.
	In    uint64 `json:"in"`
	Short uint64 `json:"short"`
	Long  uint64 `json:"long"`
	ARP   uint64 `json:"arp"`
	// Out were sent, ARP replies included. Nobody were lost because nobody was at the peer's path, Full because the peer did not
	// read, Failed for other reasons.
	Out    uint64 `json:"out"`
	Nobody uint64 `json:"nobody"`
	Full   uint64 `json:"full"`
	Failed uint64 `json:"failed"`
	// Returned were not the engine's and came back out of it, the port having no bypass; they end here.
	Returned uint64 `json:"returned"`
}

// Sizes of the queues between sockets and engine, in frames. What is behind waits in the sockets, and with it who sends.
const (
	inQueue   = 1024
	outQueue  = 1024
	inEngine  = 256  // offered and not accepted
	quantum   = 64   // cycles that the engine runs between two looks at the sockets
	flushTime = 1    // seconds between two flushes of the capture
	perRound  = 1024 // frames that are taken in before the engine runs on
)

// datagram is a frame that came, or the error after which none comes any more.
type datagram struct {
	port *port
	when time.Time
	data []byte
	err  error
}

// port is a Port at work.
type port struct {
	sock  *Socket
	arp   map[roce.IP4]roce.MAC
	index int // of the capture
	out   chan []byte
	log   *logrus.Logger
	// Loop, receiver and sender count atomically.
	counts PortReport
}

// loop is a run of Run.
type loop struct {
	o       Options
	board   *score.Board
	ports   map[int]*port // by number
	in      chan datagram
	capture *roce.CaptureWriter
	start   time.Time
	first   uint64 // the cycle of start
	rep     Report
}

// Run programs the engine, binds the sockets and passes frames until ctx ends, which is no error, or something fails: an engine
// that differs from the reference is score.ErrMismatch. The report is as far as it came.
func Run(ctx context.Context, o Options) (rep Report, err error) {
	if o.Capture == nil {
		o.Capture = io.Discard
	}
	board, err := score.New(o.Engine, o.Manifest)
	if err != nil {
		return rep, err
	}
	if err := o.Setup.Program(ctrl.New(board, o.Manifest)); err != nil {
		return rep, err
	}
	l := &loop{o: o, board: board, ports: map[int]*port{}, in: make(chan datagram, inQueue)}
	if err := l.open(); err != nil {
		return rep, errors.Join(err, l.close())
	}
	stop := make(chan struct{})
	var receivers, senders sync.WaitGroup
	for _, p := range l.ports {
		receivers.Go(func() { p.receive(l.in, stop) })
		senders.Go(p.send)
	}
	l.start, l.first = time.Now(), board.Now()
	if o.Ready != nil {
		o.Ready()
	}
	l.rep.Counters, err = l.finish(l.run(ctx))
	close(stop)
	for _, p := range l.ports {
		close(p.out)
	}
	senders.Wait()
	err = errors.Join(err, l.close())
	receivers.Wait()
	l.rep.Config, l.rep.WallSeconds, l.rep.Cycles = o.Manifest.Name, time.Since(l.start).Seconds(), board.Now()
	for _, n := range sortedKeys(l.ports) {
		l.rep.Ports = append(l.rep.Ports, l.ports[n].counts)
	}
	return l.rep, err
}

// open binds the sockets and begins the capture.
func (l *loop) open() error {
	var names []string
	for _, want := range l.o.Ports {
		if _, twice := l.ports[want.Number]; twice || want.Number < 0 || want.Number >= l.o.Manifest.Params.Ports {
			return fmt.Errorf("port %d: given twice, or not one of 0 to %d", want.Number, l.o.Manifest.Params.Ports-1)
		}
		sock, err := Listen(want.Mine)
		if err != nil {
			return fmt.Errorf("port %d: %w", want.Number, err)
		}
		l.ports[want.Number] = &port{sock: sock, arp: l.o.Setup.arp[want.Number], index: len(names), log: l.o.Log,
			out: make(chan []byte, outQueue), counts: PortReport{Port: want.Number, Mine: want.Mine, Peer: want.Peer}}
		names = append(names, fmt.Sprintf("p%d", want.Number))
	}
	var err error
	l.capture, err = roce.NewCaptureWriter(l.o.Capture, names)
	return err
}

// close closes the sockets, which ends the receivers.
func (l *loop) close() error {
	var errs []error
	for _, p := range l.ports {
		errs = append(errs, p.sock.Close())
	}
	return errors.Join(errs...)
}

// receive hands datagrams to the loop until the socket is closed or fails.
func (p *port) receive(in chan<- datagram, stop <-chan struct{}) {
	buf := make([]byte, MaxFrame+1)
	for {
		d := datagram{port: p}
		n, err := p.sock.Receive(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			d.err = fmt.Errorf("live: port %d: %w", p.counts.Port, err)
		case n < MinFrame:
			atomic.AddUint64(&p.counts.Short, 1)
			continue
		case n > MaxFrame:
			atomic.AddUint64(&p.counts.Long, 1)
			continue
		default:
			d.when, d.data = time.Now(), slices.Clone(buf[:n])
		}
		select {
		case in <- d:
		case <-stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// send sends what the loop hands over until the queue is closed.
func (p *port) send() {
	for frame := range p.out {
		count := &p.counts.Out
		switch err := p.sock.Send(p.counts.Peer, frame); {
		case errors.Is(err, ErrNobody):
			count = &p.counts.Nobody
		case errors.Is(err, ErrFull):
			count = &p.counts.Full
		case err != nil:
			count = &p.counts.Failed
			if *count == 0 {
				p.log.WithError(err).Warnf("live: port %d", p.counts.Port)
			}
		}
		atomic.AddUint64(count, 1)
	}
}

// put hands a frame to the port's sender, or loses it if that is far behind.
func (l *loop) put(p *port, frame []byte) {
	select {
	case p.out <- frame:
	default:
		atomic.AddUint64(&p.counts.Full, 1)
	}
	l.record(p, time.Now(), frame)
}

func (l *loop) record(p *port, when time.Time, frame []byte) {
	fail.On(l.capture.Write(roce.Captured{Port: p.index, Time: when, Frame: frame}))
}

// take takes a datagram in: ARP requests are answered, the rest goes to the engine. A socket's error is the run's.
func (l *loop) take(d datagram) {
	fail.On(d.err)
	l.record(d.port, d.when, d.data)
	if reply := arpAnswer(d.data, d.port.arp); reply != nil {
		atomic.AddUint64(&d.port.counts.ARP, 1)
		l.put(d.port, reply)
		return
	}
	atomic.AddUint64(&d.port.counts.In, 1)
	l.board.Offer(d.port.counts.Port, dut.Frame{Data: d.data})
}

// leave passes on what left the engine.
func (l *loop) leave() {
	for _, o := range l.board.Out() {
		p := l.ports[o.Port]
		_, bypass := l.o.Setup.Bypass[o.Port]
		switch {
		case p == nil:
			l.rep.Unattached++
		case !bypass && len(o.Data) >= MinFrame && !l.o.Setup.local[roce.MAC(o.Data[6:12])]:
			atomic.AddUint64(&p.counts.Returned, 1)
		default:
			l.put(p, o.Data)
		}
	}
}

// run passes frames until ctx ends.
func (l *loop) run(ctx context.Context) (err error) {
	defer fail.Catch(&err, "")
	flush := time.NewTicker(flushTime * time.Second)
	defer flush.Stop()
	var status <-chan time.Time // never, unless asked for
	if l.o.Status > 0 {
		t := time.NewTicker(l.o.Status)
		defer t.Stop()
		status = t.C
	}
	for {
		idle := make(chan struct{}) // ready unless the engine waits for one of the others
		var due <-chan time.Time    // of an idle engine of Mode III that waits for time to pass
		if !l.board.Idle() {
			close(idle)
		} else if at := l.deadline(); at != dut.Never {
			due = time.After(l.when(at))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-status:
			l.status()
		case <-flush.C:
			fail.On(l.capture.Flush())
		case d := <-l.in:
			l.follow()
			l.take(d)
		case <-due:
			l.follow()
		case <-idle:
		}
		l.step()
	}
}

// step takes what waits and runs the engine a little, if there is anything for it.
func (l *loop) step() {
	for n := min(len(l.in), perRound); n > 0 && l.board.Waiting() < inEngine; n-- {
		l.take(<-l.in)
	}
	if !l.board.Idle() || l.deadline() <= l.board.Now()+quantum {
		fail.On(l.board.StepTo(l.board.Now() + quantum))
		l.leave()
	}
}

// follow lets an idle engine's clock catch up with real time, as far as nothing is due before.
func (l *loop) follow() {
	if l.board.Idle() {
		l.board.SkipTo(min(l.first+uint64(time.Since(l.start).Microseconds())*l.o.Manifest.Params.CyclesPerMicrosecond(), l.deadline()))
	}
}

// deadline is the cycle in which an idle engine acts by itself, dut.Never if it does not.
func (l *loop) deadline() uint64 {
	at, _ := l.board.Timers()
	return at
}

// when is how long it is until a cycle in real time.
func (l *loop) when(cycle uint64) time.Duration {
	return time.Until(l.start.Add(time.Duration((cycle-min(cycle, l.first))/l.o.Manifest.Params.CyclesPerMicrosecond()+1) * time.Microsecond))
}

// finish lets everything leave, ends the capture and reads the counters; of a run that failed it reads nothing.
func (l *loop) finish(failed error) (counters map[string]uint32, err error) {
	defer func() { err = errors.Join(failed, err, l.capture.Flush()) }()
	defer fail.Catch(&err, "")
	if failed == nil {
		counters, failed = l.board.Finish()
	}
	l.leave()
	return counters, nil
}

// status says in a line how it goes.
func (l *loop) status() {
	var in, out, lost uint64
	for _, p := range l.ports {
		r := &p.counts
		in, out = in+atomic.LoadUint64(&r.In), out+atomic.LoadUint64(&r.Out)
		for _, n := range []*uint64{&r.Short, &r.Long, &r.Nobody, &r.Full, &r.Failed} {
			lost += atomic.LoadUint64(n)
		}
	}
	drops := uint64(0)
	counters := l.board.Reference().Engine().Counters() // the same as the engine's, and reading them takes no cycles
	for c := range inc.AllCounters {
		if strings.HasPrefix(c.String(), "DROP_") {
			drops += uint64(counters[c])
		}
	}
	l.o.Log.Infof("live: %.0f s, cycle %d, %d frames in, %d out, %d lost at sockets, %d dropped by the engine, %d wait",
		time.Since(l.start).Seconds(), l.board.Now(), in, out, lost, drops, l.board.Waiting())
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
