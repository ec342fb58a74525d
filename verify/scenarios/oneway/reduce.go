// SPDX-License-Identifier: Apache-2.0

package oneway

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// reduce is toward a host and toward another switch, across the wrap.
func reduce(t *rig.T) {
	for _, host := range []bool{true, false} {
		for _, start := range []roce.PSN{roce.PSN(t.Rand.Uint32() & 0xFFFFFF), 0xFFFFFE} {
			g := t.OneWay(inc.CollectiveReduce, host, rig.WithStart(start))
			reduceStream(g)
			g.Reset()
			for k := range g.MW() { // as many packets as can be under way
				reduceOne(g, k)
			}
			rootAnswers(g)
			reduceRoles(g)
			acksWhileOpen(g)
		}
	}
	reduceMasks(t.OneWay(inc.CollectiveReduce, true))
}

// reduceOne has all contributors send one packet. Nothing leaves before the last one, then the sum goes to the parent alone, with CE if any
// contribution came with it; one that is dropped marks nothing. It returns what must leave.
func reduceOne(g *rig.Group, k int) (sum []rig.Want) {
	r := g.Round(g.PSN(k), 20)
	return reduceAmong(r, g, func(i int) {
		if i == 1 {
			g.Send(g.T.Marked(r.Frame(g.Members()[0]))).As("a contribution sent twice before it is complete").Dropped(inc.DropStale)
		}
	})
}

// reduceAmong is reduceOne with something else before the i-th contribution.
func reduceAmong(r *rig.Round, g *rig.Group, before func(i int)) (sum []rig.Want) {
	ce, last := false, len(g.Members())-1
	for i, c := range g.Members() {
		before(i)
		f := g.T.Marked(r.Frame(c))
		ce = ce || f.CE()
		if i == last {
			sum = rig.Own(ce, rig.DataTo(g.Parent, r.PSN, r.Result()))
		}
		g.Send(f).As("contribution of endpoint %d", c).Expect(sum...)
	}
	return sum
}

// reduceStream sends more than a ring of slots holds. A result that is lost is asked for again, by any contributor, and goes to the parent.
func reduceStream(g *rig.Group) {
	t, members := g.T, g.Members()
	for k := range 2*g.MW() + 3 {
		psn, sum := g.PSN(k), reduceOne(g, k)
		g.Send(t.Marked(g.Data(members[k%len(members)], psn, g.Values(20)))).As("a contribution sent again").Expect(sum...)
		if k%3 != 2 {
			continue // ACKs are cumulative
		}
		for range 2 {
			rootSays(g, psn, roce.AckSyndrome)
		}
	}
}

// rootSays has the root answer a packet; everybody who contributes must hear it.
func rootSays(g *rig.Group, psn roce.PSN, syndrome uint8) {
	g.Send(g.T.Marked(g.AETH(g.Parent, psn, syndrome))).As("syndrome %#02x of the root to PSN %v", syndrome, psn).
		Expect(rig.Copies(rig.AETHTo(0, psn, syndrome), g.Members()...)...)
}

// rootAnswers has contributors leave a gap behind a full window: nothing counts as acknowledged before the root's ACK. What the root says
// goes to all contributors.
func rootAnswers(g *rig.Group) {
	t, members, root := g.T, g.Members(), g.Parent
	next := g.PSN(g.MW())
	last, gap := next.Prev(), next.Next()
	first := members[0]
	g.Send(t.Marked(g.Data(first, gap, g.Values(4)))).As("a gap").Expect(rig.Own(false, rig.AETHTo(first, g.Start(), roce.NAKSequence))...)
	g.Send(g.Data(first, gap, g.Values(4))).As("the same gap").Expect()
	for _, syndrome := range []uint8{roce.AckSyndrome, 0x00, 0x0B, 0x60, 0x61, 0x62, 0x63, 0x20, 0x21, 0x3F} {
		rootSays(g, last, syndrome)
	}
	if len(members) > 1 {
		c := members[len(members)-1]
		g.Send(t.Marked(g.Data(c, gap, g.Values(4)))).As("a gap after an ACK").
			Expect(rig.Own(false, rig.AETHTo(c, next, roce.NAKSequence))...)
	}
	for _, psn := range []roce.PSN{0, last, 0xFFFFFF} {
		g.Send(t.Marked(g.CNP(root, psn))).As("a CNP of the root").Expect(rig.Copies(rig.CNPTo(0, psn), members...)...)
	}
}

// reduceRoles has everybody send what is not theirs to send.
func reduceRoles(g *rig.Group) {
	first, root := g.Members()[0], g.Parent
	next := g.PSN(g.MW())
	last := next.Prev()
	g.Send(g.Data(root, next, g.Values(4))).As("data from the parent").Dropped(inc.DropWrongRole)
	g.Send(g.Ack(first, last)).As("an ACK of a contributor").Dropped(inc.DropWrongRole)
	g.Send(g.AETH(first, last, roce.NAKSequence)).As("a NAK of a contributor").Dropped(inc.DropWrongRole)
	g.Send(g.CNP(first, last)).As("a CNP of a contributor").Dropped(inc.DropWrongRole)
	g.Send(g.AETH(root, last, 0x40)).As("a reserved syndrome").Dropped(inc.DropSyndrome)
	old := g.Send(g.Data(first, g.Start().Prev(), g.Values(4))).As("data before START")
	if g.T.Reacks() { // the root has acknowledged more
		old.Counted(inc.TxReack, rig.AckTo(first, last))
	} else {
		old.Dropped(inc.DropStale)
	}
}

// acksWhileOpen completes one more packet; before its last contribution come ACKs of whatever PSN, which must leave the slot as it is.
func acksWhileOpen(g *rig.Group) {
	r := g.Round(g.PSN(g.MW()), 12)
	reduceAmong(r, g, func(i int) {
		if i < len(g.Members())-1 {
			return
		}
		for _, d := range []int{-2 * g.MW(), -1, 0, 1, 2 * g.MW(), 1 << 20} {
			rootSays(g, r.PSN.Add(d), roce.AckSyndrome)
		}
	})
}

// reduceMasks has the root contribute too, then takes contributors away one by one.
func reduceMasks(g *rig.Group) {
	t, everybody := g.T, g.Set.InMask
	masks := []uint32{everybody | 1<<g.Parent}
	for mask := everybody; mask != 0; mask &= mask - 1 {
		masks = append(masks, mask)
	}
	for _, mask := range masks {
		g.Set.InMask, g.Set.Start = mask, roce.PSN(t.Rand.Uint32()&0xFFFFFF)
		g.Program()
		t.In(fmt.Sprintf("in_mask %#x", mask), func() {
			for k := range 2*g.MW() + 1 {
				reduceOne(g, k)
				rootSays(g, g.PSN(k), roce.AckSyndrome)
			}
			for c := range g.Ends {
				if mask>>c&1 == 0 {
					g.Send(g.Data(c, g.Start(), g.Values(4))).As("data from outside in_mask").Dropped(inc.DropWrongRole)
				}
			}
		})
	}
}
