// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"incforge/hdl/hdltest/rig"
	"incforge/hdl/lanes"
)

// format is a 16-bit type, from its definition: a sign, exponent bits, fraction bits.
type format struct {
	name     string
	exponent int
	fraction int
}

func formats() []format { return []format{{"fp16", 5, 10}, {"bf16", 8, 7}} }

func (f format) infinity() uint16 { return (1<<f.exponent - 1) << f.fraction }

// magnitude is the value of an encoding without sign, where that of infinity is the number that would follow the largest.
func (f format) magnitude(h uint16) float64 {
	bias := 1<<(f.exponent-1) - 1
	field, frac := int(h>>f.fraction), float64(h&(1<<f.fraction-1))
	if field == 0 {
		return math.Ldexp(frac, 1-bias-f.fraction)
	}
	return math.Ldexp(frac+math.Ldexp(1, f.fraction), field-bias-f.fraction)
}

// wide is an encoding as FP32.
func (f format) wide(h uint16) uint32 {
	sign, m := uint32(h>>15)<<31, h&0x7FFF
	switch {
	case m > f.infinity():
		return sign | 0x7F800000 | uint32(m-f.infinity())<<(23-f.fraction)
	case m == f.infinity():
		return sign | 0x7F800000
	}
	return sign | math.Float32bits(float32(f.magnitude(m)))
}

// narrow rounds FP32 by looking for the nearest encoding; of two equally near ones it takes the even one.
func (f format) narrow(w uint32) uint16 {
	sign, m := uint16(w>>31)<<15, w&0x7FFFFFFF
	if m > 0x7F800000 {
		payload := uint16(m & 0x7FFFFF >> (23 - f.fraction))
		if payload == 0 {
			payload = 1 << (f.fraction - 1)
		}
		return sign | f.infinity() | payload
	}
	x := float64(math.Float32frombits(m))
	above := uint16(sort.Search(int(f.infinity()), func(h int) bool { return f.magnitude(uint16(h)) >= x }))
	if above == 0 || f.magnitude(above) <= x {
		return sign | above
	}
	down, up := x-f.magnitude(above-1), f.magnitude(above)-x
	if down < up || down == up && above%2 == 1 {
		above--
	}
	return sign | above
}

const halves = 64

// converter drives inc_widen or inc_narrow.
type converter struct{ *rig.Rig }

func newWiden(t *testing.T, f16, b16 bool) converter {
	return converter{rig.New(t, rig.Lib(t, lanes.Widen{Convert: lanes.Convert{Halves: halves, F16: f16, B16: b16}}), 1)}
}

func newNarrow(t *testing.T, f16, b16 bool) converter {
	return converter{rig.New(t, rig.Lib(t, lanes.Narrow{Convert: lanes.Convert{Halves: halves, F16: f16, B16: b16}}), 1)}
}

func (c converter) widen(bf16 bool, in []uint16) []uint32 {
	x := c.Pin("x").Words()
	clear(x)
	for i, h := range in {
		x[i/2] |= uint32(h) << (i % 2 * 16)
	}
	c.SetBool("is_bf16", bf16)
	c.Settle()
	return c.Pin("y").Words()[:len(in)]
}

func (c converter) narrow(bf16 bool, in []uint32) []uint16 {
	clear(c.Pin("x").Words())
	copy(c.Pin("x").Words(), in)
	c.SetBool("is_bf16", bf16)
	c.Settle()
	out := make([]uint16, len(in))
	for i := range out {
		out[i] = uint16(c.Pin("y").Words()[i/2] >> (i % 2 * 16))
	}
	return out
}

// models are the converters of both types, and of one only, with what is_bf16 may be for each format.
func models(t *testing.T, of func(t *testing.T, f16, b16 bool) converter, do func(t *testing.T, c converter, f format, bf16 bool)) {
	both, f16, b16 := of(t, true, true), of(t, true, false), of(t, false, true)
	for i, f := range formats() {
		alone := []converter{f16, b16}[i]
		t.Run(f.name, func(t *testing.T) { do(t, both, f, i == 1) })
		t.Run(f.name+" alone", func(t *testing.T) {
			do(t, alone, f, false)
			do(t, alone, f, true)
		})
	}
}

// TestWiden: every encoding, against the format's definition.
func TestWiden(t *testing.T) {
	t.Parallel()
	models(t, newWiden, func(t *testing.T, c converter, f format, bf16 bool) {
		for h := 0; h < 1<<16; h += halves {
			var in []uint16
			for i := range halves {
				in = append(in, uint16(h+i))
			}
			for i, got := range c.widen(bf16, in) {
				require.Equal(t, f.wide(in[i]), got, "%s %04x", f.name, in[i])
			}
		}
	})
}

// rounded sees values rounded as narrow says.
func (c converter) rounded(t *testing.T, f format, bf16 bool, values []uint32) {
	t.Helper()
	for len(values) > 0 {
		in := values[:min(halves, len(values))]
		for i, got := range c.narrow(bf16, in) {
			if want := f.narrow(in[i]); want != got {
				require.Equal(t, want, got, "%s of %08x", f.name, in[i])
			}
		}
		values = values[len(in):]
	}
}

// TestNarrow: every encoding comes back as it was; each tie between neighbours, and the FP32 numbers beside it, go where they
// belong; NaN keep what fits; numbers anywhere.
func TestNarrow(t *testing.T) {
	t.Parallel()
	models(t, newNarrow, func(t *testing.T, c converter, f format, bf16 bool) {
		for h := 0; h < 1<<16; h += halves {
			var in []uint32
			for i := range halves {
				in = append(in, f.wide(uint16(h+i)))
			}
			for i, got := range c.narrow(bf16, in) {
				require.Equal(t, uint16(h+i), got, "%s of %08x", f.name, in[i])
			}
		}

		var ties []uint32
		var even []uint16
		for h := uint16(0); h < f.infinity(); h++ {
			tie := math.Float32bits(float32((f.magnitude(h) + f.magnitude(h+1)) / 2))
			ties, even = append(ties, tie), append(even, h+h&1)
		}
		for _, sign := range []uint32{0, 1 << 31} {
			for i := 0; i < len(ties); i += 21 {
				var in []uint32
				var out []uint16
				for k := i; k < min(i+21, len(ties)); k++ {
					h, s := uint16(k), uint16(sign>>16)
					in = append(in, sign|ties[k]-1, sign|ties[k], sign|ties[k]+1)
					out = append(out, s|h, s|even[k], s|(h+1))
				}
				require.Equal(t, out, c.narrow(bf16, in), "%s: below, at, above the ties from %04x", f.name, i)
			}
		}

		nan := []uint32{0x7FC00000, 0x7F800001, 0xFF800001, 0x7F801FFF, 0x7F80FFFF, 0x7FFFFFFF, 0xFFC12345}
		r := rand.New(rand.NewPCG(1, 2))
		for range 10_000 {
			nan = append(nan, r.Uint32()|0x7F800000)
		}
		c.rounded(t, f, bf16, nan)
		canonicals := map[string]uint16{"fp16": 0x7E00, "bf16": 0x7FC0}
		require.Equal(t, []uint16{canonicals[f.name]}, c.narrow(bf16, []uint32{canonical}))

		var some []uint32
		for range 200_000 {
			w := r.Uint32()
			if r.IntN(2) == 0 { // where FP16 has numbers
				w = w&^(0xFF<<23) | (95+r.Uint32N(50))<<23
			}
			some = append(some, w)
		}
		c.rounded(t, f, bf16, append(some, special()...))
	})
}
