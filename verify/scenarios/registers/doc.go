// SPDX-License-Identifier: Apache-2.0

// Package registers has the scenarios of an engine's registers: what they hold, wrong settings, and anything written at random.
package registers

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "registers", Run: registers,
			Doc: "every register has its reset value, reads back what is written under its mask, and is reset in the middle of traffic"},
		{Name: "registers-random", Run: registersRandom, Needs: rig.All(rig.NeedGroups(2), rig.NeedSlots(16)),
			Doc: "registers written at random, any address, value and strobes: one group stays exact, and nobody without a part is sent anything"},
		{Name: "control", Run: control,
			Doc: "a group gets random settings while others carry traffic: it works with legal ones and stays disabled with illegal ones"},
	}
}
