// SPDX-License-Identifier: Apache-2.0

package checkduplicate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/checkduplicate"
	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
)

// oneGroup has a single group, wide words, 32-bit elements alone, and no ICRC check.
func oneGroup() checkduplicate.CheckDuplicate {
	return checkduplicate.CheckDuplicate{LenW: 8, WordsW: 3, Bytes: 32, EPW: 2, EIW: 2, MaskW: 3, SlotW: 3, Planes: 1, Groups: 1, PktW: 5, Counters: counters}
}

// inBand has in-band groups besides.
func inBand(p checkduplicate.CheckDuplicate) checkduplicate.CheckDuplicate {
	p.InBand = 1
	return p
}

// tree keeps contributions by pairs; the last of its five endpoints has none.
func tree() checkduplicate.CheckDuplicate {
	return with(func(p *checkduplicate.CheckDuplicate) { p.Planes, p.Tree = 2, 1 })
}

// wideTree is one group of six endpoints in three pairs.
func wideTree() checkduplicate.CheckDuplicate {
	return checkduplicate.CheckDuplicate{LenW: 8, WordsW: 3, Bytes: 32, EPW: 3, EIW: 3, MaskW: 6, SlotW: 4, Planes: 3, Tree: 1, Halves: 1, Groups: 1, PktW: 5,
		ICRC: 1, Counters: counters}
}

// couple is one pair, of 32-bit elements, and a third endpoint for the parent.
func couple() checkduplicate.CheckDuplicate {
	return checkduplicate.CheckDuplicate{LenW: 8, WordsW: 6, Bytes: 4, EPW: 2, EIW: 3, MaskW: 3, SlotW: 5, Planes: 1, Tree: 1, Groups: 2, PktW: 7, ICRC: 1,
		Counters: counters}
}

// steps is CheckDuplicate with what takes frames through its steps and offers its work, as the core has them.
type steps struct{ checkduplicate.CheckDuplicate }

// Module is the composite; what is not between its blocks is a port of the same name.
func (p steps) Module() (*graph.Module, error) {
	c := graph.NewComposite("check_duplicate_bench", "CheckDuplicate, its frames' steps and its work")
	c.Clock("clk")
	c.Reset("rst")
	check := c.Add("u_check", p.CheckDuplicate)
	parts := decider.Decider(p.CheckDuplicate).Add(c, check)
	rig.Expose(c, decider.InnerPins(), check, parts.Steps, parts.Work)
	return c.Build()
}

// bench is everything around the module: queues, slot words, and who takes work and frames.
type bench struct {
	*rig.Rig
	t     *testing.T
	p     checkduplicate.CheckDuplicate
	rng   *rand.Rand
	m     *model
	mem   map[int]word // the slots as the module wrote them
	next  func() *frame
	head  *frame      // at the head of LookupTable's queue
	waits []*frame    // taken from there and not decided, the oldest first
	ready func() bool // work is taken
	room  func() bool // a frame to be made is taken

	start    int    // of the payload of the oldest frame in the packet buffer
	steps    uint64 // counters that step in the next cycle
	ackWait  int    // cycles from ack_rd to ack_ready, 3 or more
	acksWait bool   // a start waits there now and then
	ackAge   int    // cycles since ack_rd
	asked    *frame // whose acknowledgements were read
	readAge  int    // cycles since ctl_rd
	readEI   uint64 // the endpoint of that
	mapAge   int    // cycles since the ctl_rd that ctl_map was of
	placing  *frame
	busyFor  int // cycles that ctl_busy stays high, of the next open
	busyLeft int
	length   uint64  // of the next range, or 0 for any
	slot     *word   // read in the cycle before
	spec     *work   // that was taken before the verdict
	owed     []*work // decided and not taken
	initing  *group
	counts   map[string]int
	popAt    []uint64
	specAt   []uint64
	works    []work // that were committed
	done     int
}

func newBench(t *testing.T, lib *sim.Lib, p checkduplicate.CheckDuplicate, seed uint64) *bench {
	yes := func() bool { return true }
	b := &bench{Rig: rig.New(t, lib, seed), t: t, p: p, rng: rand.New(rand.NewPCG(seed, 1)), mem: map[int]word{}, ready: yes, room: yes,
		counts: map[string]int{}, ackWait: 3, ackAge: 100, readAge: 100, mapAge: 100}
	b.m = &model{bytes: uint64(p.Bytes), epW: p.EPW, icrc: p.ICRC != 0, tree: p.Tree != 0, gapNAK: true, ep: map[int]*endpoint{}, slots: map[int]word{}}
	for g := range p.Groups {
		for e := range 1 << p.EPW {
			b.m.ep[g<<p.EPW|e] = &endpoint{}
		}
		b.m.groups = append(b.m.groups, &group{parent: -1})
		b.m.done = append(b.m.done, 0)
	}
	return b
}

// configure gives group g random settings and slots of its own, and starts it.
func (b *bench) configure(g int) {
	n := b.m.groups[g]
	all := uint64(1)<<b.p.MaskW - 1
	slots := uint64(1) << b.p.SlotW / uint64(b.p.Groups)
	children := all
	if b.p.Tree != 0 && b.p.MaskW%2 != 0 { // the last one has no pair: RecycleBuffer refuses it
		children >>= 1
	}
	*n = group{in: 1 + b.rng.Uint64N(children), out: b.rng.Uint64N(all + 1), ack: b.rng.Uint64() & all, parent: b.rng.IntN(b.p.MaskW+2) - 2,
		collective: []uint64{allReduce, allReduce, reduce, broadcast, barrier}[b.rng.IntN(5)], halves: b.p.Halves != 0,
		function: b.rng.Uint64N(3), dtype: 3 * b.rng.Uint64N(2), bigEndian: b.rng.IntN(2) == 0, salt: b.rng.Uint64(), starting: true}
	if b.p.Halves != 0 {
		n.dtype = b.rng.Uint64N(4)
	}
	if n.parent < 0 {
		n.parent = -1
	}
	if n.collective == reduce || n.collective == broadcast {
		n.parent = max(n.parent, 0)
	}
	if b.p.InBand != 0 && b.rng.IntN(3) > 0 {
		n.inBand, n.collective = true, allReduce
	}
	if b.rng.IntN(2) == 0 { // an ordinary star
		n.out, n.ack = n.in, all
	}
	for n.log2 = 1 + b.rng.Uint64N(3); n.units() > slots; n.log2-- {
	}
	n.base = uint64(g)*slots + b.rng.Uint64N(slots-n.units()+1)
	n.start = []uint64{b.rng.Uint64N(1 << 24), mask24 - b.rng.Uint64N(40), 0, 1<<23 - b.rng.Uint64N(10)}[b.rng.IntN(4)]
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// undecided are all frames that are not decided, the oldest first.
func (b *bench) undecided() []*frame {
	if b.head == nil {
		return b.waits
	}
	return append(slices.Clone(b.waits), b.head)
}

// ahead is how many contributions of the endpoint are under way.
func (b *bench) ahead(g, e int) (n uint64) {
	for _, f := range b.undecided() {
		if f.group == g && f.endpoint == e && f.opcode <= 5 && !f.bypass && !f.foreign && f.icrcOK && !f.err {
			n++
		}
	}
	return n
}

// driveFrame shows the entry at the head of the queue and the verdict of the oldest frame, or nonsense where there is none.
func (b *bench) driveFrame() (verdict bool) {
	f := b.head
	entry := f != nil && f.entered >= f.entryWait
	b.SetBool("ent_valid", entry)
	show := func(name string, v uint64) {
		p := b.Pin(name)
		if !entry {
			v = b.rng.Uint64()
		}
		p.SetUint64(v & (1<<p.Width() - 1))
	}
	if f == nil {
		f = &frame{}
	}
	g := b.m.groups[f.group]
	_, _, up, down, ackable := b.m.view(f)
	if g.inBand { // Control's to say
		up, down, ackable = b.rng.IntN(2) == 0, b.rng.IntN(2) == 0, b.rng.IntN(2) == 0
	}
	for _, s := range []struct {
		name string
		v    uint64
	}{
		{"bypass", bit(f.bypass)}, {"foreign", bit(f.foreign)}, {"ei", uint64(f.group<<b.p.EPW | f.endpoint)}, {"host", bit(f.host)},
		{"up", bit(up)}, {"down", bit(down)}, {"ackable", bit(ackable)}, {"in_band", bit(g.inBand)}, {"empty", bit(f.plen == 0)},
		{"ack_mask", g.ack}, {"collective", g.collective},
		{"sum_ok", bit(f.sumOK)}, {"len_ok", bit(f.lenOK)}, {"tver_ok", bit(f.tverOK)}, {"too_long", bit(f.tooLong)}, {"whole", bit(f.whole)},
		{"opcode", f.opcode}, {"se", bit(f.se)}, {"pad", f.pad}, {"ce", bit(f.ce)}, {"psn", f.psn}, {"ext", f.ext}, {"plen", f.plen},
		{"words", b.m.words(f.plen)}, {"base", g.base}, {"log2_n", g.log2}, {"in_mask", g.in}, {"out_mask", g.out},
		{"parent_mask", g.parentMask()}, {"function", g.function}, {"dtype", g.dtype}, {"big_endian", bit(g.bigEndian)},
		{"route_valid", b.rng.Uint64N(2)}, {"route_mask", b.rng.Uint64()}, {"root_sends", b.rng.Uint64N(2)},
	} {
		show("ent_"+s.name, s.v)
	}
	b.driveMap()
	b.driveAcks()
	all := b.undecided()
	verdict = len(all) > 0 && all[0].ended >= all[0].verdictWait
	b.SetBool("vrd_valid", verdict)
	if verdict {
		f := all[0]
		b.SetBool("vrd_err", f.err)
		b.SetBool("vrd_len_ok", f.bodyOK)
		b.SetBool("vrd_icrc_ok", f.icrcOK)
		b.Set("vrd_end", uint64(b.end(f)))
	} else {
		b.Set("vrd_err", b.rng.Uint64N(2))
		b.Set("vrd_len_ok", b.rng.Uint64N(2))
		b.Set("vrd_icrc_ok", b.rng.Uint64N(2))
		b.Set("vrd_end", b.rng.Uint64N(1<<b.p.PktW))
	}
	return verdict
}

// noise sets an input to something that must not matter.
func (b *bench) noise(name string) {
	p := b.Pin(name)
	p.SetUint64(b.rng.Uint64() & (1<<p.Width() - 1))
}

// driveMap shows what Control says, from the second cycle after it was asked to the cycle after it is asked again.
func (b *bench) driveMap() {
	b.SetBool("ctl_busy", b.busyLeft > 0)
	at, self := place{}, uint64(0)
	known := b.placing != nil && b.mapAge >= 2
	if known {
		at, self = b.placing.at, 1<<b.placing.endpoint
	}
	v := at.span
	inside := at.inside()
	for _, s := range []struct {
		name   string
		inside bool // means something inside a range alone
		v      uint64
	}{
		{"current", false, bit(at.current)}, {"previous", false, bit(at.previous)}, {"opens", false, bit(at.opens)}, {"opens_up", false, bit(at.opensUp)},
		{"bad_control", false, bit(at.bad)}, {"wrong_role", false, bit(at.wrong)}, {"contradicts", true, bit(at.contradicts)}, {"base", false, at.base},
		{"psn", true, at.psn}, {"rng", true, v.rng}, {"begin", false, v.begin}, {"end", true, v.end}, {"up", true, bit(v.in&self != 0)},
		{"down", true, bit(v.in&self == 0 && v.parent&self != 0 && v.collective != reduce)}, {"ackable_any", true, bit(v.ack&self != 0)},
		{"needs_host", true, bit(v.collective == allReduce || v.collective == barrier)},
		{"function", true, v.function}, {"dtype", true, v.dtype}, {"in_mask", true, v.in}, {"out_mask", true, v.out}, {"ack_mask", true, v.ack},
		{"parent_mask", true, v.parent},
	} {
		if !known || s.inside && !inside {
			b.noise("map_" + s.name)
		} else {
			b.Set("map_"+s.name, s.v)
		}
	}
	// of no range it may be any, but never two
	c := v.collective
	if !known || !inside {
		c = b.rng.Uint64N(barrier + 1)
	}
	b.SetBool("map_reduces", c == reduce)
	b.SetBool("map_spreads", c == broadcast)
	b.SetBool("map_barrier", c == barrier)
}

// driveAcks shows what ReceiveACK answers to the last read.
func (b *bench) driveAcks() {
	group, self, mask, pick := 0, uint64(0), uint64(0), uint64(0)
	if b.asked != nil {
		v, _, _, _, _ := b.m.view(b.asked)
		group, self, mask, pick = b.asked.group, 1<<b.asked.endpoint, v.ack, 1<<b.asked.endpoint
		if v.collective == reduce {
			pick = v.parent
		}
	}
	show := func(name string, of uint64, known bool) {
		var psn, msn uint64
		for _, e := range members(of) {
			ep := b.m.ep[group<<b.p.EPW|e]
			psn, msn = psn|ep.acked, msn|ep.ackedMSN
		}
		if known && of != 0 {
			b.Set("ack_"+name, psn)
			b.Set("ack_"+name+"_msn", msn)
		} else {
			b.noise("ack_" + name)
			b.noise("ack_" + name + "_msn")
		}
	}
	show("own", self, b.ackAge >= 1)
	show("picked", pick, b.ackAge >= 1)
	ready := b.ackAge >= b.ackWait
	b.SetBool("ack_ready", ready)
	b.SetBool("ack_waits", b.acksWait && b.rng.IntN(8) == 0)
	least := uint64(0) // the endpoint, one-hot
	for _, e := range members(mask &^ self) {
		ep := b.m.ep[group<<b.p.EPW|e]
		if least == 0 || serial(ep.acked, b.m.ep[group<<b.p.EPW|members(least)[0]].acked) < 0 {
			least = 1 << e
		}
	}
	show("rest", least, ready)
	if ready {
		b.SetBool("ack_rest_any", least != 0)
	} else {
		b.noise("ack_rest_any")
	}
	if ready && least != 0 {
		b.Set("ack_rest_ep", uint64(members(least)[0]))
	} else {
		b.noise("ack_rest_ep")
	}
}

// end is where the payload of the oldest frame ends. Frames that carry no payload, and what is bypassed, leave words or not: any number will do.
func (b *bench) end(f *frame) int {
	return (b.start + int(b.m.words(f.plen))) % (1 << b.p.PktW)
}

// first is the oldest undecided frame of the group's that is looked at and for which seen is false.
func (b *bench) first(seen func(*frame) bool) *frame {
	for _, f := range b.waits {
		if !f.bypass && !seen(f) {
			return f
		}
	}
	return nil
}

// cycle passes a clock and compares all that the module does in it.
func (b *bench) cycle() {
	t := b.t
	if b.head == nil {
		b.head = b.next()
	}
	verdict := b.driveFrame()
	if w := b.slot; w != nil {
		for _, s := range []struct {
			name string
			v    uint64
		}{{"tag", w.tag}, {"mask", w.mask}, {"complete", bit(w.complete)}, {"opcode", w.opcode}, {"plen", w.plen}, {"pad", w.pad},
			{"se", bit(w.se)}, {"ext", w.ext}, {"ce", bit(w.ce)}} {
			b.Set("slot_"+s.name, s.v)
		}
		b.slot = nil
	}
	opReady, txRoom := b.ready(), b.room()
	b.SetBool("op_ready", opReady)
	b.SetBool("tx_room", txRoom)
	b.SetBool("cfg_gap_nak", b.m.gapNAK)
	initEI := b.driveInit()
	live := uint64(0)
	for i, g := range b.m.groups {
		live |= bit(g.live) << i
	}
	b.Set("grp_live", live)
	b.Clock()

	b.ackAge++
	b.readAge++
	b.mapAge++
	b.busyLeft = max(b.busyLeft-1, 0)
	require.Equal(t, b.Is("ent_valid") || len(b.waits) > 0, b.Is("frm_waits"))
	require.Equal(t, b.steps, b.Get("count")&among(counterNames...), "counters want %v, got %v", names(b.steps), names(b.Get("count")))
	b.steps = 0
	if b.asked != nil && len(b.waits) > 0 && b.waits[0] == b.asked && b.asked.asked {
		require.Equal(t, uint64(1)<<b.asked.endpoint, b.Get("ack_self"))
	}
	start := b.start
	if len(b.owed) > 0 && b.owed[0].take { // what takes no words keeps none
		start = int(b.owed[0].start)
	}
	require.Equal(t, uint64(start), b.Get("pkt_start"))
	if b.Is("ent_pop") {
		require.True(t, b.Is("ent_valid"))
		b.head.looked = true
		b.waits, b.head = append(b.waits, b.head), nil
	}
	b.looks()
	if b.Is("init_valid") && b.Is("init_take") {
		psn := b.Get("init_psn")
		*b.m.ep[initEI] = endpoint{psn: psn, acked: (psn - 1) & mask24}
		b.initing.inited++
	}
	require.Equal(t, b.Is("ctl_open"), b.Is("ack_lift"))
	if b.Is("vrd_pop") || b.Is("ctl_open") {
		require.True(t, verdict && len(b.waits) > 0, "decided without a verdict")
	}
	switch {
	case b.Is("ctl_open"):
		require.Len(t, b.waits, 1, "a range is opened under younger frames")
		b.opened(b.waits[0])
		b.steps = among("RANGE_OPEN")
	case b.Is("vrd_pop"):
		f := b.waits[0]
		b.waits = b.waits[1:]
		b.decided(f, txRoom)
	}
	if !b.Is("vrd_pop") {
		require.False(t, b.Is("ack_we"), "acknowledged without a decision")
		require.False(t, b.Is("wr_en"), "a slot is written in a cycle without a decision")
		require.False(t, b.Is("tx_valid") || b.Is("op_commit") || b.Is("op_kill"), "a frame, commit or kill without a decision")
	}
	b.given(opReady, verdict)
	for _, f := range b.undecided() {
		f.looked = f.looked && b.m.groups[f.group].live
	}
	if all := b.undecided(); len(all) > 0 {
		all[0].ended++
	}
	if b.head != nil {
		b.head.entered++
	}
}

// looks follows what is read of Control, of the state, and of the acknowledgements.
func (b *bench) looks() {
	t := b.t
	if b.Is("ctl_map") {
		f := b.waits[len(b.waits)-1]
		require.Equal(t, 1, b.readAge, "no ctl_rd in the cycle before")
		require.Equal(t, uint64(f.group<<b.p.EPW|f.endpoint), b.readEI)
		require.True(t, !f.bypass && b.m.groups[f.group].inBand)
		b.mapAge, b.placing = 2, f
		f.at = b.place(f)
		require.Equal(t, uint64(f.group<<b.p.EPW|f.endpoint), b.Get("ask_ei"))
		require.Equal(t, f.psn, b.Get("ask_psn"))
	}
	if b.Is("ctl_rd") {
		b.readAge, b.readEI = 0, b.Get("ctl_ei")
	}
	if b.Is("rd_en") {
		f := b.first(func(f *frame) bool { return f.read })
		require.NotNil(t, f, "there is nothing to look at")
		f.read = true
		at := int(b.Get("rd_slot"))
		w := b.mem[at]
		b.slot = &w
		g := b.m.groups[f.group]
		psn, known := f.psn, true
		if g.inBand {
			psn, known = f.at.psn, f.at.inside()
		}
		if known {
			require.Equal(t, g.slot(psn), at)
		}
	}
	require.False(b.t, b.Is("ack_rd") && b.Is("ack_waits"), "a start has no turn")
	if b.Is("ack_rd") {
		f := b.first(func(f *frame) bool { return f.asked })
		require.NotNil(t, f)
		f.asked = true
		b.ackAge, b.asked = 1, f
		require.Equal(t, uint64(f.group), b.Get("ack_group"))
	}
}

// given takes work.
func (b *bench) given(opReady, verdict bool) {
	t := b.t
	if !b.Is("op_valid") {
		return
	}
	require.True(t, opReady, "work while op_ready is low")
	given := work{start: b.Get("op_start"), words: b.Get("op_words"), slot: b.Get("op_slot"), function: b.Get("op_function"), dtype: b.Get("op_dtype"),
		read: b.Is("op_read"), take: b.Is("op_take"), write: b.Is("op_write"), emit: b.Is("op_emit"), reduce: b.Is("op_reduce"),
		bigEndian: b.Is("op_big_endian"), pair: b.Get("op_pair"), pairs: b.Get("op_pairs")}
	given = given.seen(b.p.Tree != 0)
	if len(b.owed) > 0 {
		require.False(t, b.Is("op_spec"), "speculative although it is decided")
		require.Equal(t, *b.owed[0], given)
		b.owed = b.owed[1:]
		b.works = append(b.works, given)
		return
	}
	require.True(t, b.Is("op_spec"), "work of no frame")
	require.Nil(t, b.spec, "work for one frame twice")
	require.NotEmpty(t, b.waits)
	b.spec = &given
	b.specAt = append(b.specAt, b.Now())
}

// driveInit offers the next endpoint state of a group that starts, and returns its index.
func (b *bench) driveInit() int {
	eps := 1 << b.p.EPW
	if b.initing == nil {
		for _, g := range b.m.groups {
			if g.starting && g.fenced && b.initing == nil {
				b.initing = g
			}
		}
	}
	if g := b.initing; g != nil && g.inited == eps {
		b.m.begin(g)
		for i := range g.n() {
			b.mem[int(g.base+i)] = b.m.slots[int(g.base+i)]
		}
		g.live, g.starting = true, false
		b.initing = nil
	}
	b.SetBool("init_valid", b.initing != nil)
	if b.initing == nil {
		return -1
	}
	ei := b.initing.inited
	for i, g := range b.m.groups {
		if g == b.initing {
			ei |= i << b.p.EPW
		}
	}
	b.Set("init_ei", uint64(ei))
	b.Set("init_psn", b.initing.start)
	return ei
}

// decided compares a decision with the model's.
func (b *bench) decided(f *frame, txRoom bool) {
	t := b.t
	f.live, f.start = true, uint64(b.start)
	what := fmt.Sprintf("frame %d in cycle %d: %+v", b.done, b.Now(), *f)
	b.done++
	b.popAt = append(b.popAt, b.Now())
	require.True(t, f.bypass || f.read, "decided without having been looked at: %s", what)
	require.False(t, b.opens(f), "a control that opens a range was decided: %s", what)
	before := len(b.m.slots)
	want := b.m.decide(f)
	require.Len(t, b.m.slots, before)
	require.Equal(t, want.ack != nil, b.Is("ack_we"), what)
	if want.ack != nil {
		require.Equal(t, *want.ack, [2]uint64{b.Get("ack_psn"), b.Get("ack_msn")}, what)
	}
	b.steps = want.counts
	for _, n := range names(want.counts) {
		b.counts[n]++
	}
	if b.Is("wr_en") {
		b.mem[int(b.Get("wr_slot"))] = word{tag: b.Get("wr_tag"), mask: b.Get("wr_mask"), opcode: b.Get("wr_opcode"), plen: b.Get("wr_plen"),
			pad: b.Get("wr_pad"), ext: b.Get("wr_ext"), complete: b.Is("wr_complete"), se: b.Is("wr_se"), ce: b.Is("wr_ce")}
	}

	require.Equal(t, want.send != nil, b.Is("tx_valid"), "a frame to be made: %s", what)
	if w := want.send; w != nil {
		require.True(t, txRoom)
		s := send{b.Get("tx_kind"), b.Get("tx_ei"), b.Get("tx_mask"), b.Get("tx_opcode"), b.Get("tx_pad"), b.Get("tx_psn"), b.Get("tx_ext"),
			b.Get("tx_plen"), b.Get("tx_words"), b.Get("tx_in_band"), b.Get("tx_rng"), b.Get("tx_dir"), b.Is("tx_se"), b.Is("tx_ce")}
		if w.inBand == 0 { // whose offset has no meaning
			w.dir, s.rng, s.dir = 0, 0, 0
		}
		if w.opcode == 0x81 {
			s.ext = 0 // a CNP has no AETH
		}
		require.Equal(t, *w, s, what)
	}

	if want.work != nil {
		*want.work = want.work.seen(b.p.Tree != 0)
		b.meet(f, want.work)
	}
	require.Equal(t, want.work == nil && b.spec != nil, b.Is("op_kill"), "kill: %s", what)
	require.Equal(t, want.work != nil && b.spec != nil, b.Is("op_commit"), "commit: %s", what)
	switch {
	case b.spec == nil && want.work != nil:
		b.owed = append(b.owed, want.work)
		b.counts["at once"]++
	case b.spec != nil && want.work != nil:
		require.Equal(t, *want.work, *b.spec, what)
		b.works = append(b.works, *b.spec)
		b.counts["committed"]++
	case b.spec != nil:
		b.counts["killed"]++
	}
	b.spec = nil

	for s, w := range b.m.slots {
		require.Equal(t, w.seen(), b.mem[s].seen(), "slot %d after %s", s, what)
	}
	b.start = b.end(f)
	for _, g := range b.m.groups {
		g.fenced = g.starting
	}
}

// meet counts the kinds of work, so that the test can see that all came.
func (b *bench) meet(f *frame, w *work) {
	resent := !w.take
	for kind, is := range map[string]bool{
		"wide":                     b.m.groups[f.group].wide(),
		"range before":             b.m.groups[f.group].inBand && f.at.previous,
		"builds on a contribution": w.read && w.write,
		"first of its unit":        !w.read && w.write,
		"reduces":                  w.reduce,
		"reduces some pairs":       w.reduce && w.pairs != 1<<b.p.Planes-1,
		"reduces again":            w.reduce && resent,
		"emits a result":           w.emit && w.write,
		"emits again":              w.emit && resent,
		"emits down data":          w.emit && w.take && !w.write,
	} {
		if is {
			b.counts[kind]++
		}
	}
}

func names(set uint64) (out []string) {
	for _, n := range counterNames {
		if set&among(n) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// good is a frame with nothing wrong with it but what the caller sets.
func (b *bench) good(g, e int) *frame {
	return &frame{group: g, endpoint: e, host: true, sumOK: true, lenOK: true, tverOK: true, whole: true,
		bodyOK: true, icrcOK: true}
}

// shape fills in what all contributions to a PSN agree on.
func (b *bench) shape(f *frame) {
	r := rand.New(rand.NewPCG(b.m.groups[f.group].salt, f.psn))
	f.opcode = r.Uint64N(6)
	longest := min(1<<b.p.LenW-4, b.p.Bytes*(1<<b.p.WordsW-1))
	f.plen = 4 * r.Uint64N(uint64(longest/4)+1)
	if r.IntN(4) == 0 {
		f.plen = 0
	}
	f.pad, f.ext, f.se = r.Uint64N(4), uint64(r.Uint32()), r.IntN(2) == 0
}

// random draws a frame that fits the state of its group, mostly.
func (b *bench) random() *frame {
	rng := b.rng
	gi := rng.IntN(len(b.m.groups))
	g := b.m.groups[gi]
	roll := rng.IntN(100)
	e := rng.IntN(b.p.MaskW)
	switch {
	case roll < 65: // a child, more often one that lags behind
		children := members(g.in)
		e = children[rng.IntN(len(children))]
		for _, c := range children {
			if rng.IntN(2) == 0 && serial(b.m.ep[gi<<b.p.EPW|c].psn, b.m.ep[gi<<b.p.EPW|e].psn) < 0 {
				e = c
			}
		}
	case roll < 75 && g.parent >= 0:
		e = g.parent
	}
	f := b.good(gi, e)
	f.host = rng.IntN(5) > 0
	ep := b.m.ep[gi<<b.p.EPW|e]
	f.psn = (ep.psn + b.ahead(gi, e)) & mask24
	if rng.IntN(4) == 0 {
		f.psn = (ep.psn + uint64(rng.IntN(12)) - 8) & mask24
	}
	if rng.IntN(60) == 0 {
		f.psn = (ep.psn + 1<<23 - uint64(rng.IntN(3))) & mask24
	}
	b.shape(f)
	if g.inBand {
		b.inBand(f)
	}
	if roll >= 75 {
		if g.ack != 0 && rng.IntN(4) > 0 {
			f.endpoint = members(g.ack)[rng.IntN(len(members(g.ack)))]
		}
		f.psn = (b.m.ep[gi<<b.p.EPW|f.endpoint].acked + uint64(rng.IntN(6)) - 2) & mask24
		f.ext = []uint64{0x00, 0x1F, 0x20, 0x3F, 0x40, 0x5F, 0x60, 0x61, 0x63, 0x64, 0x80, 0xFF}[rng.IntN(12)]<<24 | rng.Uint64N(1<<24)
		f.opcode = []uint64{0x11, 0x11, 0x11, 0x11, 0x81, 0x06, 0x10, 0x12, 0x80, 0xFF}[rng.IntN(10)]
		f.plen, f.pad = 0, 0
		if g.inBand {
			f.at = place{base: f.at.base}
			b.acks(f)
		}
	}
	f.ce = rng.IntN(5) == 0
	rare := func() bool { return rng.IntN(40) == 0 }
	spoil := func(flag *bool) {
		if rare() {
			*flag = !*flag
		}
	}
	for _, flag := range []*bool{&f.bypass, &f.foreign, &f.sumOK, &f.lenOK, &f.tverOK, &f.err, &f.bodyOK, &f.icrcOK, &f.se} {
		spoil(flag)
	}
	if f.opcode <= 5 {
		spoil(&f.tooLong)
		spoil(&f.whole)
		if rare() {
			f.opcode = rng.Uint64N(6)
		}
		if rare() {
			f.ext ^= 1
		}
		if rare() {
			f.pad ^= 1
		}
		if rare() && f.plen >= 4 {
			f.plen -= 4
		}
	}
	if f.opcode != 5 || f.plen != 0 { // no control after all: Control says nothing of the kind
		f.at.opens, f.at.opensUp, f.at.bad, f.at.wrong = false, false, false, false
	}
	if rng.IntN(3) == 0 {
		f.entryWait = rng.IntN(6)
	}
	if rng.IntN(2) == 0 {
		f.verdictWait = rng.IntN(12)
	}
	return f
}

// opens tells that the head frame is a good control that opens a range.
func (b *bench) opens(f *frame) bool {
	if f.bypass || f.opened || !b.m.groups[f.group].inBand {
		return false
	}
	f.live = true
	return b.m.drop(f) == "" && b.m.opens(f)
}

// opened makes the next range of the group, in which the head frame is the control.
func (b *bench) opened(f *frame) {
	require.True(b.t, f != nil && f.ended >= f.verdictWait && b.opens(f), "a range is opened: %+v", f)
	rng, g := b.rng, b.m.groups[f.group]
	f.opened, f.read, f.asked = true, false, false
	b.counts["RANGE_OPEN"]++
	b.busyLeft = b.busyFor
	if b.busyFor == 0 {
		b.busyLeft = 1 + rng.IntN(6)
	}
	all := uint64(1)<<b.p.MaskW - 1
	require.Equal(b.t, b.current(f), (b.Get("ack_psn")+1)&mask24, "acknowledgements are lifted")
	for e := range b.p.MaskW {
		ep := b.m.ep[f.group<<b.p.EPW|e]
		ep.acked = later(ep.acked, (b.current(f)-1)&mask24)
	}
	v := span{begin: g.start, collective: f.ext >> 29, function: rng.Uint64N(3), dtype: 3 * rng.Uint64N(2), in: g.in, out: g.out, ack: g.ack, parent: g.parentMask()}
	if b.p.Halves != 0 {
		v.dtype = rng.Uint64N(4)
	}
	if n := len(g.ranges); n > 0 {
		last := g.ranges[n-1]
		v.begin, v.rng = (last.end+1)&mask24, (last.rng+1)%4
		g.ranges = g.ranges[n-1:]
	}
	v.end = (v.begin + rng.Uint64N(7)) & mask24
	if b.length > 0 {
		v.end = (v.begin + b.length) & mask24
	}
	children := all
	if b.p.Tree != 0 && b.p.MaskW%2 != 0 {
		children >>= 1
	}
	self := uint64(1) << f.endpoint
	switch v.collective {
	case reduce:
		v.parent = 1 << rng.IntN(b.p.MaskW)
		v.in, v.out, v.ack = 1+rng.Uint64N(children), 0, v.parent
		if f.at.opensUp {
			v.in |= self & children
		}
	case broadcast:
		v.parent = 1 << rng.IntN(b.p.MaskW)
		if rng.IntN(2) == 0 {
			v.parent = self
		}
		v.in, v.out = 0, rng.Uint64N(all+1)&^v.parent
		v.ack = v.out
	}
	for e := range b.p.MaskW { // each goes on where it is
		v.offset = append(v.offset, (b.m.ep[f.group<<b.p.EPW|e].psn-v.begin)&mask24)
	}
	v.offset[f.endpoint] = (f.psn - v.begin) & mask24
	if sends := v.in | v.parent; v.collective == reduce && v.in&self == 0 || sends&self == 0 { // Control sees to it
		if v.collective == broadcast || self&children == 0 {
			v.collective, v.parent = broadcast, self
			v.in, v.out = 0, v.out&^self
			v.ack = v.out
		} else {
			v.in |= self
		}
	}
	g.ranges = append(g.ranges, v)
}

// current is where the current range of the head frame's group begins, before the first one the PSN before it.
func (b *bench) current(f *frame) uint64 {
	g := b.m.groups[f.group]
	if n := len(g.ranges); n > 0 {
		return g.ranges[n-1].begin
	}
	return (g.start - 1) & mask24
}

// place is what Control would say of the head frame.
func (b *bench) place(f *frame) place {
	g := b.m.groups[f.group]
	at := place{psn: f.psn, base: f.at.base}
	for i := len(g.ranges) - 1; i >= 0; i-- {
		v := g.ranges[i]
		psn := f.psn
		if f.opcode <= 5 {
			psn = (f.psn - v.offset[f.endpoint]) & mask24
		}
		if f.opcode != 0x81 && (psn-v.begin)&mask24 > (v.end-v.begin)&mask24 {
			continue
		}
		if self := uint64(1) << f.endpoint; f.opcode <= 5 && (v.in|v.parent)&self == 0 || f.opcode <= 5 && v.collective == reduce && v.in&self == 0 {
			continue
		}
		at.current, at.previous, at.psn, at.span = i == len(g.ranges)-1, i < len(g.ranges)-1, psn, v
		if f.opcode == 0x81 {
			at.psn = f.psn
		}
		at.contradicts = f.opcode <= 5 && f.at.contradicts
		return at
	}
	if f.opcode == 0x81 { // before the first range
		at.current = true
		at.span = span{in: g.in, out: g.out, ack: g.ack, parent: g.parentMask()}
		return at
	}
	at.begin = b.current(f)
	at.opens, at.opensUp, at.bad, at.wrong = f.at.opens, f.at.opensUp, f.at.bad, f.at.wrong
	return at
}

// inBand makes a frame one of an in-band group: of the current range, of the one before, a control of the next one, or of none.
func (b *bench) inBand(f *frame) {
	rng, g := b.rng, b.m.groups[f.group]
	eps := func() *endpoint { return b.m.ep[f.group<<b.p.EPW|f.endpoint] }
	if len(g.ranges) > 0 {
		v := g.ranges[len(g.ranges)-1]
		if rng.IntN(5) == 0 {
			v = g.ranges[0]
		}
		who := v.in
		if rng.IntN(4) == 0 || who == 0 {
			who = v.parent | v.in
		}
		if who != 0 {
			f.endpoint = members(who)[rng.IntN(len(members(who)))]
			for _, c := range members(v.in) { // one that lags behind
				if rng.IntN(2) == 0 && serial(b.m.ep[f.group<<b.p.EPW|c].psn-v.offset[c], b.m.ep[f.group<<b.p.EPW|f.endpoint].psn-v.offset[f.endpoint]) < 0 {
					f.endpoint = c
				}
			}
		}
		f.psn = (eps().psn + b.ahead(f.group, f.endpoint)) & mask24
		if rng.IntN(3) == 0 {
			f.psn = (v.offset[f.endpoint] + v.begin + rng.Uint64N(8) - 1) & mask24
		}
		if v = g.ranges[0]; len(g.ranges) > 1 && (v.collective == reduce || v.collective == broadcast) && rng.IntN(2) == 0 { // does everybody have it?
			f.endpoint = members(v.in | v.parent)[0]
			f.psn = (v.offset[f.endpoint] + v.end) & mask24
		}
		b.shape(f)
		if v.collective == barrier && rng.IntN(8) > 0 {
			f.plen = 0
		}
	}
	f.at.base = eps().psn
	if rng.IntN(4) == 0 {
		f.at.base = rng.Uint64N(1 << 24)
	}
	f.at.contradicts = rng.IntN(30) == 0
	if rng.IntN(12) == 0 || len(g.ranges) == 0 && rng.IntN(2) == 0 { // a control; Control looks at this only if no range has its PSN
		f.opcode, f.plen, f.pad = 5, 0, 0
		f.ext = f.ext&^(7<<29) | rng.Uint64N(4)<<29
		f.at.opensUp = rng.IntN(2) == 0
		f.psn = (eps().psn + b.ahead(f.group, f.endpoint)) & mask24
		if rng.IntN(4) == 0 {
			f.psn = rng.Uint64N(1 << 24)
		}
		switch rng.IntN(8) {
		case 0:
			f.at.bad = true
		case 1:
			f.at.wrong = true
		default:
			f.at.opens = true
		}
		f.at.opensUp = f.at.opensUp && f.at.opens
	}
}

// acks makes a frame an acknowledgement that somebody waits for.
func (b *bench) acks(f *frame) {
	rng, g := b.rng, b.m.groups[f.group]
	if len(g.ranges) == 0 {
		return
	}
	v := g.ranges[rng.IntN(len(g.ranges))]
	if v.ack != 0 && rng.IntN(8) > 0 {
		f.endpoint = members(v.ack)[rng.IntN(len(members(v.ack)))]
	}
	f.psn = (v.begin + rng.Uint64N(9) - 1) & mask24
	if rng.IntN(3) == 0 { // somebody who has not everything gets it
		for _, e := range members(v.ack) {
			if serial(b.m.ep[f.group<<b.p.EPW|e].acked, v.end) < 0 {
				f.endpoint = e
			}
		}
		f.psn = v.end
	}
}

// onePort has the state of endpoints in a memory of one port.
func onePort(p checkduplicate.CheckDuplicate) checkduplicate.CheckDuplicate {
	p.OnePort = 1
	return p
}

// TestAgainstModel: thousands of frames of every kind against the rules of docs/engine.md, frame by frame: counters, frames to be made, work,
// speculation, slot words; groups start again meanwhile.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]checkduplicate.CheckDuplicate{"in place": mini(), "in place, one group": oneGroup(), "tree": tree(), "tree, one group": wideTree(),
		"tree of one pair": couple(), "in-band": inBand(mini()), "in-band, one group": inBand(oneGroup()), "in-band, tree": inBand(wideTree()),
		"one port": onePort(mini()), "one port, in-band": onePort(inBand(mini()))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, steps{p})
			total := map[string]int{}
			for seed := range uint64(6) {
				b := newBench(t, lib, p, seed)
				b.m.gapNAK = seed%3 != 2
				pace := func(percent int) func() bool { return func() bool { return b.rng.IntN(100) < percent } }
				b.ready, b.room = pace([]int{100, 70, 30}[b.rng.IntN(3)]), pace([]int{100, 70, 30}[b.rng.IntN(3)])
				b.next = b.random
				b.ackWait = 3 + int(seed)%3
				b.acksWait = p.OnePort != 0 && seed%2 == 1
				for g := range p.Groups {
					b.configure(g)
				}
				for b.done < 3000 {
					// A group stops between frames or while one waits for its verdict; its settings change when that one is gone.
					if b.rng.IntN(300) == 0 {
						g := b.rng.IntN(p.Groups)
						if n := b.m.groups[g]; n.live {
							n.live = false
							b.next = func() *frame { return nil }
							for len(b.undecided()) > 0 {
								b.cycle()
							}
							b.next = b.random
							b.configure(g)
						}
					}
					b.cycle()
				}
				for n, c := range b.counts {
					total[n] += c
				}
			}
			names := append(slices.Clone(counterNames), "range before", "killed", "committed", "at once", "wide", "builds on a contribution", "first of its unit")
			for _, n := range append(names, "reduces", "reduces some pairs", "reduces again", "emits a result", "emits again", "emits down data") {
				switch {
				case n == "TX_FANOUT" || n == "TX_FRAMES" || n == "TX_ACK_COPY": // ReplicateData's
					require.Zero(t, total[n], n)
				case n == "ECC_CORRECTED" || n == "ECC_DOUBLE": // AggregateData's
					require.Zero(t, total[n], n)
				case p.InBand == 0 && slices.Contains([]string{"RANGE_OPEN", "TX_REACK", "DROP_RANGE", "DROP_BAD_CONTROL", "DROP_CONTROL", "DROP_STALE_ACK", "range before"}, n):
					require.Zero(t, total[n], n)
				case n == "wide" && p.Halves == 0, strings.HasPrefix(n, "reduces") && p.Tree == 0, n == "reduces some pairs" && p.Planes == 1:
					require.Zero(t, total[n], n)
				case (n == "emits a result" || n == "emits again") && p.Tree != 0:
					require.Zero(t, total[n], n)
				case n == "DROP_ICRC" && p.ICRC == 0:
					require.Zero(t, total[n], n)
				default:
					require.Greater(t, total[n], 10, n)
				}
			}
		})
	}
}

// quiet starts all groups with endpoints 0 and 1 as children, no parent, four slots of BF16, and returns when they are live.
func quiet(t *testing.T, lib *sim.Lib, p checkduplicate.CheckDuplicate, seed uint64) *bench {
	b := newBench(t, lib, p, seed)
	for i, g := range b.m.groups {
		*g = group{base: uint64(16 * i), log2: 2, in: 3, out: 3, ack: 3, parent: -1, dtype: 2, start: 0xFFFFFE, starting: true, fenced: true, salt: 1}
	}
	b.next = func() *frame { return nil }
	for range 40 {
		b.cycle()
	}
	require.True(t, b.m.groups[0].live && b.m.groups[1].live)
	return b
}

// data is the next contribution of endpoint e.
func (b *bench) data(e int) *frame {
	f := b.good(0, e)
	f.psn = (b.m.ep[e].psn + b.ahead(0, e)) & mask24
	f.opcode, f.plen = 4, 32
	return f
}

// play passes the frames one after the other, each made when it is its turn, and returns the cycles between their decisions.
func (b *bench) play(frames ...func() *frame) []uint64 {
	n := 0
	b.next = func() *frame {
		if n == len(frames) {
			return nil
		}
		n++
		return frames[n-1]()
	}
	b.popAt = nil
	for len(b.popAt) < len(frames) || len(b.owed) > 0 {
		require.Less(b.t, b.Now(), uint64(10000), "not decided")
		b.cycle()
	}
	gaps := make([]uint64, len(frames)-1)
	for i := range gaps {
		gaps[i] = b.popAt[i+1] - b.popAt[i]
	}
	return gaps
}

// TestTiming: the cycles that the head of the file states, in place and as a tree; a frame of a fixed group takes no more in an engine that has
// in-band groups too.
func TestTiming(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]checkduplicate.CheckDuplicate{"in place": mini(), "tree": tree(), "in-band": inBand(mini()), "one port": onePort(mini())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timing(t, p)
		})
	}
}

func timing(t *testing.T, p checkduplicate.CheckDuplicate) {
	lib := rig.Lib(t, steps{p})
	child := func(b *bench, e int) func() *frame { return func() *frame { return b.data(e) } }
	bypassed := func(b *bench) func() *frame {
		return func() *frame { f := b.good(0, 0); f.bypass = true; return f }
	}
	bad := func(b *bench) func() *frame {
		return func() *frame { f := b.data(0); f.icrcOK = false; return f }
	}
	ack := func(b *bench) func() *frame {
		return func() *frame { f := b.good(0, 0); f.opcode = 0x11; return f }
	}

	t.Run("frames", func(t *testing.T) {
		b := quiet(t, lib, p, 1)
		// slot PSN, slot PSN+1, then both completed: a frame takes 2 cycles, one that took a damaged one for good 2 more, bypassed ones 1
		gaps := b.play(child(b, 0), child(b, 0), child(b, 1), child(b, 1), ack(b), bad(b), ack(b), bypassed(b), bypassed(b), bypassed(b), bypassed(b),
			bypassed(b), ack(b))
		require.Equal(t, []uint64{2, 2, 2, 2, 2, 4, 1, 1, 1, 1, 1, 3}, gaps)
	})

	t.Run("full rate", func(t *testing.T) {
		b := quiet(t, lib, p, 2)
		var frames []func() *frame
		for n := range 40 { // two children in turn, over the wrap of the PSN
			frames = append(frames, child(b, n%2))
		}
		for _, gap := range b.play(frames...) {
			require.Equal(t, uint64(2), gap)
		}
		require.Equal(t, 20, b.counts["WIPE"])
		require.Equal(t, uint64(0xFFFFFE+20)&mask24, b.m.ep[0].psn)
	})

	t.Run("looked at again", func(t *testing.T) {
		b := quiet(t, lib, p, 2)
		// what follows a damaged frame of its endpoint took it for good; 2 cycles more, and no more for those behind
		gaps := b.play(child(b, 0), child(b, 1), bad(b), child(b, 0), child(b, 0), child(b, 1))
		require.Equal(t, []uint64{2, 2, 4, 2, 2}, gaps)
		require.Equal(t, 5, b.counts["AGG"])
	})

	t.Run("late verdict", func(t *testing.T) {
		for wait := range 16 {
			for _, good := range []bool{true, false} {
				b := quiet(t, lib, p, 3)
				begun := b.Now() + 1
				b.play(func() *frame { f := b.data(0); f.verdictWait, f.icrcOK = wait, good; return f })
				// decided 5 cycles behind its entry, or in the very cycle of the verdict
				require.Equal(t, begun+uint64(max(wait, 5)), b.popAt[0])
				if wait < 6 {
					require.Empty(t, b.specAt)
				} else {
					require.Equal(t, []uint64{begun + 5}, b.specAt, "speculative work")
				}
			}
		}
	})

	t.Run("stall", func(t *testing.T) {
		// neither room for frames nor for work: what needs neither goes on
		b := quiet(t, lib, p, 4)
		no := func() bool { return false }
		b.ready, b.room = no, no
		require.Equal(t, []uint64{4, 2, 3}, b.play(bad(b), bad(b), bypassed(b), bad(b)))
		opened := b.Now() + 20
		open := func() bool { return b.Now()+1 >= opened }
		b.ready = open
		b.play(child(b, 0), child(b, 0))
		require.Equal(t, opened+2, b.popAt[1], "waits until the work of the frame before is taken")
		b.ready = func() bool { return true }
		opened = b.Now() + 20
		b.room = open
		b.play(ack(b))
		require.Equal(t, opened, b.popAt[0], "waits for tx_room")
	})
}

// TestTimingOfAnswers: acknowledgements of a Broadcast wait for the minimum of all, those of other collectives for nothing, a gap's NAK for what
// was acknowledged.
func TestTimingOfAnswers(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, steps{mini()})
	for _, collective := range []uint64{allReduce, reduce, broadcast} {
		for wait := 2; wait < 6; wait++ {
			b := quiet(t, lib, mini(), 5)
			b.ackWait = wait
			g := b.m.groups[0]
			g.collective, g.parent = collective, 2
			g.ack = 0b111
			ack := func(e int) func() *frame {
				return func() *frame { f := b.good(0, e); f.opcode, f.psn = 0x11, 0xFFFFFE; return f }
			}
			want := uint64(2)
			if collective == broadcast {
				want = uint64(wait) + 3
			}
			require.Equal(t, []uint64{want, want, want}, b.play(ack(0), ack(1), ack(2), ack(0)), "collective %d", collective)
		}
	}
	b := quiet(t, lib, mini(), 5)
	gap := func() *frame { f := b.data(0); f.psn += 2; return f }
	require.Equal(t, []uint64{4, 2}, b.play(func() *frame { return b.data(1) }, gap, func() *frame { return b.data(1) }))
	require.Equal(t, 1, b.counts["TX_GAP_NAK"])
}

// TestTimingInBand: a frame takes 2 cycles, one that opens a range as long as that takes and both ways through the steps; data of a Broadcast's
// range before waits for the minimum.
func TestTimingInBand(t *testing.T) {
	t.Parallel()
	p := inBand(mini())
	lib := rig.Lib(t, steps{p})
	for busy := 1; busy < 12; busy += 5 {
		b := quiet(t, lib, p, 6)
		b.busyFor, b.ackWait, b.length = busy, 5, 9
		g := b.m.groups[0]
		g.inBand, g.out, g.parent = true, 0b11110, 0
		control := func(collective uint64) func() *frame {
			return func() *frame {
				f := b.good(0, 0)
				f.opcode, f.psn, f.ext = 5, b.m.ep[0].psn, collective<<29
				f.at = place{opens: true, base: f.psn}
				return f
			}
		}
		data := func(k int, i uint64) func() *frame { // number i of the range k, from endpoint 0
			return func() *frame {
				f := b.good(0, 0)
				v := g.ranges[k]
				f.opcode, f.plen, f.psn = 4, 32, (v.begin+v.offset[0]+i)&mask24
				return f
			}
		}
		begun := b.Now() + 1
		b.play(control(broadcast))
		require.Equal(t, begun+uint64(7+1+busy+7), b.popAt[0])
		gaps := b.play(data(0, 1), data(0, 2), data(0, 3), data(0, 4), data(0, 5), data(0, 6), data(0, 7), data(0, 8), data(0, 9))
		require.Equal(t, []uint64{2, 2, 2, 2, 2, 2, 2, 2}, gaps)
		b.play(control(broadcast))
		gaps = b.play(data(1, 1), data(0, 1), data(1, 2))
		require.Equal(t, []uint64{uint64(b.ackWait) + 3, 2}, gaps)
		require.Equal(t, 2, b.counts["RANGE_OPEN"])
	}
}

// TestUnitsAndPairs: the work that contributions, a resend and down data give, written out: children 0, 1 and 3, the parent 4 (MEMBERS).
func TestUnitsAndPairs(t *testing.T) {
	t.Parallel()
	const words = 4 // 32 bytes
	cases := []struct {
		name  string
		p     checkduplicate.CheckDuplicate
		dtype uint64
		unit  uint64 // of PSN 6 in slots 8 to 11: slot 10
		want  []work // of endpoints 0, 3, 1, of 3 again, and of the parent's copy
	}{
		{"in place, FP32", mini(), 0, 10, []work{
			{take: true, write: true}, {take: true, write: true, read: true}, {take: true, write: true, read: true, emit: true},
			{read: true, emit: true}, {take: true, emit: true}}},
		{"in place, FP16", mini(), 1, 12, []work{
			{take: true, write: true}, {take: true, write: true, read: true}, {take: true, write: true, read: true, emit: true},
			{read: true, emit: true}, {take: true, emit: true}}},
		{"tree, INT32", tree(), 3, 10, []work{
			{take: true, write: true}, {take: true, write: true, pair: 1}, {take: true, write: true, read: true, reduce: true, pairs: 0b11},
			{reduce: true, pairs: 0b11}, {take: true, emit: true}}},
		{"tree, BF16", tree(), 2, 12, []work{
			{take: true, write: true}, {take: true, write: true, pair: 1}, {take: true, write: true, read: true, reduce: true, pairs: 0b11},
			{reduce: true, pairs: 0b11}, {take: true, emit: true}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, rig.Lib(t, steps{c.p}), c.p, 1)
			g := b.m.groups[0]
			*g = group{base: 8, log2: 2, in: 0b01011, out: 0b01011, parent: 4, function: 1, dtype: c.dtype, start: 6, starting: true, fenced: true}
			b.next = func() *frame { return nil }
			for !g.live {
				b.cycle()
			}
			at := func(e int) func() *frame {
				return func() *frame { f := b.data(e); f.psn = 6; return f }
			}
			b.play(at(0), at(3), at(1), at(3), at(4))
			require.Len(t, b.works, len(c.want))
			for i, w := range c.want {
				w.words, w.slot, w.function, w.dtype, w.start = words, c.unit, 1, c.dtype, b.works[i].start
				require.Equal(t, w, b.works[i], "work %d", i)
			}
		})
	}
}

// TestStartedUnderAFrame: a frame whose state was read while its group was starting is dropped, even if the group is live when the
// verdict comes.
func TestStartedUnderAFrame(t *testing.T) {
	t.Parallel()
	lib := rig.Lib(t, steps{mini()})
	b := quiet(t, lib, mini(), 1)
	b.play(func() *frame { return b.data(0) }) // endpoint 0 is one further than at the start
	g := b.m.groups[0]
	g.live = false
	b.play(func() *frame { return b.data(0) }) // dropped
	before := b.m.ep[0].psn
	b.play(func() *frame {
		g.starting, g.fenced, g.inited = true, true, 0
		f := b.data(0)
		f.psn, f.verdictWait = before, 60
		return f
	}, func() *frame { f := b.data(0); f.psn, f.entryWait = g.start, 70; return f })
	require.True(t, g.live)
	require.Equal(t, 2, b.counts["DROP_GROUP_DISABLED"])
	require.Equal(t, 2, b.counts["AGG"], "the next frame finds the state of the start")
}

// TestStartHasItsTurn: with one port a group starts beside frames of another that come without a pause; no endpoint of it waits for more than
// two cycles, and all of them together cost the frames no more than two cycles each.
func TestStartHasItsTurn(t *testing.T) {
	t.Parallel()
	p := onePort(mini())
	b := quiet(t, rig.Lib(t, steps{p}), p, 1)
	n := 0
	b.next = func() *frame { n++; return b.data(n % 2) }
	for range 40 {
		b.cycle()
	}
	g := b.m.groups[1]
	g.live, g.starting, g.fenced, g.inited = false, true, true, 0
	waits, turns, done, begun := 0, 0, b.done, b.Now()
	for !g.live {
		b.cycle()
		switch {
		case b.Is("init_take"):
			waits = 0
		case b.Is("init_valid"):
			waits++
			turns++
		}
		require.LessOrEqual(t, waits, 2)
	}
	require.Greater(t, turns, 2, "nobody was in the way")
	took := int(b.Now() - begun)
	require.GreaterOrEqual(t, b.done-done, (took-2*(1<<p.EPW)-2)/2)
}
