// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// wrongStar is a star of four hosts whose engine follows a rule known to be wrong, with n slots a pipe in Mode III.
func wrongStar(t testing.TB, mode, n int, rule Rules, change func(*Group)) *world {
	p := smallParams()
	p.Mode, p.Rules = mode, rule
	g := starGroup(0, 0)
	g.PipeSlots = n
	if change != nil {
		change(&g)
	}
	w := newWorld(t, p, g)
	w.e.SetManual(true)
	return w
}

// step offers a packet, and puts the engine away and back.
func (w *world) step(p roce.Packet) []Out {
	w.t.Helper()
	outs := w.e.Step(0, w.e.table[int(p.DestQP)%len(w.e.table)].Port, p)
	w.putAway()
	return outs
}

func (w *world) putAway() {
	w.t.Helper()
	state := w.e.AppendState(nil)
	require.NoError(w.t, w.twin.Restore(state))
	require.Equal(w.t, state, w.twin.AppendState(nil))
	require.Equal(w.t, w.e.Actions(nil), w.twin.Actions(nil))
	w.e.begin(0)
}

// all offers everybody's contribution to a PSN.
func (w *world) all(psn roce.PSN) (outs []Out) {
	w.t.Helper()
	for e := range 4 {
		outs = append(outs, w.step(w.data(0, e, psn, contribution(e, psn, 4)))...)
	}
	return outs
}

// flush takes all sends.
func (w *world) flush() (outs []Out) {
	w.t.Helper()
	for a := sendsOf(w.e); len(a) > 0; a = sendsOf(w.e) {
		made, err := w.e.ActStep(0, a[0])
		require.NoError(w.t, err)
		w.putAway()
		outs = append(outs, made...)
	}
	return outs
}

// everyone acknowledges a PSN.
func (w *world) everyone(psn roce.PSN) {
	for e := range 4 {
		w.step(w.ack(0, e, psn, roce.AckSyndrome))
	}
}

// wrong runs the same with a rule known to be wrong and without, and gives both.
func wrong(t *testing.T, mode, n int, rule Rules, change func(*Group), check func(t *testing.T, w *world, good bool)) {
	t.Helper()
	t.Run("wrong", func(t *testing.T) { check(t, wrongStar(t, mode, n, rule, change), false) })
	t.Run("right", func(t *testing.T) { check(t, wrongStar(t, mode, n, 0, change), true) })
}

func TestRuleA1(t *testing.T) {
	wrong(t, 2, 0, RuleA1, nil, func(t *testing.T, w *world, good bool) {
		sums := 0
		for psn := range roce.PSN(20) {
			for _, o := range w.all(psn) {
				if o.Packet.Op.IsSend() && o.Port == 0 {
					sums++
				}
			}
		}
		require.Equal(t, map[bool]int{true: 20, false: 8}[good], sums, "each slot serves once")
	})
	wrong(t, 3, 3, RuleA1, nil, func(t *testing.T, w *world, good bool) {
		sums := 0
		for psn := range roce.PSN(20) {
			w.all(psn)
			sums += len(w.flush()) / 4
			w.everyone(psn)
		}
		require.Equal(t, map[bool]int{true: 20, false: 6}[good], sums)
	})
}

func TestRuleA2(t *testing.T) {
	wrong(t, 2, 0, RuleA2, nil, func(t *testing.T, w *world, good bool) {
		for psn := range roce.PSN(4) {
			w.all(psn)
		}
		w.step(w.data(0, 0, 4, contribution(0, 4, 4))) // endpoint 3 has lost the result of 0, which lies where 8 will
		require.Equal(t, good, len(w.step(w.data(0, 3, 0, contribution(3, 0, 4)))) == 1)
	})
}

// broadcastTo makes a star's group a Broadcast from endpoint 3 to 0, 1, 2.
func broadcastTo(g *Group) {
	g.Collective, g.Parent, g.HasParent, g.InMask, g.OutMask, g.AckMask = CollectiveBroadcast, 3, true, 0, 7, 7
}

func TestRuleA9(t *testing.T) {
	wrong(t, 2, 0, RuleA9, broadcastTo, func(t *testing.T, w *world, good bool) {
		w.step(w.data(0, 3, 0, le(1)))
		for e := range 3 {
			require.Equal(t, e == 2, len(w.step(w.ack(0, e, 0, roce.AckSyndrome))) == 1)
		}
		require.Equal(t, good, len(w.step(w.ack(0, 1, 0, roce.AckSyndrome))) == 1, "an ACK that is repeated")
	})
}

func TestRuleA10(t *testing.T) {
	wrong(t, 2, 0, RuleA10, broadcastTo, func(t *testing.T, w *world, good bool) {
		for e, psn := range map[int]roce.PSN{0: 4, 1: 9, 2: 9} {
			w.step(w.ack(0, e, psn, roce.AckSyndrome))
		}
		outs := w.step(w.ack(0, 1, 10, roce.NAKSequence))
		require.Len(t, outs, 1)
		require.Equal(t, map[bool]roce.PSN{true: 5, false: 10}[good], outs[0].Packet.PSN)
	})
}

func TestRuleB6(t *testing.T) {
	prepare := func(w *world) {
		for psn := range roce.PSN(3) {
			w.all(psn)
		}
		w.flush()
	}
	wrong(t, 3, 4, RuleB6Ack, nil, func(t *testing.T, w *world, good bool) {
		prepare(w)
		w.step(w.ack(0, 1, 1, roce.NAKSequence))
		outs := w.flush()
		require.Equal(t, good, len(outs) == 2, "1 and 2 go to endpoint 1 again")
		require.Equal(t, map[bool]roce.PSN{true: 1, false: 2}[good], w.e.groups[0].sends[1].nextUnacked)
	})
	wrong(t, 3, 4, RuleB6Assert, nil, func(t *testing.T, w *world, good bool) {
		prepare(w)
		w.step(w.ack(0, 1, 0, roce.NAKSequence))
		require.NoError(t, w.e.CheckInvariants())
		w.step(w.ack(0, 1, 1, roce.NAKSequence)) // has overtaken the ACK of 0
		require.Equal(t, good, w.e.CheckInvariants() == nil)
	})
}

func TestRuleB9(t *testing.T) {
	wrong(t, 3, 2, RuleB9, nil, func(t *testing.T, w *world, good bool) {
		w.all(0)
		w.all(1)
		w.flush()
		w.all(2) // finds the broadcast pipe full
		require.NoError(t, w.e.CheckInvariants())
		w.all(3)
		require.Equal(t, good, w.e.CheckInvariants() == nil)
		w.everyone(1)
		require.Len(t, w.flush(), map[bool]int{true: 8}[good])
	})
}

func TestRuleB10(t *testing.T) {
	wrong(t, 3, 2, RuleB10, nil, func(t *testing.T, w *world, good bool) {
		w.all(0)
		require.Equal(t, good, len(w.step(w.data(0, 1, 0, contribution(1, 0, 4)))) == 1)
	})
}

func TestRuleB15(t *testing.T) {
	for n := 1; n <= 3; n++ {
		wrong(t, 3, n, RuleB15, nil, func(t *testing.T, w *world, good bool) {
			exact := true
			for psn := range roce.PSN(9) {
				w.all(psn)
				if psn == 0 {
					w.flush()
					w.step(w.ack(0, 2, 0, roce.RNRSyndrome|1))
				}
				w.flush()
				for _, e := range []int{0, 1, 3} {
					w.step(w.ack(0, e, psn, roce.AckSyndrome))
				}
			}
			require.Equal(t, good, w.e.Discarded(0) == 0)
			_, err := w.e.ActStep(0, Action{Kind: ActResume, Endpoint: 2})
			require.NoError(t, err)
			for _, o := range w.flush() {
				exact = exact && string(o.Packet.Payload) == string(sumOf(4, o.Packet.PSN, 4))
			}
			require.Equal(t, good, exact)
		})
	}
}
