// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"incforge/network/fabric"
	"incforge/roce"
)

// StarNet is one switch with a host for every member, and one comm of them all.
func (t *T) StarNet(link *fabric.Link, opts ...GroupOption) (*Network, *Comm) {
	n := t.Tree(2, t.Params.Members, link)
	return n, n.AddComm(0, 1, opts...)
}

// CheckReceived checks what every host has received so far, be it all or not.
func (c *Comm) CheckReceived() {
	for r, h := range c.Hosts {
		if got := len(h.Received()); got > len(c.expected) {
			c.N.T.Fatalf("group %d rank %d received %d messages, %d were sent", c.Index, r, got, len(c.expected))
		}
		for i := range h.Received() {
			c.right(r, i)
		}
	}
}

// Kill silences the comm's hosts.
func (c *Comm) Kill() {
	for _, h := range c.Hosts {
		h.Kill()
	}
}

// Quiesce waits, after Kill, until nothing for the comm is on a link, in front of an engine, or inside one.
func (c *Comm) Quiesce() {
	n := c.N
	n.Idle(uint64(2*n.Link.Latency) + 2*uint64(n.T.MTUBeats()))
	n.RunUntil(func() bool {
		for i, nd := range n.Nodes {
			for _, ep := range c.Groups[i].Ends {
				if nd.E.WaitingFor(ep.LocalQPN) > 0 {
					return false
				}
			}
		}
		return true
	})
	n.Idle(uint64(32 * n.T.Params.Members * n.T.MTUBeats())) // a pipeline full of frames, each with a copy for every member
}

// Restart gives a comm that was killed new hosts and connections: by a reset of its groups, which keeps START, or by programming them
// anew with another START.
func (c *Comm) Restart(reset bool) {
	if reset {
		for _, g := range c.Groups {
			g.Reset()
		}
	} else {
		start := roce.PSN(c.N.T.Rand.Uint32() & 0xFFFFFF)
		for _, g := range c.Groups {
			g.Set.Start = start
			g.Program()
		}
	}
	c.Hosts, c.expected = nil, nil
	for _, nd := range c.N.Nodes {
		c.join(nd)
	}
}
