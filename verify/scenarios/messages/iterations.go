// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// iterations has groups that are fixed to each collective do iterations of three messages, each followed by a release, over a tree whose links all lose
// frames: data and releases are repeated, and hosts answer a release that finds no receive with RNR NAKs. A host takes results and releases in their
// order, so one that comes too early, too late or twice is found by it.
func iterations(t *rig.T) {
	const messages, calls, enough = 3, 4, 5
	tree := topology.Tree{Levels: 3, Degree: 2}
	for _, collective := range []comm.Collective{comm.AllReduce, comm.Reduce, comm.Broadcast, comm.Barrier} {
		k := t.NextKind(1)
		fixed := comm.Request{Collective: collective, Root: t.Rand.IntN(tree.Ranks()), DType: k.DType, Op: k.Op}
		cfg := comm.GroupConfig{Mixed: true, Whole: t.Rand.IntN(2) == 0, Release: true, Iteration: messages, Fixed: &fixed}
		if collective == comm.Barrier {
			cfg.Iteration = 1
		}
		w, err := comm.New(comm.Config{Manifest: t.Manifest, Tree: tree, Seed: t.Rand.Uint64(), Link: func(comm.Edge) *fabric.Link {
			l := t.DefaultLink()
			l.Up, l.Down = fabric.Faults{Loss: 0.03}, fabric.Faults{Loss: 0.03}
			return l
		}, Switch: func(int) (dut.DUT, error) { return t.Engine().Board, nil }}) // closed with the others of the test
		t.Check(err)
		g, err := w.NewGroup(cfg)
		t.Check(err)
		done := uint64(0)
		for ; done < calls || w.Net().Stats.Lost < enough; done++ {
			r := fixed
			for range tree.Ranks() {
				if collective != comm.Barrier {
					r.In = append(r.In, k.Values(t.Rand, 0, tree.Ranks(), (messages-1)*t.Params.MessageBytes+64))
				}
			}
			call, err := g.Queue(r)
			t.Check(err)
			t.Check(w.Run(t.Context()))
			t.Check(call.Check())
		}
		t.Check(w.Finish(t.Context()))
		released, senders := uint64(0), uint64(tree.Ranks())
		if collective == comm.Broadcast {
			senders = 1
		}
		for s := range tree.Switches() {
			c, err := w.Driver(s).Counters()
			t.Check(err)
			released += c["TX_RELEASE"]
		}
		if released < done*senders {
			t.Fatalf("%d iterations of %s, and %d releases were sent", done, collective, released)
		}
		t.Values["link_lost"] += uint64(w.Net().Stats.Lost)
	}
}

// rangesReleased has an in-band group do every collective in turn, with any rank as root, each a range that is followed by its releases, over a tree whose links
// all lose frames. Ranks ask for several ranges at once, so controls come while releases are not acknowledged.
func rangesReleased(t *rig.T) {
	const calls, enough = 3, 8
	tree := topology.Tree{Levels: 3, Degree: 2}
	k := t.NextKind(1)
	w, err := comm.New(comm.Config{Manifest: t.Manifest, Tree: tree, Seed: t.Rand.Uint64(), Link: func(comm.Edge) *fabric.Link {
		l := t.DefaultLink()
		l.Up, l.Down = fabric.Faults{Loss: 0.02}, fabric.Faults{Loss: 0.02}
		return l
	}, Switch: func(int) (dut.DUT, error) { return t.Engine().Board, nil }}) // closed with the others of the test
	t.Check(err)
	g, err := w.NewGroup(comm.GroupConfig{Mixed: true, Whole: t.Rand.IntN(2) == 0, Release: true})
	t.Check(err)
	least := uint64(0)
	for round := 0; round < 2 || w.Net().Stats.Lost < enough; round++ {
		for _, collective := range []comm.Collective{comm.AllReduce, comm.Reduce, comm.Broadcast, comm.Barrier} {
			var queued []*comm.Call
			for range calls {
				r := comm.Request{Collective: collective, Root: t.Rand.IntN(tree.Ranks()), DType: k.DType, Op: k.Op}
				bytes := 64 + t.Rand.IntN(2)*t.Params.MessageBytes
				for range tree.Ranks() {
					if collective != comm.Barrier {
						r.In = append(r.In, k.Values(t.Rand, 0, tree.Ranks(), bytes))
					}
				}
				call, err := g.Queue(r)
				t.Check(err)
				queued = append(queued, call)
				switch collective {
				case comm.Broadcast:
					least++
				case comm.Reduce:
					least += uint64(tree.Ranks() - 1)
				default:
					least += uint64(tree.Ranks())
				}
			}
			t.Check(w.Run(t.Context()))
			for _, call := range queued {
				t.Check(call.Check())
			}
		}
	}
	t.Check(w.Finish(t.Context()))
	released := uint64(0)
	for s := range tree.Switches() {
		c, err := w.Driver(s).Counters()
		t.Check(err)
		released += c["TX_RELEASE"]
	}
	if released < least {
		t.Fatalf("ranges that %d senders wait for, and %d releases were sent", least, released)
	}
	t.Values["link_lost"] += uint64(w.Net().Stats.Lost)
}
