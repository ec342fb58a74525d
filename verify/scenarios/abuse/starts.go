// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"fmt"

	"incforge/verify/rig"
)

// startsTogether starts all groups anew without waiting for one another, so that they wait in the engine, and each works afterwards.
func startsTogether(t *rig.T) {
	const rounds, most = 6, 8
	e := t.Engine()
	count := min(rig.MaxGroups(t.Params), most)
	var groups []*rig.Group
	var order []int
	for i := range count {
		groups = append(groups, e.Group(i, count, t.Params.Members, false))
		order = append(order, i)
	}
	again := t.Field("GROUP_CTRL", "enable").Put(1) | t.Field("GROUP_CTRL", "reset").Put(1)
	for round := range rounds {
		t.In(fmt.Sprintf("round %d", round), func() {
			for range 2 { // the first is still under way when all are started once more
				for _, i := range t.Shuffled(order) {
					e.Write("GROUP_CTRL", i, again)
				}
			}
			for _, i := range order {
				awaitStarted(e, i)
			}
			for _, g := range groups {
				g.CompleteFrom(0, 2)
			}
		})
	}
}

// startReads is how often GROUP_STATUS is read at most before a group must have started.
const startReads = 10_000

func awaitStarted(e *rig.Engine, group int) {
	for range startReads {
		if e.Field("GROUP_STATUS", group, "busy") == 0 {
			if e.Field("GROUP_STATUS", group, "enabled") == 0 {
				e.T.Fatalf("group %d was started and is not enabled", group)
			}
			return
		}
	}
	e.T.Fatalf("group %d is still busy after %d reads of GROUP_STATUS", group, startReads)
}
