// SPDX-License-Identifier: Apache-2.0

package inc

// Unfinished is the number of slots of group g, which must exist, that hold some contributions and not all. In Modes III and I it is the
// number of slots in use: those, and complete ones that an out endpoint has not acknowledged.
func (e *Engine) Unfinished(number int) int {
	g := &e.groups[number]
	if !g.enabled || g.parked {
		return 0
	}
	if g.messages != nil {
		return g.messages.InUse()
	}
	n := 0
	for _, s := range g.slotsOf(e) {
		if s.partial() || e.params.pipes() && s.mask != 0 {
			n++
		}
	}
	return n
}

// Discarded is the number of slots of group g, which must exist, that were emptied or taken for another PSN while they held some
// contributions and not all, since New. It is 0 as long as hosts keep to their rules (docs/engine.md section 3.3). A start or reset of the
// group discards what it likes and is not counted. In Modes III and I it is 0 whatever hosts do.
func (e *Engine) Discarded(number int) int { return e.groups[number].discarded }

// partial tells whether the slot holds some contributions and not all.
func (s *slot) partial() bool { return s.mask != 0 && !s.complete }

// discard notes that what is in a slot is about to go.
func (g *group) discard(s *slot) {
	if s.partial() {
		g.discarded++
	}
}
