// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/binary"

	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/rig"
)

// onePSN: element i of rank r is i·(r+1), so that the result is known without adding anything up.
func onePSN(t *rig.T) {
	g := t.Star()
	k, m := g.Kind(), g.Members()
	period := 64
	if k.DType == arith.BF16 {
		period = 8 // it has no more than 256 whole numbers in a row
	}
	n := min(g.Whole(t.Params.MTUBytes), 256)
	pattern := func(times int) []byte {
		b := make([]byte, n)
		for i := range k.Elements(n) {
			k.Set(b, i, float64(i%period*times))
		}
		return b
	}
	r := g.Round(g.PSN(0), n)
	for _, c := range m {
		r.Payloads[c] = pattern(c + 1)
	}
	times := map[arith.Op]int{arith.Sum: len(m) * (len(m) + 1) / 2, arith.Min: 1, arith.Max: len(m)}[k.Op]
	last := len(m) - 1
	r.Send(m[:last]...).As("all ranks but the last").Expect()
	r.Send(m[last]).As("the last rank").ExpectAt(m, roce.SendOnly, r.PSN, pattern(times))
}

func barrier(t *rig.T) {
	g := t.Star(rig.WithBarrier())
	m, count := g.Members(), 2*g.MW()+2
	for k := range count {
		psn := g.PSN(k)
		released := g.Round(psn, 0).Send(m...).Out()
		g.CheckAt(released, m, roce.SendOnly, psn, nil)
		for _, o := range released {
			if len(o.Data)-roce.HeaderAt(o.Data) != 60 {
				t.Fatalf("a release has %d bytes, expected 60", len(o.Data))
			}
		}
	}
	full := g.Send(g.Data(0, g.PSN(count), g.Values(4))).As("a barrier with payload")
	if t.Messages() {
		full.Expect(rig.AETHTo(0, g.PSN(count), roce.NAKInvalidRequest))
		return
	}
	full.Expect()
}

func byteOrders(t *rig.T) {
	for range t.Kinds() {
		g := t.Star() // of the next type, operation and byte order
		t.In(g.Kind().String(), func() {
			for k := range 4 {
				r := g.Round(g.PSN(k), t.Params.MTUBytes)
				for _, c := range g.Members() {
					if b := r.Payload(c); g.Kind().DType == arith.INT32 {
						carries(t, b)
					}
				}
				r.CompleteBy(g.Members()...)
			}
		})
	}
}

// carries fills a payload with words whose sums carry through the whole word, in every lane and either byte order.
func carries(t *rig.T, b []byte) {
	for i := range len(b) / 4 {
		word := []uint32{0xFFFFFFFF, 1, 0x00FFFFFF, 0x01, 0x7FFFFFFF, 0x80000000, 0x0000FFFF, 0xFF}[t.Rand.IntN(8)]
		binary.BigEndian.PutUint32(b[4*i:], word)
		if t.Rand.IntN(2) == 0 {
			binary.LittleEndian.PutUint32(b[4*i:], word)
		}
	}
}

func innerNode(t *rig.T) {
	if t.Params.Reproducible() && t.Params.Members%2 == 0 {
		withoutPair(t)
	}
	g := t.Engine().Group(0, 1, min(t.Params.Members, 3), true)
	climb(g, 3*g.MW())
	unheard(g)
	if t.Params.Members < 2 {
		return
	}
	if t.Params.Reproducible() && g.Parent == t.Params.Members && g.Parent%2 == 0 {
		return // the buffer has no room for its contributions
	}
	g.Set.InMask |= 1 << g.Parent // who is child and parent at once is a child
	g.Program()
	g.Send(g.Data(g.Parent, g.Start(), g.Values(20))).As("a contribution by the parent").Expect()
}

// climb sends so many results to the parent, and its data to the children.
func climb(g *rig.Group, count int) {
	m, parent := g.Members(), []int{g.Parent}
	for k := range count {
		r := g.Round(g.PSN(k), 20)
		r.Send(m...).As("all children").ExpectAt(parent, roce.SendOnly, r.PSN, r.Result())
		g.Send(g.Data(m[k%len(m)], r.PSN, g.Values(20))).As("a repetition by a child").ExpectAt(parent, roce.SendOnly, r.PSN, r.Result())
		final := g.Values(20)
		for range 1 + k%2 {
			g.Send(g.Data(g.Parent, r.PSN, final)).As("the parent's data").ExpectAt(m, roce.SendOnly, r.PSN, final)
		}
		g.Send(g.Ack(g.Parent, r.PSN)).As("an ACK from the parent").Expect()
	}
}

// withoutPair has the last endpoint, for whose contributions the buffer has no room, be the parent, and one that hears the results alone.
func withoutPair(t *rig.T) {
	g := t.Engine().Group(0, 1, t.Params.Members, true)
	climb(g, 2)
	last := g.Parent
	g.Parent, g.Set.HasParent, g.Set.OutMask = -1, false, g.Set.OutMask|1<<last
	g.Program()
	r := g.Round(g.Start(), 20)
	r.Send(g.Members()...).As("all that contribute").ExpectAt(append(g.Members(), last), roce.SendOnly, r.PSN, r.Result())
}

// unheard completes packets as the root of those that nobody hears, and then others as an inner node, as which it leaves the group.
func unheard(g *rig.Group) {
	set, parent := g.Set, g.Parent
	g.Parent, g.Set.HasParent, g.Set.OutMask = -1, false, 0
	g.Program()
	for k := range 2 {
		g.Round(g.PSN(k), 20).Send(g.Members()...).As("all children, of what nobody hears").Expect()
	}
	g.Set, g.Parent = set, parent
	g.Program()
	climb(g, 2)
}
