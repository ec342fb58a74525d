// SPDX-License-Identifier: Apache-2.0

package arith

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRound compares with the processor's rounding to FP32, and 16-bit formats with numbers worked out by hand.
func TestRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := FP32.format()
	for range 200000 {
		x := math.Float64frombits(rng.Uint64()&^(0x7FF<<52) | uint64(1023-155+rng.IntN(290))<<52)
		require.Equal(t, math.Float32bits(float32(x)), f.round(x), "%g", x)
	}
	for _, c := range []struct {
		d    DType
		x    float64
		want uint32
	}{
		{FP16, 1, 0x3C00}, {FP16, -2, 0xC000}, {FP16, 65504, 0x7BFF}, {FP16, 65519.99, 0x7BFF}, {FP16, 65520, 0x7C00},
		{FP16, 1 + 1.0/2048, 0x3C00}, {FP16, 1 + 3.0/2048, 0x3C02}, {FP16, 0x1p-24, 1}, {FP16, 0x1p-25, 0}, {FP16, 0x1.8p-25, 1},
		{FP16, -0x1p-25, 0x8000}, {FP16, 0x1p-14 - 0x1p-25, 0x400}, {FP16, math.NaN(), 0x7E00},
		{BF16, 1, 0x3F80}, {BF16, 1 + 1.0/256, 0x3F80}, {BF16, 1 + 3.0/256, 0x3F82}, {BF16, math.Inf(-1), 0xFF80},
		{BF16, math.MaxFloat32, 0x7F80}, {BF16, 0x1p-133, 1}, {BF16, math.NaN(), 0x7FC0}, {FP32, math.NaN(), 0x7FC00000},
	} {
		assert.Equal(t, c.want, c.d.format().round(c.x), "%s %g", c.d, c.x)
	}
}

// TestWiden: every 16-bit value comes back as it was, and stands for the same number meanwhile.
func TestWiden(t *testing.T) {
	for _, d := range []DType{FP16, BF16} {
		for v := range uint32(65536) {
			w := d.widen(v)
			require.Equal(t, v, d.narrow(w), "%s %#x", d, v)
			if x := d.format().value(v); x == x {
				require.Equal(t, math.Float64bits(x), math.Float64bits(float64(math.Float32frombits(w))), "%s %#x", d, v)
			} else {
				require.True(t, FP32.format().isNaN(w))
			}
		}
	}
	assert.Equal(t, uint32(0xFFA02000), FP16.widen(0xFD01))
	assert.Equal(t, uint32(0x7F810000), BF16.widen(0x7F81))
}

func TestApply(t *testing.T) {
	const nan, inf, minus = 0x7FC00000, 0x7F800000, 0x80000000
	for _, c := range []struct {
		k          Kind
		a, b, want uint32
	}{
		{Kind{INT32, Sum, false}, 0x7FFFFFFF, 1, minus},
		{Kind{INT32, Min, false}, 0xFFFFFFFF, 1, 0xFFFFFFFF},
		{Kind{INT32, Max, false}, minus, 0, 0},
		{Kind{FP32, Sum, false}, inf, inf | minus, nan},
		{Kind{FP32, Sum, false}, 0xFF800001, 0, nan},
		{Kind{FP32, Sum, false}, minus, minus, minus},
		{Kind{FP32, Sum, false}, minus, 0, 0},
		{Kind{FP32, Sum, false}, 0x3F800000, 0xBF800000, 0},
		{Kind{FP32, Min, false}, 0, minus, minus},
		{Kind{FP32, Max, false}, minus, 0, 0},
		{Kind{FP32, Min, false}, inf | minus, 0x7F800001, nan},
		{Kind{FP16, Max, false}, nan | 7, inf, nan},
	} {
		assert.Equal(t, c.want, c.k.apply(c.a, c.b), "%s %#x %#x", c.k, c.a, c.b)
		assert.Equal(t, c.want, c.k.apply(c.b, c.a), "%s %#x %#x", c.k, c.b, c.a)
	}
}

// TestValues: what Values makes sums to the same bits in every order, by every tree, and with a rounding at every step.
func TestValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range Kinds(15, 7) {
		for _, ranks := range []int{1, 2, 3, 4, 7, 31} {
			parts := make([][]byte, ranks)
			for i := range parts {
				parts[i] = k.Values(rng, 99, ranks, 512)
			}
			want, err := k.Exact(parts...)
			require.NoError(t, err, k)
			require.Equal(t, want, k.Tree(parts), k)
			if ranks == 1 {
				require.Equal(t, parts[0], want)
				continue
			}
			stepwise := parts[0]
			for _, p := range parts[1:] {
				stepwise = k.InOrder(stepwise, p)
			}
			require.Equal(t, want, stepwise, k)
			rng.Shuffle(ranks, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			require.Equal(t, want, k.InOrder(parts...), k)
		}
	}
}

// TestNoiseIsHard: sums of it depend on the order, and all that may be special is among it.
func TestNoiseIsHard(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range []DType{FP32, FP16, BF16} {
		k := Kind{d, Sum, true}
		parts := [][]byte{k.Noise(rng, 4096), k.Noise(rng, 4096), k.Noise(rng, 4096), k.Noise(rng, 4096)}
		_, err := k.Exact(parts...)
		require.ErrorIs(t, err, ErrInexact)
		back := slices.Clone(parts)
		slices.Reverse(back)
		assert.False(t, bytes.Equal(k.InOrder(parts...), k.InOrder(back...)), d)
		assert.False(t, bytes.Equal(k.InOrder(parts...), k.Tree(parts)), d)
		f, seen := d.format(), map[string]bool{}
		for i := range k.Elements(4096) {
			switch v := k.Bits(parts[0], i); {
			case f.isNaN(v):
				seen["nan"] = true
			case v&^f.sign() == f.inf():
				seen["inf"] = true
			case v == f.sign():
				seen["minus zero"] = true
			case v&^f.sign() < 1<<f.mantissa:
				seen["subnormal"] = true
			}
		}
		assert.Len(t, seen, 4)
	}
}

func TestTreePassesSiblings(t *testing.T) {
	k := Kind{DType: INT32}
	b := func(v uint32) []byte {
		p := make([]byte, 4)
		k.SetBits(p, 0, v)
		return p
	}
	assert.Equal(t, b(7), k.Tree([][]byte{nil, nil, nil, b(7), nil}))
	f := Kind{DType: FP32}
	v := func(x float64) []byte {
		p := make([]byte, 4)
		f.Set(p, 0, x)
		return p
	}
	// (big + 1) + −big loses the one, big + (1 + −big) too, big + −big first keeps it.
	assert.Equal(t, v(0), f.Tree([][]byte{v(0x1p60), v(1), v(-0x1p60)}))
	assert.Equal(t, v(1), f.Tree([][]byte{v(0x1p60), v(-0x1p60), v(1)}))
	assert.Equal(t, v(1), f.Tree([][]byte{v(1), nil, v(0x1p60), v(-0x1p60)}))
}

func TestNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, d := range []DType{FP32, FP16, BF16} {
		k := Kind{DType: d}
		parts := make([][]byte, 16)
		for i := range parts {
			parts[i] = k.Smooth(rng, 64)
		}
		got := k.InOrder(parts...)
		require.NoError(t, k.Near(got, parts...))
		k.SetBits(got, 5, k.Bits(got, 5)+17)
		require.ErrorContains(t, k.Near(got, parts...), "element 5")
		require.Error(t, k.Near(got[:60], parts...))
		k.SetBits(got, 5, k.DType.format().nan)
		require.Error(t, k.Near(got, parts...))
	}
}

// TestNearOdd: sums beside float64's where they are no plain numbers.
func TestNearOdd(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	k := Kind{DType: FP16}
	for _, c := range []struct {
		got    float64
		parts  []float64
		within bool
	}{
		{3, []float64{1, 2}, true},
		{3.001953125, []float64{1, 2}, true},
		{3.005859375, []float64{1, 2}, false},
		{0, []float64{1024, -1023}, true},
		{4, []float64{1024, -1023}, false},
		{inf, []float64{inf, 2}, true},
		{nan, []float64{inf, 2}, false},
		{nan, []float64{inf, -inf}, true},
		{2, []float64{nan, 1}, false},
		{inf, []float64{65504, 65504}, true},
		{nan, []float64{65504, 65504, -inf}, false},
		{-inf, []float64{65504, 65504, -65504}, true},
		{65504, []float64{65504, 65504, -65504}, true},
		{1, []float64{65504, 65504, -65504}, false},
	} {
		one := func(x float64) []byte {
			b := make([]byte, 2)
			k.Set(b, 0, x)
			return b
		}
		var parts [][]byte
		for _, x := range c.parts {
			parts = append(parts, one(x))
		}
		assert.Equal(t, c.within, k.Near(one(c.got), parts...) == nil, "%g of %g", c.got, c.parts)
	}
}

func TestKinds(t *testing.T) {
	assert.Len(t, Kinds(15, 7), 24)
	assert.Equal(t, []Kind{{FP16, Max, false}, {FP16, Max, true}}, Kinds(2, 4))
	assert.Equal(t, "FP16/MAX/big", Kind{FP16, Max, true}.String())
}
