// SPDX-License-Identifier: Apache-2.0

package pipes

import (
	"incforge/inc"
	"incforge/verify/rig"
)

// inner fills and empties the pipes of a node with a parent three times, one pipe after the other. In every other round the parent is among those who get
// copies, of which it gets none by that; in the last one a child has a path MTU of its own in Mode I.
func inner(t *rig.T) {
	for round := range 4 {
		g := under(t.PipeEngine(rig.LongTimeout), rig.WithPipe(t.PipeSize(round)), func(g *rig.Group) {
			if round%2 != 0 {
				g.Set.OutMask |= 1 << g.Parent
			}
			if round == 3 {
				g.Ends[g.Members()[0]].PathMTU = t.Params.LeastPathMTU()
			}
		})
		m, n := g.Members(), g.MW()
		for lap := range 3 {
			g.innerLap(lap * n)
		}
		g.E.Counted("an inner node", map[inc.Counter]uint64{inc.Agg: uint64(3 * n * len(m)), inc.DownTaken: uint64(3 * n),
			inc.DownData: uint64(3 * (2*n + 4)), inc.DropFull: 9, inc.TxResult: uint64(3 * n), inc.TxFanout: uint64(3 * n * (len(m) + 1)),
			inc.Wipe: uint64(6 * n)})
	}
	under(t.PipeEngine(rig.LongTimeout)).parentBehind()
}

// parentBehind has a result complete while the parent, who has asked for all before it, gets that first: it follows.
func (g group) parentBehind() {
	m, n := g.Members(), g.MW()
	if n < 3 {
		return
	}
	for k := range n - 1 {
		g.collective(g.PSN(k), g.Parent)
	}
	r := g.Round(g.PSN(n-1), 16).Draw(m...)
	for _, c := range m[1:] {
		g.E.Put(r.Frame(c))
	}
	g.E.Settle()
	g.E.Put(g.NAK(g.Parent, g.PSN(0)), r.Frame(m[0]))
	g.E.Settle()
	g.Acknowledge(g.PSN(n-1), g.Parent)
	g.E.Counted("a parent that lags", map[inc.Counter]uint64{inc.TxResult: uint64(n), inc.Wipe: uint64(n)})
}

// innerLap fills both pipes, both empty before, with the PSNs from number first on.
func (g group) innerLap(first int) {
	m, end := g.Members(), first+g.MW()
	down := func(k int, payload []byte, want ...rig.Want) {
		g.Send(g.Data(g.Parent, g.PSN(k), payload)).As("PSN %v from the parent", g.PSN(k)).Expect(want...)
	}
	for k := first; k < end; k++ {
		g.collective(g.PSN(k), g.Parent)
	}
	g.Send(g.Data(m[0], g.PSN(end), g.Values(8))).As("beyond the aggregation pipe").Expect(refusalTo(m[0], g.PSN(end)))
	for k := first; k < end; k++ {
		b, ack := g.Noise(24), rig.AckTo(g.Parent, g.PSN(k))
		down(k, b, append(rig.Copies(rig.DataTo(0, g.PSN(k), b), m...), ack)...)
		down(k, b, ack) // again
	}
	down(end, g.Noise(8), refusalTo(g.Parent, g.PSN(end))) // the broadcast pipe is full too
	down(end+1, g.Noise(8))                                // a gap behind that
	g.Acknowledge(g.PSN(end-1), g.Parent)                  // empties the aggregation pipe alone
	down(end, g.Noise(8), refusalTo(g.Parent, g.PSN(end)))
	g.Acknowledge(g.PSN(end-1), g.T.Shuffled(m)...)
	down(end+1, g.Noise(8)) // there is room now, but it is still a gap
}

func oneWay(t *rig.T) {
	for round := range 4 {
		for _, host := range []bool{true, false} {
			e, size := t.PipeEngine(rig.LongTimeout), rig.WithPipe(t.PipeSize(round))
			g := under(e, rig.WithCollective(inc.CollectiveReduce, host), size, func(g *rig.Group) {
				g.Set.OutMask = g.Set.InMask // which means nothing in a Reduce
			})
			up := uint64(2 * g.MW())
			g.reduceTwice()
			e.Counted("Reduce", map[inc.Counter]uint64{inc.Wipe: up, inc.TxFanout: up, inc.DownTaken: 0})

			g = under(e, rig.WithCollective(inc.CollectiveBroadcast, host), size)
			down := uint64(2 * g.MW())
			heard := g.broadcastTwice()
			e.Counted("Reduce and Broadcast", map[inc.Counter]uint64{inc.Wipe: up + down, inc.DownTaken: down, inc.TxFanout: up + down*heard})
		}
	}
}

// reduceTwice fills and empties the pipe of a Reduce twice.
func (g group) reduceTwice() {
	c, n := g.Members()[0], g.MW()
	for lap := range 2 {
		end := (lap + 1) * n
		for k := lap * n; k < end; k++ {
			g.collective(g.PSN(k), g.Parent)
		}
		g.Send(g.Data(c, g.PSN(end), g.Values(8))).As("beyond the pipe").Expect(refusalTo(c, g.PSN(end)))
		g.wrongRoles(g.Data(g.Parent, g.PSN(0), g.Values(8)).Named("data from the parent of a Reduce"),
			g.Ack(c, g.PSN(0)).Named("an ACK from a child of a Reduce"))
		g.Acknowledge(g.PSN(end-1), g.Parent)
	}
}

// broadcastTwice fills and empties the pipe of a Broadcast twice, and returns how many hear it.
func (g group) broadcastTwice() uint64 {
	n := g.MW()
	heard := g.Those(g.Set.OutMask)
	for lap := range 2 {
		end := (lap + 1) * n
		for k := lap * n; k < end; k++ {
			b := g.Noise(20)
			g.Send(g.Data(g.Parent, g.PSN(k), b)).As("parent data").Expect(
				append(rig.Copies(rig.DataTo(0, g.PSN(k), b), heard...), rig.AckTo(g.Parent, g.PSN(k)))...)
		}
		g.Send(g.Data(g.Parent, g.PSN(end), nil)).As("beyond the pipe").Expect(refusalTo(g.Parent, g.PSN(end)))
		g.wrongRoles(g.Data(heard[0], g.PSN(0), g.Values(8)).Named("data from a child of a Broadcast"),
			g.Ack(g.Parent, g.PSN(0)).Named("an ACK from the parent of a Broadcast"))
		g.Acknowledge(g.PSN(end-1), g.T.Shuffled(heard)...)
	}
	return uint64(len(heard))
}

// wrongRoles sends frames that no endpoint of that role sends.
func (g group) wrongRoles(frames ...rig.Frame) {
	for _, f := range frames {
		g.Send(f).Dropped(inc.DropWrongRole)
	}
}
