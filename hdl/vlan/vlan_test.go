// SPDX-License-Identifier: Apache-2.0

package vlan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"incforge/hdl/graph"
	"incforge/hdl/hdltest/rig"
	"incforge/hdl/vlan"
	"incforge/sim"
	"incforge/sim/axis"
)

// frames have every length round a tag and the ends of beats, with no tag, one or two, or one that is cut.
func frames(r *rand.Rand, bytes int) []axis.Frame {
	var all []axis.Frame
	for n := 1; n <= 4*bytes+20; n++ {
		for kind := range 3 {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			for k := range kind {
				copy(b[min(12+4*k, n):], []byte{0x81, 0x00})
			}
			port := uint64(r.IntN(4)) << 1
			all = append(all, axis.Frame{Data: b, FirstUser: port, User: port | uint64(r.IntN(2))})
		}
	}
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all
}

// tagOf is the tag of a frame, {tagged, 16 bits}, and the frame without it.
func tagOf(b []byte) (tag uint64, rest []byte) {
	if len(b) < 16 || b[12] != 0x81 || b[13] != 0 {
		return 0, b
	}
	return 1<<16 | uint64(b[14])<<8 | uint64(b[15]), append(append([]byte(nil), b[:12]...), b[16:]...)
}

// run sends frames through a block and returns what left; straight tells that nobody pauses.
func run(t *testing.T, lib *sim.Lib, seed uint64, straight bool, in []axis.Frame) []axis.Frame {
	t.Helper()
	m, err := lib.New(sim.Options{Random: true, Seed: seed})
	require.NoError(t, err)
	defer m.Close()
	src, err := axis.NewSource(m, "s_axis")
	require.NoError(t, err)
	snk, err := axis.NewSink(m, "m_axis")
	require.NoError(t, err)
	if !straight {
		src.SetPause(axis.Probability(seed, 0.3))
		snk.SetPause(axis.Probability(seed+1, 0.3))
	}
	require.NoError(t, m.ResetFor(2))
	for _, f := range in {
		require.NoError(t, src.Send(f))
	}
	var out []axis.Frame
	require.NoError(t, m.Run(100_000, func() bool { return int(snk.Frames()) == len(in) }))
	for f, ok := snk.Recv(); ok; f, ok = snk.Recv() {
		out = append(out, *f.Clone())
	}
	return out
}

func lib(t *testing.T, d graph.Describer) *sim.Lib {
	t.Helper()
	return rig.Lib(t, d)
}

// TestStreams: a frame loses its tag and its last beat says which it was; with that tag beside it, it becomes what it was. Nobody pauses: a beat a cycle.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{8, 16} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			t.Parallel()
			strip, tag := lib(t, vlan.Strip{Bytes: bytes, PortW: 2}), lib(t, vlan.Tag{Bytes: bytes, PortW: 2})
			for seed := range uint64(2) {
				r := rand.New(rand.NewPCG(seed, uint64(bytes)))
				in := frames(r, bytes)
				straight := seed == 0
				plain := run(t, strip, seed, straight, in)
				require.Len(t, plain, len(in))
				beats, cycles := uint64(0), plain[len(plain)-1].Last-plain[0].First+1
				for i, f := range in {
					want, rest := tagOf(f.Data)
					require.Empty(t, cmp.Diff(rest, plain[i].Data), "frame %d of %d bytes without its tag", i, len(f.Data))
					require.Equal(t, want<<3|f.User, plain[i].User, "frame %d of %d bytes: tag, port, err", i, len(f.Data))
					beats += uint64((len(f.Data) + bytes - 1) / bytes)
					plain[i].NotBefore, plain[i].FirstUser = 0, plain[i].User&^1
				}
				if straight {
					require.LessOrEqual(t, cycles, beats, "a beat a cycle")
				}
				again := run(t, tag, seed+10, straight, plain)
				require.Len(t, again, len(in))
				for i, f := range in {
					require.Empty(t, cmp.Diff(f.Data, again[i].Data), "frame %d of %d bytes with its tag again", i, len(f.Data))
					require.Equal(t, f.User, again[i].User)
				}
				if straight {
					require.Equal(t, beats, again[len(again)-1].Last-again[0].First+1, "a beat a cycle, and no more beats than there were")
				}
			}
		})
	}
}

// TestTagBeside: the tag of a header is beside LookupTable's decision, which comes in the next cycle.
func TestTagBeside(t *testing.T) {
	t.Parallel()
	b := rig.New(t, lib(t, vlan.Check{Table: small(), DepthW: 5, Counters: 46, RxError: 22}), 1)
	r := rand.New(rand.NewPCG(1, 1))
	var was uint64
	for i := range 100 {
		tag := r.Uint64N(1 << vlan.TagBits)
		b.SetBool("hdr_valid", true)
		b.Set("hdr_tag", tag)
		b.Clock()
		if i > 0 {
			require.Equal(t, was, b.Get("fwd_tag"))
		}
		was = tag
	}
}

// TestLatency: a frame without a tag leaves a cycle after it came, with one its last beat does; tags are put on without delay.
func TestLatency(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		block graph.Describer
		user  uint64
		want  uint64
	}{
		"strip": {vlan.Strip{Bytes: 8, PortW: 2}, 0, 1},
		"tag":   {vlan.Tag{Bytes: 8, PortW: 2}, 1 << 19, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := lib(t, x.block).New(sim.Options{Random: true, Seed: 1})
			require.NoError(t, err)
			defer m.Close()
			src, err := axis.NewSource(m, "s_axis")
			require.NoError(t, err)
			snk, err := axis.NewSink(m, "m_axis")
			require.NoError(t, err)
			var sent axis.Frame
			src.OnSent(func(f *axis.Frame) { sent = *f })
			require.NoError(t, m.ResetFor(2))
			require.NoError(t, src.Send(axis.Frame{Data: make([]byte, 60), FirstUser: x.user, User: x.user}))
			require.NoError(t, m.Run(100, func() bool { return snk.Len() == 1 }))
			got, _ := snk.Recv()
			require.Equal(t, sent.First+x.want, got.First)
		})
	}
}
