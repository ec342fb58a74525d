// SPDX-License-Identifier: Apache-2.0

package arithmetic

import (
	"fmt"
	"slices"

	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/rig"
)

// types sends packets of all lengths from all endpoints, one behind the other, of values that are hard. The reference and package arith
// judge each bit.
func types(t *rig.T) {
	e := t.Engine()
	for _, k := range t.Fitting(1) {
		g := e.Group(0, 1, contributors(t), false, rig.WithKind(k))
		l := e.Ledger(g)
		count := 0
		for _, n := range []int{t.Params.MTUBytes, 4 * t.Params.BusBytes, t.Params.BusBytes, 4 + 4*t.Rand.IntN(t.Params.MTUBytes/4)} {
			n = g.Whole(min(n, t.Params.MTUBytes))
			batch := min(g.MW(), 4)
			for c := range g.Ends {
				for i := range batch {
					l.Put(g, c, count+i, n)
				}
			}
			count += batch
			l.Settle()
		}
		t.In(k.String(), func() { l.Complete(count) })
	}
}

// single has one endpoint contribute alone: its payload leaves bit for bit, NaNs with their payloads too. Of 16-bit types every value there
// is goes through. The endpoint is another one each time, and in the end all.
func single(t *rig.T) {
	e := t.Engine()
	seen := map[arith.DType]bool{}
	kinds := t.Fitting(1)
	for i, k := range kinds {
		c := i % contributors(t)
		g := e.MakeGroup(0, 1, contributors(t), false, rig.WithKind(k))
		g.Set.InMask = 1 << c
		g.Program()
		count := max(4, (contributors(t)+len(kinds)-1)/len(kinds))
		var all []byte // every value in turn
		if k.DType.Wide() && !seen[k.DType] {
			seen[k.DType] = true
			all = make([]byte, 1<<17)
			for v := range 1 << 16 {
				k.SetBits(all, v, uint32(v))
			}
			count = (len(all) + t.Params.MTUBytes - 1) / t.Params.MTUBytes
		}
		var to []int
		for x := range g.Ends {
			to = append(to, x)
		}
		for n := range count {
			payload := g.Noise(t.Params.MTUBytes)
			if all != nil {
				payload = all[n*t.Params.MTUBytes : min((n+1)*t.Params.MTUBytes, len(all))]
			}
			psn := g.PSN(n)
			g.Send(g.Data(c, psn, payload)).As("%s from endpoint %d alone", k, c).ExpectAt(to, roce.SendOnly, psn, payload)
		}
	}
}

// lengths sends every number of elements around one, two and three beats and the longest packets, odd ones among them, so that
// the last beat of a payload and the last word of the memory are used in part; an odd number of 16-bit elements has two bytes of pad.
func lengths(t *rig.T) {
	e := t.Engine()
	for _, k := range oneOfEach(t) {
		g := e.Group(0, 1, t.Params.Members, false, rig.WithKind(k))
		sizes := sizesToTry(g)
		l := e.Ledger(g)
		for i, n := range sizes {
			for _, c := range g.Members() {
				l.Put(g, c, i, n)
			}
			if (i+1)%g.MW() == 0 {
				l.Settle()
			}
		}
		l.Settle()
		t.In(k.String(), func() { l.Complete(len(sizes)) })
	}
}

// sizesToTry are payload lengths near whole beats and near the MTU, shuffled.
func sizesToTry(g *rig.Group) []int {
	t := g.T
	var sizes []int
	near, step := 3*t.Params.BusBytes+2*g.Size(), g.Size()
	if !t.Long && near/step > 200 { // a sample of wide buses
		step *= near/step/100 | 1
	}
	for n := 0; n <= min(near, t.Params.MTUBytes); n += step {
		sizes = append(sizes, n)
	}
	for n := range min(2*t.Params.BusBytes/g.Size()+3, 40) {
		sizes = append(sizes, max(t.Params.MTUBytes-n*g.Size(), 0))
	}
	return t.Shuffled(sizes)
}

// groups has packets interleaved one by one: what an element is must not carry over from one packet to the next.
func groups(t *rig.T) {
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 8)
	rounds := max(2, (len(t.Kinds())+count-1)/count) // until all kinds had their turn
	for range rounds {
		var groups []*rig.Group
		for i := range count {
			groups = append(groups, e.Group(i, count, t.Params.Members, false, rig.WithLog2N(3)))
		}
		l := e.Ledger(groups...)
		const packets = 12
		for k := range packets {
			n := []int{4, 8, t.Params.BusBytes, 3 * t.Params.BusBytes, t.Params.MTUBytes}[t.Rand.IntN(5)]
			var turn []func()
			for _, g := range groups {
				for _, c := range g.Members() {
					turn = append(turn, func() { l.Put(g, c, k, min(n, t.Params.MTUBytes)) })
				}
			}
			t.Rand.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })
			for _, f := range turn {
				f()
			}
			if slices.ContainsFunc(groups, func(g *rig.Group) bool { return (k+1)%g.MW() == 0 }) {
				l.Settle()
			}
		}
		l.Settle()
		l.Complete(packets)
	}
}

// illegal has settings at the very edge, too, which are enabled and exact.
func illegal(t *rig.T) {
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 2)
	complete := neighbour(e, count, 0)
	for _, k := range t.Fitting(count) {
		g := e.MakeGroup(0, count, t.Params.Members, false, rig.WithKind(k), rig.WithLog2N(3))
		legal := g.Set
		for _, bad := range t.IllegalSettings(legal) {
			g.Set = bad
			t.In(k.String(), g.ProgramRefused)
			complete()
		}
		if g.Set = legal; count < 2 { // the last slots of the buffer
			g.Set.SlotBase = t.Params.Slots() - g.Units()<<legal.Log2N
		}
		g.Program()
		t.In(fmt.Sprintf("%s with slots from %d of %d", k, g.Set.SlotBase, t.Params.Slots()), func() {
			g.CompleteFrom(0, 2*g.MW()+1)
		})
	}
}
