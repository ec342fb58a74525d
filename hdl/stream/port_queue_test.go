// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/sim"
	"incforge/sim/axis"
)

// The queues of ports in t_stream.v: their names, and what they do when they are full.
var portQueues = []struct {
	name  string
	bytes int // of a beat of the port
	drop  bool
}{{"a", 2, false}, {"b", 8, true}, {"c", 1, false}}

const (
	longest   = 64 // bytes of a frame
	patience  = 20 // cycles
	queueDeep = 16 // beats of 8 bytes
)

// counted counts the cycles after reset in which each bit of a port is high.
func counted(t *testing.T, m *sim.Model, name string, bits int) []int {
	t.Helper()
	p, err := m.Port(name)
	require.NoError(t, err)
	rst, err := m.Port("rst")
	require.NoError(t, err)
	n := make([]int, bits)
	m.OnSample(func() {
		if rst.Bool() {
			return
		}
		for i := range n {
			n[i] += int(p.Uint64() >> i & 1)
		}
	})
	return n
}

// ungapped fails the model when a frame leaves with a hole in it. The sink must not pause.
func ungapped(t *testing.T, m *sim.Model, prefix string) {
	t.Helper()
	valid, err := m.Port(prefix + "_tvalid")
	require.NoError(t, err)
	last, err := m.Port(prefix + "_tlast")
	require.NoError(t, err)
	rst, err := m.Port("rst")
	require.NoError(t, err)
	inside := false
	m.OnSample(func() {
		if rst.Bool() {
			inside = false
			return
		}
		if inside && !valid.Bool() {
			m.Fail(fmt.Errorf("%s: tvalid fell inside a frame in cycle %d", prefix, m.Now()))
		}
		if valid.Bool() {
			inside = !last.Bool()
		}
	})
}

// received are all frames that a sink has.
func received(s *axis.Sink) [][]byte {
	out := [][]byte{}
	for {
		f, ok := s.Recv()
		if !ok {
			return out
		}
		out = append(out, f.Data)
	}
}

func ticks(t *testing.T, m *sim.Model, n int) {
	t.Helper()
	for range n {
		require.NoError(t, m.Tick())
	}
}

// data of so many bytes.
func data(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestPortRx: what comes in whole, without err and not too long leaves whole, in order and without a gap, and everything else is dropped and
// counted under its reason.
func TestPortRx(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range portQueues {
		for _, p := range pauses {
			m := start(t, lib, 1)
			src, snk := source(t, m, "s_rx"+q.name, p.in(2)), sink(t, m, "m_rx"+q.name, nil)
			ungapped(t, m, "m_rx"+q.name)
			counts := counted(t, m, "rx"+q.name+"_count", 5)
			ends, drops := counted(t, m, "rx"+q.name+"_end", 1), counted(t, m, "rx"+q.name+"_drop", 1)
			require.NoError(t, m.ResetFor(2))
			r := rand.New(rand.NewPCG(3, 4))
			want, errs, longs := [][]byte{}, 0, 0
			const all = 200
			for n := range all {
				f := axis.Frame{Data: data(r, 1+r.IntN(longest+8)), User: uint64(r.IntN(5) / 4)}
				if n < 2 { // the limit, and one more
					f = axis.Frame{Data: data(r, longest+n)}
				}
				switch {
				case len(f.Data) > longest:
					longs++
				case f.User != 0:
					errs++
				default:
					want = append(want, f.Data)
				}
				send(t, src, []axis.Frame{f})
			}
			require.NoError(t, m.Run(100000, func() bool { return src.Pending() == 0 }))
			ticks(t, m, 40)
			require.Equal(t, want, received(snk), "%s, %s", q.name, p.name)
			require.Equal(t, []int{len(want), errs, longs, 0, 0}, counts)
			require.Equal(t, []int{all, errs + longs}, []int{ends[0], drops[0]})
		}
	}
}

// TestPortRxLatency: a frame's first beat leaves 3 cycles after its last came, whatever its length.
func TestPortRxLatency(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range portQueues {
		m := start(t, lib, 2)
		src, snk := source(t, m, "s_rx"+q.name, nil), sink(t, m, "m_rx"+q.name, nil)
		var sent uint64
		src.OnSent(func(f *axis.Frame) { sent = f.Last })
		require.NoError(t, m.ResetFor(2))
		for n := 1; n <= longest; n++ {
			send(t, src, []axis.Frame{{Data: make([]byte, n)}})
			require.NoError(t, m.Run(200, func() bool { return snk.Len() == 1 }))
			got, _ := snk.Recv()
			require.Equal(t, sent+3, got.First, "%s, %d bytes", q.name, n)
			require.Equal(t, got.First+uint64(n+7)/8-1, got.Last)
		}
	}
}

// TestPortRxHung: a frame that stands still is given up after so many cycles and not before; the rest of it is no frame, the next one is.
func TestPortRxHung(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	r := rand.New(rand.NewPCG(5, 6))
	for _, q := range portQueues {
		for _, still := range []int{patience - 1, patience, 200} {
			m := start(t, lib, 3)
			src, snk := source(t, m, "s_rx"+q.name, nil), sink(t, m, "m_rx"+q.name, nil)
			counts := counted(t, m, "rx"+q.name+"_count", 5)
			require.NoError(t, m.ResetFor(2))
			frame := data(r, longest)
			left := 0
			src.SetPause(func() bool {
				if src.Beats() == 3 && left < still { // behind the third beat
					left++
					return true
				}
				return false
			})
			next := data(r, 20)
			send(t, src, []axis.Frame{{Data: frame}, {Data: next}})
			ticks(t, m, 400)
			if still < patience {
				require.Equal(t, [][]byte{frame, next}, received(snk), "%s, %d", q.name, still)
				require.Zero(t, counts[3])
				continue
			}
			require.Equal(t, [][]byte{next}, received(snk), "%s, %d", q.name, still)
			require.Equal(t, []int{1, 0, 0, 1, 0}, counts)
		}
	}
}

// TestPortFull: a queue that nobody empties takes frames until it is full. Then it holds its sender, or drops frames and counts them; what it
// took comes out unharmed, and at least as much as its size less a frame.
func TestPortFull(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, way := range []struct {
		name string
		full int // the bit of the counter
		bits int
	}{{"rx", 4, 5}, {"tx", 1, 2}} {
		for _, q := range portQueues {
			m := start(t, lib, 4)
			name := way.name + q.name
			src, snk := source(t, m, "s_"+name, nil), sink(t, m, "m_"+name, axis.Always())
			counts := counted(t, m, name+"_count", way.bits)
			require.NoError(t, m.ResetFor(2))
			r := rand.New(rand.NewPCG(7, 8))
			var frames []axis.Frame
			for range 30 {
				frames = append(frames, axis.Frame{Data: data(r, 1+r.IntN(longest))})
			}
			send(t, src, frames)
			ticks(t, m, 3000)
			if way.name == "rx" {
				high, err := m.Port(name + "_high")
				require.NoError(t, err)
				require.True(t, high.Bool())
			}
			if !q.drop {
				require.Positive(t, src.Pending(), "%s holds nobody", name)
				snk.SetPause(nil)
				require.NoError(t, m.Run(5000, func() bool { return snk.Len() == len(frames) }))
				for i, got := range received(snk) {
					require.Equal(t, frames[i].Data, got, "%s, frame %d", name, i)
				}
				require.Zero(t, counts[way.full])
				continue
			}
			require.Zero(t, src.Pending(), "%s holds its sender", name)
			dropped := counts[way.full]
			require.Positive(t, dropped)
			snk.SetPause(nil)
			ticks(t, m, 500)
			kept, room := received(snk), 0
			require.Len(t, kept, len(frames)-dropped)
			for i, next := 0, 0; i < len(kept); next++ { // those kept are some of those sent, in their order
				require.Less(t, next, len(frames), "%s: frame %d is none of those sent", name, i)
				if string(kept[i]) == string(frames[next].Data) {
					room += (len(kept[i]) + 7) / 8
					i++
				}
			}
			require.GreaterOrEqual(t, room, queueDeep-longest/8, "%s dropped though there was room", name)
			send(t, src, frames[:1])
			require.NoError(t, m.Run(200, func() bool { return snk.Len() == 1 }), "nothing is stuck behind a dropped frame")
		}
	}
}

// TestPortTx: every frame leaves whole, in order, without a gap and 3 cycles after it came if nothing is before it.
func TestPortTx(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range portQueues {
		for _, p := range pauses {
			m := start(t, lib, 5)
			back := p.back
			if q.drop { // else frames are lost
				back = nothing
			}
			src, snk := source(t, m, "s_tx"+q.name, p.in(1)), sink(t, m, "m_tx"+q.name, back(2))
			if back(2) == nil {
				ungapped(t, m, "m_tx"+q.name)
			}
			counts := counted(t, m, "tx"+q.name+"_count", 2)
			require.NoError(t, m.ResetFor(2))
			r := rand.New(rand.NewPCG(9, 10))
			want := [][]byte{}
			for n := range 150 {
				b := data(r, 1+n%longest)
				want = append(want, b)
				send(t, src, []axis.Frame{{Data: b}})
			}
			require.NoError(t, m.Run(60000, func() bool { return snk.Len() == len(want) }))
			require.Equal(t, want, received(snk), "%s, %s", q.name, p.name)
			ticks(t, m, 2)
			require.Equal(t, []int{len(want), 0}, counts)
		}
		m := start(t, lib, 6)
		src, snk := source(t, m, "s_tx"+q.name, nil), sink(t, m, "m_tx"+q.name, nil)
		var sent uint64
		src.OnSent(func(f *axis.Frame) { sent = f.Last })
		require.NoError(t, m.ResetFor(2))
		for n := 1; n <= longest; n++ {
			send(t, src, []axis.Frame{{Data: make([]byte, n)}})
			require.NoError(t, m.Run(200, func() bool { return snk.Len() == 1 }))
			got, _ := snk.Recv()
			require.Equal(t, sent+3, got.First, "%s, %d bytes", q.name, n)
			require.Equal(t, got.First+uint64((n+q.bytes-1)/q.bytes)-1, got.Last)
		}
	}
}

// TestPortPause: while its pause is high a port ends the frame that it has begun and begins none.
func TestPortPause(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range portQueues {
		m := start(t, lib, 7)
		src, snk := source(t, m, "s_tx"+q.name, nil), sink(t, m, "m_tx"+q.name, nil)
		pause, err := m.Port("tx" + q.name + "_pause")
		require.NoError(t, err)
		require.NoError(t, m.ResetFor(2))
		r := rand.New(rand.NewPCG(11, 12))
		want := [][]byte{data(r, 40), data(r, 40), data(r, 40)}
		for _, b := range want {
			send(t, src, []axis.Frame{{Data: b}})
		}
		require.NoError(t, m.Run(200, snk.InFrame))
		pause.SetBool(true)
		ticks(t, m, 300)
		require.Equal(t, 1, snk.Len(), "%s: the frame that had begun, and no other", q.name)
		pause.SetBool(false)
		require.NoError(t, m.Run(400, func() bool { return snk.Len() == len(want) }))
		require.Equal(t, want, received(snk))
	}
}
