// SPDX-License-Identifier: Apache-2.0

// Package inband has the scenarios of in-band groups, whose ranks say by control messages what comes next.
package inband

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "in-band", Needs: rig.ModeII(rig.NeedInBand(2)), Run: inBand,
			Doc: "AllReduce, Broadcast, AllReduce, Reduce, then anything, on one set of connections: every number on every wire"},
		{Name: "in-band-controls", Needs: rig.ModeII(rig.NeedInBand(2)), Run: controls,
			Doc: "controls that are illegal, lost, out of place or contradict others: each is dropped under its name and does no harm"},
		{Name: "in-band-before", Needs: rig.ModeII(rig.NeedInBand(3)), Run: before,
			Doc: "data, ACKs and NAKs of the range before the current one are answered with its numbers; older data is dropped"},
		{Name: "in-band-early", Needs: rig.ModeII(rig.NeedInBand(3)), Run: early,
			Doc: "a range that is opened before the one before it is complete has a window of its own, and both can be finished; what is acknowledged before it came, and slots when PSNs come round"},
		{Name: "in-band-reset", Needs: rig.ModeII(rig.NeedInBand(2)), Run: reset,
			Doc: "a group is drained and restarted in the middle of ranges: nothing of them is left, and numbers begin at START"},
		{Name: "in-band-random", Needs: rig.NeedInBand(2), Run: random,
			Doc: "ranges in bursts among repetitions, gaps, answers and controls of every kind: all results arrive and are right"},
		{Name: "in-band-damaged", Needs: rig.NeedInBand(2), Run: amongDamaged,
			Doc: "in-band-random among damaged frames and those of a group without ranges, while ports take little: what waits, or stands behind it, is judged by what is decided then"},
		{Name: "pipe-in-band", Needs: rig.Pipes(rig.NeedInBand(2)), Run: piped,
			Doc: "collectives of every kind on one set of connections: every number on every wire, and controls that come too early wait"},
		{Name: "pipe-in-band-before", Needs: rig.ModeIII(rig.NeedInBand(2)), Run: pipedBefore,
			Doc: "data and answers of the range before the current one: what was taken is acknowledged, what contradicts it is dropped"},
		{Name: "pipe-in-band-starts", Needs: rig.ModeIII(rig.NeedGroups(2), rig.NeedInBand(2), rig.NeedSlots(8)), Run: startsAtOpenings,
			Doc: "a group is started over and over when another opens a range: no number of its earlier ranges is left"},
		{Name: "in-band-rewritten", Needs: rig.All(rig.NeedPackets, rig.NeedInBand(2)), Run: rewritten,
			Doc: "the registers of a stopped group are written once more with what they hold, in random order: its ranges are as before, whoever of all ranks is the root"},
		{Name: "in-band-stopped", Needs: rig.ModeII(rig.NeedBare, rig.NeedInBand(2)), Run: stopped,
			Doc: "a group is stopped while results of it wait for ports that take nothing: they leave with the numbers that they have on each wire"},
		{Name: "in-band-starts", Needs: rig.ModeII(rig.NeedGroups(2), rig.NeedInBand(2), rig.NeedSlots(8)), Run: startsBeside,
			Doc: "a group is started over and over while another opens range after range: no number of its earlier ranges is left"},
	}
}
