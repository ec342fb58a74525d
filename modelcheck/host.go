// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"fmt"

	"incforge/roce"
)

// packet is what the models know of a packet: the headers that say from whom and to whom follow from the link it is on.
type packet struct {
	op       roce.Opcode
	syndrome uint8
	psn      int16 // less Start
	msn      uint8
	length   uint8 // of the payload in bytes
	payload  [2]uint32
}

// Payloads have a lane of one byte for each host, in which only that host contributes: a contribution added twice, or not at all, or of
// another PSN, shows in its host's lane; and exchanging hosts exchanges lanes.
const (
	lanes      = 4  // in an element
	laneValues = 23 // different values in a lane before they repeat; a lane overflows at the eleventh wrong addition
)

// laneValue is what a host contributes at a PSN.
func laneValue(psn int16) uint32 { return 1 + uint32(psn)%laneValues }

// lanesOf is the payload in which the hosts of a mask have contributed.
func lanesOf(mask uint32, psn int16) (p [2]uint32) {
	for h := range maxHosts {
		if mask>>h&1 != 0 {
			p[h/lanes] |= laneValue(psn) << (h % lanes * 8)
		}
	}
	return p
}

// permute exchanges lanes.
func (p packet) permute(lane []int) packet {
	var q [2]uint32
	for h, to := range lane {
		q[to/lanes] |= p.payload[h/lanes] >> (h % lanes * 8) & 0xFF << (to % lanes * 8)
	}
	p.payload = q
	return p
}

// append adds the packet's bytes, which no other packet has.
func (p packet) append(b []byte) []byte {
	b = append(b, byte(p.op), p.syndrome, byte(uint16(p.psn)>>8), byte(p.psn), p.msn, p.length)
	for _, w := range p.payload {
		b = append(b, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	return b
}

const packetBytes = 14

// packetOf is append undone; b has packetBytes.
func packetOf(b []byte) packet {
	p := packet{op: roce.Opcode(b[0]), syndrome: b[1], psn: int16(uint16(b[2])<<8 | uint16(b[3])), msn: b[4], length: b[5]}
	for i := range p.payload {
		for _, x := range b[6+4*i : 10+4*i] {
			p.payload[i] = p.payload[i]<<8 | uint32(x)
		}
	}
	return p
}

// String is the packet as a chart shows it, with the PSN relative to Start.
func (p packet) String() string {
	if p.op != roce.Acknowledge {
		return fmt.Sprintf("DATA(%d)", p.psn)
	}
	switch roce.SyndromeKindOf(p.syndrome) {
	case roce.SyndromeAck:
		return fmt.Sprintf("ACK(%d)", p.psn)
	case roce.SyndromeRNR:
		return fmt.Sprintf("RNR(%d)", p.psn)
	}
	return fmt.Sprintf("NAK(%d)", p.psn)
}

// hostRole is what a host has to do.
type hostRole struct {
	number  int    // of the host
	send    uint8  // packets to send
	receive uint8  // packets to get
	lanes   uint32 // who is in what it gets
	window  uint8
	length  uint8 // of a payload
	rules   hostRules
}

// hostRules are what a model host may do wrong, and what the invariants are.
type hostRules struct {
	silentDuplicates bool // B10, the host's half: a duplicate is not acknowledged again
	ackIsResult      bool // Mode II AllReduce: nothing is acknowledged before its result is there
}

// host is a NIC: a requester that goes back N (softroce.md, protocol.md section 9) and a responder that takes data in order. PSNs count
// from Start. Every message is one packet.
type host struct {
	base, next uint8 // the oldest not acknowledged, the next to send for the first time
	expected   uint8
	naked      bool // a gap was answered, nothing came in order since
	waiting    bool // an RNR NAK was heard; nothing is sent until the wait is over
}

// append adds the host's state.
func (h host) append(b []byte) []byte {
	var f byte
	if h.naked {
		f |= 1
	}
	if h.waiting {
		f |= 2
	}
	return append(b, h.base, h.next, h.expected, f)
}

// hostOf is append undone.
func hostOf(b []byte) host {
	return host{base: b[0], next: b[1], expected: b[2], naked: b[3]&1 != 0, waiting: b[3]&2 != 0}
}

// outstanding tells whether a time-out would send something.
func (h *host) outstanding() bool { return h.base < h.next || h.waiting }

// done tells whether nothing is left to do.
func (h *host) done(r *hostRole) bool {
	return h.base == r.send && h.expected == r.receive && !h.waiting
}

// data is the host's own packet.
func (r *hostRole) data(psn uint8) packet {
	p := packet{op: roce.SendOnly, psn: int16(psn), length: r.length}
	if r.length > 0 {
		p.payload = lanesOf(1<<r.number, p.psn)
	}
	return p
}

// repeat sends everything from PSN from on that was sent before.
func (h *host) repeat(r *hostRole, from uint8, out []packet) []packet {
	for p := from; p < h.next; p++ {
		out = append(out, r.data(p))
	}
	return out
}

// fresh sends what the window has room for.
func (h *host) fresh(r *hostRole, out []packet) []packet {
	for !h.waiting && h.next < r.send && h.next-h.base < r.window {
		out = append(out, r.data(h.next))
		h.next++
	}
	return out
}

// timeout sends again all that is not acknowledged, at the end of its time or of a wait.
func (h *host) timeout(r *hostRole, out []packet) []packet {
	h.waiting = false
	return h.fresh(r, h.repeat(r, h.base, out))
}

// answer is an ACK, NAK or RNR NAK.
func (h *host) answer(psn int, syndrome uint8) packet {
	return packet{op: roce.Acknowledge, psn: int16(psn), syndrome: syndrome, msn: h.expected}
}

// take handles a packet and gives what the host sends because of it. notReady makes it have no receive posted. What breaks a
// property is an error.
func (h *host) take(r *hostRole, p packet, notReady bool, out []packet) ([]packet, error) {
	if p.op != roce.Acknowledge {
		return h.takeData(r, p, notReady, out)
	}
	if r.send == 0 {
		return out, fmt.Errorf("%s came to a host that sends nothing", p)
	}
	kind := roce.SyndromeKindOf(p.syndrome)
	upTo := int(p.psn)
	if kind == roce.SyndromeAck {
		upTo++
	}
	switch {
	case upTo > int(h.next):
		return out, fmt.Errorf("%s acknowledges more than the %d packets sent", p, h.next)
	case upTo < int(h.base):
		return h.fresh(r, out), nil // of old
	}
	h.base = uint8(upTo)
	if r.rules.ackIsResult && h.base > h.expected {
		return out, fmt.Errorf("%s acknowledges %d packets, of whose results %d are there", p, h.base, h.expected)
	}
	switch {
	case kind == roce.SyndromeRNR && h.base < h.next:
		h.waiting = true
	case kind == roce.SyndromeNAK && !h.waiting:
		out = h.repeat(r, h.base, out)
	}
	return h.fresh(r, out), nil
}

// takeData is the responder.
func (h *host) takeData(r *hostRole, p packet, notReady bool, out []packet) ([]packet, error) {
	switch d := int(p.psn) - int(h.expected); {
	case p.psn < 0 || int(p.psn) >= int(r.receive):
		return out, fmt.Errorf("%s came to a host that gets %d packets", p, r.receive)
	case d < 0:
		if r.rules.silentDuplicates {
			return out, nil
		}
		return append(out, h.answer(int(h.expected)-1, roce.AckSyndrome)), nil
	case d > 0:
		if h.naked {
			return out, nil
		}
		h.naked = true
		return append(out, h.answer(int(h.expected), roce.NAKSequence)), nil
	case notReady:
		return append(out, h.answer(int(h.expected), roce.RNRSyndrome|1)), nil
	}
	if want := lanesOf(r.lanes, p.psn); p.length != r.length || r.length > 0 && p.payload != want {
		return out, fmt.Errorf("%s has %d bytes %08x, and should have %d bytes %08x", p, p.length, p.payload, r.length, want)
	}
	h.expected++
	h.naked = false
	return append(out, h.answer(int(p.psn), roce.AckSyndrome)), nil
}
