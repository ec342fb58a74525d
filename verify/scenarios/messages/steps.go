// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// steps has ranks of one path MTU send messages of several packets, so that what all have sent grows by a packet or not at all: with which packet
// one of the result leaves is then known.
func steps(t *rig.T) {
	least, most := t.Params.LeastPathMTU(), t.Params.MTUBytes
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	for _, mtu := range slices.Compact([]int{least, most}) {
		packets := g.Whole(t.Params.MessageBytes) / mtu
		if packets < 2 {
			continue
		}
		few := min(packets, 8) // what longer messages would do they have done by then
		connect := func() *Cutter {
			g.DrawConnections()
			for i := range g.Ends {
				g.Ends[i].PathMTU = mtu
			}
			g.Program()
			c := NewCutter(g)
			c.asks = 0
			return c
		}
		t.In("in turn", func() { inTurn(connect(), few) })
		t.In("one after the other", func() { oneByOne(connect(), few) })
		if n := len(g.Ends); n > 1 {
			t.In("a message that may end", func() {
				for _, at := range slices.Compact([]int{1, few - 1, packets}) {
					for _, place := range slices.Compact([]int{0, n / 2, n - 1}) {
						mayEnd(connect(), packets, at, place)
					}
				}
			})
			t.In("a message that goes on behind its slot", func() { mayEnd(connect(), packets, packets, n) })
		}
	}
}

// inTurn has all packets of some messages come at once, the ranks in turn.
func inTurn(c *Cutter, packets int) {
	for range c.MW() {
		var all [][]rig.Frame
		r := c.due(packets * c.Ends[0].PathMTU)
		for i := range c.Ends {
			all = append(all, c.whole(r, i))
		}
		for k := range packets {
			for i := range all {
				c.E.Put(all[i][k])
			}
		}
		c.takeAll(c.E.Settle())
		c.complete()
	}
}

// oneByOne has ranks be further than others: by a whole message, by all but its last packet, each by one packet more than the one before, and none.
func oneByOne(c *Cutter, packets int) {
	n := len(c.Ends)
	for _, ahead := range []func(i int) int{
		func(i int) int { return packets * (1 - min(i, 1)) },
		func(i int) int { return (packets - 1) * (i / max(n-1, 1)) },
		func(i int) int { return i },
		func(int) int { return 0 },
	} {
		s := c.newStep(packets)
		for i := range n {
			s.send(i, min(ahead(i), packets))
		}
		for range packets { // who is furthest begins
			for i := range n {
				s.send(n-1-i, 1)
			}
		}
		c.complete()
	}
}

// mayEnd has one rank end its message behind packet at and the others go on there, which they may not. It is in that place of those who come
// there, or nobody ends it; they come one by one, or at once if it is in the middle. While it may end there nothing leaves. Who goes on is refused.
func mayEnd(c *Cutter, packets, at, place int) {
	n, mtu := len(c.Ends), c.Ends[0].PathMTU
	s := c.newStep(at + 1)
	for range at - 1 {
		for i := range n {
			s.send(i, 1)
		}
	}
	before, left := s.there(), 0
	for i := range n {
		from := (at - 1) * mtu
		f := c.Data(i, c.up[i].next, s.Payload(i)[from:from+mtu], func(p *roce.Packet) { p.Op, p.AckReq = part(from, i == place), false })
		c.up[i].next = c.up[i].next.Next()
		s.sent[i]++
		if place == n/2 {
			c.E.Put(f)
		} else {
			left += c.exchange(f, &c.up[i], i == place, false)
		}
	}
	left += c.takeAll(c.E.Settle())
	want, refused := 0, inc.DropMessageLength
	if place == n {
		want = n * (s.there() - before)
	}
	if at == packets {
		refused = inc.DropMessageSize
	}
	if left != want {
		c.T.Fatalf("%d packets left when all had sent %d of %d packets and endpoint %d had ended its message; they should be %d", left, at, packets, place, want)
	}
	for i := range n {
		if i != place {
			psn := c.up[i].next
			f, _ := c.packet(s.Round, i, at*mtu, false)
			c.Send(f).As("endpoint %d goes on", i).Counted(refused, rig.AETHTo(i, psn, roce.NAKInvalidRequest))
		}
	}
}

// step is a message of packets that all ranks cut alike.
type step struct {
	*rig.Round
	c       *Cutter
	packets int
	sent    []int // by endpoint
}

func (c *Cutter) newStep(packets int) *step {
	return &step{Round: c.due(packets * c.Ends[0].PathMTU), c: c, packets: packets, sent: make([]int, len(c.Ends))}
}

// there is how many packets of the result leave by now: as many as all have sent, the last one's among them when all are complete.
func (s *step) there() int {
	least := slices.Min(s.sent)
	if whole := s.c.Set.WholeMessages || s.c.T.Params.WholeMessages; whole && least < s.packets {
		return 0
	}
	return least
}

// send sends the next packets of endpoint i, as far as there are any, and checks how many leave with each.
func (s *step) send(i, packets int) {
	c, mtu := s.c, s.c.Ends[i].PathMTU
	for range min(packets, s.packets-s.sent[i]) {
		before := s.there()
		f, to := c.packet(s.Round, i, s.sent[i]*mtu, false)
		s.sent[i]++
		left := c.exchange(f, &c.up[i], to == s.packets*mtu, slices.Min(s.sent) == s.packets)
		if want := len(c.Ends) * (s.there() - before); left != want {
			c.T.Fatalf("%d packets left with packet %d of endpoint %d, when the others have sent %v; they should be %d", left, s.sent[i], i, s.sent, want)
		}
	}
}
