// SPDX-License-Identifier: Apache-2.0

package placement

import "fmt"

// Policy says how groups share links, and which of the best trees a group gets.
type Policy interface {
	fmt.Stringer
	// Room is what a tree may have of a link with that rate, of which groups that use it hold so much already.
	Room(mbps, held, groups int) int
	// Hold is what a tree of that width takes of a link.
	Hold(mbps, width int) int
	// Pick chooses one of the trees of a front, which is not empty: they become deeper and wider. want is the width that was asked for.
	Pick(front []Candidate, want int) int
}

// Candidate is a tree that could be had.
type Candidate struct {
	// Root is the switch; Others is how many other roots have a tree as good.
	Root   string
	Others int
	Depth  int
	// Mbps is the width. Log2N is the logarithm of the packets kept.
	Mbps, Log2N int

	root int
}

// EdgeDisjoint gives a link to one group alone, and prefers a low root.
type EdgeDisjoint struct{}

func (EdgeDisjoint) String() string { return "edge-disjoint" }

// Room is all of a link that nobody uses.
func (EdgeDisjoint) Room(mbps, _, groups int) int {
	if groups > 0 {
		return 0
	}
	return mbps
}

// Hold is the link.
func (EdgeDisjoint) Hold(mbps, _ int) int { return mbps }

// Pick takes the first.
func (EdgeDisjoint) Pick([]Candidate, int) int { return 0 }

// Spatial shares the rate of a link out, and prefers a wide tree to a low one until it is as wide as was asked.
type Spatial struct{}

func (Spatial) String() string { return "spatial" }

// Room is what is left of the rate.
func (Spatial) Room(mbps, held, _ int) int { return max(mbps-held, 0) }

// Hold is the width.
func (Spatial) Hold(_, width int) int { return width }

// Pick takes the lowest tree that is wide enough, or the widest.
func (Spatial) Pick(front []Candidate, want int) int {
	for i, c := range front {
		if c.Mbps >= want {
			return i
		}
	}
	return len(front) - 1
}

// PolicyOf is the policy of a name; the empty name is spatial.
func PolicyOf(name string) (Policy, error) {
	for _, p := range []Policy{Spatial{}, EdgeDisjoint{}} {
		if name == p.String() || name == "" {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no policy %q: there are %v and %v", name, Spatial{}, EdgeDisjoint{})
}
