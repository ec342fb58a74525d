// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"incforge/roce"
	"incforge/verify/rig"
)

func innerNode(t *rig.T) {
	g := t.Engine().Group(0, 1, min(t.Params.Members, 3), true)
	m, parent := g.Members(), []int{g.Parent}
	for k := range 3 * g.MW() {
		r := newRound(g, k, 20)
		r.send(m...).As("all children").ExpectAt(parent, roce.SendOnly, r.psn, r.result())
		g.Send(g.Data(m[k%len(m)], r.psn, g.Values(20))).As("a repetition by a child").ExpectAt(parent, roce.SendOnly, r.psn, r.result())
		final := g.Values(20)
		for range 1 + k%2 {
			g.Send(g.Data(g.Parent, r.psn, final)).As("the parent's data").ExpectAt(m, roce.SendOnly, r.psn, final)
		}
		g.Send(g.Ack(g.Parent, r.psn)).As("an ACK from the parent").Expect()
	}
	if t.Params.Members < 2 {
		return
	}
	if t.Params.Reproducible() && g.Parent == t.Params.Members && g.Parent%2 == 0 {
		return // the buffer has no room for its contributions
	}
	g.Set.InMask |= 1 << g.Parent // who is child and parent at once is a child
	g.Program()
	g.Send(g.Data(g.Parent, g.Start(), g.Values(20))).As("a contribution by the parent").Expect()
}
