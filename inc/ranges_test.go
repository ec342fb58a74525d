// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// A small network whose ranks carry out one collective after the other on one in-band group. Links lose, repeat and delay frames.
// The ranks keep to the three rules of docs/engine.md section 3.3 and are plain RC otherwise.

// rankHost is a NIC and the collective library on it.
type rankHost struct {
	rank int
	at   attachment // its switch and endpoint
	// Which range it is in; of that, how many packets are sent, acknowledged and received, the control included.
	span, next, unacked, got int
	sent, heard              roce.PSN // the wires' numbers at which the range begins
	nakSent                  bool
}

// ranksNet is switches in a tree with one rank at each leaf.
type ranksNet struct {
	t     testing.TB
	r     *rand.Rand
	nodes []*world
	far   [][]attachment // by node and endpoint; the host is in ranks
	ranks []*rankHost
	spans []Control
	links map[attachment][]roce.Packet // into an endpoint of a node; node −1 is the ranks, by number

	loss    int // one frame in so many is lost, and as many are repeated; 0: none
	shuffle bool
	window  int
}

// data is what a rank contributes to packet i of a range, or broadcasts.
func (n *ranksNet) data(span, i, rank int) []byte {
	if i == 0 || n.spans[span].Collective == CollectiveBarrier {
		return nil
	}
	return contribution(rank, roce.PSN(1000*span+i), 1+(span+i)%4)
}

// sends and hears tell what part a rank has in a range.
func (n *ranksNet) sends(span, rank int) bool {
	switch c := n.spans[span]; c.Collective {
	case CollectiveReduce:
		return rank != int(c.Root)
	case CollectiveBroadcast:
		return rank == int(c.Root)
	}
	return true
}

func (n *ranksNet) hears(span, rank int) bool {
	c := n.spans[span]
	return c.Collective == CollectiveAllReduce || c.Collective == CollectiveBarrier || !n.sends(span, rank)
}

// want is what all who hear must get.
func (n *ranksNet) want(span, i int) []byte {
	c := n.spans[span]
	if c.Collective == CollectiveBroadcast {
		return n.data(span, i, int(c.Root))
	}
	var all [][]byte
	for rank := range n.ranks {
		if n.sends(span, rank) {
			all = append(all, n.data(span, i, rank))
		}
	}
	return Reduce(c.DType, c.Op, false, all)
}

// push puts a packet on the link that leads to a place, or loses or doubles it.
func (n *ranksNet) push(to attachment, p roce.Packet) {
	p.Payload = append([]byte(nil), p.Payload...)
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
		q := n.links[to]
		at := len(q)
		if n.shuffle && at > 0 && n.r.IntN(10) == 0 {
			at = n.r.IntN(at)
		}
		n.links[to] = append(q[:at:at], append([]roce.Packet{p}, q[at:]...)...)
	}
}

// length is the number of packets of a rank's range, the control included; past the last range there are none.
func (n *ranksNet) length(h *rankHost) int {
	if h.span == len(n.spans) {
		return 0
	}
	return n.spans[h.span].Packets + 1
}

// advance goes to the next range when the rank's own part of this one is complete: rule 1, and, as receives for a range are there
// from then on, rule 2.
func (n *ranksNet) advance(h *rankHost) {
	for h.span < len(n.spans) {
		size := n.length(h)
		if n.sends(h.span, h.rank) && h.unacked < size || n.hears(h.span, h.rank) && h.got < size {
			return
		}
		if n.sends(h.span, h.rank) {
			h.sent = h.sent.Add(size)
		}
		if n.hears(h.span, h.rank) {
			h.heard = h.heard.Add(size)
		}
		h.span, h.next, h.unacked, h.got, h.nakSent = h.span+1, 0, 0, 0, false
	}
}

// send lets a rank send its next packet, if its window and rule 3 allow.
func (n *ranksNet) send(h *rankHost) bool {
	size := n.length(h)
	if h.span == len(n.spans) || !n.sends(h.span, h.rank) || h.next == size || h.next-h.unacked >= n.window {
		return false
	}
	c := n.spans[h.span]
	if c.Collective == CollectiveBroadcast && h.next == size-1 && h.unacked == 0 {
		return false
	}
	w := n.nodes[h.at.node]
	p := w.data(0, h.at.end, h.sent.Add(h.next), n.data(h.span, h.next, h.rank))
	if h.next == 0 {
		p = w.control(0, h.at.end, h.sent, c)
	}
	h.next++
	n.push(h.at, p)
	return true
}

// receive is a rank's reaction to a packet.
func (n *ranksNet) receive(h *rankHost, p roce.Packet) {
	w := n.nodes[h.at.node]
	answer := func(psn roce.PSN, syndrome uint8) { n.push(h.at, w.ack(0, h.at.end, psn, syndrome)) }
	if p.Op == roce.Acknowledge {
		upTo := p.PSN.Diff(h.sent) // everything before it is acknowledged
		if p.Syndrome == roce.AckSyndrome {
			upTo++
		}
		if upTo <= 0 || h.span == len(n.spans) {
			if p.Syndrome != roce.AckSyndrome && upTo == 0 && h.next > 0 && h.unacked == 0 {
				h.next = 0
			}
			return // of what is acknowledged already
		}
		require.LessOrEqual(n.t, upTo, h.next+n.window, "rank %d is told of packets that nobody has sent", h.rank)
		for _, other := range n.ranks { // an ACK must be true
			if n.hears(h.span, other.rank) && (n.spans[h.span].Collective == CollectiveReduce || n.spans[h.span].Collective == CollectiveBroadcast || other == h) {
				require.True(n.t, other.span > h.span || other.span == h.span && other.got >= upTo,
					"rank %d is told that packet %d of range %d arrived, rank %d has %d of range %d", h.rank, upTo-1, h.span, other.rank, other.got, other.span)
			}
		}
		if upTo < h.unacked {
			return
		}
		h.unacked = upTo
		if p.Syndrome != roce.AckSyndrome && h.next > upTo {
			h.next = upTo
		}
		h.next = max(h.next, h.unacked)
		n.advance(h)
		return
	}
	ours := h.span < len(n.spans) && n.hears(h.span, h.rank) && h.got < n.length(h)
	psn := h.heard.Add(h.got)
	switch d := p.PSN.Diff(psn); {
	case d > 0 && !h.nakSent:
		h.nakSent = true
		answer(psn, roce.NAKSequence)
	case d > 0:
	case d < 0:
		answer(psn.Prev(), roce.AckSyndrome)
	case !ours, n.loss > 0 && n.r.IntN(20) == 0: // no receive posted
		answer(psn, roce.RNRSyndrome|1)
	default:
		if h.got == 0 {
			require.Equal(n.t, n.spans[h.span].Immediate(), p.Imm, "rank %d, range %d", h.rank, h.span)
		}
		require.Equal(n.t, string(n.want(h.span, h.got)), string(p.Payload), "rank %d, range %d, packet %d", h.rank, h.span, h.got)
		h.got++
		h.nakSent = false
		answer(psn, roce.AckSyndrome)
		n.advance(h)
	}
}

// deliver takes the first frame off a link.
func (n *ranksNet) deliver(to attachment) {
	p := n.links[to][0]
	n.links[to] = n.links[to][1:]
	if to.node < 0 {
		n.receive(n.ranks[to.end], p)
		return
	}
	for _, out := range n.nodes[to.node].frame(to.end, bytesOf(p), false) {
		far := n.far[to.node][out.Port] // endpoint e is on port e
		q := out.Packet
		if far.node >= 0 { // addressed anew by hand, the switches not knowing each other's addresses
			q = n.nodes[far.node].from(0, far.end)
			q.Op, q.PSN, q.SE, q.Imm, q.Payload, q.TOS = out.Packet.Op, out.Packet.PSN, out.Packet.SE, out.Packet.Imm, out.Packet.Payload, out.Packet.TOS
			q.Syndrome, q.MSN, q.Pad = out.Packet.Syndrome, out.Packet.MSN, out.Packet.Pad
		}
		n.push(far, q)
	}
}

// run lets things happen in random order until all ranks are through with all ranges. A timeout fires now and then, needed or not.
func (n *ranksNet) run() {
	done := func() bool {
		for _, h := range n.ranks {
			if h.span < len(n.spans) {
				return false
			}
		}
		return true
	}
	for step := 0; !done(); step++ {
		require.Less(n.t, step, 2_000_000, "no end in sight: %+v %+v %+v %+v", *n.ranks[0], *n.ranks[1], *n.ranks[2], *n.ranks[3])
		var busy []attachment
		for node := -1; node < len(n.nodes); node++ {
			for end := range 5 {
				if to := (attachment{node: node, end: end}); len(n.links[to]) > 0 {
					busy = append(busy, to)
				}
			}
		}
		h := n.ranks[n.r.IntN(len(n.ranks))]
		if len(busy) > 0 && n.r.IntN(4) != 0 {
			n.deliver(busy[n.r.IntN(len(busy))])
			continue
		}
		if !n.send(h) && h.next > h.unacked && (len(busy) == 0 || n.loss > 0 && n.r.IntN(50) == 0) {
			h.next = h.unacked // timeout
		}
	}
}

// newRanks is a star of four ranks or Tree-3-2: a root and two switches with two ranks each.
func newRanks(t testing.TB, seed uint64, start roce.PSN, tree bool, spans []Control) *ranksNet {
	n := &ranksNet{t: t, r: rand.New(rand.NewPCG(seed, 33)), spans: spans, links: map[attachment][]roce.Packet{}, window: 4}
	place := func(rank, node, end int) {
		n.ranks = append(n.ranks, &rankHost{rank: rank, at: attachment{node: node, end: end}, sent: start, heard: start})
	}
	if !tree {
		n.nodes = []*world{newWorld(t, inBandParams(), inBandStar(0, start))}
		n.far = [][]attachment{nil}
		for rank := range 4 {
			place(rank, 0, rank)
			n.far[0] = append(n.far[0], attachment{node: -1, end: rank})
		}
		return n
	}
	root, left, right := inBandStar(0, start), inBandLeaf(0, start), inBandLeaf(0, start)
	root.InMask, root.OutMask, root.AckMask = 3, 3, 0
	for rank := range 4 {
		root.Route[rank].Endpoint = uint8(rank / 2)
		right.Route[rank].Endpoint = []uint8{4, 4, 0, 1}[rank]
		place(rank, 1+rank/2, rank%2)
	}
	for i, g := range []Group{root, left, right} {
		w := newWorld(t, inBandParams(), g)
		if i == 0 { // its children are switches: no host bit
			w.configure(func(e *Engine) error { return e.Disable(0) })
			for child := range 2 {
				ep := endpointAt(inBandParams(), 0, child)
				ep.Host = false
				w.configure(func(e *Engine) error { return e.SetEndpoint(child, ep) })
			}
			w.configure(func(e *Engine) error { return e.Enable(0) })
		}
		n.nodes = append(n.nodes, w)
	}
	n.far = [][]attachment{
		{{node: 1, end: 4}, {node: 2, end: 4}},
		{{node: -1, end: 0}, {node: -1, end: 1}, {}, {}, {node: 0, end: 0}},
		{{node: -1, end: 2}, {node: -1, end: 3}, {}, {}, {node: 0, end: 1}},
	}
	return n
}

// TestRanks: sequences of collectives on one group over star and tree, across the wrap, without and with trouble. Every rank gets
// everything, and is told nothing untrue.
func TestRanks(t *testing.T) {
	type trouble struct {
		loss    int
		shuffle bool
	}
	for _, tree := range []bool{false, true} {
		for _, trouble := range []trouble{{}, {100, false}, {15, false}, {15, true}} {
			for _, gapNAK := range []bool{false, true} {
				t.Run(fmt.Sprintf("tree=%t,%+v,gapNAK=%t", tree, trouble, gapNAK), func(t *testing.T) {
					var reacks, resends uint64
					for seed := range uint64(4) {
						r := rand.New(rand.NewPCG(seed, 44))
						spans := []Control{allReduceOf(10), broadcastFrom(1, 7), allReduceOf(5), reduceTo(2, 9), barrierOf(0), reduceTo(3, 2), broadcastFrom(0, 1)}
						for range 10 {
							c := Control{Collective: uint8(r.IntN(4)), Op: uint8(r.IntN(2)), DType: DTypeINT32, Root: uint8(r.IntN(4)), Packets: r.IntN(12)}
							if c.Collective == CollectiveBroadcast {
								c.Packets++
							}
							spans = append(spans, c)
						}
						n := newRanks(t, seed, roce.PSN(0xFFFFE0+8*seed)&roce.PSNMask, tree, spans)
						n.loss, n.shuffle = trouble.loss, trouble.shuffle
						for _, w := range n.nodes {
							w.configure(func(e *Engine) error { e.SetGapNAK(gapNAK); return nil })
						}
						n.run()
						for _, w := range n.nodes {
							counters := w.e.Counters()
							assert.Equal(t, uint64(len(spans)), counters[RangeOpen])
							assert.Zero(t, w.e.Unfinished(0), "the buffer is empty at the end")
							assert.Zero(t, w.e.Discarded(0), "nobody left a range before it was complete")
							assert.Zero(t, counters[DropControl]+counters[DropBadControl]+counters[DropWrongRole]+counters[DropShape]+counters[ImmMismatch])
							reacks += counters[TxReack]
							resends += counters[TxResend]
						}
					}
					if trouble.loss > 0 {
						assert.NotZero(t, resends)
						assert.NotZero(t, reacks)
					}
				})
			}
		}
	}
}
