// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// A small network of engines and hosts in which every link loses, repeats and delays frames, to see the engine's rules
// work together. The hosts are plain RC: a go-back-N requester with a window of packets and a responder that takes
// packets in order, NAKs a gap once and acknowledges duplicates.

// host is a NIC and the collective library on it.
type host struct {
	rank           int
	window         int
	next, unacked  int // of its own contributions, counted from START
	started, count int // results received, results wanted
	nakSent        bool
}

// attachment is the far end of an engine's port.
type attachment struct {
	host *host // or, if nil,
	node int   // this engine,
	end  int   // by its endpoint
}

// transit is a frame on a link, on its way into a node's port or to a host.
type transit struct {
	to     attachment
	packet roce.Packet
}

// network is switches in a tree with hosts at the leaves. Frames of one link keep their order unless shuffle is set.
type network struct {
	t        testing.TB
	r        *rand.Rand
	start    roce.PSN
	nodes    []*world
	far      [][]attachment // by node and endpoint
	hosts    []*host
	near     []attachment // by host: its switch and endpoint
	links    [][]transit  // queues: into endpoint e of node n at 5n+e, into the hosts behind those
	loss     int          // one frame in so many
	shuffle  bool
	sentBack int // contributions sent more than once

	contribute func(rank int, psn roce.PSN) []byte
	want       func(psn roce.PSN) []byte
}

// push puts a packet on the link that leads to a place, or loses or doubles it. Every place has one link into it.
func (n *network) push(to attachment, p roce.Packet) {
	p.Payload = append([]byte(nil), p.Payload...)
	link := 5*to.node + to.end
	if to.host != nil {
		link = 5*len(n.nodes) + to.host.rank
	}
	copies := 1
	if n.loss > 0 {
		switch n.r.IntN(n.loss) {
		case 0:
			copies = 0
		case 1:
			copies = 2
		}
	}
	for range copies {
		at := len(n.links[link])
		if n.shuffle && at > 0 && n.r.IntN(8) == 0 {
			at = n.r.IntN(at)
		}
		n.links[link] = append(n.links[link][:at:at], append([]transit{{to, p}}, n.links[link][at:]...)...)
	}
}

// toSwitch is what a host sends.
func (n *network) toSwitch(h *host, p roce.Packet) {
	n.push(n.near[h.rank], p)
}

// send lets a host send its next contribution, if its window allows.
func (n *network) send(h *host) bool {
	if h.next-h.unacked >= h.window || h.next >= h.count {
		return false
	}
	at := n.near[h.rank]
	psn := n.start.Add(h.next)
	p := n.nodes[at.node].data(0, at.end, psn, n.contribute(h.rank, psn))
	switch h.next % 3 { // messages of three packets
	case 0:
		p.Op = roce.SendFirst
	case 1:
		p.Op = roce.SendMiddle
	case 2:
		p.Op = roce.SendLast
	}
	h.next++
	n.toSwitch(h, p)
	return true
}

// receive is a host's reaction to a packet.
func (n *network) receive(h *host, p roce.Packet) {
	at := n.near[h.rank]
	w := n.nodes[at.node]
	if p.Op == roce.Acknowledge {
		upTo := p.PSN.Diff(n.start) // everything before it is acknowledged
		if p.Syndrome == roce.AckSyndrome {
			upTo++
		}
		require.LessOrEqual(n.t, upTo, h.started, "rank %d is told that its contribution %d arrived, without its result", h.rank, upTo-1)
		if upTo < h.unacked {
			return // an old one
		}
		h.unacked = upTo
		if p.Syndrome != roce.AckSyndrome && h.next > upTo {
			n.sentBack += h.next - upTo
			h.next = upTo
		}
		h.next = max(h.next, h.unacked)
		return
	}
	psn := n.start.Add(h.started)
	switch d := p.PSN.Diff(psn); {
	case d > 0 && !h.nakSent:
		h.nakSent = true
		n.toSwitch(h, w.ack(0, at.end, psn, roce.NAKSequence))
	case d > 0:
	case d < 0:
		n.toSwitch(h, w.ack(0, at.end, psn.Prev(), roce.AckSyndrome))
	case n.loss > 0 && n.r.IntN(20) == 0: // no receive posted
		n.toSwitch(h, w.ack(0, at.end, psn, roce.RNRSyndrome|1))
	default:
		require.Equal(n.t, n.want(psn), p.Payload, "rank %d, result %d", h.rank, h.started)
		want := []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLast}[h.started%3]
		require.Equal(n.t, want, p.Op, "rank %d, result %d", h.rank, h.started)
		h.started++
		h.nakSent = false
		n.toSwitch(h, w.ack(0, at.end, psn, roce.AckSyndrome))
	}
}

// deliver takes the first frame off a link.
func (n *network) deliver(link int) {
	f := n.links[link][0]
	n.links[link] = n.links[link][1:]
	if f.to.host != nil {
		n.receive(f.to.host, f.packet)
		return
	}
	w := n.nodes[f.to.node]
	for _, out := range w.frame(f.to.end, bytesOf(f.packet), false) {
		to := n.far[f.to.node][out.Port] // endpoint e is on port e
		p := out.Packet
		if to.host == nil { // addressed anew by hand, the switches not knowing each other's addresses
			q := n.nodes[to.node].from(0, to.end)
			q.Op, q.PSN, q.SE, q.Imm, q.Payload, q.TOS = p.Op, p.PSN, p.SE, p.Imm, p.Payload, p.TOS
			p = q
		}
		n.push(to, p)
	}
}

// done tells whether every host has every result and knows that its contributions arrived.
func (n *network) done() bool {
	for _, h := range n.hosts {
		if h.started < h.count || h.unacked < h.count {
			return false
		}
	}
	return true
}

// run lets things happen in random order until all is done. A timeout fires now and then, needed or not.
func (n *network) run(timeouts int) {
	for step := 0; !n.done(); step++ {
		require.Less(n.t, step, 3_000_000, "no end in sight")
		var busy []int
		for i := range n.links {
			if len(n.links[i]) > 0 {
				busy = append(busy, i)
			}
		}
		h := n.hosts[n.r.IntN(len(n.hosts))]
		if len(busy) > 0 && n.r.IntN(4) != 0 {
			n.deliver(busy[n.r.IntN(len(busy))])
			continue
		}
		if !n.send(h) && n.loss > 0 && (len(busy) == 0 || n.r.IntN(timeouts) == 0) && h.next > h.unacked {
			n.sentBack += h.next - h.unacked
			h.next = h.unacked // timeout: everything from the first one on that is not acknowledged
		}
	}
}

// star is one switch with four hosts; tree is Tree-3-2, a root and two switches with two hosts each.
func newNetwork(t testing.TB, seed uint64, start roce.PSN, tree bool, count int) *network {
	n := &network{t: t, r: rand.New(rand.NewPCG(seed, 20)), start: start}
	n.contribute = func(rank int, psn roce.PSN) []byte { return contribution(rank, psn, 4) }
	n.want = func(psn roce.PSN) []byte { return sumOf(len(n.hosts), psn, 4) }
	for rank := range 4 {
		n.hosts = append(n.hosts, &host{rank: rank, window: 4, count: count})
	}
	if !tree {
		n.nodes = []*world{newWorld(t, smallParams(), starGroup(0, start))}
		n.far = [][]attachment{{{host: n.hosts[0]}, {host: n.hosts[1]}, {host: n.hosts[2]}, {host: n.hosts[3]}}}
		n.near = []attachment{{end: 0}, {end: 1}, {end: 2}, {end: 3}}
		n.links = make([][]transit, 5+4)
		return n
	}
	leaf := childGroup(0, start)
	leaf.InMask, leaf.OutMask, leaf.AckMask = 3, 3, 3
	root := starGroup(0, start)
	root.InMask, root.OutMask, root.AckMask = 3, 3, 0
	n.nodes = []*world{newWorld(t, smallParams(), root), newWorld(t, smallParams(), leaf), newWorld(t, smallParams(), leaf)}
	for e := range 2 { // the root's children are switches: no host bit
		n.nodes[0].configure(func(e *Engine) error { return e.Disable(0) })
		ep := endpointAt(smallParams(), 0, e)
		ep.Host = false
		n.nodes[0].configure(func(x *Engine) error { return x.SetEndpoint(e, ep) })
		n.nodes[0].configure(func(e *Engine) error { return e.Enable(0) })
	}
	n.far = [][]attachment{
		{{node: 1, end: 4}, {node: 2, end: 4}},
		{{host: n.hosts[0]}, {host: n.hosts[1]}, {}, {}, {node: 0, end: 0}},
		{{host: n.hosts[2]}, {host: n.hosts[3]}, {}, {}, {node: 0, end: 1}},
	}
	n.near = []attachment{{node: 1, end: 0}, {node: 1, end: 1}, {node: 2, end: 0}, {node: 2, end: 1}}
	n.links = make([][]transit, 3*5+4)
	return n
}

// TestChaos runs 60 PSNs, fifteen windows and across the wrap (scenario 18), through star and tree, without and with
// trouble, and wants every host to end with every sum.
func TestChaos(t *testing.T) {
	const count = 60
	type trouble struct {
		loss    int // one frame in so many, and as many doubled
		shuffle bool
	}
	for _, tree := range []bool{false, true} {
		for _, trouble := range []trouble{{}, {100, false}, {100, true}, {12, false}, {12, true}} {
			for _, gapNAK := range []bool{false, true} {
				t.Run(fmt.Sprintf("tree=%t,%+v,gapNAK=%t", tree, trouble, gapNAK), func(t *testing.T) {
					var naks, resends uint64
					for seed := range uint64(6) {
						n := newNetwork(t, seed, 0xFFFFF0, tree, count)
						n.loss, n.shuffle = trouble.loss, trouble.shuffle
						for _, w := range n.nodes {
							w.configure(func(e *Engine) error { e.SetGapNAK(gapNAK); return nil })
						}
						n.run(50)
						for _, w := range n.nodes {
							naks += w.e.counters[TxGapNak]
							resends += w.e.counters[TxResend]
						}
						if trouble.loss > 0 {
							continue
						}
						counters, ends := n.nodes[0].e.Counters(), uint64(len(n.far[0]))
						require.Zero(t, n.sentBack)
						require.Equal(t, ends*count, counters[UpData])
						require.Equal(t, ends*count, counters[Agg])
						require.Equal(t, (ends-1)*count, counters[Buffered])
						require.Equal(t, ends*count, counters[TxFanout])
					}
					require.Equal(t, trouble.loss > 0 && gapNAK, naks > 0)
					require.Equal(t, trouble.loss > 0, resends > 0)
				})
			}
		}
	}
}
