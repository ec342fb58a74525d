// SPDX-License-Identifier: Apache-2.0

package dut

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"incforge/contract"
	"incforge/internal/fail"
	"incforge/sim"
	"incforge/sim/axis"
)

// portClock is the clock of a port that has one of its own.
type portClock struct {
	*sim.Clock
	ratio float64 // cycles of the engine's clock a cycle of this one
}

// portPPM is how far a port's clock may be off, in millionths: what IEEE 802.3 allows.
const portPPM = 100

// addClocks makes the ports' clocks, each a little off and from a phase of its own, so that phases drift.
func (d *RTL) addClocks(seed uint64) {
	d.clocks = make([]*portClock, len(d.queued))
	if d.core || len(d.man.Params.PortClockMHz) == 0 {
		return
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	for p := range d.clocks {
		mhz := d.man.Params.PortMHz(p)
		c := fail.Must(d.model.AddClock(contract.PortClock(p), sim.ClockOptions{
			MHz: mhz, PPM: portPPM * (2*rnd.Float64() - 1), PhaseNS: 1000 / mhz * (0.01 + 0.99*rnd.Float64()), Seed: seed + uint64(p)}))
		d.clocks[p] = &portClock{Clock: c, ratio: c.PeriodNS() / d.model.PeriodNS()}
	}
}

// streams makes what drives and takes the streams of that name, in the clock of port i if it has one.
func (d *RTL) streams(i int, name string) (*axis.Source, *axis.Sink) {
	if c := d.clocks[i]; c != nil {
		return fail.Must(axis.NewSourceOn(c.Clock, "s_axis"+name)), fail.Must(axis.NewSinkOn(c.Clock, "m_axis"+name))
	}
	return fail.Must(axis.NewSource(d.model, "s_axis"+name)), fail.Must(axis.NewSink(d.model, "m_axis"+name))
}

// at is the cycle of Now in which cycle n of port i was.
func (d *RTL) at(i int, n uint64) uint64 {
	if c := d.clocks[i]; c != nil {
		return d.Now() - min(d.Now(), uint64(float64(c.Now()-n)*c.ratio))
	}
	return n + d.offset
}

// until is the cycle of port i that is not before cycle n of Now; 0 if that has passed.
func (d *RTL) until(i int, n uint64) uint64 {
	switch c := d.clocks[i]; {
	case n <= d.offset || c != nil && n <= d.Now():
		return 0
	case c != nil:
		return c.Now() + uint64(float64(n-d.Now())/c.ratio)
	default:
		return n - d.offset
	}
}

// gapless fails the run when a frame that has begun to leave by port i stops inside: a MAC would have run dry.
func (d *RTL) gapless(i int, name string) {
	valid, ready, last := d.tvalid[i], fail.Must(d.model.Port("m_axis"+name+"_tready")), fail.Must(d.model.Port("m_axis"+name+"_tlast"))
	inside, quiet := false, uint64(0)
	look := func(now uint64) {
		switch {
		case d.rst.Bool():
			quiet = now + 2 // of a port's clock, until the beat is gone
			inside = false
		case now <= quiet:
		case valid.Bool():
			inside = !(ready.Bool() && last.Bool())
		case inside:
			d.fail(fmt.Errorf("port %d has a gap in a frame that leaves, in cycle %d", i, d.Now()))
		}
	}
	if c := d.clocks[i]; c != nil {
		c.OnSample(func() {
			if n := d.quietUntil[i]; c.Now() <= n || c.Now() == n+1 { // a slow clock may have no edge while the engine's reset is high
				inside = false
				return
			}
			look(c.Now())
		})
		return
	}
	d.model.OnSample(func() { look(d.model.Now()) })
}

// pauses finds what pauses the ports.
func (d *RTL) pauses() {
	names := []string{"port_pause"}
	if d.clocks[0] != nil {
		names = nil
		for p := range d.clocks {
			names = append(names, "port_pause_p"+strconv.Itoa(p))
		}
	}
	for _, name := range names {
		pin := fail.Must(d.model.Port(name))
		clear(pin.Bytes())
		d.pause = append(d.pause, pin)
	}
}

// Pause pauses priorities of a port.
func (d *RTL) Pause(port int, priorities uint32) bool {
	if len(d.pause) == 0 {
		return false
	}
	n := d.man.Params.PriorityCount()
	pin, from := d.pause[0], port*n
	if len(d.pause) > 1 {
		pin, from = d.pause[port], 0
	}
	bytes := pin.Bytes()
	for k := range n {
		at, bit := (from+k)/8, byte(1)<<((from+k)%8)
		bytes[at] &^= bit
		if priorities>>k&1 != 0 {
			bytes[at] |= bit
		}
	}
	return true
}

// watchQueues looks at the ends of frames that the ports' queues report.
func (d *RTL) watchQueues() {
	if d.clocks[0] == nil {
		end, drop := fail.Must(d.model.Port("mon_rx_end")), fail.Must(d.model.Port("mon_rx_drop"))
		d.model.OnReact(func() {
			if end.Uint64() == 0 || d.rst.Bool() {
				return
			}
			for p := range d.queued {
				if end.Uint64()>>p&1 != 0 {
					d.onEnd(p, drop.Uint64()>>p&1 != 0)
				}
			}
		})
		return
	}
	for p, c := range d.clocks {
		end, drop := fail.Must(d.model.Port("mon_rx_end_p"+strconv.Itoa(p))), fail.Must(d.model.Port("mon_rx_drop_p"+strconv.Itoa(p)))
		c.OnReact(func() {
			if end.Bool() && !d.rst.Bool() && c.Now() > d.quietUntil[p] {
				d.onEnd(p, drop.Bool())
			}
		})
	}
}

// onEnd takes a frame that a port's queue dropped off the list: each frame's end is reported in the order in which frames came.
func (d *RTL) onEnd(p int, dropped bool) {
	switch {
	case d.kept[p] >= d.sent[p]:
		d.fail(fmt.Errorf("mon_rx_end reports the end of a frame of port %d in cycle %d, but none was sent", p, d.Now()))
	case !dropped:
		d.kept[p]++
	default:
		d.queued[p] = slices.Delete(d.queued[p], d.kept[p], d.kept[p]+1)
		d.sent[p]--
		d.moved = d.model.Now()
	}
}

// Trouble has something be wrong with what is at a port.
func (d *RTL) Trouble(port int, what Trouble) bool {
	src, c := d.srcs[port%len(d.srcs)], d.clocks[port%len(d.clocks)]
	switch {
	case what == Sound:
		src.SetPause(nil)
		if c != nil {
			c.Start()
		}
	case what == Hangs && d.queues():
		last := src.Beats() + 2
		src.SetPause(func() bool { return src.Beats() >= last })
	case what == StandsStill && c != nil:
		c.Stop()
	default:
		return false
	}
	return true
}
