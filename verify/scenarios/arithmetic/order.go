// SPDX-License-Identifier: Apache-2.0

package arithmetic

import (
	"bytes"
	"fmt"

	"incforge/verify/arith"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

func orders(t *rig.T) {
	e := t.Engine()
	members := contributors(t)
	for _, k := range t.Fitting(1) {
		if k.BigEndian != (t.Turn%2 == 0) && k.Op != arith.Sum {
			continue // what does not depend on the order is tried in one byte order
		}
		full := uint32(1<<members - 1)
		masks := []uint32{full}
		for range 4 { // absent siblings
			masks = append(masks, uint32(t.Rand.IntN(int(full)))+1)
		}
		for _, mask := range masks {
			g := e.MakeGroup(0, 1, members, false, rig.WithKind(k))
			g.Set.InMask = mask
			g.Program()
			t.In(fmt.Sprintf("%s, in_mask %#x", k, mask), func() { shuffled(g, mask == full) })
		}
	}
	t.Turn++
}

// shuffled sends one set of contributions to one PSN after another, in another order each time.
func shuffled(g *rig.Group, all bool) {
	t, m := g.T, g.Members()
	size := g.Whole(min(t.Params.MTUBytes, 256))
	parts, who := make([][]byte, len(g.Ends)), m
	for _, c := range m {
		parts[c] = g.Noise(size)
	}
	l := g.E.Ledger(g)
	rounds := 6
	if all {
		rounds = 24
	}
	distinct, tree := map[string]bool{}, g.Kind().Tree(parts)
	for n := range rounds {
		psn := g.PSN(n)
		for _, c := range who {
			g.E.Put(g.Data(c, psn, parts[c]))
			if n%2 == 0 { // else all at once, and the ports decide
				g.E.StepTo(g.E.Now() + uint64(t.Params.Beats(size+62))*2)
			}
		}
		outs := g.E.Settle()
		l.Check(outs)
		for _, o := range outs {
			p := t.Packet(o)
			distinct[string(p.Payload)] = true
			if t.Params.Reproducible() && !bytes.Equal(p.Payload, tree) {
				t.Fatalf("order %v: not the fixed tree's result: %s", who, g.Kind().Difference(p.Payload, tree))
			}
		}
		who = t.Shuffled(who)
	}
	l.Complete(rounds)
	switch k := g.Kind(); {
	case t.Params.Reproducible() && len(distinct) != 1:
		t.Fatalf("%d different results of the same contributions", len(distinct))
	case !t.Params.Reproducible() && all && k.Op == arith.Sum && k.DType == arith.FP32 && len(m) > 2 && len(distinct) == 1:
		t.Fatalf("the payload was to tell one order from another")
	}
}

// hazard is how packets follow each other.
type hazard struct {
	name string
	// turns has the endpoints at slots of their own, as far apart as the window lets them; else all send to one slot before the
	// next slot has its turn.
	turns bool
	// log2N caps the ring: with 1, two slots are used again and again.
	log2N int
	// onePort has all endpoints behind port 0, so that packets go in in exactly this order, whatever the top.
	onePort bool
}

// hazards are tried with packets from one element to eight beats, with and without back-pressure.
func hazards(t *rig.T) {
	e := t.Engine()
	pauses := []dut.Pauses{{}, {Ready: 0.4, Burst: 6}, {Ready: 0.2, In: 0.2, Burst: 3}}
	for _, h := range []hazard{
		{name: "one slot", log2N: 4, onePort: true}, {name: "one slot, all ports", log2N: 4}, {name: "slots in turn", turns: true, log2N: 4, onePort: true},
		{name: "two slots again and again", log2N: 1, onePort: true},
	} {
		if h.onePort && t.Params.PortDrop { // copies for all endpoints at once are more than a port's queue holds
			continue
		}
		for _, p := range pauses {
			for _, k := range oneOfEach(t) {
				if sum := (arith.Kind{DType: k.DType, Op: arith.Sum, BigEndian: k.BigEndian}); t.Params.OpMask()&1 != 0 && t.Rand.IntN(2) == 0 {
					k = sum // a maximum taken twice is the same maximum
				}
				p.Seed = t.Rand.Uint64()
				t.In(fmt.Sprintf("%s, %s, pauses %+v", h.name, k, p), func() { h.run(e, k, p) })
			}
		}
	}
}

func (h hazard) run(e *rig.Engine, k arith.Kind, p dut.Pauses) {
	t := e.T
	members := contributors(t)
	g := e.MakeGroup(0, 1, members, false, rig.WithKind(k), rig.WithLog2N(h.log2N))
	if h.onePort {
		for i := range g.Ends {
			g.Ends[i].Port = 0
		}
	}
	g.Program()
	var sizes []int // by PSN
	for range max(24, 3*2*g.MW()) {
		sizes = append(sizes, g.Size())
	}
	for beats := 1; beats <= 8; beats++ {
		for range 4 {
			n := max(beats*t.Params.BusBytes-g.Size()*t.Rand.IntN(3), g.Size())
			sizes = append(sizes, g.Whole(min(n, t.Params.MTUBytes)))
		}
	}
	l := e.Ledger(g)
	e.SetPauses(p)
	defer e.SetPauses(dut.Pauses{})
	for step := range len(sizes) + g.MW() {
		for c := range members {
			ahead := 0
			if h.turns {
				ahead = c * g.MW() / members
			}
			if n := step - ahead; n >= 0 && n < len(sizes) {
				l.Put(g, c, n, sizes[n])
			}
		}
		// else a port that is ahead of the others could overrun the window; and pipes hold results until they are acknowledged
		if (!h.onePort || t.Pipes()) && (step+1)%g.MW() == 0 {
			l.Settle()
		}
	}
	l.Settle()
	l.Complete(len(sizes))
}
