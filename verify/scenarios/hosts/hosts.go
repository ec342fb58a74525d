// SPDX-License-Identifier: Apache-2.0

// Package hosts has the scenarios of model hosts and networks: messages from end to end, loss, trees, restarts.
package hosts

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{}
}
