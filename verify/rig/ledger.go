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
	e       *Engine
	tree    bool // sums are reproducible
	groups  []*Group
	open    map[ledgerKey][]arith.Contribution
	results map[ledgerKey][]byte
	left    map[ledgerKey]map[int]int // copies of a result, by endpoint
	// Checked is how many results were compared.
	Checked int
}

type ledgerKey struct {
	group int // index in groups
	psn   roce.PSN
}

// Ledger watches what e accepts for these groups, all of them roots. There is one at a time.
func (e *Engine) Ledger(groups ...*Group) *Ledger {
	l := &Ledger{e: e, tree: e.T.Params.Reproducible(), groups: groups, open: map[ledgerKey][]arith.Contribution{}, results: map[ledgerKey][]byte{},
		left: map[ledgerKey]map[int]int{}}
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

func (l *Ledger) accept(a dut.Frame, changed []inc.Counter) error {
	if !slices.Contains(changed, inc.Agg) {
		return nil
	}
	p, err := a.Packet()
	if err != nil {
		return err
	}
	i, c, ok := l.find(func(ep inc.Endpoint) bool { return ep.LocalQPN == p.DestQP })
	if !ok {
		return nil
	}
	key := ledgerKey{i, p.PSN}
	l.open[key] = append(l.open[key], arith.Contribution{End: c, Payload: bytes.Clone(p.Payload)})
	if slices.Contains(changed, inc.TxResult) {
		l.results[key] = l.groups[i].Kind().Combine(l.open[key], l.tree)
		delete(l.open, key)
	}
	return nil
}

// Settle runs the engine until it is idle and compares what left.
func (l *Ledger) Settle() { l.Check(l.e.Settle()) }

// Check compares results, each of which may leave once to each endpoint.
func (l *Ledger) Check(outs []dut.Frame) {
	t := l.e.T
	for n := range outs {
		p, err := outs[n].Packet()
		t.Check(err)
		if !p.Op.IsSend() {
			continue
		}
		i, c, ok := l.find(func(ep inc.Endpoint) bool { return ep.RemoteQPN == p.DestQP && ep.RemoteIP == p.DstIP })
		if !ok {
			continue
		}
		key, g := ledgerKey{i, p.PSN}, l.groups[i]
		want, ok := l.results[key]
		if !ok {
			t.Fatalf("group %d sent PSN %v, which is not complete", g.Index, p.PSN)
		}
		if !bytes.Equal(p.Payload, want) {
			t.Fatalf("group %d, %s, PSN %v: %s", g.Index, g.Kind(), p.PSN, g.Kind().Difference(p.Payload, want))
		}
		if l.left[key] == nil {
			l.left[key] = map[int]int{}
		}
		l.left[key][c]++
		l.Checked++
	}
}

// Complete checks that each group has completed count PSNs from its start, no contribution being left over, and that every result
// left once to each endpoint of out_mask.
func (l *Ledger) Complete(count int) {
	t := l.e.T
	for key, list := range l.open {
		t.Fatalf("group %d PSN %v waits with %d contributions", l.groups[key.group].Index, key.psn, len(list))
	}
	for i, g := range l.groups {
		for k := range count {
			key := ledgerKey{i, g.Set.Start.Add(k)}
			if _, ok := l.results[key]; !ok {
				t.Fatalf("group %d PSN %v is not complete", g.Index, key.psn)
			}
			for c := range g.Ends {
				if n := l.left[key][c]; n != int(g.Set.OutMask>>c&1) {
					t.Fatalf("group %d PSN %v left %d times to endpoint %d", g.Index, key.psn, n, c)
				}
			}
		}
	}
	if len(l.results) != count*len(l.groups) {
		t.Fatalf("%d results of %d groups, expected %d each", len(l.results), len(l.groups), count)
	}
}
