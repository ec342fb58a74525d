// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

func duplicateBefore(t *rig.T) {
	g := t.Star()
	who := g.Members()
	if len(who) > 1 { // alone, the first rank would complete the PSN
		who = slices.Insert(who, 0, who[0])
	}
	for k := range min(6, g.MW()) {
		g.Round(g.PSN(k), 32).Draw(g.Members()...).CompleteBy(who...)
	}
}

func duplicateAfter(t *rig.T) {
	g := t.Star()
	m, mw := g.Members(), g.MW()
	var rounds []*rig.Round
	for k := range 2 * mw {
		rounds = append(rounds, g.Round(g.PSN(k), 16))
	}
	for _, r := range rounds[:mw] {
		r.CompleteBy(m...)
	}
	others, slow := m[:len(m)-1], m[len(m)-1]
	repeat := func(r *rig.Round) { r.Send(slow).ExpectAt([]int{slow}, roce.SendOnly, r.PSN, r.Result()) }
	repeat(rounds[0])
	for k, r := range rounds[:mw] { // the others run a window ahead; each old result must still be there
		rounds[mw+k].Send(others...).As("ranks that run ahead, without rank %d", slow).Expect()
		repeat(r)
	}
	for _, r := range rounds[mw:] {
		r.CompleteBy(slow)
	}
}

func noDoubleRecycle(t *rig.T) {
	g := t.Star()
	m, mw := g.Members(), g.MW()
	results := g.CompleteFrom(0, mw)
	for k := range 2 * mw {
		r := g.Round(g.PSN(mw+k), 24)
		results = append(results, r.Result())
		if len(m) == 1 {
			r.CompleteBy(m...)
			continue
		}
		r.Send(m[0]).As("the fastest rank").Expect()
		half := r.PSN.Add(-mw) // its completion recycled the slot that the fastest rank is in now
		g.Send(g.Data(m[1], half, g.Values(24))).As("a repetition half a ring behind").
			ExpectAt(m[1:2], roce.SendOnly, half, results[k])
		r.CompleteBy(m[1:]...)
	}
}

func staleAlias(t *rig.T) {
	g := t.Star()
	end := aliases(g)
	// Every bit of the tag counts: complete slots, asked for by PSNs that differ in one bit above the slot's number. Nobody has acknowledged
	// anything, so all that anybody is known to have is what comes before START.
	for bit := g.Set.Log2N; bit < 23; bit++ {
		for _, c := range g.Members() {
			psn := g.PSN(end - 1).Add(-1 << bit)
			g.Send(g.Data(c, psn, g.Values(16))).As("a stale repetition from long ago").Expect(g.Forgotten(c, psn, g.Start().Prev())...)
		}
	}
	if t.Params.Members == 1 {
		return
	}
	overrun(g, end)
	g.Reset()
	overrun(g, 0)
	n := g.E.Counters()
	if window, stale := n[inc.DropWindow.String()], n[inc.DropStale.String()]; window != 2 || stale == 0 {
		t.Fatalf("%v is %d and %v %d, expected 2 and more than 0", inc.DropWindow, window, inc.DropStale, stale)
	}
}

// aliases has PSNs repeated that are a ring behind: they get their own result as long as nobody uses their slot again; from then on they
// neither get the younger result nor disturb its sum. It returns how many PSNs are complete.
func aliases(g *rig.Group) int {
	m, ring := g.Members(), 2*g.MW()
	last, results := len(m)-1, g.CompleteFrom(0, ring)
	for k := range ring + 2 {
		r := g.Round(g.PSN(ring+k), 16)
		results = append(results, r.Result())
		stale := g.PSN(k) // same slot as r
		again := func(c int) *rig.Sending { return g.Send(g.Data(c, stale, g.Values(16))) }

		again(m[0]).As("a late repetition").ExpectAt(m[:1], roce.SendOnly, stale, results[k])
		for _, c := range m[:last] {
			r.Send(c).As("a rank before the last").Expect()
			again(c).As("a stale repetition").Expect()
		}
		r.CompleteBy(m[last])
		again(m[0]).As("a stale repetition of a complete slot").Expect()
	}
	return len(results)
}

// overrun has the first rank alone fill its window from PSN k on, and send one packet more: it is not let into a slot whose result may
// still be wanted.
func overrun(g *rig.Group, k int) {
	c := g.Members()[0]
	for i := range g.MW() {
		g.Send(g.Data(c, g.PSN(k+i), g.Values(16))).As("a window of packets").Expect()
	}
	g.Send(g.Data(c, g.PSN(k+g.MW()), g.Values(16))).As("a window overrun").Expect()
}

func slotReuse(t *rig.T) {
	g := t.Star()
	stream(g, 10*2*g.MW(), func() int { return 4 * (1 + t.Rand.IntN(8)) })
}

func wrap(t *rig.T) {
	for _, start := range []roce.PSN{0xFFFFF0, 0xFFFFFF, 0xFFFFFE, 0x7FFFF8} {
		g := t.Star(rig.WithStart(start))
		stream(g, 64, func() int { return 8 })
		if t.Pipes() { // a NAK of Mode III asks for another PSN: see pipe-wrap
			continue
		}
		for _, c := range g.Members() { // the gap NAK must follow the newest ACK, across the wrap and past an old one
			for _, psn := range []roce.PSN{start.Add(15), start.Add(16), start.Add(14)} {
				g.Send(g.Ack(c, psn)).As("an ACK").ExpectAt([]int{c}, roce.Acknowledge, psn, nil)
			}
			expectGapNAK(g, c, start.Add(17), start.Add(64+2))
		}
	}
}

// stream completes count PSNs from Start on: every rank in order, at most a window ahead of the slowest, turns at random, now and then
// a repetition or a gap, frames back to back.
func stream(g *rig.Group, count int, size func() int) {
	t, m := g.T, g.Members()
	var rounds []*rig.Round
	for k := range count {
		rounds = append(rounds, g.Round(g.PSN(k), size()).Draw(m...))
	}
	left := make([]int, count) // how often each result left
	next := make([]int, len(m))
	for done := 0; done < count; done = slices.Min(next) {
		for range g.MW() * len(m) {
			i := t.Rand.IntN(len(m))
			if next[i] == count || next[i] == done+g.MW() {
				continue
			}
			f := rounds[next[i]].Frame(m[i])
			if g.E.Full(f) {
				break
			}
			g.E.Put(f)
			next[i]++
			switch t.Rand.IntN(12) {
			case 0:
				g.E.Put(rig.Frame{Port: f.Port, Data: slices.Clone(f.Data)})
			case 1:
				if next[i]+1 < count {
					g.E.Put(rounds[next[i]+1].Frame(m[i]))
				}
			}
		}
		for _, o := range g.E.Settle() {
			p := t.Packet(o)
			if !p.Op.IsSend() {
				continue
			}
			k := p.PSN.Diff(g.Start())
			if k < 0 || k >= count {
				t.Fatalf("a result of PSN %v left, which nobody sent", p.PSN)
			}
			if want := rounds[k].Result(); !bytes.Equal(p.Payload, want) {
				t.Fatalf("PSN %v (number %d) of %s: result %x, expected %x", p.PSN, k, g.Kind(), p.Payload, want)
			}
			left[k]++
		}
	}
	for k, n := range left {
		if n < len(m) {
			t.Fatalf("PSN %v (number %d) left %d times, expected once to each of %d ranks at least", rounds[k].PSN, k, n, len(m))
		}
	}
}
