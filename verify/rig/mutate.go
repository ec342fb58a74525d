// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"incforge/inc"
	"incforge/roce"
)

// Mutator makes frames of a group that would be valid in sequence, and spoils most of them. What is spoilt was about to be the next frame
// of an endpoint, so good frames advance sequences and bad ones are retried: the group keeps moving.
type Mutator struct {
	Group *Group
	rand  *rand.Rand
	next  []int // next packet of each endpoint, counted from Start
}

// NewMutator makes the mutator of a group.
func NewMutator(g *Group) *Mutator {
	return &Mutator{Group: g, rand: rand.New(rand.NewPCG(g.T.Rand.Uint64(), 0x6d757461)), next: make([]int, len(g.Ends))}
}

// Restart begins at Start again, as the group does when it is reset.
func (m *Mutator) Restart() { clear(m.next) }

// Next makes one frame.
func (m *Mutator) Next() Frame {
	c := m.endpoint()
	f, advances := m.good(c)
	if m.rand.IntN(3) > 0 {
		return m.spoil(f)
	}
	if advances && m.Group.Set.InMask>>c&1 != 0 {
		m.advance(c)
	}
	return f
}

// endpoint draws who sends next: the one furthest behind more often, so that windows do not fill up.
func (m *Mutator) endpoint() int {
	c := m.rand.IntN(len(m.Group.Ends))
	if c == m.Group.Parent {
		return c
	}
	for _, x := range m.Group.Members() {
		if m.next[x] < m.next[c] && m.rand.IntN(3) > 0 {
			c = x
		}
	}
	return c
}

// good is a frame of endpoint c before it is spoilt, and whether the endpoint's sequence advances by it.
func (m *Mutator) good(c int) (Frame, bool) {
	g, r := m.Group, m.rand
	switch kind := r.IntN(8); {
	case kind < 5:
		if r.IntN(10) == 0 {
			return m.data(c, m.next[c]+r.IntN(5)-3), false
		}
		return m.data(c, m.next[c]), true
	case kind < 7:
		psn := g.Start().Add(m.next[c] - 1 - r.IntN(4))
		return g.AETH(c, psn, []uint8{0x1F, 0x1F, 0x60, 0x21, 0x63, uint8(r.Uint32())}[r.IntN(6)]), false
	default:
		p := g.Packet(c, roce.CNP, roce.PSN(r.Uint32()&0xFFFFFF))
		p.Payload = make([]byte, 16)
		return g.Frame(c, &p), false
	}
}

// mutatedRange is how many PSNs a mutator's ranges have in in-band groups.
const mutatedRange = 8

// data is packet k of endpoint c. Shape and length of a PSN are the same for every endpoint. In in-band groups all ranges are AllReduces
// of what the group's registers say.
func (m *Mutator) data(c, k int) Frame {
	g, r := m.Group, m.rand
	shape := rand.New(rand.NewPCG(uint64(k), 1))
	op := roce.Opcode(shape.IntN(6))
	bytes := g.Size() * shape.IntN(min(g.T.Params.MTUBytes/g.Size(), 24)+1)
	imm := shape.Uint32()
	if g.T.Messages() {
		op, bytes = m.cut(op, bytes, c, k)
	}
	switch {
	case !g.Set.InBand:
	case k%mutatedRange == 0:
		control := inc.Control{Collective: inc.CollectiveAllReduce, Op: g.Set.Op, DType: g.Set.DType, Packets: mutatedRange - 1}
		op, bytes, imm = roce.SendOnlyImm, 0, control.Immediate()
	case bytes == 0:
		op = roce.SendOnly // with an immediate it would be a control
	}
	return g.Data(c, g.Start().Add(k), g.Noise(bytes), func(p *roce.Packet) {
		p.Op, p.Imm, p.SE = op, imm, shape.IntN(4) == 0
		p.TOS = uint8(r.IntN(256))
		p.AckReq = r.IntN(2) == 0
	})
}

// cut makes packet k part of a message that Mode I takes: in a fixed group every fourth is whole and the three after it are one, where slots
// have room for that.
func (m *Mutator) cut(op roce.Opcode, bytes, c, k int) (roce.Opcode, int) {
	g := m.Group
	mtu := g.Ends[c].PathMTU
	part := k & 3
	switch {
	case g.Set.InBand, part == 0, 3*mtu > g.T.Params.MessageBytes:
		return []roce.Opcode{roce.SendOnly, roce.SendOnlyImm}[op&1], bytes
	case part == 3:
		return roce.SendLast, max(bytes, g.Size())
	}
	return []roce.Opcode{roce.SendFirst, roce.SendMiddle}[part-1], mtu
}

// advance takes endpoint c one packet on, at most a window ahead of the slowest.
func (m *Mutator) advance(c int) {
	m.next[c]++
	slowest := m.next[c]
	for _, x := range m.Group.Members() {
		slowest = min(slowest, m.next[x])
	}
	m.next[c] = min(m.next[c], slowest+m.Group.MW()-1)
}

// field is a header field: byte offset and length in bytes.
type field struct{ at, n int }

// spoil changes a frame in one to three ways.
func (m *Mutator) spoil(f Frame) Frame {
	r, b, seal := m.rand, f.Data, false
	for n := 1 + r.IntN(3); n > 0; n-- {
		switch r.IntN(9) {
		case 0, 1:
			m.flip(b)
		case 2: // cut
			b = b[:1+r.IntN(len(b))]
		case 3: // lengthen
			for k := 1 + r.IntN(2*m.Group.T.Params.BusBytes); k > 0; k-- {
				b = append(b, byte(r.Uint32()))
			}
		case 4, 5, 6: // a field, any value, then perhaps checksums made good
			x := m.field()
			for i := x.at; i < x.at+x.n; i++ {
				if i < len(b) {
					b[i] = byte(r.Uint32())
				}
			}
			seal = r.IntN(3) > 0
		case 7: // a field, one step away, checksums made good
			x := m.field()
			if i := x.at + x.n - 1; i < len(b) {
				b[i] += []byte{1, 0xFF, 2, 4}[r.IntN(4)]
			}
			seal = true
		case 8: // both lengths alike, so that they agree
			if len(b) >= 42 {
				d := r.IntN(17) - 8
				binary.BigEndian.PutUint16(b[16:], uint16(int(binary.BigEndian.Uint16(b[16:]))+d))
				binary.BigEndian.PutUint16(b[38:], uint16(int(binary.BigEndian.Uint16(b[38:]))+d))
			}
			seal = true
		}
	}
	if seal {
		roce.Reseal(b)
	}
	f.Err = r.IntN(30) == 0
	if r.IntN(40) == 0 {
		f.Port = r.IntN(m.Group.T.Params.Ports)
	}
	f.Data = slices.Clone(b)
	return f
}

// flip inverts one to three bits.
func (m *Mutator) flip(b []byte) {
	for k := 1 + m.rand.IntN(3); k > 0 && len(b) > 0; k-- {
		i := m.rand.IntN(8 * len(b))
		b[i/8] ^= 1 << (i % 8)
	}
}

// field draws one of the header's.
func (m *Mutator) field() field {
	all := []field{{0, 6}, {6, 6}, {12, 2}, {14, 1}, {15, 1}, {16, 2}, {18, 2}, {20, 2}, {22, 1}, {23, 1}, {24, 2}, {26, 4}, {30, 4},
		{34, 2}, {36, 2}, {38, 2}, {40, 2}, {42, 1}, {43, 1}, {44, 2}, {46, 1}, {47, 3}, {50, 1}, {51, 3}, {54, 4}}
	return all[m.rand.IntN(len(all))]
}
