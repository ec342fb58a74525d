// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

func reflect(t *rig.T) {
	g := t.Star()
	count := min(10, g.MW())
	g.CompleteFrom(0, count)
	last := g.PSN(count - 1) // the first ACK is for all before it too, and comes back once all the same
	syndromes := []uint8{0x1F, 0x00, 0x0A, 0x60, 0x61, 0x62, 0x63, 0x20, 0x21, 0x2C, 0x3F}
	for _, c := range g.Members() {
		for _, s := range syndromes {
			for range 2 {
				f := g.AETH(c, last, s)
				sent, err := roce.Decode(f.Data)
				t.Check(err)
				outs := g.Send(f).Out()
				g.CheckAt(outs, []int{c}, roce.Acknowledge, last, nil)
				if p := t.Packet(outs[0]); p.Syndrome != s || p.MSN != sent.MSN {
					t.Fatalf("syndrome %#02x MSN %d came back as %#02x MSN %d", s, sent.MSN, p.Syndrome, p.MSN)
				}
			}
		}
	}
}

// gapNAK is about the one NAK that Mode II makes itself.
func gapNAK(t *rig.T) {
	var opts []rig.GroupOption
	for _, k := range t.Fitting(1) {
		if k.DType.Size() == 2 { // of which an odd number has pad, and a NAK none
			opts = []rig.GroupOption{rig.WithKind(k)}
		}
	}
	g := t.Star(opts...)
	m, at := g.Members(), g.Start().Add
	for _, c := range m {
		expectGapNAK(g, c, at(0), at(1), at(2), at(1))
	}
	g.Complete(at(0))
	for _, c := range m { // nothing reflected yet: the NAK must not claim that the result of START was received
		expectGapNAK(g, c, at(0), at(5), at(6))
	}
	g.Complete(at(1))
	next := make([]roce.PSN, len(g.Ends)) // what each rank wants after what it has acknowledged
	for i, c := range m {
		syndrome := []uint8{roce.AckSyndrome, roce.NAKSequence, roce.RNRSyndrome | 1}[i%3]
		next[c] = at(1) // a NAK or RNR NAK of a PSN acknowledges the one before it
		if syndrome == roce.AckSyndrome {
			next[c] = at(2)
		}
		g.Send(g.AETH(c, at(1), syndrome)).ExpectAt([]int{c}, roce.Acknowledge, at(1), nil)
		expectGapNAK(g, c, next[c], at(3), at(4))
	}
	g.Complete(at(2))

	g.T.Check(g.E.Ctl.SetOptions(false, false))
	for _, c := range m {
		g.Send(g.Data(c, at(9), g.Values(6))).As("a gap while gap NAKs are off").Expect()
	}
	g.T.Check(g.E.Ctl.SetOptions(true, false))
	for _, c := range m { // silent gaps did not use up the one NAK
		expectGapNAK(g, c, next[c], at(9), at(9))
	}
	g.Ends[m[0]].Host = false // now a switch is at the other end
	g.Program()
	g.Send(g.Data(m[0], at(1), g.Values(6))).As("a gap on a link between switches").Expect()
}

// expectGapNAK has endpoint c send PSNs that are all behind a gap: the first is answered by a NAK that asks for want, the others by
// nothing.
func expectGapNAK(g *rig.Group, c int, want roce.PSN, first roce.PSN, others ...roce.PSN) {
	outs := g.Send(g.Data(c, first, g.Values(6))).As("a gap").Out()
	g.CheckAt(outs, []int{c}, roce.Acknowledge, want, nil)
	g.Check(outs, rig.AETHTo(c, want, roce.NAKSequence))
	for _, psn := range others {
		g.Send(g.Data(c, psn, g.Values(6))).As("one more frame behind the gap").Expect()
	}
}

func simultaneousAcks(t *rig.T) {
	g := t.Star()
	g.Complete(g.Start())
	for _, pauses := range []dut.Pauses{{}, {Ready: 0.5, Burst: 4}, {Ready: 0.9, Burst: 20, In: 0.1}, {In: 0.5, Burst: 3}} {
		pauses.Seed = t.Rand.Uint64()
		g.E.SetPauses(pauses)
		for i := range 24 {
			at := g.E.Now() + 40
			var want []rig.Want
			for _, c := range g.Members() {
				for range 1 + i%3 {
					syndrome := []uint8{roce.AckSyndrome, roce.NAKSequence, roce.RNRSyndrome | 10}[t.Rand.IntN(3)]
					f := g.AETH(c, g.Start(), syndrome)
					g.E.Offer(f.Port, dut.Frame{Data: f.Data, First: at})
					want = append(want, rig.AETHTo(c, g.Start(), syndrome))
				}
			}
			g.Check(g.E.Settle(), want...)
		}
	}
	if !t.Params.PortDrop { // a port's queue that is full drops what the storm has leave
		ackStorm(g)
	}
}

// ackStorm lets every queue inside fill up: more ACKs than any holds, with repetitions of data among them, while no frame may leave.
func ackStorm(g *rig.Group) {
	t := g.T
	const each = 120
	for range 2 {
		g.E.SetPauses(dut.Pauses{Ready: 1})
		for k := range each {
			for _, c := range g.Members() {
				f := g.Ack(c, g.Start())
				if k%20 == 19 {
					f = g.Data(c, g.Start(), g.Values(16))
				}
				g.E.Put(f)
			}
		}
		g.E.StepTo(g.E.Now() + 6000)
		answers := g.E.Out()
		g.E.SetPauses(dut.Pauses{Seed: t.Rand.Uint64(), Ready: 0.2, Burst: 3})
		answers = append(answers, g.E.Settle()...)
		if want := each * len(g.Members()); len(answers) != want {
			t.Fatalf("%d answers to %d frames", len(answers), want)
		}
	}
	g.E.SetPauses(dut.Pauses{})
}
