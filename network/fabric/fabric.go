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

	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/dut"
)

type hostNode struct {
	*host.Host
	out, in *pipe
	inbox   []arrival
	outbox  []sent
}

// switchNode is an engine. While a quantum runs it belongs to one goroutine.
type switchNode struct {
	Switch
	ports  map[int][]*pipe
	outbox []sent
	err    error
}

// Net is a network. Make it with New, add nodes, join them, run it.
type Net struct {
	seed     uint64
	switches []*switchNode
	hosts    []*hostNode
	links    [][2]*pipe // up, down
	joined   map[[2]end]int
	script   map[pipeKey]map[uint64][]Event
	workers  int
	busy     []*switchNode // those with something to do in this quantum

	now     uint64
	quantum uint64
	seq     uint64
	flight  arrivals
	calm    bool
	hooks   []hook

	Stats Stats
	// OnQuantum, if not nil, is called after every quantum; an error ends the run.
	OnQuantum func(now uint64) error
	// OnFault, if not nil, is told of every fault that happens to a frame, in order; not of jitter, cut links and MTUs.
	OnFault func(Event)
	// OnDeliver, if not nil, sees every frame that is given to a switch (port ≥ 0) or a host (port −1) with its time, in order.
	// It must not change the frame.
	OnDeliver func(at uint64, node, port int, frame []byte, err bool)
}

// pipeKey names a direction of a link.
type pipeKey struct {
	link int
	down bool
}

// hook is something to do at a time.
type hook struct {
	at uint64
	do func() error
}

// maxQuantum bounds a quantum where links are slow, so that OnQuantum comes often enough.
const maxQuantum = 256

// New makes an empty network whose faults follow from seed.
func New(seed uint64) *Net {
	return &Net{seed: seed, quantum: maxQuantum, workers: 1, joined: map[[2]end]int{}}
}

// Switch is an engine that knows when it is idle; a scoreboard is one.
type Switch interface {
	dut.DUT
	// Idle reports that stopping the engine's clock would change nothing.
	Idle() bool
}

// Timed may be implemented by a Switch with timers that SkipTo moves on. One whose timers count its own clock is not idle while they run.
type Timed interface {
	// Deadline is the cycle at which the engine does something by itself if no frame comes before; host.Never if none.
	Deadline() uint64
}

// deadline is when an engine that is idle acts by itself.
func (s *switchNode) deadline() uint64 {
	if t, ok := s.Switch.(Timed); ok {
		return t.Deadline()
	}
	return host.Never
}

// SetWorkers says how many goroutines advance engines at once; 1, the default, is the caller's own. With more, all hosts still run
// in one goroutine, but at the same time as engines: engines must share nothing that they write, and what a host's functions do
// must not touch an engine. Hooks, OnQuantum, OnFault, OnDeliver and Drop run while nothing else does.
func (n *Net) SetWorkers(k int) { n.workers = max(k, 1) }

// SetQuantum sets the longest quantum, 256 cycles by default; the smallest delay of a link bounds it. A long quantum costs less and
// lets more workers share, but OnQuantum comes more rarely, and hooks as late as the quantum is long.
func (n *Net) SetQuantum(cycles uint64) {
	n.quantum = max(cycles, 1)
	for _, l := range n.links {
		n.quantum = min(n.quantum, l[0].latency)
	}
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
	n.switches[sw].ports[port] = append(n.switches[sw].ports[port], down)
	n.hosts = append(n.hosts, &hostNode{Host: h, out: up, in: down})
	return i
}

// HostLink is the number of a host's link.
func (n *Net) HostLink(i int) int { return n.hosts[i].out.link }

// ReplaceHost puts another host in the place of one, on the same link: the machine came back with a new connection. What is on its
// way to the old one reaches the new one.
func (n *Net) ReplaceHost(i int, h *host.Host) {
	n.hosts[i].Host = h
	n.hosts[i].in.macs = []roce.MAC{h.Config().MAC}
}

// Join joins a port of one switch to a port of another and returns the link's number. Frames for macB go to switch b, frames for
// macA to switch a; a port with one neighbour sends it everything. Two ports that are joined already share the wire: it carries one
// more pair of addresses, and l is not looked at.
func (n *Net) Join(a, portA int, macA roce.MAC, b, portB int, macB roce.MAC, l *Link) int {
	ends := [2]end{{a, portA}, {b, portB}}
	i, ok := n.joined[ends]
	if !ok {
		up, down := n.newLink(ends[0], ends[1], l)
		i = up.link
		n.joined[ends] = i
		n.switches[b].ports[portB] = append(n.switches[b].ports[portB], up)
		n.switches[a].ports[portA] = append(n.switches[a].ports[portA], down)
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
	i := len(n.links)
	make := func(to end, f *Faults, isDown bool) *pipe {
		key := pipeKey{i, isDown}
		return &pipe{link: i, down: isDown, to: to, latency: lat, rate: rate, mtu: l.MTU, faults: f, seed: key.seed(n.seed), script: n.script[key]}
	}
	up, down = make(top, &l.Up, false), make(bottom, &l.Down, true)
	n.links = append(n.links, [2]*pipe{up, down})
	return up, down
}

// seed spreads a direction's seed over all bits, so that neighbours have nothing in common (splitmix64).
func (k pipeKey) seed(seed uint64) uint64 {
	x := seed + 0x9E3779B97F4A7C15*uint64(2*k.link+1)
	if k.down {
		x += 0x9E3779B97F4A7C15
	}
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Links is the number of links.
func (n *Net) Links() int { return len(n.links) }

// Cut loses every frame on a link in both directions, or lets them pass again. Frames that are on their way arrive.
func (n *Net) Cut(link int, cut bool) {
	for _, p := range n.links[link] {
		p.cut = cut
	}
}

// Script adds faults to those that the probabilities make. It may be called before or after links are made.
func (n *Net) Script(events []Event) {
	n.script = map[pipeKey]map[uint64][]Event{}
	for _, e := range events {
		k := pipeKey{e.Link, e.Down}
		if n.script[k] == nil {
			n.script[k] = map[uint64][]Event{}
		}
		n.script[k][e.Frame] = append(n.script[k][e.Frame], e)
	}
	for _, l := range n.links {
		for _, p := range l {
			p.script = n.script[pipeKey{p.link, p.down}]
		}
	}
}

// At calls f once, before the quantum that holds the cycle, or before the next one if that has passed; an error ends the run. f may do what
// no frame can: reset a group, kill or replace a host, cut a link, change faults.
func (n *Net) At(cycle uint64, f func() error) {
	i := len(n.hooks)
	for i > 0 && n.hooks[i-1].at > cycle {
		i--
	}
	n.hooks = slices.Insert(n.hooks, i, hook{cycle, f})
}

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
	due := 0
	for due < len(n.hooks) && n.hooks[due].at < end {
		due++
	}
	now := slices.Clone(n.hooks[:due])
	n.hooks = n.hooks[due:] // what these plan comes in the next quantum, or time would stand still
	for _, h := range now {
		if err := h.do(); err != nil {
			return err
		}
	}
	n.deliver(end)
	n.busy = n.busy[:0]
	for _, s := range n.switches {
		if s.Idle() && s.deadline() >= end {
			s.SkipTo(end)
			continue
		}
		n.busy = append(n.busy, s)
	}
	err := n.advance(end)
	for i, s := range n.switches {
		if s.err != nil {
			return fmt.Errorf("switch %d: %w", i, s.err)
		}
		n.merge(&s.outbox)
	}
	if err != nil {
		return err
	}
	for _, h := range n.hosts {
		n.merge(&h.outbox)
	}
	n.now = end
	if n.OnQuantum != nil {
		return n.OnQuantum(end)
	}
	return nil
}

// deliver hands out the frames that arrive before end.
func (n *Net) deliver(end uint64) {
	for len(n.flight) > 0 && n.flight[0].at < end {
		a := n.flight.pop()
		if n.OnDeliver != nil {
			n.OnDeliver(a.at, a.to.node, a.to.port, a.data, a.err)
		}
		if a.to.port < 0 {
			n.hosts[a.to.node].inbox = append(n.hosts[a.to.node].inbox, a)
			continue
		}
		n.switches[a.to.node].Offer(a.to.port, dut.Frame{Data: a.data, Err: a.err, First: a.at})
	}
}

// advance runs the busy engines and all hosts to time end.
func (n *Net) advance(end uint64) error {
	if helpers := min(n.workers-1, len(n.busy)); helpers > 0 {
		var (
			next atomic.Int64
			wg   sync.WaitGroup
		)
		take := func() {
			for i := int(next.Add(1)) - 1; i < len(n.busy); i = int(next.Add(1)) - 1 {
				n.busy[i].run(end)
			}
		}
		for range helpers {
			wg.Go(take)
		}
		defer wg.Wait() // even if a host panics: whoever recovers may close engines
		err := n.runHosts(end)
		take()
		return err
	}
	for _, s := range n.busy {
		s.run(end)
	}
	return n.runHosts(end)
}

// ErrPanic means that an engine panicked. The error that wraps it has what it said and the stack.
var ErrPanic = errors.New("panic")

// run brings an engine to time end and collects what it sent. A panic becomes its error: it may be in a goroutine that nobody else can
// recover, and is to be the same with any number of workers.
func (s *switchNode) run(end uint64) {
	defer func() {
		if p := recover(); p != nil {
			s.err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
	}()
	if s.err = s.StepTo(end); s.err != nil {
		return
	}
	for _, o := range s.Out() {
		if p := s.out(o.Port, o.Data); p != nil {
			s.outbox = append(s.outbox, sent{p, p.transmit(o.Last, len(o.Data)), o.Data, o.Err})
		}
	}
}

func (n *Net) runHosts(end uint64) error {
	for _, h := range n.hosts {
		if err := n.runHost(h, end); err != nil {
			return err
		}
	}
	return nil
}

// merge puts what a node sent on the links.
func (n *Net) merge(box *[]sent) {
	for i := range *box {
		n.carry((*box)[i])
		(*box)[i] = sent{}
	}
	*box = (*box)[:0]
}

// runHost brings a host to time end: arrivals, timers and transmissions in the order of their times.
func (n *Net) runHost(h *hostNode, end uint64) error {
	t, in := n.now, h.inbox
	for {
		next, what := end, 0
		if len(in) > 0 && max(in[0].at, t) < next {
			next, what = max(in[0].at, t), 1
		}
		if d := max(h.Deadline(), t); d < next {
			next, what = d, 2
		}
		if h.Ready() {
			if x := max(h.out.free, t); x < next {
				next, what = x, 3
			}
		}
		switch what {
		case 0:
			h.inbox = h.inbox[:0]
			return h.Err()
		case 1:
			if !in[0].err {
				h.Receive(next, in[0].data)
			}
			in = in[1:]
		case 2:
			h.Tick(next)
		case 3:
			data := h.Next(next)
			h.outbox = append(h.outbox, sent{h.out, h.out.transmit(next, len(data)), data, false})
		}
		t = next
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
	next := stop
	if len(n.flight) > 0 {
		next = min(next, n.flight[0].at)
	}
	if len(n.hooks) > 0 {
		next = min(next, n.hooks[0].at)
	}
	if next < n.now+2*n.quantum {
		return
	}
	for _, h := range n.hosts {
		if h.Ready() {
			next = min(next, h.out.free)
		}
		next = min(next, h.Deadline())
	}
	if next < n.now+2*n.quantum {
		return
	}
	for _, s := range n.switches {
		if !s.Idle() {
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
	if len(n.flight) > 0 {
		return false
	}
	for _, s := range n.switches {
		if !s.Idle() || s.deadline() != host.Never {
			return false
		}
	}
	for _, h := range n.hosts {
		if h.Ready() {
			return false
		}
	}
	return true
}
