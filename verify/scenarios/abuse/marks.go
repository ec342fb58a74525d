// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// marking is a frame with some ECN, and whether RX_CE counts it if that is CE.
type marking struct {
	what   string
	counts bool
	frame  rig.Frame
}

func marks(t *rig.T) {
	g := t.Star()
	for ecn := range uint8(4) {
		m := &marked{g: g, tos: uint8(t.Rand.Uint32())&^roce.ECNMask | ecn}
		m.send(m.whole()...)
		m.send(m.damaged()...)
	}
	g.Disable()
	m := &marked{g: g, tos: roce.ECNCE}
	m.send(marking{"data to a disabled group", false, m.first()}, marking{"an ACK to a disabled group", false, m.mark(g.Ack(0, g.Start()))})
}

// marked makes frames with one type of service and checks what they count as.
type marked struct {
	g   *rig.Group
	tos uint8
}

// send sends frames one after the other and reads the counter after each.
func (m *marked) send(list ...marking) {
	e := m.g.E
	for _, x := range list {
		m.g.T.In(x.what, func() {
			want := e.Counter(inc.RxCe)
			if x.counts && x.frame.CE() {
				want++
			}
			m.g.Send(x.frame).Out()
			if got := e.Counter(inc.RxCe); got != want {
				m.g.T.Fatalf("with ToS %#02x %v is %d, expected %d", m.tos, inc.RxCe, got, want)
			}
		})
	}
}

// mark gives a frame the type of service.
func (m *marked) mark(f rig.Frame) rig.Frame {
	return resealed(f, func(f *rig.Frame) { f.Data[15] = m.tos })
}

// first is endpoint 0's first contribution, marked.
func (m *marked) first(opts ...func(p *roce.Packet)) rig.Frame { return m.mark(first(m.g, opts...)) }

// whole are frames that arrived undamaged, though most of them are dropped or taken for repetitions.
func (m *marked) whole() []marking {
	g, start := m.g, m.g.Start()
	long := g.Noise(4 * (g.T.Params.MTUBytes/4 + 1))
	return []marking{
		{"a contribution", true, m.first()},
		{"a contribution sent again", true, m.first()},
		{"a gap", true, m.mark(g.Data(0, start.Add(2*g.MW()), g.Noise(16)))},
		{"an ACK", true, m.mark(g.Ack(0, start))},
		{"a NAK", true, m.mark(g.NAK(0, start))},
		{"a reserved syndrome", true, m.mark(g.AETH(0, start, 0x40))},
		{"a CNP", true, m.mark(g.CNP(0, start))},
		{"half an element", true, m.mark(g.Data(0, start, long[:4+g.Size()/2]))},
		{"payload above the MTU", true, m.mark(g.Data(0, start, long))},
		{"TVer", true, m.first(func(p *roce.Packet) { p.TVer = 1 })},
		{"opcode", true, m.first(func(p *roce.Packet) { p.Op = roce.WriteMiddle })},
	}
}

// damaged are frames that are not the engine's, not the group's, or damaged.
func (m *marked) damaged() []marking {
	list := []marking{
		{"another QPN", false, m.first(func(p *roce.Packet) { p.DestQP ^= 1 << 23 })},
		{"source IP", false, m.first(func(p *roce.Packet) { p.SrcIP[3] ^= 1 })},
		{"error bit", false, damaged(m.first(), func(f *rig.Frame) { f.Err = true })},
		{"IP checksum", false, damaged(m.first(), func(f *rig.Frame) { f.Data[24] ^= 1 })},
		{"a frame cut short", false, damaged(m.first(), func(f *rig.Frame) { f.Data = f.Data[:len(f.Data)-1] })},
	}
	if m.g.T.Params.ICRCCheck {
		list = append(list, marking{"payload", false, damaged(m.first(), func(f *rig.Frame) { f.Data[60] ^= 1 })})
	}
	return list
}
