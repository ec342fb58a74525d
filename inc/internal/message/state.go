// SPDX-License-Identifier: Apache-2.0

package message

import (
	"encoding/binary"
	"errors"
	"slices"

	"incforge/roce"
)

// ErrState means that bytes are no state of a group with these settings.
var ErrState = errors.New("not a state of this group")

// coder writes a state, or reads one: one function for both directions cannot differ in them.
type coder struct {
	b       []byte
	reading bool
	bad     bool
}

// number is an unsigned number in LEB128, as short as it can be.
func number[T ~int | ~uint8 | ~uint32](c *coder, v *T) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*v))
		return
	}
	x, n := binary.Uvarint(c.b)
	if n <= 0 || n > 1 && c.b[n-1] == 0 || uint64(T(x)) != x || x > 1<<32-1 {
		c.bad = true
		return
	}
	*v, c.b = T(x), c.b[n:]
}

// flags are up to eight in a byte.
func (c *coder) flags(all ...*bool) {
	v := uint8(0)
	for i, f := range all {
		if *f {
			v |= 1 << i
		}
	}
	number(c, &v)
	if c.reading {
		c.bad = c.bad || v>>len(all) != 0
		for i, f := range all {
			*f = v>>i&1 != 0
		}
	}
}

// from is a PSN as its distance from another.
func (c *coder) from(base roce.PSN, v *roce.PSN) {
	d := (uint32(*v) - uint32(base)) & roce.PSNMask
	number(c, &d)
	if c.reading {
		c.bad = c.bad || d > roce.PSNMask
		*v = roce.PSN((uint32(base) + d) & roce.PSNMask)
	}
}

// Append appends the group's state in its range: who has what, and the bytes that are kept. Where slots lie, when timers run out and how often their time was
// doubled are not in it.
func (g *Group) Append(b []byte) []byte {
	c := &coder{b: b}
	g.code(c)
	return c.b
}

// Restore reads what Append wrote for a group that has begun the same range, and gives what follows it. Bytes that are no such state are refused, and the group
// stays as it was. What waits for a time is due at once.
func (g *Group) Restore(b []byte, apply bool) ([]byte, error) {
	x := *g
	x.ends, x.outs, x.slots = slices.Clone(g.ends), slices.Clone(g.outs), make([]slot, len(g.slots))
	x.set.Memory.Words = make([]uint32, len(g.set.Memory.Words))
	c := &coder{b: b, reading: true}
	x.code(c)
	if c.bad || x.Check() != nil {
		return nil, ErrState
	}
	if apply {
		copy(g.set.Memory.Words, x.set.Memory.Words)
		x.set.Memory = g.set.Memory
		*g = x
	}
	return c.b, nil
}

// code writes or reads everything.
func (g *Group) code(c *coder) {
	c.flags(&g.releasing, &g.over, &g.poisoned)
	if g.bounded {
		c.from(g.first, &g.boundary)
	}
	for p := range pools {
		if r := &g.rings[p]; g.roles.Uses[p] {
			c.from(g.first, &r.start)
			c.from(r.start, &r.done)
			c.from(r.start, &r.sent.message)
			number(c, &r.sent.offset)
			if c.reading {
				r.head = 0
			}
		}
	}
	for i := range g.ends {
		e := &g.ends[i]
		c.from(g.set.RQ[i], &e.psn)
		c.flags(&e.inside, &e.nakSent, &e.refused)
		number(c, &e.unanswered)
		number(c, &e.msn)
		base := g.first
		if p := g.poolFrom(i); g.roles.Fills[p]>>i&1 != 0 {
			base = g.rings[p].start
		}
		c.from(base, &e.message)
		if e.inside {
			number(c, &e.offset)
		} else if c.reading {
			e.offset = 0
		}
	}
	g.codeSlots(c)
	for i := range g.outs {
		g.codeSender(c, i)
	}
}

// codeSlots is code for what is kept, which follows from how far the endpoints are.
func (g *Group) codeSlots(c *coder) {
	a := &g.roles.Arithmetic
	for p := range pools {
		for m := g.rings[p].start; g.roles.Uses[p] && !c.bad && m.Before(g.room(p)); m = m.Next() {
			begun := false
			for mask := g.roles.Fills[p]; mask != 0; mask &= mask - 1 {
				e := &g.ends[lowest(mask)]
				begun = begun || m.Before(e.message) || m == e.message && e.inside
			}
			if !begun {
				break
			}
			index := g.slotOf(p, m)
			s := &g.slots[index]
			number(c, &s.mark)
			c.flags(&s.known, &s.ce, &s.se, &s.hasImm)
			number(c, &s.imm)
			if c.bad || s.mark > g.set.Bytes || s.mark%a.Bytes != 0 {
				c.bad = true
				return
			}
			keepers := g.roles.Fills[p]
			if g.set.Memory.Plane == 0 {
				keepers = 1
			}
			for ; keepers != 0; keepers &= keepers - 1 {
				to := s.mark
				if e := &g.ends[lowest(keepers)]; g.set.Memory.Plane != 0 && !m.Before(e.message) {
					if to = e.offset; e.message != m {
						to = 0
					}
				}
				if to > s.mark || to%a.Bytes != 0 {
					c.bad = true
					return
				}
				words := g.kept(index, lowest(keepers), 0, to)
				for i := range words {
					number(c, &words[i])
				}
			}
		}
	}
}

// codeSender is code for an endpoint's send side.
func (g *Group) codeSender(c *coder, end int) {
	s := &g.outs[end]
	c.from(g.set.SQ[end], &s.unacked.psn)
	c.flags(&s.waits, &s.failed, &s.unacked.released)
	number(c, &s.silent)
	if g.Hears()>>end&1 == 0 {
		if c.reading {
			s.next, s.beyond = s.unacked, s.unacked
		}
		return
	}
	first, last := g.first, g.first
	if p := g.poolTo(end); g.roles.Outs[p]>>end&1 != 0 {
		first, last = g.rings[p].start, g.rings[p].done
	}
	c.from(first, &s.unacked.message)
	number(c, &s.unacked.offset)
	next, beyond := s.next.psn.Diff(s.unacked.psn), s.beyond.psn.Diff(s.unacked.psn)
	number(c, &next)
	number(c, &beyond)
	if !c.reading || c.bad {
		return
	}
	if !ascending(first, s.unacked.message, last) || beyond < next || beyond > g.set.N*(g.set.Bytes/g.set.MTU[end]+2) {
		c.bad = true
		return
	}
	s.next = g.walk(end, s.unacked, next)
	s.beyond = g.walk(end, s.next, beyond-next)
	s.backOff, s.deadline = 0, 0
}
