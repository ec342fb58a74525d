// SPDX-License-Identifier: Apache-2.0

package sendmessage_test

import (
	"math/bits"
	"math/rand/v2"
)

const mask24 = 1<<24 - 1

// ahead is how far b is ahead of a, serially.
func ahead(a, b uint64) int { return int(int32(uint32(b-a)<<8) >> 8) }

func add24(a uint64, n int) uint64 { return (a + uint64(n)) & mask24 }

// place is where a packet stands: packets since the group's start, and where in which message.
type place struct {
	psn, message uint64
	offset       int
}

// text is a complete message, as far as it matters to who sends it.
type text struct {
	length, unit   int
	se, hasImm, ce bool
	imm            uint64
}

// sender is an endpoint's send side, as docs/termination.md section 2 has it. The timer runs out between soon and late, in microseconds.
type sender struct {
	unacked, next, beyond place
	waits, failed         bool
	backOff, silent       int
	soon, late            uint64
}

func (s *sender) mute() bool { return s.waits || s.failed }

func (s *sender) outstanding() bool { return s.unacked.psn != s.beyond.psn }

// group is a group's state.
type group struct {
	live  bool
	wide  bool
	outs  [2]uint64
	s     [2]place // of those who go along
	limit [2]uint64
	open  [2]int // bytes of the message at limit that may be sent before it is complete
	texts [2]map[uint64]text
	mtu   []int
	sq    []uint64
	gone  []uint64 // by so much PSNs on the wire are further than the first and what is counted
	ends  []sender
}

func newGroup(endpoints int) *group {
	return &group{ends: make([]sender, endpoints), mtu: make([]int, endpoints), sq: make([]uint64, endpoints), gone: make([]uint64, endpoints)}
}

// poolOf is the pool that an endpoint hears from.
func (g *group) poolOf(e int) int {
	if g.outs[0]>>e&1 != 0 {
		return 0
	}
	return 1
}

func (g *group) hears(e int) bool { return (g.outs[0]|g.outs[1])>>e&1 != 0 }

func (g *group) goesAlong(e int) bool {
	return g.mtu[e] == g.mtu[bits.TrailingZeros64(g.outs[g.poolOf(e)])]
}

// keep are those that a pool's next packet goes to, alone those that each get one of their own, one bit each.
func (g *group) keep(pool int) (along, alone uint64) {
	for e := range g.ends {
		s := &g.ends[e]
		switch {
		case g.outs[pool]>>e&1 == 0 || s.mute():
		case g.goesAlong(e):
			if s.next.message == g.s[pool].message && s.next.offset == g.s[pool].offset {
				along |= 1 << e
			}
		case s.next == s.beyond && g.exists(pool, s.next, g.mtu[e]):
			alone |= 1 << e
		}
	}
	if along != 0 && !g.exists(pool, g.s[pool], g.mtu[bits.TrailingZeros64(along)]) {
		along = 0
	}
	return along, alone
}

// keepsUp are those of a pool that get its next packet when there is one.
func (g *group) keepsUp(pool int) (keeps uint64) {
	for e := range g.ends {
		s := &g.ends[e]
		if g.outs[pool]>>e&1 != 0 && !s.mute() && s.next.message == g.s[pool].message && s.next.offset == g.s[pool].offset {
			keeps |= 1 << e
		}
	}
	return keeps
}

// strays tells whether some of a pool go alone.
func (g *group) strays(pool int) bool {
	for e := range g.ends {
		if g.outs[pool]>>e&1 != 0 && !g.goesAlong(e) {
			return true
		}
	}
	return false
}

// lags tells whether an endpoint was sent what it is to get next, or others were.
func (g *group) lags(e int) bool {
	s := &g.ends[e]
	if s.mute() || !g.hears(e) {
		return false
	}
	if g.goesAlong(e) {
		at := g.s[g.poolOf(e)]
		return s.next.message != at.message || s.next.offset != at.offset
	}
	return s.next != s.beyond
}

// cut is the packet at a place: its bytes and whether it is its message's last.
func (g *group) cut(pool int, at place, mtu int) (size int, last bool) {
	if at.message == g.limit[pool] {
		return mtu, false
	}
	left := g.texts[pool][at.message].length - at.offset
	return min(left, mtu), left <= mtu
}

// exists tells whether there is a packet at a place that is not beyond limit.
func (g *group) exists(pool int, at place, mtu int) bool {
	return at.message != g.limit[pool] || at.offset+mtu <= g.open[pool]
}

// behind is the place one packet further.
func (g *group) behind(pool int, at place, mtu int) place {
	if _, last := g.cut(pool, at, mtu); last {
		return place{add24(at.psn, 1), add24(at.message, 1), 0}
	}
	return place{add24(at.psn, 1), at.message, at.offset + mtu}
}

// packet is what is sent.
type packet struct {
	To, Op, PSN, Imm, Ask uint64
	SE, CE                bool
	Pad, Size, Unit       int
	Kind, End             int
	Again                 bool
}

// send makes the packet at a place for some, and counts it for each.
func (g *group) send(pool int, at place, to uint64, kind, end int, unit int) packet {
	mtu := g.mtu[bits.TrailingZeros64(to)]
	size, last := g.cut(pool, at, mtu)
	m := g.texts[pool][at.message]
	p := packet{To: to, PSN: at.psn, CE: m.ce, SE: last && m.se, Pad: -size & 3, Size: size, Kind: kind, End: end}
	switch first := at.offset == 0; {
	case first && last:
		p.Op = 4
	case last:
		p.Op = 2
	case !first:
		p.Op = 1
	}
	if last && m.hasImm {
		p.Op, p.Imm = p.Op+1, m.imm
	}
	if size > 0 {
		p.Unit = m.unit + at.offset/unit
		if g.wide {
			p.Unit = m.unit + 2*(at.offset/unit)
		}
	}
	for e := range g.ends {
		if to>>e&1 == 0 {
			continue
		}
		s := &g.ends[e]
		if s.silent++; last || s.silent == 16 || !g.exists(pool, g.behind(pool, s.next, mtu), mtu) {
			s.silent = 0
			p.Ask |= 1 << e
		}
		p.Again = s.next.psn != s.beyond.psn
		at := s.next
		s.next = g.behind(pool, at, mtu)
		if !p.Again {
			s.beyond = s.next
		}
	}
	return p
}

// fresh tells whether an answer says anything.
func (s *sender) fresh(a answer) bool {
	if a.isAck {
		return ahead(s.unacked.psn, a.psn) >= 0 && ahead(a.psn, s.beyond.psn) > 0
	}
	return ahead(s.unacked.psn, a.psn) >= 0 && ahead(a.psn, s.beyond.psn) >= 0
}

// answer is what an endpoint answers, its number without the first PSN.
type answer struct {
	psn                 uint64
	isAck, isNak, isRNR bool
	code                uint64
}

// begin makes all of a group begin at a message.
func (g *group) begin(first uint64) {
	for p := range 2 {
		g.s[p] = place{message: first}
		g.limit[p], g.open[p] = first, 0
		g.texts[p] = map[uint64]text{}
	}
	for e := range g.ends {
		at := place{message: first}
		g.ends[e], g.gone[e] = sender{unacked: at, next: at, beyond: at}, 0
	}
}

// start is a pool's first message that not all have acknowledged.
func (g *group) start(pool int) uint64 {
	out := g.limit[pool]
	for e := range g.ends {
		if m := g.ends[e].unacked.message; g.outs[pool]>>e&1 != 0 && ahead(m, out) > 0 {
			out = m
		}
	}
	return out
}

// randomText is a message of up to so many bytes.
func randomText(rng *rand.Rand, most, units int) text {
	t := text{se: rng.IntN(3) == 0, ce: rng.IntN(3) == 0, hasImm: rng.IntN(3) == 0, imm: rng.Uint64() & 0xFFFFFFFF, unit: rng.IntN(units)}
	switch rng.IntN(5) {
	case 0:
		t.length = 0
	case 1:
		t.length = most - rng.IntN(3)*256
	case 2:
		t.length = 256 * rng.IntN(most/256+1)
	default:
		t.length = 2 * rng.IntN(most/2+1)
	}
	return t
}
