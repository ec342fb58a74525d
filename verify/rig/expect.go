// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// Want is a packet that must leave: to which endpoint, and what it carries.
type Want struct {
	To       int
	Op       roce.Opcode
	PSN      roce.PSN
	Payload  []byte
	Imm      uint32
	Syndrome uint8
	// CE: it is marked as one that met congestion. Sending.Expect takes the mark from the one frame that is sent, unless Own is set: then
	// the slot has it, or nobody.
	CE, Own bool

	loose bool // immediate, syndrome and CE may be any
}

// String is for messages.
func (w Want) String() string {
	return fmt.Sprintf("%v PSN %v to endpoint %d, syndrome %#02x, immediate %#x, %d bytes, CE %v", w.Op, w.PSN, w.To, w.Syndrome, w.Imm, len(w.Payload), w.CE)
}

// DataTo is a SEND ONLY without immediate that must leave to an endpoint.
func DataTo(to int, psn roce.PSN, payload []byte) Want {
	return Want{To: to, Op: roce.SendOnly, PSN: psn, Payload: payload}
}

// AETHTo is an ACK, NAK or RNR NAK that must leave.
func AETHTo(to int, psn roce.PSN, syndrome uint8) Want {
	return Want{To: to, Op: roce.Acknowledge, PSN: psn, Syndrome: syndrome}
}

// AckTo is an ACK that must leave.
func AckTo(to int, psn roce.PSN) Want { return AETHTo(to, psn, roce.AckSyndrome) }

// CNPTo is a congestion notification that must leave.
func CNPTo(to int, psn roce.PSN) Want {
	return Want{To: to, Op: roce.CNP, PSN: psn, Payload: make([]byte, 16)}
}

// Copies are the same packet to several endpoints.
func Copies(w Want, to ...int) []Want {
	var all []Want
	for _, c := range to {
		w.To = c
		all = append(all, w)
	}
	return all
}

// Own are the same packets with a mark that does not depend on the frame that makes them leave.
func Own(ce bool, list ...Want) []Want {
	list = slices.Clone(list)
	for i := range list {
		list[i].CE, list[i].Own = ce, true
	}
	return list
}

// Sending is frames about to be sent. One of its methods sends them, each settled before the next, and says what must come of it; a
// Sending that is given none fails the scenario.
type Sending struct {
	g      *Group
	frames []Frame
	what   string
}

// Send prepares frames to be sent.
func (g *Group) Send(frames ...Frame) *Sending {
	g.T.flush()
	s := &Sending{g: g, frames: frames}
	if len(frames) == 1 {
		s.what = frames[0].What
	}
	g.T.pending = s
	return s
}

// flush fails a scenario that sent something and expected nothing of it.
func (t *T) flush() {
	if s := t.pending; s != nil {
		t.pending = nil
		t.Fatalf("%s: a Send without Expect, Dropped or Out", s.what)
	}
}

// As says what is sent, for messages.
func (s *Sending) As(format string, args ...any) *Sending {
	s.what = fmt.Sprintf(format, args...)
	return s
}

// in runs f with the sending's name before its failures.
func (s *Sending) in(f func()) {
	s.g.T.pending = nil
	if s.what == "" {
		f()
		return
	}
	s.g.T.In(s.what, f)
}

// Out sends and returns what left.
func (s *Sending) Out() (outs []dut.Frame) {
	s.in(func() { outs = s.g.E.Exchange(s.frames...) })
	return outs
}

// Expect sends, and exactly these packets must leave, in any order. None: nothing must.
func (s *Sending) Expect(want ...Want) {
	s.in(func() {
		want = slices.Clone(want)
		for i := range want {
			if len(s.frames) == 1 && !want[i].Own {
				want[i].CE = s.frames[0].CE()
			}
		}
		s.g.Check(s.g.E.Exchange(s.frames...), want...)
	})
}

// ExpectAt sends, and exactly the endpoints of to must get one frame each: Group.CheckAt.
func (s *Sending) ExpectAt(to []int, op roce.Opcode, psn roce.PSN, payload []byte) {
	s.in(func() { s.g.CheckAt(s.g.E.Exchange(s.frames...), to, op, psn, payload) })
}

// Dropped sends one frame: nothing must leave, and it must be counted once under that name.
func (s *Sending) Dropped(c inc.Counter) { s.Counted(c) }

// Counted sends one frame: exactly these packets must leave, and it must be counted once under that name.
func (s *Sending) Counted(c inc.Counter, want ...Want) {
	e := s.g.E
	s.in(func() {
		before := e.Counter(c)
		s.g.Check(e.Exchange(s.frames...), want...)
		if after := e.Counter(c); after != before+1 {
			s.g.T.Fatalf("%v was %d and is %d", c, before, after)
		}
	})
}

// CheckAt checks that exactly the endpoints of to got one frame each, in any order, with this opcode, PSN and payload, whatever else it
// carries.
func (g *Group) CheckAt(outs []dut.Frame, to []int, op roce.Opcode, psn roce.PSN, payload []byte) {
	g.Check(outs, Copies(Want{Op: op, PSN: psn, Payload: payload, loose: true}, to...)...)
}

// Check checks that exactly these packets left, in any order, with the headers of their endpoints. It is written apart from the
// reference, from docs/engine.md section 4.
func (g *Group) Check(outs []dut.Frame, want ...Want) {
	rest := slices.Clone(want)
	for i := range outs {
		o := &outs[i]
		p, err := o.Packet()
		if err != nil || !roce.CheckICRC(o.Data) || len(o.Data) < 60 || o.Err {
			g.T.Fatalf("a frame left that does not decode, has a bad ICRC, fewer than 60 bytes (%d) or the error bit (%v): %v", len(o.Data), o.Err, err)
		}
		got := Want{To: g.Addressee(o.Port, p), Op: p.Op, PSN: p.PSN, Payload: p.Payload, Imm: p.Imm, Syndrome: p.Syndrome, CE: p.CE()}
		at := slices.IndexFunc(rest, got.is)
		if at < 0 {
			g.T.Fatalf("what left is %v; expected are %v", got, want)
		}
		if tos := g.Ends[got.To].TOS; !got.CE && p.TOS != tos {
			g.T.Fatalf("what left is %v with ToS %#02x, its endpoint's is %#02x", got, p.TOS, tos)
		}
		asks := p.AckReq == p.Op.IsSend() || g.T.Messages() && p.Op.IsSend() && !p.Op.EndsMessage() // Mode I asks at a message's end, and now and then
		if !p.DF || p.PKey != roce.DefaultPKey || p.MigReq || p.TVer != 0 || !asks {
			g.T.Fatalf("what left is %v with wrong constants in its headers: %v", got, p)
		}
		rest = slices.Delete(rest, at, at+1)
	}
	if len(rest) > 0 {
		g.T.Fatalf("%d of %d frames never left: %v", len(rest), len(want), rest)
	}
}

// is tells whether what left is w.
func (got Want) is(w Want) bool {
	if w.loose {
		w.Imm, w.Syndrome, w.CE = got.Imm, got.Syndrome, got.CE
	}
	return w.To == got.To && w.Op == got.Op && w.PSN == got.PSN && w.Imm == got.Imm && w.Syndrome == got.Syndrome && w.CE == got.CE &&
		bytes.Equal(w.Payload, got.Payload)
}

// Complete has all members contribute 16 bytes of Values, checks that each gets the result, and returns it.
func (g *Group) Complete(psn roce.PSN) []byte {
	r := g.Round(psn, 16).Draw(g.Members()...)
	r.CompleteBy(g.Members()...)
	return r.Result()
}
