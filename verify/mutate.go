// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"incforge/inc"
	"incforge/roce"
	"incforge/verify/dut"
)

// mutant is a frame made from a valid one.
type mutant struct {
	port  int
	frame dut.Frame
	// valid tells that nothing was changed.
	valid bool
}

// mutator makes traffic of a group that would be valid in sequence, and spoils most of it.
type mutator struct {
	t   *T
	g   *group
	rng *rand.Rand
	psn []int // next packet of each endpoint, counted from Start
}

func newMutator(t *T, g *group) *mutator {
	return &mutator{t: t, g: g, rng: rand.New(rand.NewPCG(t.rng.Uint64(), 0x6d757461)), psn: make([]int, len(g.ends))}
}

// next makes one frame. Whatever is spoilt was about to be the next frame of an endpoint, so good frames advance sequences
// and bad ones are retried: the group keeps moving.
func (m *mutator) next() mutant {
	g, r := m.g, m.rng
	c := r.IntN(len(g.ends))
	if c != g.parent { // the endpoint furthest behind more often, so that windows do not fill up
		for _, x := range g.members() {
			if m.psn[x] < m.psn[c] && r.IntN(3) > 0 {
				c = x
			}
		}
	}
	var f portFrame
	kind := r.IntN(8)
	advance := false
	switch {
	case kind < 5:
		k := m.psn[c]
		switch r.IntN(10) {
		case 0:
			k += r.IntN(5) - 3
		default:
			advance = true
		}
		// Shape and length of a PSN are the same for every endpoint.
		shape := rand.New(rand.NewPCG(uint64(k), 1))
		op := roce.Opcode(shape.IntN(6))
		bytes := g.size() * shape.IntN(min(m.t.p.MTUBytes/g.size(), 24)+1)
		imm := shape.Uint32()
		switch {
		case !g.set.InBand:
		case k%mutatedRange == 0:
			op, bytes, imm = roce.SendOnlyImm, 0, mutatedControl(g).Immediate()
		case bytes == 0:
			op = roce.SendOnly // with an immediate it would be a control
		}
		f = g.data(c, g.set.Start.Add(k), g.noise(bytes), func(p *roce.Packet) {
			p.Op, p.Imm, p.SE = op, imm, shape.IntN(4) == 0
			p.TOS = uint8(r.IntN(256))
			p.AckReq = r.IntN(2) == 0
		})
	case kind < 7:
		f = g.aeth(c, g.set.Start.Add(m.psn[c]-1-r.IntN(4)), []uint8{0x1F, 0x1F, 0x60, 0x21, 0x63, uint8(r.Uint32())}[r.IntN(6)])
	default:
		p := g.packet(c, roce.CNP, roce.PSN(r.Uint32()&0xFFFFFF))
		p.Payload = make([]byte, 16)
		f = portFrame{g.ends[c].Port, p.AppendFrame(nil)}
	}
	out := mutant{port: f.port, frame: dut.Frame{Data: f.data}, valid: true}
	if r.IntN(3) > 0 {
		m.spoil(&out)
		out.valid = false
	}
	if out.valid && advance && g.set.InMask>>c&1 != 0 {
		m.psn[c]++
		slowest := m.psn[c]
		for _, x := range g.members() {
			slowest = min(slowest, m.psn[x])
		}
		m.psn[c] = min(m.psn[c], slowest+g.mw()-1)
	}
	return out
}

// mutatedRange is how many PSNs a mutator's ranges have in in-band groups.
const mutatedRange = 8

// mutatedControl is the control of all of a group's ranges: AllReduces of what the group's registers say.
func mutatedControl(g *group) inc.Control {
	return inc.Control{Collective: inc.CollectiveAllReduce, Op: g.set.Op, DType: g.set.DType, Packets: mutatedRange - 1}
}

// field is a header field: byte offset and length in bytes.
type field struct{ at, n int }

// spoil changes a frame in one to three ways.
func (m *mutator) spoil(x *mutant) {
	r := m.rng
	b := x.frame.Data
	fields := []field{{0, 6}, {6, 6}, {12, 2}, {14, 1}, {15, 1}, {16, 2}, {18, 2}, {20, 2}, {22, 1}, {23, 1}, {24, 2}, {26, 4}, {30, 4},
		{34, 2}, {36, 2}, {38, 2}, {40, 2}, {42, 1}, {43, 1}, {44, 2}, {46, 1}, {47, 3}, {50, 1}, {51, 3}, {54, 4}}
	seal := false
	for n := 1 + r.IntN(3); n > 0; n-- {
		switch r.IntN(9) {
		case 0, 1: // flip bits
			for k := 1 + r.IntN(3); k > 0 && len(b) > 0; k-- {
				i := r.IntN(8 * len(b))
				b[i/8] ^= 1 << (i % 8)
			}
		case 2: // cut
			b = b[:1+r.IntN(len(b))]
		case 3: // lengthen
			for k := 1 + r.IntN(2*m.t.p.BusBytes); k > 0; k-- {
				b = append(b, byte(r.Uint32()))
			}
		case 4, 5, 6: // a field, any value, then perhaps checksums made good
			f := fields[r.IntN(len(fields))]
			for i := range f.n {
				if f.at+i < len(b) {
					b[f.at+i] = byte(r.Uint32())
				}
			}
			seal = r.IntN(3) > 0
		case 7: // a field, one step away, checksums made good
			f := fields[r.IntN(len(fields))]
			if i := f.at + f.n - 1; i < len(b) {
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
	x.frame.Err = r.IntN(30) == 0
	if r.IntN(40) == 0 {
		x.port = r.IntN(m.t.p.Ports)
	}
	x.frame.Data = slices.Clone(b)
}
