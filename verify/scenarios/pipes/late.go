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

// late has timers end when something is in their way: others that send without a pause, others' timers, no room for what follows.
func late(t *rig.T) {
	if !t.OneQueue { // the reference sends however little is taken
		t.In("a wait that ends while nothing can leave", func() { star(t).resumesHeldUp() })
	}
	t.In("time-outs among sends", func() { timeoutsAmongSends(t) })
}

// shortTimeout is one of twice what a timer may be late, in microseconds.
func shortTimeout(t *rig.T) uint64 { return 2*lateness(t)/microseconds(t, 1) + 1 }

// refuses has everybody get a PSN, and all acknowledge it but c, which answers RNR NAK: in which cycle its wait ends.
func (g group) refuses(c int, psn roce.PSN) (due uint64) {
	code := longerCode(g.T)
	g.collective(psn, g.Members()...)
	g.Acknowledge(psn, rig.AllBut(g.Members(), c)...)
	refused, _ := g.E.FirstAccepted(func() { g.Send(g.AETH(c, psn, roce.RNRSyndrome|code)).As("RNR NAK").Expect() })
	return refused.Last + rnrCycles(g.T, code)
}

// resumesHeldUp has a wait end while there is no room to send again. Its timer has begun then: it is up as soon as that is sent.
func (g group) resumesHeldUp() {
	const most = 80 // answers; so many do not fit into the queues
	t, e := g.T, g.E
	m, timeout := g.Members(), shortTimeout(t)
	c, held := m[len(m)-1], lateness(t)+microseconds(t, timeout)
	fit := g.answersThatFit(most)
	g.Reset()
	fill := uint64((fit + 4) * (t.Params.Beats(64) + 4))
	if held+fill > e.Patience() {
		return // the scoreboard would miss what does not leave
	}
	due := g.refuses(c, g.PSN(0))
	e.SetTimeout(uint16(timeout))
	wait(e, due-fill)
	e.SetPauses(dut.Pauses{Ready: 1})
	for range fit {
		e.Put(g.Data(m[0], g.PSN(0), nil))
	}
	seen := watch(e)
	wait(e, due+held)
	seen.once(t, inc.ActResume, c, due, lateness(t))
	if ups := seen.of(inc.ActTimeout); len(ups) > 0 {
		t.Fatalf("a time-out of who was sent nothing: %v", ups)
	}
	from := e.Now()
	e.SetPauses(dut.Pauses{})
	wait(e, from+lateness(t))
	seen.once(t, inc.ActTimeout, c, from, lateness(t))
	e.SetTimeout(rig.LongTimeout)
	e.SettleAsIs() // the answers
	g.Acknowledge(g.PSN(0), c)
}

// timeoutsAmongSends has time-outs come while the queue of sends is never empty: each waits for one send at most, and each send for one of them.
func timeoutsAmongSends(t *rig.T) {
	const rounds, slots = 6, 4
	for round := range rounds {
		g := group{t.PipeEngine(0).MakeGroup(0, 1, t.Params.Members, false)}
		g.Set.PipeSlots = min(g.MW(), slots)
		g.Program()
		t.In(fmt.Sprintf("round %d", round), func() { g.alone() })
		g.Reset()
		t.In(fmt.Sprintf("together, round %d", round), func() { g.together() })
	}
}

// busy has all contribute to a whole pipe, with a time-out of some times what it takes to send that, and returns when the first is up.
func (g group) busy(timeout uint64, seen *history) (due uint64) {
	g.E.SetTimeout(uint16(timeout))
	for k := range g.MW() {
		g.offer(g.PSN(k), g.T.Params.MTUBytes)
	}
	g.E.SettleAsIs()
	return seen.of(inc.ActSend)[0].at + microseconds(g.T, timeout)
}

// lap is how long it takes at most to send so many packets of the longest, or to make them again.
func (g group) lap(packets int) uint64 {
	return uint64(packets * (g.T.MTUBeats()*g.T.Params.CyclesPerBeat() + 16))
}

// alone has one endpoint not acknowledge, while all others ask for what they got over and over.
func (g group) alone() {
	t, e, m, n := g.T, g.E, g.T.Shuffled(g.Members()), g.MW()
	c, others := m[0], m[1:]
	seen := watch(e)
	asks, heard := g.lap(n-1), uint64(2*len(others)*(t.Params.Beats(64)+16)) // cycles until all that one asks for was sent, and until what all others say has come in
	due := g.busy(3*g.lap(2*n*len(m))/microseconds(t, 1)+8, seen)
	wait(e, due-asks-2*heard)
	for _, o := range others {
		e.Put(g.Ack(o, g.PSN(0))) // which is progress: its timer starts anew
	}
	for _, at := range []uint64{due - asks - heard, due, due + asks} {
		wait(e, at)
		for _, o := range others {
			e.Put(g.NAK(o, g.PSN(1)))
		}
	}
	wait(e, due+lateness(t)+g.lap(2)) // with a window of one packet nobody is sent anything until then
	e.SettleAsIs()
	all := seen.of(inc.ActTimeout)
	if len(all) == 0 || all[0].action.Endpoint != c {
		t.Fatalf("time-outs are %v, expected is one of endpoint %d first", all, c)
	}
	all[0].inTime(t, due, lateness(t)+g.lap(2))
	e.SetTimeout(rig.LongTimeout)
}

// together has nobody acknowledge and one ask again when all are late at once.
func (g group) together() {
	const inARow = 1
	t, e, n := g.T, g.E, g.MW()
	seen := watch(e)
	asks := g.lap(n)
	due := g.busy(3*g.lap(2*n*len(g.Members()))/microseconds(t, 1)+8, seen)
	row, wanted := 0, false // time-outs since the last send, if there was somebody who wanted to
	look := func() { wanted = slices.ContainsFunc(e.Reference().Engine().Actions(nil), sends) }
	e.OnAccept = func(dut.Frame, []inc.Counter) { look() }
	e.OnAct = func(at uint64, a inc.Action) {
		*seen = append(*seen, act{at, a})
		if row++; sends(a) || !wanted {
			row = 0
		}
		if row > inARow && !t.OneQueue {
			t.Fatalf("%d time-outs in a row while somebody wanted to send, at most %d may be: %v", row, inARow, *seen)
		}
		look()
	}
	for _, at := range []uint64{due - asks/2, due} {
		wait(e, at)
		e.Put(g.NAK(g.Members()[0], g.PSN(0)))
	}
	wait(e, due+lateness(t)+g.lap(n*len(g.Members())))
	e.SettleAsIs()
	e.OnAccept, e.OnAct = nil, nil
	if ups := len(seen.of(inc.ActTimeout)); ups < len(g.Members()) {
		t.Fatalf("%d time-outs, expected are %d or more", ups, len(g.Members()))
	}
	e.SetTimeout(rig.LongTimeout)
}

// sends tells whether an action is one.
func sends(a inc.Action) bool { return a.Kind == inc.ActSend || a.Kind == inc.ActSendOne }
