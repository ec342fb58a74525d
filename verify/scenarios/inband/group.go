// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/rig"
)

// group is an in-band group and the numbers on its wires as hosts count them: nothing here knows of group PSNs and offsets.
type group struct {
	*rig.Group
	// in and out are, by endpoint, the next PSN that it sends and the next that it hears.
	in, out []roce.PSN
	// current is the range that was entered last, entered how many there were since the group started.
	current *span
	entered int
	// begun is the endpoint that has sent the next range's control already, −1 if none has.
	begun int
	// beside is a group of the same engine that is not in-band, or nothing.
	beside *rig.Group
}

// span is one range: a control and the packets that it announces.
type span struct {
	roles
	g       *group
	index   int
	control inc.Control
	packets []*packet // those planned so far; the first one is the control itself
}

// roles say who does what in a range. source and toward are −1 where there is nobody.
type roles struct {
	contributors []int // their data is reduced
	source       int   // its data is copied to the receivers
	toward       int   // it gets the sums; if nobody does, the receivers do
	receivers    []int
	acks         []int // their ACKs count
}

// packet is what goes over the wires for one PSN of the group.
type packet struct {
	op      roce.Opcode
	imm     uint32
	in, out []roce.PSN // the numbers it has, by endpoint
	sent    [][]byte   // by endpoint
	sum     []byte     // of what the contributors send
	copied  []byte     // what the source sends
	ce      bool       // a contribution met congestion
}

// newGroup makes an engine with an in-band group of all members, or of children and a parent. The former is the first group, the latter the last, all
// others being stopped: what an engine asks of a frame's group it must not ask of another.
func newGroup(t *rig.T, parent bool, opts ...rig.GroupOption) *group {
	e := t.Engine()
	index, members := 0, t.Params.Members
	if parent {
		index, members = rig.MaxGroups(t.Params)-1, t.Children()
	}
	opts = append([]rig.GroupOption{rig.WithInBand()}, opts...)
	opts = append(opts, rig.WithRanks(t.Params.Members+1, t.Rand.Uint64()))
	g := &group{Group: e.Group(index, 1, members, parent, opts...)}
	g.restart()
	return g
}

// restart forgets all numbers and ranges, as a start of the group does.
func (g *group) restart() {
	g.in, g.out, g.entered, g.begun = nil, nil, 0, -1
	g.current = &span{g: g, roles: roles{source: -1, toward: -1}}
	for range g.Ends {
		g.in, g.out = append(g.in, g.Start()), append(g.out, g.Start())
	}
}

// rolesOf are the roles in the range of a control.
func (g *group) rolesOf(c inc.Control) roles {
	members := g.Members()
	if c.Collective == inc.CollectiveAllReduce || c.Collective == inc.CollectiveBarrier {
		return roles{contributors: members, source: g.Parent, toward: g.Parent, receivers: members, acks: members}
	}
	root := int(g.Set.Route[c.Root].Endpoint)
	rest := rig.AllBut(with(members, g.Parent), root)
	if c.Collective == inc.CollectiveBroadcast {
		return roles{source: root, toward: -1, receivers: rest, acks: rest}
	}
	r := roles{contributors: rest, source: -1, toward: root, acks: []int{root}}
	if g.Set.RootSends && g.Set.AckMask>>root&1 != 0 {
		r.contributors = with(rest, root)
	}
	return r
}

// senders and hearers are the endpoints that send and that hear in the range, ascending.
func (r *roles) senders() []int { return with(r.contributors, r.source) }
func (r *roles) hearers() []int { return with(r.receivers, r.toward) }

// with are the same endpoints and c, ascending; −1 is nobody.
func with(who []int, c int) []int {
	if c < 0 {
		return who
	}
	all := append(slices.Clone(who), c)
	slices.Sort(all)
	return all
}

// rangeOf is the range that a control would open next.
func (g *group) rangeOf(c inc.Control) *span {
	return &span{g: g, roles: g.rolesOf(c), index: g.entered, control: c}
}

// enter makes a control's range the current one.
func (g *group) enter(c inc.Control) *span {
	g.current = g.rangeOf(c)
	g.SetKind(arith.Kind{DType: arith.DType(c.DType), Op: arith.Op(c.Op), BigEndian: g.Set.BigEndian})
	g.entered++
	return g.current
}

// String is for messages.
func (s *span) String() string { return fmt.Sprintf("range %d (%+v)", s.index, s.control) }

// last is the packet that was planned last.
func (s *span) last() *packet { return s.packets[len(s.packets)-1] }

// plan draws what everybody sends in the range's next packet, and takes its numbers: the next plan has those after it.
func (s *span) plan(size int) *packet {
	g := s.g
	p := &packet{op: roce.SendOnly, in: slices.Clone(g.in), out: slices.Clone(g.out), sent: make([][]byte, len(g.Ends))}
	if len(s.packets) == 0 {
		p.op, p.imm = roce.SendOnlyImm, s.control.Immediate()
	}
	if len(s.packets) == 0 || s.control.Collective == inc.CollectiveBarrier {
		size = 0
	}
	var all [][]byte
	for _, c := range s.contributors {
		p.sent[c] = g.Values(size)
		all = append(all, p.sent[c])
	}
	if len(all) > 0 {
		p.sum = g.Reduce(all...)
	}
	if s.source >= 0 {
		p.copied = g.Noise(size)
		p.sent[s.source] = p.copied
	}
	for _, c := range s.senders() {
		g.in[c] = g.in[c].Next()
	}
	for _, c := range s.hearers() {
		g.out[c] = g.out[c].Next()
	}
	s.packets = append(s.packets, p)
	return p
}

// frame is what endpoint c sends of a packet.
func (g *group) frame(p *packet, c int) rig.Frame {
	return g.Data(c, p.in[c], p.sent[c], func(q *roce.Packet) { q.Op, q.Imm = p.op, p.imm })
}

// controlFrame is a control from endpoint c with that PSN on its wire; opts change it before it becomes a frame.
func (g *group) controlFrame(c int, psn roce.PSN, control inc.Control, opts ...func(p *roce.Packet)) rig.Frame {
	isControl := func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, control.Immediate() }
	return g.Data(c, psn, nil, append([]func(*roce.Packet){isControl}, opts...)...)
}

// wrongControl sends a control from endpoint c where the next range would begin for it, with something changed that has it dropped.
func (g *group) wrongControl(why inc.Counter, c int, what string, control inc.Control, change func(c *inc.Control)) {
	change(&control)
	g.Send(g.controlFrame(c, g.in[c], control)).As("%s of endpoint %d: %+v", what, c, control).Dropped(why)
}

// to is a packet as endpoints must hear it.
func (p *packet) to(payload []byte, who ...int) []rig.Want {
	var all []rig.Want
	for _, c := range who {
		all = append(all, rig.Want{To: c, Op: p.op, Imm: p.imm, PSN: p.out[c], Payload: payload})
	}
	return all
}

// copies must leave for the source's frame.
func (s *span) copies(p *packet) []rig.Want { return p.to(p.copied, s.receivers...) }

// sums must leave when a packet is complete.
func (s *span) sums(p *packet) []rig.Want {
	to := s.receivers
	if s.toward >= 0 {
		to = []int{s.toward}
	}
	return rig.Own(p.ce, p.to(p.sum, to...)...)
}

// send has endpoint c send its frame of a packet, which may be marked; completes tells that it is the last contribution.
func (s *span) send(p *packet, c int, f rig.Frame, completes bool) {
	var want []rig.Want
	if s.g.T.Pipes() {
		want = rig.Own(false, rig.AckTo(c, p.in[c]))
	}
	if c == s.source {
		want = append(want, s.copies(p)...)
	} else {
		p.ce = p.ce || f.CE()
	}
	if completes {
		want = append(want, s.sums(p)...)
	}
	s.g.Send(f).As("%v, packet %d of endpoint %d", s, slices.Index(s.packets, p), c).Expect(want...)
}

// complete has the last contributors to a packet send it, one after the other. Now and then a frame meets congestion.
func (s *span) complete(p *packet, last ...int) {
	for i, c := range last {
		s.send(p, c, s.g.T.Marked(s.g.frame(p, c)), i == len(last)-1)
	}
}

// next carries out the range's next packet frame by frame: the contributors in random order, then the source.
func (s *span) next(size int) *packet {
	g, t := s.g, s.g.T
	begun := -1
	if len(s.packets) == 0 {
		begun, g.begun = g.begun, -1
	}
	p := s.plan(size)
	s.complete(p, rig.AllBut(t.Shuffled(s.contributors), begun)...)
	if c := s.source; c >= 0 && c != begun {
		s.send(p, c, t.Marked(g.frame(p, c)), false)
	}
	return p
}

// anyKind is a control of that collective with some type and operation.
func (g *group) anyKind(collective uint8, root, packets int) inc.Control {
	all := g.T.Kinds()
	k := all[g.T.Rand.IntN(len(all))]
	return inc.Control{Collective: collective, Op: uint8(k.Op), DType: uint8(k.DType), Root: uint8(root), Packets: packets}
}

// anything is some legal control.
func (g *group) anything() inc.Control {
	ranks, r := len(g.Members()), g.T.Rand
	if g.Parent >= 0 {
		ranks++ // one of those beyond
	}
	c := g.anyKind([]uint8{inc.CollectiveAllReduce, inc.CollectiveReduce, inc.CollectiveBroadcast, inc.CollectiveBarrier}[r.IntN(4)],
		r.IntN(ranks), r.IntN(2*g.MW()+3))
	if c.Collective == inc.CollectiveBroadcast {
		c.Packets = max(c.Packets, 1)
	}
	return c
}
