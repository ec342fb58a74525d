// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// parkParams is smallParams with groups that can be parked.
func parkParams(mode int) Params {
	p := smallParams()
	p.Mode, p.Park = mode, true
	return p
}

// both does the same to an engine and its twin, and wants both to say the same.
func (w *world) both(f func(e *Engine) error) error {
	w.t.Helper()
	err := f(w.e)
	require.Equal(w.t, err == nil, f(w.twin) == nil)
	return err
}

// finish has all hosts contribute to a PSN of group 0 and acknowledge the result.
func (w *world) finish(psn roce.PSN) {
	w.t.Helper()
	for e := range 4 {
		w.send(w.data(0, e, psn, contribution(e, psn, 4)))
	}
	for e := range 4 {
		w.send(w.ack(0, e, psn, roce.AckSyndrome))
	}
}

// A group of Mode II is drained when all that somebody contributed to is complete, and acknowledged by all hosts.
func TestDrained(t *testing.T) {
	w := newWorld(t, parkParams(2), starGroup(0, 5), starGroup(1, 0))
	park := func(e *Engine) error { return e.Park(0) }
	w.send(w.data(0, 0, 5, le(1)))
	require.ErrorIs(t, w.both(park), ErrUndrained)
	for e := 1; e < 4; e++ {
		w.send(w.data(0, e, 5, le(1)))
	}
	for e := range 4 {
		require.ErrorIs(t, w.both(park), ErrUndrained, "host %d has not acknowledged", e)
		w.send(w.ack(0, e, 5, roce.AckSyndrome))
	}
	require.NoError(t, w.both(park))
	assert.True(t, w.e.Parked(0))
	require.NoError(t, w.both(park), "it is parked")
	assert.False(t, w.e.Parked(1), "another group")
}

// What a park keeps goes on when the group has other slots; results of before are gone, and whoever asks for one hears that it has it.
func TestParkKeeps(t *testing.T) {
	w := newWorld(t, parkParams(2), starGroup(0, 0xFFFFFE))
	w.finish(0xFFFFFE)
	require.NoError(t, w.both(func(e *Engine) error { return e.Park(0) }))
	got := w.one(w.send(w.data(0, 1, 0xFFFFFF, le(1, 2))))
	assert.Equal(t, []any{roce.PSN(0xFFFFFF), uint8(roce.RNRSyndrome | 1)}, []any{got.PSN, got.Syndrome})
	w.nothing(w.send(w.data(0, 1, 1, le(1, 2)))) // behind what was refused
	require.NoError(t, w.both(func(e *Engine) error { return e.SetSlots(0, 3, 2, 0) }))
	require.NoError(t, w.both(func(e *Engine) error { return e.Unpark(0) }))
	late := w.one(w.send(w.data(0, 2, 0xFFFFFE, contribution(2, 0xFFFFFE, 4))))
	assert.Equal(t, []any{roce.PSN(0xFFFFFE), uint8(roce.AckSyndrome)}, []any{late.PSN, late.Syndrome})
	for _, psn := range []roce.PSN{0xFFFFFF, 0, 1} { // 4 slots, a window of 2
		w.finish(psn)
	}
	assert.Equal(t, uint64(1), w.e.Counters()[TxReack])
	assert.Equal(t, uint64(1), w.e.Counters()[DropParked])
	assert.Equal(t, uint64(4), w.e.Counters()[TxResult])
}

// Slots that are illegal or another group's leave a group parked, and a parked group's are free for others.
func TestUnparkRefused(t *testing.T) {
	for _, mode := range []int{2, 3} {
		e, err := New(parkParams(mode))
		require.NoError(t, err)
		require.ErrorIs(t, e.Park(0), ErrParked, "it is disabled")
		for g := range 2 {
			require.NoError(t, e.SetGroup(g, starGroup(g, 0)))
			require.NoError(t, e.Enable(g))
		}
		require.ErrorIs(t, e.SetSlots(0, 0, 3, 0), ErrEnabled)
		require.NoError(t, e.Park(0))
		for _, c := range []struct {
			base int
			want error
		}{{12, ErrIllegalGroup}, {1, ErrOverlap}} {
			require.NoError(t, e.SetSlots(0, c.base, 3, 0))
			require.ErrorIs(t, e.Unpark(0), c.want)
			require.True(t, e.Parked(0))
		}
		require.ErrorIs(t, e.Reset(0), ErrOverlap)
		assert.False(t, e.Enabled(0), "it has nothing to start with")
	}
	w := newWorld(t, parkParams(2), starGroup(0, 0))
	w.finish(0)
	require.NoError(t, w.both(func(e *Engine) error { return e.Park(0) }))
	require.NoError(t, w.both(func(e *Engine) error { return e.SetSlots(0, 1000, 3, 0) }), "slots that there are not, and nobody looks at them")
	old := w.one(w.send(w.data(0, 1, 0, le(1, 2))))
	assert.Equal(t, []any{roce.PSN(0), uint8(roce.AckSyndrome)}, []any{old.PSN, old.Syndrome})
	next := w.one(w.send(w.data(0, 1, 1, le(1, 2))))
	assert.Equal(t, []any{roce.PSN(1), uint8(roce.RNRSyndrome | 1)}, []any{next.PSN, next.Syndrome})
	w.nothing(w.send(w.data(0, 1, 2, le(1, 2))))
	s, ok := w.e.Standing(0)
	require.True(t, ok)
	assert.Equal(t, []any{0, roce.PSN(1)}, []any{s.Partial, s.Next})
}

// A parked group of Mode III has pipes without slots: it refuses what is next, acknowledges what it had, and its state can be restored.
func TestParkedPipes(t *testing.T) {
	w := newPipes(t, parkParams(3), starGroup(0, 0))
	w.contribute(0, 0)
	require.ErrorIs(t, w.both(func(e *Engine) error { return e.Park(0) }), ErrUndrained)
	w.contribute(0, 1, 2, 3)
	w.sends()
	w.acks(0, 0, 1, 2)
	require.ErrorIs(t, w.both(func(e *Engine) error { return e.Park(0) }), ErrUndrained)
	w.acks(0, 3)
	require.NoError(t, w.both(func(e *Engine) error { return e.Park(0) }))
	w.says(w.send(w.data(0, 0, 1, le(1))), said{To: 0, What: "RNR NAK", PSN: 1, MSN: 1})
	w.says(w.send(w.data(0, 0, 0, contribution(0, 0, 4))), acked(0, 0, 0))
	require.NoError(t, w.both(func(e *Engine) error { return e.SetSlots(0, 9, 2, 1) }))
	require.NoError(t, w.both(func(e *Engine) error { return e.Unpark(0) }))
}

// whole has all hosts send message number i, packets k and k + 1 of each, and gives what the root sends them.
func (w *messages) whole(k int, v int32) []said {
	w.t.Helper()
	for e := range 4 {
		for i, p := range []roce.Packet{w.packet(e, k, roce.SendFirst, sixteen(v)...), w.packet(e, k+1, roce.SendLast, le(v)...)} {
			require.Len(w.t, w.said(w.e.Handle(w.now, w.e.table[e].Port, bytesOf(p), false)), i)
		}
	}
	return w.sends()
}

// restored requires that an engine with the same settings that is put into this one's state is in the same state.
func (w *messages) restored(change func(p *Params, g *Group)) {
	w.t.Helper()
	state := w.e.AppendState(nil)
	other := newMessages(w.t, change)
	require.NoError(w.t, other.e.Restore(state))
	assert.Equal(w.t, w.e.Parked(0), other.e.Parked(0))
	assert.Equal(w.t, state, other.e.AppendState(nil))
}

// A group of Mode I is drained when no message is half there, unfinished or unacknowledged by anybody. Parked, it refuses what would begin one; with other
// slots it goes on with PSNs, numbers of messages and MSNs as they were.
func TestParkedMessages(t *testing.T) {
	parks := func(p *Params, _ *Group) { p.Park = true }
	w := newMessages(t, parks)
	rq, _ := first(0)
	no := func(why string) { t.Helper(); require.ErrorIs(t, w.e.Park(0), ErrUndrained, why) }
	w.gets(w.packet(0, 0, roce.SendFirst, sixteen(1)...))
	no("somebody is in a message")
	w.gets(w.packet(0, 1, roce.SendLast, le(1)...), said{To: 0, What: "ACK", PSN: rq.Add(1), MSN: 1})
	no("others have not sent theirs")
	for e := 1; e < 4; e++ {
		w.said(w.e.Handle(w.now, w.e.table[e].Port, bytesOf(w.packet(e, 0, roce.SendFirst, sixteen(1)...)), false))
		w.said(w.e.Handle(w.now, w.e.table[e].Port, bytesOf(w.packet(e, 1, roce.SendLast, le(1)...)), false))
	}
	no("nothing was sent")
	require.Len(t, w.sends(), 8)
	for e := range 4 {
		no("not all have acknowledged it")
		w.gets(w.acks(e, 0, roce.AckSyndrome))
		no("not all of it is acknowledged")
		w.gets(w.acks(e, 1, roce.AckSyndrome))
	}
	require.NoError(t, w.e.Park(0))
	w.restored(parks)
	require.NoError(t, w.e.SetSlots(0, 1<<20, 20, 1<<19), "slots that there are not, and nobody looks at them")
	refused := said{To: 0, What: "RNR NAK", PSN: rq.Add(2), MSN: 1}
	w.gets(w.packet(0, 2, roce.SendFirst, sixteen(2)...), refused)
	w.gets(w.packet(0, 3, roce.SendLast, le(2)...)) // behind what was refused
	w.gets(w.packet(0, 2, roce.SendFirst, sixteen(2)...), refused)
	w.gets(w.packet(0, 0, roce.SendFirst, sixteen(1)...), said{To: 0, What: "ACK", PSN: rq.Add(1), MSN: 1})
	w.gets(w.acks(2, 1, roce.AckSyndrome))
	assert.Equal(t, []uint64{2, 2, 0, 1, 1}, []uint64{w.e.counters[DropParked], w.e.counters[TxRnr], w.e.counters[DropFull], w.e.counters[DropGap], w.e.counters[DropStaleAck]})
	require.ErrorIs(t, w.e.Unpark(0), ErrIllegalGroup)
	require.NoError(t, w.e.SetSlots(0, 9, 1, 1))
	require.NoError(t, w.e.Unpark(0))
	for i := 1; i < 6; i++ {
		got := w.whole(2*i, int32(i))
		_, sq := first(3)
		require.Equal(t, said{To: 3, What: "SEND_LAST", PSN: sq.Add(2*i + 1), Payload: string(le(4 * int32(i)))}, got[7])
		for e := range 4 {
			w.gets(w.acks(e, 2*i+1, roce.AckSyndrome))
		}
		w.restored(func(p *Params, g *Group) { p.Park, g.SlotBase, g.Log2N, g.PipeSlots = true, 9, 1, 1 })
	}
}

// What refuses a packet goes before the want of slots, and a group is not parked while a release is under way.
func TestParkedMessagesRefuse(t *testing.T) {
	change := func(p *Params, g *Group) { p.Park, g.Release, g.Iteration = true, true, 1 }
	w := newMessages(t, change)
	require.Len(t, w.whole(0, 1), 8)
	for e := range 4 {
		w.gets(w.acks(e, 1, roce.AckSyndrome))
	}
	require.ErrorIs(t, w.e.Park(0), ErrUndrained, "everybody is owed a release")
	require.Len(t, w.sends(), 4)
	for e := range 4 {
		require.ErrorIs(t, w.e.Park(0), ErrUndrained)
		w.gets(w.acks(e, 2, roce.AckSyndrome))
	}
	require.NoError(t, w.e.Park(0))
	w.restored(change)
	rq, _ := first(1)
	w.gets(w.packet(1, 2, roce.SendMiddle, sixteen(1)...), said{To: 1, What: "NAK", PSN: rq.Add(2), MSN: 1})
	assert.EqualValues(t, 2, w.e.Refused(0))
	assert.Zero(t, w.e.counters[DropParked])
	require.NoError(t, w.e.Unpark(0))
	assert.EqualValues(t, 2, w.e.Refused(0), "only a start mends it")
}
