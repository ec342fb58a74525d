// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"cmp"
	"fmt"

	"incforge/inc"
	"incforge/network/host"
)

// rank is CommLib on one host.
type rank struct {
	g     *Group
	n     int
	edge  Edge
	host  *host.Host
	queue []*rangePlan // the first one is under way, if begun
	err   error

	begun                    bool
	posted, sentOut, arrived int // messages of the range: Send and Recv posted, Send completed, Recv completed
	before                   host.Stats
}

// completion is what the NIC tells.
func (r *rank) completion(c host.Completion) {
	r.g.w.progress = max(r.g.w.progress, c.At)
	if r.err != nil {
		return
	}
	if len(r.queue) == 0 {
		r.fail(fmt.Errorf("message %d is sent (%v) or received, nothing is under way", c.Index, c.Sent))
		return
	}
	if c.Sent {
		r.sentOut++
	} else if err := r.take(r.queue[0], c.Message); err != nil {
		r.fail(err)
		return
	}
	r.advance(c.At)
}

func (r *rank) fail(err error) {
	r.err = fmt.Errorf("group %d %s: %w", r.g.index, r, err)
	r.g.w.err = cmp.Or(r.g.w.err, r.err)
}

// take stores a received message.
func (r *rank) take(p *rangePlan, m host.Message) error {
	i := r.arrived
	r.arrived++
	if i == r.heard(p) && r.released(p) {
		if len(m.Payload) > 0 || m.HasImm {
			return fmt.Errorf("release of %d bytes, immediate %#x (%v)", len(m.Payload), m.Imm, m.HasImm)
		}
		return nil
	}
	control, place := i == 0 && p.HasControl, p.recv[r.n]
	from, to := p.Bounds(i)
	switch {
	case len(m.Payload) != to-from:
		return fmt.Errorf("message %d has %d bytes, expected %d", i, len(m.Payload), to-from)
	case control && (!m.HasImm || m.Imm != p.Control):
		return fmt.Errorf("control %#x (immediate: %v), expected %#x", m.Imm, m.HasImm, p.Control)
	case !control && m.HasImm:
		return fmt.Errorf("message %d has an immediate, %#x", i, m.Imm)
	case !control && from < len(place):
		copy(place[from:], m.Payload) // padding falls off the end
	}
	return nil
}

// advance starts and completes whatever it can.
func (r *rank) advance(now uint64) {
	for len(r.queue) > 0 && r.err == nil {
		p := r.queue[0]
		if !r.begun {
			r.begin(p, now)
		}
		r.post(p)
		if r.complete(p) < p.Messages || r.released(p) && r.arrived <= r.heard(p) {
			return
		}
		r.end(p, now)
	}
}

func (r *rank) begin(p *rangePlan, now uint64) {
	r.begun = true
	r.posted, r.sentOut, r.arrived = 0, 0, 0
	if p.first {
		r.before = r.host.Stats
		p.call.Start = min(p.call.Start, now)
	}
}

// complete is how many messages are through on this rank.
func (r *rank) complete(p *rangePlan) int {
	n := r.posted
	if p.sends(r.n) {
		n = min(n, r.sentOut)
	}
	if p.Hears(r.n) {
		n = min(n, r.arrived)
	}
	return n
}

// post keeps a window of messages under way, each a Recv and a Send where the rank does both.
func (r *rank) post(p *rangePlan) {
	for r.posted < p.Messages && r.posted-r.complete(p) < r.g.cfg.Window && !r.holds(p) {
		i := r.posted
		r.posted++
		if p.Hears(r.n) {
			from, to := p.Bounds(i)
			r.host.PostReceive(to - from)
		}
		if r.posted == p.Messages && r.released(p) {
			r.host.PostReceive(0)
		}
		if p.sends(r.n) {
			r.host.Post(p.message(r.n, i))
		}
	}
}

// holds reports that the sender of a Broadcast must not send its last message yet, because the control is not acknowledged. Modes III and I need no such rule:
// a switch opens the next range only when it is through with this one (docs/pipes.md section 4).
func (r *rank) holds(p *rangePlan) bool {
	return !r.g.w.pipes() && p.Kind == Broadcast && p.HasControl && p.sends(r.n) && r.posted == p.Messages-1 && r.sentOut == 0
}

func (r *rank) end(p *rangePlan, now uint64) {
	r.queue, r.begun = r.queue[1:], false
	if p.local(r.n) {
		copy(p.recv[r.n], p.call.kind().InOrder(p.recv[r.n], p.send[r.n]))
	}
	if !p.last {
		return
	}
	c, s, b := p.call, r.host.Stats, r.before
	c.Total.Packets += s.Sent - b.Sent
	c.Total.Resent += s.Resent - b.Resent
	c.Total.Timeouts += s.Timeouts - b.Timeouts
	c.End = max(c.End, now)
	if c.left--; c.left == 0 && !c.done {
		c.end(nil)
	}
}

// reset gives the rank a fresh connection and nothing to do.
func (r *rank) reset(ep inc.Endpoint) {
	if r.g.w.messages() {
		r.host.ReconnectApart(ep.RemoteQPN, ep.LocalQPN, ep.RQPSN, ep.SQPSN)
	} else {
		r.host.Reconnect(ep.RemoteQPN, ep.LocalQPN, r.g.start)
	}
	r.queue, r.err, r.begun = nil, nil, false
}

// String says which rank it is and how far it has come.
func (r *rank) String() string {
	s := fmt.Sprintf("rank %d", r.n)
	if r.host.Dead() {
		s += ", dead"
	}
	if len(r.queue) == 0 {
		return s + ", nothing to do"
	}
	p := r.queue[0]
	s += fmt.Sprintf(", %s, %d ranges to go", p.call, len(r.queue))
	if p.sends(r.n) {
		s += fmt.Sprintf(", %d of %d messages acknowledged", r.sentOut, p.Messages)
	}
	if p.Hears(r.n) {
		s += fmt.Sprintf(", %d of %d received", r.arrived, p.Messages)
	}
	return s
}
