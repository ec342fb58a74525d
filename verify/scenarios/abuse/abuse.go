// SPDX-License-Identifier: Apache-2.0

// Package abuse has the scenarios of what an engine must survive: damaged and foreign frames, wrong settings, registers written at random.
package abuse

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{}
}
