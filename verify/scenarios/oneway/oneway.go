// SPDX-License-Identifier: Apache-2.0

// Package oneway has the scenarios of Reduce and Broadcast in groups fixed to them.
package oneway

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "reduce", Needs: rig.ModeII(rig.NeedMembers(2)), Run: reduce,
			Doc: "a Reduce packet by packet: sums go to the root alone, its answers to all who contribute; every mask; " +
				"what another role may send is dropped"},
		{Name: "broadcast", Needs: rig.ModeII(rig.NeedMembers(2)), Run: broadcast,
			Doc: "a Broadcast packet by packet: data is copied; what everybody has is acknowledged when it rises or is repeated, " +
				"and NAKs claim no more; one level and two"},
		{Name: "chaos-broadcast", Needs: rig.All(rig.NeedParentPort, rig.NeedMembers(2), rig.NeedShortMessages), Run: chaosBroadcast,
			Doc: "Broadcasts through Tree-3-2 and Tree-4-2 with half of the ACKs between switches lost: all data arrives in the end"},
	}
}
