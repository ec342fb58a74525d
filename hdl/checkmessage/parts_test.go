// SPDX-License-Identifier: Apache-2.0

package checkmessage_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/checkmessage"
	"incforge/hdl/hdltest/rig"
)

// TestCutWork: random works and a taker that pauses: each unit of a work once and in order, in the place of its type, added as far as was said,
// a unit in a cycle; what takes no words of a packet does not let any of them go.
func TestCutWork(t *testing.T) {
	t.Parallel()
	const unit, place = 4, 1 << 10
	b := rig.New(t, rig.Lib(t, checkmessage.CutWork{UnitWords: unit, WordsW: 6, AddsW: 4, UnitW: 10, Planes: 1, PktW: 9, Halves: 1}), 1)
	b.SetBool("rst", true)
	b.Clock()
	b.SetBool("rst", false)
	type part struct {
		start, words, slot, read uint64
		take                     bool
	}
	rng := rand.New(rand.NewPCG(1, 1))
	met := map[string]int{}
	var left []part
	for range 20000 {
		put, ready, older := len(left) == 0 && rng.IntN(2) == 0, rng.IntN(3) > 0, rng.Uint64N(1<<9)
		start, words, slot, adds, dtype, take := rng.Uint64N(1<<9), 1+rng.Uint64N(16), rng.Uint64N(place), rng.Uint64N(8), rng.Uint64N(4), rng.IntN(3) > 0
		b.SetBool("in_valid", put)
		b.SetBool("in_take", take)
		b.SetBool("in_write", take)
		b.SetBool("in_emit", !take)
		for name, v := range map[string]uint64{"in_start": start, "in_words": words, "in_slot": slot, "in_adds": adds, "in_dtype": dtype, "in_oldest": older} {
			b.Set(name, v)
		}
		b.SetBool("op_ready", ready)
		b.Clock()
		require.Equal(t, len(left) == 0, b.Is("in_ready"))
		require.Equal(t, len(left) > 0 && ready, b.Is("op_valid"))
		if len(left) == 0 {
			require.Equal(t, older, b.Get("oldest"))
		} else {
			require.Equal(t, left[0].start, b.Get("oldest"))
		}
		if b.Is("op_valid") {
			p := left[0]
			left = left[1:]
			got := part{b.Get("op_start"), b.Get("op_words"), b.Get("op_slot"), b.Get("op_read"), b.Is("op_take")}
			require.Equal(t, p, got)
			require.Equal(t, []bool{p.take, !p.take, false}, []bool{b.Is("op_write"), b.Is("op_emit"), b.Is("op_spec")})
			met[map[bool]string{true: "added", false: "written"}[got.read == 1]]++
		}
		if !put {
			continue
		}
		step := uint64(1)
		if dtype == 1 || dtype == 2 {
			step = 2
			met["wide"]++
		}
		for i := uint64(0); i*unit < words; i++ {
			p := part{start: start, words: min(words-i*unit, unit), slot: (slot + i*step) % place, read: 1, take: take}
			if take {
				p.start = (start + i*unit) % (1 << 9)
				if i >= adds {
					p.read = 0
				}
			}
			left = append(left, p)
		}
		if len(left) > 1 {
			met["cut"]++
		}
	}
	for _, name := range []string{"added", "written", "wide", "cut"} {
		require.Greater(t, met[name], 100, name)
	}
}

// TestAckAsked: frames of all lengths, with gaps between their beats: the bit of each is told in its order until the frame is gone.
func TestAckAsked(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{8, 64, 256} {
		b := rig.New(t, rig.Lib(t, checkmessage.AckAsked{Bytes: bytes, DepthW: 5}), 1)
		b.SetBool("rst", true)
		b.Clock()
		b.SetBool("rst", false)
		rng := rand.New(rand.NewPCG(1, 1))
		var (
			frame []byte
			known []bool // of a frame too short for the bit nothing is
			want  []bool
			met   = map[bool]int{}
		)
		for range 5000 {
			if len(frame) == 0 {
				frame = make([]byte, bytes*(1+rng.IntN(1+120/bytes)))
				for i := range frame {
					frame[i] = byte(rng.Uint32())
				}
				want, known = append(want, len(frame) > 50 && frame[50]>>7 != 0), append(known, len(frame) > 50)
			}
			beat := rng.IntN(3) > 0 && len(want) < 30
			last := len(frame) == bytes
			waiting := len(want) - 1 // frames that have come whole
			gone := waiting > 0 && rng.IntN(8) == 0
			b.SetBool("raw_valid", beat)
			b.SetBool("raw_last", last)
			b.SetBytes("raw_data", frame[:bytes])
			b.SetBool("frm_gone", gone)
			b.Clock()
			if waiting > 0 && known[0] {
				require.Equal(t, want[0], b.Is("frm_asks"))
				met[want[0]]++
			}
			if gone {
				want, known = want[1:], known[1:]
			}
			if beat {
				if frame = frame[bytes:]; !last {
					continue
				}
			}
		}
		require.Greater(t, min(met[true], met[false]), 100, "%d bytes a beat", bytes)
	}
}
