// SPDX-License-Identifier: Apache-2.0

// Package host is a NIC with one reliable connection, as rxe (Linux SoftRoCE) was measured to behave: a go-back-N
// requester and an in-order responder. Only the window is not the NIC's: EPIC's host software keeps MW packets in flight
// (protocol.md section 1).
//
// A Host is a state machine: Receive takes a frame, Next gives the next frame to send, Tick runs its timers. It uses
// package roce for bytes and nothing of the engine or its reference.
package host

import (
	"fmt"
	"math"

	"incforge/roce"
)

// Never is a deadline that does not come.
const Never = math.MaxUint64

// NICWindow is the most packets rxe keeps unacknowledged whatever the software asks for (IBTA leaves it open; measured).
const NICWindow = 129

// silentPackets is how many packets in a row go without AckReq; the next one has it.
const silentPackets = 65

// Config is a host and the connection it has. Times are in cycles.
type Config struct {
	MAC, PeerMAC roce.MAC
	IP, PeerIP   roce.IP4
	// QPN is the host's own, PeerQPN the engine's.
	QPN, PeerQPN uint32
	UDPPort      uint16
	TTL, TOS     uint8
	// Start is the first PSN in both directions.
	Start roce.PSN
	// PathMTU is the payload of FIRST and MIDDLE packets in bytes.
	PathMTU int
	// Window is MW: how many packets may be unacknowledged. At most NICWindow are.
	Window int
	// Timeout is the time after which everything unacknowledged is sent again; it must not be 0.
	Timeout uint64
	// RNRCode is the timer code of RNR NAKs this host sends; CyclesPerMicrosecond turns a peer's code into a wait.
	RNRCode              uint8
	CyclesPerMicrosecond uint64
}

// Message is what a work request carries.
type Message struct {
	Payload []byte
	HasImm  bool
	Imm     uint32
	SE      bool
}

// Stats counts what a host did and saw.
type Stats struct {
	Sent, Resent, Timeouts, NAKsObeyed, RNRsObeyed           int
	AcksSent, NAKsSent, RNRsSent, DupSeen, Accepted, Ignored int
	CNPs                                                     int
}

type piece struct {
	op      roce.Opcode
	msg     int
	payload []byte
}

// Host is one NIC. Make it with New.
type Host struct {
	cfg   Config
	Stats Stats
	err   error
	dead  bool

	// requester; indices count packets from Config.Start
	msgs     []Message
	pieces   []piece
	msgEnd   []int // index after the last packet of each message
	una      int   // oldest unacknowledged
	next     int   // to be sent next
	maxSent  int   // one past the highest ever sent
	done     int   // messages completed
	silent   int   // packets since the last AckReq
	retrying bool  // a NAK was obeyed and no ACK has come since
	timer    uint64
	rnrUntil uint64 // waiting for a receiver; Never if not
	ipID     uint16

	// responder
	recvs    int // receives posted; negative: endless
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
	if cfg.Window > NICWindow {
		cfg.Window = NICWindow
	}
	return &Host{cfg: cfg, timer: Never, rnrUntil: Never, recvs: -1, expect: cfg.Start}, nil
}

// Config returns what the host was made with.
func (h *Host) Config() Config { return h.cfg }

// Post queues a message to be sent.
func (h *Host) Post(m Message) {
	n := len(h.msgs)
	h.msgs = append(h.msgs, m)
	rest := m.Payload
	for first := true; ; first = false {
		k := min(len(rest), h.cfg.PathMTU)
		last := k == len(rest)
		h.pieces = append(h.pieces, piece{op: sendOpcode(first, last, m.HasImm), msg: n, payload: rest[:k]})
		rest = rest[k:]
		if last {
			break
		}
	}
	h.msgEnd = append(h.msgEnd, len(h.pieces))
}

func sendOpcode(first, last, imm bool) roce.Opcode {
	switch {
	case first && last && imm:
		return roce.SendOnlyImm
	case first && last:
		return roce.SendOnly
	case last && imm:
		return roce.SendLastImm
	case last:
		return roce.SendLast
	case first:
		return roce.SendFirst
	}
	return roce.SendMiddle
}

// SetReceives sets how many receives are posted; negative means endless.
func (h *Host) SetReceives(n int) { h.recvs = n }

// AddReceives posts n more.
func (h *Host) AddReceives(n int) {
	if h.recvs >= 0 {
		h.recvs += n
	}
}

// Receives is the number of receives posted, negative for endless.
func (h *Host) Receives() int { return h.recvs }

// Kill makes the host fall silent for ever.
func (h *Host) Kill() { h.dead, h.timer, h.rnrUntil = true, Never, Never }

// Completed is the number of messages the peer acknowledged; Posted that of messages posted.
func (h *Host) Completed() int { return h.done }

// Posted is the number of messages given to Post.
func (h *Host) Posted() int { return len(h.msgs) }

// Received returns the messages that came, in order.
func (h *Host) Received() []Message { return h.received }

// Unacknowledged is the number of packets sent and not acknowledged.
func (h *Host) Unacknowledged() int { return h.maxSent - h.una }

// Acknowledged is the number of packets the peer acknowledged.
func (h *Host) Acknowledged() int { return h.una }

// Err is the first thing that would have put a real QP into error state, or that no correct peer would have sent.
func (h *Host) Err() error { return h.err }

func (h *Host) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf("host %v QP %#x: %s", h.cfg.IP, h.cfg.QPN, fmt.Sprintf(format, args...))
	}
}

// Deadline is the cycle at which Tick has something to do, Never if there is none.
func (h *Host) Deadline() uint64 { return min(h.timer, h.rnrUntil) }

// Tick runs the timers that are due.
func (h *Host) Tick(now uint64) {
	if h.dead {
		return
	}
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
	if h.dead || h.err != nil {
		return false
	}
	return len(h.answers) > 0 || h.mayRequest()
}

func (h *Host) mayRequest() bool {
	return h.rnrUntil == Never && h.next < len(h.pieces) && h.next < h.una+h.cfg.Window
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
	pc := h.pieces[h.next]
	m := h.msgs[pc.msg]
	p := h.header()
	p.Op, p.PSN, p.Payload = pc.op, h.cfg.Start.Add(h.next), pc.payload
	p.Pad = uint8(-len(pc.payload) & 3)
	last := h.next+1 == h.msgEnd[pc.msg]
	p.SE = m.SE && last
	if pc.op.HasImm() {
		p.Imm = m.Imm
	}
	p.AckReq = last || h.silent >= silentPackets
	if h.silent++; p.AckReq {
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
	return p.AppendFrame(nil)
}

// header is what all frames of this host have in common.
func (h *Host) header() roce.Packet {
	h.ipID++
	return roce.Packet{
		DstMAC: h.cfg.PeerMAC, SrcMAC: h.cfg.MAC, TOS: h.cfg.TOS, TTL: h.cfg.TTL, IPID: h.ipID, DF: true,
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
	if err != nil || !roce.CheckICRC(frame) || p.DstMAC != h.cfg.MAC || p.SrcIP != h.cfg.PeerIP || p.DstIP != h.cfg.IP ||
		p.DestQP != h.cfg.QPN || p.TVer != 0 || p.PKey&0x7FFF != 0x7FFF {
		h.Stats.Ignored++
		return false
	}
	switch {
	case p.Op.IsSend():
		h.respond(&p)
	case p.Op == roce.Acknowledge:
		h.answered(now, &p)
	case p.Op == roce.CNP:
		h.Stats.CNPs++
	default:
		h.Stats.Ignored++
		return false
	}
	return true
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
	h.una = max(h.una, end)
	h.next = max(h.next, h.una)
	before := h.done
	for h.done < len(h.msgEnd) && h.msgEnd[h.done] <= h.una {
		h.done++
	}
	if h.done != before || h.una == h.maxSent {
		h.arm(now)
	}
}

// respond is the responder's side of a SEND.
func (h *Host) respond(p *roce.Packet) {
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
		h.fail("%v at PSN %v, a message %s open", p.Op, p.PSN, map[bool]string{true: "is", false: "is not"}[h.inMsg])
		return
	}
	if p.Op.StartsMessage() {
		if h.recvs == 0 {
			h.Stats.RNRsSent++
			h.answer(p.PSN, roce.RNRSyndrome|h.cfg.RNRCode)
			return
		}
		if h.recvs > 0 {
			h.recvs--
		}
		h.partial = nil
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
		h.received = append(h.received, m)
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
