// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"incforge/contract"
)

// search looks for trees of one request. What it finds is there as long as nothing else is placed.
type search struct {
	p       *Placer
	r       Request
	members []int
	// fits has, by engine of the Placer, what the group needs of it.
	fits []fit
	// empty: as if no group were placed and nothing were down. A refusal compares.
	empty bool

	// The flood, by node: which members were heard, and which of them are news since the last step. Words of a node lie together.
	words       int
	heard, news []uint64
	next        []uint64
	touched     []bool
	list        []int // the nodes touched
}

// fit is what a group needs of an engine: the slots of a packet, or message, and the largest logarithm of packets that there can be; none if
// the engine cannot serve it.
type fit struct{ slots, most int }

// search checks a request.
func (p *Placer) search(r Request) (*search, error) {
	bad := func(format string, args ...any) (*search, error) {
		return nil, fmt.Errorf("group %s: %s", r.Group, fmt.Sprintf(format, args...))
	}
	if r.Least == 0 {
		r.Least = r.Mbps
	}
	switch {
	case r.Policy == nil:
		return bad("no policy")
	case len(r.Members) < 2:
		return bad("%d members: a group has at least 2", len(r.Members))
	case r.Mbps < 1 || r.Least < 1 || r.Least > r.Mbps:
		return bad("a width of %d Mbit/s, at least %d", r.Mbps, r.Least)
	case r.MTU < 4 || r.MTU%4 != 0:
		return bad("an MTU of %d bytes: it must be a multiple of 4", r.MTU)
	case r.Mode == 1 && (bits.OnesCount(uint(r.MTU)) != 1 || bits.OnesCount(uint(r.Message)) != 1 || r.Message < r.MTU):
		return bad("an MTU of %d bytes, messages of %d: in Mode I both must be powers of two, and a message as long as a packet", r.MTU, r.Message)
	case r.Mode != 1 && r.Message != 0:
		return bad("messages of %d bytes: Mode I alone has them", r.Message)
	case int(r.DType) >= len(contract.ElementNames()):
		return bad("no element type has the code %d", r.DType)
	}
	s := &search{p: p, r: r}
	seen := map[int]bool{}
	for _, name := range r.Members {
		n, ok := p.names[name]
		switch {
		case !ok || !p.net.Nodes[n].Host:
			return nil, fmt.Errorf("group %s: host %s: %w", r.Group, name, ErrUnknown)
		case seen[n]:
			return bad("host %s is a member twice", name)
		}
		seen[n] = true
		s.members = append(s.members, n)
	}
	for _, e := range p.engines {
		f := fit{slots: s.slots(e, 0)}
		for s.suits(e, f.most+1) == "" {
			f.most++
		}
		s.fits = append(s.fits, f)
	}
	s.words = (len(s.members) + 63) / 64
	s.heard, s.news = make([]uint64, s.words*len(p.arcs)), make([]uint64, s.words*len(p.arcs))
	s.next, s.touched = make([]uint64, s.words*len(p.arcs)), make([]bool, len(p.arcs))
	return s, nil
}

// trip is the round trip that the window has to cover: of the whole tree in Mode II, of a hop in Modes III and I.
func (s *search) trip(depth int) time.Duration {
	if s.r.Mode == 3 || s.r.Mode == 1 {
		return s.p.net.HopRTT
	}
	return s.p.net.HopRTT * time.Duration(depth)
}

// width is what 2^k packets kept, or messages, a window of half of them, let through in a tree of that depth, in Mbit/s.
func (s *search) width(k, depth int) int {
	return int(int64(max(s.r.MTU, s.r.Message)) * 8 * 1000 << (k - 1) / max(s.trip(depth).Nanoseconds(), 1))
}

// log2N is the least k that lets so much through.
func (s *search) log2N(mbps, depth int) int {
	k := 1
	for k < 31 && s.width(k, depth) < mbps {
		k++
	}
	return k
}

// room is what the group may have of a link.
func (s *search) room(link int) int {
	l := s.p.links[link]
	if s.empty {
		l = linkState{}
	}
	if l.down {
		return 0
	}
	return s.r.Policy.Room(s.p.net.Links[link].Mbps, l.held, l.groups)
}

// suits tells whether an engine can serve the group at all; the text says why not.
func (s *search) suits(e *contract.Params, k int) string {
	switch r := s.r; {
	case e == nil:
		return "has no engine"
	case e.Mode != r.Mode:
		return fmt.Sprintf("has an engine of mode %d, %d asked", e.Mode, r.Mode)
	case e.MTUBytes < r.MTU:
		return fmt.Sprintf("takes packets of %d bytes, %d asked", e.MTUBytes, r.MTU)
	case e.Mode == 1 && e.LeastPathMTU() > r.MTU:
		return fmt.Sprintf("takes a path MTU of %d bytes at least, %d asked", e.LeastPathMTU(), r.MTU)
	case e.Mode == 1 && e.MessageBytes < r.Message:
		return fmt.Sprintf("takes messages of %d bytes, %d asked", e.MessageBytes, r.Message)
	case r.InBand && !e.InBand:
		return "has an engine without in_band"
	case !r.InBand && e.DTypeMask()>>r.DType&1 == 0:
		return fmt.Sprintf("has an engine without %s", contract.ElementNames()[r.DType])
	case k > e.MaxLog2N() || s.slots(e, k) > e.Slots():
		if n := e.EngineCount(); n > 1 {
			return fmt.Sprintf("has %s in each of its %d engines, %s asked of one", kib(e, e.Slots()), n, kib(e, s.slots(e, k)))
		}
		return fmt.Sprintf("has %s in all, %s asked", kib(e, e.Slots()), kib(e, s.slots(e, k)))
	}
	return ""
}

// slots is what 2^k packets of the group, or messages, take in an engine.
func (s *search) slots(e *contract.Params, k int) int { return e.Units(s.r.DType, s.r.InBand) << k }

// lacks says why a switch cannot take the group with 2^k packets; it is empty if it can.
func (s *search) lacks(node, k int) string {
	e := s.p.net.Nodes[node].Engine
	if why := s.suits(e, k); why != "" || s.empty {
		return why
	}
	n := &s.p.nodes[node]
	switch {
	case n.down:
		return "is down"
	case n.groups() >= e.AllGroups():
		return fmt.Sprintf("serves %d groups and can serve no more", n.groups())
	case s.inTurn(node):
		if shared := s.p.net.Nodes[node].Shared; shared < s.slots(e, k) {
			return fmt.Sprintf("shares %s, %s asked", kib(e, shared), kib(e, s.slots(e, k)))
		}
	case !s.takesSome(node, s.slots(e, k)):
		return s.noEngine(node, s.slots(e, k))
	}
	return ""
}

// usable is lacks without its words, which cost time.
func (s *search) usable(node, k int) bool {
	e := s.p.engine[node]
	if e < 0 || k > s.fits[e].most {
		return false
	}
	return s.empty || !s.p.nodes[node].down && s.takesSome(node, s.fits[e].slots<<k)
}

// inTurn tells whether the group has its slots at a switch in turn.
func (s *search) inTurn(node int) bool { return s.r.InTurn && s.p.net.Nodes[node].Shared > 0 }

// slotBytes is what a slot of an engine holds.
func slotBytes(e *contract.Params) int { return e.SlotBytes() * e.Planes() }

// kib is so many slots of an engine in words.
func kib(e *contract.Params, slots int) string {
	bytes := slots * slotBytes(e)
	if bytes%1024 != 0 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d KiB", bytes/1024)
}

// downward tells whether a tree may go down from one node to another.
func (p *Placer) downward(from, to int) bool {
	a, b := &p.net.Nodes[from], &p.net.Nodes[to]
	return !a.Host && (b.Host || !p.net.Levels || a.Level > b.Level)
}

// flood tells every switch which members it can reach within so many links, over links that have room for a width and switches that have slots
// for it. It returns the switches that reach all of them.
func (s *search) flood(mbps, depth int) []int {
	for _, n := range s.list {
		clear(s.heard[n*s.words : (n+1)*s.words])
		clear(s.news[n*s.words : (n+1)*s.words])
		s.touched[n] = false
	}
	s.list = s.list[:0]
	k := s.log2N(mbps, depth)
	front := slices.Clone(s.members)
	for i, m := range s.members {
		if s.p.nodes[m].down && !s.empty {
			return nil
		}
		s.touch(m)
		s.news[m*s.words+i/64] |= 1 << (i % 64)
	}
	for range depth {
		front = s.step(front, mbps, k)
	}
	var roots []int
	for _, n := range s.list {
		if !s.p.net.Nodes[n].Host && s.hearsAll(n) {
			roots = append(roots, n)
		}
	}
	return roots
}

func (s *search) touch(n int) {
	if !s.touched[n] {
		s.touched[n] = true
		s.list = append(s.list, n)
	}
}

func (s *search) hearsAll(n int) bool {
	heard := 0
	for _, w := range s.heard[n*s.words : (n+1)*s.words] {
		heard += bits.OnesCount64(w)
	}
	return heard == len(s.members)
}

// step passes the news of the nodes in front on by a link, all at once, and returns those that heard any.
func (s *search) step(front []int, mbps, k int) []int {
	var reached []int
	for _, from := range front {
		news := s.news[from*s.words : (from+1)*s.words]
		for _, a := range s.p.arcs[from] {
			if !s.p.downward(a.to, from) || s.room(a.link) < mbps || !s.usable(a.to, k) {
				continue
			}
			heard, next := s.heard[a.to*s.words:], s.next[a.to*s.words:]
			was, is := uint64(0), uint64(0)
			for i, w := range news {
				was |= next[i]
				next[i] |= w &^ heard[i]
				is |= next[i]
			}
			if was == 0 && is != 0 {
				reached = append(reached, a.to)
				s.touch(a.to)
			}
		}
	}
	for _, n := range front {
		clear(s.news[n*s.words : (n+1)*s.words])
	}
	for _, n := range reached {
		for i := n * s.words; i < (n+1)*s.words; i++ {
			s.heard[i] |= s.next[i]
			s.news[i], s.next[i] = s.next[i], 0
		}
	}
	return reached
}

// widths are all widths from the least to the wanted one that a tree of a depth can have, in order: the wanted one itself, what links have
// room for, and what powers of two of packets let through. There are none if not even the least can be had.
func (s *search) widths(depth int) []int {
	if len(s.flood(s.r.Least, depth)) == 0 {
		return nil
	}
	all := []int{s.r.Mbps}
	for _, n := range s.list {
		for _, a := range s.p.arcs[n] {
			if s.touched[a.to] {
				all = append(all, s.room(a.link))
			}
		}
	}
	for k := 1; k < 31; k++ {
		all = append(all, s.width(k, depth))
	}
	all = slices.DeleteFunc(all, func(w int) bool { return w < s.r.Least || w > s.r.Mbps })
	slices.Sort(all)
	return slices.Compact(all)
}

// best is the widest tree of a depth at most so large; ok is false if there is none.
func (s *search) best(depth int) (c Candidate, ok bool) {
	if c, ok = s.at(s.r.Mbps, depth); ok {
		return c, true
	}
	widths := s.widths(depth)
	lo, hi := 0, len(widths) // below lo there are trees, from hi on there are none
	for lo < hi {
		mid := (lo + hi) / 2
		if found, yes := s.at(widths[mid], depth); yes {
			c, ok, lo = found, true, mid+1
		} else {
			hi = mid
		}
	}
	return c, ok
}

// at is the best tree of a width: its root is the one with the most slots left, or the fewest that others have in turn, of equals the first.
func (s *search) at(mbps, depth int) (c Candidate, ok bool) {
	roots := s.flood(mbps, depth)
	left := make(map[int]int, len(roots))
	for _, root := range roots {
		if !s.empty {
			left[root] = s.left(root, s.log2N(mbps, depth))
		}
	}
	slices.SortFunc(roots, func(a, b int) int { return cmp.Or(left[b]-left[a], a-b) })
	for _, root := range roots {
		if _, over := s.grow(root, mbps, depth); over < 0 {
			return Candidate{Root: s.p.net.Nodes[root].Name, Others: len(roots) - 1, Depth: depth, Mbps: mbps, Log2N: s.log2N(mbps, depth), root: root}, true
		}
	}
	return c, false
}

// front are the trees that no other beats, from the lowest up.
func (s *search) front() []Candidate {
	var all []Candidate
	for depth := 1; depth <= s.p.net.depths(); depth++ {
		c, ok := s.best(depth)
		if !ok || len(all) > 0 && c.Mbps <= all[len(all)-1].Mbps {
			continue
		}
		all = append(all, c)
		if c.Mbps == s.r.Mbps {
			break
		}
	}
	return all
}
