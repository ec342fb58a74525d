// SPDX-License-Identifier: Apache-2.0

// Package host is a NIC with one reliable connection, as rxe (Linux SoftRoCE) was measured to behave: a go-back-N
// requester and an in-order responder. Only two things are not rxe's: the window, as EPIC's host software keeps MW packets in flight
// (protocol.md section 1), and, where Config.Rate asks for it, the rate, which CNPs cut.
//
// A Host is a state machine: Receive takes a frame, Next gives the next frame to send, Tick runs its timers. Software posts sends and
// receives at any time, and hears of their completions by OnCompletion, in the order in which they were posted. The package uses package
// roce for bytes and nothing of the engine or its reference.
package host

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"incforge/roce"
)

// Never is a deadline that does not come.
const Never = math.MaxUint64

// NICWindow is the most packets rxe keeps unacknowledged whatever the software asks for (IBTA leaves it open; measured).
const NICWindow = 129

// askEvery: of so many packets in a row the last has AckReq.
const askEvery = 66

// Config is a host and the connection it has. Times are in cycles.
type Config struct {
	MAC, PeerMAC roce.MAC
	// VLAN is the 802.1Q tag of its frames, and of those that it takes.
	VLAN       roce.VLAN
	IP, PeerIP roce.IP4
	// QPN is the host's own, PeerQPN the engine's.
	QPN, PeerQPN uint32
	UDPPort      uint16
	TTL, TOS     uint8
	// Start is the first PSN that this host sends, and, unless Expect is given, the first that it gets.
	Start  roce.PSN
	Expect *roce.PSN
	// PathMTU is the payload of FIRST and MIDDLE packets in bytes. Strict: the peer's must have it too, and LAST and ONLY not more, or the
	// connection ends; rxe does not look.
	PathMTU int
	Strict  bool
	// AskEvery asks for an acknowledgement on at least every so-many-th packet; 0 is rxe's 66.
	AskEvery int
	// Window is MW: how many packets may be unacknowledged. At most NICWindow are.
	Window int
	// Timeout is the time after which everything unacknowledged is sent again; it must not be 0.
	Timeout uint64
	// RNRCode is the timer code of RNR NAKs this host sends; CyclesPerMicrosecond turns a peer's code into a wait.
	RNRCode              uint8
	CyclesPerMicrosecond uint64
	// Rate has the NIC slow down at CNPs; nil: it counts them and goes on.
	Rate *RateControl
}

// Message is what a work request carries.
type Message struct {
	Payload []byte
	HasImm  bool
	Imm     uint32
	SE      bool
}

// Completion is the end of a send or of a receive.
type Completion struct {
	// Sent: every packet of a message is acknowledged. Otherwise a message is there as a whole.
	Sent bool
	// Index counts sends, or receives, of this connection from 0.
	Index int
	// At is the cycle of the frame that completed it.
	At uint64
	// Message is what was sent, or came.
	Message Message
}

// Stats counts what a host did and saw, over all its connections.
type Stats struct {
	Sent, Resent, Timeouts, NAKsObeyed, RNRsObeyed           int
	AcksSent, NAKsSent, RNRsSent, DupSeen, Accepted, Ignored int
	CNPs, RateCuts                                           int
}

// piece is a packet of a message.
type piece struct {
	op      roce.Opcode
	payload []byte
	ends    *Message // nil but for the last one of a message
}

// Host is one NIC. Make it with New.
type Host struct {
	cfg   Config
	Stats Stats
	// OnCompletion, if not nil, is told of every completion once the frame that made it has been dealt with; it may post. Messages told
	// of are forgotten, so Received stays empty.
	OnCompletion func(c Completion)

	connection
	dead bool
	ipID uint16
}

// connection is the state of one connection.
type connection struct {
	err         error
	completions []Completion // not yet told

	// requester; indices count packets from Config.Start
	pieces   []piece // those not acknowledged, from una on
	una      int     // oldest unacknowledged
	next     int     // to be sent next
	maxSent  int     // one past the highest ever sent
	posted   int     // messages
	done     int     // messages completed
	silent   int     // packets since the last AckReq
	retrying bool    // a NAK was obeyed and no ACK has come since
	timer    uint64
	rnrUntil uint64 // waiting for a receiver; Never if not
	pacer

	// responder
	endless  bool  // receives need not be posted
	buffers  []int // sizes of the receives posted, negative: any
	room     int   // of the receive that the message in progress takes, negative: no limit
	arrived  int   // messages
	expect   roce.PSN
	nakSent  bool
	msn      uint32
	inMsg    bool
	partial  []byte
	received []Message
	answers  []roce.Packet
}

// New makes a host with its connection established and endless receives posted.
func New(cfg Config) (*Host, error) {
	if cfg.PathMTU < 1 || cfg.Window < 1 || cfg.Timeout == 0 {
		return nil, fmt.Errorf("host: path MTU %d, window %d and timeout %d must be positive", cfg.PathMTU, cfg.Window, cfg.Timeout)
	}
	if cfg.Rate != nil {
		if err := cfg.Rate.validate(); err != nil {
			return nil, err
		}
	}
	cfg.Window = min(cfg.Window, NICWindow)
	cfg.AskEvery = cmp.Or(cfg.AskEvery, askEvery)
	h := &Host{cfg: cfg}
	h.connect(true)
	return h, nil
}

func (h *Host) connect(endless bool) {
	h.connection = connection{timer: Never, rnrUntil: Never, pacer: newPacer(h.cfg.Rate), endless: endless, expect: h.cfg.Start}
	if h.cfg.Expect != nil {
		h.expect = *h.cfg.Expect
	}
}

// Reconnect gives the host, dead or not, a fresh connection: other QPNs, another first PSN, everything that was posted forgotten. Where
// receives were counted none is posted then. The other end must have forgotten the old connection as well.
func (h *Host) Reconnect(qpn, peerQPN uint32, start roce.PSN) {
	h.cfg.QPN, h.cfg.PeerQPN, h.cfg.Start, h.cfg.Expect = qpn, peerQPN, start, nil
	h.dead = false
	h.connect(h.endless)
}

// ReconnectApart is Reconnect with a first PSN for each direction.
func (h *Host) ReconnectApart(qpn, peerQPN uint32, start, expect roce.PSN) {
	h.Reconnect(qpn, peerQPN, start)
	h.cfg.Expect, h.expect = &expect, expect
}

// Config returns what the host was made with.
func (h *Host) Config() Config { return h.cfg }

// Post queues a message to be sent.
func (h *Host) Post(m Message) {
	h.posted++
	rest := m.Payload
	for first, last := true, false; !last; first = false {
		n := min(len(rest), h.cfg.PathMTU)
		last = n == len(rest)
		p := piece{op: sendOpcode(first, last, last && m.HasImm), payload: rest[:n]}
		if last {
			p.ends = &m
		}
		h.pieces, rest = append(h.pieces, p), rest[n:]
	}
}

func sendOpcode(first, last, imm bool) roce.Opcode {
	op := roce.SendFirst
	for op.StartsMessage() != first || op.EndsMessage() != last || op.HasImm() != imm {
		op++
	}
	return op
}

// SetReceives sets how many receives are posted, all of them for messages of any length; negative means endless.
func (h *Host) SetReceives(n int) {
	h.endless, h.buffers = n < 0, slices.Repeat([]int{-1}, max(n, 0))
}

// PostReceive posts one more with a buffer of size bytes, negative for any length. A longer message ends the connection, as on a NIC.
// Endless receives stay endless.
func (h *Host) PostReceive(size int) {
	if !h.endless {
		h.buffers = append(h.buffers, size)
	}
}

// Receives is the number of receives posted, negative for endless.
func (h *Host) Receives() int {
	if h.endless {
		return -1
	}
	return len(h.buffers)
}

// Kill makes the host fall silent until Reconnect.
func (h *Host) Kill() {
	h.dead = true
	h.stop()
}

// stop stops all timers.
func (h *Host) stop() { h.timer, h.rnrUntil, h.update, h.gate = Never, Never, Never, Never }

// Dead reports that the host was killed.
func (h *Host) Dead() bool { return h.dead }

// Completed is the number of messages the peer acknowledged; Posted that of messages posted.
func (h *Host) Completed() int { return h.done }

// Posted is the number of messages given to Post.
func (h *Host) Posted() int { return h.posted }

// Drained reports that nothing is left to do: all that was posted is acknowledged, no answer waits, no message is half there.
func (h *Host) Drained() bool {
	return h.done == h.posted && len(h.answers) == 0 && !h.inMsg
}

// Received returns the messages that came, in order, unless they were told to OnCompletion.
func (h *Host) Received() []Message { return h.received }

// Unacknowledged is the number of packets sent and not acknowledged.
func (h *Host) Unacknowledged() int { return h.maxSent - h.una }

// Acknowledged is the number of packets the peer acknowledged.
func (h *Host) Acknowledged() int { return h.una }

// Err is the first thing that would have put a real QP into error state, or that no correct peer would have sent.
func (h *Host) Err() error { return h.err }

func (h *Host) fail(format string, args ...any) {
	if h.err == nil {
		h.stop()
		h.err = fmt.Errorf("host %v QP %#x: %s", h.cfg.IP, h.cfg.QPN, fmt.Sprintf(format, args...))
	}
}

// Deadline is the cycle at which Tick has something to do, Never if there is none.
func (h *Host) Deadline() uint64 { return min(h.timer, h.rnrUntil, h.update, h.gate) }

// Tick runs the timers that are due.
func (h *Host) Tick(now uint64) {
	if h.dead {
		return
	}
	h.tick(now)
	if now >= h.rnrUntil {
		h.rnrUntil = Never
		h.next = h.una
		h.retrying = true
		h.arm(now)
	}
	if now >= h.timer {
		h.arm(now)
		if h.rnrUntil == Never && h.una < h.maxSent {
			h.Stats.Timeouts++
			h.next = h.una
			h.retrying = true
		}
	}
}

func (h *Host) arm(now uint64) {
	h.timer = Never
	if h.una < h.maxSent {
		h.timer = now + h.cfg.Timeout
	}
}

// Ready reports whether Next has a frame.
func (h *Host) Ready() bool {
	return !h.dead && (len(h.answers) > 0 || h.mayRequest())
}

func (h *Host) mayRequest() bool {
	return h.err == nil && h.rnrUntil == Never && h.gate == Never && h.next-h.una < min(len(h.pieces), h.cfg.Window)
}

// Next returns the next frame to go out, nil if there is none: answers first, then requests within the window.
func (h *Host) Next(now uint64) []byte {
	if !h.Ready() {
		return nil
	}
	if len(h.answers) > 0 {
		p := h.answers[0]
		h.answers = h.answers[1:]
		return p.AppendFrame(nil)
	}
	pc := h.pieces[h.next-h.una]
	p := h.header()
	p.Op, p.PSN, p.Payload = pc.op, h.cfg.Start.Add(h.next), pc.payload
	p.Pad = uint8(-len(pc.payload) & 3)
	if pc.ends != nil {
		p.SE, p.Imm = pc.ends.SE, pc.ends.Imm
	}
	h.silent++
	if p.AckReq = pc.ends != nil || h.silent >= h.cfg.AskEvery; p.AckReq {
		h.silent = 0
	}
	h.Stats.Sent++
	if h.next < h.maxSent {
		h.Stats.Resent++
	}
	h.next++
	h.maxSent = max(h.maxSent, h.next)
	if h.timer == Never {
		h.timer = now + h.cfg.Timeout
	}
	frame := p.AppendFrame(nil)
	h.pacer.sent(now, len(frame))
	return frame
}

// header is what all frames of this host have in common.
func (h *Host) header() roce.Packet {
	h.ipID++
	return roce.Packet{
		DstMAC: h.cfg.PeerMAC, SrcMAC: h.cfg.MAC, VLAN: h.cfg.VLAN, TOS: h.cfg.TOS, TTL: h.cfg.TTL, IPID: h.ipID, DF: true,
		SrcIP: h.cfg.IP, DstIP: h.cfg.PeerIP, SrcPort: h.cfg.UDPPort, PKey: roce.DefaultPKey, DestQP: h.cfg.PeerQPN,
	}
}

// Receive takes a frame from the link. What is not for this connection, or damaged, is dropped in silence as rxe does it;
// it returns whether the frame was taken.
func (h *Host) Receive(now uint64, frame []byte) bool {
	if h.dead || h.err != nil {
		return false
	}
	p, err := roce.Decode(frame)
	if err != nil || !roce.CheckICRC(frame) || p.DstMAC != h.cfg.MAC || p.VLAN != h.cfg.VLAN || p.SrcIP != h.cfg.PeerIP || p.DstIP != h.cfg.IP ||
		p.DestQP != h.cfg.QPN || p.TVer != 0 || p.PKey&0x7FFF != 0x7FFF {
		h.Stats.Ignored++
		return false
	}
	switch {
	case p.Op.IsSend():
		h.respond(now, &p)
	case p.Op == roce.Acknowledge:
		h.answered(now, &p)
	case p.Op == roce.CNP:
		h.Stats.CNPs++
		if h.congested(now) {
			h.Stats.RateCuts++
		}
	default:
		h.Stats.Ignored++
		return false
	}
	for len(h.completions) > 0 { // telling of one may make others
		c := h.completions[0]
		h.completions = h.completions[1:]
		h.OnCompletion(c)
	}
	return true
}

// complete keeps a completion to be told, if anybody wants to know.
func (h *Host) complete(c Completion) {
	if h.OnCompletion != nil {
		h.completions = append(h.completions, c)
	}
}

// answered is the requester's side of an AETH.
func (h *Host) answered(now uint64, p *roce.Packet) {
	i := h.una + p.PSN.Diff(h.cfg.Start.Add(h.una)) // index of the PSN
	kind := roce.SyndromeKindOf(p.Syndrome)
	switch {
	case kind == roce.SyndromeNAK && p.Syndrome != roce.NAKSequence:
		h.fail("fatal NAK %#02x for PSN %v", p.Syndrome, p.PSN)
		return
	case kind == roce.SyndromeReserved:
		h.fail("reserved syndrome %#02x", p.Syndrome)
		return
	case i < h.una:
		return // stale, whatever it is
	case i >= h.maxSent:
		h.fail("%v for PSN %v, which was never sent (%d packets from %v were)", kind, p.PSN, h.maxSent, h.cfg.Start)
		return
	}
	if kind == roce.SyndromeAck {
		h.retrying = false
		h.acknowledge(now, i+1)
		return
	}
	h.acknowledge(now, i)
	if kind == roce.SyndromeRNR {
		h.Stats.RNRsObeyed++
		wait := uint64(roce.RNRDuration(p.Syndrome).Nanoseconds()) * h.cfg.CyclesPerMicrosecond / 1000
		h.rnrUntil = now + max(wait, 1)
		return
	}
	if h.retrying {
		return
	}
	h.Stats.NAKsObeyed++
	h.retrying = true
	h.next = i
	h.arm(now)
}

// acknowledge moves una to end. Only a completed message restarts the timer, as measured.
func (h *Host) acknowledge(now uint64, end int) {
	before := h.done
	for ; h.una < end; h.una++ {
		if m := h.pieces[0].ends; m != nil {
			h.complete(Completion{true, h.done, now, *m})
			h.done++
		}
		h.pieces[0] = piece{} // which lets go of the payload
		h.pieces = h.pieces[1:]
	}
	h.next = max(h.next, h.una)
	if h.done != before || h.una == h.maxSent {
		h.arm(now)
	}
}

// respond is the responder's side of a SEND.
func (h *Host) respond(now uint64, p *roce.Packet) {
	switch d := p.PSN.Diff(h.expect); {
	case d > 0:
		if !h.nakSent {
			h.nakSent = true
			h.Stats.NAKsSent++
			h.answer(h.expect, roce.NAKSequence)
		}
		return
	case d < 0:
		h.Stats.DupSeen++
		h.Stats.AcksSent++
		h.answer(h.expect.Prev(), roce.AckSyndrome)
		return
	}
	if p.Op.StartsMessage() == h.inMsg {
		h.answer(p.PSN, roce.NAKInvalidRequest)
		h.fail("%v at PSN %v, a message %s open", p.Op, p.PSN, map[bool]string{true: "is", false: "is not"}[h.inMsg])
		return
	}
	if n := len(p.Payload); h.cfg.Strict && (!p.Op.EndsMessage() && n != h.cfg.PathMTU || n > h.cfg.PathMTU || n == 0 && !p.Op.StartsMessage()) {
		h.answer(p.PSN, roce.NAKInvalidRequest)
		h.fail("%v of %d bytes at PSN %v, the path MTU is %d", p.Op, n, p.PSN, h.cfg.PathMTU)
		return
	}
	if p.Op.StartsMessage() {
		if !h.endless && len(h.buffers) == 0 {
			h.Stats.RNRsSent++
			h.answer(p.PSN, roce.RNRSyndrome|h.cfg.RNRCode)
			return
		}
		h.room, h.partial = -1, nil
		if len(h.buffers) > 0 {
			h.room, h.buffers = h.buffers[0], h.buffers[1:]
		}
	}
	if h.room >= 0 && len(h.partial)+len(p.Payload) > h.room {
		h.answer(p.PSN, roce.NAKRemoteOperational)
		h.fail("the message that PSN %v belongs to is longer than the %d bytes of its receive", p.PSN, h.room)
		return
	}
	h.nakSent = false
	h.Stats.Accepted++
	h.partial = append(h.partial, p.Payload...)
	h.inMsg = !p.Op.EndsMessage()
	if p.Op.EndsMessage() {
		m := Message{Payload: h.partial, SE: p.SE}
		if p.Op.HasImm() {
			m.HasImm, m.Imm = true, p.Imm
		}
		if h.OnCompletion == nil {
			h.received = append(h.received, m)
		}
		h.complete(Completion{false, h.arrived, now, m})
		h.arrived++
		h.partial = nil
		h.msn = (h.msn + 1) & roce.PSNMask
	}
	h.expect = h.expect.Next()
	if p.AckReq {
		h.Stats.AcksSent++
		h.answer(p.PSN, roce.AckSyndrome)
	}
}

func (h *Host) answer(psn roce.PSN, syndrome uint8) {
	p := h.header()
	p.Op, p.PSN, p.Syndrome, p.MSN = roce.Acknowledge, psn, syndrome, h.msn
	h.answers = append(h.answers, p)
}
