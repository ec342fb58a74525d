// SPDX-License-Identifier: Apache-2.0

package oneway

import (
	"fmt"

	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// chaosBroadcast is between hosts. An ACK that goes up too early would leave a receiver without its data, one that is never repeated the
// sender waiting.
func chaosBroadcast(t *rig.T) {
	for _, levels := range []int{3, 4} {
		t.In(fmt.Sprintf("%d levels", levels), func() {
			broadcastHosts(t, topology.Tree{Levels: levels, Degree: 2}, t.Rand.IntN(2) == 0)
		})
	}
}

// broadcastHosts runs three Broadcasts, of any root, or of one if the group is fixed.
func broadcastHosts(t *rig.T, tree topology.Tree, fixed bool) {
	if rig.NeedInBand(2)(t.Params) != "" || t.Params.Reproducible() && t.Params.Members == 2 { // no pair for endpoint 2 of an in-band group
		fixed = true
	}
	n, err := comm.New(comm.Config{Manifest: t.Manifest, Tree: tree, Seed: t.Rand.Uint64(),
		Link:   func(e comm.Edge) *fabric.Link { return lossy(t.DefaultLink(), e) },
		Switch: func(int) (dut.DUT, error) { return t.Engine().Board, nil }, // closed with the others of the test
	})
	t.Check(err)
	cfg := comm.GroupConfig{PathMTU: min(t.Params.MTUBytes, 64)}
	root, k := t.Rand.IntN(tree.Ranks()), t.NextKind(1)
	if fixed {
		cfg.Fixed = &comm.Fixed{Collective: comm.Broadcast, Root: root, DType: k.DType, Op: k.Op}
	}
	g, err := n.NewGroup(cfg)
	t.Check(err)
	var calls []*comm.Call
	for range 3 {
		in := make([][]byte, tree.Ranks())
		in[root] = t.Words(100 + t.Rand.IntN(200))
		c, err := g.Queue(comm.Request{Collective: comm.Broadcast, Root: root, In: in, DType: k.DType, Op: k.Op})
		t.Check(err)
		if calls = append(calls, c); !fixed {
			root = t.Rand.IntN(tree.Ranks())
		}
	}
	t.Check(n.Run(t.Context()))
	for _, c := range calls {
		t.Check(c.Check())
	}
	stats := n.Net().Stats
	if stats.Lost == 0 {
		t.Fatalf("of %d frames none was lost", stats.Frames)
	}
	t.Values["link_lost"] += uint64(stats.Lost)
	t.Check(n.Finish(t.Context()))
}

// lossy has half of the ACKs between switches lost, and some data on its way to the hosts.
func lossy(l *fabric.Link, e comm.Edge) *fabric.Link {
	if e.Child < 0 {
		l.Down = fabric.Faults{Loss: 0.05, Only: fabric.Only{Loss: fabric.ClassResult}}
		return l
	}
	l.Up = fabric.Faults{Loss: 0.5, Only: fabric.Only{Loss: fabric.ClassACK}}
	l.Down = l.Up
	return l
}
