// SPDX-License-Identifier: Apache-2.0

package fourstate

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/ctrl"
)

// frame goes in at a port.
type frame struct {
	port int
	data []byte
	err  bool
	gap  int // cycles before it
}

// write is a register write.
type write struct{ addr, value uint32 }

// phase is a part of the run. Frames come as fast as they are taken.
type phase struct {
	name   string
	reset  bool    // it begins with a reset, under whatever is going on
	writes []write // then the registers
	frames []frame
	pause  int  // of eight cycles, in how many a receiver hesitates
	cut    bool // it ends in the middle of its frames
}

// stimulus is all that is done to an engine.
type stimulus struct {
	man     *contract.Manifest
	core    bool // one stream for all ports
	rng     *rand.Rand
	phases  []phase
	reads   []uint32 // at the end
	sources [][]sent // what each source offers, frame by frame
}

// sent is a frame of a source: where its beats begin.
type sent struct {
	frame
	beat int
}

// hosts is how many members a group has: enough for a sum and for one that lags.
const hosts = 3

// group is a group that is programmed and what it expects next.
type group struct {
	set  inc.Group
	ends []inc.Endpoint
	next roce.PSN
	// left is how many packets of an in-band group's range are to come.
	left int
}

// newStimulus draws what an engine gets, always the same for the same engine.
func newStimulus(m *contract.Manifest, core, brief bool) (*stimulus, error) {
	s := &stimulus{man: m, core: core, rng: rand.New(rand.NewPCG(1, uint64(m.Params.BusBytes)))}
	p := m.Params
	all := make([]int, p.MTUBytes)
	for i := range all {
		all[i] = i + 1
	}
	var few []int // every remainder of the bus, and what is shorter than a header
	for n := 1; n < 64+max(p.BusBytes, 8); n++ {
		few = append(few, n)
	}
	first := all
	if p.BusBytes > 8 || brief {
		first = few
	}
	for _, ph := range []struct {
		phase
		lengths []int
		swapped bool // which groups are in-band
	}{
		{phase{name: "all lengths", reset: true}, first, false},
		{phase{name: "back-pressure", pause: 4}, few, false},
		{phase{name: "heavy back-pressure, cut by a reset", pause: 7, cut: true}, few, false},
		{phase{name: "after a reset in traffic", reset: true, pause: 1}, few, true},
	} {
		if ph.reset {
			groups, writes, err := s.program(ph.swapped)
			if err != nil {
				return nil, err
			}
			ph.writes = writes
			ph.frames = s.traffic(groups, ph.lengths)
			s.phases = append(s.phases, ph.phase)
			continue
		}
		ph.frames = s.traffic(nil, ph.lengths)
		s.phases = append(s.phases, ph.phase)
	}
	for i := range m.Registers {
		r := &m.Registers[i]
		for k := range r.Size() {
			if k < 4 || k == r.Size()-1 {
				s.reads = append(s.reads, r.At(k))
			}
		}
	}
	return s, nil
}

// recorder is a register bus that only takes down what is written.
type recorder struct {
	ctrl.Bus
	writes []write
}

func (r *recorder) Write(addr, value uint32, _ uint8) error {
	r.writes = append(r.writes, write{addr, value})
	return nil
}

// program draws up to two groups, one in-band where there are such, and gives what is written to start them.
func (s *stimulus) program(swapped bool) ([]*group, []write, error) {
	p := s.man.Params
	rec := &recorder{}
	drv := ctrl.New(rec, s.man)
	var groups []*group
	count := min(p.AllGroups(), 2)
	for g := range count {
		inBand := p.InBand && (g == 1) != swapped
		gr, err := s.newGroup(g, count, inBand)
		if err != nil {
			return nil, nil, err
		}
		groups = append(groups, gr)
		for i, ep := range gr.ends {
			if err := drv.SetEndpoint(g*p.EPS()+i, ep); err != nil {
				return nil, nil, err
			}
		}
		if err := drv.SetGroup(g, gr.set); err != nil {
			return nil, nil, err
		}
		if err := drv.Start(g); err != nil {
			return nil, nil, err
		}
	}
	return groups, rec.writes, nil
}

// newGroup draws group g of so many.
func (s *stimulus) newGroup(g, count int, inBand bool) (*group, error) {
	p := s.man.Params
	dtype := uint8(bits.TrailingZeros32(p.DTypeMask()))
	op := uint8(bits.TrailingZeros32(p.OpMask()))
	packets := p.Slots() / count / p.Units(dtype, inBand)
	if packets < 2 {
		return nil, errors.New("the buffer has no room for the groups of the four-state run")
	}
	members := min(hosts, p.Members)
	mask := uint32(1)<<members - 1
	gr := &group{next: roce.PSN(0xFFFFF0 + 3*g)}
	gr.set = inc.Group{Start: gr.next, SlotBase: g * (p.Slots() / count), Log2N: min(bits.Len(uint(packets))-1, bits.Len(uint(p.GroupSlots()))-1),
		InMask: mask, OutMask: mask, AckMask: mask, DType: dtype, Op: op, InBand: inBand}
	for i := range members {
		ei := g*p.EPS() + i
		ep := inc.Endpoint{Valid: true, Host: true, Port: (i + g) % p.Ports, LocalQPN: uint32(ei) | 0x550000,
			RemoteQPN: 0x100 + uint32(ei), LocalIP: roce.IP4{10, 0, byte(g), 100}, RemoteIP: roce.IP4{10, 0, byte(g), byte(i + 1)},
			LocalMAC: roce.MAC{2, 0, 0, 0, byte(g), 100}, RemoteMAC: roce.MAC{2, 0, 0, 0, byte(g), byte(i + 1)}, UDPSourcePort: 0xC000, TTL: 64, TOS: 2}
		if p.Mode == 1 {
			ep.RQPSN, ep.SQPSN, ep.PathMTU = gr.next, gr.next, p.MTUBytes
		}
		gr.ends = append(gr.ends, ep)
	}
	return gr, nil
}

// packet is one from member c.
func (g *group) packet(c int, op roce.Opcode, psn roce.PSN, payload []byte) roce.Packet {
	ep := g.ends[c]
	return roce.Packet{DstMAC: ep.LocalMAC, SrcMAC: ep.RemoteMAC, TTL: 64, DF: true, SrcIP: ep.RemoteIP, DstIP: ep.LocalIP, SrcPort: 0xD000,
		Op: op, PKey: roce.DefaultPKey, DestQP: ep.LocalQPN, PSN: psn, Payload: payload, AckReq: op.IsSend()}
}

// bytes are n random ones.
func (s *stimulus) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.rng.Uint32())
	}
	return b
}

// wideBus is the widest bus, in bytes, with which every port gets every length. A cycle of wider ones takes a simulator of four states some
// tenths of a second.
const wideBus = 128

// traffic makes a frame of every length that is nobody's, one that begins like the engine's own and is cut or has bytes behind it, and
// between them contributions to every group, of lengths in turn, with the answers that hosts give. Every port gets frames alike,
// so that no member gets ahead of the others by more than its window.
func (s *stimulus) traffic(groups []*group, lengths []int) []frame {
	p := s.man.Params
	var frames []frame
	for i, n := range lengths {
		for port := range p.Ports {
			switch {
			case p.BusBytes == 8 && n > 128 && port > 0:
				continue // long ones at one port alone
			case p.BusBytes > wideBus && port != n%p.Ports:
				continue // a thousand lengths, each at one port in turn
			}
			frames = append(frames, frame{port: port, data: s.bytes(n), err: s.rng.IntN(16) == 0})
		}
		if len(groups) == 0 {
			continue
		}
		g := groups[i%len(groups)]
		if n <= 128 || n%32 == 1 {
			frames = append(frames, s.damaged(g, n))
		}
		if n <= 128 || n%24 < len(groups) {
			frames = append(frames, s.round(g, 4*((7*i)%(min(p.MTUBytes, max(n, 64))/4+1)))...)
		}
	}
	return frames
}

// damaged is a frame of n bytes whose head is the engine's.
func (s *stimulus) damaged(g *group, n int) frame {
	c := s.rng.IntN(len(g.ends))
	op := []roce.Opcode{roce.SendOnly, roce.SendOnlyImm, roce.Acknowledge}[s.rng.IntN(3)]
	p := g.packet(c, op, g.next.Add(s.rng.IntN(3)-2), s.bytes(4*s.rng.IntN(4)))
	if !op.IsSend() {
		p.Payload = nil
	}
	data := p.AppendFrame(nil)
	if n < len(data) {
		data = data[:n]
	} else {
		data = append(data, s.bytes(n-len(data))...)
	}
	return frame{port: g.ends[c].Port, data: data, err: s.rng.IntN(8) == 0}
}

// rangePackets is how many packets an in-band range has.
const rangePackets = 6

// round is the next packet of every member, and what each answers to the one before the last.
func (s *stimulus) round(g *group, size int) []frame {
	var frames []frame
	op, payload := roce.SendOnly, s.bytes(size)
	imm := uint32(0)
	if g.set.InBand && g.left == 0 {
		g.left = rangePackets + 1
		op, payload = roce.SendOnlyImm, nil
		imm = inc.Control{Collective: g.set.Collective, Op: g.set.Op, DType: g.set.DType, Packets: rangePackets}.Immediate()
	} else if s.rng.IntN(3) == 0 {
		op, imm = roce.SendOnlyImm, s.rng.Uint32()
	}
	if g.set.InBand {
		g.left--
	}
	for c, ep := range g.ends {
		p := g.packet(c, op, g.next, payload)
		p.Imm = imm
		frames = append(frames, frame{port: ep.Port, data: p.AppendFrame(nil)})
	}
	if psn := g.next.Add(-2); !psn.Before(g.set.Start) {
		for c, ep := range g.ends {
			p := g.packet(c, roce.Acknowledge, psn, nil)
			p.Syndrome = roce.AckSyndrome
			frames = append(frames, frame{port: ep.Port, data: p.AppendFrame(nil), gap: 4})
		}
	}
	g.next = g.next.Next()
	return frames
}

// describe says which frame a source had begun by a beat.
func (s *stimulus) describe(source, beat int) string {
	if source < 0 || source >= len(s.sources) {
		return ""
	}
	text := ""
	for i, f := range s.sources[source] {
		if f.beat > beat {
			break
		}
		text = fmt.Sprintf("number %d of its source, port %d, %d bytes, err %v", i, f.port, len(f.data), f.err)
		if p, err := roce.Decode(f.data); err == nil {
			text += ": " + p.String()
		}
	}
	return text
}
