// SPDX-License-Identifier: Apache-2.0

// Package inband has the scenarios of in-band groups, whose ranks say by control messages what comes next.
package inband

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{}
}
