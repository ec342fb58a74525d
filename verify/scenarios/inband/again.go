// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"fmt"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// pipedBefore opens a range in Mode III, which the one before it must be over for, and then has everybody come back to that: data that was taken is
// acknowledged, what contradicts it is dropped, and so are answers to what nobody waits for.
func pipedBefore(t *rig.T) {
	for round := range 2 {
		g := newGroup(t, round%2 == 1, rig.WithPipe(t.PipeSize(2*round)))
		g.E.Mute = true
		for _, c := range []inc.Control{g.anyKind(inc.CollectiveAllReduce, 0, 3), g.anyKind(inc.CollectiveReduce, 0, 2),
			g.anyKind(inc.CollectiveBroadcast, 1, 2), g.anyKind(inc.CollectiveBarrier, 0, 2), g.anyKind(inc.CollectiveAllReduce, 0, 0)} {
			g.pass(c)
			old := g.current
			s := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, 2))
			p, order := s.plan(0), t.Shuffled(s.contributors)
			s.send(p, order[0], g.frame(p, order[0]), len(order) == 1)
			old.comeBack()
			s.complete(p, order[1:]...)
			if s.source >= 0 {
				s.send(p, s.source, g.frame(p, s.source), false)
			}
			old.comeBack()
			g.acknowledge(p, s.hearers()...)
			for range s.control.Packets {
				g.acknowledge(s.next(8), s.hearers()...)
			}
		}
	}
}

// comeBack has everybody send each packet of a range once more, as it was and as it was not, and answer it. What an answer says of PSNs that the range
// after it has too is left out.
func (s *span) comeBack() {
	g := s.g
	for _, p := range s.packets {
		for _, c := range s.senders() {
			g.Send(g.frame(p, c)).Out()
			g.Send(g.Data(c, p.in[c], p.sent[c], func(q *roce.Packet) { q.Op, q.Imm = roce.SendOnlyImm, p.imm^1 })).Out()
			g.Send(g.Data(c, p.in[c], p.sent[c])).Out()
		}
		for _, c := range s.hearers() {
			g.Send(g.Ack(c, p.out[c])).Out()
			g.Send(g.AETH(c, p.out[c], roce.RNRSyndrome|1)).Out()
		}
	}
}

// rewritten writes registers once more with what they hold, in random order, while the group is stopped: so a register of it that is written last must
// not change what another has. Ranges of several roots tell whether it did.
func rewritten(t *rig.T) {
	const most = 8 // endpoints whose records are written
	type register struct {
		name string
		i    int
	}
	for _, parent := range []bool{false, true} {
		opts := []rig.GroupOption{withAllRanks}
		if parent {
			opts = append(opts, rig.WithParentAt(t.Rand.IntN(t.Children()+1)))
		}
		g := newGroup(t, parent, opts...)
		g.E.Mute = true
		g.Disable()
		var all []register
		for _, r := range t.Manifest.Registers {
			if r.Access != "rw" || r.Name == "GROUP_CTRL" || r.Name == "ECC_INJECT" {
				continue
			}
			for i := range min(len(g.Ends), most) {
				all = append(all, register{r.Name, min(g.Index*t.Params.EPS()+i, r.Size()-1)})
			}
			all = append(all, register{r.Name, min(g.Index, r.Size()-1)})
		}
		t.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, r := range all {
			g.E.Write(r.name, r.i, g.E.Read(r.name, r.i))
		}
		on, err := g.E.Ctl.Enable(g.Index)
		t.Check(err)
		if !on {
			t.Fatalf("group %d does not enable", g.Index)
		}
		for root := range inc.Roots - 1 {
			g.carry(g.anyKind([]uint8{inc.CollectiveReduce, inc.CollectiveBroadcast}[t.Rand.IntN(2)], root, 1))
		}
		g.carry(g.anyKind(inc.CollectiveAllReduce, 0, 1))
	}
}

// withAllRanks puts those ranks somewhere that WithInBand does not know, all but the last one.
func withAllRanks(g *rig.Group) {
	for r := range inc.Roots - 1 {
		if !g.Set.Route[r].Valid {
			g.Set.Route[r] = inc.Route{Valid: true, Endpoint: uint8(g.T.Rand.IntN(len(g.Ends)))}
		}
	}
}

// stopped stops a group when results of a range, whose numbers differ from wire to wire, wait for ports that take nothing: they leave with those numbers.
func stopped(t *rig.T) {
	const wait = 1000
	g := newGroup(t, false)
	e := g.E
	packets := min(3, g.MW()-1) // behind the control
	for round := range 2 {
		t.In(fmt.Sprintf("round %d", round), func() {
			for range 2 { // four ranges, so that the next is the engine's number 0 again, as the first one of a group is
				g.carry(g.anyKind(inc.CollectiveReduce, t.Rand.IntN(t.Params.Members), 2))
				g.carry(g.anyKind(inc.CollectiveBroadcast, t.Rand.IntN(t.Params.Members), 1))
			}
			e.SetPauses(dut.Pauses{Ready: 1})
			s := g.enter(g.anyKind(inc.CollectiveAllReduce, 0, packets))
			for range 1 + packets {
				p := s.plan(16)
				for _, c := range s.contributors {
					e.Put(g.frame(p, c))
				}
			}
			e.StepTo(e.Now() + wait)
			g.Disable()
			e.StepTo(e.Now() + wait)
			e.SetPauses(dut.Pauses{})
			if n := len(e.Settle()); n != (1+packets)*len(s.receivers) {
				t.Fatalf("%d results left, expected %d to each of %d", n, 1+packets, len(s.receivers))
			}
			g.Program()
			g.restart()
		})
	}
}

// two are in-band groups of all members, side by side.
func two(e *rig.Engine) (first, second *group) {
	var both [2]*group
	for i := range both {
		both[i] = &group{Group: e.Group(i, len(both), e.T.Params.Members, false, rig.WithInBand())}
		both[i].restart()
	}
	return both[0], both[1]
}

// startsBeside starts an in-band group over and over while another opens one range after the other: no number of its ranges of before is left.
func startsBeside(t *rig.T) {
	const rounds, ranges, spread = 16, 20, 400
	e := t.Engine()
	busy, again := two(e)
	next := 0
	for round := range rounds {
		t.In(fmt.Sprintf("round %d", round), func() {
			again.carry(again.anyKind(inc.CollectiveReduce, t.Rand.IntN(t.Params.Members), 1)) // after which numbers differ from one wire to the next
			again.carry(again.anyKind(inc.CollectiveBroadcast, t.Rand.IntN(t.Params.Members), 1))
			for range ranges {
				control := busy.anyKind(inc.CollectiveAllReduce, 0, 0)
				for _, c := range t.Shuffled(busy.Members()) {
					e.Put(busy.controlFrame(c, busy.PSN(next), control))
				}
				next++
			}
			e.StepTo(e.Now() + uint64(t.Rand.IntN(spread)))
			again.Reset()
			e.Settle()
			again.restart()
			again.carry(again.anyKind(inc.CollectiveAllReduce, 0, 1))
		})
	}
}

// startsAtOpenings starts an in-band group over and over when another opens a range, in Mode III: no number of its ranges of before is left.
func startsAtOpenings(t *rig.T) {
	const rounds, spread = 16, 48
	e := t.Engine()
	e.Mute = true
	opens, again := two(e)
	start := t.StartsGroup()
	for round := range rounds {
		t.In(fmt.Sprintf("round %d", round), func() {
			for range 2 { // four ranges, so that the next is the engine's number 0 again, with numbers that differ from one wire to the next
				again.carry(again.anyKind(inc.CollectiveReduce, t.Rand.IntN(t.Params.Members), 1))
				again.carry(again.anyKind(inc.CollectiveBroadcast, t.Rand.IntN(t.Params.Members), 1))
			}
			again.carry(again.anyKind(inc.CollectiveAllReduce, 0, 1))
			s := opens.enter(opens.anyKind(inc.CollectiveAllReduce, 0, 0))
			p := s.plan(0)
			first := opens.frame(p, s.contributors[0])
			if round%2 == 0 {
				e.Put(first)
				e.StepTo(e.Now() + uint64(t.Rand.IntN(spread)))
				e.Write("GROUP_CTRL", again.Index, start)
			} else {
				e.Write("GROUP_CTRL", again.Index, start)
				e.StepTo(e.Now() + uint64(t.Rand.IntN(spread)))
				e.Put(first)
			}
			e.Settle()
			if _, err := e.Ctl.Enable(again.Index); err != nil { // which waits until it has started
				t.Fatalf("start: %v", err)
			}
			again.restart()
			s.complete(p, s.contributors[1:]...)
			opens.acknowledge(p, s.hearers()...)
			again.carry(again.anyKind(inc.CollectiveAllReduce, 0, 1))
		})
	}
}

// carry carries out a range, all of it acknowledged.
func (g *group) carry(c inc.Control) {
	if g.T.Pipes() {
		g.pass(c)
		return
	}
	g.run(c, 1)
}
