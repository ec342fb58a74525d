// SPDX-License-Identifier: Apache-2.0

package aggregatedata_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/aggregatedata"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/parser"
	"incforge/inc"
	"incforge/sim"
)

// narrow adds INT32 on an 8-byte bus, a row a word.
func narrow() aggregatedata.AggregateData {
	return aggregatedata.AggregateData{Bytes: 8, Row: 8, Slots: 4, SlotW: 2, Planes: 1, MTUWords: 8, WordsW: 4, PktW: 6,
		Stages: 1, Banks: 1, Sum: true}
}

// wide has a slot of two words, and three slots of the four that SLOT_W could name.
func wide() aggregatedata.AggregateData {
	p := narrow()
	p.Bytes, p.Row, p.Slots, p.MTUWords, p.WordsW, p.PktW = 64, 64, 3, 2, 2, 5
	return p
}

// all is narrow with every type and operation, and a deeper adder.
func all(stages int) aggregatedata.AggregateData {
	p := narrow()
	p.Stages = stages
	p.F32, p.F16, p.B16, p.Min, p.Max = true, true, true, true, true
	return p
}

// with is p changed.
func with(p aggregatedata.AggregateData, change func(*aggregatedata.AggregateData)) aggregatedata.AggregateData {
	change(&p)
	return p
}

// tree keeps pairs of endpoints.
func tree(p aggregatedata.AggregateData, planes int) aggregatedata.AggregateData {
	p.Tree, p.Planes = 1, planes
	return p
}

// eager merges siblings as soon as both are complete.
func eager(p aggregatedata.AggregateData) aggregatedata.AggregateData {
	p.Eager = true
	return p
}

// shapes are the ways to build it that the tests go through.
func shapes() map[string]aggregatedata.AggregateData {
	type ad = aggregatedata.AggregateData
	return map[string]ad{
		"INT32":             narrow(),
		"INT32, 64 bytes":   wide(),
		"all types":         all(3),
		"fewer lanes":       with(all(2), func(p *ad) { p.Bytes, p.Row, p.PktW = 16, 4, 5 }),
		"twice the lanes":   with(all(4), func(p *ad) { p.Double = 1 }),
		"MIN and MAX":       with(all(3), func(p *ad) { p.Sum = false }),
		"error correction":  with(all(3), func(p *ad) { p.ECC = 1 }),
		"banks":             with(all(3), func(p *ad) { p.Banks = 4 }),
		"tree":              tree(all(3), 4),
		"tree of one pair":  tree(all(2), 1),
		"tree, three pairs": tree(with(all(1), func(p *ad) { p.Slots, p.Bytes = 3, 16 }), 3),
		"tree, all options": tree(with(all(4), func(p *ad) { p.ECC, p.Banks = 1, 2 }), 8),

		"eager, one pair":    eager(tree(narrow(), 1)),
		"eager, three pairs": eager(tree(with(all(1), func(p *ad) { p.Slots, p.Bytes = 3, 16 }), 3)),
		"eager, chip":        eager(chip(8)),
	}
}

// frame is a frame's payload in the packet buffer and the work that is done with it.
type frame struct {
	start  int  // of its own words, counted from the run's first
	imm    bool // they lie behind an immediate
	data   [][]byte
	words  int // of the work; 0: no work
	slot   *slot
	read   bool
	take   bool
	write  bool
	emit   bool
	spec   bool // given before it is decided
	commit bool // else killed; only with spec
	wait   int  // cycles from all words there (and the work given, with spec) to the decision
	behind bool // it is decided when all that is emitted before it has left, as where its own frame needs the place of one

	// in a tree
	endpoint int
	reduce   bool
	pairs    uint64
}

// slot is what the works on one slot have in common.
type slot struct {
	unit      int
	dtype, op uint8
	bigEndian bool
}

// bench is everything around the module: the packet buffer, and who decides.
type bench struct {
	*rig.Rig
	p       aggregatedata.AggregateData
	rng     *rand.Rand
	slots   []*slot
	frames  []frame
	stream  [][]byte // all words, in the order of arrival
	arrived int
	arrive  func() bool // a word may arrive in this cycle
	room    func() bool
	port    func() bool    // the packet buffer may be read in this cycle
	inject  map[int]uint64 // bits to invert, by frame, in the first row that it writes
	head    int            // frame being decided
	given   bool
	waited  int
	owed    int // words that the works given before the head emit
	emitted [][]byte
	bad     []bool
	stray   bool // a word was read without leave, or as one of another kind of frame, or again when it was there or no longer in the ring
	last    int  // the word that was read last
	again   int  // words that were read again
	// corrected and double count what the module counts.
	corrected, double int
	// cycle of each event, for timing
	opAt, readAt, emitAt, decideAt []uint64
}

func newBench(t *testing.T, lib *sim.Lib, p aggregatedata.AggregateData, seed uint64) *bench {
	always := func() bool { return true }
	b := &bench{Rig: rig.New(t, lib, seed), p: p, rng: rand.New(rand.NewPCG(seed, 1)), arrive: always, room: always, port: always}
	b.Set("inject_valid", 0)
	b.Set("rd_there", 0)
	for unit := 0; unit < p.Slots; {
		s := b.someSlot(unit)
		if inc.Wide(s.dtype) && unit+1 == p.Slots {
			s.dtype = inc.DTypeINT32
		}
		b.slots = append(b.slots, s)
		unit++
		if inc.Wide(s.dtype) {
			unit++
		}
	}
	return b
}

// someSlot draws a slot of any type and operation that there is.
func (b *bench) someSlot(unit int) *slot {
	dtypes, ops := []uint8{inc.DTypeINT32}, []uint8{}
	if b.p.F32 {
		dtypes = append(dtypes, inc.DTypeFP32)
	}
	if b.p.F16 {
		dtypes = append(dtypes, inc.DTypeFP16)
	}
	if b.p.B16 {
		dtypes = append(dtypes, inc.DTypeBF16)
	}
	for op, there := range []bool{b.p.Sum, b.p.Min, b.p.Max} {
		if there {
			ops = append(ops, uint8(op))
		}
	}
	return &slot{unit: unit, dtype: dtypes[b.rng.IntN(len(dtypes))], op: ops[b.rng.IntN(len(ops))], bigEndian: b.rng.IntN(3) == 0}
}

func (b *bench) add(f frame) {
	f.start = len(b.stream)
	f.imm = len(b.frames)%3 == 1
	b.stream = append(b.stream, f.data...)
	b.frames = append(b.frames, f)
}

func (b *bench) word() []byte {
	w := make([]byte, b.p.Bytes)
	for i := range w {
		w[i] = byte(b.rng.Uint32())
		if b.rng.IntN(3) == 0 { // carries that run through an element, and not-a-number
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

// from is where a frame begins in the packet buffer whose words begin at start: so many beats before as its header fills.
func (b *bench) from(start int, imm bool) uint64 {
	header := parser.Start
	if imm {
		header = parser.StartImm
	}
	return uint64(start-header/b.p.Bytes) % (1 << b.p.PktW)
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
	b.Set("pkt_start", b.from(start, false))
	b.SetBool("emit_room", b.room())
	port := b.port()
	b.SetBool("rd_ready", port)
	for _, name := range []string{"op_valid", "op_commit", "op_kill", "inject_valid"} {
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
		case there && f.behind && len(b.emitted) < b.owed:
		case there && f.spec:
			b.SetBool("op_commit", f.commit)
			b.SetBool("op_kill", !f.commit)
			decided = true
		case there && ready:
			b.give(f, false)
			decided = true
		}
	}
	b.Clock()
	b.read(port)
	if b.Is("emit_valid") {
		b.emitAt = append(b.emitAt, b.Now())
		b.emitted = append(b.emitted, b.Bytes("emit_data"))
		b.bad = append(b.bad, b.Is("emit_bad"))
	}
	if b.Is("count_corrected") {
		b.corrected++
	}
	if b.Is("count_double") {
		b.double++
	}
	if decided {
		if f := b.frames[b.head]; (f.emit || f.reduce) && (f.commit || !f.spec) {
			b.owed += f.words
		}
		b.decideAt = append(b.decideAt, b.Now())
		b.head++
		b.given, b.waited = false, 0
	}
	used := (b.arrived - int(b.Get("oldest")) - parser.Start/b.p.Bytes) & (size - 1)
	if b.arrived < len(b.stream) && used < size-2 && b.arrive() {
		b.arrived++
	}
}

// read is what the packet buffer does at the clock: it shows the word that was asked for, or what Forward reads when the port is not wanted or
// not given.
func (b *bench) read(port bool) {
	size := 1 << b.p.PktW
	wants := b.Is("rd_wants")
	if !b.Is("rd_en") {
		if !(port && wants) && b.rng.IntN(2) == 0 {
			b.Set("rd_there", 0)
			b.SetBytes("rd_data", b.word())
		}
		return
	}
	b.stray = b.stray || !port || !wants
	if b.Is("rd_again") {
		b.stray = b.stray || b.Is("rd_there") || b.last < b.arrived-size
		b.again++
	} else {
		b.readAt = append(b.readAt, b.Now())
		// the address names the newest word of that place
		at := int(b.Get("rd_addr"))
		b.last = b.arrived - 1
		for b.last >= 0 && b.last%size != at {
			b.last--
		}
		for _, f := range b.frames {
			if f.start <= b.last && b.last < f.start+len(f.data) && f.imm != b.Is("rd_imm") {
				b.stray = true
			}
		}
	}
	b.Set("rd_there", 1)
	if b.last >= 0 && b.last >= b.arrived-size {
		b.SetBytes("rd_data", b.stream[b.last])
	}
}

func (b *bench) give(f *frame, spec bool) {
	b.opAt = append(b.opAt, b.Now()+1)
	b.Set("op_valid", 1)
	b.SetBool("op_spec", spec)
	b.Set("op_start", b.from(f.start, f.imm))
	b.SetBool("op_imm", f.imm)
	b.Set("op_words", uint64(f.words))
	b.Set("op_slot", uint64(f.slot.unit))
	b.Set("op_pair", uint64(f.endpoint/2))
	b.SetBool("op_read", f.read)
	b.SetBool("op_take", f.take)
	b.SetBool("op_write", f.write)
	b.SetBool("op_emit", f.emit)
	b.SetBool("op_reduce", f.reduce)
	b.Set("op_pairs", f.pairs)
	b.Set("op_function", uint64(f.slot.op))
	b.Set("op_dtype", uint64(f.slot.dtype))
	b.SetBool("op_big_endian", f.slot.bigEndian)
	if flips, ok := b.inject[b.head]; ok {
		b.Set("inject_valid", 1)
		b.Set("inject_flips", flips)
	}
}

// run passes cycles until all frames are decided and all their words written, reduced and sent.
func (b *bench) run(t *testing.T) {
	t.Helper()
	for n := 0; b.head < len(b.frames); n++ {
		require.Less(t, n, 200000, "frame %d of %d is never decided", b.head, len(b.frames))
		b.cycle()
	}
	b.room = func() bool { return true }
	b.port = b.room
	rows := 2 * b.p.Bytes / b.p.Row * b.p.MTUWords
	for range 50 + 2*rows*(2+3*b.p.Planes) { // a work under way and one that waits for it
		b.cycle()
	}
	require.False(t, b.stray)
}

// model is what the works mean, one after the other.
type model struct {
	planes  int
	words   map[place][][]byte // contributions, in order; in a tree by endpoint
	emitted [][]byte
}

type place struct{ unit, word int }

func newModel(p aggregatedata.AggregateData) *model {
	return &model{planes: p.Planes, words: map[place][][]byte{}}
}

func (m *model) apply(f frame) {
	if f.words == 0 || f.spec && !f.commit {
		return
	}
	s := f.slot
	for i := range f.words {
		at := place{s.unit, i}
		parts := m.words[at]
		switch {
		case !f.take:
		case f.read:
			parts = append(parts[:len(parts):len(parts)], f.data[i])
		default:
			parts = [][]byte{f.data[i]}
		}
		if f.write {
			m.words[at] = parts
		}
		if f.emit {
			m.emitted = append(m.emitted, inc.Reduce(s.dtype, s.op, s.bigEndian, parts))
		}
	}
}

// applyTree is apply for pairs of endpoints.
func (m *model) applyTree(f frame) {
	if f.words == 0 || f.spec && !f.commit {
		return
	}
	s := f.slot
	for i := range f.words {
		at := place{s.unit, i}
		if f.write {
			if m.words[at] == nil {
				m.words[at] = make([][]byte, 2*m.planes)
			}
			if !f.read {
				m.words[at][f.endpoint^1] = nil
			}
			m.words[at][f.endpoint] = f.data[i]
		}
		if f.emit {
			m.emitted = append(m.emitted, f.data[i])
		}
		if f.reduce {
			parts := make([][]byte, 2*m.planes)
			for e, part := range m.words[at] {
				if f.pairs>>(e/2)&1 != 0 {
					parts[e] = part
				}
			}
			m.emitted = append(m.emitted, inc.ReduceTree(s.dtype, s.op, s.bigEndian, parts))
		}
	}
}

// fill writes every word of every slot, and dump sends it.
func (b *bench) fill() {
	for _, s := range b.slots {
		b.add(frame{data: b.payload(b.p.MTUWords), words: b.p.MTUWords, slot: s, take: true, write: true})
	}
}

func (b *bench) dump() {
	for _, s := range b.slots {
		b.add(frame{words: b.p.MTUWords, slot: s, read: true, emit: true})
	}
}

// length draws a payload's number of words: mostly short ones, which meet each other in the adder.
func (b *bench) length() int {
	if b.rng.IntN(8) == 0 {
		return b.p.MTUWords
	}
	return 1 + b.rng.IntN(min(4, b.p.MTUWords))
}

// hurry draws how the frame is decided.
func (b *bench) hurry(f frame) frame {
	f.spec = b.rng.IntN(2) == 0
	if b.rng.IntN(2) == 0 {
		f.wait = b.rng.IntN(9)
	}
	f.behind = b.rng.IntN(3) == 0
	return f
}

// some draws a frame of any kind that CheckDuplicate gives work for in place.
func (b *bench) some(slots int) frame {
	n := b.length()
	f := frame{data: b.payload(n), words: n, slot: b.slots[b.rng.IntN(slots)], take: true, commit: b.rng.IntN(3) != 0}
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
	return b.hurry(f)
}

// addTree adds rounds of contributions to slots, interleaved, with copies and resent results between.
func (b *bench) addTree(rounds int) {
	type round struct {
		slot  *slot
		words int
		left  []int
		seen  uint64
	}
	under := map[*slot]*round{}
	for rounds > 0 || len(under) > 0 {
		s := b.slots[b.rng.IntN(len(b.slots))]
		r := under[s]
		switch {
		case b.rng.IntN(12) == 0:
			n := b.length()
			b.add(b.hurry(frame{data: b.payload(n), words: n, slot: s, take: true, emit: true, commit: b.rng.IntN(4) != 0}))
			continue
		case r != nil && b.rng.IntN(100) == 0: // a group that is started again
			delete(under, s)
			continue
		case r == nil && rounds == 0:
			continue
		case r == nil:
			rounds--
			r = &round{slot: s, words: b.length(), left: b.rng.Perm(2 * b.p.Planes)}
			if b.rng.IntN(3) == 0 {
				r.left = r.left[:1+b.rng.IntN(len(r.left))]
			}
			under[s] = r
		}
		e := r.left[0]
		f := b.hurry(frame{data: b.payload(r.words), words: r.words, slot: s, take: true, write: true, endpoint: e,
			read: r.seen>>(e^1)&1 != 0, commit: b.rng.IntN(5) != 0})
		if f.commit || !f.spec {
			r.left = r.left[1:]
			r.seen |= 1 << e
		}
		f.reduce = len(r.left) == 0
		for p := range b.p.Planes {
			if r.seen>>(2*p)&3 != 0 {
				f.pairs |= 1 << p
			}
		}
		b.add(f)
		if f.reduce {
			for b.rng.IntN(3) == 0 {
				b.add(b.hurry(frame{words: r.words, slot: s, reduce: true, pairs: f.pairs, commit: true}))
			}
			delete(under, s)
		}
	}
}

func often(r *rand.Rand, percent int) func() bool {
	return func() bool { return r.IntN(100) < percent }
}

// TestAgainstModel: any works, any arrival of words, any room behind, verdicts that wait for results to leave, against the reference's arithmetic.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for name, p := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			for seed := range uint64(6) {
				b := newBench(t, lib, p, seed)
				b.arrive = often(b.rng, []int{100, 50, 90}[seed%3])
				b.room = often(b.rng, []int{100, 100, 60, 30, 90, 50}[seed])
				b.port = often(b.rng, []int{100, 60, 100, 90, 30, 60}[seed])
				m := newModel(p)
				apply := m.apply
				if p.Tree == 1 {
					apply = m.applyTree
					b.addTree(60)
				} else {
					b.fill()
					for range 400 {
						b.add(b.some(1 + int(seed)%len(b.slots)))
					}
					b.dump()
				}
				b.run(t)
				for _, f := range b.frames {
					apply(f)
				}
				require.Equal(t, len(m.emitted), len(b.emitted), "seed %d: words sent", seed)
				for i := range m.emitted {
					require.Equal(t, m.emitted[i], b.emitted[i], "seed %d: word %d sent", seed, i)
					require.False(t, b.bad[i], "seed %d: word %d is marked", seed, i)
				}
				require.Zero(t, b.corrected+b.double)
			}
		})
	}
}

// TestTiming: the cycles that the head of the file states.
func TestTiming(t *testing.T) {
	t.Parallel()
	for _, stages := range []int{1, 3} {
		for ecc := range 2 {
			t.Run(fmt.Sprintf("%d stages, ECC %d", stages, ecc), func(t *testing.T) {
				t.Parallel()
				p := narrow()
				p.Stages, p.ECC = stages, ecc
				timing(t, p, uint64(stages+ecc))
			})
		}
	}
}

func timing(t *testing.T, p aggregatedata.AggregateData, depth uint64) {
	lib := rig.Lib(t, p)
	ecc := uint64(p.ECC)

	t.Run("latency", func(t *testing.T) {
		b := newBench(t, lib, p, 1)
		b.add(frame{data: b.payload(5), words: 5, slot: b.slots[2], take: true, write: true, emit: true})
		b.run(t)
		require.Equal(t, b.opAt[0]+1, b.readAt[0], "with ECC it waits in the register in which the memory's word does")
		for i, at := range b.emitAt {
			require.Equal(t, b.opAt[0]+2+ecc+depth+uint64(i), at, "word %d", i)
		}
		require.Len(t, b.emitAt, 5)
	})

	t.Run("throughput", func(t *testing.T) {
		b := newBench(t, lib, p, 2)
		total := 0
		for i := range 16 {
			n := 1 + i%3
			b.add(frame{data: b.payload(n), words: n, slot: b.slots[i%4], take: true, write: true, emit: true})
			total += n
		}
		b.arrived = min(len(b.stream), 40) // all words are there before their work
		b.run(t)
		require.Len(t, b.emitAt, total)
		require.Equal(t, uint64(total-1), b.emitAt[total-1]-b.emitAt[0], "bubbles")
	})

	t.Run("hazard", func(t *testing.T) {
		for words := uint64(1); words <= min(depth+3, uint64(p.MTUWords)); words++ {
			b := newBench(t, lib, p, 3)
			const works = 8
			for i := range 1 + works {
				b.add(frame{data: b.payload(int(words)), words: int(words), slot: b.slots[1], read: i > 0, take: true, write: true, emit: true})
			}
			b.arrived = len(b.stream)
			b.run(t)
			first := b.emitAt[2*words]
			last := b.emitAt[works*words]
			each := max(words, depth)
			switch {
			case words == depth+1:
				each += 1 + ecc
			case words == depth+2:
				each += ecc
			case words == 1 && depth == 1:
				each++
			}
			require.Equal(t, (works-2)*each, last-first, "%d works of %d words on one slot", works, words)
		}
	})

	t.Run("commit", func(t *testing.T) {
		for wait := range 7 {
			b := newBench(t, lib, p, 4)
			b.add(frame{data: b.payload(2), words: 2, slot: b.slots[1], take: true, write: true, emit: true, spec: true, commit: true, wait: wait})
			b.arrived = 2
			b.run(t)
			// given, then decided a cycle later at the earliest
			require.Equal(t, b.opAt[0]+1+uint64(wait), b.decideAt[0])
			require.Equal(t, max(b.opAt[0]+2+ecc+depth, b.decideAt[0]+1), b.emitAt[0], "decided after %d cycles", wait+1)
			require.Equal(t, b.emitAt[0]+1, b.emitAt[1])
		}
	})

	t.Run("kill", func(t *testing.T) {
		for wait := range 9 {
			b := newBench(t, lib, p, 5)
			b.fill()
			s := b.slots[1]
			b.add(frame{data: b.payload(4), words: 4, slot: s, read: true, take: true, write: true, emit: true, spec: true, wait: wait})
			// the next work is on the same words, and may be given a cycle after the kill
			b.add(frame{data: b.payload(4), words: 4, slot: s, read: true, take: true, write: true, emit: true})
			b.dump()
			b.run(t)
			m := newModel(p)
			for _, f := range b.frames {
				m.apply(f)
			}
			require.Equal(t, m.emitted, b.emitted, "killed after %d cycles", wait+1)
		}
	})
}

// TestTreeTiming: a row of S pairs takes S cycles, and its result is there log2(S) adders after the last pair was read. The tree
// begins when the last contribution's last row goes to be added, and waits for a pair that is still being added.
func TestTreeTiming(t *testing.T) {
	t.Parallel()
	for _, stages := range []int{1, 4} {
		t.Run(fmt.Sprint(stages), func(t *testing.T) {
			t.Parallel()
			p := tree(narrow(), 8)
			p.Stages, p.PktW = stages, 8
			lib := rig.Lib(t, p)
			for i := range 8 {
				b := newBench(t, lib, p, 1)
				levels, words := i/2, []int{8, 1}[i%2]
				span := 1 << levels
				for e := range span {
					b.add(frame{data: b.payload(words), words: words, slot: b.slots[0], endpoint: 2 * e, take: true, write: true,
						reduce: e == span-1, pairs: 1<<span - 1})
				}
				b.arrived = len(b.stream)
				b.run(t)
				require.Len(t, b.emitAt, words, "%d pairs", span)
				each := span + max(span/2-1, 0)
				require.LessOrEqual(t, b.emitAt[words-1]-b.emitAt[0], uint64((words-1)*each), "%d pairs", span)
				// the last work is given, its last word goes to be added, the first row of its pair is written, read and reduced
				given := b.opAt[len(b.opAt)-1]
				added := given + uint64(2+words-1)
				written := given + uint64(2+stages)
				reduced := max(added+uint64(span), written+1) + uint64(1+stages*max(levels, 1))
				require.GreaterOrEqual(t, reduced+1, b.emitAt[0], "%d pairs", span)
				require.LessOrEqual(t, reduced-1, b.emitAt[0], "%d pairs", span)
			}
		})
	}
}

// TestTreeLatency: from the last contribution to the result, with two stages and ECC, by the pair that comes last: the tree reads all others
// while that one is still being added.
func TestTreeLatency(t *testing.T) {
	t.Parallel()
	for planes, want := range map[int][]uint64{4: {17, 16, 15, 15}, 8: {24, 23, 22, 22, 22, 22, 22, 22}} {
		t.Run(fmt.Sprintf("%d pairs", planes), func(t *testing.T) {
			t.Parallel()
			p := chip(planes)
			lib := rig.Lib(t, p)
			for last, cycles := range want {
				b := newBench(t, lib, p, 1)
				s := &slot{unit: 0, dtype: inc.DTypeFP32}
				m := newModel(p)
				for i := range 2 * planes {
					e := (2*last + 2 + i) % (2 * planes)
					b.add(frame{data: b.payload(1), words: 1, slot: s, endpoint: e, read: e%2 == 1, take: true, write: true, wait: 40,
						reduce: i == 2*planes-1, pairs: 1<<planes - 1})
				}
				b.run(t)
				for _, f := range b.frames {
					m.applyTree(f)
				}
				require.Equal(t, m.emitted, b.emitted)
				require.Equal(t, cycles, b.emitAt[0]-b.opAt[len(b.opAt)-1], "pair %d last", last)
			}
		})
	}
}

// TestPoison: a single error is corrected, a double one marks every word that was made with it, and nothing else.
func TestPoison(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]aggregatedata.AggregateData{
		"halves":  with(all(3), func(p *aggregatedata.AggregateData) { p.ECC, p.Bytes, p.Row = 1, 16, 8 }),
		"doubled": with(all(3), func(p *aggregatedata.AggregateData) { p.ECC, p.Double = 1, 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			for flips := range uint64(3) {
				b := newBench(t, lib, p, flips)
				s := b.slots[0]
				b.inject = map[int]uint64{0: flips}
				const words = 4
				// works on another slot between, so that sums come from the memory
				apart := func() {
					b.add(frame{data: b.payload(p.MTUWords), words: p.MTUWords, slot: b.slots[1], take: true, write: true})
				}
				for i := range 3 {
					b.add(frame{data: b.payload(words), words: words, slot: s, read: i > 0, take: true, write: true, emit: i == 2})
					apart()
				}
				b.add(frame{words: words, slot: s, read: true, emit: true})
				apart()
				b.add(frame{data: b.payload(words), words: words, slot: s, take: true, write: true})
				b.add(frame{words: words, slot: s, read: true, emit: true})
				b.run(t)
				m := newModel(p)
				for _, f := range b.frames {
					m.apply(f)
				}
				require.Len(t, b.emitted, 3*words)
				for i := range b.emitted {
					poisoned := flips == 2 && i%words == 0 && i < 2*words
					require.Equal(t, poisoned, b.bad[i], "%d flips, word %d", flips, i)
					if !poisoned {
						require.Equal(t, m.emitted[i], b.emitted[i], "%d flips, word %d", flips, i)
					}
				}
				require.Equal(t, flips == 1, b.corrected > 0, "corrected %d", b.corrected)
				require.Equal(t, flips == 2, b.double > 0, "double %d", b.double)
			}
		})
	}
}
