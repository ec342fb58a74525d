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
	// Capture, if not nil, receives a pcapng of all ports, one interface each.
	Capture io.Writer
	// Status is the time between two lines of state in Log; 0 means none.
	Status time.Duration
	// Log receives what happens; nil means nobody.
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
	Counters map[string]uint64 `json:"counters"`
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
	Port
	sock  *Socket
	arp   map[roce.IP4]roce.MAC
	index int // of the capture
	out   chan []byte
	log   *logrus.Logger

	// Counted by the loop, the receiver, the receiver, the loop, the loop; the rest by the sender and, of a full queue, the loop.
	in, short, long, answered, returned atomic.Uint64
	sent, nobody, full, failed          atomic.Uint64
}

func (p *port) report() PortReport {
	return PortReport{Port: p.Number, Mine: p.Mine, Peer: p.Peer, In: p.in.Load(), Short: p.short.Load(), Long: p.long.Load(),
		ARP: p.answered.Load(), Out: p.sent.Load(), Nobody: p.nobody.Load(), Full: p.full.Load(), Failed: p.failed.Load(),
		Returned: p.returned.Load()}
}

// loop is a run of Run.
type loop struct {
	o       Options
	board   *score.Board
	ports   map[int]*port // by number
	local   map[roce.MAC]bool
	in      chan datagram
	capture *roce.CaptureWriter
	start   time.Time
	first   uint64 // the cycle of start

	unattached uint64
}

// Run programs the engine, binds the sockets and passes frames until ctx ends, which is no error, or something fails: an engine
// that differs from the reference is score.ErrMismatch. The report is as far as it came.
func Run(ctx context.Context, o Options) (rep Report, err error) {
	if o.Log == nil {
		o.Log = logrus.New()
		o.Log.SetOutput(io.Discard)
	}
	board, err := score.New(o.Engine, o.Manifest)
	if err != nil {
		return rep, err
	}
	if err := o.Setup.Program(ctrl.New(board, o.Manifest)); err != nil {
		return rep, err
	}
	l := &loop{o: o, board: board, ports: map[int]*port{}, local: map[roce.MAC]bool{}, in: make(chan datagram, inQueue)}
	for _, g := range o.Setup.Groups {
		for _, ep := range g.Ends {
			l.local[ep.LocalMAC] = true
		}
	}
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
	runErr := l.run(ctx)
	rep.Counters, err = l.finish(runErr)
	close(stop)
	for _, p := range l.ports {
		close(p.out)
	}
	senders.Wait()
	err = errors.Join(err, l.close())
	receivers.Wait()
	rep.Config, rep.WallSeconds, rep.Cycles, rep.Unattached = o.Manifest.Name, time.Since(l.start).Seconds(), board.Now(), l.unattached
	for _, n := range sortedKeys(l.ports) {
		rep.Ports = append(rep.Ports, l.ports[n].report())
	}
	return rep, err
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
		l.ports[want.Number] = &port{Port: want, sock: sock, arp: l.o.Setup.arp[want.Number], index: len(names), log: l.o.Log,
			out: make(chan []byte, outQueue)}
		names = append(names, fmt.Sprintf("p%d", want.Number))
	}
	if l.o.Capture == nil {
		return nil
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

// receive hands datagrams to the loop until the socket is closed.
func (p *port) receive(in chan<- datagram, stop <-chan struct{}) {
	buf := make([]byte, MaxFrame+1)
	for {
		n, err := p.sock.Receive(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			select {
			case in <- datagram{port: p, err: fmt.Errorf("live: port %d: %w", p.Number, err)}:
			case <-stop:
			}
			return
		case n < MinFrame:
			p.short.Add(1)
		case n > MaxFrame:
			p.long.Add(1)
		default:
			select {
			case in <- datagram{port: p, when: time.Now(), data: slices.Clone(buf[:n])}:
			case <-stop:
				return
			}
		}
	}
}

// send sends what the loop hands over until the queue is closed.
func (p *port) send() {
	for frame := range p.out {
		switch err := p.sock.Send(p.Peer, frame); {
		case err == nil:
			p.sent.Add(1)
		case errors.Is(err, ErrNobody):
			p.nobody.Add(1)
		case errors.Is(err, ErrFull):
			p.full.Add(1)
		default:
			if p.failed.Add(1) == 1 {
				p.log.WithError(err).Warnf("live: port %d", p.Number)
			}
		}
	}
}

// put hands a frame to the port's sender, or loses it if that is far behind.
func (l *loop) put(p *port, frame []byte) error {
	select {
	case p.out <- frame:
	default:
		p.full.Add(1)
	}
	return l.record(p, time.Now(), frame)
}

func (l *loop) record(p *port, when time.Time, frame []byte) error {
	if l.capture == nil {
		return nil
	}
	return l.capture.Write(roce.Captured{Port: p.index, Time: when, Frame: frame})
}

// take takes a datagram in: ARP requests are answered, the rest goes to the engine. A socket's error is the run's.
func (l *loop) take(d datagram) error {
	if d.err != nil {
		return d.err
	}
	if err := l.record(d.port, d.when, d.data); err != nil {
		return err
	}
	if reply := arpAnswer(d.data, d.port.arp); reply != nil {
		d.port.answered.Add(1)
		return l.put(d.port, reply)
	}
	d.port.in.Add(1)
	l.board.Offer(d.port.Number, dut.Frame{Data: d.data})
	return nil
}

// leave passes on what left the engine.
func (l *loop) leave() error {
	for _, o := range l.board.Out() {
		p := l.ports[o.Port]
		if p == nil {
			l.unattached++
			continue
		}
		if _, bypass := l.o.Setup.Bypass[o.Port]; !bypass && len(o.Data) >= MinFrame && !l.local[roce.MAC(o.Data[6:12])] {
			p.returned.Add(1)
			continue
		}
		if err := l.put(p, o.Data); err != nil {
			return err
		}
	}
	return nil
}

// run passes frames until ctx ends.
func (l *loop) run(ctx context.Context) error {
	flush := time.NewTicker(flushTime * time.Second)
	defer flush.Stop()
	var status <-chan time.Time // never, unless asked for
	if l.o.Status > 0 {
		t := time.NewTicker(l.o.Status)
		defer t.Stop()
		status = t.C
	}
	var alarm *time.Timer // of an idle engine of Mode III that waits for time to pass
	for {
		var idle chan struct{} // never ready: wait for one of the others
		if !l.board.Idle() {
			idle = make(chan struct{})
			close(idle)
		}
		if alarm != nil {
			alarm.Stop()
		}
		var due <-chan time.Time
		if at := l.board.Deadline(); idle == nil && at != dut.Never {
			alarm = time.NewTimer(l.when(at))
			due = alarm.C
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-status:
			l.status()
		case <-flush.C:
			if l.capture != nil {
				err = l.capture.Flush()
			}
		case d := <-l.in:
			l.follow()
			err = l.take(d)
		case <-due:
			l.follow()
		case <-idle:
		}
		if err == nil {
			err = l.step()
		}
		if err != nil {
			return err
		}
	}
}

// step takes what waits and runs the engine a little, if there is anything for it.
func (l *loop) step() error {
	for range perRound {
		if l.board.Waiting() >= inEngine {
			break
		}
		select {
		case d := <-l.in:
			if err := l.take(d); err != nil {
				return err
			}
			continue
		default:
		}
		break
	}
	if l.board.Idle() && l.board.Deadline() > l.board.Now()+quantum {
		return nil
	}
	if err := l.board.StepTo(l.board.Now() + quantum); err != nil {
		return err
	}
	return l.leave()
}

// follow lets an idle engine's clock catch up with real time, as far as nothing is due before.
func (l *loop) follow() {
	if l.board.Idle() {
		l.board.SkipTo(min(l.first+uint64(time.Since(l.start).Microseconds())*l.perMicrosecond(), l.board.Deadline()))
	}
}

// when is how long it is until a cycle in real time.
func (l *loop) when(cycle uint64) time.Duration {
	return time.Until(l.start.Add(time.Duration((cycle-min(cycle, l.first))/l.perMicrosecond()+1) * time.Microsecond))
}

func (l *loop) perMicrosecond() uint64 { return uint64(max(l.o.Manifest.Params.ClockMHz, 1)) }

// finish lets everything leave, ends the capture and reads the counters; after a failure it reads nothing.
func (l *loop) finish(err error) (counters map[string]uint64, _ error) {
	if err == nil {
		counters, err = l.board.Finish()
	}
	err = errors.Join(err, l.leave())
	if l.capture != nil {
		err = errors.Join(err, l.capture.Flush())
	}
	return counters, err
}

// status says in a line how it goes.
func (l *loop) status() {
	var in, out, lost uint64
	for _, p := range l.ports {
		r := p.report()
		in, out = in+r.In, out+r.Out
		lost += r.Short + r.Long + r.Nobody + r.Full + r.Failed
	}
	drops := uint64(0)
	counters := l.board.Reference().Engine().Counters() // the same as the engine's, and reading them takes no cycles
	for c := range inc.AllCounters {
		if strings.HasPrefix(c.String(), "DROP_") {
			drops += uint64(counters[c])
		}
	}
	l.o.Log.Infof("live: %.0f s, cycle %d, %d frames in, %d out, %d lost at sockets, %d dropped by the engine, %d wait", time.Since(l.start).Seconds(),
		l.board.Now(), in, out, lost, drops, l.board.Waiting())
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
