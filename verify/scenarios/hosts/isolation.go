// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"bytes"
	"fmt"

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
	watchState(e, c.Groups[0])
	mutator := rig.NewMutator(other)
	n.Net.OnQuantum = func(uint64) error {
		if t.Rand.IntN(3) == 0 && e.Waiting() < 8 {
			f := mutator.Next()
			if p, err := roce.Decode(f.Data); err != nil || !owns(c.Groups[0], p.DestQP) { // the mutation may hit on the QPN of ours
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

// watchState fails the run if the reference's state of a group changes by a frame that is not the group's. Actions may change it.
func watchState(e *rig.Engine, g *rig.Group) {
	ref := e.Reference().Engine()
	var before []byte
	e.OnAccept = func(a dut.Frame, _ []inc.Counter) error {
		after := ref.AppendGroupState(nil, g.Index)
		p, err := a.Packet()
		if before != nil && !bytes.Equal(before, after) && (err != nil || !owns(g, p.DestQP)) {
			return fmt.Errorf("a frame that is not group %d's changed its state: %v (%v)", g.Index, &p, err)
		}
		before = after
		return nil
	}
	e.OnAct = func(uint64, inc.Action) error {
		before = ref.AppendGroupState(before[:0], g.Index)
		return nil
	}
}

// owns tells whether a frame for that QPN is for one of the group's endpoints.
func owns(g *rig.Group, qpn uint32) bool {
	for _, ep := range g.Ends {
		if ep.LocalQPN == qpn {
			return true
		}
	}
	return false
}
