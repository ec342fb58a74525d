// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// inBandParams is smallParams with in-band groups, and FP16 and MIN so that ranges can differ.
func inBandParams() Params {
	p := smallParams()
	p.InBand, p.Slots, p.DTypes, p.Ops = true, 32, 1<<DTypeINT32|1<<DTypeFP16, 1<<OpSum|1<<OpMin
	return p
}

// inBandStar is the root of a star with hosts at endpoints 0 to 3, rank r at endpoint r.
func inBandStar(g int, start roce.PSN) Group {
	s := starGroup(g, start)
	s.SlotBase, s.InBand = 16*g, true
	for rank := range 4 {
		s.Route[rank] = Route{Valid: true, Endpoint: uint8(rank)}
	}
	return s
}

// inBandLeaf is a switch with ranks 0 and 1 at its endpoints and the others beyond the parent, endpoint 4.
func inBandLeaf(g int, start roce.PSN) Group {
	s := inBandStar(g, start)
	s.InMask, s.OutMask, s.AckMask, s.Parent, s.HasParent = 3, 3, 3, 4, true
	s.Route[2].Endpoint, s.Route[3].Endpoint = 4, 4
	return s
}

// control is a control from endpoint e of group g.
func (w *world) control(g, e int, wire roce.PSN, c Control) roce.Packet {
	p := w.data(g, e, wire, nil)
	p.Op, p.Imm = roce.SendOnlyImm, c.Immediate()
	return p
}

// The controls that the tests use, with so many packets.
func allReduceOf(packets int) Control {
	return Control{Collective: CollectiveAllReduce, DType: DTypeINT32, Packets: packets}
}
func barrierOf(packets int) Control {
	return Control{Collective: CollectiveBarrier, DType: DTypeINT32, Packets: packets}
}
func reduceTo(root uint8, packets int) Control {
	return Control{Collective: CollectiveReduce, DType: DTypeINT32, Root: root, Packets: packets}
}
func broadcastFrom(root uint8, packets int) Control {
	return Control{Collective: CollectiveBroadcast, DType: DTypeINT32, Root: root, Packets: packets}
}

func TestControlFields(t *testing.T) {
	tests := []struct {
		c    Control
		want uint32
	}{
		{Control{}, 0},
		{Control{Collective: 7}, 0xE0000000},
		{Control{Op: 3}, 0x18000000},
		{Control{DType: 3}, 0x06000000},
		{Control{Root: 31}, 0x01F00000},
		{Control{Packets: 0xFFFFF}, 0x000FFFFF},
		{Control{Collective: CollectiveBroadcast, Op: OpMax, DType: DTypeFP16, Root: 9, Packets: 0x12345}, 0x52912345},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.c.Immediate(), "%+v", tt.c)
		assert.Equal(t, tt.c, ControlOf(tt.want))
	}
}

// TestRange: a range from its control to its end, and the next, on the wire of an AllReduce.
func TestRange(t *testing.T) {
	for _, start := range []roce.PSN{0, 0xFFFFFE} {
		w := newWorld(t, inBandParams(), inBandStar(0, start))
		c := allReduceOf(2)
		for range 3 {
			for r := range 3 {
				opened := uint64(0)
				if r == 0 {
					opened = 1
				}
				counted := w.counted(func() { w.nothing(w.send(w.control(0, r, start, c))) })
				assert.Equal(t, opened, counted["RANGE_OPEN"], "rank %d", r)
				assert.Equal(t, uint64(1), counted["BUFFERED"])
			}
			counted := w.counted(func() {
				outs := w.send(w.control(0, 3, start, c))
				require.Equal(t, []int{0, 1, 2, 3}, to(outs))
				for _, o := range outs {
					assert.Equal(t, roce.SendOnlyImm, o.Packet.Op)
					assert.Equal(t, c.Immediate(), o.Packet.Imm, "forwarded with its immediate")
					assert.Empty(t, o.Packet.Payload)
				}
			})
			assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "AGG": 1, "TX_RESULT": 1, "WIPE": 1, "TX_FANOUT": 4, "TX_FRAMES": 4}, counted)
			assert.Equal(t, start, w.one(w.send(w.ack(0, 2, start, 0x1F))).PSN, "and acknowledged")
			for i := range 2 {
				psn := start.Add(1 + i)
				w.result(w.round(psn, 0, 1, 2, 3), psn, 0, 1, 2, 3)
			}
			start = start.Add(3)
		}
	}
}

// TestInBandDrops reaches every reason to drop that ranges have, and those that depend on a range. A drop changes nothing.
func TestInBandDrops(t *testing.T) {
	// Range 0 is an AllReduce of two packets at PSN 0 to 2, complete; then rank 0 has opened range 1, what the test says, at 3.
	type scene struct {
		want, name string
		first      Control // range 1; nothing opens it if it is the zero value
		packet     func(w *world) roce.Packet
	}
	with := func(p roce.Packet, change func(p *roce.Packet)) roce.Packet {
		change(&p)
		return p
	}
	ctl := func(e int, wire roce.PSN, c Control) func(w *world) roce.Packet {
		return func(w *world) roce.Packet { return w.control(0, e, wire, c) }
	}
	data := func(e int, wire roce.PSN, n int) func(w *world) roce.Packet {
		return func(w *world) roce.Packet {
			p := w.data(0, e, wire, make([]byte, n))
			p.Pad = uint8(-n & 3)
			return p
		}
	}
	ack := func(e int, wire roce.PSN, syndrome uint8) func(w *world) roce.Packet {
		return func(w *world) roce.Packet { return w.ack(0, e, wire, syndrome) }
	}
	none := Control{}
	next := allReduceOf(5)
	tests := []scene{
		{"DROP_RANGE", "data where a control must be", none, data(0, 3, 4)},
		{"DROP_RANGE", "data without payload where a control must be", none, data(0, 3, 0)},
		{"DROP_RANGE", "an immediate with payload", none, func(w *world) roce.Packet {
			return with(w.control(0, 0, 3, next), func(p *roce.Packet) { p.Payload = le(1) })
		}},
		{"DROP_RANGE", "a control of another opcode", none, func(w *world) roce.Packet {
			return with(w.control(0, 0, 3, next), func(p *roce.Packet) { p.Op = roce.SendLastImm })
		}},
		{"DROP_RANGE", "long ago", none, data(0, 0xFFFFFF, 4)},
		{"DROP_RANGE", "half the numbers away", none, data(0, 0x800003, 4)},
		{"DROP_RANGE", "a control that is too early", none, ctl(0, 4, next)},
		{"DROP_RANGE", "from nobody", none, ctl(4, 3, next)},
		{"DROP_RANGE", "after the end of the range", next, data(0, 9, 4)},
		{"DROP_RANGE", "from a rank that has not finished the range before", next, ctl(1, 9, next)},
		{"DROP_BAD_CONTROL", "collective 4", none, ctl(0, 3, Control{Collective: 4, DType: DTypeINT32})},
		{"DROP_BAD_CONTROL", "collective 7", none, ctl(0, 3, Control{Collective: 7, DType: DTypeINT32})},
		{"DROP_BAD_CONTROL", "an operation that is not there", none, ctl(0, 3, Control{Op: OpMax, DType: DTypeINT32})},
		{"DROP_BAD_CONTROL", "an operation that nobody has", none, ctl(0, 3, Control{Op: 3, DType: DTypeINT32})},
		{"DROP_BAD_CONTROL", "a type that is not there", none, ctl(0, 3, Control{DType: DTypeFP32})},
		{"DROP_BAD_CONTROL", "a Reduce to nobody", none, ctl(0, 3, reduceTo(4, 1))},
		{"DROP_BAD_CONTROL", "a Broadcast from nobody", none, ctl(0, 3, broadcastFrom(31, 1))},
		{"DROP_BAD_CONTROL", "a Broadcast from an endpoint that does not exist", none, ctl(0, 3, broadcastFrom(5, 1))},
		{"DROP_BAD_CONTROL", "a Broadcast of nothing", none, ctl(0, 3, broadcastFrom(0, 0))},
		{"DROP_BAD_CONTROL", "before the role", none, ctl(4, 0, Control{Collective: 5})},
		{"DROP_WRONG_ROLE", "a Broadcast's control of another rank", none, ctl(0, 3, broadcastFrom(1, 1))},
		{"DROP_WRONG_ROLE", "a Reduce's control of its root", none, ctl(2, 3, reduceTo(2, 1))},
		{"DROP_WRONG_ROLE", "a control of an endpoint without part", none, ctl(4, 0, next)},
		{"DROP_CONTROL", "another collective", next, ctl(1, 3, barrierOf(5))},
		{"DROP_CONTROL", "another operation", next, ctl(1, 3, Control{Op: OpMin, DType: DTypeINT32, Packets: 5})},
		{"DROP_CONTROL", "another type", next, ctl(1, 3, Control{DType: DTypeFP16, Packets: 5})},
		{"DROP_CONTROL", "another root, though it means nothing", next, ctl(1, 3, Control{DType: DTypeINT32, Packets: 5, Root: 1})},
		{"DROP_CONTROL", "another length", next, ctl(1, 3, allReduceOf(4))},
		{"DROP_CONTROL", "an illegal one", next, ctl(1, 3, Control{Collective: 7, DType: DTypeINT32, Packets: 5})},
		{"DROP_CONTROL", "data in the place of the control", next, data(1, 3, 4)},
		{"DROP_CONTROL", "data without payload in the place of the control", next, data(1, 3, 0)},
		{"DROP_CONTROL", "in the middle", next, ctl(0, 4, next)},
		{"DROP_CONTROL", "in the middle of the range before", next, ctl(0, 1, allReduceOf(2))},
		{"DROP_CONTROL", "contradicts the range before", next, ctl(0, 0, next)},
		{"DROP_CONTROL", "before the length", Control{DType: DTypeFP16, Packets: 5}, data(1, 3, 3)},
		{"DROP_STALE_ACK", "ahead", none, ack(1, 3, 0x1F)},
		{"DROP_STALE_ACK", "ahead, with a range open", next, ack(1, 9, 0x1F)},
		{"DROP_STALE_ACK", "from before the first range", none, ack(1, 0xFFFFFF, 0x1F)},
		{"DROP_STALE_ACK", "before the role and the syndrome", none, ack(4, 1, 0x40)},
		{"DROP_STALE_ACK", "an ACK of a contributor", reduceTo(3, 1), ack(0, 3, 0x1F)},
		{"DROP_SYNDROME", "in a range", next, ack(0, 3, 0x40)},
		{"DROP_BAD_LENGTH", "half a word", next, data(0, 4, 6)},
		{"DROP_BAD_LENGTH", "half an element of 16 bits", Control{DType: DTypeFP16, Packets: 5}, data(0, 4, 7)},
		{"DROP_BAD_LENGTH", "a barrier", barrierOf(5), data(0, 4, 4)},
		{"DROP_BAD_LENGTH", "a Broadcast", broadcastFrom(0, 5), data(0, 4, 6)},
		{"DROP_TOO_LONG", "before the range", none, data(0, 77, 68)},
		{"DROP_WRONG_ROLE", "a CNP of a contributor", reduceTo(3, 1), func(w *world) roce.Packet {
			return with(w.from(0, 0), func(p *roce.Packet) { p.Op = roce.CNP })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.want+" "+tt.name, func(t *testing.T) {
			w := newWorld(t, inBandParams(), func() Group {
				g := inBandStar(0, 0)
				g.Route[5] = Route{Valid: true, Endpoint: 5}
				return g
			}())
			w.configure(func(e *Engine) error { e.SetGapNAK(false); return nil })
			for r := range 4 {
				w.send(w.control(0, r, 0, allReduceOf(2)))
			}
			w.round(1, 0, 1, 2, 3)
			w.round(2, 0, 1, 2, 3)
			if tt.first != none {
				require.NotZero(t, w.counted(func() { w.send(w.control(0, 0, 3, tt.first)) })["RANGE_OPEN"])
			}
			before := w.e.AppendState(nil)
			counted := w.counted(func() { w.nothing(w.send(tt.packet(w))) })
			assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, tt.want: 1}, counted)
			assert.Equal(t, before, w.e.AppendState(nil))
		})
	}

	t.Run("a damaged control opens nothing", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandStar(0, 0))
		f := bytesOf(w.control(0, 0, 0, next))
		f[len(f)-1] ^= 1
		before := w.e.AppendState(nil)
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_ICRC": 1}, w.counted(func() { w.nothing(w.frame(0, f, false)) }))
		assert.Equal(t, before, w.e.AppendState(nil))
	})
	t.Run("before the first range", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandStar(0, 7))
		for want, p := range map[string]roce.Packet{"DROP_RANGE": w.data(0, 0, 7, le(1)), "DROP_STALE_ACK": w.ack(0, 0, 6, 0x1F)} {
			assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, want: 1}, w.counted(func() { w.nothing(w.send(p)) }))
		}
	})
	t.Run("the parent hears an AllReduce and its ACKs do not count", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandLeaf(0, 0))
		w.send(w.control(0, 0, 0, next))
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_WRONG_ROLE": 1}, w.counted(func() { w.nothing(w.send(w.ack(0, 4, 0, 0x1F))) }))
	})
}

// TestRangeNAK: data ahead of a control that is lost is answered with a NAK for the control, once.
func TestRangeNAK(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandStar(0, 0))
	silent := map[string]uint64{"RX_FRAMES": 1, "DROP_RANGE": 1}
	answered := map[string]uint64{"RX_FRAMES": 1, "DROP_RANGE": 1, "TX_GAP_NAK": 1, "TX_FRAMES": 1}
	nak := func(wire, want roce.PSN, msn uint32) {
		t.Helper()
		assert.Equal(t, answered, w.counted(func() {
			p := w.one(w.round(wire, 2))
			assert.Equal(t, roce.Acknowledge, p.Op)
			assert.Equal(t, uint8(0x60), p.Syndrome)
			assert.Equal(t, want, p.PSN)
			assert.Equal(t, msn, p.MSN)
			assert.Equal(t, uint32(0x1102), p.DestQP)
		}))
		assert.Equal(t, silent, w.counted(func() { w.nothing(w.round(wire+1, 2)) }))
	}
	nak(1, 0, 0)
	for r := range 4 {
		w.send(w.control(0, r, 0, allReduceOf(1)))
	}
	w.nothing(w.round(3, 2)) // it has not finished range 0: the control is not what it misses
	w.round(1, 0, 1, 2, 3)
	nak(5, 2, 2)
	w.send(w.control(0, 2, 2, allReduceOf(1)))
	w.configure(func(e *Engine) error { e.SetGapNAK(false); return nil })
	assert.Equal(t, silent, w.counted(func() { w.nothing(w.round(5, 3)) }))
	w.configure(func(e *Engine) error { e.SetGapNAK(true); return nil })
	assert.Equal(t, silent, w.counted(func() { w.nothing(w.round(9, 3)) }), "3 has not even begun the range")
	assert.Equal(t, roce.PSN(2), w.one(w.round(3, 3)).PSN, "a gap inside the range")

	inner := newWorld(t, inBandParams(), inBandLeaf(0, 0))
	assert.Equal(t, silent, inner.counted(func() { inner.nothing(inner.round(1, 4)) }), "a switch is not answered")
}

// TestSequence is scenario 19: AllReduce of 10 packets, Broadcast of 7 from rank 1, AllReduce, Reduce to rank 2, Broadcast from
// rank 3, AllReduce, with every PSN on every wire. Each wire counts what passes it, and nothing else.
func TestSequence(t *testing.T) {
	for _, start := range []roce.PSN{0, 0xFFFFF5} {
		w := newWorld(t, inBandParams(), inBandStar(0, start))
		var in, out [4]roce.PSN
		for r := range 4 {
			in[r], out[r] = start, start
		}
		group := start // the group's PSN, which only the test of results needs
		packet := func(r int, c Control, i int) roce.Packet {
			if i == 0 {
				return w.control(0, r, in[r], c)
			}
			return w.data(0, r, in[r], contribution(r, group, 4))
		}
		heard := func(outs []Out, want []byte, hearers ...int) {
			t.Helper()
			require.Equal(t, hearers, to(outs))
			for i, r := range hearers {
				require.Equal(t, out[r], outs[i].Packet.PSN, "rank %d", r)
				require.Equal(t, want, append([]byte(nil), outs[i].Packet.Payload...))
				out[r] = out[r].Next()
			}
		}
		run := func(c Control) {
			t.Helper()
			for i := range c.Packets + 1 {
				want := func(ranks ...int) []byte {
					if i == 0 {
						return nil
					}
					var all [][]byte
					for _, r := range ranks {
						all = append(all, contribution(r, group, 4))
					}
					return Reduce(DTypeINT32, OpSum, false, all)
				}
				var outs []Out
				switch c.Collective {
				case CollectiveAllReduce:
					for r := range 4 {
						outs = w.send(packet(r, c, i))
						in[r] = in[r].Next()
					}
					heard(outs, want(0, 1, 2, 3), 0, 1, 2, 3)
					for r := range 4 { // an ACK of what came last is one of what was sent last
						p := w.one(w.send(w.ack(0, r, out[r].Prev(), 0x1F)))
						require.Equal(t, in[r].Prev(), p.PSN)
					}
				case CollectiveBroadcast:
					root := int(c.Root)
					outs = w.send(packet(root, c, i))
					in[root] = in[root].Next()
					var rest []int
					for r := range 4 {
						if r != root {
							rest = append(rest, r)
						}
					}
					heard(outs, want(root), rest...)
					for k, r := range rest {
						outs := w.send(w.ack(0, r, out[r].Prev(), 0x1F))
						if k < len(rest)-1 {
							w.nothing(outs)
							continue
						}
						require.Equal(t, in[root].Prev(), w.one(outs).PSN)
						require.Equal(t, uint32(0x1100+root), outs[0].Packet.DestQP)
					}
				case CollectiveReduce:
					root := int(c.Root)
					var rest []int
					for r := range 4 {
						if r != root {
							rest = append(rest, r)
							outs = w.send(packet(r, c, i))
							in[r] = in[r].Next()
						}
					}
					heard(outs, want(rest...), root)
					copies := w.send(w.ack(0, root, out[root].Prev(), 0x1F))
					require.Equal(t, rest, to(copies))
					for k, r := range rest {
						require.Equal(t, in[r].Prev(), copies[k].Packet.PSN)
					}
				}
				group = group.Next()
			}
		}
		run(allReduceOf(10))
		run(broadcastFrom(1, 7))
		assert.Equal(t, start.Add(19), in[1])
		assert.Equal(t, start.Add(11), in[0], "only the sender spends numbers")
		run(allReduceOf(3))
		run(reduceTo(2, 9))
		run(broadcastFrom(3, 12))
		run(allReduceOf(9))
		run(reduceTo(0, 0))
		run(allReduceOf(1))
		counters := w.e.Counters()
		for c := range NumCounters {
			require.False(t, c.drops() && counters[c] != 0, "%v", c)
		}
		require.Equal(t, uint64(8), counters[RangeOpen])
		require.Zero(t, counters[TxReack]+counters[TxResend]+counters[TxGapNak])
	}
}

// TestRolesOfRanges: masks and parents of every collective, at the root of a tree and below it.
func TestRolesOfRanges(t *testing.T) {
	leaf, star := inBandLeaf(0, 0), inBandStar(0, 0)
	sends, bystander := inBandStar(0, 0), inBandLeaf(0, 0)
	sends.RootSends = true
	bystander.RootSends = true
	tests := []struct {
		name         string
		group        Group
		c            Control
		in, out, ack uint32
		parent       uint32
	}{
		{"AllReduce at the root", star, allReduceOf(1), 0xF, 0xF, 0xF, 0},
		{"Barrier at the root", star, barrierOf(0), 0xF, 0xF, 0xF, 0},
		{"AllReduce below", leaf, allReduceOf(1), 3, 3, 3, 0x10},
		{"Reduce at the root", star, reduceTo(2, 1), 0xB, 0, 4, 4},
		{"Reduce to a rank below", leaf, reduceTo(1, 1), 0x11, 0, 2, 2},
		{"Reduce to a rank beyond the parent", leaf, reduceTo(3, 1), 3, 0, 0x10, 0x10},
		{"Reduce whose root contributes", sends, reduceTo(2, 1), 0xF, 0, 4, 4},
		{"Reduce whose root contributes elsewhere", bystander, reduceTo(3, 1), 3, 0, 0x10, 0x10},
		{"Reduce whose root contributes here", bystander, reduceTo(0, 1), 0x13, 0, 1, 1},
		{"Broadcast at the root", star, broadcastFrom(0, 1), 0, 0xE, 0xE, 1},
		{"Broadcast from below", leaf, broadcastFrom(0, 1), 0, 0x12, 0x12, 1},
		{"Broadcast from beyond the parent", leaf, broadcastFrom(2, 1), 0, 3, 3, 0x10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, legal := tt.group.rangeRoles(inBandParams(), tt.c)
			assert.True(t, legal)
			assert.Equal(t, roles{collective: tt.c.Collective, op: tt.c.Op, dtype: tt.c.DType, in: tt.in, out: tt.out, ack: tt.ack, parent: tt.parent}, r)
		})
	}
}

// TestRootSendsInBand: the root of a Reduce sends too, and its ACKs come back to it (A14).
func TestRootSendsInBand(t *testing.T) {
	g := inBandStar(0, 0)
	g.RootSends = true
	w := newWorld(t, inBandParams(), g)
	for r := range 3 {
		w.nothing(w.send(w.control(0, r, 0, reduceTo(1, 1))))
	}
	assert.Equal(t, []int{1}, to(w.send(w.control(0, 3, 0, reduceTo(1, 1)))))
	assert.Equal(t, sumOf(4, 1, 4), w.one(w.round(1, 0, 1, 2, 3)).Payload)
	assert.Equal(t, []int{0, 1, 2, 3}, to(w.send(w.ack(0, 1, 1, 0x1F))))
	assert.Equal(t, uint64(1), w.counted(func() { w.send(w.control(0, 1, 2, barrierOf(0))) })["RANGE_OPEN"])
}

// TestResendOfRangeBefore: while a range is open, the one before is answered with its own type, operation and numbers.
func TestResendOfRangeBefore(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandStar(0, 100))
	first := Control{Op: OpMin, DType: DTypeFP16, Packets: 1}
	for r := range 4 {
		w.send(w.control(0, r, 100, first))
	}
	halves := [][]byte{{0x00, 0x3C}, {0x00, 0xBC}, {0x00, 0x40}, {0x01, 0x00}} // 1, −1, 2 and the least subnormal
	for r, h := range halves {
		p := w.data(0, r, 101, h)
		p.Pad = 2
		w.send(p)
	}
	w.send(w.control(0, 0, 102, broadcastFrom(0, 3))) // rank 0 spends four numbers, the others none
	for i := range 3 {
		w.round(roce.PSN(103+i), 0)
	}
	w.send(w.control(0, 0, 106, allReduceOf(2))) // the Broadcast is the range before now
	w.send(w.control(0, 1, 102, allReduceOf(2)))
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_RANGE": 1}, w.counted(func() {
		p := w.data(0, 2, 101, halves[2])
		p.Pad = 2
		w.nothing(w.send(p))
	}), "the one before that is over")

	w = newWorld(t, inBandParams(), inBandStar(0, 100))
	for r := range 4 {
		w.send(w.control(0, r, 100, broadcastFrom(0, 3))) // only 0 may
	}
	for i := range 3 {
		w.round(roce.PSN(101+i), 0)
	}
	for r := range 4 {
		base := roce.PSN(100)
		if r == 0 {
			base = 104
		}
		w.send(w.control(0, r, base, first))
		p := w.data(0, r, base+1, halves[r])
		p.Pad = 2
		w.send(p)
	}
	w.send(w.control(0, 0, 106, allReduceOf(2))) // INT32 now, and a sum
	for r := range 4 {
		wire, heard := roce.PSN(101), roce.PSN(105)
		if r == 0 {
			wire, heard = 105, 101
		}
		p := w.data(0, r, wire, halves[r])
		p.Pad = 2
		again := w.one(w.send(p))
		assert.Equal(t, []byte{0x00, 0xBC}, again.Payload, "rank %d", r)
		assert.Equal(t, heard, again.PSN)
		assert.Equal(t, uint8(2), again.Pad)
		assert.Equal(t, wire, w.one(w.send(w.ack(0, r, heard, 0x1F))).PSN, "an ACK of the range before")
	}
}

// TestReack: data of the range before that everybody has is answered with an ACK of that whole range.
func TestReack(t *testing.T) {
	reack := map[string]uint64{"RX_FRAMES": 1, "TX_REACK": 1, "TX_FRAMES": 1}
	open := func(w *world, e int, wire roce.PSN, c Control) {
		t.Helper()
		require.NotZero(t, w.counted(func() { w.send(w.control(0, e, wire, c)) })["RANGE_OPEN"])
	}
	t.Run("Reduce", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandStar(0, 0))
		for r := range 3 {
			w.send(w.control(0, r, 0, reduceTo(3, 2)))
		}
		w.round(1, 0, 1, 2)
		w.round(2, 0, 1, 2)
		resent := map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "TX_RESEND": 1, "TX_FRAMES": 1}
		w.send(w.ack(0, 3, 2, 0x1F))
		assert.Equal(t, resent, w.counted(func() { w.round(1, 1) }), "it is the current range")
		open(w, 3, 0, allReduceOf(1))
		before := w.e.AppendState(nil)
		for _, wire := range []roce.PSN{0, 1, 2} {
			assert.Equal(t, reack, w.counted(func() {
				var p roce.Packet
				if wire == 0 {
					p = w.one(w.send(w.control(0, 1, 0, reduceTo(3, 2))))
				} else {
					p = w.one(w.round(wire, 1))
				}
				assert.Equal(t, roce.PSN(2), p.PSN)
				assert.Equal(t, uint8(0x1F), p.Syndrome)
				assert.Equal(t, uint32(79), p.MSN)
				assert.Equal(t, uint32(0x1101), p.DestQP)
			}))
		}
		assert.Equal(t, before, w.e.AppendState(nil))
	})
	t.Run("Reduce, not all acknowledged", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandStar(0, 0))
		for r := range 3 {
			w.send(w.control(0, r, 0, reduceTo(3, 1)))
		}
		w.round(1, 0, 1, 2)
		w.send(w.ack(0, 3, 1, 0x60)) // everything before 1
		open(w, 3, 0, allReduceOf(1))
		assert.Equal(t, uint64(1), w.counted(func() { w.round(1, 1) })["TX_RESEND"])
		assert.Equal(t, uint64(1), w.counted(func() { w.send(w.ack(0, 3, 1, 0x1F)) })["TX_ACK_COPY"]/3)
		assert.Equal(t, uint64(1), w.counted(func() { w.round(1, 1) })["TX_REACK"])
		// A packet that nobody has seen is not answered so, though the receiver claims to have it.
		w = newWorld(t, inBandParams(), inBandStar(0, 0))
		w.send(w.control(0, 0, 0, reduceTo(3, 1)))
		w.send(w.ack(0, 3, 1, 0x1F))
		open(w, 3, 0, allReduceOf(1))
		assert.Equal(t, uint64(1), w.counted(func() { w.send(w.control(0, 1, 0, reduceTo(3, 1))) })["AGG"])
		assert.Equal(t, uint64(1), w.counted(func() { w.send(w.control(0, 1, 0, reduceTo(3, 1))) })["TX_REACK"])
	})
	t.Run("Broadcast", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandStar(0, 50))
		w.send(w.control(0, 1, 50, broadcastFrom(1, 2)))
		w.round(51, 1)
		w.round(52, 1)
		w.send(w.ack(0, 0, 52, 0x1F))
		w.send(w.ack(0, 2, 52, 0x1F))
		w.send(w.ack(0, 3, 51, 0x1F))
		open(w, 3, 50, allReduceOf(1))
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DOWN_DATA": 1, "TX_FANOUT": 3, "TX_FRAMES": 3}, w.counted(func() { w.round(52, 1) }))
		assert.Equal(t, roce.PSN(52), w.one(w.send(w.ack(0, 3, 52, 0x1F))).PSN)
		for _, wire := range []roce.PSN{51, 52} {
			assert.Equal(t, reack, w.counted(func() {
				p := w.one(w.round(wire, 1))
				assert.Equal(t, roce.PSN(52), p.PSN)
				assert.Equal(t, uint32(52+77), p.MSN)
				assert.Equal(t, uint32(0x1101), p.DestQP)
			}))
		}
		w.send(w.control(0, 0, 50, allReduceOf(1)))
		for r := range 4 { // ACKs of the next range say no more of this one
			wire := roce.PSN(53)
			if r == 1 {
				wire = 50
			}
			w.send(w.ack(0, r, wire, 0x1F))
		}
		assert.Equal(t, roce.PSN(52), w.one(w.round(51, 1)).PSN)
	})
	t.Run("Broadcast to nobody", func(t *testing.T) {
		g := inBandStar(0, 0)
		g.InMask, g.OutMask, g.AckMask = 1, 1, 1
		w := newWorld(t, inBandParams(), g)
		w.send(w.control(0, 0, 0, broadcastFrom(0, 1)))
		w.round(1, 0)
		open(w, 0, 2, allReduceOf(1))
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DOWN_DATA": 1}, w.counted(func() { w.round(1, 0) }))
	})
}

// TestBroadcastAcksInBand: what is said of a range stays within it.
func TestBroadcastAcksInBand(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandStar(0, 0))
	w.send(w.control(0, 0, 0, broadcastFrom(0, 4)))
	root := uint32(0)
	up := func(e int, psn roce.PSN, syndrome uint8, want int) {
		t.Helper()
		outs := w.send(w.ack(0, e, psn, syndrome))
		if want < 0 {
			w.nothing(outs)
			return
		}
		p := w.one(outs)
		assert.Equal(t, roce.PSN(want), p.PSN)
		assert.Equal(t, syndrome, p.Syndrome)
		assert.Equal(t, 0x1100+root, p.DestQP)
	}
	up(1, 0, 0x1F, -1)
	up(2, 3, 0x1F, -1)
	up(3, 0, 0x60, 0)
	up(3, 0, 0x1F, 0)
	up(1, 4, 0x1F, -1)
	up(3, 4, 0x1F, 3)
	up(2, 4, 0x22, 4) // RNR NAK(4) acknowledges 3, which is known

	// The next Broadcast is another rank's: nobody has acknowledged anything of it, rank 0 nothing at all.
	w.send(w.ack(0, 2, 4, 0x1F))
	w.send(w.control(0, 1, 0, broadcastFrom(1, 2)))
	root = 1
	up(0, 0, 0x60, 0)
	up(2, 6, 0x1F, -1)
	up(3, 7, 0x1F, -1)
	up(0, 0, 0x1F, 0)
	up(0, 2, 0x1F, 1)
	// ACKs of the range before, after this one has begun: still of that one, and not beyond its end.
	p := w.one(w.send(w.ack(0, 2, 4, 0x1F)))
	assert.Equal(t, roce.PSN(4), p.PSN)
	assert.Equal(t, uint32(0x1100), p.DestQP)
	p = w.one(w.send(w.ack(0, 2, 3, 0x60)))
	assert.Equal(t, roce.PSN(4), p.PSN, "everybody has the range")
	assert.Equal(t, uint8(0x1F), p.Syndrome, "what follows it was never sent")
}

// TestNumbersOfRange: windows, gaps and done begin anew with a range.
func TestNumbersOfRange(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandLeaf(0, 0))
	w.send(w.control(0, 4, 0, broadcastFrom(2, 20))) // from beyond; nothing completes here
	for i := range 20 {
		w.round(roce.PSN(i+1), 4)
	}
	assert.Equal(t, roce.PSN(20), w.e.groups[0].done)
	assert.Equal(t, roce.PSN(21), w.e.groups[0].ends[4].ePSN)
	w.round(7, 4)
	assert.Equal(t, roce.PSN(20), w.e.groups[0].done)
	assert.Equal(t, roce.PSN(21), w.e.groups[0].ends[4].ePSN)
	// A Reduce to rank 0: the parent is a child, its PSNs go on at 21; rank 1's are at 0 still.
	w.nothing(w.send(w.control(0, 1, 0, reduceTo(0, 40))))
	for i := range 3 {
		w.nothing(w.round(roce.PSN(1+i), 1))
	}
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_WINDOW": 1}, w.counted(func() { w.nothing(w.round(4, 1)) }))
	assert.Equal(t, []int{0}, to(w.send(w.control(0, 4, 21, reduceTo(0, 40)))))
	assert.Equal(t, uint64(1), w.counted(func() { w.nothing(w.round(4, 1)) })["AGG"])
	p := w.one(w.round(22, 4))
	assert.Equal(t, roce.PSN(1+21), p.PSN, "rank 0 has heard the Broadcast")
	assert.Equal(t, Reduce(DTypeINT32, OpSum, false, [][]byte{contribution(1, 1, 4), contribution(4, 22, 4)}), p.Payload)

	// A gap: the number after what the root has acknowledged, or after the range before.
	nak := w.one(w.round(6, 1))
	assert.Equal(t, roce.PSN(0), nak.PSN)
	w.send(w.ack(0, 0, 22, 0x1F))
	w.round(5, 1)
	assert.Equal(t, roce.PSN(2), w.one(w.round(8, 1)).PSN)

	// done moves when a range is opened, so that a window of it is free from the first.
	w = newWorld(t, inBandParams(), inBandStar(0, 0))
	w.send(w.control(0, 0, 0, broadcastFrom(0, 0xFFFFF)))
	w.send(w.control(0, 1, 0, allReduceOf(8)))
	assert.Equal(t, roce.PSN(0x100000), w.e.groups[0].done.Next())
	for i := range 3 {
		w.nothing(w.round(roce.PSN(1+i), 1))
	}
	assert.Equal(t, uint64(1), w.counted(func() { w.nothing(w.round(4, 1)) })["DROP_WINDOW"])
}

// TestStragglerOfRangeBefore: a rank opens a range although another has not finished the one before, which no host does. The
// straggler can still finish.
func TestStragglerOfRangeBefore(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandStar(0, 0))
	for r := range 4 {
		w.send(w.control(0, r, 0, allReduceOf(1)))
	}
	w.configure(func(e *Engine) error { e.SetGapNAK(false); return nil })
	w.round(1, 0, 1, 2)
	w.send(w.control(0, 0, 2, allReduceOf(1)))
	assert.Equal(t, uint64(1), w.counted(func() { w.nothing(w.send(w.control(0, 3, 2, allReduceOf(1)))) })["DROP_GAP"])
	w.result(w.round(1, 3), 1, 0, 1, 2, 3)
	for r := 1; r < 4; r++ {
		w.send(w.control(0, r, 2, allReduceOf(1)))
	}
	w.result(w.round(3, 0, 1, 2, 3), 3, 0, 1, 2, 3)

	// Two packets behind: done stays where the new range has put it, or that could not use its window.
	w = newWorld(t, inBandParams(), inBandStar(0, 0))
	for r := range 4 {
		w.send(w.control(0, r, 0, allReduceOf(2)))
	}
	w.round(1, 0, 1, 2)
	w.round(2, 0, 1, 2)
	w.send(w.control(0, 0, 3, allReduceOf(8)))
	w.result(w.round(1, 3), 1, 0, 1, 2, 3)
	assert.Equal(t, roce.PSN(2), w.e.groups[0].done)
	assert.Equal(t, uint64(3), w.counted(func() { w.nothing(w.round(4, 0)); w.nothing(w.round(5, 0)); w.nothing(w.round(6, 0)) })["AGG"])
}

// TestCNPInBand: the roles are those of the current range, before the first the registers'.
func TestCNPInBand(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandStar(0, 0))
	cnp := func(e int) []Out {
		p := w.from(0, e)
		p.Op, p.PSN = roce.CNP, 0x123456
		outs := w.send(p)
		for _, o := range outs {
			assert.Equal(t, roce.CNP, o.Packet.Op)
			assert.Equal(t, roce.PSN(0x123456), o.Packet.PSN, "never translated")
		}
		return outs
	}
	assert.Equal(t, []int{2}, to(cnp(2)))
	w.send(w.control(0, 1, 0, broadcastFrom(1, 1)))
	assert.Equal(t, []int{1}, to(cnp(2)))
	w.nothing(cnp(1))
	w.send(w.control(0, 2, 0, reduceTo(0, 1)))
	assert.Equal(t, []int{1, 2, 3}, to(cnp(0)))
	w.nothing(cnp(2))
}

// TestSlotsOfDeadRanges: a slot of a range that is over is empty, in the state and to whoever looks.
func TestSlotsOfDeadRanges(t *testing.T) {
	state := func(payload []byte) []byte {
		w := newWorld(t, inBandParams(), inBandStar(0, 0))
		for r := range 4 {
			w.send(w.control(0, r, 0, allReduceOf(1)))
		}
		for r := range 4 {
			w.send(w.data(0, r, 1, payload))
		}
		w.send(w.control(0, 1, 2, broadcastFrom(1, 1)))
		w.round(3, 1)
		w.send(w.control(0, 1, 4, broadcastFrom(1, 1)))
		return w.e.AppendState(nil)
	}
	assert.Equal(t, state(le(1)), state(le(7, 7)))
}

func TestLook(t *testing.T) {
	params, fixed := inBandParams(), starGroup(1, 5)
	params.Slots, fixed.SlotBase = 32, 16
	w := newWorld(t, params, inBandStar(0, 0), fixed)
	look := func(ei int, wire roce.PSN) Sight {
		s, ok := w.e.Look(ei, wire)
		require.True(t, ok)
		return s
	}
	for _, ei := range []int{0, 4, 5, 13, 16, 99} {
		_, ok := w.e.Look(ei, 0)
		assert.False(t, ok, "endpoint index %d", ei)
	}
	assert.Equal(t, Sight{DType: DTypeINT32, PSN: 5}, look(8, 5))
	w.send(w.data(1, 0, 5, le(1)))
	assert.Equal(t, SlotPartial, look(9, 5).Slot)
	assert.Equal(t, SlotOther, look(9, 13).Slot)
	assert.Equal(t, 1, w.e.Unfinished(1))
	for r := 1; r < 4; r++ {
		w.send(w.data(1, r, 5, le(1)))
	}
	assert.Equal(t, SlotComplete, look(9, 5).Slot)
	assert.Zero(t, w.e.Unfinished(1))

	w.send(w.control(0, 2, 0, broadcastFrom(2, 3)))
	for wire := range roce.PSN(3) {
		w.round(1+wire, 2)
	}
	w.send(w.control(0, 2, 4, Control{Collective: CollectiveReduce, Op: OpMin, DType: DTypeFP16, Root: 1, Packets: 9}))
	assert.Equal(t, Sight{Collective: CollectiveReduce, Op: OpMin, DType: DTypeFP16, PSN: 5}, look(3, 1))
	assert.Equal(t, Sight{Collective: CollectiveBroadcast, DType: DTypeINT32, PSN: 2}, look(2, 2))
	_, ok := w.e.Look(1, 0)
	assert.False(t, ok, "the root of a Reduce sends nothing")
	w.configure(func(e *Engine) error { return e.Disable(0) })
	_, ok = w.e.Look(3, 1)
	assert.False(t, ok)
	assert.Zero(t, w.e.Unfinished(0))
}

// TestDiscarded: a rank that leaves ranges before the others have begun them loses what it gave, and that shows.
func TestDiscarded(t *testing.T) {
	t.Run("a range is opened", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandStar(0, 0))
		w.send(w.control(0, 1, 0, barrierOf(0)))
		w.send(w.control(0, 1, 1, barrierOf(0)))
		assert.Equal(t, 2, w.e.Unfinished(0))
		assert.Zero(t, w.e.Discarded(0))
		w.send(w.control(0, 1, 2, barrierOf(0)))
		assert.Equal(t, 2, w.e.Unfinished(0))
		assert.Equal(t, 1, w.e.Discarded(0))
		w.configure(func(e *Engine) error { return e.Reset(0) })
		assert.Zero(t, w.e.Unfinished(0))
		assert.Equal(t, 1, w.e.Discarded(0), "what a reset takes away is not counted, nor what was counted forgotten")
	})
	t.Run("a Broadcast comes by", func(t *testing.T) {
		w := newWorld(t, inBandParams(), inBandStar(0, 0))
		w.send(w.control(0, 1, 0, barrierOf(0)))
		w.send(w.control(0, 1, 1, broadcastFrom(1, 8)))
		for wire := roce.PSN(2); wire < 8; wire++ {
			w.send(w.data(0, 1, wire, le(1)))
		}
		assert.Zero(t, w.e.Discarded(0))
		w.send(w.data(0, 1, 8, le(1)))
		assert.Equal(t, 1, w.e.Discarded(0))
		assert.Zero(t, w.e.Unfinished(0))
	})
}

// TestLegalInBand is about what an in-band group needs.
func TestLegalInBand(t *testing.T) {
	group := func(change func(g *Group)) Group {
		g := inBandStar(0, 0)
		change(&g)
		return g
	}
	tests := []struct {
		name   string
		params func(p *Params)
		group  Group
		err    string // part of the error; none: legal
	}{
		{"in-band", func(*Params) {}, group(func(*Group) {}), ""},
		{"not built in", func(p *Params) { p.InBand = false }, group(func(*Group) {}), "no in-band groups"},
		{"fixed to a Reduce", func(*Params) {}, group(func(g *Group) { g.Collective, g.HasParent = CollectiveReduce, true }), "must be AllReduce"},
		{"fixed to a Barrier", func(*Params) {}, group(func(g *Group) { g.Collective = CollectiveBarrier }), "must be AllReduce"},
		{"two slots a packet for what ranges may need", func(*Params) {}, group(func(g *Group) { g.Log2N = 4 }), ""},
		{"and no more", func(*Params) {}, group(func(g *Group) { g.Log2N, g.SlotBase = 4, 1 }), "slots 1 to 32, 2 for"},
		{"one if there is no type of 16 bits", func(p *Params) { p.DTypes = 1 << DTypeINT32 }, group(func(g *Group) { g.Log2N = 5 }), ""},
		{"a fixed group takes one", func(*Params) {}, group(func(g *Group) { g.InBand, g.Log2N = false, 5 }), ""},
		{"reproducible, the odd one is nowhere", func(p *Params) { p.Reproducible = true }, group(func(*Group) {}), ""},
		{"reproducible, the odd one hears", func(p *Params) { p.Reproducible = true }, group(func(g *Group) { g.OutMask = 0x1F }), "endpoint 4"},
		{"reproducible, the odd one is the parent", func(p *Params) { p.Reproducible = true }, inBandLeaf(0, 0), "endpoint 4"},
		{"reproducible, fixed", func(p *Params) { p.Reproducible = true }, group(func(g *Group) { g.OutMask, g.InBand = 0x1F, false }), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := inBandParams()
			tt.params(&p)
			e, err := New(p)
			require.NoError(t, err)
			require.NoError(t, e.SetGroup(0, tt.group))
			err = e.Enable(0)
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrIllegalGroup)
			assert.ErrorContains(t, err, tt.err)
		})
	}
}

// TestRestoreRefusesRanges: ranges that no controls can have left.
func TestRestoreRefusesRanges(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandStar(0, 0))
	for r := range 4 {
		w.send(w.control(0, r, 0, allReduceOf(1)))
	}
	w.round(1, 0, 1, 2, 3)
	one := w.e.AppendState(nil)
	w.send(w.control(0, 1, 2, broadcastFrom(1, 1)))
	two := w.e.AppendState(nil)
	const ranges = 1 // where the number of ranges is
	tests := []struct {
		name   string
		state  []byte
		change func(b []byte)
	}{
		{"three ranges", two, func(b []byte) { b[ranges] = 3 }},
		{"an illegal range", one, func(b []byte) { b[ranges+1] = 0xE6 }},
		{"an illegal range before", two, func(b []byte) { b[ranges+4] = 0xE6 }},
		{"a range without the slots", one, func(b []byte) { b[ranges+4] = 0 }},
		{"slots of no range", two, func(b []byte) { b[ranges+3] = 9 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := newWorld(t, inBandParams(), inBandStar(0, 0))
			other.send(other.control(0, 2, 0, reduceTo(0, 9)))
			require.NoError(t, newWorld(t, inBandParams(), inBandStar(0, 0)).e.Restore(tt.state))
			before := other.e.AppendState(nil)
			bad := append([]byte(nil), tt.state...)
			tt.change(bad)
			require.ErrorIs(t, other.e.Restore(bad), ErrState)
			require.Equal(t, before, other.e.AppendState(nil))
		})
	}
}

// TestNAKOfFirst: a NAK of a range's first PSN says nothing of the range before. On the switch that sends it on, somebody else may
// still want that.
func TestNAKOfFirst(t *testing.T) {
	for _, syndrome := range []uint8{0x60, 0x21} {
		w := newWorld(t, inBandParams(), inBandStar(0, 50))
		w.send(w.control(0, 1, 50, broadcastFrom(1, 1)))
		w.round(51, 1)
		w.send(w.ack(0, 0, 51, 0x1F))
		w.send(w.ack(0, 2, 51, 0x1F))
		w.send(w.control(0, 0, 50, broadcastFrom(0, 1)))
		require.Equal(t, roce.PSN(50), w.one(w.send(w.ack(0, 3, 52, syndrome))).PSN, "rank 0 is asked for its control again")
		assert.Equal(t, uint64(1), w.counted(func() { w.round(51, 1) })["DOWN_DATA"], "rank 3 has not acknowledged the range before")
		assert.Equal(t, uint64(1), w.counted(func() { w.send(w.ack(0, 3, 51, 0x1F)) })["TX_ACK_UP"])
		assert.Equal(t, uint64(1), w.counted(func() { w.round(51, 1) })["TX_REACK"])
	}
}

// TestAcksKeepUp: whoever has acknowledged nothing for more than half the number range is not ahead of the others.
func TestAcksKeepUp(t *testing.T) {
	const length = 1 << 20
	w := newWorld(t, inBandParams(), inBandStar(0, 0))
	for k := range 12 {
		first := roce.PSN(0).Add(k * length)
		require.Equal(t, uint64(1), w.counted(func() { w.send(w.control(0, 1, first, broadcastFrom(1, length-1))) })["RANGE_OPEN"])
		w.nothing(w.send(w.ack(0, 0, first, 0x1F)))
		w.nothing(w.send(w.ack(0, 2, first, 0x1F)))
	}
	assert.Equal(t, roce.PSN(11*length), w.one(w.send(w.ack(0, 3, 11*length, 0x1F))).PSN)
}

// TestRangeNAKAgain: the sender of a Broadcast, once told that its control was lost, is told so again in the next range.
func TestRangeNAKAgain(t *testing.T) {
	w := newWorld(t, inBandParams(), inBandStar(0, 50))
	assert.Equal(t, roce.PSN(50), w.one(w.round(51, 1)).PSN)
	w.nothing(w.round(51, 1))
	w.send(w.control(0, 1, 50, broadcastFrom(1, 1)))
	w.round(51, 1)
	assert.Equal(t, roce.PSN(52), w.one(w.round(53, 1)).PSN)
}

// TestRootOutsideTree: a root that is not in the tree contributes nothing, though its ACKs would count.
func TestRootOutsideTree(t *testing.T) {
	s := inBandStar(0, 0)
	s.RootSends, s.InMask, s.OutMask = true, 7, 7
	w := newWorld(t, inBandParams(), s)
	assert.Equal(t, uint64(1), w.counted(func() { w.send(w.control(0, 3, 0, reduceTo(3, 1))) })["DROP_WRONG_ROLE"])
}
