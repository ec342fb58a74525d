// SPDX-License-Identifier: Apache-2.0

// Package scenarios lists every scenario. Each subject has a package of its own below this one.
package scenarios

import (
	"fmt"
	"path"
	"slices"

	"incforge/verify/rig"
	"incforge/verify/scenarios/abuse"
	"incforge/verify/scenarios/allreduce"
	"incforge/verify/scenarios/arithmetic"
	"incforge/verify/scenarios/hosts"
	"incforge/verify/scenarios/inband"
	"incforge/verify/scenarios/oneway"
	"incforge/verify/scenarios/pipes"
)

// All lists every scenario in the order in which they are run.
func All() []rig.Scenario {
	return slices.Concat(allreduce.Scenarios(), arithmetic.Scenarios(), oneway.Scenarios(), inband.Scenarios(), abuse.Scenarios(),
		hosts.Scenarios(), pipes.Scenarios())
}

// Select returns the scenarios whose names match the pattern (path.Match; empty for all). A pattern that matches nothing is an
// error.
func Select(pattern string) ([]rig.Scenario, error) {
	if pattern == "" {
		pattern = "*"
	}
	var out []rig.Scenario
	for _, s := range All() {
		ok, err := path.Match(pattern, s.Name)
		if err != nil {
			return nil, fmt.Errorf("scenario pattern %q: %w", pattern, err)
		}
		if ok {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no scenario matches %q", pattern)
	}
	return out, nil
}
