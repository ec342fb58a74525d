// SPDX-License-Identifier: Apache-2.0

// Package fabric joins engines and hosts by links with a bandwidth, a delay and seeded faults, and runs them on one clock.
//
// The scheduler advances in quanta no longer than the smallest link delay: within a quantum nothing that one node sends
// can reach another, so the order in which nodes are run does not matter. What they sent is put on the links afterwards, in the
// order of the nodes, by one goroutine. So the same seed gives the same run, with any number of workers.
//
// Each direction of each link has its own coins, which follow from the net's seed, the link's number, the direction and the
// number of the frame: a fault that is added, or a frame more on one link, moves no coin of another.
package fabric

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"incforge/internal/splitmix"
	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/dut"
)

type hostNode struct {
	*host.Host
	out, in *pipe
	inbox   []timed[frame]
	outbox  []timed[frame]
}

// switchNode is an engine. While a quantum runs it belongs to one goroutine.
type switchNode struct {
	Switch
	ports map[int][]*pipe
	err   error
}

// Net is a network. Make it with New, add nodes, join them, run it.
type Net struct {
	seed     uint64
	switches []*switchNode
	hosts    []*hostNode
	links    [][2]*pipe // up, down
	script   map[place][]Event
	busy     []*switchNode // those with something to do in this quantum

	now     uint64
	quantum uint64
	flight  timeline[frame]
	hooks   timeline[func() error]
	calm    bool

	Stats Stats
	// Workers says how many goroutines advance engines at once; 0 or 1 is the caller's own. With more, all hosts still run in one goroutine,
	// but at the same time as engines: engines must share nothing that they write, and what a host's functions do must not touch an engine.
	// Hooks, OnQuantum, OnFault and OnDeliver run while nothing else does.
	Workers int
	// OnQuantum, if not nil, is called after every quantum; an error ends the run.
	OnQuantum func(now uint64) error
	// OnFault, if not nil, is told of every fault that happens to a frame, in order; not of jitter and MTUs.
	OnFault func(Event)
	// OnDeliver, if not nil, sees every frame that is given to a switch (port ≥ 0) or a host (port −1) with its time, in order.
	// It must not change the frame.
	OnDeliver func(at uint64, node, port int, frame []byte, err bool)
}

// maxQuantum bounds a quantum where links are slow, so that OnQuantum comes often enough.
const maxQuantum = 256

// New makes an empty network whose faults follow from seed.
func New(seed uint64) *Net { return &Net{seed: seed, quantum: maxQuantum} }

// Switch is an engine that knows when it is idle; a scoreboard is one.
type Switch interface {
	dut.DUT
	// Idle reports that stopping the engine's clock before its Timers would change nothing. An engine whose timers nobody can see is not
	// idle while they run.
	Idle() bool
}

// deadline is the cycle at which the engine does something by itself if no frame comes before, and which SkipTo must not pass; host.Never
// if nobody knows of any.
func (s *switchNode) deadline() uint64 {
	next, _ := s.Timers()
	return next
}

// AddSwitch adds an engine and returns its number.
func (n *Net) AddSwitch(d Switch) int {
	n.switches = append(n.switches, &switchNode{Switch: d, ports: map[int][]*pipe{}})
	n.now = max(n.now, d.Now())
	return len(n.switches) - 1
}

// AddHost joins a host to a port by a new link and returns the host's number. Several hosts may share a port.
func (n *Net) AddHost(sw, port int, h *host.Host, l *Link) int {
	i := len(n.hosts)
	up, down := n.newLink(end{sw, port}, end{i, -1}, l)
	down.macs = []roce.MAC{h.Config().MAC}
	n.hosts = append(n.hosts, &hostNode{Host: h, out: up, in: down})
	return i
}

// Join joins a port of one switch to a port of another and returns the link's number. Frames for macB go to switch b, frames for
// macA to switch a; a port with one neighbour sends it everything. Two ports that are joined already share the wire: it carries one
// more pair of addresses, and l is not looked at.
func (n *Net) Join(a, portA int, macA roce.MAC, b, portB int, macB roce.MAC, l *Link) int {
	top, bottom := end{a, portA}, end{b, portB}
	i := slices.IndexFunc(n.links, func(l [2]*pipe) bool { return l[0].to == top && l[1].to == bottom })
	if i < 0 {
		i = len(n.links)
		n.newLink(top, bottom, l)
	}
	n.links[i][0].macs = append(n.links[i][0].macs, macA)
	n.links[i][1].macs = append(n.links[i][1].macs, macB)
	return i
}

func (n *Net) newLink(top, bottom end, l *Link) (up, down *pipe) {
	rate := l.BytesPerCycle
	if rate <= 0 {
		rate = 8
	}
	lat := uint64(max(l.Latency, 1))
	n.quantum = min(n.quantum, lat)
	add := func(from, to end, f *Faults, direction uint64) *pipe {
		p := &pipe{link: len(n.links), down: direction == 1, to: to, latency: lat, rate: rate, mtu: l.MTU, faults: f}
		p.seed = splitmix.At(n.seed, 2*uint64(p.link)+direction)
		if from.port >= 0 {
			ports := n.switches[from.node].ports
			ports[from.port] = append(ports[from.port], p)
		}
		return p
	}
	up, down = add(bottom, top, &l.Up, 0), add(top, bottom, &l.Down, 1)
	n.links = append(n.links, [2]*pipe{up, down})
	return up, down
}

// Script adds faults to those that the probabilities make. It may be called before or after links are made.
func (n *Net) Script(events []Event) {
	n.script = map[place][]Event{}
	for _, e := range events {
		at := place{e.Link, e.Down, e.Frame}
		n.script[at] = append(n.script[at], e)
	}
}

// At calls f once, before the quantum that holds the cycle, or before the next one if that has passed; an error ends the run. f may do what
// no frame can: reset a group, kill or revive a host, change faults.
func (n *Net) At(cycle uint64, f func() error) { n.hooks.add(cycle, f) }

// Now is the time in cycles.
func (n *Net) Now() uint64 { return n.now }

// Calm switches all faults off from now on.
func (n *Net) Calm() { n.calm = true }

// InFlight is the number of frames on links.
func (n *Net) InFlight() int { return len(n.flight) }

// out picks the pipe of a switch's port by destination address.
func (s *switchNode) out(port int, data []byte) *pipe {
	pipes := s.ports[port]
	if len(pipes) == 0 {
		return nil
	}
	if len(data) >= 6 {
		for _, p := range slices.Backward(pipes) { // the one joined last, should an address have moved
			if slices.Contains(p.macs, roce.MAC(data[:6])) {
				return p
			}
		}
	}
	if len(pipes) > 1 {
		return nil // on a shared segment nobody listens to an address that is nobody's
	}
	return pipes[0]
}

// Step advances by one quantum.
func (n *Net) Step() error {
	end := n.now + n.quantum
	for _, h := range n.hooks.before(end) { // what these plan comes in the next quantum, or time would stand still
		if err := h.what(); err != nil {
			return err
		}
	}
	n.deliver(end)
	n.busy = n.busy[:0]
	for _, s := range n.switches {
		if s.Idle() && s.deadline() >= end {
			s.SkipTo(end)
		} else {
			n.busy = append(n.busy, s)
		}
	}
	err := n.advance(end)
	for i, s := range n.switches {
		if s.err != nil {
			return fmt.Errorf("switch %d: %w", i, s.err)
		}
		for _, o := range s.Out() {
			if p := s.out(o.Port, o.Data); p != nil {
				n.carry(p.transmit(o.Last, o.Data, o.Err))
			}
		}
	}
	if err != nil {
		return err
	}
	for _, h := range n.hosts {
		for _, f := range h.outbox {
			n.carry(f)
		}
		clear(h.outbox)
		h.outbox = h.outbox[:0]
	}
	n.now = end
	if n.OnQuantum != nil {
		return n.OnQuantum(end)
	}
	return nil
}

// deliver hands out the frames that arrive before end.
func (n *Net) deliver(end uint64) {
	for _, f := range n.flight.before(end) {
		to, data := f.what.p.to, f.what.data
		if n.OnDeliver != nil {
			n.OnDeliver(f.at, to.node, to.port, data, f.what.err)
		}
		if to.port < 0 {
			n.hosts[to.node].inbox = append(n.hosts[to.node].inbox, f)
		} else {
			n.switches[to.node].Offer(to.port, dut.Frame{Data: data, Err: f.what.err, First: f.at})
		}
	}
}

// advance runs the busy engines and all hosts to time end.
func (n *Net) advance(end uint64) error {
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	take := func() {
		for i := int(next.Add(1)) - 1; i < len(n.busy); i = int(next.Add(1)) - 1 {
			n.busy[i].run(end)
		}
	}
	for range min(n.Workers-1, len(n.busy)) {
		wg.Go(take)
	}
	defer wg.Wait() // even if a host panics: whoever recovers may close engines
	var err error
	for i := 0; i < len(n.hosts) && err == nil; i++ {
		err = n.runHost(n.hosts[i], end)
	}
	take()
	return err
}

// ErrPanic means that an engine panicked. The error that wraps it has what it said and the stack.
var ErrPanic = errors.New("panic")

// run brings an engine to time end. A panic becomes its error: it may be in a goroutine that nobody else can recover, and is to be the same
// with any number of workers.
func (s *switchNode) run(end uint64) {
	defer func() {
		if p := recover(); p != nil {
			s.err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
	}()
	s.err = s.StepTo(end)
}

// runHost brings a host to time end: arrivals, timers and transmissions in the order of their times.
func (n *Net) runHost(h *hostNode, end uint64) error {
	t, in := n.now, h.inbox
	for {
		arrival, send := uint64(host.Never), uint64(host.Never)
		if len(in) > 0 {
			arrival = max(in[0].at, t)
		}
		if h.Ready() {
			send = max(h.out.free, t)
		}
		timer := max(h.Deadline(), t)
		switch t = min(arrival, timer, send); {
		case t >= end:
			h.inbox = h.inbox[:0]
			return h.Err()
		case t == arrival:
			if !in[0].what.err {
				h.Receive(t, in[0].what.data)
			}
			in = in[1:]
		case t == timer:
			h.Tick(t)
		default:
			h.outbox = append(h.outbox, h.out.transmit(t, h.Next(t), false))
		}
	}
}

// ErrTimeout means that the condition of Run did not come true in time.
var ErrTimeout = errors.New("not done in time")

// Run steps until done reports true. After limit cycles it gives up with ErrTimeout. While nothing at all can happen before
// a timer or a hook, the clock jumps to it.
func (n *Net) Run(ctx context.Context, limit uint64, done func() bool) error {
	stop := n.now + limit
	for i := 0; !done(); i++ {
		if n.now >= stop {
			return fmt.Errorf("%w: %d cycles", ErrTimeout, limit)
		}
		if i%16 == 0 { // often: a quantum of a large tree of Verilated engines takes milliseconds
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		n.jump(stop)
		if err := n.Step(); err != nil {
			return err
		}
	}
	return nil
}

// jump moves the clock to the next thing that can happen if every engine is idle and no host can send.
func (n *Net) jump(stop uint64) {
	next := min(stop, n.flight.next(), n.hooks.next())
	for _, h := range n.hosts {
		if next = min(next, h.Deadline()); h.Ready() {
			next = min(next, h.out.free)
		}
	}
	for _, s := range n.switches {
		if next < n.now+2*n.quantum || !s.Idle() {
			return
		}
		next = min(next, s.deadline())
	}
	if next < n.now+2*n.quantum {
		return
	}
	n.now = next
	for _, s := range n.switches {
		s.SkipTo(next)
	}
}

// Quiet reports that no frame is on a link, waiting at an engine, or ready at a host, and that no engine's timer runs.
func (n *Net) Quiet() bool {
	busy := func(s *switchNode) bool { return !s.Idle() || s.deadline() != host.Never }
	if len(n.flight) > 0 || slices.ContainsFunc(n.switches, busy) {
		return false
	}
	return !slices.ContainsFunc(n.hosts, func(h *hostNode) bool { return h.Ready() })
}
