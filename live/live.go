// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/live/groups"
	"incforge/live/socket"
	"incforge/live/wire"
	"incforge/roce"
	"incforge/verify/dut"
)

// Port is one port of an engine and its socket.
type Port struct {
	// Number is the engine's port; Mine the path that is bound, Peer that to which frames are sent.
	Number     int
	Mine, Peer string
	// Plug makes Mine a socket to which the far end connects, one at a time (SOCK_SEQPACKET); then Peer is only its name.
	Plug bool
	// Card is the name of a network card of this machine, in the place of Mine and Peer.
	Card string
	// Faults befall the frames of this port, both ways; Shape is that of its wire.
	Faults Faults
	Shape  wire.Shape
}

// Switch is an engine with what is around it.
type Switch struct {
	// Name is unique among the switches.
	Name string
	// Manifest describes Engine, which must be as after reset. Run does not close it.
	Manifest *contract.Manifest
	Engine   dut.DUT
	Setup    *groups.Setup
	// Ports are those with a socket. What leaves by a port with neither socket nor link is lost.
	Ports []Port
	// Unchecked runs the engine without the reference beside it.
	Unchecked bool
	// TimeScale is how much of the engine's time passes in a second of the hosts'; 0 means 1.
	TimeScale float64
	// Bridge passes frames that are not to the engine's addresses from port to port, as an ordinary switch does.
	Bridge bool
	// Agent, if not nil, runs beside the switch until ctx ends, and has the groups: nobody else may change them. What it returns before that ends
	// the run.
	Agent func(ctx context.Context, h *Hand) error
}

// End is a port of a switch, by the switch's place in Options.Switches.
type End struct{ Switch, Port int }

// Link joins two ports.
type Link struct {
	A, B   End
	Faults Faults
	Shape  wire.Shape
}

// Tap sees a frame that comes in or leaves by a port. The frame is another's: a tap neither keeps nor changes it. It is called by one
// goroutine a switch.
type Tap func(at End, when time.Time, frame []byte)

// Options say what Run does.
type Options struct {
	Switches []Switch
	Links    []Link
	// Seed draws the faults.
	Seed uint64
	// Control is the path of the control socket; empty means none.
	Control string
	// Capture receives a pcapng of all ports, one interface each; nil means nobody.
	Capture io.Writer
	// Tap, if not nil, sees the same frames.
	Tap Tap
	// Status is the time between two lines of state in Log; 0 means none.
	Status time.Duration
	// Log receives what happens.
	Log *logrus.Logger
	// Ready, if not nil, is called once all sockets are bound and the groups enabled.
	Ready func()
}

// Report is what Run saw.
type Report struct {
	// WallSeconds is real time.
	WallSeconds float64        `json:"wall_s"`
	Switches    []SwitchReport `json:"switches"`
}

// SwitchReport is what was seen of one switch.
type SwitchReport struct {
	Name   string `json:"name"`
	Config string `json:"config"`
	// Checked tells that the reference ran beside the engine.
	Checked bool `json:"checked"`
	// Cycles are those of the engine's clock, Simulated those of them that were not skipped.
	Cycles    uint64 `json:"cycles"`
	Simulated uint64 `json:"simulated_cycles"`
	// TimeScale is the engine's time in the hosts'.
	TimeScale float64 `json:"time_scale"`
	// Ports are in the order of their numbers; Unattached are frames that left by ports with neither socket nor link, Bridged those that
	// the bridge passed on.
	Ports      []PortReport `json:"ports"`
	Unattached uint64       `json:"unattached"`
	Bridged    uint64       `json:"bridged"`
	// Standstills is how often a group was found standing.
	Standstills uint64 `json:"standstills"`
	// Counters are the engine's.
	Counters map[string]uint64 `json:"counters"`
}

// Bounds of a frame without FCS, in bytes: addresses and type, and what jumbo frames are usually bounded by.
const (
	MinFrame = 14
	MaxFrame = 9216
)

// Sizes of the queues between sockets and engine, in frames. What is behind waits in the sockets, and with it who sends.
const (
	inQueue   = 1024
	outQueue  = 1024
	inEngine  = 256  // offered and not accepted
	quantum   = 64   // cycles that the engine runs between two looks at the sockets,
	alone     = 1024 // and a reference with nothing beside it, while frames wait
	flushTime = 1    // seconds between two flushes of the capture
	perRound  = 1024 // frames that are taken in before the engine runs on
)

// run is a run of Run.
type run struct {
	o       Options
	loops   []*loop
	capture struct {
		sync.Mutex
		w *roce.CaptureWriter
	}
	start time.Time
	stop  chan struct{} // closed when the loops have ended
}

// Run programs the engines, binds the sockets and passes frames until ctx ends, which is no error, or something fails: an engine
// that differs from the reference is score.ErrMismatch. The report is as far as it came.
func Run(ctx context.Context, o Options) (rep Report, err error) {
	if o.Capture == nil {
		o.Capture = io.Discard
	}
	r := &run{o: o, stop: make(chan struct{})}
	for i := range o.Switches {
		l, err := newLoop(r, &o.Switches[i])
		if err != nil {
			return rep, err
		}
		r.loops = append(r.loops, l)
	}
	if err := r.open(); err != nil {
		return rep, errors.Join(err, r.close())
	}
	control, err := r.serve()
	if err != nil {
		return rep, errors.Join(err, r.close())
	}
	var receivers, senders sync.WaitGroup
	for _, l := range r.loops {
		for _, p := range l.ports {
			if p.sock != nil {
				receivers.Go(func() { p.receive(l.in, r.stop) })
			}
			senders.Go(func() { p.send(r.stop) })
		}
	}
	r.start = time.Now()
	if o.Ready != nil {
		o.Ready()
	}
	err = errors.Join(r.pass(ctx), control())
	close(r.stop)
	for _, l := range r.loops {
		for _, p := range l.ports {
			close(p.out)
		}
	}
	senders.Wait()
	err = errors.Join(err, r.close(), r.flush())
	receivers.Wait()
	rep.WallSeconds = time.Since(r.start).Seconds()
	for _, l := range r.loops {
		rep.Switches = append(rep.Switches, l.report())
	}
	return rep, err
}

// pass lets all switches pass frames until ctx ends or one fails, which ends the others.
func (r *run) pass(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(r.loops))
	var all sync.WaitGroup
	for i, l := range r.loops {
		all.Go(func() {
			defer cancel()
			defer close(l.ended)
			errs[i] = l.finish(l.run(ctx))
		})
	}
	agents := make([]error, len(r.loops))
	for i, l := range r.loops {
		if l.sw.Agent == nil {
			continue
		}
		all.Go(func() {
			defer cancel()
			if err := l.sw.Agent(ctx, &Hand{l}); err != nil && ctx.Err() == nil {
				agents[i] = fmt.Errorf("%sagent: %w", r.of(l), err)
			}
		})
	}
	all.Wait()
	return errors.Join(append(errs, agents...)...)
}

// open binds the sockets, joins the links and begins the capture.
func (r *run) open() error {
	var names []string
	attach := func(l *loop, p *port) error {
		if _, twice := l.ports[p.number]; twice || p.number < 0 || p.number >= l.man.Params.Ports {
			return fmt.Errorf("%sport %d: given twice, or not one of 0 to %d", r.of(l), p.number, l.man.Params.Ports-1)
		}
		p.counts.Port, p.log, p.out, p.index = p.number, r.o.Log, make(chan []byte, outQueue), len(names)
		names = append(names, fmt.Sprintf("%sp%d", r.of(l), p.number))
		l.ports[p.number] = p
		return nil
	}
	for i, l := range r.loops {
		for _, want := range l.sw.Ports {
			sock, err := listen(&want)
			if err != nil {
				return fmt.Errorf("%sport %d: %w", r.of(l), want.Number, err)
			}
			p := &port{number: want.Number, sock: sock, counts: PortReport{Mine: want.Mine, Peer: cmp.Or(want.Peer, want.Card)}}
			p.end = End{i, want.Number}
			p.lanes(want.Faults, r.o.Seed, i)
			p.wire = [2]*wire.Wire{wire.New(want.Shape), wire.New(want.Shape)}
			if err := attach(l, p); err != nil {
				return errors.Join(err, sock.Close())
			}
		}
	}
	for _, link := range r.o.Links {
		a, b := &port{number: link.A.Port}, &port{number: link.B.Port}
		for _, end := range []struct {
			p, far *port
			at, to End
		}{{a, b, link.A, link.B}, {b, a, link.B, link.A}} {
			end.p.far, end.p.farIn = end.far, r.loops[end.to.Switch].in
			end.p.counts.Peer = fmt.Sprintf("%s:%d", r.loops[end.to.Switch].sw.Name, end.to.Port)
			end.p.lanes(link.Faults, r.o.Seed, end.at.Switch)
			end.p.lane[inward] = nil // what a link does to a frame it does once
			end.p.end, end.p.wire[outward] = end.at, wire.New(link.Shape)
			if err := attach(r.loops[end.at.Switch], end.p); err != nil {
				return err
			}
		}
	}
	var err error
	r.capture.w, err = roce.NewCaptureWriter(r.o.Capture, names)
	return err
}

// listen binds the socket of a port.
func listen(p *Port) (outlet, error) {
	switch {
	case p.Card != "":
		return socket.NewCard(p.Card)
	case p.Plug:
		return socket.NewPlug(p.Mine)
	}
	return socket.Listen(p.Mine)
}

// of is a switch's name as a prefix, empty if there is only one.
func (r *run) of(l *loop) string {
	if len(r.o.Switches) == 1 {
		return ""
	}
	return l.sw.Name + ":"
}

// close closes the sockets, which ends the receivers.
func (r *run) close() error {
	var errs []error
	for _, l := range r.loops {
		for _, n := range sortedKeys(l.ports) {
			if s := l.ports[n].sock; s != nil {
				errs = append(errs, s.Close())
			}
		}
	}
	return errors.Join(errs...)
}

// record puts a frame into the capture.
func (r *run) record(p *port, when time.Time, frame []byte) {
	if r.o.Tap != nil {
		r.o.Tap(p.end, when, frame)
	}
	r.capture.Lock()
	defer r.capture.Unlock()
	fail.On(r.capture.w.Write(roce.Captured{Port: p.index, Time: when, Frame: frame}))
}

// flush writes out what the capture holds back.
func (r *run) flush() error {
	r.capture.Lock()
	defer r.capture.Unlock()
	if r.capture.w == nil {
		return nil
	}
	return r.capture.w.Flush()
}

// drops are the counters of frames that the engine dropped.
func drops(counters map[string]uint64) (n uint64) {
	for c := range inc.AllCounters {
		if dropped(c.String()) {
			n += counters[c.String()]
		}
	}
	return n
}

// Timers says how long the engine's time-out is, in the hosts' time and in its own; nothing in Mode II, which has none.
func (s *Switch) Timers() string {
	if s.Setup.Pipes == nil {
		return ""
	}
	us := s.Setup.Pipes.Timeout(s.TimeScale)
	return fmt.Sprintf("; its time-out of %d µs of the hosts is %d µs of its own, %d cycles", s.Setup.Pipes.TimeoutUS, us, uint64(us)*s.Manifest.Params.CyclesPerMicrosecond())
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
