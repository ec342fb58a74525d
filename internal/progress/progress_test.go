// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"incforge/internal/testlog"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clock is a time that passes when somebody waits for it, and stops at the end.
type clock struct {
	mu  sync.Mutex
	t   time.Time
	end time.Time
	out chan struct{} // closed when the end is reached
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	if c.t.Add(d).After(c.end) {
		close(c.out)
		return ch // never
	}
	c.t = c.t.Add(d)
	ch <- c.t
	return ch
}

func simulated(length time.Duration) (*Reporter, *clock, *bytes.Buffer) {
	var out bytes.Buffer
	begin := time.Unix(0, 0)
	c := &clock{t: begin, end: begin.Add(length), out: make(chan struct{})}
	r := New(&out)
	r.now, r.after = c.now, c.after
	return r, c, &out
}

func TestLines(t *testing.T) {
	r, c, out := simulated(9 * time.Second)
	task := r.Start("chaos %d", 3)
	<-c.out
	task.Stop()
	assert.Equal(t, "chaos 3: 2 s\nchaos 3: 4 s\nchaos 3: 6 s\nchaos 3: 8 s\n", out.String())
}

// What is over soon says nothing.
func TestShort(t *testing.T) {
	r, c, out := simulated(time.Second)
	task := r.Start("quick")
	<-c.out
	task.Stop()
	assert.Empty(t, out.String())
}

// A run of ten hours leaves some twelve hundred lines, not eighteen thousand, and none more than half a minute after the one before.
func TestLinesGetRare(t *testing.T) {
	r, c, out := simulated(10 * time.Hour)
	task := r.Start("long")
	<-c.out
	task.Stop()
	lines := strings.Count(out.String(), "\n")
	assert.Greater(t, lines, 10*120)
	assert.Less(t, lines, 10*120+60)
}

func TestState(t *testing.T) {
	r, c, _ := simulated(0)
	task := r.Start("verify")
	<-c.out
	task.Set(3, 10, "tests", "1 failed")
	assert.Equal(t, "verify: 3 of 10 tests, 1 failed, 0 s", task.String())
	task.Set(3, 0, "states", "")
	assert.Equal(t, "verify: 3 states, 0 s", task.String())
	task.Stop()
}

func TestSilent(t *testing.T) {
	var r *Reporter
	task := r.Start("anything")
	task.Set(1, 2, "x", "")
	task.Stop()
}

// On a terminal the state is in the bar.
func TestBar(t *testing.T) {
	out := &testlog.Log{}
	r := New(out)
	r.terminal, r.patience = true, time.Millisecond
	task := r.Start("model")
	for i := range 30 {
		task.Set(uint64(i), 30, "tests", "none failed")
		time.Sleep(20 * time.Millisecond)
	}
	task.Stop()
	require.Contains(t, out.String(), "of 30 tests, none failed")
	n := len(out.String())
	time.Sleep(300 * time.Millisecond)
	assert.Len(t, out.String(), n, "nothing is drawn after Stop")
}
