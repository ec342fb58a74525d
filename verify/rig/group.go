// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"cmp"
	"math/bits"
	"slices"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/arith"
)

// Group is a group seen from the engine: its settings and who is at the other end of each endpoint.
type Group struct {
	T     *T
	E     *Engine
	Index int
	// Set are its registers; Program writes them.
	Set inc.Group
	// Ends are the records by endpoint; not Valid where there is none.
	Ends []inc.Endpoint
	// Parent is the parent's endpoint, −1 at a root.
	Parent int

	// Own: the scenario has set first PSNs in Ends itself. Otherwise Mode I's connections begin at START in both directions, as all connections
	// of Mode III do. A path MTU that nobody has set is the largest.
	Own bool

	// capLog2N is the most that log2_n may be, or 0.
	capLog2N int
	// ranks is how many contributions a result has at most, over all switches; salt makes their sums exact together.
	ranks int
	salt  uint64
}

// Start is the first PSN of both directions of every connection.
func (g *Group) Start() roce.PSN { return g.Set.Start }

// MW is the window that the group's slots allow; in Mode III the slots of a pipe.
func (g *Group) MW() int {
	if g.Set.PipeSlots > 0 {
		return g.Set.PipeSlots
	}
	return 1 << g.Set.Log2N >> 1
}

// Members are the endpoints in in_mask, ascending.
func (g *Group) Members() []int { return g.Those(g.Set.InMask) }

// Kind is what the group computes.
func (g *Group) Kind() arith.Kind {
	return arith.Kind{DType: arith.DType(g.Set.DType), Op: arith.Op(g.Set.Op), BigEndian: g.Set.BigEndian}
}

// SetKind changes what the group computes, and nothing else: slots may not suffice then.
func (g *Group) SetKind(k arith.Kind) {
	g.Set.DType, g.Set.Op, g.Set.BigEndian = uint8(k.DType), uint8(k.Op), k.BigEndian
}

// Units is how many units of the buffer a packet takes.
func (g *Group) Units() int { return g.T.Params.Units(g.Set.DType, g.Set.InBand) }

// Size is the number of bytes of an element.
func (g *Group) Size() int { return g.Kind().DType.Size() }

// Whole is the largest number of bytes not above n that is a whole number of elements.
func (g *Group) Whole(n int) int { return n - n%g.Size() }

// Values is a payload of n bytes whose reduction with the others' is known without the reference: arith.Kind.Values.
func (g *Group) Values(n int) []byte { return g.Kind().Values(g.T.Rand, g.salt, g.ranks, g.Whole(n)) }

// Noise is a payload of n bytes of everything that is hard; only an engine that adds in the same order gets the same sums.
func (g *Group) Noise(n int) []byte { return g.Kind().Noise(g.T.Rand, g.Whole(n)) }

// Reduce is the result of contributions made by Values; others are a mistake of the scenario.
func (g *Group) Reduce(payloads ...[]byte) []byte { return fail.Must(g.Kind().Exact(payloads...)) }

// GroupOption changes a group before it is programmed.
type GroupOption func(*Group)

// WithStart fixes the first PSN.
func WithStart(psn roce.PSN) GroupOption { return func(g *Group) { g.Set.Start = psn } }

// WithBarrier makes it a Barrier.
func WithBarrier() GroupOption { return func(g *Group) { g.Set.Collective = inc.CollectiveBarrier } }

// WithKind fixes type, operation and byte order.
func WithKind(k arith.Kind) GroupOption { return func(g *Group) { g.SetKind(k) } }

// WithLog2N bounds log2_n.
func WithLog2N(n int) GroupOption { return func(g *Group) { g.capLog2N = n } }

// WithPipe gives the group's pipes n slots; 0 leaves what there is.
func WithPipe(n int) GroupOption { return func(g *Group) { g.Set.PipeSlots = n } }

// WithPathMTU gives all endpoints of a Mode I group that path MTU.
func WithPathMTU(n int) GroupOption {
	return func(g *Group) {
		for i := range g.Ends {
			g.Ends[i].PathMTU = n
		}
	}
}

// WithCollective fixes a group with a parent to a Reduce toward the parent or a Broadcast from there. host tells whether a rank's
// NIC is there, the root's, or another switch.
func WithCollective(collective uint8, host bool) GroupOption {
	return func(g *Group) {
		g.Set.Collective, g.Ends[g.Parent].Host = collective, host
		switch collective {
		case inc.CollectiveReduce:
			g.Set.OutMask, g.Set.AckMask = 0, 1<<g.Parent
		case inc.CollectiveBroadcast:
			g.Set.InMask = 0
		}
	}
}

// WithParentAt has the parent, which is the last endpoint otherwise, change places with endpoint c.
func WithParentAt(c int) GroupOption {
	return func(g *Group) {
		last := g.Parent
		place := func(i int) int {
			switch i {
			case c:
				return last
			case last:
				return c
			}
			return i
		}
		for _, mask := range []*uint32{&g.Set.InMask, &g.Set.OutMask, &g.Set.AckMask} {
			moved := uint32(0)
			for i := range g.Ends {
				moved |= *mask >> i & 1 << place(i)
			}
			*mask = moved
		}
		for i := range g.Set.Route {
			if r := &g.Set.Route[i]; r.Valid {
				r.Endpoint = uint8(place(int(r.Endpoint)))
			}
		}
		g.Ends[c].Host, g.Ends[last].Host = g.Ends[last].Host, g.Ends[c].Host
		g.Parent, g.Set.Parent = c, c
	}
}

// WithInBand makes a group in-band: rank r is at endpoint r, and as many ranks as there are here are beyond the parent, if there is
// one. The last rank that a control can name is nowhere.
func WithInBand() GroupOption {
	return func(g *Group) {
		g.Set.InBand = true
		for i := range g.Ends {
			if i != g.Parent {
				g.Set.Route[i] = inc.Route{Valid: true, Endpoint: uint8(i)}
			}
		}
		for i := len(g.Ends) - 1; g.Parent >= 0 && i < min(2*(len(g.Ends)-1), inc.Roots-1); i++ {
			g.Set.Route[i] = inc.Route{Valid: true, Endpoint: uint8(g.Parent)}
		}
	}
}

// WithBystander gives a group one endpoint more, which neither contributes nor hears, and whose acknowledgements and CNPs count all the same.
func WithBystander() GroupOption {
	return func(g *Group) {
		c := len(g.Ends)
		g.Ends = append(g.Ends, g.T.newEndpoint(g.Index, c, true))
		g.Set.AckMask |= 1 << c
	}
}

// WithRanks says how many ranks contribute to a result over all switches, and what makes their sums exact together.
func WithRanks(n int, salt uint64) GroupOption {
	return func(g *Group) { g.ranks, g.salt = n, salt }
}

// MaxGroups is how many groups there can be at once, each with a window of at least one packet, and of whatever type if there are
// slots for more than one of that kind.
func MaxGroups(p contract.Params) int {
	units := p.LeastUnits()
	if RoomForTwo(p) {
		units = p.MostUnits()
	}
	return min(p.AllGroups(), p.Slots()/(2*units))
}

// RoomForTwo tells whether two groups have slots of any kind of element.
func RoomForTwo(p contract.Params) bool { return p.Slots() >= 4*p.MostUnits() }

// NextKind is the kind of the next of n groups: all that fit are taken in turn.
func (t *T) NextKind(n int) arith.Kind {
	all := t.Kinds()
	for range all {
		k := all[t.Turn%len(all)]
		t.Turn++
		if t.fits(k, n) {
			return k
		}
	}
	return all[0]
}

// MaxLog2N is the largest log2_n that lets each of several groups, whose packets take that many units, have its slots, no more than the
// window asks for.
func (t *T) MaxLog2N(groups, units int) int {
	per := max(t.Room(groups)/units, 2)
	return min(bits.Len(uint(per))-1, bits.Len(uint(t.Params.GroupSlots()))-1)
}

// Star is one engine with one group over all members.
func (t *T) Star(opts ...GroupOption) *Group {
	return t.Engine().Group(0, 1, t.Params.Members, false, opts...)
}

// OneWay is one engine with a group fixed to a Reduce toward its parent or a Broadcast from there; host tells whether a NIC or
// another switch is at the parent's end.
func (t *T) OneWay(collective uint8, host bool, opts ...GroupOption) *Group {
	e := t.Engine()
	opts = append([]GroupOption{WithCollective(collective, host)}, opts...)
	return e.Group(0, 1, t.Children(), true, append(opts, WithRanks(t.Params.Members+1, t.Rand.Uint64()))...)
}

// Group makes a group and programs it.
func (e *Engine) Group(index, groups, members int, parent bool, opts ...GroupOption) *Group {
	g := e.MakeGroup(index, groups, members, parent, opts...)
	g.Program()
	return g
}

// MakeGroup makes group index as a root over members endpoints, or under a parent (endpoint number members) if parent is set.
// The buffer is shared evenly if groups of them are wanted. Nothing is written yet.
func (e *Engine) MakeGroup(index, groups, members int, parent bool, opts ...GroupOption) *Group {
	t := e.T
	g := &Group{T: t, E: e, Index: index, Parent: -1, ranks: members, salt: t.Rand.Uint64()}
	g.Set = inc.Group{Start: roce.PSN(t.Rand.Uint32() & 0xFFFFFF), SlotBase: index % groups * t.Room(groups), InMask: 1<<members - 1}
	g.SetKind(t.NextKind(groups))
	count := members
	if parent {
		g.Parent, g.Set.Parent, g.Set.HasParent = members, members, true
		count++
	}
	g.Set.OutMask, g.Set.AckMask = g.Set.InMask, g.Set.InMask
	for i := range count {
		g.Ends = append(g.Ends, t.newEndpoint(index, i, i != g.Parent))
	}
	for _, o := range opts {
		o(g)
	}
	if g.Set.Log2N = t.MaxLog2N(groups, g.Units()); g.capLog2N > 0 {
		g.Set.Log2N = min(g.Set.Log2N, g.capLog2N)
	}
	return g
}

// LongTimeout is PIPE_TIMEOUT, in microseconds, for scenarios in which nobody is to be late.
const LongTimeout = 65535

// Forgotten is what data of endpoint c draws whose result is not in its slot, in an AllReduce of Mode II of whose results c has acknowledged those
// up to acked: nothing, or an ACK of that if it covers the data and the engine Reacks.
func (g *Group) Forgotten(c int, psn, acked roce.PSN) []Want {
	if !g.T.Reacks() || acked.Diff(psn) < 0 {
		return nil
	}
	return Own(false, AckTo(c, acked))
}

// Program writes everything and enables the group, which must succeed.
func (g *Group) Program() {
	if e := g.E; g.T.Pipes() {
		if !slices.Contains(e.groups, g) {
			e.groups = append(e.groups, g)
		}
		if !e.Timers {
			e.SetTimeout(LongTimeout)
		}
	}
	if !g.TryProgram() {
		g.T.Fatalf("group %d does not enable", g.Index)
	}
}

// TryProgram writes endpoints and settings, enables the group and tells whether the engine took it.
func (g *Group) TryProgram() bool {
	t, e := g.T, g.E
	t.flush()
	t.Check(e.Ctl.Disable(g.Index))
	if !t.Messages() {
		g.writeEnds()
	}
	return g.TryEnable()
}

// writeEnds writes the endpoints' records.
func (g *Group) writeEnds() {
	for i := range g.Ends {
		ep := &g.Ends[i]
		if ep.PathMTU = cmp.Or(ep.PathMTU, g.T.Params.MTUBytes); !g.Own {
			ep.RQPSN, ep.SQPSN = g.Set.Start, g.Set.Start
		}
		g.T.Check(g.E.Ctl.SetEndpoint(g.Index*g.T.Params.EPS()+i, *ep))
		g.E.tags[ep.LocalQPN] = ep.VLAN
	}
}

// TryEnable writes the settings of a group that is disabled, enables it and tells whether the engine took it.
func (g *Group) TryEnable() bool {
	if g.T.Messages() { // whose records have the first PSNs
		g.writeEnds()
	}
	g.T.Check(g.E.Ctl.SetGroup(g.Index, g.Set))
	return fail.Must(g.E.Ctl.Enable(g.Index))
}

// Reset drains and restarts the group and waits until it is done.
func (g *Group) Reset() { g.T.Check(g.E.Ctl.ResetGroup(g.Index)) }

// Disable stops the group.
func (g *Group) Disable() { g.T.Check(g.E.Ctl.Disable(g.Index)) }

// Addressee is the endpoint whose headers a packet has that left by a port; −1 if there is none.
func (g *Group) Addressee(port int, p *roce.Packet) int {
	return slices.IndexFunc(g.Ends, func(ep inc.Endpoint) bool {
		return p.DstMAC == ep.RemoteMAC && p.SrcMAC == ep.LocalMAC && p.SrcIP == ep.LocalIP && p.DstIP == ep.RemoteIP &&
			p.DestQP == ep.RemoteQPN && port == ep.Port && p.SrcPort == ep.UDPSourcePort && p.TTL == ep.TTL
	})
}
