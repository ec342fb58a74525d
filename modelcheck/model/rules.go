// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"slices"
)

// RulesIn are the names of the rules known to be wrong that there are in a mode, in order.
func RulesIn(mode int) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(BadRules())), func(name string) bool {
		return !BadRules()[name].In(mode)
	})
}

// In tells whether a rule is one of a mode. Of those that more than one mode has, Mode I has the hosts' alone.
func (r badRule) In(mode int) bool {
	return r.mode == mode || r.mode == 0 && (mode != 1 || r.engine == 0)
}
