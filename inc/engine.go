// SPDX-License-Identifier: Apache-2.0

// Package inc is the reference IncEngine in plain Go: Mode I (connection terminated, messages), Mode II (connection translated) and
// Mode III (connection augmented, pipes);
// AllReduce, Reduce, Broadcast and Barrier, fixed by configuration or told in-band by the ranks; SUM, MIN and MAX of FP32, FP16, BF16
// and INT32, in place or reproducible. It is written from docs/engine.md, docs/pipes.md and docs/termination.md, which section of them a
// function implements is said there, and shares no code with the generator: it may import roce and nothing else of this
// module.
//
// It is a software switch (Handle takes a frame and a port and returns frames and ports), an executable specification
// (one file per module as the paper names them) and the subject of model checking (Step takes decoded packets;
// AppendState and Restore make states into short byte strings).
//
// What an engine of Mode III or I does by itself, sending, time-outs, the end of waits, are actions. By default the engine takes them: sends in
// the call that makes them possible, the others in Tick, which NextDeadline says when to call. With SetManual the caller takes them, in any
// order in which they may be taken (Actions, Due, Act): so a judge repeats what a design did, and a model checker tries everything.
//
// A frame passes the files in this order:
//
//	parser.go            which bytes are what; frames that are wrong in themselves
//	lookup_table.go      QPN to endpoint record; foreign senders; what may come from an endpoint
//	control.go           ranges: which collective a packet belongs to, who has what part in it, whose PSNs are whose
//	check_duplicate.go   a child's ePSN and the slot's tag: new, retransmitted, ahead, overrun
//	aggregate_data.go    adding a contribution to its slot
//	arithmetic.go        what adding is, for every type and operation
//	recycle_buffer.go    when a slot is used again
//	replicate_data.go    who gets a result, a copy of parent data, or a result once more
//	receive_ack.go       who has what: ACKs of Reduce and Broadcast, and data that everybody has
//	reflect.go           ACKs of AllReduce and Barrier go back to their host; CNPs; the gap NAK
//	translate_header.go  the headers of what leaves by an endpoint
//	forward.go           bypass; serialising and counting what leaves
//	park.go              groups without slots
//
// Several engines behind one set of ports are a Switch (switch.go).
//
// In Mode III these take the place of check_duplicate.go, recycle_buffer.go, replicate_data.go and reflect.go:
//
//	pipe.go              data: seen before, too early, no room, taken; which slot is whose; what is complete and what is free
//	send_ack.go          the answers to data: ACK, NAK, RNR NAK and CNP
//	receive_ack.go       what endpoints have of what was sent to them
//	retransmission.go    what is sent to whom, first and again; timers
//	action.go            who takes the actions, and in what order
//
// In Mode I what a group is and does is package message, messages.go leads to it, and action.go is shared with Mode III.
//
// Beside the way of a frame are config.go (settings), counters.go, state.go and pipe_state.go (states as bytes), unfinished.go, look.go and
// invariants.go (for those who watch), and rules.go (rules known to be wrong, for model checking).
//
// An Engine is not safe for concurrent use. It starts no goroutine, reads no clock and is deterministic.
//
// Long: it is one engine over one state. The steps in the way of a frame all read or write the same groups, endpoints,
// slots and counters; as packages they would have to export that state to each other. Only the arithmetic could leave,
// a twelfth of the lines.
package inc

import (
	"fmt"

	"incforge/roce"
)

// Time is a moment in picoseconds since the start of the run. Mode II has no timers and ignores it. For a Mode III engine it must
// not run backward.
type Time int64

// Out is something that leaves the engine.
type Out struct {
	// Port is the port it leaves by.
	Port int
	// Frame is the whole Ethernet frame without FCS; nil if Step made the Out. An engine-made frame belongs to the
	// caller from now on: the engine neither keeps nor changes it. A bypassed frame is the very slice given to Handle.
	Frame []byte
	// Err is the error bit of a bypassed frame, as it came in. Frames the engine makes have none.
	Err bool
	// Engine is the number of the engine that it comes from in a Switch; the number of engines if it went round them.
	Engine int
	// Bypass tells that the frame is not the engine's work but passed through unchanged.
	Bypass bool
	// Packet is the decoded view of an engine-made frame, what roce.Decode makes of Frame. Its Payload points into Frame
	// or, after Step, to a copy that the Outs of one call share. It is the packet given to Step if that was bypassed,
	// and empty if Handle bypassed a frame.
	Packet roce.Packet
}

// Engine is one switch's IncEngine. Make it with New.
type Engine struct {
	// Configuration; AppendState does not contain it.
	params        Params
	table         []Endpoint
	bypassPort    []int
	ipID          uint16
	gapNAK        bool
	foreignBypass bool
	pipeCtrl      PipeCtrl
	pipeTimeout   Time
	parkRNR       bool // CTRL.park_rnr
	parkTimer     uint8
	ackEvery      int  // Mode I: how many packets in a row may go without an answer
	manual        bool // the caller takes the actions

	// State; group also holds the group's settings.
	groups []group
	slots  []slot
	words  []uint32 // the elements in the slots, slot after slot, Params.slotWords each

	// What one call needs only while it lasts, here so that it need not be allocated each time.
	addend []uint32 // a contribution to be added
	result []byte   // a payload to be sent
	tree   []uint32 // the contributions while they are reduced to a result
	now    Time     // of the call
	outs   []Out    // what leaves, in Mode III
	arena  []byte   // the payloads of outs
	due    []Action // taken by Tick
	spare  group    // what Restore reads, in Mode III
	queue  []Action // sends to be taken in turn; group.queued says which

	counters   Counters
	interrupts interrupts
}

// New makes an engine with every register at its reset value: no endpoint valid, no group enabled, gap NAKs on,
// foreign frames dropped, frames that are not ours sent back out of the port they came in by. It returns every
// parameter that is out of range, wrapped in ErrRange.
func New(p Params) (*Engine, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("parameters of the reference engine: %w", err)
	}
	e := &Engine{
		params:     p,
		table:      make([]Endpoint, p.TableSize()),
		bypassPort: make([]int, p.Ports),
		ipID:       0x1111,
		gapNAK:     true,
		pipeCtrl:   PipeCtrl{RNRTimer: 1, RNR: true},
		parkRNR:    true,
		parkTimer:  1,
		ackEvery:   resetAckEvery,
		groups:     make([]group, p.Groups),
		slots:      make([]slot, p.Slots),
		words:      make([]uint32, p.Slots*p.slotWords()),
		addend:     make([]uint32, p.MTU/2),
		result:     make([]byte, p.MTU),
		tree:       make([]uint32, p.contributions()*p.MTU/2),
	}
	for i := range e.bypassPort {
		e.bypassPort[i] = i
	}
	for i := range e.groups {
		e.groups[i].ends = make([]endpointState, p.Members+1)
		if p.pipes() {
			e.groups[i].sends = make([]sendSide, p.Members+1)
			e.groups[i].selfAddressed = p.follows(RuleB9)
		}
	}
	if p.pipes() {
		e.spare.ends, e.spare.sends = make([]endpointState, p.Members+1), make([]sendSide, p.Members+1)
		e.spare.current.offsets = make([]offsets, p.Members+1)
		e.spare.selfAddressed, e.spare.current.same = p.follows(RuleB9), p.follows(RuleSameOffsets)
	}
	e.SetPipeTimeout(p.resetTimeout())
	return e, nil
}

// Params gives the parameters the engine was made with.
func (e *Engine) Params() Params { return e.params }

// Counters gives the counters' present values.
func (e *Engine) Counters() Counters { return e.counters }

// Handle takes one frame, in from port 0 to Ports−1, and returns what leaves because of it, in order. rxErr is the
// error bit of the frame's last beat. This is the whole of docs/engine.md section 3.
//
// The engine keeps no reference to frame. The slices returned are fresh and the caller's. A port that does not exist
// is the caller's mistake: nothing happens and nothing is counted.
func (e *Engine) Handle(now Time, port int, frame []byte, rxErr bool) []Out {
	return e.handle(now, port, frame, rxErr, false)
}

// HandleStale is Handle for a frame that came in before its group was started and is decided later.
func (e *Engine) HandleStale(now Time, port int, frame []byte, rxErr bool) []Out {
	return e.handle(now, port, frame, rxErr, true)
}

func (e *Engine) handle(now Time, port int, frame []byte, rxErr, stale bool) []Out {
	if port < 0 || port >= e.params.Ports {
		return nil
	}
	e.count(RxFrames)
	var p roce.Packet
	plain := frame
	if e.params.VLAN {
		plain, p.VLAN = untag(frame)
	}
	if !parseHeaders(plain, &p) {
		return e.leaving(e.bypassFrame(port, frame, rxErr))
	}
	at, fate := e.lookup(port, &p, stale)
	switch fate {
	case fateBypass:
		return e.leaving(e.bypassFrame(port, frame, rxErr))
	case fateDrop:
		return nil
	}
	if reason, bad := e.checkFrame(at, plain, rxErr, &p); bad {
		e.count(reason)
		return nil
	}
	if e.params.acts() {
		e.processPipes(now, at, &p)
		return serialise(e.leaving(e.outs))
	}
	return serialise(e.leaving(e.process(at, &p)))
}

// Step is Handle for a decoded packet: everything of docs/engine.md section 3 but what can be wrong with a frame as
// such (rule 1 before the QPN, and of rule 4 the error bit, IP checksum, lengths and ICRC). Frame is nil in what it
// returns. The packet must be one that fits the wire: field values in range, payload and pad together a multiple of 4.
//
// The engine keeps no reference to the payload. A port that does not exist is the caller's mistake, as in Handle.
func (e *Engine) Step(now Time, port int, p roce.Packet) []Out {
	if port < 0 || port >= e.params.Ports {
		return nil
	}
	e.count(RxFrames)
	at, fate := e.lookup(port, &p, false)
	switch fate {
	case fateBypass:
		return e.leaving(e.bypassPacket(port, &p))
	case fateDrop:
		return nil
	}
	if e.wrongTag(at, &p) {
		e.count(DropVLAN)
		return nil
	}
	if e.params.acts() {
		e.processPipes(now, at, &p)
		return detachAll(e.leaving(e.outs))
	}
	return detach(e.leaving(e.process(at, &p)))
}

// processPipes is process in Modes III and I, and what the engine does by itself because of it. What leaves is left in e.outs.
func (e *Engine) processPipes(now Time, at place, p *roce.Packet) {
	e.begin(now)
	if reason, bad := e.checkPacket(p); bad {
		e.count(reason)
		return
	}
	if e.params.terminates() {
		e.messagePacket(at, p)
	} else {
		e.pipePacket(at, p)
	}
	e.takeNow(at.group)
}

// incoming is a packet of ours and what it belongs to.
type incoming struct {
	*roce.Packet // its PSN is the wire's
	place
	span *span    // the range, in a fixed group all there is
	psn  roce.PSN // the group's
}

// process handles a packet of ours, whole and undamaged, for an enabled group: the packet's own checks of rule 4, then
// rules 5 to 8.
func (e *Engine) process(at place, p *roce.Packet) []Out {
	if reason, bad := e.checkPacket(p); bad {
		e.count(reason)
		return nil
	}
	g := &e.groups[at.group]
	in := incoming{Packet: p, place: at, span: &g.current, psn: p.PSN}
	if g.InBand && p.Op != roce.CNP {
		var outs []Out
		if in.span, in.psn, outs = e.findSpan(at, p); in.span == nil {
			return outs
		}
	}
	if reason, bad := e.checkRole(&in); bad {
		e.count(reason)
		return nil
	}
	switch {
	case p.Op == roce.Acknowledge:
		return e.receiveAck(&in)
	case p.Op == roce.CNP:
		return e.receiveCNP(&in)
	}
	if outs, ok := e.reack(&in); ok {
		return outs
	}
	if in.span.in&at.bit() != 0 { // a child, even if it is the parent as well
		return e.upData(&in)
	}
	return e.downData(&in) // checkRole let nothing else through
}

// upData is rule 5: a contribution of a child, told apart by CheckDuplicate, added by AggregateData, and sent on by
// ReplicateData if it was the last one missing.
func (e *Engine) upData(in *incoming) []Out {
	g := &e.groups[in.group]
	s := g.slotOf(in.psn)
	what := e.checkDuplicate(in, s)
	if what == slotless {
		return e.withoutSlot(in.place, in.Packet)
	}
	if what == stale {
		if outs, ok := e.acknowledgedBefore(in); ok {
			return outs
		}
	}
	e.count(UpData)
	switch what {
	case ahead:
		e.count(DropGap)
		return e.gapNak(in)
	case retransmitted:
		e.count(TxResend)
		return e.resend(in, s)
	case stale:
		e.count(DropStale)
		return nil
	case overrun:
		e.count(DropWindow)
		return nil
	}
	if !e.fits(s, in) {
		e.count(DropShape)
		return nil
	}
	if e.params.follows(RuleA2) {
		e.slots[g.slotOf(in.psn.Add(g.window()))] = emptySlot()
	}
	e.aggregate(in, s)
	if e.slots[s].mask&in.span.in != in.span.in {
		e.count(Buffered)
		return nil
	}
	e.complete(g, s, in.psn)
	return e.sendResult(in, s)
}

// downData is rule 6: what the parent sends goes to all of the out mask. Nothing is filtered; a duplicate reaches the hosts,
// who acknowledge it again. An in-band group follows the parent's PSN, as the parent may be a child in the next range, and
// keeps done and the slots up with a Broadcast, in which nothing completes.
func (e *Engine) downData(in *incoming) []Out {
	if e.keepsNot(in) {
		return e.withoutSlot(in.place, in.Packet)
	}
	e.count(DownData)
	g := &e.groups[in.group]
	if end := &g.ends[in.member]; g.InBand && in.PSN.Next().Diff(end.ePSN) > 0 {
		end.ePSN, end.nakSent = in.PSN.Next(), false
		if in.span.collective == CollectiveBroadcast {
			g.done = g.done.Max(in.psn)
			slot := &e.slots[g.slotOf(in.psn)]
			g.discard(slot)
			*slot = emptySlot()
		}
	}
	return e.replicate(in, dataPacket{
		op: in.Op, psn: in.psn, pad: in.Pad, se: in.SE, imm: in.Imm, ce: in.CE(), payload: in.Payload,
	})
}

// count adds one to a counter.
func (e *Engine) count(c Counter) { e.counters[c]++ }
