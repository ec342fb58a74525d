// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
)

// needInBand is what a scenario with an in-band group of so many members needs.
func needInBand(members int) func(p contract.Params) string {
	return func(p contract.Params) string {
		switch {
		case !p.InBand:
			return "needs in_band"
		case p.DTypeMask()&wideTypes != 0 && p.Slots() < wideSlots:
			return fmt.Sprintf("needs %d slots, the configuration has %d", wideSlots, p.Slots())
		}
		return needMembers(members)(p)
	}
}

// rail is an in-band group and the numbers on its wires, as hosts count them: the next one that an endpoint sends, and the next one
// that it hears. It knows nothing of groups' PSNs and offsets.
type rail struct {
	g       *group
	in, out []roce.PSN
	ranges  int
	// begun is an endpoint that has sent the next range's control already, −1 if none has.
	begun int
	// span is the control of the current range, parts who takes part in it, past its packets so far.
	span  inc.Control
	parts actors
	past  []packet
}

// packet is what went over the wires for one PSN of the group.
type packet struct {
	op      roce.Opcode
	imm     uint32
	in, out []roce.PSN     // the numbers it had, by endpoint
	sent    map[int][]byte // by endpoint
	up      []byte         // what the contributors' data became
	down    []byte         // what the parent sent
	ce      bool           // a contribution met congestion
}

// actors are who does what in a range: who contributes, whose data is copied (−1: nobody's) and to whom, who gets results (−1: those
// who get copies), whose ACKs count.
type actors struct {
	up     []int
	source int
	to     []int
	parent int
	acks   []int
}

// newRail makes an engine with an in-band group of all members, or of children and a parent.
func (t *T) newRail(parent bool, opts ...groupOption) (*rail, error) {
	e, err := t.newEngine()
	if err != nil {
		return nil, err
	}
	members := t.p.Members
	if parent {
		members = t.children()
	}
	opts = append([]groupOption{withInBand()}, opts...)
	g, err := e.newGroup(0, 1, members, parent, append(opts, withRanks(t.p.Members+1, t.rng.Uint64()))...)
	if err != nil {
		return nil, err
	}
	r := &rail{g: g}
	r.restart()
	return r, nil
}

// restart is what a start of the group does.
func (r *rail) restart() {
	r.in, r.out, r.ranges, r.begun, r.past = nil, nil, 0, -1, nil
	for range r.g.ends {
		r.in, r.out = append(r.in, r.g.set.Start), append(r.out, r.g.set.Start)
	}
}

// partsOf are the parts in a range.
func (r *rail) partsOf(c inc.Control) actors {
	members := r.g.members()
	if c.Collective == inc.CollectiveAllReduce || c.Collective == inc.CollectiveBarrier {
		return actors{up: members, source: r.g.parent, to: members, parent: r.g.parent, acks: members}
	}
	tree := members
	if r.g.parent >= 0 {
		tree = append(slices.Clone(members), r.g.parent)
	}
	toward := int(r.g.set.Route[c.Root].Endpoint)
	rest := allBut(tree, toward)
	if c.Collective == inc.CollectiveBroadcast {
		return actors{source: toward, to: rest, parent: -1, acks: rest}
	}
	p := actors{up: rest, source: -1, parent: toward, acks: []int{toward}}
	if r.g.set.RootSends && r.g.set.AckMask>>toward&1 != 0 {
		p.up = append(slices.Clone(rest), toward)
		slices.Sort(p.up)
	}
	return p
}

// sends and hears tell whether an endpoint's wires carry the range.
func (p *actors) sends(e int) bool { return slices.Contains(p.up, e) || e == p.source }
func (p *actors) hears(e int) bool { return slices.Contains(p.to, e) || e == p.parent }

// enter makes c the current range.
func (r *rail) enter(c inc.Control) {
	r.span, r.parts, r.past = c, r.partsOf(c), nil
	r.g.setKind(arith.Kind{DType: arith.DType(c.DType), Op: arith.Op(c.Op), BigEndian: r.g.set.BigEndian})
	r.ranges++
}

// control is a control from endpoint e with this number on its wire.
func (r *rail) control(e int, wire roce.PSN, c inc.Control) portFrame {
	return r.g.data(e, wire, nil, func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, c.Immediate() })
}

// make plans the range's next packet: what everybody sends, and the numbers it takes, which are taken from now on.
func (r *rail) make(size int) *packet {
	p := packet{op: roce.SendOnly, in: slices.Clone(r.in), out: slices.Clone(r.out), sent: map[int][]byte{}}
	if len(r.past) == 0 {
		p.op, p.imm = roce.SendOnlyImm, r.span.Immediate()
	}
	if len(r.past) == 0 || r.span.Collective == inc.CollectiveBarrier {
		size = 0
	}
	var all [][]byte
	for _, e := range r.parts.up {
		p.sent[e] = r.g.values(size)
		all = append(all, p.sent[e])
	}
	if len(all) > 0 {
		p.up = r.g.reduce(all...)
	}
	if r.parts.source >= 0 {
		p.down = r.g.noise(size)
		p.sent[r.parts.source] = p.down
	}
	for e := range r.in {
		if r.parts.sends(e) {
			r.in[e] = r.in[e].Next()
		}
		if r.parts.hears(e) {
			r.out[e] = r.out[e].Next()
		}
	}
	r.past = append(r.past, p)
	return &r.past[len(r.past)-1]
}

// frame is what endpoint e sends of a packet.
func (r *rail) frame(p *packet, e int) portFrame {
	return r.g.data(e, p.in[e], p.sent[e], func(q *roce.Packet) { q.Op, q.Imm = p.op, p.imm })
}

// heard is what must leave to the endpoints of a packet.
func (p *packet) heard(payload []byte, to ...int) []leaving {
	var all []leaving
	for _, e := range to {
		all = append(all, leaving{to: e, op: p.op, imm: p.imm, psn: p.out[e], payload: payload})
	}
	return all
}

// results are what must leave when a packet is complete.
func (r *rail) results(p *packet) []leaving {
	if r.parts.parent >= 0 {
		return own(p.ce, p.heard(p.up, r.parts.parent)...)
	}
	return own(p.ce, p.heard(p.up, r.parts.to...)...)
}

// next carries out the range's next packet frame by frame, contributors in random order. Here and below, frames meet congestion now and then.
func (r *rail) next(size int) error {
	first := len(r.past) == 0
	p := r.make(size)
	order := slices.Clone(r.parts.up)
	r.g.t.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if first && r.begun >= 0 {
		order = allBut(order, r.begun)
	}
	what := fmt.Sprintf("range %d (%+v), packet %d", r.ranges-1, r.span, len(r.past)-1)
	for i, e := range order {
		f := r.g.t.marked(r.frame(p, e))
		p.ce = p.ce || f.ce()
		var want []leaving
		if i == len(order)-1 {
			want = r.results(p)
		}
		if err := r.g.step(fmt.Sprintf("%s of endpoint %d", what, e), f, want...); err != nil {
			return err
		}
	}
	if e := r.parts.source; e >= 0 && !(first && r.begun == e) {
		if err := r.g.step(what+" of the parent", r.g.t.marked(r.frame(p, e)), p.heard(p.down, r.parts.to...)...); err != nil {
			return err
		}
	}
	if first {
		r.begun = -1
	}
	return nil
}

// acknowledge has everybody whose ACKs count acknowledge what came last, all of which is known to have arrived.
func (r *rail) acknowledge() error {
	order := slices.Clone(r.parts.acks)
	r.g.t.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, e := range order {
		var want []leaving
		switch r.span.Collective {
		case inc.CollectiveReduce:
			for _, c := range r.parts.up {
				want = append(want, ackOf(c, r.in[c].Prev(), 0x1F))
			}
		case inc.CollectiveBroadcast:
			if i == len(order)-1 {
				want = []leaving{ackOf(r.parts.source, r.in[r.parts.source].Prev(), 0x1F)}
			}
		default:
			want = []leaving{ackOf(e, r.in[e].Prev(), 0x1F)}
		}
		what := fmt.Sprintf("range %d (%+v), ACK of packet %d from endpoint %d", r.ranges-1, r.span, len(r.past)-1, e)
		if err := r.g.step(what, r.g.t.marked(r.g.aeth(e, r.out[e].Prev(), 0x1F)), want...); err != nil {
			return err
		}
	}
	return nil
}

// run carries out a range packet by packet. Every ackEvery-th packet and the last are acknowledged; none if it is 0.
func (r *rail) run(c inc.Control, ackEvery int) error {
	r.enter(c)
	for i := range c.Packets + 1 {
		if err := r.next(r.g.t.rng.IntN(min(r.g.t.p.MTUBytes, 96) + 1)); err != nil {
			return err
		}
		if ackEvery > 0 && (i%ackEvery == ackEvery-1 || i == c.Packets) {
			if err := r.acknowledge(); err != nil {
				return err
			}
		}
		if i == c.Packets/2 {
			if err := r.congested(); err != nil {
				return err
			}
		}
	}
	return nil
}

// congested has every endpoint send a CNP of whatever number: it goes to whom the range's data comes from.
func (r *rail) congested() error {
	for e := range r.g.ends {
		psn := roce.PSN(r.g.t.rng.Uint32() & 0xFFFFFF)
		if !slices.Contains(r.parts.acks, e) {
			if err := r.g.dropped(inc.DropWrongRole, "a CNP without the role", r.g.cnp(e, psn)); err != nil {
				return err
			}
			continue
		}
		to := []int{e}
		switch r.span.Collective {
		case inc.CollectiveReduce:
			to = r.parts.up
		case inc.CollectiveBroadcast:
			to = []int{r.parts.source}
		}
		if err := r.g.step("a CNP", r.g.t.marked(r.g.cnp(e, psn)), copies(cnpOf(0, psn), to...)...); err != nil {
			return err
		}
	}
	return nil
}

// draw is a control of this collective with some type and operation.
func (r *rail) draw(collective uint8, root, packets int) inc.Control {
	all := r.g.t.kinds()
	k := all[r.g.t.rng.IntN(len(all))]
	return inc.Control{Collective: collective, Op: uint8(k.Op), DType: uint8(k.DType), Root: uint8(root), Packets: packets}
}

// anything is a legal control.
func (r *rail) anything() inc.Control {
	t := r.g.t
	ranks := len(r.g.members())
	if r.g.parent >= 0 {
		ranks++ // one of those beyond
	}
	c := r.draw([]uint8{inc.CollectiveAllReduce, inc.CollectiveReduce, inc.CollectiveBroadcast, inc.CollectiveBarrier}[t.rng.IntN(4)],
		t.rng.IntN(ranks), t.rng.IntN(2*r.g.mw()+3))
	if c.Collective == inc.CollectiveBroadcast {
		c.Packets = max(c.Packets, 1)
	}
	return c
}

// clean checks that ranges were opened as many as there were and nothing was dropped, resent or answered instead.
func (r *rail) clean() error {
	c, err := r.g.e.counters()
	if err != nil {
		return err
	}
	for name, v := range c {
		if v != 0 && (strings.HasPrefix(name, "DROP_") && name != "DROP_WRONG_ROLE" || name == "TX_REACK" || name == "TX_RESEND" || name == "TX_GAP_NAK") {
			return failf("%s is %d after a clean run", name, v)
		}
	}
	if c["RANGE_OPEN"] != uint32(r.ranges) {
		return failf("RANGE_OPEN is %d, expected %d", c["RANGE_OPEN"], r.ranges)
	}
	return nil
}

// scenInBand is scenario 19 on one set of connections: AllReduce of 10 packets, Broadcast of 7 from rank 1, AllReduce again, then a
// Reduce; then one range after the other of whatever collective, type, operation and root, across the wrap, at the root of a tree and
// below it. Every number on every wire is checked.
func scenInBand(t *T) error {
	for _, parent := range []bool{false, true} {
		for _, start := range []roce.PSN{roce.PSN(t.rng.Uint32() & 0xFFFFFF), 0xFFFFF4} {
			for _, rootSends := range []bool{false, true} {
				r, err := t.newRail(parent, withStart(start), func(g *group) { g.set.RootSends = rootSends })
				if err != nil {
					return err
				}
				list := []inc.Control{r.draw(inc.CollectiveAllReduce, 0, 10), r.draw(inc.CollectiveBroadcast, 1, 7),
					r.draw(inc.CollectiveAllReduce, 0, 10), r.draw(inc.CollectiveReduce, 0, 5), r.draw(inc.CollectiveBarrier, 0, 0),
					r.draw(inc.CollectiveReduce, 1, 0), r.draw(inc.CollectiveBroadcast, 0, 2*r.g.mw()+2), r.draw(inc.CollectiveAllReduce, 0, 2*r.g.mw()+2)}
				for range 8 {
					list = append(list, r.anything())
				}
				for _, c := range list {
					if err := r.run(c, []int{1, 3, 1 << 20}[t.rng.IntN(3)]); err != nil {
						return fmt.Errorf("start %v, parent %v: %w", start, parent, err)
					}
				}
				if err := r.clean(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// missing are values below n that a mask does not have.
func missing(mask uint32, n uint8) []uint8 {
	var list []uint8
	for v := range n {
		if mask>>v&1 == 0 {
			list = append(list, v)
		}
	}
	return list
}

// scenInBandControls is every way in which a control, or what stands in its place, can be wrong: before a range is open, where it
// would open one, and in one that is open. None changes anything: the range ends as it should.
func scenInBandControls(t *T) error {
	for _, parent := range []bool{false, true} {
		if parent && t.children() < 2 {
			continue // nobody to contradict
		}
		r, err := t.newRail(parent, withStart(0xFFFFFA))
		if err != nil {
			return err
		}
		for range 3 {
			if err := r.wrongAtBase(); err != nil {
				return err
			}
			if err := r.wrongInRange(); err != nil {
				return err
			}
			if err := r.run(r.anything(), 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrong is a frame that must be dropped.
type wrong struct {
	what string
	want inc.Counter
	f    portFrame
}

func (r *rail) dropAll(list []wrong) error {
	for _, x := range list {
		if err := r.g.dropped(x.want, x.what, x.f); err != nil {
			return err
		}
	}
	return nil
}

// wrongAtBase is what can be wrong between ranges.
func (r *rail) wrongAtBase() error {
	g, t := r.g, r.g.t
	good := r.draw(inc.CollectiveAllReduce, 0, 3)
	const e = 0
	base := r.in[e]
	with := func(change func(c *inc.Control)) portFrame {
		c := good
		change(&c)
		return r.control(e, base, c)
	}
	frame := func(change func(p *roce.Packet)) portFrame {
		return g.data(e, base, nil, func(p *roce.Packet) { p.Op, p.Imm = roce.SendOnlyImm, good.Immediate(); change(p) })
	}
	list := []wrong{
		{"data in the place of a control", inc.DropRange, g.data(e, base, g.values(8))},
		{"data without payload in the place of a control", inc.DropRange, g.data(e, base, nil)},
		{"an immediate with payload", inc.DropRange, frame(func(p *roce.Packet) { p.Payload = g.noise(8) })},
		{"a control of another opcode", inc.DropRange, frame(func(p *roce.Packet) { p.Op = roce.SendLastImm })},
		{"a control before its number", inc.DropRange, r.control(e, base.Add(-1<<20), good)},
		{"an ACK of what nobody has sent", inc.DropStaleAck, g.aeth(e, r.out[e], 0x1F)},
		{"an ACK of half the numbers away", inc.DropStaleAck, g.aeth(e, r.out[e].Add(1<<23), 0x1F)},
		{"a Broadcast of nothing", inc.DropBadControl, with(func(c *inc.Control) { c.Collective, c.Packets = inc.CollectiveBroadcast, 0 })},
		{"a Reduce to nobody", inc.DropBadControl, with(func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveReduce, inc.Roots-1 })},
		{"a Broadcast from nobody", inc.DropBadControl, with(func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveBroadcast, inc.Roots-1 })},
		{"a Reduce's control of its root", inc.DropWrongRole, with(func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveReduce, e })},
		{"TVer", inc.DropTVer, frame(func(p *roce.Packet) { p.TVer = 1 })},
		{"a stranger's address", inc.DropForeign, frame(func(p *roce.Packet) { p.SrcIP[3] ^= 1 })},
	}
	for v := uint8(4); v < 8; v++ {
		list = append(list, wrong{fmt.Sprintf("collective %d", v), inc.DropBadControl, with(func(c *inc.Control) { c.Collective = v })})
	}
	for _, v := range missing(t.p.OpMask(), 4) {
		list = append(list, wrong{fmt.Sprintf("op %d", v), inc.DropBadControl, with(func(c *inc.Control) { c.Op = v })})
	}
	for _, v := range missing(t.p.DTypeMask(), 4) {
		list = append(list, wrong{fmt.Sprintf("dtype %d", v), inc.DropBadControl, with(func(c *inc.Control) { c.DType = v })})
	}
	if len(g.ends) > 1 {
		list = append(list, wrong{"a Broadcast's control of another rank", inc.DropWrongRole,
			with(func(c *inc.Control) { c.Collective, c.Root = inc.CollectiveBroadcast, 1 })})
	}
	if t.p.ICRCCheck {
		f := r.control(e, base, good)
		f.data[len(f.data)-1] ^= 1
		list = append(list, wrong{"a damaged control", inc.DropICRC, f})
	}
	if r.ranges > 0 {
		list = append(list, wrong{"a control of the end of the range before", inc.DropControl, r.lastSent(e, good)})
	}
	if err := r.dropAll(slices.DeleteFunc(list, func(x wrong) bool { return x.f.data == nil })); err != nil {
		return err
	}
	// The control is lost: what comes after it is answered once.
	if err := g.step("data whose control is lost", g.t.marked(g.data(e, base.Next(), g.values(8))), own(false, ackOf(e, base, 0x60))...); err != nil {
		return err
	}
	return g.dropped(inc.DropRange, "the same again", r.control(e, base.Next(), good))
}

// lastSent is a control in the place of the last packet that endpoint e sent, if that was no control; else it has no data.
func (r *rail) lastSent(e int, c inc.Control) portFrame {
	if len(r.past) < 2 || !r.parts.sends(e) {
		return portFrame{}
	}
	return r.control(e, r.in[e].Prev(), c)
}

// wrongInRange opens an AllReduce with endpoint 0's control and lets the others contradict it, then carries it out.
func (r *rail) wrongInRange() error {
	g := r.g
	good := r.draw(inc.CollectiveAllReduce, 0, 3)
	first := r.in[0]
	if err := g.step("the control", r.control(0, first, good)); err != nil {
		return err
	}
	list := []wrong{
		{"the control again", inc.DropStale, r.control(0, first, good)},
		{"the control in the middle", inc.DropControl, r.control(0, first.Next(), good)},
		{"another one in the middle", inc.DropControl, r.control(0, first.Add(3), r.draw(inc.CollectiveBarrier, 0, 0))},
		{"data beyond the end", inc.DropRange, g.data(0, first.Add(4), g.values(8))},
		{"the next control before the end", inc.DropRange, r.control(0, first.Add(4), good)},
		{"another one again", inc.DropControl, r.control(0, first, r.draw(inc.CollectiveAllReduce, 0, 4))},
	}
	for _, e := range g.members()[1:] {
		for _, x := range []struct {
			what   string
			change func(c *inc.Control)
		}{
			{"another collective", func(c *inc.Control) { c.Collective = inc.CollectiveBarrier }}, {"a Reduce", func(c *inc.Control) { c.Collective = inc.CollectiveReduce }},
			{"no collective", func(c *inc.Control) { c.Collective = 7 }}, {"another operation", func(c *inc.Control) { c.Op ^= 1 }},
			{"no operation", func(c *inc.Control) { c.Op = 3 }}, {"another type", func(c *inc.Control) { c.DType ^= 2 }},
			{"another root", func(c *inc.Control) { c.Root = 3 }}, {"fewer packets", func(c *inc.Control) { c.Packets-- }}, {"many more packets", func(c *inc.Control) { c.Packets += 1 << 19 }},
		} {
			c := good
			x.change(&c)
			list = append(list, wrong{x.what, inc.DropControl, r.control(e, r.in[e], c)})
		}
		list = append(list, wrong{"data in the place of the control", inc.DropControl, g.data(e, r.in[e], g.values(4))},
			wrong{"data without payload in the place of the control", inc.DropControl, g.data(e, r.in[e], nil)})
	}
	if err := r.dropAll(list); err != nil {
		return err
	}
	for _, e := range g.members()[1:] {
		if err := g.step("a gap across the range's start", g.t.marked(g.data(e, r.in[e].Next(), g.values(8))), own(false, ackOf(e, r.in[e], 0x60))...); err != nil {
			return err
		}
		if err := g.dropped(inc.DropGap, "the same again", g.data(e, r.in[e].Next(), g.values(8))); err != nil {
			return err
		}
	}
	r.begun = 0
	if err := r.run(good, 1); err != nil {
		return err
	}
	for _, e := range g.members() { // a gap at the end of it: everything is acknowledged
		if err := g.dropped(inc.DropStaleAck, "an ACK beyond the end", g.aeth(e, r.out[e], 0x60)); err != nil {
			return err
		}
	}
	return nil
}

// scenInBandBefore is what happens in the range before the current one: results sent again with its numbers and its type, ACKs and
// NAKs of it, and answers in the place of data that everybody has; and what is older is gone.
func scenInBandBefore(t *T) error {
	for _, parent := range []bool{false, true} {
		for _, start := range []roce.PSN{roce.PSN(t.rng.Uint32() & 0xFFFFFF), 0xFFFFF2} {
			r, err := t.newRail(parent, withStart(start))
			if err != nil {
				return err
			}
			members := r.g.members() // at least two, so that the next range's control is not complete at once
			for _, c := range []inc.Control{r.draw(inc.CollectiveAllReduce, 0, 3), r.draw(inc.CollectiveReduce, 0, 2), r.draw(inc.CollectiveAllReduce, 0, 2),
				r.draw(inc.CollectiveBroadcast, 1, 2), r.draw(inc.CollectiveBarrier, 0, 2), r.draw(inc.CollectiveReduce, 1, 3), r.draw(inc.CollectiveBroadcast, 0, 3)} {
				if err := r.run(c, 0); err != nil {
					return err
				}
				old := *r
				// Somebody who has a part in it goes on: it opens an AllReduce.
				begun := members[t.rng.IntN(len(members))]
				next := r.draw(inc.CollectiveAllReduce, 0, 2)
				if err := r.g.step("the next control", r.control(begun, r.in[begun], next)); err != nil {
					return err
				}
				r.begun = begun
				if err := old.again(false); err != nil {
					return fmt.Errorf("%+v, while the next range is open: %w", c, err)
				}
				if err := old.answers(); err != nil {
					return fmt.Errorf("%+v, while the next range is open: %w", c, err)
				}
				if err := old.acknowledge(); err != nil {
					return fmt.Errorf("while the next range is open: %w", err)
				}
				if err := old.again(true); err != nil {
					return fmt.Errorf("%+v, acknowledged, while the next range is open: %w", c, err)
				}
				if err := r.run(next, 1); err != nil {
					return err
				}
				if err := r.run(r.draw(inc.CollectiveBarrier, 0, 0), 1); err != nil {
					return err
				}
				for e := range r.g.ends {
					if old.parts.sends(e) {
						if err := r.g.dropped(inc.DropRange, "data of a range that is over", old.frame(&old.past[1], e)); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// again has everybody send every packet of the range again, the next range's control being the last contribution. With everything acknowledged, a Reduce's and a Broadcast's data is answered
// with an ACK of the whole range.
func (r *rail) again(acknowledged bool) error {
	for i := range r.past {
		p := &r.past[i]
		for e := range r.g.ends {
			if !r.parts.sends(e) {
				continue
			}
			var want []leaving
			switch {
			case acknowledged && r.span.Collective != inc.CollectiveAllReduce && r.span.Collective != inc.CollectiveBarrier:
				want = own(false, ackOf(e, r.past[len(r.past)-1].in[e], 0x1F))
			case e == r.parts.source:
				want = p.heard(p.down, r.parts.to...)
			case i+2*r.g.mw() <= len(r.past): // its slot is in use again
			case r.parts.parent >= 0:
				want = own(p.ce, p.heard(p.up, r.parts.parent)...)
			default:
				want = own(p.ce, p.heard(p.up, e)...)
			}
			if err := r.g.step(fmt.Sprintf("packet %d sent again by endpoint %d", i, e), r.g.t.marked(r.frame(p, e)), want...); err != nil {
				return err
			}
		}
	}
	return nil
}

// answers are NAKs of the range's packet 1, and what may not be said of it.
func (r *rail) answers() error {
	p := &r.past[1]
	for _, e := range r.parts.acks {
		for _, s := range []uint8{0x60, 0x2C} {
			var want []leaving
			switch r.span.Collective {
			case inc.CollectiveReduce:
				for _, c := range r.parts.up {
					want = append(want, ackOf(c, p.in[c], s))
				}
			case inc.CollectiveBroadcast: // until all have said so, nobody is known to have anything
				least := r.past[0].in[r.parts.source]
				if e == r.parts.acks[len(r.parts.acks)-1] {
					least = p.in[r.parts.source]
				}
				want = []leaving{ackOf(r.parts.source, least, s)}
			default:
				want = []leaving{ackOf(e, p.in[e], s)}
			}
			if err := r.g.step(fmt.Sprintf("NAK of packet 1 from endpoint %d", e), r.g.t.marked(r.g.aeth(e, p.out[e], s)), want...); err != nil {
				return err
			}
		}
	}
	for e := range r.g.ends {
		if !slices.Contains(r.parts.acks, e) && !r.parts.hears(e) {
			if err := r.g.dropped(inc.DropStaleAck, "an ACK from who heard nothing", r.g.aeth(e, p.out[e].Add(-1), 0x1F)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scenInBandReset drains and restarts a group in the middle of ranges: nothing of them is left, and numbers begin at START.
func scenInBandReset(t *T) error {
	r, err := t.newRail(false)
	if err != nil {
		return err
	}
	for round := range 6 {
		for range t.rng.IntN(3) {
			if err := r.run(r.anything(), 1); err != nil {
				return err
			}
		}
		c := r.draw(uint8(round%4), 0, 4)
		r.enter(c)
		for range 1 + t.rng.IntN(4) {
			if err := r.next(16); err != nil {
				return err
			}
		}
		half := r.make(16) // and one packet that only some send
		for e := range r.g.ends[1:] {
			if r.parts.sends(e) && len(r.parts.up) > 1 {
				f := r.frame(half, e)
				r.g.e.send(f.port, f.data)
				break
			}
		}
		if _, err := r.g.e.settle(); err != nil {
			return err
		}
		stale := r.frame(&r.past[0], r.sender())
		switch round % 3 {
		case 0:
			err = r.g.e.drv.ResetGroup(r.g.index)
		case 1: // another START
			r.g.set.Start = roce.PSN(t.rng.Uint32() & 0xFFFFFF)
			err = r.g.program()
		case 2:
			if err = r.g.e.drv.Disable(r.g.index); err == nil {
				err = r.g.dropped(inc.DropGroupDisabled, "a control while the group is disabled", stale)
			}
			if err == nil {
				err = r.g.program()
			}
		}
		if err != nil {
			return err
		}
		r.restart()
		for e := range r.g.ends {
			if err := r.g.dropped(inc.DropRange, "data of before the restart", r.g.data(e, r.in[e].Add(-3), r.g.values(8))); err != nil {
				return err
			}
			if err := r.g.dropped(inc.DropStaleAck, "an ACK of before the restart", r.g.aeth(e, r.out[e].Add(-1), 0x1F)); err != nil {
				return err
			}
		}
		if err := r.run(r.draw(inc.CollectiveAllReduce, 0, 3), 1); err != nil {
			return err
		}
	}
	return nil
}

// sender is an endpoint that sends in the current range.
func (r *rail) sender() int {
	for e := range r.g.ends {
		if r.parts.sends(e) {
			return e
		}
	}
	return 0
}

// scenInBandRandom carries out ranges in bursts, back to back, contributors in any order, among repetitions, gaps, answers of
// every kind and controls that contradict; all results arrive and are right.
func scenInBandRandom(t *T) error {
	ranges := 12
	if t.long {
		ranges = 200
	}
	for _, parent := range []bool{false, true} {
		r, err := t.newRail(parent)
		if err != nil {
			return err
		}
		for range ranges {
			if err := r.burst(r.anything()); err != nil {
				return fmt.Errorf("range %d, %+v: %w", r.ranges-1, r.span, err)
			}
		}
	}
	return nil
}

// burst carries out a range so many packets at a time as the window allows.
func (r *rail) burst(c inc.Control) error {
	g, t := r.g, r.g.t
	old := *r // what is left of the range before
	r.enter(c)
	end := slices.Clone(r.in) // where the next range begins on each wire
	for e := range end {
		if r.parts.sends(e) {
			end[e] = end[e].Add(c.Packets + 1)
		}
	}
	for done := 0; done <= c.Packets; {
		count := 1 // a control alone: others' would be data before it
		if done > 0 {
			count = min(1+t.rng.IntN(g.mw()), c.Packets+1-done)
		}
		queues := map[int][]portFrame{}
		for range count {
			p := r.make(t.rng.IntN(min(t.p.MTUBytes, 200) + 1))
			for e := range g.ends {
				if _, sends := p.sent[e]; sends {
					queues[e] = append(queues[e], r.frame(p, e))
				}
			}
		}
		var order []int // an endpoint as many times as it has frames
		for e := range g.ends {
			for range queues[e] {
				order = append(order, e)
			}
		}
		t.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, e := range order {
			f := t.marked(queues[e][0])
			queues[e] = queues[e][1:]
			g.e.send(f.port, f.data)
			for t.rng.IntN(3) == 0 {
				junk := t.marked(r.junk(&old, end))
				g.e.send(junk.port, junk.data)
			}
		}
		if err := r.arrived(&old, done); err != nil {
			return err
		}
		done += count
		if t.rng.IntN(3) == 0 || done > c.Packets {
			for _, e := range r.parts.acks {
				f := g.aeth(e, r.out[e].Prev(), 0x1F)
				g.e.send(f.port, f.data)
			}
		}
	}
	return nil
}

// junk is a frame that changes nothing of what a range does, but may be answered: end is where no control may be, so that no range is
// opened.
func (r *rail) junk(old *rail, end []roce.PSN) portFrame {
	g, t := r.g, r.g.t
	e := t.rng.IntN(len(g.ends))
	near := func(psn roce.PSN) roce.PSN { return psn.Add(t.rng.IntN(9) - 6) }
	switch t.rng.IntN(8) {
	case 0, 1: // a packet of this range or the one before, which its sender has sent: it is in one of the bursts before
		from := r
		if t.rng.IntN(2) == 0 {
			from = old
		}
		if i := len(from.past) - 1 - g.mw() - t.rng.IntN(4); i >= 0 && from.parts.sends(e) {
			return from.frame(&from.past[i], e)
		}
		return g.cnp(e, near(r.in[e]))
	case 2: // ahead of what this burst sends; the parent's would be copied
		if e == r.parts.source {
			return g.cnp(e, near(r.in[e]))
		}
		return g.data(e, r.in[e].Add(1+t.rng.IntN(3)), g.values(8))
	case 3:
		return g.cnp(e, near(r.in[e]))
	case 4, 5: // of what was heard before this burst
		psn := r.out[e].Add(-1 - g.mw() - t.rng.IntN(4))
		return g.aeth(e, psn, []uint8{0x1F, 0x1F, 0x60, 0x25, 0x40}[t.rng.IntN(5)])
	default:
		if len(r.past) == 1 {
			return g.cnp(e, near(r.in[e])) // it might arrive first and open the range
		}
		c := inc.ControlOf(t.rng.Uint32())
		if t.rng.IntN(2) == 0 {
			c = r.span
			c.Packets ^= t.rng.IntN(2)
		}
		wire := near(r.in[e])
		if wire == end[e] {
			wire = wire.Next()
		}
		return r.control(e, wire, c)
	}
}

// arrived settles the engine and checks that every packet from number done on was heard by all who must hear it, and that whatever
// data left, now or once more, is right.
func (r *rail) arrived(old *rail, done int) error {
	g := r.g
	outs, err := g.e.settle()
	if err != nil {
		return err
	}
	type where struct {
		to  int
		psn roce.PSN
	}
	right, due := map[where][][]byte{}, map[where]bool{}
	for _, x := range []*rail{old, r} {
		for i := range x.past {
			p := &x.past[i]
			for e := range g.ends {
				at := where{e, p.out[e]}
				switch {
				case !x.parts.hears(e) && !slices.Contains(x.parts.up, e):
					continue
				case e == x.parts.parent || x.parts.source < 0 || x.parts.parent < 0 && len(x.parts.up) > 0:
					right[at] = append(right[at], p.up)
				default:
					right[at] = append(right[at], p.down)
				}
				due[at] = x == r && i >= done && x.parts.hears(e)
			}
		}
	}
	for _, o := range outs {
		p, err := roce.Decode(o.Data)
		if err != nil {
			return err
		}
		if !p.Op.IsSend() {
			continue
		}
		at := where{g.addressee(o.Port, &p), p.PSN}
		if !slices.ContainsFunc(right[at], func(b []byte) bool { return bytes.Equal(b, p.Payload) }) {
			return failf("endpoint %d got PSN %v with %d bytes that nobody's sum is", at.to, p.PSN, len(p.Payload))
		}
		due[at] = false
	}
	for at, missing := range due {
		if missing {
			return failf("PSN %v never came to endpoint %d", at.psn, at.to)
		}
	}
	return nil
}

// scenInBandEarly has a rank without a part in a Reduce go on before that has ended, which hosts that keep to the rules do not do: its range
// opens, and has a window of its own.
func scenInBandEarly(t *T) error {
	r, err := t.newRail(false)
	if err != nil {
		return err
	}
	members, mw := r.g.members(), r.g.mw()
	early := members[len(members)-1]
	reduce, next := r.draw(inc.CollectiveReduce, early, 2*mw), r.draw(inc.CollectiveAllReduce, 0, 2*mw)
	for _, e := range members[:len(members)-2] { // one is missing
		if err := r.g.step("a Reduce that is not complete", r.control(e, r.in[e], reduce)); err != nil {
			return err
		}
	}
	before, err := r.g.e.counter("AGG")
	if err != nil {
		return err
	}
	r.enter(next)
	if err := r.g.step("the next range's control", r.control(early, r.in[early], next)); err != nil {
		return err
	}
	for k := 1; k < mw; k++ {
		if err := r.g.step("the next range's data", r.g.data(early, r.in[early].Add(k), r.g.values(32))); err != nil {
			return err
		}
	}
	after, err := r.g.e.counter("AGG")
	if err != nil {
		return err
	}
	if after-before != uint32(mw) {
		return failf("%d contributions to the range that was opened early were taken, expected a window of %d", after-before, mw)
	}
	return r.g.dropped(inc.DropWindow, "one packet more than the window", r.g.data(early, r.in[early].Add(mw), r.g.values(32)))
}
