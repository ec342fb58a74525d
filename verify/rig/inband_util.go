// SPDX-License-Identifier: Apache-2.0

package rig

// AllBut are the same endpoints without c.
func AllBut(who []int, c int) []int {
	var rest []int
	for _, x := range who {
		if x != c {
			rest = append(rest, x)
		}
	}
	return rest
}
