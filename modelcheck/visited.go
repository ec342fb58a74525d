// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"iter"
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
)

type visitedShard struct {
	mu      sync.Mutex
	cells   []uint32 // hash table of entry numbers plus one
	entries store[entry]
	_       [64]byte
}

// entry is a state. The name is whole: the shard's bits are in it too. The one worker that expands the state writes next, which is read
// when all are done.
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
	c := s.cell(name)
	if *c != 0 {
		return (*c-1)<<shardBits | shard, false
	}
	n, e := s.entries.add()
	*e = entry{name: name, parent: parent, next: nextUnknown}
	*c = n + 1
	if size := len(s.cells); 4*int(n) > 3*size {
		s.cells = make([]uint32, 2*size)
		for i := range n + 1 {
			*s.cell(s.entries.at(i).name) = i + 1
		}
	}
	return n<<shardBits | shard, true
}

// cell is where a name is in the hash table, or belongs.
func (s *visitedShard) cell(name hash128) *uint32 {
	mask := uint32(len(s.cells) - 1)
	for i := uint32(name.lo) & mask; ; i = (i + 1) & mask {
		if c := &s.cells[i]; *c == 0 || s.entries.at(*c-1).name == name {
			return c
		}
	}
}

// at is a state by its number.
func (v *visited) at(id uint32) *entry {
	return v.shards[id&(visitedShards-1)].entries.at(id >> shardBits)
}

// size is the number of states.
func (v *visited) size() (n int) {
	for i := range v.shards {
		n += int(v.shards[i].entries.n)
	}
	return n
}

// all is every state by its number.
func (v *visited) all() iter.Seq2[uint32, *entry] {
	return func(yield func(uint32, *entry) bool) {
		for shard := range v.shards {
			s := &v.shards[shard].entries
			for n := range s.n {
				if !yield(n<<shardBits|uint32(shard), s.at(n)) {
					return
				}
			}
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
