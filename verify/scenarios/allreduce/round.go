// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// round is one PSN: what every member contributes to it, and what comes of that.
type round struct {
	g        *rig.Group
	psn      roce.PSN
	bytes    int
	payloads [][]byte // by endpoint; nil until it is drawn
	sum      []byte
}

// newRound is PSN k of a group, counted from its start, with n bytes from each member. A payload is drawn when it is first asked for.
func newRound(g *rig.Group, k, n int) *round {
	return &round{g: g, psn: g.Start().Add(k), bytes: n, payloads: make([][]byte, len(g.Ends))}
}

// drawnRound is newRound with all payloads drawn, before any frame is made.
func drawnRound(g *rig.Group, k, n int) *round {
	r := newRound(g, k, n)
	for _, c := range g.Members() {
		r.payload(c)
	}
	return r
}

func (r *round) payload(c int) []byte {
	if r.payloads[c] == nil {
		r.payloads[c] = r.g.Values(r.bytes)
	}
	return r.payloads[c]
}

// result is the reduction of all payloads.
func (r *round) result() []byte {
	if r.sum == nil {
		var all [][]byte
		for _, c := range r.g.Members() {
			all = append(all, r.payload(c))
		}
		r.sum = r.g.Reduce(all...)
	}
	return r.sum
}

// frame is the contribution of endpoint c; opts change it before it becomes a frame.
func (r *round) frame(c int, opts ...func(*roce.Packet)) rig.Frame {
	return r.g.Data(c, r.psn, r.payload(c), opts...)
}

// send has these members contribute, one after the other.
func (r *round) send(who ...int) *rig.Sending {
	var frames []rig.Frame
	for _, c := range who {
		frames = append(frames, r.frame(c))
	}
	return r.g.Send(frames...)
}

// completeBy has the last members contribute; every member must get the result.
func (r *round) completeBy(who ...int) {
	r.send(who...).ExpectAt(r.g.Members(), roce.SendOnly, r.psn, r.result())
}

// repeat has a member send again what is complete; it alone must get the result again.
func (r *round) repeat(c int) {
	r.send(c).ExpectAt([]int{c}, roce.SendOnly, r.psn, r.result())
}

// packet is a frame that left.
func packet(t *rig.T, o dut.Frame) roce.Packet {
	p, err := o.Packet()
	t.Check(err)
	return *p
}
