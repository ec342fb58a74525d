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
	for k := range uint32(4) {
		c := m[t.Rand.IntN(len(m))]
		g.Set.Start = roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
		g.Program()
		seen := watch(e)
		result := g.collective(g.PSN(0), m...)
		due := seen.lastSend() + microseconds(t, timeout)
		g.acknowledge(g.PSN(0), rig.AllBut(m, c)...)
		t.In("after a time-out", func() {
			g.Check(wait(e, due+lateness(t)+4*uint64(t.MTUBeats())), rig.DataTo(c, g.PSN(0), result))
		})
		seen.once(t, inc.ActTimeout, c, due, lateness(t))
		g.acknowledge(g.PSN(0), c)
		g.collective(g.PSN(1), m...)
		g.acknowledge(g.PSN(1), m...)
		e.Counted("lost ACK", map[inc.Counter]uint32{inc.Timeout: k + 1, inc.TxRetransmit: k + 1, inc.Wipe: 4 * (k + 1)})
	}
}

// timers has one endpoint never acknowledge, under several settings of PIPE_TIMEOUT.
func timers(t *rig.T) {
	for _, timeout := range []uint16{0, 3, 25} { // 0 stands for 1
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
