// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// A small network of Mode I engines and RC hosts. Every queue pair has first PSNs and a path MTU of its own, every host its own habit of asking for
// acknowledgements; links lose, repeat and reorder, and timers run out too early.

// rcMessage is what a host sends or gets.
type rcMessage struct {
	payload []byte
	hasImm  bool
	imm     uint32
}

// rcHost is a NIC with a script.
type rcHost struct {
	node, end, mtu, window, habit int
	sq, rq                        roce.PSN // its first PSN, and the first that it gets

	pieces         []roce.Packet
	ends           []int // pieces of the ranges up to each
	una, next, top int
	waits          bool

	expect  roce.PSN
	inside  bool
	nakSent bool
	noRecv  int
	partial []byte
	got     []rcMessage
	want    []rcMessage
	wants   []int // messages of the ranges up to each
	at      int   // its range

	failed error
}

// post cuts a message.
func (h *rcHost) post(m rcMessage) {
	rest := m.payload
	for first, last := true, false; !last; first = false {
		n := min(len(rest), h.mtu)
		last = n == len(rest)
		p := roce.Packet{Op: roce.SendMiddle, Payload: rest[:n], Imm: m.imm}
		switch {
		case first && last && m.hasImm:
			p.Op = roce.SendOnlyImm
		case first && last:
			p.Op = roce.SendOnly
		case first:
			p.Op = roce.SendFirst
		case last && m.hasImm:
			p.Op = roce.SendLastImm
		case last:
			p.Op = roce.SendLast
		}
		if !p.Op.HasImm() {
			p.Imm = 0
		}
		p.Pad = uint8(-n & 3)
		h.pieces = append(h.pieces, p)
		rest = rest[n:]
	}
}

func (h *rcHost) fail(format string, args ...any) {
	if h.failed == nil {
		h.failed = fmt.Errorf(format, args...)
	}
}

// may is how many pieces it may send: those of its range, within its window.
func (h *rcHost) may() int { return min(h.ends[h.at], h.una+h.window) }

// answered takes an answer to what it sent.
func (h *rcHost) answered(p *roce.Packet) {
	i := h.una + p.PSN.Diff(h.sq.Add(h.una))
	kind := roce.SyndromeKindOf(p.Syndrome)
	switch {
	case kind == roce.SyndromeNAK && p.Syndrome != roce.NAKSequence:
		h.fail("NAK %#x of %v", p.Syndrome, p.PSN)
	case i >= h.top:
		h.fail("%v of %v, which was not sent", kind, p.PSN)
	case i < h.una:
	case kind == roce.SyndromeAck:
		h.una = i + 1
		h.next = max(h.next, h.una)
	default:
		h.una, h.next = i, i
		h.waits = kind == roce.SyndromeRNR
	}
}

// respond takes data and gives the answer; ok is false if there is none.
func (h *rcHost) respond(p *roce.Packet) (psn roce.PSN, syndrome uint8, ok bool) {
	switch d := p.PSN.Diff(h.expect); {
	case d < 0:
		return h.expect.Prev(), roce.AckSyndrome, true
	case d > 0:
		before := h.nakSent
		h.nakSent = true
		return h.expect, roce.NAKSequence, !before
	}
	n := len(p.Payload)
	if p.Op.StartsMessage() == h.inside || !p.Op.EndsMessage() && n != h.mtu || n > h.mtu || n == 0 && !p.Op.StartsMessage() {
		h.fail("%v of %d bytes, inside a message: %t, path MTU %d", p.Op, n, h.inside, h.mtu)
	}
	if p.Op.StartsMessage() && h.noRecv > 0 {
		h.noRecv--
		return p.PSN, roce.RNRSyndrome | 1, true
	}
	h.nakSent, h.expect, h.inside = false, h.expect.Next(), !p.Op.EndsMessage()
	if p.Op.StartsMessage() {
		h.partial = nil
	}
	h.partial = append(h.partial, p.Payload...)
	if p.Op.EndsMessage() {
		i := len(h.got)
		h.got = append(h.got, rcMessage{h.partial, p.Op.HasImm(), p.Imm})
		if i >= len(h.want) {
			h.fail("message %d of %d", i, len(h.want))
		} else if w := h.want[i]; !bytes.Equal(w.payload, h.partial) || w.hasImm != p.Op.HasImm() || w.imm != p.Imm {
			h.fail("message %d is %x (immediate %x), expected %x (%x)", i, h.partial, p.Imm, w.payload, w.imm)
		}
	}
	return p.PSN, roce.AckSyndrome, p.AckReq
}

// rcLink is one way of a link: packets under way to a host, or to an endpoint of a switch.
type rcLink struct {
	host      *rcHost
	node, end int
	packets   []roce.Packet
}

// rcNet is engines and hosts. Of node n's endpoints tree[n][e] is a rank, or ^m for the switch m below; endpoint 4 leads up.
type rcNet struct {
	*rand.Rand
	t        testing.TB
	nodes    []*Engine
	spare    []*Engine
	hosts    []*rcHost
	links    []*rcLink
	into     map[[2]int]*rcLink // to an endpoint of a switch
	away     map[[2]int]*rcLink // what a switch sends by an endpoint
	now      Time
	faults   float64
	steps    int
	released int // releases that every sender gets, a range
}

// rcTree is a tree of two levels with four ranks.
var rcTree = [][]int{{^1, ^2}, {0, 1}, {2, 3}}

// mtu is a path MTU from 4 to 64.
func (n *rcNet) mtu() int { return 4 << n.IntN(5) }

func newRCNet(t testing.TB, rng *rand.Rand, tree [][]int, p Params, g Group, root int, faults float64) *rcNet {
	n := &rcNet{Rand: rng, t: t, into: map[[2]int]*rcLink{}, away: map[[2]int]*rcLink{}, faults: faults}
	type end struct{ node, end int }
	above, ranks := make([]end, len(tree)), 0
	for node, ends := range tree {
		for e, far := range ends {
			if ranks = max(ranks, far+1); far < 0 {
				above[^far] = end{node, e}
			}
		}
	}
	n.hosts = make([]*rcHost, ranks)
	records := map[[2]int]*Endpoint{}
	for node, ends := range tree {
		for e, far := range ends {
			up := &Endpoint{Host: far >= 0, PathMTU: n.mtu(), RQPSN: roce.PSN(rng.Uint32() & roce.PSNMask), SQPSN: roce.PSN(0).Add(-rng.IntN(20))}
			records[[2]int{node, e}] = up
			l := &rcLink{node: node, end: e}
			n.into[[2]int{node, e}] = l
			down := &rcLink{node: ^far, end: 4}
			if far >= 0 {
				h := &rcHost{node: node, end: e, mtu: up.PathMTU, sq: up.RQPSN, rq: up.SQPSN, expect: up.SQPSN, window: 1 + rng.IntN(12), habit: 1 + rng.IntN(30), noRecv: rng.IntN(3)}
				n.hosts[far], down = h, &rcLink{host: h}
			} else {
				records[[2]int{^far, 4}] = &Endpoint{PathMTU: up.PathMTU, RQPSN: up.SQPSN, SQPSN: up.RQPSN}
				n.into[[2]int{^far, 4}] = down
				n.away[[2]int{^far, 4}] = l
			}
			n.away[[2]int{node, e}] = down
			n.links = append(n.links, l, down)
		}
	}
	toward := func(node, rank int) int {
		for at := (end{n.hosts[rank].node, n.hosts[rank].end}); ; at = above[at.node] {
			if at.node == node {
				return at.end
			}
			if at.node == 0 {
				return 4
			}
		}
	}
	for node, ends := range tree {
		set := g
		set.InMask = 1<<len(ends) - 1
		set.OutMask, set.AckMask = set.InMask, 0x1F
		set.Parent, set.HasParent = 4, node != 0
		for rank := range n.hosts {
			set.Route[rank] = Route{Valid: true, Endpoint: uint8(toward(node, rank))}
		}
		if g.Collective == CollectiveReduce || g.Collective == CollectiveBroadcast {
			all := set.tree()
			if node == 0 {
				all &^= 1 << 4
			}
			set.Parent, set.HasParent = toward(node, root), true
			set.InMask = all &^ (1 << set.Parent)
			set.OutMask = set.InMask
		}
		for _, into := range []*[]*Engine{&n.nodes, &n.spare} {
			e, err := New(p)
			require.NoError(t, err)
			for m := range p.Members + 1 {
				if r := records[[2]int{node, m}]; r != nil {
					ep := endpointAt(p, 0, m)
					ep.Host, ep.PathMTU, ep.RQPSN, ep.SQPSN = r.Host, r.PathMTU, r.RQPSN, r.SQPSN
					require.NoError(t, e.SetEndpoint(m, ep))
				}
			}
			e.SetAckEvery(uint8(1 + node*7))
			require.NoError(t, e.SetGroup(0, set))
			require.NoError(t, e.Enable(0))
			*into = append(*into, e)
		}
	}
	return n
}

// script appends a range: messages of these lengths.
func (n *rcNet) script(c Control, inBand bool, lengths []int, reduce func([][]byte) []byte) {
	oneWay := c.Collective == CollectiveReduce || c.Collective == CollectiveBroadcast
	sends := func(rank int) bool { return !oneWay || (rank == int(c.Root)) == (c.Collective == CollectiveBroadcast) }
	hears := func(rank int) bool { return !oneWay || (rank == int(c.Root)) == (c.Collective == CollectiveReduce) }
	if inBand {
		for rank, h := range n.hosts {
			m := rcMessage{hasImm: true, imm: c.Immediate()}
			if sends(rank) {
				h.post(m)
			}
			if hears(rank) {
				h.want = append(h.want, m)
			}
		}
	}
	for _, length := range lengths {
		var all [][]byte
		withImm := n.IntN(3) == 0 && length > 0 // in-band, nothing and an immediate is a control
		for rank, h := range n.hosts {
			if sends(rank) {
				b := make([]byte, length)
				for i := range b {
					b[i] = byte(n.Uint32())
				}
				all = append(all, b)
				h.post(rcMessage{b, withImm, map[bool]uint32{true: 77}[withImm]})
			}
		}
		for rank, h := range n.hosts {
			if hears(rank) {
				h.want = append(h.want, rcMessage{reduce(all), withImm, map[bool]uint32{true: 77}[withImm]})
			}
		}
	}
	for rank, h := range n.hosts {
		for range n.released {
			if sends(rank) {
				h.want = append(h.want, rcMessage{})
			}
		}
		h.ends, h.wants = append(h.ends, len(h.pieces)), append(h.wants, len(h.want))
	}
}

// put puts a packet on a link, or loses it, twice or before others.
func (n *rcNet) put(l *rcLink, p roce.Packet) {
	if n.Float64() < n.faults {
		return
	}
	l.packets = append(l.packets, p)
	if n.Float64() < n.faults {
		l.packets = append(l.packets, p)
	}
	if k := len(l.packets); k > 1 && n.Float64() < n.faults {
		l.packets[k-1], l.packets[k-2] = l.packets[k-2], l.packets[k-1]
	}
}

// left puts what an engine sent on its way, and checks the engine.
func (n *rcNet) left(node int, outs []Out) {
	e := n.nodes[node]
	for _, o := range outs {
		member := int(o.Packet.DestQP-0x1100) % e.params.EPS()
		n.put(n.away[[2]int{node, member}], o.Packet)
	}
	require.NoError(n.t, e.CheckInvariants())
	require.NoError(n.t, e.Counters().CheckMessageIdentities())
	if n.steps++; n.steps%7 == 0 {
		state := e.AppendState(nil)
		require.NoError(n.t, n.spare[node].Restore(state))
		require.Equal(n.t, state, n.spare[node].AppendState(nil))
		require.Equal(n.t, e.Actions(nil), n.spare[node].Actions(nil))
		spoiled := slices.Clone(state)
		spoiled[n.IntN(len(spoiled))] ^= 1 << n.IntN(8)
		if n.spare[node].Restore(spoiled) != nil { // what is refused changes nothing
			require.Equal(n.t, state, n.spare[node].AppendState(nil))
		} else {
			require.Equal(n.t, spoiled, n.spare[node].AppendState(nil))
			require.NoError(n.t, n.spare[node].CheckInvariants())
		}
	}
}

// deliver takes the first packet off a link.
func (n *rcNet) deliver(l *rcLink) {
	p := l.packets[0]
	l.packets = l.packets[1:]
	if l.host == nil {
		e := n.nodes[l.node]
		to := &e.table[l.end]
		p.SrcIP, p.DstIP, p.DestQP, p.PKey = to.RemoteIP, to.LocalIP, to.LocalQPN, roce.DefaultPKey
		n.left(l.node, e.Step(n.now, to.Port, p))
		return
	}
	h := l.host
	if p.Op == roce.Acknowledge {
		h.answered(&p)
	} else if psn, syndrome, ok := h.respond(&p); ok {
		n.put(n.into[[2]int{h.node, h.end}], roce.Packet{Op: roce.Acknowledge, PSN: psn, Syndrome: syndrome})
	}
	for h.at+1 < len(h.ends) && h.una == h.ends[h.at] && len(h.got) == h.wants[h.at] {
		h.at++
	}
}

// send has a host send its next packet.
func (n *rcNet) send(h *rcHost) {
	p := h.pieces[h.next]
	p.PSN = h.sq.Add(h.next)
	h.next++
	h.top = max(h.top, h.next)
	p.AckReq = p.Op.EndsMessage() || h.next%h.habit == 0 || h.next == h.may()
	n.put(n.into[[2]int{h.node, h.end}], p)
}

// run runs to the end.
func (n *rcNet) run() {
	for range 400_000 {
		var links []*rcLink
		for _, l := range n.links {
			if len(l.packets) > 0 {
				links = append(links, l)
			}
		}
		var hosts []*rcHost
		for _, h := range n.hosts {
			require.NoError(n.t, h.failed)
			if !h.waits && h.next < h.may() {
				hosts = append(hosts, h)
			}
		}
		switch k := n.IntN(len(links) + len(hosts) + 1); {
		case k < len(links):
			n.deliver(links[k])
		case k < len(links)+len(hosts):
			n.send(hosts[k-len(links)])
		case len(links)+len(hosts) == 0 || n.faults > 0 && n.IntN(40*(1+n.underway())) == 0:
			if n.done() {
				return
			}
			n.timeouts()
		}
	}
	for i, e := range n.nodes {
		s, _ := e.Standing(0)
		n.t.Logf("switch %d: %+v", i, s)
	}
	n.t.Fatal("it does not come to an end")
}

// underway is the number of packets on links.
func (n *rcNet) underway() (packets int) {
	for _, l := range n.links {
		packets += len(l.packets)
	}
	return packets
}

// timeouts lets every timer run out.
func (n *rcNet) timeouts() {
	n.now += 1000 * 1000 * microsecond
	for _, h := range n.hosts {
		h.waits, h.next = false, h.una
	}
	for node, e := range n.nodes {
		n.left(node, e.Tick(n.now))
	}
}

// done tells whether everybody has everything.
func (n *rcNet) done() bool {
	for _, h := range n.hosts {
		if h.una != len(h.pieces) || len(h.got) != len(h.want) {
			return false
		}
	}
	for _, e := range n.nodes {
		if e.Unfinished(0) > 0 || len(e.Actions(nil)) > 0 {
			return false
		}
	}
	return true
}

// messageParams are of a small Mode I engine.
func messageParams() Params {
	p := smallParams()
	p.Mode, p.Groups, p.Slots, p.MessageBytes, p.LeastPathMTU = 1, 1, 16, 256, 4
	return p
}

// TestMessageNetwork runs all collectives through a tree in which every connection has other PSNs, path MTUs and habits, and links do what they like.
func TestMessageNetwork(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0x6d657373))
			p := messageParams()
			p.Reproducible, p.InBand = rng.IntN(3) == 0, rng.IntN(2) == 0
			p.Members = 5
			p.DTypes, p.Ops, p.Slots = 0xF, 7, 64
			g := Group{Start: roce.PSN(0).Add(-rng.IntN(6)), Log2N: 1 + rng.IntN(4), InBand: p.InBand, WholeMessages: rng.IntN(4) == 0, Release: rng.IntN(3) == 0,
				DType: DTypeINT32, Op: OpSum}
			g.PipeSlots = rng.IntN(1<<g.Log2N/2 + 1)
			faults := []float64{0, 0.02, 0.1}[rng.IntN(3)]
			root := rng.IntN(4)
			if !g.InBand {
				g.Collective = uint8(rng.IntN(4))
				kinds := [][2]uint8{{DTypeINT32, OpSum}, {DTypeINT32, OpMin}, {DTypeFP16, OpMax}, {DTypeBF16, OpMin}}
				kind := kinds[rng.IntN(len(kinds))]
				g.DType, g.Op = kind[0], kind[1]
			}
			lengths := func(n int, c uint8, size int) (all []int) {
				for range n {
					l := rng.IntN(p.MessageBytes/size+1) * size
					if c == CollectiveBarrier {
						l = 0
					}
					all = append(all, l)
				}
				return all
			}
			reduce := func(dtype, op uint8) func([][]byte) []byte {
				return func(all [][]byte) []byte { return Reduce(dtype, op, false, all) }
			}
			if !g.InBand {
				n := 1 + rng.IntN(12)
				g.Iteration = n
				net := newRCNet(t, rng, rcTree, p, g, root, faults)
				if g.Release {
					net.released = 1
				}
				size := ElementBytes(g.DType)
				c := Control{Collective: g.Collective, Root: uint8(root)}
				net.script(c, false, lengths(n, g.Collective, size), reduce(g.DType, g.Op))
				net.script(c, false, lengths(n, g.Collective, size), reduce(g.DType, g.Op))
				net.run()
				return
			}
			net := newRCNet(t, rng, rcTree, p, g, root, faults)
			if g.Release {
				net.released = 1
			}
			for range 1 + rng.IntN(4) {
				c := Control{Collective: uint8(rng.IntN(4)), DType: DTypeINT32, Op: uint8(rng.IntN(3)), Root: uint8(rng.IntN(4)), Packets: 1 + rng.IntN(6)}
				net.script(c, true, lengths(c.Packets, c.Collective, 4), reduce(c.DType, c.Op))
			}
			net.run()
		})
	}
}
