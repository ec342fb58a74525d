// SPDX-License-Identifier: Apache-2.0

// Package resets has the scenarios of resets in any cycle of anything, and of groups that start beside others.
package resets

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "resets", Run: resets, Needs: rig.NeedSlots(8),
			Doc: "a reset in any cycle of a start, of a range that opens, of frames that are decided: the engine then does as a new one"},
		{Name: "resets-in-accesses", Run: resetsInAccesses, Needs: rig.NeedBare,
			Doc: "a reset in any cycle of a read or a write of any register: it is answered afterwards, and all registers but that are as after a reset"},
		{Name: "resets-in-traffic", Run: resetsInTraffic, Needs: rig.All(rig.NeedBare, rig.NeedSlots(8)),
			Doc: "a reset when the queues are full and registers are read: frames right behind it are the first that the engine counts, and the only ones that leave"},
		{Name: "resets-in-actions", Run: resetsInActions, Needs: rig.All(rig.NeedBare, rig.NeedSlots(8)),
			Doc: "a reset of one cycle or a few amid sends, time-outs and copies, under way or waiting for room: nothing of them leaves, and the engine then does as a new one"},
		{Name: "starts-together", Run: startsTogether, Needs: rig.NeedGroups(2),
			Doc: "all groups are started anew, none waiting for another: they are taken one after the other, and each works"},
		{Name: "starts-among-traffic", Run: startsAmongTraffic, Needs: rig.All(rig.NeedGroups(2), rig.NeedSlots(8)),
			Doc: "a group is started over and over while another's data and ACKs, or frames without a pause, come in at all ports: neither waits for long, and both work"},
		{Name: "starts-held-up", Run: startsHeldUp, Needs: rig.All(rig.NeedPackets, rig.NeedBare, rig.NeedGroups(2)),
			Doc: "a group is started while no port takes anything and data for it waits: what came in before the start is dropped, however late"},
		{Name: "stops-held-up", Run: stopsHeldUp, Needs: rig.ModeII(rig.NeedBare, rig.NeedGroups(2)),
			Doc: "a group is stopped while no port takes anything: its frames that wait are dropped, another group's among them are answered"},
		{Name: "starts-of-all-slots", Run: startsOfAllSlots, Needs: rig.NeedPackets,
			Doc: "a group of all the slots there are is started anew amid contributions to a window of them, and after a start of fewer: none of these counts any more"},
	}
}
