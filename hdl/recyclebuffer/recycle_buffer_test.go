// SPDX-License-Identifier: Apache-2.0

package recyclebuffer_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/recyclebuffer"
	"incforge/sim"
)

func mini() recyclebuffer.RecycleBuffer {
	return recyclebuffer.RecycleBuffer{Slots: 29, SlotW: 5, Groups: 3, EPW: 2, EIW: 4, MaskW: 3, LenW: 7, Pending: 5}
}

// Words of a group's record, as the register map numbers them.
const (
	wordStart      = 2
	wordSlots      = 3
	wordParent     = 7
	wordCollective = 8
)

// allReduce is GROUP_COLLECTIVE of an INT32 SUM AllReduce.
const allReduce = 3 << 16

type group struct{ start, base, log2, parent, collective uint64 }

func (g group) slots() int { return 1 << g.log2 }

// tag is the tag of slot i after the start.
func (g group) tag(i int) uint64 {
	n := uint64(g.slots())
	for psn := g.start; ; psn++ {
		if psn%n == uint64(i) { // N divides 2^24, so the wrap does not matter
			return psn & 0xFFFFFF
		}
	}
}

// word is a slot's state word.
type word struct {
	tag, mask, opcode, plen, pad, ext uint64
	complete, se, ce                  bool
}

type bench struct {
	*rig.Rig
	t       *testing.T
	p       recyclebuffer.RecycleBuffer
	groups  []group
	enable  uint64
	slots   map[int]word // what is known
	waiting []bool       // frames looked up and not decided; true: before the newest start
	write   int          // slot to write, or -1
	wrote   word
	read    int // slot to read, or -1
	reading int // read in the cycle before: what its word must be
	want    *word
	take    func() bool // an endpoint's state is taken
	show    func() bool // the next frame is there
	pop     func() bool
	taken   map[int]uint64 // endpoint index to PSN, of the start under way
	busy    uint64
	refused uint64 // ever
	early   int    // endpoint states offered before the frames were gone
}

func newBench(t *testing.T, lib *sim.Lib, p recyclebuffer.RecycleBuffer, seed uint64) *bench {
	yes := func() bool { return true }
	b := &bench{Rig: rig.New(t, lib, seed), t: t, p: p, groups: make([]group, p.Groups), slots: map[int]word{},
		write: -1, read: -1, take: yes, show: yes, pop: yes, taken: map[int]uint64{}}
	for g := range p.Groups { // as the registers do after reset
		for w := range uint64(16) {
			b.table(g, w, 0)
		}
	}
	return b
}

func (b *bench) table(g int, w, v uint64) {
	b.Set("tbl_grp_we", 1)
	b.Set("tbl_index", uint64(g))
	b.Set("tbl_word", w)
	b.Set("tbl_data", v)
	b.cycle(0)
	b.Set("tbl_grp_we", 0)
}

func (b *bench) configure(g int, c group) {
	b.table(g, wordStart, c.start)
	b.table(g, wordSlots, c.base|c.log2<<24)
	b.table(g, wordParent, c.parent)
	b.table(g, wordCollective, c.collective)
	b.groups[g] = c
}

func (b *bench) forget(g int) {
	base := int(b.groups[g].base)
	for s := range b.p.Slots { // an illegal group may claim more than there are
		if s >= base && s-base < b.groups[g].slots() {
			delete(b.slots, s)
		}
	}
}

// cycle passes a clock in which the groups of `start` get a start pulse.
func (b *bench) cycle(start uint64) {
	b.Set("grp_enable", b.enable)
	b.Set("grp_start", start)
	shows := len(b.waiting) > 0 && b.show()
	b.SetBool("ent_valid", shows)
	pops := shows && b.pop()
	b.SetBool("ent_pop", pops)
	takes := b.take()
	b.SetBool("init_take", takes)
	b.SetBool("wr_en", b.write >= 0)
	if b.write >= 0 {
		b.Set("wr_slot", uint64(b.write))
		b.Set("wr_tag", b.wrote.tag)
		b.Set("wr_mask", b.wrote.mask)
		b.Set("wr_opcode", b.wrote.opcode)
		b.Set("wr_plen", b.wrote.plen)
		b.Set("wr_pad", b.wrote.pad)
		b.Set("wr_ext", b.wrote.ext)
		b.SetBool("wr_complete", b.wrote.complete)
		b.SetBool("wr_se", b.wrote.se)
		b.SetBool("wr_ce", b.wrote.ce)
	}
	b.SetBool("rd_en", b.read >= 0)
	if b.read >= 0 {
		b.Set("rd_slot", uint64(b.read))
	}
	b.Clock()

	if b.want != nil {
		got := word{tag: b.Get("slot_tag"), mask: b.Get("slot_mask"), opcode: b.Get("slot_opcode"), plen: b.Get("slot_plen"),
			pad: b.Get("slot_pad"), ext: b.Get("slot_ext"), complete: b.Is("slot_complete"), se: b.Is("slot_se"), ce: b.Is("slot_ce")}
		w := *b.want
		if w.mask == 0 { // no contribution: the rest has no meaning
			w.opcode, w.plen, w.pad, w.ext, w.se = got.opcode, got.plen, got.pad, got.ext, got.se
		}
		require.Equal(b.t, w, got, "slot %d in cycle %d", b.reading, b.Now())
	}
	if b.read >= 0 { // else the word of the last read stays
		b.want, b.reading = nil, b.read
		if w, ok := b.slots[b.read]; ok {
			b.want = &w
		}
	}
	if b.write >= 0 {
		b.slots[b.write] = b.wrote
	}
	b.write, b.read = -1, -1

	if b.Is("init_valid") {
		if slices.Contains(b.waiting, true) {
			b.early++
		}
		if takes {
			ei := int(b.Get("init_ei"))
			require.NotContains(b.t, b.taken, ei, "endpoint state offered twice")
			b.taken[ei] = b.Get("init_psn")
		}
	}
	if pops {
		b.waiting = b.waiting[1:]
	}

	busy, live, refused := b.Get("grp_busy"), b.Get("grp_live"), b.Get("grp_refused")
	b.refused |= refused
	require.Zero(b.t, live&busy, "live and busy")
	require.Zero(b.t, live&^b.enable, "live and not enabled")
	for g := range b.p.Groups {
		bit := uint64(1) << g
		if b.busy&bit != 0 && busy&bit == 0 && refused&bit == 0 {
			b.started(g)
		}
		if refused&bit != 0 {
			require.Zero(b.t, live&bit, "a refused group is live")
			b.enable &^= bit
		}
	}
	b.busy = busy
	for g := range b.p.Groups {
		if start>>g&1 != 0 {
			b.forget(g)
			b.busy |= 1 << g
		}
	}
}

// started: group g is no longer busy, so its state must be complete.
func (b *bench) started(g int) {
	c := b.groups[g]
	for e := range 1 << b.p.EPW {
		ei := g<<b.p.EPW | e
		require.Contains(b.t, b.taken, ei, "group %d: endpoint %d has no state", g, e)
		require.Equal(b.t, c.start, b.taken[ei])
		delete(b.taken, ei)
	}
	for i := range c.slots() {
		b.slots[int(c.base)+i] = word{tag: c.tag(i)}
	}
}

func (b *bench) readAll() {
	for s := range b.p.Slots {
		b.read = s
		b.cycle(0)
	}
	b.cycle(0)
}

func (b *bench) untilIdle(limit int) int {
	for n := range limit {
		if b.busy == 0 {
			return n
		}
		b.cycle(0)
	}
	require.Zero(b.t, b.busy, "busy after %d cycles", limit)
	return limit
}

// TestTags: the tags after a start, for START anywhere and over the wrap.
func TestTags(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	for seed, start := range []uint64{0, 1, 7, 8, 9, 15, 0x123456, 0x7FFFFF, 0x800000, 0xFFFFF8, 0xFFFFFD, 0xFFFFFF} {
		for log2 := uint64(1); log2 <= 4; log2++ {
			b := newBench(t, lib, p, uint64(seed))
			b.configure(1, group{start: start, base: uint64(seed) % 13, log2: log2, collective: allReduce})
			b.enable = 2
			b.cycle(2)
			n := b.untilIdle(100)
			// the fence sees 15 quiet cycles; then settings, endpoints, slots
			require.LessOrEqual(t, n, 21+1<<p.EPW+1<<log2, "cycles of a start")
			require.Len(t, b.slots, 1<<log2)
			require.Equal(t, uint64(2), b.Get("grp_live"))
			b.readAll()
		}
	}
}

// TestRefusal: settings without meaning, and their legal neighbours.
func TestRefusal(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	cases := []struct {
		name  string
		g     group
		legal bool
	}{
		{"AllReduce", group{log2: 3, collective: allReduce}, true},
		{"Barrier", group{log2: 3, collective: allReduce | 3}, true},
		{"big endian", group{log2: 3, collective: allReduce | 1<<24}, true},
		{"collective 1", group{log2: 3, collective: allReduce | 1}, false},
		{"collective 2", group{log2: 3, collective: allReduce | 2}, false},
		{"collective 4", group{log2: 3, collective: allReduce | 4}, false},
		{"collective 7", group{log2: 3, collective: allReduce | 7}, false},
		{"op 1", group{log2: 3, collective: allReduce | 1<<8}, false},
		{"op 2", group{log2: 3, collective: allReduce | 2<<8}, false},
		{"dtype 0", group{log2: 3}, false},
		{"dtype 2", group{log2: 3, collective: 2 << 16}, false},
		{"one slot", group{log2: 0, collective: allReduce}, false},
		{"two slots", group{log2: 1, collective: allReduce}, true},
		{"log2_n 5", group{log2: 5, collective: allReduce}, false},
		{"log2_n 24", group{log2: 24, collective: allReduce}, false},
		{"log2_n 31", group{log2: 31, collective: allReduce}, false},
		{"up to the end", group{base: 21, log2: 3, collective: allReduce}, true},
		{"beyond the end", group{base: 22, log2: 3, collective: allReduce}, false},
		{"base behind the end", group{base: 29, log2: 1, collective: allReduce}, false},
		{"base as far as it goes", group{base: 0xFFFFFE, log2: 1, collective: allReduce}, false},
		{"base that wraps", group{base: 0xFFFFFF, log2: 23, collective: allReduce}, false},
		{"last endpoint the parent", group{log2: 3, collective: allReduce, parent: 1<<31 | 2}, true},
		{"parent above MEMBERS", group{log2: 3, collective: allReduce, parent: 1<<31 | 3}, false},
		{"parent far above", group{log2: 3, collective: allReduce, parent: 1<<31 | 0x80}, false},
		{"no parent", group{log2: 3, collective: allReduce, parent: 0xFF}, true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, lib, p, 7)
			// another group lives beside it
			b.configure(0, group{start: 5, base: 0, log2: 1, collective: allReduce})
			b.enable = 1
			b.cycle(1)
			b.untilIdle(100)
			b.configure(2, tc.g)
			b.enable |= 4
			b.cycle(4)
			b.untilIdle(100)
			b.cycle(0)
			if tc.legal {
				require.Zero(t, b.refused)
				require.Equal(t, uint64(5), b.Get("grp_live"))
			} else {
				require.Equal(t, uint64(4), b.refused)
				require.Equal(t, uint64(1), b.Get("grp_live"))
				require.Empty(t, b.taken, "a refused start touched endpoints")
				b.readAll()
			}
		})
	}
}

// TestFence: nothing is set before the frames that were looked up ahead of the start are gone, and then it is set although frames keep coming.
func TestFence(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	for before := range p.Pending + 1 {
		for _, later := range []int{0, 1, 40} {
			for seed := range uint64(3) {
				rng := rand.New(rand.NewPCG(seed, uint64(before)))
				b := newBench(t, lib, p, seed)
				b.configure(0, group{start: 9, base: 3, log2: 2, collective: allReduce})
				b.enable = 1
				b.pop = func() bool { return rng.IntN(4) == 0 }
				if seed == 2 { // frames come up to 15 cycles apart
					b.pop = func() bool { return true }
					b.show = func() bool { return b.Now()%15 == 0 }
				}
				b.waiting = slices.Repeat([]bool{true}, before)
				b.cycle(1)
				for range later {
					b.waiting = append(b.waiting, false)
				}
				b.untilIdle(2000)
				require.Zero(t, b.early, "%d frames before the start, %d after", before, later)
			}
		}
	}
}

// TestRestartRefused: a group that is started again while it starts, with settings that are refused, is not live for a moment.
func TestRestartRefused(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	b := newBench(t, lib, p, 1)
	b.configure(0, group{start: 9, base: 3, log2: 3, collective: allReduce})
	b.enable = 1
	b.cycle(1)
	for !b.Is("init_valid") {
		b.cycle(0)
	}
	b.table(0, wordCollective, 0)
	b.cycle(1)
	for range 100 {
		b.cycle(0) // which sees that a refused group is not live
	}
	require.Equal(t, uint64(1), b.refused)
	require.Zero(t, b.Get("grp_live"))
}

// TestRandom: starts of several groups at once, reads and writes of the others meanwhile, against a list of words.
func TestRandom(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	for seed := range uint64(8) {
		b := newBench(t, lib, p, seed)
		rng := rand.New(rand.NewPCG(seed, 3))
		percent := func(n int) bool { return rng.IntN(100) < n }
		rate := []int{100, 50, 20}[seed%3]
		b.take = func() bool { return percent(rate) }
		b.pop = func() bool { return percent(40) }
		starts := 0
		for n := range 4000 {
			if n%400 == 0 { // all groups off: new settings, slots that do not overlap
				b.enable = 0
				b.untilIdle(3000)
				base := uint64(rng.IntN(4))
				for _, g := range rng.Perm(p.Groups) {
					b.forget(g)
					log2 := 1 + uint64(rng.IntN(3))
					b.configure(g, group{start: uint64(rng.Uint32N(1 << 24)), base: base, log2: log2, collective: allReduce, parent: uint64(rng.IntN(4))})
					base += 1 << log2
				}
				clear(b.slots)
			}
			start := uint64(0)
			if percent(2) {
				start = uint64(1+rng.IntN(1<<p.Groups-1)) &^ b.busy
				b.enable |= start
				starts++
			}
			if g := rng.IntN(p.Groups); percent(60) && (b.busy|start)>>g&1 == 0 && b.enable>>g&1 != 0 {
				b.write = int(b.groups[g].base) + rng.IntN(b.groups[g].slots())
				b.wrote = word{tag: uint64(rng.Uint32N(1 << 24)), mask: uint64(rng.IntN(8)), opcode: uint64(rng.IntN(256)), plen: uint64(rng.IntN(128)),
					pad: uint64(rng.IntN(4)), ext: uint64(rng.Uint32()), complete: percent(50), se: percent(50), ce: percent(50)}
			}
			if percent(70) {
				b.read = rng.IntN(p.Slots)
			}
			if percent(30) && len(b.waiting) < p.Pending {
				b.waiting = append(b.waiting, false)
			}
			b.cycle(start)
		}
		b.untilIdle(3000)
		b.readAll()
		require.Greater(t, starts, 20)
		require.Zero(t, b.refused)
	}
}
