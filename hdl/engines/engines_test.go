// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/internal/testcost"
	"incforge/sim"
	"incforge/sim/axil"
	"incforge/sim/axis"
)

const (
	ports, nEngines = 3, 3
	eiBits          = 5
	headerBytes     = 54
)

func compile(t *testing.T, bytes, tags int) *sim.Lib {
	t.Helper()
	files, err := filepath.Glob("*.v")
	require.NoError(t, err)
	files = append(files, "../stream/inc_fifo.v", "../stream/inc_skid.v", "testdata/t_engines.v")
	lib, err := sim.Build{Top: "t_engines", Brief: true, Files: files, Params: map[string]string{"BYTES": fmt.Sprint(bytes), "TAGS": fmt.Sprint(tags)}, Flags: []string{"-Wno-WIDTH"}}.
		Compile(testcost.Context(t))
	require.NoError(t, err)
	return lib
}

// bench is the model with what drives and takes its ports.
type bench struct {
	*sim.Model
	src  []*axis.Source
	snk  []*axis.Sink
	bus  *axil.Master
	sent [][]axis.Frame // with the cycles in which they were sent
}

func newBench(t *testing.T, lib *sim.Lib, seed uint64, in, back func(port int) axis.Pause) *bench {
	t.Helper()
	m, err := lib.New(sim.Options{Random: true, Seed: seed})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	b := &bench{Model: m, sent: make([][]axis.Frame, ports)}
	for p := range ports {
		src, err := axis.NewSource(m, fmt.Sprintf("s_p%d", p))
		require.NoError(t, err)
		src.SetPause(in(p))
		src.OnSent(func(f *axis.Frame) { b.sent[p] = append(b.sent[p], *f) })
		snk, err := axis.NewSink(m, fmt.Sprintf("m_p%d", p))
		require.NoError(t, err)
		snk.SetPause(back(p))
		b.src, b.snk = append(b.src, src), append(b.snk, snk)
	}
	b.bus, err = axil.New(m, "s_axil")
	require.NoError(t, err)
	require.NoError(t, m.ResetFor(2))
	for p := range ports { // as the engines that are wires do: a port further than engine 2 would
		require.NoError(t, b.bus.WriteReg(contract.BypassBase+4*uint64(p), uint32((p+nEngines+1)%ports)))
	}
	return b
}

func never(int) axis.Pause { return nil }

// packet is a frame of a port to an engine, by its QPN.
func packet(r *rand.Rand, n, engine int) []byte {
	f := make([]byte, n)
	for i := range f {
		f[i] = byte(r.Uint32())
	}
	if n < headerBytes {
		return f
	}
	copy(f[12:], []byte{0x08, 0x00, 0x45})
	f[20], f[21], f[23], f[36], f[37] = f[20]&0xC0, 0, 17, 0x12, 0xB7
	qpn := r.Uint32()&0xFFFFFF&^(3<<eiBits) | uint32(engine)<<eiBits
	f[47], f[48], f[49] = byte(qpn>>16), byte(qpn>>8), byte(qpn)
	return f
}

// way is where docs/engines.md sends a frame.
func way(f []byte) int {
	if len(f) < headerBytes || binary.BigEndian.Uint16(f[12:]) != 0x0800 || f[14] != 0x45 || binary.BigEndian.Uint16(f[20:])&0x3FFF != 0 || f[23] != 17 ||
		binary.BigEndian.Uint16(f[36:]) != 4791 {
		return nEngines
	}
	return min(int(f[48])<<8|int(f[49]), 1<<16) >> eiBits & 3
}

// tagged is a frame with an 802.1Q tag, of which the first bytes are id.
func tagged(r *rand.Rand, f []byte, id ...byte) []byte {
	return slices.Concat(f[:12], id, []byte{byte(r.Uint32()), byte(r.Uint32())}, f[12:])
}

// wayBehind is where docs/vlan.md sends a frame.
func wayBehind(f []byte) int {
	if len(f) >= 16 && binary.BigEndian.Uint16(f[12:]) == 0x8100 {
		f = slices.Concat(f[:12], f[16:])
	}
	return way(f)
}

// foreign are frames that miss being a packet of ours by one byte, each of them in a bit.
func foreign(r *rand.Rand) (out [][]byte) {
	for _, at := range []int{12, 13, 14, 20, 21, 23, 36, 37} {
		bits := byte(0xFF)
		if at == 20 {
			bits = 0x3F
		}
		for bit := range 8 {
			if bits>>bit&1 != 0 {
				f := packet(r, 60+r.IntN(40), r.IntN(nEngines))
				f[at] ^= 1 << bit
				out = append(out, f)
			}
		}
	}
	return out
}

// tags adds to frames those with a tag, with two, and with what is nearly one.
func tags(r *rand.Rand, frames [][]byte) [][]byte {
	for _, f := range foreign(r) {
		frames = append(frames, tagged(r, f, 0x81, 0x00))
	}
	for n := 12; n < 140; n++ {
		frames = append(frames, tagged(r, packet(r, n, r.IntN(nEngines+1)), 0x81, 0x00))
	}
	for bit := range 8 {
		frames = append(frames, tagged(r, packet(r, 70, 1), 0x81^1<<bit, 0x00), tagged(r, packet(r, 70, 1), 0x81, 1<<bit))
	}
	return append(frames, tagged(r, tagged(r, packet(r, 70, 1), 0x81, 0x00), 0x81, 0x00), tagged(r, packet(r, 70, 1), 0x88, 0xA8))
}

// TestWays: every frame leaves whole by the port that its engine, or the way round them, sends it to, and those of a port and a way keep their
// order, whatever pauses.
func TestWays(t *testing.T) {
	t.Parallel()
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		testWays(t, 0, way, func(_ *rand.Rand, frames [][]byte) [][]byte { return frames })
	})
	t.Run("tags", func(t *testing.T) {
		t.Parallel()
		testWays(t, 1, wayBehind, tags)
	})
}

func testWays(t *testing.T, tags int, way func([]byte) int, others func(*rand.Rand, [][]byte) [][]byte) {
	for _, bytes := range []int{8, 64} {
		lib := compile(t, bytes, tags)
		for seed := range uint64(4) {
			pause := func(p int) axis.Pause {
				if seed == 0 {
					return nil
				}
				return axis.Probability(seed*10+uint64(p), 0.3)
			}
			b := newBench(t, lib, seed, pause, func(p int) axis.Pause { return pause(p + ports) })
			r := rand.New(rand.NewPCG(seed, uint64(bytes)))
			want := map[string][][]byte{} // by port in, way and port out
			round := 0
			for p := range ports {
				frames := foreign(r)
				for n := 1; n < 140; n++ {
					frames = append(frames, packet(r, n, r.IntN(nEngines+1)))
				}
				frames = others(r, frames)
				r.Shuffle(len(frames), func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
				for _, f := range frames {
					w := way(f)
					f[0] = byte(p<<4 | w) // which of them the order is of
					key := fmt.Sprint(p, w, (p+w+1)%ports)
					want[key] = append(want[key], f)
					require.NoError(t, b.src[p].Send(axis.Frame{Data: f, User: uint64(len(f) & 1)}))
					if w == nEngines {
						round++
					}
				}
			}
			left := func() int { return b.src[0].Pending() + b.src[1].Pending() + b.src[2].Pending() }
			require.NoError(t, b.Run(60000, func() bool { return left() == 0 }))
			for range 300 {
				require.NoError(t, b.Tick())
			}
			got := map[string][][]byte{}
			for p := range ports {
				for f, ok := b.snk[p].Recv(); ok; f, ok = b.snk[p].Recv() {
					key := fmt.Sprint(f.Data[0]>>4, f.Data[0]&15, p)
					got[key] = append(got[key], f.Data)
					require.Equal(t, uint64(len(f.Data)&1), f.User)
				}
			}
			require.Equal(t, want, got, "%d bytes, seed %d", bytes, seed)
			low, err := b.bus.ReadReg(contract.CounterBase)
			require.NoError(t, err)
			assert.Equal(t, uint32(0xFFFFFF00*3&0xFFFFFFFF+3+round), low)
			n, err := b.bus.ReadReg(contract.SwitchBase + 4)
			require.NoError(t, err)
			assert.Equal(t, uint32(round), n)
		}
	}
}

// TestTime: a frame's first beat leaves one cycle after the beat that decides, and ports that want different ways take a beat a cycle each.
func TestTime(t *testing.T) {
	t.Parallel()
	for _, shape := range []struct{ bytes, tags int }{{8, 0}, {64, 0}, {8, 1}} {
		bytes, needs := shape.bytes, headerBytes+4*shape.tags
		b := newBench(t, compile(t, bytes, shape.tags), 1, never, never)
		r := rand.New(rand.NewPCG(1, 2))
		for n := 1; n < 3*headerBytes; n++ {
			f := packet(r, n, 1)
			require.NoError(t, b.src[0].Send(axis.Frame{Data: f}))
			require.NoError(t, b.Run(200, func() bool { return b.snk[0].Len()+b.snk[1].Len()+b.snk[2].Len() == 1 }))
			in := b.sent[0][len(b.sent[0])-1]
			decides := in.First + uint64((min(n, needs)+bytes-1)/bytes) - 1
			got, _ := b.snk[(way(f)+1)%ports].Recv()
			require.NotNil(t, got)
			require.Equal(t, decides+1, got.First, "%d bytes at %d", n, bytes)
		}
		const frames, length = 100, 128
		for p := range ports { // each to its own engine, and by its own port
			for range frames {
				require.NoError(t, b.src[p].Send(axis.Frame{Data: packet(r, length, p)}))
			}
		}
		require.NoError(t, b.Run(10000, func() bool { return b.snk[0].Len()+b.snk[1].Len()+b.snk[2].Len() == ports*frames }))
		for p := range ports {
			sent := b.sent[p][len(b.sent[p])-frames:]
			require.Equal(t, uint64(frames*length/bytes), sent[frames-1].Last-sent[0].First+1, "a beat a cycle into port %d", p)
		}
	}
}

// TestFair: ports that want one engine get it frame by frame in turn.
func TestFair(t *testing.T) {
	t.Parallel()
	b := newBench(t, compile(t, 8, 0), 2, never, never)
	r := rand.New(rand.NewPCG(3, 4))
	const frames = 30
	for p := range ports {
		for range frames {
			require.NoError(t, b.src[p].Send(axis.Frame{Data: packet(r, 64, 0)}))
		}
	}
	require.NoError(t, b.Run(10000, func() bool { return b.snk[0].Len()+b.snk[1].Len()+b.snk[2].Len() == ports*frames }))
	for i := range frames - 1 {
		for p := range ports {
			later := b.sent[(p+1)%ports][i+1].Last
			require.Less(t, b.sent[p][i].Last, later, "port %d, frame %d", p, i)
		}
	}
}

// TestRegisters: whom an access reaches, what comes back, and that sums carry.
func TestRegisters(t *testing.T) {
	t.Parallel()
	b := newBench(t, compile(t, 8, 0), 3, never, never)
	window := func(e int) uint64 { return uint64(e+1) << 16 }
	read := func(addr uint64) uint32 {
		v, err := b.bus.ReadReg(addr)
		require.NoError(t, err, "%#x", addr)
		return v
	}
	refused := func(addr uint64) {
		t.Helper()
		var answer *axil.ResponseError
		_, err := b.bus.ReadReg(addr)
		require.ErrorAs(t, err, &answer, "read %#x", addr)
		require.ErrorAs(t, b.bus.WriteReg(addr, 1), &answer, "write %#x", addr)
	}
	assert.Equal(t, uint32(nEngines), read(contract.SwitchBase))
	assert.Equal(t, uint32(0xE00404), read(contract.BypassBase+4), "engine 0's")
	for _, bad := range []uint64{0x0FF0, 0x1000, 0x4000, contract.SwitchBase + 12, window(0), window(1) + 0x7FC, window(2) + 0x0FF0, window(2) + 0xC000} {
		refused(bad)
	}
	for e := range nEngines {
		for _, at := range []uint64{0x1000, 0x2004, 0x8000, 0xBFFC} {
			assert.Equal(t, uint32(0xE0+e)<<16|uint32(at), read(window(e)+at))
		}
		assert.Equal(t, uint32(0xFFFFFF00+e), read(window(e)+contract.CounterBase+4), "an engine's own counter")
	}
	for i := range uint64(4) { // 3 · 0xFFFFFF00 + 0 + 1 + 2 carries 2
		assert.Equal(t, uint32(0xFFFFFD03), read(contract.CounterBase+4*i))
	}
	for i := range uint64(4) {
		assert.Equal(t, uint32(300+3+2), read(contract.CounterHighBase+4*i))
	}
	require.NoError(t, b.bus.WriteReg(0x10, 77)) // common: all of them
	require.NoError(t, b.bus.WriteReg(window(1)+0x1000, 78))
	assert.Equal(t, uint32(77), read(0))
	require.NoError(t, b.bus.WriteReg(contract.BypassBase, 2))
	r := rand.New(rand.NewPCG(5, 6))
	pass := func() *axis.Frame {
		require.NoError(t, b.src[0].Send(axis.Frame{Data: packet(r, 20, 0)}))
		require.NoError(t, b.Run(200, func() bool { return b.snk[0].Len()+b.snk[1].Len()+b.snk[2].Len() == 1 }))
		got, ok := b.snk[2].Recv()
		require.True(t, ok, "port 2 is where port 0's go")
		return got
	}
	pass()
	var answer *axil.ResponseError
	require.ErrorAs(t, b.bus.WriteRegStrobe(contract.BypassBase, 1, 7), &answer)
	pass() // a write that was refused changes no exit

	require.NoError(t, b.bus.WriteReg(60, 1)) // the copy is held from here on
	pass()
	assert.Equal(t, uint32(0xFFFFFD03+2), read(contract.CounterBase+8))
	assert.Equal(t, uint32(2), read(contract.SwitchBase+4))
	require.NoError(t, b.bus.WriteReg(60, 0))
	assert.Equal(t, uint32(0xFFFFFD03+3), read(contract.CounterBase+8))
	assert.Equal(t, uint32(0xFFFFFD03), read(contract.CounterBase+4), "what goes round counts in two alone")
	assert.Equal(t, uint32(3), read(contract.SwitchBase+4))
	assert.Zero(t, read(contract.SwitchBase+8))
}
