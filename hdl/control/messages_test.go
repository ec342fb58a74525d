// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"incforge/hdl/control"
	"incforge/hdl/hdltest/rig"
)

// messages has several groups in Mode I, whose ranges are of messages.
func messages() control.Control {
	p := several()
	p.Messages = 1
	return p
}

// messageBench holds the module of Mode I against the ranges that a group remembers.
type messageBench struct {
	*rig.Rig
	p      control.Control
	a      arith
	rng    *rand.Rand
	groups []*group
}

// shows is what the module is to show of a frame: the current range for all, and of a control what it asks for.
func (b *messageBench) shows(f *frame) mapped {
	g := b.groups[f.group]
	r, number := &interval{}, 0
	m := mapped{Current: true, Begin: (g.start - 1) & mask24, End: (g.start - 1) & mask24}
	there := len(g.ranges) > 0
	if there {
		number = len(g.ranges) - 1
		r = g.ranges[number]
		m.Begin, m.End = r.first, r.last()
	}
	if f.opcode == 0x11 {
		m.Current = there
	}
	masks := g.roles(r.command)
	bit := one(f.ep)
	m.RNG, m.Collective, m.Function, m.DType = uint64(number&3), r.collective, r.op, r.dtype
	m.In, m.Out, m.Ack, m.Parent = masks.in, masks.out, masks.ack, masks.parent
	m.Up, m.Ackable = masks.in&bit != 0, masks.ack&bit != 0
	m.Down = !m.Up && masks.parent&bit != 0 && r.collective != reduce
	m.NeedsHost = r.collective == allReduce || r.collective == barrier
	m.Root, m.FromParent = m.NeedsHost && masks.parent == 0, masks.parent&bit != 0
	if !f.control() {
		return m
	}
	c := parse(f.ext)
	m.Current, m.Contradicts = false, !there && f.ext != 0 || there && f.ext != r.immediate()
	m.BadControl = !b.a.legal(g, c)
	m.Opens = !m.BadControl && g.sends(c, f.ep)
	m.WrongRole = !m.BadControl && !m.Opens
	return m
}

// drive shows a frame's context.
func (b *messageBench) drive(f *frame) {
	g := b.groups[f.group]
	r := g.routes[parse(f.ext).root]
	for name, v := range map[string]uint64{"ei": uint64(f.group<<b.p.EPW | f.ep), "opcode": f.opcode, "ext": f.ext, "in_mask": g.in, "out_mask": g.out, "ack_mask": g.ack,
		"parent_mask": one(g.parent), "route_mask": one(r.ep)} {
		b.Set("ent_"+name, v)
	}
	b.SetBool("ent_empty", f.empty)
	b.SetBool("ent_root_sends", g.rootSends)
	b.SetBool("ent_route_valid", r.valid)
}

// look asks for a frame, and gives what is shown from the second cycle behind that on.
func (b *messageBench) look(f *frame) mapped {
	b.SetBool("ctl_rd", true)
	b.Set("ctl_ei", uint64(f.group<<b.p.EPW|f.ep))
	b.Clock()
	b.SetBool("ctl_rd", false)
	b.drive(f)
	b.SetBool("ctl_map", true)
	b.Clock()
	b.SetBool("ctl_map", false)
	b.Clock()
	return mapped{Current: b.Is("map_current"), Opens: b.Is("map_opens"), BadControl: b.Is("map_bad_control"), WrongRole: b.Is("map_wrong_role"),
		Contradicts: b.Is("map_contradicts"), RNG: b.Get("map_rng"), Collective: collective(b.Rig), Function: b.Get("map_function"), DType: b.Get("map_dtype"),
		Begin: b.Get("map_begin"), End: b.Get("map_end"), Up: b.Is("map_up"), Down: b.Is("map_down"), Ackable: b.Is("map_ackable_any"), NeedsHost: b.Is("map_needs_host"),
		Root: b.Is("map_root"), FromParent: b.Is("map_parent"),
		In: b.Get("map_in_mask"), Out: b.Get("map_out_mask"), Ack: b.Get("map_ack_mask"), Parent: b.Get("map_parent_mask")}
}

// start has a group start with random registers.
func (b *messageBench) start(g int) {
	r, members := b.rng, b.p.MaskW
	all := uint64(1)<<members - 1
	n := &group{in: r.Uint64() & all, out: r.Uint64() & all, ack: r.Uint64() & all, parent: r.IntN(members+1) - 1, rootSends: r.IntN(2) == 0}
	for i := range n.routes {
		n.routes[i] = route{r.IntN(8) > 0, r.IntN(members)}
	}
	n.start = []uint64{r.Uint64() & mask24, mask24 - r.Uint64N(20), 0}[r.IntN(3)]
	b.groups[g] = n
	b.SetBool("init_valid", true)
	b.Set("init_psn", n.start)
	for e := range 1 << b.p.EPW {
		b.Set("init_ei", uint64(g<<b.p.EPW|e))
		for b.Clock(); !b.Is("init_take"); b.Clock() {
		}
	}
	b.SetBool("init_valid", false)
}

// frame draws one of a group, mostly with what its range, or a legal control, says.
func (b *messageBench) frame() *frame {
	r := b.rng
	f := &frame{group: r.IntN(b.p.Groups), ep: r.IntN(b.p.MaskW), opcode: 5, empty: true}
	switch roll := r.IntN(20); {
	case roll < 4:
		f.opcode, f.empty = r.Uint64N(6), r.IntN(3) == 0
	case roll < 6:
		f.opcode = 0x11
	case roll < 7:
		f.opcode = 0x81
	}
	f.ext = command{r.Uint64N(5), r.Uint64N(4), r.Uint64N(4), r.Uint64N(32), []uint64{0, 1, r.Uint64N(50), 1<<20 - 1}[r.IntN(4)]}.immediate()
	if g := b.groups[f.group]; len(g.ranges) > 0 && r.IntN(4) == 0 {
		f.ext = g.ranges[len(g.ranges)-1].immediate()
	}
	return f
}

// TestMessages: frames of every kind of groups that go from range to range, or start: all see the current range, controls are legal or not for who sends
// them, and the range that one opens is there from the second cycle on.
func TestMessages(t *testing.T) {
	t.Parallel()
	p := messages()
	b := &messageBench{Rig: rig.New(t, rig.Lib(t, p), 3), p: p, a: arith{uint64(p.DTypes), uint64(p.Ops)}, rng: rand.New(rand.NewPCG(3, 1)), groups: make([]*group, p.Groups)}
	for g := range b.groups {
		b.start(g)
	}
	met := map[string]int{}
	same := func(f *frame) mapped {
		want := b.shows(f)
		require.Empty(t, cmp.Diff(want, b.look(f), cmpopts.IgnoreUnexported(mapped{})), "%+v", f)
		return want
	}
	for range 3000 {
		f := b.frame()
		g := b.groups[f.group]
		m := same(f)
		for name, is := range map[string]bool{"opens": m.Opens, "bad": m.BadControl, "wrong role": m.WrongRole, "its own": f.control() && !m.Contradicts,
			"ACK before the first": f.opcode == 0x11 && !m.Current, "data": f.data() && m.Current, "several ranges": len(g.ranges) > 5} {
			met[name] += map[bool]int{true: 1}[is]
		}
		switch {
		case m.Opens && b.rng.IntN(3) > 0:
			b.SetBool("ctl_open", true)
			b.Clock()
			require.Equal(t, uint64(len(g.ranges)&3), b.Get("open_rng"))
			b.SetBool("ctl_open", false)
			b.SetBool("init_valid", true) // it waits for the range
			b.Clock()
			require.False(t, b.Is("init_take"))
			b.SetBool("init_valid", false)
			g.open(f.ext, 1<<p.EPW)
			require.False(t, same(f).Contradicts)
		case b.rng.IntN(60) == 0:
			b.start(f.group)
		case b.rng.IntN(4) == 0: // a look without ctl_map changes nothing
			b.SetBool("ctl_rd", true)
			b.Set("ctl_ei", b.rng.Uint64N(1<<p.EIW))
			b.Clock()
			b.SetBool("ctl_rd", false)
			require.Equal(t, m.Begin, b.Get("map_begin"))
		}
	}
	for _, what := range []string{"opens", "bad", "wrong role", "its own", "ACK before the first", "data", "several ranges"} {
		require.Greater(t, met[what], 10, what)
	}
}
