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
// the first in the cycle of the work, then a unit in a cycle; of a work that is not committed the first alone, and no more if it is killed. What takes
// no words of a packet lets none of them go, nor does what may come again, and in a tree it reads none. What is to be done with the words goes with
// every unit.
func TestCutWork(t *testing.T) {
	t.Parallel()
	for _, p := range []checkmessage.CutWork{
		{UnitWords: 4, WordsW: 6, AddsW: 4, UnitW: 10, Planes: 1, PktW: 9, Halves: 1},
		{UnitWords: 4, WordsW: 6, AddsW: 4, UnitW: 10, Planes: 3, PktW: 9, Halves: 1, Tree: 1},
		{UnitWords: 4, WordsW: 6, AddsW: 4, UnitW: 10, Planes: 1, PktW: 9},
	} {
		cutWork(t, p)
	}
}

// unitWork is a work of one unit.
type unitWork struct {
	Start, Words, Slot, Read, Pair, Pairs, Function, DType uint64
	Imm, Take, Write, Emit, Reduce, BigEndian              bool
}

func cutWork(t *testing.T, p checkmessage.CutWork) {
	unit, place := uint64(p.UnitWords), uint64(1)<<p.UnitW
	b := rig.New(t, rig.Lib(t, p), 1)
	b.SetBool("rst", true)
	b.Clock()
	b.SetBool("rst", false)
	rng := rand.New(rand.NewPCG(1, 1))
	met := map[string]int{}
	var left []unitWork
	pending, spec := false, false // the work that came last has no verdict yet, nor what is left of it
	for range 8000 {
		ready, older := rng.IntN(3) > 0, rng.Uint64N(1<<9)
		put := len(left) == 0 && !pending && ready && rng.IntN(2) == 0
		commits, kills := pending && rng.IntN(4) == 0, false
		if pending && !commits {
			kills = rng.IntN(6) == 0
		}
		speculates := put && rng.IntN(2) == 0
		w := unitWork{Start: rng.Uint64N(1 << 9), Words: 1 + rng.Uint64N(16), Slot: rng.Uint64N(place), Pairs: rng.Uint64N(1 << p.Planes), Function: rng.Uint64N(4),
			DType: rng.Uint64N(4), Imm: rng.IntN(2) == 0, Take: rng.IntN(3) > 0, Write: rng.IntN(2) == 0, Emit: rng.IntN(2) == 0, Reduce: rng.IntN(2) == 0, BigEndian: rng.IntN(2) == 0}
		if p.Planes > 1 {
			w.Pair = rng.Uint64N(uint64(p.Planes))
		}
		adds := rng.Uint64N(8)
		for name, v := range map[string]bool{"in_valid": put, "in_spec": speculates, "in_commit": commits, "in_kill": kills, "in_imm": w.Imm, "in_take": w.Take, "in_write": w.Write, "in_emit": w.Emit, "in_reduce": w.Reduce, "in_big_endian": w.BigEndian,
			"op_ready": ready} {
			b.SetBool(name, v)
		}
		for name, v := range map[string]uint64{"in_start": w.Start, "in_words": w.Words, "in_slot": w.Slot, "in_pair": w.Pair, "in_pairs": w.Pairs, "in_function": w.Function,
			"in_dtype": w.DType, "in_adds": adds, "in_oldest": older} {
			b.Set(name, v)
		}
		busy, from := len(left) > 0, older
		if busy && !spec && left[0].Take {
			from = left[0].Start
		}
		if put {
			step := uint64(1)
			if p.Halves != 0 && (w.DType == 1 || w.DType == 2) {
				step = 2
				met["wide"]++
			}
			words, start, slot := w.Words, w.Start, w.Slot
			for i := uint64(0); i*unit < words; i++ {
				w.Words, w.Slot, w.Read = min(words-i*unit, unit), (slot+i*step)%place, uint64(1-p.Tree)
				if w.Take {
					w.Start, w.Read = (start+i*unit)%(1<<9), 0
					if i < adds {
						w.Read = 1
					}
				}
				left = append(left, w)
			}
			if len(left) > 1 {
				met["cut"]++
			}
		}
		b.Clock()
		require.Equal(t, !busy && ready, b.Is("in_ready"))
		require.Equal(t, from, b.Get("oldest"))
		require.Equal(t, []bool{commits, kills, put || busy && ready && !spec}, []bool{b.Is("op_commit"), b.Is("op_kill"), b.Is("op_valid")})
		if b.Is("op_valid") {
			want := left[0]
			left = left[1:]
			start := b.Get("op_start")
			if !want.Take { // nobody looks
				start = want.Start
			}
			require.Equal(t, want, unitWork{Start: start, Imm: b.Is("op_imm"), Words: b.Get("op_words"), Slot: b.Get("op_slot"), Read: b.Get("op_read"), Pair: b.Get("op_pair"),
				Pairs: b.Get("op_pairs"), Function: b.Get("op_function"), DType: b.Get("op_dtype"), Take: b.Is("op_take"), Write: b.Is("op_write"),
				Emit: b.Is("op_emit"), Reduce: b.Is("op_reduce"), BigEndian: b.Is("op_big_endian")})
			require.Equal(t, speculates, b.Is("op_spec"))
			met[map[bool]string{true: "added", false: "written"}[want.Read == 1]]++
		}
		if kills && len(left) > 0 {
			left = nil
			met["killed"]++
		}
		if put {
			pending, spec = speculates, speculates
		} else if commits || kills {
			pending, spec = false, false
		}
	}
	for _, name := range []string{"added", "written", "cut", "killed"} {
		require.Greater(t, met[name], 100, name)
	}
	require.Equal(t, p.Halves != 0, met["wide"] > 100)
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
