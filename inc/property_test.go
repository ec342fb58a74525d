// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"incforge/roce"
)

// randomPacket is a packet for group g that makes sense more often than not: near the window, mostly whole messages,
// mostly from members.
func (w *world) randomPacket(r *rand.Rand, g int) roce.Packet {
	if w.e.groups[g].InBand && r.IntN(3) != 0 {
		return w.randomInBand(r, g)
	}
	e := r.IntN(w.e.params.Members + 1)
	near := w.e.groups[g].ends[e].ePSN.Add([]int{0, 0, 0, 0, 0, 0, -1, -2, -4, -8, 1, 2, 8}[r.IntN(13)])
	switch r.IntN(8) {
	case 0:
		return w.ack(g, e, near.Prev(), []uint8{0x1F, 0x1F, 0x60, 0x2C, 0x61, 0x40, 0x00}[r.IntN(7)])
	case 1:
		p := w.from(g, e)
		p.Op, p.PSN, p.BECN = roce.CNP, near, true
		return p
	}
	n := []int{16, 16, 16, 16, 16, 16, 16, 64, 0, 68, 14}[r.IntN(11)]
	p := w.data(g, e, near, contribution(e, near, 17)[:n])
	p.Pad = uint8(-n & 3)
	p.TOS = uint8(r.IntN(4))
	p.SE = r.IntN(8) == 0
	if r.IntN(8) == 0 {
		p.Op, p.Imm = roce.Opcode(r.IntN(8)), r.Uint32()
	}
	return p
}

// randomInBand is a packet for an in-band group: controls that open a range or belong to the current one, and some that do not;
// data, ACKs and CNPs in and around the two ranges.
func (w *world) randomInBand(r *rand.Rand, number int) roce.Packet {
	g, e := &w.e.groups[number], r.IntN(w.e.params.Members+1)
	s := &g.current
	if r.IntN(4) == 0 {
		s = &g.previous
	}
	switch r.IntN(8) {
	case 0:
		c := Control{Collective: uint8(r.IntN(5)), Op: uint8(r.IntN(3)), DType: uint8(r.IntN(4)), Root: uint8(r.IntN(5)), Packets: r.IntN(7)}
		return w.control(number, e, g.base(e).Add([]int{0, 0, 0, 0, 1, -1}[r.IntN(6)]), c)
	case 1, 2, 3:
		p := w.control(number, e, s.first.Add(s.offsets[e].in), ControlOf(s.immediate))
		if r.IntN(10) == 0 {
			p.Imm ^= 1 << r.IntN(32)
		}
		return p
	case 4:
		return w.ack(number, e, s.first.Add(s.offsets[e].out+r.IntN(s.packets()+3)-1), []uint8{0x1F, 0x1F, 0x60, 0x2C, 0x40}[r.IntN(5)])
	}
	psn := g.ends[e].ePSN.Add([]int{0, 0, 0, 0, -1, -2, 1}[r.IntN(7)])
	length := []int{16, 16, 16, 14}[r.IntN(4)]
	if s.collective == CollectiveBarrier {
		length = 0
	}
	p := w.data(number, e, psn, contribution(e, psn, 4)[:length])
	p.Pad = uint8(-length & 3)
	return p
}

// mutate damages a frame: bits, bytes, length, or several of them.
func mutate(r *rand.Rand, frame []byte) []byte {
	for range 1 + r.IntN(3) {
		at := r.IntN(len(frame))
		switch r.IntN(6) {
		case 0, 1:
			frame[at] ^= 1 << r.IntN(8)
		case 2:
			frame[at] = byte(r.Uint32())
		case 3:
			copy(frame[at:], frame[r.IntN(len(frame)):])
		case 4:
			frame = frame[:max(1, at)]
		case 5:
			frame = append(frame, make([]byte, r.IntN(20))...)
		}
	}
	if r.IntN(4) == 0 {
		roce.Reseal(frame) // wrong in what it says, right in its check sums
	}
	return frame
}

// TestMutatedFrames: 200,000 frames of traffic in two groups, three in four damaged. What another decoder and the ICRC
// find wrong changes no state and makes nothing but, at most, itself leave; and what is dropped changes no state, but
// for the note that a gap was answered.
func TestMutatedFrames(t *testing.T) {
	counters := testMutatedFrames(t, newWorld(t, smallParams(), starGroup(0, 0xFFFF00), starGroup(1, 0)), 200_000)
	for c := DropForeign; c <= DropShape; c++ {
		if c != DropGroupDisabled && c != DropRxError {
			require.NotZero(t, counters[c], "%v: the traffic is not as wild as it should be", c)
		}
	}
}

// TestMutatedFramesInBand is the same for in-band groups, one of them with a parent.
func TestMutatedFramesInBand(t *testing.T) {
	counters := testMutatedFrames(t, newWorld(t, inBandParams(), inBandStar(0, 0xFFFF00), inBandLeaf(1, 0)), 100_000)
	for c := DropRange; c <= DropStaleAck; c++ {
		require.NotZero(t, counters[c], "%v: the traffic is not as wild as it should be", c)
	}
	for _, c := range []Counter{RangeOpen, TxReack, TxAckCopy, TxAckUp, TxResend, TxGapNak, DropGap, DropWrongRole, TxCnp} {
		require.NotZero(t, counters[c], "%v", c)
	}
}

func testMutatedFrames(t *testing.T, w *world, frames int) Counters {
	t.Helper()
	r := rand.New(rand.NewPCG(2026, 18))
	invalid, valid := 0, 0
	var before, after []byte
	for range frames {
		p := w.randomPacket(r, r.IntN(2))
		frame := p.AppendFrame(nil)
		if r.IntN(4) != 0 {
			frame = mutate(r, frame)
		}
		port := w.e.table[int(p.DestQP)%len(w.e.table)].Port
		_, err := roce.Decode(frame)
		bad := err != nil || !roce.CheckICRC(frame)
		before = w.e.AppendState(before[:0])
		drops := w.e.Counters()
		outs := w.e.Handle(0, port, frame, false)
		after = w.e.AppendState(after[:0])
		for c := range NumCounters {
			if c.drops() && w.e.counters[c] != drops[c] && c != DropGap && c != DropRange && !bytes.Equal(before, after) {
				require.Fail(t, "a dropped frame changed the state", "%v: %x", c, frame)
			}
		}
		if !bad {
			valid++
			continue
		}
		invalid++
		if !bytes.Equal(before, after) || len(outs) > 1 || len(outs) == 1 && !outs[0].Bypass {
			require.Fail(t, "an invalid frame left a trace", "%x", frame)
		}
	}
	counters := w.e.Counters()
	require.NoError(t, counters.CheckIdentities(w.up, w.down))
	require.Greater(t, invalid, frames/2)
	require.Greater(t, valid, frames/5)
	require.NotZero(t, counters[TxResult], "and it must get somewhere")
	return counters
}

// TestIsolation: whatever happens on one group's endpoints, and whatever garbage arrives, another group's state stays.
func TestIsolation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, smallParams(), starGroup(0, 0), starGroup(1, 0))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for range 10 {
			w.send(w.randomPacket(r, 1))
		}
		before := w.e.AppendGroupState(nil, 1)
		kinds := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 60).Draw(rt, "kinds")
		for _, kind := range kinds {
			port := r.IntN(5)
			switch kind {
			case 0: // noise
				w.frame(port, rapid.SliceOfN(rapid.Byte(), 0, 120).Draw(rt, "noise"), false)
			case 1: // group 1's own frames, damaged on the way
				f := bytesOf(w.randomPacket(r, 1))
				f[42+r.IntN(4)] ^= 0x10 // opcode to P_Key
				w.frame(port, f, r.IntN(2) == 0)
				f = bytesOf(w.randomPacket(r, 1))
				w.frame(port, f, true)
			case 2: // someone else speaking to group 1
				p := w.randomPacket(r, 1)
				p.SrcIP = roce.IP4{10, 0, 2, 0}
				w.send(p)
			case 3:
				w.configure(func(e *Engine) error { return e.Reset(0) })
			default:
				w.send(w.randomPacket(r, 0))
			}
		}
		if after := w.e.AppendGroupState(nil, 1); string(after) != string(before) {
			rt.Fatalf("group 1 was %x, is %x", before, after)
		}
	})
}

// TestStateRoundTrip: an engine restored from another one's state goes on as that one does, and the state of what was
// restored is the same bytes again.
func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := func(name string, most uint8) uint8 { return rapid.Uint8Range(0, most).Draw(rt, name) }
		groups := []Group{
			typedGroup(0, roce.PSN(rapid.Uint32Range(0, 1<<24-1).Draw(rt, "start")), kind("dtype 0", 3), kind("op 0", 2)),
			typedGroup(1, 0xFFFFFE, kind("dtype 1", 3), kind("op 1", 2)),
		}
		groups[0].Collective = kind("collective 0", 3)
		groups[0].Parent, groups[0].HasParent = 3, groups[0].Collective == CollectiveReduce || groups[0].Collective == CollectiveBroadcast
		groups[1].Parent, groups[1].HasParent = 4, true
		params := typedParams(4, rapid.Bool().Draw(rt, "reproducible"))
		params.InBand = true
		if rapid.Bool().Draw(rt, "in-band") {
			groups[1] = inBandStar(1, groups[1].Start)
			groups[1].RootSends = rapid.Bool().Draw(rt, "root sends")
		}
		w := newWorld(t, params, groups...)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		run := func(e *Engine, p roce.Packet) []Out {
			port := e.table[int(p.DestQP)%len(e.table)].Port
			return e.Handle(0, port, bytesOf(p), false)
		}
		for range rapid.IntRange(0, 200).Draw(rt, "before") {
			run(w.e, w.randomPacket(r, r.IntN(2)))
		}
		if rapid.Bool().Draw(rt, "disabled") {
			require.NoError(t, w.e.Disable(1))
		}
		state := w.e.AppendState(nil)

		other := newWorld(t, params, groups...)
		for range 50 { // it held something else
			run(other.e, other.randomPacket(r, r.IntN(2)))
		}
		require.NoError(t, other.e.Restore(state))
		require.Equal(t, state, other.e.AppendState(nil))
		for range 100 {
			p := w.randomPacket(r, r.IntN(2))
			require.Equal(t, run(w.e, p), run(other.e, p))
		}
		require.Equal(t, w.e.AppendState(nil), other.e.AppendState(nil))
	})
}

// TestStateIsCanonical: what a slot held before it was recycled is no part of the state.
func TestStateIsCanonical(t *testing.T) {
	states := make([][]byte, 2)
	for i := range states {
		w := newStar(t)
		for psn := range roce.PSN(8) {
			for r := range 4 {
				w.send(w.data(0, r, psn, contribution(r+5*i, psn, 4)))
			}
		}
		for psn := roce.PSN(8); psn < 16; psn++ {
			w.round(psn, 0, 1, 2, 3)
		}
		states[i] = w.e.AppendState(nil)
	}
	require.Equal(t, states[0], states[1])
}

func TestRestoreRefuses(t *testing.T) {
	w := newStar(t)
	w.round(0, 0, 1, 2, 3)
	w.round(1, 0, 1)
	state := w.e.AppendState(nil)
	const slots = 1 + 3 + 5*13 // where group 0's slots begin
	tests := []struct {
		name   string
		change func(b []byte) []byte
	}{
		{"nothing", func([]byte) []byte { return nil }},
		{"cut short", func(b []byte) []byte { return b[:len(b)-1] }},
		{"too long", func(b []byte) []byte { return append(b, 0) }},
		{"enabled is neither", func(b []byte) []byte { b[0] = 2; return b }},
		{"nakSent is neither", func(b []byte) []byte { b[4+12] = 3; return b }},
		{"a tag of another slot", func(b []byte) []byte { b[slots+3]++; return b }},
		{"a flag nobody knows", func(b []byte) []byte { b[slots] |= 0x80; return b }},
		{"a result in an unused slot", func(b []byte) []byte { b[slots] &^= flagUsed; return b }},
		{"nobody contributed", func(b []byte) []byte { b[slots+7] = 0; return b }},
		{"contributions from outside in_mask", func(b []byte) []byte { b[slots+7] |= 0x10; return b }},
		{"complete too early", func(b []byte) []byte { b[slots+7] = 7; return b }},
		{"not complete", func(b []byte) []byte { b[slots] &^= flagComplete; return b }},
		{"no data opcode", func(b []byte) []byte { b[slots+8] = 0x11; return b }},
		{"longer than a slot", func(b []byte) []byte { b[slots+9] = 1; return b }},
		{"pad count", func(b []byte) []byte { b[slots+11] = 4; return b }},
		{"immediate without one", func(b []byte) []byte { b[slots+15] = 1; return b }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := newStar(t)
			other.round(0, 2)
			before := other.e.AppendState(nil)
			require.ErrorIs(t, other.e.Restore(tt.change(append([]byte(nil), state...))), ErrState)
			require.Equal(t, before, other.e.AppendState(nil), "a state refused changes nothing")
		})
	}
	e, err := New(smallParams())
	require.NoError(t, err)
	require.ErrorIs(t, e.Restore(state), ErrState, "an enabled group in an engine without settings for it")
	require.NoError(t, e.Restore([]byte{0, 0}))
}

// FuzzHandle feeds arbitrary frames, one after the other, cut from the input: a byte for the port and the error bit,
// one for the length. The first byte of all is the kind of the engine.
func FuzzHandle(f *testing.F) {
	seed := newStar(f)
	var all []byte
	for _, p := range []roce.Packet{seed.data(0, 0, 0, le(1, 2)), seed.ack(0, 1, 0, 0x60), seed.data(1, 2, 1, nil), seed.control(1, 0, 0, reduceTo(3, 2)),
		seed.control(1, 1, 0, reduceTo(3, 2)), seed.data(1, 0, 1, le(3)), seed.data(1, 1, 1, le(4)), seed.ack(1, 4, 1, 0x1F), seed.control(1, 4, 0, broadcastFrom(2, 1))} {
		frame := bytesOf(p)
		all = append(all, byte(seed.e.table[int(p.DestQP)%16].Port), byte(len(frame)))
		all = append(all, frame...)
	}
	for kind := range 256 {
		f.Add(append([]byte{byte(kind)}, all...))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var kind byte
		if len(input) > 0 {
			kind, input = input[0], input[1:]
		}
		params := typedParams(4, kind&1 != 0)
		params.ICRCCheck, params.InBand = false, true // a fuzzer finds no CRCs
		child := typedGroup(1, 0xFFFFFF, kind>>1&3, kind>>3&3%3)
		child.Parent, child.HasParent = 4, true
		if kind>>7 != 0 { // in place of types
			child, params.Reproducible = inBandLeaf(1, 0), false
			child.RootSends = kind&1 != 0
		}
		w := newWorld(t, params, typedGroup(0, 0, kind>>5&3, kind>>6&1), child)
		for len(input) >= 2 {
			n := min(int(input[1]), len(input)-2)
			w.e.Handle(0, int(input[0]&0x7F), append([]byte(nil), input[2:2+n]...), input[0]&0x80 != 0)
			input = input[2+n:]
		}
		state := w.e.AppendState(nil)
		require.NoError(t, w.twin.Restore(state), "every state reached can be restored")
		require.Equal(t, state, w.twin.AppendState(nil))
	})
}

// FuzzRestore: no bytes break Restore, and what it takes it gives back.
func FuzzRestore(f *testing.F) {
	kinds := func(t testing.TB, kind byte) *world {
		if kind>>7 != 0 {
			return newWorld(t, inBandParams(), inBandStar(0, 0), inBandLeaf(1, 0xFFFFF0))
		}
		return newWorld(t, typedParams(4, kind&1 != 0), typedGroup(0, 0, kind>>1&3, kind>>3&1), typedGroup(1, 0, kind>>4&3, kind>>6&1))
	}
	for kind := range 256 {
		w := kinds(f, byte(kind))
		f.Add(byte(kind), w.e.AppendState(nil))
		if kind >= 128 {
			w.send(w.control(0, 0, 0, allReduceOf(3)))
			f.Add(byte(kind), w.e.AppendState(nil))
			w.send(w.control(1, 4, 0xFFFFF0, broadcastFrom(3, 1)))
			w.send(w.control(1, 0, 0xFFFFF0, reduceTo(1, 1)))
		}
		w.round(0, 0, 1, 2, 3)
		w.round(1, 0)
		f.Add(byte(kind), w.e.AppendState(nil))
		f.Add(byte(kind), []byte{0, 0})
	}
	f.Fuzz(func(t *testing.T, kind byte, input []byte) {
		w := kinds(t, kind)
		if w.e.Restore(input) == nil {
			require.Equal(t, input, w.e.AppendState(nil))
		}
	})
}

// benchmarkTraffic is rounds of an AllReduce of 1 KB packets by eight members, as packets.
func benchmarkTraffic(b *testing.B) (*Engine, []roce.Packet) {
	b.Helper()
	p := Params{Groups: 1, Members: 8, Ports: 8, MTU: 1024, Slots: 64, ICRCCheck: true, DTypes: 1 << DTypeINT32, Ops: 1 << OpSum}
	e, err := New(p)
	require.NoError(b, err)
	for m := range 8 {
		require.NoError(b, e.SetEndpoint(m, endpointAt(p, 0, m)))
	}
	require.NoError(b, e.SetGroup(0, Group{Log2N: 6, InMask: 0xFF, OutMask: 0xFF, AckMask: 0xFF, DType: DTypeINT32}))
	require.NoError(b, e.Enable(0))
	w := &world{e: e}
	var packets []roce.Packet
	for psn := range roce.PSN(64) {
		for m := range 8 {
			packets = append(packets, w.data(0, m, psn, contribution(m, psn, 256)))
		}
	}
	return e, packets
}

// BenchmarkHandle counts a frame in, its share of the results out included.
func BenchmarkHandle(b *testing.B) {
	e, packets := benchmarkTraffic(b)
	frames := make([][]byte, len(packets))
	for i, p := range packets {
		frames[i] = bytesOf(p)
	}
	b.SetBytes(int64(len(frames[0])))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == len(frames) {
			i = 0
			require.NoError(b, e.Reset(0))
		}
		e.Handle(0, i%8, frames[i], false)
		i++
	}
	counters := e.Counters()
	require.Equal(b, counters[RxFrames], counters[Agg])
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkStep is BenchmarkHandle without frames.
func BenchmarkStep(b *testing.B) {
	e, packets := benchmarkTraffic(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == len(packets) {
			i = 0
			require.NoError(b, e.Reset(0))
		}
		e.Step(0, i%8, packets[i])
		i++
	}
	counters := e.Counters()
	require.Equal(b, counters[RxFrames], counters[Agg])
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}
