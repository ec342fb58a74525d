// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/arith"
	"incforge/verify/cover"
	"incforge/verify/ctrl"
	"incforge/verify/dut"
	"incforge/verify/score"
)

// T is one running test: a scenario, a seed, and the engines made for it.
type T struct {
	ctx  context.Context
	man  *contract.Manifest
	p    contract.Params
	rng  *rand.Rand
	seed uint64
	long bool
	// oneQueue: what the engine sends leaves in one order, as the reference's does; nothing can overtake.
	oneQueue bool
	open     func(seed uint64, n int) (dut.DUT, error)

	engines  []*engine
	recorded []*dut.Recorder
	cover    cover.Map
	values   map[string]uint64
	// turn is which of the included types, operations and byte orders the next group takes.
	turn int
	// doubled: two bits of a row were inverted on purpose since the engine was made.
	doubled bool
}

func newT(ctx context.Context, m *contract.Manifest, name string, seed uint64, open func(seed uint64, n int) (dut.DUT, error)) *T {
	h := fnv.New64a()
	h.Write([]byte(name))
	t := &T{ctx: ctx, man: m, p: m.Params, rng: rand.New(rand.NewPCG(seed, h.Sum64())), seed: seed, open: open,
		cover: cover.Map{}, values: map[string]uint64{}, turn: int((h.Sum64() + seed) % 1024)}
	for _, k := range t.kinds() {
		t.cover.Expect(cover.Arith{Kind: k.String(), Accumulate: m.Params.Accumulate})
	}
	return t
}

// engine is a DUT with its scoreboard and its control plane.
type engine struct {
	*score.Board
	drv *ctrl.Driver
	t   *T

	// Of Mode III. groups are those that were programmed. mute: who is at the other ends says nothing by itself, otherwise settle has them
	// acknowledge what they get, and leaves out what the engine acknowledges. timers: the scenario has set PIPE_TIMEOUT.
	groups       []*group
	mute, timers bool
}

// pipes tells whether the engines are of Mode III.
func (t *T) pipes() bool { return t.p.Mode == 3 }

// newEngine makes one more engine.
func (t *T) newEngine() (*engine, error) {
	d, err := t.open(t.rng.Uint64(), len(t.engines)) // another random initial state for each engine of each scenario
	if err != nil {
		return nil, err
	}
	b, err := score.New(d, t.man)
	if err != nil {
		return nil, err
	}
	b.Cover = t.cover
	e := &engine{Board: b, drv: ctrl.New(b, t.man), t: t}
	t.engines = append(t.engines, e)
	return e, nil
}

// beats is the number of beats of a frame of n bytes.
func (t *T) beats(n int) int { return (n + t.p.BusBytes - 1) / t.p.BusBytes }

// mtuBeats is the number of beats of the longest frame.
func (t *T) mtuBeats() int { return t.beats(t.p.MTUBytes + 62) }

// settle runs an engine until it rests and returns what left.
func (e *engine) settle() ([]dut.Out, error) {
	if err := e.t.ctx.Err(); err != nil {
		return nil, err
	}
	if err := e.Settle(); err != nil {
		return nil, err
	}
	outs := e.Out()
	if !e.t.pipes() || e.mute {
		return outs, nil
	}
	var all []dut.Out
	for len(outs) > 0 {
		answers := 0
		for _, o := range outs {
			p, err := roce.Decode(o.Data)
			if err == nil && p.Op == roce.Acknowledge && p.Syndrome == roce.AckSyndrome {
				continue
			}
			all = append(all, o)
			if f, ok := e.acknowledge(o.Port, &p); err == nil && ok {
				e.send(f.port, f.data)
				answers++
			}
		}
		if answers == 0 {
			break
		}
		if err := e.Settle(); err != nil {
			return nil, err
		}
		outs = e.Out()
	}
	return all, nil
}

// acknowledge is the ACK of whoever gets a data packet that left by a port.
func (e *engine) acknowledge(port int, p *roce.Packet) (portFrame, bool) {
	if !p.Op.IsSend() {
		return portFrame{}, false
	}
	for _, g := range slices.Backward(e.groups) { // the one programmed last, if the same endpoints were programmed twice
		if c := g.addressee(port, p); c >= 0 {
			return g.aeth(c, p.PSN, roce.AckSyndrome), true
		}
	}
	return portFrame{}, false
}

// send offers a frame at once.
func (e *engine) send(port int, data []byte) { e.Offer(port, dut.Frame{Data: data}) }

// exchange sends frames one after the other, each settled before the next, and returns what left.
func (e *engine) exchange(frames ...portFrame) ([]dut.Out, error) {
	var all []dut.Out
	for _, f := range frames {
		e.send(f.port, f.data)
		outs, err := e.settle()
		if err != nil {
			return nil, err
		}
		all = append(all, outs...)
	}
	return all, nil
}

type portFrame struct {
	port int
	data []byte
}

// namedFrame is a frame, and what it is in messages.
type namedFrame struct {
	what  string
	frame portFrame
}

// address is one end of an edge.
type address struct {
	mac roce.MAC
	ip  roce.IP4
	qpn uint32
}

// newAddress makes an address nobody has yet; low fixes the QPN's bits below mod, a power of two (1 for none).
func (t *T) newAddress(low, mod uint32) address {
	var a address
	binary.BigEndian.PutUint32(a.ip[:], t.rng.Uint32())
	if t.rng.IntN(4) == 0 { // octets of 255 make checksums carry
		a.ip[t.rng.IntN(4)], a.ip[2] = 0xFF, 0xFF
	}
	a.mac = roce.MACFromUint64(t.rng.Uint64())
	a.mac[0] = a.mac[0]&^1 | 2
	a.qpn = t.rng.Uint32()&0xFFFFFF&^(mod-1) | low
	return a
}

// group is a programmed group seen from the engine: its settings and who is at the other end of each endpoint.
type group struct {
	t      *T
	e      *engine
	index  int
	set    inc.Group
	ends   []inc.Endpoint // by endpoint; not Valid where there is none
	parent int            // −1: root
	// groups is how many share the buffer, capLog2N the most that log2_n may be, or 0.
	groups, capLog2N int
	// ranks is how many contributions a result has at most, over all switches; salt makes their sums exact together.
	ranks int
	salt  uint64
}

// mw is the window that the group's slots allow; in Mode III the slots of a pipe.
func (g *group) mw() int {
	if g.set.PipeSlots > 0 {
		return g.set.PipeSlots
	}
	return 1 << g.set.Log2N >> 1
}

// members are the endpoints in in_mask, ascending.
func (g *group) members() []int {
	var m []int
	for i := range g.ends {
		if g.set.InMask>>i&1 != 0 {
			m = append(m, i)
		}
	}
	return m
}

// kind is what the group computes.
func (g *group) kind() arith.Kind {
	return arith.Kind{DType: arith.DType(g.set.DType), Op: arith.Op(g.set.Op), BigEndian: g.set.BigEndian}
}

// wide tells whether a packet takes two units of the buffer.
func (g *group) wide() bool {
	return g.kind().DType.Wide() || g.set.InBand && g.t.p.DTypeMask()&wideTypes != 0
}

// size is the number of bytes of an element.
func (g *group) size() int { return g.kind().DType.Size() }

// setKind changes what the group computes, and nothing else: slots may not suffice then.
func (g *group) setKind(k arith.Kind) {
	g.set.DType, g.set.Op, g.set.BigEndian = uint8(k.DType), uint8(k.Op), k.BigEndian
}

// whole is the largest number of bytes not above n that is a whole number of elements.
func (g *group) whole(n int) int { return n - n%g.size() }

// values is a payload of n bytes whose reduction with the others' is known without the reference: arith.Kind.Values.
func (g *group) values(n int) []byte { return g.kind().Values(g.t.rng, g.salt, g.ranks, g.whole(n)) }

// noise is a payload of n bytes of everything that is hard; only an engine that adds in the same order gets the same sums.
func (g *group) noise(n int) []byte { return g.kind().Noise(g.t.rng, g.whole(n)) }

// reduce is the result of contributions made by values.
func (g *group) reduce(payloads ...[]byte) []byte { return exact(g.kind(), payloads) }

// exact panics if the payloads were not made by values: a mistake of the scenario, which Run reports as its failure.
func exact(k arith.Kind, payloads [][]byte) []byte {
	r, err := k.Exact(payloads...)
	if err != nil {
		panic(err)
	}
	return r
}

// groupOption changes a group before it is programmed.
type groupOption func(*group)

func withStart(psn roce.PSN) groupOption { return func(g *group) { g.set.Start = psn } }
func withBarrier() groupOption           { return func(g *group) { g.set.Collective = inc.CollectiveBarrier } }
func withKind(k arith.Kind) groupOption  { return func(g *group) { g.setKind(k) } }
func withLog2N(n int) groupOption        { return func(g *group) { g.capLog2N = n } }

// withCollective fixes a group with a parent to a Reduce toward the parent or a Broadcast from there. host tells whether a rank's
// NIC is there, the root's, or another switch.
func withCollective(collective uint8, host bool) groupOption {
	return func(g *group) {
		g.set.Collective, g.ends[g.parent].Host = collective, host
		switch collective {
		case inc.CollectiveReduce:
			g.set.OutMask, g.set.AckMask = 0, 1<<g.parent
		case inc.CollectiveBroadcast:
			g.set.InMask = 0
		}
	}
}

// withInBand makes a group in-band: rank r is at endpoint r, and as many ranks as there are here are beyond the parent, if there is
// one. The last rank that a control can name is nowhere.
func withInBand() groupOption {
	return func(g *group) {
		g.set.InBand = true
		for i := range g.ends {
			if i != g.parent {
				g.set.Route[i] = inc.Route{Valid: true, Endpoint: uint8(i)}
			}
		}
		for i := len(g.ends) - 1; g.parent >= 0 && i < min(2*(len(g.ends)-1), inc.Roots-1); i++ {
			g.set.Route[i] = inc.Route{Valid: true, Endpoint: uint8(g.parent)}
		}
	}
}

func withRanks(n int, salt uint64) groupOption {
	return func(g *group) { g.ranks, g.salt = n, salt }
}

// kinds are the included types and operations in both byte orders.
func (t *T) kinds() []arith.Kind { return arith.Kinds(t.p.DTypeMask(), t.p.OpMask()) }

// room is how many slots of the buffer each of n groups has.
func (t *T) room(n int) int { return t.p.Slots() / n }

// maxGroups is how many groups there can be at once, each with a window of at least one packet, and of whatever type if there are
// slots for more than one of that kind.
func maxGroups(p contract.Params) int {
	wide := p.DTypeMask()&wideTypes != 0
	if wide && (p.Slots() >= 2*wideSlots || p.DTypeMask()&^wideTypes == 0) {
		return min(p.Groups, p.Slots()/wideSlots)
	}
	return min(p.Groups, p.Slots()/2)
}

const (
	wideTypes = 1<<arith.FP16 | 1<<arith.BF16
	wideSlots = 4 // the least a group of a 16-bit type needs
)

// nextKind is the kind of the next of n groups: all that fit are taken in turn.
func (t *T) nextKind(n int) arith.Kind {
	all := t.kinds()
	for range all {
		k := all[t.turn%len(all)]
		t.turn++
		if !k.DType.Wide() || t.room(n) >= wideSlots {
			return k
		}
	}
	return all[0]
}

// maxLog2N is the largest log2_n that lets every one of n groups have its slots, no more than the window asks for.
func (t *T) maxLog2N(groups int, wide bool) int {
	per := max(t.room(groups), 2)
	if wide {
		per = max(per/2, 2)
	}
	return min(bits.Len(uint(per))-1, bits.Len(uint(t.p.GroupSlots()))-1)
}

// newGroup makes a group and programs it.
func (e *engine) newGroup(index, groups, members int, parent bool, opts ...groupOption) (*group, error) {
	g := e.makeGroup(index, groups, members, parent, opts...)
	return g, g.program()
}

// makeGroup makes group index as a root over members endpoints, or under a parent (endpoint number members) if parent is set.
// Groups share the buffer evenly if groups of them are wanted. Nothing is written yet.
func (e *engine) makeGroup(index, groups, members int, parent bool, opts ...groupOption) *group {
	t := e.t
	g := &group{t: t, e: e, index: index, parent: -1, groups: groups, ranks: members, salt: t.rng.Uint64()}
	g.set = inc.Group{Start: roce.PSN(t.rng.Uint32() & 0xFFFFFF), SlotBase: index % groups * max(t.room(groups), 2), InMask: 1<<members - 1}
	g.setKind(t.nextKind(groups))
	count := members
	if parent {
		g.parent, g.set.Parent, g.set.HasParent = members, members, true
		count++
	}
	g.set.OutMask, g.set.AckMask = g.set.InMask, g.set.InMask
	for i := range count {
		ei := uint32(index*t.p.EPS() + i)
		local, remote := t.newAddress(ei, uint32(t.p.Records())), t.newAddress(0, 1)
		g.ends = append(g.ends, inc.Endpoint{Valid: true, Host: i != g.parent, Port: i % t.p.Ports,
			LocalQPN: local.qpn, RemoteQPN: remote.qpn, LocalIP: local.ip, RemoteIP: remote.ip,
			LocalMAC: local.mac, RemoteMAC: remote.mac, UDPSourcePort: uint16(t.rng.Uint32()) | 0xC000,
			TTL: uint8(1 + t.rng.IntN(255)), TOS: uint8(t.rng.IntN(256)) &^ 3})
	}
	for _, o := range opts {
		o(g)
	}
	if g.set.Log2N = t.maxLog2N(groups, g.wide()); g.capLog2N > 0 {
		g.set.Log2N = min(g.set.Log2N, g.capLog2N)
	}
	return g
}

// longTimeout is PIPE_TIMEOUT for scenarios in which nobody is to be late.
const longTimeout = 65535

// program writes everything and enables the group.
func (g *group) program() error {
	if e := g.e; e.t.pipes() {
		if !slices.Contains(e.groups, g) {
			e.groups = append(e.groups, g)
		}
		if !e.timers {
			if err := e.drv.SetPipes(inc.PipeCtrl{RNRTimer: 1, RNR: true}, longTimeout); err != nil {
				return err
			}
		}
	}
	if err := g.e.drv.Disable(g.index); err != nil {
		return err
	}
	for i, ep := range g.ends {
		if err := g.e.drv.SetEndpoint(g.index*g.t.p.EPS()+i, ep); err != nil {
			return err
		}
	}
	if err := g.e.drv.SetGroup(g.index, g.set); err != nil {
		return err
	}
	ok, err := g.e.drv.Enable(g.index)
	if err == nil && !ok {
		err = fmt.Errorf("group %d does not enable", g.index)
	}
	return err
}

// packet is a packet from the far end of endpoint c.
func (g *group) packet(c int, op roce.Opcode, psn roce.PSN) roce.Packet {
	ep := g.ends[c]
	return roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, IPID: uint16(g.t.rng.Uint32()), DF: true,
		SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: uint16(g.t.rng.Uint32()), Op: op, PKey: roce.DefaultPKey,
		DestQP: ep.LocalQPN, PSN: psn}
}

// data is SEND ONLY from endpoint c; opts change it before it becomes a frame.
func (g *group) data(c int, psn roce.PSN, payload []byte, opts ...func(*roce.Packet)) portFrame {
	p := g.packet(c, roce.SendOnly, psn)
	p.AckReq, p.Payload = true, payload
	p.Pad = uint8(-len(payload) & 3)
	for _, o := range opts {
		o(&p)
	}
	return portFrame{g.ends[c].Port, p.AppendFrame(nil)}
}

// aeth is an ACK, NAK or RNR NAK from endpoint c.
func (g *group) aeth(c int, psn roce.PSN, syndrome uint8) portFrame {
	p := g.packet(c, roce.Acknowledge, psn)
	p.Syndrome, p.MSN = syndrome, g.t.rng.Uint32()&0xFFFFFF
	return portFrame{g.ends[c].Port, p.AppendFrame(nil)}
}

// words is a payload of n random words.
func (t *T) words(n int) []byte {
	b := make([]byte, 4*n)
	for i := range b {
		b[i] = byte(t.rng.Uint32())
	}
	return b
}

// counters reads all counters of a settled engine.
func (e *engine) counters() (map[string]uint32, error) { return e.drv.Counters() }

// counter reads one counter of a settled engine.
func (e *engine) counter(name string) (uint32, error) {
	return e.drv.Read("COUNTER", slices.Index(e.t.man.Counters, name)) // −1 is refused
}

// failf makes an error of a scenario's own expectation.
func failf(format string, args ...any) error { return fmt.Errorf(format, args...) }
