// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// messages is a Mode I engine under test. Actions are taken by hand.
type messages struct {
	*world
	now Time
}

// first are the PSNs that endpoint e sends, and is sent, first: close before the wrap, and all different.
func first(e int) (rq, sq roce.PSN) {
	return roce.PSN(0).Add(-2 - e), roce.PSN(1000 * (e + 1))
}

// newMessages is the root of a star with hosts at endpoints 0 to 3, pools of two messages of 64 bytes and path MTUs as given, 16 bytes where none is.
func newMessages(t testing.TB, change func(p *Params, g *Group), mtus ...int) *messages {
	t.Helper()
	p := smallParams()
	p.Mode, p.MTU, p.MessageBytes, p.LeastPathMTU = 1, 32, 64, 4
	g := starGroup(0, 0xFFFFFF)
	g.Log2N, g.PipeSlots = 2, 2
	if change != nil {
		change(&p, &g)
	}
	e, err := New(p)
	require.NoError(t, err)
	for m := range p.Members + 1 {
		ep := endpointAt(p, 0, m)
		ep.RQPSN, ep.SQPSN = first(m)
		if ep.PathMTU = 16; m < len(mtus) {
			ep.PathMTU = mtus[m]
		}
		require.NoError(t, e.SetEndpoint(m, ep))
	}
	require.NoError(t, e.SetGroup(0, g))
	require.NoError(t, e.Enable(0))
	e.SetManual(true)
	return &messages{world: &world{t: t, e: e}}
}

// said is what left, in order, after the checks that always hold.
func (w *messages) said(outs []Out) []said {
	w.t.Helper()
	require.NoError(w.t, w.e.CheckInvariants())
	require.NoError(w.t, w.e.Counters().CheckMessageIdentities())
	for _, o := range outs {
		p, err := roce.Decode(o.Frame)
		require.NoError(w.t, err)
		require.True(w.t, roce.CheckICRC(o.Frame))
		require.Equal(w.t, p, o.Packet)
	}
	return (&pipes{world: w.world}).heard(outs)
}

// packet is packet i of endpoint e.
func (w *messages) packet(e, i int, op roce.Opcode, payload ...byte) roce.Packet {
	p := w.from(0, e)
	rq, _ := first(e)
	p.Op, p.PSN, p.Payload, p.AckReq, p.Pad = op, rq.Add(i), payload, false, uint8(-len(payload)&3)
	return p
}

// gets offers a packet and compares what leaves because of it alone.
func (w *messages) gets(p roce.Packet, want ...said) {
	w.t.Helper()
	port := w.e.table[int(p.DestQP)%len(w.e.table)].Port
	if diff := cmp.Diff(want, w.said(w.e.Handle(w.now, port, bytesOf(p), false))); diff != "" {
		w.t.Fatalf("-expected +got\n%s", diff)
	}
}

// sends takes the sends that may be taken until there are none.
func (w *messages) sends() (all []said) {
	w.t.Helper()
	for {
		a := w.e.Due(-1, nil)
		if len(a) == 0 {
			return all
		}
		outs, err := w.e.Act(w.now, a[0])
		require.NoError(w.t, err)
		all = append(all, w.said(outs)...)
	}
}

// acks is an answer of endpoint e to what it was sent.
func (w *messages) acks(e, i int, syndrome uint8) roce.Packet {
	_, sq := first(e)
	return w.ack(0, e, sq.Add(i), syndrome)
}

// sixteen are 16 bytes of one value, as INT32.
func sixteen(v int32) []byte { return le(v, v, v, v) }

// TestMessageRules: what the receiving side says to each kind of packet (docs/termination.md section 3).
func TestMessageRules(t *testing.T) {
	const F, M, L, O = roce.SendFirst, roce.SendMiddle, roce.SendLast, roce.SendOnly
	rq, _ := first(0)
	type step struct {
		at   int
		op   roce.Opcode
		n    int
		ask  bool
		want string // ACK, NAK, RNR NAK or nothing
		psn  int
		msn  uint32
	}
	for _, tc := range []struct {
		name  string
		steps []step
		count Counter
	}{
		{"a message in pieces is acknowledged at its end", []step{{at: 0, op: F, n: 16}, {at: 1, op: M, n: 16}, {at: 2, op: L, n: 4, want: "ACK", psn: 2, msn: 1}}, TxAck},
		{"asked for", []step{{at: 0, op: F, n: 16, ask: true, want: "ACK", psn: 0}}, TxAck},
		{"the third in a row", []step{{at: 0, op: F, n: 16}, {at: 1, op: M, n: 16}, {at: 2, op: M, n: 16, want: "ACK", psn: 2}}, TxAck},
		{"an answer begins the count anew", []step{{at: 0, op: F, n: 16}, {at: 1, op: M, n: 16, ask: true, want: "ACK", psn: 1}, {at: 2, op: M, n: 16}}, TxAck},
		{"a duplicate", []step{{at: 0, op: O, n: 4, want: "ACK", psn: 0, msn: 1}, {at: 0, op: M, n: 8, want: "ACK", psn: 0, msn: 1}}, RxDuplicate},
		{"a gap, once", []step{{at: 2, op: L, n: 4, want: "NAK", psn: 0}, {at: 1, op: O, n: 4}}, DropGap},
		{"MIDDLE without FIRST", []step{{at: 0, op: M, n: 16, want: "NAK", psn: 0}}, DropSequence},
		{"LAST without FIRST", []step{{at: 0, op: L, n: 16, want: "NAK", psn: 0}}, DropSequence},
		{"FIRST after MIDDLE", []step{{at: 0, op: F, n: 16}, {at: 1, op: M, n: 16}, {at: 2, op: F, n: 16, want: "NAK", psn: 2}}, DropSequence},
		{"ONLY inside", []step{{at: 0, op: F, n: 16}, {at: 1, op: O, n: 4, want: "NAK", psn: 1}}, DropSequence},
		{"FIRST not of the path MTU", []step{{at: 0, op: F, n: 12, want: "NAK", psn: 0}}, DropSegment},
		{"MIDDLE longer", []step{{at: 0, op: F, n: 16}, {at: 1, op: M, n: 20, want: "NAK", psn: 1}}, DropSegment},
		{"LAST of the path MTU and 4", []step{{at: 0, op: F, n: 16}, {at: 1, op: L, n: 20, want: "NAK", psn: 1}}, DropSegment},
		{"ONLY above it", []step{{at: 0, op: O, n: 20, want: "NAK", psn: 0}}, DropSegment},
		{"LAST of nothing", []step{{at: 0, op: F, n: 16}, {at: 1, op: L, want: "NAK", psn: 1}}, DropSegment},
		{"half an element", []step{{at: 0, op: O, n: 6, want: "NAK", psn: 0}}, DropBadLength},
		{"more than message_bytes", []step{{at: 0, op: F, n: 16}, {at: 1, op: M, n: 16}, {at: 2, op: M, n: 16, want: "ACK", psn: 2}, {at: 3, op: M, n: 16},
			{at: 4, op: L, n: 4, want: "NAK", psn: 4}}, DropMessageSize},
		{"refused again", []step{{at: 0, op: M, n: 16, want: "NAK", psn: 0}, {at: 0, op: O, n: 4, want: "NAK", psn: 0}}, DropRefused},
		{"a refused one's gap", []step{{at: 0, op: M, n: 16, want: "NAK", psn: 0}, {at: 1, op: O, n: 4, want: "NAK", psn: 0}}, DropGap},
		{"a pool that is full", []step{{at: 0, op: O, n: 4, want: "ACK", psn: 0, msn: 1}, {at: 1, op: O, n: 4, want: "ACK", psn: 1, msn: 2}, {at: 2, op: F, n: 16, want: "RNR NAK", psn: 2, msn: 2},
			{at: 3, op: L, n: 4}}, DropFull},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newMessages(t, nil)
			w.e.SetAckEvery(3)
			before := w.e.counters[tc.count]
			for _, s := range tc.steps {
				p := w.packet(0, s.at, s.op, make([]byte, s.n)...)
				p.AckReq = s.ask
				var want []said
				if s.want != "" {
					want = []said{{To: 0, What: s.want, PSN: rq.Add(s.psn), MSN: s.msn}}
				}
				w.gets(p, want...)
			}
			assert.Greater(t, w.e.counters[tc.count], before, "%v", tc.count)
			refused := w.e.counters[TxInvalid] > 0
			assert.Equal(t, refused, w.e.Refused(0) == 1)
			require.NoError(t, w.e.Reset(0))
			assert.Zero(t, w.e.Refused(0))
		})
	}
}

// TestMessageLengths: the packet that shows that lengths differ ends its sender's connection.
func TestMessageLengths(t *testing.T) {
	refuse := func(w *messages, e, i int) said {
		rq, _ := first(e)
		return said{To: e, What: "NAK", PSN: rq.Add(i)}
	}
	taken := func(e, i int, msn uint32) said {
		rq, _ := first(e)
		return said{To: e, What: "ACK", PSN: rq.Add(i), MSN: msn}
	}
	t.Run("below the high-water mark", func(t *testing.T) {
		w := newMessages(t, nil)
		w.gets(w.packet(0, 0, roce.SendFirst, sixteen(1)...))
		w.gets(w.packet(1, 0, roce.SendOnly, le(1)...), refuse(w, 1, 0))
		assert.EqualValues(t, 1, w.e.counters[DropMessageLength])
		assert.EqualValues(t, 2, w.e.Refused(0))
	})
	t.Run("beyond a known length", func(t *testing.T) {
		w := newMessages(t, nil)
		w.gets(w.packet(0, 0, roce.SendOnly, le(1)...), taken(0, 0, 1))
		w.gets(w.packet(1, 0, roce.SendFirst, sixteen(1)...), refuse(w, 1, 0))
		assert.EqualValues(t, 2, w.e.Refused(0))
	})
	t.Run("nothing where there is something", func(t *testing.T) {
		w := newMessages(t, nil)
		w.gets(w.packet(0, 0, roce.SendFirst, sixteen(1)...))
		w.gets(w.packet(1, 0, roce.SendOnly), refuse(w, 1, 0))
	})
	t.Run("the same by other cuts", func(t *testing.T) {
		w := newMessages(t, nil, 16, 32, 4)
		w.gets(w.packet(0, 0, roce.SendFirst, sixteen(1)...))
		w.gets(w.packet(0, 1, roce.SendLast, le(1)...), taken(0, 1, 1))
		w.gets(w.packet(1, 0, roce.SendOnly, append(sixteen(1), le(1)...)...), taken(1, 0, 1))
		for i := range 4 {
			w.gets(w.packet(2, i, []roce.Opcode{roce.SendFirst, roce.SendMiddle}[min(i, 1)], le(1)...))
		}
		w.gets(w.packet(2, 4, roce.SendLast, le(1)...), taken(2, 4, 1))
		assert.Zero(t, w.e.Refused(0))
	})
}

// TestMessageSending: bytes leave as they are complete, each endpoint's by its own path MTU; the last packet leaves with the message.
func TestMessageSending(t *testing.T) {
	piece := func(e, i int, what string, payload []byte) said {
		_, sq := first(e)
		return said{To: e, What: what, PSN: sq.Add(i), Payload: string(payload)}
	}
	everybody := func(w *messages, i int, op roce.Opcode, v int32) {
		for e := range 4 {
			p := w.packet(e, i, op, sixteen(v)...)
			port := w.e.table[e].Port
			w.said(w.e.Handle(w.now, port, bytesOf(p), false))
		}
	}
	t.Run("cut through", func(t *testing.T) {
		w := newMessages(t, nil, 16, 16, 16, 16)
		everybody(w, 0, roce.SendFirst, 1)
		assert.Len(t, w.sends(), 4, "more is known to come")
		everybody(w, 1, roce.SendMiddle, 2)
		assert.Equal(t, []said{piece(0, 1, "SEND_MIDDLE", sixteen(8)), piece(1, 1, "SEND_MIDDLE", sixteen(8)), piece(2, 1, "SEND_MIDDLE", sixteen(8)),
			piece(3, 1, "SEND_MIDDLE", sixteen(8))}, w.sends())
		everybody(w, 2, roce.SendLast, 3)
		assert.Equal(t, piece(3, 2, "SEND_LAST", sixteen(12)), w.sends()[3])
		assert.EqualValues(t, 1, w.e.counters[Wipe], "it has moved")
		for e := range 4 {
			w.gets(w.acks(e, 2, roce.AckSyndrome))
		}
		assert.EqualValues(t, 2, w.e.counters[Wipe])
		assert.Zero(t, w.e.Unfinished(0))
	})
	t.Run("whole messages", func(t *testing.T) {
		w := newMessages(t, func(_ *Params, g *Group) { g.WholeMessages = true })
		everybody(w, 0, roce.SendFirst, 1)
		assert.Empty(t, w.sends())
		everybody(w, 1, roce.SendLast, 1)
		assert.Len(t, w.sends(), 8)
	})
	t.Run("own path MTUs", func(t *testing.T) {
		w := newMessages(t, nil, 16, 8, 32, 16)
		pieces := map[int]int{}
		for e, mtu := range []int{16, 8, 32, 16} {
			for at, i := 0, 0; at < 32; at, i = at+mtu, i+1 {
				op := roce.SendMiddle
				switch {
				case mtu == 32:
					op = roce.SendOnly
				case at == 0:
					op = roce.SendFirst
				case at+mtu == 32:
					op = roce.SendLast
				}
				p := w.packet(e, i, op, append(sixteen(5), sixteen(6)...)[at:at+mtu]...)
				w.said(w.e.Handle(w.now, w.e.table[e].Port, bytesOf(p), false))
			}
		}
		for _, s := range w.sends() {
			pieces[s.To]++
		}
		assert.Equal(t, map[int]int{0: 2, 1: 4, 2: 1, 3: 2}, pieces)
		// An ACK in the middle frees nothing; a NAK sends again from there, to that endpoint alone.
		w.gets(w.acks(1, 1, roce.AckSyndrome))
		w.gets(w.acks(1, 3, roce.NAKSequence))
		assert.Equal(t, []said{piece(1, 3, "SEND_LAST", le(24, 24))}, w.sends())
		assert.EqualValues(t, 1, w.e.counters[TxRetransmit])
		w.gets(w.acks(1, 4, roce.AckSyndrome))
		assert.EqualValues(t, 1, w.e.counters[DropStaleAck], "of what was not sent")
	})
}

// TestMessageRelease: when everybody has an iteration's results, hosts that sent get word of it, and nothing of the next one leaves before they have it.
func TestMessageRelease(t *testing.T) {
	w := newMessages(t, func(_ *Params, g *Group) { g.Release, g.Iteration = true, 1 })
	for i := range 2 {
		for e := range 4 {
			w.said(w.e.Handle(w.now, w.e.table[e].Port, bytesOf(w.packet(e, i, roce.SendOnly, le(1)...)), false))
		}
	}
	require.Len(t, w.sends(), 4, "the first message's results, and not the second's")
	for e := range 4 {
		require.Empty(t, w.sends())
		w.gets(w.acks(e, 0, roce.AckSyndrome))
	}
	releases := w.sends()
	require.Len(t, releases, 4)
	for e, s := range releases {
		_, sq := first(e)
		assert.Equal(t, said{To: e, What: "SEND_ONLY", PSN: sq.Add(1)}, s)
		require.Empty(t, w.sends())
		w.gets(w.acks(e, 1, roce.AckSyndrome))
	}
	assert.EqualValues(t, 4, w.e.counters[TxRelease])
	for e, s := range w.sends() {
		_, sq := first(e)
		assert.Equal(t, said{To: e, What: "SEND_ONLY", PSN: sq.Add(2), Payload: string(le(4))}, s)
	}
}

// TestMessageSettings: what a Mode I engine and its groups may be.
func TestMessageSettings(t *testing.T) {
	for _, change := range []func(p *Params){
		func(p *Params) { p.MessageBytes = 0 }, func(p *Params) { p.MessageBytes = 96 }, func(p *Params) { p.MessageBytes = 16 },
		func(p *Params) { p.LeastPathMTU = 24 }, func(p *Params) { p.LeastPathMTU = 64 }, func(p *Params) { p.MessageBytes = 2 * MaxMessage },
		func(p *Params) { p.Mode = 3 },
	} {
		p := messageParams()
		p.MTU = 32
		change(&p)
		_, err := New(p)
		require.ErrorIs(t, err, ErrRange, "%+v", p)
	}
	w := newMessages(t, nil)
	require.NoError(t, w.e.Disable(0))
	for _, mtu := range []int{0, 2, 12, 64} {
		ep := endpointAt(w.e.params, 0, 1)
		ep.PathMTU = mtu
		require.NoError(t, w.e.SetEndpoint(1, ep))
		require.ErrorIs(t, w.e.Enable(0), ErrIllegalGroup, "path MTU %d", mtu)
	}
	require.ErrorIs(t, w.e.SetGroup(0, Group{Iteration: 1 << 23}), ErrRange)
	require.ErrorIs(t, w.e.SetEndpoint(1, Endpoint{RQPSN: 1 << 24}), ErrRange)
	require.Len(t, slices.Collect(w.e.params.Counters()), int(modeCounters))
}

// TestMessageIdentities: a counter that is off by one is noticed, if it is in an equation.
func TestMessageIdentities(t *testing.T) {
	w := newMessages(t, nil)
	for e := range 4 {
		w.said(w.e.Handle(w.now, w.e.table[e].Port, bytesOf(w.packet(e, 0, roce.SendOnly, le(1)...)), false))
	}
	w.sends()
	for c := range modeCounters {
		counters := w.e.Counters()
		counters[c]++
		err := counters.CheckMessageIdentities()
		switch c {
		case RxCe, ImmMismatch, EccCorrected, EccDouble, RangeOpen, Wipe, TxResend, TxReflect, TxAckCopy, TxAckUp, TxReack, TxRetransmit, Timeout, TxRelease:
			require.NoError(t, err, "%v", c)
		default:
			require.Error(t, err, "%v", c)
		}
	}
}
