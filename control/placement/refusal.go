// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"strings"
)

// Refusal says why a group cannot be placed.
type Refusal struct {
	Group string
	// Root is the root whose tree lacks least; empty if no network of these switches could serve the group.
	Root string
	// Lacks is what its tree lacks, a sentence each.
	Lacks []string
	// Others is how many other roots were looked at.
	Others int
}

func (r *Refusal) Error() string {
	text := strings.Join(r.Lacks, ", ")
	if r.Root == "" {
		return fmt.Sprintf("group %s: %s", r.Group, text)
	}
	text = fmt.Sprintf("group %s: best is the tree below %s, but %s", r.Group, r.Root, text)
	if r.Others > 0 {
		text += fmt.Sprintf(" (%d other roots lack as much or more)", r.Others)
	}
	return text
}

// mostLacks bounds the sentences of a refusal.
const mostLacks = 8

// refusal looks for the tree that the group would have in an empty network and lists what is missing there now.
func (s *search) refusal() *Refusal {
	why := &Refusal{Group: s.r.Group}
	s.empty = true
	least := -1
	for depth := 1; depth <= s.p.net.depths() && least != 0; depth++ {
		for _, root := range s.flood(s.r.Least, depth) {
			s.empty = true
			tree, over := s.grow(root, s.r.Least, depth)
			s.empty = false
			if tree[0].children < 2 || slices.MaxFunc(tree, func(a, b branch) int { return a.dist - b.dist }).dist < depth {
				continue // a lower tree with a stem, or one that was looked at already
			}
			if least >= 0 {
				why.Others++
			}
			lacks := 0
			s.missing(tree, over, depth, func(func() string) bool {
				lacks++
				return least >= 0 && lacks >= least // another tree lacks no more
			})
			if least < 0 || lacks < least {
				least, why.Root, why.Lacks = lacks, s.p.net.Nodes[root].Name, nil
				s.missing(tree, over, depth, func(sentence func() string) bool { // most trees need no sentences, which take time
					why.Lacks = append(why.Lacks, sentence())
					return len(why.Lacks) == mostLacks
				})
			}
		}
		s.empty = true
	}
	s.empty = false
	switch {
	case least < 0:
		why.Lacks = s.impossible()
	case least > mostLacks:
		why.Lacks = append(why.Lacks, fmt.Sprintf("and %d more", least-mostLacks))
	}
	return why
}

// missing says what a tree lacks at the least width, a call each, until say has heard enough.
func (s *search) missing(tree []branch, over, depth int, say func(sentence func() string) (enough bool)) {
	k := s.log2N(s.r.Least, depth)
	for _, b := range tree {
		n := &s.p.net.Nodes[b.node]
		if b.node == over && say(func() string {
			return fmt.Sprintf("%s can have %d below it, %d asked", n.Name, n.Engine.Members, b.children)
		}) {
			return
		}
	}
	for i, b := range tree {
		n := &s.p.net.Nodes[b.node]
		switch {
		case !n.Host && !s.usable(b.node, k):
			if say(func() string { return n.Name + " " + s.lacks(b.node, k) }) {
				return
			}
		case n.Host && s.p.nodes[b.node].down:
			if say(func() string { return n.Name + " is down" }) {
				return
			}
		}
		if i > 0 && s.room(b.link) < s.r.Least && say(func() string { return s.full(b.link) }) {
			return
		}
	}
}

// full says why a link has no room.
func (s *search) full(link int) string {
	name, room := s.p.net.LinkName(link), s.room(link)
	switch {
	case s.p.links[link].down:
		return fmt.Sprintf("the link %s is down", name)
	case room == 0:
		return fmt.Sprintf("the link %s is taken by %s", name, strings.Join(s.p.on(link), ", "))
	}
	return fmt.Sprintf("the link %s has %d Mbit/s left, %d asked", name, room, s.r.Least)
}

// on lists the groups that hold some of a link, in order.
func (p *Placer) on(link int) []string {
	var all []string
	for name, g := range p.groups {
		if _, ok := g.held[link]; ok {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// impossible says what would have to be another network.
func (s *search) impossible() []string {
	var all []string
	k := s.log2N(s.r.Least, 1)
	for _, m := range s.members {
		var reasons []string
		for _, a := range s.p.arcs[m] {
			n := &s.p.net.Nodes[a.to]
			rate := s.p.net.Links[a.link].Mbps
			if why := s.suits(n.Engine, k); why != "" {
				reasons = append(reasons, fmt.Sprintf("%s, above %s, %s", n.Name, s.p.net.Nodes[m].Name, why))
			} else if rate < s.r.Least {
				reasons = append(reasons, fmt.Sprintf("the link %s has %d Mbit/s in all, %d asked", s.p.net.LinkName(a.link), rate, s.r.Least))
			} else {
				reasons = nil
				break
			}
		}
		if len(s.p.arcs[m]) == 0 {
			reasons = []string{s.p.net.Nodes[m].Name + " has no link"}
		}
		all = append(all, reasons...)
		if len(all) > mostLacks {
			break
		}
	}
	if len(all) == 0 {
		return []string{fmt.Sprintf("no switch with engines all the way down reaches all %d members at %d Mbit/s, even if nothing were in use", len(s.members), s.r.Least)}
	}
	return all
}
