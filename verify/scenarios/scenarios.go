// SPDX-License-Identifier: Apache-2.0

// Package scenarios lists every scenario. Each subject has a package of its own below this one.
package scenarios

import (
	"fmt"
	"path"
	"slices"
	"strings"

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

// Matches reports whether a pattern takes a scenario of that name: path.Match; a pattern after ! takes what it does not match, an empty one
// takes all.
func Matches(pattern, name string) (bool, error) {
	if pattern == "" {
		return true, nil
	}
	match, not := strings.CutPrefix(pattern, "!")
	ok, err := path.Match(match, name)
	if err != nil {
		return false, fmt.Errorf("scenario pattern %q: %w", pattern, err)
	}
	return ok != not, nil
}

// Select returns the scenarios that the pattern takes. A pattern that takes none is an error.
func Select(pattern string) ([]rig.Scenario, error) {
	var out []rig.Scenario
	for _, s := range All() {
		ok, err := Matches(pattern, s.Name)
		if err != nil {
			return nil, err
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
