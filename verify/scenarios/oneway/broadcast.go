// SPDX-License-Identifier: Apache-2.0

package oneway

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// broadcast is from a host and from another switch, to all the other endpoints, across the wrap.
func broadcast(t *rig.T) {
	for _, host := range []bool{true, false} {
		for _, start := range []roce.PSN{roce.PSN(t.Rand.Uint32() & 0xFFFFFF), 0xFFFFFB} {
			g := t.OneWay(inc.CollectiveBroadcast, host, rig.WithStart(start), rig.WithLog2N(1), rig.WithParentAt(t.Rand.IntN(t.Children()+1)))
			other := besides(g)
			for _, part := range []func(g *rig.Group, r *receivers){broadcastData, broadcastAcks, broadcastNAKs, broadcastRoles, broadcastCrowd} {
				g.Reset()
				r := newReceivers(g)
				r.other = other
				part(g, r)
			}
		}
	}
	if t.Children() > 1 {
		newTwoLevels(t).run()
	}
}

// besides is another group on the same engine, an AllReduce of one member, or nothing if there is no room.
func besides(g *rig.Group) *rig.Group {
	t := g.T
	if rig.MaxGroups(t.Params) < 2 || !rig.RoomForTwo(t.Params) {
		return nil
	}
	return g.E.Group(rig.MaxGroups(t.Params)-1, rig.MaxGroups(t.Params), 1, false)
}

// receivers are the endpoints that a Broadcast goes to and what each has acknowledged: the scenario's own idea of what is passed on to
// the sender. Packets are counted from START.
type receivers struct {
	g     *rig.Group
	all   []int
	acked []int // by endpoint; −1: nothing
	// other is a group whose frames come between, if there is one: nothing of theirs counts here.
	other *rig.Group
}

func newReceivers(g *rig.Group) *receivers {
	r := &receivers{g: g, all: g.Those(g.Set.AckMask)}
	for range g.Ends {
		r.acked = append(r.acked, -1)
	}
	return r
}

// least is the last packet that everybody has.
func (r *receivers) least() int {
	least := r.acked[r.all[0]]
	for _, c := range r.all {
		least = min(least, r.acked[c])
	}
	return least
}

// passedOn must go to the sender when endpoint c says this of packet k.
func (r *receivers) passedOn(c, k int, syndrome uint8) []rig.Want {
	before, ack := r.least(), syndrome < roce.RNRSyndrome
	has := k
	if !ack {
		has = k - 1
	}
	r.acked[c] = max(r.acked[c], has)
	after := r.least()
	switch start := r.g.Start(); {
	case !ack && k > after:
		return []rig.Want{rig.AETHTo(r.g.Parent, start.Add(after+1), syndrome)}
	case !ack, after > before, k <= before: // a NAK of what everybody has is an old one
		return []rig.Want{rig.AckTo(r.g.Parent, start.Add(after))}
	}
	return nil
}

// says sends an answer of endpoint c, marked now and then, and checks what goes to the sender: marked as it is.
func (r *receivers) says(c, k int, syndrome uint8) {
	if o := r.other; o != nil && r.g.T.Rand.IntN(2) == 0 {
		o.Send(o.AETH(0, o.Start(), 0x40)).As("a reserved syndrome in another group").Dropped(inc.DropSyndrome)
	}
	r.g.Send(r.g.T.Marked(r.g.AETH(c, r.g.PSN(k), syndrome))).As("endpoint %d says %#02x to packet %d", c, syndrome, k).
		Expect(r.passedOn(c, k, syndrome)...)
}

// broadcastData: whatever comes from the parent is copied, in order or not, once or again.
func broadcastData(g *rig.Group, r *receivers) {
	t := g.T
	for _, k := range []int{0, 1, 1, 2, 7, 3, 0, 4 * g.MW()} {
		psn, b, imm := g.PSN(k), g.Noise(t.Rand.IntN(t.Params.MTUBytes+1)), t.Rand.Uint32()
		f := g.Data(g.Parent, psn, b, func(p *roce.Packet) { p.Op, p.Imm = roce.SendLastImm, imm })
		want := rig.Want{Op: roce.SendLastImm, PSN: psn, Payload: b, Imm: imm}
		g.Send(t.Marked(f)).As("packet %d", k).Expect(rig.Copies(want, r.all...)...)
	}
}

// broadcastAcks has ACKs in every order: cumulative, repeated, late.
func broadcastAcks(g *rig.Group, r *receivers) {
	t := g.T
	for k := range 12 {
		for i, c := range t.Shuffled(r.all) {
			if t.Rand.IntN(3) == 0 && i > 0 {
				continue // it will acknowledge more at once
			}
			r.says(c, k, roce.AckSyndrome)
			if t.Rand.IntN(2) == 0 { // once more: what was passed on may have been lost
				r.says(c, max(0, k-t.Rand.IntN(3)), uint8(t.Rand.IntN(0x20)))
			}
		}
	}
	for range 2 { // the second time everybody has everything, and each repetition is passed on
		for _, c := range r.all {
			r.says(c, 20, roce.AckSyndrome)
		}
	}
}

// broadcastNAKs: NAKs and RNR NAKs are passed on as of the first packet that somebody may lack, old ones as an ACK.
func broadcastNAKs(g *rig.Group, r *receivers) {
	t, slowest := g.T, r.all[len(r.all)-1]
	for _, c := range r.all {
		has := 9
		if c == slowest {
			has = 4
		}
		r.says(c, has, roce.AckSyndrome)
	}
	for _, syndrome := range []uint8{0x60, 0x61, 0x62, 0x63, 0x20, 0x2E, 0x3F} {
		r.says(r.all[0], 10, syndrome)
	}
	for range 40 {
		k := max(0, r.least()+t.Rand.IntN(8)-2)
		c := r.all[t.Rand.IntN(len(r.all))]
		r.says(c, k, []uint8{0x1F, 0x60, 0x21, 0x1F}[t.Rand.IntN(4)])
	}
}

// broadcastRoles: CNPs go to the sender, and nobody may send what is the other side's to send.
func broadcastRoles(g *rig.Group, r *receivers) {
	t, start := g.T, g.Start()
	for _, c := range r.all {
		psn := roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
		g.Send(t.Marked(g.CNP(c, psn))).As("a CNP").Expect(rig.CNPTo(g.Parent, psn))
		g.Send(g.Data(c, start, g.Noise(8))).As("data from a receiver").Dropped(inc.DropWrongRole)
	}
	g.Send(g.Ack(g.Parent, start)).As("an ACK of the sender").Dropped(inc.DropWrongRole)
	g.Send(g.CNP(g.Parent, start)).As("a CNP of the sender").Dropped(inc.DropWrongRole)
	first := r.all[0]
	g.Send(g.AETH(first, start, 0x5F)).As("a reserved syndrome").Dropped(inc.DropSyndrome)

	// An endpoint of in_mask has no part, unless it is the parent.
	saved := g.Set.InMask
	g.Set.InMask = 1<<first | 1<<g.Parent
	g.Program()
	g.Send(g.Data(first, start, g.Noise(8))).As("data from in_mask").Dropped(inc.DropWrongRole)
	b := g.Noise(8)
	g.Send(g.Data(g.Parent, start, b)).As("data from the parent").Expect(rig.Copies(rig.DataTo(0, start, b), r.all...)...)
	g.Set.InMask = saved
	g.Program()
}

// broadcastCrowd: data comes in faster than its copies leave, and answers wait among it, right behind each other: each counts what the one ahead of it has said.
func broadcastCrowd(g *rig.Group, r *receivers) {
	const data, packets = 64, 12
	t, e := g.T, g.E
	var cycles int
	for k := range data {
		f := g.Data(g.Parent, g.PSN(k), g.Noise(16))
		cycles += t.Params.Beats(len(f.Data))
		e.Put(f)
	}
	e.StepTo(e.Now() + uint64(cycles))
	for k := range packets {
		for _, c := range t.Shuffled(r.all) {
			e.Put(g.Ack(c, g.PSN(k)))
		}
	}
	e.Settle()
}
