// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"errors"
	"fmt"

	"incforge/roce"
)

// ErrAction means that an action may not be taken now (docs/pipes.md section 3).
var ErrAction = errors.New("action may not be taken now")

// Pipe is one of a group's two pipes.
type Pipe uint8

// The pipes (docs/pipes.md section 1).
const (
	// PipeAggregation is filled by the children and sent to the parent. At the root of an AllReduce or Barrier nothing is sent from it.
	PipeAggregation Pipe = iota
	// PipeBroadcast is filled by the parent, at the root of an AllReduce or Barrier by what is complete, and sent to the out mask.
	PipeBroadcast

	numPipes
)

// String names the pipe as docs/pipes.md does.
func (p Pipe) String() string {
	switch p {
	case PipeAggregation:
		return "aggregation"
	case PipeBroadcast:
		return "broadcast"
	}
	return fmt.Sprintf("Pipe(%d)", uint8(p))
}

// ActionKind is what an action does. The values are those of mon_act_kind (docs/pipes.md section 7), where 0 is a frame.
type ActionKind uint8

// The actions that a Mode III engine takes by itself (docs/pipes.md section 3).
const (
	// ActSend sends a pipe's next slot to all out endpoints that keep up.
	ActSend ActionKind = iota + 1
	// ActSendOne sends the next slot to an endpoint that lags.
	ActSendOne
	// ActTimeout goes back to what an endpoint has not acknowledged.
	ActTimeout
	// ActResume ends an endpoint's wait after an RNR NAK.
	ActResume
)

// String is the action's name in docs/pipes.md section 3.
func (k ActionKind) String() string {
	switch k {
	case ActSend:
		return "send"
	case ActSendOne:
		return "send one"
	case ActTimeout:
		return "time-out"
	case ActResume:
		return "resume"
	}
	return fmt.Sprintf("ActionKind(%d)", uint8(k))
}

// Action is something that a Mode III engine does by itself, as a whole, between two frames.
type Action struct {
	Kind ActionKind
	// Group is the group, 0 to Params.Groups−1.
	Group int
	// Pipe is the pipe that ActSend sends from.
	Pipe Pipe
	// Endpoint is whom all others are about, 0 to Params.Members.
	Endpoint int
}

// String is the action as docs/pipes.md writes it, with its group.
func (a Action) String() string {
	if a.Kind == ActSend {
		return fmt.Sprintf("%v(%v) of group %d", a.Kind, a.Pipe, a.Group)
	}
	return fmt.Sprintf("%v(%d) of group %d", a.Kind, a.Endpoint, a.Group)
}

// SetManual says who takes a Mode III engine's actions. Manual: the caller, by Act or ActStep; Handle and Step do no more than
// the frame asks for, which is its answers, and Tick does nothing. Otherwise, as after New: Handle, Step and Tick take all sends
// that may be taken, those of Handle and Step of the frame's group, from one queue in turn (docs/pipes.md section 3), and Tick
// takes the time-outs and resumes that are due before.
func (e *Engine) SetManual(on bool) { e.manual = on }

// Actions appends to dst all actions that may be taken now, whatever the time: a time-out for every endpoint that has something
// outstanding, a resume for every one that waits. The order is by group; in a group the pipes' sends, then the sends to those that
// lag, the time-outs and the resumes, each in ascending order. In Mode II there are none.
func (e *Engine) Actions(dst []Action) []Action {
	return e.appendActions(dst, func(Time) bool { return true })
}

// Due is Actions without the time-outs and resumes whose time is after now. Sends are always due.
func (e *Engine) Due(now Time, dst []Action) []Action {
	return e.appendActions(dst, func(deadline Time) bool { return deadline <= now })
}

// appendActions appends the actions that may be taken, of those that need a time only the ones up holds for.
func (e *Engine) appendActions(dst []Action, up func(deadline Time) bool) []Action {
	if !e.params.acts() {
		return dst
	}
	for number := range e.groups {
		g := &e.groups[number]
		if !g.enabled {
			continue
		}
		for p := range numPipes {
			if a := (Action{Kind: ActSend, Group: number, Pipe: p}); g.allows(a) {
				dst = append(dst, a)
			}
		}
		for kind := ActSendOne; kind <= ActResume; kind++ {
			for member := range g.ends {
				if a := (Action{Kind: kind, Group: number, Endpoint: member}); g.allows(a) && (kind == ActSendOne || up(g.deadline(member))) {
					dst = append(dst, a)
				}
			}
		}
	}
	return dst
}

// Deadline is the time from which on a time-out or resume is due; ok is false if the action may not be taken now at all, or is a
// send, which needs no time.
func (e *Engine) Deadline(a Action) (at Time, ok bool) {
	if a.Kind != ActTimeout && a.Kind != ActResume || !e.allows(a) {
		return 0, false
	}
	return e.groups[a.Group].deadline(a.Endpoint), true
}

// NextDeadline is when Tick must be called next: the earliest time at which a time-out or resume is due, or, if there is a send
// left over that the engine should take by itself (after Restore, or SetManual), at once. ok is false if there is nothing to wait
// for; in Mode II there never is (protocol.md section 4: no transport state).
func (e *Engine) NextDeadline() (at Time, ok bool) {
	if !e.params.acts() {
		return 0, false
	}
	for number := range e.groups {
		g := &e.groups[number]
		if !g.enabled {
			continue
		}
		if !e.manual && g.wantsToSend() {
			return e.now, true
		}
		for mask := g.listeners(); mask != 0; mask &= mask - 1 {
			member := lowest(mask)
			if deadline := g.deadline(member); g.timed(member) && (!ok || deadline < at) {
				at, ok = deadline, true
			}
		}
	}
	return at, ok
}

// Tick lets a Mode III engine take the time-outs and resumes that are due at now, and all sends that may be taken, and returns what
// leaves because of it. In Mode II, and if actions are the caller's (SetManual), it does nothing.
func (e *Engine) Tick(now Time) []Out {
	if !e.params.acts() || e.manual {
		return nil
	}
	e.begin(now)
	e.due = e.Due(now, e.due[:0])
	for _, a := range e.due {
		if a.Kind == ActTimeout || a.Kind == ActResume {
			e.take(a)
		}
	}
	for number := range e.groups {
		e.enqueue(number)
	}
	e.takeSends()
	return serialise(e.leaving(e.outs))
}

// listeners are those to whom a group may send something, one bit each.
func (g *group) listeners() uint32 {
	if g.messages != nil {
		return g.messages.Hears()
	}
	return g.current.hearers()
}

// timed tells whether an endpoint's timer runs, or its wait; deadline is when it is over.
func (g *group) timed(member int) bool {
	if g.messages != nil {
		return g.messages.MayResume(member) || g.messages.MayTimeout(member)
	}
	s := &g.sends[member]
	return s.waits || s.outstanding() && !s.failed
}

func (g *group) deadline(member int) Time {
	if g.messages != nil {
		return Time(g.messages.Deadline(member))
	}
	return g.sends[member].deadline
}

// Act takes an action as a whole and returns what leaves because of it. It is an error, ErrAction, if the action may not be taken
// now; whether a time-out or resume is due is not looked at (see Due and Deadline), but their new times count from now.
func (e *Engine) Act(now Time, a Action) ([]Out, error) {
	if err := e.act(now, a); err != nil {
		return nil, err
	}
	return serialise(e.leaving(e.outs)), nil
}

// ActStep is Act with decoded packets: Frame is nil in what it returns.
func (e *Engine) ActStep(now Time, a Action) ([]Out, error) {
	if err := e.act(now, a); err != nil {
		return nil, err
	}
	return detachAll(e.leaving(e.outs)), nil
}

// act leaves in e.outs what an action makes leave.
func (e *Engine) act(now Time, a Action) error {
	if !e.allows(a) {
		return fmt.Errorf("%v: %w", a, ErrAction)
	}
	e.begin(now)
	e.take(a)
	return nil
}

// begin begins a call at a time.
func (e *Engine) begin(now Time) { e.now, e.outs, e.arena = now, nil, e.arena[:0] }

// allows tells whether an action may be taken, whatever the time.
func (e *Engine) allows(a Action) bool {
	return e.params.acts() && a.Group >= 0 && a.Group < len(e.groups) && e.groups[a.Group].enabled && e.groups[a.Group].allows(a)
}

// queued is the bit of an action in group.queued.
func (a Action) queued() uint64 {
	if a.Kind == ActSend {
		return 1 << (MaxMembers + 1 + a.Pipe)
	}
	return 1 << a.Endpoint
}

// enqueue lets those in a group that want to send and do not stand in the queue stand there, pipes first.
func (e *Engine) enqueue(number int) {
	g := &e.groups[number]
	if !g.enabled {
		return
	}
	add := func(a Action) {
		if g.queued&a.queued() == 0 && g.allows(a) {
			g.queued |= a.queued()
			e.queue = append(e.queue, a)
		}
	}
	for p := range numPipes {
		add(Action{Kind: ActSend, Group: number, Pipe: p})
	}
	for mask := g.listeners(); mask != 0; mask &= mask - 1 {
		add(Action{Kind: ActSendOne, Group: number, Endpoint: lowest(mask)})
	}
}

// takeSends takes sends until nobody wants any more: the first of the queue sends one packet and goes to its end.
func (e *Engine) takeSends() {
	for i := 0; i < len(e.queue); i++ {
		a := e.queue[i]
		e.groups[a.Group].queued &^= a.queued()
		if e.allows(a) {
			e.take(a)
		}
		e.enqueue(a.Group)
	}
	e.queue = e.queue[:0]
}

// takeNow takes the sends of a group, unless actions are the caller's.
func (e *Engine) takeNow(number int) {
	if e.manual {
		return
	}
	e.enqueue(number)
	e.takeSends()
}

// Failed is GROUP_FAILED of group g: the endpoints that answered NAK 0x61 to 0x63 since the group's start, one bit each. It is 0
// for a group that does not exist.
func (e *Engine) Failed(group int) uint32 {
	if group < 0 || group >= len(e.groups) {
		return 0
	}
	if m := e.groups[group].messages; m != nil {
		return m.FailedMask()
	}
	var mask uint32
	for member := range e.groups[group].sends {
		if e.groups[group].sends[member].failed {
			mask |= 1 << member
		}
	}
	return mask
}

// PipeCtrl holds the fields of PIPE_CTRL (docs/pipes.md section 6).
type PipeCtrl struct {
	// RNRTimer is the timer code of the RNR NAKs that the engine sends, 0 to 31 (IBTA 9.7.5.2.8); upper bits are dropped.
	RNRTimer uint8
	// RNR answers data that finds its pipe full with an RNR NAK; otherwise there is no answer.
	RNR bool
	// CNP sends hosts that overrun a pipe a congestion notification.
	CNP bool
}

// SetPipeCtrl writes PIPE_CTRL; before that the timer code is 1, RNR NAKs are on and CNPs off. Mode II does without.
func (e *Engine) SetPipeCtrl(c PipeCtrl) {
	c.RNRTimer &= 0x1F
	e.pipeCtrl = c
}

// SetPipeTimeout writes PIPE_TIMEOUT, the time in microseconds that an endpoint has for an acknowledgement; 0 stands for 1. Before
// that it is 8 times Params.HopRTT. Timers that run are not changed. Mode II does without.
func (e *Engine) SetPipeTimeout(microseconds uint16) {
	e.pipeTimeout = Time(max(microseconds, 1)) * microsecond
}

// microsecond is a microsecond of Time.
const microsecond Time = 1_000_000

// resetTimeout is the reset value of PIPE_TIMEOUT, in microseconds.
func (p Params) resetTimeout() uint16 {
	rtt := p.HopRTT
	if rtt == 0 {
		rtt = DefaultHopRTT
	}
	return uint16(max(1, 8*rtt/1000))
}

// answerTime is the wait that an RNR NAK's syndrome asks for.
func answerTime(syndrome uint8) Time { return Time(roce.RNRDuration(syndrome).Nanoseconds()) * 1000 }
