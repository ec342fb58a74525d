// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"slices"

	"incforge/inc"
	commlib "incforge/network/comm"
	"incforge/network/fabric"
	"incforge/roce"
	"incforge/verify/dut"
)

// receivers are the endpoints that a Broadcast goes to, and what each has acknowledged, counted from START: the scenario's own idea
// of what goes up.
type receivers struct {
	g     *group
	acked map[int]int
}

func newReceivers(g *group) *receivers {
	r := &receivers{g: g, acked: map[int]int{}}
	for c := range g.ends {
		if g.set.AckMask>>c&1 != 0 {
			r.acked[c] = -1
		}
	}
	return r
}

// all are the receivers, ascending.
func (r *receivers) all() []int {
	var list []int
	for c := range r.acked {
		list = append(list, c)
	}
	slices.Sort(list)
	return list
}

// least is what everybody has.
func (r *receivers) least() int {
	least := 1 << 30
	for _, k := range r.acked {
		least = min(least, k)
	}
	return least
}

// up is what must go to the parent when endpoint c says with this syndrome number k.
func (r *receivers) up(c, k int, syndrome uint8) []leaving {
	before, ack := r.least(), syndrome < 0x20
	has := k
	if !ack {
		has = k - 1
	}
	r.acked[c] = max(r.acked[c], has)
	after := r.least()
	switch {
	case !ack && k > after:
		return []leaving{ackOf(r.g.parent, r.g.set.Start.Add(after+1), syndrome)}
	case !ack, after > before, k <= before: // a NAK of what everybody has is an old one
		return []leaving{ackOf(r.g.parent, r.g.set.Start.Add(after), 0x1F)}
	}
	return nil
}

// say sends an answer of endpoint c, marked now and then, and checks what goes up: marked as it is.
func (r *receivers) say(c, k int, syndrome uint8) error {
	what := fmt.Sprintf("endpoint %d says %#02x to packet %d", c, syndrome, k)
	return r.g.step(what, r.g.t.marked(r.g.aeth(c, r.g.set.Start.Add(k), syndrome)), r.up(c, k, syndrome)...)
}

// scenBroadcast is a Broadcast packet by packet: from a host and from another switch, to all the other endpoints, across the wrap.
func scenBroadcast(t *T) error {
	for _, host := range []bool{true, false} {
		for _, start := range []roce.PSN{roce.PSN(t.rng.Uint32() & 0xFFFFFF), 0xFFFFFB} {
			g, err := t.oneWay(inc.CollectiveBroadcast, host, withStart(start))
			if err != nil {
				return err
			}
			for _, f := range []func(*group) error{broadcastData, broadcastOrders, broadcastNAKs, broadcastRoles} {
				if err := g.e.drv.ResetGroup(g.index); err != nil {
					return err
				}
				if err := f(g); err != nil {
					return fmt.Errorf("start %v, host %v: %w", start, host, err)
				}
			}
		}
	}
	return broadcastTree(t)
}

// broadcastData: whatever comes from the parent is copied, in order or not, once or again.
func broadcastData(g *group) error {
	all := newReceivers(g).all()
	for _, k := range []int{0, 1, 1, 2, 7, 3, 0, 4 * g.mw()} {
		psn, b, imm := g.set.Start.Add(k), g.noise(g.t.rng.IntN(g.t.p.MTUBytes+1)), g.t.rng.Uint32()
		f := g.data(g.parent, psn, b, func(p *roce.Packet) { p.Op, p.Imm = roce.SendLastImm, imm })
		want := copies(leaving{op: roce.SendLastImm, psn: psn, payload: b, imm: imm}, all...)
		if err := g.step(fmt.Sprintf("packet %d", k), g.t.marked(f), want...); err != nil {
			return err
		}
	}
	return nil
}

// broadcastOrders is scenario 16 at one switch: ACKs in every order, cumulative, repeated, late.
func broadcastOrders(g *group) error {
	r := newReceivers(g)
	for k := range 12 {
		order := r.all()
		g.t.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for i, c := range order {
			if g.t.rng.IntN(3) == 0 && i > 0 {
				continue // it will acknowledge more at once
			}
			if err := r.say(c, k, 0x1F); err != nil {
				return err
			}
			if g.t.rng.IntN(2) == 0 { // a repeated one: the answer to it may have been lost (A9)
				if err := r.say(c, max(0, k-g.t.rng.IntN(3)), uint8(g.t.rng.IntN(0x20))); err != nil {
					return err
				}
			}
		}
	}
	for _, c := range r.all() {
		if err := r.say(c, 20, 0x1F); err != nil {
			return err
		}
	}
	for _, c := range r.all() { // everybody has everything; each repetition is answered
		if err := r.say(c, 20, 0x1F); err != nil {
			return err
		}
	}
	return nil
}

// broadcastNAKs is scenario 17: a NAK goes up as one of what everybody has (A10), and so does an RNR NAK; an old one as an ACK.
func broadcastNAKs(g *group) error {
	r := newReceivers(g)
	all := r.all()
	for _, c := range all {
		has := 9
		if c == all[len(all)-1] {
			has = 4
		}
		if err := r.say(c, has, 0x1F); err != nil {
			return err
		}
	}
	for _, s := range []uint8{0x60, 0x61, 0x62, 0x63, 0x20, 0x2E, 0x3F} {
		if err := r.say(all[0], 10, s); err != nil {
			return err
		}
	}
	for range 40 {
		k := max(0, r.least()+g.t.rng.IntN(8)-2)
		if err := r.say(all[g.t.rng.IntN(len(all))], k, []uint8{0x1F, 0x60, 0x21, 0x1F}[g.t.rng.IntN(4)]); err != nil {
			return err
		}
	}
	return nil
}

// broadcastRoles: who may say what; CNPs go to the sender, ACKs make nothing (A20).
func broadcastRoles(g *group) error {
	all, start := newReceivers(g).all(), g.set.Start
	for _, c := range all {
		psn := roce.PSN(g.t.rng.Uint32() & 0xFFFFFF)
		if err := g.step("a CNP", g.t.marked(g.cnp(c, psn)), cnpOf(g.parent, psn)); err != nil {
			return err
		}
		if err := g.dropped(inc.DropWrongRole, "data from a receiver", g.data(c, start, g.noise(8))); err != nil {
			return err
		}
	}
	for _, x := range []namedFrame{{"an ACK of the sender", g.aeth(g.parent, start, 0x1F)}, {"a CNP of the sender", g.cnp(g.parent, start)}} {
		if err := g.dropped(inc.DropWrongRole, x.what, x.frame); err != nil {
			return err
		}
	}
	if err := g.dropped(inc.DropSyndrome, "a reserved syndrome", g.aeth(all[0], start, 0x5F)); err != nil {
		return err
	}
	// An endpoint of in_mask has no part, unless it is the parent.
	saved := g.set.InMask
	g.set.InMask = 1<<all[0] | 1<<g.parent
	if g.t.p.Reproducible() && g.parent == g.t.p.Members && g.t.p.Members%2 == 0 {
		g.set.InMask = 1 << all[0]
	}
	if err := g.program(); err != nil {
		return err
	}
	if err := g.dropped(inc.DropWrongRole, "data from in_mask", g.data(all[0], start, g.noise(8))); err != nil {
		return err
	}
	b := g.noise(8)
	if err := g.step("data from the parent", g.data(g.parent, start, b), copies(sendOf(0, start, b), all...)...); err != nil {
		return err
	}
	g.set.InMask = saved
	return g.program()
}

// broadcastTree is scenario 16 on two levels: the sender and another receiver at the upper switch, the others at the lower one. Now
// and then the answer of the lower one is lost; when the sender asks again, the receivers' repeated ACKs bring it once more.
func broadcastTree(t *T) error {
	if t.children() < 2 {
		return nil
	}
	upper, err := t.oneWay(inc.CollectiveBroadcast, true)
	if err != nil {
		return err
	}
	lower, err := t.oneWay(inc.CollectiveBroadcast, false, withStart(upper.set.Start))
	if err != nil {
		return err
	}
	link := 0 // the upper switch's endpoint toward the lower one
	upper.ends[link].Host = false
	if err := upper.program(); err != nil {
		return err
	}
	// carry brings what the lower switch sends to the upper one there.
	carry := func(outs []dut.Out) ([]dut.Out, error) {
		var all []dut.Out
		for _, o := range outs {
			p, err := roce.Decode(o.Data)
			if err != nil {
				return nil, err
			}
			if lower.addressee(o.Port, &p) != lower.parent {
				continue
			}
			q := upper.packet(link, p.Op, p.PSN)
			q.Syndrome, q.MSN, q.TOS = p.Syndrome, p.MSN, p.TOS&3
			more, err := upper.e.exchange(portFrame{upper.ends[link].Port, q.AppendFrame(nil)})
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	}
	near, far := newReceivers(upper).all(), newReceivers(lower).all()
	near = allBut(near, link)
	for k := range 3 * upper.mw() {
		psn, b := upper.set.Start.Add(k), upper.noise(16)
		heard := false // by the sender, that everybody has the packet
		for round := 0; !heard; round++ {
			if round == 3 {
				return failf("PSN %v was sent %d times and its ACK never came", psn, round)
			}
			if err := upper.step("data", upper.data(upper.parent, psn, b), copies(sendOf(0, psn, b), append(slices.Clone(near), link)...)...); err != nil {
				return err
			}
			if err := lower.step("data", lower.data(lower.parent, psn, b), copies(sendOf(0, psn, b), far...)...); err != nil {
				return err
			}
			order := slices.Clone(far)
			t.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, c := range near {
				if _, err := upper.e.exchange(upper.aeth(c, psn, 0x1F)); err != nil {
					return err
				}
			}
			for i, c := range order {
				outs, err := lower.e.exchange(lower.aeth(c, psn, 0x1F))
				if err != nil {
					return err
				}
				if round == 0 && i < len(order)-1 && len(outs) > 0 {
					return failf("PSN %v was acknowledged before endpoint %d had it", psn, order[i+1])
				}
				if round == 0 && k%3 == 1 {
					continue // lost on its way up
				}
				if outs, err = carry(outs); err != nil {
					return err
				}
				for _, o := range outs {
					if p, err := roce.Decode(o.Data); err != nil || p.PSN != psn || p.Syndrome != 0x1F || upper.addressee(o.Port, &p) != upper.parent {
						return failf("the sender got %v (%v), expected ACK %v", &p, err, psn)
					}
					heard = true
				}
			}
		}
	}
	return nil
}

// scenChaosBroadcast is scenario 16 between hosts: Broadcasts through Tree-3-2 and Tree-4-2, in-band or fixed, where half of the
// ACKs between switches are lost, and some data on its way to the receivers. An ACK that goes up too early would leave a receiver
// without its data, one that is never repeated the sender waiting.
func scenChaosBroadcast(t *T) error {
	for _, levels := range []int{3, 4} {
		if err := t.broadcastHosts(commlib.Tree{Levels: levels, Degree: 2}, t.rng.IntN(2) == 0); err != nil {
			return fmt.Errorf("%d levels: %w", levels, err)
		}
	}
	return nil
}

// broadcastHosts runs three Broadcasts; fixed ones are of one root.
func (t *T) broadcastHosts(tree commlib.Tree, fixed bool) error {
	if needInBand(2)(t.p) != "" || t.p.Reproducible() && t.p.Members == 2 { // no pair for endpoint 2 of an in-band group
		fixed = true
	}
	link := func(e commlib.Edge) *fabric.Link {
		l := t.defaultLink()
		if e.Child >= 0 {
			l.Up = fabric.Faults{Loss: 0.5, Only: fabric.Only{Loss: fabric.ClassACK}}
			l.Down = l.Up
		} else {
			l.Down = fabric.Faults{Loss: 0.05, Only: fabric.Only{Loss: fabric.ClassResult}}
		}
		return l
	}
	w, err := commlib.New(commlib.Config{Manifest: t.man, Tree: tree, Link: link, Seed: t.rng.Uint64(), Switch: func(int) (dut.DUT, error) {
		e, err := t.newEngine()
		if err != nil {
			return nil, err
		}
		return e.Board, nil // closed with the others of the test
	}})
	if err != nil {
		return err
	}
	cfg := commlib.GroupConfig{PathMTU: min(t.p.MTUBytes, 64)}
	root, k := t.rng.IntN(tree.Ranks()), t.nextKind(1)
	if fixed {
		cfg.Fixed = &commlib.Fixed{Collective: commlib.Broadcast, Root: root, DType: k.DType, Op: k.Op}
	}
	g, err := w.NewGroup(cfg)
	if err != nil {
		return err
	}
	var calls []*commlib.Call
	for range 3 {
		in := make([][]byte, tree.Ranks())
		in[root] = t.words(100 + t.rng.IntN(200))
		c, err := g.Queue(commlib.Request{Collective: commlib.Broadcast, Root: root, In: in, DType: k.DType, Op: k.Op})
		if err != nil {
			return err
		}
		if calls = append(calls, c); !fixed {
			root = t.rng.IntN(tree.Ranks())
		}
	}
	if err := w.Run(t.ctx); err != nil {
		return err
	}
	for _, c := range calls {
		if err := c.Check(); err != nil {
			return err
		}
	}
	lost := w.Net().Stats.Lost
	if lost == 0 {
		return failf("of %d frames none was lost", w.Net().Stats.Frames)
	}
	t.values["link_lost"] += uint64(lost)
	return w.Finish(t.ctx)
}
