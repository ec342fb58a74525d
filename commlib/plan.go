// SPDX-License-Identifier: Apache-2.0

package commlib

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/network/ranges"
)

// stretch is a range of a call with this rank's memory.
type stretch struct {
	ranges.Range
	sends, hears bool
	// send and recv are as long as the range, or shorter by what is padded. One that this rank does not have is nil.
	send, recv []byte
}

// plan checks a request and cuts it into ranges.
func (g *Group) plan(r *Request) ([]stretch, error) {
	if err := g.check(r); err != nil {
		return nil, err
	}
	n, own := len(g.at.Members), g.at.Rank
	root := func(rank int) bool { return rank == own }
	var all []stretch
	switch r.Collective {
	case AllReduce:
		all = g.ranges(AllReduce, 0, r.Type, r.Op, len(r.Send), r.Send, r.Recv)
	case Reduce:
		var out []byte
		if root(r.Root) {
			out = r.Recv
		}
		all = g.ranges(Reduce, r.Root, r.Type, r.Op, len(r.Send), r.Send, out)
	case Broadcast:
		all = g.broadcast(r.Root, r.Send, r.Recv)
	case Barrier:
		all = g.ranges(Barrier, 0, g.at.Types[0], g.at.Ops[0], 0, nil, nil)
	case ReduceScatter:
		size := r.Type.Size()
		for rank := range n {
			first, beyond := Part(len(r.Send)/size, n, rank)
			var out []byte
			if root(rank) {
				out = r.Recv
			}
			all = append(all, g.ranges(Reduce, rank, r.Type, r.Op, (beyond-first)*size, r.Send[first*size:beyond*size], out)...)
		}
	case AllGather:
		part := len(r.Send)
		for rank := range n {
			all = append(all, g.broadcast(rank, r.Send, r.Recv[rank*part:(rank+1)*part])...)
		}
	}
	return all, nil
}

// cut decides how calls are cut into messages. In Mode I a message is a piece of its own to the engines, however many packets it comes in: ranges count messages.
func (g *Group) cut() error {
	e, t := &g.at, &g.tuning
	g.shape = ranges.Shape{MTU: e.PathMTU, Packets: cmp.Or(t.Packets, max(e.Window/4, 1)), RangePackets: cmp.Or(t.RangePackets, ranges.Most), Fixed: e.Fixed != nil}
	s := &g.shape
	switch {
	case e.PathMTU < 4 || e.PathMTU%4 != 0 || e.Window < 1:
		return fmt.Errorf("a path MTU of %d bytes, a window of %d packets", e.PathMTU, e.Window)
	case s.RangePackets < 1 || s.RangePackets > ranges.Most:
		return fmt.Errorf("ranges of %d packets", s.RangePackets)
	case e.Message == 0 && (t.PathMTU != 0 || t.FirstPSN != nil):
		return errors.New("a path MTU and a first PSN of its own: Mode I alone has them")
	case e.Message == 0 && (s.Packets < 1 || s.Packets > e.Window):
		return fmt.Errorf("messages of %d packets in a window of %d", s.Packets, e.Window)
	case e.Message == 0:
		g.window = e.Window / s.Packets
		return nil
	}
	s.MTU, s.Packets, g.window = e.Message, 1, e.Window
	if t.Packets != 0 {
		s.MTU = t.Packets * e.PathMTU
	}
	switch own := g.pathMTU(); {
	case t.Packets < 0 || s.MTU > e.Message:
		return fmt.Errorf("messages of %d packets of %d bytes, they can have %d bytes", t.Packets, e.PathMTU, e.Message)
	case own < e.LeastMTU || own > e.PathMTU || own&(own-1) != 0:
		return fmt.Errorf("a path MTU of %d bytes, it can be a power of two from %d to %d", own, e.LeastMTU, e.PathMTU)
	}
	return nil
}

// pathMTU is that of the queue pair toward the switch.
func (g *Group) pathMTU() int { return cmp.Or(g.tuning.PathMTU, g.at.PathMTU) }

// check refuses what cannot be.
func (g *Group) check(r *Request) error {
	n, c := len(g.at.Members), r.Collective
	bad := func(format string, args ...any) error {
		return fmt.Errorf("group %s: %v: %s", g.at.Name, r, fmt.Sprintf(format, args...))
	}
	switch {
	case !slices.Contains(Collectives(), c):
		return bad("there is no such collective")
	case c.Rooted() && (r.Root < 0 || r.Root >= n):
		return bad("root %d of %d ranks", r.Root, n)
	case c.Reduces() && !slices.Contains(g.at.Types, r.Type):
		return bad("the engines have %v", g.at.Types)
	case c.Reduces() && !slices.Contains(g.at.Ops, r.Op):
		return bad("the engines have %v", g.at.Ops)
	case c.Reduces() && len(r.Send)%r.Type.Size() != 0:
		return bad("%d bytes are no whole number of elements", len(r.Send))
	}
	if want, given := g.room(r), len(r.Recv); want >= 0 && want != given {
		return bad("there is room for %d bytes, %d come", given, want)
	}
	return g.checkFixed(r, bad)
}

// room is how many bytes a rank gets; negative if any number will do.
func (g *Group) room(r *Request) int {
	n, own := len(g.at.Members), g.at.Rank
	switch r.Collective {
	case AllReduce:
		return len(r.Send)
	case Reduce:
		if r.Root == own {
			return len(r.Send)
		}
	case ReduceScatter:
		first, beyond := Part(len(r.Send)/r.Type.Size(), n, own)
		return (beyond - first) * r.Type.Size()
	case AllGather:
		return n * len(r.Send)
	}
	return -1
}

// checkFixed refuses what the group's registers, or the controls, have no room for.
func (g *Group) checkFixed(r *Request, bad func(string, ...any) error) error {
	f := g.at.Fixed
	if f == nil {
		if root := r.Collective.Last(r.Root, len(g.at.Members)); root >= inc.Roots {
			return bad("root %d: controls can name ranks 0 to %d", root, inc.Roots-1)
		}
		return nil
	}
	same := r.Collective == f.Collective && (!r.Collective.Rooted() || r.Root == f.Root) && (!r.Collective.Reduces() || r.Type == f.Type && r.Op == f.Op)
	if same || r.Collective == Barrier && f.Collective == AllReduce {
		return nil
	}
	return bad("the group does nothing but %v, root %d, %v %v", f.Collective, f.Root, f.Type, f.Op)
}

// broadcast sends data as elements, padded: engines take whole elements only.
func (g *Group) broadcast(root int, send, recv []byte) []stretch {
	if root != g.at.Rank {
		send = nil
	} else {
		recv = nil
	}
	t := g.narrow()
	n := max(len(send), len(recv))
	return g.ranges(Broadcast, root, t, g.at.Ops[0], (n+t.Size()-1)/t.Size()*t.Size(), send, recv)
}

// narrow is the type that needs the least padding.
func (g *Group) narrow() Type {
	if f := g.at.Fixed; f != nil {
		return f.Type
	}
	return slices.MinFunc(g.at.Types, func(a, b Type) int { return a.Size() - b.Size() })
}

// ranges cuts n bytes into ranges.
func (g *Group) ranges(kind Collective, root int, t Type, op Op, n int, send, recv []byte) (all []stretch) {
	for _, r := range g.shape.Cut(kind, root, uint8(t), uint8(op), n) {
		all = append(all, stretch{Range: r, sends: r.Sends(g.at.Rank), hears: r.Hears(g.at.Rank), send: slice(send, r.From, r.To), recv: slice(recv, r.From, r.To)})
	}
	return all
}

// slice is what there is of b from from to to.
func slice(b []byte, from, to int) []byte {
	if b == nil {
		return nil
	}
	return b[min(from, len(b)):min(to, len(b))]
}
