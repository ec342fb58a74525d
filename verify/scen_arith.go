// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"slices"

	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// contributors is how many endpoints of a group can contribute at once: all of them, the one that is meant for the parent too,
// but for reproducible engines whose buffer has no place for it.
func (t *T) contributors() int {
	if t.p.Reproducible() && t.p.Members%2 == 0 {
		return t.p.Members
	}
	return t.p.Members + 1
}

// fitting are the kinds that one of n groups can have.
func (t *T) fitting(n int) []arith.Kind {
	return slices.DeleteFunc(t.kinds(), func(k arith.Kind) bool { return k.DType.Wide() && t.room(n) < wideSlots })
}

// oneOfEach is a kind for each element type, the operation and byte order changing from call to call.
func (t *T) oneOfEach() []arith.Kind {
	byType := map[arith.DType][]arith.Kind{}
	var types []arith.DType
	for _, k := range t.fitting(1) {
		if byType[k.DType] == nil {
			types = append(types, k.DType)
		}
		byType[k.DType] = append(byType[k.DType], k)
	}
	var all []arith.Kind
	for _, d := range types {
		list := byType[d]
		all = append(all, list[t.turn%len(list)])
	}
	t.turn++
	return all
}

// scenArithTypes: every type, operation and byte order, all endpoints, packets of all lengths one behind the other, of values that
// are hard. The reference and arith judge each bit.
func scenArithTypes(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	for _, k := range t.fitting(1) {
		g, err := e.newGroup(0, 1, t.contributors(), false, withKind(k))
		if err != nil {
			return err
		}
		l := e.ledger(g)
		count := 0
		for _, n := range []int{t.p.MTUBytes, 4 * t.p.BusBytes, t.p.BusBytes, 4 + 4*t.rng.IntN(t.p.MTUBytes/4)} {
			n = g.whole(min(n, t.p.MTUBytes))
			batch := min(g.mw(), 4)
			for c := range g.ends {
				for i := range batch {
					g.offer(c, count+i, n)
				}
			}
			count += batch
			if err := l.settle(); err != nil {
				return err
			}
		}
		if err := l.complete(count); err != nil {
			return failf("%s: %w", k, err)
		}
	}
	return nil
}

// scenArithSingle: what one endpoint alone contributes leaves bit for bit, NaNs with their payloads too. Of 16-bit types every
// value there is.
func scenArithSingle(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	seen := map[arith.DType]bool{}
	for i, k := range t.fitting(1) {
		// The one that contributes is another one each time, and in the end all.
		c := i % t.contributors()
		g := e.makeGroup(0, 1, t.contributors(), false, withKind(k))
		g.set.InMask = 1 << c
		if err := g.program(); err != nil {
			return err
		}
		count := max(4, (t.contributors()+len(t.fitting(1))-1)/len(t.fitting(1)))
		var all []byte // a counter's values, for what has few enough
		if k.DType.Wide() && !seen[k.DType] {
			seen[k.DType] = true
			all = make([]byte, 1<<17)
			for v := range 1 << 16 {
				k.SetBits(all, v, uint32(v))
			}
			count = (len(all) + t.p.MTUBytes - 1) / t.p.MTUBytes
		}
		for n := range count {
			payload := g.noise(t.p.MTUBytes)
			if all != nil {
				payload = all[n*t.p.MTUBytes : min((n+1)*t.p.MTUBytes, len(all))]
			}
			psn := g.set.Start.Add(n)
			outs, err := e.exchange(g.data(c, psn, payload))
			if err != nil {
				return err
			}
			var to []int
			for x := range g.ends {
				to = append(to, x)
			}
			if err := g.expectTo(outs, to, roce.SendOnly, psn, payload); err != nil {
				return failf("%s from endpoint %d alone: %w", k, c, err)
			}
		}
	}
	return nil
}

// scenArithOrder sends the same contributions in many orders. Where sums are reproducible the result is the same bits each time,
// and those of the fixed tree; where they are not it is the sum in the order of acceptance, and not always the same.
func scenArithOrder(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	members := t.contributors()
	for _, k := range t.fitting(1) {
		if k.BigEndian != (t.turn%2 == 0) && k.Op != arith.Sum {
			continue // what does not depend on the order is tried in one byte order
		}
		full := uint32(1<<members - 1)
		masks := []uint32{full}
		for range 4 { // absent siblings
			masks = append(masks, uint32(t.rng.IntN(int(full)))+1)
		}
		for _, mask := range masks {
			g := e.makeGroup(0, 1, members, false, withKind(k))
			g.set.InMask = mask
			if err := g.program(); err != nil {
				return err
			}
			if err := t.orders(g, mask == full); err != nil {
				return failf("%s, in_mask %#x: %w", k, mask, err)
			}
		}
	}
	t.turn++
	return nil
}

// orders sends one set of contributions to one PSN after another.
func (t *T) orders(g *group, all bool) error {
	m := g.members()
	size := g.whole(min(t.p.MTUBytes, 256))
	parts, who := make([][]byte, len(g.ends)), slices.Clone(m)
	for _, c := range m {
		parts[c] = g.noise(size)
	}
	l := g.e.ledger(g)
	rounds := 6
	if all {
		rounds = 24
	}
	distinct, tree := map[string]bool{}, g.kind().Tree(parts)
	for n := range rounds {
		psn := g.set.Start.Add(n)
		for _, c := range who {
			f := g.data(c, psn, parts[c])
			g.e.send(f.port, f.data)
			if n%2 == 0 { // else all at once, and the ports decide
				if err := g.e.StepTo(g.e.Now() + uint64(t.beats(size+62))*2); err != nil {
					return err
				}
			}
		}
		outs, err := g.e.settle()
		if err != nil {
			return err
		}
		if err := l.check(outs); err != nil {
			return err
		}
		for _, o := range outs {
			p, err := roce.Decode(o.Data)
			if err != nil {
				return err
			}
			distinct[string(p.Payload)] = true
			if t.p.Reproducible() && !bytes.Equal(p.Payload, tree) {
				return failf("order %v: not the fixed tree's result: %s", who, firstElement(g.kind(), p.Payload, tree))
			}
		}
		t.rng.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
	}
	if err := l.complete(rounds); err != nil {
		return err
	}
	switch k := g.kind(); {
	case t.p.Reproducible() && len(distinct) != 1:
		return failf("%d different results of the same contributions", len(distinct))
	case !t.p.Reproducible() && all && k.Op == arith.Sum && k.DType == arith.FP32 && len(m) > 2 && len(distinct) == 1:
		return failf("the payload was to tell one order from another")
	}
	return nil
}

// hazard is how the packets of scenArithHazard follow each other.
type hazard struct {
	name string
	// turns has the endpoints at slots of their own, as far apart as the window lets them; else all send to one slot before the
	// next slot has its turn.
	turns bool
	// log2N caps the ring: with 1, two slots are used again and again.
	log2N int
	// onePort has all endpoints behind port 0, so that packets go in in exactly this order, whatever the top.
	onePort bool
}

// scenArithHazard: contributions that follow each other as closely as a stream allows, to the same slot, to slots in turn, and to
// the same two slots again and again; from one element to eight beats, with and without back-pressure. Nothing may be added twice
// or lost.
func scenArithHazard(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	pauses := []dut.Pauses{{}, {Ready: 0.4, Burst: 6}, {Ready: 0.2, In: 0.2, Burst: 3}}
	for _, h := range []hazard{
		{"one slot", false, 4, true}, {"one slot, all ports", false, 4, false}, {"slots in turn", true, 4, true},
		{"two slots again and again", false, 1, true},
	} {
		for _, p := range pauses {
			for _, k := range t.oneOfEach() {
				if sum := (arith.Kind{DType: k.DType, Op: arith.Sum, BigEndian: k.BigEndian}); t.p.OpMask()&1 != 0 && t.rng.IntN(2) == 0 {
					k = sum // a maximum taken twice is the same maximum
				}
				p.Seed = t.rng.Uint64()
				if err := t.hazard(e, k, h, p); err != nil {
					return failf("%s, %s, pauses %+v: %w", h.name, k, p, err)
				}
			}
		}
	}
	return nil
}

func (t *T) hazard(e *engine, k arith.Kind, h hazard, p dut.Pauses) error {
	members := t.contributors()
	g := e.makeGroup(0, 1, members, false, withKind(k), withLog2N(h.log2N))
	if h.onePort {
		for i := range g.ends {
			g.ends[i].Port = 0
		}
	}
	if err := g.program(); err != nil {
		return err
	}
	var sizes []int // by PSN
	for range max(24, 3*2*g.mw()) {
		sizes = append(sizes, g.size())
	}
	for beats := 1; beats <= 8; beats++ {
		for range 4 {
			sizes = append(sizes, g.whole(min(max(beats*t.p.BusBytes-g.size()*t.rng.IntN(3), g.size()), t.p.MTUBytes)))
		}
	}
	l := e.ledger(g)
	e.SetPauses(p)
	defer e.SetPauses(dut.Pauses{})
	for step := range len(sizes) + g.mw() {
		for c := range members {
			ahead := 0
			if h.turns {
				ahead = c * g.mw() / members
			}
			if n := step - ahead; n >= 0 && n < len(sizes) {
				f := g.data(c, g.set.Start.Add(n), g.noise(sizes[n]))
				e.send(f.port, f.data)
			}
		}
		// else a port that is ahead of the others could overrun the window; and pipes hold results until they are acknowledged
		if (!h.onePort || t.pipes()) && (step+1)%g.mw() == 0 {
			if err := l.settle(); err != nil {
				return err
			}
		}
	}
	if err := l.settle(); err != nil {
		return err
	}
	return l.complete(len(sizes))
}

// scenArithLength: every number of elements around one, two and three beats and the longest packets, odd ones among them, so that
// the last beat of a payload and the last word of the memory are used in part; an odd number of 16-bit elements has two bytes of pad.
func scenArithLength(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	for _, k := range t.oneOfEach() {
		g, err := e.newGroup(0, 1, t.p.Members, false, withKind(k))
		if err != nil {
			return err
		}
		var sizes []int
		near, step := 3*t.p.BusBytes+2*g.size(), g.size()
		if !t.long && near/step > 200 { // a sample of wide buses
			step *= near/step/100 | 1
		}
		for n := 0; n <= min(near, t.p.MTUBytes); n += step {
			sizes = append(sizes, n)
		}
		for n := range min(2*t.p.BusBytes/g.size()+3, 40) {
			sizes = append(sizes, max(t.p.MTUBytes-n*g.size(), 0))
		}
		t.rng.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
		l := e.ledger(g)
		for i, n := range sizes {
			for _, c := range g.members() {
				g.offer(c, i, n)
			}
			if (i+1)%g.mw() == 0 {
				if err := l.settle(); err != nil {
					return err
				}
			}
		}
		if err := l.settle(); err != nil {
			return err
		}
		if err := l.complete(len(sizes)); err != nil {
			return failf("%s: %w", k, err)
		}
	}
	return nil
}

// offer queues packet k of endpoint c with n bytes of noise.
func (g *group) offer(c, k, n int) {
	f := g.data(c, g.set.Start.Add(k), g.noise(n))
	g.e.send(f.port, f.data)
}

// scenArithGroups: groups that compute different things, their packets interleaved one by one: what an element is must not carry
// over from one packet to the next.
func scenArithGroups(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	count := min(maxGroups(t.p), 8)
	rounds := max(2, (len(t.kinds())+count-1)/count) // until all kinds had their turn
	for range rounds {
		var groups []*group
		for i := range count {
			g, err := e.newGroup(i, count, t.p.Members, false, withLog2N(3))
			if err != nil {
				return err
			}
			groups = append(groups, g)
		}
		l := e.ledger(groups...)
		const packets = 12
		for k := range packets {
			n := []int{4, 8, t.p.BusBytes, 3 * t.p.BusBytes, t.p.MTUBytes}[t.rng.IntN(5)]
			var turn []func()
			for _, g := range groups {
				for _, c := range g.members() {
					turn = append(turn, func() { g.offer(c, k, min(n, t.p.MTUBytes)) })
				}
			}
			t.rng.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })
			for _, f := range turn {
				f()
			}
			if (k+1)%groups[0].mw() == 0 || slices.ContainsFunc(groups, func(g *group) bool { return (k+1)%g.mw() == 0 }) {
				if err := l.settle(); err != nil {
					return err
				}
			}
		}
		if err := l.settle(); err != nil {
			return err
		}
		if err := l.complete(packets); err != nil {
			return err
		}
	}
	return nil
}

// scenArithIllegal: settings that are not included, or whose slots or endpoints the buffer has no place for, stay disabled, packets
// for them are dropped, and another group is exact meanwhile. Settings at the very edge are enabled and exact.
func scenArithIllegal(t *T) error {
	e, err := t.newEngine()
	if err != nil {
		return err
	}
	count := min(maxGroups(t.p), 2)
	var other *group // at the other end of the buffer
	done := 0
	if count == 2 {
		if other, err = e.newGroup(1, count, t.p.Members, false); err != nil {
			return err
		}
	}
	for _, k := range t.fitting(count) {
		g := e.makeGroup(0, count, t.p.Members, false, withKind(k), withLog2N(3))
		legal := g.set
		for _, bad := range illegalGroups(t, legal) {
			g.set = bad
			if err := g.refused(); err != nil {
				return failf("%s: %w", k, err)
			}
			if other != nil {
				if err := other.complete(other.set.Start.Add(done)); err != nil {
					return err
				}
				done++
			}
		}
		if g.set = legal; other == nil { // the last slots of the buffer
			units := 1 << legal.Log2N
			if k.DType.Wide() {
				units *= 2
			}
			g.set.SlotBase = t.p.Slots() - units
		}
		if err := g.program(); err != nil {
			return err
		}
		for n := range 2*g.mw() + 1 {
			if err := g.complete(g.set.Start.Add(n)); err != nil {
				return failf("%s with slots from %d of %d: %w", k, g.set.SlotBase, t.p.Slots(), err)
			}
		}
	}
	return nil
}

// refused programs illegal settings: enable must not stick, and what is sent must be dropped.
func (g *group) refused() error {
	drv := g.e.drv
	if err := drv.Disable(g.index); err != nil {
		return err
	}
	for i, ep := range g.ends {
		if err := drv.SetEndpoint(g.index*g.t.p.EPS()+i, ep); err != nil {
			return err
		}
	}
	if err := drv.SetGroup(g.index, g.set); err != nil {
		return err
	}
	ok, err := drv.Enable(g.index)
	if err != nil {
		return err
	}
	if ok {
		return failf("illegal settings were enabled: %+v", g.set)
	}
	before, err := g.e.counter("DROP_GROUP_DISABLED")
	if err != nil {
		return err
	}
	outs, err := g.e.exchange(g.data(0, g.set.Start, g.t.words(2)))
	if err != nil {
		return err
	}
	after, err := g.e.counter("DROP_GROUP_DISABLED")
	if err != nil {
		return err
	}
	if len(outs) > 0 || after != before+1 {
		return failf("a group with illegal settings answered with %d frames, DROP_GROUP_DISABLED went from %d to %d: %+v", len(outs),
			before, after, g.set)
	}
	return nil
}
