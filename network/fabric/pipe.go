// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"slices"

	"incforge/network/host"
	"incforge/roce"
)

// Link is what a link looks like in both directions. Up goes towards the switch named first in Join.
type Link struct {
	// Latency is the time from a frame's last byte out to its first byte in, in cycles, at least 1.
	Latency int `yaml:"latency"`
	// BytesPerCycle is the bandwidth; 0 means 8.
	BytesPerCycle float64 `yaml:"bytes_per_cycle"`
	// MTU is the longest IP datagram in bytes: longer frames are lost and counted. 0 means no limit.
	MTU  int    `yaml:"-"`
	Up   Faults `yaml:"up,omitempty"`
	Down Faults `yaml:"down,omitempty"`
}

// Stats counts what the links did.
type Stats struct {
	Frames, Lost, Duplicated, Reordered, Corrupted int
	// TooLong counts frames above a link's MTU; they are not in Lost.
	TooLong int
}

// frame is a frame on a pipe. With it goes when it is all there.
type frame struct {
	p    *pipe
	data []byte
	err  bool
}

// end is a port of a switch, or a host (port −1).
type end struct{ node, port int }

// pipe is one direction of a link.
type pipe struct {
	link    int
	down    bool
	to      end
	macs    []roce.MAC // frames for these addresses go here; the only pipe of a port takes all
	latency uint64
	rate    float64
	mtu     int
	faults  *Faults
	seed    uint64

	bad    bool   // in a burst of losses
	frames uint64 // sent so far
	free   uint64 // the transmitter is free again
	last   uint64 // latest arrival so far, to keep the order
}

// transmit takes the time of one frame that can start at ready; it comes with when it is all there if nothing happens to it.
func (p *pipe) transmit(ready uint64, data []byte, err bool) timed[frame] {
	p.free = max(ready, p.free) + uint64(float64(len(data)+host.WireOverhead)/p.rate) + 1
	return timed[frame]{p.free + p.latency, frame{p, data, err}}
}

// carry decides what becomes of a frame. It is called in one order, whatever the number of workers.
func (n *Net) carry(f timed[frame]) {
	due, s := f.at, f.what
	p := s.p
	at := place{p.link, p.down, p.frames}
	p.frames++
	n.Stats.Frames++
	if p.mtu > 0 && len(s.data)-ethernetHeader > p.mtu {
		n.Stats.TooLong++
		return
	}
	var x fate
	if !n.calm {
		x = p.fate(at, s.data, n.script[at])
	}
	if n.hits(x.hit[Lose], &n.Stats.Lost) {
		return
	}
	due += x.jitter
	if e := x.hit[Duplicate]; n.hits(e, &n.Stats.Duplicated) {
		n.flight.add(due+e.Delay, frame{p, slices.Clone(s.data), s.err})
	}
	if e := x.hit[Corrupt]; n.hits(e, &n.Stats.Corrupted) {
		s.data = slices.Clone(s.data)
		for _, b := range e.Bits {
			if b < 8*len(s.data) {
				s.data[b/8] ^= 1 << (b % 8)
			}
		}
		s.err = s.err || e.Flag
	}
	if e := x.hit[Reorder]; n.hits(e, &n.Stats.Reordered) {
		due += e.Delay
	} else {
		due = max(due, p.last)
		p.last = due
	}
	n.flight.add(due, s)
}

const ethernetHeader = 14

// hits reports that there is such an event; it is counted, and whoever records faults is told.
func (n *Net) hits(e *Event, count *int) bool {
	if e == nil {
		return false
	}
	*count++
	if n.OnFault != nil {
		n.OnFault(*e)
	}
	return true
}
