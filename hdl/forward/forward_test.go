// SPDX-License-Identifier: Apache-2.0

package forward_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/forward"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
	"incforge/sim/axis"
)

func mini() forward.Forward {
	return forward.Forward{Bytes: 8, PortW: 2, BeatsW: 5, DepthW: 4, Margin: 8}
}

// flops keeps few beats, and has few to come when room has fallen.
func flops() forward.Forward {
	return forward.Forward{Bytes: 8, PortW: 2, BeatsW: 4, DepthW: 4, Margin: 2, Flops: 1}
}

// kinds are both kinds of queue.
func kinds() map[string]forward.Forward {
	return map[string]forward.Forward{"ram": mini(), "flops": flops()}
}

// frame is a frame that came in, or one that the engine made.
type frame struct {
	data   []byte
	port   uint64
	err    bool
	bypass bool
}

func (f frame) beats() int { return (len(f.data) + 7) / 8 }

type bench struct {
	*rig.Rig
	rng     *rand.Rand
	sink    *axis.Sink
	raw     []frame // in order of arrival
	engine  []frame
	lag     int // cycles from room to a beat that relies on it
	delay   int // cycles from a frame's first beat to its decision
	arrive  func() bool
	make    func() bool // the engine has a beat
	rooms   []bool      // of the last cycles
	frame   int         // arriving
	beat    int
	due     []uint64 // cycles in which decisions come
	decided int
	made    int // engine frames sent
	part    int // beats of the one under way
	offered bool
	rawAt   []uint64
	engAt   []uint64
}

func newBench(t *testing.T, lib *sim.Lib, seed uint64) *bench {
	yes := func() bool { return true }
	b := &bench{Rig: rig.New(t, lib, seed), rng: rand.New(rand.NewPCG(seed, 1)), arrive: yes, make: yes}
	var err error
	b.sink, err = axis.NewSink(b.Model, "m_axis")
	require.NoError(t, err)
	require.NoError(t, b.ResetFor(2)) // which the sink must see
	return b
}

func (b *bench) some(length int) frame {
	f := frame{data: make([]byte, length), port: b.rng.Uint64N(4)}
	for i := range f.data {
		f.data[i] = byte(b.rng.Uint32())
	}
	return f
}

// drive offers beat n of f on the inputs that begin with prefix.
func (b *bench) drive(prefix string, f frame, n int) {
	rest := f.data[8*n:]
	w := bytes.Repeat([]byte{0xDB}, 8)
	kept := copy(w, rest)
	b.SetBytes(prefix+"data", w)
	last := len(rest) <= 8
	switch {
	case prefix == "raw_":
		b.Set("raw_keep", 1<<kept-1)
	case last:
		b.Set(prefix+"size", uint64(kept%8))
	default: // nobody looks
		b.Set(prefix+"size", b.rng.Uint64N(8))
	}
	b.SetBool(prefix+"last", last)
}

func (b *bench) cycle() {
	now := b.Now() + 1
	room := len(b.rooms) > b.lag && b.rooms[len(b.rooms)-1-b.lag]
	sends := b.frame < len(b.raw) && room && b.arrive()
	b.SetBool("raw_valid", sends)
	if sends {
		f := b.raw[b.frame]
		b.drive("raw_", f, b.beat)
		last := b.beat == f.beats()-1
		b.SetBool("raw_err", last && f.err || !last && b.rng.IntN(2) == 0) // err counts on the last beat
		b.rawAt = append(b.rawAt, now)
		if b.beat == 0 {
			b.due = append(b.due, now+uint64(b.delay))
		}
		if b.beat++; last {
			b.frame, b.beat = b.frame+1, 0
		}
	}
	decides := b.decided < len(b.due) && b.due[b.decided] <= now
	b.SetBool("fwd_valid", decides)
	if decides {
		b.SetBool("fwd_bypass", b.raw[b.decided].bypass)
		b.Set("fwd_port", b.raw[b.decided].port)
		b.decided++
	}
	b.offered = b.made < len(b.engine) && (b.offered || b.make())
	b.SetBool("eng_valid", b.offered)
	if b.offered {
		b.drive("eng_", b.engine[b.made], b.part)
		b.Set("eng_port", b.engine[b.made].port)
	}
	b.Clock()
	b.rooms = append(b.rooms, b.Is("room"))
	if b.offered && b.Is("eng_ready") {
		b.engAt = append(b.engAt, now)
		b.offered = false
		if b.part++; b.part == b.engine[b.made].beats() {
			b.made, b.part = b.made+1, 0
		}
	}
}

// run passes cycles until everything is out, and checks each frame against what went in, in its own class's order.
func (b *bench) run(t *testing.T) (order []bool) {
	t.Helper()
	var bypassed []frame
	for _, f := range b.raw {
		if f.bypass {
			bypassed = append(bypassed, f)
		}
	}
	engine := b.engine
	for n := 0; len(bypassed)+len(engine) > 0 || b.decided < len(b.raw); n++ {
		require.Less(t, n, 100000, "%d bypassed and %d engine frames are not out", len(bypassed), len(engine))
		b.cycle()
		got, ok := b.sink.Recv()
		if !ok {
			continue
		}
		var want frame
		isEngine := len(engine) > 0 && bytes.Equal(got.Data, engine[0].data)
		if isEngine {
			want, engine = engine[0], engine[1:]
		} else {
			require.NotEmpty(t, bypassed, "a frame nobody sent: %x", got.Data)
			want, bypassed = bypassed[0], bypassed[1:]
		}
		require.Equal(t, want.data, got.Data)
		require.Equal(t, want.port<<1, got.User&^1, "port")
		require.Equal(t, want.err, got.User&1 != 0, "err")
		if want.beats() > 1 {
			require.Equal(t, want.port<<1, got.FirstUser, "tuser of the first beat")
		}
		order = append(order, isEngine)
	}
	for range 30 {
		b.cycle()
	}
	require.Zero(t, b.sink.Len(), "a frame too many")
	return order
}

// TestAgainstModel: bypassed frames unchanged and in order, the others gone, the engine's between them, at any pace.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for name, p := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			anything(t, p)
		})
	}
}

func anything(t *testing.T, p forward.Forward) {
	lib := rig.Lib(t, p)
	for seed := range uint64(10) {
		b := newBench(t, lib, seed)
		pace := func() func() bool {
			percent := []int{100, 60, 25}[b.rng.IntN(3)]
			return func() bool { return b.rng.IntN(100) < percent }
		}
		b.arrive, b.make = pace(), pace()
		b.lag = b.rng.IntN(p.Margin)
		b.delay = b.rng.IntN(8 - b.lag)
		if seed > 1 {
			b.sink.SetPause(axis.Probability(seed, []float64{0.1, 0.5, 0.9}[seed%3]))
		}
		longest := []int{8, 40, 200}[b.rng.IntN(3)]
		for range 200 {
			f := b.some(1 + b.rng.IntN(longest))
			f.bypass, f.err = b.rng.IntN(3) > 0, b.rng.IntN(4) == 0
			b.raw = append(b.raw, f)
			// at least 12 bytes, so that no two frames are the same by chance
			b.engine = append(b.engine, b.some(12+b.rng.IntN(longest)))
		}
		b.run(t)
		require.Contains(t, b.rooms, true)
	}
}

// TestRoom: with the output stopped, all that comes while room is believed is kept.
func TestRoom(t *testing.T) {
	t.Parallel()
	for name, p := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fills(t, p)
		})
	}
}

func fills(t *testing.T, p forward.Forward) {
	lib := rig.Lib(t, p)
	for _, length := range []int{8, 64} { // decisions run out first, or beats
		b := newBench(t, lib, uint64(length))
		b.lag = p.Margin - 1
		stopped := true
		b.sink.SetPause(func() bool { return stopped })
		for range 40 {
			f := b.some(length)
			f.bypass = true
			b.raw = append(b.raw, f)
		}
		for range 200 {
			b.cycle()
		}
		require.False(t, b.Is("room"))
		require.Less(t, b.frame, 40)
		stopped = false
		b.run(t)
	}
}

// TestFairness: both wait all the time, so they take turns.
func TestFairness(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, mini())
	b := newBench(t, lib, 3)
	b.sink.SetPause(axis.Probability(3, 0.5))
	for n := range 60 {
		f := b.some(12 + n%50)
		f.bypass = true
		b.raw = append(b.raw, f)
		b.engine = append(b.engine, b.some(12+n%9*8))
	}
	for range 8 { // the first bypassed frame arrives before the engine's
		made := b.make
		b.make = func() bool { return false }
		b.cycle()
		b.make = made
	}
	order := b.run(t)
	for i := 2; i < 100; i++ {
		require.NotEqual(t, order[i-1], order[i], "frame %d: twice the same", i)
	}
}

// TestTiming: the cycles that the head of the file states.
func TestTiming(t *testing.T) {
	t.Parallel()
	for name, p := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timing(t, p)
		})
	}
}

func timing(t *testing.T, p forward.Forward) {
	lib := rig.Lib(t, p)
	firstOut := func(b *bench) (at uint64) {
		for at == 0 && b.Now() < 100 {
			b.cycle()
			if b.Is("m_axis_tvalid") {
				at = b.Now()
			}
		}
		return at
	}

	b := newBench(t, lib, 1)
	f := b.some(30)
	f.bypass = true
	b.raw = []frame{f}
	require.Equal(t, uint64(4-2*p.Flops), firstOut(b)-b.rawAt[0], "bypass")

	b = newBench(t, lib, 2)
	b.engine = []frame{b.some(30)}
	out := firstOut(b)
	require.Zero(t, out-b.engAt[0], "engine")

	// The engine's frame that comes in the cycle after a bypassed one has left waits a cycle, one that comes earlier or later does not.
	var left uint64
	for b = newBench(t, lib, 1); left == 0 && b.Now() < 100; {
		b.raw = []frame{f}
		if b.cycle(); b.Is("m_axis_tvalid") && b.Is("m_axis_tlast") {
			left = b.Now()
		}
	}
	for late, goes := range []uint64{left + 1, left + 2, left + 2, left + 3} {
		comes := left + uint64(late)
		b = newBench(t, lib, 1)
		b.raw, b.engine = []frame{f}, []frame{b.some(30)}
		b.make = func() bool { return b.Now()+1 >= comes }
		for len(b.engAt) == 0 && b.Now() < 100 {
			b.cycle()
		}
		require.Equal(t, []uint64{goes}, b.engAt, "came %d cycles behind", late)
	}

	b = newBench(t, lib, 3)
	beats := 0
	for n := range 30 {
		f := b.some(9 + n)
		f.bypass = true
		b.raw = append(b.raw, f)
		e := b.some(9 + n%20)
		b.engine = append(b.engine, e)
		beats += f.beats() + e.beats()
	}
	first := firstOut(b)
	b.run(t)
	require.Equal(t, uint64(beats), b.sink.Beats())
	last := b.Now() - 30
	require.Equal(t, uint64(beats-1), last-first, "bubbles")
}
