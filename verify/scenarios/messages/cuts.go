// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"bytes"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// ackEvery is ACK_EVERY after reset; askEvery is the packet since the last that was asked that asks again.
const ackEvery, askEvery = 16, 16

// Cutter sends messages to a star and checks what comes back to each rank, written apart from the reference. Its hosts acknowledge what they get.
type Cutter struct {
	*rig.Group
	// Within, if it is not nil, happens between the packets of a message.
	Within func()

	up, back []wire // the two ways of every connection, by endpoint
	results  []result
	every    int // ACK_EVERY
	asks     int // one packet in so many asks for an acknowledgement; 0: none
	early    int // packets of results that left before their message was complete
	step     int // a packet that ends at a multiple of it may ask for want of more, and no other; 0: any may
	open     int // with a step, bytes of the result that may leave before anything else is done: the packet that ends there asks
}

// wire is one way of a connection: its next PSN, and what has come of the message at hand.
type wire struct {
	next    roce.PSN
	got     []byte
	message int   // of Cutter.results, the one at hand
	pending int   // packets since the last answer, on the way to the engine; since the last that asked, on the way back
	asked   []int // where packets that asked end, of the message at hand, on the way back
}

// result is what all ranks are to get of a message.
type result struct {
	payload []byte
	se      bool
}

// NewCutter is of a group that was programmed.
func NewCutter(g *rig.Group) *Cutter {
	c := &Cutter{Group: g, every: ackEvery, asks: 8}
	for _, ep := range g.Ends {
		c.back, c.up = append(c.back, wire{next: ep.SQPSN}), append(c.up, wire{next: ep.RQPSN})
	}
	return c
}

// Next is the PSN of an endpoint's next packet.
func (c *Cutter) Next(end int) roce.PSN { return c.up[end].next }

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
	steps(t)
}

// answers has ranks send packets that do not ask, and sees which are acknowledged.
func answers(t *rig.T) {
	g := t.Engine().MakeGroup(0, 1, t.Params.Members, false, rig.WithPathMTU(t.Params.LeastPathMTU()))
	g.Program()
	c := NewCutter(g)
	c.asks = 0
	for _, n := range []int{0, 1, 2, 3, 7, 15} {
		t.In("ACK_EVERY", func() {
			t.Check(g.E.Ctl.SetAckEvery(uint8(n)))
			c.every = max(n, 1)
			c.Message(g.Whole(t.Params.MessageBytes))
		})
	}
	t.In("a NAK ahead of a packet", func() { asksAgain(t) })
}

// due draws a message of n bytes, which all ranks are to get next.
func (c *Cutter) due(n int) *rig.Round {
	r := c.Round(c.Start(), n)
	r.Draw(c.Members()...)
	c.results = append(c.results, result{payload: r.Result(), se: c.T.Rand.IntN(2) == 0})
	return r
}

// Message has all ranks send a message of n bytes, packet by packet in turns, and checks the result.
func (c *Cutter) Message(n int) {
	r := c.due(n)
	offsets := make([]int, len(c.Ends))
	left := len(offsets)
	for left > 0 {
		for i := range c.Ends {
			if offsets[i] < 0 {
				continue
			}
			asks := c.asks > 0 && c.T.Rand.IntN(c.asks) == 0
			f, to := c.packet(r, i, offsets[i], asks)
			if offsets[i] = to; to == n {
				offsets[i] = -1
				left--
			}
			c.exchange(f, &c.up[i], asks || to == n, left == 0)
			if c.Within != nil && left > 0 {
				c.Within()
			}
		}
	}
	c.complete()
}

// packet is the next packet of endpoint i, of the message drawn last from a byte on, and where it ends.
func (c *Cutter) packet(r *rig.Round, i, from int, asks bool) (f rig.Frame, to int) {
	all, se := r.Payload(i), c.results[len(c.results)-1].se
	to = min(from+c.Ends[i].PathMTU, len(all))
	op := part(from, to == len(all))
	f = c.Data(i, c.up[i].next, all[from:to], func(p *roce.Packet) { p.Op, p.AckReq, p.SE = op, asks, se && op.EndsMessage() })
	c.up[i].next = c.up[i].next.Next()
	return f, to
}

// whole are all packets of endpoint i, of the message drawn last.
func (c *Cutter) whole(r *rig.Round, i int) (frames []rig.Frame) {
	for at := 0; at < len(r.Payload(i)); {
		f, to := c.packet(r, i, at, false)
		frames, at = append(frames, f), to
	}
	return frames
}

// complete checks that all ranks have got all messages.
func (c *Cutter) complete() {
	for i, b := range c.back {
		if b.message != len(c.results) {
			c.T.Fatalf("endpoint %d got %d of %d messages and %d bytes of the next", i, b.message, len(c.results), len(b.got))
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

// exchange sends a packet, checks whether it was acknowledged, takes what leaves, and tells how many packets of results that was.
func (c *Cutter) exchange(f rig.Frame, from *wire, must, complete bool) (packets int) {
	before := c.E.Counter(inc.TxAck)
	outs := c.Send(f).Out()
	acked := c.E.Counter(inc.TxAck) - before
	if from.pending++; must || from.pending >= c.every {
		from.pending = 0
	}
	if want := uint64(1); acked != want && from.pending == 0 || acked != 0 && from.pending != 0 {
		c.T.Fatalf("with ACK_EVERY %d a packet was acknowledged %d times, %d after the last that was", c.every, acked, from.pending)
	}
	if packets = c.takeAll(outs); !complete {
		c.early += packets
	}
	return packets
}

// takeAll takes what left, and tells how many packets of results there were.
func (c *Cutter) takeAll(outs []dut.Frame) (packets int) {
	for _, o := range outs {
		p := c.T.Packet(o)
		to := c.Addressee(o.Port, p)
		if to >= 0 && p.Op == roce.Acknowledge && p.Syndrome == roce.AckSyndrome {
			continue
		}
		if to < 0 || !p.Op.IsSend() {
			c.T.Fatalf("what left is %v, to endpoint %d", p, to)
		}
		c.take(to, p)
		packets++
	}
	return packets
}

// take checks a packet of a result that endpoint to gets.
func (c *Cutter) take(to int, p *roce.Packet) {
	b, mtu := &c.back[to], c.Ends[to].PathMTU
	if b.message == len(c.results) {
		c.T.Fatalf("endpoint %d got %v when all messages had come", to, p)
	}
	r := c.results[b.message]
	at := len(b.got)
	end := min(at+mtu, len(r.payload))
	op := part(at, end == len(r.payload))
	if p.PSN != b.next || p.Op != op || !bytes.Equal(p.Payload, r.payload[at:end]) || op.EndsMessage() && p.SE != r.se {
		c.T.Fatalf("endpoint %d with path MTU %d got %v, %d bytes, SE %t; it should be %v, PSN %v, bytes %d to %d of %d: %s", to, mtu, p, len(p.Payload), p.SE,
			op, b.next, at, end, len(r.payload), c.Kind().Difference(p.Payload, r.payload[at:end]))
	}
	b.pending++
	must := op.EndsMessage() || b.pending == askEvery || c.step > 0 && end == c.open
	if may := c.step == 0 || end%c.step == 0; must && !p.AckReq || p.AckReq && !must && !may {
		c.T.Fatalf("endpoint %d is asked for an acknowledgement (%t) with %v, %d packets after the last time; bytes %d to %d of %d", to,
			p.AckReq, p, b.pending, at, end, len(r.payload))
	}
	if p.AckReq {
		b.pending, b.asked = 0, append(b.asked, end)
	}
	if b.next, b.got = b.next.Next(), append(b.got, p.Payload...); op.EndsMessage() {
		b.message, b.got = b.message+1, nil
	}
}
