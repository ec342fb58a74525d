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
	"incforge/verify/dut"
)

// starNet is a star of all members with one comm.
func (t *T) starNet(link *fabric.Link, opts ...groupOption) (*network, *comm, error) {
	n, err := t.newTree(2, t.p.Members, link)
	if err != nil {
		return nil, nil, err
	}
	c, err := n.addComm(0, 1, opts...)
	return n, c, err
}

// scenMessages runs messages of one to three packets on a faultless star: nothing is sent twice, and the counters obey the
// identities of a lossless run.
func scenMessages(t *T) error {
	n, c, err := t.starNet(t.defaultLink())
	if err != nil {
		return err
	}
	c.postRandom(20)
	if err := n.run(); err != nil {
		return err
	}
	return n.lossless()
}

// lossless finishes the run of a star without faults: R children, n packets.
func (n *network) lossless() error {
	t := n.t
	if err := n.finish(); err != nil {
		return err
	}
	r, packets := uint64(0), uint64(0)
	for _, c := range n.comms {
		r = uint64(len(c.hosts))
		for _, h := range c.hosts {
			if !t.pipes() && h.Stats.Resent > 0 || h.Stats.Timeouts+h.Stats.NAKsSent+h.Stats.DupSeen > 0 {
				return failf("no fault was planted, but %+v", h.Stats)
			}
		}
		packets += uint64(c.hosts[0].Acknowledged())
	}
	got, err := n.nodes[0].e.Finish()
	if err != nil {
		return err
	}
	expect := map[string]uint64{"UP_DATA": r * packets, "AGG": r * packets, "BUFFERED": (r - 1) * packets,
		"TX_RESULT": packets, "WIPE": packets, "TX_FANOUT": r * packets, "RX_ACK": r * packets, "TX_REFLECT": r * packets}
	if t.pipes() {
		expect["TX_REFLECT"], expect["TX_ACK"], expect["WIPE"], expect["RX_NAK"], expect["TIMEOUT"] = 0, r*packets, 2*packets, 0, 0
		if got["DROP_FULL"] > 0 { // a rank that ran ahead of the others
			delete(expect, "UP_DATA")
			delete(expect, "TX_ACK")
		}
	}
	for name, want := range expect {
		if got[name] != want {
			return failf("%s is %d, expected %d (%d children, %d packets)", name, got[name], want, r, packets)
		}
	}
	return nil
}

// scenLineRate has every rank send full packets as fast as the links let it.
func scenLineRate(t *T) error {
	link := t.defaultLink()
	link.Latency, link.BytesPerCycle = 2, float64(4*t.p.BusBytes)
	n, c, err := t.starNet(link)
	if err != nil {
		return err
	}
	for range 10 {
		c.post(4*t.p.MTUBytes, false, false)
	}
	if err := n.run(); err != nil {
		return err
	}
	return n.lossless()
}

// scenBarrierNet runs barriers through hosts.
func scenBarrierNet(t *T) error {
	n, c, err := t.starNet(t.defaultLink(), withBarrier())
	if err != nil {
		return err
	}
	for range 40 {
		c.post(0, false, false)
	}
	if err := n.run(); err != nil {
		return err
	}
	return n.lossless()
}

// chaos is a set of link faults of every kind.
func (t *T) chaos(rate float64) fabric.Faults {
	f := fabric.Faults{Loss: rate, Duplicate: rate, Reorder: rate, Corrupt: rate, Jitter: 60, ReorderDelay: 1500, FlagErrors: 0.3}
	if !t.p.ICRCCheck { // then the Ethernet FCS must find all of it
		f.FlagErrors = 1
	}
	return f
}

// pauses makes all interfaces of all engines hesitate, more on some than on others.
func (n *network) pauses() {
	for _, nd := range n.nodes {
		r := n.t.rng
		nd.e.SetPauses(dut.Pauses{Seed: r.Uint64(), In: 0.2 * r.Float64(), Ready: 0.3 * r.Float64(), Registers: 0.3, Burst: 1 + r.IntN(12)})
	}
}

func (t *T) runChaos(levels, degree int, opts ...groupOption) error {
	link := t.defaultLink()
	link.Up, link.Down = t.chaos(0.01), t.chaos(0.01)
	n, err := t.newTree(levels, degree, link)
	if err != nil {
		return err
	}
	c, err := n.addComm(0, 1, opts...)
	if err != nil {
		return err
	}
	n.pauses()
	for _, h := range c.hosts { // receives run out now and then
		h.SetReceives(2)
	}
	n.net.OnQuantum = func(uint64) error {
		for _, h := range c.hosts {
			if h.Receives() == 0 && t.rng.IntN(40) == 0 {
				h.AddReceives(1 + t.rng.IntN(4))
			}
		}
		return nil
	}
	rounds := 80
	if t.long {
		rounds = 400
	}
	if c.barrier {
		for range 2 * rounds {
			c.post(0, false, false)
		}
	} else {
		c.postRandom(rounds)
	}
	if err := n.run(); err != nil {
		return err
	}
	return n.finish()
}

// scenChaosStar: loss, duplication, reordering, delay, corruption, hesitation and missing receives on a star.
func scenChaosStar(t *T) error { return t.runChaos(2, t.p.Members) }

// scenChaosTree: the same on Tree-3-2 or Tree-4-2, as the seed has it, every switch an engine of its own.
func scenChaosTree(t *T) error { return t.runChaosTree() }

// scenChaosBarrier: the same for barriers.
func scenChaosBarrier(t *T) error { return t.runChaosTree(withBarrier()) }

// runChaosTree draws the tree.
func (t *T) runChaosTree(opts ...groupOption) error {
	return t.runChaos(3+t.rng.IntN(2), min(2, t.p.Members), opts...)
}

// scenTree runs messages through a faultless Tree-3-2 and Tree-4-2.
func scenTree(t *T) error {
	for _, levels := range []int{3, 4} {
		if err := t.messageTree(levels); err != nil {
			return fmt.Errorf("%d levels: %w", levels, err)
		}
	}
	return nil
}

func (t *T) messageTree(levels int) error {
	n, err := t.newTree(levels, min(2, t.p.Members), t.defaultLink())
	if err != nil {
		return err
	}
	c, err := n.addComm(0, 1)
	if err != nil {
		return err
	}
	c.postRandom(15)
	if err := n.run(); err != nil {
		return err
	}
	if err := n.finish(); err != nil {
		return err
	}
	for _, h := range c.hosts {
		if h.Stats.Resent > 0 && !t.pipes() { // there a rank may run ahead of the others until a pipe is full
			return failf("no fault was planted, but %+v", h.Stats)
		}
	}
	return nil
}

// scenWrapNet streams over the wrap of the PSN with losses of every kind of packet.
func scenWrapNet(t *T) error {
	link := t.defaultLink()
	link.Up, link.Down = fabric.Faults{Loss: 0.02}, fabric.Faults{Loss: 0.02}
	n, c, err := t.starNet(link, withStart(0xFFFFF0))
	if err != nil {
		return err
	}
	for range 64 {
		c.post(4+4*t.rng.IntN(8), false, false)
	}
	if err := n.run(); err != nil {
		return err
	}
	return n.finish()
}

// scenRNR: a host without receives answers RNR NAK, which comes back to it as its own; nothing is lost.
func scenRNR(t *T) error {
	n, c, err := t.starNet(t.defaultLink())
	if err != nil {
		return err
	}
	for _, h := range c.hosts {
		h.SetReceives(0)
	}
	n.net.OnQuantum = func(now uint64) error {
		for _, h := range c.hosts {
			answered := h.Stats.RNRsObeyed
			if t.pipes() { // it is the switch that obeys
				answered = h.Stats.RNRsSent
			}
			if h.Receives() == 0 && answered > len(h.Received())/4 {
				h.AddReceives(3)
			}
		}
		return nil
	}
	c.postRandom(12)
	if err := n.run(); err != nil {
		return err
	}
	for _, h := range c.hosts {
		if !t.pipes() && h.Stats.RNRsObeyed == 0 {
			return failf("a host without receives never saw its RNR NAK come back: %+v", h.Stats)
		}
		h.SetReceives(-1)
	}
	return n.finish()
}

// idle lets the network run for some cycles, done or not.
func (n *network) idle(cycles uint64) error {
	err := n.net.Run(n.t.ctx, cycles, func() bool { return false })
	if errors.Is(err, fabric.ErrTimeout) {
		return nil
	}
	return err
}

// restart gives a comm new connections: the group is programmed anew with another START, the old hosts are gone.
func (c *comm) restart(reset bool) error {
	n := c.n
	for i, nd := range n.nodes {
		g := c.groups[i]
		if reset { // GROUP_CTRL.reset keeps START
			if err := nd.e.drv.ResetGroup(g.index); err != nil {
				return err
			}
			continue
		}
		g.set.Start = roce.PSN(n.t.rng.Uint32() & 0xFFFFFF)
		if i > 0 {
			g.set.Start = c.groups[0].set.Start
		}
		if err := g.program(); err != nil {
			return err
		}
	}
	c.hosts, c.expected = nil, nil
	for i, nd := range n.nodes {
		if len(nd.children) > 0 {
			continue
		}
		for e := range nd.degree {
			if c.groups[i].set.InMask>>e&1 == 0 {
				continue
			}
			h, err := c.groups[i].host(e, n.timeout)
			if err != nil {
				return err
			}
			c.hosts = append(c.hosts, h)
			n.net.AddHost(nd.sw, n.port(e), h, n.link)
		}
	}
	return nil
}

// quiesce waits, after kill, until nothing for the comm is on a link, in front of an engine, or inside one.
func (c *comm) quiesce() error {
	n := c.n
	if err := n.idle(uint64(2*n.link.Latency) + 2*uint64(n.t.mtuBeats())); err != nil {
		return err
	}
	err := n.net.Run(n.t.ctx, progressLimit, func() bool {
		for i, nd := range n.nodes {
			for _, ep := range c.groups[i].ends {
				if nd.e.WaitingFor(ep.LocalQPN) > 0 {
					return false
				}
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	return n.idle(uint64(32 * n.t.p.Members * n.t.mtuBeats())) // a pipeline full of frames, each with a copy for every member
}

func (c *comm) kill() {
	for _, h := range c.hosts {
		h.Kill()
	}
}

// scenHostDeath: one host falls silent. The others stop at the window, nothing completes that should not; the group is
// restarted without it.
func scenHostDeath(t *T) error {
	link := t.defaultLink()
	n, c, err := t.starNet(link)
	if err != nil {
		return err
	}
	c.postRandom(10)
	total := c.hosts[0].Posted()
	if err := n.idle(uint64(500 + t.rng.IntN(3000))); err != nil {
		return err
	}
	dead := t.rng.IntN(len(c.hosts))
	c.hosts[dead].Kill()
	if err := n.idle(4 * n.timeout); err != nil {
		return err
	}
	for r, h := range c.hosts {
		got := h.Received()
		for i := range min(len(got), len(c.expected)) {
			if err := c.right(r, i); err != nil {
				return failf("after rank %d died: %w", dead, err)
			}
		}
		if r != dead && len(c.hosts[dead].Received()) < total && h.Completed() > total {
			return failf("rank %d completed %d of %d messages", r, h.Completed(), total)
		}
	}
	c.kill()
	if err := n.idle(2 * n.timeout); err != nil {
		return err
	}
	for i := range c.groups {
		g := c.groups[i]
		g.set.InMask &^= 1 << dead
		g.set.OutMask, g.set.AckMask = g.set.InMask, g.set.InMask
	}
	if err := c.restart(false); err != nil {
		return err
	}
	c.postRandom(10)
	if err := n.run(); err != nil {
		return err
	}
	return n.finish()
}

// disturbed tells whether somebody had to repeat something though nothing was lost. In Mode III a host that runs ahead of the others
// meets a full pipe, and repeats what it is told to.
func disturbed(t *T, h *host.Host) bool {
	if t.pipes() {
		return h.Stats.Timeouts+h.Stats.NAKsSent > 0
	}
	return h.Stats.Resent+h.Stats.NAKsSent > 0
}

// scenGroupReset: a group is drained and restarted in the middle of messages, by reset and by programming anew, while
// another group keeps working without a single retransmission.
func scenGroupReset(t *T) error {
	n, err := t.newTree(2, t.p.Members, t.defaultLink())
	if err != nil {
		return err
	}
	a, err := n.addComm(0, 2)
	if err != nil {
		return err
	}
	b, err := n.addComm(1, 2)
	if err != nil {
		return err
	}
	for round := range 4 {
		a.postRandom(8)
		b.postRandom(30)
		if err := n.idle(uint64(300 + t.rng.IntN(4000))); err != nil {
			return err
		}
		a.kill()
		if err := a.quiesce(); err != nil {
			return err
		}
		if err := a.restart(round%2 == 0); err != nil {
			return err
		}
	}
	a.postRandom(8)
	if err := n.run(); err != nil {
		return err
	}
	if err := n.finish(); err != nil {
		return err
	}
	for r, h := range b.hosts {
		if disturbed(t, h) {
			return failf("group 1 rank %d was disturbed by group 0's restarts: %+v", r, h.Stats)
		}
	}
	return nil
}

// scenIsolation: one group's endpoints get mutated and invented frames all the time; the other group does not notice, and the
// reference's state of it changes by its own frames alone.
func scenIsolation(t *T) error {
	n, err := t.newTree(2, t.p.Members, t.defaultLink())
	if err != nil {
		return err
	}
	e := n.nodes[0].e
	g, err := e.newGroup(1, 2, t.p.Members, false)
	if err != nil {
		return err
	}
	c, err := n.addComm(0, 2)
	if err != nil {
		return err
	}
	mine := map[uint32]bool{}
	for _, ep := range c.groups[0].ends {
		mine[ep.LocalQPN] = true
	}
	ref := e.Reference().Engine()
	var before []byte
	e.OnAccept = func(a dut.Accepted, _ []inc.Counter) error {
		after := ref.AppendGroupState(nil, 0)
		p, err := roce.Decode(a.Data)
		if !bytes.Equal(before, after) && before != nil && (err != nil || !mine[p.DestQP]) {
			return failf("a frame that is not group 0's changed its state: %v (%v)", &p, err)
		}
		before = after
		return nil
	}
	e.OnAct = func(uint64, inc.Action) error {
		before = ref.AppendGroupState(before[:0], 0)
		return nil
	}
	mut := newMutator(t, g)
	n.net.OnQuantum = func(uint64) error {
		if t.rng.IntN(3) == 0 && e.Waiting() < 8 {
			f := mut.next()
			if p, err := roce.Decode(f.frame.Data); err == nil && mine[p.DestQP] { // the mutation hit on the other group's QPN
				return nil
			}
			e.Offer(f.port, f.frame)
		}
		return nil
	}
	c.postRandom(30)
	if err := n.run(); err != nil {
		return err
	}
	n.net.OnQuantum = nil
	if t.pipes() { // nobody is there who would acknowledge what garbage completed
		if err := e.drv.Disable(g.index); err != nil {
			return err
		}
	}
	if err := n.finish(); err != nil {
		return err
	}
	for r, h := range c.hosts {
		if disturbed(t, h) || h.Stats.DupSeen > 0 {
			return failf("rank %d was disturbed by the other group's garbage: %+v", r, h.Stats)
		}
	}
	return nil
}

// scenGroups runs all groups at once on one star, each with its own byte order or collective.
func scenGroups(t *T) error {
	n, err := t.newTree(2, t.p.Members, t.defaultLink())
	if err != nil {
		return err
	}
	count := min(maxGroups(t.p), 8)
	for i := range count {
		var opts []groupOption
		if i%3 == 2 {
			opts = append(opts, withBarrier())
		}
		c, err := n.addComm(i, count, opts...)
		if err != nil {
			return err
		}
		c.postRandom(6)
	}
	n.pauses()
	if err := n.run(); err != nil {
		return err
	}
	return n.finish()
}
