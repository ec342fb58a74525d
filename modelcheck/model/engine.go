// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/network/topology"
	"incforge/roce"
)

// Engine is one switch: the reference itself, put into a state, given a packet, and asked for its state.
type Engine struct {
	Reference *inc.Engine
	Mode      int
	Free      bool
	Members   int // endpoints are 0 to members; the last is the parent's
	isRoot    bool
	HostAt    uint32 // endpoints with a host, one bit each
	Group     inc.Group
	payload   [8]byte
	scratch   []inc.Action
}

// NewEngine makes the engine of switch n.
func NewEngine(c Config, t *topology.Topology, n int) (*Engine, error) {
	children := t.Nodes[n].Children
	k := len(children)
	e := &Engine{Mode: c.Mode, Free: c.Free, Members: k, isRoot: n == 0}
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
	if e.Reference, err = inc.New(params); err != nil {
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
		g.Parent, g.HasParent = t.Toward(t.Nodes[n].Switch, CommRoot(t)), true
		g.AckMask = 1 << g.Parent
		g.InMask = all &^ g.AckMask
	case Broadcast:
		g.Parent, g.HasParent = t.Toward(t.Nodes[n].Switch, CommRoot(t)), true
		g.OutMask = all &^ (1 << g.Parent)
		g.AckMask = g.OutMask
	}
	setPipe(&g, c)
	for i := range k + 1 {
		host := i < k && t.Nodes[children[i]].Rank >= 0
		if host {
			e.HostAt |= 1 << i
		}
		if err := e.Reference.SetEndpoint(i, EndpointRecord(i, host)); err != nil {
			return nil, fmt.Errorf("switch %d: %w", n, err)
		}
	}
	if err := e.Reference.SetGroup(0, g); err != nil {
		return nil, fmt.Errorf("switch %d: %w", n, err)
	}
	if err := e.Reference.Enable(0); err != nil {
		return nil, fmt.Errorf("switch %d: %w", n, err)
	}
	e.Group = g
	e.setUp()
	return e, nil
}

// CommRoot is the host that a Reduce leads to and a Broadcast comes from.
func CommRoot(t *topology.Topology) int { return len(t.Hosts) - 1 }

// EndpointRecord is the table record of endpoint i. Switches are wired by ports, so all may have the same.
func EndpointRecord(i int, host bool) inc.Endpoint {
	return inc.Endpoint{
		Valid: true, Host: host, Port: i, LocalQPN: 0x100000 | uint32(i), RemoteQPN: 0x200000 | uint32(i),
		LocalIP: roce.IP4{10, 0, 0, byte(i)}, RemoteIP: roce.IP4{10, 0, 1, byte(i)},
		LocalMAC: roce.MAC{2, 0, 0, 0, 0, byte(i)}, RemoteMAC: roce.MAC{2, 0, 0, 0, 1, byte(i)}, UDPSourcePort: 0xC000, TTL: 64,
	}
}

// Wire is the packet as it comes to endpoint i.
func (p Packet) Wire(i int, host bool, payload []byte) roce.Packet {
	r := EndpointRecord(i, host)
	w := roce.Packet{
		DstMAC: r.LocalMAC, SrcMAC: r.RemoteMAC, TTL: 64, DF: true, SrcIP: r.RemoteIP, DstIP: r.LocalIP, SrcPort: 0xC000, PKey: roce.DefaultPKey,
		DestQP: r.LocalQPN, Op: p.Op, PSN: defaultStart.Add(int(p.PSN)),
	}
	if p.Op == roce.Acknowledge {
		w.Syndrome, w.MSN = p.syndrome, uint32(p.msn)
		return w
	}
	binary.LittleEndian.PutUint32(payload, p.payload[0])
	binary.LittleEndian.PutUint32(payload[4:], p.payload[1])
	w.AckReq, w.Payload = true, payload[:p.length]
	return w
}

// PacketFrom is wire undone, for what an engine sends.
func PacketFrom(w *roce.Packet) Packet {
	p := Packet{Op: w.Op, PSN: int16(w.PSN.Diff(defaultStart))}
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

// Stepped is what a step of a switch leads to.
type Stepped struct {
	State []byte
	Outs  [][]Packet // an endpoint's, in order
	Err   error      // what property it breaks
}

// Take gives a packet that comes to endpoint i in a state.
func (e *Engine) Take(state []byte, i int, p Packet) (Stepped, error) {
	return e.do(state, func() ([]inc.Out, error) {
		return e.Reference.Step(0, i, p.Wire(i, e.HostAt>>i&1 != 0, e.payload[:])), nil
	})
}

// do restores a state, does something, and whatever follows at once.
func (e *Engine) do(state []byte, f func() ([]inc.Out, error)) (Stepped, error) {
	if err := e.restore(state); err != nil {
		return Stepped{}, err
	}
	discarded := e.Reference.Discarded(0)
	outs, err := f()
	if err != nil {
		return Stepped{}, err
	}
	s := Stepped{Outs: make([][]Packet, e.Members+1)}
	s.add(e, outs)
	if err := e.settle(&s); err != nil {
		return Stepped{}, err
	}
	s.State = e.Reference.AppendState(nil)
	if n := e.Reference.Discarded(0) - discarded; n != 0 {
		s.Err = fmt.Errorf("%d slots were discarded while they held contributions of some", n)
	}
	if err := e.invariants(); err != nil && s.Err == nil {
		s.Err = err
	}
	return s, nil
}

// add takes down what leaves.
func (s *Stepped) add(e *Engine, outs []inc.Out) {
	for i := range outs {
		o := &outs[i]
		switch {
		case o.Port > e.Members || e.isRoot && o.Port == e.Members:
			s.Err = fmt.Errorf("%s was sent to port %d, where nobody is", PacketFrom(&o.Packet), o.Port)
		case o.Bypass:
			s.Err = fmt.Errorf("%s was bypassed", PacketFrom(&o.Packet))
		default:
			s.Outs[o.Port] = append(s.Outs[o.Port], PacketFrom(&o.Packet))
		}
	}
}

// Initial is the state after the start.
func (e *Engine) Initial() []byte { return slices.Clone(e.Reference.AppendState(nil)) }
