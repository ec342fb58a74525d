// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"incforge/network/topology"
	"incforge/roce"
)

// Packet is what the models know of a packet: the headers that say from whom and to whom follow from the link it is on.
type Packet struct {
	Op       roce.Opcode
	Syndrome uint8
	PSN      int16 // less Start
	MSN      uint8
	Length   uint8  // of the payload in bytes
	Quiet    bool   // no acknowledgement is asked for
	Imm      uint32 // of a control
	Payload  Elements
}

// Elements are a payload's; what it does not have is 0.
type Elements [maxHosts / lanes]uint32

// Payloads have a lane of one byte for each host, in which only that host contributes: a contribution added twice, or not at all, or of
// another PSN, shows in its host's lane; and exchanging hosts exchanges lanes.
const (
	lanes      = 4  // in an element
	laneValues = 23 // different values in a lane before they repeat; a lane overflows at the eleventh wrong addition
)

// lanesOf is the payload in which the hosts of a mask have contributed.
func lanesOf(mask uint32, psn int16) (p Elements) {
	value := 1 + uint32(psn)%laneValues // what each contributes at a PSN
	for h := range maxHosts {
		if mask>>h&1 != 0 {
			p[h/lanes] |= value << (h % lanes * 8)
		}
	}
	return p
}

// Append adds all that there is of the packet. Elements that no payload of eight hosts has stand there only if they are needed.
func (p Packet) Append(b []byte) []byte {
	b = append(b, byte(p.Op), p.Syndrome)
	b = binary.BigEndian.AppendUint16(b, uint16(p.PSN))
	quiet, elements := byte(0), 2
	if p.Quiet {
		quiet = 1
	}
	if p.Length > 8 {
		elements = len(p.Payload)
	}
	b = append(b, p.MSN, p.Length, quiet)
	for _, element := range p.Payload[:elements] {
		b = binary.BigEndian.AppendUint32(b, element)
	}
	if p.Op.HasImm() {
		b = binary.BigEndian.AppendUint32(b, p.Imm)
	}
	return b
}

// Permute exchanges lanes.
func (p Packet) Permute(lane []int) Packet {
	var q Elements
	if len(lane) <= lanes { // each element has one for every host
		for i, element := range p.Payload {
			for h, to := range lane {
				q[i] |= element >> (h * 8) & 0xFF << (to * 8)
			}
		}
		p.Payload = q
		return p
	}
	for h, to := range lane {
		q[to/lanes] |= p.Payload[h/lanes] >> (h % lanes * 8) & 0xFF << (to % lanes * 8)
	}
	p.Payload = q
	return p
}

// String is the packet as a chart shows it, with the PSN relative to Start.
func (p Packet) String() string {
	name := "DATA"
	if p.Op.HasImm() {
		name = "CTRL"
	}
	if p.Op == roce.Acknowledge {
		name = cmp.Or(map[roce.SyndromeKind]string{roce.SyndromeAck: "ACK", roce.SyndromeRNR: "RNR"}[roce.SyndromeKindOf(p.Syndrome)], "NAK")
	}
	return fmt.Sprintf("%s(%d)", name, p.PSN)
}

// HostRole is what a host has to do.
type HostRole struct {
	number  int    // of the host
	Send    uint8  // packets to send
	Receive uint8  // packets to get
	lanes   uint32 // who is in what it gets
	window  uint8
	length  uint8 // of a payload

	// Mode I: a message has parts packets of mtu bytes, the last of what is left of bytes. Send, Receive and window count packets.
	parts, mtu, bytes int

	plan *plan // of an in-band group

	silentDuplicates bool // B10, the host's half, which is wrong: a duplicate is not acknowledged again
	ackIsResult      bool // Mode II AllReduce: nothing is acknowledged before its result is there
}

// Host is a NIC: a requester that goes back N (softroce.md, protocol.md section 9) and a responder that takes data in order. PSNs count
// from Start. Every message is one packet, but in Mode I.
type Host struct {
	Base, next uint8 // the oldest not acknowledged, the next to send for the first time
	Expected   uint8
	naked      bool // a gap was answered, nothing came in order since
	waiting    bool // an RNR NAK was heard; nothing is sent until the wait is over
}

// Append adds the host's state.
func (h Host) Append(b []byte) []byte {
	var f byte
	if h.naked {
		f |= 1
	}
	if h.waiting {
		f |= 2
	}
	return append(b, h.Base, h.next, h.Expected, f)
}

// HostOf is append undone.
func HostOf(b []byte) Host {
	return Host{Base: b[0], next: b[1], Expected: b[2], naked: b[3]&1 != 0, waiting: b[3]&2 != 0}
}

// Outstanding tells whether a time-out would send something.
func (h *Host) Outstanding() bool { return h.Base < h.next || h.waiting }

// Done tells whether nothing is left to do.
func (h *Host) Done(r *HostRole) bool {
	return h.Base == r.Send && h.Expected == r.Receive && !h.waiting
}

// data is the host's own packet.
func (r *HostRole) data(psn uint8) Packet {
	if r.plan != nil {
		return r.plan.sends[psn]
	}
	return r.packet(int16(psn), 1<<r.number)
}

// result is what the host should get by a number.
func (r *HostRole) result(psn int16) Packet {
	if r.plan != nil {
		return r.plan.hears[psn]
	}
	return r.packet(psn, r.lanes)
}

// limit is how many packets the host may have sent by now.
func (r *HostRole) limit(h *Host) uint8 {
	if r.plan != nil {
		return r.plan.maySend(h)
	}
	return r.Send
}

// unposted tells whether the host has no receive for a number because it is not in that range yet.
func (r *HostRole) unposted(h *Host, number uint8) bool {
	return r.plan != nil && !r.plan.posted(h, number)
}

// early says what is acknowledged before its result is there, where that cannot be.
func (r *HostRole) early(h *Host) error {
	switch {
	case !r.ackIsResult:
		return nil
	case r.plan != nil:
		return r.plan.unheard(h)
	case h.Base > h.Expected:
		return fmt.Errorf("%d packets are acknowledged, of whose results %d are there", h.Base, h.Expected)
	}
	return nil
}

// packet is the data of a number, in which the hosts of a mask have contributed.
func (r *HostRole) packet(psn int16, mask uint32) Packet {
	p := Packet{Op: roce.SendOnly, PSN: psn, Length: r.length}
	if r.parts == 0 {
		if r.length > 0 {
			p.Payload = lanesOf(mask, psn)
		}
		return p
	}
	message, part := int(psn)/r.parts, int(psn)%r.parts
	from, last := part*r.mtu, part == r.parts-1
	p.Length, p.Quiet = uint8(min(r.mtu, r.bytes-from)), !last
	for i := range int(p.Length) / 4 { // elements are numbered through all messages
		p.Payload[i] = lanesOf(mask, int16((message*r.bytes+from)/4+i))[0]
	}
	switch {
	case part == 0 && !last:
		p.Op = roce.SendFirst
	case part > 0 && last:
		p.Op = roce.SendLast
	case part > 0:
		p.Op = roce.SendMiddle
	}
	return p
}

// repeat sends everything from Base on that was sent before.
func (h *Host) repeat(r *HostRole) (out []Packet) {
	for p := h.Base; p < h.next; p++ {
		out = append(out, r.data(p))
	}
	return out
}

// Fresh sends what the window has room for.
func (h *Host) Fresh(r *HostRole) (out []Packet) {
	for limit := r.limit(h); !h.waiting && h.next < limit && h.next-h.Base < r.window; {
		out = append(out, r.data(h.next))
		h.next++
	}
	return out
}

// Timeout sends again all that is not acknowledged, at the end of its time or of a wait.
func (h *Host) Timeout(r *HostRole) []Packet {
	h.waiting = false
	return append(h.repeat(r), h.Fresh(r)...)
}

// answer is an ACK, NAK or RNR NAK.
func (h *Host) answer(psn int, syndrome uint8) []Packet {
	return []Packet{{Op: roce.Acknowledge, PSN: int16(psn), Syndrome: syndrome, MSN: h.Expected}}
}

// Take handles a packet and gives what the host sends because of it. notReady makes it have no receive posted. What breaks a
// property is an error.
func (h *Host) Take(r *HostRole, p Packet, notReady bool) ([]Packet, error) {
	if p.Op != roce.Acknowledge {
		return h.takeData(r, p, notReady)
	}
	if r.Send == 0 {
		return nil, fmt.Errorf("%s came to a host that sends nothing", p)
	}
	kind := roce.SyndromeKindOf(p.Syndrome)
	upTo := int(p.PSN)
	if kind == roce.SyndromeAck {
		upTo++
	}
	switch {
	case kind == roce.SyndromeNAK && p.Syndrome != roce.NAKSequence:
		return nil, fmt.Errorf("%s with syndrome %#x ends the connection", p, p.Syndrome)
	case upTo > int(h.next):
		return nil, fmt.Errorf("%s acknowledges more than the %d packets sent", p, h.next)
	case upTo < int(h.Base):
		return h.Fresh(r), nil // of old
	}
	h.Base = uint8(upTo)
	if err := r.early(h); err != nil {
		return nil, fmt.Errorf("after %s %w", p, err)
	}
	var again []Packet
	switch {
	case kind == roce.SyndromeRNR && h.Base < h.next:
		h.waiting = true
	case kind == roce.SyndromeNAK && !h.waiting:
		again = h.repeat(r)
	}
	return append(again, h.Fresh(r)...), nil
}

// takeData is the responder.
func (h *Host) takeData(r *HostRole, p Packet, notReady bool) ([]Packet, error) {
	next := int(h.Expected)
	switch d := int(p.PSN) - next; {
	case p.PSN < 0 || int(p.PSN) >= int(r.Receive):
		return nil, fmt.Errorf("%s came to a host that gets %d packets", p, r.Receive)
	case d < 0 && r.silentDuplicates, d > 0 && h.naked:
		return nil, nil
	case d < 0:
		return h.answer(next-1, roce.AckSyndrome), nil
	case d > 0:
		h.naked = true
		return h.answer(next, roce.NAKSequence), nil
	case (notReady || r.unposted(h, uint8(next))) && p.Op.StartsMessage():
		return h.answer(next, roce.RNRSyndrome|1), nil
	}
	if want := r.result(p.PSN); p.Op != want.Op || p.Imm != want.Imm || p.Length != want.Length || p.Length > 0 && p.Payload != want.Payload {
		return nil, fmt.Errorf("%s has %d bytes %08x (%v %#x), and should have %d bytes %08x (%v %#x)", p, p.Length, p.Payload, p.Op, p.Imm,
			want.Length, want.Payload, want.Op, want.Imm)
	}
	h.Expected++
	h.naked = false
	if p.Quiet {
		return nil, nil
	}
	return append(h.answer(next, roce.AckSyndrome), h.Fresh(r)...), nil
}

// payloadBytes is how long a payload is with a lane for each host: 4, 8 or 16 bytes.
func payloadBytes(t *topology.Topology) int {
	bytes := 4
	for bytes < len(t.Hosts)*4/lanes {
		bytes *= 2
	}
	return bytes
}

// role is what a host does.
func (c *Config) role(t *topology.Topology, number int) *HostRole {
	r := &HostRole{number: number, window: uint8(c.Window), length: uint8(payloadBytes(t))}
	all := uint32(1)<<len(t.Hosts) - 1
	if c.Empty {
		r.length = 0
	}
	if c.Mode == 1 {
		r.mtu, r.bytes = c.PathMTU(number), c.Bytes
		r.parts = c.parts(r.mtu)
		r.window *= uint8(r.parts)
	}
	n, root := uint8(c.Requests*max(r.parts, 1)), number == CommRoot(t)
	switch {
	case len(c.Ranges) > 0:
		r.planned(c, t)
		r.ackIsResult = c.Mode == 2
	case c.Collective == AllReduce:
		r.Send, r.Receive, r.lanes = n, n, all
		r.ackIsResult = c.Mode == 2
	case c.Collective == Reduce && root:
		r.Receive, r.lanes = n, all&^(1<<number)
	case c.Collective == Reduce, root: // the sender of a Broadcast
		r.Send = n
	default:
		r.Receive, r.lanes = n, 1<<CommRoot(t)
	}
	r.silentDuplicates = slices.Contains(c.Bad, BadSilentHost)
	return r
}
