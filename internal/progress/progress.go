// SPDX-License-Identifier: Apache-2.0

// Package progress says on standard error how far something is that takes longer than two seconds: a bar on a terminal, and a line now
// and then where somebody reads a log.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

const (
	// patience is how long nothing is said: most of what commands do is over by then.
	patience = 2 * time.Second
	// Lines come every two seconds at first, and ever more rarely, down to two a minute, so that a run of hours leaves a log that can be read.
	shortest, longest = 2 * time.Second, 30 * time.Second
	slowdown          = 10 // a line each time a tenth more has passed
)

// Reporter reports on tasks. A nil Reporter is silent.
type Reporter struct {
	out      io.Writer
	terminal bool
	patience time.Duration
	now      func() time.Time
	after    func(time.Duration) <-chan time.Time
}

// New makes a Reporter that writes to out, with bars if that is a terminal.
func New(out io.Writer) *Reporter {
	f, isFile := out.(*os.File)
	return &Reporter{out: out, terminal: isFile && term.IsTerminal(int(f.Fd())), patience: patience, now: time.Now, after: time.After}
}

// Task is something under way. Its methods may be called from several goroutines at once, and do nothing on nil.
type Task struct {
	r     *Reporter
	name  string
	begin time.Time

	mu          sync.Mutex
	done, total uint64
	unit, note  string

	stop     chan struct{}
	finished sync.WaitGroup
}

// Start begins to report on a task. Stop ends it.
func (r *Reporter) Start(format string, args ...any) *Task {
	if r == nil {
		return nil
	}
	t := &Task{r: r, name: fmt.Sprintf(format, args...), begin: r.now(), stop: make(chan struct{})}
	t.finished.Go(t.report)
	return t
}

// Set says how much of how many units is done; a total of 0 is not known. note, which may be empty, is said beside it.
func (t *Task) Set(done, total uint64, unit, note string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.total, t.unit, t.note = done, total, unit, note
}

// Stop ends the report; nothing is written after it returns.
func (t *Task) Stop() {
	if t == nil {
		return
	}
	close(t.stop)
	t.finished.Wait()
}

// String is the state in a line.
func (t *Task) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.name + ": "
	switch {
	case t.total > 0:
		s += fmt.Sprintf("%d of %d %s, ", t.done, t.total, t.unit)
	case t.done > 0:
		s += fmt.Sprintf("%d %s, ", t.done, t.unit)
	}
	if t.note != "" {
		s += t.note + ", "
	}
	return s + fmt.Sprintf("%.0f s", t.r.now().Sub(t.begin).Seconds())
}

// report runs until the task is stopped.
func (t *Task) report() {
	select {
	case <-t.stop:
		return
	case <-t.r.after(t.r.patience):
	}
	if t.r.terminal {
		t.bar()
		return
	}
	for {
		fmt.Fprintln(t.r.out, t)
		wait := min(max(t.r.now().Sub(t.begin)/slowdown, shortest), longest)
		select {
		case <-t.stop:
			return
		case <-t.r.after(wait):
		}
	}
}

// bar draws a bar, and removes it at the end.
func (t *Task) bar() {
	w := progress.NewWriter()
	w.SetOutputWriter(t.r.out)
	w.SetStyle(progress.StyleBlocks)
	w.SetTrackerPosition(progress.PositionRight)
	w.SetUpdateFrequency(200 * time.Millisecond)
	w.Style().Visibility.Speed = false
	w.Style().Visibility.Value = false // the message says it
	tracker := &progress.Tracker{RemoveOnCompletion: true}
	t.draw(tracker)
	w.AppendTracker(tracker)
	var rendered sync.WaitGroup
	rendered.Go(w.Render)
	for {
		select {
		case <-t.stop:
			tracker.MarkAsDone()
			w.Stop()
			rendered.Wait()
			return
		case <-t.r.after(200 * time.Millisecond):
			t.draw(tracker)
		}
	}
}

// draw brings a bar up to date.
func (t *Task) draw(tracker *progress.Tracker) {
	tracker.UpdateMessage(t.String())
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.total > 0 {
		tracker.UpdateTotal(int64(min(t.total, math.MaxInt64)))
		tracker.SetValue(int64(min(t.done, t.total-1, math.MaxInt64))) // the last unit is Stop's: a full tracker ends
	}
}
