// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// answers has every contribution sent twice, some of them after their PSN is complete, and then tries gaps.
func answers(t *rig.T) {
	const rounds = 6
	g := star(t)
	m := g.Members()
	messages := make([]uint32, len(g.Ends)) // that are complete, by endpoint
	for k := range rounds {
		psn, order := g.PSN(k), t.Shuffled(m)
		for i, c := range order {
			want := []rig.Want{rig.AckTo(c, psn)}
			if i == len(order)-1 {
				want = append(want, rig.Copies(rig.DataTo(0, psn, nil), m...)...)
			}
			messages[c]++
			g.answered(c, psn, messages[c], want...)
			again := psn.Add(-t.Rand.IntN(min(k, 3) + 1)) // this one or an older one: what is acknowledged is all that was taken
			g.answered(c, again, messages[c], rig.AckTo(c, psn))
		}
		g.Acknowledge(psn, t.Shuffled(m)...)
	}
	sent := uint64(rounds * len(m))
	g.E.Counted("after rounds of contributions sent twice", map[inc.Counter]uint64{inc.RxDuplicate: sent, inc.Agg: sent, inc.UpData: 2 * sent,
		inc.TxAck: 2 * sent, inc.TxResult: rounds, inc.TxFanout: sent, inc.Wipe: 2 * rounds, inc.RxAck: sent, inc.TxRetransmit: 0})
	if g.MW() >= 3 && len(m) >= 2 { // with one member nothing stays in the pipe
		g.gaps(m[0], g.PSN(rounds))
	}
}

// answered sends an empty packet that asks for an ACK or does not: either way these must leave, every ACK among them with that MSN.
func (g group) answered(c int, psn roce.PSN, msn uint32, want ...rig.Want) {
	g.T.In(fmt.Sprintf("PSN %v of endpoint %d", psn, c), func() {
		outs := g.Send(g.Data(c, psn, g.Values(0), func(p *roce.Packet) { p.AckReq = g.T.Rand.IntN(2) == 0 })).Out()
		g.Check(outs, want...)
		for _, o := range outs {
			if p, _ := o.Packet(); p.Op == roce.Acknowledge && p.MSN != msn {
				g.T.Fatalf("answered with MSN %d, expected %d", p.MSN, msn)
			}
		}
	})
}

// gaps has endpoint c leave out PSNs: one NAK a gap, and silence until something is taken.
func (g group) gaps(c int, first roce.PSN) {
	send := func(k int, want ...rig.Want) {
		g.Send(g.Data(c, first.Add(k), g.Values(8))).As("a gap, PSN %v after %v", first.Add(k), first).Expect(want...)
	}
	ack := func(k int) rig.Want { return rig.AckTo(c, first.Add(k)) }
	nak := func(k int) rig.Want { return rig.AETHTo(c, first.Add(k), roce.NAKSequence) }
	send(0, ack(0))
	send(2, nak(1))
	send(2)
	send(3)
	send(1 << 22)
	send(0, ack(0)) // a duplicate does not end the silence
	send(2)
	send(1, ack(1))
	send(3, nak(2)) // another gap
	send(2, ack(2))
	g.E.Counted("gaps", map[inc.Counter]uint64{inc.TxGapNak: 2, inc.DropGap: 6})
}

func cumulative(t *rig.T) {
	g := star(t)
	m, n := g.Members(), g.MW()
	for round := range 3 {
		for k := range n {
			g.collective(g.PSN(round*n+k), m...)
		}
		last, order := g.PSN(round*n+n-1), t.Shuffled(m)
		g.Acknowledge(last, order[1:]...)
		g.E.Counted("one endpoint has not acknowledged", map[inc.Counter]uint64{inc.Wipe: uint64((2*round + 1) * n)})
		g.Acknowledge(last, order[0])
		g.E.Counted("all have acknowledged", map[inc.Counter]uint64{inc.Wipe: uint64((2*round + 2) * n), inc.RxAck: uint64((round + 1) * len(m))})
	}
}

// nak has one endpoint ask twice for half of a full pipe, which the others have acknowledged, and then answer what makes no sense.
func nak(t *rig.T) {
	g := star(t)
	m, n := g.Members(), g.MW()
	c, from := m[len(m)-1], n/2
	var rest []rig.Want
	for k := range n {
		if result := g.collective(g.PSN(k), m...); k >= from {
			rest = append(rest, rig.DataTo(c, g.PSN(k), result))
		}
	}
	g.Acknowledge(g.PSN(n-1), m[:len(m)-1]...)
	for range 2 { // the second time nothing new is acknowledged, and the rest is sent all the same
		g.Send(g.NAK(c, g.PSN(from))).As("NAK").Expect(rest...)
	}
	if from > 0 {
		g.Send(g.NAK(c, g.PSN(from-1))).As("an old NAK").Dropped(inc.DropStaleAck)
		g.Send(g.Ack(c, g.PSN(from-1))).As("an old ACK").Dropped(inc.DropStaleAck)
	}
	for _, f := range []rig.Frame{g.NAK(c, g.PSN(n+1)), g.Ack(c, g.PSN(n)), g.AETH(c, g.PSN(n+1), roce.RNRSyndrome|1),
		g.Ack(c, g.PSN(1<<23-1))} {
		g.Send(f).As("an answer to what was never sent").Dropped(inc.DropStaleAck)
	}
	g.Send(g.NAK(c, g.PSN(n))).As("NAK of the next PSN, which acknowledges all").Expect()
	g.E.Counted("NAKs", map[inc.Counter]uint64{inc.RxNak: 3, inc.TxRetransmit: uint64(2 * (n - from)), inc.Wipe: uint64(2 * n)})
	g.roundTrip(g.PSN(n))
	for i, k := range []int{0, 1, n / 2, n - 1} {
		g.takenBack(c, g.PSN(n+1+i*n), min(k, n-1))
	}
}

// takenBack has endpoint c ask for all of a full pipe and, right behind that, acknowledge its number k: no more than the rest is sent again.
func (g group) takenBack(c int, first roce.PSN, k int) {
	m, last := g.Members(), first.Add(g.MW()-1)
	for psn := first; psn != last.Next(); psn = psn.Next() {
		g.collective(psn, m...)
	}
	g.Acknowledge(last, rig.AllBut(m, c)...)
	g.E.Put(g.NAK(c, first), g.Ack(c, first.Add(k)))
	g.E.SettleAsIs()
	if k < g.MW()-1 {
		g.Acknowledge(last, c)
	}
}
