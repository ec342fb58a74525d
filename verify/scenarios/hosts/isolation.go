// SPDX-License-Identifier: Apache-2.0

package hosts

import (
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
	for r, h := range c.Hosts {
		if disturbed(t, h) || h.Stats.DupSeen > 0 {
			t.Fatalf("rank %d was disturbed by the other group's garbage: %+v", r, h.Stats)
		}
	}
}
