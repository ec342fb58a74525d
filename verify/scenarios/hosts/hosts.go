// SPDX-License-Identifier: Apache-2.0

// Package hosts has the scenarios of model hosts and networks: messages from end to end, loss, trees, restarts.
package hosts

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "messages", Run: messages,
			Doc: "Messages of up to three packets between hosts on a star without faults: all results are right, nothing is sent twice."},
		{Name: "barrier-hosts", Run: barriers,
			Doc: "Barriers between hosts on a star without faults: all are released, nothing is sent twice."},
		{Name: "line-rate", Run: lineRate,
			Doc: "All ranks send full packets faster than the switch can take them: all results are right, nothing is lost but what ports drop."},
		{Name: "psn-wrap-hosts", Run: wrap,
			Doc: "Messages between hosts across the wrap of the PSN while two percent of all frames are lost: all results are right."},
		{Name: "rnr", Run: receiverNotReady,
			Doc: "Hosts run out of receives and answer RNR NAK: each is held back by its own, and all results arrive in the end."},
		{Name: "groups", Run: groups,
			Doc: "All groups at once on one switch, types, byte orders and collectives mixed: each gets its own results."},
		{Name: "isolation", Needs: rig.NeedGroups(2), Run: isolation,
			Doc: "Garbage for one group's endpoints: another group's state changes by its own frames alone, and its hosts notice nothing."},
		{Name: "group-reset", Needs: rig.NeedGroups(2), Run: groupReset,
			Doc: "A group is stopped and restarted in the middle of messages, by reset and by programming: the other group's hosts notice nothing."},
		{Name: "host-death", Needs: rig.NeedMembers(2), Run: hostDeath,
			Doc: "A host falls silent: the others get no wrong result and no more than they can, and the group works again without it."},
		{Name: "tree", Run: tree,
			Doc: "Messages through Tree-3-2 and Tree-4-2 without faults, every switch an engine: all results are right, nothing is sent twice."},
		{Name: "chaos-star", Needs: rig.NeedShortMessages, Run: chaosStar,
			Doc: "Loss, duplication, reordering, delay, corruption, hesitation and missing receives on a star: all results are right."},
		{Name: "chaos-tree", Needs: rig.All(rig.NeedParentPort, rig.NeedShortMessages), Run: chaosTree,
			Doc: "All faults at once on Tree-3-2 or Tree-4-2, as the seed has it: all results are right."},
		{Name: "chaos-barrier", Needs: rig.All(rig.NeedParentPort, rig.NeedShortMessages), Run: chaosBarrier,
			Doc: "All faults at once on Tree-3-2 or Tree-4-2, as the seed has it: every barrier is released."},
	}
}
