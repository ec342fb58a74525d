// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// payloadOf is a payload of elements of a type, given as their encodings.
func payloadOf(dtype uint8, bigEndian bool, encodings ...uint32) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	if bigEndian {
		order = binary.BigEndian
	}
	b := make([]byte, ElementBytes(dtype)*len(encodings))
	for i, w := range encodings {
		if Wide(dtype) {
			order.PutUint16(b[2*i:], uint16(w))
		} else {
			order.PutUint32(b[4*i:], w)
		}
	}
	return b
}

// Encodings by name: FP32 first, then FP16 and BF16.
const (
	one32, minusOne32 = 0x3F800000, 0xBF800000
	inf32, minusInf32 = 0x7F800000, 0xFF800000
	zero, minusZero32 = 0, 0x80000000
	max32             = 0x7F7FFFFF
	ulpOfOne32        = 0x34000000 // 2^−23
	half32            = 0x33800000 // 2^−24, half of that
	nan32, nan16      = 0x7FC00000, 0x7E00
	nanB16            = 0x7FC0
	maxInt, minInt    = 0x7FFFFFFF, 0x80000000
)

// TestPairs is a table by hand of what two elements make.
func TestPairs(t *testing.T) {
	tests := []struct {
		name       string
		dtype, op  uint8
		a, b, want uint32
	}{
		{"a tie goes down to even", DTypeFP32, OpSum, one32, half32, one32},
		{"a tie goes up to even", DTypeFP32, OpSum, one32 + 1, half32, one32 + 2},
		{"just above a tie", DTypeFP32, OpSum, one32, half32 + 1, one32 + 1},
		{"just below a tie", DTypeFP32, OpSum, one32 + 1, half32 - 1, one32 + 1},
		{"a tie of negative numbers", DTypeFP32, OpSum, minusOne32 + 1, half32 | 1<<31, minusOne32 + 2},
		{"a tie below a power of two", DTypeFP32, OpSum, one32, 0xB3000000, one32}, // 1 − 2^−25 lies between 1 − 2^−24 and 1
		{"2^24 + 1", DTypeFP32, OpSum, 0x4B800000, one32, 0x4B800000},
		{"2^24 + 2 + 1", DTypeFP32, OpSum, 0x4B800001, one32, 0x4B800002},
		{"the sum carries", DTypeFP32, OpSum, 0x3FFFFFFF, ulpOfOne32, 0x40000000},
		{"too small to matter", DTypeFP32, OpSum, one32, 1, one32},
		{"too small to matter, from below", DTypeFP32, OpSum, one32, 0x80000001, one32},
		{"cancellation is exact", DTypeFP32, OpSum, one32 + 1, minusOne32, ulpOfOne32},
		{"cancellation into subnormals", DTypeFP32, OpSum, 0x00800001, 0x80800000, 1},
		{"x − x is +0", DTypeFP32, OpSum, one32, minusOne32, zero},
		{"+0 + −0 is +0", DTypeFP32, OpSum, zero, minusZero32, zero},
		{"−0 + −0 is −0", DTypeFP32, OpSum, minusZero32, minusZero32, minusZero32},
		{"x + −0", DTypeFP32, OpSum, 1, minusZero32, 1},
		{"subnormals", DTypeFP32, OpSum, 1, 2, 3},
		{"subnormals of either sign", DTypeFP32, OpSum, 0x80000005, 2, 0x80000003},
		{"the smallest normal", DTypeFP32, OpSum, 0x007FFFFF, 1, 0x00800000},
		{"the largest subnormal", DTypeFP32, OpSum, 0x00800000, 0x80000001, 0x007FFFFF},
		{"overflow", DTypeFP32, OpSum, max32, max32, inf32},
		{"overflow by a tie", DTypeFP32, OpSum, max32, 0x73000000, inf32},
		{"not quite overflow", DTypeFP32, OpSum, max32, 0x72FFFFFF, max32},
		{"negative overflow", DTypeFP32, OpSum, max32 | 1<<31, max32 | 1<<31, minusInf32},
		{"infinity", DTypeFP32, OpSum, inf32, max32 | 1<<31, inf32},
		{"infinities", DTypeFP32, OpSum, minusInf32, minusInf32, minusInf32},
		{"∞ − ∞", DTypeFP32, OpSum, inf32, minusInf32, nan32},
		{"a NaN's payload goes", DTypeFP32, OpSum, 0x7FC12345, one32, nan32},
		{"a signalling NaN", DTypeFP32, OpSum, 0x7F800001, one32, nan32},
		{"negative NaNs", DTypeFP32, OpSum, 0xFFC00000, 0xFFFFFFFF, nan32},

		{"min", DTypeFP32, OpMin, one32, minusOne32, minusOne32},
		{"max", DTypeFP32, OpMax, one32, minusOne32, one32},
		{"min of equals", DTypeFP32, OpMin, one32, one32, one32},
		{"min of negatives", DTypeFP32, OpMin, minusOne32, minusOne32 + 1, minusOne32 + 1},
		{"max of negatives", DTypeFP32, OpMax, minusOne32, minusOne32 + 1, minusOne32},
		{"min of zeros", DTypeFP32, OpMin, zero, minusZero32, minusZero32},
		{"max of zeros", DTypeFP32, OpMax, zero, minusZero32, zero},
		{"max of −0 and a negative", DTypeFP32, OpMax, minusZero32, 0x80000001, minusZero32},
		{"min of +0 and a subnormal", DTypeFP32, OpMin, zero, 1, zero},
		{"min with ∞", DTypeFP32, OpMin, inf32, max32, max32},
		{"max with ∞", DTypeFP32, OpMax, inf32, max32, inf32},
		{"min with −∞", DTypeFP32, OpMin, minusInf32, max32 | 1<<31, minusInf32},
		{"min with a NaN", DTypeFP32, OpMin, 0x7FC00001, minusInf32, nan32},
		{"max with a NaN", DTypeFP32, OpMax, 0xFF800001, inf32, nan32},
		{"max of NaNs", DTypeFP32, OpMax, 0xFFC00000, 0xFFC00000, nan32},

		{"FP16: a tie goes down to even", DTypeFP16, OpSum, 0x3C00, 0x1000, 0x3C00}, // 1 + 2^−11
		{"FP16: a tie goes up to even", DTypeFP16, OpSum, 0x3C01, 0x1000, 0x3C02},   // 1 + 2^−10 + 2^−11
		{"FP16: subnormals", DTypeFP16, OpSum, 0x03FF, 0x0001, 0x0400},
		{"FP16: −0", DTypeFP16, OpSum, 0x8000, 0x8000, 0x8000},
		{"FP16: overflow by a tie", DTypeFP16, OpSum, 0x7BFF, 0x4C00, 0x7C00},  // 65504 + 16
		{"FP16: not quite overflow", DTypeFP16, OpSum, 0x7BFF, 0x4BFF, 0x7BFF}, // 65504 + 15.99
		{"FP16: ∞ − ∞", DTypeFP16, OpSum, 0x7C00, 0xFC00, nan16},
		{"FP16: a NaN's payload goes", DTypeFP16, OpSum, 0xFE01, 0, nan16},
		{"FP16: min of zeros", DTypeFP16, OpMin, 0x0000, 0x8000, 0x8000},
		{"FP16: max", DTypeFP16, OpMax, 0x0001, 0xFBFF, 0x0001},
		{"FP16: max with a NaN", DTypeFP16, OpMax, 0x7C01, 0x7C00, nan16},
		{"BF16: a tie goes down to even", DTypeBF16, OpSum, 0x3F80, 0x3B80, 0x3F80}, // 1 + 2^−8
		{"BF16: a tie goes up to even", DTypeBF16, OpSum, 0x3F81, 0x3B80, 0x3F82},   // 1 + 2^−7 + 2^−8
		{"BF16: subnormals", DTypeBF16, OpSum, 0x007F, 0x0001, 0x0080},
		{"BF16: overflow by a tie", DTypeBF16, OpSum, 0x7F7F, 0x7B00, 0x7F80}, // the largest and half its ulp, 2^119
		{"BF16: not quite overflow", DTypeBF16, OpSum, 0x7F7F, 0x7AFF, 0x7F7F},
		{"BF16: ∞ − ∞", DTypeBF16, OpSum, 0x7F80, 0xFF80, nanB16},
		{"BF16: min with a NaN", DTypeBF16, OpMin, 0xFF81, 0xFF80, nanB16},
		{"BF16: min of negatives", DTypeBF16, OpMin, 0xBF80, 0xBF81, 0xBF81},
		{"INT32: sum", DTypeINT32, OpSum, 0x00FFFFFF, 1, 0x01000000},
		{"INT32: sum wraps", DTypeINT32, OpSum, maxInt, 1, minInt},
		{"INT32: sum wraps down", DTypeINT32, OpSum, minInt, 0xFFFFFFFF, maxInt},
		{"INT32: min is signed", DTypeINT32, OpMin, 0xFFFFFFFF, 1, 0xFFFFFFFF},
		{"INT32: max is signed", DTypeINT32, OpMax, 0xFFFFFFFF, 1, 1},
		{"INT32: min of the ends", DTypeINT32, OpMin, minInt, maxInt, minInt},
		{"INT32: max of the ends", DTypeINT32, OpMax, minInt, maxInt, maxInt},
		{"INT32: what would be a NaN", DTypeINT32, OpMax, 0x7FC12345, 0, 0x7FC12345},
		{"INT32: what would be zeros", DTypeINT32, OpMax, minusZero32, 0x80000001, 0x80000001},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, bigEndian := range []bool{false, true} {
				// Among others, so that an element that strays would be seen, and in both orders.
				a, b := payloadOf(tt.dtype, bigEndian, 0, tt.a, tt.b), payloadOf(tt.dtype, bigEndian, 0, tt.b, tt.a)
				want := payloadOf(tt.dtype, bigEndian, 0, tt.want, tt.want)
				assert.Equal(t, want, Reduce(tt.dtype, tt.op, bigEndian, [][]byte{a, b}))
				assert.Equal(t, want, ReduceTree(tt.dtype, tt.op, bigEndian, [][]byte{a, b}))
			}
		})
	}
}

// format is a 16-bit format in numbers that no code under test uses: how its encodings end and what they are worth.
type format struct {
	name     string
	dtype    uint8
	infinity uint16
	ulps     int // the exponent of the smallest number
	fraction int
	widen    func(uint16) uint32
	narrow   func(uint32) uint16
}

func formats() []format {
	return []format{
		{"FP16", DTypeFP16, 0x7C00, -24, 10, widenFP16, narrowFP16},
		{"BF16", DTypeBF16, 0x7F80, -133, 7, widenBF16, narrowBF16},
	}
}

// worth is the value of an encoding without sign, infinity's being what the next larger number would be.
func (f format) worth(h uint16) float64 {
	exponent, fraction := int(h>>f.fraction), float64(h&(1<<f.fraction-1))
	if exponent == 0 {
		return math.Ldexp(fraction, f.ulps)
	}
	return math.Ldexp(fraction+math.Ldexp(1, f.fraction), f.ulps+exponent-1)
}

func TestWiden(t *testing.T) {
	for _, f := range formats() {
		for h := range uint32(1 << 16) {
			w := f.widen(uint16(h))
			require.Equal(t, h>>15, w>>31, "sign of %#x", h)
			require.Equal(t, uint16(h), f.narrow(w), "%s: narrowing undoes widening", f.name)
			value := math.Abs(float64(math.Float32frombits(w)))
			switch magnitude := uint16(h & 0x7FFF); {
			case magnitude < f.infinity:
				require.Equal(t, f.worth(magnitude), value, "%s %#x", f.name, h)
			case magnitude == f.infinity:
				require.True(t, math.IsInf(value, 0))
			default:
				require.True(t, math.IsNaN(value))
				require.Equal(t, h&(1<<f.fraction-1), w&(1<<23-1)>>(23-f.fraction), "the NaN's bits, moved up")
				require.Zero(t, w&(1<<(23-f.fraction)-1))
			}
		}
	}
	for _, tt := range []struct {
		f    func(uint16) uint32
		h    uint16
		want uint32
	}{ // by hand
		{widenFP16, 0x3C00, one32}, {widenFP16, 0x0001, half32}, {widenFP16, 0x0400, 0x38800000}, {widenFP16, 0x0200, 0x38000000},
		{widenFP16, 0x03FF, 0x387FC000}, {widenFP16, 0x7BFF, 0x477FE000}, {widenFP16, 0x8000, minusZero32},
		{widenFP16, 0x7C01, 0x7F802000}, {widenFP16, 0xFFFF, 0xFFFFE000}, {widenFP16, nan16, nan32},
		{widenBF16, 0x3F80, one32}, {widenBF16, 0x0001, 0x00010000}, {widenBF16, nanB16, nan32}, {widenBF16, 0xFF81, 0xFF810000},
	} {
		assert.Equal(t, tt.want, tt.f(tt.h), "%#x", tt.h)
	}
}

// TestNarrowTies goes through every pair of neighbours, from zero to infinity: half way between them it must be the even
// one, and off that, however little, the nearer one. The half-way values are float64 arithmetic.
func TestNarrowTies(t *testing.T) {
	for _, f := range formats() {
		for below := range f.infinity {
			above := below + 1
			tie := float32((f.worth(below) + f.worth(above)) / 2)
			require.Equal(t, f.worth(below)+f.worth(above), 2*float64(tie), "a tie is a number of FP32")
			even := below + below&1
			for sign := range uint16(2) {
				to := func(v float32) uint16 { return f.narrow(math.Float32bits(v) | uint32(sign)<<31) }
				require.Equal(t, sign<<15|even, to(tie), "%s: the tie above %#x", f.name, below)
				require.Equal(t, sign<<15|below, to(math.Nextafter32(tie, 0)), "%s: below the tie above %#x", f.name, below)
				require.Equal(t, sign<<15|above, to(math.Nextafter32(tie, math.MaxFloat32)), "%s: above the tie above %#x", f.name, below)
			}
		}
	}
}

// TestNarrowNearest takes words of all sizes and looks whether a neighbour would have been nearer.
func TestNarrowNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 32))
	for _, f := range formats() {
		for range 500_000 {
			w := r.Uint32()
			if r.IntN(2) == 0 { // where FP16 has its numbers
				w = w&0x807FFFFF | uint32(127-26+r.IntN(44))<<23
			}
			value := math.Abs(float64(math.Float32frombits(w)))
			if value > math.MaxFloat32 || math.IsNaN(value) {
				continue
			}
			got := f.narrow(w)
			if got>>15 != uint16(w>>31) {
				require.Fail(t, "the sign is lost", "%s: %#x to %#x", f.name, w, got)
			}
			got &= 0x7FFF
			off := math.Abs(f.worth(got) - value)
			lower := got > 0 && math.Abs(f.worth(got-1)-value) < off
			upper := got < f.infinity && math.Abs(f.worth(got+1)-value) < off
			if lower || upper || got > f.infinity {
				require.Fail(t, "a neighbour is nearer", "%s: %#x to %#x", f.name, w, got)
			}
		}
	}
}

func TestNarrowByHand(t *testing.T) {
	for _, tt := range []struct {
		f    func(uint32) uint16
		w    uint32
		want uint16
	}{
		{narrowFP16, 0x477FEFFF, 0x7BFF}, {narrowFP16, 0x477FF000, 0x7C00}, {narrowFP16, max32, 0x7C00}, {narrowFP16, 0xC77FF000, 0xFC00},
		{narrowFP16, 0x33000000, 0x0000}, {narrowFP16, 0x33000001, 0x0001}, {narrowFP16, 0x33C00000, 0x0002}, {narrowFP16, 0x00000001, 0},
		{narrowFP16, 0x807FFFFF, 0x8000}, {narrowFP16, 0x387FF000, 0x0400}, {narrowFP16, inf32, 0x7C00}, {narrowFP16, minusInf32, 0xFC00},
		{narrowFP16, nan32, nan16}, {narrowFP16, 0xFFC02000, 0xFE01}, {narrowFP16, 0x7F800001, 0x7E00},
		{narrowBF16, 0x3F808000, 0x3F80}, {narrowBF16, 0x3F818000, 0x3F82}, {narrowBF16, 0x3F808001, 0x3F81}, {narrowBF16, max32, 0x7F80},
		{narrowBF16, 0x7F7F7FFF, 0x7F7F}, {narrowBF16, 0x7F7F8000, 0x7F80}, {narrowBF16, 0x00008000, 0}, {narrowBF16, 0x00008001, 1},
		{narrowBF16, 0x007F8000, 0x0080}, {narrowBF16, 0x80018000, 0x8002}, {narrowBF16, nan32, nanB16}, {narrowBF16, 0xFFFF0000, 0xFFFF},
		{narrowBF16, 0xFF800001, 0xFFC0},
	} {
		assert.Equal(t, tt.want, tt.f(tt.w), "%#x", tt.w)
	}
}

// randomFP32 is an encoding of any kind: any bits, near another one in size so that something happens, or special.
func randomFP32(r *rand.Rand, near uint32) uint32 {
	switch r.IntN(8) {
	case 0:
		return r.Uint32()
	case 1:
		special := []uint32{0, 1, 0x007FFFFF, 0x00800000, one32, max32, inf32, nan32, 0x7F800001, 0x7FFFFFFF}
		return special[r.IntN(len(special))] | r.Uint32()&(1<<31)
	case 2: // few bits, so that ties are common
		return near&0x7F800000 + uint32(r.IntN(8))<<20 + r.Uint32()&(1<<31)
	case 3: // the same but for the last bits
		return near ^ r.Uint32()&(1<<31|7)
	}
	exponent := min(max(int(near>>23&0xFF)+r.IntN(60)-30, 0), 254)
	return r.Uint32()&0x807FFFFF | uint32(exponent)<<23
}

// TestSumIsRoundedOnce compares with arithmetic of unbounded precision, rounded once.
func TestSumIsRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(754, 2019))
	finite := 0
	for range 300_000 {
		a := r.Uint32()
		b := randomFP32(r, a)
		got := sumFP32(a, b)
		require.Equal(t, got, sumFP32(b, a), "%#x + %#x", a, b)
		if a&inf32 == inf32 || b&inf32 == inf32 {
			continue
		}
		finite++
		x := new(big.Float).SetPrec(400).SetFloat64(float64(math.Float32frombits(a)))
		y := new(big.Float).SetPrec(400).SetFloat64(float64(math.Float32frombits(b)))
		want, _ := x.Add(x, y).Float32()
		require.Equal(t, math.Float32bits(want), got, "%#x + %#x", a, b)
	}
	require.Greater(t, finite, 250_000)
}

// TestMinMax compares with Go's own min and max, which IEEE's minimum and maximum are but for the NaN's bits.
func TestMinMax(t *testing.T) {
	r := rand.New(rand.NewPCG(754, 1))
	for range 300_000 {
		a := randomFP32(r, r.Uint32())
		b := randomFP32(r, a)
		x, y := math.Float32frombits(a), math.Float32frombits(b)
		for _, tt := range []struct {
			got  uint32
			want float32
		}{{minFP32(a, b), min(x, y)}, {minFP32(b, a), min(x, y)}, {maxFP32(a, b), max(x, y)}, {maxFP32(b, a), max(x, y)}} {
			if want := math.Float32bits(tt.want); isNaN(want) {
				require.Equal(t, uint32(canonicalNaN), tt.got, "%#x, %#x", a, b)
			} else {
				require.Equal(t, want, tt.got, "%#x, %#x", a, b)
			}
		}
	}
}

// everyKind calls f for every type and operation.
func everyKind(f func(name string, dtype, op uint8)) {
	for dtype, d := range dtypeNames() {
		for op, o := range opNames() {
			f(d+" "+o, uint8(dtype), uint8(op))
		}
	}
}

// randomPayload has n elements of a type: any bits, or such as meet each other.
func randomPayload(r *rand.Rand, dtype uint8, n int) []byte {
	w := make([]uint32, n)
	for i := range w {
		w[i] = randomFP32(r, one32)
		if dtype == DTypeFP16 {
			w[i] = r.Uint32()
			if r.IntN(4) == 0 {
				w[i] = uint32(narrowFP16(randomFP32(r, one32)))
			}
		} else if dtype == DTypeBF16 {
			w[i] >>= 16
		}
	}
	return payloadOf(dtype, false, w...)
}

// TestRoundedOnce: sums of 16-bit types that come out wrong if they are rounded, or overflow, on the way.
func TestRoundedOnce(t *testing.T) {
	tests := []struct {
		name  string
		dtype uint8
		in    []uint32
		want  uint32
	}{
		{"FP16: 2048 + 1 + 1", DTypeFP16, []uint32{0x6800, 0x3C00, 0x3C00}, 0x6801},
		{"FP16: 1 + 2^−11 + 2^−24", DTypeFP16, []uint32{0x3C00, 0x1000, 0x0001}, 0x3C00}, // the last is lost in FP32: a tie, half way
		{"FP16: 1 + 2^−11 + 2^−20", DTypeFP16, []uint32{0x3C00, 0x1000, 0x0010}, 0x3C01},
		{"FP16: 65504 + 65504 − 65504", DTypeFP16, []uint32{0x7BFF, 0x7BFF, 0xFBFF}, 0x7BFF},
		{"BF16: 256 + 1 + 1", DTypeBF16, []uint32{0x4380, 0x3F80, 0x3F80}, 0x4381},
		{"BF16: 2^127 + 2^127 − 2^127 has overflown FP32", DTypeBF16, []uint32{0x7F00, 0x7F00, 0xFF00}, 0x7F80},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var in [][]byte
			for _, w := range tt.in {
				in = append(in, payloadOf(tt.dtype, false, w))
			}
			want := payloadOf(tt.dtype, false, tt.want)
			assert.Equal(t, want, Reduce(tt.dtype, OpSum, false, in))
			assert.Equal(t, want, ReduceTree(tt.dtype, OpSum, false, in), "three are added in a row in the tree, too")
		})
	}
}

// TestByteOrder: the two byte orders are mirror images of each other.
func TestByteOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	mirror := func(dtype uint8, p []byte) []byte {
		m := make([]byte, len(p))
		for i := range p {
			m[i] = p[i^(ElementBytes(dtype)-1)]
		}
		return m
	}
	everyKind(func(name string, dtype, op uint8) {
		var little, big [][]byte
		for range 3 {
			p := randomPayload(r, dtype, 64)
			little, big = append(little, p), append(big, mirror(dtype, p))
		}
		assert.Equal(t, mirror(dtype, Reduce(dtype, op, false, little)), Reduce(dtype, op, true, big), name)
		assert.Equal(t, mirror(dtype, ReduceTree(dtype, op, false, little)), ReduceTree(dtype, op, true, big), name)
	})
}

// byRange is the fixed tree by its definition from above: the node over size endpoints from low on, if it is there.
func byRange(values map[int]float32, low, size int) (float32, bool) {
	if size == 1 {
		v, there := values[low]
		return v, there
	}
	left, a := byRange(values, low, size/2)
	right, b := byRange(values, low+size/2, size/2)
	switch {
	case a && b:
		return left + right, true
	case a:
		return left, true
	}
	return right, b
}

// TestTree takes every set of up to seven endpoints and values whose sum depends on the order.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	differ := 0
	for count := 1; count <= 7; count++ {
		for mask := 1; mask < 1<<count; mask++ {
			for range 10 {
				values := map[int]float32{}
				contributions, inOrder := make([][]byte, count), [][]byte{}
				for e := range count {
					if mask>>e&1 != 0 {
						values[e] = float32(math.Ldexp(r.Float64()-0.5, r.IntN(16)))
						contributions[e] = payloadOf(DTypeFP32, false, math.Float32bits(values[e]))
						inOrder = append(inOrder, contributions[e])
					}
				}
				want, _ := byRange(values, 0, 8)
				got := ReduceTree(DTypeFP32, OpSum, false, contributions)
				require.Equal(t, payloadOf(DTypeFP32, false, math.Float32bits(want)), got, "endpoints %#b", mask)
				if string(Reduce(DTypeFP32, OpSum, false, inOrder)) != string(got) {
					differ++
				}
			}
		}
	}
	require.Greater(t, differ, 100, "the tree is not the row")
}

// TestAlone: what meets no other payload is not touched, whatever its bits.
func TestAlone(t *testing.T) {
	var all []uint32
	for h := range uint32(1 << 16) {
		all = append(all, h)
	}
	everyKind(func(name string, dtype, op uint8) {
		payload := payloadOf(dtype, false, all...)
		if !Wide(dtype) {
			for i := range payload { // NaNs of all kinds among them
				payload[i] ^= byte(i%4/2) * 0xFF
			}
		}
		kept := append([]byte(nil), payload...)
		assert.Equal(t, payload, Reduce(dtype, op, false, [][]byte{payload}), name)
		assert.Equal(t, payload, ReduceTree(dtype, op, true, [][]byte{nil, nil, payload, nil, nil}), name)
		Reduce(dtype, op, false, [][]byte{payload, payload})
		ReduceTree(dtype, op, false, [][]byte{payload, payload})
		assert.Equal(t, kept, payload, "contributions are read only")
	})
}

func TestReduceNothing(t *testing.T) {
	everyKind(func(name string, dtype, op uint8) {
		assert.Nil(t, Reduce(dtype, op, false, nil), name)
		assert.Nil(t, ReduceTree(dtype, op, false, nil), name)
		assert.Nil(t, ReduceTree(dtype, op, false, make([][]byte, 5)), name)
		assert.Equal(t, []byte{}, Reduce(dtype, op, false, [][]byte{nil, {}}), name)
		assert.Equal(t, []byte{}, ReduceTree(dtype, op, false, [][]byte{nil, {}, {}}), name)
	})
}

// TestReducePanics: what no engine would take is the caller's mistake.
func TestReducePanics(t *testing.T) {
	for name, f := range map[string]func(dtype, op uint8, bigEndian bool, contributions [][]byte) []byte{
		"Reduce": Reduce, "ReduceTree": ReduceTree,
	} {
		t.Run(name, func(t *testing.T) {
			for i, c := range [][][]byte{
				{make([]byte, 4), make([]byte, 8)}, {make([]byte, 8), make([]byte, 4)}, {make([]byte, 6)}, {make([]byte, 4), make([]byte, 5)},
			} {
				assert.Panics(t, func() { f(DTypeFP32, OpSum, false, c) }, "case %d", i)
			}
			assert.NotPanics(t, func() { f(DTypeFP16, OpSum, false, [][]byte{make([]byte, 6)}) })
			assert.Panics(t, func() { f(DTypeBF16, OpSum, false, [][]byte{make([]byte, 5)}) })
			assert.Panics(t, func() { f(4, OpSum, false, [][]byte{{}}) })
			assert.Panics(t, func() { f(DTypeFP32, 3, false, [][]byte{{}}) })
			assert.Panics(t, func() { f(DTypeINT32, 3, false, [][]byte{{}}) })
		})
	}
}

// BenchmarkReduce is eight contributions of 4 KB.
func BenchmarkReduce(b *testing.B) {
	everyKind(func(name string, dtype, op uint8) {
		r := rand.New(rand.NewPCG(7, 8))
		var in [][]byte
		for range 8 {
			in = append(in, randomPayload(r, dtype, 4096/ElementBytes(dtype)))
		}
		for _, tree := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s tree=%t", name, tree), func(b *testing.B) {
				b.SetBytes(8 * 4096)
				for b.Loop() {
					if tree {
						ReduceTree(dtype, op, false, in)
					} else {
						Reduce(dtype, op, false, in)
					}
				}
			})
		}
	})
}
