// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

func isolation(t *rig.T) {
	n := t.Tree(2, t.Params.Members, t.DefaultLink())
	e := n.Nodes[0].E
	other := e.Group(1, 2, t.Params.Members, false)
	c := n.AddComm(0, 2)
	owns := func(qpn uint32) bool { // tells whether a frame for that QPN is for one of our endpoints
		return slices.ContainsFunc(c.Groups[0].Ends, func(ep inc.Endpoint) bool { return ep.LocalQPN == qpn })
	}
	state := func(b []byte) []byte { return e.Reference().Engine().AppendGroupState(b, 0) }
	e.Guard(state, func(a dut.Frame, _ []inc.Counter) bool {
		p, err := a.Packet()
		return err == nil && owns(p.DestQP)
	})
	mutator := rig.NewMutator(other)
	n.Net.OnQuantum = func(uint64) error {
		if t.Rand.IntN(3) == 0 && e.Waiting() < 8 {
			f := mutator.Next()
			if p, err := roce.Decode(f.Data); err != nil || !owns(p.DestQP) { // the mutation may hit on the QPN of ours
				e.Offer(f.Port, dut.Frame{Data: f.Data, Err: f.Err})
			}
		}
		return nil
	}
	c.PostRandom(30)
	n.Run()
	n.Net.OnQuantum = nil
	if t.Pipes() { // nobody is there who would acknowledge what garbage completed
		other.Disable()
	}
	n.Finish()
	undisturbed(c)
}

func hostDeath(t *rig.T) {
	n, c := t.StarNet(t.DefaultLink())
	c.PostRandom(10)
	n.Idle(uint64(500 + t.Rand.IntN(3000)))
	dead := t.Rand.IntN(len(c.Hosts))
	c.Hosts[dead].Kill()
	n.Idle(4 * n.Timeout)
	t.In(fmt.Sprintf("after rank %d died", dead), c.CheckReceived)
	known := c.Hosts[dead].Acknowledged() + c.Hosts[dead].Unacknowledged() // packets that it may have contributed
	messages := c.Hosts[dead].Completed() + c.Hosts[dead].Unacknowledged()
	for r, h := range c.Hosts {
		if t.Messages() { // where each has packets of its own
			if got := len(h.Received()); got > messages {
				t.Fatalf("rank %d got %d results, though rank %d had sent %d messages at most when it died", r, got, dead, messages)
			}
			continue
		}
		if h.Stats.Accepted > known || !t.Pipes() && h.Acknowledged() > known { // Mode III acknowledges what is taken, not what is complete
			t.Fatalf("rank %d got %d results and had %d packets acknowledged, though rank %d had sent %d when it died", r, h.Stats.Accepted,
				h.Acknowledged(), dead, known)
		}
	}
	c.Kill()
	n.Idle(2 * n.Timeout)
	for _, g := range c.Groups {
		g.Set.InMask &^= 1 << dead
		g.Set.OutMask, g.Set.AckMask = g.Set.InMask, g.Set.InMask
	}
	c.Restart(false)
	c.PostRandom(10)
	n.Run()
	n.Finish()
}

func groupReset(t *rig.T) {
	n := t.Tree(2, t.Params.Members, t.DefaultLink())
	a, b := n.AddComm(0, 2), n.AddComm(1, 2)
	for i := range 4 {
		a.PostRandom(8)
		b.PostRandom(30)
		n.Idle(uint64(300 + t.Rand.IntN(4000)))
		a.Kill()
		a.Quiesce()
		a.Restart(i%2 == 0)
	}
	a.PostRandom(8)
	n.Run()
	n.Finish()
	undisturbed(b)
}

// undisturbed checks that no host had to repeat something, as nothing was lost. In Mode III one that runs ahead of the others meets a
// full pipe, and repeats what it is told to. Where a switch's ports dropped something, which is sent again, it checks nothing and says false.
func undisturbed(c *rig.Comm) bool {
	for _, nd := range c.N.Nodes {
		drops, err := nd.E.PortDrops()
		c.N.T.Check(err)
		if drops > 0 {
			return false
		}
	}
	for r, h := range c.Hosts {
		if !c.N.T.Pipes() && h.Stats.Resent > 0 || h.Stats.Timeouts+h.Stats.NAKsSent+h.Stats.DupSeen > 0 {
			c.N.T.Fatalf("group %d rank %d met no fault that was planted, but %+v", c.Index, r, h.Stats)
		}
	}
	return true
}
