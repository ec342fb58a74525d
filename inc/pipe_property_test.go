// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// TestPipeRandom: packets that make sense more often than not, and actions when they may be taken, in fixed and in-band groups. After each the
// state can be put away and taken up, Handle and Step agree, invariants and identities hold (see pipes.check); what is dropped changes
// nothing but the note that it was answered; and one group's packets and actions do not touch another group.
func TestPipeRandom(t *testing.T) {
	groups := map[string]func(g int) Group{
		"star":      func(g int) Group { return starGroup(g, 0xFFFFF8) },
		"child":     func(g int) Group { return childGroup(g, 5) },
		"reduce":    func(g int) Group { return onSlots(oneWayGroup(CollectiveReduce, 0xFFFFFE), g) },
		"broadcast": func(g int) Group { return onSlots(oneWayGroup(CollectiveBroadcast, 0), g) },
		"in-band":   func(g int) Group { return inBandStar(g, 0xFFFFF0) },
		"leaf":      func(g int) Group { return inBandLeaf(g, 0xFFFFF0) },
	}
	var all Counters
	for name, group := range groups {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(len(name)), 3))
			p := inBandParams()
			p.Mode = 3
			settings := []Group{group(0), group(1)}
			settings[0].PipeSlots, settings[1].PipeSlots = 3, 1
			for g := range settings {
				settings[g].SlotBase = 16 * g
			}
			w := newPipes(t, p, settings...)
			w.configure(func(e *Engine) error { e.SetPipeCtrl(PipeCtrl{RNRTimer: 2, RNR: true, CNP: true}); return nil })
			for range 4000 {
				w.now += Time(r.IntN(5)) * microsecond
				g := r.IntN(2)
				before, other, drops := w.e.AppendGroupState(nil, g), w.e.AppendGroupState(nil, 1-g), w.e.Counters()
				if actions := w.e.Actions(nil); len(actions) > 0 && r.IntN(2) == 0 {
					a := actions[r.IntN(len(actions))]
					w.act(a)
					if a.Group != g {
						continue
					}
				} else {
					w.send(w.randomPipePacket(r, g))
				}
				require.Equal(t, other, w.e.AppendGroupState(nil, 1-g))
				for c := range AllCounters {
					if c.drops() && w.e.counters[c] != drops[c] && c != DropGap && c != DropFull {
						require.Equal(t, before, w.e.AppendGroupState(nil, g), "%v", c)
					}
				}
			}
			for i, n := range w.e.Counters() {
				all[i] += n
			}
		})
	}
	for _, c := range []Counter{Agg, Buffered, Wipe, TxResult, TxFanout, RxAck, RxNak, RxRnr, RxCnp, TxGapNak, TxCnp, DropTooLong, DropBadLength, DropWrongRole,
		DropSyndrome, DropGap, DropShape, RangeOpen, DropRange, DropBadControl, DropControl, DropStaleAck, TxAck, TxRnr, TxRetransmit, Timeout,
		RxDuplicate, DownTaken, DropFull} {
		require.NotZero(t, all[c], "%v: the traffic is not as wild as it should be", c)
	}
}

// onSlots moves a group's slots to where those of group g of a test lie.
func onSlots(s Group, g int) Group {
	s.SlotBase = 16 * g
	return s
}

// randomPipePacket is randomPacket with ACKs near what was sent, and more of what gets on.
func (w *pipes) randomPipePacket(r *rand.Rand, number int) roce.Packet {
	g := &w.e.groups[number]
	e := r.IntN(w.e.params.Members + 1)
	switch r.IntN(8) {
	case 0, 1, 2:
		s := &g.sends[e]
		near := s.nextUnacked.Add(r.IntN(s.beyond.Diff(s.nextUnacked)+3) - 1).Add(g.current.offsets[e].out)
		return w.ack(number, e, near, []uint8{0x1F, 0x1F, 0x1F, 0x1F, 0x60, 0x60, 0x21, 0x40}[r.IntN(8)])
	case 3, 4, 5:
		if !g.InBand || g.current.open && g.current.has(g.expected(e)) {
			psn := g.ends[e].ePSN
			if g.InBand && g.expected(e) == g.current.first {
				return w.control(number, e, psn, ControlOf(g.current.immediate))
			}
			length := 16
			if g.current.collective == CollectiveBarrier {
				length = 0
			}
			return w.data(number, e, psn, contribution(e, psn, 4)[:length])
		}
	}
	return w.randomPacket(r, number)
}

// TestAutomatic: by default an engine takes its actions itself: sends at once, from one queue in turn, and what needs a time in Tick.
func TestAutomatic(t *testing.T) {
	w := newPipeStar(t, 4, 0)
	e := w.twin
	e.SetManual(false)
	step := func(now Time, p roce.Packet) []said { return w.heard(e.Step(now, int(p.DestQP)%16, p)) }
	give := func(psn roce.PSN) (last []said) {
		for m := range 4 {
			last = step(0, w.data(0, m, psn, contribution(m, psn, 4)))
		}
		return last
	}
	result := func(psn roce.PSN, to ...int) []said { return toAll(psn, sumOf(4, psn, 4), to...) }
	for psn := range roce.PSN(4) {
		require.Equal(t, append([]said{acked(3, psn, 0)}, result(psn, 0, 1, 2, 3)...), give(psn))
	}
	// Endpoint 0 makes room for 4 and 5, which wait; 1 and 2 lag behind it by what they have not acknowledged.
	require.Equal(t, []said{acked(3, 4, 0)}, give(4))
	require.Equal(t, []said{acked(3, 5, 0)}, give(5))
	for _, m := range []int{0, 2, 3} {
		require.Empty(t, step(0, w.ack(0, m, 1, roce.AckSyndrome)))
	}
	require.Equal(t, append(append(append(append(result(4, 0, 2, 3), result(2, 1)...), result(5, 0, 2, 3)...), result(3, 1)...), append(result(4, 1), result(5, 1)...)...),
		step(1, w.ack(0, 1, 2, roce.NAKSequence)), "in turn")
	require.Empty(t, sendsOf(e))

	at, ok := e.NextDeadline()
	require.True(t, ok)
	require.Equal(t, 16*microsecond, at, "that of those whose timer started at 0")
	require.Empty(t, e.Tick(at-1))
	require.Equal(t, append(append(result(2, 0), result(2, 2)...), result(2, 3)...), w.heard(e.Tick(at))[:3])
	require.Equal(t, uint64(3), e.counters[Timeout])
	require.Empty(t, e.Tick(at))
	require.NoError(t, e.CheckInvariants())

	at, _ = e.NextDeadline()
	require.Equal(t, 16*microsecond+1, at)
	require.Empty(t, w.heard(e.Step(at, 1, w.ack(0, 1, 2, roce.RNRSyndrome|1))))
	for _, m := range []int{0, 1, 2, 3} {
		e.Step(at, m, w.ack(0, m, 5, roce.AckSyndrome))
	}
	next, ok := e.NextDeadline()
	require.True(t, ok)
	require.Equal(t, at+10*microsecond, next, "the end of the wait")
	for m := range 4 {
		e.Step(at, m, w.data(0, m, 6, contribution(m, 6, 4)))
	}
	require.Equal(t, result(6, 1), w.heard(e.Tick(next)))

	// What an engine is left with when it begins to act by itself goes with the next Tick, which is due at once.
	w = newPipeStar(t, 4, 0)
	w.contribute(0, 0, 1, 2, 3)
	require.Empty(t, w.e.Tick(100))
	w.e.SetManual(false)
	now, ok := w.e.NextDeadline()
	require.True(t, ok)
	require.Equal(t, w.now, now)
	outs := w.e.Tick(5)
	require.Equal(t, result(0, 0, 1, 2, 3), w.heard(outs))
	for _, o := range outs {
		w.checkFrame(o)
	}
}

// TestPipeStateIsCanonical: where slots lie in memory, what they held, and times are no part of the state.
func TestPipeStateIsCanonical(t *testing.T) {
	w := newPipeStar(t, 3, 0)
	w.now = 5 * microsecond
	for psn := range roce.PSN(5) { // not a multiple of the ring
		w.contribute(psn, 0, 1, 2, 3)
		w.sends()
		w.acks(psn, 0, 1, 2, 3)
	}
	w.contribute(5, 0, 1, 2, 3)
	w.sends()
	w.contribute(6, 2)
	require.NotZero(t, w.e.groups[0].pipes[PipeBroadcast].head)
	require.Zero(t, w.other.groups[0].pipes[PipeBroadcast].head)
	a := Action{Kind: ActTimeout, Endpoint: 1}
	for _, e := range []*Engine{w.e, w.other} { // one of them for the second time
		_, err := e.Act(w.now, a)
		require.NoError(t, err)
	}
	_, err := w.e.Act(w.now, a)
	require.NoError(t, err)
	require.Equal(t, w.e.AppendState(nil), w.other.AppendState(nil))
	require.Less(t, len(w.e.AppendGroupState(nil, 0)), 75)
}

// TestPipeRestoreRefuses: what no engine comes to is refused, and refusing changes nothing.
func TestPipeRestoreRefuses(t *testing.T) {
	w := newPipeStar(t, 3, 0)
	for psn := range roce.PSN(2) {
		w.contribute(psn, 0, 1, 2, 3)
		w.sends()
	}
	w.acks(0, 0, 1)
	w.contribute(2, 1)
	w.nothing(w.send(w.ack(0, 2, 1, roce.NAKSequence)))
	state := w.e.AppendGroupState(nil, 0)
	rest := w.e.AppendGroupState(nil, 1)
	before := w.other.AppendState(nil)
	refused := 0
	for i := range state {
		for _, v := range []byte{0, 1, 2, 3, 5, 9, 0x80, 0xFF, state[i] + 1, state[i] - 1} {
			changed := append(bytes.Clone(state), rest...)
			changed[i] = v
			if w.other.Restore(changed) == nil {
				require.Equal(t, changed, w.other.AppendState(nil), "byte %d", i)
				require.NoError(t, w.other.CheckInvariants())
				require.NoError(t, w.other.Restore(before))
				continue
			}
			refused++
			require.Equal(t, before, w.other.AppendState(nil))
		}
	}
	require.Greater(t, refused, 100)
	for i := range state {
		require.ErrorIs(t, w.other.Restore(state[:i]), ErrState)
	}
	require.ErrorIs(t, w.other.Restore(append(append(bytes.Clone(state), rest...), 0)), ErrState)
}

// FuzzPipes feeds a Mode III engine packets and actions made of the input's bytes; whatever they are, invariants hold and the state can be
// restored.
func FuzzPipes(f *testing.F) {
	for kind := range byte(12) {
		f.Add(append([]byte{kind}, bytes.Repeat([]byte{0, 0, 1, 0, 2, 0, 3, 0, 0x41, 0, 0x10, 0, 0x11, 0}, 6)...))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) == 0 {
			return
		}
		kind := input[0]
		p := inBandParams()
		p.Mode, p.Reproducible = 3, kind&1 != 0
		g := []Group{starGroup(0, 0xFFFFFE), childGroup(0, 0), inBandLeaf(0, 7), oneWayGroup(CollectiveReduce, 0), oneWayGroup(CollectiveBroadcast, 0),
			inBandStar(0, 0xFFFFFF)}[kind/2%6]
		if p.Reproducible {
			p.Members, p.Ports = 5, 6
		}
		g.PipeSlots = 1 + int(kind>>5)%4
		w := newWorld(t, p, g)
		w.e.SetManual(kind&16 == 0)
		for i := 1; i+1 < len(input); i += 2 {
			what, e, psn := input[i]>>4, int(input[i]&7)%(p.Members+1), int(int8(input[i+1]))
			group := &w.e.groups[0]
			switch what {
			case 0:
				w.e.Step(0, e, w.data(0, e, group.ends[e].ePSN.Add(psn), le(int32(psn))))
			case 1:
				w.e.Step(0, e, w.ack(0, e, group.sends[e].beyond.Prev().Add(psn+group.current.offsets[e].out), roce.AckSyndrome))
			case 2:
				w.e.Step(0, e, w.ack(0, e, group.sends[e].nextUnacked.Add(psn+group.current.offsets[e].out), roce.NAKSequence))
			case 3:
				w.e.Step(0, e, w.ack(0, e, group.sends[e].nextUnacked.Add(psn+group.current.offsets[e].out), roce.RNRSyndrome|1))
			case 4:
				if actions := w.e.Actions(nil); len(actions) > 0 {
					_, err := w.e.ActStep(0, actions[int(input[i+1])%len(actions)])
					require.NoError(t, err)
				}
			case 5, 6:
				w.e.Step(0, e, w.control(0, e, group.ends[e].ePSN, Control{Collective: input[i+1] & 3, DType: DTypeINT32, Root: input[i+1] >> 2 & 3, Packets: int(input[i+1] >> 4 & 7)}))
			case 7:
				w.e.Tick(Time(input[i+1]) * microsecond)
			}
			require.NoError(t, w.e.CheckInvariants())
			require.NoError(t, w.e.Counters().CheckPipeIdentities())
		}
		state := w.e.AppendState(nil)
		require.NoError(t, w.twin.Restore(state))
		require.Equal(t, state, w.twin.AppendState(nil))
		require.Equal(t, w.e.Actions(nil), w.twin.Actions(nil))
	})
}

// FuzzRestorePipes: no bytes break Restore, and what it takes it gives back, in order.
func FuzzRestorePipes(f *testing.F) {
	kinds := func(t testing.TB, kind byte) *world {
		p := inBandParams()
		p.Mode, p.Groups = 3, 1
		if kind&8 != 0 {
			p.Rules = Rules(kind >> 4)
		}
		return newWorld(t, p, []Group{starGroup(0, 0xFFFFFE), childGroup(0, 0), inBandLeaf(0, 7), inBandStar(0, 0)}[kind&3])
	}
	for kind := range 256 {
		w := kinds(f, byte(kind))
		w.e.SetManual(kind&4 != 0)
		f.Add(byte(kind), w.e.AppendState(nil))
		for e := range 4 {
			start := w.e.groups[0].Start
			w.e.Step(0, e, w.control(0, e, start, allReduceOf(2)))
			w.e.Step(0, e, w.data(0, e, start.Next(), le(1)))
			f.Add(byte(kind), w.e.AppendState(nil))
		}
		w.e.Step(0, 1, w.ack(0, 1, w.e.groups[0].Start, roce.NAKSequence))
		f.Add(byte(kind), w.e.AppendState(nil))
	}
	f.Fuzz(func(t *testing.T, kind byte, input []byte) {
		w := kinds(t, kind)
		if w.e.Restore(input) == nil {
			require.Equal(t, input, w.e.AppendState(nil))
			if w.e.params.Rules == 0 {
				require.NoError(t, w.e.CheckInvariants())
			}
		}
	})
}

// TestPipeIdentities: a counter that is off by one is noticed, if it is in an equation.
func TestPipeIdentities(t *testing.T) {
	w := newPipeStar(t, 3, 0)
	require.Len(t, slices.Collect(Params{Mode: 2}.Counters()), int(NumCounters))
	require.Len(t, slices.Collect(w.e.params.Counters()), int(PipeCounters))
	w.contribute(0, 0, 1, 2, 3)
	w.sends()
	for c := range PipeCounters {
		counters := w.e.Counters()
		require.NoError(t, counters.CheckPipeIdentities())
		counters[c]++
		err := counters.CheckPipeIdentities()
		switch c {
		case RxCe, ImmMismatch, EccCorrected, EccDouble, RangeOpen, Wipe, TxResend, TxReflect, TxAckCopy, TxAckUp, TxReack, TxRetransmit, Timeout:
			require.NoError(t, err, "%v", c)
		default:
			require.Error(t, err, "%v", c)
		}
	}
	var names []string
	for c := NumCounters; c < PipeCounters; c++ {
		names = append(names, c.String())
	}
	require.Equal(t, []string{"TX_ACK", "TX_RNR", "TX_RETRANSMIT", "TIMEOUT", "RX_DUPLICATE", "DOWN_TAKEN", "DROP_FULL"}, names)
}

// TestPipeSettings: what a Mode III engine and its groups may be.
func TestPipeSettings(t *testing.T) {
	for _, change := range []func(p *Params){
		func(p *Params) { p.Mode = 1 }, func(p *Params) { p.Mode = 4 }, func(p *Params) { p.HopRTT = -1 }, func(p *Params) { p.HopRTT = MaxHopRTT + 1 },
		func(p *Params) { p.Rules = allRules + 1 },
	} {
		p := pipeParams()
		change(&p)
		_, err := New(p)
		require.ErrorIs(t, err, ErrRange)
	}
	for rtt, timeout := range map[int]Time{0: 16, 1: 1, 2000: 16, 3000: 24, MaxHopRTT: 65528} {
		p := pipeParams()
		p.HopRTT = rtt
		e, err := New(p)
		require.NoError(t, err)
		require.Equal(t, timeout*microsecond, e.pipeTimeout)
		e.SetPipeTimeout(0)
		require.Equal(t, microsecond, e.pipeTimeout)
	}
	w := newPipeStar(t, 0, 0)
	require.Equal(t, 4, w.e.groups[0].pipeSlots())
	require.NoError(t, w.e.Disable(0))
	for n, legal := range map[int]bool{-1: false, 1: true, 3: true, 4: true, 5: false} {
		g := starGroup(0, 0)
		g.PipeSlots = n
		require.NoError(t, w.e.SetGroup(0, g))
		err := w.e.Enable(0)
		require.Equal(t, legal, err == nil, "%d slots", n)
		if !legal {
			require.ErrorIs(t, err, ErrIllegalGroup)
		}
		require.NoError(t, w.e.Disable(0))
	}
}

// TestPipeLook: what data would meet.
func TestPipeLook(t *testing.T) {
	w := newPipeStar(t, 2, 0)
	look := func(e int, psn roce.PSN) SlotState {
		t.Helper()
		s, ok := w.e.Look(e, psn)
		require.True(t, ok)
		return s.Slot
	}
	w.contribute(0, 0, 1, 2, 3)
	w.contribute(1, 2)
	require.Equal(t, []SlotState{SlotComplete, SlotPartial, SlotEmpty, SlotOther},
		[]SlotState{look(0, 0), look(0, 1), look(0, 2), look(0, 3)}, "0 has moved, so there is room for 1 and 2")
	w.sends()
	w.acks(0, 0, 1, 2, 3)
	require.Equal(t, SlotOther, look(0, 0))
}
