// SPDX-License-Identifier: Apache-2.0

package oneway

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// twoLevels is a Broadcast through two switches: the sender and some receivers are at the upper one, the others at the lower one. Only
// ACKs are carried from one to the other; data the scenario gives to both.
type twoLevels struct {
	t            *rig.T
	upper, lower *rig.Group
	link         int   // the upper switch's endpoint toward the lower one
	near, far    []int // the receivers at the upper switch and at the lower one
}

func newTwoLevels(t *rig.T) *twoLevels {
	w := &twoLevels{t: t, upper: t.OneWay(inc.CollectiveBroadcast, true), link: 0}
	w.lower = t.OneWay(inc.CollectiveBroadcast, false, rig.WithStart(w.upper.Start()))
	w.upper.Ends[w.link].Host = false
	w.upper.Program()
	w.near, w.far = rig.AllBut(newReceivers(w.upper).all, w.link), newReceivers(w.lower).all
	return w
}

// run sends packets one by one. Of every third one all ACKs between the switches are lost; when the sender asks again, the receivers'
// repeated ACKs bring them once more.
func (w *twoLevels) run() {
	for k := range 3 * w.upper.MW() {
		psn, b := w.upper.PSN(k), w.upper.Noise(16)
		heard := false // by the sender, that everybody has the packet
		for round := 0; !heard; round++ {
			if round == 3 {
				w.t.Fatalf("PSN %v was sent %d times and its ACK never came", psn, round)
			}
			w.data(psn, b)
			heard = w.acks(psn, round == 0, k%3 == 1)
		}
	}
}

// data brings a packet to both switches.
func (w *twoLevels) data(psn roce.PSN, b []byte) {
	upper := append([]int{w.link}, w.near...)
	w.upper.Send(w.upper.Data(w.upper.Parent, psn, b)).As("data").Expect(rig.Copies(rig.DataTo(0, psn, b), upper...)...)
	w.lower.Send(w.lower.Data(w.lower.Parent, psn, b)).As("data").Expect(rig.Copies(rig.DataTo(0, psn, b), w.far...)...)
}

// acks has all receivers acknowledge a packet and tells whether the sender heard of it. The first time nothing goes up before the last of
// them has said so; then lost tells that it is lost between the switches.
func (w *twoLevels) acks(psn roce.PSN, first, lost bool) (heard bool) {
	order := w.t.Shuffled(w.far)
	for _, c := range w.near {
		w.upper.Send(w.upper.Ack(c, psn)).As("ACK before the lower switch's").Expect()
	}
	for i, c := range order {
		outs := w.lower.Send(w.lower.Ack(c, psn)).Out()
		if first && i < len(order)-1 && len(outs) > 0 {
			w.t.Fatalf("PSN %v was acknowledged before endpoint %d had it", psn, order[i+1])
		}
		if first && lost {
			continue
		}
		for _, o := range w.carry(outs) {
			p := w.t.Packet(o)
			if p.PSN != psn || p.Syndrome != roce.AckSyndrome || w.upper.Addressee(o.Port, p) != w.upper.Parent {
				w.t.Fatalf("the sender got %v, expected ACK %v", p, psn)
			}
			heard = true
		}
	}
	return heard
}

// carry brings to the upper switch what the lower one sends there, and returns what leaves the upper one.
func (w *twoLevels) carry(outs []dut.Frame) []dut.Frame {
	var all []dut.Frame
	for _, o := range outs {
		p := w.t.Packet(o)
		if w.lower.Addressee(o.Port, p) != w.lower.Parent {
			w.t.Fatalf("the lower switch answered to another than its parent: %v", p)
		}
		q := w.upper.Packet(w.link, p.Op, p.PSN)
		q.Syndrome, q.MSN, q.TOS = p.Syndrome, p.MSN, p.TOS&3
		all = append(all, w.upper.Send(w.upper.Frame(w.link, &q)).Out()...)
	}
	return all
}
