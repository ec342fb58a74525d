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
			lacks := s.missing(tree, over, depth)
			if least >= 0 {
				why.Others++
			}
			if least < 0 || len(lacks) < least {
				least, why.Root, why.Lacks = len(lacks), s.p.net.Nodes[root].Name, lacks
			}
		}
		s.empty = true
	}
	s.empty = false
	switch {
	case least < 0:
		why.Lacks = s.impossible()
	case len(why.Lacks) > mostLacks:
		why.Lacks = append(why.Lacks[:mostLacks], fmt.Sprintf("and %d more", least-mostLacks))
	}
	return why
}

// missing lists what a tree lacks at the least width.
func (s *search) missing(tree []branch, over, depth int) []string {
	k := s.log2N(s.r.Least, depth)
	var all []string
	if over >= 0 {
		n := &s.p.net.Nodes[over]
		for _, b := range tree {
			if b.node == over {
				all = append(all, fmt.Sprintf("%s can have %d below it, %d asked", n.Name, n.Engine.Members, b.children))
			}
		}
	}
	for i, b := range tree {
		n := &s.p.net.Nodes[b.node]
		switch {
		case !n.Host:
			if why := s.lacks(b.node, k); why != "" {
				all = append(all, n.Name+" "+why)
			}
		case s.p.nodes[b.node].down:
			all = append(all, n.Name+" is down")
		}
		if i == 0 {
			continue
		}
		l := s.p.links[b.link]
		room := s.room(b.link)
		switch name := s.p.net.LinkName(b.link); {
		case l.down:
			all = append(all, fmt.Sprintf("the link %s is down", name))
		case room < s.r.Least && room == 0:
			all = append(all, fmt.Sprintf("the link %s is taken by %s", name, strings.Join(s.p.on(b.link), ", ")))
		case room < s.r.Least:
			all = append(all, fmt.Sprintf("the link %s has %d Mbit/s left, %d asked", name, room, s.r.Least))
		}
	}
	return all
}

// on lists the groups that hold some of a link.
func (p *Placer) on(link int) []string {
	var all []string
	for _, name := range p.Groups() {
		if _, ok := p.groups[name].held[link]; ok {
			all = append(all, name)
		}
	}
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
