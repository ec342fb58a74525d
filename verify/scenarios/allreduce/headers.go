// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"encoding/binary"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
	"incforge/verify/rig"
)

// lengths takes a sample of the long payloads unless the long form is asked for.
func lengths(t *rig.T) {
	s := &shapes{g: t.Star()}
	g, mtu, bus := s.g, t.Params.MTUBytes, t.Params.BusBytes
	edge := 4 * bus
	for n := 0; n <= mtu; n += g.Size() {
		if !t.Long && n > edge && n < mtu-edge && t.Rand.IntN(16) != 0 {
			continue
		}
		op := []roce.Opcode{roce.SendOnlyImm, roce.SendOnly}[t.Rand.IntN(2)]
		s.reduce(n, op, 0)
		if t.Rand.IntN(4) == 0 || n < 2*bus {
			s.reduce(n, op, 1+t.Rand.IntN(2*bus))
		}
	}
	if t.Messages() { // a FIRST is of one length alone, and is not followed by another: see message-cuts
		return
	}
	for _, op := range []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLast, roce.SendFirst, roce.SendLastImm, roce.SendOnlyImm} {
		for _, n := range []int{mtu, mtu, g.Size() * (1 + t.Rand.IntN(mtu/g.Size()))} {
			s.reduce(n, op, 0)
		}
	}
}

// shapes are packets of all lengths and opcodes, one PSN after the other.
type shapes struct {
	g    *rig.Group
	next int // number of the next PSN
}

// reduce has all members contribute n bytes by packets of one opcode, with trailing bytes behind the ICRC, some back to back and some
// with a rest between them.
func (s *shapes) reduce(n int, op roce.Opcode, trailing int) {
	g, t, m := s.g, s.g.T, s.g.Members()
	imm, se := t.Rand.Uint32(), t.Rand.IntN(2) == 0
	r := g.Round(g.PSN(s.next), n)
	s.next++
	var outs []dut.Frame
	for _, c := range m {
		f := r.Frame(c, func(p *roce.Packet) {
			p.Op, p.Imm, p.SE = op, imm, se
			p.AckReq = op.EndsMessage()
		})
		if t.Params.PortBytes > 0 { // a port with queues takes no longer frames
			trailing = min(trailing, t.Params.PortFrameBytes()-len(f.Data))
		}
		for i := range trailing {
			f.Data = append(f.Data, byte(i*37+1))
		}
		g.E.Put(f)
		if c == m[len(m)-1] || t.Rand.IntN(8) == 0 {
			outs = append(outs, g.E.Settle()...)
		}
	}
	g.CheckAt(outs, m, op, r.PSN, r.Result())
	for _, o := range outs {
		if p := t.Packet(o); p.SE != se || op.HasImm() && p.Imm != imm {
			t.Fatalf("SE %v immediate %#x became SE %v immediate %#x", se, imm, p.SE, p.Imm)
		}
	}
}

// checksumCarry picks the IP id of what goes in, and the addresses of what comes out, so that the header sums lie at the edge.
func checksumCarry(t *rig.T) {
	e := t.Engine()
	for i := range 40 {
		g := e.Group(0, 1, t.Params.Members, false)
		length := 4 * t.Rand.IntN(t.Params.MTUBytes/4+1)
		id := uint16(t.Rand.Uint32())
		for c := range g.Ends { // the last octets of the local address make the sum of results
			ep := &g.Ends[c]
			base := headerSum(ep.TOS, 44+length, id, ep.TTL, ep.LocalIP, ep.RemoteIP) - uint32(ep.LocalIP[2])<<8 - uint32(ep.LocalIP[3])
			binary.BigEndian.PutUint16(ep.LocalIP[2:], uint16(edgeSum(base, i+c)-base))
		}
		g.Program()
		t.Check(e.Ctl.SetIPID(id))

		r := g.Round(g.PSN(0), length)
		var data, acks []rig.Frame
		for _, c := range g.Members() {
			data = append(data, r.Frame(c, func(p *roce.Packet) {
				base := headerSum(p.TOS, 44+length, 0, p.TTL, p.SrcIP, p.DstIP)
				p.IPID = uint16(edgeSum(base, i+c) - base)
			}))
		}
		g.Send(data...).ExpectAt(g.Members(), roce.SendOnly, r.PSN, r.Result())
		for _, c := range g.Members() {
			acks = append(acks, g.Ack(c, r.PSN))
		}
		g.Send(acks...).As("ACKs").Expect(rig.ByMode(t, rig.Copies(rig.AckTo(0, r.PSN), g.Members()...), nil)...)
	}
}

// headerSum adds the sixteen-bit words of an IPv4 header with DF and UDP, checksum 0, without folding.
func headerSum(tos uint8, total int, id uint16, ttl uint8, src, dst roce.IP4) uint32 {
	s := 0x4500 + uint32(tos) + uint32(total) + uint32(id) + 0x4000 + uint32(ttl)<<8 + 17
	for _, a := range []roce.IP4{src, dst} {
		s += uint32(binary.BigEndian.Uint16(a[:])) + uint32(binary.BigEndian.Uint16(a[2:]))
	}
	return s
}

// edgeSum is a sum from base to base+65535 at the edge where folding carries twice: on it, just below, or just above.
func edgeSum(base uint32, which int) uint32 {
	for high := base >> 16; ; high++ {
		edge := high<<16 | (0x10000-high)&0xFFFF // the least sum with this upper part that carries twice
		sum := edge + uint32([]int{0, 0, -1, 1, 0}[which%5]&0xFFFFFFFF)
		if sum >= base {
			if sum-base > 0xFFFF {
				return base
			}
			return sum
		}
	}
}

func congestion(t *rig.T) {
	g := t.Star()
	m, count := g.Members(), 2*g.MW()+3
	for k := range count {
		marked := t.Rand.IntN(len(m) + 1) // the member whose frame is marked, or nobody
		r := g.Round(g.PSN(k), 12)
		var frames []rig.Frame
		for i, c := range m {
			frames = append(frames, r.Frame(c, func(p *roce.Packet) {
				p.Op, p.Imm, p.SE = roce.SendOnlyImm, uint32(i), i%2 == 0
				if p.TOS = uint8(t.Rand.IntN(3)); i == marked {
					p.TOS = roce.ECNCE
				}
			}))
		}
		outs := g.Send(frames...).Out()
		g.CheckAt(outs, m, roce.SendOnlyImm, r.PSN, r.Result())
		for _, o := range outs {
			if p := t.Packet(o); p.CE() != (marked < len(m)) || p.Imm != 0 || !p.SE {
				t.Fatalf("PSN %v: CE %v SE %v immediate %d, expected %v true 0", r.PSN, p.CE(), p.SE, p.Imm, marked < len(m))
			}
		}
	}
	for _, c := range m {
		for _, tos := range []uint8{0, 1, 2, 3, 0xFF} {
			t.In("a CNP", func() { congested(g, c, tos) })
			if t.Pipes() {
				continue
			}
			f := g.Ack(c, g.Start())
			f.Data[15] = tos
			roce.Reseal(f.Data)
			g.Send(f).As("an ACK with ToS %#x", tos).Expect(rig.AckTo(c, g.Start()))
		}
	}
	if n, want := g.E.Counters()[inc.ImmMismatch.String()], uint64(count*(len(m)-1)); n != want {
		t.Fatalf("%v is %d, expected %d", inc.ImmMismatch, n, want)
	}
}

// congested has endpoint c send a CNP, which Mode II returns. Mode III does not: there it is the switch that has sent too much.
func congested(g *rig.Group, c int, tos uint8) {
	psn := roce.PSN(g.T.Rand.Uint32() & 0xFFFFFF)
	cnp := g.Packet(c, roce.CNP, psn)
	cnp.TOS, cnp.Payload = tos, make([]byte, 16)
	f := g.Frame(c, &cnp)
	if g.T.Pipes() {
		g.Send(f).Expect()
		return
	}
	outs := g.Send(f).Out()
	want := rig.CNPTo(c, psn)
	want.CE = f.CE()
	g.Check(outs, want)
	if p := g.T.Packet(outs[0]); !p.BECN {
		g.T.Fatalf("it came back without BECN: %v", &p)
	}
}
