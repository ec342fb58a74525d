// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// oneWayGroup is a Reduce toward endpoint 3 or a Broadcast from there, with the registers that the control plane would write.
func oneWayGroup(collective uint8, start roce.PSN) Group {
	g := starGroup(0, start)
	g.Collective, g.Parent, g.HasParent = collective, 3, true
	g.InMask, g.OutMask, g.AckMask = 7, 0, 8
	if collective == CollectiveBroadcast {
		g.InMask, g.OutMask, g.AckMask = 0, 7, 7
	}
	return g
}

// to is the endpoints that frames went to, one a frame.
func to(outs []Out) []int {
	var ports []int
	for _, o := range outs {
		ports = append(ports, o.Port)
	}
	return ports
}

// TestReduce: data is added up and goes to the root's endpoint alone, whose answers go to all who contribute.
func TestReduce(t *testing.T) {
	w := newWorld(t, smallParams(), oneWayGroup(CollectiveReduce, 0xFFFFFE))
	for _, psn := range []roce.PSN{0xFFFFFE, 0xFFFFFF, 0, 1} {
		w.nothing(w.round(psn, 0, 2))
		counted := w.counted(func() {
			p := w.one(w.round(psn, 1))
			assert.Equal(t, sumOf(3, psn, 4), p.Payload)
			assert.Equal(t, uint32(0x1103), p.DestQP)
			assert.Equal(t, psn, p.PSN)
		})
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "AGG": 1, "TX_RESULT": 1, "WIPE": 1, "TX_FRAMES": 1}, counted)
	}
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "TX_RESEND": 1, "TX_FRAMES": 1},
		w.counted(func() {
			assert.Equal(t, uint32(0x1103), w.one(w.round(0, 2)).DestQP, "a retransmission goes to the parent (A7)")
		}))

	slots := append([]slot(nil), w.e.slots...)
	for syndrome, counter := range map[uint8]string{0x1F: "RX_ACK", 0x60: "RX_NAK", 0x2C: "RX_RNR", 0x63: "RX_NAK"} {
		for range 2 {
			counted := w.counted(func() {
				outs := w.send(w.ack(0, 3, 1, syndrome)) // cumulative (A12)
				assert.Equal(t, []int{0, 1, 2}, to(outs))
				for _, o := range outs {
					assert.Equal(t, roce.PSN(1), o.Packet.PSN)
					assert.Equal(t, syndrome, o.Packet.Syndrome)
					assert.Equal(t, uint32(78), o.Packet.MSN)
				}
			})
			assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, counter: 1, "TX_ACK_COPY": 3, "TX_FRAMES": 3}, counted)
		}
	}
	cnp := w.from(0, 3)
	cnp.Op, cnp.PSN, cnp.BECN, cnp.TOS = roce.CNP, 0x777777, true, 3
	counted := w.counted(func() {
		outs := w.send(cnp)
		assert.Equal(t, []int{0, 1, 2}, to(outs))
		for _, o := range outs {
			assert.Equal(t, roce.CNP, o.Packet.Op)
			assert.Equal(t, roce.PSN(0x777777), o.Packet.PSN)
			assert.True(t, o.Packet.CE() && o.Packet.BECN)
		}
	})
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_CNP": 1, "RX_CE": 1, "TX_ACK_COPY": 3, "TX_FRAMES": 3}, counted)
	assert.Equal(t, slots, w.e.slots, "A20")
}

// TestGapInReduce: the NAK to whoever left a gap follows what the parent has acknowledged; its own ACKs are of nothing.
func TestGapInReduce(t *testing.T) {
	w := newWorld(t, smallParams(), oneWayGroup(CollectiveReduce, 0))
	nak := func(psn, want roce.PSN) {
		t.Helper()
		p := w.one(w.round(psn, 0))
		assert.Equal(t, uint8(0x60), p.Syndrome)
		assert.Equal(t, want, p.PSN)
		assert.Equal(t, uint32(0x1100), p.DestQP)
	}
	for psn := range roce.PSN(3) {
		w.round(psn, 0, 1, 2)
	}
	nak(4, 0)
	w.nothing(w.round(4, 0))
	w.send(w.ack(0, 3, 1, 0x1F))
	w.nothing(w.round(4, 0))
	w.round(3, 0)
	nak(5, 2)
	w.send(w.ack(0, 3, 3, 0x60))
	w.round(4, 0)
	nak(6, 3)
}

// TestRootContributes: an endpoint that is in in_mask is a child in a Reduce, the parent too (A14), and gets copies of its own
// answers.
func TestRootContributes(t *testing.T) {
	settings := oneWayGroup(CollectiveReduce, 0)
	settings.InMask = 0xF
	w := newWorld(t, smallParams(), settings)
	w.nothing(w.round(0, 0, 1, 2))
	p := w.one(w.round(0, 3))
	assert.Equal(t, sumOf(4, 0, 4), p.Payload)
	assert.Equal(t, uint32(0x1103), p.DestQP)
	assert.Equal(t, []int{0, 1, 2, 3}, to(w.send(w.ack(0, 3, 0, 0x1F))))

	settings.InMask = 5 // a mask of those who contribute
	w = newWorld(t, smallParams(), settings)
	w.nothing(w.round(0, 2))
	require.NotZero(t, w.counted(func() { w.nothing(w.round(0, 1)) })["DROP_WRONG_ROLE"])
	assert.Equal(t, uint32(0x1103), w.one(w.round(0, 0)).DestQP)
	assert.Equal(t, []int{0, 2}, to(w.send(w.ack(0, 3, 0, 0x1F))))
}

// TestBroadcast: data from the parent goes to all others, without state.
func TestBroadcast(t *testing.T) {
	w := newWorld(t, smallParams(), oneWayGroup(CollectiveBroadcast, 0))
	state := w.e.AppendState(nil)
	for _, psn := range []roce.PSN{0, 1, 1, 0x800000, 9, 0xFFFFFF} {
		p := w.data(0, 3, psn, contribution(3, psn, 4))
		p.Op, p.Imm, p.SE = roce.SendLastImm, 0xABCDEF, true
		counted := w.counted(func() {
			outs := w.send(p)
			assert.Equal(t, []int{0, 1, 2}, to(outs))
			for _, o := range outs {
				assert.Equal(t, p.Payload, o.Packet.Payload)
				assert.Equal(t, psn, o.Packet.PSN)
				assert.Equal(t, uint32(0xABCDEF), o.Packet.Imm)
			}
		})
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DOWN_DATA": 1, "TX_FANOUT": 3, "TX_FRAMES": 3}, counted)
	}
	assert.Equal(t, state, w.e.AppendState(nil))
	cnp := w.from(0, 1)
	cnp.Op, cnp.PSN = roce.CNP, 5
	counted := w.counted(func() {
		p := w.one(w.send(cnp))
		assert.Equal(t, uint32(0x1103), p.DestQP)
		assert.Equal(t, roce.CNP, p.Op)
	})
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_CNP": 1, "TX_CNP": 1, "TX_FRAMES": 1}, counted)
}

// TestBroadcastAcks: what goes up is what everybody has, when that rises and when somebody repeats what is known (A9), and a
// NAK says no more (A10). Scenarios 16 and 17.
func TestBroadcastAcks(t *testing.T) {
	type step struct {
		from     int
		psn      roce.PSN
		syndrome uint8
		up       roce.PSN // what goes up, none if quiet
		msn      int      // of the answer: that of this number
		quiet    bool
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"every order", []step{
			{from: 0, psn: 0, quiet: true, syndrome: 0x1F}, {from: 2, psn: 1, quiet: true, syndrome: 0x1F}, {from: 1, psn: 0, up: 0, msn: 0, syndrome: 0x1F},
			{from: 1, psn: 3, quiet: true, syndrome: 0x1F}, {from: 0, psn: 2, up: 1, msn: 1, syndrome: 0x1F}, {from: 2, psn: 9, up: 2, msn: 2, syndrome: 0x1F}}},
		{"an ACK that is repeated is answered again, one between is not", []step{
			{from: 0, psn: 4, quiet: true, syndrome: 0x1F}, {from: 1, psn: 2, quiet: true, syndrome: 0x1F}, {from: 2, psn: 2, up: 2, msn: 2, syndrome: 0x1F},
			{from: 2, psn: 2, up: 2, msn: 2, syndrome: 0x1F}, {from: 1, psn: 2, up: 2, msn: 2, syndrome: 0x1F}, {from: 0, psn: 2, up: 2, msn: 2, syndrome: 0x1F},
			{from: 0, psn: 0, up: 2, msn: 2, syndrome: 0x1F}, {from: 0, psn: 4, quiet: true, syndrome: 0x1F}, {from: 0, psn: 3, quiet: true, syndrome: 0x1F}}},
		{"17: one has 9 and NAKs 10, another has 4", []step{
			{from: 0, psn: 9, quiet: true, syndrome: 0x1F}, {from: 2, psn: 9, quiet: true, syndrome: 0x1F}, {from: 1, psn: 4, up: 4, msn: 4, syndrome: 0x1F},
			{from: 0, psn: 10, up: 5, msn: 4, syndrome: 0x60}, {from: 0, psn: 10, up: 5, msn: 4, syndrome: 0x60}}},
		{"17 with RNR NAK", []step{
			{from: 0, psn: 9, quiet: true, syndrome: 0x1F}, {from: 2, psn: 9, quiet: true, syndrome: 0x1F}, {from: 1, psn: 4, up: 4, msn: 4, syndrome: 0x1F},
			{from: 0, psn: 10, up: 5, msn: 4, syndrome: 0x2E}}},
		{"a NAK acknowledges what is before it", []step{
			{from: 0, psn: 5, quiet: true, syndrome: 0x1F}, {from: 1, psn: 5, quiet: true, syndrome: 0x1F}, {from: 2, psn: 3, up: 3, msn: 2, syndrome: 0x60},
			{from: 2, psn: 6, up: 6, msn: 5, syndrome: 0x62}}},
		{"before everything", []step{{from: 1, psn: 0, up: 0, msn: -1, syndrome: 0x60}, {from: 1, psn: 0xFFFFFF, up: 0xFFFFFF, msn: -1, syndrome: 0x1F}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, start := range []roce.PSN{0, 0xFFFFFD, 0x7FFFFE} {
				w := newWorld(t, smallParams(), oneWayGroup(CollectiveBroadcast, start))
				for i, s := range tt.steps {
					ack := w.ack(0, s.from, start.Add(int(s.psn.Add(1))-1), s.syndrome)
					ack.MSN = uint32(s.psn) + 1000
					if s.syndrome != 0x1F {
						ack.MSN-- // that of the number before
					}
					kind := map[roce.SyndromeKind]string{roce.SyndromeAck: "RX_ACK", roce.SyndromeNAK: "RX_NAK", roce.SyndromeRNR: "RX_RNR"}[roce.SyndromeKindOf(s.syndrome)]
					want := map[string]uint64{"RX_FRAMES": 1, kind: 1}
					if !s.quiet {
						want["TX_ACK_UP"], want["TX_FRAMES"] = 1, 1
					}
					assert.Equal(t, want, w.counted(func() {
						outs := w.send(ack)
						if s.quiet {
							assert.Empty(t, outs, "step %d", i)
							return
						}
						p := w.one(outs)
						assert.Equal(t, uint32(0x1103), p.DestQP)
						assert.Equal(t, start.Add(int(s.up.Add(1))-1), p.PSN, "step %d", i)
						assert.Equal(t, s.syndrome, p.Syndrome)
						if s.msn < 0 {
							assert.Zero(t, p.MSN, "nobody said anything yet")
						} else {
							assert.Equal(t, uint32(s.msn)+1000, p.MSN, "step %d", i)
						}
					}))
				}
			}
		})
	}
}

// TestOneWayRoles: what has no part in a Reduce or Broadcast is dropped.
func TestOneWayRoles(t *testing.T) {
	tests := []struct {
		name       string
		collective uint8
		change     func(g *Group)
		packet     func(w *world) roce.Packet
		want       string
	}{
		{"Reduce: data from the parent", CollectiveReduce, nil, func(w *world) roce.Packet { return w.data(0, 3, 0, le(1)) }, "DROP_WRONG_ROLE"},
		{"Reduce: data from nobody", CollectiveReduce, nil, func(w *world) roce.Packet { return w.data(0, 4, 0, le(1)) }, "DROP_WRONG_ROLE"},
		{"Reduce: an ACK of a contributor", CollectiveReduce, nil, func(w *world) roce.Packet { return w.ack(0, 1, 0, 0x1F) }, "DROP_WRONG_ROLE"},
		{"Reduce: a reserved syndrome", CollectiveReduce, nil, func(w *world) roce.Packet { return w.ack(0, 3, 0, 0x40) }, "DROP_SYNDROME"},
		{"Reduce: an ACK of another switch", CollectiveReduce, func(g *Group) { g.Parent, g.AckMask = 4, 0x10 },
			func(w *world) roce.Packet { return w.ack(0, 4, 0, 0x1F) }, "TX_ACK_COPY"},
		{"Broadcast: data from a receiver", CollectiveBroadcast, nil, func(w *world) roce.Packet { return w.data(0, 1, 0, le(1)) }, "DROP_WRONG_ROLE"},
		{"Broadcast: data from in_mask", CollectiveBroadcast, func(g *Group) { g.InMask = 2 }, func(w *world) roce.Packet { return w.data(0, 1, 0, le(1)) }, "DROP_WRONG_ROLE"},
		{"Broadcast: in in_mask and the parent", CollectiveBroadcast, func(g *Group) { g.InMask = 8 }, func(w *world) roce.Packet { return w.data(0, 3, 0, le(1)) }, "DOWN_DATA"},
		{"Broadcast: an ACK of the parent", CollectiveBroadcast, nil, func(w *world) roce.Packet { return w.ack(0, 3, 0, 0x1F) }, "DROP_WRONG_ROLE"},
		{"Broadcast: a CNP of the parent", CollectiveBroadcast, nil, func(w *world) roce.Packet { p := w.from(0, 3); p.Op = roce.CNP; return p }, "DROP_WRONG_ROLE"},
		{"Broadcast: an ACK of another switch", CollectiveBroadcast, func(g *Group) { g.OutMask, g.AckMask = 0x10, 0x10 },
			func(w *world) roce.Packet { return w.ack(0, 4, 0, 0x1F) }, "TX_ACK_UP"},
		{"Broadcast: half an element", CollectiveBroadcast, nil, func(w *world) roce.Packet { p := w.data(0, 3, 0, make([]byte, 6)); p.Pad = 2; return p }, "DROP_BAD_LENGTH"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := oneWayGroup(tt.collective, 0)
			if tt.change != nil {
				tt.change(&g)
			}
			w := newWorld(t, smallParams(), g)
			before := w.e.AppendState(nil)
			assert.NotZero(t, w.counted(func() { w.send(tt.packet(w)) })[tt.want])
			if tt.want[:5] == "DROP_" {
				assert.Equal(t, before, w.e.AppendState(nil))
			}
		})
	}
}

// TestFixedControl: in a fixed group a packet that would be a control elsewhere is data like any other.
func TestFixedControl(t *testing.T) {
	w := newWorld(t, smallParams(), oneWayGroup(CollectiveReduce, 0))
	for r := range 3 {
		p := w.data(0, r, 0, nil)
		p.Op, p.Imm = roce.SendOnlyImm, 0xFFFFFFFF
		require.NotZero(t, w.counted(func() { w.send(p) })["AGG"])
	}
}
