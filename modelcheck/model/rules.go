// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// RulesIn are the names of the rules known to be wrong that there are in a mode, in order.
func RulesIn(mode int) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(BadRules())), func(name string) bool {
		return !BadRules()[name].In(mode)
	})
}

// Parks tells whether a rule is about parking, and wrong only where switches are parked.
func Parks(rule string) bool { return BadRules()[rule].parks }

// In tells whether a rule is one of a mode.
func (r badRule) In(mode int) bool { return strings.Contains(r.modes, strconv.Itoa(mode)) }
