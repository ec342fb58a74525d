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
		drawnRound(g, k, 32).completeBy(who...)
	}
}

func duplicateAfter(t *rig.T) {
	g := t.Star()
	m, mw := g.Members(), g.MW()
	var rounds []*round
	for k := range 2 * mw {
		rounds = append(rounds, newRound(g, k, 16))
	}
	for _, r := range rounds[:mw] {
		r.completeBy(m...)
	}
	others, slow := m[:len(m)-1], m[len(m)-1]
	rounds[0].repeat(slow)
	for k, r := range rounds[:mw] { // the others run a window ahead; each old result must still be there
		rounds[mw+k].send(others...).As("ranks that run ahead, without rank %d", slow).Expect()
		r.repeat(slow)
	}
	for _, r := range rounds[mw:] {
		r.completeBy(slow)
	}
}

func noDoubleRecycle(t *rig.T) {
	g := t.Star()
	m, mw := g.Members(), g.MW()
	var results [][]byte
	for k := range mw {
		results = append(results, g.Complete(g.Start().Add(k)))
	}
	for k := range 2 * mw {
		r := drawnRound(g, mw+k, 24)
		results = append(results, r.result())
		if len(m) == 1 {
			r.completeBy(m...)
			continue
		}
		r.send(m[0]).As("the fastest rank").Expect()
		half := r.psn.Add(-mw) // its completion recycled the slot that the fastest rank is in now
		g.Send(g.Data(m[1], half, g.Values(24))).As("a repetition half a ring behind").
			ExpectAt(m[1:2], roce.SendOnly, half, results[k])
		r.completeBy(m[1:]...)
	}
}

func staleAlias(t *rig.T) {
	g := t.Star()
	end := aliases(g)
	// Every bit of the tag counts: complete slots, asked for by PSNs that differ in one bit above the slot's number.
	for bit := g.Set.Log2N; bit < 23; bit++ {
		for _, c := range g.Members() {
			g.Send(g.Data(c, g.Start().Add(end-1).Add(-1<<bit), g.Values(16))).As("a stale repetition from long ago").Expect()
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
	last := len(m) - 1
	var results [][]byte
	for k := range ring {
		results = append(results, g.Complete(g.Start().Add(k)))
	}
	for k := range ring + 2 {
		r := drawnRound(g, ring+k, 16)
		results = append(results, r.result())
		stale := g.Start().Add(k) // same slot as r
		again := func(c int) *rig.Sending { return g.Send(g.Data(c, stale, g.Values(16))) }

		again(m[0]).As("a late repetition").ExpectAt(m[:1], roce.SendOnly, stale, results[k])
		for _, c := range m[:last] {
			r.send(c).As("a rank before the last").Expect()
			again(c).As("a stale repetition").Expect()
		}
		r.completeBy(m[last])
		again(m[0]).As("a stale repetition of a complete slot").Expect()
	}
	return len(results)
}

// overrun has the first rank alone fill its window from PSN k on, and send one packet more: it is not let into a slot whose result may
// still be wanted.
func overrun(g *rig.Group, k int) {
	c := g.Members()[0]
	for i := range g.MW() {
		g.Send(g.Data(c, g.Start().Add(k+i), g.Values(16))).As("a window of packets").Expect()
	}
	g.Send(g.Data(c, g.Start().Add(k+g.MW()), g.Values(16))).As("a window overrun").Expect()
}
