// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"math"
	"slices"
)

const (
	// engineLag is how many cycles at most a word of a frame comes late, counted from the first with payload, which may wait long behind the header, and beyond
	// CyclesPerBeat for each since then. No word of a scenario ever was (docs/ports.md); two are to spare, and two more where sums are corrected first.
	engineLag, eccLag = 2, 2
	// payloadFrom is the byte with which payload begins at the latest, in a frame without a tag.
	payloadFrom = 58
	// tagBytes is the length of an 802.1Q tag.
	tagBytes = 4
)

// portWordCycles is how many cycles of the engine the fastest port takes at least to send a word of the bus.
func (p Params) portWordCycles() float64 {
	c := p.Contract()
	least := math.Inf(1)
	for i := range max(p.Ports, 1) {
		cycles := float64(p.BusBytes) / float64(c.PortWidth(i))
		if mhz := c.PortMHz(i); mhz > 0 {
			cycles *= float64(p.ClockMHz) / mhz
		}
		least = min(least, cycles)
	}
	return least
}

// cutStart is the number of a frame's words with which it may begin to leave by any port, so that none that follows comes too late. With h + x words there, of which
// the one numbered h has the first payload, x cycles at least have passed since that came; word k of the rest comes s·(k − h) + lag cycles behind it at the latest, and
// the port asks for it r·k cycles after it began. What crosses to another clock may be seen a cycle of that clock late; clocks that are 200 millionths apart, as
// IEEE 802.3 has it, take less than a cycle from a frame.
func (p Params) cutStart() int {
	if !p.PortCutThrough {
		return 0
	}
	first := payloadFrom
	if p.VLAN {
		first += tagBytes
	}
	h, r, s := first/p.BusBytes, p.portWordCycles(), float64(p.Contract().CyclesPerBeat())
	lag := float64(engineLag)
	if p.ECC {
		lag += eccLag
	}
	if len(p.PortClockMHz) > 0 {
		lag += 1 + float64(p.ClockMHz)/slices.Min(p.PortClockMHz)
	}
	x := max(1, math.Ceil((lag+1-r*float64(h))/(1+r-s)))
	return min(h+int(x), p.Contract().Beats(p.Contract().PortFrameBytes()))
}

// cutThrough looks at what frames need that leave before they are whole.
func (c *checker) cutThrough() {
	const key = "port_cut_through"
	p := c.p
	if !p.PortCutThrough || !c.ok(key) {
		return
	}
	switch {
	case p.PortBytes == 0 && c.ok("port_bytes"):
		c.refuse(key, "true", "false without port_bytes", "a port without queues stores no frame")
	case p.Mode == 1 && c.ok("mode"):
		c.refuse(key, "true", "false with mode 1", "nobody has said how late a word of a message's packet may come")
	case p.Accumulate == Reproducible && c.ok("accumulate"):
		c.refuse(key, "true", fmt.Sprintf("false with accumulate: %s", p.Accumulate), "a row of a tree takes as many cycles as it has pairs, and a port would run dry")
	case p.PayloadBanks > 1 && c.ok("payload_banks"):
		c.refuse(key, "true", fmt.Sprintf("false with payload_banks: %d", p.PayloadBanks), "a word waits for the bank that is being written, and a port would run dry")
	case c.ok("port_bytes", "port_widths", "ports", "bus_bytes", "port_clock_mhz", "clock_mhz", "lanes", "accumulate", "dtypes", "mode") && p.PortBytes > 0 && p.PortBytes <= p.BusBytes &&
		(len(p.PortWidths) == 0 || len(p.PortWidths) == p.Ports) && (len(p.PortClockMHz) <= 1 || len(p.PortClockMHz) == p.Ports):
		if r, s := p.portWordCycles(), p.Contract().CyclesPerBeat(); r < float64(s) {
			c.refuse(key, "true", "false with these widths and clocks", fmt.Sprintf(
				"the engine may take %d cycles for a word of %d bytes, and a port sends one in %.4g: it would run dry", s, p.BusBytes, r))
		}
	}
}
