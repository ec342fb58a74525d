// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// The ranks of mixed that have a link of their own kind.
const (
	lossyRank = 2
	slowRank  = 3
)

// mixed runs AllReduces, and where ranks may choose all collectives, over a tree of two leaf switches.
func mixed(t *rig.T) {
	tree := topology.Tree{Levels: 3, Degree: 2}
	least, most := t.Params.LeastPathMTU(), t.Params.MTUBytes
	cfg := comm.GroupConfig{PathMTUs: []int{least, most, max(most/4, least), least}, Mixed: true, Whole: t.Rand.IntN(2) == 0}
	calls, k := comm.Collectives(), t.NextKind(1)
	if rig.NeedInBand(2)(t.Params) != "" || t.Params.Reproducible() && t.Params.Members == 2 { // no pair for endpoint 2 of an in-band group
		calls, cfg.Fixed = []comm.Collective{comm.AllReduce}, &comm.Request{Collective: comm.AllReduce, DType: k.DType, Op: k.Op}
	}
	w, err := comm.New(comm.Config{Manifest: t.Manifest, Tree: tree, Seed: t.Rand.Uint64(), Link: func(e comm.Edge) *fabric.Link {
		l := t.DefaultLink()
		switch e.Rank {
		case lossyRank:
			l.Up, l.Down = fabric.Faults{Loss: 0.01}, fabric.Faults{Loss: 0.01}
		case slowRank:
			l.BytesPerCycle /= 10
		}
		return l
	}, Switch: func(int) (dut.DUT, error) { return t.Engine().Board, nil }}) // closed with the others of the test
	t.Check(err)
	g, err := w.NewGroup(cfg)
	t.Check(err)
	for w.Net().Stats.Lost < 3 {
		for _, collective := range calls {
			var in [][]byte
			for range tree.Ranks() {
				in = append(in, k.Values(t.Rand, 0, tree.Ranks(), 16*most))
			}
			if collective == comm.Barrier {
				in = nil
			}
			call, err := g.Queue(comm.Request{Collective: collective, Root: t.Rand.IntN(tree.Ranks()), In: in, DType: k.DType, Op: k.Op})
			t.Check(err)
			t.Check(w.Run(t.Context()))
			t.Check(call.Check())
		}
	}
	t.Check(w.Finish(t.Context()))
	for r := range tree.Ranks() {
		if s := g.Host(r).Stats; r != lossyRank && s.NAKsObeyed+s.NAKsSent+s.DupSeen+s.Timeouts > 0 {
			t.Fatalf("rank %d has a link without loss and saw one: %+v", r, s)
		}
	}
	t.Values["link_lost"] += uint64(w.Net().Stats.Lost)
}
