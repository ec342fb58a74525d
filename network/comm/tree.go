// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"
	"strconv"
	"strings"
)

// Tree is the paper's Tree-x-y: Levels counts the hosts, every switch has Degree children, there are Degree^(Levels−1) ranks. Switches are
// numbered level by level from the root, which is 0; a switch's children are endpoints 0 to Degree−1, its parent is endpoint Degree.
type Tree struct {
	// Levels is at least 2, Degree at least 2.
	Levels, Degree int
}

// maxRanks bounds trees to what a simulation can do anything with.
const maxRanks = 1 << 12

// ParseTree reads "3-2" or "Tree-3-2".
func ParseTree(s string) (Tree, error) {
	x, y, ok := strings.Cut(strings.TrimPrefix(s, "Tree-"), "-")
	levels, err := strconv.Atoi(x)
	degree, err2 := strconv.Atoi(y)
	if !ok || err != nil || err2 != nil {
		return Tree{}, fmt.Errorf("tree %q: must be LEVELS-DEGREE, such as 3-2", s)
	}
	t := Tree{levels, degree}
	return t, t.Validate()
}

// String is the paper's name of it.
func (t Tree) String() string { return fmt.Sprintf("Tree-%d-%d", t.Levels, t.Degree) }

// Validate reports a shape that is none, or far too large.
func (t Tree) Validate() error {
	if t.Levels < 2 || t.Degree < 2 {
		return fmt.Errorf("%s: it takes at least 2 levels, the hosts among them, and degree 2", t)
	}
	ranks := 1
	for range t.Levels - 1 {
		if ranks *= t.Degree; ranks > maxRanks {
			return fmt.Errorf("%s: more than %d ranks", t, maxRanks)
		}
	}
	return nil
}

// Ranks is the number of hosts.
func (t Tree) Ranks() int {
	n := 1
	for range t.Levels - 1 {
		n *= t.Degree
	}
	return n
}

// Switches is the number of switches.
func (t Tree) Switches() int { return t.firstLeaf() + t.Ranks()/t.Degree }

// firstLeaf is the number of switches that have switches below them.
func (t Tree) firstLeaf() int { return (t.Ranks()/t.Degree - 1) / (t.Degree - 1) }

// Leaf reports that the children of switch s are hosts.
func (t Tree) Leaf(s int) bool { return s >= t.firstLeaf() }

// Parent is the switch above s and the number of s among its children; the root has none.
func (t Tree) Parent(s int) (parent, child int, ok bool) {
	if s == 0 {
		return 0, 0, false
	}
	return (s - 1) / t.Degree, (s - 1) % t.Degree, true
}

// Child is the i-th switch below s, which is no leaf.
func (t Tree) Child(s, i int) int { return s*t.Degree + 1 + i }

// Host is the leaf switch of a rank and its endpoint there.
func (t Tree) Host(rank int) (leaf, endpoint int) {
	return t.firstLeaf() + rank/t.Degree, rank % t.Degree
}

// Rank is the rank at endpoint e of leaf s.
func (t Tree) Rank(s, e int) int { return (s-t.firstLeaf())*t.Degree + e }

// Toward is the endpoint of switch s on the way to a rank.
func (t Tree) Toward(s, rank int) int {
	at, e := t.Host(rank)
	for at > s { // parents have lower numbers
		at, e = (at-1)/t.Degree, (at-1)%t.Degree
	}
	if at == s {
		return e
	}
	return t.Degree
}

// edges is the mask of a switch's endpoints.
func (t Tree) edges(s int) uint32 {
	if s == 0 {
		return t.children()
	}
	return t.children() | 1<<t.Degree
}

// children is the mask of a switch's endpoints downwards.
func (t Tree) children() uint32 { return 1<<t.Degree - 1 }
