// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"errors"
	"fmt"

	"incforge/inc"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// network is a tree of engines with hosts at its leaves, and the collectives that run on it.
type network struct {
	t       *T
	net     *fabric.Net
	link    *fabric.Link
	nodes   []*node
	comms   []*comm
	timeout uint64
}

// node is one switch of the tree.
type node struct {
	e        *engine
	sw       int
	parent   *node
	slot     int // endpoint number at the parent
	children []*node
	degree   int // endpoints 0 to degree−1 are children, degree is the parent
}

// comm is one group: its hosts in rank order and what they exchange.
type comm struct {
	n        *network
	index    int
	groups   []*group // by node
	hosts    []*host.Host
	barrier  bool
	expected []expectation
}

// expectation is a message that every rank must receive. Where parts is not nil its payload is no more than close to the sum of
// these; all ranks must receive the same all the same.
type expectation struct {
	host.Message
	parts [][]byte
}

// kind is what the comm computes, on all switches alike.
func (c *comm) kind() arith.Kind { return c.groups[0].kind() }

// defaultLink is a link of the network's speed without faults.
func (t *T) defaultLink() *fabric.Link {
	return &fabric.Link{Latency: 40, BytesPerCycle: float64(t.p.BusBytes)}
}

// newTree makes Tree-levels-degree: levels counted with the hosts, degree hosts at each leaf switch. All links are like link.
func (t *T) newTree(levels, degree int, link *fabric.Link) (*network, error) {
	n := &network{t: t, net: fabric.New(t.rng.Uint64()), link: link}
	if _, err := n.grow(nil, 0, levels-1, degree); err != nil {
		return nil, err
	}
	// A window of the longest packets of all hosts through one switch, several links there and back, at the pace of
	// the slowest of link, bus and adders.
	pace := min(link.BytesPerCycle, float64(t.p.BusBytes)/float64(t.p.CyclesPerBeat()))
	perPacket := uint64(float64(t.p.MTUBytes+90)/pace) + 30
	n.timeout = uint64(levels)*4*uint64(link.Latency+200) + perPacket*uint64(t.p.GroupSlots()*(t.p.Members+1))*2 +
		2*uint64(max(link.Up.Jitter, link.Down.Jitter))
	n.net.OnQuantum = func(uint64) error { return t.ctx.Err() }
	return n, nil
}

// grow makes a switch and, below it, the rest of the tree.
func (n *network) grow(parent *node, slot, levels, degree int) (*node, error) {
	e, err := n.t.newEngine()
	if err != nil {
		return nil, err
	}
	nd := &node{e: e, sw: n.net.AddSwitch(e), parent: parent, slot: slot, degree: degree}
	n.nodes = append(n.nodes, nd)
	if levels == 1 {
		return nd, nil
	}
	for i := range degree {
		c, err := n.grow(nd, i, levels-1, degree)
		if err != nil {
			return nil, err
		}
		nd.children = append(nd.children, c)
	}
	return nd, nil
}

// port is the port of a node's endpoint; endpoints beyond the number of ports share.
func (n *network) port(e int) int { return e % n.t.p.Ports }

// addComm programs group index on every node and joins hosts to the leaves. The first one also joins the switches.
func (n *network) addComm(index, groups int, opts ...groupOption) (*comm, error) {
	t := n.t
	c := &comm{n: n, index: index}
	start := roce.PSN(t.rng.Uint32() & 0xFFFFFF)
	switch t.rng.IntN(3) {
	case 0:
		start = roce.PSN(0).Add(-1 - t.rng.IntN(20)) // wraps soon
	case 1:
		start = 0
	}
	// All switches of a comm compute the same, and no sum of it is to depend on where it is rounded.
	ranks := 0
	for _, nd := range n.nodes {
		if len(nd.children) == 0 {
			ranks += nd.degree
		}
	}
	all := append([]groupOption{withStart(start), withKind(t.nextKind(groups)), withRanks(ranks, t.rng.Uint64())}, opts...)
	byNode := map[*node]*group{}
	for _, nd := range n.nodes {
		g := n.nodeGroup(nd, index, groups, all)
		byNode[nd] = g
		c.groups = append(c.groups, g)
		c.barrier = g.set.Collective == inc.CollectiveBarrier
	}
	for _, nd := range n.nodes {
		g := byNode[nd]
		if nd.parent != nil { // both ends of an edge know each other
			pg := byNode[nd.parent]
			up, down := &g.ends[nd.degree], &pg.ends[nd.slot]
			down.Host = false
			up.RemoteIP, up.RemoteMAC, up.RemoteQPN = down.LocalIP, down.LocalMAC, down.LocalQPN
			down.RemoteIP, down.RemoteMAC, down.RemoteQPN = up.LocalIP, up.LocalMAC, up.LocalQPN
			n.net.Join(nd.parent.sw, n.port(nd.slot), down.LocalMAC, nd.sw, n.port(nd.degree), up.LocalMAC, n.link)
		}
	}
	for _, nd := range n.nodes {
		g := byNode[nd]
		if err := n.setTimers(nd.e); err != nil {
			return nil, err
		}
		if err := g.program(); err != nil {
			return nil, err
		}
		if err := n.bypassDown(nd); err != nil {
			return nil, err
		}
		if len(nd.children) > 0 {
			continue
		}
		for i := range nd.degree {
			h, err := g.host(i, n.timeout)
			if err != nil {
				return nil, err
			}
			c.hosts = append(c.hosts, h)
			n.net.AddHost(nd.sw, n.port(i), h, n.link)
		}
	}
	n.comms = append(n.comms, c)
	return c, nil
}

// setTimers gives a Mode III engine the hosts' time-out.
func (n *network) setTimers(e *engine) error {
	if !n.t.pipes() || e.timers {
		return nil
	}
	e.timers = true
	c := inc.PipeCtrl{RNRTimer: 1, RNR: true, CNP: n.t.rng.IntN(4) == 0}
	if n.link.Up.Loss > 0 { // what is lost is repeated anyway
		c.RNR = n.t.rng.IntN(4) > 0
	}
	return e.drv.SetPipes(c, uint16(min(n.timeout/n.t.p.CyclesPerMicrosecond()+1, longTimeout)))
}

// nodeGroup prepares a node's group without programming it.
func (n *network) nodeGroup(nd *node, index, groups int, opts []groupOption) *group {
	g := nd.e.makeGroup(index, groups, nd.degree, nd.parent != nil, opts...)
	if len(nd.children) > 0 { // its children are switches: their ACKs mean nothing to it
		g.set.AckMask = 0
	}
	return g
}

// bypassDown lets frames that are nobody's end at a host: up at the leaves would be as good, but a frame must not run in circles.
func (n *network) bypassDown(nd *node) error {
	if nd.parent == nil {
		return nil
	}
	return nd.e.drv.Write("BYPASS_PORT", n.port(nd.degree), uint32(n.port(0)))
}

// host makes the NIC at the far end of endpoint i.
func (g *group) host(i int, timeout uint64) (*host.Host, error) {
	ep := g.ends[i]
	return host.New(host.Config{MAC: ep.RemoteMAC, PeerMAC: ep.LocalMAC, IP: ep.RemoteIP, PeerIP: ep.LocalIP, QPN: ep.RemoteQPN,
		PeerQPN: ep.LocalQPN, UDPPort: 0xC000 | uint16(g.t.rng.Uint32()&0x3FFF), TTL: 64, Start: g.set.Start,
		PathMTU: g.t.p.MTUBytes, Window: g.mw(), Timeout: timeout, RNRCode: 1, CyclesPerMicrosecond: uint64(max(g.t.p.ClockMHz, 1))})
}

// post gives every rank one message of that many bytes, none for a barrier, and notes what all must receive. Now and then the sum
// of floats is no exact one.
func (c *comm) post(bytes int, imm, se bool) {
	t, g := c.n.t, c.groups[0]
	if c.barrier {
		bytes = 0
	}
	k := c.kind()
	smooth := k.Op == arith.Sum && k.DType.Float() && bytes > 0 && len(c.hosts) > 1 && t.rng.IntN(4) == 0
	m := expectation{Message: host.Message{HasImm: imm, Imm: t.rng.Uint32(), SE: se}}
	var all [][]byte
	for _, h := range c.hosts {
		if m.Payload = g.values(bytes); smooth {
			m.Payload = k.Smooth(t.rng, g.whole(bytes))
		}
		all = append(all, m.Payload)
		h.Post(m.Message)
	}
	if smooth {
		m.parts = all
	} else {
		m.Payload = exact(k, all)
	}
	c.expected = append(c.expected, m)
}

// postRandom gives every rank count messages of mixed lengths, up to three packets long, as the window allows.
func (c *comm) postRandom(count int) {
	t := c.n.t
	mtu := t.p.MTUBytes / 4
	for range count {
		n := 4 * []int{t.rng.IntN(17), 1 + t.rng.IntN(mtu), mtu, mtu + 1 + t.rng.IntN(2*mtu-1)}[t.rng.IntN(4)]
		if n > 0 && t.rng.IntN(4) == 0 {
			n -= 2 // half a word less, if elements are that small
		}
		c.post(n, t.rng.IntN(4) == 0, t.rng.IntN(8) == 0)
	}
}

// done reports that every living host has all results and all its own messages acknowledged.
func (c *comm) done() bool {
	for _, h := range c.hosts {
		if h.Completed() < h.Posted() || len(h.Received()) < len(c.expected) {
			return false
		}
	}
	return true
}

// check compares what every host received with plain arithmetic.
func (c *comm) check() error {
	for r, h := range c.hosts {
		got := h.Received()
		if len(got) != len(c.expected) {
			return failf("group %d rank %d received %d messages, expected %d", c.index, r, len(got), len(c.expected))
		}
		for i := range c.expected {
			if err := c.right(r, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// right checks message i as rank r received it.
func (c *comm) right(r, i int) error {
	got, w := c.hosts[r].Received()[i], &c.expected[i]
	if w.parts != nil {
		if err := c.kind().Near(got.Payload, w.parts...); err != nil {
			return failf("group %d rank %d message %d: %w", c.index, r, i, err)
		}
		w.Payload, w.parts = got.Payload, nil // the others must have the same bits
	}
	if !bytes.Equal(got.Payload, w.Payload) || got.HasImm != w.HasImm || w.HasImm && got.Imm != w.Imm || got.SE != w.SE {
		return failf("group %d rank %d message %d of %s: received %d bytes, immediate %v %#x, SE %v; expected %d, %v %#x, %v: %s", c.index, r, i,
			c.kind(), len(got.Payload), got.HasImm, got.Imm, got.SE, len(w.Payload), w.HasImm, w.Imm, w.SE,
			firstDifference(got.Payload, w.Payload))
	}
	return nil
}

func firstDifference(a, b []byte) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("first different byte %d: %#02x, expected %#02x", i, a[i], b[i])
		}
	}
	return "the common part is the same"
}

// progressLimit is how many cycles a network may take for one run before it counts as stuck.
const progressLimit = 60_000_000

// run runs until all comms are done.
func (n *network) run() error {
	err := n.net.Run(n.t.ctx, progressLimit, func() bool {
		for _, c := range n.comms {
			if !c.done() {
				return false
			}
		}
		return true
	})
	if errors.Is(err, fabric.ErrTimeout) {
		for _, c := range n.comms {
			for r, h := range c.hosts {
				err = fmt.Errorf("%w\n  group %d rank %d: %d of %d messages acknowledged, %d of %d received, %+v", err, c.index, r,
					h.Completed(), h.Posted(), len(h.Received()), len(c.expected), h.Stats)
			}
		}
	}
	if err != nil {
		return err
	}
	for _, c := range n.comms {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// finish ends a run: faults off, hesitation off, one more collective to show that everything still works, then silence: no frame
// may be left anywhere.
func (n *network) finish() error {
	n.net.Calm()
	for _, nd := range n.nodes {
		nd.e.SetPauses(dut.Pauses{})
	}
	for _, c := range n.comms {
		c.post(16, false, false)
	}
	if err := n.run(); err != nil {
		return fmt.Errorf("the collective after the run: %w", err)
	}
	if err := n.drain(); err != nil {
		return err
	}
	s := n.net.Stats
	for name, v := range map[string]int{"link_frames": s.Frames, "link_lost": s.Lost, "link_duplicated": s.Duplicated,
		"link_reordered": s.Reordered, "link_corrupted": s.Corrupted} {
		n.t.values[name] += uint64(v)
	}
	for _, c := range n.comms {
		for _, h := range c.hosts {
			for name, v := range map[string]int{"host_resent": h.Stats.Resent, "host_timeouts": h.Stats.Timeouts,
				"host_naks_obeyed": h.Stats.NAKsObeyed, "host_rnrs_obeyed": h.Stats.RNRsObeyed, "host_duplicates": h.Stats.DupSeen,
				"host_naks_sent": h.Stats.NAKsSent} {
				n.t.values[name] += uint64(v)
			}
		}
	}
	return nil
}

// drain runs until nothing is on its way.
func (n *network) drain() error {
	if err := n.net.Run(n.t.ctx, progressLimit, n.net.Quiet); err != nil {
		return fmt.Errorf("frames do not stop: %w", err)
	}
	for _, nd := range n.nodes {
		if err := nd.e.Missing(); err != nil {
			return err
		}
	}
	return nil
}
