// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"math"
	"slices"
)

// use is how often a flow crosses a link in one direction: a ring may come by several times.
type use struct {
	link  int // directed: 2·link towards the hosts, 2·link+1 away from them
	times float64
}

// flow is something that is sent, at one rate on all its links.
type flow struct {
	id    int
	owner *sent
	uses  []use
	// cap is the most that it can take whatever the links have, in bytes a second; infinite if nothing bounds it.
	cap float64

	left  float64 // bytes still to send at since
	since float64
	rate  float64
	// turn counts the rates that it had: an end that was foreseen at an earlier rate is void.
	turn int
	seen int // the round in which it was gathered last
}

// links shares the rates of directed links among the flows on them.
type links struct {
	rate []float64
	on   [][]*flow // by link: the flows on it, in order of their numbers
	// Scratch of a round of sharing.
	round  int
	seen   []int
	left   []float64
	weight []float64
	dirty  []int // links whose flows changed since the last round
}

func newLinks(rates []float64) *links {
	n := len(rates)
	return &links{rate: rates, on: make([][]*flow, n), seen: make([]int, n), left: make([]float64, n), weight: make([]float64, n)}
}

func byNumber(f *flow, id int) int { return f.id - id }

func (l *links) add(f *flow) {
	for _, u := range f.uses {
		at, _ := slices.BinarySearchFunc(l.on[u.link], f.id, byNumber)
		l.on[u.link] = slices.Insert(l.on[u.link], at, f)
		l.dirty = append(l.dirty, u.link)
	}
}

func (l *links) remove(f *flow) {
	for _, u := range f.uses {
		if at, ok := slices.BinarySearchFunc(l.on[u.link], f.id, byNumber); ok {
			l.on[u.link] = slices.Delete(l.on[u.link], at, at+1)
			l.dirty = append(l.dirty, u.link)
		}
	}
}

// touched are the flows and links that a change since the last call can reach: those that share a link with a flow that changed, those that
// share one with these, and so on. All others keep their rates.
func (l *links) touched() (flows []*flow, used []int) {
	l.round++
	reach := func(link int) {
		if l.seen[link] != l.round {
			l.seen[link] = l.round
			used = append(used, link)
		}
	}
	for _, link := range l.dirty {
		reach(link)
	}
	l.dirty = l.dirty[:0]
	for i := 0; i < len(used); i++ {
		for _, f := range l.on[used[i]] {
			if f.seen == l.round {
				continue
			}
			f.seen = l.round
			flows = append(flows, f)
			for _, u := range f.uses {
				reach(u.link)
			}
		}
	}
	slices.SortFunc(flows, func(a, b *flow) int { return a.id - b.id })
	return flows, used
}

// near tells two shares that differ by rounding alone.
const near = 1 + 1e-12

// fill gives the flows their max-min fair rates by filling all at once until a link is full, then the others, and so on. used are all
// links that they use, and nobody else is on these.
func (l *links) fill(flows []*flow, used []int) {
	for _, link := range used {
		l.left[link], l.weight[link] = l.rate[link], 0
	}
	for _, f := range flows {
		for _, u := range f.uses {
			l.weight[u.link] += u.times
		}
	}
	open := slices.Clone(flows)
	for len(open) > 0 {
		level := math.Inf(1)
		for _, link := range used {
			if l.weight[link] > 0 {
				level = min(level, max(l.left[link], 0)/l.weight[link])
			}
		}
		for _, f := range open {
			level = min(level, f.cap)
		}
		// Which links are full is decided before any flow is taken out: rounding must not depend on their order.
		full := func(f *flow) bool {
			return f.cap <= level*near || slices.ContainsFunc(f.uses, func(u use) bool { return l.seen[u.link] == -l.round })
		}
		for _, link := range used {
			if l.weight[link] > 0 && max(l.left[link], 0)/l.weight[link] <= level*near {
				l.seen[link] = -l.round
			}
		}
		rest := open[:0]
		for _, f := range open {
			if !full(f) {
				rest = append(rest, f)
				continue
			}
			f.rate = level
			for _, u := range f.uses {
				l.left[u.link] -= u.times * level
				l.weight[u.link] -= u.times
			}
		}
		open = rest
	}
}
