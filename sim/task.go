// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Task is a piece of straight-line test code. Its methods may be called from its own
// code only. It satisfies the interfaces of testify's require and assert, so
// require.Equal(task, want, got) works.
type Task struct {
	tb     *TB
	name   string
	f      func(*Task)
	daemon bool

	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool

	gen   uint64 // counts the waits; see waiter
	first int    // which trigger ended the wait
	fired []bool // nil: any trigger ends the wait; else all must fire
	left  int
	done  bool

	waitsFor fmt.Stringer
	where    WaitingTask // set as the task is killed
	ended    Event
	space    []bool // for fired
}

// TaskError is a failure inside a task.
type TaskError struct {
	Task string
	File string // Go source line that failed
	Line int
	Err  error
}

func (e *TaskError) Error() string {
	return fmt.Sprintf("task %s: %s:%d: %v", e.Task, e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *TaskError) Unwrap() error { return e.Err }

// TimeoutError says that something did not happen in the cycles allowed.
type TimeoutError struct {
	For    string
	Cycles uint64
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("no %s within %d cycles", e.For, e.Cycles) }

// These unwind a task: killed when the bench ends it, failedNow after FailNow.
type (
	killed    struct{}
	failedNow struct{}
)

func newTask(tb *TB, name string, f func(*Task), daemon bool) *Task {
	t := &Task{tb: tb, name: name, f: f, daemon: daemon}
	t.waitsFor = words("its first run")
	t.where = WaitingTask{Task: name, For: t.waitsFor.String(), File: "-"}
	t.next, t.stop = iter.Pull(t.body)
	return t
}

// body is the coroutine. Whatever goes wrong in the test code becomes the test's
// failure; nothing but Goexit (testing.T's own FailNow) passes.
func (t *Task) body(yield func(struct{}) bool) {
	t.yield = yield
	defer func() {
		switch r := recover().(type) {
		case nil, killed, failedNow:
		case error:
			t.failAt(fmt.Errorf("panic: %w", r))
		default:
			t.failAt(fmt.Errorf("panic: %v", r))
		}
	}()
	t.f(t)
}

func (t *Task) resume() {
	if t.done {
		return
	}
	if _, running := t.next(); !running {
		t.finish()
	}
}

func (t *Task) finish() {
	t.done = true
	tb := t.tb
	tb.tasks = slices.DeleteFunc(tb.tasks, func(x *Task) bool { return x == t })
	if !t.daemon {
		tb.foreground--
	}
	t.ended.Set()
}

// kill ends the task where it waits; its deferred functions run.
func (t *Task) kill() {
	if t.done {
		return
	}
	t.stop()
	t.finish()
}

// pause hands control back until a trigger of the current wait fires.
func (t *Task) pause() {
	if t.yield(struct{}{}) {
		return
	}
	file, line := userLine()
	t.where = WaitingTask{Task: t.name, For: t.waitsFor.String(), File: file, Line: line}
	panic(killed{})
}

// mine refuses a wait on behalf of another task, which would stop the wrong one.
func (t *Task) mine() {
	if t.tb.current != t {
		panic(fmt.Sprintf("task %s was used outside its own code", t.name))
	}
}

// userLine returns the innermost line of code that belongs to the test: neither to
// this package and its bus models, nor to Go's run time, nor to testify.
func userLine() (file string, line int) {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."), strings.HasPrefix(f.Function, "iter."):
		case strings.HasPrefix(f.Function, "incforge/sim."), strings.HasPrefix(f.Function, "incforge/sim/axis."), strings.HasPrefix(f.Function, "incforge/sim/axil."):
		case strings.HasPrefix(f.Function, "github.com/stretchr/testify/"):
		case f.Function == "":
		default:
			return filepath.Base(f.File), f.Line
		}
		if !more {
			return "-", 0
		}
	}
}

func (t *Task) failAt(err error) {
	file, line := userLine()
	t.tb.m.Fail(&TaskError{Task: t.name, File: file, Line: line, Err: err})
}

// Name returns the name given to Start.
func (t *Task) Name() string { return t.name }

// TB returns the bench.
func (t *Task) TB() *TB { return t.tb }

// Model returns the model under test.
func (t *Task) Model() *Model { return t.tb.m }

// Now returns the number of rising edges so far.
func (t *Task) Now() uint64 { return t.tb.m.now }

// Port returns a port, or fails the test if there is none of this name.
func (t *Task) Port(name string) *Port {
	p, err := t.tb.m.Port(name)
	if err != nil {
		t.failAt(err)
		t.FailNow()
	}
	return p
}

// Start starts another task beside this one.
func (t *Task) Start(name string, f func(t *Task)) *Task { return t.tb.Start(name, f) }

// StartDaemon starts another task that Run does not wait for.
func (t *Task) StartDaemon(name string, f func(t *Task)) *Task { return t.tb.StartDaemon(name, f) }

// RisingEdge waits for the next rising edge. After it, outputs read as they were just
// before the edge, and inputs may be driven for the next.
func (t *Task) RisingEdge() {
	t.mine()
	t.fired, t.waitsFor = nil, risingEdge{}
	t.tb.edge = append(t.tb.edge, waiter{t: t, gen: t.gen})
	t.pause()
}

// FallingEdge waits for the next falling edge. After it, outputs read as they are,
// and inputs driven count for the coming rising edge.
func (t *Task) FallingEdge() { t.Await(FallingEdge()) }

// ClockCycles waits for n rising edges; 0 returns at once.
func (t *Task) ClockCycles(n uint64) {
	if n > 0 {
		t.Await(ClockCycles(n))
	}
}

// Timer waits for simulated nanoseconds, which need not fall on a clock edge.
func (t *Task) Timer(ns float64) { t.Await(Timer(ns)) }

// Join waits until another task has ended.
func (t *Task) Join(other *Task) {
	if !other.done {
		t.Await(other)
	}
}

// Kill ends another task where it waits, or the calling task itself; deferred functions
// run. A task that has ended stays ended.
func (t *Task) Kill() {
	if t.tb.current == t {
		panic(killed{})
	}
	t.kill()
}

// Await waits for a trigger.
func (t *Task) Await(trigger Trigger) {
	t.mine()
	t.fired, t.waitsFor = nil, trigger
	trigger.arm(waiter{t: t, gen: t.gen})
	t.pause()
}

// First waits until one of the triggers fires and returns its index.
func (t *Task) First(triggers ...Trigger) int {
	t.mine()
	t.fired, t.waitsFor = nil, joined{"first of", triggers}
	if len(triggers) == 0 {
		panic("First of nothing")
	}
	t.armAll(triggers)
	return t.first
}

// Combine waits until all the triggers have fired.
func (t *Task) Combine(triggers ...Trigger) {
	t.mine()
	if len(triggers) == 0 {
		return
	}
	t.space = append(t.space[:0], make([]bool, len(triggers))...)
	t.fired, t.left, t.waitsFor = t.space, len(triggers), joined{"all of", triggers}
	t.armAll(triggers)
}

func (t *Task) armAll(triggers []Trigger) {
	gen := t.gen
	for i, tr := range triggers {
		tr.arm(waiter{t: t, gen: gen, slot: i})
	}
	t.pause()
}

// WithTimeout waits for a trigger, but no longer than the given cycles: then it
// returns a *TimeoutError.
func (t *Task) WithTimeout(trigger Trigger, cycles uint64) error {
	if cycles == 0 || t.First(trigger, ClockCycles(cycles)) == 1 {
		return &TimeoutError{For: trigger.String(), Cycles: cycles}
	}
	return nil
}

// Until waits until cond holds, asking after every rising edge and once at the
// beginning, but no longer than the given cycles.
func (t *Task) Until(cycles uint64, what string, cond func() bool) error {
	for n := uint64(0); !cond(); n++ {
		if n == cycles {
			return &TimeoutError{For: what, Cycles: cycles}
		}
		t.RisingEdge()
	}
	return nil
}

// Errorf fails the test with the task's name and the line of Go; the task goes on
// until it waits, the bench then ends.
func (t *Task) Errorf(format string, args ...any) { t.failAt(fmt.Errorf(format, args...)) }

// FailNow ends the task and the test.
func (t *Task) FailNow() {
	if t.tb.m.err == nil {
		t.failAt(fmt.Errorf("failed"))
	}
	panic(failedNow{})
}

// Fatalf is Errorf and FailNow.
func (t *Task) Fatalf(format string, args ...any) {
	t.failAt(fmt.Errorf(format, args...))
	t.FailNow()
}

// Check ends the test if err is not nil.
func (t *Task) Check(err error) {
	if err != nil {
		t.failAt(err)
		t.FailNow()
	}
}

// Helper is there for testify; failures always name the innermost line of the test.
func (t *Task) Helper() {}
