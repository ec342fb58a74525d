// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// throughputRounds is the number of packets that each member sends in a measurement: a multiple of every window.
const throughputRounds = 96

// traffic is what the members of a group send: messages of so many bytes, each cut by its sender's path MTU, the members in turn. In the worst
// order all are at the same bytes of one message, or else each is at a message of its own, a window apart at most. Every member acknowledges
// each so-manyth result, a window later, between the data; none if every is 0. Where results must be acknowledged both are closer, so that no
// message finds its pool full. Outside Mode I a message is a packet.
type traffic struct {
	bytes int
	worst bool
	every int
}

// cut is the number of packets that endpoint c makes of a message.
func (tr traffic) cut(g *rig.Group, c int) int {
	return (tr.bytes + g.Ends[c].PathMTU - 1) / g.Ends[c].PathMTU
}

// last is the PSN of the last packet of message k from and to endpoint c.
func (tr traffic) last(g *rig.Group, c, k int) roce.PSN { return g.Start().Add((k+1)*tr.cut(g, c) - 1) }

// rounds is how many messages each member sends, a multiple of the window.
func (tr traffic) rounds(g *rig.Group) int {
	return max(throughputRounds/(g.MW()*tr.cut(g, 0)), 3) * g.MW()
}

// frames are all that the members send, in the order in which it is offered.
func (tr traffic) frames(g *rig.Group) (all []rig.Frame) {
	members, longest := len(g.Members()), 0
	for _, c := range g.Members() {
		longest = max(longest, g.Ends[c].PathMTU)
	}
	spread, lag := g.MW(), g.MW() // in messages: how far apart members are at most, and how far ACKs follow the data
	if g.T.Pipes() {
		lag -= lag / 4
		if tr.every > 1 { // an ACK frees several places at once
			lag = min(lag, g.MW()-tr.every)
		}
		spread = min(spread/2, lag*2/3)
	}
	if tr.worst {
		spread = 0
	}
	rounds := tr.rounds(g)
	for step := range rounds + g.MW() {
		for at := 0; at < tr.bytes; at += longest {
			for c := range members {
				k := step - c*spread/members
				if k < 0 || k >= rounds {
					continue
				}
				to := min(at+longest, tr.bytes)
				all = tr.packets(all, g, c, k, at, to)
				if to == tr.bytes && tr.every > 0 && k >= lag && (k-lag+1)%tr.every == 0 {
					all = append(all, g.Ack(c, tr.last(g, c, k-lag)))
				}
			}
		}
	}
	return all
}

// packets appends those of endpoint c with these bytes of message k. Only a message's last packet asks for an acknowledgement.
func (tr traffic) packets(all []rig.Frame, g *rig.Group, c, k, from, to int) []rig.Frame {
	mtu := g.Ends[c].PathMTU
	for at := from; at < to; at += mtu {
		end := min(at+mtu, tr.bytes)
		left := (tr.bytes - end + mtu - 1) / mtu
		all = append(all, g.Data(c, tr.last(g, c, k).Add(-left), g.Noise(end-at), func(p *roce.Packet) {
			first, last := at == 0, end == tr.bytes
			switch p.AckReq = last; {
			case first && !last:
				p.Op = roce.SendFirst
			case !first && last:
				p.Op = roce.SendLast
			case !first:
				p.Op = roce.SendMiddle
			}
		}))
	}
	return all
}

// beats are those of the bus that all take to send a message and, in the mean, to acknowledge its result.
func (tr traffic) beats(g *rig.Group) (n float64) {
	for _, c := range g.Members() {
		for _, f := range tr.packets(nil, g, c, 0, 0, tr.bytes) {
			n += float64(g.T.Params.Beats(len(f.Data)))
		}
		if tr.every > 0 {
			n += float64(g.T.Params.Beats(len(g.Ack(c, 0).Data))) / float64(tr.every)
		}
	}
	return n
}

// streamed is what an engine did with a stream that never paused. Beats, frames and cycles are those between the first and the last
// window of what was offered: the pipe fills and empties. Reads is how often the engine turned to the payload of a result to send it, its length
// counting as one: by how much of it each of the actions that it reported took.
type streamed struct {
	frames, beats, outBeats int
	cycles, reads           float64
}

// stream offers traffic at once. It fails if nothing was measured, or not everything was added.
func stream(g *rig.Group, tr traffic) (s streamed) {
	t, e := g.T, g.E
	e.Mute = true
	e.Put(tr.frames(g)...)
	rounds, packets := tr.rounds(g), 0
	for _, c := range g.Members() {
		packets += tr.cut(g, c)
	}
	skip, total := packets*g.MW(), e.Waiting()
	seen, read, first, last := 0, 0, uint64(0), uint64(0)
	e.OnAccept = func(a dut.Frame, _ []inc.Counter) {
		if seen++; seen == skip {
			first = a.Last
		} else if seen > skip && seen <= total-skip {
			s.beats += t.Params.Beats(len(a.Data))
			last = a.Last
		}
	}
	e.OnAct = func(_ uint64, a inc.Action) {
		if a.Kind == inc.ActSend || a.Kind == inc.ActSendOne { // a pool's packets are cut for its lowest endpoint, which is 0
			read += min(tr.bytes, g.Ends[a.Endpoint].PathMTU)
		}
	}
	for _, o := range e.Settle() {
		if o.Last > first && o.Last <= last {
			s.outBeats += t.Params.Beats(len(o.Data))
		}
	}
	if last <= first {
		t.Fatalf("nothing was measured")
	}
	s.frames, s.cycles, s.reads = total-2*skip, float64(last-first), float64(read)/float64(tr.bytes*rounds)
	e.Counted("all that was offered", map[inc.Counter]uint64{inc.TxResult: uint64(rounds), inc.Agg: uint64(rounds * packets)})
	if t.Pipes() {
		for _, c := range g.Members() {
			e.Exchange(g.Ack(c, tr.last(g, c, rounds-1)))
		}
		e.Counted("throughput", map[inc.Counter]uint64{inc.DropFull: 0, inc.DropGap: 0, inc.DropStaleAck: 0})
	}
	return s
}
