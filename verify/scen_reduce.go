// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
)

// oneWay is one engine with a group fixed to a Reduce toward its parent or a Broadcast from there; host tells whether a NIC or
// another switch is at the parent's end.
func (t *T) oneWay(collective uint8, host bool, opts ...groupOption) (*group, error) {
	e, err := t.newEngine()
	if err != nil {
		return nil, err
	}
	opts = append([]groupOption{withCollective(collective, host)}, opts...)
	return e.newGroup(0, 1, t.children(), true, append(opts, withRanks(t.p.Members+1, t.rng.Uint64()))...)
}

// children is how many endpoints a group can have beside a parent that may contribute too.
func (t *T) children() int {
	if t.p.Reproducible() && t.p.Members%2 == 0 {
		return t.p.Members - 1 // the last endpoint has no place in the pairs of the buffer
	}
	return t.p.Members
}

// allBut is list without x.
func allBut(list []int, x int) []int {
	var rest []int
	for _, y := range list {
		if y != x {
			rest = append(rest, y)
		}
	}
	return rest
}

// sendOf is a SEND ONLY without immediate that must leave.
func sendOf(to int, psn roce.PSN, payload []byte) leaving {
	return leaving{to: to, op: roce.SendOnly, psn: psn, payload: payload}
}

// cnpOf is a CNP that must leave.
func cnpOf(to int, psn roce.PSN) leaving {
	return leaving{to: to, op: roce.CNP, psn: psn, payload: make([]byte, 16)}
}

// reduceOne has the group's contributors send one PSN; before the last one nothing leaves, then the sum goes to the parent alone,
// with CE if any of them came with it. What is dropped marks nothing. The result is what leaves.
func (g *group) reduceOne(psn roce.PSN) (sum []leaving, err error) {
	m := g.members()
	var all [][]byte
	ce := false
	for i, c := range m {
		b := g.values(20)
		all = append(all, b)
		f := g.t.marked(g.data(c, psn, b))
		ce = ce || f.ce()
		if i == len(m)-1 {
			sum = own(ce, sendOf(g.parent, psn, g.reduce(all...)))
		}
		if err := g.step(fmt.Sprintf("contribution of endpoint %d", c), f, sum...); err != nil {
			return nil, err
		}
		if i == 0 && len(m) > 1 {
			if err := g.dropped(inc.DropStale, "a contribution sent twice before it is complete", g.t.marked(g.data(c, psn, b))); err != nil {
				return nil, err
			}
		}
	}
	return sum, nil
}

// scenReduce is a Reduce packet by packet: toward a host and toward another switch, across the wrap, with every mask of contributors.
func scenReduce(t *T) error {
	for _, host := range []bool{true, false} {
		for _, start := range []roce.PSN{roce.PSN(t.rng.Uint32() & 0xFFFFFF), 0xFFFFFE} {
			g, err := t.oneWay(inc.CollectiveReduce, host, withStart(start))
			if err != nil {
				return err
			}
			if err := g.reduceStream(); err != nil {
				return fmt.Errorf("start %v, host %v: %w", start, host, err)
			}
			if err := g.reduceAnswers(); err != nil {
				return fmt.Errorf("start %v, host %v: %w", start, host, err)
			}
		}
	}
	g, err := t.oneWay(inc.CollectiveReduce, true)
	if err != nil {
		return err
	}
	return g.reduceMasks()
}

// reduceStream sends more than a ring; results that are lost are asked for again, by any contributor, and go to the parent.
func (g *group) reduceStream() error {
	m, root := g.members(), g.parent
	for k := range 2*g.mw() + 3 {
		psn := g.set.Start.Add(k)
		sum, err := g.reduceOne(psn)
		if err != nil {
			return err
		}
		if err := g.step("a contribution sent again", g.t.marked(g.data(m[k%len(m)], psn, g.values(20))), sum...); err != nil {
			return err
		}
		if k%3 != 2 {
			continue // cumulative (A12)
		}
		for range 2 {
			if err := g.step("an ACK", g.t.marked(g.aeth(root, psn, 0x1F)), copies(ackOf(0, psn, 0x1F), m...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// reduceAnswers is what the root may say, and what others may not.
func (g *group) reduceAnswers() error {
	m, root := g.members(), g.parent
	if err := g.e.drv.ResetGroup(g.index); err != nil {
		return err
	}
	at := func(k int) roce.PSN { return g.set.Start.Add(k) }
	for k := range g.mw() {
		if _, err := g.reduceOne(at(k)); err != nil {
			return err
		}
	}
	last, next := at(g.mw()-1), at(g.mw())

	// A gap: nothing is acknowledged yet; then the root's ACK counts, and nobody's own.
	if err := g.step("a gap", g.t.marked(g.data(m[0], at(g.mw()+1), g.values(4))), own(false, ackOf(m[0], at(0), 0x60))...); err != nil {
		return err
	}
	if err := g.step("the same gap", g.data(m[0], at(g.mw()+1), g.values(4))); err != nil {
		return err
	}
	for _, s := range []uint8{0x1F, 0x00, 0x0B, 0x60, 0x61, 0x62, 0x63, 0x20, 0x21, 0x3F} {
		if err := g.step("an answer", g.t.marked(g.aeth(root, last, s)), copies(ackOf(0, last, s), m...)...); err != nil {
			return err
		}
	}
	c := m[len(m)-1]
	if len(m) > 1 {
		if err := g.step("a gap after an ACK", g.t.marked(g.data(c, at(g.mw()+1), g.values(4))), own(false, ackOf(c, next, 0x60))...); err != nil {
			return err
		}
	}
	for _, psn := range []roce.PSN{0, last, 0xFFFFFF} {
		if err := g.step("a CNP", g.t.marked(g.cnp(root, psn)), copies(cnpOf(0, psn), m...)...); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		what string
		want inc.Counter
		f    portFrame
	}{
		{"data from the parent", inc.DropWrongRole, g.data(root, next, g.values(4))},
		{"an ACK of a contributor", inc.DropWrongRole, g.aeth(m[0], last, 0x1F)},
		{"a NAK of a contributor", inc.DropWrongRole, g.aeth(m[0], last, 0x60)},
		{"a CNP of a contributor", inc.DropWrongRole, g.cnp(m[0], last)},
		{"a reserved syndrome", inc.DropSyndrome, g.aeth(root, last, 0x40)},
		{"data before START", inc.DropStale, g.data(m[0], g.set.Start.Prev(), g.values(4))},
	} {
		if err := g.dropped(x.want, x.what, x.f); err != nil {
			return err
		}
	}

	// ACKs of whatever PSN find the slots as they leave them (A20).
	var all [][]byte
	ce := false
	for i, c := range m {
		if i == len(m)-1 {
			for _, d := range []int{-2 * g.mw(), -1, 0, 1, 2 * g.mw(), 1 << 20} {
				psn := next.Add(d)
				if err := g.step("an ACK while a sum is open", g.t.marked(g.aeth(root, psn, 0x1F)), copies(ackOf(0, psn, 0x1F), m...)...); err != nil {
					return err
				}
			}
		}
		b := g.values(12)
		all = append(all, b)
		f := g.t.marked(g.data(c, next, b))
		ce = ce || f.ce()
		var want []leaving
		if i == len(m)-1 {
			want = own(ce, sendOf(root, next, g.reduce(all...)))
		}
		if err := g.step("a contribution among ACKs", f, want...); err != nil {
			return err
		}
	}
	return nil
}

// reduceMasks takes contributors away one by one, then lets the root contribute (A14).
func (g *group) reduceMasks() error {
	all := g.set.InMask
	masks := []uint32{all | 1<<g.parent}
	for mask := all; mask != 0; mask &= mask - 1 {
		masks = append(masks, mask)
	}
	for _, mask := range masks {
		if g.t.p.Reproducible() && g.t.p.Members%2 == 0 && mask>>g.t.p.Members != 0 {
			continue
		}
		g.set.InMask, g.set.Start = mask, roce.PSN(g.t.rng.Uint32()&0xFFFFFF)
		if err := g.program(); err != nil {
			return err
		}
		for k := range 2*g.mw() + 1 {
			psn := g.set.Start.Add(k)
			if _, err := g.reduceOne(psn); err != nil {
				return fmt.Errorf("in_mask %#x: %w", mask, err)
			}
			if err := g.step("an ACK", g.t.marked(g.aeth(g.parent, psn, 0x1F)), copies(ackOf(0, psn, 0x1F), g.members()...)...); err != nil {
				return fmt.Errorf("in_mask %#x: %w", mask, err)
			}
		}
		for c := range g.ends {
			if mask>>c&1 == 0 {
				if err := g.dropped(inc.DropWrongRole, "data from outside in_mask", g.data(c, g.set.Start, g.values(4))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
