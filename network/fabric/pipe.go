// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"slices"

	"incforge/roce"
)

// Link is what a link looks like in both directions. Up goes towards the switch named first in Join.
type Link struct {
	// Latency is the time from a frame's last byte out to its first byte in, in cycles, at least 1.
	Latency int
	// BytesPerCycle is the bandwidth; 0 means 8.
	BytesPerCycle float64
	// MTU is the longest IP datagram in bytes: longer frames are lost and counted. 0 means no limit.
	MTU      int
	Up, Down Faults
}

// Stats counts what the links did.
type Stats struct {
	Frames, Lost, Duplicated, Reordered, Corrupted int
	// TooLong counts frames above a link's MTU, Cut those lost on a link that was cut; neither is in Lost.
	TooLong, Cut int
}

// arrival is a frame on its way.
type arrival struct {
	at   uint64
	seq  uint64
	to   end
	data []byte
	err  bool
}

func (a *arrival) before(b *arrival) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// arrivals is a heap, the next one first.
type arrivals []arrival

func (h *arrivals) push(a arrival) {
	q := append(*h, a)
	i := len(q) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q[i].before(&q[up]) {
			break
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
	*h = q
}

func (h *arrivals) pop() arrival {
	q := *h
	top, last := q[0], len(q)-1
	q[0], q[last] = q[last], arrival{}
	q = q[:last]
	for i := 0; ; {
		next := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(q) && q[c].before(&q[next]) {
				next = c
			}
		}
		if next == i {
			break
		}
		q[i], q[next] = q[next], q[i]
		i = next
	}
	*h = q
	return top
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
	script  map[uint64][]Event // by frame

	cut    bool
	bad    bool   // in a burst of losses
	frames uint64 // sent so far
	free   uint64 // the transmitter is free again
	last   uint64 // latest arrival so far, to keep the order
}

// wireOverhead is what a frame takes on the wire besides its bytes: preamble, FCS, gap.
const wireOverhead = 24

// transmit takes the time of one frame that can start at ready and returns when it is all there.
func (p *pipe) transmit(ready uint64, bytes int) uint64 {
	p.free = max(ready, p.free) + uint64(float64(bytes+wireOverhead)/p.rate) + 1
	return p.free + p.latency
}

// sent is a frame that a node gave to a pipe; at is when it arrives if nothing happens to it.
type sent struct {
	p    *pipe
	at   uint64
	data []byte
	err  bool
}

// carry decides what becomes of a frame. It is called in one order, whatever the number of workers.
func (n *Net) carry(s sent) {
	p := s.p
	frame := p.frames
	p.frames++
	n.Stats.Frames++
	switch {
	case p.cut:
		n.Stats.Cut++
		return
	case p.mtu > 0 && len(s.data)-ethernetHeader > p.mtu:
		n.Stats.TooLong++
		return
	}
	var x fate
	if !n.calm {
		x = p.fate(frame, s.data)
	}
	if x.lose {
		n.Stats.Lost++
		n.note(p, Event{Frame: frame, Kind: Lose})
		return
	}
	at := s.at + x.jitter
	if x.duplicate {
		n.Stats.Duplicated++
		n.note(p, Event{Frame: frame, Kind: Duplicate, Delay: x.duplicateDelay})
		n.push(arrival{at: at + x.duplicateDelay, to: p.to, data: slices.Clone(s.data), err: s.err})
	}
	if x.corrupt {
		n.Stats.Corrupted++
		n.note(p, Event{Frame: frame, Kind: Corrupt, Bits: x.bits, Flag: x.flag})
		s.data = slices.Clone(s.data)
		for _, b := range x.bits {
			if b < 8*len(s.data) {
				s.data[b/8] ^= 1 << (b % 8)
			}
		}
		s.err = s.err || x.flag
	}
	if x.reorder {
		n.Stats.Reordered++
		n.note(p, Event{Frame: frame, Kind: Reorder, Delay: x.reorderDelay})
		at += x.reorderDelay
	} else {
		at = max(at, p.last)
		p.last = at
	}
	n.push(arrival{at: at, to: p.to, data: s.data, err: s.err})
}

const ethernetHeader = 14

// fate is what the coins and the script have in store for a frame.
func (p *pipe) fate(frame uint64, data []byte) fate {
	f := p.faults
	var x fate
	if f.Drop != nil {
		x.lose = f.Drop(data)
	}
	if f.Random() {
		class := Classify(data, p.down)
		x = f.toss(p.seed, frame, class, 8*len(data), x.lose)
		if p.bad {
			p.bad = !x.turnGood
		} else {
			p.bad = x.turnBad
		}
		x.lose = x.lose || p.bad && f.Only.Burst.has(class)
	} else {
		p.bad = false
	}
	for i := range p.script[frame] {
		x.apply(&p.script[frame][i])
	}
	return x
}

// note tells whoever records faults of one.
func (n *Net) note(p *pipe, e Event) {
	if n.OnFault != nil {
		e.Link, e.Down = p.link, p.down
		n.OnFault(e)
	}
}

func (n *Net) push(a arrival) {
	n.seq++
	a.seq = n.seq
	n.flight.push(a)
}
