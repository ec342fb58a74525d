// SPDX-License-Identifier: Apache-2.0

package recyclebuffer_test

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/regs"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/recyclebuffer"
	"incforge/sim"
)

func mini() recyclebuffer.RecycleBuffer {
	return recyclebuffer.RecycleBuffer{Slots: 29, SlotW: 5, Groups: 3, EPW: 2, EIW: 4, MaskW: 3, LenW: 7, DTypes: 8, Ops: 1, Pending: 5}
}

func with(change func(*recyclebuffer.RecycleBuffer)) recyclebuffer.RecycleBuffer {
	p := mini()
	change(&p)
	return p
}

// all has every type and operation, tree keeps pairs of endpoints besides: the last of three has none.
func all() recyclebuffer.RecycleBuffer {
	return with(func(p *recyclebuffer.RecycleBuffer) { p.DTypes, p.Ops = 15, 7 })
}

func tree() recyclebuffer.RecycleBuffer {
	return with(func(p *recyclebuffer.RecycleBuffer) { p.DTypes, p.Ops, p.Tree = 15, 7, 1 })
}

// inBand has in-band groups and the types given; the last of its three endpoints has no pair if it is a tree.
func inBand(dtypes, tree int) recyclebuffer.RecycleBuffer {
	return with(func(p *recyclebuffer.RecycleBuffer) { p.DTypes, p.Ops, p.Tree, p.InBand = dtypes, 7, tree, 1 })
}

// Registers of a group.
var (
	pipeReg, startReg, slotsReg, parentReg, collectiveReg = regs.Of("GROUP_PIPE"), regs.Of("GROUP_START"), regs.Of("GROUP_SLOTS"),
		regs.Of("GROUP_PARENT"), regs.Of("GROUP_COLLECTIVE")
	wordInMask, wordOutMask = uint64(regs.Word("GROUP_IN_MASK")), uint64(regs.Word("GROUP_OUT_MASK"))
)

// setting is a value of a field of GROUP_COLLECTIVE in place, endpoint GROUP_PARENT's for an endpoint, without the flag.
func setting(field string, v uint64) uint64 { return uint64(collectiveReg.Put(field, v)) }
func endpoint(e uint64) uint64              { return uint64(parentReg.Put("endpoint", e)) }

// Values of GROUP_COLLECTIVE's fields, allReduce an INT32 SUM AllReduce, and GROUP_PARENT's flag.
var (
	allReduce                  = int32s
	reduce, broadcast, barrier = setting("collective", 1), setting("collective", 2), setting("collective", 3)
	mins, maxs                 = setting("op", 1), setting("op", 2)
	fp32s, fp16s               = setting("dtype", 0), setting("dtype", 1)
	bf16s, int32s              = setting("dtype", 2), setting("dtype", 3)
	bigEndian, inBandBit       = setting("big_endian", 1), setting("in_band", 1)
	rootSends                  = setting("root_sends", 1)
	validParent                = uint64(parentReg.Put("valid", 1))
)

// group are a group's settings; parent and collective are the registers' values.
type group struct{ start, base, log2, in, out, parent, collective, pipe uint64 }

// units is how many payloads the group's slots take, each of them two with elements of 16 bits, and in-band where there are such.
func (g group) units(p recyclebuffer.RecycleBuffer) uint64 {
	dtype := g.collective & uint64(collectiveReg.Bits("dtype"))
	if dtype == fp16s || dtype == bf16s || g.collective&inBandBit != 0 && p.DTypes&6 != 0 {
		return 2 << g.log2
	}
	return 1 << g.log2
}

// legal is docs/engine.md section 6: which settings a group can be started with.
func (g group) legal(p recyclebuffer.RecycleBuffer) bool {
	get := func(field string) uint64 { return collectiveReg.Get(field, uint32(g.collective)) }
	what, op, dtype := g.collective&uint64(collectiveReg.Bits("collective")), get("op"), get("dtype")
	parent := parentReg.Get("endpoint", uint32(g.parent))
	switch {
	case what > barrier:
		return false
	case (what == reduce || what == broadcast) && g.parent&validParent == 0:
		return false
	case g.collective&inBandBit != 0 && (p.InBand == 0 || what != 0):
		return false
	case p.Ops>>op&1 == 0 || p.DTypes>>dtype&1 == 0:
		return false
	case g.log2 == 0 || g.log2 > 23 || g.base+g.units(p) > uint64(p.Slots):
		return false
	case g.parent&validParent != 0 && parent >= uint64(p.MaskW):
		return false
	case p.Pipes != 0 && 2*g.pipe > 1<<g.log2:
		return false
	}
	lone := p.Tree != 0 && p.MaskW%2 == 1
	last := uint64(p.MaskW - 1)
	part := g.in>>last&1 != 0
	if g.collective&inBandBit != 0 {
		part = part || g.out>>last&1 != 0 || g.parent&validParent != 0 && parent == last
	}
	return !lone || !part
}

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
	take    func() bool // a state is taken
	show    func() bool // the next frame is there
	pop     func() bool
	taken   map[int]uint64 // endpoint index to PSN, of the start under way
	ranges  map[int]uint64 // the same of ranges and offsets
	acks    map[int]uint64 // group to PSN, of its acknowledgements
	busy    uint64
	refused uint64 // ever
	overlap uint64 // ever, of those refused
	early   int    // endpoint states offered before the frames were gone
}

func newBench(t *testing.T, lib *sim.Lib, p recyclebuffer.RecycleBuffer, seed uint64) *bench {
	yes := func() bool { return true }
	b := &bench{Rig: rig.New(t, lib, seed), t: t, p: p, groups: make([]group, p.Groups), slots: map[int]word{},
		write: -1, read: -1, take: yes, show: yes, pop: yes, taken: map[int]uint64{}, ranges: map[int]uint64{},
		acks: map[int]uint64{}}
	for g := range p.Groups { // as the registers do after reset
		for w := range uint64(regs.Words) {
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
	write := func(r regs.Register, v uint64) { b.table(g, uint64(r.Word()), v) }
	write(startReg, uint64(startReg.Put("psn", c.start)))
	write(slotsReg, uint64(slotsReg.Put("base", c.base)|slotsReg.Put("log2_n", c.log2)))
	b.table(g, wordInMask, c.in)
	b.table(g, wordOutMask, c.out)
	write(parentReg, c.parent)
	write(collectiveReg, c.collective)
	write(pipeReg, uint64(pipeReg.Put("n", c.pipe)))
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
	b.SetBool("frm_waits", shows)
	pops := shows && b.pop()
	b.SetBool("frm_gone", pops)
	takes := b.take()
	for _, name := range []string{"init_take", "acks_take", "ranges_take"} {
		b.SetBool(name, takes)
	}
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

	offered := 0
	for _, offer := range []struct {
		valid, index string
		taken        map[int]uint64
	}{{"acks_valid", "acks_group", b.acks}, {"init_valid", "init_ei", b.taken}, {"ranges_valid", "init_ei", b.ranges}} {
		if !b.Is(offer.valid) {
			continue
		}
		offered++
		if slices.Contains(b.waiting, true) {
			b.early++
		}
		if takes {
			i := int(b.Get(offer.index))
			require.NotContains(b.t, offer.taken, i, "%s offered twice", offer.valid)
			offer.taken[i] = b.Get("init_psn")
		}
	}
	require.LessOrEqual(b.t, offered, 1)
	if pops {
		b.waiting = b.waiting[1:]
	}

	busy, live, refused := b.Get("grp_busy"), b.Get("grp_live"), b.Get("grp_refused")
	b.refused |= refused
	overlap := b.Get("grp_overlap")
	b.overlap |= overlap
	require.Zero(b.t, overlap&^refused, "an overlap that is not refused")
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
		if b.p.InBand != 0 {
			require.Contains(b.t, b.ranges, ei, "group %d: endpoint %d has no offsets", g, e)
			require.Equal(b.t, c.start, b.ranges[ei])
			delete(b.ranges, ei)
		}
	}
	require.Empty(b.t, b.ranges)
	require.Contains(b.t, b.acks, g)
	require.Equal(b.t, c.start, b.acks[g])
	delete(b.acks, g)
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
			// the fence sees 15 quiet cycles; then settings, the other groups, endpoints, slots
			require.LessOrEqual(t, n, 22+p.Groups+1<<p.EPW+1<<log2, "cycles of a start")
			require.Len(t, b.slots, 1<<log2)
			require.Equal(t, uint64(2), b.Get("grp_live"))
			b.readAll()
		}
	}
}

// startThird starts group 2 with these settings while group 0 lives, and sees whether it is refused and leaves all else alone.
func startThird(t *testing.T, lib *sim.Lib, p recyclebuffer.RecycleBuffer, g group, seed uint64) (refused bool) {
	b := newBench(t, lib, p, seed)
	there := uint64(0) // a type that there is
	for p.DTypes>>there&1 == 0 {
		there++
	}
	op := uint64(0)
	for p.Ops>>op&1 == 0 {
		op++
	}
	base := uint64(0)
	if g.base < 4 { // out of the third one's way
		base = uint64(p.Slots - 4)
	}
	b.configure(0, group{start: 5, base: base, log2: 1, collective: setting("dtype", there) | setting("op", op)})
	b.enable = 1
	b.cycle(1)
	b.untilIdle(100)
	require.Zero(t, b.refused)
	before := maps.Clone(b.slots)
	b.configure(2, g)
	b.enable |= 4
	b.cycle(4)
	b.untilIdle(100)
	b.cycle(0)
	if b.refused == 0 {
		require.Equal(t, uint64(5), b.Get("grp_live"))
		return false
	}
	require.Equal(t, uint64(4), b.refused)
	require.Equal(t, uint64(1), b.Get("grp_live"))
	require.Empty(t, b.taken, "a refused start touched endpoints")
	require.Empty(t, b.acks, "a refused start touched acknowledgements")
	require.Empty(t, b.ranges, "a refused start touched ranges")
	b.slots = before
	b.readAll()
	return true
}

// TestRefusal: settings without meaning, and their legal neighbours.
func TestRefusal(t *testing.T) {
	t.Parallel()
	type rb = recyclebuffer.RecycleBuffer
	type settings struct {
		name  string
		g     group
		legal bool
	}
	collectives := func(word ...uint64) (out []settings) {
		for code := range uint64(16) {
			c := setting("op", code>>2) | setting("dtype", code&3)
			out = append(out, settings{fmt.Sprintf("op %d, dtype %d", code>>2, code&3), group{log2: 3, collective: c}, slices.Contains(word, c)})
		}
		return out
	}
	engines := []struct {
		name  string
		p     rb
		cases []settings
	}{
		{"INT32 SUM", mini(), append(collectives(int32s),
			settings{"Barrier", group{log2: 3, collective: allReduce | barrier}, true},
			settings{"big endian", group{log2: 3, collective: allReduce | bigEndian}, true},
			settings{"Reduce", group{log2: 3, collective: allReduce | reduce, parent: validParent}, true},
			settings{"Broadcast", group{log2: 3, collective: allReduce | broadcast, parent: validParent | endpoint(2)}, true},
			settings{"Reduce without a parent", group{log2: 3, collective: allReduce | reduce, parent: endpoint(2)}, false},
			settings{"Broadcast without a parent", group{log2: 3, collective: allReduce | broadcast}, false},
			settings{"Reduce, parent above MEMBERS", group{log2: 3, collective: allReduce | reduce, parent: validParent | endpoint(3)}, false},
			settings{"in-band", group{log2: 3, collective: allReduce | inBandBit}, false},
			settings{"routes and root_sends", group{log2: 3, collective: allReduce | rootSends}, true},
			settings{"collective 4", group{log2: 3, collective: allReduce | setting("collective", 4)}, false},
			settings{"collective 7", group{log2: 3, collective: allReduce | setting("collective", 7)}, false},
			settings{"one slot", group{log2: 0, collective: allReduce}, false},
			settings{"two slots", group{log2: 1, collective: allReduce}, true},
			settings{"log2_n 5", group{log2: 5, collective: allReduce}, false},
			settings{"log2_n 24", group{log2: 24, collective: allReduce}, false},
			settings{"log2_n 31", group{log2: 31, collective: allReduce}, false},
			settings{"up to the end", group{base: 21, log2: 3, collective: allReduce}, true},
			settings{"beyond the end", group{base: 22, log2: 3, collective: allReduce}, false},
			settings{"base behind the end", group{base: 29, log2: 1, collective: allReduce}, false},
			settings{"base as far as it goes", group{base: 0xFFFFFE, log2: 1, collective: allReduce}, false},
			settings{"base that wraps", group{base: 0xFFFFFF, log2: 23, collective: allReduce}, false},
			settings{"last endpoint the parent", group{log2: 3, collective: allReduce, parent: validParent | endpoint(2)}, true},
			settings{"parent above MEMBERS", group{log2: 3, collective: allReduce, parent: validParent | endpoint(3)}, false},
			settings{"parent far above", group{log2: 3, collective: allReduce, parent: validParent | endpoint(0x80)}, false},
			settings{"no parent", group{log2: 3, collective: allReduce, parent: endpoint(0xFF)}, true},
			settings{"last endpoint a child", group{log2: 3, collective: allReduce, in: 7}, true},
		)},
		{"all", all(), append(collectives(fp32s, fp16s, bf16s, int32s, mins|fp32s, mins|fp16s, mins|bf16s, mins|int32s,
			maxs|fp32s, maxs|fp16s, maxs|bf16s, maxs|int32s),
			settings{"FP32 up to the end", group{base: 21, log2: 3, collective: fp32s}, true},
			settings{"FP32 beyond the end", group{base: 22, log2: 3, collective: fp32s}, false},
			settings{"FP16 up to the end", group{base: 13, log2: 3, collective: fp16s}, true},
			settings{"FP16 beyond the end", group{base: 14, log2: 3, collective: fp16s}, false},
			settings{"BF16 MIN up to the end", group{base: 25, log2: 1, collective: bf16s | mins}, true},
			settings{"BF16 MIN beyond the end", group{base: 26, log2: 1, collective: bf16s | mins}, false},
			settings{"FP32, 16 slots", group{log2: 4, collective: fp32s}, true},
			settings{"FP16, 16 slots", group{log2: 4, collective: fp16s}, false},
			settings{"FP16 Barrier beyond the end", group{base: 14, log2: 3, collective: fp16s | barrier}, false},
			settings{"BF16, one slot", group{log2: 0, collective: bf16s}, false},
			settings{"FP16, log2_n 23", group{log2: 23, collective: fp16s}, false},
			settings{"FP16, log2_n 24", group{log2: 24, collective: fp16s}, false},
			settings{"FP16, base that wraps", group{base: 0xFFFFFF, log2: 23, collective: fp16s}, false},
			settings{"last endpoint a child", group{log2: 3, collective: fp32s, in: 7}, true},
		)},
		{"FP16 MAX", with(func(p *rb) { p.DTypes, p.Ops = 2, 4 }), collectives(fp16s | maxs)},
		{"FP32 and BF16, SUM and MIN", with(func(p *rb) { p.DTypes, p.Ops = 5, 3 }), collectives(fp32s, bf16s, mins|fp32s, mins|bf16s)},
		{"tree of three endpoints", tree(), []settings{
			{"the pairs contribute", group{log2: 3, in: 3, collective: fp32s}, true},
			{"the last endpoint the parent", group{log2: 3, in: 3, parent: validParent | endpoint(2), collective: fp32s}, true},
			{"the last endpoint a child", group{log2: 3, in: 7, collective: fp32s}, false},
			{"the last endpoint the only child", group{log2: 3, in: 4, collective: int32s | maxs}, false},
			{"bits that are no endpoints", group{log2: 3, in: 0xFFFFFFFB, collective: fp32s}, true},
			{"FP16 up to the end", group{base: 13, log2: 3, in: 3, collective: fp16s}, true},
			{"FP16 beyond the end", group{base: 14, log2: 3, in: 3, collective: fp16s}, false},
		}},
		{"in-band, INT32", inBand(8, 0), []settings{
			{"AllReduce", group{log2: 3, collective: allReduce | inBandBit}, true},
			{"root sends", group{log2: 3, collective: allReduce | inBandBit | rootSends}, true},
			{"Barrier", group{log2: 3, collective: allReduce | inBandBit | barrier}, false},
			{"Reduce", group{log2: 3, collective: allReduce | inBandBit | reduce, parent: validParent}, false},
			{"Broadcast", group{log2: 3, collective: allReduce | inBandBit | broadcast, parent: validParent}, false},
			{"up to the end", group{base: 21, log2: 3, collective: allReduce | inBandBit}, true},
			{"beyond the end", group{base: 22, log2: 3, collective: allReduce | inBandBit}, false},
			{"a type that there is not", group{log2: 3, collective: fp32s | inBandBit}, false},
			{"fixed Reduce", group{log2: 3, collective: allReduce | reduce, parent: validParent | endpoint(1)}, true},
		}},
		{"in-band, INT32 and BF16", inBand(12, 0), []settings{
			{"INT32 up to the end", group{base: 13, log2: 3, collective: int32s | inBandBit}, true},
			{"INT32 beyond the end", group{base: 14, log2: 3, collective: int32s | inBandBit}, false},
			{"BF16 up to the end", group{base: 13, log2: 3, collective: bf16s | inBandBit}, true},
			{"fixed INT32 up to the end", group{base: 21, log2: 3, collective: int32s}, true},
			{"the last endpoint in and out", group{log2: 3, in: 7, out: 7, collective: int32s | inBandBit}, true},
		}},
		{"in-band, tree of three endpoints", inBand(9, 1), []settings{
			{"the pairs", group{log2: 3, in: 3, out: 3, collective: fp32s | inBandBit}, true},
			{"the last endpoint a child", group{log2: 3, in: 7, out: 3, collective: fp32s | inBandBit}, false},
			{"the last endpoint hears", group{log2: 3, in: 3, out: 7, collective: fp32s | inBandBit}, false},
			{"the last endpoint the parent", group{log2: 3, in: 3, out: 3, parent: validParent | endpoint(2), collective: fp32s | inBandBit}, false},
			{"the last endpoint no parent", group{log2: 3, in: 3, out: 3, parent: endpoint(2), collective: fp32s | inBandBit}, true},
			{"another parent", group{log2: 3, in: 1, out: 1, parent: validParent | endpoint(1), collective: fp32s | inBandBit}, true},
			{"fixed, the last endpoint hears", group{log2: 3, in: 3, out: 7, parent: validParent | endpoint(2), collective: fp32s}, true},
		}},
		{"pipes", with(func(p *rb) { p.Pipes = 1 }), []settings{
			{"default", group{log2: 3, collective: allReduce}, true},
			{"one slot", group{log2: 1, collective: allReduce, pipe: 1}, true},
			{"no power of two", group{log2: 3, collective: allReduce, pipe: 3}, true},
			{"half the slots", group{log2: 3, collective: allReduce, pipe: 4}, true},
			{"more than half", group{log2: 3, collective: allReduce, pipe: 5}, false},
			{"two of two", group{log2: 1, collective: allReduce, pipe: 2}, false},
			{"all bits", group{log2: 3, collective: allReduce, pipe: 0xFFFFFF}, false},
			{"the highest bit", group{log2: 3, collective: allReduce, pipe: 0x800000}, false},
		}},
		{"no pipes", mini(), []settings{{"all bits", group{log2: 3, collective: allReduce, pipe: 0xFFFFFF}, true}}},
		{"tree of four endpoints", with(func(p *rb) { p.DTypes, p.Ops, p.Tree, p.MaskW = 15, 7, 1, 4 }), []settings{
			{"all contribute", group{log2: 3, in: 15, collective: fp32s}, true},
			{"the last endpoint the only child", group{log2: 3, in: 8, collective: bf16s}, true},
		}},
	}
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, engine.p)
			for _, tc := range engine.cases {
				t.Run(tc.name, func(t *testing.T) {
					require.Equal(t, tc.legal, tc.g.legal(engine.p), "the model")
					require.Equal(t, tc.legal, !startThird(t, lib, engine.p, tc.g, 7))
				})
			}
		})
	}
}

// TestLegality: settings drawn near the borders of what is legal, against the rules in plain Go, one engine for each set of types and operations.
func TestLegality(t *testing.T) {
	t.Parallel()
	for _, p := range []recyclebuffer.RecycleBuffer{all(), tree(), inBand(15, 0), inBand(13, 1), with(func(p *recyclebuffer.RecycleBuffer) { p.DTypes, p.Ops, p.Pipes = 15, 7, 1 }), with(func(p *recyclebuffer.RecycleBuffer) { p.DTypes, p.Ops, p.Tree, p.MaskW = 6, 5, 1, 4 })} {
		t.Run(fmt.Sprintf("types %d, tree %d, endpoints %d, in-band %d, pipes %d", p.DTypes, p.Tree, p.MaskW, p.InBand, p.Pipes), func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			rng := rand.New(rand.NewPCG(uint64(p.DTypes), uint64(p.Tree)))
			met := map[bool]int{}
			for n := range uint64(400) {
				op, dtype := rng.Uint64N(3), rng.Uint64N(4)
				for rng.IntN(4) > 0 && (p.Ops>>op&1 == 0 || p.DTypes>>dtype&1 == 0) { // mostly what there is
					op, dtype = rng.Uint64N(3), rng.Uint64N(4)
				}
				g := group{start: uint64(rng.Uint32N(1 << 24)), log2: uint64(1 + rng.IntN(4)), in: uint64(rng.Uint32()),
					collective: setting("op", op) | setting("dtype", dtype) | setting("big_endian", rng.Uint64N(2))}
				if rng.IntN(2) == 0 {
					g.in &= 3
				}
				if rng.IntN(2) == 0 {
					g.collective |= setting("collective", rng.Uint64N(4))
				}
				if p.InBand != 0 && rng.IntN(2) == 0 {
					g.collective |= inBandBit
					if rng.IntN(4) > 0 {
						g.collective &^= uint64(collectiveReg.Bits("collective"))
					}
				}
				g.out = uint64(rng.Uint32())
				if rng.IntN(2) == 0 {
					g.out &= 3
				}
				if rng.IntN(2) == 0 {
					g.parent = validParent | endpoint(rng.Uint64N(4))
				}
				g.pipe = rng.Uint64N(1<<g.log2 + 1)               // half of it is legal
				if room := p.Slots - int(g.units(p)); room >= 0 { // below, at and above the last base that fits
					g.base = uint64(room + rng.IntN(4) - min(room, 2))
				}
				refused := startThird(t, lib, p, g, n)
				require.Equal(t, !g.legal(p), refused, "%+v", g)
				met[refused]++
			}
			require.Greater(t, met[true], 100)
			require.Greater(t, met[false], 100)
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
	b.table(0, uint64(collectiveReg.Word()), 0)
	b.cycle(1)
	for range 100 {
		b.cycle(0) // which sees that a refused group is not live
	}
	require.Equal(t, uint64(1), b.refused)
	require.Zero(t, b.Get("grp_live"))
}

// TestOverlap: groups with slots anywhere are started and stopped; a group is refused if and only if another one has some of its units, and
// says so; what the others hold stays as it is.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]recyclebuffer.RecycleBuffer{"INT32 SUM": mini(), "all": all(), "in-band": inBand(15, 0),
		"one group":   with(func(p *recyclebuffer.RecycleBuffer) { p.Groups, p.EIW = 1, 2 }),
		"four groups": with(func(p *recyclebuffer.RecycleBuffer) { p.Groups = 4 })} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			refused, accepted := 0, 0
			for seed := range uint64(4) {
				b := newBench(t, lib, p, seed)
				rng := rand.New(rand.NewPCG(seed, 9))
				for range 150 {
					g := rng.IntN(p.Groups)
					bit := uint64(1) << g
					b.enable &^= bit
					b.cycle(0)
					if rng.IntN(3) == 0 {
						continue // it leaves its units to the others
					}
					c := group{start: uint64(rng.Uint32N(1 << 24)), log2: 1 + uint64(rng.IntN(3)), collective: allReduce}
					if p.DTypes == 15 {
						c.collective = setting("dtype", rng.Uint64N(4))
					}
					if p.InBand != 0 && rng.IntN(3) == 0 {
						c.collective |= inBandBit
					}
					c.base = rng.Uint64N(uint64(p.Slots) - c.units(p) + 1)
					before := maps.Clone(b.slots)
					clash := false
					for other := range p.Groups {
						o := b.groups[other]
						clash = clash || other != g && b.enable>>other&1 != 0 && c.base < o.base+o.units(p) && o.base < c.base+c.units(p)
					}
					b.configure(g, c)
					b.enable |= bit
					b.refused, b.overlap = 0, 0
					b.cycle(bit)
					b.untilIdle(300)
					b.cycle(0)
					if clash {
						refused++
						require.Equal(t, []uint64{bit, bit}, []uint64{b.refused, b.overlap}, "%+v", c)
						require.Empty(t, b.taken)
						b.slots = before
					} else {
						accepted++
						require.Zero(t, b.refused, "%+v among %+v, enabled %#b", c, b.groups, b.enable)
					}
					require.Equal(t, b.enable, b.Get("grp_live"))
					b.readAll()
				}
			}
			require.Greater(t, accepted, 50)
			require.True(t, p.Groups == 1 || refused > 50, "%d refused", refused)
		})
	}
}

// TestOverlapTogether: groups with the same slots that are started in one cycle; the lowest gets them. One that is stopped in the middle of
// its start leaves them to the next.
func TestOverlapTogether(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	for stop := range 40 {
		b := newBench(t, lib, p, uint64(stop))
		for g := range p.Groups {
			b.configure(g, group{start: 7, base: uint64(2 * g), log2: 3, collective: allReduce})
		}
		b.enable = 0b111
		b.cycle(0b111)
		for range stop {
			b.cycle(0)
		}
		if !b.Is("grp_live") { // group 0 still starts
			b.enable &^= 1
		}
		for range 200 {
			b.cycle(0)
			require.Less(t, bits.OnesCount64(b.Get("grp_live")), 2)
		}
		require.Equal(t, b.refused, b.overlap)
		require.Equal(t, 1, bits.OnesCount64(b.Get("grp_live")), "stopped after %d cycles: live %#b", stop, b.Get("grp_live"))
	}
}

// TestRestartIsNotLive: a group that was stopped and is told to start is not live in any cycle before its start is over.
func TestRestartIsNotLive(t *testing.T) {
	t.Parallel()
	p := mini()
	lib := rig.Lib(t, p)
	b := newBench(t, lib, p, 1)
	b.configure(1, group{start: 9, base: 3, log2: 3, collective: allReduce})
	b.enable = 2
	b.cycle(2)
	b.untilIdle(100)
	require.Equal(t, uint64(2), b.Get("grp_live"))
	b.enable = 0
	b.cycle(0)
	b.enable = 2
	b.cycle(2) // enable rises with the pulse, as it does in the registers
	require.Zero(t, b.Get("grp_live"))
	for b.cycle(0); b.Get("grp_busy") != 0; b.cycle(0) {
		require.Zero(t, b.Get("grp_live"))
	}
	require.Equal(t, uint64(2), b.Get("grp_live"))
}

// TestRandom: starts of several groups at once, reads and writes of the others meanwhile, against a list of words.
func TestRandom(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]recyclebuffer.RecycleBuffer{"INT32 SUM": mini(), "all": all(), "tree": tree(), "in-band": inBand(15, 0)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startAndUse(t, p)
		})
	}
}

func startAndUse(t *testing.T, p recyclebuffer.RecycleBuffer) {
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
					c := group{start: uint64(rng.Uint32N(1 << 24)), base: base, log2: 1 + uint64(rng.IntN(3)), collective: allReduce, parent: endpoint(rng.Uint64N(4))}
					if p.DTypes == 15 {
						c.collective = setting("dtype", rng.Uint64N(4)) | setting("op", rng.Uint64N(3))
					}
					if p.InBand != 0 && rng.IntN(2) == 0 {
						c.collective |= inBandBit
					}
					if c.units(p) > 8 {
						c.log2--
					}
					b.configure(g, c)
					base += c.units(p)
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
