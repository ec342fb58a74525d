// SPDX-License-Identifier: Apache-2.0

// Package arithmetic has the scenarios of element types, operations, orders of addition and the payload memory's error correction.
package arithmetic

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{}
}
