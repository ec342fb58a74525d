// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"incforge/modelcheck/model"
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
		grown := []*[storeChunk]T{new([storeChunk]T)}
		if old := s.chunks.Load(); old != nil {
			grown = slices.Concat(*old, grown)
		}
		s.chunks.Store(&grown)
	}
	return i, s.at(i)
}

// A table numbers things of one kind by their keys, and keeps of each what follows from the key and the numbers of its images under the
// automorphisms.
type table[K comparable, V any] struct {
	store[V]
	images store[[]uint32]
	ids    map[K]uint32
	perms  []model.Automorphism
	uneven bool // two ways to a thing led to different images
}

func newTable[K comparable, V any](perms []model.Automorphism) table[K, V] {
	return table[K, V]{ids: map[K]uint32{}, perms: perms}
}

// image is the number of the thing that an automorphism makes of thing id.
func (t *table[K, V]) image(id uint32, g int) uint32 { return (*t.images.at(id))[g] }

// intern gives a thing its number. If it is new, it comes in with its images, whose keys image tells; fill makes what follows from a key.
func (t *table[K, V]) intern(key K, image func(g int) K, fill func(K, *V)) uint32 {
	if id, ok := t.ids[key]; ok {
		return id
	}
	ids := make([]uint32, len(t.perms))
	for g := range ids {
		k := image(g)
		id, ok := t.ids[k]
		if !ok {
			var v *V
			id, v = t.add()
			t.images.add()
			t.ids[k] = id
			fill(k, v)
		}
		ids[g] = id
	}
	for g, id := range ids {
		all := make([]uint32, len(ids)) // of the image, in its turn
		for h := range all {
			all[h] = ids[t.perms[h].After[g]]
		}
		switch known := t.images.at(id); {
		case *known == nil:
			*known = all
		case !slices.Equal(*known, all):
			t.uneven = true
		}
	}
	return ids[0]
}

// keys are all that have numbers, in their order.
func (t *table[K, V]) keys() []K {
	keys := make([]K, t.n)
	for k, id := range t.ids {
		keys[id] = k
	}
	return keys
}

// A memo remembers results for good. Reading takes no lock.
type memo[V any] struct{ *xsync.Map[uint64, V] }

func newMemo[V any]() memo[V] { return memo[V]{xsync.NewMap[uint64, V]()} }

// get is the result of a key, which find finds under the system's lock when it is asked for the first time.
func (m memo[V]) get(s *system, key uint64, find func() V) V {
	if v, ok := m.Load(key); ok {
		return v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := m.Load(key); ok {
		return v
	}
	v := find()
	m.Store(key, v)
	return v
}

// hash128 names a state or a part of one.
type hash128 struct{ hi, lo uint64 }

func (h hash128) compare(o hash128) int {
	return cmp.Or(cmp.Compare(h.hi, o.hi), cmp.Compare(h.lo, o.lo))
}

func (h hash128) less(o hash128) bool { return h.hi < o.hi || h.hi == o.hi && h.lo < o.lo }
