// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// pair are two groups of an engine. What the second one has sent is asked for again and again.
type pair struct{ a, b group }

// beside has one group send what it is asked for while another's frames and starts find the engine busy with that.
func beside(t *rig.T) {
	const rounds, starts, spread, step = 3, 8, 24, 3
	fit := star(t).answersThatFit(mostAnswers)
	for range rounds {
		twoGroups(t).roomAtLast(fit)
	}
	p := twoGroups(t)
	for cycles := uint64(0); cycles < spread; cycles += step {
		p.acknowledgedLate(fit, cycles)
	}
	for range starts {
		p.startedMeanwhile()
	}
	if rig.NeedBare(t.Params) == "" {
		p.startedBehindSends()
	}
}

// twoGroups makes both, of which the second has sent all it may.
func twoGroups(t *rig.T) pair {
	e := t.PipeEngine(rig.LongTimeout)
	some := rig.WithStart(roce.PSN(t.Rand.Uint32() & 0xFFFFFF))
	p := pair{group{e.Group(0, 2, t.Params.Members, false)}, group{e.Group(1, 2, t.Params.Members, false, some)}}
	for k := range p.b.MW() {
		p.b.offer(p.b.PSN(k), 8)
	}
	e.Settle()
	return p
}

// startedBehindSends starts the first group, in which an endpoint has failed, when all of the second's members have just been asked for the longest packets again
// and the ports are slow: nothing of the first is set anew before everybody has had a turn who stood in the queue of sends when the start came (docs/pipes.md
// section 5). The second time what the first start left behind must not be in its way.
func (p pair) startedBehindSends() {
	const rounds = 2
	t, e, g, b := p.a.T, p.a.E, p.a, p.b
	b.Reset()
	for k := range b.MW() {
		b.offer(b.PSN(k), t.Params.MTUBytes)
	}
	e.SettleAsIs()
	again := t.StartsGroup()
	shows, err := t.Manifest.Addr("GROUP_FAILED", g.Index)
	t.Check(err)
	for range rounds {
		g.Reset()
		g.collective(g.PSN(0), g.Members()...)
		e.Exchange(g.AETH(g.Members()[0], g.PSN(0), roce.NAKRemoteAccess))
		asked := 0
		e.OnAccept = func(dut.Frame, []inc.Counter) { asked++ }
		p.askAgain()
		for asked < len(b.Members()) {
			e.StepTo(e.Now() + 1)
		}
		e.OnAccept = nil
		e.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: 0.9, Burst: 8})
		seen := watch(e)
		e.Write("GROUP_CTRL", g.Index, again)
		for failed := uint32(1); failed != 0; e.StepTo(e.Now() + 1) {
			failed, err = e.DUT.Read(shows) // the reference has it as it will be
			t.Check(err)
		}
		sent := len(seen.of(inc.ActSendOne))
		t.Promise(sent >= len(b.Members())-1, "group %d was set anew when %d of %d who stood in the queue of sends had had a turn", g.Index, sent, len(b.Members())-1)
		e.SetPauses(dut.Pauses{})
		for e.Field("GROUP_STATUS", g.Index, "busy") != 0 {
			e.StepTo(e.Now() + 8)
		}
		e.SettleAsIs()
	}
	g.roundTrip(g.PSN(0))
}

// askAgain has everybody ask the second group for all that it has sent. Nothing runs yet.
func (p pair) askAgain() {
	for _, c := range p.b.T.Shuffled(p.b.Members()) {
		p.b.E.Put(p.b.NAK(c, p.b.PSN(0)))
	}
}

// roomAtLast fills the first group's pipes, and the queues with that many answers. Then one endpoint, the last to acknowledge, sends data right behind each ACK, for
// which there is room from then on.
func (p pair) roomAtLast(fill int) {
	g, t := p.a, p.a.T
	m, n := g.Members(), g.MW()
	last := m[t.Rand.IntN(len(m))]
	g.fillBoth()
	for _, c := range rig.AllBut(m, last) {
		g.Acknowledge(g.PSN(n-1), c)
	}
	var rounds []*rig.Round
	g.E.SetPauses(dut.Pauses{Ready: 1}) // so that sends wait for room, and frames right behind each other
	for range fill {
		g.E.Put(g.Data(last, g.PSN(0), nil))
	}
	g.soak(fill)
	p.askAgain()
	g.soak(4 * len(m))
	for k := range n {
		rounds = append(rounds, g.Round(g.PSN(2*n+k), 12).Draw(last))
		g.E.Put(g.Ack(last, g.PSN(k)), rounds[k].Frame(last))
	}
	g.soak(2 * n)
	g.release()
	for _, r := range rounds {
		for _, c := range rig.AllBut(m, last) {
			r.Send(c).As("PSN %v of endpoint %d", r.PSN, c).Expect(rig.AckTo(c, r.PSN))
		}
	}
	g.Acknowledge(g.PSN(2*n-1), rig.AllBut(m, last)...)
	var want []rig.Want
	for _, r := range rounds {
		want = append(want, rig.Copies(rig.DataTo(0, r.PSN, r.Result()), m...)...)
	}
	g.Send(g.Ack(last, g.PSN(2*n-1))).As("the ACK that has the last ones leave").Expect(want...)
	g.Acknowledge(g.PSN(3*n-1), m...)
}

// acknowledgedLate has an endpoint of the first group acknowledge all in a frame that Ethernet pads. It stands right behind what the second is asked for, and that
// behind data whose answer waits for room: some of all the numbers of cycles for which the ports take something leave room for that answer alone. The send then waits,
// until the padding has come in and another ACK behind it.
func (p pair) acknowledgedLate(fill int, cycles uint64) {
	const padding = 900 // bytes
	g, e := p.a, p.a.E
	m := g.T.Shuffled(g.Members())
	beats := uint64(g.T.Params.Beats(64))
	end := g.PSN(g.MW() - 1)
	for k := range g.MW() {
		g.offer(g.PSN(k), 4)
	}
	e.Settle()
	e.SetPauses(dut.Pauses{Ready: 1})
	for range fill + 1 {
		e.Put(g.Data(m[0], g.PSN(0), nil))
	}
	g.soak(fill)
	late := g.Ack(m[0], end)
	late.Data = append(late.Data, make([]byte, padding)...)
	for _, f := range []rig.Frame{p.b.NAK(m[0], p.b.PSN(0)), late, g.Ack(m[len(m)-1], g.PSN(0))} {
		e.Put(f)
		e.StepTo(e.Now() + 2*beats)
	}
	e.SetPauses(dut.Pauses{})
	e.StepTo(e.Now() + cycles)
	e.SetPauses(dut.Pauses{Ready: 1})
	e.StepTo(e.Now() + uint64(g.T.Params.Beats(padding)) + 100)
	g.release()
	g.Acknowledge(end, m[1:]...)
	g.roundTrip(end.Next())
	g.Reset()
}

// startedMeanwhile starts the first group while the second sends.
func (p pair) startedMeanwhile() {
	const spread = 64
	g := p.a
	p.askAgain()
	g.E.StepTo(g.E.Now() + uint64(g.T.Rand.IntN(spread)))
	g.Reset()
	g.E.Settle()
	g.roundTrip(g.PSN(0))
	p.b.Acknowledge(p.b.PSN(p.b.MW()-1), p.b.Members()...)
	p.b.Reset()
	for k := range p.b.MW() {
		p.b.offer(p.b.PSN(k), 8)
	}
	g.E.Settle()
}
