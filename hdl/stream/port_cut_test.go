// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest"
	"incforge/hdl/stream"
	"incforge/sim/axis"
)

// The queues of t_stream.v whose frames leave before they are whole: words with which they begin, and the cycles that the port takes for a word.
var cutQueues = []struct {
	name                string
	bytes, start, cycle int
	drop                bool
}{{"d", 2, 3, 4, false}, {"e", 8, 2, 1, true}}

func TestCutDescriptions(t *testing.T) {
	t.Parallel()
	const start = "START must be 1 to the words of MAX_BYTES"
	const most = "MAX_BYTES must be two beats at least, and fit the queue with a beat to spare"
	hdltest.Check(t, []graph.Describer{
		stream.PortTxCut{PortBytes: 2, Bytes: 8, DepthW: 4, MaxBytes: 64, Start: 3}, stream.PortTxCut{PortBytes: 16, Bytes: 16, DepthW: 5, MaxBytes: 32, Start: 2, Drop: 1},
	}, []hdltest.Refused{
		{Leaf: stream.PortTxCut{PortBytes: 2, Bytes: 8, DepthW: 4, MaxBytes: 64, Start: 9}, Params: param("START", 9), Rule: start},
		{Leaf: stream.PortTxCut{PortBytes: 2, Bytes: 8, DepthW: 4, MaxBytes: 64}, Params: param("START", 0), Rule: start},
		{Leaf: stream.PortTxCut{PortBytes: 2, Bytes: 8, DepthW: 4, MaxBytes: 121, Start: 1}, Params: param("MAX_BYTES", 121), Rule: most},
		{Leaf: stream.PortTxCut{PortBytes: 2, Bytes: 8, DepthW: 1, MaxBytes: 8, Start: 1}, Params: param("DEPTH_W", 1), Rule: "DEPTH_W must be 2 to 16"},
	})
	hdltest.Check(t, []graph.Describer{stream.PortAdmit{Bytes: 8, DepthW: 4, MaxBytes: 64}, stream.PortAdmit{Bytes: 2, DepthW: 2, MaxBytes: 6, Drop: 1}}, []hdltest.Refused{
		{Leaf: stream.PortAdmit{Bytes: 6, DepthW: 4, MaxBytes: 64}, Params: param("BYTES", 6), Rule: "BYTES must be a power of two, at least 2"},
		{Leaf: stream.PortAdmit{Bytes: 8, DepthW: 4, MaxBytes: 121}, Params: param("MAX_BYTES", 121), Rule: most},
	})
}

// TestCutLatency: a lone frame's first beat leaves 3 cycles after its beat number START came, or after its last if that came before.
func TestCutLatency(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range cutQueues {
		m := start(t, lib, 8)
		src, snk := source(t, m, "s_tx"+q.name, nil), sink(t, m, "m_tx"+q.name, nil)
		var first uint64
		src.OnSent(func(f *axis.Frame) { first = f.First })
		ungapped(t, m, "m_tx"+q.name)
		require.NoError(t, m.ResetFor(2))
		for n := 1; n <= longest; n++ {
			send(t, src, []axis.Frame{{Data: make([]byte, n)}})
			require.NoError(t, m.Run(200, func() bool { return snk.Len() == 1 }))
			got, _ := snk.Recv()
			require.Equal(t, first+uint64(min((n+7)/8, q.start)-1)+3, got.First, "%s, %d bytes", q.name, n)
			require.Equal(t, got.First+uint64((n+q.bytes-1)/q.bytes)-1, got.Last)
		}
	}
}

// TestCutLate: words may come as late as the contract says, wherever in the frame; one that comes a cycle later is a gap.
func TestCutLate(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range cutQueues {
		for _, late := range []int{0, 1} {
			gaps := 0
			for word := q.start; word < longest/8; word++ { // the first of those that are late
				m := start(t, lib, 9)
				src, snk := source(t, m, "s_tx"+q.name, nil), sink(t, m, "m_tx"+q.name, nil)
				require.NoError(t, m.ResetFor(2))
				allowed := q.cycle*word - (word - q.start) - 1 + late // cycles between the words before and this one
				src.SetPause(func() bool {
					if src.Beats() == uint64(word) && allowed > 0 {
						allowed--
						return true
					}
					return false
				})
				send(t, src, []axis.Frame{{Data: make([]byte, longest)}})
				require.NoError(t, m.Run(400, func() bool { return snk.Len() == 1 }))
				got, _ := snk.Recv()
				if got.Last-got.First != uint64(longest/q.bytes)-1 {
					gaps++
				}
			}
			if late == 0 {
				require.Zero(t, gaps, q.name)
			} else {
				require.Equal(t, longest/8-q.start, gaps, "%s: the contract allows less than the queue does", q.name)
			}
		}
	}
}

// TestCutTraffic: frames of all lengths leave whole, in order and without a gap, each as soon as it may, with pauses of the port between them.
func TestCutTraffic(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range cutQueues {
		m := start(t, lib, 10)
		src, snk := source(t, m, "s_tx"+q.name, nil), sink(t, m, "m_tx"+q.name, nil)
		ungapped(t, m, "m_tx"+q.name)
		pause, err := m.Port("tx" + q.name + "_pause")
		require.NoError(t, err)
		counts := counted(t, m, "tx"+q.name+"_count", 2)
		require.NoError(t, m.ResetFor(2))
		r := rand.New(rand.NewPCG(13, 14))
		want := [][]byte{}
		for n := range 300 {
			b := data(r, 1+r.IntN(longest))
			want = append(want, b)
			send(t, src, []axis.Frame{{Data: b}})
			if q.drop { // room for all
				require.NoError(t, m.Run(400, func() bool { return snk.Len() == len(want) }))
			}
			pause.SetBool(!q.drop && n%3 == 1)
			ticks(t, m, r.IntN(60))
		}
		pause.SetBool(false)
		require.NoError(t, m.Run(60000, func() bool { return snk.Len() == len(want) }))
		require.Equal(t, want, received(snk), q.name)
		ticks(t, m, 2)
		require.Equal(t, []int{len(want), 0}, counts)
	}
}

// TestCutFull: with a port that takes nothing a frame waits for room; or it is let in as long as the longest would fit, and then dropped whole and counted. What was
// let in comes out unharmed, and nobody is held up inside a frame by a queue that drops.
func TestCutFull(t *testing.T) {
	t.Parallel()
	lib := compile(t)
	for _, q := range cutQueues {
		m := start(t, lib, 11)
		src, snk := source(t, m, "s_tx"+q.name, nil), sink(t, m, "m_tx"+q.name, axis.Always())
		counts := counted(t, m, "tx"+q.name+"_count", 2)
		require.NoError(t, m.ResetFor(2))
		r := rand.New(rand.NewPCG(15, 16))
		var frames []axis.Frame
		for range 30 {
			frames = append(frames, axis.Frame{Data: data(r, 1+r.IntN(longest))})
		}
		send(t, src, frames)
		ticks(t, m, 1000)
		// A word or two of the queue have moved on to the port.
		kept, used := 0, 0
		for ; used <= queueDeep+1-longest/8; kept++ {
			used += (len(frames[kept].Data) + 7) / 8
		}
		if q.drop {
			require.Zero(t, src.Pending(), "%s holds its sender", q.name)
			require.Positive(t, counts[1])
		} else {
			require.Positive(t, src.Pending(), "%s holds nobody", q.name)
			require.Zero(t, counts[1])
		}
		snk.SetPause(nil)
		ticks(t, m, 2000)
		out := received(snk)
		require.Len(t, out, len(frames)-counts[1])
		require.GreaterOrEqual(t, len(out), kept-1)
		for i, next := 0, 0; i < len(out); next++ { // some of those sent, in their order
			require.Less(t, next, len(frames), "%s: frame %d is none of those sent", q.name, i)
			if string(out[i]) == string(frames[next].Data) {
				i++
			}
		}
	}
}
