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
	"incforge/verify/scenarios/messages"
	"incforge/verify/scenarios/oneway"
	"incforge/verify/scenarios/parking"
	"incforge/verify/scenarios/pipes"
	"incforge/verify/scenarios/registers"
	"incforge/verify/scenarios/resets"
)

// All lists every scenario in the order in which they are run.
func All() []rig.Scenario {
	return slices.Concat(allreduce.Scenarios(), arithmetic.Scenarios(), oneway.Scenarios(), inband.Scenarios(), abuse.Scenarios(), registers.Scenarios(), resets.Scenarios(),
		hosts.Scenarios(), pipes.Scenarios(), messages.Scenarios(), parking.Scenarios())
}

// Matches reports whether patterns, separated by commas, take a scenario of that name: one of them must match, as in path.Match, and none of
// those that begin with !. Where all begin so, or there are none, every other name is taken.
func Matches(patterns, name string) (bool, error) {
	taken, picky := false, false
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern, not := strings.CutPrefix(pattern, "!")
		match, err := path.Match(pattern, name)
		if err != nil {
			return false, fmt.Errorf("scenario pattern %q: %w", pattern, err)
		}
		if match && not {
			return false, nil
		}
		taken, picky = taken || match, picky || !not && pattern != ""
	}
	return taken || !picky, nil
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
