// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"maps"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// Engine is a DUT with its scoreboard and its control plane. Methods of the Board that return errors are still there by its name; those
// below end the scenario instead.
type Engine struct {
	*score.Board
	// Ctl programs the registers and returns errors; Write, Read, Enable and the like do not.
	Ctl *ctrl.Driver
	T   *T

	// Mute, in Modes III and I: the other ends say nothing by themselves. Otherwise Settle has them acknowledge what they get, and leaves out what
	// the engine acknowledges.
	Mute bool
	// Timers: the scenario has set PIPE_TIMEOUT itself. Otherwise nobody is ever late.
	Timers bool

	groups []*Group             // those that were programmed, in Modes III and I
	tags   map[uint32]roce.VLAN // of frames to the endpoints that were programmed, by QPN
}

// Engine makes one more engine, as after reset.
func (t *T) Engine() *Engine {
	t.flush()
	d := fail.Must(t.open(t.Rand.Uint64(), len(t.engines))) // another random initial state for each engine of each scenario
	b := fail.Must(score.New(d, t.Manifest))
	b.Cover = t.Cover
	e := &Engine{Board: b, Ctl: ctrl.New(b, t.Manifest), T: t, tags: map[uint32]roce.VLAN{}}
	t.engines = append(t.engines, e)
	return e
}

// PipeEngine is an engine of Mode III or I whose other ends are mute. Its time-out is in microseconds.
func (t *T) PipeEngine(timeout uint16) *Engine {
	e := t.Engine()
	e.Mute, e.Timers = true, true
	e.SetTimeout(timeout)
	return e
}

// SetTimeout sets the time-out of an engine of Mode III or I, in microseconds. It sends RNR NAKs of the shortest timer but 0 and no CNPs.
func (e *Engine) SetTimeout(timeout uint16) {
	e.T.Check(e.Ctl.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, timeout))
}

// Write writes element i of a register.
func (e *Engine) Write(name string, i int, v uint32) { e.T.Check(e.Ctl.Write(name, i, v)) }

// Read reads element i of a register.
func (e *Engine) Read(name string, i int) uint32 { return fail.Must(e.Ctl.Read(name, i)) }

// Field reads a field of element i of a register.
func (e *Engine) Field(register string, i int, field string) uint32 {
	return fail.Must(e.Ctl.Get(register, i, field))
}

// Set writes element i of a register: one field as given, the others 0.
func (e *Engine) Set(register string, i int, field string, v uint32) {
	e.T.Check(e.Ctl.Set(register, i, field, v))
}

// Counters reads all counters of a settled engine.
func (e *Engine) Counters() map[string]uint64 { return fail.Must(e.Ctl.Counters()) }

// Counter reads one counter of a settled engine.
func (e *Engine) Counter(c inc.Counter) uint64 {
	return fail.Must(e.Ctl.Counter(slices.Index(e.T.Manifest.Counters, c.String()))) // −1 is refused
}

// Counted checks counters of a settled engine.
func (e *Engine) Counted(what string, want map[inc.Counter]uint64) {
	e.T.Counted(what, e.Counters(), want)
}

// Counted checks counters that were read. Of several that are wrong the first by number is told, the same in every run.
func (t *T) Counted(what string, got map[string]uint64, want map[inc.Counter]uint64) {
	for _, c := range slices.Sorted(maps.Keys(want)) {
		if n, ok := got[c.String()]; !ok || n != want[c] {
			t.Fatalf("%s: %v is %d, expected %d", what, c, n, want[c])
		}
	}
}

// StepTo runs the engine until that cycle.
func (e *Engine) StepTo(cycle uint64) {
	e.T.flush()
	e.T.Check(e.Board.StepTo(cycle))
}

// Offer queues a frame at a port, with the 802.1Q tag of the endpoint that it names: scenarios make and change frames without. One that has a
// tag gets no other; Board.Offer takes frames as they are.
func (e *Engine) Offer(port int, f dut.Frame) {
	f.Data = e.Tagged(f.Data)
	e.Board.Offer(port, f)
}

// Tagged is a frame as Offer puts it on the wire.
func (e *Engine) Tagged(frame []byte) []byte {
	if len(frame) < 54 || roce.HeaderAt(frame) != 0 {
		return frame
	}
	return e.tags[uint32(frame[47])<<16|uint32(frame[48])<<8|uint32(frame[49])].Tag(frame)
}

// Put offers frames at once and runs nothing.
func (e *Engine) Put(frames ...Frame) {
	e.T.flush()
	for _, f := range frames {
		e.Offer(f.Port, dut.Frame{Data: f.Data, Err: f.Err})
	}
}

// Full tells whether the queue of a frame's port drops it if it is put now: one that drops keeps no sender waiting, and may not hold it beside
// those that wait there.
func (e *Engine) Full(f Frame) bool {
	p := e.T.Params
	if !p.PortDrop {
		return false
	}
	beats := p.Beats(len(f.Data))
	for w := range e.Queued() {
		if w.Port == f.Port {
			beats += p.Beats(len(w.Data))
		}
	}
	return beats > p.PortQueueBeats()
}

// SettleAsIs runs the engine until it rests and returns what left; the other ends say nothing, whatever the mode.
func (e *Engine) SettleAsIs() []dut.Frame {
	e.T.flush()
	e.T.Check(e.T.ctx.Err())
	e.T.Check(e.Board.Settle())
	return e.Out()
}

// Settle runs the engine until it rests and returns what left. In Modes III and I the other ends acknowledge what they get and the engine's
// own ACKs are left out, unless it is Mute: so scenarios of what all modes do alike need not know of pipes.
func (e *Engine) Settle() (all []dut.Frame) {
	outs := e.SettleAsIs()
	if !e.T.Pipes() || e.Mute {
		return outs
	}
	for {
		var answers []Frame
		for _, o := range outs {
			p, err := o.Packet()
			if err == nil && p.Op == roce.Acknowledge && p.Syndrome == roce.AckSyndrome {
				continue
			}
			if all = append(all, o); err == nil {
				answers = e.acknowledge(answers, o.Port, p)
			}
		}
		if len(answers) == 0 {
			return all
		}
		e.Put(answers...)
		outs = e.SettleAsIs()
	}
}

// acknowledge appends the ACK of whoever gets a data packet that left by a port.
func (e *Engine) acknowledge(answers []Frame, port int, p *roce.Packet) []Frame {
	if !p.Op.IsSend() {
		return answers
	}
	for _, g := range slices.Backward(e.groups) { // the one programmed last, if the same endpoints were programmed twice
		if c := g.Addressee(port, p); c >= 0 {
			return append(answers, g.Ack(c, p.PSN))
		}
	}
	return answers
}

// Exchange sends frames one after the other, each settled before the next, and returns what left.
func (e *Engine) Exchange(frames ...Frame) []dut.Frame {
	var all []dut.Frame
	for _, f := range frames {
		e.Put(f)
		all = append(all, e.Settle()...)
	}
	return all
}
