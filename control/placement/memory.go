// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// span is a run of slots.
type span struct{ base, n int }

// memory is the buffer of an engine: which slots are free. Spans are in order, with something in use between them.
type memory struct {
	free []span
	most int // the longest span
}

func newMemory(slots int) memory { return memory{free: []span{{0, slots}}, most: slots} }

// take takes n slots from the shortest span that has them, so that long ones stay long.
func (m *memory) take(n int) (base int, ok bool) {
	best := -1
	for i, s := range m.free {
		if s.n >= n && (best < 0 || s.n < m.free[best].n) {
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	base = m.free[best].base
	return base, m.claim(base, n)
}

// claim takes the slots from base on, if all are free.
func (m *memory) claim(base, n int) bool {
	i := slices.IndexFunc(m.free, func(s span) bool { return s.base <= base && base+n <= s.base+s.n })
	if i < 0 || n < 1 {
		return false
	}
	s := m.free[i]
	var rest []span
	if base > s.base {
		rest = append(rest, span{s.base, base - s.base})
	}
	if end := s.base + s.n; end > base+n {
		rest = append(rest, span{base + n, end - base - n})
	}
	m.free = slices.Replace(m.free, i, i+1, rest...)
	m.measure()
	return true
}

// give returns slots that were taken.
func (m *memory) give(base, n int) {
	i, _ := slices.BinarySearchFunc(m.free, base, func(s span, at int) int { return s.base - at })
	m.free = slices.Insert(m.free, i, span{base, n})
	if i+1 < len(m.free) && base+n == m.free[i+1].base {
		m.free[i].n += m.free[i+1].n
		m.free = slices.Delete(m.free, i+1, i+2)
	}
	if i > 0 && m.free[i-1].base+m.free[i-1].n == base {
		m.free[i-1].n += m.free[i].n
		m.free = slices.Delete(m.free, i, i+1)
	}
	m.measure()
}

func (m *memory) measure() {
	m.most = 0
	for _, s := range m.free {
		m.most = max(m.most, s.n)
	}
}

// left is the number of free slots.
func (m *memory) left() int {
	n := 0
	for _, s := range m.free {
		n += s.n
	}
	return n
}
