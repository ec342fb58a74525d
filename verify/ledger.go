// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// ledger keeps what an engine accepted, in that order, and works out every result by package arith: a second opinion beside the
// reference engine's, on sums that depend on their order too. It takes from the reference only which contributions counted.
type ledger struct {
	e       *engine
	tree    bool // sums are reproducible
	groups  []*group
	open    map[ledgerKey][]contribution
	results map[ledgerKey][]byte
	left    map[ledgerKey]map[int]int // copies of a result, by endpoint
	checked int
}

type ledgerKey struct {
	group int // index in groups
	psn   roce.PSN
}

type contribution struct {
	end     int
	payload []byte
}

// ledger watches what e accepts for these groups, all of them roots. There is one at a time.
func (e *engine) ledger(groups ...*group) *ledger {
	l := &ledger{e: e, tree: e.t.p.Reproducible(), groups: groups, open: map[ledgerKey][]contribution{}, results: map[ledgerKey][]byte{},
		left: map[ledgerKey]map[int]int{}}
	e.OnAccept = l.accept
	return l
}

// find is the group and endpoint that a test tells by the endpoint's record.
func (l *ledger) find(is func(ep inc.Endpoint) bool) (int, int, bool) {
	for i, g := range l.groups {
		if c := slices.IndexFunc(g.ends, is); c >= 0 {
			return i, c, true
		}
	}
	return 0, 0, false
}

func (l *ledger) accept(a dut.Accepted, changed []inc.Counter) error {
	if !slices.Contains(changed, inc.Agg) {
		return nil
	}
	p, err := roce.Decode(a.Data)
	if err != nil {
		return err
	}
	i, c, ok := l.find(func(ep inc.Endpoint) bool { return ep.LocalQPN == p.DestQP })
	if !ok {
		return nil
	}
	key := ledgerKey{i, p.PSN}
	l.open[key] = append(l.open[key], contribution{c, bytes.Clone(p.Payload)})
	if slices.Contains(changed, inc.TxResult) {
		l.results[key] = l.join(l.groups[i].kind(), l.open[key])
		delete(l.open, key)
	}
	return nil
}

// join is the result of contributions in the order in which they came.
func (l *ledger) join(k arith.Kind, all []contribution) []byte {
	if l.tree {
		parts := make([][]byte, 32)
		for _, x := range all {
			parts[x.end] = x.payload
			if x.payload == nil {
				parts[x.end] = []byte{}
			}
		}
		return k.Tree(parts)
	}
	var payloads [][]byte
	for _, x := range all {
		payloads = append(payloads, x.payload)
	}
	return k.InOrder(payloads...)
}

// settle runs the engine until it is idle and compares what left.
func (l *ledger) settle() error {
	outs, err := l.e.settle()
	if err != nil {
		return err
	}
	return l.check(outs)
}

// check compares results, each of which may leave once to each endpoint.
func (l *ledger) check(outs []dut.Out) error {
	for _, o := range outs {
		p, err := roce.Decode(o.Data)
		if err != nil {
			return err
		}
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
			return failf("group %d sent PSN %v, which is not complete", g.index, p.PSN)
		}
		if !bytes.Equal(p.Payload, want) {
			return failf("group %d, %s, PSN %v: %s", g.index, g.kind(), p.PSN, firstElement(g.kind(), p.Payload, want))
		}
		if l.left[key] == nil {
			l.left[key] = map[int]int{}
		}
		l.left[key][c]++
		l.checked++
	}
	return nil
}

// firstElement says where a result is wrong.
func firstElement(k arith.Kind, got, want []byte) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, expected %d", len(got), len(want))
	}
	for i := range k.Elements(len(want)) {
		if a, b := k.Bits(got, i), k.Bits(want, i); a != b {
			return fmt.Sprintf("element %d of %d is %#x, expected %#x", i, k.Elements(len(want)), a, b)
		}
	}
	return "the same elements"
}

// complete checks that each group has completed count PSNs from its start, no contribution being left over, and that every result
// left once to each endpoint of out_mask.
func (l *ledger) complete(count int) error {
	for key, list := range l.open {
		return failf("group %d PSN %v waits with %d contributions", l.groups[key.group].index, key.psn, len(list))
	}
	for i, g := range l.groups {
		for k := range count {
			key := ledgerKey{i, g.set.Start.Add(k)}
			if _, ok := l.results[key]; !ok {
				return failf("group %d PSN %v is not complete", g.index, key.psn)
			}
			for c := range g.ends {
				if n := l.left[key][c]; n != int(g.set.OutMask>>c&1) {
					return failf("group %d PSN %v left %d times to endpoint %d", g.index, key.psn, n, c)
				}
			}
		}
	}
	if len(l.results) != count*len(l.groups) {
		return failf("%d results of %d groups, expected %d each", len(l.results), len(l.groups), count)
	}
	return nil
}
