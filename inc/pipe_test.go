// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// TestPipe02OneAllReduce is scenario 2: each contribution is acknowledged as it comes, and the fourth lets the result leave.
func TestPipe02OneAllReduce(t *testing.T) {
	w := newPipeStar(t, 4, 0)
	w.contribute(0, 0, 1, 2)
	require.Empty(t, w.e.Actions(nil))
	w.contribute(0, 3)
	require.Equal(t, []Action{{Kind: ActSend, Pipe: PipeBroadcast}}, w.e.Actions(nil))
	w.says(w.sends(), toAll(0, sumOf(4, 0, 4), 0, 1, 2, 3)...)
	w.acks(0, 3, 2, 1)
	require.Equal(t, 1, w.e.Unfinished(0))
	w.acks(0, 0)
	require.Zero(t, w.e.Unfinished(0))
	require.Empty(t, w.e.Actions(nil))
}

// TestPipe03Barrier is scenario 3.
func TestPipe03Barrier(t *testing.T) {
	g := starGroup(0, 0)
	g.Collective = CollectiveBarrier
	w := newPipes(t, pipeParams(), g)
	for psn := range roce.PSN(2) {
		for e := range 4 {
			w.says(w.send(w.data(0, e, psn, nil)), acked(e, psn, 0))
		}
		outs := w.sends()
		w.says(outs, toAll(psn, nil, 0, 1, 2, 3)...)
		for _, o := range outs {
			require.Len(t, o.Frame, 60)
		}
		w.acks(psn, 0, 1, 2, 3)
	}
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_BAD_LENGTH": 1}, w.gained(func() {
		w.nothing(w.send(w.data(0, 0, 2, le(1))))
	}))
}

// TestPipe05CumulativeAck is scenario 5: one ACK frees all slots at once.
func TestPipe05CumulativeAck(t *testing.T) {
	p := pipeParams()
	p.Slots = 64
	g := starGroup(0, 0)
	g.Log2N = 5
	w := newPipes(t, p, g)
	for psn := range roce.PSN(10) {
		w.contribute(psn, 0, 1, 2, 3)
	}
	require.Len(t, w.sends(), 40)
	w.acks(9, 0, 1, 2)
	require.Equal(t, 10, w.e.Unfinished(0))
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_ACK": 1, "WIPE": 10}, w.gained(func() { w.acks(9, 3) }))
	require.Zero(t, w.e.Unfinished(0))
	c := w.e.Counters()
	assert.Equal(t, []uint64{40, 40, 40, 30, 10, 40, 20, 0},
		[]uint64{c[UpData], c[Agg], c[TxAck], c[Buffered], c[TxResult], c[TxFanout], c[Wipe], c[RxNak]}, "docs/pipes.md section 6, the last line")
}

// TestPipe06Duplicate is scenario 6: a duplicate is acknowledged again and not added, whether its slot is complete, sent or free.
func TestPipe06Duplicate(t *testing.T) {
	w := newPipeStar(t, 4, 5)
	again := func(e int, psn, upTo roce.PSN) {
		t.Helper()
		require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "RX_DUPLICATE": 1, "TX_ACK": 1, "TX_FRAMES": 1}, w.gained(func() {
			w.says(w.send(w.data(0, e, psn, contribution(e, psn, 4))), acked(e, upTo, 5))
		}))
	}
	w.contribute(5, 0)
	again(0, 5, 5)
	w.contribute(5, 1, 2, 3)
	again(2, 5, 5)
	w.contribute(6, 2)
	again(2, 5, 6)
	w.says(w.sends(), toAll(5, sumOf(4, 5, 4), 0, 1, 2, 3)...)
	again(1, 5, 5)
	w.acks(5, 0, 1, 2, 3)
	again(1, 5, 5)
	again(1, 3, 5) // older than all
}

// TestPipe09Reuse is scenario 9 for several N, powers of two and not: ten times round the ring, the ranks in any order within the pipe.
func TestPipe09Reuse(t *testing.T) {
	for n := 1; n <= 4; n++ {
		w := newPipeStar(t, n, roce.PSN(roce.PSNMask-3*n)) // scenario 18: across the wrap
		first := w.e.groups[0].Start
		for i := range 10 * n {
			psn := first.Add(i)
			w.contribute(psn, (i+1)%4, (i+3)%4, (i+2)%4, i%4)
			w.says(w.sends(), toAll(psn, sumOf(4, psn, 4), 0, 1, 2, 3)...)
			w.acks(psn, i%4, (i+1)%4, (i+2)%4, (i+3)%4)
		}
		require.Zero(t, w.e.Unfinished(0))
		require.Equal(t, uint64(20*n), w.e.counters[Wipe])
	}
}

// TestPipe11Gap is scenario 11: one NAK a gap.
func TestPipe11Gap(t *testing.T) {
	w := newPipeStar(t, 4, 0)
	d := func(psn roce.PSN) []Out { return w.send(w.data(0, 0, psn, contribution(0, psn, 4))) }
	nak := func(psn roce.PSN) said { return said{To: 0, What: "NAK", PSN: psn, MSN: uint32(psn)} }
	w.says(d(0), acked(0, 0, 0))
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_GAP": 1, "TX_GAP_NAK": 1, "TX_FRAMES": 1}, w.gained(func() {
		w.says(d(2), nak(1))
	}))
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_GAP": 1}, w.gained(func() { w.nothing(d(3)) }))
	w.says(d(1), acked(0, 1, 0))
	w.says(d(3), nak(2)) // a second gap
	w.says(d(2), acked(0, 2, 0))
	w.says(d(3), acked(0, 3, 0))
}

// TestPipe12NAK is scenario 12: what a NAK asks for goes to that endpoint alone, and a NAK that cannot be is ignored.
func TestPipe12NAK(t *testing.T) {
	p := pipeParams()
	p.Slots = 64
	g := starGroup(0, 0)
	g.Log2N = 5
	w := newPipes(t, p, g)
	for psn := range roce.PSN(8) {
		w.contribute(psn, 0, 1, 2, 3)
		w.sends()
	}
	nak := func(psn roce.PSN) { w.nothing(w.send(w.ack(0, 1, psn, roce.NAKSequence))) }
	nak(3)
	require.Equal(t, roce.PSN(0), w.e.groups[0].pipes[PipeBroadcast].start, "the others have acknowledged nothing")
	require.Equal(t, ActSendOne, w.e.Actions(nil)[0].Kind)
	require.Equal(t, map[string]uint64{"TX_FANOUT": 5, "TX_RETRANSMIT": 5, "TX_FRAMES": 5}, w.gained(func() {
		var want []said
		for psn := roce.PSN(3); psn < 8; psn++ {
			want = append(want, toAll(psn, sumOf(4, psn, 4), 1)...)
		}
		w.says(w.sends(), want...)
	}))
	for _, psn := range []roce.PSN{2, 9} { // stale, and beyond what was sent
		require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_STALE_ACK": 1}, w.gained(func() { nak(psn) }))
	}
	nak(8) // an ACK of 7
	require.Empty(t, w.sends())
	require.Equal(t, roce.PSN(8), w.e.groups[0].sends[1].nextUnacked)
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_NAK": 1}, w.gained(func() { nak(8) }), "no news, and nothing to send again")
	w.acks(2, 0, 2, 3)
	require.Equal(t, roce.PSN(3), w.e.groups[0].pipes[PipeBroadcast].start)
	for _, syndrome := range []uint8{roce.AckSyndrome, roce.RNRSyndrome | 1} {
		require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_STALE_ACK": 1}, w.gained(func() { w.nothing(w.send(w.ack(0, 0, 2, syndrome))) }))
	}
}

// TestPipe13Full is scenario 13: what finds the pipe full is never acknowledged, and draws an RNR NAK, silence or a CNP by PIPE_CTRL.
func TestPipe13Full(t *testing.T) {
	const n = 3
	cases := map[string]struct {
		ctrl PipeCtrl
		want []said
	}{
		"reset value": {PipeCtrl{RNRTimer: 1, RNR: true}, []said{{What: "RNR NAK", PSN: n, MSN: n}}},
		"silence":     {PipeCtrl{}, nil},
		"CNP":         {PipeCtrl{CNP: true}, []said{{What: "CNP", PSN: n, Payload: string(make([]byte, 16))}}},
		"both": {PipeCtrl{RNRTimer: 9, RNR: true, CNP: true}, []said{{What: "RNR NAK", PSN: n, MSN: n},
			{What: "CNP", PSN: n, Payload: string(make([]byte, 16))}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPipeStar(t, n, 0)
			require.Equal(t, PipeCtrl{RNRTimer: 1, RNR: true}, w.e.pipeCtrl)
			w.configure(func(e *Engine) error { e.SetPipeCtrl(c.ctrl); return nil })
			for psn := range roce.PSN(n) {
				w.contribute(psn, 0)
			}
			full := func() {
				t.Helper()
				outs := w.send(w.data(0, 0, n, contribution(0, n, 4)))
				w.says(outs, c.want...)
				if c.ctrl.RNR {
					require.Equal(t, 0x20|c.ctrl.RNRTimer, outs[0].Packet.Syndrome)
				}
			}
			full()
			w.nothing(w.send(w.data(0, 0, n+1, contribution(0, n+1, 4)))) // in flight behind it
			w.nothing(w.send(w.data(0, 0, n+2, contribution(0, n+2, 4))))
			full()
			for psn := range roce.PSN(n) {
				w.contribute(psn, 1, 2, 3)
			}
			// Complete and moved to the broadcast pipe, all that was in the aggregation pipe has left its place.
			w.contribute(n, 0, 1, 2, 3)
			w.sends()
			w.acks(n-1, 0, 1, 2, 3)
			w.contribute(n+1, 0, 1, 2, 3)
			w.says(w.sends(), append(toAll(n, sumOf(4, n, 4), 0, 1, 2, 3), toAll(n+1, sumOf(4, n+1, 4), 0, 1, 2, 3)...)...)
		})
	}
}

// TestPipe14TurnAround is scenario 14: with the broadcast pipe full the root completes slots and keeps them, says nothing to itself, and the
// aggregation pipe fills; ACKs let all follow in order.
func TestPipe14TurnAround(t *testing.T) {
	for n := roce.PSN(1); n <= 3; n++ {
		w := newPipeStar(t, int(n), 0xFFFFFF)
		at := func(i roce.PSN) roce.PSN { return roce.PSN(0xFFFFFF).Add(int(i)) }
		for i := range 2 * n {
			w.contribute(at(i), 0, 1, 2, 3)
		}
		require.Len(t, w.sends(), int(4*n), "what is in the broadcast pipe")
		require.Equal(t, n, w.e.groups[0].moved().Add(1))
		outs := w.send(w.data(0, 2, at(2*n), contribution(2, at(2*n), 4)))
		w.says(outs, said{To: 2, What: "RNR NAK", PSN: at(2 * n), MSN: uint32(2 * n)})
		w.acks(at(0), 0, 1, 2)
		require.Empty(t, w.sends())
		w.acks(at(0), 3)
		w.says(w.sends(), toAll(at(n), sumOf(4, at(n), 4), 0, 1, 2, 3)...)
		w.contribute(at(2*n), 2)
		w.acks(at(n), 0, 1, 2, 3) // all that was sent
		var want []said
		for i := n + 1; i < 2*n; i++ {
			want = append(want, toAll(at(i), sumOf(4, at(i), 4), 0, 1, 2, 3)...)
		}
		w.says(w.sends(), want...)
	}
}

// TestPipe15LostAck is scenario 15: with one slot and its ACK lost, the timer sends the result again.
func TestPipe15LostAck(t *testing.T) {
	w := newPipeStar(t, 1, 0)
	w.configure(func(e *Engine) error { e.SetPipeTimeout(20); return nil })
	w.now = 5 * microsecond
	w.contribute(0, 0, 1, 2, 3)
	w.sends()
	w.acks(0, 0, 1, 2)
	w.contribute(1, 0, 1, 2, 3) // complete, and waits for room in the broadcast pipe
	require.Empty(t, w.sends())
	late := Action{Kind: ActTimeout, Endpoint: 3}
	require.Equal(t, []Action{late}, w.e.Actions(nil))
	require.Empty(t, w.e.Due(25*microsecond-1, nil))
	require.Equal(t, []Action{late}, w.e.Due(25*microsecond, nil))
	w.now = 25 * microsecond
	w.nothing(w.act(late))
	w.says(w.sends(), toAll(0, sumOf(4, 0, 4), 3)...)
	require.Equal(t, uint64(1), w.e.counters[TxRetransmit])
	w.acks(0, 3)
	w.says(w.sends(), toAll(1, sumOf(4, 1, 4), 0, 1, 2, 3)...)
	require.Equal(t, 45*microsecond, mustDeadline(t, w.e), "the back-off is over")
}

func mustDeadline(t testing.TB, e *Engine) Time {
	t.Helper()
	at, ok := e.NextDeadline()
	require.True(t, ok)
	return at
}

// TestBackOff: the time doubles up to eightfold, progress makes it what it was and starts it again, and it stops when nothing is outstanding.
func TestBackOff(t *testing.T) {
	w := newPipeStar(t, 4, 0)
	require.Equal(t, 16*microsecond, w.e.pipeTimeout, "8 times 2000 ns")
	w.contribute(0, 0, 1, 2, 3)
	w.contribute(1, 0, 1, 2, 3)
	w.sends()
	w.acks(1, 0, 1, 2)
	late := Action{Kind: ActTimeout, Endpoint: 3}
	at := Time(0)
	for _, times := range []Time{1, 2, 4, 8, 8} {
		at += times * 16 * microsecond
		require.Equal(t, at, mustDeadline(t, w.e))
		deadline, ok := w.e.Deadline(late)
		require.True(t, ok)
		require.Equal(t, at, deadline)
		w.now = at
		w.act(late)
		require.Len(t, w.sends(), 2)
	}
	w.now += 3
	w.acks(0, 3)
	require.Equal(t, w.now+16*microsecond, mustDeadline(t, w.e))
	w.now++
	w.nothing(w.send(w.ack(0, 3, 1, roce.NAKSequence))) // no progress
	require.Equal(t, w.now-1+16*microsecond, mustDeadline(t, w.e))
	w.acks(1, 3)
	_, ok := w.e.NextDeadline()
	require.False(t, ok)
}

// TestWait: after an RNR NAK an endpoint gets nothing for the coded time, whatever it says; then from what it has not acknowledged.
func TestWait(t *testing.T) {
	w := newPipeStar(t, 4, 0)
	w.now = 100
	for psn := range roce.PSN(3) {
		w.contribute(psn, 0, 1, 2, 3)
	}
	w.sends()
	w.acks(2, 1, 2, 3)
	w.nothing(w.send(w.ack(0, 0, 1, roce.RNRSyndrome|3))) // 30 µs; has 0
	resume := Action{Kind: ActResume, Endpoint: 0}
	require.Equal(t, []Action{resume}, w.e.Actions(nil))
	require.Equal(t, 100+30*microsecond, mustDeadline(t, w.e))
	require.Equal(t, roce.PSN(1), w.e.groups[0].pipes[PipeBroadcast].start)

	w.nothing(w.send(w.ack(0, 0, 1, roce.NAKSequence)))
	w.acks(1, 0)
	require.Equal(t, []Action{resume}, w.e.Actions(nil))
	w.contribute(3, 0, 1, 2, 3)
	w.says(w.sends(), toAll(3, sumOf(4, 3, 4), 1, 2, 3)...) // the others are not held up
	w.now += 30 * microsecond
	require.Contains(t, w.e.Due(w.now, nil), resume)
	w.act(resume)
	w.says(w.sends(), append(toAll(2, sumOf(4, 2, 4), 0), toAll(3, sumOf(4, 3, 4), 0)...)...)
	require.Equal(t, uint64(1), w.e.counters[TxRetransmit], "3 was new to it")
	w.acks(3, 0, 1, 2, 3)

	w.nothing(w.send(w.ack(0, 0, 4, roce.RNRSyndrome|3))) // of nothing that was sent
	require.Empty(t, w.e.Actions(nil))
	_, ok := w.e.NextDeadline()
	require.False(t, ok)
}

// TestFailed: NAK 0x61 to 0x63 end what an endpoint gets, until its group is started.
func TestFailed(t *testing.T) {
	for syndrome := uint8(0x61); syndrome <= 0x63; syndrome++ {
		w := newPipeStar(t, 2, 0)
		w.contribute(0, 0, 1, 2, 3)
		w.sends()
		require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_NAK": 1}, w.gained(func() { w.nothing(w.send(w.ack(0, 2, 0, syndrome))) }))
		require.Equal(t, uint32(4), w.e.Failed(0))
		w.acks(0, 0, 1, 3)
		_, timed := w.e.NextDeadline()
		require.False(t, timed, "nobody waits for it any more")
		w.contribute(1, 0, 1, 2, 3)
		w.says(w.sends(), toAll(1, sumOf(4, 1, 4), 0, 1, 3)...)
		require.NotContains(t, w.e.Actions(nil), Action{Kind: ActTimeout, Endpoint: 2})
		require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_STALE_ACK": 1}, w.gained(func() { w.nothing(w.send(w.ack(0, 2, 5, syndrome))) }))
		w.configure(func(e *Engine) error { return e.Reset(0) })
		require.Zero(t, w.e.Failed(0))
		w.contribute(0, 0, 1, 2, 3)
		w.says(w.sends(), toAll(0, sumOf(4, 0, 4), 0, 1, 2, 3)...)
	}
	require.Zero(t, newPipeStar(t, 2, 0).e.Failed(7))
}

// TestLaggard: who lags gets its PSNs in order, new ones not before old ones, and keeps up again when it has come to the others.
func TestLaggard(t *testing.T) {
	w := newPipeStar(t, 4, 0)
	for psn := range roce.PSN(2) {
		w.contribute(psn, 0, 1, 2, 3)
		w.sends()
	}
	w.nothing(w.send(w.ack(0, 1, 0, roce.NAKSequence)))
	w.contribute(2, 0, 1, 2, 3)
	one, all := Action{Kind: ActSendOne, Endpoint: 1}, Action{Kind: ActSend, Pipe: PipeBroadcast}
	require.Equal(t, []Action{all, one}, sendsOf(w.e))
	w.says(w.act(all), toAll(2, sumOf(4, 2, 4), 0, 2, 3)...)
	w.says(w.act(one), toAll(0, sumOf(4, 0, 4), 1)...)
	w.contribute(3, 0, 1, 2, 3)
	w.says(w.act(one), toAll(1, sumOf(4, 1, 4), 1)...)
	w.says(w.act(one), toAll(2, sumOf(4, 2, 4), 1)...)
	require.Equal(t, []Action{all}, sendsOf(w.e))
	w.says(w.act(all), toAll(3, sumOf(4, 3, 4), 0, 1, 2, 3)...)
	require.Equal(t, uint64(2), w.e.counters[TxRetransmit])

	// An ACK of what is on its way again makes it go on behind it.
	w.nothing(w.send(w.ack(0, 1, 1, roce.NAKSequence)))
	w.acks(2, 1)
	w.says(w.act(one), toAll(3, sumOf(4, 3, 4), 1)...)

	// All lagging, nothing new is sent until one of them is there.
	w.acks(0, 0, 2, 3)
	w.contribute(4, 0, 1, 2, 3)
	for e := range 4 {
		w.nothing(w.send(w.ack(0, e, 3, roce.NAKSequence)))
	}
	require.Equal(t, []Action{{Kind: ActSendOne, Endpoint: 0}, {Kind: ActSendOne, Endpoint: 1}, {Kind: ActSendOne, Endpoint: 2},
		{Kind: ActSendOne, Endpoint: 3}}, sendsOf(w.e))
	w.act(Action{Kind: ActSendOne, Endpoint: 2})
	w.says(w.act(all), toAll(4, sumOf(4, 4, 4), 2)...)
}

// sendsOf are the sends that an engine may take.
func sendsOf(e *Engine) []Action { return e.Due(-1, nil) }

// TestAct: an action that may not be taken is refused and changes nothing.
func TestAct(t *testing.T) {
	w := newPipeStar(t, 2, 0)
	w.contribute(0, 0, 1, 2, 3)
	for _, a := range []Action{{}, {Kind: 5}, {Kind: ActSend, Pipe: PipeAggregation}, {Kind: ActSend, Pipe: 2}, {Kind: ActSend, Pipe: PipeBroadcast, Group: 1},
		{Kind: ActSend, Group: -1}, {Kind: ActSend, Group: 2}, {Kind: ActSendOne}, {Kind: ActTimeout, Endpoint: 2}, {Kind: ActResume, Endpoint: 1},
		{Kind: ActSendOne, Endpoint: 4}, {Kind: ActSendOne, Endpoint: 5}, {Kind: ActSendOne, Endpoint: -1}} {
		state := w.e.AppendState(nil)
		outs, err := w.e.Act(0, a)
		require.ErrorIs(t, err, ErrAction, "%v", a)
		require.Empty(t, outs)
		_, err = w.e.ActStep(0, a)
		require.ErrorIs(t, err, ErrAction)
		require.Equal(t, state, w.e.AppendState(nil))
	}
	require.Equal(t, "send(broadcast) of group 1", Action{Kind: ActSend, Pipe: PipeBroadcast, Group: 1}.String())
	require.Equal(t, "time-out(3) of group 0", Action{Kind: ActTimeout, Endpoint: 3}.String())
	require.NoError(t, w.e.Disable(0))
	require.Empty(t, w.e.Actions(nil))
}
