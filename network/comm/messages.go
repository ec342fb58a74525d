// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"cmp"

	"incforge/internal/fail"
)

// mostIteration is what GROUP_RELEASE has room for.
const mostIteration = 1<<23 - 1

// fillMessages sets the defaults that Mode I has other than Mode III, and rejects what is impossible.
func (g *Group) fillMessages(fit func(size *int, most int)) {
	c, p := &g.cfg, g.w.p
	iterates := c.Fixed != nil && c.Release
	fail.If((c.Iteration > 0) != iterates || c.Iteration < 0 || c.Iteration > mostIteration,
		"iterations of %d messages: 1 to %d are possible in a fixed group with releases, and in no other", c.Iteration, mostIteration)
	c.PathMTU = cmp.Or(c.PathMTU, p.MTUBytes)
	c.Message = cmp.Or(c.Message, max(p.MessageBytes/c.PathMTU, 1))
	fit(&c.Pipe, p.WindowMessages)
	for _, mtu := range append([]int{c.PathMTU}, c.PathMTUs...) {
		fail.If(mtu != 0 && (mtu&(mtu-1) != 0 || mtu < p.LeastPathMTU() || mtu > p.MTUBytes), "path MTU %d: must be a power of two from %d to %d", mtu,
			p.LeastPathMTU(), p.MTUBytes)
	}
	fail.If(c.Message < 1 || c.Message*c.PathMTU > p.MessageBytes, "messages of %d packets of %d bytes: the engine takes %d bytes", c.Message, c.PathMTU, p.MessageBytes)
	fail.If(len(c.PathMTUs) > g.Ranks(), "path MTUs of %d ranks, the tree has %d", len(c.PathMTUs), g.Ranks())
}

// pathMTUs are those of the edges.
func (g *Group) pathMTUs() []int {
	p := g.w.p
	var all []int
	for _, e := range g.edges {
		mtu := g.cfg.PathMTU
		if e.Rank >= 0 && e.Rank < len(g.cfg.PathMTUs) {
			mtu = cmp.Or(g.cfg.PathMTUs[e.Rank], mtu)
		} else if g.cfg.Mixed {
			for mtu = p.LeastPathMTU(); mtu < p.MTUBytes && g.w.rng.IntN(2) == 0; {
				mtu *= 2
			}
		}
		all = append(all, mtu)
	}
	return all
}

// iterates refuses a call of a fixed group with releases that is no iteration.
func (c *Call) iterates(plans []*rangePlan) {
	n := 0
	for _, p := range plans {
		n += p.Messages
	}
	most := c.g.cfg.Iteration
	fail.If(most > 0 && (n != most || len(plans) > 1), "it has %d messages in %d ranges, an iteration of this group has %d in one", n, len(plans), most)
}

// heard is how many messages of results a rank gets in a range, released tells whether a release comes after them.
func (r *rank) heard(p *rangePlan) int {
	if p.Hears(r.n) {
		return p.Messages
	}
	return 0
}

func (r *rank) released(p *rangePlan) bool { return r.g.cfg.Release && p.sends(r.n) }
