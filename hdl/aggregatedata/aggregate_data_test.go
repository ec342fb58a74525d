// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
)

func narrow() aggregatedata.AggregateData {
	return aggregatedata.AggregateData{Bytes: 8, Slots: 4, SlotW: 2, MTUWords: 8, WordsW: 4, PktW: 6}
}

// wide has a slot of two words, and three slots of the four that SLOT_W could name.
func wide() aggregatedata.AggregateData {
	return aggregatedata.AggregateData{Bytes: 64, Slots: 3, SlotW: 2, MTUWords: 2, WordsW: 2, PktW: 5}
}

// frame is a frame's payload in the packet buffer and the work that is done with it.
type frame struct {
	start     int // of its own words, counted from the run's first
	data      [][]byte
	words     int // of the work; 0: no work
	slot      int
	read      bool
	take      bool
	write     bool
	emit      bool
	bigEndian bool
	spec      bool // given before it is decided
	commit    bool // else killed; only with spec
	wait      int  // cycles from all words there (and the work given, with spec) to the decision
}

// bench is everything around the module: the packet buffer, and who decides.
type bench struct {
	*rig.Rig
	p       aggregatedata.AggregateData
	rng     *rand.Rand
	frames  []frame
	stream  [][]byte // all words, in the order of arrival
	arrived int
	arrive  func() bool // a word may arrive in this cycle
	room    func() bool
	head    int // frame being decided
	given   bool
	waited  int
	emitted [][]byte
	// cycle of each event, for timing
	opAt, readAt, emitAt, decideAt []uint64
}

func newBench(t *testing.T, lib *sim.Lib, p aggregatedata.AggregateData, seed uint64) *bench {
	always := func() bool { return true }
	return &bench{Rig: rig.New(t, lib, seed), p: p, rng: rand.New(rand.NewPCG(seed, 1)), arrive: always, room: always}
}

func (b *bench) add(f frame) {
	f.start = len(b.stream)
	b.stream = append(b.stream, f.data...)
	b.frames = append(b.frames, f)
}

func (b *bench) word() []byte {
	w := make([]byte, b.p.Bytes)
	for i := range w {
		w[i] = byte(b.rng.Uint32())
		if b.rng.IntN(3) == 0 { // carries that run through an element
			w[i] = 0xFF
		}
	}
	return w
}

func (b *bench) payload(n int) [][]byte {
	words := make([][]byte, n)
	for i := range words {
		words[i] = b.word()
	}
	return words
}

// cycle passes one clock.
func (b *bench) cycle() {
	size := 1 << b.p.PktW
	idle := b.head == len(b.frames)
	start := len(b.stream)
	if !idle {
		start = b.frames[b.head].start
	}
	b.Set("newest", uint64(b.arrived%size))
	b.Set("pkt_start", uint64(start%size))
	b.SetBool("emit_room", b.room())
	for _, name := range []string{"op_valid", "op_commit", "op_kill"} {
		b.Set(name, 0)
	}
	b.Settle()
	ready := b.Is("op_ready")
	decided := false
	if !idle {
		f := &b.frames[b.head]
		there := b.arrived >= f.start+len(f.data)
		switch {
		case f.words == 0:
			decided = there
		case f.spec && !b.given:
			if ready && b.arrived >= f.start {
				b.give(f, true)
				b.given = true
			}
		case there && b.waited < f.wait:
			b.waited++
		case there && f.spec:
			b.Set("op_commit", bit(f.commit))
			b.Set("op_kill", bit(!f.commit))
			decided = true
		case there && ready:
			b.give(f, false)
			decided = true
		}
	}
	b.Clock()
	if b.Is("rd_en") {
		b.readAt = append(b.readAt, b.Now())
		at := int(b.Get("rd_addr"))
		// the address names the newest word of that place
		latest := -1
		for i := b.arrived - 1; i >= 0 && i >= b.arrived-size; i-- {
			if i%size == at {
				latest = i
				break
			}
		}
		if latest >= 0 {
			b.SetBytes("rd_data", b.stream[latest])
		}
	}
	if b.Is("emit_valid") {
		b.emitAt = append(b.emitAt, b.Now())
		b.emitted = append(b.emitted, b.Bytes("emit_data"))
	}
	if decided {
		b.decideAt = append(b.decideAt, b.Now())
		b.head++
		b.given, b.waited = false, 0
	}
	used := (b.arrived - int(b.Get("oldest"))%size + size) % size
	if b.arrived < len(b.stream) && used < size-2 && b.arrive() {
		b.arrived++
	}
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func (b *bench) give(f *frame, spec bool) {
	b.opAt = append(b.opAt, b.Now()+1)
	b.Set("op_valid", 1)
	b.Set("op_spec", bit(spec))
	b.Set("op_start", uint64(f.start%(1<<b.p.PktW)))
	b.Set("op_words", uint64(f.words))
	b.Set("op_slot", uint64(f.slot))
	b.Set("op_read", bit(f.read))
	b.Set("op_take", bit(f.take))
	b.Set("op_write", bit(f.write))
	b.Set("op_emit", bit(f.emit))
	b.Set("op_big_endian", bit(f.bigEndian))
}

// run passes cycles until all frames are decided and all their words written.
func (b *bench) run(t *testing.T) {
	t.Helper()
	for n := 0; b.head < len(b.frames); n++ {
		require.Less(t, n, 100000, "frame %d of %d is never decided", b.head, len(b.frames))
		b.cycle()
	}
	b.room = func() bool { return true }
	for range 4 + b.p.MTUWords {
		b.cycle()
	}
}

// model is what the works mean, one after the other.
type model struct {
	slots   map[[2]int][]byte // slot, word
	emitted [][]byte
}

func (m *model) apply(f frame) {
	if f.words == 0 || f.spec && !f.commit {
		return
	}
	var order binary.ByteOrder = binary.LittleEndian
	if f.bigEndian {
		order = binary.BigEndian
	}
	for i := range f.words {
		at := [2]int{f.slot, i}
		var out []byte
		switch {
		case f.read && f.take:
			out = make([]byte, len(f.data[i]))
			for e := 0; e < len(out); e += 4 {
				order.PutUint32(out[e:], order.Uint32(m.slots[at][e:])+order.Uint32(f.data[i][e:]))
			}
		case f.read:
			out = m.slots[at]
		default:
			out = f.data[i]
		}
		if f.write {
			m.slots[at] = out
		}
		if f.emit {
			m.emitted = append(m.emitted, out)
		}
	}
}

// fill writes every word of every slot, and dump sends it.
func (b *bench) fill() {
	for s := range b.p.Slots {
		b.add(frame{data: b.payload(b.p.MTUWords), words: b.p.MTUWords, slot: s, take: true, write: true})
	}
}

func (b *bench) dump() {
	for s := range b.p.Slots {
		b.add(frame{words: b.p.MTUWords, slot: s, read: true, emit: true})
	}
}

// some draws a frame of any kind that CheckDuplicate gives work for.
func (b *bench) some(slots int) frame {
	n := 1 + b.rng.IntN(min(4, b.p.MTUWords))
	if b.rng.IntN(8) == 0 {
		n = b.p.MTUWords
	}
	f := frame{data: b.payload(n), words: n, slot: b.rng.IntN(slots), take: true, bigEndian: b.rng.IntN(4) == 0, commit: true}
	switch b.rng.IntN(10) {
	case 0, 1, 2, 3, 4:
		f.read, f.write, f.emit = true, true, b.rng.IntN(3) == 0
	case 5, 6:
		f.write, f.emit = true, b.rng.IntN(3) == 0
	case 7:
		f.emit = true
	case 8:
		f.read, f.take, f.emit = true, false, true
		f.words = 1 + b.rng.IntN(b.p.MTUWords)
	case 9:
		f.words = 0
	}
	f.spec = b.rng.IntN(2) == 0
	f.commit = b.rng.IntN(3) != 0
	if b.rng.IntN(2) == 0 {
		f.wait = b.rng.IntN(7)
	}
	return f
}

func often(r *rand.Rand, percent int) func() bool {
	return func() bool { return r.IntN(100) < percent }
}

// TestAgainstModel: any works, any arrival of words, any room behind, against adding them up one after the other.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for _, p := range []aggregatedata.AggregateData{narrow(), wide()} {
		t.Run(fmt.Sprintf("%d bytes", p.Bytes), func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			for seed := range uint64(6) {
				b := newBench(t, lib, p, seed)
				b.arrive = often(b.rng, []int{100, 50, 90}[seed%3])
				b.room = often(b.rng, []int{100, 100, 60, 30, 90, 50}[seed])
				b.fill()
				for range 600 {
					b.add(b.some(1 + int(seed)%p.Slots))
				}
				b.dump()
				b.run(t)
				m := model{slots: map[[2]int][]byte{}}
				for _, f := range b.frames {
					m.apply(f)
				}
				require.Equal(t, len(m.emitted), len(b.emitted), "seed %d: words sent", seed)
				for i := range m.emitted {
					require.Equal(t, m.emitted[i], b.emitted[i], "seed %d: word %d sent", seed, i)
				}
			}
		})
	}
}

// TestTiming: the cycles that the head of the file states.
func TestTiming(t *testing.T) {
	t.Parallel()
	p := narrow()
	lib := rig.Lib(t, p)

	t.Run("latency", func(t *testing.T) {
		b := newBench(t, lib, p, 1)
		b.add(frame{data: b.payload(5), words: 5, slot: 2, take: true, write: true, emit: true})
		b.run(t)
		require.Equal(t, b.opAt[0]+1, b.readAt[0])
		for i, at := range b.emitAt {
			require.Equal(t, b.opAt[0]+3+uint64(i), at, "word %d", i)
		}
		require.Len(t, b.emitAt, 5)
	})

	t.Run("throughput", func(t *testing.T) {
		b := newBench(t, lib, p, 2)
		total := 0
		for i := range 16 {
			n := 1 + i%3
			b.add(frame{data: b.payload(n), words: n, slot: i % 4, take: true, write: true, emit: true})
			total += n
		}
		b.arrived = min(len(b.stream), 40) // all words are there before their work
		b.run(t)
		require.Len(t, b.emitAt, total)
		require.Equal(t, uint64(total-1), b.emitAt[total-1]-b.emitAt[0], "bubbles")
	})

	t.Run("hazard", func(t *testing.T) {
		for words, each := range map[int]uint64{1: 3, 2: 3, 3: 3, 4: 4} {
			b := newBench(t, lib, p, 3)
			b.add(frame{data: b.payload(words), words: words, slot: 1, take: true, write: true})
			const works = 8
			for range works {
				b.add(frame{data: b.payload(words), words: words, slot: 1, read: true, take: true, write: true})
			}
			b.arrived = len(b.stream)
			b.run(t)
			first := b.readAt[words] // the first work reads no slot
			last := b.readAt[works*words]
			require.Equal(t, (works-1)*each, last-first, "%d works of %d words on one slot", works, words)
		}
	})

	t.Run("commit", func(t *testing.T) {
		for wait := range 7 {
			b := newBench(t, lib, p, 4)
			b.add(frame{data: b.payload(2), words: 2, slot: 1, take: true, write: true, emit: true, spec: true, commit: true, wait: wait})
			b.arrived = 2
			b.run(t)
			// given, then decided a cycle later at the earliest; the sum is there 3 cycles after the work
			require.Equal(t, b.opAt[0]+1+uint64(wait), b.decideAt[0])
			require.Equal(t, max(b.opAt[0]+3, b.decideAt[0]+1), b.emitAt[0], "decided after %d cycles", wait+1)
			require.Equal(t, b.emitAt[0]+1, b.emitAt[1])
		}
	})

	t.Run("kill", func(t *testing.T) {
		for wait := range 7 {
			b := newBench(t, lib, p, 5)
			b.fill()
			b.add(frame{data: b.payload(4), words: 4, slot: 1, read: true, take: true, write: true, emit: true, spec: true, wait: wait})
			// the next work is on the same words, and may be given a cycle after the kill
			b.add(frame{data: b.payload(4), words: 4, slot: 1, read: true, take: true, write: true, emit: true})
			b.arrive = func() bool { return true }
			b.dump()
			b.run(t)
			m := model{slots: map[[2]int][]byte{}}
			for _, f := range b.frames {
				m.apply(f)
			}
			require.Equal(t, m.emitted, b.emitted, "killed after %d cycles", wait+1)
		}
	})
}

// TestLanes: INT32 sums of both byte orders, against Go's.
func TestLanes(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, aggregatedata.Lanes{Lanes: 3})
	r := rig.New(t, lib, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	edges := []uint32{0, 1, 0xFF, 0x100, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FFFFFF, 0xFF000000}
	value := func() uint32 {
		if rng.IntN(2) == 0 {
			return edges[rng.IntN(len(edges))]
		}
		return rng.Uint32()
	}
	for range 2000 {
		big := rng.IntN(2) == 1
		var order binary.AppendByteOrder = binary.LittleEndian
		if big {
			order = binary.BigEndian
		}
		var a, b, want []byte
		for range 3 {
			x, y := value(), value()
			a, b, want = order.AppendUint32(a, x), order.AppendUint32(b, y), order.AppendUint32(want, x+y)
		}
		r.SetBool("big_endian", big)
		r.SetBytes("a", a)
		r.SetBytes("b", b)
		require.NoError(t, r.Eval())
		require.Equal(t, want, r.Bytes("sum"), "%x + %x, big endian %t", a, b, big)
	}
}
