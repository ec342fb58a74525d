// SPDX-License-Identifier: Apache-2.0

package arithmetic

import (
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
	"incforge/verify/score"
)

// ecc writes errors into the payload memory by register ECC_INJECT, which spoils the next row that is written. One bit is
// corrected and counted wherever it is; two bits are not: the slot's result, its copies and whatever is sent again of it leave with
// their ICRC inverted, and nothing else does. In Mode I the group stops sending, until it is started again.
func ecc(t *rig.T) {
	e := t.Engine()
	if e.Spotless() {
		t.Skipf("needs a payload memory that can err")
	}
	count := min(rig.MaxGroups(t.Params), 2)
	if t.Params.EngineCount() > 1 { // ECC_INJECT is of all of them, and a neighbour's next row would be spoilt, too
		count = 1
	}
	s := &spoiler{meanwhile: neighbour(e, count, 3)}
	for _, k := range t.Fitting(count) {
		s.g = e.Group(0, count, t.Params.Members, false, rig.WithKind(k), rig.WithLog2N(3))
		t.In("one bit, "+k.String(), s.single)
		s.g = e.Group(0, count, t.Params.Members, false, rig.WithKind(k), rig.WithLog2N(3))
		t.In("two bits, "+k.String(), s.double)
	}
	if t.Messages() && count > 1 { // which group stops is known by its number
		s.meanwhile = func() {}
		s.g = e.Group(1, count, t.Params.Members, false, rig.WithLog2N(3))
		t.In("two bits, group 1", s.double)
	}
	messagesOverErrors(t)
}

// spoiler inverts bits under a group's results, and has another group complete PSNs meanwhile.
type spoiler struct {
	g         *rig.Group
	meanwhile func()
	// doubled: two bits of a row were inverted since the engine was made.
	doubled bool
}

// inject has the next row written to the payload memory stored with so many bits inverted.
func (s *spoiler) inject(flips uint32) { s.g.E.Set("ECC_INJECT", 0, "flips", flips) }

// single inverts one bit before each contribution in turn. Results and what is sent again are exact.
func (s *spoiler) single() {
	g := s.g
	e, m, t := g.E, g.Members(), g.T
	for n := range min(2*len(m), 4*g.MW()) {
		psn := g.PSN(n)
		size := g.Whole([]int{4, t.Params.BusBytes, t.Params.MTUBytes}[n%3])
		before := e.Counter(inc.EccCorrected)
		r := g.Round(psn, size)
		var outs []dut.Frame
		e.Mute = t.Pipes() // what is acknowledged cannot be sent again
		for i, c := range m {
			if i == n%len(m) {
				s.inject(1)
			}
			outs = e.Exchange(r.Frame(c))
		}
		g.CheckAt(sends(outs), m, roce.SendOnly, psn, r.Result())
		for range 2 { // what is corrected on the way out is still wrong in the memory
			again := r.Frame(m[0])
			if t.Pipes() {
				again = g.NAK(m[0], psn)
			}
			g.Send(again).As("sent again").ExpectAt(m[:1], roce.SendOnly, psn, r.Result())
		}
		if after := e.Counter(inc.EccCorrected); after == before {
			t.Fatalf("a bit was inverted before contribution %d of %d to PSN %v, and ECC_CORRECTED stays %d", n%len(m)+1, len(m), psn, after)
		}
		s.release(psn)
		s.meanwhile()
	}
	if n := e.Counter(inc.EccDouble); n != 0 && !s.doubled {
		t.Fatalf("single errors alone, and ECC_DOUBLE is %d", n)
	}
}

// release has all members of a Mode III group acknowledge a result that they kept waiting.
func (s *spoiler) release(psn roce.PSN) {
	e := s.g.E
	if !e.Mute {
		return
	}
	s.g.Acknowledge(psn, s.g.Members()...)
	e.Mute = false
}

// sends are the data packets of what left.
func sends(outs []dut.Frame) []dut.Frame {
	return slices.DeleteFunc(slices.Clone(outs), func(o dut.Frame) bool {
		p, err := o.Packet()
		return err == nil && !p.Op.IsSend()
	})
}

// double inverts two bits in the first row of a slot. Slots before and behind it are exact, and so is the slot itself once it is recycled.
func (s *spoiler) double() {
	g := s.g
	e, m, t := g.E, g.Members(), g.T
	s.doubled = true
	n, mw := 1<<g.Set.Log2N, g.MW()
	bad := t.Rand.IntN(mw)
	psn := g.PSN(bad)
	g.CompleteFrom(0, bad)
	before := e.Counter(inc.EccDouble)
	size := g.Whole([]int{4, t.Params.BusBytes, t.Params.MTUBytes}[t.Rand.IntN(3)])
	s.inject(2)
	e.Mute = t.Pipes() // nobody acknowledges what is spoilt
	outs := g.Round(psn, size).Send(m...).Out()
	s.checkSpoilt(sends(outs), m, psn)
	if t.Messages() {
		s.stopped(bad)
		return
	}
	again := func() {
		c := m[t.Rand.IntN(len(m))]
		f := g.Data(c, psn, g.Values(size))
		if e.Mute {
			f = g.NAK(c, psn)
		}
		outs := g.Send(f).Out()
		t.In("sent again", func() { s.checkSpoilt(outs, []int{c}, psn) })
	}
	for k := bad + 1; k < bad+mw && !e.Mute; k++ { // completing the last of these recycles nothing of PSN bad's yet
		again()
		s.meanwhile()
		g.Complete(g.PSN(k))
	}
	again()
	next := bad + mw
	if e.Mute { // somebody gives up on the slot: the rest of the ring is fine
		s.release(psn)
		next = bad + 1
	}
	after := e.Counter(inc.EccDouble)
	if after == before {
		t.Fatalf("frames left spoilt and ECC_DOUBLE stays %d", after)
	}
	t.In("behind the bad slot", func() { g.CompleteFrom(next, bad+2*n+1-next) }) // round the ring, over the bad slot twice
	if clean := e.Counter(inc.EccDouble); clean != after {
		t.Fatalf("ECC_DOUBLE went from %d to %d after the slot was recycled", after, clean)
	}
}

// stopped checks that a Mode I group that sent what is wrong in the memory, in message bad, sends nothing more: not to who asks for it again, and no other
// message, though it takes them. Other groups go on, and so does this one when it is started again.
func (s *spoiler) stopped(bad int) {
	g := s.g
	e, m, t := g.E, g.Members(), g.T
	poisoned := func() uint32 { return e.Field("GROUP_REFUSED", g.Index, "poisoned") }
	if poisoned() == 0 || e.Counter(inc.EccDouble) == 0 {
		t.Fatalf("group %d sent what was wrong in the memory, poisoned is %d and ECC_DOUBLE %d", g.Index, poisoned(), e.Counter(inc.EccDouble))
	}
	for _, c := range m {
		g.Send(g.NAK(c, g.PSN(bad))).As("NAK of endpoint %d", c).Expect()
	}
	if outs := sends(g.Round(g.PSN(bad+1), 4).Send(m...).Out()); len(outs) > 0 {
		t.Fatalf("a group that stopped sent %d frames", len(outs))
	}
	e.Mute = false
	s.meanwhile()
	g.Reset()
	if poisoned() != 0 {
		t.Fatalf("group %d was started again and is poisoned", g.Index)
	}
	t.In("started again", func() { g.CompleteFrom(0, 2*g.MW()+1) })
	s.meanwhile()
}

// checkSpoilt checks that each endpoint of to got one data frame that nobody takes.
func (s *spoiler) checkSpoilt(outs []dut.Frame, to []int, psn roce.PSN) {
	t := s.g.T
	if len(outs) != len(to) {
		t.Fatalf("%d frames left, expected %d with PSN %v", len(outs), len(to), psn)
	}
	for _, o := range outs {
		p := t.Packet(o)
		if !score.Spoilt(o.Data) || roce.CheckICRC(o.Data) || p.PSN != psn {
			t.Fatalf("two bits of PSN %v were inverted in the memory, and a frame left with PSN %v that looks good", psn, p.PSN)
		}
	}
}

// messagesOverErrors: hosts exchange messages while single bits keep flipping, and see nothing of it. With two bits flipped they get no
// wrong result either: whoever waits for the slot waits until the group is restarted.
func messagesOverErrors(t *rig.T) {
	n, c := t.StarNet(t.DefaultLink())
	e := n.Nodes[0].E
	n.Net.OnQuantum = func(uint64) error {
		if t.Rand.IntN(4) == 0 {
			return e.Ctl.Set("ECC_INJECT", 0, "flips", 1)
		}
		return nil
	}
	c.PostRandom(20)
	n.Run()
	n.Net.OnQuantum = nil
	if e.Counter(inc.EccCorrected) == 0 {
		t.Fatalf("bits were inverted while messages ran, and ECC_CORRECTED is 0")
	}
	n.Drain()
	c.PostRandom(2)
	e.Set("ECC_INJECT", 0, "flips", 2)
	n.Idle(4 * n.Timeout)
	c.CheckReceived() // whatever a host took is right
	c.Kill()
	c.Quiesce()
	c.Restart(true)
	c.PostRandom(10)
	n.Run()
	n.Finish()
}

// neighbour is group 1 of an engine of two groups, at the other end of the buffer, which must stay exact whatever happens to the other
// one: it returns what has it complete its next PSN. Of one group it is nobody. log2N caps its slots if it is not 0.
func neighbour(e *rig.Engine, groups, log2N int) (complete func()) {
	if groups < 2 {
		return func() {}
	}
	g, done := e.Group(1, groups, e.T.Params.Members, false, rig.WithLog2N(log2N)), 0
	return func() {
		g.Complete(g.PSN(done))
		done++
	}
}
