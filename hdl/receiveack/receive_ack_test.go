// SPDX-License-Identifier: Apache-2.0

package receiveack_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/receiveack"
	"incforge/sim"
)

func several() receiveack.ReceiveAck {
	return receiveack.ReceiveAck{EPW: 3, EIW: 5, MaskW: 5, Groups: 3, Stages: 2}
}

func single() receiveack.ReceiveAck {
	return receiveack.ReceiveAck{EPW: 2, EIW: 2, MaskW: 3, Groups: 1, Stages: 1}
}

// deep has more stages than a tree over its endpoints has levels.
func deep() receiveack.ReceiveAck {
	return receiveack.ReceiveAck{EPW: 2, EIW: 3, MaskW: 4, Groups: 2, Stages: 3}
}

func lonely() receiveack.ReceiveAck {
	return receiveack.ReceiveAck{EPW: 1, EIW: 1, MaskW: 1, Groups: 1, Stages: 2}
}

func wide() receiveack.ReceiveAck {
	return receiveack.ReceiveAck{EPW: 5, EIW: 6, MaskW: 17, Groups: 2, Stages: 4}
}

// onePort has its words in a memory of one port.
func onePort(p receiveack.ReceiveAck) receiveack.ReceiveAck {
	p.OnePort = 1
	return p
}

// late is a configuration that writes a cycle behind a commit.
func late(p receiveack.ReceiveAck) receiveack.ReceiveAck {
	p.Behind = 1
	return p
}

const mask24 = 1<<24 - 1

// behind is how far b is ahead of a, serially: −2^23 to 2^23−1.
func behind(a, b uint64) int { return int(int32(uint32(b-a)<<8) >> 8) }

// ack is what an endpoint has acknowledged.
type ack struct{ PSN, MSN uint64 }

// look is a read and what it must show.
type look struct {
	group             int
	self, pick        int // endpoint, or -1 for none
	mask              uint64
	own, picked, rest ack
	any               bool
	restEP            uint64
}

// shown is what ports show; what has no meaning is 0.
type shown struct {
	Ready, Take, Any  bool
	Waits             bool
	Own, Picked, Rest ack
	RestEP            uint64
}

// bench holds the module against arrays of numbers, cycle by cycle.
type bench struct {
	*rig.Rig
	p    receiveack.ReceiveAck
	rng  *rand.Rand
	acks [][]ack // by group, endpoint
	// stages that the test believes in
	stages int
	cur    *look
	lift   bool // of cur's group, in the next cycle, instead of a write
	late   bool // what was committed in the cycle before goes in in this one: any with BEHIND, with one port in the cycle of a read
	waited bool // a start had to wait in the cycle before
	age    int  // cycles since cur's read
	// group that is to start, or -1
	starting int
	psn      uint64
	met      map[string]int
}

func newBench(t *testing.T, lib *sim.Lib, p receiveack.ReceiveAck, seed uint64) *bench {
	t.Helper()
	b := &bench{Rig: rig.New(t, lib, seed), p: p, rng: rand.New(rand.NewPCG(seed, 1)), stages: p.Stages, starting: -1, met: map[string]int{}}
	for range p.Groups {
		b.acks = append(b.acks, make([]ack, p.MaskW))
	}
	return b
}

func bit(e int) uint64 {
	if e < 0 {
		return 0
	}
	return 1 << e
}

// show is what the look must show of an endpoint: nobody is 0.
func (b *bench) show(g, e int) ack {
	if e < 0 {
		return ack{}
	}
	return b.acks[g][e]
}

// look makes a random read and says what it must show.
func (b *bench) look() *look {
	l := &look{self: b.rng.IntN(b.p.MaskW+1) - 1, pick: b.rng.IntN(b.p.MaskW+1) - 1, mask: b.rng.Uint64() & (1<<b.p.MaskW - 1)}
	for l.group = b.rng.IntN(b.p.Groups); l.group == b.starting; l.group = b.rng.IntN(b.p.Groups) {
	}
	switch b.rng.IntN(4) {
	case 0:
		l.mask = 1<<b.p.MaskW - 1
	case 1:
		l.mask = bit(b.rng.IntN(b.p.MaskW))
	}
	l.own, l.picked = b.show(l.group, l.self), b.show(l.group, l.pick)
	for e, a := range b.acks[l.group] {
		if e == l.self || l.mask>>e&1 == 0 {
			continue
		}
		if l.any && a.PSN == l.rest.PSN {
			b.met["a tie"]++
		}
		if !l.any || behind(a.PSN, l.rest.PSN) > 0 {
			if l.any && a.PSN > l.rest.PSN {
				b.met["smaller across the wrap"]++
			}
			if l.any && behind(a.PSN, l.rest.PSN) == 1<<23-1 {
				b.met["half a range apart"]++
			}
			l.any, l.rest, l.restEP = true, a, uint64(e)
		}
	}
	for name, is := range map[string]bool{"nobody else": !l.any, "no endpoint": l.self < 0, "picks itself": l.self >= 0 && l.pick == l.self,
		"itself in the mask": l.mask&bit(l.self) != 0} {
		if is {
			b.met[name]++
		}
	}
	return l
}

// cycle passes one, with a new look, a write for the current one, or neither, and checks all outputs.
func (b *bench) cycle(next *look, write *ack) error {
	now := b.Now() + 1
	b.SetBool("ack_rd", next != nil)
	b.SetBool("ack_we", write != nil)
	b.Set("ack_group", b.rng.Uint64N(uint64(b.p.Groups)))
	if next != nil {
		b.Set("ack_group", uint64(next.group))
	}
	if l := b.cur; l != nil {
		b.Set("ack_self", bit(l.self))
		b.Set("ack_mask", l.mask)
		b.Set("ack_pick", bit(l.pick))
	}
	to := ack{b.rng.Uint64() & mask24, b.rng.Uint64() & mask24}
	b.SetBool("ack_lift", b.lift)
	if write != nil {
		to = *write
	}
	if b.lift {
		to.PSN = b.floor()
	}
	b.Set("ack_psn", to.PSN)
	b.Set("ack_msn", to.MSN)
	offer := b.starting >= 0 && b.rng.IntN(2) == 0
	b.SetBool("init_valid", offer)
	b.Set("init_group", uint64(max(b.starting, 0)))
	b.Set("init_psn", b.psn)
	b.Clock()

	got := shown{Ready: b.Is("ack_ready"), Take: b.Is("init_take"), Waits: b.Is("init_waits")}
	want := shown{Take: offer && write == nil && !b.lift && !b.late && (b.p.OnePort == 0 || next == nil), Waits: b.p.OnePort != 0 && b.waited}
	b.waited = offer && !want.Take
	if b.late {
		b.met["late"]++
		if offer {
			b.met["a start waits for what is late"]++
		}
	}
	b.late = b.p.Behind != 0 && (write != nil || b.lift) || b.p.OnePort != 0 && write != nil && next != nil
	b.lift = false
	if b.cur != nil {
		want.Ready = b.age > b.stages
		if b.age > 0 {
			got.Own, got.Picked = ack{b.Get("ack_own"), b.Get("ack_own_msn")}, ack{b.Get("ack_picked"), b.Get("ack_picked_msn")}
			want.Own, want.Picked = b.cur.own, b.cur.picked
		}
		if want.Ready {
			got.Any, want.Any = b.Is("ack_rest_any"), b.cur.any
			if want.Any {
				got.Rest, got.RestEP = ack{b.Get("ack_rest"), b.Get("ack_rest_msn")}, b.Get("ack_rest_ep")
				want.Rest, want.RestEP = b.cur.rest, b.cur.restEP
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		return fmt.Errorf("cycle %d, %d after the read (-want +got):\n%s", now, b.age, d)
	}

	if offer && !want.Take {
		b.met["a start waits"]++
	}
	if want.Take {
		for e := range b.acks[b.starting] {
			b.acks[b.starting][e] = ack{(b.psn - 1) & mask24, 0}
		}
		b.starting = -1
	}
	b.age++
	if next != nil {
		b.cur, b.age = next, 1
	}
	return nil
}

// commit draws a write for the current look and puts it into the arrays; the numbers of a group stay within half the range.
func (b *bench) commit() *ack {
	l, acks := b.cur, b.acks[b.cur.group]
	w := &ack{b.rng.Uint64() & mask24, b.rng.Uint64() & mask24}
	if l.self < 0 {
		return w
	}
	own, room := &acks[l.self], 1<<23-1
	for _, a := range acks {
		room = min(room, 1<<23-1-behind(a.PSN, own.PSN))
	}
	step := []int{0, -1 << 23, -b.rng.IntN(1 << 23), -b.rng.IntN(3), min(room, b.rng.IntN(4)), room, b.rng.IntN(room + 1)}[b.rng.IntN(7)]
	w.PSN = (own.PSN + uint64(step)) & mask24
	switch {
	case step > 0:
		b.met["rises"]++
	case step == 0:
		b.met["repeats"]++
	case step == -1<<23:
		b.met["half the range"]++
	default:
		b.met["falls"]++
	}
	if step >= 0 {
		*own = *w
	}
	return w
}

// floor draws a number near those of the look's group, and lifts all of them to it.
func (b *bench) floor() uint64 {
	acks := b.acks[b.cur.group]
	base, highest := acks[0].PSN, acks[0].PSN
	for _, a := range acks {
		if behind(base, a.PSN) < 0 {
			base = a.PSN
		}
		if behind(highest, a.PSN) > 0 {
			highest = a.PSN
		}
	}
	psn := (base + uint64(b.rng.IntN(behind(base, highest)+1)) + uint64(b.rng.IntN(4)) - 2) & mask24
	for e := range acks {
		if behind(acks[e].PSN, psn) > 0 {
			acks[e].PSN = psn
			b.met["lifted"]++
		} else {
			b.met["not lifted"]++
		}
	}
	return psn
}

// start has a group start, at a PSN whose like has been trouble.
func (b *bench) start(g int) {
	b.starting = g
	b.psn = []uint64{b.rng.Uint64() & mask24, 0, 1, mask24 - b.rng.Uint64N(3), 1<<23 + b.rng.Uint64N(3) - 1}[b.rng.IntN(5)]
}

// run does that many looks, with writes and starts of other groups between.
func (b *bench) run(looks int) error {
	for g := range b.p.Groups {
		b.start(g)
		for b.starting >= 0 {
			if err := b.cycle(nil, nil); err != nil {
				return err
			}
		}
	}
	var late *ack // a write in the cycle of the next look
	for range looks {
		for late == nil && b.starting >= 0 && b.p.Groups == 1 { // there is no other to look at
			if err := b.cycle(nil, nil); err != nil {
				return err
			}
		}
		for late == nil && b.p.OnePort != 0 && b.waited { // it has its turn
			if err := b.cycle(nil, nil); err != nil {
				return err
			}
		}
		if err := b.cycle(b.look(), late); err != nil {
			return err
		}
		if g := b.rng.IntN(b.p.Groups); late != nil && b.starting < 0 && g != b.cur.group && b.rng.IntN(2) == 0 {
			b.start(g) // offered from the cycle on in which the write goes in
		}
		late = nil
		idle, write := b.rng.IntN(b.p.Stages+5), b.rng.IntN(3) > 0
		if write || b.p.OnePort != 0 { // two cycles behind the read at the earliest
			idle++
		}
		for range idle {
			if err := b.cycle(nil, nil); err != nil {
				return err
			}
		}
		if write && b.starting < 0 && b.rng.IntN(4) == 0 {
			b.met["with the next look"]++
			late = b.commit()
			continue
		}
		if write {
			var w *ack
			if b.lift = b.rng.IntN(8) == 0; !b.lift {
				w = b.commit()
			}
			if err := b.cycle(nil, w); err != nil {
				return err
			}
			for range b.rng.IntN(3) {
				if err := b.cycle(nil, nil); err != nil {
					return err
				}
			}
		}
		if b.starting < 0 && b.rng.IntN(8) == 0 {
			b.start(b.rng.IntN(b.p.Groups))
		}
	}
	return nil
}

func TestAgainstModel(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]receiveack.ReceiveAck{"several": several(), "single": single(), "deep": deep(), "lonely": lonely(), "wide": wide(),
		"behind": late(several()), "behind, single": late(single()), "behind, wide": late(wide()),
		"one port": onePort(several()), "one port, single": onePort(single()), "one port, wide": onePort(wide())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib := rig.Lib(t, p)
			met := map[string]int{}
			for seed := range uint64(4) {
				b := newBench(t, lib, p, seed)
				require.NoError(t, b.run(4000))
				for k, n := range b.met {
					met[k] += n
				}
			}
			for _, k := range []string{"rises", "repeats", "falls", "half the range", "a tie", "smaller across the wrap", "half a range apart", "nobody else",
				"no endpoint", "picks itself", "itself in the mask", "a start waits", "lifted", "not lifted",
				"with the next look", "late", "a start waits for what is late"} {
				switch {
				case (k == "late" || k == "a start waits for what is late") && p.OnePort == 0 && p.Behind == 0:
					require.Zero(t, met[k], k)
				case p.MaskW == 1 && (k == "a tie" || k == "smaller across the wrap" || k == "half a range apart"),
					p.Groups == 1 && p.Behind == 0 && (k == "a start waits" || k == "a start waits for what is late"):
					require.Zero(t, met[k], k)
				default:
					require.Greater(t, met[k], 20, k)
				}
			}
			b := newBench(t, lib, p, 0)
			b.stages++
			require.ErrorContains(t, b.run(100), "Ready", "a stage too many must be found")
		})
	}
}

// TestBackToBack: a read in every third cycle sees what was written in the cycle before it, one in every other what is written in the same.
func TestBackToBack(t *testing.T) {
	t.Parallel()
	for _, p := range []receiveack.ReceiveAck{several(), onePort(several()), late(several())} {
		backToBack(t, p)
	}
}

func backToBack(t *testing.T, p receiveack.ReceiveAck) {
	t.Helper()
	b := newBench(t, rig.Lib(t, p), p, 1)
	require.NoError(t, b.run(0))
	g := b.acks[1]
	for n := range 50 {
		e := n % p.MaskW
		l := &look{group: 1, self: e, pick: (e + p.MaskW - 1) % p.MaskW, own: g[e]}
		l.picked = g[l.pick]
		require.NoError(t, b.cycle(l, nil))
		require.NoError(t, b.cycle(nil, nil))
		w := &ack{(g[e].PSN + uint64(n)) & mask24, uint64(n)}
		g[e] = *w
		require.NoError(t, b.cycle(nil, w))
	}
	var w *ack
	for n := range 50 {
		e := n / 3 % p.MaskW // three times the same
		l := &look{group: 1, self: e, pick: (e + p.MaskW - 1) % p.MaskW, own: g[e]}
		l.picked = g[l.pick]
		require.NoError(t, b.cycle(l, w))
		require.NoError(t, b.cycle(nil, nil))
		w = &ack{(g[e].PSN + uint64(n)) & mask24, uint64(n)}
		g[e] = *w
	}
}
