// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// mostAnswers do not fit into the queues.
const mostAnswers = 40

// heldUp has frames wait behind answers that no port takes, more and more of them.
func heldUp(t *rig.T) {
	const spread = 64 // cycles
	for fill := range mostAnswers {
		star(t).behindStranger(fill)
	}
	if rig.NeedGroups(2)(t.Params) == "" {
		p := twoGroups(t)
		fit := p.a.answersThatFit(mostAnswers)
		p.a.Reset()
		p.paddedBehindDamaged(fit)
	}
	if !t.Messages() {
		star(t).lastWordsWait()
	}
	g := star(t)
	if g.MW() < 3 || len(g.Members()) < 3 {
		return
	}
	fit := g.answersThatFit(mostAnswers)
	if t.Messages() {
		g.Reset()
		g.withoutRoom(fit)
	}
	for after := range uint64(spread) {
		g.Reset()
		g.besideDamaged(fit, after)
	}
}

// answersThatFit is how many frames are decided, of so many that ask for an answer, before one waits for room.
func (g group) answersThatFit(of int) (fit int) {
	g.roundTrip(g.PSN(0))
	g.E.OnAccept = func(dut.Frame, []inc.Counter) { fit++ }
	g.E.SetPauses(dut.Pauses{Ready: 1})
	for range of {
		g.E.Put(g.Data(g.Members()[0], g.PSN(0), nil))
	}
	g.soak(of)
	g.E.OnAccept = nil
	g.release()
	return fit
}

// soak runs long enough for n short frames.
func (g group) soak(n int) {
	g.E.StepTo(g.E.Now() + uint64((n+2)*(g.T.Params.Beats(128)+16)))
}

// release has the ports take everything again.
func (g group) release() {
	g.E.SetPauses(dut.Pauses{})
	g.E.SettleAsIs()
}

// behindStranger has data wait right behind a frame of nobody that differs from it in bits of the QPN alone which number no endpoint.
func (g group) behindStranger(fill int) {
	c := g.T.Rand.IntN(g.T.Params.Members)
	g.roundTrip(g.PSN(0))
	g.E.SetPauses(dut.Pauses{Ready: 1})
	for range fill {
		g.E.Put(g.Data(c, g.PSN(0), nil))
	}
	r := g.Round(g.PSN(1), 16).Draw(c)
	g.E.Put(g.Data(c, r.PSN, g.Values(16), func(p *roce.Packet) { p.DestQP ^= 1 << 23 }), r.Frame(c))
	g.soak(fill)
	g.release()
	g.contribute(r, rig.AllBut(g.Members(), c), g.Members()...)
}

// besideDamaged has a damaged contribution wait for room for its answer, which comes that many cycles after somebody else has begun to contribute to the
// next PSN, which has another length.
func (g group) besideDamaged(fill int, after uint64) {
	m := g.T.Shuffled(g.Members())
	g.roundTrip(g.PSN(0))
	now, next := g.Round(g.PSN(1), 8).Draw(m...), g.Round(g.PSN(2), 16).Draw(m...)
	for _, c := range m[:2] {
		g.E.Put(now.Frame(c))
	}
	g.E.Put(next.Frame(m[0]))
	g.E.SettleAsIs()
	g.E.SetPauses(dut.Pauses{Ready: 1})
	for range fill {
		g.E.Put(g.Data(m[0], g.PSN(0), nil))
	}
	g.soak(fill)
	damaged := now.Frame(m[2])
	damaged.Data = damaged.Data[:len(damaged.Data)-1]
	g.E.Put(damaged)
	g.soak(1)
	g.E.Put(next.Frame(m[1]))
	g.E.StepTo(g.E.Now() + after)
	g.release()
	g.contribute(now, m[2:], m...)
	g.contribute(next, m[2:], m...)
}

// withoutRoom has so many answers wait that there is room for no other. A frame that draws none is decided all the same; the last packet of a message that
// did not begin, which ends its sender's connection, waits for room for its NAK.
func (g group) withoutRoom(fill int) {
	m := g.Members()
	g.roundTrip(g.PSN(0))
	g.Send(g.Data(m[1], g.PSN(2), nil)).As("a gap").Expect(rig.AETHTo(m[1], g.PSN(1), roce.NAKSequence))
	decided := 0
	g.E.OnAccept = func(dut.Frame, []inc.Counter) { decided++ }
	g.E.SetPauses(dut.Pauses{Ready: 1})
	for range fill {
		g.E.Put(g.Data(m[0], g.PSN(0), nil))
	}
	g.soak(fill)
	g.E.Put(g.Data(m[1], g.PSN(2), nil))
	g.soak(1)
	g.promise(decided == fill+1, "%d frames were decided, of %d that are answered and one more that is not", decided, fill)
	g.E.Put(g.Data(m[2], g.PSN(1), g.Values(8), func(p *roce.Packet) { p.Op = roce.SendLast }))
	g.soak(1)
	g.E.OnAccept = nil
	g.release()
}

// paddedBehindDamaged has the last contribution to a PSN wait for room for its answer, and turn out damaged. Right behind it waits another group's data with
// a pad count, ahead of what its sender owes: the NAK has none.
func (p pair) paddedBehindDamaged(fill int) {
	g, b := p.a, p.b
	m, n, e := g.Members(), b.MW(), g.E
	g.roundTrip(g.PSN(0))
	r := g.Round(g.PSN(1), 8).Draw(m...)
	for _, c := range m[1:] {
		e.Put(r.Frame(c), b.Data(c, b.PSN(n), nil))
	}
	e.SettleAsIs()
	damaged := r.Frame(m[0])
	damaged.Data = damaged.Data[:len(damaged.Data)-1]
	e.SetPauses(dut.Pauses{Ready: 1})
	for range fill {
		e.Put(g.Data(m[0], g.PSN(0), nil))
	}
	g.soak(fill)
	e.Put(damaged, b.Data(m[0], b.PSN(n+1), g.Noise(8)[:5]))
	g.soak(2)
	g.release()
	g.contribute(r, m[:1], m...)
}
