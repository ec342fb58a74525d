// SPDX-License-Identifier: Apache-2.0

package axis_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/sim"
	"incforge/sim/axis"
)

func compile(t testing.TB, top string, params map[string]string) *sim.Lib {
	t.Helper()
	lib, err := sim.Build{Top: top, Files: []string{"testdata/" + top + ".v"}, Params: params}.Compile(context.Background())
	require.NoError(t, err)
	return lib
}

func start(t testing.TB, lib *sim.Lib) *sim.Model {
	t.Helper()
	m, err := lib.New(sim.Options{Random: true, Seed: 1})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

type bench struct {
	m   *sim.Model
	src *axis.Source
	snk *axis.Sink
	mon *axis.Monitor
}

func newBench(t testing.TB, lib *sim.Lib) bench {
	t.Helper()
	m := start(t, lib)
	// The monitor comes first and last of all on purpose: order must not matter.
	mon, err := axis.NewMonitor(m, "s_axis_p3")
	require.NoError(t, err)
	src, err := axis.NewSource(m, "s_axis_p3")
	require.NoError(t, err)
	snk, err := axis.NewSink(m, "m_axis")
	require.NoError(t, err)
	require.NoError(t, m.ResetFor(2))
	return bench{m, src, snk, mon}
}

func randomFrames(r *rand.Rand, n, longest int, userMax uint64) []axis.Frame {
	frames := make([]axis.Frame, n)
	for i := range frames {
		data := make([]byte, 1+r.IntN(longest))
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		frames[i] = axis.Frame{Data: data, User: r.Uint64N(userMax), FirstUser: r.Uint64N(userMax)}
		if len(data) <= 1 {
			frames[i].FirstUser = frames[i].User
		}
	}
	return frames
}

// TestFramesPass sends random frames of every length class through a FIFO under every
// combination of pauses, and compares what the sink and a monitor saw.
func TestFramesPass(t *testing.T) {
	pauses := map[string]func(seed uint64) axis.Pause{
		"none":    func(uint64) axis.Pause { return nil },
		"half":    func(s uint64) axis.Pause { return axis.Probability(s, 0.5) },
		"bursts":  func(s uint64) axis.Pause { return axis.Bursts(s, 7, 5) },
		"pattern": func(uint64) axis.Pause { return axis.Pattern(true, false, true) },
	}
	for _, width := range []int{1, 8, 65, 256} {
		lib := compile(t, "fifo", map[string]string{"BYTES": fmt.Sprint(width)})
		for in, sp := range pauses {
			for out, kp := range pauses {
				t.Run(fmt.Sprintf("%d bytes, %s to %s", width, in, out), func(t *testing.T) {
					b := newBench(t, lib)
					assert.Equal(t, width, b.src.Bytes())
					assert.Equal(t, 4, b.src.UserBits())
					b.src.SetPause(sp(1))
					b.snk.SetPause(kp(2))
					frames := randomFrames(rand.New(rand.NewPCG(uint64(width), 7)), 40, 4*width, 1<<4)
					for i := range frames {
						if len(frames[i].Data) <= width {
							frames[i].FirstUser = frames[i].User // one beat has one tuser
						}
						require.NoError(t, b.src.Send(frames[i]))
					}
					require.NoError(t, b.m.Run(20000, func() bool { return b.snk.Len() == len(frames) }))
					var lastEnd uint64
					for _, want := range frames {
						got, ok := b.snk.Recv()
						require.True(t, ok)
						seen, ok := b.mon.Recv()
						require.True(t, ok)
						beats := uint64((len(want.Data) + width - 1) / width)
						assert.Empty(t, cmp.Diff(want.Data, got.Data))
						assert.Empty(t, cmp.Diff(want.Data, seen.Data))
						assert.Equal(t, want.User, got.User)
						assert.Equal(t, want.FirstUser, got.FirstUser)
						assert.Less(t, seen.Last, got.Last, "the FIFO takes a cycle")
						assert.GreaterOrEqual(t, got.Last-got.First+1, beats)
						assert.Greater(t, got.First, lastEnd)
						lastEnd = got.Last
						if in == "none" && out == "none" {
							assert.Equal(t, beats, got.Last-got.First+1, "back to back")
							assert.Equal(t, seen.First+1, got.First)
						}
						b.snk.Release(got)
						b.mon.Release(seen)
					}
					assert.Zero(t, b.src.Violations()+b.snk.Violations()+b.mon.Violations())
					assert.Equal(t, b.src.Beats(), b.snk.Beats())
					assert.EqualValues(t, len(frames), b.src.Frames())
					assert.Zero(t, b.src.Pending())
				})
			}
		}
	}
}

// TestPoison proves that bytes outside tkeep are neither zero nor left from before.
func TestPoison(t *testing.T) {
	b := newBench(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	require.NoError(t, b.src.SendBytes([]byte{1, 2, 3}, 0))
	require.NoError(t, b.m.Tick())
	p, err := b.m.Port("s_axis_p3_tdata")
	require.NoError(t, err)
	assert.Equal(t, []byte{1, 2, 3, 0xDB, 0xDB, 0xDB, 0xDB, 0xDB}, p.Bytes())
}

func TestTimes(t *testing.T) {
	b := newBench(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	begin := b.m.Now()
	var sent []axis.Frame
	b.src.OnSent(func(f *axis.Frame) { sent = append(sent, *f) })
	require.NoError(t, b.src.Send(axis.Frame{Data: make([]byte, 20), NotBefore: begin + 10}))
	require.NoError(t, b.src.Send(axis.Frame{Data: make([]byte, 8)}))
	var got []axis.Frame
	b.snk.OnFrame(func(f *axis.Frame) { got = append(got, *f.Clone()) })
	require.NoError(t, b.m.Run(100, func() bool { return len(got) == 2 }))
	assert.Equal(t, begin+10, sent[0].First)
	assert.Equal(t, begin+12, sent[0].Last)
	assert.Equal(t, begin+13, sent[1].First)
	assert.Equal(t, begin+11, got[0].First)
	assert.Equal(t, begin+13, got[0].Last)
	assert.Zero(t, b.snk.Len(), "frames went to OnFrame")
}

func TestSendRefuses(t *testing.T) {
	b := newBench(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	assert.ErrorContains(t, b.src.SendBytes(nil, 0), "s_axis_p3: a frame without data")
	assert.ErrorContains(t, b.src.SendBytes([]byte{1}, 16), "wider than 4 bits")

	m := start(t, compile(t, "bad", nil))
	src, err := axis.NewSource(m, "s_axis")
	require.NoError(t, err)
	assert.ErrorContains(t, src.SendBytes([]byte{1}, 0), "needs tkeep")
	assert.ErrorContains(t, src.SendBytes(make([]byte, 8), 0), "needs tlast")
	assert.ErrorContains(t, src.SendBytes(make([]byte, 4), 1), "wider than 0 bits")
}

func TestBindRefuses(t *testing.T) {
	m := start(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	_, err := axis.NewSource(m, "s_axis")
	require.ErrorContains(t, err, `no port "s_axis_tvalid"`)
	assert.ErrorContains(t, err, "s_axis_p3_tvalid")
	_, err = axis.NewSource(m, "m_axis")
	assert.ErrorContains(t, err, "port m_axis_tvalid is an output of the model, want input")
	_, err = axis.NewSink(m, "s_axis_p3")
	assert.ErrorContains(t, err, "want output")
	_, err = axis.NewMonitor(m, "x")
	assert.ErrorContains(t, err, `no port "x_tvalid"`)
}

// TestResetCutsFrames resets in the middle of a frame: the source begins it again, the
// receivers forget their half.
func TestResetCutsFrames(t *testing.T) {
	b := newBench(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	data := make([]byte, 64)
	for i := range data {
		data[i] = byte(i)
	}
	require.NoError(t, b.src.SendBytes(data, 3))
	require.NoError(t, b.m.Run(100, func() bool { return b.snk.Beats() == 3 }))
	assert.True(t, b.snk.InFrame())
	require.NoError(t, b.m.ResetFor(1))
	require.NoError(t, b.m.Run(100, func() bool { return b.snk.Len() == 1 }))
	f, _ := b.snk.Recv()
	assert.Equal(t, data, f.Data)
	assert.EqualValues(t, 1, b.snk.Cut())
	assert.EqualValues(t, 1, b.mon.Cut())
	assert.EqualValues(t, 1, b.src.Restarts())
}

// TestRules has a sender break each rule in turn; the sink and a monitor must name it.
func TestRules(t *testing.T) {
	lib := compile(t, "bad", nil)
	for _, c := range []struct {
		fault  uint64
		rule   axis.Rule
		detail string
	}{
		{0, 0, ""},
		{1, axis.RuleValidHeld, ""},
		{2, axis.RulePayloadHeld, "tdata byte 5 was"},
		{3, axis.RuleKeepContiguous, "it is f7"},
		{4, axis.RuleKeepFull, "it is 7f"},
		{5, axis.RuleKeepNotZero, ""},
		{6, axis.RuleReset, ""},
		{7, axis.RuleLength, "more than 50 bytes"},
		{8, axis.RuleStall, "20 cycles"},
		{9, axis.RulePayloadHeld, "tlast was"},
		{10, axis.RulePayloadHeld, "tuser was"},
		{11, axis.RulePayloadHeld, "tkeep bytes were ff, are 7f"},
	} {
		t.Run(fmt.Sprintf("fault %d", c.fault), func(t *testing.T) {
			m := start(t, lib)
			fault, err := m.Port("fault")
			require.NoError(t, err)
			fault.SetUint64(c.fault)
			mon, err := axis.NewMonitor(m, "m_axis")
			require.NoError(t, err)
			snk, err := axis.NewSink(m, "m_axis")
			require.NoError(t, err)
			src, err := axis.NewSource(m, "s_axis")
			require.NoError(t, err)
			var first *axis.Violation
			mon.OnViolation(func(v *axis.Violation) {
				if first == nil {
					first = v
				}
			})
			snk.SetPause(axis.Pattern(true, true, false))
			mon.SetMaxFrame(50)
			src.SetStallLimit(20)
			snk.SetMaxFrame(50)
			require.NoError(t, src.SendBytes([]byte{1, 0, 0, 0}, 0))
			err = m.ResetFor(2)
			for range 100 {
				if err != nil {
					break
				}
				err = m.Tick()
			}
			if c.rule == 0 {
				require.NoError(t, err)
				require.Nil(t, first)
				f, ok := snk.Recv()
				require.True(t, ok)
				want := append(bytes.Repeat([]byte{0}, 8), bytes.Repeat([]byte{1}, 8)...)
				assert.Equal(t, append(want, 2, 2, 2), f.Data)
				assert.EqualValues(t, 0, f.FirstUser)
				assert.EqualValues(t, 2, f.User)
				return
			}
			var v *axis.Violation
			require.ErrorAs(t, err, &v)
			assert.Equal(t, c.rule, v.Rule, v.Error())
			assert.Positive(t, v.Cycle)
			assert.Contains(t, v.Error(), fmt.Sprintf("axis: AXI4-Stream rule %d broken in cycle %d: %s", c.rule, v.Cycle, c.rule))
			assert.Contains(t, v.Detail, c.detail)
			if c.rule == axis.RuleStall {
				assert.Equal(t, "s_axis", v.Prefix)
				return
			}
			require.NotNil(t, first, "the monitor saw it too")
			assert.Equal(t, c.rule, first.Rule)
			assert.Equal(t, v.Cycle, first.Cycle)
		})
	}
}

// TestSourceRules has somebody else disturb what a source drives: its own checker
// must notice.
func TestSourceRules(t *testing.T) {
	b := newBench(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	b.snk.SetPause(axis.Always())
	for range 6 { // more than the FIFO holds
		require.NoError(t, b.src.SendBytes(make([]byte, 16), 0))
	}
	for range 12 {
		require.NoError(t, b.m.Tick())
	}
	p, err := b.m.Port("s_axis_p3_tdata")
	require.NoError(t, err)
	p.SetUint64(99)
	var v *axis.Violation
	require.ErrorAs(t, b.m.Tick(), &v)
	assert.Equal(t, axis.RulePayloadHeld, v.Rule)
	assert.Equal(t, "s_axis_p3", v.Prefix)
}

func TestTasks(t *testing.T) {
	b := newBench(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	tb := sim.NewTB(b.m)
	tb.Start("sender", func(t *sim.Task) {
		for i := range 5 {
			t.Check(b.src.SendBytes(bytes.Repeat([]byte{byte(i)}, 10+i), 0))
			b.src.WaitIdle(t)
		}
	})
	tb.Start("receiver", func(t *sim.Task) {
		for i := range 5 {
			require.NoError(t, t.WithTimeout(b.snk.NotEmpty(), 50))
			f := b.snk.Get(t)
			assert.Equal(t, bytes.Repeat([]byte{byte(i)}, 10+i), f.Data)
			b.snk.Release(f)
		}
		require.Error(t, t.WithTimeout(b.snk.NotEmpty(), 20))
	})
	require.NoError(t, tb.Run(500))
}

// TestNoAllocation: once warm, neither beats nor frames allocate.
func TestNoAllocation(t *testing.T) {
	b := newBench(t, compile(t, "fifo", map[string]string{"BYTES": "8"}))
	b.snk.OnFrame(func(*axis.Frame) {})
	b.mon.OnFrame(func(*axis.Frame) {})
	data := make([]byte, 100)
	b.src.OnSent(func(*axis.Frame) {
		if err := b.src.SendBytes(data, 1); err != nil {
			b.m.Fail(err)
		}
	})
	require.NoError(t, b.src.SendBytes(data, 1))
	require.NoError(t, b.src.SendBytes(data, 1))
	b.snk.SetPause(axis.Probability(3, 0.2))
	tick := func() {
		if err := b.m.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2000 {
		tick()
	}
	before := b.snk.Frames()
	assert.Zero(t, testing.AllocsPerRun(2000, tick))
	assert.Greater(t, b.snk.Frames(), before+50)
}

func TestPauses(t *testing.T) {
	count := func(p axis.Pause) (paused, changes int) {
		was := false
		for range 10000 {
			now := p()
			if now {
				paused++
			}
			if now != was {
				changes++
			}
			was = now
		}
		return paused, changes
	}
	paused, _ := count(axis.Probability(1, 0.25))
	assert.InDelta(t, 2500, paused, 200)
	paused, _ = count(axis.Probability(1, 0))
	assert.Zero(t, paused)
	paused, _ = count(axis.Probability(1, 1))
	assert.Equal(t, 10000, paused)
	paused, _ = count(axis.Always())
	assert.Equal(t, 10000, paused)
	paused, changes := count(axis.Bursts(1, 20, 10))
	assert.InDelta(t, 10000*5.5/16, paused, 600)
	assert.InDelta(t, 2*10000/16, changes, 150)
	paused, _ = count(axis.Pattern(true, false, false, false))
	assert.Equal(t, 2500, paused)
	paused, _ = count(axis.Pattern())
	assert.Zero(t, paused)

	a, b, c := axis.Probability(1, 0.5), axis.Probability(1, 0.5), axis.Probability(2, 0.5)
	same := 0
	for range 1000 {
		x := a()
		require.Equal(t, x, b(), "the same seed pauses alike")
		if x == c() {
			same++
		}
	}
	assert.InDelta(t, 500, same, 100, "another seed pauses otherwise")
}
