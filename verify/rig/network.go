// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/network/topology"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/dut"
)

// Network is a tree of engines with hosts at its leaves, and the collectives that run on it.
type Network struct {
	T     *T
	Net   *fabric.Net
	Link  *fabric.Link
	Nodes []*Node
	Comms []*Comm
	// Timeout is the hosts' time-out in cycles.
	Timeout uint64
	ranks   int
}

// Node is one switch of the tree.
type Node struct {
	E *Engine
	// Switch is its number in the fabric.
	Switch int
	// Parent is the switch above, nil at the root; Slot is its endpoint that leads here.
	Parent *Node
	Slot   int
	// Degree: endpoints 0 to Degree−1 are children, those of a Leaf hosts; Degree is the parent.
	Degree int
	Leaf   bool
}

// Comm is one group: its hosts in rank order and what they exchange.
type Comm struct {
	N      *Network
	Index  int
	Groups []*Group // by node
	Hosts  []*host.Host
	// Barrier: messages are empty.
	Barrier  bool
	expected []expectation
}

// expectation is a message that every rank must receive. Where parts is not nil its payload is no more than close to the sum of
// these; all ranks must receive the same all the same.
type expectation struct {
	host.Message
	parts [][]byte
}

// Kind is what the comm computes, on all switches alike.
func (c *Comm) Kind() arith.Kind { return c.Groups[0].Kind() }

// DefaultLink is a link of the network's speed without faults.
func (t *T) DefaultLink() *fabric.Link {
	return &fabric.Link{Latency: 40, BytesPerCycle: float64(t.Params.BusBytes)}
}

// Tree makes Tree-levels-degree: levels counted with the hosts, degree hosts at each leaf switch. All links are like link.
func (t *T) Tree(levels, degree int, link *fabric.Link) *Network {
	tree := topology.Tree{Levels: levels, Degree: degree}
	n := &Network{T: t, Net: fabric.New(t.Rand.Uint64()), Link: link, ranks: tree.Ranks()}
	n.grow(tree.Topology(), 0, nil)
	// A window of the longest packets of all hosts through one switch, several links there and back, at the pace of
	// the slowest of link, bus and adders.
	pace := min(link.BytesPerCycle, float64(t.Params.BusBytes)/float64(t.Params.CyclesPerBeat()))
	perPacket := uint64(float64(t.Params.MTUBytes+90)/pace) + 30
	packets := t.Params.GroupSlots()
	if t.Messages() { // of the shortest, in messages no longer than scenarios have them
		packets *= min(t.Params.MessageBytes, longestMessage*t.Params.MTUBytes) / t.Params.LeastPathMTU()
	}
	n.Timeout = uint64(levels)*4*uint64(link.Latency+200) + perPacket*uint64(packets*(t.Params.Members+1))*2 +
		2*uint64(max(link.Up.Jitter, link.Down.Jitter))
	return n
}

// grow makes the switch at a node of the tree, and then those below it.
func (n *Network) grow(tree *topology.Topology, at int, above *Node) {
	here := &tree.Nodes[at]
	if here.Rank >= 0 {
		return
	}
	e := n.T.Engine()
	nd := &Node{E: e, Switch: n.Net.AddSwitch(e.Board), Parent: above, Slot: here.Slot, Degree: len(here.Children)}
	nd.Leaf = tree.Nodes[here.Children[0]].Rank >= 0
	n.Nodes = append(n.Nodes, nd)
	for _, below := range here.Children {
		n.grow(tree, below, nd)
	}
}

// AddComm programs group index on every node and joins hosts to the leaves. The first one also joins the switches.
func (n *Network) AddComm(index, groups int, opts ...GroupOption) *Comm {
	t := n.T
	c := &Comm{N: n, Index: index}
	start := roce.PSN(t.Rand.Uint32() & 0xFFFFFF)
	switch t.Rand.IntN(3) {
	case 0:
		start = roce.PSN(0).Add(-1 - t.Rand.IntN(20)) // wraps soon
	case 1:
		start = 0
	}
	// All switches of a comm compute the same, and no sum of it is to depend on where it is rounded.
	all := append([]GroupOption{WithStart(start), WithKind(t.NextKind(groups)), WithRanks(n.ranks, t.Rand.Uint64())}, opts...)
	for _, nd := range n.Nodes {
		g := nd.E.MakeGroup(index, groups, nd.Degree, nd.Parent != nil, all...)
		if !nd.Leaf { // its children are switches: their ACKs mean nothing to it
			g.Set.AckMask = 0
		}
		c.Groups = append(c.Groups, g)
		c.Barrier = g.Set.Collective == inc.CollectiveBarrier
		if t.Messages() {
			g.DrawConnections()
		}
		if nd.Parent != nil { // both ends of an edge know each other
			up, down := &g.Ends[nd.Degree], &c.Groups[nd.Parent.Switch].Ends[nd.Slot]
			down.Host = false
			up.RQPSN, up.SQPSN, up.PathMTU = down.SQPSN, down.RQPSN, down.PathMTU
			up.VLAN, up.CheckPCP = down.VLAN, down.CheckPCP
			up.RemoteIP, up.RemoteMAC, up.RemoteQPN = down.LocalIP, down.LocalMAC, down.LocalQPN
			down.RemoteIP, down.RemoteMAC, down.RemoteQPN = up.LocalIP, up.LocalMAC, up.LocalQPN
			n.Net.Join(nd.Parent.Switch, down.Port, down.LocalMAC, nd.Switch, up.Port, up.LocalMAC, n.Link)
		}
	}
	for _, nd := range n.Nodes {
		n.setTimers(nd.E)
		c.Groups[nd.Switch].Program()
		// Frames that are nobody's end at a host: up at the leaves would be as good, but a frame must not run in circles.
		if ends := c.Groups[nd.Switch].Ends; nd.Parent != nil {
			t.Check(nd.E.Ctl.SetBypassPort(ends[nd.Degree].Port, ends[0].Port))
		}
		c.join(nd)
	}
	n.Comms = append(n.Comms, c)
	return c
}

// DrawConnections draws what Mode I's connections have of their own: first PSNs, often just before the wrap, and path MTUs.
func (g *Group) DrawConnections() {
	r, p := g.T.Rand, g.T.Params
	psn := func() roce.PSN {
		if r.IntN(2) == 0 {
			return roce.PSN(0).Add(-1 - r.IntN(40))
		}
		return roce.PSN(r.Uint32() & roce.PSNMask)
	}
	g.Own = true
	for i := range g.Ends {
		ep := &g.Ends[i]
		ep.RQPSN, ep.SQPSN = psn(), psn()
		for ep.PathMTU = p.LeastPathMTU(); ep.PathMTU < p.MTUBytes && r.IntN(2) == 0; {
			ep.PathMTU *= 2
		}
	}
}

// join joins a host to every member of a comm at a leaf.
func (c *Comm) join(nd *Node) {
	if !nd.Leaf {
		return
	}
	g := c.Groups[nd.Switch]
	for _, i := range g.Members() {
		h := g.host(i, c.N.Timeout)
		c.Hosts = append(c.Hosts, h)
		c.N.Net.AddHost(nd.Switch, g.Ends[i].Port, h, c.N.Link)
	}
}

// setTimers gives an engine of Mode III or I the hosts' time-out.
func (n *Network) setTimers(e *Engine) {
	if !n.T.Pipes() || e.Timers {
		return
	}
	e.Timers = true
	c := inc.PipeCtrl{RNRTimer: 1, RNR: true, CNP: n.T.Rand.IntN(4) == 0}
	if n.Link.Up.Loss > 0 { // what is lost is repeated anyway
		c.RNR = n.T.Rand.IntN(4) > 0
	}
	n.T.Check(e.Ctl.SetPipes(c, uint16(min(n.Timeout/n.T.Params.CyclesPerMicrosecond()+1, LongTimeout))))
}

// host makes the NIC at the far end of endpoint i.
func (g *Group) host(i int, timeout uint64) *host.Host {
	ep := g.Ends[i]
	cfg := host.Config{MAC: ep.RemoteMAC, PeerMAC: ep.LocalMAC, VLAN: ep.VLAN, IP: ep.RemoteIP, PeerIP: ep.LocalIP, QPN: ep.RemoteQPN,
		PeerQPN: ep.LocalQPN, UDPPort: 0xC000 | uint16(g.T.Rand.Uint32()&0x3FFF), TTL: 64, Start: g.Set.Start,
		PathMTU: g.T.Params.MTUBytes, Window: g.MW(), Timeout: timeout, RNRCode: 1, CyclesPerMicrosecond: g.T.Params.CyclesPerMicrosecond()}
	if g.T.Messages() {
		cfg.Start, cfg.Expect, cfg.Strict, cfg.PathMTU, cfg.AskEvery = ep.RQPSN, &ep.SQPSN, true, ep.PathMTU, 1+g.T.Rand.IntN(64)
		cfg.Window = g.MW() * g.T.Params.MessageBytes / ep.PathMTU
	}
	return fail.Must(host.New(cfg))
}

// longestMessage is how many full packets of the engine's MTU a message has at most, in Mode I.
const longestMessage = 4

// Post gives every rank one message of that many bytes, none for a barrier, and notes what all must receive. Now and then the sum
// of floats is no exact one.
func (c *Comm) Post(bytes int, imm, se bool) {
	t, g := c.N.T, c.Groups[0]
	if c.Barrier {
		bytes = 0
	} else if t.Messages() {
		bytes = min(bytes, t.Params.MessageBytes, longestMessage*t.Params.MTUBytes)
	}
	k := c.Kind()
	smooth := k.Op == arith.Sum && k.DType.Float() && bytes > 0 && len(c.Hosts) > 1 && t.Rand.IntN(4) == 0
	m := expectation{Message: host.Message{HasImm: imm, Imm: t.Rand.Uint32(), SE: se}}
	var all [][]byte
	for _, h := range c.Hosts {
		if m.Payload = g.Values(bytes); smooth {
			m.Payload = k.Smooth(t.Rand, g.Whole(bytes))
		}
		all = append(all, m.Payload)
		h.Post(m.Message)
	}
	if smooth {
		m.parts = all
	} else {
		m.Payload = g.Reduce(all...)
	}
	c.expected = append(c.expected, m)
}

// PostRandom gives every rank count messages of mixed lengths, up to three packets long, as the window allows.
func (c *Comm) PostRandom(count int) {
	t := c.N.T
	mtu := t.Params.MTUBytes / 4
	for range count {
		n := 4 * []int{t.Rand.IntN(17), 1 + t.Rand.IntN(mtu), mtu, mtu + 1 + t.Rand.IntN(2*mtu-1)}[t.Rand.IntN(4)]
		if n > 0 && t.Rand.IntN(4) == 0 {
			n -= 2 // half a word less, if elements are that small
		}
		c.Post(n, t.Rand.IntN(4) == 0, t.Rand.IntN(8) == 0)
	}
}

// Done reports that every living host has all results and all its own messages acknowledged.
func (c *Comm) Done() bool {
	return !slices.ContainsFunc(c.Hosts, func(h *host.Host) bool { return h.Completed() < h.Posted() || len(h.Received()) < len(c.expected) })
}

// check compares what every host received with plain arithmetic.
func (c *Comm) check() {
	for r, h := range c.Hosts {
		if got := h.Received(); len(got) != len(c.expected) {
			c.N.T.Fatalf("group %d rank %d received %d messages, expected %d", c.Index, r, len(got), len(c.expected))
		}
	}
	c.CheckReceived()
}

// right checks message i as rank r received it.
func (c *Comm) right(r, i int) {
	t := c.N.T
	got, w := c.Hosts[r].Received()[i], &c.expected[i]
	if w.parts != nil {
		if err := c.Kind().Near(got.Payload, w.parts...); err != nil {
			t.Fatalf("group %d rank %d message %d: %w", c.Index, r, i, err)
		}
		w.Payload, w.parts = got.Payload, nil // the others must have the same bits
	}
	if !bytes.Equal(got.Payload, w.Payload) || got.HasImm != w.HasImm || w.HasImm && got.Imm != w.Imm || got.SE != w.SE {
		t.Fatalf("group %d rank %d message %d of %s: received %d bytes, immediate %v %#x, SE %v; expected %d, %v %#x, %v: %s", c.Index, r, i,
			c.Kind(), len(got.Payload), got.HasImm, got.Imm, got.SE, len(w.Payload), w.HasImm, w.Imm, w.SE,
			c.Kind().Difference(got.Payload, w.Payload))
	}
}

// progressLimit is how many cycles a network may take for one run before it counts as stuck.
const progressLimit = 60_000_000

// RunUntil runs until done.
func (n *Network) RunUntil(done func() bool) { n.T.Check(n.run(progressLimit, done)) }

func (n *Network) run(cycles uint64, done func() bool) error {
	n.T.flush()
	return n.Net.Run(n.T.ctx, cycles, done)
}

// Run runs until all comms are done, and checks what every host received.
func (n *Network) Run() {
	err := n.run(progressLimit, func() bool { return !slices.ContainsFunc(n.Comms, func(c *Comm) bool { return !c.Done() }) })
	if errors.Is(err, fabric.ErrTimeout) {
		for _, c := range n.Comms {
			for r, h := range c.Hosts {
				err = fmt.Errorf("%w\n  group %d rank %d: %d of %d messages acknowledged, %d of %d received, %+v", err, c.Index, r,
					h.Completed(), h.Posted(), len(h.Received()), len(c.expected), h.Stats)
			}
		}
	}
	n.T.Check(err)
	for _, c := range n.Comms {
		c.check()
	}
}

// Idle lets the network run for some cycles, done or not.
func (n *Network) Idle(cycles uint64) {
	if err := n.run(cycles, func() bool { return false }); !errors.Is(err, fabric.ErrTimeout) {
		n.T.Check(err)
	}
}

// Finish ends a run: faults off, hesitation off, one more collective to show that everything still works, then silence: no frame
// may be left anywhere.
func (n *Network) Finish() {
	n.Net.Calm()
	for _, nd := range n.Nodes {
		nd.E.SetPauses(dut.Pauses{})
	}
	for _, c := range n.Comms {
		c.Post(16, false, false)
	}
	n.T.In("the collective after the run", n.Run)
	n.Drain()
	s, values := n.Net.Stats, n.T.Values
	values["link_frames"] += uint64(s.Frames)
	values["link_lost"] += uint64(s.Lost)
	values["link_duplicated"] += uint64(s.Duplicated)
	values["link_reordered"] += uint64(s.Reordered)
	values["link_corrupted"] += uint64(s.Corrupted)
	for _, c := range n.Comms {
		for _, h := range c.Hosts {
			values["host_resent"] += uint64(h.Stats.Resent)
			values["host_timeouts"] += uint64(h.Stats.Timeouts)
			values["host_naks_obeyed"] += uint64(h.Stats.NAKsObeyed)
			values["host_rnrs_obeyed"] += uint64(h.Stats.RNRsObeyed)
			values["host_duplicates"] += uint64(h.Stats.DupSeen)
			values["host_naks_sent"] += uint64(h.Stats.NAKsSent)
		}
	}
}

// Drain runs until nothing is on its way.
func (n *Network) Drain() {
	n.T.In("frames do not stop", func() { n.RunUntil(n.Net.Quiet) })
	for _, nd := range n.Nodes {
		n.T.Check(nd.E.Missing())
	}
}

// StarNet is one switch with a host for every member, and one comm of them all.
func (t *T) StarNet(link *fabric.Link, opts ...GroupOption) (*Network, *Comm) {
	n := t.Tree(2, t.Params.Members, link)
	return n, n.AddComm(0, 1, opts...)
}

// CheckReceived checks what every host has received so far, be it all or not.
func (c *Comm) CheckReceived() {
	for r, h := range c.Hosts {
		if got := len(h.Received()); got > len(c.expected) {
			c.N.T.Fatalf("group %d rank %d received %d messages, %d were sent", c.Index, r, got, len(c.expected))
		}
		for i := range h.Received() {
			c.right(r, i)
		}
	}
}

// Kill silences the comm's hosts.
func (c *Comm) Kill() {
	for _, h := range c.Hosts {
		h.Kill()
	}
}

// Quiesce waits, after Kill, until nothing for the comm is on a link, in front of an engine, or inside one.
func (c *Comm) Quiesce() {
	n := c.N
	n.Idle(uint64(2*n.Link.Latency) + 2*uint64(n.T.MTUBeats()))
	n.RunUntil(func() bool {
		for i, nd := range n.Nodes {
			for _, ep := range c.Groups[i].Ends {
				if nd.E.WaitingFor(ep.LocalQPN) > 0 {
					return false
				}
			}
		}
		return true
	})
	n.Idle(uint64(32 * n.T.Params.Members * n.T.MTUBeats())) // a pipeline full of frames, each with a copy for every member
}

// Restart gives a comm that was killed new hosts and connections: by a reset of its groups, which keeps START, or by programming them
// anew with another START.
func (c *Comm) Restart(reset bool) {
	if reset {
		for _, g := range c.Groups {
			g.Reset()
		}
	} else {
		start := roce.PSN(c.N.T.Rand.Uint32() & 0xFFFFFF)
		for _, g := range c.Groups {
			g.Set.Start = start
			g.Program()
		}
	}
	c.Hosts, c.expected = nil, nil
	for _, nd := range c.N.Nodes {
		c.join(nd)
	}
}
