// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"strings"
)

// Trigger is something a task can wait for: the values of the functions below, an
// *Event, another *Task, a queue's NotEmpty.
type Trigger interface {
	fmt.Stringer  // the name in a hang report
	arm(w waiter) // calls w.wake once when it fires, perhaps at once
}

type words string

func (w words) String() string { return string(w) }

type risingEdge struct{}

func (risingEdge) String() string { return "rising edge" }
func (risingEdge) arm(w waiter)   { w.t.tb.edge = append(w.t.tb.edge, w) }

// RisingEdge fires at the next rising edge of the clock.
func RisingEdge() Trigger { return risingEdge{} }

type fallingEdge struct{}

func (fallingEdge) String() string { return "falling edge" }
func (fallingEdge) arm(w waiter)   { w.t.tb.falling = append(w.t.tb.falling, w) }

// FallingEdge fires at the next falling edge of the clock.
func FallingEdge() Trigger { return fallingEdge{} }

type clockCycles uint64

func (n clockCycles) String() string { return fmt.Sprintf("%d clock cycles", uint64(n)) }
func (n clockCycles) arm(w waiter) {
	tb := w.t.tb
	tb.seq++
	tb.edges.push(alarm{at: tb.m.now + max(1, uint64(n)), seq: tb.seq, w: w})
}

// ClockCycles fires at the n-th rising edge from now, at least the next.
func ClockCycles(n uint64) Trigger { return clockCycles(n) }

type timer float64

func (ns timer) String() string { return fmt.Sprintf("timer of %v ns", float64(ns)) }
func (ns timer) arm(w waiter) {
	tb := w.t.tb
	ps, err := psOf(float64(ns))
	if err != nil {
		w.t.Check(err)
	}
	tb.seq++
	tb.timers.push(alarm{at: tb.nowPS + ps, seq: tb.seq, w: w})
}

// Timer fires after simulated nanoseconds, rounded to 1 ps. It must be positive.
func Timer(ns float64) Trigger { return timer(ns) }

// joined describes First and Combine in a hang report.
type joined struct {
	how      string
	triggers []Trigger
}

func (j joined) String() string {
	var names []string
	for _, t := range j.triggers {
		names = append(names, t.String())
	}
	return j.how + " (" + strings.Join(names, ", ") + ")"
}

// String names the task as a thing to wait for.
func (t *Task) String() string { return "end of task " + t.name }

func (t *Task) arm(w waiter) { t.ended.arm(w) }

// Event wakes tasks. The zero value is an event that is not set.
type Event struct {
	Name    string // for hang reports
	set     bool
	waiters waitList
}

// NewEvent returns an event with a name for hang reports.
func NewEvent(name string) *Event { return &Event{Name: name} }

// String names the event.
func (e *Event) String() string {
	if e.Name == "" {
		return "event"
	}
	return "event " + e.Name
}

// Set sets the event and wakes every task that waits for it. Callbacks may call it;
// set from an OnSample callback, the task runs at the same edge.
func (e *Event) Set() {
	e.set = true
	e.waiters.wakeAll()
}

// Clear makes later waits wait again.
func (e *Event) Clear() { e.set = false }

// IsSet reports whether the event is set.
func (e *Event) IsSet() bool { return e.set }

// Wait waits until the event is set; if it is, it returns at once.
func (e *Event) Wait(t *Task) {
	if !e.set {
		t.Await(e)
	}
}

func (e *Event) arm(w waiter) {
	if e.set {
		w.wake()
		return
	}
	e.waiters.add(w)
}

// waitList is a list of waiters in order of arrival.
type waitList []waiter

func (l *waitList) add(w waiter) {
	const worth = 8 // waits given up (First) would pile up for ever
	if len(*l) >= worth {
		*l = slices.DeleteFunc(*l, waiter.void)
	}
	*l = append(*l, w)
}

func (l *waitList) wakeAll() {
	for _, w := range *l {
		w.wake()
	}
	*l = (*l)[:0]
}

// Queue passes values between tasks, and from callbacks to tasks, in order. The zero
// value is an empty queue without limit.
type Queue[T any] struct {
	name             string
	limit            int // 0: none
	items            []T
	head             int
	getters, putters waitList
}

// NewQueue returns a queue for at most limit values (0: any number); the name is for
// hang reports.
func NewQueue[T any](name string, limit int) *Queue[T] { return &Queue[T]{name: name, limit: limit} }

// Len returns the number of values in the queue.
func (q *Queue[T]) Len() int { return len(q.items) - q.head }

// TryPut adds a value unless the queue is full.
func (q *Queue[T]) TryPut(v T) bool {
	if q.limit > 0 && q.Len() >= q.limit {
		return false
	}
	if q.head > 0 && len(q.items) == cap(q.items) { // room at the front before more memory
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
	q.getters.wakeAll()
	return true
}

// Put adds a value, waiting while the queue is full.
func (q *Queue[T]) Put(t *Task, v T) {
	for !q.TryPut(v) {
		t.Await(queueWait{"room in queue " + q.name, &q.putters, nil})
	}
}

// TryGet takes the oldest value if there is one.
func (q *Queue[T]) TryGet() (v T, ok bool) {
	if q.Len() == 0 {
		return v, false
	}
	var zero T
	v, q.items[q.head] = q.items[q.head], zero
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	q.putters.wakeAll()
	return v, true
}

// Get takes the oldest value, waiting while there is none.
func (q *Queue[T]) Get(t *Task) T {
	for {
		if v, ok := q.TryGet(); ok {
			return v
		}
		t.Await(q.NotEmpty())
	}
}

// NotEmpty fires when there is a value to take; another task may still be quicker.
func (q *Queue[T]) NotEmpty() Trigger {
	return queueWait{"queue " + q.name, &q.getters, func() bool { return q.Len() > 0 }}
}

type queueWait struct {
	what  string
	list  *waitList
	ready func() bool
}

func (w queueWait) String() string { return w.what }

func (w queueWait) arm(x waiter) {
	if w.ready != nil && w.ready() {
		x.wake()
		return
	}
	w.list.add(x)
}
