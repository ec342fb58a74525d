// SPDX-License-Identifier: Apache-2.0

package control_test

// The model is docs/engine.md section 3.3 as it reads: a group remembers all its ranges, each endpoint its offsets in every one of them.

const mask24 = 1<<24 - 1

const (
	allReduce = iota
	reduce
	broadcast
	barrier
)

// command is what a control says.
type command struct{ collective, op, dtype, root, packets uint64 }

// immediate is a control's: collective:3 | op:2 | dtype:2 | root:5 | packets:20.
func (c command) immediate() uint64 {
	return c.collective<<29 | c.op<<27 | c.dtype<<25 | c.root<<20 | c.packets
}

func parse(ext uint64) command {
	return command{ext >> 29 & 7, ext >> 27 & 3, ext >> 25 & 3, ext >> 20 & 31, ext & (1<<20 - 1)}
}

// route is where a root is.
type route struct {
	valid bool
	ep    int
}

// interval is a range: from first to first + packets. Its offsets are those of each endpoint index, for what it sends and hears.
type interval struct {
	command
	first   uint64
	in, out []uint64
}

// last is the range's last group PSN.
func (r *interval) last() uint64 { return (r.first + r.packets) & mask24 }

// has reports whether a group PSN is of the range.
func (r *interval) has(psn uint64) bool { return (psn-r.first)&mask24 <= r.packets }

// group is a group's registers and its ranges since the start.
type group struct {
	in, out, ack uint64
	parent       int // -1: none
	routes       [32]route
	rootSends    bool
	start        uint64
	ranges       []*interval
}

// roles are the masks of a range; parent is one-hot or 0.
type roles struct{ in, out, ack, parent uint64 }

func one(e int) uint64 {
	if e < 0 {
		return 0
	}
	return 1 << e
}

func (g *group) roles(c command) roles {
	if c.collective == allReduce || c.collective == barrier {
		return roles{g.in, g.out, g.ack, one(g.parent)}
	}
	tree := g.in | g.out | one(g.parent)
	t := one(g.routes[c.root].ep)
	if c.collective == broadcast {
		return roles{out: tree &^ t, ack: tree &^ t, parent: t}
	}
	r := roles{in: tree &^ t, ack: t, parent: t}
	if g.rootSends && g.ack&tree&t != 0 {
		r.in |= t
	}
	return r
}

func (g *group) sends(c command, e int) bool {
	r := g.roles(c)
	switch {
	case r.in&one(e) != 0:
		return true
	case c.collective == reduce:
		return false
	}
	return r.parent&one(e) != 0
}

func (g *group) hears(c command, e int) bool {
	r := g.roles(c)
	switch c.collective {
	case reduce:
		return r.parent&one(e) != 0
	case broadcast:
		return r.out&one(e) != 0
	}
	return (r.out|r.parent)&one(e) != 0
}

// next is the range after the last one, without what its control says.
func (g *group) next(endpoints int) *interval {
	n := &interval{first: g.start, in: make([]uint64, endpoints), out: make([]uint64, endpoints)}
	if len(g.ranges) == 0 {
		return n
	}
	k := g.ranges[len(g.ranges)-1]
	n.first = (k.last() + 1) & mask24
	for e := range endpoints {
		n.in[e], n.out[e] = k.in[e], k.out[e]
		if !g.sends(k.command, e) {
			n.in[e] = (n.in[e] - k.packets - 1) & mask24
		}
		if !g.hears(k.command, e) {
			n.out[e] = (n.out[e] - k.packets - 1) & mask24
		}
	}
	return n
}

// frame is what LookupTable says of one.
type frame struct {
	group, ep        int
	psn, opcode, ext uint64
	empty            bool
}

func (f *frame) data() bool    { return f.opcode <= 5 }
func (f *frame) control() bool { return f.opcode == 5 && f.empty }

// mapped is what the module says of a frame; what has no meaning is 0.
type mapped struct {
	Current, Previous                           bool
	Opens, OpensUp, BadControl, WrongRole       bool
	Contradicts                                 bool
	Up, Down, Ackable, NeedsHost                bool
	Root, FromParent                            bool
	Base, PSN, RNG, Collective, Function, DType uint64
	Begin, End                                  uint64
	In, Out, Ack, Parent                        uint64
	// what follows is the model's alone: the packet is the first, the last of its range; there is no range: Begin and End have no meaning;
	// it is data: Base has one
	first, last, noRange, data bool
	absent                     bool // of a number that no endpoint has: what is shown means nothing
}

// arith are the types and operations that there are, a bit each.
type arith struct{ dtypes, ops uint64 }

func (a arith) legal(g *group, c command) bool {
	switch {
	case c.collective > barrier, a.ops>>c.op&1 == 0, a.dtypes>>c.dtype&1 == 0,
		(c.collective == reduce || c.collective == broadcast) && !g.routes[c.root].valid, c.collective == broadcast && c.packets == 0:
		return false
	}
	return true
}

// place is where a frame of the group belongs, among that many endpoint indices.
func (a arith) place(g *group, f *frame, endpoints int) mapped {
	next := g.next(endpoints)
	base := (next.first + next.in[f.ep]) & mask24
	m := mapped{data: f.data()}
	if m.data {
		m.Base = base
	}
	newest := len(g.ranges) - 1
	of := func(r *interval, k int) {
		masks := g.roles(r.command)
		bit := one(f.ep)
		m.RNG, m.Collective, m.Function, m.DType = uint64(k&3), r.collective, r.op, r.dtype
		m.In, m.Out, m.Ack, m.Parent = masks.in, masks.out, masks.ack, masks.parent
		m.Up = masks.in&bit != 0
		m.Down = !m.Up && masks.parent&bit != 0 && r.collective != reduce
		m.Ackable = masks.ack&bit != 0
		m.NeedsHost = r.collective == allReduce || r.collective == barrier
		m.Root, m.FromParent = m.NeedsHost && masks.parent == 0, masks.parent&bit != 0
	}
	if f.opcode == 0x81 {
		m.Current, m.PSN, m.noRange = true, f.psn, newest < 0
		if m.noRange {
			of(&interval{}, 0)
		} else {
			r := g.ranges[newest]
			of(r, newest)
			m.Begin, m.End = r.first, r.last()
		}
		return m
	}
	for k := newest; k >= 0 && k > newest-2; k-- {
		r := g.ranges[k]
		var psn uint64
		switch {
		case f.data() && g.sends(r.command, f.ep):
			psn = (f.psn - r.in[f.ep]) & mask24
		case f.opcode == 0x11 && g.hears(r.command, f.ep):
			psn = (f.psn - r.out[f.ep]) & mask24
		default:
			continue
		}
		if !r.has(psn) {
			continue
		}
		of(r, k)
		m.Begin, m.End = r.first, r.last()
		m.Current, m.Previous, m.PSN, m.first, m.last = k == newest, k != newest, psn, psn == r.first, psn == r.last()
		if f.data() {
			switch {
			case f.control() && m.first:
				m.Contradicts = f.ext != r.immediate()
			case f.control() || m.first:
				m.Contradicts = true
			}
		}
		return m
	}
	if m.Begin = (g.start - 1) & mask24; newest >= 0 {
		m.Begin = g.ranges[newest].first
	}
	if f.control() && f.psn == base {
		c := parse(f.ext)
		switch {
		case !a.legal(g, c):
			m.BadControl = true
		case !g.sends(c, f.ep):
			m.WrongRole = true
		default:
			m.Opens = true
			m.OpensUp = g.roles(c).in&one(f.ep) != 0
		}
	}
	return m
}

// open begins the range of a control.
func (g *group) open(ext uint64, endpoints int) *interval {
	n := g.next(endpoints)
	n.command = parse(ext)
	g.ranges = append(g.ranges, n)
	return n
}
