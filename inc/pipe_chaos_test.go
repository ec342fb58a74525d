// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"incforge/roce"
)

// A small network of Mode III engines and hosts in which every link loses, repeats and reorders packets and timers run out too early. Hosts
// are plain RC, as in chaos_test.go, and know nothing of pipes.

// pipeHost is a NIC with a script: what it sends and what it is to get, range after range.
type pipeHost struct {
	node, end int // its switch and endpoint

	out     []roce.Packet // to be sent: opcode, immediate, payload
	outEnds []int         // where ranges end in out
	next    int           // the first of out not sent since the last time it went back
	unacked int

	want     []roce.Packet
	wantEnds []int
	got      int
	nakSent  bool
	noRecv   int  // so many times more it has no receive posted
	waits    bool // it was told that somebody is not ready

	at int // its range
}

// done tells whether the host has nothing left to do.
func (h *pipeHost) done() bool { return h.unacked == len(h.out) && h.got == len(h.want) }

// advance lets a host go on to the next range when its part of this one is complete.
func (h *pipeHost) advance() {
	for h.at+1 < len(h.outEnds) && h.unacked == h.outEnds[h.at] && h.got == h.wantEnds[h.at] {
		h.at++
	}
}

// pipeLink is a direction of a link: its packets are on their way into a node's endpoint, or to the host there.
type pipeLink struct {
	host    *pipeHost
	node    int
	end     int
	packets []roce.Packet
}

// pipeNet is a network under test.
type pipeNet struct {
	t      require.TestingT
	r      *rand.Rand
	start  roce.PSN
	nodes  []*Engine
	spare  []*Engine // of the same configuration, to be put into the nodes' states
	hosts  []*pipeHost
	links  []*pipeLink
	into   map[[2]int]*pipeLink // by node and endpoint
	away   map[[2]int]*pipeLink // from there
	window int
	chance int // one packet in so many is lost, one repeated, one overtakes; 0 for none
	early  bool
	auto   bool
	clock  Time
	events int
}

// shape of the trees: for each node the far ends of its endpoints, ≥ 0 a host, otherwise ^node; endpoint 4 leads up.
func pipeTrees() map[string][][]int {
	return map[string][][]int{
		"star":   {{0, 1, 2}},
		"pair":   {{0, 1}},
		"chain":  {{^1, 0}, {1, 2}},
		"tree":   {{^1, ^2}, {0, 1}, {2, 3}},
		"uneven": {{^1, 0, ^2}, {1, 2, 3}, {4}},
	}
}

// newPipeNet builds a tree with fixed or in-band groups. toward gives, for a fixed Reduce or Broadcast, the root rank.
func newPipeNet(t testing.TB, r *rand.Rand, tree [][]int, params Params, g Group, root int) *pipeNet {
	n := &pipeNet{t: t, r: r, start: g.Start, into: map[[2]int]*pipeLink{}, away: map[[2]int]*pipeLink{}}
	parent := make([]int, len(tree)) // endpoint of the node above
	above := make([]int, len(tree))
	ranks := 0
	link := func(node, end int, host *pipeHost, toNode, toEnd int) {
		l := &pipeLink{host: host, node: toNode, end: toEnd}
		n.links = append(n.links, l)
		n.away[[2]int{node, end}] = l
		if host == nil {
			n.into[[2]int{toNode, toEnd}] = l
		}
	}
	for node, ends := range tree {
		for end, far := range ends {
			if far >= 0 {
				ranks = max(ranks, far+1)
			} else {
				parent[^far], above[^far] = end, node
			}
		}
	}
	n.hosts = make([]*pipeHost, ranks)
	for node, ends := range tree {
		for end, far := range ends {
			if far >= 0 {
				n.hosts[far] = &pipeHost{node: node, end: end}
				link(node, end, n.hosts[far], 0, 0)
				n.into[[2]int{node, end}] = &pipeLink{node: node, end: end}
				n.links = append(n.links, n.into[[2]int{node, end}])
			} else {
				link(node, end, nil, ^far, 4)
				link(^far, 4, nil, node, end)
			}
		}
	}
	toward := func(node, rank int) int { // the endpoint of a node that leads to a rank
		at := n.hosts[rank].node
		if at == node {
			return n.hosts[rank].end
		}
		for at != 0 {
			if above[at] == node {
				return parent[at]
			}
			at = above[at]
		}
		return 4
	}
	for node, ends := range tree {
		settings := g
		settings.InMask = 1<<len(ends) - 1
		settings.OutMask = settings.InMask
		settings.AckMask = 0x1F
		settings.Parent, settings.HasParent = 4, node != 0
		for rank := range n.hosts {
			settings.Route[rank] = Route{Valid: true, Endpoint: uint8(toward(node, rank))}
		}
		if g.Collective == CollectiveReduce || g.Collective == CollectiveBroadcast {
			all := settings.InMask
			if node != 0 {
				all |= 1 << 4
			}
			settings.Parent, settings.HasParent = toward(node, root), true
			settings.InMask = all &^ (1 << settings.Parent)
			settings.OutMask = settings.InMask
		}
		for _, into := range []*[]*Engine{&n.nodes, &n.spare} {
			*into = append(*into, newWorld(t, params, settings).e)
		}
	}
	return n
}

// script appends a range to what the hosts do: a collective, its control if it has one, and its packets.
func (n *pipeNet) script(c Control, inBand, bySeveral bool) {
	offset := len(n.hosts[0].outEnds) * 1000 // contributions are never the same twice
	var packets []roce.Packet
	if inBand {
		packets = append(packets, roce.Packet{Op: roce.SendOnlyImm, Imm: c.Immediate()})
	}
	for i := range c.Packets {
		p := roce.Packet{Op: roce.SendOnly}
		if bySeveral {
			p.Op = []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLast}[i%3]
		}
		packets = append(packets, p)
	}
	oneWay := c.Collective == CollectiveReduce || c.Collective == CollectiveBroadcast
	for rank, h := range n.hosts {
		isRoot := rank == int(c.Root)
		for i, p := range packets {
			data := !inBand || i > 0
			if !oneWay || isRoot == (c.Collective == CollectiveBroadcast) {
				if data && c.Collective != CollectiveBarrier {
					p.Payload = contribution(rank, roce.PSN(offset+i), 2)
				}
				h.out = append(h.out, p)
			}
			if !oneWay || isRoot == (c.Collective == CollectiveReduce) {
				if data && c.Collective != CollectiveBarrier {
					sum := make([]int32, 2)
					for from := range n.hosts {
						if oneWay && (from == int(c.Root)) != (c.Collective == CollectiveBroadcast) {
							continue
						}
						for k := range sum {
							sum[k] += value(from, roce.PSN(offset+i), k)
						}
					}
					p.Payload = le(sum...)
				}
				h.want = append(h.want, p)
			}
		}
		h.outEnds, h.wantEnds = append(h.outEnds, len(h.out)), append(h.wantEnds, len(h.want))
	}
}

// push puts a packet on a link, where it may be lost, repeated, or overtake others.
func (n *pipeNet) push(l *pipeLink, p roce.Packet) {
	fate := -1
	if n.chance > 0 {
		fate = n.r.IntN(n.chance)
	}
	if fate == 0 {
		return
	}
	for copies := 0; copies < 1 || copies == 1 && fate == 1; copies++ {
		l.packets = append(l.packets, p)
	}
	if last := len(l.packets) - 1; fate == 2 && last > 0 {
		i := n.r.IntN(last)
		l.packets[i], l.packets[last] = l.packets[last], l.packets[i]
	}
}

// leave puts what leaves a node on its links.
func (n *pipeNet) leave(node int, outs []Out) {
	e := n.nodes[node]
	for _, o := range outs {
		require.False(n.t, o.Bypass)
		end := int(o.Packet.DestQP-0x1100) % e.params.EPS()
		n.push(n.away[[2]int{node, end}], o.Packet)
	}
	require.NoError(n.t, e.CheckInvariants())
	require.NoError(n.t, e.Counters().CheckPipeIdentities())
	if n.r.IntN(20) == 0 && !n.auto { // the engine is put away and another one goes on
		spare := n.spare[node]
		state := e.AppendState(nil)
		require.NoError(n.t, spare.Restore(state))
		require.Equal(n.t, state, spare.AppendState(nil))
		require.Equal(n.t, e.Actions(nil), spare.Actions(nil))
		spare.counters = e.counters
		n.nodes[node], n.spare[node] = spare, e
	}
}

// arrive lets the packet at the head of a link arrive.
func (n *pipeNet) arrive(l *pipeLink) {
	p := l.packets[0]
	l.packets = l.packets[1:]
	if l.host != nil {
		n.receive(l.host, p)
		return
	}
	e := n.nodes[l.node]
	w := &world{e: e}
	in := w.from(0, l.end)
	in.Op, in.PSN, in.Imm, in.Syndrome, in.MSN, in.Payload = p.Op, p.PSN, p.Imm, p.Syndrome, p.MSN, p.Payload
	n.leave(l.node, e.Step(n.clock, l.end, in))
}

// receive is what a host does with a packet.
func (n *pipeNet) receive(h *pipeHost, p roce.Packet) {
	answer := func(psn int, syndrome uint8) {
		n.push(n.into[[2]int{h.node, h.end}], roce.Packet{Op: roce.Acknowledge, PSN: n.start.Add(psn), Syndrome: syndrome})
	}
	at := p.PSN.Diff(n.start)
	switch {
	case p.Op == roce.CNP:
	case p.Op == roce.Acknowledge:
		upTo := at
		if p.Syndrome == roce.AckSyndrome {
			upTo++
		}
		require.LessOrEqual(n.t, upTo, len(h.out))
		h.unacked = max(h.unacked, upTo)
		if p.Syndrome != roce.AckSyndrome && upTo == h.unacked {
			h.next, h.waits = upTo, p.Syndrome != roce.NAKSequence
		}
		h.next = max(h.next, h.unacked)
		h.advance()
	case at < h.got:
		answer(h.got-1, roce.AckSyndrome)
	case at > h.got:
		if !h.nakSent {
			h.nakSent = true
			answer(h.got, roce.NAKSequence)
		}
	case h.noRecv > 0 || at >= h.wantEnds[h.at]:
		h.noRecv = max(0, h.noRecv-1)
		h.nakSent = true
		answer(at, roce.RNRSyndrome|1)
	default:
		h.nakSent = false
		want := h.want[h.got]
		require.Equal(n.t, said{What: want.Op.String(), Imm: want.Imm, Payload: string(want.Payload)},
			said{What: p.Op.String(), Imm: p.Imm, Payload: string(p.Payload)}, "packet %d of host at endpoint %d of node %d", h.got, h.end, h.node)
		h.got++
		if n.r.IntN(3) != 0 || h.got == h.wantEnds[h.at] {
			answer(h.got-1, roce.AckSyndrome)
		}
		h.advance()
	}
}

// maySend tells whether a host may send a packet.
func (n *pipeNet) maySend(h *pipeHost) bool {
	return !h.waits && h.next-h.unacked < n.window && h.next < h.outEnds[h.at]
}

// sendOne lets a host send a packet.
func (n *pipeNet) sendOne(h *pipeHost) {
	p := h.out[h.next]
	p.PSN = n.start.Add(h.next)
	h.next++
	n.push(n.into[[2]int{h.node, h.end}], p)
}

// finished tells whether all hosts have what they are to have and no engine holds anything.
func (n *pipeNet) finished() bool {
	for _, h := range n.hosts {
		if !h.done() {
			return false
		}
	}
	for _, e := range n.nodes {
		if e.Unfinished(0) != 0 {
			return false
		}
	}
	return true
}

// run lets things happen in any order until all is done.
func (n *pipeNet) run() {
	for _, e := range append(append([]*Engine(nil), n.nodes...), n.spare...) {
		e.SetManual(!n.auto)
	}
	for !n.finished() {
		n.events++
		n.clock += Time(n.r.IntN(1000)) * 1000
		require.Less(n.t, n.events, 30_000, "no end in sight: %v", n)
		if n.early && n.r.IntN(30) == 0 {
			n.timeouts(1 + n.r.IntN(3))
		}
		if n.auto {
			n.tick()
		}
		if !n.step() {
			n.timeouts(0)
		}
	}
}

// step lets one thing happen that needs no time, if there is any.
func (n *pipeNet) step() bool {
	type thing func()
	var things []thing
	for _, l := range n.links {
		if len(l.packets) > 0 {
			things = append(things, func() { n.arrive(l) })
		}
	}
	for _, h := range n.hosts {
		if n.maySend(h) {
			things = append(things, func() { n.sendOne(h) })
		}
	}
	for node, e := range n.nodes {
		for _, a := range sendsOf(e) {
			require.False(n.t, n.auto, "%v is left over", a)
			things = append(things, func() { n.take(node, a) })
		}
	}
	if len(things) == 0 {
		return false
	}
	things[n.r.IntN(len(things))]()
	return true
}

func (n *pipeNet) take(node int, a Action) {
	outs, err := n.nodes[node].ActStep(n.clock, a)
	require.NoError(n.t, err)
	n.leave(node, outs)
}

// timeouts lets timers run out: all, or one in some of them.
func (n *pipeNet) timeouts(some int) {
	for _, h := range n.hosts {
		if some == 0 || n.r.IntN(4) < some {
			h.next, h.waits = h.unacked, false
		}
	}
	if n.auto {
		at := Time(-1)
		for _, e := range n.nodes {
			if next, ok := e.NextDeadline(); ok && (at < 0 || next < at) {
				at = next
			}
		}
		if some == 0 && at > n.clock {
			n.clock = at
		}
		n.tick()
		return
	}
	for node := range n.nodes {
		for _, a := range n.nodes[node].Actions(nil) {
			if (some == 0 || n.r.IntN(4) < some) && n.nodes[node].allows(a) {
				n.take(node, a)
			}
		}
	}
}

// tick lets engines that act by themselves do what is due.
func (n *pipeNet) tick() {
	for node, e := range n.nodes {
		if at, ok := e.NextDeadline(); ok && at <= n.clock {
			n.leave(node, stripped(e.Tick(n.clock)))
		}
	}
}

// stripped are Outs whose packets do not point into frames.
func stripped(outs []Out) []Out {
	for i := range outs {
		outs[i].Packet.Payload = append([]byte(nil), outs[i].Packet.Payload...)
	}
	return outs
}

// TestPipeChaos: whatever is lost, repeated or late, every host gets exactly what it is to get, in order; nothing is left in any engine; and
// on the way all invariants hold, engines can be put away and restored, and actions taken by hand or by the engine.
func TestPipeChaos(t *testing.T) {
	trees := pipeTrees()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		tree := trees[rapid.SampledFrom([]string{"star", "pair", "chain", "tree", "uneven"}).Draw(rt, "tree")]
		params := pipeParams()
		params.InBand, params.Reproducible = rapid.Bool().Draw(rt, "in-band"), rapid.Bool().Draw(rt, "reproducible")
		params.Members = 5 // so that endpoint 4 is in a pair
		params.Ports = 6
		g := Group{Start: roce.PSN(rapid.SampledFrom([]int{0, 0xFFFFFE, 0xFFFFF0, 0x7FFFFE}).Draw(rt, "start")), Log2N: 4,
			PipeSlots: rapid.IntRange(1, 8).Draw(rt, "N"), DType: DTypeINT32, InBand: params.InBand}
		collective := func() Control {
			return Control{Collective: uint8(rapid.IntRange(0, 3).Draw(rt, "collective")), DType: DTypeINT32,
				Root: uint8(rapid.IntRange(0, 1).Draw(rt, "root")), Packets: rapid.IntRange(1, 24).Draw(rt, "packets")}
		}
		c := collective()
		if !g.InBand {
			g.Collective = c.Collective
		}
		n := newPipeNet(t, r, tree, params, g, int(c.Root))
		n.t = rt
		n.script(c, g.InBand, rapid.Bool().Draw(rt, "several"))
		if g.InBand {
			for range rapid.IntRange(0, 4).Draw(rt, "ranges") {
				n.script(collective(), true, false)
			}
		}
		n.window = rapid.IntRange(1, 12).Draw(rt, "window")
		n.chance = rapid.SampledFrom([]int{0, 6, 20, 60}).Draw(rt, "chance")
		n.early, n.auto = rapid.Bool().Draw(rt, "early"), rapid.Bool().Draw(rt, "auto")
		ctrl := PipeCtrl{RNRTimer: 1, RNR: rapid.Bool().Draw(rt, "RNR"), CNP: rapid.Bool().Draw(rt, "CNP")}
		for _, e := range append(append([]*Engine(nil), n.nodes...), n.spare...) {
			e.SetPipeCtrl(ctrl)
		}
		for _, h := range n.hosts {
			h.noRecv = rapid.IntRange(0, 3).Draw(rt, "no receive")
		}
		n.run()
		for node, e := range n.nodes {
			require.Zero(rt, e.Discarded(0), fmt.Sprint(node))
		}
	})
}

// String is where a network stands, for failing tests.
func (n *pipeNet) String() string {
	s := ""
	for rank, h := range n.hosts {
		s += fmt.Sprintf("rank %d: range %d, sent %d, acknowledged %d of %d, has %d of %d\n", rank, h.at, h.next, h.unacked, len(h.out), h.got, len(h.want))
	}
	for node, e := range n.nodes {
		s += fmt.Sprintf("node %d: %+v %v\n", node, e.groups[0].pipes, e.Actions(nil))
		for member := range e.groups[0].ends {
			s += fmt.Sprintf("  %d: %+v %+v\n", member, e.groups[0].ends[member], e.groups[0].sends[member])
		}
	}
	return s
}
