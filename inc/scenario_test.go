// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/roce"
)

// The golden frames of EPIC's emulation, made by other software than ours and with their CRCs confirmed by zlib.
const (
	goldenWords = `0200000000020200000000010800 4500003c111140004011153b0a0000650a000001
		12b712b700280000 0400ffff0000001180000005 00000001000000020000000300000004 4175a087`
	goldenBarrier = `0200000000020200000000010800 4500002c111140004011154b0a0000650a000001
		12b712b700180000 0400ffff0000001180ffffff 4297b9e7`
	goldenAck = `0200000000020200000000010800 4500003011114000401115470a0000650a000001
		12b712b7001c0000 1100ffff0000001100000005 1f000006 ab491b31`
)

func golden(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	require.NoError(t, err)
	return b
}

// goldenWorld is an engine whose endpoint 1 of group 0 is the one the golden frames are for.
func goldenWorld(t testing.TB, start roce.PSN) *world {
	p := smallParams()
	e, err := New(p)
	require.NoError(t, err)
	twin, err := New(p)
	require.NoError(t, err)
	w := &world{t: t, e: e, twin: twin}
	g := starGroup(0, start)
	g.InMask, g.OutMask, g.BigEndian = 2, 0, true
	w.configure(func(e *Engine) error {
		return e.SetEndpoint(1, Endpoint{Valid: true, Host: true, Port: 1, LocalQPN: 0x11, RemoteQPN: 0x1101,
			LocalIP: roce.IP4{10, 0, 0, 1}, RemoteIP: roce.IP4{10, 0, 0, 101}})
	})
	w.configure(func(e *Engine) error { return e.SetGroup(0, g) })
	w.configure(func(e *Engine) error { return e.Enable(0) })
	return w
}

func TestScenario01GoldenFrames(t *testing.T) {
	w := goldenWorld(t, 5)
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "AGG": 1, "TX_RESULT": 1, "WIPE": 1},
		w.counted(func() { w.nothing(w.frame(1, golden(t, goldenWords), false)) }))
	assert.Equal(t, []uint32{1, 2, 3, 4}, w.e.kept(&w.e.groups[0].Group, 5, 0, DTypeINT32))
	assert.Equal(t, uint64(1), w.counted(func() { w.frame(1, golden(t, goldenAck), false) })["RX_ACK"])

	w = goldenWorld(t, 0xFFFFFF)
	assert.Equal(t, uint64(1), w.counted(func() { w.frame(1, golden(t, goldenBarrier), false) })["AGG"])
	// The same with the Ethernet padding that real wires need, which is not payload.
	w = goldenWorld(t, 0xFFFFFF)
	assert.Equal(t, uint64(1), w.counted(func() { w.frame(1, append(golden(t, goldenBarrier), 0, 0), false) })["AGG"])
}

func TestScenario01EveryBitFlipped(t *testing.T) {
	frame := golden(t, goldenWords)
	// What each byte's damage is called; from, in bytes of the frame, ascending.
	regions := []struct {
		from int
		want string
	}{
		{0, "AGG"},                   // MAC addresses are not looked at
		{12, "BYPASS"},               // EtherType, version, IHL
		{15, "DROP_IP_CHECKSUM"},     // ToS, total length, ID, flags
		{20, "DROP_IP_CHECKSUM"},     // fragment offset, but see below
		{22, "DROP_IP_CHECKSUM"},     // TTL
		{23, "BYPASS"},               // protocol
		{24, "DROP_IP_CHECKSUM"},     // the checksum itself
		{26, "DROP_FOREIGN"},         // source, destination
		{34, "DROP_ICRC"},            // UDP source port
		{36, "BYPASS"},               // UDP destination port
		{38, "DROP_LENGTH_MISMATCH"}, // UDP length
		{40, "AGG"},                  // UDP checksum: not covered, not looked at
		{42, "DROP_ICRC"},            // opcode, SE, pad, TVer
		{44, "DROP_FOREIGN"},         // P_Key
		{46, "AGG"},                  // FECN, BECN, reserved: not covered
		{47, "BYPASS"},               // destination QPN
		{50, "DROP_ICRC"},            // AckReq, PSN, payload, ICRC
		{len(frame), "the end, so that every region has"}, // one after it
	}
	for i := range len(regions) - 1 {
		for bit := 8 * regions[i].from; bit < 8*regions[i+1].from; bit++ {
			damaged := append([]byte(nil), frame...)
			damaged[bit/8] ^= 1 << (bit % 8)
			want := regions[i].want
			if damaged[20]&0x3F != 0 || damaged[21] != 0 {
				want = "BYPASS" // a fragment
			}
			w := goldenWorld(t, 5)
			before := w.e.AppendState(nil)
			got := w.counted(func() { w.frame(1, damaged, false) })
			require.Equal(t, uint64(1), got[want], "bit %d of byte %d: %v", bit%8, bit/8, got)
			if want != "AGG" {
				require.Equal(t, before, w.e.AppendState(nil), "bit %d of byte %d", bit%8, bit/8)
			}
		}
	}

	// ToS, TTL, UDP checksum and the BTH's reserved byte are not covered by the ICRC: routers may change them, and repair
	// the IP checksum.
	for _, at := range []int{15, 22, 40, 46} {
		changed := append([]byte(nil), frame...)
		changed[at] ^= 0x5A
		icrc := append([]byte(nil), changed[len(changed)-4:]...)
		require.True(t, roce.Reseal(changed))
		require.Equal(t, icrc, changed[len(changed)-4:])
		w := goldenWorld(t, 5)
		require.Equal(t, uint64(1), w.counted(func() { w.frame(1, changed, false) })["AGG"], "byte %d", at)
	}
}

func TestScenario02OneAllReduce(t *testing.T) {
	for name, order := range map[string]binary.ByteOrder{"little-endian": binary.LittleEndian, "big-endian": binary.BigEndian} {
		t.Run(name, func(t *testing.T) {
			g := starGroup(0, 0)
			g.BigEndian = order == binary.ByteOrder(binary.BigEndian)
			w := newWorld(t, smallParams(), g)
			for r := range int32(3) {
				w.nothing(w.send(w.data(0, int(r), 0, words(order, 0, r+1, 2*(r+1), 0x7FFFFFFF, -1, 0x00FFFFFF))))
			}
			outs := w.send(w.data(0, 3, 0, words(order, 0, 4, 8, 5, -5, 0x01000001)))
			require.Len(t, outs, 4)
			for r, out := range outs {
				assert.Equal(t, r, out.Port)
				assert.Equal(t, roce.SendOnly, out.Packet.Op)
				assert.Equal(t, roce.PSN(0), out.Packet.PSN)
				// Element 3 is 3·(2^31−1) + 5 = 6442450946, which is −2147483646 after taking off 2·2^32.
				want := words(order, 0, 10, 20, -2147483646, -8, 0x03FFFFFE)
				assert.Equal(t, want, out.Packet.Payload)
			}
			assert.Equal(t, &Counters{RxFrames: 4, UpData: 4, Agg: 4, Buffered: 3, Wipe: 1, TxResult: 1, TxFanout: 4,
				TxFrames: 4}, &w.e.counters)
		})
	}
}

func TestScenario03Barrier(t *testing.T) {
	g := starGroup(0, 0)
	g.Collective = CollectiveBarrier
	w := newWorld(t, smallParams(), g)
	for psn := range roce.PSN(20) {
		for _, r := range rand.New(rand.NewPCG(1, uint64(psn))).Perm(4)[:3] {
			w.nothing(w.send(w.data(0, r, psn, nil)))
		}
		for r := range 4 { // whoever is missing
			if w.e.groups[0].ends[r].ePSN != psn {
				continue
			}
			outs := w.send(w.data(0, r, psn, nil))
			require.Len(t, outs, 4)
			for _, out := range outs {
				require.Len(t, out.Frame, 60)
				require.Empty(t, out.Packet.Payload)
				require.Equal(t, psn, out.Packet.PSN)
			}
		}
	}
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "DROP_BAD_LENGTH": 1},
		w.counted(func() { w.nothing(w.send(w.data(0, 0, 20, le(1)))) }), "a barrier has no payload")
}

func TestScenario04AckReflection(t *testing.T) {
	tests := []struct {
		name     string
		syndrome uint8
		counter  string
	}{
		{"ACK", 0x1F, "RX_ACK"}, {"ACK with credits", 0x03, "RX_ACK"},
		{"RNR NAK", 0x2C, "RX_RNR"}, {"longest RNR NAK", 0x20, "RX_RNR"},
		{"NAK PSN sequence", 0x60, "RX_NAK"}, {"NAK invalid request", 0x61, "RX_NAK"},
		{"NAK access", 0x62, "RX_NAK"}, {"NAK operational", 0x63, "RX_NAK"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newStar(t)
			for range 2 { // a repeated ACK is a repeated answer
				counted := w.counted(func() {
					p := w.one(w.send(w.ack(0, 2, 0, tt.syndrome)))
					assert.Equal(t, roce.Acknowledge, p.Op)
					assert.Equal(t, roce.PSN(0), p.PSN)
					assert.Equal(t, tt.syndrome, p.Syndrome, "A11: a NAK stays a NAK")
					assert.Equal(t, uint32(77), p.MSN)
					assert.Equal(t, uint32(0x1102), p.DestQP, "back to the host it came from")
				})
				assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, tt.counter: 1, "TX_REFLECT": 1, "TX_FRAMES": 1}, counted)
			}
		})
	}
	t.Run("congestion experienced on the way", func(t *testing.T) {
		w := newStar(t)
		ack := w.ack(0, 2, 0, 0x1F)
		ack.TOS = 3
		p := w.one(w.send(ack))
		assert.True(t, p.CE())
		assert.False(t, p.SE)
	})
	t.Run("CNP", func(t *testing.T) {
		w := newStar(t)
		cnp := w.from(0, 1)
		cnp.Op, cnp.PSN, cnp.BECN, cnp.Payload = roce.CNP, 9, true, []byte("sixteen reserved")
		counted := w.counted(func() {
			p := w.one(w.send(cnp))
			assert.Equal(t, roce.CNP, p.Op)
			assert.Equal(t, roce.PSN(9), p.PSN)
			assert.True(t, p.BECN)
			assert.Equal(t, make([]byte, 16), p.Payload)
			assert.Equal(t, uint32(0x1101), p.DestQP)
		})
		assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "RX_CNP": 1, "TX_CNP": 1, "TX_FRAMES": 1}, counted)
	})
}

// round has ranks contribute at a PSN, one after the other, and returns what left at the end.
func (w *world) round(psn roce.PSN, ranks ...int) (outs []Out) {
	w.t.Helper()
	for _, r := range ranks {
		outs = w.send(w.data(0, r, psn, contribution(r, psn, 4)))
	}
	return outs
}

// result asserts that what left are the right results for PSN psn, to the given ranks.
func (w *world) result(outs []Out, psn roce.PSN, ranks ...int) {
	w.t.Helper()
	require.Len(w.t, outs, len(ranks))
	for i, out := range outs {
		require.Equal(w.t, ranks[i], out.Port)
		require.Equal(w.t, psn, out.Packet.PSN)
		require.Equal(w.t, sumOf(4, psn, 4), out.Packet.Payload)
	}
}

func TestScenario05CumulativeAck(t *testing.T) {
	w := newStar(t)
	for psn := range roce.PSN(10) {
		w.result(w.round(psn, 0, 1, 2, 3), psn, 0, 1, 2, 3)
	}
	p := w.one(w.send(w.ack(0, 1, 9, 0x1F)))
	assert.Equal(t, roce.PSN(9), p.PSN)
	assert.Equal(t, roce.PSN(9), w.e.groups[0].ends[1].acked)
	w.send(w.ack(0, 1, 4, 0x1F)) // late
	assert.Equal(t, roce.PSN(9), w.e.groups[0].ends[1].acked, "an old ACK takes nothing back")
	assert.Equal(t, roce.PSN(0xFFFFFF), w.e.groups[0].ends[0].acked, "nor does it speak for others")
}

func TestScenario06DuplicateBeforeCompletion(t *testing.T) {
	w := newWorld(t, smallParams(), starGroup(0, 5))
	w.nothing(w.round(5, 0))
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_STALE": 1},
		w.counted(func() { w.nothing(w.round(5, 0)) }))
	w.result(w.round(5, 1, 2, 3), 5, 0, 1, 2, 3)
}

func TestScenario07DuplicateAfterCompletion(t *testing.T) {
	w := newStar(t)
	for psn := range roce.PSN(4) {
		w.result(w.round(psn, 0, 1, 2, 3), psn, 0, 1, 2, 3)
	}
	before := w.e.AppendState(nil)
	assert.Equal(t, map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "TX_RESEND": 1, "TX_FRAMES": 1},
		w.counted(func() { w.result(w.round(3, 3), 3, 3) }))
	assert.Equal(t, before, w.e.AppendState(nil), "a retransmission changes nothing")

	// A fast sibling already uses the slot half a ring ahead: that must not cost rank 3 its result (A2).
	for psn := roce.PSN(4); psn < 8; psn++ {
		w.nothing(w.round(psn, 0))
		w.result(w.round(3, 3), 3, 3)
	}
	// When PSN 7 = 3+MW is complete, nobody needs slot 3 any more. It is used again when somebody sends PSN 11.
	for psn := roce.PSN(4); psn < 8; psn++ {
		w.result(w.round(psn, 1, 2, 3), psn, 0, 1, 2, 3)
	}
	for psn := roce.PSN(8); psn < 12; psn++ {
		w.result(w.round(3, 3), 3, 3)
		w.nothing(w.round(psn, 0))
	}
	assert.Equal(t, uint64(1), w.counted(func() { w.nothing(w.round(3, 3)) })["DROP_STALE"])
}

func TestScenario08NoSecondRecycle(t *testing.T) {
	w := newStar(t)
	w.result(w.round(0, 0, 1, 2, 3), 0, 0, 1, 2, 3) // rank 1 loses its copy
	for psn := roce.PSN(1); psn <= 4; psn++ {       // rank 0 goes on up to 0+MW
		w.nothing(w.round(psn, 0))
	}
	w.result(w.round(0, 1), 0, 1) // must not wipe slot 4 (A3)
	for psn := roce.PSN(1); psn <= 4; psn++ {
		w.result(w.round(psn, 1, 2, 3), psn, 0, 1, 2, 3)
	}
}

func TestScenario09SlotReuse(t *testing.T) {
	for _, start := range []roce.PSN{0, 3, 0xFFFFF0, 0x7FFFFC} {
		w := newWorld(t, smallParams(), starGroup(0, start))
		const n = 10 * 8
		r := rand.New(rand.NewPCG(9, uint64(start)))
		done, sent := 0, [4]int{}
		for done < n {
			rank := r.IntN(4)
			if sent[rank] == n || sent[rank]-done >= 4 {
				continue
			}
			outs := w.round(start.Add(sent[rank]), rank)
			sent[rank]++
			if len(outs) > 0 {
				w.result(outs, start.Add(done), 0, 1, 2, 3)
				done++
			}
		}
		// The identities of a lossless run on the root of a star with R = 4 children.
		assert.Equal(t, Counters{RxFrames: 4 * n, UpData: 4 * n, Agg: 4 * n, Buffered: 3 * n, Wipe: n, TxResult: n,
			TxFanout: 4 * n, TxFrames: 4 * n}, w.e.Counters())
	}
}

func TestScenario10StaleAlias(t *testing.T) {
	w := newStar(t)
	const mw = 4
	for psn := range roce.PSN(2 * mw) { // p = 0; p+2MW−1 has completed
		w.result(w.round(psn, 0, 1, 2, 3), psn, 0, 1, 2, 3)
	}
	state := w.e.AppendState(nil)
	drop := map[string]uint64{"RX_FRAMES": 1, "UP_DATA": 1, "DROP_STALE": 1}
	w.result(w.round(0, 0), 0, 0) // nobody has used its slot again
	assert.Equal(t, state, w.e.AppendState(nil))
	w.nothing(w.round(2*mw, 1))
	assert.Equal(t, drop, w.counted(func() { w.nothing(w.round(0, 0)) }))
	w.nothing(w.round(2*mw, 2))
	assert.Equal(t, drop, w.counted(func() { w.nothing(w.round(0, 0)) }), "nor is it added to the slot's new PSN")
	w.result(w.round(2*mw, 0, 3), 2*mw, 0, 1, 2, 3)
	assert.Equal(t, drop, w.counted(func() { w.nothing(w.round(0, 0)) }), "nor answered with the slot's new result (A4)")
	w.result(w.round(2*mw, 2), 2*mw, 2)
}

func TestScenario18Wrap(t *testing.T) {
	w := newWorld(t, smallParams(), starGroup(0, 0xFFFFFE))
	for _, psn := range []roce.PSN{0xFFFFFE, 0xFFFFFF, 0, 1} {
		w.result(w.round(psn, 0, 1, 2, 3), psn, 0, 1, 2, 3)
		w.send(w.ack(0, 2, psn, 0x1F))
		assert.Equal(t, psn, w.e.groups[0].ends[2].acked, "0 comes after 0xFFFFFF (A18)")
		w.send(w.ack(0, 2, 0xFFFFFE, 0x1F))
		assert.Equal(t, psn, w.e.groups[0].ends[2].acked, "and 0xFFFFFE before it")
	}
	w.result(w.round(0xFFFFFF, 1), 0xFFFFFF, 1) // a retransmission from before the wrap is one
	assert.Equal(t, uint64(1), w.counted(func() { w.round(3, 1) })["DROP_GAP"])
	w.result(w.round(2, 1, 0, 2, 3), 2, 0, 1, 2, 3)
}
