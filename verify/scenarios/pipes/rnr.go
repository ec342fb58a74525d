// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// rnr has one endpoint answer RNR NAK again and again, with the shortest code and some that leave time for what happens meanwhile, and in
// the end with code 0, which stands for the longest time.
func rnr(t *rig.T) {
	g := star(t)
	m := g.Members()
	c := m[t.Rand.IntN(len(m))]
	next := g.notReady(c, g.PSN(0), 1, false)
	for _, code := range longCodes(t, 5) {
		next = g.notReady(c, next, code, true)
	}
	g.collective(next, m...) // in one frame each, together
	g.Send(g.AETH(c, next, roce.RNRSyndrome)).As("RNR NAK of 655.36 ms").Expect()
	if outs := wait(g.E, g.E.Now()+2*rnrCycles(t, 1)+lateness(t)); len(outs) > 0 {
		t.Fatalf("code 0, the longest: %d frames left after the shortest wait", len(outs))
	}
}

// longCodes are the first codes for RNR times in which all that notReady sends has long passed.
func longCodes(t *rig.T, n int) (codes []uint8) {
	for code := uint8(1); len(codes) < n; code++ {
		if rnrCycles(t, code) > uint64(10*t.MTUBeats()+2000) {
			codes = append(codes, code)
		}
	}
	return codes
}

// rnrCycles is an RNR time in cycles.
func rnrCycles(t *rig.T, code uint8) uint64 {
	return microseconds(t, uint64(roce.RNRDuration(code).Microseconds()))
}

// notReady has endpoint c answer a PSN with RNR NAK: nothing is sent to it for the coded time, and then it gets all that it missed. If
// meanwhile is set, the others get more results before that, and c sends a NAK, which must wait too. It returns the first unused PSN.
func (g group) notReady(c int, first roce.PSN, code uint8, meanwhile bool) roce.PSN {
	t, e, m := g.T, g.E, g.Members()
	others, count := rig.AllBut(m, c), 1
	if meanwhile {
		count = min(g.MW(), 3)
	}
	t.In(fmt.Sprintf("code %d", code), func() {
		seen := watch(e)
		missed := []rig.Want{rig.DataTo(c, first, g.burst(first, m...))}
		due := g.refuse(c, first, code) + rnrCycles(t, code)
		for k := 1; k < count; k++ {
			missed = append(missed, rig.DataTo(c, first.Add(k), g.burst(first.Add(k), others...)))
		}
		if meanwhile && len(others) > 0 {
			g.Send(g.NAK(c, first)).As("a NAK of who waits").Expect()
		}
		if e.Now()+64 < due {
			if outs := wait(e, due-1); len(outs) > 0 {
				t.Fatalf("%d frames left before the wait was over", len(outs))
			}
		}
		outs := wait(e, max(due, e.Now())+lateness(t)+uint64(count*8*t.MTUBeats()))
		seen.once(t, inc.ActResume, c, due, lateness(t)+64)
		t.In("after the wait", func() { g.Check(outs, missed...) })
		g.acknowledge(first.Add(count-1), m...)
	})
	return first.Add(count)
}

// refuse has endpoint c answer a PSN with RNR NAK and returns the cycle in which that was decided.
func (g group) refuse(c int, psn roce.PSN, code uint8) (at uint64) {
	a, _ := g.E.FirstAccepted(func() { g.Send(g.AETH(c, psn, roce.RNRSyndrome|code)).As("RNR NAK").Expect() })
	return a.Last
}

// burst has all contribute to a PSN at once, so that it is soon over. Each is acknowledged, and the result, which is returned, leaves to
// those of to.
func (g group) burst(psn roce.PSN, to ...int) []byte {
	r, want := g.Round(psn, 8), []rig.Want{}
	for _, c := range g.T.Shuffled(g.Members()) {
		g.E.Put(r.Frame(c))
		want = append(want, rig.AckTo(c, psn))
	}
	g.Check(g.E.Settle(), append(want, rig.Copies(rig.DataTo(0, psn, r.Result()), to...)...)...)
	return r.Result()
}
