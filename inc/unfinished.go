// SPDX-License-Identifier: Apache-2.0

package inc

// Unfinished is the number of slots of group g, which must exist, that hold some contributions and not all.
func (e *Engine) Unfinished(number int) int {
	g := &e.groups[number]
	if !g.enabled {
		return 0
	}
	n := 0
	for _, s := range g.slotsOf(e) {
		if s.mask != 0 && !s.complete {
			n++
		}
	}
	return n
}
