// SPDX-License-Identifier: Apache-2.0

package axis

import (
	"fmt"

	"incforge/sim"
)

// MAC stands at a port in place of an Ethernet MAC and its line. It behaves as those do that have no patience: AMD's CMAC and open ones. Frames
// from the line come at the line's rate whether anybody is ready or not, a beat as soon as the line has brought its bytes. Frames to the line
// are taken as fast as the interface goes until a small buffer is full, which empties at the line's rate; a frame that has begun must not stop,
// or the MAC runs dry and the line gets half a frame.
type MAC struct {
	// In sends to the model what comes from the line, Out takes what goes there.
	In  *Source
	Out *Sink

	clk       *sim.Clock
	rate      float64 // bytes of the line in a cycle
	next      float64 // cycle in which the line has brought the next beat
	level     float64 // bytes in the buffer toward the line
	inside    bool    // a frame to the line has begun
	reset     bool    // reset was high since the edge before, perhaps for less than a cycle of this clock
	underruns uint64
	overruns  uint64
}

const (
	// lineGap is what a frame has on the line beside its bytes: preamble, FCS and the least gap.
	lineGap = 8 + 4 + 12
	// macBuffer is how many beats a MAC keeps toward the line.
	macBuffer = 4
)

// NewMAC puts a MAC of so many Gbit/s at the interfaces of a model, in one of its clocks.
func NewMAC(c *sim.Clock, in, out string, gbit float64) (*MAC, error) {
	m := &MAC{clk: c, rate: gbit / 8 * c.PeriodNS()}
	data, err := c.Model().Port(in + "_tdata")
	if err != nil {
		return nil, fmt.Errorf("a MAC at %s: %w", in, err)
	}
	if width := data.Width() / 8; m.rate > float64(width) {
		return nil, fmt.Errorf("a MAC at %s: the line brings %.1f bytes a cycle, the interface has %d", in, m.rate, width)
	}
	if m.In, err = NewSourceOn(c, in); err != nil {
		return nil, err
	}
	if m.Out, err = NewSinkOn(c, out); err != nil {
		return nil, err
	}
	m.In.SetPause(m.bring)
	m.Out.SetPause(m.full)
	if rst := m.In.rst; rst != nil {
		c.Model().OnSample(func() { m.reset = m.reset || *rst != 0 })
	}
	c.OnSample(m.watch)
	return m, nil
}

// Underruns counts frames to the line that stopped inside.
func (m *MAC) Underruns() uint64 { return m.underruns }

// Overruns counts beats from the line for which nobody was ready.
func (m *MAC) Overruns() uint64 { return m.overruns }

// bring holds a beat back until the line has brought it.
func (m *MAC) bring() bool {
	now := float64(m.clk.Now())
	if now < m.next {
		return true
	}
	f := m.In.at(0)
	rest := len(f.Data) - m.In.offset
	n := min(rest, len(m.In.data))
	if rest == n {
		n += lineGap
	}
	m.next = max(m.next, now-1) + float64(n)/m.rate
	return false
}

// full holds back while the buffer toward the line has no room for a beat.
func (m *MAC) full() bool { return m.level > float64((macBuffer-1)*len(m.Out.data)) }

// watch moves the line on, and sees what no MAC forgives.
func (m *MAC) watch() {
	m.level = max(0, m.level-m.rate)
	if m.reset || m.In.inReset() {
		m.inside, m.reset = false, false
		return
	}
	if *m.In.valid != 0 && *m.In.ready == 0 {
		m.overruns++
	}
	switch {
	case *m.Out.valid != 0 && *m.Out.ready != 0:
		n, _ := m.Out.kept()
		m.level += float64(n)
		if m.inside = !m.Out.isLast(); !m.inside {
			m.level += lineGap
		}
	case m.inside && *m.Out.valid == 0 && *m.Out.ready != 0:
		m.underruns++
	}
}
