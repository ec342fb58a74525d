// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// TB runs tasks on a model. Tasks run one at a time, in the goroutine that called Run:
// they need no locks among themselves.
type TB struct {
	m     *Model
	tasks []*Task // started and not ended
	ready []*Task // to run now, in order
	spare []*Task // the other half of ready's double buffer

	edge    []waiter // of the next rising edge
	falling []waiter // of the next falling edge
	edges   alarms   // of later rising edges, by cycle
	timers  alarms   // by picosecond

	seq        uint64 // alarms ever set
	nowPS      uint64 // simulated time
	foreground int    // tasks that Run waits for
	current    *Task
	inRun      bool
}

// NewTB returns a bench for the model. A model has one bench at most.
func NewTB(m *Model) *TB {
	tb := &TB{m: m}
	m.OnReact(tb.react)
	return tb
}

// Model returns the model under test.
func (tb *TB) Model() *Model { return tb.m }

// NowNS returns the simulated time in ns.
func (tb *TB) NowNS() float64 { return float64(tb.nowPS) / 1000 }

// Start starts a task; Run ends when all tasks started so have ended. The task first
// runs when Run begins, or, started by another task, as soon as that one waits.
func (tb *TB) Start(name string, f func(t *Task)) *Task { return tb.start(name, f, false) }

// StartDaemon starts a task that Run does not wait for: a responder that loops for
// ever. It is ended when Run ends.
func (tb *TB) StartDaemon(name string, f func(t *Task)) *Task { return tb.start(name, f, true) }

func (tb *TB) start(name string, f func(t *Task), daemon bool) *Task {
	t := newTask(tb, name, f, daemon)
	tb.tasks = append(tb.tasks, t)
	if !daemon {
		tb.foreground++
	}
	tb.ready = append(tb.ready, t)
	return t
}

// HangError says that tasks did not end in the time allowed, or never can.
type HangError struct {
	Cycle   uint64 // when the bench gave up
	Reason  string
	Waiting []WaitingTask
}

// WaitingTask is a task that had not ended, and what it waited for.
type WaitingTask struct {
	Task string
	For  string // "rising edge", "event sent", ...
	File string // Go source line of the wait
	Line int
}

func (e *HangError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (cycle %d); waiting:", e.Reason, e.Cycle)
	for _, w := range e.Waiting {
		fmt.Fprintf(&b, "\n  task %s waits for %s at %s:%d", w.Task, w.For, w.File, w.Line)
	}
	return b.String()
}

// Run runs the bench until all its tasks but the daemons have ended, the test fails,
// or maxCycles more clocks have passed, which is a *HangError that names the tasks
// still waiting. It returns the first failure. Whatever the end, no task is left.
func (tb *TB) Run(maxCycles uint64) error {
	if tb.inRun {
		return tb.m.Fail(errors.New("Run called inside a task"))
	}
	tb.inRun = true
	defer func() { tb.inRun = false }()
	defer tb.kill()
	tb.drain()
	for n := uint64(0); tb.m.err == nil && tb.foreground > 0; n++ {
		switch {
		case n == maxCycles:
			return tb.m.Fail(tb.hang(fmt.Sprintf("not done after %d cycles", maxCycles)))
		case tb.deadlocked():
			return tb.m.Fail(tb.hang("no task can ever run again"))
		}
		tb.step()
	}
	return tb.m.err
}

// deadlocked reports that nothing is left that could wake a task: no clock, no timer,
// and no callback but the bench's own that could set an event.
func (tb *TB) deadlocked() bool {
	return len(tb.ready) == 0 && len(tb.edge) == 0 && len(tb.falling) == 0 && len(tb.edges) == 0 && len(tb.timers) == 0 &&
		len(tb.m.onSample) == 0 && len(tb.m.onReact) == 1 && len(tb.m.onDrive) == 0
}

func (tb *TB) hang(reason string) error {
	e := &HangError{Cycle: tb.m.now, Reason: reason}
	var waits []*Task
	for _, t := range tb.tasks {
		if !t.daemon {
			waits = append(waits, t)
		}
	}
	for _, t := range waits { // a task knows its line of code only as it is ended
		t.kill()
		e.Waiting = append(e.Waiting, t.where)
	}
	return e
}

func (tb *TB) kill() {
	for len(tb.tasks) > 0 {
		tb.tasks[len(tb.tasks)-1].kill()
	}
	clear(tb.ready)
	tb.ready, tb.edge, tb.falling, tb.edges, tb.timers = tb.ready[:0], nil, nil, nil, nil
	tb.foreground = 0
}

// step performs one clock: in one call where nobody looks between the edges.
func (tb *TB) step() {
	m := tb.m
	next := tb.nowPS + m.periodPS
	if len(tb.falling) == 0 && (len(tb.timers) == 0 || tb.timers[0].at > next) {
		tb.nowPS = next
		if m.Cycle() == nil {
			m.dispatch(m.onSample, m.onReact, m.onDrive)
		}
		return
	}
	if len(m.clocks) > 0 {
		m.Fail(errors.New("a task waits for a falling edge or a timer of a model with several clocks"))
		return
	}
	// Somebody looks between the edges: falling edge and timers in order of time.
	half := tb.nowPS + m.periodPS/2
	fallen, dirty := false, false
	for m.err == nil {
		until := half
		if fallen {
			until = next
		}
		if len(tb.timers) > 0 && tb.timers[0].at < until {
			tb.nowPS = tb.timers[0].at
			tb.settle()
			tb.timers.wakeDue(tb.nowPS)
			tb.drain()
			dirty = true
			continue
		}
		if fallen {
			break
		}
		tb.nowPS, fallen = half, true
		m.attend(m.inst.fall())
		tb.wakeAll(&tb.falling)
		tb.timers.wakeDue(half)
		dirty = len(tb.ready) > 0
		tb.drain()
	}
	if dirty { // what the tasks drove must reach the registers and the samples
		tb.settle()
	}
	if m.err != nil {
		return
	}
	tb.nowPS = next
	m.now++
	if m.attend(m.inst.rise()) == nil {
		m.dispatch(m.onSample, m.onReact, m.onDrive)
	}
}

func (tb *TB) settle() {
	if tb.m.err == nil {
		tb.m.attend(tb.m.inst.settle(tb.nowPS))
	}
}

// react is the bench's place in a Tick: wake what waits for this edge and run it.
func (tb *TB) react() {
	if !tb.inRun {
		return
	}
	tb.wakeAll(&tb.edge)
	tb.edges.wakeDue(tb.m.now)
	tb.timers.wakeDue(tb.nowPS)
	tb.drain()
}

func (tb *TB) wakeAll(list *[]waiter) {
	for _, w := range *list {
		w.wake()
	}
	*list = (*list)[:0]
}

// drain runs every task that can run, until none can.
func (tb *TB) drain() {
	wasBusy := tb.m.busy
	tb.m.busy = true
	defer func() { tb.m.busy = wasBusy }()
	for len(tb.ready) > 0 && tb.m.err == nil {
		batch := tb.ready
		tb.ready = tb.spare[:0]
		for i, t := range batch {
			batch[i] = nil
			if tb.m.err == nil {
				tb.current = t
				t.resume()
				tb.current = nil
			}
		}
		tb.spare = batch[:0]
	}
}

// waiter is one wait of one task for one of its triggers. It is void once the task
// has gone on: then the generations differ.
type waiter struct {
	t    *Task
	gen  uint64
	slot int
}

// wake tells the task that the trigger fired, and reports whether the task now runs.
func (w waiter) wake() bool {
	t := w.t
	if t.gen != w.gen || t.done {
		return false
	}
	if t.fired != nil { // Combine: count each trigger once
		if t.fired[w.slot] {
			return false
		}
		t.fired[w.slot] = true
		if t.left--; t.left > 0 {
			return false
		}
	}
	t.first = w.slot
	t.gen++
	t.tb.ready = append(t.tb.ready, t)
	return true
}

// void reports whether nobody waits here any more.
func (w waiter) void() bool { return w.t.gen != w.gen || w.t.done }

// alarm wakes a waiter at a cycle or a time.
type alarm struct {
	at  uint64
	seq uint64 // order of arming, for equal times
	w   waiter
}

func (a alarm) before(b alarm) bool { return a.at < b.at || (a.at == b.at && a.seq < b.seq) }

// alarms is a heap of alarms, earliest first. (container/heap would allocate for
// every wait.)
type alarms []alarm

func (a *alarms) push(x alarm) {
	h := append(*a, x)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	*a = h
}

func (a *alarms) pop() alarm {
	h := *a
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], alarm{}
	h = h[:last]
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && h[down].before(h[least]) {
				least = down
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*a = h
	return top
}

// wakeDue wakes every waiter whose time has come.
func (a *alarms) wakeDue(now uint64) {
	for len(*a) > 0 && (*a)[0].at <= now {
		a.pop().w.wake()
	}
}

// psOf converts a time in ns, at least 1 ps.
func psOf(ns float64) (uint64, error) {
	if !(ns > 0) || ns > math.MaxInt64/1000 {
		return 0, fmt.Errorf("a timer of %v ns: want more than 0", ns)
	}
	return max(1, uint64(math.Round(ns*1000))), nil
}
