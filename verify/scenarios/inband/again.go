// SPDX-License-Identifier: Apache-2.0

package inband

import (
	"incforge/inc"
	"incforge/roce"
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
	const most = 8 // endpoints
	type register struct {
		name string
		i    int
	}
	for _, parent := range []bool{false, true} {
		g := newGroup(t, parent)
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
		for _, root := range t.Shuffled(g.Members())[:min(len(g.Members()), most)] {
			g.carry(g.anyKind(inc.CollectiveReduce, root, 1))
			g.carry(g.anyKind(inc.CollectiveBroadcast, root, 1))
		}
		if parent {
			g.carry(g.anyKind(inc.CollectiveReduce, len(g.Members()), 1))
		}
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
