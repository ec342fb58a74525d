// SPDX-License-Identifier: Apache-2.0

// Package allreduce has the scenarios of an AllReduce or Barrier over one engine, frame by frame: slots, windows, answers, headers.
package allreduce

import "incforge/verify/rig"

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{}
}
