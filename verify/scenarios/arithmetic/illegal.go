// SPDX-License-Identifier: Apache-2.0

package arithmetic

import (
	"fmt"

	"incforge/verify/rig"
)

// illegal has settings at the very edge, too, which are enabled and exact.
func illegal(t *rig.T) {
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), 2)
	complete := neighbour(e, count, 0)
	for _, k := range t.Fitting(count) {
		g := e.MakeGroup(0, count, t.Params.Members, false, rig.WithKind(k), rig.WithLog2N(3))
		legal := g.Set
		for _, bad := range t.IllegalSettings(legal) {
			g.Set = bad
			t.In(k.String(), g.ProgramRefused)
			complete()
		}
		if g.Set = legal; count < 2 { // the last slots of the buffer
			units := 1 << legal.Log2N
			if k.DType.Wide() {
				units *= 2
			}
			g.Set.SlotBase = t.Params.Slots() - units
		}
		g.Program()
		t.In(fmt.Sprintf("%s with slots from %d of %d", k, g.Set.SlotBase, t.Params.Slots()), func() {
			g.CompleteFrom(0, 2*g.MW()+1)
		})
	}
}

// neighbour is group 1 of an engine of two groups, at the other end of the buffer, which must stay exact whatever happens to the other
// one: it returns what has it complete its next PSN. Of one group it is nobody. log2N caps its slots if it is not 0.
func neighbour(e *rig.Engine, groups, log2N int) (complete func()) {
	if groups < 2 {
		return func() {}
	}
	g, done := e.Group(1, groups, e.T.Params.Members, false, rig.WithLog2N(log2N)), 0
	return func() {
		g.Complete(g.PSN(done))
		done++
	}
}
