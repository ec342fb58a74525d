// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// Ledger keeps what an engine accepted, in that order, and works out every result by package arith: a second opinion beside the
// reference engine's, on sums that depend on their order too. It takes from the reference only which contributions counted.
type Ledger struct {
	e      *Engine
	groups []*Group
	pages  map[page]*entry
}

// page is a PSN of one of a ledger's groups, by its index there.
type page struct {
	group int
	psn   roce.PSN
}

// entry is what a ledger knows of a PSN.
type entry struct {
	parts  []arith.Contribution
	done   bool // the result is there
	result []byte
	left   []int // copies of the result, by endpoint
}

// Ledger watches what e accepts for these groups, all of them roots. There is one at a time.
func (e *Engine) Ledger(groups ...*Group) *Ledger {
	l := &Ledger{e: e, groups: groups, pages: map[page]*entry{}}
	e.OnAccept = l.accept
	return l
}

// find is the group and endpoint that a test tells by the endpoint's record.
func (l *Ledger) find(is func(ep inc.Endpoint) bool) (int, int, bool) {
	for i, g := range l.groups {
		if c := slices.IndexFunc(g.Ends, is); c >= 0 {
			return i, c, true
		}
	}
	return 0, 0, false
}

func (l *Ledger) accept(a dut.Frame, changed []inc.Counter) {
	if !slices.Contains(changed, inc.Agg) {
		return
	}
	p := l.e.T.Packet(a)
	i, c, ok := l.find(func(ep inc.Endpoint) bool { return ep.LocalQPN == p.DestQP })
	if !ok {
		return
	}
	x := l.pages[page{i, p.PSN}]
	if x == nil {
		x = &entry{left: make([]int, len(l.groups[i].Ends))}
		l.pages[page{i, p.PSN}] = x
	}
	x.parts = append(x.parts, arith.Contribution{End: c, Payload: bytes.Clone(p.Payload)})
	if slices.Contains(changed, inc.TxResult) {
		x.done, x.result = true, l.groups[i].Kind().Combine(x.parts, l.e.T.Params.Reproducible())
	}
}

// Put offers packet k of endpoint c with n bytes of noise. If its port might drop it, the engine takes what is there first.
func (l *Ledger) Put(g *Group, c, k, n int) {
	f := g.Data(c, g.PSN(k), g.Noise(n))
	if l.e.Full(f) {
		l.Settle()
	}
	l.e.Put(f)
}

// Settle runs the engine until it is idle and compares what left.
func (l *Ledger) Settle() { l.Check(l.e.Settle()) }

// Check compares results, each of which may leave once to each endpoint.
func (l *Ledger) Check(outs []dut.Frame) {
	t := l.e.T
	for _, o := range outs {
		p := t.Packet(o)
		if !p.Op.IsSend() {
			continue
		}
		i, c, ok := l.find(func(ep inc.Endpoint) bool { return ep.RemoteQPN == p.DestQP && ep.RemoteIP == p.DstIP })
		if !ok {
			continue
		}
		g, x := l.groups[i], l.pages[page{i, p.PSN}]
		if x == nil || !x.done {
			t.Fatalf("group %d sent PSN %v, which is not complete", g.Index, p.PSN)
		}
		if !bytes.Equal(p.Payload, x.result) {
			t.Fatalf("group %d, %s, PSN %v: %s", g.Index, g.Kind(), p.PSN, g.Kind().Difference(p.Payload, x.result))
		}
		x.left[c]++
	}
}

// Complete checks that each group has completed count PSNs from its start, no contribution being left over, and that every result
// left once to each endpoint of out_mask.
func (l *Ledger) Complete(count int) {
	t := l.e.T
	for i, g := range l.groups {
		for k := range count {
			psn := g.Set.Start.Add(k)
			x := l.pages[page{i, psn}]
			if x == nil || !x.done {
				t.Fatalf("group %d PSN %v is not complete", g.Index, psn)
			}
			for c, n := range x.left {
				if n != int(g.Set.OutMask>>c&1) {
					t.Fatalf("group %d PSN %v left %d times to endpoint %d", g.Index, psn, n, c)
				}
			}
		}
	}
	if len(l.pages) != count*len(l.groups) {
		t.Fatalf("contributions to %d PSNs of %d groups, expected %d each", len(l.pages), len(l.groups), count)
	}
}
