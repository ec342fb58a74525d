// SPDX-License-Identifier: Apache-2.0

// Package inc is the reference IncEngine in plain Go: Mode II (connection translated), AllReduce and Barrier; SUM, MIN and
// MAX of FP32, FP16, BF16 and INT32, in place or reproducible. It is written from docs/engine.md, which section of it a
// function implements is said there, and shares no code with the generator: it may import roce and nothing else of this
// module.
//
// It is a software switch (Handle takes a frame and a port and returns frames and ports), an executable specification
// (one file per module as the paper names them) and the subject of model checking (Step takes decoded packets;
// AppendState and Restore make states into short byte strings).
//
// A frame passes the files in this order:
//
//	parser.go            which bytes are what; frames that are wrong in themselves
//	lookup_table.go      QPN to endpoint record; foreign senders; which class the packet is of
//	check_duplicate.go   a child's ePSN and the slot's tag: new, retransmitted, ahead, overrun
//	aggregate_data.go    adding a contribution to its slot
//	arithmetic.go        what adding is, for every type and operation
//	recycle_buffer.go    the slot half a ring ahead is emptied when a slot completes
//	replicate_data.go    who gets a result, a copy of parent data, or a result once more
//	reflect.go           ACK, NAK, RNR NAK and CNP go back to their host; the gap NAK
//	translate_header.go  the headers of what leaves by an endpoint
//	forward.go           bypass; serialising and counting what leaves
//
// An Engine is not safe for concurrent use. It starts no goroutine, reads no clock and is deterministic.
package inc

import (
	"fmt"

	"incforge/roce"
)

// Time is a moment in picoseconds since the start of the run. Mode II has no timers and ignores it.
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

	// State; group also holds the group's settings.
	groups []group
	slots  []slot
	words  []uint32 // the elements in the slots, slot after slot, Params.slotWords each

	// What one call needs only while it lasts, here so that it need not be allocated each time.
	addend []uint32 // a contribution to be added
	result []byte   // a payload to be sent
	tree   []uint32 // the contributions while they are reduced to a result

	counters Counters
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
	}
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
func (e *Engine) Handle(_ Time, port int, frame []byte, rxErr bool) []Out {
	if port < 0 || port >= e.params.Ports {
		return nil
	}
	e.count(RxFrames)
	var p roce.Packet
	if !parseHeaders(frame, &p) {
		return e.bypassFrame(port, frame, rxErr)
	}
	at, fate := e.lookup(port, &p)
	switch fate {
	case fateBypass:
		return e.bypassFrame(port, frame, rxErr)
	case fateDrop:
		return nil
	}
	if reason, bad := e.checkFrame(frame, rxErr, &p); bad {
		e.count(reason)
		return nil
	}
	return serialise(e.process(at, &p))
}

// Step is Handle for a decoded packet: everything of docs/engine.md section 3 but what can be wrong with a frame as
// such (rule 1 before the QPN, and of rule 4 the error bit, IP checksum, lengths and ICRC). Frame is nil in what it
// returns. The packet must be one that fits the wire: field values in range, payload and pad together a multiple of 4.
//
// The engine keeps no reference to the payload. A port that does not exist is the caller's mistake, as in Handle.
func (e *Engine) Step(_ Time, port int, p roce.Packet) []Out {
	if port < 0 || port >= e.params.Ports {
		return nil
	}
	e.count(RxFrames)
	at, fate := e.lookup(port, &p)
	switch fate {
	case fateBypass:
		return e.bypassPacket(port, &p)
	case fateDrop:
		return nil
	}
	return detach(e.process(at, &p))
}

// NextDeadline is when Tick must be called next. Mode II has no timers (protocol.md section 4: no transport state), so
// there is never one; the modes that retransmit by themselves keep this shape.
func (e *Engine) NextDeadline() (Time, bool) { return 0, false }

// Tick lets timers expire that are due at now and returns what leaves because of it: in Mode II nothing, ever.
func (e *Engine) Tick(_ Time) []Out { return nil }

// process handles a packet of ours, whole and undamaged, for an enabled group: the packet's own checks of rule 4, then
// rules 5 to 8.
func (e *Engine) process(at place, p *roce.Packet) []Out {
	if reason, bad := e.checkPacket(at, p); bad {
		e.count(reason)
		return nil
	}
	switch {
	case p.Op == roce.Acknowledge:
		return e.reflectAck(at, p)
	case p.Op == roce.CNP:
		return e.reflectCNP(at, p)
	case e.groups[at.group].InMask&at.bit() != 0: // a child, even if it is the parent as well
		return e.upData(at, p)
	default: // checkPacket let nothing else through
		return e.downData(at, p)
	}
}

// upData is rule 5: a contribution of child at.member, told apart by CheckDuplicate, added by AggregateData, and sent
// on by ReplicateData if it was the last one missing.
func (e *Engine) upData(at place, p *roce.Packet) []Out {
	e.count(UpData)
	g := &e.groups[at.group]
	s := g.slotOf(p.PSN)
	switch e.checkDuplicate(at, s, p.PSN) {
	case ahead:
		e.count(DropGap)
		return e.gapNak(at)
	case retransmitted:
		e.count(TxResend)
		return e.resend(at, s, p.PSN)
	case stale:
		e.count(DropStale)
		return nil
	case overrun:
		e.count(DropWindow)
		return nil
	}
	if !e.fits(s, p) {
		e.count(DropShape)
		return nil
	}
	e.aggregate(at, s, p)
	if e.slots[s].mask&g.InMask != g.InMask {
		e.count(Buffered)
		return nil
	}
	e.slots[s].complete = true
	e.recycle(g, p.PSN)
	return e.sendResult(g, at.group, s, p.PSN)
}

// downData is rule 6: what the parent sends goes to all of out_mask. Nothing is remembered and nothing filtered; a
// duplicate reaches the hosts, who acknowledge it again.
func (e *Engine) downData(at place, p *roce.Packet) []Out {
	e.count(DownData)
	return e.replicate(at.group, dataPacket{
		op: p.Op, psn: p.PSN, pad: p.Pad, se: p.SE, imm: p.Imm, ce: p.CE(), payload: p.Payload,
	})
}

// count adds one to a counter.
func (e *Engine) count(c Counter) { e.counters[c]++ }
