// SPDX-License-Identifier: Apache-2.0

package oneway

import (
	"fmt"

	"incforge/inc"
	"incforge/network/comm"
	"incforge/network/fabric"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// twoLevels is a Broadcast through two switches: the sender and some receivers are at the upper one, the others at the lower one. Only
// ACKs are carried from one to the other; data the scenario gives to both.
type twoLevels struct {
	t            *rig.T
	upper, lower *rig.Group
	near, far    []int // the receivers at the upper switch and at the lower one
}

// link is the upper switch's endpoint toward the lower one.
const link = 0

func newTwoLevels(t *rig.T) *twoLevels {
	w := &twoLevels{t: t, upper: t.OneWay(inc.CollectiveBroadcast, true)}
	w.lower = t.OneWay(inc.CollectiveBroadcast, false, rig.WithStart(w.upper.Start()))
	w.upper.Ends[link].Host = false
	w.upper.Program()
	w.near, w.far = rig.AllBut(newReceivers(w.upper).all, link), newReceivers(w.lower).all
	return w
}

// run sends packets one by one. Of every third one all ACKs between the switches are lost; when the sender asks again, the receivers'
// repeated ACKs bring them once more.
func (w *twoLevels) run() {
	for k := range 3 * w.upper.MW() {
		psn, b := w.upper.PSN(k), w.upper.Noise(16)
		heard := false // by the sender, that everybody has the packet
		for round := 0; !heard; round++ {
			if round == 3 {
				w.t.Fatalf("PSN %v was sent %d times and its ACK never came", psn, round)
			}
			w.data(psn, b)
			heard = w.acks(psn, round == 0, k%3 == 1)
		}
	}
}

// data brings a packet to both switches.
func (w *twoLevels) data(psn roce.PSN, b []byte) {
	upper := append([]int{link}, w.near...)
	w.upper.Send(w.upper.Data(w.upper.Parent, psn, b)).As("data").Expect(rig.Copies(rig.DataTo(0, psn, b), upper...)...)
	w.lower.Send(w.lower.Data(w.lower.Parent, psn, b)).As("data").Expect(rig.Copies(rig.DataTo(0, psn, b), w.far...)...)
}

// acks has all receivers acknowledge a packet and tells whether the sender heard of it. The first time nothing goes up before the last of
// them has said so; then lost tells that it is lost between the switches.
func (w *twoLevels) acks(psn roce.PSN, first, lost bool) (heard bool) {
	order := w.t.Shuffled(w.far)
	for _, c := range w.near {
		w.upper.Send(w.upper.Ack(c, psn)).As("ACK before the lower switch's").Expect()
	}
	for i, c := range order {
		outs := w.lower.Send(w.lower.Ack(c, psn)).Out()
		if first && i < len(order)-1 && len(outs) > 0 {
			w.t.Fatalf("PSN %v was acknowledged before endpoint %d had it", psn, order[i+1])
		}
		if first && lost {
			continue
		}
		for _, o := range w.carry(outs) {
			p := w.t.Packet(o)
			if p.PSN != psn || p.Syndrome != roce.AckSyndrome || w.upper.Addressee(o.Port, p) != w.upper.Parent {
				w.t.Fatalf("the sender got %v, expected ACK %v", p, psn)
			}
			heard = true
		}
	}
	return heard
}

// carry brings to the upper switch what the lower one sends there, and returns what leaves the upper one.
func (w *twoLevels) carry(outs []dut.Frame) []dut.Frame {
	var all []dut.Frame
	for _, o := range outs {
		p := w.t.Packet(o)
		if w.lower.Addressee(o.Port, p) != w.lower.Parent {
			w.t.Fatalf("the lower switch answered to another than its parent: %v", p)
		}
		q := w.upper.Packet(link, p.Op, p.PSN)
		q.Syndrome, q.MSN, q.TOS = p.Syndrome, p.MSN, p.TOS&3
		all = append(all, w.upper.Send(w.upper.Frame(link, &q)).Out()...)
	}
	return all
}

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
	if t.Messages() {
		cfg = comm.GroupConfig{Mixed: true, Message: 1 + t.Rand.IntN(t.Params.MessageBytes/t.Params.MTUBytes)}
	}
	root, k := t.Rand.IntN(tree.Ranks()), t.NextKind(1)
	if fixed {
		cfg.Fixed = &comm.Request{Collective: comm.Broadcast, Root: root, DType: k.DType, Op: k.Op}
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
