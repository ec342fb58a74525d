// SPDX-License-Identifier: Apache-2.0

package decider_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/decider"
	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/hdltest/rig"
)

func TestDescription(t *testing.T) {
	t.Parallel()
	hdltest.Check(t, []graph.Describer{decider.FrameClass{}}, nil)
	hdltest.Check(t, []graph.Describer{decider.DropLadder{}}, nil)
	hdltest.Check(t, []graph.Describer{decider.Past{}}, nil)
	hdltest.Check(t, []graph.Describer{decider.HoldWork{Width: 1}, decider.HoldWork{Width: 60, Prompt: 1}},
		[]hdltest.Refused{{Leaf: decider.HoldWork{}, Params: []graph.Param{{Name: "WIDTH", Value: 0}}, Rule: "WIDTH must be at least 1"},
			{Leaf: decider.HoldWork{Width: 1, Prompt: 2}, Params: []graph.Param{{Name: "PROMPT", Value: 2}}, Rule: "PROMPT must be 0 or 1"}})
	hdltest.Check(t, []graph.Describer{decider.LookAhead{Bits: 1}, decider.LookAhead{Bits: 96}},
		[]hdltest.Refused{{Leaf: decider.LookAhead{}, Params: []graph.Param{{Name: "BITS", Value: 0}}, Rule: "BITS must be at least 1"}})
	entry := decider.FrameEntry{LenW: 7, WordsW: 4, Bytes: 8, EPW: 3, EIW: 4, MaskW: 5, SlotW: 5, Groups: 2}
	with := func(change func(*decider.FrameEntry)) decider.FrameEntry {
		p := entry
		change(&p)
		return p
	}
	groups, mask := "GROUPS must be 1 to 2**(EI_W - EP_W)", "MASK_W must be at most 2**EP_W"
	hdltest.Check(t, []graph.Describer{
		entry,
		with(func(p *decider.FrameEntry) { p.InBand = 1 }),
		decider.FrameEntry{LenW: 5, WordsW: 2, EPW: 1, EIW: 1, MaskW: 1, SlotW: 1, Groups: 1},
		decider.FrameEntry{LenW: 13, WordsW: 7, EPW: 5, EIW: 11, MaskW: 17, SlotW: 12, Groups: 64, InBand: 1},
		decider.FrameEntry{LenW: 9, WordsW: 1, EPW: 2, EIW: 4, MaskW: 3, SlotW: 22, Groups: 3, InBand: 1},
	}, []hdltest.Refused{
		{Leaf: with(func(p *decider.FrameEntry) { p.Groups = 3 }), Params: []graph.Param{{Name: "GROUPS", Value: 3}}, Rule: groups},
		{Leaf: with(func(p *decider.FrameEntry) { p.MaskW = 9 }), Params: []graph.Param{{Name: "MASK_W", Value: 9}}, Rule: mask},
		{Leaf: with(func(p *decider.FrameEntry) { p.InBand = 2 }), Params: []graph.Param{{Name: "IN_BAND", Value: 2}}, Rule: "IN_BAND must be 0 or 1"},
	})
}

// shapes are decisions of different sizes.
func shapes() []decider.Decider {
	return []decider.Decider{
		{LenW: 7, WordsW: 4, Bytes: 8, EPW: 3, EIW: 4, MaskW: 5, SlotW: 5, Planes: 1, Groups: 2, PktW: 6, ICRC: 1},
		{LenW: 7, WordsW: 4, Bytes: 8, EPW: 3, EIW: 4, MaskW: 5, SlotW: 5, Planes: 1, Groups: 2, PktW: 6, ICRC: 1, InBand: 1, Apart: 1},
		// one group, of one endpoint
		{LenW: 5, WordsW: 2, Bytes: 8, EPW: 1, EIW: 1, MaskW: 1, SlotW: 1, Planes: 1, Groups: 1, PktW: 5},
		{LenW: 9, WordsW: 6, Bytes: 8, EPW: 1, EIW: 1, MaskW: 2, SlotW: 2, Planes: 1, Tree: 1, Groups: 1, PktW: 8, ICRC: 1},
		{LenW: 9, WordsW: 5, Bytes: 16, EPW: 2, EIW: 4, MaskW: 4, SlotW: 8, Planes: 2, Tree: 1, Groups: 4, PktW: 7},
		{LenW: 13, WordsW: 7, Bytes: 64, EPW: 5, EIW: 11, MaskW: 17, SlotW: 12, Planes: 8, Tree: 1, Groups: 64, PktW: 9, ICRC: 1, InBand: 1, Prompt: 1},
		// a word as long as the MTU
		{LenW: 9, WordsW: 1, Bytes: 256, EPW: 4, EIW: 5, MaskW: 9, SlotW: 23, Planes: 5, Tree: 1, Groups: 2, PktW: 5, ICRC: 1},
	}
}

func TestStepsDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for _, p := range shapes() {
		legal = append(legal, decider.FrameSteps(p))
	}
	with := func(change func(*decider.FrameSteps)) decider.FrameSteps {
		p := decider.FrameSteps(shapes()[0])
		change(&p)
		return p
	}
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(func(p *decider.FrameSteps) { p.Tree = 2 }), Params: []graph.Param{{Name: "TREE", Value: 2}}, Rule: "TREE must be 0 or 1"},
		{Leaf: with(func(p *decider.FrameSteps) { p.Apart = 2 }), Params: []graph.Param{{Name: "APART", Value: 2}}, Rule: "APART must be 0 or 1"},
		{Leaf: with(func(p *decider.FrameSteps) { p.Bytes = 12 }), Params: []graph.Param{{Name: "BYTES", Value: 12}},
			Rule: "BYTES must be a power of two of at most LEN_W bits"},
	})
}

func TestWorkDescription(t *testing.T) {
	t.Parallel()
	var legal []graph.Describer
	for _, p := range shapes() {
		legal = append(legal, decider.OfferWork(p))
	}
	with := func(tree, planes int) decider.OfferWork {
		p := decider.OfferWork(shapes()[0])
		p.Tree, p.Planes = tree, planes
		return p
	}
	params := func(tree, planes, pairW int) []graph.Param {
		return []graph.Param{{Name: "TREE", Value: tree}, {Name: "PLANES", Value: planes}, {Name: "PAIR_W", Value: pairW}}
	}
	rule := "PLANES must be 1 in place, pairs for all endpoints but the last in a tree, PAIR_W hold them"
	hdltest.Check(t, legal, []hdltest.Refused{
		{Leaf: with(0, 0), Params: params(0, 0, 1), Rule: rule},
		// in place there is one, in a tree of five endpoints two or three
		{Leaf: with(0, 2), Params: params(0, 2, 1), Rule: rule},
		{Leaf: with(1, 1), Params: params(1, 1, 1), Rule: rule},
		{Leaf: with(1, 4), Params: params(1, 4, 2), Rule: rule},
		// the description sees to PAIR_W; the Verilog says the same of one that does not fit
		{Leaf: with(0, 3), Params: params(1, 3, 1), Rule: rule},
	})
}

// TestLookAhead: frames one behind the other that write words or do not, are committed or not: each sees what those ahead of it have left.
func TestLookAhead(t *testing.T) {
	t.Parallel()
	type frame struct {
		address int
		writes  bool
		next    uint64
	}
	b := rig.New(t, rig.Lib(t, decider.LookAhead{Bits: 16}), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	var (
		memory      [3]uint64
		ram         uint64 // what the memory shows
		ahead, look *frame
		follows     bool
		met         = map[string]int{}
	)
	for range 20000 {
		decided := ahead != nil && rng.IntN(2) == 0
		good := decided && rng.IntN(3) > 0
		var next *frame
		goes := look != nil && (ahead == nil || decided) && rng.IntN(2) == 0
		takes := look != nil && ahead != nil && follows && ahead.writes
		redo := decided && !good && takes
		goes = goes && !redo
		if (look == nil || goes) && rng.IntN(3) > 0 {
			next = &frame{address: rng.IntN(len(memory)), writes: rng.IntN(3) > 0, next: rng.Uint64N(1 << 16)}
		}
		read, written := next != nil, false
		nextFollows := false
		if read {
			written = good && ahead.writes && ahead.address == next.address
			nextFollows = goes && look.address == next.address || !goes && ahead != nil && !decided && ahead.address == next.address
		}
		b.SetBool("read", read)
		b.SetBool("written", written)
		b.SetBool("follows", nextFollows)
		b.SetBool("redo", redo)
		b.Set("ram", ram)
		b.SetBool("writes", ahead != nil && ahead.writes)
		if ahead != nil {
			b.Set("next", ahead.next)
		}
		b.Clock()
		if look != nil && ahead != nil {
			require.Equal(t, takes, b.Is("takes"))
		}
		if look != nil {
			want := memory[look.address]
			if takes {
				want = ahead.next
				met["taken"]++
			}
			if ahead != nil || !follows { // of one that has left nothing more is shown
				require.Equal(t, want, b.Get("word"))
			}
		}
		if read {
			ram = memory[next.address]
		}
		if good && ahead.writes {
			memory[ahead.address] = ahead.next
		}
		if redo {
			met["not committed"]++
			follows = false
		}
		if written {
			met["written"]++
		}
		if decided {
			ahead = nil
		}
		if goes {
			ahead, look = look, nil
		}
		if read {
			look, follows = next, nextFollows
		}
	}
	for _, name := range []string{"taken", "not committed", "written"} {
		require.Greater(t, met[name], 100, name)
	}
}

// TestFrameClass: every opcode, and every syndrome, by the names that docs/engine.md section 3 gives them.
func TestFrameClass(t *testing.T) {
	t.Parallel()
	b := rig.New(t, rig.Lib(t, decider.FrameClass{}), 1)
	for v := range uint64(256) {
		b.Set("opcode", v)
		b.Set("syndrome", v)
		b.Clock()
		data := v <= 5
		require.Equal(t, data, b.Is("is_data"), v)
		require.Equal(t, v == 0x11, b.Is("is_ack"), v)
		require.Equal(t, v == 0x81, b.Is("is_cnp"), v)
		if data {
			require.Equal(t, v >= 2, b.Is("is_end"), "LAST or ONLY: %d", v)
			require.Equal(t, v == 3 || v == 5, b.Is("has_imm"), v)
		}
		require.Equal(t, v < 0x20, b.Is("syn_ack"), v)
		require.Equal(t, v >= 0x20 && v < 0x40, b.Is("syn_rnr"), v)
		require.Equal(t, v >= 0x60 && v < 0x64, b.Is("syn_nak"), v)
	}
}

// TestDropLadder: with everything that may be wrong wrong or not, the first reason of the order is told, and no other.
func TestDropLadder(t *testing.T) {
	t.Parallel()
	b := rig.New(t, rig.Lib(t, decider.DropLadder{}), 1)
	for set := range 128 {
		is := func(n int) bool { return set>>n&1 != 0 }
		for n, name := range []string{"decided", "foreign", "live", "rx_err", "sum_ok", "len_ok", "icrc_ok"} {
			b.SetBool(name, is(n))
		}
		b.Clock()
		want := ""
		for _, reason := range []struct {
			is   bool
			name string
		}{{!is(0), "none"}, {is(1), "drop_foreign"}, {!is(2), "drop_disabled"}, {is(3), "drop_rx_error"}, {!is(4), "drop_checksum"},
			{!is(5), "drop_length"}, {!is(6), "drop_icrc"}, {true, "passed"}} {
			if reason.is && want == "" {
				want = reason.name
			}
		}
		for _, name := range []string{"drop_foreign", "drop_disabled", "drop_rx_error", "drop_checksum", "drop_length", "drop_icrc", "passed"} {
			require.Equal(t, name == want, b.Is(name), "%07b: %s", set, name)
		}
	}
}

// TestPast: numbers anywhere, or near where they wrap and where the sign of the difference turns.
func TestPast(t *testing.T) {
	t.Parallel()
	const mask = 1<<24 - 1
	b := rig.New(t, rig.Lib(t, decider.Past{}), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	met := map[bool]int{}
	for n := range 20000 {
		number, from, places := rng.Uint64N(1<<24), rng.Uint64N(1<<24), rng.Uint64N(1<<24)
		if n%2 == 0 {
			places = rng.Uint64N(1 << rng.UintN(13))
			from = (number - places + rng.Uint64N(5) - 2 + rng.Uint64N(2)<<23) & mask
		}
		b.Set("number", number)
		b.Set("from", from)
		b.Set("places", places)
		b.Clock()
		want := (number - from - places) & mask
		require.Equal(t, want, b.Get("past"), "%06x less %06x and %06x", number, from, places)
		met[want>>23 != 0]++
	}
	require.Greater(t, min(met[false], met[true]), 5000)
}

// TestHoldWork: random works, verdicts and a taker that pauses: each is taken once, or killed, with its verdict told at the
// right time.
func TestHoldWork(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]decider.HoldWork{"held for a cycle": {Width: 16}, "prompt": {Width: 16, Prompt: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holdWork(t, p)
		})
	}
}

func holdWork(t *testing.T, p decider.HoldWork) {
	t.Helper()
	b := rig.New(t, rig.Lib(t, p), 1)
	rng := rand.New(rand.NewPCG(1, 1))
	var (
		held, spec, open bool // one is held; it is speculative; a speculative one waits for its verdict
		data             uint64
		met              = map[string]int{}
	)
	for range 20000 {
		put := !held && !open && rng.IntN(2) == 0
		verdict := open && rng.IntN(3) == 0
		good := rng.IntN(2) == 0
		ready := rng.IntN(2) == 0
		next := rng.Uint64N(1 << 16)
		b.SetBool("put", put)
		b.Set("put_data", next)
		b.SetBool("commits", verdict && good)
		b.SetBool("kills", verdict && !good)
		b.SetBool("op_ready", ready)
		b.Clock()

		require.Equal(t, held, b.Is("held"))
		dies := verdict && !good && held
		passes := p.Prompt != 0 && put && ready
		require.Equal(t, passes || (held && ready && !dies), b.Is("op_valid"))
		switch {
		case passes:
			require.Equal(t, next, b.Get("op_data"))
			require.True(t, b.Is("op_spec"))
			met["passed"]++
		case b.Is("op_valid"):
			require.Equal(t, data, b.Get("op_data"))
			require.Equal(t, spec && !verdict, b.Is("op_spec"))
			met["taken"]++
		}
		require.Equal(t, verdict && good && !held, b.Is("op_commit"))
		require.Equal(t, verdict && !good && !held, b.Is("op_kill"))
		if verdict {
			met[map[bool]string{true: "committed", false: "killed"}[good]+map[bool]string{true: " here", false: " there"}[held]]++
			open, spec = false, false
		}
		held = held && !ready && !dies
		if put {
			held, spec, open, data = !passes, true, true, next
		}
	}
	for _, name := range []string{"taken", "committed here", "committed there", "killed here", "killed there"} {
		require.Greater(t, met[name], 100, name)
	}
}
