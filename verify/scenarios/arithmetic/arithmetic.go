// SPDX-License-Identifier: Apache-2.0

// Package arithmetic has the scenarios of element types, operations, orders of addition and the payload memory's error correction.
package arithmetic

import (
	"slices"

	"incforge/contract"
	"incforge/verify/arith"
	"incforge/verify/rig"
)

// Scenarios lists them.
func Scenarios() []rig.Scenario {
	return []rig.Scenario{
		{Name: "arith-types", Doc: "every type, operation and byte order: hard values, several packets, all endpoints", Run: types},
		{Name: "arith-single", Doc: "what one endpoint alone contributes leaves bit for bit", Run: single},
		{Name: "arith-order", Doc: "the same contributions in many orders: the fixed tree's bits, or the sum in the order of acceptance", Run: orders},
		{Name: "arith-hazard", Doc: "contributions as close as they can be, to one slot, slots in turn, two slots again and again: none is lost or added twice",
			Run: hazards},
		{Name: "arith-length", Doc: "odd numbers of elements, beats used in part, pad", Run: lengths},
		{Name: "arith-groups", Doc: "groups that compute different things, interleaved packet by packet", Needs: rig.NeedGroups(2), Run: groups},
		{Name: "arith-pace", Doc: "a long result of the fixed tree leaves in the promised number of cycles", Needs: needPace, Run: pace},
		{Name: "arith-illegal", Doc: "settings that are not included or do not fit stay disabled, other groups stay exact", Run: illegal},
		{Name: "ecc", Doc: "errors written into the payload memory: one bit is corrected, two spoil their own slot until it is recycled, and stop a group of Mode I", Needs: rig.NeedECC,
			Run: ecc},
	}
}

// contributors is how many endpoints of a group can contribute at once, the one that is meant for the parent among them.
func contributors(t *rig.T) int { return t.Children() + 1 }

// oneOfEach is a kind for each element type; the operation and byte order change from call to call.
func oneOfEach(t *rig.T) []arith.Kind {
	var all []arith.Kind
	for d := range arith.DType(len(contract.Elements())) {
		list := slices.DeleteFunc(t.Fitting(1), func(k arith.Kind) bool { return k.DType != d })
		if len(list) > 0 {
			all = append(all, list[t.Turn%len(list)])
		}
	}
	t.Turn++
	return all
}
