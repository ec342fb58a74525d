// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"cmp"

	"incforge/contract"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// needQueues is for scenarios of ports with queues.
func needQueues(p contract.Params) string {
	if p.PortBytes == 0 {
		return "needs ports with queues"
	}
	return needPorts(2)(p)
}

// portTroubles spoils one port in every way while a group has its members on all others: frames with err, frames too long, a frame that stops
// in the middle, a clock that stands still. Of the group every result comes in time. An engine without queues in front has none of the counters.
func portTroubles(t *rig.T) {
	e := t.Engine()
	p := t.Params
	bad := t.Rand.IntN(p.Ports)
	g := e.Group(0, 1, min(p.Members, p.Ports-1), false, func(g *rig.Group) {
		for i := range g.Ends {
			g.Ends[i].Port = (bad + 1 + i) % p.Ports
		}
	})
	s := &spoilt{e: e, g: g, port: bad, queues: !e.TakesErrors()}
	const frames = 12
	for range frames {
		e.Put(rig.Frame{Port: bad, Data: s.stranger(), Err: true})
	}
	s.others()
	e.Settle()
	s.counted("PORT_RX_ERROR", frames)
	for range frames {
		e.Put(rig.Frame{Port: bad, Data: t.Words(p.PortFrameBytes()/4 + 1 + t.Rand.IntN(64))})
	}
	s.others()
	e.Settle()
	s.counted("PORT_RX_LONG", frames)
	hung := uint32(0)
	if e.Trouble(bad, dut.Hangs) {
		hung++
		e.Put(rig.Frame{Port: bad, Data: s.stranger()})
		for range 3 {
			s.others()
		}
		given := float64(contract.PortHangCycles) // in the port's clock
		e.StepTo(e.Now() + uint64(given*float64(p.ClockMHz)/cmp.Or(p.PortMHz(bad), float64(p.ClockMHz))) + s.long())
		s.counted("PORT_RX_HUNG", hung)
		e.Trouble(bad, dut.Sound)
		e.Settle()
	}
	if e.Trouble(bad, dut.StandsStill) {
		for range 3 {
			e.Put(rig.Frame{Port: bad, Data: s.stranger()})
		}
		for range 3 {
			s.others()
		}
		e.StepTo(e.Now() + s.long())
		if n := e.Waiting(); n != 3 {
			t.Fatalf("%d frames of 3 wait at a port whose clock stands still", n)
		}
		e.Trouble(bad, dut.Sound)
		e.Settle()
	}
	s.counted("PORT_RX_HUNG", hung)
	s.counted("PORT_RX_FULL", 0)
	s.called(hung > 0)
	s.others()
	e.Settle()
}

// spoilt is an engine with a group, and a port in trouble.
type spoilt struct {
	e     *rig.Engine
	g     *rig.Group
	port  int
	round int
	// queues are in front of the engine, and count.
	queues bool
}

// stranger is a frame of several beats of a port that is nobody's.
func (s *spoilt) stranger() []byte { return s.e.T.Words(max(60, s.e.T.Params.PortBytes)) }

// long is a time in which a frame goes through both queues and the engine.
func (s *spoilt) long() uint64 {
	p := s.e.T.Params
	slow := 0.0 // cycles that a byte takes
	for i := range p.Ports {
		cycles := 1 / float64(p.PortWidth(i))
		if mhz := p.PortMHz(i); mhz > 0 {
			cycles *= max(1, float64(p.ClockMHz)/mhz)
		}
		slow = max(slow, cycles)
	}
	return uint64(slow*float64(20*p.PortFrameBytes())) + 1000
}

// others has the group reduce a packet; every member gets the result, though the engine does not come to rest.
func (s *spoilt) others() {
	t := s.e.T
	r := s.g.Round(s.g.PSN(s.round), s.g.Whole(t.Params.MTUBytes)).Draw(s.g.Members()...)
	s.round++
	for _, c := range s.g.Members() {
		s.e.Put(r.Frame(c))
	}
	results := map[int]bool{}
	for end := s.e.Now() + s.long(); len(results) < len(s.g.Members()); {
		if s.e.Now() >= end {
			t.Fatalf("port %d is in trouble, and %d of %d members have no result of round %d after %d cycles", s.port,
				len(s.g.Members())-len(results), len(s.g.Members()), s.round, s.long())
		}
		s.e.StepTo(s.e.Now() + 64)
		for _, o := range s.e.Out() {
			if p, err := o.Packet(); err == nil && p.Op.IsSend() && o.Port != s.port {
				results[o.Port] = true
			}
		}
	}
	for _, c := range s.g.Members() {
		s.e.Put(s.g.Ack(c, r.PSN))
	}
}

// called checks what the ports' interrupts say of all this, and that they raise the line.
func (s *spoilt) called(hung bool) {
	if !s.queues || !s.e.T.Params.Interrupts {
		return
	}
	c := &caller{e: s.e, page: "PORT_IRQ"}
	c.onlyThese(append([]string{"rx_error", "rx_long"}, map[bool][]string{true: {"rx_hung"}}[hung]...)...)
	c.raises("rx_error")
	c.onlyThese()
}

// counted reads a counter of the port's queue, if it has one.
func (s *spoilt) counted(register string, want uint32) {
	if !s.queues {
		return
	}
	if got := s.e.Read(register, s.port); got != want {
		s.e.T.Fatalf("%s of port %d is %d, want %d", register, s.port, got, want)
	}
}
