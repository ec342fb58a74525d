// SPDX-License-Identifier: Apache-2.0

// Package model holds the parts that a model of modelcheck is made of: its configuration, packets, go-back-N hosts, switches, each of which is
// the reference engine put into a state and asked for the next, and the symmetries of the tree.
package model

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"incforge/inc"
	"incforge/internal/fail"
	"incforge/network/topology"
	"incforge/roce"
)

// Engine is one switch: the reference itself, put into a state, given a packet, and asked for its state.
type Engine struct {
	Reference *inc.Engine
	Free      bool
	Park      bool // it may be parked
	Members   int  // endpoints are 0 to members; the last is the parent's
	isRoot    bool
	Endpoints []inc.Endpoint
	Group     inc.Group
}

// NewEngine makes the engine of switch n.
func NewEngine(c Config, t *topology.Topology, n int) (_ *Engine, err error) {
	defer fail.Catch(&err, "switch %d", n)
	k, s := len(t.Nodes[n].Children), t.Nodes[n].Switch
	e := &Engine{Free: c.Free, Park: c.Park > 0, Members: k, isRoot: n == 0}
	slots := c.Slots
	if c.Mode != 2 { // pipes lie in a power of two of slots, at least two
		slots = 2 << bits.Len(uint(c.Slots-1))
	}
	params := inc.Params{
		Mode: c.Mode, Groups: 1, Members: k, Ports: k + 1, MTU: max(payloadBytes(t), longMTU), Slots: slots, DTypes: 1 << inc.DTypeINT32, Ops: 1 << inc.OpSum, Park: c.Park > 0,
		InBand: len(c.Ranges) > 0,
	}
	if c.Mode == 1 {
		params.MessageBytes, params.LeastPathMTU = 1<<bits.Len(uint(max(c.Bytes, longMTU)-1)), shortMTU
	}
	for _, name := range c.Bad {
		params.Rules |= BadRules()[name].engine
	}
	e.Reference = fail.Must(inc.New(params))
	for i := range k + 1 {
		ep := endpoint(i, t.HostMask(s)>>i&1 != 0)
		if c.Mode == 1 {
			ep.RQPSN, ep.SQPSN, ep.PathMTU = defaultStart, defaultStart, c.PathMTU(0)
			if ep.Host {
				ep.PathMTU = c.PathMTU(t.Nodes[t.Nodes[n].Children[i]].Rank)
			}
		}
		e.Endpoints = append(e.Endpoints, ep)
		fail.On(e.Reference.SetEndpoint(i, ep))
	}
	e.Group = inc.Group{
		Start: defaultStart, Log2N: bits.Len(uint(slots)) - 1, Collective: uint8(c.Collective), Op: inc.OpSum, DType: inc.DTypeINT32,
	}
	if c.Mode != 2 {
		e.Group.PipeSlots = c.Slots
	}
	e.lead(c.Collective, t, s)
	if len(c.Ranges) > 0 {
		e.ranged(t, s)
	}
	fail.On(e.Reference.SetGroup(0, e.Group))
	fail.On(e.Reference.Enable(0))
	e.Reference.SetManual(true) // the model takes the actions
	return e, nil
}

// lead says in the group of switch s who contributes, who gets results and who is acknowledged.
func (e *Engine) lead(c Collective, t *topology.Topology, s int) {
	g := &e.Group
	if c == AllReduce {
		g.InMask, g.OutMask, g.AckMask = t.ChildMask(s), t.ChildMask(s), t.HostMask(s)
		g.Parent, g.HasParent = e.Members, !e.isRoot
		return
	}
	g.Parent, g.HasParent = t.Toward(s, CommRoot(t)), true
	root := uint32(1) << g.Parent
	rest := t.EdgeMask(s) &^ root
	if c == Reduce {
		g.InMask, g.AckMask = rest, root
	} else {
		g.OutMask, g.AckMask = rest, rest
	}
}

// CommRoot is the host that a Reduce leads to and a Broadcast comes from.
func CommRoot(t *topology.Topology) int { return len(t.Hosts) - 1 }

// endpoint is the table record of endpoint i. Switches are wired by ports, so all may have the same.
func endpoint(i int, host bool) inc.Endpoint {
	return inc.Endpoint{
		Valid: true, Host: host, Port: i, LocalQPN: 0x100000 | uint32(i), RemoteQPN: 0x200000 | uint32(i),
		LocalIP: roce.IP4{10, 0, 0, byte(i)}, RemoteIP: roce.IP4{10, 0, 1, byte(i)},
		LocalMAC: roce.MAC{2, 0, 0, 0, 0, byte(i)}, RemoteMAC: roce.MAC{2, 0, 0, 0, 1, byte(i)}, UDPSourcePort: 0xC000, TTL: 64,
	}
}

// Wire is the packet as it comes to endpoint i.
func (p Packet) Wire(i int) roce.Packet {
	r := endpoint(i, false)
	w := roce.Packet{
		DstMAC: r.LocalMAC, SrcMAC: r.RemoteMAC, TTL: 64, DF: true, SrcIP: r.RemoteIP, DstIP: r.LocalIP, SrcPort: 0xC000, PKey: roce.DefaultPKey,
		DestQP: r.LocalQPN, Op: p.Op, PSN: defaultStart.Add(int(p.PSN)),
	}
	if p.Op == roce.Acknowledge {
		w.Syndrome, w.MSN = p.Syndrome, uint32(p.MSN)
		return w
	}
	var payload []byte
	for _, element := range p.Payload {
		payload = binary.LittleEndian.AppendUint32(payload, element)
	}
	w.AckReq, w.Imm, w.Payload = !p.Quiet, p.Imm, payload[:p.Length]
	return w
}

// PacketFrom is Wire undone, for what an engine sends.
func PacketFrom(w *roce.Packet) Packet {
	p := Packet{Op: w.Op, PSN: int16(w.PSN.Diff(defaultStart))}
	if w.Op == roce.Acknowledge {
		p.Syndrome, p.MSN = w.Syndrome, uint8(w.MSN)
		return p
	}
	p.Length, p.Quiet = uint8(len(w.Payload)), !w.AckReq
	if p.Op.HasImm() {
		p.Imm = w.Imm
	}
	var b [4 * len(p.Payload)]byte
	copy(b[:], w.Payload)
	for i := range p.Payload {
		p.Payload[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return p
}

// Waits tells that an action takes time: a time-out, or the end of a wait.
func Waits(a inc.Action) bool {
	return a.Kind == inc.ActTimeout || a.Kind == inc.ActResume || a.Kind == ActPark
}

// What software does to an engine's group, among the actions of the engine's own.
const (
	// ActPark parks the group. It waits for whoever wants it.
	ActPark inc.ActionKind = 0x80 + iota
	// ActUnpark gives it its slots again. It may happen at any time, and does at last.
	ActUnpark
)

// Permute is the action about the image of its endpoint.
func Permute(a inc.Action, endpoints []int) inc.Action {
	if a.Kind != inc.ActSend && a.Kind < ActPark {
		a.Endpoint = endpoints[a.Endpoint]
	}
	return a
}

// ActionName is the action in a scenario.
func ActionName(t *topology.Topology, n int, a inc.Action) string {
	switch a.Kind {
	case inc.ActSend:
		return fmt.Sprintf("%v %v", a.Kind, a.Pipe)
	case ActPark:
		return "park"
	case ActUnpark:
		return "unpark"
	}
	return fmt.Sprintf("%v %s", a.Kind, t.Name(t.Neighbour(n, a.Endpoint)))
}

// Initial is the state after the start.
func (e *Engine) Initial() []byte { return slices.Clone(e.Reference.AppendState(nil)) }

// Look puts the engine into a state, and gives what it may do there by itself, the sends first, and whether nothing is unfinished.
func (e *Engine) Look(state []byte) (acts []inc.Action, idle bool, err error) {
	if err := e.Reference.Restore(state); err != nil {
		return nil, false, fmt.Errorf("restore a state: %w", err)
	}
	if e.Reference.Parked(0) {
		acts = append(acts, inc.Action{Kind: ActUnpark})
	}
	acts, idle = e.Reference.Actions(acts), e.Reference.Unfinished(0) == 0
	if e.Park && !e.Reference.Parked(0) && e.Reference.Park(0) == nil {
		acts = append(acts, inc.Action{Kind: ActPark})
	}
	return acts, idle, nil
}

// Stepped is what a step of a switch leads to.
type Stepped struct {
	State []byte
	Outs  [][]Packet // an endpoint's, in order
	Err   error      // what property it breaks
}

// Take gives a packet that comes to endpoint i in a state.
func (e *Engine) Take(state []byte, i int, p Packet) (Stepped, error) {
	return e.do(state, func() ([]inc.Out, error) { return e.Reference.Step(0, i, p.Wire(i)), nil })
}

// Act takes an action in a state.
func (e *Engine) Act(state []byte, a inc.Action) (Stepped, error) {
	return e.do(state, func() ([]inc.Out, error) {
		switch a.Kind {
		case ActPark:
			return nil, e.Reference.Park(0)
		case ActUnpark:
			return nil, e.Reference.Unpark(0)
		}
		return e.Reference.ActStep(0, a)
	})
}

// do restores a state, does something, and whatever follows at once.
func (e *Engine) do(state []byte, f func() ([]inc.Out, error)) (s Stepped, err error) {
	if err := e.Reference.Restore(state); err != nil {
		return s, fmt.Errorf("restore a state: %w", err)
	}
	discarded := e.Reference.Discarded(0)
	s.Outs = make([][]Packet, e.Members+1)
	note := func(outs []inc.Out, err error) error {
		s.add(e, outs)
		return err
	}
	if err = note(f()); err == nil {
		err = e.Settle(func(a inc.Action) error { return note(e.Reference.ActStep(0, a)) })
	}
	if err != nil {
		return Stepped{}, err
	}
	s.State = e.Reference.AppendState(nil)
	if n := e.Reference.Discarded(0) - discarded; n != 0 {
		s.Err = fmt.Errorf("%d slots were discarded while they held contributions of some", n)
	}
	if err := e.Reference.CheckInvariants(); err != nil && s.Err == nil {
		s.Err = fmt.Errorf("invariant: %w", err)
	}
	return s, nil
}

// Settle has the sends taken that may be taken, one by one, unless they are free.
func (e *Engine) Settle(act func(inc.Action) error) error {
	for !e.Free {
		acts := e.Reference.Actions(nil)
		if len(acts) == 0 || Waits(acts[0]) { // sends come first
			break
		}
		if err := act(acts[0]); err != nil {
			return fmt.Errorf("%v, which the engine offered: %w", acts[0], err)
		}
	}
	return nil
}

// add takes down what leaves.
func (s *Stepped) add(e *Engine, outs []inc.Out) {
	for i := range outs {
		o := &outs[i]
		switch p := PacketFrom(&o.Packet); {
		case o.Port > e.Members || e.isRoot && o.Port == e.Members:
			s.Err = fmt.Errorf("%s was sent to port %d, where nobody is", p, o.Port)
		case o.Bypass:
			s.Err = fmt.Errorf("%s was bypassed", p)
		default:
			s.Outs[o.Port] = append(s.Outs[o.Port], p)
		}
	}
}
