// SPDX-License-Identifier: Apache-2.0

// Package messages has the scenarios of what only a Mode I engine does: messages that every rank cuts in its own way, releases, and ranks that
// differ in everything but what they send (docs/termination.md).
package messages

import (
	"bytes"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "message-cuts", Run: cuts, Needs: rig.ModeI(),
			Doc: "messages of all lengths, cut by path MTUs and under PSNs of each rank's own: every rank gets the result in cuts and PSNs of its own, acknowledged when it must be"},
		{Name: "message-release", Run: releases, Needs: rig.ModeI(rig.NeedReleases),
			Doc: "iterations of two messages with releases: each host gets an empty message when all have acknowledged an iteration, and not before"},
		{Name: "message-settings", Run: settings, Needs: rig.ModeI(),
			Doc: "a group with a path MTU that is no power of two, too short or too long stays disabled"},
		{Name: "message-mixed", Run: mixed, Needs: rig.ModeI(rig.NeedMembers(2), rig.NeedParentPort),
			Doc: "ranks with the least and the largest path MTU, one that loses 1 %, one at a tenth of the rate, PSNs across the wrap: results are exact, nobody sees another's loss"},
	}
}

// ackEvery is ACK_EVERY after reset.
const ackEvery = 16

// Cutter sends messages to a star and checks what comes back to each rank, written apart from the reference. Its hosts acknowledge what they get.
type Cutter struct {
	*rig.Group
	// Within, if it is not nil, happens between the packets of a message.
	Within func()
	up     []wire // what an endpoint sends, by endpoint
	back   []wire // and what it got
	early  int    // packets of results that left before their message was complete
}

// NewCutter sends to a group that was just started.
func NewCutter(g *rig.Group) *Cutter {
	c := &Cutter{Group: g}
	for _, ep := range g.Ends {
		c.up, c.back = append(c.up, wire{next: ep.RQPSN}), append(c.back, wire{next: ep.SQPSN})
	}
	return c
}

// Next is the PSN of an endpoint's next packet.
func (c *Cutter) Next(end int) roce.PSN { return c.up[end].next }

// wire is one way of a connection: its next PSN, and what has come of the message at hand.
type wire struct {
	next    roce.PSN
	got     []byte
	pending int // packets since the last answer, on the way to the engine
	ended   bool
}

func cuts(t *rig.T) {
	for _, whole := range []bool{false, true} {
		t.In(map[bool]string{false: "bytes as they come", true: "whole messages"}[whole], func() {
			g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
			g.DrawConnections()
			g.Set.WholeMessages = whole
			g.Program()
			c := NewCutter(g)
			longest := g.Whole(t.Params.MessageBytes)
			c.Message(longest)
			for range t.Count(2*g.MW(), 20*g.MW()) {
				c.Message(g.Whole(t.Rand.IntN(longest + 1)))
			}
			if several := longest >= 2*t.Params.MTUBytes; several && c.early > 0 == (whole || t.Params.WholeMessages) {
				t.Fatalf("%d packets left before their message was complete", c.early)
			}
		})
	}
}

// Message has all ranks send a message of n bytes, packet by packet in turns, and checks the result.
func (c *Cutter) Message(n int) {
	t, r := c.T, c.Round(c.Start(), n)
	r.Draw(c.Members()...)
	se, result := t.Rand.IntN(2) == 0, r.Result()
	for i := range c.back {
		c.back[i].got, c.back[i].ended = nil, false
	}
	offsets := make([]int, len(c.Ends))
	left := len(offsets)
	for left > 0 {
		for i := range c.Ends {
			if offsets[i] < 0 {
				continue
			}
			from, to := offsets[i], min(offsets[i]+c.Ends[i].PathMTU, n)
			op := part(from, to == n)
			asks := t.Rand.IntN(8) == 0
			up := &c.up[i]
			f := c.Data(i, up.next, r.Payload(i)[from:to], func(p *roce.Packet) { p.Op, p.AckReq, p.SE = op, asks, se && op.EndsMessage() })
			up.next = up.next.Next()
			if offsets[i] = to; to == n {
				offsets[i] = -1
				left--
			}
			c.exchange(f, up, asks || to == n, left == 0, result, se)
			if c.Within != nil && left > 0 {
				c.Within()
			}
		}
	}
	for i := range c.back {
		if b := &c.back[i]; !b.ended || !bytes.Equal(b.got, result) {
			t.Fatalf("endpoint %d got %d of %d bytes, ended: %t: %s", i, len(b.got), n, b.ended, c.Kind().Difference(b.got, result))
		}
	}
}

// part is the opcode of a packet from a byte of a message on.
func part(from int, last bool) roce.Opcode {
	switch {
	case from == 0 && last:
		return roce.SendOnly
	case from == 0:
		return roce.SendFirst
	case last:
		return roce.SendLast
	}
	return roce.SendMiddle
}

// exchange sends a packet, checks whether it was acknowledged, and takes what leaves.
func (c *Cutter) exchange(f rig.Frame, from *wire, must, complete bool, result []byte, se bool) {
	t := c.T
	before := c.E.Counter(inc.TxAck)
	outs := c.Send(f).Out()
	acked := c.E.Counter(inc.TxAck) - before
	if from.pending++; must || from.pending == ackEvery {
		from.pending = 0
	}
	if want := uint64(1); acked != want && from.pending == 0 || acked != 0 && from.pending != 0 {
		t.Fatalf("a packet was acknowledged %d times, %d after the last that was", acked, from.pending)
	}
	for _, o := range outs {
		p := t.Packet(o)
		to := c.Addressee(o.Port, p)
		if to < 0 || !p.Op.IsSend() {
			t.Fatalf("what left is %v, to endpoint %d", p, to)
		}
		if !complete {
			c.early++
		}
		c.take(to, p, result, se)
	}
}

// take checks a packet of a result that endpoint to gets.
func (c *Cutter) take(to int, p *roce.Packet, result []byte, se bool) {
	b, mtu := &c.back[to], c.Ends[to].PathMTU
	at := len(b.got)
	end := min(at+mtu, len(result))
	op := part(at, end == len(result))
	if b.ended || p.PSN != b.next || p.Op != op || !bytes.Equal(p.Payload, result[at:end]) || op.EndsMessage() && (!p.AckReq || p.SE != se) {
		c.T.Fatalf("endpoint %d with path MTU %d got %v, %d bytes, ask %t, SE %t; it should be %v, PSN %v, bytes %d to %d of %d", to, mtu, p, len(p.Payload), p.AckReq, p.SE,
			op, b.next, at, end, len(result))
	}
	b.next, b.got, b.ended = b.next.Next(), append(b.got, p.Payload...), op.EndsMessage()
}

func releases(t *rig.T) {
	const iteration = 2
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	g.Set.Release, g.Set.Iteration = true, iteration
	g.Program()
	m := g.Members()
	for k := range 3 * iteration {
		r := g.Round(g.PSN(k), 16).Draw(m...)
		psn := g.PSN(k + k/iteration) // every iteration before took one more
		want := rig.Copies(rig.DataTo(0, psn, r.Result()), m...)
		if k%iteration == iteration-1 {
			want = append(want, rig.Copies(rig.DataTo(0, psn.Next(), nil), m...)...)
		}
		g.Check(r.Send(m...).Out(), want...)
	}
	g.E.Counted("releases", map[inc.Counter]uint64{inc.TxRelease: uint64(3 * len(m)), inc.TxFanout: uint64((3*iteration + 3) * len(m))})
}

func settings(t *rig.T) {
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	last := len(g.Ends) - 1
	for _, mtu := range []int{t.Params.LeastPathMTU() / 2, 2 * t.Params.MTUBytes, t.Params.MTUBytes - 4, 3 * t.Params.LeastPathMTU()} {
		if mtu > 4096 && mtu > t.Params.MTUBytes { // more than the field holds
			continue
		}
		g.Ends[last].PathMTU = mtu
		g.ProgramRefused()
	}
	g.Ends[last].PathMTU = t.Params.LeastPathMTU()
	g.Program()
	g.Complete(g.Start())
}
