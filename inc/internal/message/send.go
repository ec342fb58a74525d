// SPDX-License-Identifier: Apache-2.0

package message

import "incforge/roce"

// sender is an endpoint's send side. Always unacked ≤ next ≤ beyond. The timer runs exactly while something is outstanding and the endpoint does not wait.
type sender struct {
	unacked place // the first packet that it has not acknowledged
	next    place // the next to be sent
	beyond  place // one behind the last ever sent
	waits   bool  // for the end of what an RNR NAK asked for
	failed  bool  // it ended the connection
	backOff uint8 // the timer takes 2^backOff times as long
	// silent is the number of packets since the last AckReq.
	silent   int
	deadline Time
}

// maxBackOff bounds how often the timer's time is doubled, askEvery how long no acknowledgement is asked for.
const (
	maxBackOff = 3
	askEvery   = 16
)

func (s *sender) outstanding() bool { return s.unacked.psn != s.beyond.psn }

func (s *sender) mute() bool { return s.waits || s.failed }

func (s *sender) start(c Clock) { s.deadline = c.Now + c.Timeout<<s.backOff }

// goesAlong tells whether an endpoint takes the same packets as the lowest one of its pool.
func (g *Group) goesAlong(end int) bool { return g.set.MTU[end] == g.mtuOf(g.poolTo(end)) }

// keepUp are the endpoints that a pool's next packet goes to, one bit each.
func (g *Group) keepUp(p Pool) uint32 {
	keep := uint32(0)
	for mask := g.roles.Outs[p]; mask != 0; mask &= mask - 1 {
		end := lowest(mask)
		if s := &g.outs[end]; !s.mute() && g.goesAlong(end) && s.next.along(g.rings[p].sent) {
			keep |= 1 << end
		}
	}
	return keep
}

// MaySend tells whether send(pool) may be taken.
func (g *Group) MaySend(p Pool) bool {
	_, _, ok := g.cut(p, g.rings[p].sent, g.mtuOf(p))
	return ok && !g.poisoned && g.keepUp(p) != 0
}

// MaySendOne tells whether send one(end) may be taken.
func (g *Group) MaySendOne(end int) bool {
	s := &g.outs[end]
	if s.mute() || g.poisoned {
		return false
	}
	if g.roles.Outs[g.poolTo(end)]>>end&1 == 0 || g.owed(end, s.next) {
		return g.owed(end, s.next)
	}
	if g.goesAlong(end) {
		return !s.next.along(g.rings[g.poolTo(end)].sent)
	}
	return g.exists(end, s.next)
}

// MayTimeout tells whether something is outstanding at an endpoint whose timer runs, MayResume whether it waits.
func (g *Group) MayTimeout(end int) bool {
	return g.outs[end].outstanding() && !g.outs[end].mute() && !g.poisoned
}

// MayResume tells whether an endpoint waits for the end of what an RNR NAK asked for.
func (g *Group) MayResume(end int) bool { return g.outs[end].waits && !g.poisoned }

// Deadline is when an endpoint's time-out or wait is over.
func (g *Group) Deadline(end int) Time { return g.outs[end].deadline }

// Send sends a pool's next packet to all that keep up.
func (g *Group) Send(c Clock, p Pool) Piece {
	to, at := g.keepUp(p), g.rings[p].sent
	out := g.piece(p, at, g.mtuOf(p))
	g.rings[p].sent = g.behind(lowest(g.roles.Outs[p]), at)
	for ; to != 0; to &= to - 1 {
		g.copyTo(c, &out, lowest(to))
	}
	return out
}

// SendOne sends an endpoint its next packet, or the release that it is owed.
func (g *Group) SendOne(c Clock, end int) Piece {
	at := g.outs[end].next
	out := Piece{Op: roce.SendOnly, Release: true}
	if !g.owed(end, at) {
		out = g.piece(g.poolTo(end), at, g.set.MTU[end])
	}
	g.copyTo(c, &out, end)
	return out
}

// copyTo sends a packet, which is its next one, to an endpoint.
func (g *Group) copyTo(c Clock, out *Piece, end int) {
	s := &g.outs[end]
	if !s.outstanding() {
		s.start(c)
	}
	again := s.next.psn.Before(s.beyond.psn)
	psn := s.next.psn
	s.next = g.behind(end, s.next)
	if !again {
		s.beyond = s.next
	}
	s.silent++
	ask := out.Op.EndsMessage() || s.silent >= askEvery || !g.exists(end, s.next)
	if ask {
		s.silent = 0
	}
	out.Copies = append(out.Copies, Copy{End: end, PSN: psn, AckReq: ask, Again: again})
}

// Timeout goes back to what an endpoint has not acknowledged.
func (g *Group) Timeout(c Clock, end int) {
	s := &g.outs[end]
	s.next = s.unacked
	s.backOff = min(s.backOff+1, maxBackOff)
	s.start(c)
}

// Resume ends an endpoint's wait.
func (g *Group) Resume(c Clock, end int) {
	s := &g.outs[end]
	s.waits = false
	s.next = s.unacked
	s.start(c) // it counts only if something is outstanding
}

// Fresh tells whether an answer says anything: it is about what was sent, and an ACK about what is not acknowledged.
func (g *Group) Fresh(end int, kind roce.SyndromeKind, psn roce.PSN) bool {
	s := &g.outs[end]
	if kind == roce.SyndromeAck {
		return psn.Diff(s.unacked.psn) >= 0 && psn.Before(s.beyond.psn)
	}
	return psn.Diff(s.unacked.psn) >= 0 && psn.Diff(s.beyond.psn) <= 0
}

// Answer takes an ACK, a NAK of the sequence or an RNR NAK that is fresh; wait is what an RNR NAK asks for.
func (g *Group) Answer(c Clock, end int, kind roce.SyndromeKind, psn roce.PSN, wait Time) {
	s, next := &g.outs[end], psn
	if kind == roce.SyndromeAck {
		next = next.Next()
	}
	again := next.Before(s.beyond.psn) // what it asks for was sent
	if packets := next.Diff(s.unacked.psn); packets > 0 {
		s.unacked = g.walk(end, s.unacked, packets)
		if s.next.psn.Before(next) {
			s.next = s.unacked
		}
		s.backOff = 0
		if !s.waits {
			s.start(c)
		}
		g.free(g.poolTo(end))
		g.settle()
	}
	switch {
	case kind == roce.SyndromeNAK && again && !s.waits:
		s.next = s.unacked
	case kind == roce.SyndromeRNR && again:
		s.waits = true
		s.next = s.unacked
		s.deadline = c.Now + wait
	}
}

// Fail stops sending to an endpoint for good.
func (g *Group) Fail(end int) { g.outs[end].failed = true }

// FailedMask is the endpoints that ended the connection, one bit each.
func (g *Group) FailedMask() (mask uint32) {
	for i := range g.outs {
		if g.outs[i].failed {
			mask |= 1 << i
		}
	}
	return mask
}
