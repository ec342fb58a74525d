// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/sim"
)

func newTB(t testing.TB) (*sim.TB, *pins) {
	t.Helper()
	m := start(t, compile(t, counter()), sim.Options{Random: true, Seed: 1})
	return sim.NewTB(m), bind(t, m)
}

func TestEdges(t *testing.T) {
	tb, p := newTB(t)
	var log []string
	note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	tb.Start("main", func(k *sim.Task) {
		note("begin %v", tb.NowNS())
		p.Rst.SetBool(true)
		k.RisingEdge()
		p.Rst.SetBool(false)
		p.Enable.SetBool(true)
		k.RisingEdge() // count was 0
		note("%v: %d", tb.NowNS(), p.Count.Uint64())
		k.FallingEdge() // now it is 1
		note("%v: %d", tb.NowNS(), p.Count.Uint64())
		p.Enable.SetBool(false) // in time for the coming edge
		k.RisingEdge()
		note("%v: %d", tb.NowNS(), p.Count.Uint64())
		k.RisingEdge()
		note("%v: %d", tb.NowNS(), p.Count.Uint64())
		k.ClockCycles(5)
		note("%v cycle %d", tb.NowNS(), k.Now())
		k.Timer(3)
		note("%v", tb.NowNS())
		k.Timer(2) // the falling edge
		note("%v", tb.NowNS())
		k.Timer(0.5)
		note("%v", tb.NowNS())
		k.Timer(4.5) // the rising edge
		note("%v cycle %d", tb.NowNS(), k.Now())
		k.Timer(25)
		note("%v cycle %d", tb.NowNS(), k.Now())
		k.RisingEdge()
		note("%v cycle %d", tb.NowNS(), k.Now())
		k.ClockCycles(0)
		note("%v", tb.NowNS())
	})
	require.NoError(t, tb.Run(100))
	assert.Equal(t, []string{
		"begin 0", "20: 0", "25: 1", "30: 1", "40: 1", "90 cycle 9", "93", "95", "95.5", "100 cycle 10", "125 cycle 12", "130 cycle 13", "130",
	}, log)
}

// TestCombinationalBetweenEdges: what a timer task drives shows in combinational
// outputs at its next look, and reaches the registers at the coming edge.
func TestCombinationalBetweenEdges(t *testing.T) {
	tb, p := newTB(t)
	tb.Start("main", func(k *sim.Task) {
		k.RisingEdge()
		k.Timer(1)
		p.OddIn.SetUint64(10)
		k.Timer(1)
		assert.EqualValues(t, 11, p.OddOut.Uint64())
		p.OddIn.SetUint64(20)
		k.FallingEdge()
		assert.EqualValues(t, 21, p.OddOut.Uint64())
		p.OddIn.SetUint64(30)
		k.RisingEdge()
		assert.EqualValues(t, 31, p.OddOut.Uint64())
	})
	require.NoError(t, tb.Run(10))
}

func TestStartJoin(t *testing.T) {
	tb, _ := newTB(t)
	var order []string
	tb.Start("parent", func(k *sim.Task) {
		slow := k.Start("slow", func(k *sim.Task) {
			order = append(order, "slow begins")
			k.ClockCycles(5)
			order = append(order, "slow ends")
		})
		quick := k.Start("quick", func(k *sim.Task) { order = append(order, "quick") })
		order = append(order, "parent goes on")
		k.Join(slow)
		k.Join(quick)
		k.Join(slow)
		order = append(order, fmt.Sprintf("joined at %d", k.Now()))
		k.Start("late", func(k *sim.Task) {
			k.RisingEdge()
			order = append(order, "late")
		})
	})
	k := tb.StartDaemon("for ever", func(k *sim.Task) {
		defer func() { order = append(order, "daemon ended") }()
		for {
			k.RisingEdge()
		}
	})
	assert.Equal(t, "for ever", k.Name())
	require.NoError(t, tb.Run(100))
	assert.Equal(t, []string{
		"parent goes on", "slow begins", "quick", "slow ends", "joined at 5", "late", "daemon ended",
	}, order)

	// The bench can run again.
	again := false
	tb.Start("again", func(k *sim.Task) { k.RisingEdge(); again = true })
	require.NoError(t, tb.Run(5))
	assert.True(t, again)
	assert.EqualValues(t, 7, tb.Model().Now())
}

func TestKill(t *testing.T) {
	tb, _ := newTB(t)
	var order []string
	victim := tb.Start("victim", func(k *sim.Task) {
		defer func() { order = append(order, fmt.Sprintf("victim ends at %d", k.Now())) }()
		k.ClockCycles(1000)
		k.Fatalf("not reached")
	})
	tb.Start("waits", func(k *sim.Task) {
		k.Join(victim)
		order = append(order, "joined")
		k.Kill()
		k.Fatalf("not reached")
	})
	tb.Start("kills", func(k *sim.Task) {
		k.ClockCycles(3)
		victim.Kill()
		victim.Kill()
		k.RisingEdge()
	})
	require.NoError(t, tb.Run(100))
	assert.Equal(t, []string{"victim ends at 3", "joined"}, order)
}

func TestEventsAndQueues(t *testing.T) {
	tb, _ := newTB(t)
	ev := sim.NewEvent("go")
	small := sim.NewQueue[int]("small", 2)
	var back sim.Queue[string]
	tb.Start("waits", func(k *sim.Task) {
		ev.Wait(k)
		assert.EqualValues(t, 3, k.Now())
		ev.Wait(k) // still set
		assert.EqualValues(t, 3, k.Now())
		assert.True(t, ev.IsSet())
		ev.Clear()
		require.EqualError(k, k.WithTimeout(ev, 4), "no event go within 4 cycles")
		assert.EqualValues(t, 7, k.Now())
	})
	tb.Start("sets", func(k *sim.Task) { k.ClockCycles(3); ev.Set() })
	tb.Start("producer", func(k *sim.Task) {
		for i := range 6 {
			small.Put(k, i)
			back.Put(k, fmt.Sprintf("put %d at %d", i, k.Now()))
		}
	})
	tb.Start("consumer", func(k *sim.Task) {
		for i := range 6 {
			k.ClockCycles(2)
			require.Equal(k, i, small.Get(k))
		}
		_, ok := small.TryGet()
		assert.False(t, ok)
	})
	require.NoError(t, tb.Run(100))
	var got []string
	for back.Len() > 0 {
		s, _ := back.TryGet()
		got = append(got, s)
	}
	assert.Equal(t, []string{"put 0 at 0", "put 1 at 0", "put 2 at 2", "put 3 at 4", "put 4 at 6", "put 5 at 8"}, got)
}

// TestQueueKeepsOrder moves many values through growth and shrinking.
func TestQueueKeepsOrder(t *testing.T) {
	q := sim.NewQueue[int]("q", 0)
	in, out := 0, 0
	for round := range 200 {
		for range round % 7 {
			require.True(t, q.TryPut(in))
			in++
		}
		for range round % 5 {
			if v, ok := q.TryGet(); ok {
				require.Equal(t, out, v)
				out++
			}
		}
		require.Equal(t, in-out, q.Len())
	}
	assert.Greater(t, out, 300)
}

func TestFirstAndCombine(t *testing.T) {
	tb, p := newTB(t)
	ev := sim.NewEvent("never")
	var q sim.Queue[int]
	tb.Start("main", func(k *sim.Task) {
		require.Equal(k, 1, k.First(ev, sim.ClockCycles(3), sim.Timer(1000)))
		require.EqualValues(k, 3, k.Now())
		require.Equal(k, 2, k.First(ev, sim.RisingEdge(), sim.FallingEdge()))
		require.Equal(k, 35.0, tb.NowNS())
		// The waits just given up must not wake anybody.
		k.ClockCycles(4)
		require.EqualValues(k, 7, k.Now())

		child := k.Start("child", func(k *sim.Task) { k.ClockCycles(6) })
		k.Combine(sim.RisingEdge(), child, sim.Timer(12))
		require.EqualValues(k, 13, k.Now())
		k.Combine()
		k.Combine(sim.Timer(25), sim.RisingEdge())
		require.Equal(k, 155.0, tb.NowNS())
		k.Combine(child, sim.RisingEdge())
		require.EqualValues(k, 16, k.Now())

		k.Start("later", func(k *sim.Task) { k.ClockCycles(2); q.Put(k, 9) })
		require.Equal(k, 0, k.First(q.NotEmpty(), sim.ClockCycles(5)))
		require.Equal(k, 9, q.Get(k))

		p.Enable.SetBool(true)
		require.NoError(k, k.Until(300, "count of 200", func() bool { return p.Count.Uint64() == 200 }))
		require.EqualError(k, k.Until(3, "wonder", func() bool { return false }), "no wonder within 3 cycles")
		require.EqualError(k, k.WithTimeout(ev, 0), "no event never within 0 cycles")
		for range 50 { // given-up waits do not pile up
			require.Error(k, k.WithTimeout(ev, 1))
		}
	})
	require.NoError(t, tb.Run(1000))
}

// here returns the current line plus d.
func here(d int) int {
	_, _, line, _ := runtime.Caller(1)
	return line + d
}

// TestHang: a hang is a failure that names every task that waits, for what and where.
func TestHang(t *testing.T) {
	tb, _ := newTB(t)
	ev := sim.NewEvent("answer")
	var q sim.Queue[int]
	var lines [3]int
	ended := false
	tb.Start("asks", func(k *sim.Task) {
		defer func() { ended = true }()
		lines[0] = here(1)
		ev.Wait(k)
	})
	tb.Start("reads", func(k *sim.Task) {
		lines[1] = here(1)
		q.Get(k)
	})
	tb.Start("both", func(k *sim.Task) {
		lines[2] = here(1)
		k.First(ev, sim.ClockCycles(1000), sim.Timer(1e6))
	})
	tb.StartDaemon("daemon", func(k *sim.Task) {
		for {
			k.RisingEdge()
		}
	})
	err := tb.Run(50)
	var hang *sim.HangError
	require.ErrorAs(t, err, &hang)
	assert.EqualError(t, err, fmt.Sprintf(`not done after 50 cycles (cycle 50); waiting:
  task asks waits for event answer at tb_test.go:%d
  task reads waits for queue  at tb_test.go:%d
  task both waits for first of (event answer, 1000 clock cycles, timer of 1e+06 ns) at tb_test.go:%d`,
		lines[0], lines[1], lines[2]))
	assert.True(t, ended, "deferred functions ran")
	assert.Equal(t, err, tb.Model().Tick(), "the failure stays")
}

// TestDeadlock: when nothing can wake the tasks, the bench does not wait for the limit, which is centuries away.
func TestDeadlock(t *testing.T) {
	tb, _ := newTB(t)
	tb.Start("stuck", func(k *sim.Task) { sim.NewEvent("x").Wait(k) })
	err := tb.Run(1 << 60)
	assert.ErrorContains(t, err, "no task can ever run again (cycle 0); waiting:\n  task stuck waits for event x at tb_test.go:")
}

// TestTaskFailures: whatever fails in a task ends the test, with task and Go line.
func TestTaskFailures(t *testing.T) {
	top := here(0)
	cases := map[string]struct {
		do   func(k *sim.Task)
		want string
	}{
		"Fatalf":  {func(k *sim.Task) { k.Fatalf("value %d", 7) }, "value 7"},
		"Check":   {func(k *sim.Task) { k.Check(fmt.Errorf("broken")) }, "broken"},
		"require": {func(k *sim.Task) { require.Equal(k, 1, 2) }, "Not equal"},
		"assert":  {func(k *sim.Task) { assert.Equal(k, 1, 2); k.RisingEdge() }, "Not equal"},
		"panic":   {func(k *sim.Task) { panic("oh") }, "panic: oh"},
		"nil":     {func(k *sim.Task) { var p *pins; p.Count = nil }, "nil pointer"},
		"index":   {func(k *sim.Task) { k.Errorf("%d", []int{}[k.Now()]) }, "index out of range"},
		"port":    {func(k *sim.Task) { k.Port("nope") }, `no port "nope"`},
		"timer":   {func(k *sim.Task) { k.Timer(-1) }, "a timer of -1 ns"},
		"first":   {func(k *sim.Task) { k.First() }, "First of nothing"},
		"FailNow": {func(k *sim.Task) { k.FailNow() }, "failed"},
		"run":     {func(k *sim.Task) { k.Check(k.TB().Run(1)) }, "Run called inside a task"},
	}
	bottom := here(0)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tb, _ := newTB(t)
			after := false
			tb.Start("bad", func(k *sim.Task) {
				k.RisingEdge()
				c.do(k)
			})
			tb.Start("other", func(k *sim.Task) {
				k.ClockCycles(3)
				after = true
			})
			err := tb.Run(10)
			require.ErrorContains(t, err, c.want)
			assert.False(t, after, "the test ended at once")
			if name == "run" {
				return // the bench's own failure came first
			}
			var failed *sim.TaskError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, "bad", failed.Task)
			assert.Equal(t, "tb_test.go", failed.File)
			assert.True(t, strings.HasPrefix(err.Error(), fmt.Sprintf("task bad: tb_test.go:%d: ", failed.Line)))
			assert.True(t, top < failed.Line && failed.Line < bottom, "line %d is not where the test failed", failed.Line)
			assert.EqualValues(t, 1, tb.Model().Now())
		})
	}
}

// TestModelFailureEndsTasks: an assertion in the Verilog ends the bench too.
func TestModelFailureEndsTasks(t *testing.T) {
	tb, p := newTB(t)
	tb.Start("main", func(k *sim.Task) {
		k.ClockCycles(2)
		p.Stop.SetUint64(2)
		k.ClockCycles(5)
		k.Fatalf("not reached")
	})
	var stop *sim.StopError
	require.ErrorAs(t, tb.Run(100), &stop)
	assert.EqualValues(t, 3, stop.Cycle)
}

func TestForeignTask(t *testing.T) {
	tb, _ := newTB(t)
	first := tb.Start("first", func(k *sim.Task) { k.ClockCycles(3) })
	tb.Start("second", func(k *sim.Task) { k.RisingEdge(); first.RisingEdge() })
	assert.ErrorContains(t, tb.Run(10), "task second: tb_test.go:")
	assert.ErrorContains(t, tb.Model().Err(), "task first was used outside its own code")
}

// TestNoGoroutineLeft: tasks that never ended leave no coroutine behind.
func TestNoGoroutineLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		tb, _ := newTB(t)
		tb.Start("a", func(k *sim.Task) { k.ClockCycles(1 << 40) })
		tb.Start("b", func(k *sim.Task) { sim.NewEvent("").Wait(k) })
		tb.StartDaemon("c", func(k *sim.Task) { k.Timer(1e9) })
		require.Error(t, tb.Run(3))
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before+1)
}

// TestTaskWaitsDoNotAllocate: the waits of a driver's inner loop are free of garbage.
func TestTaskWaitsDoNotAllocate(t *testing.T) {
	tb, _ := newTB(t)
	tb.Start("main", func(k *sim.Task) {
		k.ClockCycles(10)
		assert.Zero(t, testing.AllocsPerRun(500, k.RisingEdge))
		assert.Zero(t, testing.AllocsPerRun(500, func() { k.ClockCycles(2) }))
	})
	require.NoError(t, tb.Run(5000))
}
