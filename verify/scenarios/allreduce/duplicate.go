// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
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
	// Every bit of the tag counts: complete slots, asked for by PSNs that differ in one bit above the slot's number.
	for bit := g.Set.Log2N; bit < 23; bit++ {
		for _, c := range g.Members() {
			g.Send(g.Data(c, g.PSN(end-1).Add(-1<<bit), g.Values(16))).As("a stale repetition from long ago").Expect()
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
