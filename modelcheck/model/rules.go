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
func Parks(rule string) bool { return BadRules()[rule].about == parking }

// Ranged tells whether a rule is about the ranges of in-band groups.
func Ranged(rule string) bool { return BadRules()[rule].about == ranges }

// Shows tells whether a model has what a rule is about.
func (c *Config) Shows(rule string) bool {
	switch r := BadRules()[rule]; r.about {
	case parking:
		return c.Park > 0
	case ranges:
		return len(c.Ranges) > 0
	default:
		return len(c.Ranges) == 0 || r.engine == 0
	}
}

// In tells whether a rule is one of a mode.
func (r badRule) In(mode int) bool { return strings.Contains(r.modes, strconv.Itoa(mode)) }

// OfHosts tells whether a rule is one of the hosts.
func OfHosts(rule string) bool { return BadRules()[rule].engine == 0 }
