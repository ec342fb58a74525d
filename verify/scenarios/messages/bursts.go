// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"fmt"
	"slices"

	"incforge/contract"
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

// asks looks at who is asked when, first in whole messages, then where a rank repeats packets while more come that it has not got yet: from
// then on it is asked with other packets than those that go along with it.
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
			c := newCutter(g)
			c.strict = true
			c.longMessage(big, 0)
			if several := g.Whole(t.Params.MessageBytes) > most && most > least; whole || t.Params.WholeMessages || !several {
				return
			}
			for back := 2; back <= askEvery; {
				times := c.longMessage(big, back)
				back += max(times, 1)
			}
		})
	}
}

// again is the rank of asks that is sent results again.
const again = 1

// longMessage has all but big send a message, then big its packets one by one. Back > 0: with each of them but the first one rank says that the
// last results are lost, so many at first, then one more each time, while nothing leaves: so the new packet is decided when some are
// sent again and others wait for their turn. It returns how often that was done.
func (c *cutter) longMessage(big, back int) (times int) {
	t, r := c.T, c.due(c.Whole(c.T.Params.MessageBytes))
	n, cycles := len(r.Payload(big)), uint64(8*t.MTUBeats()+1000)
	for i := range big {
		c.E.Put(c.whole(r, i)...)
	}
	c.open, c.opened = 0, 0
	c.takeAll(c.E.SettleAsIs())
	for at := 0; at < n; at = c.open {
		var f rig.Frame
		c.opened = at
		f, c.open = c.packet(r, big, at, false)
		for i := range c.back {
			c.back[i].asked = nil
		}
		b, mtu := &c.back[again], c.Ends[again].PathMTU
		if back == 0 || len(b.got) < back*mtu {
			c.E.Put(f)
			c.takeAll(c.E.SettleAsIs())
			continue
		}
		b.next, b.got = b.next.Add(-back), b.got[:len(b.got)-back*mtu]
		c.E.SetPauses(dut.Pauses{Ready: 1})
		c.E.Put(c.NAK(again, b.next), f)
		c.E.StepTo(c.E.Now() + cycles)
		c.E.SetPauses(dut.Pauses{})
		back, times = back+1, times+1
		c.takeAll(c.E.SettleAsIs())
		before := func(end int) bool { return end <= at }
		if !slices.Equal(slices.DeleteFunc(c.back[0].asked, before), slices.DeleteFunc(b.asked, before)) {
			t.Values["asked_apart"]++
		}
	}
	c.complete()
	for i, b := range c.back {
		c.E.Put(c.Ack(i, b.next.Add(-1)))
	}
	c.takeAll(c.E.SettleAsIs())
	return times
}

// flood has all ranks send as many messages as a pool takes while nothing leaves, and then all of it.
func flood(t *rig.T) {
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false)
	g.DrawConnections()
	g.Program()
	c := newCutter(g)
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
