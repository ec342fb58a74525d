// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"fmt"
	"slices"

	"incforge/contract"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// needLong is for scenarios of messages in which a packet that is not the last asks because 16 have not.
func needLong(p contract.Params) string {
	if most := p.MessageBytes / p.LeastPathMTU(); most <= askEvery {
		return fmt.Sprintf("needs messages of more than %d of the shortest packets, the configuration has %d", askEvery, most)
	}
	return ""
}

// again is the rank of asks that is sent results again.
const again = 1

// asks looks at who is asked when, first in whole messages, then where a rank is sent packets again while more come that it has not got yet:
// from then on it is asked with other packets than those that go along with it.
func asks(t *rig.T) {
	least, most := t.Params.LeastPathMTU(), t.Params.MTUBytes
	for _, whole := range []bool{true, false} {
		t.In(map[bool]string{false: "bytes as they come", true: "whole messages"}[whole], func() {
			e := t.Engine()
			e.Mute = true
			g := e.MakeGroup(0, 1, t.Params.Members, false, rig.WithPathMTU(least))
			big := len(g.Ends) - 1 // the rank whose packets have the bytes that all others wait for
			g.Ends[big].PathMTU, g.Set.WholeMessages = most, whole
			g.Program()
			c := NewCutter(g)
			whole = whole || t.Params.WholeMessages
			if c.step = most; whole {
				c.step = t.Params.MessageBytes
			}
			c.longMessage(big, 0)
			for back := 2; back <= askEvery && !whole; back++ {
				c.longMessage(big, back)
			}
		})
	}
}

// longMessage has all but big send a message, then big its packets one by one. Back > 0: when there are so many results, one rank says that
// it has lost them, and big sends all that it has left, while nothing leaves: so its packets are decided when some results have been
// sent again and others wait for their turn.
func (c *Cutter) longMessage(big, back int) {
	t, r := c.T, c.due(c.Whole(c.T.Params.MessageBytes))
	for i := range big {
		c.E.Put(c.whole(r, i)...)
	}
	c.open = 0
	c.takeAll(c.E.SettleAsIs())
	rest := c.whole(r, big)
	b, mtu := &c.back[again], c.Ends[again].PathMTU
	for len(rest) > 0 && (back == 0 || len(b.got) < back*mtu) {
		c.E.Put(rest[0])
		c.open += c.Ends[big].PathMTU
		c.takeAll(c.E.SettleAsIs())
		rest = rest[1:]
	}
	if len(rest) > 0 {
		for i := range c.back {
			c.back[i].asked = nil
		}
		from := len(b.got)
		b.next, b.got, c.open = b.next.Add(-back), b.got[:from-back*mtu], 0
		c.E.SetPauses(dut.Pauses{Ready: 1})
		c.E.Put(c.NAK(again, b.next))
		c.E.Put(rest...)
		c.E.StepTo(c.E.Now() + uint64(8*t.MTUBeats()+1000))
		c.E.SetPauses(dut.Pauses{})
		c.takeAll(c.E.SettleAsIs())
		before := func(end int) bool { return end <= from }
		if !slices.Equal(slices.DeleteFunc(c.back[0].asked, before), slices.DeleteFunc(b.asked, before)) {
			t.Values["asked_apart"]++
		}
	}
	c.complete()
	for i, b := range c.back {
		c.E.Put(c.Ack(i, b.next.Add(-1)))
	}
	c.takeAll(c.E.SettleAsIs())
}

// flood has all ranks send as many messages as a pool takes while nothing leaves, and then all of it.
func flood(t *rig.T) {
	t.In("the first packet of one more", func() { begun(t) })
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	g.DrawConnections()
	g.Program()
	c := NewCutter(g)
	for range t.Count(2, 10) {
		var cycles uint64
		g.E.SetPauses(dut.Pauses{Ready: 1})
		for k := range g.MW() {
			n := g.Whole(t.Params.MessageBytes)
			if k%2 != 0 {
				n = g.Whole(1 + t.Rand.IntN(n))
			}
			r := c.due(n)
			for _, i := range t.Shuffled(g.Members()) {
				for _, f := range c.whole(r, i) {
					cycles += uint64(t.Params.Beats(len(f.Data)) + 16)
					g.E.Put(f)
				}
			}
		}
		g.E.StepTo(g.E.Now() + cycles)
		g.E.SetPauses(dut.Pauses{})
		c.takeAll(g.E.Settle())
		c.complete()
	}
}

// begun has a rank that is alone answer RNR NAK, and send a message and the first packet of one more while it waits: all of that is sent to it then,
// one behind the other, though it acknowledges nothing.
func begun(t *rig.T) {
	e := t.PipeEngine(rig.LongTimeout)
	g := e.MakeGroup(0, 1, 1, false, rig.WithPathMTU(t.Params.LeastPathMTU()))
	packets := min(g.Whole(t.Params.MessageBytes)/g.Ends[0].PathMTU, 8)
	if packets < 2 || g.MW() < 3 || t.Params.WholeMessages {
		return
	}
	g.Program()
	c := NewCutter(g)
	c.asks = 0
	c.Message(4)
	b := &c.back[0]
	lost := b.next.Prev()
	takes := uint64((packets + 4) * (t.MTUBeats() + 64))
	code := uint8(1)
	for roce.RNRDuration(code).Microseconds()*int64(t.Params.CyclesPerMicrosecond()) < int64(4*takes) {
		code++
	}
	wait := uint64(roce.RNRDuration(code).Microseconds()+2) * t.Params.CyclesPerMicrosecond()
	g.Send(g.AETH(0, lost, roce.RNRSyndrome|code)).As("RNR NAK").Expect()
	e.Put(c.whole(c.due(packets*g.Ends[0].PathMTU), 0)...)
	first, _ := c.packet(c.due(packets*g.Ends[0].PathMTU), 0, 0, false)
	e.Put(first)
	if n := c.takeAll(e.SettleAsIs()); n > 0 {
		t.Fatalf("%d packets left to a rank that waits", n)
	}
	b.next, b.message = lost, b.message-1
	e.StepTo(e.Now() + wait + takes)
	c.takeAll(e.Out())
	if want := len(c.results) - 1; b.message != want || len(b.got) != g.Ends[0].PathMTU {
		t.Fatalf("%d messages and %d bytes of the next were sent, they should be %d and one packet", b.message, len(b.got), want)
	}
}

// asksAgain has all but one rank send a message, then that one its packets, with each of which one of the result leaves at once. Some of them wait for room right
// behind a NAK, by which another rank gets the one before first, and alone. What they wait for are answers to both that no port takes.
func asksAgain(t *rig.T) {
	const full = 24 // answers of each of the two do not fit into the queues
	e := t.Engine()
	e.Mute = true
	g := e.MakeGroup(0, 1, t.Params.Members, false, rig.WithPathMTU(t.Params.LeastPathMTU()))
	g.Program()
	c := NewCutter(g)
	last := len(g.Ends) - 1
	r := c.due(g.Whole(t.Params.MessageBytes))
	old := []rig.Frame{g.Data(0, c.Next(0), nil), g.Data(last, c.Next(last), nil)}
	for i := range last {
		e.Put(c.whole(r, i)...)
	}
	c.takeAll(e.SettleAsIs())
	for k, f := range c.whole(r, last) {
		b := &c.back[0]
		if k%2 != 0 && last > 0 && len(b.got) > 0 {
			b.next, b.got = b.next.Add(-1), b.got[:len(b.got)-c.Ends[0].PathMTU]
			e.SetPauses(dut.Pauses{Ready: 1})
			for range full {
				e.Put(old...)
			}
			e.Put(c.NAK(0, b.next), f)
			e.StepTo(e.Now() + uint64((2*full+2)*(t.Params.Beats(128)+16)))
			e.SetPauses(dut.Pauses{})
		} else {
			e.Put(f)
		}
		c.takeAll(e.SettleAsIs())
	}
	c.complete()
}
