// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/control"
	"incforge/hdl/hdltest/rig"
	"incforge/sim"
)

func several() control.Control {
	return control.Control{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, DTypes: 0b1101, Ops: 0b101}
}

func single() control.Control {
	return control.Control{EPW: 2, EIW: 2, MaskW: 4, Groups: 1, DTypes: 0b1001, Ops: 0b111}
}

// onePort has memories of one port.
func onePort(p control.Control) control.Control {
	p.OnePort = 1
	return p
}

// offset is a word for TranslateHeader.
type offset struct{ EI, RNG, In, Out uint64 }

// cycle is what the ports show in one, besides map_*.
type cycle struct {
	Busy, Take bool
	Offset     *offset
}

// bench holds the module against the model, cycle by cycle.
type bench struct {
	*rig.Rig
	p       control.Control
	a       arith
	rng     *rand.Rand
	groups  []*group
	live    []bool
	latency int // from ctl_rd to map_*; 2

	cur    *frame
	shown  *mapped // on the ports, once there is one
	coming *mapped // from the last ctl_rd
	age    int     // cycles since that
	// cycles since ctl_open, if opening; the range it opens and that one's number
	openAge int
	opening *interval
	number  int
	waited  bool // with one port: a start had to wait in the cycle before
	// the group that starts, or -1, and the endpoint offered next
	starting, offered int
	log               []offset
	met               map[string]int
}

func newBench(t *testing.T, lib *sim.Lib, p control.Control, seed uint64) *bench {
	t.Helper()
	b := &bench{Rig: rig.New(t, lib, seed), p: p, a: arith{uint64(p.DTypes), uint64(p.Ops)}, rng: rand.New(rand.NewPCG(seed, 1)), latency: 2, starting: -1,
		live: make([]bool, p.Groups), met: map[string]int{"a start waits": 0}}
	for range p.Groups {
		b.groups = append(b.groups, &group{parent: -1})
	}
	return b
}

func (b *bench) endpoints() int { return 1 << b.p.EPW }

// walked is how many numbers an opening goes through; told, whose offsets it tells in that cycle, or -1; opens, when the range is there.
func (b *bench) walked() int {
	if b.p.OnePort != 0 {
		return b.p.MaskW
	}
	return b.endpoints()
}

func (b *bench) told(age int) int {
	switch {
	case b.p.OnePort == 0 && age >= 3:
		return age - 3
	case b.p.OnePort != 0 && age >= 4 && age%2 == 0:
		return age/2 - 2
	}
	return -1
}

func (b *bench) opens() int {
	if b.p.OnePort != 0 {
		return 2*b.p.MaskW + 3
	}
	return b.endpoints() + 3
}

// drive shows the frame's context, or nonsense where there is none.
func (b *bench) drive() {
	for _, name := range []string{"ei", "psn", "opcode", "empty", "ext", "in_mask", "out_mask", "ack_mask", "parent_mask", "route_valid", "route_mask",
		"root_sends"} {
		b.Set("ent_"+name, b.rng.Uint64()&(1<<b.Pin("ent_"+name).Width()-1))
	}
	f := b.cur
	if f == nil {
		return
	}
	g := b.groups[f.group]
	b.Set("ent_ei", uint64(f.group<<b.p.EPW|f.ep))
	b.Set("ent_psn", f.psn)
	b.Set("ent_opcode", f.opcode)
	b.SetBool("ent_empty", f.empty)
	b.Set("ent_ext", f.ext)
	b.Set("ent_in_mask", g.in)
	b.Set("ent_out_mask", g.out)
	b.Set("ent_ack_mask", g.ack)
	b.Set("ent_parent_mask", one(g.parent))
	b.SetBool("ent_root_sends", g.rootSends)
	r := g.routes[parse(f.ext).root]
	b.SetBool("ent_route_valid", r.valid)
	b.Set("ent_route_mask", one(r.ep))
}

// seen is what map_* show, without what has no meaning where that is wanted.
func (b *bench) seen(want *mapped) mapped {
	m := mapped{
		first: want.first, last: want.last, noRange: want.noRange, data: want.data, absent: want.absent,
		Current: b.Is("map_current"), Previous: b.Is("map_previous"), Opens: b.Is("map_opens"), OpensUp: b.Is("map_opens_up"),
		BadControl: b.Is("map_bad_control"), WrongRole: b.Is("map_wrong_role"), Contradicts: b.Is("map_contradicts"),
	}
	if want.data {
		m.Base = b.Get("map_base")
	}
	if !want.Current && !want.Previous {
		m.Begin = b.Get("map_begin")
		return m
	}
	m.PSN, m.RNG = b.Get("map_psn"), b.Get("map_rng")
	m.Collective, m.Function, m.DType = collective(b.Rig), b.Get("map_function"), b.Get("map_dtype")
	m.Up, m.Down, m.Ackable, m.NeedsHost = b.Is("map_up"), b.Is("map_down"), b.Is("map_ackable_any"), b.Is("map_needs_host")
	m.Root, m.FromParent = b.Is("map_root"), b.Is("map_parent")
	m.In, m.Out, m.Ack, m.Parent = b.Get("map_in_mask"), b.Get("map_out_mask"), b.Get("map_ack_mask"), b.Get("map_parent_mask")
	if !want.noRange {
		m.Begin, m.End = b.Get("map_begin"), b.Get("map_end")
	}
	return m
}

// collective is the one that map_* say; more than one is none that there is.
func collective(r *rig.Rig) uint64 {
	for c, says := range map[uint64][3]bool{allReduce: {}, reduce: {true}, broadcast: {false, true}, barrier: {false, false, true}} {
		if says == [3]bool{r.Is("map_reduces"), r.Is("map_spreads"), r.Is("map_barrier")} {
			return c
		}
	}
	return barrier + 1
}

// step passes a cycle and checks every output.
func (b *bench) step(rd, open bool) error {
	if rd && b.waited { // the start has its turn
		if err := b.step(false, false); err != nil {
			return err
		}
	}
	now := b.Now() + 1
	b.drive()
	b.SetBool("ctl_rd", rd)
	b.Set("ctl_ei", b.rng.Uint64N(1<<b.p.EIW)) // counts with ctl_rd alone
	b.SetBool("ctl_map", b.coming != nil && b.age == 1)
	looks := rd
	if !rd && !open && !b.waited && b.opening == nil && b.age > 1 && b.coming != nil && !b.coming.Opens && b.rng.IntN(4) == 0 { // a look without consequences
		b.SetBool("ctl_rd", true)
		b.met["looked without ctl_map"]++
		looks = true
	}
	if rd {
		b.Set("ctl_ei", uint64(b.cur.group<<b.p.EPW|b.cur.ep))
	}
	b.SetBool("ctl_open", open)
	if rd {
		m := b.a.place(b.groups[b.cur.group], b.cur, b.endpoints())
		m.absent = b.cur.ep >= b.p.MaskW
		b.coming, b.age = &m, 0
	}
	if open {
		g := b.groups[b.cur.group]
		b.opening, b.openAge, b.number = g.open(b.cur.ext, b.endpoints()), 0, len(g.ranges)-1
	}
	offer := b.starting >= 0 && b.rng.IntN(3) > 0
	b.SetBool("init_valid", offer)
	initEI, start := b.rng.Uint64()&(1<<b.p.EIW-1), b.rng.Uint64()&mask24
	if offer {
		initEI, start = uint64(b.starting<<b.p.EPW|b.offered), b.groups[b.starting].start
	}
	b.Set("init_ei", initEI)
	b.Set("init_psn", start)
	b.Clock()

	busy := b.opening != nil && b.openAge > 0
	want := cycle{Busy: busy || b.waited, Take: offer && !busy && (b.p.OnePort == 0 || !looks)}
	b.waited = b.p.OnePort != 0 && offer && !want.Take
	switch ep := b.told(b.openAge); {
	case busy && ep >= 0:
		want.Offset = &offset{uint64(b.cur.group<<b.p.EPW | ep), uint64(b.number & 3), b.opening.in[ep], b.opening.out[ep]}
		if ep >= b.p.MaskW { // no endpoint's
			want.Offset.In, want.Offset.Out = 0, 0
		}
	case want.Take:
		want.Offset = &offset{EI: initEI}
	}
	got := cycle{Busy: b.Is("ctl_busy"), Take: b.Is("init_take")}
	if b.Is("off_we") {
		got.Offset = &offset{b.Get("off_ei"), b.Get("off_rng"), b.Get("off_in"), b.Get("off_out")}
		if int(got.Offset.EI)&(b.endpoints()-1) >= b.p.MaskW {
			got.Offset.In, got.Offset.Out = 0, 0
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		return fmt.Errorf("cycle %d, %d after ctl_open (-want +got):\n%s", now, b.openAge, d)
	}
	if b.age == b.latency {
		b.shown = b.coming
	}
	if b.shown != nil && !b.shown.absent {
		if d := cmp.Diff(*b.shown, b.seen(b.shown), cmp.AllowUnexported(mapped{})); d != "" {
			return fmt.Errorf("cycle %d, %d after ctl_rd of %+v (-want +got):\n%s", now, b.age, b.cur, d)
		}
	}

	if offer && !want.Take {
		b.met["a start waits"]++
	}
	if want.Offset != nil {
		b.log = append(b.log, *got.Offset)
	}
	if want.Take {
		b.offered++
		if b.offered == b.endpoints() {
			b.live[b.starting], b.starting = true, -1
		}
	}
	b.age++
	if b.opening != nil {
		b.openAge++
		if b.openAge == b.opens() {
			b.opening = nil
		}
	}
	return nil
}

// start has a group start with random registers.
func (b *bench) start(g int) {
	r, members := b.rng, b.p.MaskW
	all := uint64(1)<<members - 1
	n := &group{in: r.Uint64() & all, out: r.Uint64() & all, ack: r.Uint64() & all, parent: r.IntN(members+1) - 1, rootSends: r.IntN(2) == 0}
	if r.IntN(2) == 0 { // a star, or an inner node
		n.in = all &^ one(n.parent)
		n.out, n.ack = n.in, n.in
	}
	for i := range n.routes {
		n.routes[i] = route{r.IntN(8) > 0, r.IntN(members)}
	}
	n.start = []uint64{r.Uint64() & mask24, mask24 - r.Uint64N(20), 0, 1<<23 - r.Uint64N(10)}[r.IntN(4)]
	b.groups[g], b.live[g], b.starting, b.offered = n, false, g, 0
}

// command draws what a control may say; mostly legal.
func (b *bench) command() command {
	r := b.rng
	c := command{r.Uint64N(4), r.Uint64N(4), r.Uint64N(4), r.Uint64N(32), []uint64{0, 1, 2, 3, r.Uint64N(50), 1<<20 - 1, r.Uint64N(1 << 20)}[r.IntN(7)]}
	if r.IntN(20) == 0 {
		c.collective = 4 + r.Uint64N(4)
	}
	if r.IntN(4) > 0 {
		for b.a.ops>>c.op&1 == 0 {
			c.op = r.Uint64N(4)
		}
		for b.a.dtypes>>c.dtype&1 == 0 {
			c.dtype = r.Uint64N(4)
		}
	}
	return c
}

// frame draws one near the edges of the last ranges of a live group.
func (b *bench) frame() *frame {
	r := b.rng
	f := &frame{ep: r.IntN(b.p.MaskW), opcode: 5, empty: true}
	for f.group = r.IntN(b.p.Groups); !b.live[f.group]; f.group = r.IntN(b.p.Groups) {
	}
	if r.IntN(20) == 0 {
		f.ep = r.IntN(b.endpoints())
	}
	g := b.groups[f.group]
	switch roll := r.IntN(100); {
	case roll < 25:
		f.opcode, f.empty = r.Uint64N(6), r.IntN(3) == 0
	case roll < 45:
		f.opcode, f.empty = 0x11, true
	case roll < 50:
		f.opcode, f.empty = 0x81, true
	case roll < 52:
		f.opcode = []uint64{0x06, 0x10, 0x12, 0x25, 0x80, 0xFF}[r.IntN(6)]
	}
	f.ext = b.command().immediate()
	next := g.next(b.endpoints())
	back := r.IntN(4)
	if n := len(g.ranges); back == 0 || back > n {
		f.psn = next.first + next.in[f.ep]
		if r.IntN(8) == 0 {
			f.psn += r.Uint64N(5) - 2
		}
	} else { // in or about the last range, the one before, or the one before that
		k := g.ranges[n-back]
		f.psn = k.first + []uint64{0, 0, 1, k.packets, k.packets - 1, k.packets + 1, mask24, r.Uint64N(k.packets + 1)}[r.IntN(8)] + k.in[f.ep]
		if f.opcode == 0x11 {
			f.psn += k.out[f.ep] - k.in[f.ep]
		}
		if r.IntN(3) > 0 {
			f.ext = k.immediate()
			if r.IntN(8) == 0 {
				f.ext ^= 1 << r.IntN(32)
			}
		}
	}
	if r.IntN(50) == 0 {
		f.psn = r.Uint64()
	}
	f.psn &= mask24
	return f
}

// meet counts what came, so that the test can see that all did.
func (b *bench) meet(f *frame, m *mapped) {
	g := b.groups[f.group]
	c := parse(f.ext)
	outside := !m.Current && !m.Previous
	for name, is := range map[string]bool{
		"data, current":                 f.data() && m.Current,
		"data, previous":                f.data() && m.Previous,
		"data outside":                  f.data() && outside,
		"ACK, current":                  f.opcode == 0x11 && m.Current,
		"ACK, previous":                 f.opcode == 0x11 && m.Previous,
		"ACK outside":                   f.opcode == 0x11 && outside,
		"CNP":                           f.opcode == 0x81 && !m.noRange,
		"CNP before the first range":    m.noRange,
		"another opcode":                f.opcode != 0x11 && f.opcode != 0x81 && !f.data(),
		"no endpoint":                   f.ep >= b.p.MaskW,
		"opens, up":                     m.OpensUp,
		"opens, not up":                 m.Opens && !m.OpensUp,
		"opens the first":               m.Opens && len(g.ranges) == 0,
		"opens, having been silent":     m.Opens && len(g.ranges) > 0 && !g.sends(g.ranges[len(g.ranges)-1].command, f.ep),
		"opens AllReduce":               m.Opens && c.collective == allReduce,
		"opens Reduce":                  m.Opens && c.collective == reduce,
		"opens Broadcast":               m.Opens && c.collective == broadcast,
		"opens Barrier":                 m.Opens && c.collective == barrier,
		"opens, root sends":             m.OpensUp && c.collective == reduce && g.routes[c.root].ep == f.ep,
		"wrong role":                    m.WrongRole,
		"no such collective":            m.BadControl && c.collective > barrier,
		"no such operation":             m.BadControl && c.collective <= barrier && b.a.ops>>c.op&1 == 0,
		"no such type":                  m.BadControl && c.collective <= barrier && b.a.ops>>c.op&1 != 0 && b.a.dtypes>>c.dtype&1 == 0,
		"no route":                      m.BadControl && !g.routes[c.root].valid,
		"Broadcast of nothing":          m.BadControl && c.collective == broadcast && c.packets == 0,
		"contradicts, another control":  m.Contradicts && m.first && f.control(),
		"contradicts, data first":       m.Contradicts && m.first && !f.control(),
		"contradicts, control inside":   m.Contradicts && !m.first,
		"control again":                 f.control() && m.first && !m.Contradicts,
		"first and last":                m.first && m.last,
		"last":                          !m.first && m.last,
		"across the wrap":               !outside && !m.noRange && m.Begin > m.End,
		"wire and group PSN differ":     !outside && f.psn != m.PSN,
		"down in AllReduce":             m.Down && m.Collective == allReduce,
		"down in Broadcast":             m.Down && m.Collective == broadcast,
		"up in Reduce":                  m.Up && m.Collective == reduce,
		"parent neither up nor down":    !outside && m.Parent&one(f.ep) != 0 && !m.Up && !m.Down,
		"child and parent is up":        m.Up && m.Parent&one(f.ep) != 0,
		"ackable in Reduce":             m.Ackable && m.Collective == reduce,
		"control one beside the base":   f.control() && outside && !m.Opens && !m.BadControl && !m.WrongRole && (m.Base-f.psn+1)&mask24 < 3,
		"range number after wrapping 4": m.Current && len(g.ranges) > 5,
	} {
		b.met[name] += map[bool]int{true: 1}[is]
	}
}

// begin starts all groups, one after the other.
func (b *bench) begin() error {
	for g := range b.p.Groups {
		b.start(g)
		if err := b.settle(); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for the start under way.
func (b *bench) settle() error {
	for b.starting >= 0 {
		if err := b.step(false, false); err != nil {
			return err
		}
	}
	return nil
}

// look reads for a frame and waits until the answer is there.
func (b *bench) look(f *frame) error {
	b.cur = f
	for _, rd := range []bool{true, false, false} {
		if err := b.step(rd, false); err != nil {
			return err
		}
	}
	return nil
}

// open opens the range of the frame that was looked at, and looks at it again.
func (b *bench) open() error {
	if err := b.step(false, true); err != nil {
		return err
	}
	for b.opening != nil {
		if err := b.step(false, false); err != nil {
			return err
		}
	}
	return b.look(b.cur)
}

// run decides that many frames, opens most of the ranges that may be, and starts groups meanwhile.
func (b *bench) run(frames int) error {
	if err := b.begin(); err != nil {
		return err
	}
	idle := func(most int) error {
		for range b.rng.IntN(most + 1) {
			if err := b.step(false, false); err != nil {
				return err
			}
		}
		return nil
	}
	for range frames {
		if !slices.Contains(b.live, true) {
			if err := b.settle(); err != nil {
				return err
			}
		}
		if err := b.look(b.frame()); err != nil {
			return err
		}
		b.meet(b.cur, b.shown)
		if b.rng.IntN(4) == 0 {
			if err := idle(4); err != nil {
				return err
			}
		}
		if b.shown.Opens && b.rng.IntN(4) > 0 {
			if err := b.open(); err != nil {
				return err
			}
			if !b.shown.Current || !b.shown.first || b.shown.Contradicts {
				return fmt.Errorf("the control of the range that it opened is %+v", *b.shown)
			}
		}
		if b.starting < 0 && b.rng.IntN(60) == 0 {
			b.start(b.rng.IntN(b.p.Groups))
		}
		b.cur = nil
		if b.rng.IntN(4) == 0 {
			if err := idle(4); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestAgainstModel: frames at and about the edges of the last ranges of all groups, with every kind of control, against section 3.3 of
// docs/engine.md; all outputs in every cycle; groups start while others work.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]control.Control{"several": several(), "single": single(), "one port": onePort(several()), "one port, single": onePort(single())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			met := map[string]int{}
			for seed := range uint64(4) {
				b := newBench(t, lib, p, seed)
				require.NoError(t, b.run(6000))
				for k, n := range b.met {
					met[k] += n
				}
			}
			for k, n := range met {
				if p.Groups == 1 && p.OnePort == 0 && k == "a start waits" || p.MaskW == 1<<p.EPW && k == "no endpoint" {
					require.Zero(t, n, k)
					continue
				}
				require.Greater(t, n, 10, k)
			}
			b := newBench(t, lib, p, 0)
			b.latency = 1
			require.ErrorContains(t, b.run(10), "1 after ctl_rd", "a latency too short must be found")
		})
	}
}

// TestSequence: the offsets of an AllReduce, a Broadcast, an AllReduce, a Reduce and a Barrier among three hosts, written out.
func TestSequence(t *testing.T) {
	t.Parallel()
	for _, p := range []control.Control{several(), onePort(several())} {
		sequence(t, p)
	}
}

func sequence(t *testing.T, p control.Control) {
	t.Helper()
	b := newBench(t, rig.Lib(t, p), p, 1)
	require.NoError(t, b.begin())
	b.groups[1] = &group{in: 7, out: 7, ack: 7, parent: -1, start: 100, routes: [32]route{{true, 0}, {true, 1}, {true, 2}}}
	b.live[1], b.starting, b.offered = false, 1, 0
	require.NoError(t, b.settle())
	look := func(opcode uint64, ep int, psn uint64, c command) mapped {
		require.NoError(t, b.look(&frame{group: 1, ep: ep, psn: psn & mask24, opcode: opcode, ext: c.immediate(), empty: true}))
		return *b.shown
	}
	int32s := func(collective, root, packets uint64) command { return command{collective, 2, 3, root, packets} }
	minus := func(n uint64) uint64 { return -n & mask24 }
	for k, c := range []struct {
		says        command
		from        int
		wire, first uint64
		in, out     [3]uint64
	}{
		{int32s(allReduce, 0, 9), 0, 100, 100, [3]uint64{}, [3]uint64{}},
		{int32s(broadcast, 1, 6), 1, 110, 110, [3]uint64{}, [3]uint64{}},
		{int32s(allReduce, 0, 3), 2, 110, 117, [3]uint64{minus(7), 0, minus(7)}, [3]uint64{0, minus(7), 0}},
		{int32s(reduce, 2, 1), 0, 114, 121, [3]uint64{minus(7), 0, minus(7)}, [3]uint64{0, minus(7), 0}},
		{int32s(barrier, 0, 0), 2, 114, 123, [3]uint64{minus(7), 0, minus(9)}, [3]uint64{minus(2), minus(9), 0}},
	} {
		require.True(t, look(5, c.from, c.wire, c.says).Opens, "range %d", k)
		require.NoError(t, b.open())
		require.Equal(t, c.first, b.shown.PSN)
		require.Equal(t, uint64(k&3), b.shown.RNG)
		for e := range 3 {
			require.Equal(t, offset{uint64(1<<p.EPW | e), uint64(k & 3), c.in[e], c.out[e]}, b.log[len(b.log)-b.walked()+e])
			if c.says.collective != broadcast && (c.says.collective != reduce || e != 2) { // the endpoint sends
				require.Equal(t, c.first, look(5, e, c.first+c.in[e], c.says).PSN, "endpoint %d", e)
			}
		}
	}
	require.Equal(t, uint64(123), look(0x11, 1, 114, command{}).PSN)
	m := look(0x11, 2, 122, command{})
	require.True(t, m.Previous)
	require.Equal(t, uint64(122), m.PSN)
	require.Equal(t, []uint64{117, 124, 115}, []uint64{look(0, 0, 0, command{}).Base, look(0, 1, 0, command{}).Base, look(0, 2, 0, command{}).Base})
	require.True(t, look(5, 0, 117, int32s(reduce, 0, 4)).WrongRole, "the root does not send")
	b.groups[1].rootSends = true
	require.True(t, look(5, 0, 117, int32s(reduce, 0, 4)).OpensUp)
}
