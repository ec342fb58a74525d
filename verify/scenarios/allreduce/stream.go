// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"slices"

	"incforge/roce"
	"incforge/verify/rig"
)

func slotReuse(t *rig.T) {
	g := t.Star()
	stream(g, 10*2*g.MW(), func() int { return 4 * (1 + t.Rand.IntN(8)) })
}

func wrap(t *rig.T) {
	for _, start := range []roce.PSN{0xFFFFF0, 0xFFFFFF, 0xFFFFFE, 0x7FFFF8} {
		g := t.Star(rig.WithStart(start))
		stream(g, 64, func() int { return 8 })
		if t.Pipes() { // a NAK of Mode III asks for another PSN: see pipe-wrap
			continue
		}
		for _, c := range g.Members() { // the gap NAK must follow the newest ACK, across the wrap and past an old one
			for _, psn := range []roce.PSN{start.Add(15), start.Add(16), start.Add(14)} {
				g.Send(g.Ack(c, psn)).As("an ACK").ExpectAt([]int{c}, roce.Acknowledge, psn, nil)
			}
			expectGapNAK(g, c, start.Add(17), start.Add(64+2))
		}
	}
}

// stream completes count PSNs from Start on: every rank in order, at most a window ahead of the slowest, turns at random, now and then
// a repetition or a gap, frames back to back.
func stream(g *rig.Group, count int, size func() int) {
	t, m := g.T, g.Members()
	var rounds []*rig.Round
	for k := range count {
		rounds = append(rounds, g.Round(g.PSN(k), size()).Draw(m...))
	}
	left := make([]int, count) // how often each result left
	next := make([]int, len(m))
	for done := 0; done < count; done = slices.Min(next) {
		for range g.MW() * len(m) {
			i := t.Rand.IntN(len(m))
			if next[i] == count || next[i] == done+g.MW() {
				continue
			}
			f := rounds[next[i]].Frame(m[i])
			g.E.Put(f)
			next[i]++
			switch t.Rand.IntN(12) {
			case 0:
				g.E.Put(rig.Frame{Port: f.Port, Data: slices.Clone(f.Data)})
			case 1:
				if next[i]+1 < count {
					g.E.Put(rounds[next[i]+1].Frame(m[i]))
				}
			}
		}
		for _, o := range g.E.Settle() {
			p := t.Packet(o)
			if !p.Op.IsSend() {
				continue
			}
			k := p.PSN.Diff(g.Start())
			if k < 0 || k >= count {
				t.Fatalf("a result of PSN %v left, which nobody sent", p.PSN)
			}
			if want := rounds[k].Result(); !bytes.Equal(p.Payload, want) {
				t.Fatalf("PSN %v (number %d) of %s: result %x, expected %x", p.PSN, k, g.Kind(), p.Payload, want)
			}
			left[k]++
		}
	}
	for k, n := range left {
		if n < len(m) {
			t.Fatalf("PSN %v (number %d) left %d times, expected once to each of %d ranks at least", rounds[k].PSN, k, n, len(m))
		}
	}
}
