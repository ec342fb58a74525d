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
	return forward.Forward{Bytes: 8, PortW: 2, AddrW: 5, DepthW: 4}
}

// The ring that the model has: so many beats, and so many that may come when room has fallen. Of a frame that is not bypassed it keeps no
// more than most beats once that is known.
const (
	ringBeats = 32
	behind    = 4
	most      = 12
)

// frame is a frame that came in, or one that the engine made.
type frame struct {
	data   []byte
	port   uint64
	err    bool
	bypass bool
}

func (f frame) beats() int { return (len(f.data) + 7) / 8 }

// kept is a frame of the ring that is not decided yet: where it begins, and when its end came.
type kept struct {
	start  int
	bypass bool
	ended  uint64 // 0: not yet
}

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
	adds    func() bool // the adders want to read
	waits   bool        // a frame that is not bypassed is decided when one that the engine made has left
	rooms   []bool      // of the last cycles
	frame   int         // arriving
	beat    int
	due     []uint64 // cycles in which decisions come
	decided int
	made    int // engine frames sent
	part    int // beats of the one under way
	offered bool
	rawAt   []uint64
	fwdAt   []uint64
	engAt   []uint64

	ring   [ringBeats][]byte
	tail   int // beats ever kept
	oldest int
	open   []kept
	owed   int    // frames decided that were not bypassed
	used   [2]int // beats that count for either reader
	shows  []byte // what the ring's output is
	clash  bool   // both read in one cycle
	beyond int    // most beats of one frame
}

func newBench(t *testing.T, lib *sim.Lib, seed uint64) *bench {
	yes, no := func() bool { return true }, func() bool { return false }
	b := &bench{Rig: rig.New(t, lib, seed), rng: rand.New(rand.NewPCG(seed, 1)), arrive: yes, make: yes, adds: no, shows: make([]byte, 8)}
	var err error
	b.sink, err = axis.NewSink(b.Model, "m_axis")
	require.NoError(t, err)
	require.NoError(t, b.ResetFor(2)) // which the sink must see
	return b
}

func (b *bench) random(length int) []byte {
	data := make([]byte, length)
	for i := range data {
		data[i] = byte(b.rng.Uint32())
	}
	return data
}

func (b *bench) some(length int) frame { return frame{data: b.random(length), port: b.rng.Uint64N(4)} }

// beatOf is beat n of f, and how many bytes it has.
func beatOf(f frame, n int) (w []byte, bytesIn int, last bool) {
	rest := f.data[8*n:]
	w = bytes.Repeat([]byte{0xDB}, 8)
	return w, copy(w, rest), len(rest) <= 8
}

// writes offers the beat that comes, if one does, and notes it.
func (b *bench) writes(now uint64) {
	room := len(b.rooms) > b.lag && b.rooms[len(b.rooms)-1-b.lag]
	sends := b.frame < len(b.raw) && room && b.arrive()
	b.SetBool("raw_valid", sends)
	if !sends {
		return
	}
	f := b.raw[b.frame]
	w, bytesIn, last := beatOf(f, b.beat)
	b.Set("raw_keep", 1<<bytesIn-1)
	b.SetBool("raw_last", last)
	b.SetBool("raw_err", last && f.err || !last && b.rng.IntN(2) == 0) // err counts on the last beat
	b.rawAt = append(b.rawAt, now)
	if b.beat == 0 {
		b.due = append(b.due, now+uint64(b.delay))
		b.open = append(b.open, kept{start: b.tail, bypass: f.bypass})
	}
	if f.bypass || b.decided <= b.frame || b.beat < most {
		b.ring[b.tail%ringBeats] = w
		b.tail++
	}
	b.beyond = max(b.beyond, b.beat+1)
	if b.beat++; last {
		b.frame, b.beat = b.frame+1, 0
		b.open[len(b.open)-1].ended = now
	}
	b.Set("raw_end", uint64(b.tail%ringBeats))
}

// judges says that the oldest frame is decided, if it is.
func (b *bench) judges(now uint64) bool {
	done := false
	if len(b.open) > 0 && b.decided >= b.frame-len(b.open)+1+min(1, b.beat) {
		oldest := b.open[0]
		done = oldest.ended != 0 && oldest.ended+2 < now && (oldest.bypass || !b.waits || b.owed < b.made)
	}
	b.SetBool("byp_done", done)
	return done
}

// reading drives what the ring shows, and the adders, who read when they may.
func (b *bench) reading() (word bool) {
	b.SetBytes("byp_data", b.shows)
	wants := b.adds()
	b.SetBool("rd_wants", wants)
	b.SetBool("rd_en", false)
	b.Settle()
	word = wants && b.Is("rd_ready") && b.rng.IntN(4) > 0
	b.SetBool("rd_en", word)
	return word
}

func (b *bench) cycle() {
	now := b.Now() + 1
	b.Set("byp_fill", uint64(b.tail%ringBeats))
	b.Set("byp_oldest", uint64(b.oldest%ringBeats))
	b.writes(now)
	decides := b.decided < len(b.due) && b.due[b.decided] <= now
	b.SetBool("fwd_valid", decides)
	if decides {
		b.SetBool("fwd_bypass", b.raw[b.decided].bypass)
		b.Set("fwd_port", b.raw[b.decided].port)
		b.decided++
		b.fwdAt = append(b.fwdAt, now)
	}
	done := b.judges(now)
	b.offered = b.made < len(b.engine) && (b.offered || b.make())
	b.SetBool("eng_valid", b.offered)
	if b.offered {
		f := b.engine[b.made]
		w, bytesIn, last := beatOf(f, b.part)
		b.SetBytes("eng_data", w)
		b.Set("eng_size", b.rng.Uint64N(8)) // nobody looks
		if last {
			b.Set("eng_size", uint64(bytesIn%8))
		}
		b.SetBool("eng_last", last)
		b.Set("eng_port", f.port)
	}
	word := b.reading()
	b.Clock()

	roomBeats := b.used[0] < ringBeats-1-behind && b.used[1] < ringBeats-1-behind
	b.rooms = append(b.rooms, b.Is("room") && roomBeats)
	from := b.tail - int(uint64(b.tail-int(b.Get("byp_from")))%ringBeats)
	b.used = [2]int{b.tail - b.oldest, b.tail - from}
	if b.Is("byp_alone") {
		b.used[0] = b.used[1]
	}
	switch beat := b.Is("byp_re"); {
	case beat && word:
		b.clash = true
	case beat:
		b.shows = b.ring[b.Get("byp_addr")]
	case word:
		b.shows = b.random(8)
	}
	if done {
		b.owed += 1 - b2i(b.open[0].bypass)
		b.open = b.open[1:]
		b.oldest = b.tail
		if len(b.open) > 0 {
			b.oldest = b.open[0].start
		}
	}
	if b.offered && b.Is("eng_ready") {
		b.engAt = append(b.engAt, now)
		b.offered = false
		if b.part++; b.part == b.engine[b.made].beats() {
			b.made, b.part = b.made+1, 0
		}
	}
}

func b2i(v bool) int {
	if v {
		return 1
	}
	return 0
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
	require.False(t, b.clash)
	return order
}

// TestAgainstModel: bypassed frames unchanged and in order, the others gone, the engine's between them, at any pace, beside adders that read, of
// frames longer than the ring.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, mini())
	for seed := range uint64(30) {
		b := newBench(t, lib, seed)
		pace := func() func() bool {
			percent := []int{100, 60, 25}[b.rng.IntN(3)]
			return func() bool { return b.rng.IntN(100) < percent }
		}
		b.arrive, b.make, b.adds = pace(), pace(), pace()
		b.waits = seed%2 == 0
		b.lag = b.rng.IntN(behind)
		b.delay = b.rng.IntN(8 - b.lag)
		if seed > 1 {
			b.sink.SetPause(axis.Probability(seed, []float64{0.1, 0.5, 0.9}[seed%3]))
		}
		longest := []int{8, 40, 200, 700}[b.rng.IntN(4)]
		for range 20000 / max(longest, 100) {
			f := b.some(1 + b.rng.IntN(longest))
			f.bypass, f.err = b.rng.IntN(3) > 0, b.rng.IntN(4) == 0
			b.raw = append(b.raw, f)
			// at least 12 bytes, so that no two frames are the same by chance
			b.engine = append(b.engine, b.some(12+b.rng.IntN(longest)))
		}
		b.run(t)
		require.Contains(t, b.rooms, true)
		if longest == 700 {
			require.Greater(t, b.beyond, 2*ringBeats)
		}
	}
}

// TestLongFrameBehindOthers: a bypassed frame longer than the ring waits while older frames are wanted, whose words wait for the output.
func TestLongFrameBehindOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, rig.Lib(t, mini()), 5)
	b.waits = true
	b.make = func() bool { return b.Now() > 110 }
	for n := range 8 {
		f := b.some([]int{40, 900}[n%2])
		f.bypass = n%2 == 1
		b.raw = append(b.raw, f)
		b.engine = append(b.engine, b.some(100))
	}
	for range 100 {
		b.cycle()
		require.False(t, b.Is("m_axis_tvalid"), "cycle %d: a word of the frame before is still wanted", b.Now())
	}
	require.False(t, b.rooms[len(b.rooms)-1])
	b.run(t)
}

// TestRoom: with the output stopped, all that comes while room is believed is kept.
func TestRoom(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, mini())
	for _, length := range []int{8, 64} { // decisions run out first, or beats
		b := newBench(t, lib, uint64(length))
		b.lag = behind - 1
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
		require.False(t, b.rooms[len(b.rooms)-1])
		require.Less(t, b.frame, 40)
		stopped = false
		b.run(t)
	}
}

// TestFairness: both wait all the time, so they take turns.
func TestFairness(t *testing.T) {
	t.Parallel()
	b := newBench(t, rig.Lib(t, mini()), 3)
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
	lib := rig.Lib(t, mini())
	firstOut := func(b *bench) (at uint64) {
		for at == 0 && b.Now() < 100 {
			b.cycle()
			if b.Is("m_axis_tvalid") {
				at = b.Now()
			}
		}
		return at
	}

	for _, delay := range []int{0, 1, 2, 7} { // the decision comes with the first beat, or later
		b := newBench(t, lib, 1)
		f := b.some(30)
		f.bypass = true
		b.raw, b.delay = []frame{f}, delay
		out := firstOut(b)
		require.Equal(t, max(b.rawAt[0]+3, b.fwdAt[0]+2), out, "bypass, decided %d cycles late", delay)
	}

	b := newBench(t, lib, 2)
	b.engine = []frame{b.some(30)}
	out := firstOut(b)
	require.Zero(t, out-b.engAt[0], "engine")

	// The engine's frame is not held up by a bypassed one that has left.
	f := b.some(30)
	f.bypass = true
	var left uint64
	for b = newBench(t, lib, 1); left == 0 && b.Now() < 100; {
		b.raw = []frame{f}
		if b.cycle(); b.Is("m_axis_tvalid") && b.Is("m_axis_tlast") {
			left = b.Now()
		}
	}
	for late := range uint64(3) {
		comes := left + 1 + late
		b = newBench(t, lib, 1)
		b.raw, b.engine = []frame{f}, []frame{b.some(30)}
		b.make = func() bool { return b.Now()+1 >= comes }
		for len(b.engAt) < 4 && b.Now() < 100 {
			b.cycle()
		}
		require.Equal(t, comes, b.engAt[0], "came %d cycles behind", late+1)
	}
}

// TestFlow: a beat a cycle without bubbles while anybody waits; and of frames of one beat beside adders that always read, one in 3 cycles.
func TestFlow(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, mini())
	for _, length := range []int{8, 9, 30, 400} {
		for _, engine := range []bool{false, true} {
			b := newBench(t, lib, 3)
			beats := 0
			for n := range 30 {
				f := b.some(length + n%3*8)
				f.bypass = true
				b.raw = append(b.raw, f)
				beats += f.beats()
				if engine {
					e := b.some(12 + n%20)
					b.engine = append(b.engine, e)
					beats += e.beats()
				}
			}
			var at []uint64
			for len(at) < beats && b.Now() < 3000 {
				if b.cycle(); b.Is("m_axis_tvalid") {
					at = append(at, b.Now())
				}
			}
			require.Len(t, at, beats)
			// A frame that leaves while it comes in holds up the one behind it until it is decided. From then on frames wait.
			require.LessOrEqual(t, at[beats-1]-at[0], uint64(beats-1+4), "%d bytes", length)
			require.Equal(t, uint64(beats/2-1), at[beats-1]-at[beats-beats/2], "%d bytes: bubbles", length)
		}
	}
	b := newBench(t, lib, 4)
	b.adds = func() bool { return true }
	for range 60 {
		f := b.some(8)
		f.bypass = true
		b.raw = append(b.raw, f)
	}
	for b.sink.Len() < 60 && b.Now() < 1000 {
		b.cycle()
	}
	require.Less(t, b.Now(), uint64(3*60+12))
}
