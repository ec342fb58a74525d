// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// lostACK loses one endpoint's ACK for a pipe of one slot. It acknowledges what is sent again, which frees the slot for the next PSN.
func lostACK(t *rig.T) {
	const timeout = 12
	e := t.PipeEngine(timeout)
	g := group{e.Group(0, 1, t.Params.Members, false, rig.WithPipe(1))}
	m := g.Members()
	for k := range uint64(4) {
		c := m[t.Rand.IntN(len(m))]
		g.Set.Start = roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
		g.Program()
		seen := watch(e)
		result := g.collective(g.PSN(0), m...)
		due := seen.lastSend() + microseconds(t, timeout)
		g.Acknowledge(g.PSN(0), rig.AllBut(m, c)...)
		t.In("after a time-out", func() {
			g.Check(wait(e, due+lateness(t)+4*uint64(t.MTUBeats())), rig.DataTo(c, g.PSN(0), result))
		})
		seen.once(t, inc.ActTimeout, c, due, lateness(t))
		g.Acknowledge(g.PSN(0), c)
		g.roundTrip(g.PSN(1))
		e.Counted("lost ACK", map[inc.Counter]uint64{inc.Timeout: k + 1, inc.TxRetransmit: k + 1, inc.Wipe: 4 * (k + 1)})
	}
}

func timers(t *rig.T) {
	t.In("a time-out of 32768 µs", func() { // far away
		g := group{t.PipeEngine(1<<15).Group(0, 1, t.Params.Members, false)}
		g.collective(g.PSN(0), g.Members()...)
		if outs := wait(g.E, g.E.Now()+4*lateness(t)); len(outs) > 0 {
			t.Fatalf("%d frames left before a time-out", len(outs))
		}
	})
	for _, timeout := range []uint16{0, 3, 25} { // 0 stands for 1
		if timeout == 0 && t.Params.PortBytes > 0 && t.Params.EngineCount() > 1 {
			continue // queues and crossbar take as long before the acknowledgements are there
		}
		t.In(fmt.Sprintf("time-out of %d µs", timeout), func() {
			e := t.PipeEngine(timeout)
			g := group{e.Group(0, 1, t.Params.Members, false)}
			unit := microseconds(t, uint64(max(timeout, 1)))
			e.SetPauses(dut.Pauses{})
			for round := range 2 {
				g.backOff(g.PSN(round), unit)
			}
			if g.MW() >= 2 && timeout >= 25 { // the shorter ones are over before all is sent that makes progress
				g.progress(g.PSN(2), unit)
			}
		})
	}
}

// backOff has the last endpoint not acknowledge a PSN: its time-outs come after one time unit, two, four, eight and eight. Then it does,
// which makes the next time-out as short as the first.
func (g group) backOff(psn roce.PSN, unit uint64) {
	t, m := g.T, g.Members()
	last := m[len(m)-1]
	seen := watch(g.E)
	g.offer(psn, 4)
	g.E.SettleAsIs()
	at := seen.lastSend()
	g.acknowledgeAtOnce(psn, m[:len(m)-1]...)
	for k, times := range []uint64{1, 2, 4, 8, 8} {
		due := at + times*unit
		wait(g.E, due+lateness(t))
		ups := slices.DeleteFunc(seen.of(inc.ActTimeout), func(a act) bool { return a.action.Endpoint != last })
		if len(ups) != k+1 {
			t.Fatalf("%d time-outs by cycle %d, expected %d: %v", len(ups), g.E.Now(), k+1, *seen)
		}
		t.In(fmt.Sprintf("time-out %d", k), func() { ups[k].inTime(t, due, lateness(t)) })
		at = ups[k].at // the timer starts again then
	}
	g.acknowledgeAtOnce(psn, last)
}

// progress has the last endpoint acknowledge one PSN of two half-way to its time-out: the timer starts anew then. A NAK later does not
// start it: what is sent again is no progress.
func (g group) progress(psn roce.PSN, unit uint64) {
	t, e, m := g.T, g.E, g.Members()
	last := m[len(m)-1]
	seen := watch(e)
	for k := range 2 {
		g.offer(psn.Add(k), 4)
		e.SettleAsIs()
	}
	g.acknowledgeAtOnce(psn.Next(), m[:len(m)-1]...)
	wait(e, e.Now()+unit/2)
	decided, _ := e.FirstAccepted(func() { g.acknowledgeAtOnce(psn, last) })
	due := decided.Last + unit
	wait(e, e.Now()+unit/4)
	e.Put(g.NAK(last, psn.Next()))
	e.SettleAsIs()
	wait(e, due+lateness(t)+64)
	t.In("after progress", func() { seen.once(t, inc.ActTimeout, last, due, lateness(t)+64) })
	g.acknowledgeAtOnce(psn.Next(), last)
}

// acknowledgeAtOnce is acknowledge as fast as can be: one by one takes longer than some time-outs.
func (g group) acknowledgeAtOnce(psn roce.PSN, who ...int) {
	for _, c := range who {
		g.E.Put(g.Ack(c, psn))
	}
	g.E.SettleAsIs()
}

// rnr has one endpoint answer RNR NAK again and again, with the shortest code and some that leave time for what happens meanwhile, and in
// the end with code 0, which stands for the longest time.
func rnr(t *rig.T) {
	g := star(t)
	m := g.Members()
	c := m[t.Rand.IntN(len(m))]
	g.notReadyAmidst(c)
	g.Reset()
	if g.MW() >= 2 && len(m) >= 2 {
		for early := uint64(0); early < 80; early += 5 {
			g.notReadyInTurn(m[1], early)
			g.Reset()
		}
	}
	for _, fails := range []bool{false, true} {
		t.In("a wait that ends when all is acknowledged", func() { star(t).resumesForNothing(fails) })
	}
	one := group{t.PipeEngine(rig.LongTimeout).Group(0, 1, 1, false)} // who comes back is the only one that keeps up
	one.notReady(0, one.PSN(0), longerCode(t), true)
	g = star(t)
	next := g.notReady(c, g.PSN(0), 1, false)
	for code, tried := uint8(1), 0; tried < 5; code++ {
		if code >= longerCode(t) {
			next = g.notReady(c, next, code, true)
			tried++
		}
	}
	g.collective(next, m...) // in one frame each, together
	g.Send(g.AETH(c, next, roce.RNRSyndrome)).As("RNR NAK of 655.36 ms").Expect()
	if outs := wait(g.E, g.E.Now()+2*rnrCycles(t, 1)+lateness(t)); len(outs) > 0 {
		t.Fatalf("code 0, the longest: %d frames left after the shortest wait", len(outs))
	}
}

// resumesForNothing has who waits acknowledge everything meanwhile: nothing is outstanding when it comes back, and no time-out comes. If it fails
// behind that, it gets nothing more.
func (g group) resumesForNothing(fails bool) {
	t, e, m := g.T, g.E, g.Members()
	c, timeout := m[len(m)-1], shortTimeout(t)
	due := g.refuses(c, g.PSN(0))
	g.Acknowledge(g.PSN(0), c)
	if fails {
		g.Send(g.AETH(c, g.PSN(1), roce.NAKRemoteOperational)).As("a NAK that ends the connection of who waits").Expect()
	}
	e.SetTimeout(uint16(timeout))
	seen := watch(e)
	wait(e, due+2*lateness(t)+4*microseconds(t, timeout))
	seen.once(t, inc.ActResume, c, due, lateness(t)+64)
	if ups := seen.of(inc.ActTimeout); len(ups) > 0 {
		t.Fatalf("time-outs though nothing is outstanding: %v", ups)
	}
	e.SetTimeout(rig.LongTimeout)
	if fails {
		m = rig.AllBut(m, c)
	}
	g.collective(g.PSN(1), m...)
	g.Acknowledge(g.PSN(1), m...)
}

// longerCode is the least RNR code whose time is longer than all that notReady sends takes.
func longerCode(t *rig.T) (code uint8) {
	for code = 1; rnrCycles(t, code) <= uint64(10*t.MTUBeats()+2000); {
		code++
	}
	return code
}

// notReadyAmidst has one endpoint ask for all of a full pipe and answer RNR NAK right behind that, while it is sent again: nothing more of it leaves
// before the wait is over.
func (g group) notReadyAmidst(c int) {
	t, e, m, n := g.T, g.E, g.Members(), g.MW()
	for k := range n {
		g.collective(g.PSN(k), m...)
	}
	g.Acknowledge(g.PSN(n-1), rig.AllBut(m, c)...)
	for range 4 {
		e.Put(g.NAK(c, g.PSN(0)), g.AETH(c, g.PSN(0), roce.RNRSyndrome|1))
		wait(e, e.Now()+rnrCycles(t, 1)+lateness(t)+uint64(8*n*t.MTUBeats()))
	}
	g.Acknowledge(g.PSN(n-1), c)
}

// notReadyInTurn has an endpoint's wait end about when its pipe has its turn, as the last ACK that makes room comes that many cycles before it is over.
func (g group) notReadyInTurn(c int, early uint64) {
	t, e, others, last := g.T, g.E, rig.AllBut(g.Members(), c), g.PSN(g.MW()-1)
	g.fillBoth()
	refused, _ := e.FirstAccepted(func() { g.Send(g.AETH(c, last, roce.RNRSyndrome|1)).As("RNR NAK").Expect() })
	g.Acknowledge(last.Prev(), others[1:]...)
	due := refused.Last + rnrCycles(t, 1)
	wait(e, due-early)
	e.Put(g.Ack(others[0], last.Prev()))
	wait(e, due+lateness(t)+uint64(8*g.MW()*t.MTUBeats()))
}

// rnrCycles is an RNR time in cycles.
func rnrCycles(t *rig.T, code uint8) uint64 {
	return microseconds(t, uint64(roce.RNRDuration(code).Microseconds()))
}

// notReady has endpoint c answer a PSN with RNR NAK: nothing is sent to it for the coded time, and then it gets all that it missed. If
// meanwhile is set, the others get more results before that, and c sends a NAK, which must wait too, and an ACK of what it did not get, which is dropped.
// It returns the first unused PSN.
func (g group) notReady(c int, first roce.PSN, code uint8, meanwhile bool) roce.PSN {
	t, e, m := g.T, g.E, g.Members()
	others, count := rig.AllBut(m, c), 1
	if meanwhile {
		count = min(g.MW(), 3)
	}
	t.In(fmt.Sprintf("code %d", code), func() {
		seen := watch(e)
		missed := []rig.Want{rig.DataTo(c, first, g.burst(first, m...))}
		refused, _ := e.FirstAccepted(func() { g.Send(g.AETH(c, first, roce.RNRSyndrome|code)).As("RNR NAK").Expect() })
		due := refused.Last + rnrCycles(t, code)
		for k := 1; k < count; k++ {
			missed = append(missed, rig.DataTo(c, first.Add(k), g.burst(first.Add(k), others...)))
		}
		if meanwhile && len(others) > 0 {
			g.Send(g.NAK(c, first)).As("a NAK of who waits").Expect()
			if count > 1 {
				g.Send(g.Ack(c, first.Next())).As("an ACK of what the others got alone").Dropped(inc.DropStaleAck)
			}
		}
		if e.Now()+64 < due {
			if outs := wait(e, due-1); len(outs) > 0 {
				t.Fatalf("%d frames left before the wait was over", len(outs))
			}
		}
		outs := wait(e, max(due, e.Now())+lateness(t)+uint64(count*8*t.MTUBeats()))
		seen.once(t, inc.ActResume, c, due, lateness(t)+64)
		t.In("after the wait", func() { g.Check(outs, missed...) })
		g.Acknowledge(first.Add(count-1), m...)
	})
	return first.Add(count)
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
