// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"

	pb "incforge/control/agentpb"
	"incforge/internal/fail"
)

// clearReads is how often ECC_STATUS is read before an engine counts as one that does not start again. It takes some thousand cycles, less than so many accesses.
const clearReads = 100_000

// restart starts an engine again that halted because a word of its tables or its state was lost (docs/memories.md): all its groups are stopped, and the memories cleared.
// What the groups had is gone; that they are lost is found as after a reset, and whoever installed them does so again.
func (a *Agent) restart(engine int) (err error) {
	defer fail.Catch(&err, "engine %d", engine)
	if !a.p.ECCAll || fail.Must(a.drv.Get("ECC_STATUS", engine, "halted")) == 0 {
		return nil
	}
	a.cfg.Log.Errorf("agent %s: engine %d has halted: a word of its memories is lost; all its groups are stopped", a.cfg.Name, engine)
	for g := range a.records {
		if a.engineOf(g) != engine {
			continue
		}
		if a.records[g].State == pb.State_STATE_INSTALLED || fail.Must(a.drv.Get("GROUP_STATUS", g, "enabled")) != 0 {
			fail.On(a.stop(g))
		}
	}
	fail.On(a.drv.Set("ECC_CLEAR", engine, "clear", 1))
	for range clearReads {
		if fail.Must(a.drv.Read("ECC_STATUS", engine)) == 0 {
			return nil
		}
	}
	return fmt.Errorf("it stays halted behind %d reads of ECC_STATUS", clearReads)
}
