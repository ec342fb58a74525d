// SPDX-License-Identifier: Apache-2.0

// Package pipes has the scenarios of what only a Mode III engine does: answers of its own, pipes that fill, time-outs, what is sent again (docs/pipes.md).
package pipes

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{}
}
