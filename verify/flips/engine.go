// SPDX-License-Identifier: Apache-2.0

package flips

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"incforge/contract"
	"incforge/inc"
	"incforge/network/fabric"
	"incforge/network/host"
	"incforge/roce"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
)

// ErrWrong is what every violation wraps: something left that should not have.
var ErrWrong = errors.New("contained nothing")

// engine is one under test, with the hosts around it and what may leave it.
type engine struct {
	*dut.RTL
	man    *contract.Manifest
	ctl    *ctrl.Driver
	rand   *rand.Rand
	groups []*group
	net    *fabric.Net
	passed [][][]byte // frames that are not the engine's and should leave, by port
	serial uint32

	// left is a digest of all that left, in order.
	left    uint64
	spoilt  int  // frames that left with a wrong ICRC or with err
	cleared bool // the tables were, and were not written again: what hosts sent is nobody's
	missing int  // bypassed frames that did not leave
	err     error
}

// group is a group of the engine, an AllReduce of all members.
type group struct {
	set      inc.Group
	ends     []inc.Endpoint
	hosts    []*host.Host
	expected [][]byte
	// packets are the payloads that each endpoint is to be sent, and sends as many of the same lengths.
	packets [][][]byte
}

// Idle is never true: memories are upset whenever it pleases.
func (e *engine) Idle() bool { return false }

// newEngine makes an engine and draws its groups.
func newEngine(d *dut.RTL, man *contract.Manifest, seed uint64) *engine {
	e := &engine{RTL: d, man: man, ctl: ctrl.New(d, man), rand: rand.New(rand.NewPCG(seed, 1))}
	p := man.Params
	for g := range min(p.Groups, 2) {
		n := 0
		for 2<<n <= p.Slots()/min(p.Groups, 2) {
			n++
		}
		all := uint32(1)<<p.Members - 1
		x := &group{set: inc.Group{SlotBase: g << n, Log2N: n, InMask: all, OutMask: all, AckMask: all, DType: inc.DTypeINT32}}
		for i := range p.Members {
			x.ends = append(x.ends, e.endpoint(g*p.EPS()+i, i%p.Ports))
		}
		e.groups = append(e.groups, x)
	}
	e.passed = make([][][]byte, p.Ports)
	return e
}

func (e *engine) endpoint(index, port int) inc.Endpoint {
	r := e.rand
	qpn := func() uint32 { return r.Uint32() & 0xFFFFFF }
	mac := func() roce.MAC { return roce.MACFromUint64(r.Uint64() & 0xFCFF_FFFF_FFFF) }
	return inc.Endpoint{Valid: true, Host: true, Port: port, LocalQPN: qpn()&^uint32(e.man.Params.Records()-1) | uint32(index), RemoteQPN: qpn(),
		LocalIP: roce.IP4FromUint32(r.Uint32()), RemoteIP: roce.IP4FromUint32(r.Uint32()), LocalMAC: mac(), RemoteMAC: mac(), UDPSourcePort: 0xC000, TTL: 64}
}

// start programs all groups and gives them new hosts.
func (e *engine) start() error {
	e.cleared = false
	e.net = fabric.New(e.rand.Uint64())
	e.net.AddSwitch(e)
	if e.man.Params.Pipes() {
		if err := e.ctl.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, hopTimeout(e.man.Params)); err != nil {
			return err
		}
	}
	for g, x := range e.groups {
		x.set.Start = roce.PSN(e.rand.Uint32() & roce.PSNMask)
		x.expected, x.hosts, x.packets = nil, nil, make([][][]byte, len(x.ends))
		for i := range x.ends {
			e.connect(x, i)
		}
		for i, ep := range x.ends {
			if err := e.ctl.SetEndpoint(g*e.man.Params.EPS()+i, ep); err != nil {
				return err
			}
		}
		if err := e.ctl.SetGroup(g, x.set); err != nil {
			return err
		}
		on, err := e.ctl.Enable(g)
		if err != nil || !on {
			return fmt.Errorf("group %d does not start: %w", g, errors.Join(err, ErrWrong))
		}
		for _, ep := range x.ends {
			window := 1 << x.set.Log2N >> 1
			if e.man.Params.Mode == 1 {
				window *= e.man.Params.MessageBytes / ep.PathMTU
			}
			h, err := host.New(host.Config{MAC: ep.RemoteMAC, PeerMAC: ep.LocalMAC, IP: ep.RemoteIP, PeerIP: ep.LocalIP, QPN: ep.RemoteQPN, PeerQPN: ep.LocalQPN,
				UDPPort: 0xC001, TTL: 64, Start: ep.RQPSN, Expect: &ep.SQPSN, PathMTU: ep.PathMTU, Strict: e.man.Params.Mode == 1, Window: window, Timeout: timeout, RNRCode: 1,
				CyclesPerMicrosecond: e.man.Params.CyclesPerMicrosecond()})
			if err != nil {
				return err
			}
			x.hosts = append(x.hosts, h)
			e.net.AddHost(0, ep.Port, h, &fabric.Link{Latency: 8, BytesPerCycle: float64(e.man.Params.BusBytes)})
		}
	}
	return nil
}

// connect gives an endpoint of a group its first PSNs and its path MTU: those of the group, in Mode I its own.
func (e *engine) connect(x *group, i int) {
	ep, p := &x.ends[i], e.man.Params
	ep.RQPSN, ep.SQPSN, ep.PathMTU = x.set.Start, x.set.Start, p.MTUBytes
	if p.Mode != 1 {
		return
	}
	ep.RQPSN, ep.SQPSN = roce.PSN(e.rand.Uint32()&roce.PSNMask), roce.PSN(e.rand.Uint32()&roce.PSNMask)
	for least := p.LeastPathMTU(); ep.PathMTU > least && e.rand.IntN(2) == 0; {
		ep.PathMTU /= 2
	}
}

// timeout is that of hosts, in cycles.
const timeout = 4000

// hopTimeout is PIPE_TIMEOUT of an engine of Mode III or I, in microseconds.
func hopTimeout(p contract.Params) uint16 { return uint16(timeout/p.CyclesPerMicrosecond() + 1) }

// silence ends the hosts and disables the groups, whatever state the engine is in.
func (e *engine) silence() error {
	for g, x := range e.groups {
		for _, h := range x.hosts {
			h.Kill()
		}
		if err := e.ctl.Disable(g); err != nil {
			return err
		}
	}
	return nil
}

// drained lets time pass until nothing moves any more.
func (e *engine) drained() error {
	for until := max(e.net.Now(), e.Now()) + drain; e.net.Now() < until; {
		if err := e.step(); err != nil {
			return err
		}
		if e.Waiting() == 0 && e.Still() > 256 && e.net.Now() >= e.Now() {
			return nil
		}
	}
	return fmt.Errorf("%w: frames still move %d cycles after all hosts fell silent and all groups were stopped", ErrWrong, drain)
}

// quiet lets some cycles pass in which nobody sends.
func (e *engine) quiet(cycles uint64) error {
	for until := max(e.net.Now(), e.Now()) + cycles; e.net.Now() < until; {
		if err := e.step(); err != nil {
			return err
		}
	}
	return nil
}

// drain is how many cycles it may take at most until nothing moves any more.
const drain = 200_000

// step is a quantum of the network.
func (e *engine) step() error {
	if err := e.net.Step(); err != nil { // a host's connection has ended, or a stream broke its rules
		return fmt.Errorf("%w: %w", ErrWrong, err)
	}
	return e.err
}

// run lets the network run, and has hosts always something to send and some frame that is nobody's on its way.
func (e *engine) run(cycles uint64) error {
	until := max(e.net.Now(), e.Now()) + cycles // registers take time in which the network stands still
	for e.net.Now() < until {
		for _, x := range e.groups {
			for len(x.hosts) > 0 && !x.hosts[0].Dead() && x.hosts[0].Posted()-x.hosts[0].Completed() < 1<<x.set.Log2N {
				e.post(x)
			}
		}
		if e.rand.IntN(4) == 0 && e.Waiting() < 8 {
			e.pass()
		}
		if err := e.step(); err != nil {
			return err
		}
	}
	return nil
}

// post gives all hosts of a group a message of one packet, in Mode I now and then of several.
func (e *engine) post(x *group) {
	words := 1 + e.rand.IntN(16)
	if e.rand.IntN(16) == 0 {
		words = e.man.Params.MTUBytes / 4
		if e.man.Params.Mode == 1 {
			words = 1 + e.rand.IntN(e.man.Params.MessageBytes/4)
		}
	}
	sum := make([]byte, 4*words)
	for _, h := range x.hosts {
		m := make([]byte, 4*words)
		for i := range words {
			v := e.rand.Uint32()
			binary.LittleEndian.PutUint32(m[4*i:], v)
			binary.LittleEndian.PutUint32(sum[4*i:], binary.LittleEndian.Uint32(sum[4*i:])+v)
		}
		h.Post(host.Message{Payload: m})
	}
	x.expected = append(x.expected, sum)
	for i, ep := range x.ends {
		x.packets[i] = slices.AppendSeq(x.packets[i], slices.Chunk(sum, ep.PathMTU))
	}
}

// pass offers a frame that is not the engine's; BYPASS_PORT is as after reset, so it leaves where it came in.
func (e *engine) pass() {
	e.serial++
	frame := make([]byte, 60+e.rand.IntN(80))
	for i := range frame {
		frame[i] = byte(e.rand.Uint32())
	}
	binary.BigEndian.PutUint16(frame[12:], 0x88B5) // no IP
	binary.BigEndian.PutUint32(frame[14:], e.serial)
	port := e.rand.IntN(e.man.Params.Ports)
	e.passed[port] = append(e.passed[port], slices.Clone(frame))
	e.Offer(port, dut.Frame{Data: frame})
}

// Out judges what leaves, and passes on what hosts should get.
func (e *engine) Out() []dut.Frame {
	var out []dut.Frame
	for _, o := range e.RTL.Out() {
		for _, b := range append(o.Data, byte(o.Port)) {
			e.left = (e.left ^ uint64(b)) * 1099511628211
		}
		e.left = (e.left ^ o.Last) * 1099511628211
		mine, err := e.judge(o)
		if err != nil && e.err == nil {
			e.err = fmt.Errorf("cycle %d, port %d: %w: %w", o.Last, o.Port, ErrWrong, err)
		}
		if mine {
			out = append(out, o)
		}
	}
	return out
}

// judge says whether a frame is for a host, or why it is wrong. One that no receiver takes is spoilt.
func (e *engine) judge(o dut.Frame) (mine bool, err error) {
	switch p, bad := o.Packet(); {
	case o.Err:
		e.spoilt++
		if len(o.Data) >= 18 && binary.BigEndian.Uint16(o.Data[12:]) == 0x88B5 {
			e.forget(o)
		}
		return false, nil
	case bad != nil:
		return false, e.bypassed(o)
	case !roce.CheckICRC(o.Data):
		e.spoilt++
		return false, nil
	default:
		return true, e.right(o.Port, p)
	}
}

// forget notes that a bypassed frame left with err.
func (e *engine) forget(o dut.Frame) {
	e.passed[o.Port] = slices.DeleteFunc(e.passed[o.Port], func(f []byte) bool { return bytes.Equal(f[:18], o.Data[:18]) })
}

// bypassed checks a frame that is not the engine's: it is one of those offered, behind the last that left. Those between were dropped.
func (e *engine) bypassed(o dut.Frame) error {
	at := slices.IndexFunc(e.passed[o.Port], func(f []byte) bool { return bytes.Equal(f, o.Data) })
	if at < 0 {
		return fmt.Errorf("a frame left that nobody sent: %x", o.Data)
	}
	e.missing += at
	e.passed[o.Port] = e.passed[o.Port][at+1:]
	return nil
}

// right checks a packet with a right ICRC: it is for the endpoint behind the port, and says what it should.
func (e *engine) right(port int, p *roce.Packet) error {
	for _, x := range e.groups {
		at := slices.IndexFunc(x.ends, func(ep inc.Endpoint) bool { return ep.RemoteQPN == p.DestQP })
		if at < 0 {
			continue
		}
		ep := x.ends[at]
		if ep.Port != port || ep.RemoteIP != p.DstIP || ep.RemoteMAC != p.DstMAC || ep.LocalIP != p.SrcIP || ep.LocalMAC != p.SrcMAC {
			return fmt.Errorf("addresses of no endpoint: %v", p)
		}
		if !p.Op.IsSend() {
			if n := p.PSN.Diff(ep.RQPSN); n < -1 || n >= len(x.packets[at]) {
				return fmt.Errorf("acknowledges what was never sent: %v, packet %d of %d", p, n, len(x.packets[at]))
			}
			return nil
		}
		if n := p.PSN.Diff(ep.SQPSN); n < 0 || n >= len(x.packets[at]) || !bytes.Equal(p.Payload, x.packets[at][n]) {
			return fmt.Errorf("a wrong result with a right ICRC: %v, packet %d of %d", p, n, len(x.packets[at]))
		}
		return nil
	}
	if e.cleared && e.sentByHost(p) {
		return nil
	}
	return fmt.Errorf("for no queue pair: %v", p)
}

// sentByHost tells that a packet is one from a host to the engine.
func (e *engine) sentByHost(p *roce.Packet) bool {
	for _, x := range e.groups {
		if slices.ContainsFunc(x.ends, func(ep inc.Endpoint) bool {
			return ep.LocalQPN == p.DestQP && ep.LocalIP == p.DstIP && ep.RemoteIP == p.SrcIP && ep.LocalMAC == p.DstMAC && ep.RemoteMAC == p.SrcMAC
		}) {
			return true
		}
	}
	return false
}

// received checks that hosts have what they should, as far as they got.
func (e *engine) received() error {
	for g, x := range e.groups {
		for i, h := range x.hosts {
			for n, m := range h.Received() {
				if n >= len(x.expected) || !bytes.Equal(m.Payload, x.expected[n]) {
					return fmt.Errorf("%w: group %d rank %d took message %d, which is wrong", ErrWrong, g, i, n)
				}
			}
		}
	}
	return nil
}
