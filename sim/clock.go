// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Clock is a clock of a model beside its first. Its rising edges come in their order of time while the model is ticked, each by the timing
// rule of this package: its callbacks see every output as it was just before the edge, and drive inputs just after it. Its falling edges
// mean nothing.
type Clock struct {
	m        *Model
	name     string
	level    []byte
	periodPS float64
	jitterPS float64
	noise    *rand.Rand
	from     float64 // time of the first edge, or of the last start
	edges    uint64  // since then
	at       uint64  // time of the next edge
	stopped  bool
	now      uint64 // rising edges so far
	onSample []func()
	onReact  []func()
	onDrive  []func()
}

// ClockOptions say how a clock runs.
type ClockOptions struct {
	MHz float64
	// PPM is how far it is off, in millionths: what makes the phases of two clocks of one frequency drift.
	PPM float64
	// PhaseNS is the time from now to its first rising edge; 0 is one period.
	PhaseNS float64
	// JitterPS: every edge comes late by a time drawn evenly from 0 to this, less than half a period.
	JitterPS float64
	Seed     uint64 // of the jitter
}

// AddClock makes an input the model's next clock. From here on every cycle of the first clock has the edges of this one that fall into it.
// Tasks on such a model wait for edges of the first clock, and not for falling ones or timers.
func (m *Model) AddClock(name string, o ClockOptions) (*Clock, error) {
	p, err := m.Need(PortSpec{Name: name, Dir: In, Width: 1})
	if err != nil {
		return nil, fmt.Errorf("clock %s: %w", name, err)
	}
	period := 1e6 / o.MHz / (1 + o.PPM/1e6)
	switch {
	case name == m.lib.clock:
		err = errors.New("it is the model's first")
	case !(period >= 2 && period <= maxPeriodNS*1000):
		err = fmt.Errorf("%v MHz, %v ppm off: want a period of %v to %v ns", o.MHz, o.PPM, minPeriodNS, float64(maxPeriodNS))
	case !(o.JitterPS >= 0 && o.JitterPS < period/2):
		err = fmt.Errorf("a jitter of %v ps, want less than half a period", o.JitterPS)
	case !(o.PhaseNS >= 0):
		err = fmt.Errorf("its first edge comes after %v ns, want 0 or more", o.PhaseNS)
	}
	if err != nil {
		return nil, fmt.Errorf("clock %s: %w", name, err)
	}
	c := &Clock{m: m, name: name, level: p.Bytes(), periodPS: period, jitterPS: o.JitterPS, noise: rand.New(rand.NewPCG(o.Seed, uint64(len(m.clocks))))}
	first := o.PhaseNS * 1000
	if first == 0 {
		first = period
	}
	c.begin(float64(m.timePS()) + first)
	m.clocks = append(m.clocks, c)
	if m.kept == nil {
		size := 0
		for _, p := range m.ports {
			if p.spec.Dir == Out {
				size += len(p.Bytes())
			}
		}
		m.kept = make([]byte, 0, size)
	}
	return c, nil
}

// Model returns the model that the clock belongs to.
func (c *Clock) Model() *Model { return c.m }

// Now returns the number of its rising edges so far.
func (c *Clock) Now() uint64 { return c.now }

// PeriodNS returns its period in ns.
func (c *Clock) PeriodNS() float64 { return c.periodPS / 1000 }

// OnSample attaches a callback to the first phase of every edge, as Model.OnSample does for the first clock.
func (c *Clock) OnSample(f func()) { c.onSample = append(c.onSample, f) }

// OnReact attaches a callback to the second phase.
func (c *Clock) OnReact(f func()) { c.onReact = append(c.onReact, f) }

// OnDrive attaches a callback to the third phase.
func (c *Clock) OnDrive(f func()) { c.onDrive = append(c.onDrive, f) }

// Stop lets it stand still, low, from now on.
func (c *Clock) Stop() { c.stopped = true }

// Start lets a stopped clock run again; its next edge comes a period from now.
func (c *Clock) Start() {
	if c.stopped {
		c.stopped = false
		c.begin(float64(c.m.timePS()) + c.periodPS)
	}
}

// begin sets the time of the next edge.
func (c *Clock) begin(ps float64) {
	c.from, c.edges = ps, 0
	c.schedule()
}

// schedule finds the time of the next edge.
func (c *Clock) schedule() {
	late := 0.0
	if c.jitterPS > 0 {
		late = c.jitterPS * c.noise.Float64()
	}
	c.at = uint64(math.Round(c.from + float64(c.edges)*c.periodPS + late))
	c.edges++
}

// edge is one rising edge, outputs sampled just before it.
func (c *Clock) edge() error {
	m, at := c.m, max(c.at, c.m.timePS())
	m.edgePS = at
	if err := m.attend(m.inst.settle(at)); err != nil {
		return err
	}
	m.keep()
	c.level[0] = 1
	if err := m.attend(m.inst.settle(at)); err != nil {
		return err
	}
	m.restore()
	c.now++
	m.dispatch(c.onSample, c.onReact, c.onDrive)
	c.level[0] = 0
	c.schedule()
	return m.err
}

// timePS is the time of the last edge of any clock.
func (m *Model) timePS() uint64 { return max(m.now*m.periodPS, m.edgePS) }

// earliest is the clock whose edge is next and before the time given, nil if there is none.
func (m *Model) earliest(before uint64) *Clock {
	var first *Clock
	for _, c := range m.clocks {
		if !c.stopped && c.at < before && (first == nil || c.at < first.at) {
			first = c
		}
	}
	return first
}

// cycleClocks performs one cycle of the first clock and all edges of the others that fall into it.
func (m *Model) cycleClocks() error {
	begin := m.now * m.periodPS
	next := begin + m.periodPS
	fallen, stale := false, true
	for m.err == nil {
		c := m.earliest(next)
		if !fallen && (c == nil || c.at >= begin+m.periodPS/2) {
			fallen, stale = true, false
			m.attend(m.inst.fall())
			continue
		}
		if c == nil {
			break
		}
		stale = true
		c.edge()
	}
	if m.err == nil && stale { // what the last edge changed belongs to the sample
		m.attend(m.inst.settle(next))
	}
	if m.err != nil {
		return m.err
	}
	m.now++
	return m.attend(m.inst.rise())
}

// keep copies all outputs, restore puts the copies back: an output shows its sample until the next edge of any clock.
func (m *Model) keep() {
	m.kept = m.kept[:0]
	for _, p := range m.ports {
		if p.spec.Dir == Out {
			m.kept = append(m.kept, p.Bytes()...)
		}
	}
}

func (m *Model) restore() {
	from := m.kept
	for _, p := range m.ports {
		if p.spec.Dir == Out {
			from = from[copy(p.Bytes(), from):]
		}
	}
}
