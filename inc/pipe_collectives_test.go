// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// dropsBy asserts that a packet is dropped without an answer and counts under these, RX_FRAMES aside.
func (w *pipes) dropsBy(p roce.Packet, counters ...string) {
	w.t.Helper()
	want := map[string]uint64{"RX_FRAMES": 1}
	for _, c := range counters {
		want[c] = 1
	}
	require.Equal(w.t, want, w.gained(func() { w.nothing(w.send(p)) }))
}

// TestPipeInner: a switch with a parent fills one pipe from below and one from above, and acknowledges both ways.
func TestPipeInner(t *testing.T) {
	g := childGroup(0, 0xFFFFFE)
	g.PipeSlots = 2
	w := newPipes(t, pipeParams(), g)
	at := func(i int) roce.PSN { return g.Start.Add(i) }
	up, down := Action{Kind: ActSend, Pipe: PipeAggregation}, Action{Kind: ActSend, Pipe: PipeBroadcast}
	w.contribute(at(0), 0, 1, 2)
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "AGG": 1, "TX_ACK": 1, "TX_RESULT": 1, "TX_FRAMES": 1}, w.gained(func() { w.contribute(at(0), 3) }))
	require.Equal(t, map[string]uint64{"TX_FANOUT": 1, "TX_FRAMES": 1}, w.gained(func() { w.says(w.act(up), toAll(at(0), sumOf(4, at(0), 4), 4)...) }))
	w.contribute(at(1), 0, 1, 2, 3)
	w.says(w.act(up), toAll(at(1), sumOf(4, at(1), 4), 4)...)
	w.says(w.send(w.data(0, 1, at(2), le(0))), said{To: 1, What: "RNR NAK", PSN: at(2), MSN: 2})

	// The result comes from above before the parent's ACK does: it says nothing of the pipe below.
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DOWN_DATA": 1, "DOWN_TAKEN": 1, "TX_ACK": 1, "TX_FRAMES": 1}, w.gained(func() {
		w.says(w.send(w.data(0, 4, at(0), le(1, 2, 3))), acked(4, at(0), g.Start))
	}))
	w.says(w.act(down), toAll(at(0), le(1, 2, 3), 0, 1, 2, 3)...)
	w.says(w.send(w.data(0, 1, at(2), le(0))), said{To: 1, What: "RNR NAK", PSN: at(2), MSN: 2})
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_ACK": 1, "WIPE": 2}, w.gained(func() { w.acks(at(1), 4) }))
	w.contribute(at(2), 1)

	w.says(w.send(w.data(0, 4, at(1), le(4))), acked(4, at(1), g.Start))
	w.says(w.send(w.data(0, 4, at(2), le(5))), said{To: 4, What: "RNR NAK", PSN: at(2), MSN: 2})
	w.says(w.send(w.data(0, 4, at(1), le(4))), acked(4, at(1), g.Start))
	w.says(w.sends(), toAll(at(1), le(4), 0, 1, 2, 3)...)
	w.acks(at(1), 0, 1, 2)
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_ACK": 1, "WIPE": 1}, w.gained(func() { w.acks(at(0), 3) }))
	w.says(w.send(w.data(0, 4, at(3), le(6))))
	w.says(w.send(w.data(0, 4, at(2), le(5))), acked(4, at(2), g.Start))

	// A CNP to the parent's end, a switch, is not sent.
	w.configure(func(e *Engine) error { e.SetPipeCtrl(PipeCtrl{CNP: true}); return nil })
	w.dropsBy(w.data(0, 4, at(3), le(6)), "DOWN_DATA", "DROP_FULL")
}

// TestPipeReduce: one pipe, from those who contribute to the parent; the parent's data has no place.
func TestPipeReduce(t *testing.T) {
	w := newPipes(t, pipeParams(), oneWayGroup(CollectiveReduce, 0))
	for psn := range roce.PSN(4) {
		w.contribute(psn, 2, 0, 1)
	}
	w.dropsBy(w.data(0, 3, 0, le(1)), "DROP_WRONG_ROLE")
	w.dropsBy(w.ack(0, 1, 0, roce.AckSyndrome), "DROP_WRONG_ROLE")
	var want []said
	for psn := range roce.PSN(4) {
		want = append(want, toAll(psn, sumOf(3, psn, 4), 3)...)
	}
	w.says(w.sends(), want...)
	require.Equal(t, 4, w.e.Unfinished(0))
	w.acks(3, 3)
	require.Zero(t, w.e.Unfinished(0))
	require.Equal(t, uint64(4), w.e.counters[Wipe])
}

// TestPipeRootContributes: the root rank's own data is added if its bit is set in the in mask, and it hears the sum.
func TestPipeRootContributes(t *testing.T) {
	g := oneWayGroup(CollectiveReduce, 0)
	g.InMask = 0xF
	w := newPipes(t, pipeParams(), g)
	require.Equal(t, map[string]uint64{"RX_FRAMES": 4, "UP_DATA": 4, "AGG": 4, "BUFFERED": 3, "TX_RESULT": 1, "TX_ACK": 4, "TX_FRAMES": 4},
		w.gained(func() { w.contribute(0, 0, 1, 2, 3) }))
	w.says(w.sends(), toAll(0, sumOf(4, 0, 4), 3)...)
}

// TestPipeBroadcast: one pipe, from the parent to the out mask; the slowest of those holds its slots.
func TestPipeBroadcast(t *testing.T) {
	g := oneWayGroup(CollectiveBroadcast, 0)
	g.InMask = 7 // means nothing
	w := newPipes(t, pipeParams(), g)
	var want []said
	for psn := range roce.PSN(4) {
		w.contribute(psn, 3)
		want = append(want, toAll(psn, contribution(3, psn, 4), 0, 1, 2)...)
	}
	w.says(w.sends(), want...)
	w.dropsBy(w.data(0, 0, 0, le(1)), "DROP_WRONG_ROLE")
	w.dropsBy(w.ack(0, 3, 0, roce.AckSyndrome), "DROP_WRONG_ROLE")
	w.acks(3, 0, 2)
	w.says(w.send(w.data(0, 3, 4, le(4))), said{To: 3, What: "RNR NAK", PSN: 4, MSN: 4})
	w.acks(0, 1)
	w.contribute(4, 3)
	w.says(w.sends(), toAll(4, contribution(3, 4, 4), 0, 1, 2)...)
	c := w.e.Counters()
	require.Equal(t, []uint64{0, 6, 5, 5, 0, 15, 1}, []uint64{c[UpData], c[DownData], c[DownTaken], c[TxAck], c[TxResult], c[TxFanout], c[Wipe]})
}

// TestPipeDrops: what has no place, in the order of docs/pipes.md section 2.
func TestPipeDrops(t *testing.T) {
	w := newPipeStar(t, 2, 0)
	bad := func(change func(p *roce.Packet)) roce.Packet {
		p := w.data(0, 1, 0, le(1, 2))
		change(&p)
		return p
	}
	w.dropsBy(bad(func(p *roce.Packet) { p.TVer = 1 }), "DROP_TVER")
	w.dropsBy(bad(func(p *roce.Packet) { p.Op, p.Payload = roce.WriteOnly, nil }), "DROP_OPCODE")
	w.dropsBy(bad(func(p *roce.Packet) { p.Payload = make([]byte, 68) }), "DROP_TOO_LONG")
	w.dropsBy(bad(func(p *roce.Packet) { p.Payload, p.Pad = make([]byte, 3), 1 }), "DROP_BAD_LENGTH")
	w.dropsBy(w.data(0, 4, 0, nil), "DROP_WRONG_ROLE")
	w.dropsBy(w.ack(0, 4, 0, roce.AckSyndrome), "DROP_WRONG_ROLE")
	w.dropsBy(w.ack(0, 1, 0, 0x40), "DROP_SYNDROME")
	w.dropsBy(w.ack(0, 1, 0, roce.AckSyndrome), "DROP_STALE_ACK")
	cnp := w.from(0, 1)
	cnp.Op, cnp.BECN = roce.CNP, true
	w.dropsBy(cnp, "RX_CNP")

	// Too early or seen before, even what is not whole is answered.
	short := bad(func(p *roce.Packet) { p.Payload, p.Pad, p.PSN = make([]byte, 3), 1, 1 })
	w.says(w.send(short), said{To: 1, What: "NAK"})
	w.contribute(0, 1)
	short.PSN = 0
	w.says(w.send(short), acked(1, 0, 0))

	w.dropsBy(w.data(0, 2, 0, le(1)), "UP_DATA", "DROP_SHAPE")
	other := w.data(0, 2, 0, le(1, 2, 3, 4))
	other.Op = roce.SendFirst
	w.dropsBy(other, "UP_DATA", "DROP_SHAPE")
	w.contribute(0, 2) // what was dropped left nothing

	// Full comes before the shape, which the slot of another PSN cannot have.
	w.contribute(1, 1)
	w.says(w.send(w.data(0, 1, 2, le(1))), said{To: 1, What: "RNR NAK", PSN: 2, MSN: 2})
	require.NoError(t, w.e.Disable(0))
	require.NoError(t, w.twin.Disable(0))
	require.NoError(t, w.other.Disable(0))
	w.dropsBy(w.data(0, 1, 2, le(1)), "DROP_GROUP_DISABLED")
}

// TestPipeMessages: ACKs count messages, results have the opcodes of the contributions.
func TestPipeMessages(t *testing.T) {
	w := newPipeStar(t, 3, 0)
	for i, op := range []roce.Opcode{roce.SendFirst, roce.SendMiddle, roce.SendLastImm} {
		for e := range 4 {
			p := w.data(0, e, roce.PSN(i), contribution(e, roce.PSN(i), 4))
			p.Op, p.Imm, p.SE = op, uint32(7+e), i == 2
			if !op.HasImm() {
				p.Imm = 0
			}
			if e == 1 {
				p.TOS = 3
			}
			w.says(w.send(p), said{To: e, What: "ACK", PSN: roce.PSN(i), MSN: uint32(i / 2)})
		}
		outs := w.sends()
		require.Len(t, outs, 4)
		require.Equal(t, op, outs[2].Packet.Op)
		require.True(t, outs[2].Packet.CE(), "congestion of one is congestion of all")
		if i == 2 {
			require.Equal(t, uint32(7), outs[2].Packet.Imm)
			require.True(t, outs[2].Packet.SE)
		}
	}
	require.Equal(t, uint64(3), w.e.counters[ImmMismatch])
}

// inBandPipes is an in-band star with n slots a pipe.
func inBandPipes(t testing.TB, n int, settings Group) *pipes {
	p := inBandParams()
	p.Mode = 3
	settings.PipeSlots = n
	return newPipes(t, p, settings)
}

// everybody sends the same kind of packet from these endpoints, each at its PSN on the wire, and expects an ACK of it.
func (w *pipes) everybody(make func(e int, wire roce.PSN) roce.Packet, from ...int) {
	w.t.Helper()
	for _, e := range from {
		wire := w.e.groups[0].ends[e].ePSN
		outs := w.send(make(e, wire))
		require.Len(w.t, outs, 1)
		require.Equal(w.t, []any{roce.Acknowledge, wire, roce.AckSyndrome}, []any{outs[0].Packet.Op, outs[0].Packet.PSN, outs[0].Packet.Syndrome})
	}
}

func (w *pipes) controls(c Control, from ...int) {
	w.t.Helper()
	w.everybody(func(e int, wire roce.PSN) roce.Packet { return w.control(0, e, wire, c) }, from...)
}

func (w *pipes) words(value int32, from ...int) {
	w.t.Helper()
	w.everybody(func(e int, wire roce.PSN) roce.Packet { return w.data(0, e, wire, le(value+int32(e))) }, from...)
}

// hearers acknowledge all that they were sent.
func (w *pipes) hearers() {
	w.t.Helper()
	g := &w.e.groups[0]
	for mask := g.current.hearers(); mask != 0; mask &= mask - 1 {
		e := lowest(mask)
		w.nothing(w.send(w.ack(0, e, g.sends[e].beyond.Prev().Add(g.current.offsets[e].out), roce.AckSyndrome)))
	}
}

// TestPipe19PrimitiveChange is scenario 19: the wires' PSNs drift apart and come out right.
func TestPipe19PrimitiveChange(t *testing.T) {
	w := inBandPipes(t, 4, inBandStar(0, 0xFFFFFE))
	wires := func(psn roce.PSN, payload []byte, off map[int]int, to ...int) (all []said) {
		for _, e := range to {
			all = append(all, toAll(psn.Add(off[e]), payload, e)...)
		}
		return all
	}
	w.controls(allReduceOf(2), 3, 1, 0, 2)
	require.Len(t, w.sends(), 4)
	w.words(1, 0, 1, 2, 3)
	w.says(w.sends(), toAll(0xFFFFFF, le(10), 0, 1, 2, 3)...)
	w.hearers()
	w.words(5, 0, 1, 2, 3)
	w.says(w.sends(), toAll(0, le(26), 0, 1, 2, 3)...)

	// Whoever is done at its own end comes too early for the others.
	early := w.control(0, 1, 1, broadcastFrom(1, 3))
	outs := w.send(early)
	w.says(outs, said{To: 1, What: "RNR NAK", PSN: 1, MSN: 3})
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_FULL": 1, "TX_RNR": 1, "TX_FRAMES": 1}, w.gained(func() { w.send(early) }))
	w.nothing(w.send(w.data(0, 1, 2, le(0)))) // behind it
	w.hearers()
	w.controls(broadcastFrom(1, 3), 1)
	require.Equal(t, uint64(2), w.e.counters[RangeOpen])
	w.words(100, 1)
	outs = w.sends()
	require.Len(t, outs, 6)
	w.says(outs[3:], toAll(2, le(101), 0, 2, 3)...)
	w.hearers()
	w.words(200, 1)
	w.words(300, 1)
	w.sends()
	w.hearers()

	// Range 2 begins at group PSN 5. Endpoint 1 has sent 4 more than the others and heard 4 less.
	require.Equal(t, []offsets{{-4 & roce.PSNMask, 0}, {0, -4 & roce.PSNMask}, {-4 & roce.PSNMask, 0}, {-4 & roce.PSNMask, 0}}, func() []offsets {
		w.controls(allReduceOf(1), 0, 1, 2, 3)
		return w.e.groups[0].current.offsets[:4]
	}())
	hears := map[int]int{1: -4}
	outs = w.sends()
	require.Len(t, outs, 4)
	require.Equal(t, roce.PSN(1), outs[1].Packet.PSN)
	require.Equal(t, allReduceOf(1).Immediate(), outs[1].Packet.Imm)
	w.words(7, 2, 3, 0, 1)
	w.says(w.sends(), wires(6, le(34), hears, 0, 1, 2, 3)...)

	// A duplicate of any range before is known by its PSN on the wire.
	w.says(w.send(w.data(0, 1, 3, le(300))), said{To: 1, What: "ACK", PSN: 6, MSN: 9})
	w.says(w.send(w.control(0, 1, 0xFFFFFE, barrierOf(1))), said{To: 1, What: "ACK", PSN: 6, MSN: 9})
	w.hearers()

	// A Reduce to 2, who hears; ACKs of whom does not hear, and numbers outside the range, are stale.
	w.controls(reduceTo(2, 1), 0, 3, 1)
	w.words(1, 0, 1, 3)
	outs = w.sends()
	require.Equal(t, []int{2, 2}, to(outs))
	require.Equal(t, string(le(7)), string(outs[1].Packet.Payload))
	w.dropsBy(w.ack(0, 1, 4, roce.AckSyndrome), "DROP_STALE_ACK")
	w.dropsBy(w.ack(0, 2, 6, roce.AckSyndrome), "DROP_STALE_ACK")
	w.dropsBy(w.ack(0, 2, 9, roce.AckSyndrome), "DROP_STALE_ACK")
	w.acks(8, 2)
	require.True(t, w.e.groups[0].drained())
}

// TestPipeInBandDrops: what no range has a place for.
func TestPipeInBandDrops(t *testing.T) {
	w := inBandPipes(t, 4, inBandLeaf(0, 0))
	w.dropsBy(w.ack(0, 0, 0, roce.AckSyndrome), "DROP_STALE_ACK")
	w.dropsBy(w.data(0, 0, 0, le(1)), "DROP_RANGE")
	w.dropsBy(w.control(0, 0, 0, Control{Collective: 4, DType: DTypeINT32}), "DROP_BAD_CONTROL")
	w.dropsBy(w.control(0, 0, 0, broadcastFrom(1, 1)), "DROP_WRONG_ROLE")
	w.dropsBy(w.control(0, 2, 0, allReduceOf(1)), "DROP_WRONG_ROLE")
	w.says(w.send(w.control(0, 2, 1, allReduceOf(1))), said{To: 2, What: "NAK"}) // a gap is a gap, whoever leaves it
	w.dropsBy(w.control(0, 4, 0, Control{DType: DTypeFP32}), "DROP_BAD_CONTROL")

	w.controls(allReduceOf(2), 0)
	w.dropsBy(w.control(0, 1, 0, allReduceOf(3)), "DROP_CONTROL")
	w.dropsBy(w.data(0, 1, 0, le(1)), "DROP_CONTROL")
	w.dropsBy(w.control(0, 0, 1, allReduceOf(2)), "DROP_CONTROL")
	w.words(1, 0)
	w.words(2, 0)
	w.dropsBy(w.data(0, 0, 3, le(1)), "DROP_RANGE")
	w.says(w.send(w.control(0, 0, 3, barrierOf(0))), said{To: 0, What: "RNR NAK", PSN: 3, MSN: 3})
	w.controls(allReduceOf(2), 1, 4)
	w.words(1, 1)
	w.dropsBy(w.data(0, 1, 2, le(1, 2)), "UP_DATA", "DROP_SHAPE")
	w.words(1, 1, 4, 4)
	w.sends()
	w.hearers()
	require.True(t, w.e.groups[0].drained())

	// From here on the collective has the roles.
	w.controls(broadcastFrom(3, 2), 4)
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DOWN_DATA": 1, "DROP_GAP": 1, "TX_GAP_NAK": 1, "TX_FRAMES": 1}, w.gained(func() {
		require.Len(t, w.send(w.data(0, 4, 5, le(1))), 1)
	}))
	require.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "RX_DUPLICATE": 1, "TX_ACK": 1, "TX_FRAMES": 1}, w.gained(func() {
		require.Len(t, w.send(w.data(0, 0, 2, le(1))), 1)
	}))
	w.words(1, 4, 4)
	w.sends()
	w.hearers()
	require.True(t, w.e.groups[0].drained())
	w.dropsBy(w.control(0, 4, 6, reduceTo(3, 1)), "DROP_WRONG_ROLE")
	w.controls(barrierOf(1), 0)
	w.dropsBy(w.data(0, 0, 4, le(1)), "DROP_BAD_LENGTH")
}

// TestPipeParentHearsUp: a parent that is in the out mask as well hears results from the aggregation pipe, as every endpoint has one
// send side; and a child that is the parent as well is a child.
func TestPipeParentHearsUp(t *testing.T) {
	g := childGroup(0, 0)
	g.InMask, g.OutMask, g.Parent = 7, 0xF, 3
	w := newPipes(t, pipeParams(), g)
	w.contribute(0, 0, 1, 2)
	w.says(w.sends(), toAll(0, sumOf(3, 0, 4), 3)...)
	w.contribute(0, 3)
	w.says(w.sends(), toAll(0, contribution(3, 0, 4), 0, 1, 2)...)
	w.acks(0, 0, 1, 2)
	require.Equal(t, 1, w.e.Unfinished(0), "the result that went up")
	w.acks(0, 3)
	require.Zero(t, w.e.Unfinished(0))

	g.InMask = 0xF
	w = newPipes(t, pipeParams(), g)
	require.Equal(t, map[string]uint64{"RX_FRAMES": 4, "UP_DATA": 4, "AGG": 4, "BUFFERED": 3, "TX_RESULT": 1, "TX_ACK": 4, "TX_FRAMES": 4},
		w.gained(func() { w.contribute(0, 0, 1, 2, 3) }))
}

// TestPipeFailedInBand: who failed stays so in the ranges that follow; those that it does not hear in go on.
func TestPipeFailedInBand(t *testing.T) {
	w := inBandPipes(t, 4, inBandStar(0, 0))
	w.controls(broadcastFrom(1, 1), 1)
	w.sends()
	w.nothing(w.send(w.ack(0, 3, 0, roce.NAKInvalidRequest)))
	w.words(5, 1)
	w.says(w.sends(), toAll(1, le(6), 0, 2)...)
	w.acks(1, 0, 2)
	require.Equal(t, 2, w.e.Unfinished(0))
	w.acks(0, 3) // what it was sent before
	require.Equal(t, 1, w.e.Unfinished(0), "1 was never sent to it")
	w.says(w.send(w.control(0, 1, 2, allReduceOf(1))), said{To: 1, What: "RNR NAK", PSN: 2, MSN: 2})

	w = inBandPipes(t, 4, inBandStar(0, 0))
	w.controls(reduceTo(3, 0), 0, 1, 2)
	w.sends()
	w.nothing(w.send(w.ack(0, 3, 0, roce.NAKInvalidRequest)))
	w.acks(0, 3)
	w.controls(broadcastFrom(3, 1), 3)
	require.Equal(t, uint32(8), w.e.Failed(0))
	require.Equal(t, []int{0, 1, 2}, to(w.sends()))
	w.words(5, 3)
	w.sends()
	w.hearers()
	w.controls(barrierOf(0), 0, 1, 2, 3)
	require.Equal(t, []int{0, 1, 2}, to(w.sends()))
	require.NotContains(t, w.e.Actions(nil), Action{Kind: ActTimeout, Endpoint: 3})
	require.NoError(t, w.e.Reset(0))
	require.Zero(t, w.e.Failed(0))
}
