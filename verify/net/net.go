// SPDX-License-Identifier: Apache-2.0

// Package net joins engines and hosts by links with a bandwidth, a delay and seeded faults, and runs them on one clock.
//
// The scheduler advances in quanta no longer than the smallest link delay: within a quantum nothing that one node sends
// can reach another, so the order in which nodes are run does not matter and the same seed gives the same run.
package net

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/host"
)

// Faults are what one direction of a link does to frames. Probabilities are per frame, 0 to 1.
type Faults struct {
	Loss, Duplicate, Reorder, Corrupt float64
	// Jitter is the largest extra delay of any frame in cycles; it does not change the order.
	Jitter int
	// ReorderDelay is how far behind a reordered or duplicated frame may come, in cycles; 0 means 1000.
	ReorderDelay int
	// FlagErrors delivers corrupted frames to engines with the error bit set, as a MAC with an FCS check would.
	FlagErrors float64
	// Drop, if not nil, decides on a frame before the coins do; true loses it.
	Drop func(frame []byte) bool
}

// Link is what a link looks like in both directions. Up goes towards the switch named first in Join.
type Link struct {
	// Latency is the time from a frame's last byte out to its first byte in, in cycles, at least 1.
	Latency int
	// BytesPerCycle is the bandwidth; 0 means 8.
	BytesPerCycle float64
	Up, Down      Faults
}

// Stats counts what the links did.
type Stats struct {
	Frames, Lost, Duplicated, Reordered, Corrupted int
}

// arrival is a frame on its way.
type arrival struct {
	at   uint64
	seq  uint64
	to   end
	data []byte
	err  bool
}

type arrivals []arrival

func (a arrivals) Len() int { return len(a) }
func (a arrivals) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a arrivals) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *arrivals) Push(x any)   { *a = append(*a, x.(arrival)) }
func (a *arrivals) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

// end is a port of a switch, or a host (port −1).
type end struct{ node, port int }

// pipe is one direction of a link.
type pipe struct {
	to      end
	mac     roce.MAC // frames for this address go here; the only pipe of a port takes all
	latency uint64
	rate    float64
	faults  *Faults
	free    uint64 // the transmitter is free again
	last    uint64 // latest arrival so far, to keep the order
}

type hostNode struct {
	*host.Host
	out *pipe
}

// Net is a network. Make it with New, add nodes, join them, run it.
type Net struct {
	rng   *rand.Rand
	duts  []Switch
	ports []map[int][]*pipe // per switch and port
	hosts []*hostNode

	now     uint64
	quantum uint64
	seq     uint64
	flight  arrivals
	calm    bool
	Stats   Stats
	// OnQuantum, if not nil, is called after every quantum; an error ends the run.
	OnQuantum func(now uint64) error
}

// New makes an empty network whose faults follow from seed.
func New(seed uint64) *Net {
	return &Net{rng: rand.New(rand.NewPCG(seed, 0x6e6574)), quantum: 64}
}

// Switch is an engine that knows when it is idle; a scoreboard is one.
type Switch interface {
	dut.DUT
	// Idle reports that stopping the engine's clock would change nothing.
	Idle() bool
}

// AddSwitch adds an engine and returns its number.
func (n *Net) AddSwitch(d Switch) int {
	n.duts = append(n.duts, d)
	n.ports = append(n.ports, map[int][]*pipe{})
	n.now = max(n.now, d.Now())
	return len(n.duts) - 1
}

// AddHost joins a host to a port and returns its number. Several hosts may share a port.
func (n *Net) AddHost(sw, port int, h *host.Host, l *Link) int {
	i := len(n.hosts)
	n.ports[sw][port] = append(n.ports[sw][port], n.pipe(end{i, -1}, l, &l.Down, h.Config().MAC))
	n.hosts = append(n.hosts, &hostNode{Host: h, out: n.pipe(end{sw, port}, l, &l.Up, roce.MAC{})})
	return i
}

// Join joins a port of one switch to a port of another. Frames for macB go to switch b, frames for macA to switch a; a port
// with one neighbour sends it everything.
func (n *Net) Join(a, portA int, macA roce.MAC, b, portB int, macB roce.MAC, l *Link) {
	n.ports[b][portB] = append(n.ports[b][portB], n.pipe(end{a, portA}, l, &l.Up, macA))
	n.ports[a][portA] = append(n.ports[a][portA], n.pipe(end{b, portB}, l, &l.Down, macB))
}

func (n *Net) pipe(to end, l *Link, f *Faults, mac roce.MAC) *pipe {
	rate := l.BytesPerCycle
	if rate <= 0 {
		rate = 8
	}
	lat := uint64(max(l.Latency, 1))
	n.quantum = min(n.quantum, lat)
	return &pipe{to: to, mac: mac, latency: lat, rate: rate, faults: f}
}

// Now is the time in cycles.
func (n *Net) Now() uint64 { return n.now }

// Calm switches all faults off from now on.
func (n *Net) Calm() { n.calm = true }

// InFlight is the number of frames on links.
func (n *Net) InFlight() int { return len(n.flight) }

// send puts a frame on a pipe; ready is the earliest cycle at which it can start.
func (n *Net) send(p *pipe, ready uint64, data []byte, err bool) {
	start := max(ready, p.free)
	p.free = start + uint64(float64(len(data)+24)/p.rate) + 1 // 24: preamble, FCS, gap
	at := p.free + p.latency
	n.Stats.Frames++
	f := p.faults
	if n.calm {
		f = &Faults{}
	}
	coin := func(prob float64) bool { return prob > 0 && n.rng.Float64() < prob }
	late := func() uint64 {
		d := f.ReorderDelay
		if d <= 0 {
			d = 1000
		}
		return 1 + n.rng.Uint64N(uint64(d))
	}
	if f.Drop != nil && f.Drop(data) || coin(f.Loss) {
		n.Stats.Lost++
		return
	}
	if f.Jitter > 0 {
		at += n.rng.Uint64N(uint64(f.Jitter) + 1)
	}
	if coin(f.Duplicate) {
		n.Stats.Duplicated++
		n.push(arrival{at: at + late(), to: p.to, data: append([]byte(nil), data...), err: err})
	}
	if coin(f.Corrupt) {
		n.Stats.Corrupted++
		data = append([]byte(nil), data...)
		for k := 1 + n.rng.IntN(3); k > 0; k-- { // CRC-32 finds up to three flips in any frame of this length
			bit := n.rng.IntN(8 * len(data))
			data[bit/8] ^= 1 << (bit % 8)
		}
		err = err || coin(f.FlagErrors)
	}
	if coin(f.Reorder) {
		n.Stats.Reordered++
		at += late()
	} else {
		at = max(at, p.last)
		p.last = at
	}
	n.push(arrival{at: at, to: p.to, data: data, err: err})
}

func (n *Net) push(a arrival) {
	n.seq++
	a.seq = n.seq
	heap.Push(&n.flight, a)
}

// out picks the pipe of a switch's port by destination address.
func (n *Net) out(sw, port int, data []byte) *pipe {
	pipes := n.ports[sw][port]
	if len(pipes) == 0 {
		return nil
	}
	if len(data) >= 6 {
		for _, p := range slices.Backward(pipes) { // the one joined last, should an address have moved
			if p.mac == roce.MAC(data[:6]) {
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
	inbox := make([][]arrival, len(n.hosts))
	for len(n.flight) > 0 && n.flight[0].at < end {
		a := heap.Pop(&n.flight).(arrival)
		if a.to.port < 0 {
			inbox[a.to.node] = append(inbox[a.to.node], a)
			continue
		}
		n.duts[a.to.node].Offer(a.to.port, dut.Frame{Data: a.data, Err: a.err, At: a.at})
	}
	for i, d := range n.duts {
		if d.Idle() {
			d.SkipTo(end)
			continue
		}
		if err := d.StepTo(end); err != nil {
			return fmt.Errorf("switch %d: %w", i, err)
		}
		for _, o := range d.Out() {
			if p := n.out(i, o.Port, o.Data); p != nil {
				n.send(p, o.Last, o.Data, o.Err)
			}
		}
	}
	for i, h := range n.hosts {
		if err := n.runHost(h, inbox[i], end); err != nil {
			return err
		}
	}
	n.now = end
	if n.OnQuantum != nil {
		return n.OnQuantum(end)
	}
	return nil
}

// runHost brings a host to time end: arrivals, timers and transmissions in the order of their times.
func (n *Net) runHost(h *hostNode, in []arrival, end uint64) error {
	t := n.now
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
			return h.Err()
		case 1:
			if !in[0].err {
				h.Receive(next, in[0].data)
			}
			in = in[1:]
		case 2:
			h.Tick(next)
		case 3:
			n.send(h.out, next, h.Next(next), false)
		}
		t = next
	}
}

// ErrTimeout means that the condition of Run did not come true in time.
var ErrTimeout = errors.New("not done in time")

// Run steps until done reports true. After limit cycles it gives up with ErrTimeout. While nothing at all can happen before
// a timer, the clock jumps to it.
func (n *Net) Run(ctx context.Context, limit uint64, done func() bool) error {
	stop := n.now + limit
	for i := 0; !done(); i++ {
		if n.now >= stop {
			return fmt.Errorf("%w: %d cycles", ErrTimeout, limit)
		}
		if i%256 == 0 {
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
	for _, h := range n.hosts {
		if h.Ready() {
			next = min(next, h.out.free)
		}
		next = min(next, h.Deadline())
	}
	if next < n.now+2*n.quantum {
		return
	}
	for _, d := range n.duts {
		if !d.Idle() {
			return
		}
	}
	n.now = next
	for _, d := range n.duts {
		d.SkipTo(next)
	}
}

// Quiet reports that no frame is on a link, waiting at an engine, or ready at a host.
func (n *Net) Quiet() bool {
	if len(n.flight) > 0 {
		return false
	}
	for _, d := range n.duts {
		if !d.Idle() {
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
