// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"incforge/internal/fail"
	"incforge/roce"
	"incforge/verify/dut"
)

// PSN is number k of a group's PSNs, counted from its start.
func (g *Group) PSN(k int) roce.PSN { return g.Start().Add(k) }

// Those are the endpoints in a mask, ascending.
func (g *Group) Those(mask uint32) (who []int) {
	for c := range g.Ends {
		if mask>>c&1 != 0 {
			who = append(who, c)
		}
	}
	return who
}

// NAK is a NAK from endpoint c that asks for everything from a PSN on.
func (g *Group) NAK(c int, psn roce.PSN) Frame { return g.AETH(c, psn, roce.NAKSequence) }

// Acknowledge has endpoints acknowledge a PSN, for which nothing leaves.
func (g *Group) Acknowledge(psn roce.PSN, who ...int) {
	for _, c := range who {
		g.Send(g.Ack(c, psn)).As("ACK(%v) of endpoint %d", psn, c).Expect()
	}
}

// Packet is a frame that left; one that does not decode ends the scenario.
func (t *T) Packet(o dut.Frame) *roce.Packet { return fail.Must(o.Packet()) }

// Count is how often something is done: so many times, or as many as the long form does.
func (t *T) Count(n, long int) int {
	if t.Long {
		return long
	}
	return n
}

// ByMode is the first in Mode II, the second in Modes III and I.
func ByMode[V any](t *T, two, other V) V {
	if t.Pipes() {
		return other
	}
	return two
}

// Round is one PSN of a group: what its members contribute, and what comes of that.
type Round struct {
	PSN      roce.PSN
	Payloads [][]byte // by endpoint; nil until it is drawn
	g        *Group
	bytes    int
	sum      []byte
}

// Round is a PSN with n bytes from each member. A payload is drawn when it is first asked for.
func (g *Group) Round(psn roce.PSN, n int) *Round {
	return &Round{PSN: psn, g: g, bytes: n, Payloads: make([][]byte, len(g.Ends))}
}

// Draw draws the payloads of these members now, in this order.
func (r *Round) Draw(who ...int) *Round {
	for _, c := range who {
		r.Payload(c)
	}
	return r
}

// Payload is what endpoint c contributes.
func (r *Round) Payload(c int) []byte {
	if r.Payloads[c] == nil {
		r.Payloads[c] = r.g.Values(r.bytes)
	}
	return r.Payloads[c]
}

// Result is the reduction of all payloads.
func (r *Round) Result() []byte {
	if r.sum == nil {
		var all [][]byte
		for _, c := range r.g.Members() {
			all = append(all, r.Payload(c))
		}
		r.sum = r.g.Reduce(all...)
	}
	return r.sum
}

// Frame is the contribution of endpoint c; opts change it before it becomes a frame.
func (r *Round) Frame(c int, opts ...func(*roce.Packet)) Frame {
	return r.g.Data(c, r.PSN, r.Payload(c), opts...)
}

// Send has these members contribute, one after the other.
func (r *Round) Send(who ...int) *Sending {
	var frames []Frame
	for _, c := range who {
		frames = append(frames, r.Frame(c))
	}
	return r.g.Send(frames...)
}

// CompleteBy has the last members contribute; every member must get the result.
func (r *Round) CompleteBy(who ...int) {
	r.Send(who...).ExpectAt(r.g.Members(), roce.SendOnly, r.PSN, r.Result())
}

// CompleteFrom has all members contribute to n PSNs from number k on, one after the other, and returns the results: Group.Complete.
func (g *Group) CompleteFrom(k, n int) (results [][]byte) {
	for i := range n {
		results = append(results, g.Complete(g.PSN(k+i)))
	}
	return results
}
