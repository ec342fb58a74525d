// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"math/bits"
	"sync"
)

// visited is the set of states seen, by their 128-bit names, with what the search must remember of each: where it was reached from
// and one way on. States are numbered; a number's low bits name its shard.
type visited struct {
	shards [visitedShards]visitedShard
}

const (
	shardBits     = 8
	visitedShards = 1 << shardBits
	entryBits     = 13
	entryChunk    = 1 << entryBits
)

type visitedShard struct {
	mu      sync.Mutex
	cells   []uint32 // hash table of entry numbers plus one
	entries [][]entry
	n       uint32
	levels  []uint32 // how many entries there were at the end of each level
	_       [64]byte
}

// entry is a state. The name is whole: the shard's bits are in it too.
type entry struct {
	name   hash128
	parent uint32
	next   uint32
}

// Values of entry.next that are no state.
const (
	nextUnknown = ^uint32(0) - iota
	nextMany    // quiescent: the edges are in search.edges
	nextDone    // nothing left to do, all done
	nextNone    // broken
	nextLimit
)

// bytesPerState is what a state costs in memory, at the average load of the table.
const bytesPerState = 24 + 6

func newVisited() *visited {
	v := &visited{}
	for i := range v.shards {
		v.shards[i].cells = make([]uint32, 64)
	}
	return v
}

// insert adds a state and tells its number, and whether it is new.
func (v *visited) insert(name hash128, parent uint32) (uint32, bool) {
	shard := uint32(name.hi >> (64 - shardBits))
	s := &v.shards[shard]
	s.mu.Lock()
	defer s.mu.Unlock()
	mask := uint32(len(s.cells) - 1)
	i := uint32(name.lo) & mask
	for ; s.cells[i] != 0; i = (i + 1) & mask {
		n := s.cells[i] - 1
		if s.entries[n>>entryBits][n&(entryChunk-1)].name == name {
			return n<<shardBits | shard, false
		}
	}
	n := s.n
	if n&(entryChunk-1) == 0 {
		s.entries = append(s.entries, make([]entry, entryChunk))
	}
	s.entries[n>>entryBits][n&(entryChunk-1)] = entry{name: name, parent: parent, next: nextUnknown}
	s.n++
	s.cells[i] = s.n
	if 4*s.n > 3*uint32(len(s.cells)) {
		s.grow()
	}
	return n<<shardBits | shard, true
}

// find is the number of a state, if it is there; not while others insert.
func (v *visited) find(name hash128) (uint32, bool) {
	shard := uint32(name.hi >> (64 - shardBits))
	s := &v.shards[shard]
	mask := uint32(len(s.cells) - 1)
	for i := uint32(name.lo) & mask; s.cells[i] != 0; i = (i + 1) & mask {
		if n := s.cells[i] - 1; s.entries[n>>entryBits][n&(entryChunk-1)].name == name {
			return n<<shardBits | shard, true
		}
	}
	return 0, false
}

func (s *visitedShard) grow() {
	cells := make([]uint32, 2*len(s.cells))
	mask := uint32(len(cells) - 1)
	for n := range s.n {
		i := uint32(s.entries[n>>entryBits][n&(entryChunk-1)].name.lo) & mask
		for cells[i] != 0 {
			i = (i + 1) & mask
		}
		cells[i] = n + 1
	}
	s.cells = cells
}

// at is a state by its number. Its next is written by the one worker that expands it, and read when all are done.
func (v *visited) at(id uint32) *entry {
	s := &v.shards[id&(visitedShards-1)]
	n := id >> shardBits
	return &s.entries[n>>entryBits][n&(entryChunk-1)]
}

// setNext is at(id).next = next while others insert, which may move the list of chunks.
func (v *visited) setNext(id, next uint32) {
	s := &v.shards[id&(visitedShards-1)]
	n := id >> shardBits
	s.mu.Lock()
	s.entries[n>>entryBits][n&(entryChunk-1)].next = next
	s.mu.Unlock()
}

// size is the number of states.
func (v *visited) size() int {
	n := 0
	for i := range v.shards {
		n += int(v.shards[i].n)
	}
	return n
}

// endLevel marks what there is now as all that is reached in so many steps.
func (v *visited) endLevel() {
	for i := range v.shards {
		v.shards[i].levels = append(v.shards[i].levels, v.shards[i].n)
	}
}

// level is the smallest number of steps to a state.
func (v *visited) level(id uint32) int {
	n := id >> shardBits
	for l, end := range v.shards[id&(visitedShards-1)].levels {
		if n < end {
			return l
		}
	}
	return len(v.shards[0].levels)
}

// all calls f for each state.
func (v *visited) all(f func(id uint32, e *entry)) {
	for shard := range v.shards {
		s := &v.shards[shard]
		for n := range s.n {
			f(n<<shardBits|uint32(shard), &s.entries[n>>entryBits][n&(entryChunk-1)])
		}
	}
}

// collision is the probability, at most, that any two of n states have the same name of 128 bits, as a power of two: names are as good
// as random.
func collision(n int) int {
	if n < 2 {
		return -128
	}
	return 2*bits.Len(uint(n)) - 1 - 128
}
