// SPDX-License-Identifier: Apache-2.0

package params

import "slices"

// stageMHz returns the highest clock in MHz that an adder keeps at 1, 2, … stages. This is the only place that has the figures.
// With a floating-point type they are those measured in hdl/lanes/README.md: on asic the shorter period of the two ways of mapping,
// less 10 %; on fpga levels of LUTs at 0.45 ns and 0.5 ns for a flop, which only a vendor's tool can confirm. The integer adder's are
// estimates but for one stage on fpga, which is what an ECP5 finds of mini placed and routed (docs/synthesis.md): the operands come out of block RAM in
// the same cycle. It needs no third stage: with two it is faster than any clock that clock_mhz takes.
func stageMHz(t Technology, float bool) []int {
	switch {
	case t == ASIC && float:
		return []int{600, 1000, 1170, 1710, 1820, 1820}
	case t == ASIC:
		return []int{1000, maxClockMHz}
	case float:
		return []int{80, 160, 160, 270, 270, 310}
	default:
		return []int{110, maxClockMHz}
	}
}

// resolveStages returns the number of stages of an adder: as given, or the fewest that keep the clock. ok is false when none do.
func (p Params) resolveStages() (stages int, ok bool) {
	if p.AdderStages > 0 {
		return p.AdderStages, true
	}
	i := slices.IndexFunc(stageMHz(p.Technology, p.hasFloat()), func(mhz int) bool { return mhz >= p.ClockMHz })
	return i + 1, i >= 0
}

// hasFloat tells that a floating-point type is built in, hasWide one that is kept wider than it is sent.
func (p Params) hasFloat() bool {
	return slices.ContainsFunc(p.DTypes, func(t DType) bool { return t.Element().Float() })
}

func (p Params) hasWide() bool { return slices.ContainsFunc(p.DTypes, DType.Wide) }
