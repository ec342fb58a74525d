// SPDX-License-Identifier: Apache-2.0

package decider_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest/rig"
)

// field is a value of so many bits.
type field struct {
	bits int
	v    uint64
}

// joined are fields one behind the other, the first at the top, as Verilog writes them.
func joined(fields []field) *big.Int {
	word := new(big.Int)
	for _, f := range fields {
		word.Lsh(word, uint(f.bits))
		word.Or(word, new(big.Int).SetUint64(f.v&(1<<f.bits-1)))
	}
	return word
}

// visitor is a frame in the entry: the inputs ent_* and map_* by name, and how far it has come.
type visitor struct {
	ent, at map[string]uint64
	live    bool // its group, whenever it was asked
	asked   int  // cycles since ctl_rd
	opened  bool // it comes again
}

func (f *visitor) ranged() bool  { return f.ent["in_band"] != 0 && f.ent["bypass"] == 0 }
func (f *visitor) inRange() bool { return f.at["current"] != 0 || f.at["previous"] != 0 }
func (f *visitor) control() bool { return f.ranged() && f.ent["opcode"] == 5 && f.ent["empty"] != 0 }
func (f *visitor) opener() bool  { return f.control() && !f.inRange() && f.at["opens"] != 0 }

// frame is its header as inc_frame_entry's head lists it.
func (f *visitor) frame(p decider.Decider) *big.Int {
	e := f.ent
	return joined([]field{{1, e["bypass"]}, {1, e["foreign"]}, {p.EIW, e["ei"]}, {1, e["host"]}, {1, e["sum_ok"]}, {1, e["len_ok"]}, {1, e["tver_ok"]},
		{1, e["too_long"]}, {8, e["opcode"]}, {1, e["se"]}, {2, e["pad"]}, {1, e["ce"]}, {24, e["psn"]}, {32, e["ext"]}, {p.LenW, e["plen"]},
		{p.WordsW, e["words"]}, {1, e["big_endian"]}})
}

// view is what its group, or its range, computes, and of a frame of a fixed group nothing of a range that means something.
func (f *visitor) view(p decider.Decider) *big.Int {
	e, m := f.ent, f.at
	by := e
	psn, begin, end, base, places := e["psn"], uint64(0), uint64(0), uint64(0), uint64(1)<<6
	up, down, ackable, whole := e["up"], e["down"], e["ackable"], e["whole"]
	if f.ranged() {
		by, psn, begin, end, base = m, m["psn"], m["begin"], m["end"], m["base"]
		halves := m["dtype"] == 1 || m["dtype"] == 2
		is := func(v bool) uint64 {
			if v {
				return 1
			}
			return 0
		}
		up, down, ackable = m["up"], m["down"], is(m["ackable_any"] != 0 && (e["host"] != 0 || m["needs_host"] == 0))
		whole = is(e["plen"]&1 == 0 && (halves || e["plen"]&2 == 0))
		if m["barrier"] != 0 { // has no payload
			whole = e["empty"]
		}
		places = is(f.inRange())<<6 | m["previous"]<<5 | m["opens"]<<4 | m["opens_up"]<<3 | m["bad_control"]<<2 | m["wrong_role"]<<1 | m["contradicts"]
	}
	opened := uint64(0)
	if f.opened {
		opened = 1
	}
	ranged, number := uint64(0), uint64(0)
	if f.ranged() {
		ranged, number = 1, m["rng"]
	}
	reduces, spreads := uint64(0), uint64(0)
	switch {
	case f.ranged():
		reduces, spreads = m["reduces"], m["spreads"]
	case e["collective"] == 1:
		reduces = 1
	case e["collective"] == 2:
		spreads = 1
	}
	return joined([]field{{1, ranged}, {1, opened}, {2, number}, {24, psn}, {24, begin}, {24, end}, {24, base}, {7, places}, {1, up}, {1, down}, {1, ackable},
		{1, whole}, {1, reduces}, {1, spreads}, {2, by["function"]}, {2, by["dtype"]}, {p.MaskW, by["in_mask"]}, {p.MaskW, by["out_mask"]},
		{p.MaskW, by["ack_mask"]}, {p.MaskW, by["parent_mask"]}})
}

// idleBits are those of a view that mean nothing for a frame of a fixed group: range, its PSNs, and what may open one.
func idleBits(p decider.Decider) *big.Int {
	one := func(bits int) field { return field{bits, 1<<bits - 1} }
	return joined([]field{{2, 0}, one(2), {24, 0}, one(24), one(24), one(24), {2, 0}, one(4), {1, 0}, {10 + 4*p.MaskW, 0}})
}

// TestFrameEntry: random frames of fixed and in-band groups, gone at once or late, groups that stop, controls that open a range or do not:
// what is offered, and in which cycle; what Control is asked, and when.
func TestFrameEntry(t *testing.T) {
	t.Parallel()
	fixed := decider.Decider{LenW: 7, WordsW: 4, Bytes: 8, EPW: 2, EIW: 3, MaskW: 3, SlotW: 5, Groups: 2}
	ranges := fixed
	ranges.InBand = 1
	for _, p := range []decider.Decider{fixed, ranges} {
		lib := rig.Lib(t, decider.FrameEntry(p))
		e := &entryBench{Rig: rig.New(t, lib, 1), t: t, p: p, rng: rand.New(rand.NewPCG(1, uint64(p.InBand))), met: map[string]int{}}
		for _, port := range lib.Ports() {
			e.widths = append(e.widths, graph.Port{Name: port.Name, Width: port.Width})
		}
		for range 20000 {
			e.cycle()
		}
		names := []string{"by", "dead", "root", "from the parent"}
		if p.InBand != 0 {
			names = append(names, "held up", "in-band", "opened", "not opened", "bypassed", "behind a control")
		}
		for _, name := range names {
			require.Greater(t, e.met[name], 100, name)
		}
	}
}

// entryBench is everything around the entry.
type entryBench struct {
	*rig.Rig
	t      *testing.T
	p      decider.Decider
	rng    *rand.Rand
	widths []graph.Port
	met    map[string]int
	head   *visitor // in LookupTable's queue
	here   *visitor // in M
	went   *visitor // a control that went in the cycle before
	ahead  *visitor // gone on, may open a range
	wait   int      // cycles until ahead is decided
	busy   int      // cycles that ctl_busy is high yet
	again  bool     // ahead has opened its range and is to come again
}

// random are values for all inputs whose names begin with prefix.
func (b *entryBench) random(prefix string) map[string]uint64 {
	values := map[string]uint64{}
	for _, port := range b.widths {
		if len(port.Name) > len(prefix) && port.Name[:len(prefix)] == prefix {
			values[port.Name[len(prefix):]] = b.rng.Uint64() & (1<<port.Width - 1)
		}
	}
	return values
}

func (b *entryBench) show(prefix string, values map[string]uint64) {
	for _, port := range b.widths {
		if v, ok := values[port.Name[min(len(prefix), len(port.Name)):]]; ok && port.Name[:min(len(prefix), len(port.Name))] == prefix {
			b.Set(port.Name, v)
		}
	}
}

func (b *entryBench) next() *visitor {
	ent := b.random("ent_")
	delete(ent, "pop")
	delete(ent, "valid")
	ent["opcode"] = []uint64{0, 4, 5, 5, 5, 0x11, 0x81}[b.rng.IntN(7)]
	if b.rng.IntN(2) == 0 {
		ent["empty"] = 1
	}
	if b.p.InBand == 0 {
		ent["in_band"] = 0
	}
	at := b.random("map_")
	if b.rng.IntN(2) == 0 { // in no range
		at["current"], at["previous"], at["opens"] = 0, 0, 1
	}
	return &visitor{ent: ent, at: at}
}

// offered says whether f, in M, is offered in this cycle.
func (f *visitor) offered() bool { return !f.ranged() || f.asked >= 2 }

func (b *entryBench) cycle() {
	t, rng := b.t, b.rng
	if b.head == nil && rng.IntN(4) > 0 {
		b.head = b.next()
	}
	b.SetBool("ent_valid", b.head != nil)
	if b.head != nil {
		b.show("ent_", b.head.ent)
	} else {
		b.show("ent_", b.next().ent)
	}
	if b.here != nil && b.here.asked >= 2 {
		b.show("map_", b.here.at)
	} else {
		b.show("map_", b.random("map_"))
	}
	live := rng.Uint64()
	if rng.IntN(8) > 0 {
		live = 3
	}
	b.Set("grp_live", live&3)
	lives := func(f *visitor) bool { return live>>(f.ent["ei"]>>b.p.EPW)&1 != 0 }

	by := b.here == nil && b.ahead == nil && b.went == nil && b.head != nil && !b.head.ranged()
	if b.p.InBand == 0 {
		by = b.head != nil
	}
	out := b.here
	if by {
		out = b.head
	}
	valid := by || b.here != nil && b.here.offered()
	ready := rng.IntN(3) > 0
	goes := valid && ready
	b.SetBool("ready", ready)
	// the control that went in the cycle before opens a range: of others nobody asks
	b.SetBool("opens", b.went != nil && b.went.opener() || b.went == nil && rng.IntN(2) == 0)
	// the one that went ahead, and may open its range
	decides := b.ahead != nil && !b.again && b.wait == 0
	opens := decides && !b.ahead.opened && rng.IntN(2) == 0
	b.SetBool("opener", decides)
	b.SetBool("opening", opens)
	b.SetBool("done", decides && !opens || b.ahead == nil && rng.IntN(3) == 0)
	b.SetBool("ctl_busy", b.busy > 0)
	b.Clock()

	require.Equal(t, valid, b.Is("valid"))
	if valid {
		b.compare(out, by, lives(out))
	}
	// M takes the next one when it is empty or becomes so, behind a control a cycle later
	free := b.here == nil && b.ahead == nil && (b.went == nil || !b.went.opener())
	empties := free || b.here != nil && goes && !b.here.control()
	takes := b.head != nil && empties
	if b.p.InBand == 0 {
		takes = goes
	}
	require.Equal(t, takes, b.Is("ent_pop"))
	may := free || b.here != nil && b.here.offered() && !b.here.control()
	asks := b.p.InBand != 0 && b.head != nil && may || b.again && b.busy == 0
	require.Equal(t, asks, b.Is("ctl_rd"))
	require.Equal(t, b.here != nil && b.here.ranged() && b.here.asked == 1, b.Is("ctl_map"))
	if b.p.InBand != 0 {
		require.Equal(t, b.here != nil || b.ahead != nil || b.went != nil, b.Is("waits"))
	}
	if asks && b.again {
		require.Equal(t, b.ahead.ent["ei"], b.Get("ctl_ei"))
	} else if asks {
		require.Equal(t, b.head.ent["ei"], b.Get("ctl_ei"))
	}
	b.follow(goes, by, takes, decides, opens, lives)
}

// compare is the frame offered with what is to be offered.
func (b *entryBench) compare(f *visitor, by, lives bool) {
	t := b.t
	word := func(name string) *big.Int {
		bytes := slices.Clone(b.Bytes(name))
		slices.Reverse(bytes)
		return new(big.Int).SetBytes(bytes)
	}
	require.Zero(t, f.frame(b.p).Cmp(word("frame")), "frame")
	got, want := word("view"), f.view(b.p)
	if !f.ranged() {
		got.AndNot(got, idleBits(b.p))
		want.AndNot(want, idleBits(b.p))
	}
	require.Zero(t, want.Cmp(got), "view: want %x, have %x", want, got)
	live := f.live
	if by {
		live = lives
		b.met["by"]++
	} else if !f.ranged() {
		b.met["held up"]++
	} else {
		b.met["in-band"]++
	}
	if f.ent["bypass"] != 0 {
		b.met["bypassed"]++
	}
	require.Equal(t, live, b.Is("live"))
	if !live {
		b.met["dead"]++
	}
	require.Equal(t, f.ent["ei"], b.Get("ei"))
	require.Equal(t, f.ent["opcode"], b.Get("opcode"))
	require.Equal(t, f.ent["ext"], b.Get("ext"))
	require.Equal(t, f.ent["base"], b.Get("base"))
	require.Equal(t, f.ent["log2_n"], b.Get("log2_n"))
	require.Equal(t, f.ranged(), b.Is("ranged"))
	root := f.ent["collective"] != 1 && f.ent["collective"] != 2 && f.ent["parent_mask"] == 0
	parent := f.ent["parent_mask"]>>(f.ent["ei"]&(1<<b.p.EPW-1))&1 != 0
	if f.ranged() {
		root, parent = f.at["root"] != 0, f.at["parent"] != 0
	}
	require.Equal(t, root, b.Is("root"))
	require.Equal(t, parent, b.Is("from_parent"))
	b.tally("root", root)
	b.tally("from the parent", parent)
}

// tally counts what was met.
func (b *entryBench) tally(name string, met bool) {
	if met {
		b.met[name]++
	}
}

// follow is what the cycle leaves behind.
func (b *entryBench) follow(goes, by, takes, decides, opens bool, lives func(*visitor) bool) {
	for _, f := range []*visitor{b.here, b.went, b.ahead} {
		if f != nil {
			f.asked++
			f.live = f.live && lives(f)
		}
	}
	if b.busy > 0 {
		b.busy--
	} else if b.again {
		b.again, b.here, b.ahead = false, b.ahead, nil
		b.here.asked, b.here.opened = 1, true
		b.here.at = b.next().at
		b.here.at["current"], b.here.at["opens"] = 1, 0
		return
	}
	if b.went != nil && b.went.opener() {
		b.ahead, b.wait = b.went, b.rng.IntN(6)
	} else if b.ahead != nil && b.wait > 0 {
		b.wait--
	}
	if b.went != nil && !b.went.opener() && takes {
		b.met["behind a control"]++
	}
	b.went = nil
	if goes && b.here != nil {
		if b.here.control() {
			b.went = b.here
		}
		b.here = nil
	}
	if decides && opens {
		b.again, b.busy = true, 1+b.rng.IntN(4)
		b.met["opened"]++
	} else if decides {
		b.ahead = nil
		b.met["not opened"]++
	}
	if takes {
		if !(by && goes) {
			b.here = b.head
			b.here.asked, b.here.live = 1, lives(b.here)
		}
		b.head = nil
	}
}
