// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"sync"
	"sync/atomic"
)

// A store is a list that only grows, read by many without locks while one appends. An index becomes known to readers only through
// something that is itself published safely (a memo, a queue of states), so what it names is complete by then.
type store[T any] struct {
	chunks atomic.Pointer[[]*[storeChunk]T]
	n      uint32 // the writer's
}

const (
	storeBits  = 10
	storeChunk = 1 << storeBits
)

// at is element i, which must exist.
func (s *store[T]) at(i uint32) *T { return &(*s.chunks.Load())[i>>storeBits][i&(storeChunk-1)] }

// add makes a new element, all zero, for the one who may write.
func (s *store[T]) add() (uint32, *T) {
	i := s.n
	s.n++
	if i&(storeChunk-1) == 0 {
		var grown []*[storeChunk]T
		if old := s.chunks.Load(); old != nil {
			grown = append(grown, *old...)
		}
		grown = append(grown, new([storeChunk]T))
		s.chunks.Store(&grown)
	}
	return i, s.at(i)
}

// clear makes the list empty; only before anybody reads.
func (s *store[T]) clear() {
	s.chunks.Store(nil)
	s.n = 0
}

// A memo maps 64-bit keys to 32-bit values. Reading takes no lock: a cell's value is written before its key, and cells never change
// again. A reader that looks at a table just outgrown may miss a new key; it asks again under the writer's lock.
type memo struct {
	table atomic.Pointer[memoTable]
	mu    sync.Mutex
	n     int
}

type memoTable struct {
	mask  uint64
	cells []memoCell
}

type memoCell struct {
	key   atomic.Uint64 // the key plus one; 0 is an empty cell
	value atomic.Uint32
}

// get gives the value of a key, if it is known.
func (m *memo) get(key uint64) (uint32, bool) {
	t := m.table.Load()
	if t == nil {
		return 0, false
	}
	key++
	for i := mix(key) & t.mask; ; i = (i + 1) & t.mask {
		switch t.cells[i].key.Load() {
		case key:
			return t.cells[i].value.Load(), true
		case 0:
			return 0, false
		}
	}
}

// put sets the value of a key; a key has the same value for good.
func (m *memo) put(key uint64, value uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.table.Load()
	if t == nil || 3*m.n > 2*len(t.cells) {
		grown := &memoTable{mask: 1<<10 - 1}
		if t != nil {
			grown.mask = t.mask<<1 | 1
		}
		grown.cells = make([]memoCell, grown.mask+1)
		if t != nil {
			for i := range t.cells {
				if k := t.cells[i].key.Load(); k != 0 {
					grown.insert(k, t.cells[i].value.Load())
				}
			}
		}
		m.table.Store(grown)
		t = grown
	}
	if t.insert(key+1, value) {
		m.n++
	}
}

// insert writes into a free cell; it tells whether the key is new.
func (t *memoTable) insert(key uint64, value uint32) bool {
	for i := mix(key) & t.mask; ; i = (i + 1) & t.mask {
		switch t.cells[i].key.Load() {
		case key:
			return false
		case 0:
			t.cells[i].value.Store(value)
			t.cells[i].key.Store(key)
			return true
		}
	}
}

// mix spreads a key over all bits (the finaliser of splitmix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}
