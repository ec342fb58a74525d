// SPDX-License-Identifier: Apache-2.0

package inc

import "incforge/roce"

// sendSide is what a Mode III engine remembers of what it sent to an endpoint (docs/pipes.md section 1), in group PSNs. Always
// nextUnacked ≤ sendNext ≤ beyond ≤ the pipe's sent.
//
// The timer runs exactly while something is outstanding and the endpoint does not wait, so there is no flag for it.
type sendSide struct {
	nextUnacked roce.PSN // the first that it has not acknowledged
	sendNext    roce.PSN // the next to be sent to it
	beyond      roce.PSN // maxSent + 1
	waits       bool     // for the end of what an RNR NAK asked for
	failed      bool     // it answered NAK 0x61 to 0x63: nothing is sent to it any more
	backOff     uint8    // the timer takes 2^backOff times as long, 0 to maxBackOff
	deadline    Time     // of the timer while it runs, of the wait while it waits
}

// maxBackOff bounds how often the timer's time is doubled.
const maxBackOff = 3

// outstanding tells whether something was sent that is not acknowledged.
func (s *sendSide) outstanding() bool { return s.nextUnacked != s.beyond }

// silent tells whether nothing may be sent to the endpoint now.
func (s *sendSide) silent() bool { return s.waits || s.failed }

// startTimer starts an endpoint's timer, or starts it again.
func (e *Engine) startTimer(s *sendSide) { s.deadline = e.now + e.pipeTimeout<<s.backOff }

// keepUp are the out endpoints of a pipe to which its next slot can be sent, one bit each. Those out endpoints that are not
// among them lag.
func (g *group) keepUp(p Pipe) uint32 {
	outs := g.current.outs(p)
	for mask := outs; mask != 0; mask &= mask - 1 {
		if s := &g.sends[lowest(mask)]; s.sendNext != g.pipes[p].sent || s.silent() {
			outs &^= mask & -mask
		}
	}
	return outs
}

// maySend tells whether send(pipe) may be taken.
func (g *group) maySend(p Pipe) bool {
	return g.pipes[p].sent.Before(g.limit(p)) && g.keepUp(p) != 0
}

// maySendOne tells whether send one(member) may be taken; the endpoint must hear.
func (g *group) maySendOne(member int) bool {
	s := &g.sends[member]
	return !s.silent() && s.sendNext != g.pipes[g.current.pipeTo(member)].sent
}

// wantsToSend tells whether any send may be taken.
func (g *group) wantsToSend() bool {
	if g.messages != nil {
		return g.messagesWant()
	}
	for mask := g.current.hearers(); mask != 0; mask &= mask - 1 {
		if g.maySendOne(lowest(mask)) {
			return true
		}
	}
	return g.maySend(PipeAggregation) || g.maySend(PipeBroadcast)
}

// allows tells whether an action of an enabled group may be taken, whatever the time (docs/pipes.md section 3).
func (g *group) allows(a Action) bool {
	if g.messages != nil {
		return g.allowsMessages(a)
	}
	if a.Kind == ActSend {
		return a.Pipe < numPipes && g.maySend(a.Pipe)
	}
	if a.Endpoint < 0 || a.Endpoint >= len(g.sends) || g.current.hearers()>>a.Endpoint&1 == 0 {
		return false
	}
	s := &g.sends[a.Endpoint]
	switch a.Kind {
	case ActSendOne:
		return g.maySendOne(a.Endpoint)
	case ActTimeout:
		return s.outstanding() && !s.silent()
	case ActResume:
		return s.waits
	}
	return false
}

// take takes an action that is allowed. What leaves is appended to e.outs.
func (e *Engine) take(a Action) {
	g := &e.groups[a.Group]
	if g.messages != nil {
		e.takeMessages(a)
		return
	}
	s := &g.sends[a.Endpoint]
	switch a.Kind {
	case ActSend:
		e.send(a.Group, a.Pipe)
	case ActSendOne:
		e.sendSlot(a.Group, g.current.pipeTo(a.Endpoint), s.sendNext, 1<<a.Endpoint)
	case ActTimeout:
		e.count(Timeout)
		s.sendNext = s.nextUnacked
		s.backOff = min(s.backOff+1, maxBackOff)
		e.startTimer(s)
	case ActResume:
		s.waits = false
		s.sendNext = s.nextUnacked
		e.startTimer(s) // it counts only if something is outstanding
	}
}

// send sends the next slot of a pipe to all that keep up.
func (e *Engine) send(number int, p Pipe) {
	g := &e.groups[number]
	psn := g.pipes[p].sent
	to := g.keepUp(p)
	g.pipes[p].sent = psn.Next()
	e.sendSlot(number, p, psn, to)
}

// sendSlot sends a PSN's slot, which is the next one for each of the endpoints of a mask, in ascending order.
func (e *Engine) sendSlot(number int, p Pipe, psn roce.PSN, to uint32) {
	g := &e.groups[number]
	from := incoming{place: place{group: number}, span: &g.current, psn: psn}
	d := e.resultIn(&from, g.pipeSlot(p, psn))
	at := len(e.arena)
	e.arena = append(e.arena, d.payload...)
	d.payload = e.arena[at:len(e.arena):len(e.arena)]
	for ; to != 0; to &= to - 1 {
		member := lowest(to)
		s := &g.sends[member]
		e.count(TxFanout)
		if psn.Before(s.beyond) {
			e.count(TxRetransmit)
		}
		if !s.outstanding() {
			e.startTimer(s)
		}
		s.sendNext = psn.Next()
		s.beyond = s.beyond.Max(s.sendNext)
		e.outs = append(e.outs, e.dataTo(&from, member, d))
	}
}
