// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/network/topology"
	"incforge/roce"
)

// engine is one switch: the reference itself, put into a state, given a packet, and asked for its state.
type engine struct {
	inc     *inc.Engine
	mode    int
	free    bool
	members int // endpoints are 0 to members; the last is the parent's
	isRoot  bool
	hostAt  uint32 // endpoints with a host, one bit each
	group   inc.Group
	payload [8]byte
	scratch []inc.Action
}

// newEngine makes the engine of switch n.
func newEngine(c Config, t *topology.Topology, n int) (*engine, error) {
	children := t.Nodes[n].Children
	k := len(children)
	e := &engine{mode: c.Mode, free: c.Free, members: k, isRoot: n == 0}
	slots := c.Slots
	if c.Mode == 3 {
		slots = 1
		for slots < c.Slots {
			slots *= 2
		}
		slots *= 2
	}
	params := inc.Params{Groups: 1, Members: k, Ports: k + 1, MTU: 8, Slots: slots, DTypes: 1 << inc.DTypeINT32, Ops: 1 << inc.OpSum}
	setMode(&params, c)
	var err error
	if e.inc, err = inc.New(params); err != nil {
		return nil, fmt.Errorf("switch %d: %w", n, err)
	}
	g := inc.Group{Start: defaultStart, Log2N: bits.Len(uint(slots)) - 1, Collective: uint8(c.Collective), Op: inc.OpSum, DType: inc.DTypeINT32}
	all := uint32(1)<<k - 1
	if n != 0 {
		all |= 1 << k
	}
	switch c.Collective {
	case AllReduce:
		g.InMask, g.OutMask = 1<<k-1, 1<<k-1
		for i, child := range children {
			if t.Nodes[child].Rank >= 0 {
				g.AckMask |= 1 << i
			}
		}
		g.Parent, g.HasParent = k, n != 0
	case Reduce:
		g.Parent, g.HasParent = t.Toward(t.Nodes[n].Switch, commRoot(t)), true
		g.AckMask = 1 << g.Parent
		g.InMask = all &^ g.AckMask
	case Broadcast:
		g.Parent, g.HasParent = t.Toward(t.Nodes[n].Switch, commRoot(t)), true
		g.OutMask = all &^ (1 << g.Parent)
		g.AckMask = g.OutMask
	}
	setPipe(&g, c)
	for i := range k + 1 {
		host := i < k && t.Nodes[children[i]].Rank >= 0
		if host {
			e.hostAt |= 1 << i
		}
		if err := e.inc.SetEndpoint(i, endpointRecord(i, host)); err != nil {
			return nil, fmt.Errorf("switch %d: %w", n, err)
		}
	}
	if err := e.inc.SetGroup(0, g); err != nil {
		return nil, fmt.Errorf("switch %d: %w", n, err)
	}
	if err := e.inc.Enable(0); err != nil {
		return nil, fmt.Errorf("switch %d: %w", n, err)
	}
	e.group = g
	e.setUp()
	return e, nil
}

// commRoot is the host that a Reduce leads to and a Broadcast comes from.
func commRoot(t *topology.Topology) int { return len(t.Hosts) - 1 }

// endpointRecord is the table record of endpoint i. Switches are wired by ports, so all may have the same.
func endpointRecord(i int, host bool) inc.Endpoint {
	return inc.Endpoint{
		Valid: true, Host: host, Port: i, LocalQPN: 0x100000 | uint32(i), RemoteQPN: 0x200000 | uint32(i),
		LocalIP: roce.IP4{10, 0, 0, byte(i)}, RemoteIP: roce.IP4{10, 0, 1, byte(i)},
		LocalMAC: roce.MAC{2, 0, 0, 0, 0, byte(i)}, RemoteMAC: roce.MAC{2, 0, 0, 0, 1, byte(i)}, UDPSourcePort: 0xC000, TTL: 64,
	}
}

// wire is the packet as it comes to endpoint i.
func (p packet) wire(i int, host bool, payload []byte) roce.Packet {
	r := endpointRecord(i, host)
	w := roce.Packet{
		DstMAC: r.LocalMAC, SrcMAC: r.RemoteMAC, TTL: 64, DF: true, SrcIP: r.RemoteIP, DstIP: r.LocalIP, SrcPort: 0xC000, PKey: roce.DefaultPKey,
		DestQP: r.LocalQPN, Op: p.op, PSN: defaultStart.Add(int(p.psn)),
	}
	if p.op == roce.Acknowledge {
		w.Syndrome, w.MSN = p.syndrome, uint32(p.msn)
		return w
	}
	binary.LittleEndian.PutUint32(payload, p.payload[0])
	binary.LittleEndian.PutUint32(payload[4:], p.payload[1])
	w.AckReq, w.Payload = true, payload[:p.length]
	return w
}

// packetFrom is wire undone, for what an engine sends.
func packetFrom(w *roce.Packet) packet {
	p := packet{op: w.Op, psn: int16(w.PSN.Diff(defaultStart))}
	if w.Op == roce.Acknowledge {
		p.syndrome, p.msn = w.Syndrome, uint8(w.MSN)
		return p
	}
	p.length = uint8(len(w.Payload))
	var b [8]byte
	copy(b[:], w.Payload)
	p.payload = [2]uint32{binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])}
	return p
}

// stepped is what a step of a switch leads to.
type stepped struct {
	state []byte
	outs  [][]packet // an endpoint's, in order
	err   error      // what property it breaks
}

// take gives a packet that comes to endpoint i in a state.
func (e *engine) take(state []byte, i int, p packet) (stepped, error) {
	return e.do(state, func() ([]inc.Out, error) {
		return e.inc.Step(0, i, p.wire(i, e.hostAt>>i&1 != 0, e.payload[:])), nil
	})
}

// do restores a state, does something, and whatever follows at once.
func (e *engine) do(state []byte, f func() ([]inc.Out, error)) (stepped, error) {
	if err := e.restore(state); err != nil {
		return stepped{}, err
	}
	discarded := e.inc.Discarded(0)
	outs, err := f()
	if err != nil {
		return stepped{}, err
	}
	s := stepped{outs: make([][]packet, e.members+1)}
	s.add(e, outs)
	if err := e.settle(&s); err != nil {
		return stepped{}, err
	}
	s.state = e.inc.AppendState(nil)
	if n := e.inc.Discarded(0) - discarded; n != 0 {
		s.err = fmt.Errorf("%d slots were discarded while they held contributions of some", n)
	}
	if err := e.invariants(); err != nil && s.err == nil {
		s.err = err
	}
	return s, nil
}

// add takes down what leaves.
func (s *stepped) add(e *engine, outs []inc.Out) {
	for i := range outs {
		o := &outs[i]
		switch {
		case o.Port > e.members || e.isRoot && o.Port == e.members:
			s.err = fmt.Errorf("%s was sent to port %d, where nobody is", packetFrom(&o.Packet), o.Port)
		case o.Bypass:
			s.err = fmt.Errorf("%s was bypassed", packetFrom(&o.Packet))
		default:
			s.outs[o.Port] = append(s.outs[o.Port], packetFrom(&o.Packet))
		}
	}
}

// initial is the state after the start.
func (e *engine) initial() []byte { return slices.Clone(e.inc.AppendState(nil)) }
