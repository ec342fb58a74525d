// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"

	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// scenECC writes errors into the payload memory by register ECC_INJECT, which spoils the next row that is written. One bit is
// corrected and counted wherever it is; two bits are not: the slot's result, its copies and whatever is sent again of it leave with
// their ICRC inverted, and nothing else does.
func scenECC(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	if e.Spotless() {
		return missingError("needs a payload memory that can err")
	}
	count := min(maxGroups(t.p), 2)
	var other *group
	done := 0
	if count == 2 {
		if other, err = e.newGroup(1, count, t.p.Members, false, withLog2N(3)); err != nil {
			return err
		}
	}
	others := func() error {
		if other == nil {
			return nil
		}
		done++
		return other.complete(other.set.Start.Add(done - 1))
	}
	for _, k := range t.fitting(count) {
		g, err := e.newGroup(0, count, t.p.Members, false, withKind(k), withLog2N(3))
		if err != nil {
			return err
		}
		if err := g.single(others); err != nil {
			return failf("one bit, %s: %w", k, err)
		}
		if g, err = e.newGroup(0, count, t.p.Members, false, withKind(k), withLog2N(3)); err != nil {
			return err
		}
		if err := g.double(others); err != nil {
			return failf("two bits, %s: %w", k, err)
		}
	}
	return t.eccHosts()
}

// inject has the next row written to the payload memory stored with so many bits inverted.
func (e *engine) inject(flips uint32) error { return e.drv.Write("ECC_INJECT", 0, flips) }

// single: before each contribution in turn, one bit. Results and what is sent again are exact.
func (g *group) single(others func() error) error {
	e, m := g.e, g.members()
	for n := range min(2*len(m), 4*g.mw()) {
		psn := g.set.Start.Add(n)
		size := g.whole([]int{4, g.t.p.BusBytes, g.t.p.MTUBytes}[n%3])
		before, err := e.counter("ECC_CORRECTED")
		if err != nil {
			return err
		}
		var all [][]byte
		var outs []dut.Out
		e.mute = g.t.pipes() // what is acknowledged cannot be sent again
		for i, c := range m {
			if i == n%len(m) {
				if err := e.inject(1); err != nil {
					return err
				}
			}
			all = append(all, g.values(size))
			if outs, err = e.exchange(g.data(c, psn, all[i])); err != nil {
				return err
			}
		}
		want := g.reduce(all...)
		if err := g.expectTo(sends(outs), m, roce.SendOnly, psn, want); err != nil {
			return err
		}
		for range 2 { // what is corrected on the way out is still wrong in the memory
			again := g.data(m[0], psn, all[0])
			if g.t.pipes() {
				again = g.aeth(m[0], psn, roce.NAKSequence)
			}
			if outs, err = e.exchange(again); err != nil {
				return err
			}
			if err := g.expectTo(outs, m[:1], roce.SendOnly, psn, want); err != nil {
				return failf("sent again: %w", err)
			}
		}
		after, err := e.counter("ECC_CORRECTED")
		if err != nil {
			return err
		}
		if after == before {
			return failf("a bit was inverted before contribution %d of %d to PSN %v, and ECC_CORRECTED stays %d", n%len(m)+1, len(m), psn, after)
		}
		if e.mute {
			if err := g.acked(psn, m...); err != nil {
				return err
			}
			e.mute = false
		}
		if err := others(); err != nil {
			return err
		}
	}
	if n, err := e.counter("ECC_DOUBLE"); err != nil || n != 0 && !g.t.doubled {
		return failf("single errors alone, and ECC_DOUBLE is %d (%v)", n, err)
	}
	return nil
}

// sends are the data packets of what left.
func sends(outs []dut.Out) []dut.Out {
	return slices.DeleteFunc(slices.Clone(outs), func(o dut.Out) bool {
		p, err := roce.Decode(o.Data)
		return err == nil && !p.Op.IsSend()
	})
}

// double: two bits in the first row of a slot. Slots before and behind it are exact, and so is the slot itself once it is recycled.
func (g *group) double(others func() error) error {
	e, m, t := g.e, g.members(), g.t
	t.doubled = true
	n, mw := 1<<g.set.Log2N, g.mw()
	bad := t.rng.IntN(mw)
	at := func(k int) roce.PSN { return g.set.Start.Add(k) }
	for k := range bad {
		if err := g.complete(at(k)); err != nil {
			return err
		}
	}
	before, err := e.counter("ECC_DOUBLE")
	if err != nil {
		return err
	}
	size := g.whole([]int{4, t.p.BusBytes, t.p.MTUBytes}[t.rng.IntN(3)])
	if err := e.inject(2); err != nil {
		return err
	}
	e.mute = t.pipes() // nobody acknowledges what is spoilt
	outs, err := g.contribute(m, at(bad), func(int) []byte { return g.values(size) })
	if err != nil {
		return err
	}
	if err := g.expectSpoilt(sends(outs), m, at(bad)); err != nil {
		return err
	}
	again := func() error {
		c := m[t.rng.IntN(len(m))]
		f := g.data(c, at(bad), g.values(size))
		if e.mute {
			f = g.aeth(c, at(bad), roce.NAKSequence)
		}
		outs, err := e.exchange(f)
		if err != nil {
			return err
		}
		if err := g.expectSpoilt(outs, []int{c}, at(bad)); err != nil {
			return failf("sent again: %w", err)
		}
		return nil
	}
	for k := bad + 1; k < bad+mw && !e.mute; k++ { // completing the last of these recycles nothing of PSN bad's yet
		if err := again(); err != nil {
			return err
		}
		if err := others(); err != nil {
			return err
		}
		if err := g.complete(at(k)); err != nil {
			return err
		}
	}
	if err := again(); err != nil {
		return err
	}
	next := bad + mw
	if e.mute { // somebody gives up on the slot: the rest of the ring is fine
		if err := g.acked(at(bad), m...); err != nil {
			return err
		}
		e.mute, next = false, bad+1
	}
	after, err := e.counter("ECC_DOUBLE")
	if err != nil {
		return err
	}
	if after == before {
		return failf("frames left spoilt and ECC_DOUBLE stays %d", after)
	}
	for k := next; k <= bad+2*n; k++ { // round the ring, over the bad slot twice
		if err := g.complete(at(k)); err != nil {
			return failf("PSN %v behind the bad one: %w", at(k), err)
		}
	}
	clean, err := e.counter("ECC_DOUBLE")
	if err != nil {
		return err
	}
	if clean != after {
		return failf("ECC_DOUBLE went from %d to %d after the slot was recycled", after, clean)
	}
	return nil
}

// expectSpoilt checks that each endpoint of to got one data frame that nobody takes.
func (g *group) expectSpoilt(outs []dut.Out, to []int, psn roce.PSN) error {
	if len(outs) != len(to) {
		return failf("%d frames left, expected %d with PSN %v", len(outs), len(to), psn)
	}
	for _, o := range outs {
		p, err := roce.Decode(o.Data)
		if err != nil {
			return err
		}
		if !score.Spoilt(o.Data) || roce.CheckICRC(o.Data) || p.PSN != psn {
			return failf("two bits of PSN %v were inverted in the memory, and a frame left with PSN %v that looks good", psn, p.PSN)
		}
	}
	return nil
}

// eccHosts: hosts exchange messages while single bits keep flipping, and see nothing of it. With two bits flipped they get no wrong
// result either: whoever waits for the slot waits until the group is restarted.
func (t *T) eccHosts() error {
	n, c, err := t.starNet(t.defaultLink())
	if err != nil {
		return err
	}
	e := n.nodes[0].e
	n.net.OnQuantum = func(uint64) error {
		if t.rng.IntN(4) == 0 {
			return e.inject(1)
		}
		return nil
	}
	c.postRandom(20)
	if err := n.run(); err != nil {
		return err
	}
	n.net.OnQuantum = nil
	corrected, err := e.counter("ECC_CORRECTED")
	if err != nil {
		return err
	}
	if corrected == 0 {
		return failf("bits were inverted while messages ran, and ECC_CORRECTED is 0")
	}
	if err := n.drain(); err != nil {
		return err
	}
	c.postRandom(2)
	if err := e.inject(2); err != nil {
		return err
	}
	if err := n.idle(4 * n.timeout); err != nil {
		return err
	}
	for r, h := range c.hosts { // whatever a host took is right
		for i := range h.Received() {
			if err := c.right(r, i); err != nil {
				return err
			}
		}
	}
	c.kill()
	if err := c.quiesce(); err != nil {
		return err
	}
	if err := c.restart(true); err != nil {
		return err
	}
	c.postRandom(10)
	if err := n.run(); err != nil {
		return err
	}
	return n.finish()
}
