// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// reset has two groups wait for ACKs; in one of them an endpoint waits and another has failed when it is stopped or started.
func reset(t *rig.T) {
	const timeout = 20
	for round := range 4 {
		e := t.PipeEngine(timeout)
		a, b := group{e.Group(0, 2, t.Params.Members, false)}, group{e.Group(1, 2, t.Params.Members, false)}
		m := a.Members()
		seen := watch(e)
		for _, g := range []group{a, b} {
			for k := range g.outstanding() {
				g.offer(g.PSN(k), 8)
			}
		}
		e.Settle()
		due := seen.ofGroup(b.Index).of(inc.ActSend)[0].at + microseconds(t, timeout) // the timers began with the first packet
		answers := []rig.Frame{a.AETH(m[0], a.PSN(0), roce.RNRSyndrome|1), a.AETH(m[len(m)-1], a.PSN(0), roce.NAKRemoteAccess)}
		e.Put(answers[:min(len(m), 2)]...)
		e.Settle()
		switch round % 3 {
		case 0:
			a.Reset()
		case 1:
			a.Disable()
		case 2:
			a.Set.Start = roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
			a.Program()
		}
		*seen = nil
		wait(e, due+microseconds(t, timeout))
		t.In(fmt.Sprintf("round %d", round), func() { b.timedOutAlone(*seen, due) })
		b.Acknowledge(b.PSN(b.outstanding()-1), m...)
		if round%3 == 1 {
			a.Program()
		}
		a.shown(0)
		for k := range 2 {
			a.roundTrip(a.PSN(k))
			b.roundTrip(b.PSN(b.outstanding() + k))
		}
	}
	t.In("while another group sends", func() { startsAmongSends(t) })
	t.In("beside a decision", func() { stopsBesideDecision(t) })
	if t.Messages() {
		for _, g := range []group{star(t), wideStar(t)} {
			t.In(fmt.Sprintf("behind ACKs of %d messages", g.MW()), func() {
				g.startsBehindAcks(g.Members(), func(psn roce.PSN) { g.offer(psn, 4) })
			})
		}
		g := under(t.PipeEngine(rig.LongTimeout), rig.WithCollective(inc.CollectiveBroadcast, true))
		t.In("behind the ACKs of a Broadcast", func() {
			g.startsBehindAcks(g.Those(g.Set.OutMask), func(psn roce.PSN) { g.E.Put(g.Data(g.Parent, psn, g.Values(4))) })
		})
	}
}

// startsBehindAcks starts a group of Mode I some cycles behind the last ACK of all that it sent, which takes longer to count the more messages it is of: nothing of
// it counts any more when the group has started, so that one ACK alone of those in m, who hear of it, then frees nothing.
func (g group) startsBehindAcks(m []int, send func(roce.PSN)) {
	const most = 112
	t, e := g.T, g.E
	if len(m) < 2 {
		return
	}
	spread := max(most, 32+len(m)*(3*g.MW()+4)) // of each endpoint's ACK 3 cycles a message
	again := t.StartsGroup()
	for round := range most {
		wait := uint64(round * spread / most)
		for k := range g.MW() {
			send(g.PSN(k))
		}
		e.SettleAsIs()
		for _, c := range m {
			e.Put(g.Ack(c, g.PSN(g.MW()-1)))
		}
		for e.Waiting() > 0 {
			e.StepTo(e.Now() + 1)
		}
		e.StepTo(e.Now() + wait)
		e.Write("GROUP_CTRL", g.Index, again)
		for e.Field("GROUP_STATUS", g.Index, "busy") != 0 {
			e.StepTo(e.Now() + 16)
		}
		send(g.PSN(0))
		e.SettleAsIs()
		before := e.Counters()["WIPE"]
		e.Put(g.Ack(m[0], g.PSN(0)))
		e.SettleAsIs()
		if n := e.Counters()["WIPE"] - before; n > 0 {
			t.Fatalf("started %d cycles behind its ACKs a group frees %d slots when endpoint %d of %d has acknowledged a message", wait, n, m[0], len(m))
		}
		g.Reset()
	}
}

// stopsBesideDecision stops or starts a group in each of the cycles round that in which a frame of it is decided.
func stopsBesideDecision(t *rig.T) {
	const margin = 4
	e := t.PipeEngine(rig.LongTimeout)
	g := group{e.Group(0, 1, t.Params.Members, false)}
	frame := g.Ack(g.Members()[0], g.PSN(0))
	begin := e.Now()
	e.Put(frame)
	e.SettleAsIs()
	decision := e.Decided - begin
	for _, ctrl := range []uint32{0, t.StartsGroup()} {
		begin = e.Now()
		e.Write("GROUP_CTRL", g.Index, ctrl)
		write := e.Now() - begin
		for after := decision - min(decision, write+margin); after <= decision+margin; after++ {
			g.Program()
			e.Put(frame)
			e.StepTo(e.Now() + after)
			e.Write("GROUP_CTRL", g.Index, ctrl)
			e.SettleAsIs()
			e.Counted(fmt.Sprintf("GROUP_CTRL written %#x, %d cycles after a frame came", ctrl, after),
				map[inc.Counter]uint64{inc.DropGroupDisabled: e.Reference().Engine().Counters()[inc.DropGroupDisabled]})
			g.Disable()
		}
	}
}

// startsAmongSends starts a group while all of another's members ask over and over for what they got: it does not wait until they are content.
func startsAmongSends(t *rig.T) {
	const rounds = 200
	e := t.PipeEngine(rig.LongTimeout)
	busy, again := group{e.Group(0, 2, t.Params.Members, false)}, group{e.Group(1, 2, t.Params.Members, false)}
	for k := range busy.MW() {
		busy.offer(busy.PSN(k), 8)
	}
	e.Settle()
	for range rounds {
		for _, c := range busy.Members() {
			e.Put(busy.NAK(c, busy.PSN(0)))
		}
	}
	e.StepTo(e.Now() + 200)
	e.Write("GROUP_CTRL", again.Index, t.StartsGroup())
	for e.Field("GROUP_STATUS", again.Index, "busy") != 0 && e.Waiting() > 0 {
		e.StepTo(e.Now() + 16)
	}
	if e.Waiting() == 0 {
		t.Fatalf("group %d did not start before all frames had come in", again.Index)
	}
	e.Settle()
	again.roundTrip(again.PSN(0))
}

// outstanding is how many PSNs nobody acknowledges at first.
func (g group) outstanding() int { return min(g.MW(), 2) }

// timedOutAlone checks that all of a history is of this group, and that each of its members timed out once: one after the other, as each
// sends before the next is found.
func (g group) timedOutAlone(seen history, due uint64) {
	t, m, ups := g.T, g.Members(), seen.of(inc.ActTimeout)
	if n := len(seen.ofGroup(g.Index)); n < len(seen) {
		t.Fatalf("%d actions of before the other group was stopped or started: %v", len(seen)-n, seen)
	}
	var who []int
	for i, a := range ups {
		who = append(who, a.action.Endpoint)
		a.inTime(t, due, lateness(t)+uint64(i)*64*uint64(t.Params.Beats(128)))
	}
	if slices.Sort(who); !slices.Equal(who, m) {
		t.Fatalf("time-outs of endpoints %v, expected one of each of %v: %v", who, m, ups)
	}
}

// stopped stops a group while no port takes anything and more of its frames wait than can be answered: those that were not decided are dropped, and
// nothing is sent that waited for its turn. Another group's frames, which wait among them, are not.
func stopped(t *rig.T) {
	const rounds, all = 4, 40
	e, each := t.PipeEngine(rig.LongTimeout), max(all/t.Params.Members, 3)
	a, b := group{e.Group(0, 2, t.Params.Members, false)}, group{e.Group(1, 2, t.Params.Members, false)}
	for round := range rounds {
		for k := range a.outstanding() { // and nobody acknowledges it
			a.offer(a.PSN(k), 8)
			b.offer(b.PSN(k), 8)
		}
		e.SettleAsIs()
		e.HoldUp()
		var cycles uint64
		put := func(frames ...rig.Frame) {
			for _, f := range frames {
				cycles += uint64(t.Params.Beats(len(f.Data)) + 16)
				e.Put(f)
			}
		}
		nacks := round%2 > 0
		if !nacks { // it is now this, now that, what finds no room any more: answers or results
			put(slices.Repeat([]rig.Frame{a.Data(a.Members()[0], a.PSN(0), nil)}, t.Rand.IntN(all))...)
		}
		for i := range each {
			for _, c := range t.Shuffled(a.Members()) {
				frames := []rig.Frame{a.Data(c, a.PSN(0), nil), b.Data(c, b.PSN(0), nil), a.Data(c, a.PSN(a.outstanding()+i), a.Noise(t.Params.MTUBytes))}
				next := b.PSN(b.outstanding() + i) // behind nobody's frame that looks like it
				frames = append(frames, b.Data(c, next, nil, func(p *roce.Packet) { p.DestQP ^= 1 << 23 }), b.Data(c, next, nil))
				if nacks {
					frames = append(frames, a.NAK(c, a.PSN(0)), a.Ack(c, a.PSN(0)))
				}
				put(frames[t.Rand.IntN(2):]...)
			}
		}
		e.StepTo(e.Now() + cycles + e.Patience()) // until nothing moves any more
		a.Disable()
		t.Check(e.LetGo())
		e.SettleAsIs()
		b.Reset()
		a.Program()
		a.roundTrip(a.PSN(0))
		b.roundTrip(b.PSN(0))
		a.Reset()
		b.Reset()
	}
}

func failed(t *rig.T) {
	for _, syndrome := range []uint8{roce.NAKInvalidRequest, roce.NAKRemoteAccess, roce.NAKRemoteOperational} {
		t.In(fmt.Sprintf("NAK %#x", syndrome), func() { endConnection(t, syndrome) })
	}
}

// endConnection has a random endpoint do so.
func endConnection(t *rig.T, syndrome uint8) {
	const timeout = 10
	e := t.PipeEngine(timeout)
	g := group{e.Group(0, 1, t.Params.Members, false)}
	m, n := g.Members(), g.MW()
	c := m[t.Rand.IntN(len(m))]
	others := rig.AllBut(m, c)
	g.shown(0)
	e.SetTimeout(rig.LongTimeout)
	g.collective(g.PSN(0), m...)
	g.Send(g.AETH(c, g.PSN(0), syndrome)).As("a NAK that ends the connection").Expect()
	g.shown(1 << c)
	g.Acknowledge(g.PSN(0), others...)
	for k := 1; k < n; k++ {
		g.collective(g.PSN(k), others...)
		g.Acknowledge(g.PSN(k), others...)
	}
	for k := n; k < 2*n; k++ { // complete, but it cannot move
		g.collective(g.PSN(k))
	}
	g.Send(g.Data(m[0], g.PSN(2*n), g.Values(16))).As("beyond the pipes").Expect(refusalTo(m[0], g.PSN(2*n)))
	g.Send(g.NAK(c, g.PSN(0))).As("a NAK of who failed").Expect()
	g.shown(1 << c) // it still has
	e.SetTimeout(timeout)
	if outs := wait(e, e.Now()+3*microseconds(t, timeout)); len(outs) > 0 {
		t.Fatalf("%d frames left to an endpoint that failed", len(outs))
	}
	g.Reset()
	g.shown(0)
	e.SetTimeout(rig.LongTimeout)
	g.roundTrip(g.PSN(0))
}

// shown checks which endpoints the register shows as failed.
func (g group) shown(want uint32) {
	if got := g.E.Field("GROUP_FAILED", g.Index, "mask"); got != want {
		g.T.Fatalf("GROUP_FAILED is %#x, expected %#x", got, want)
	}
}
