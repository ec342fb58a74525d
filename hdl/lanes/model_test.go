// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"math"
	"math/rand/v2"
)

// The operations' codes.
const (
	sum = iota
	minimum
	maximum
)

const canonical = 0x7FC00000

// want is the lane's arithmetic. Go adds float32 as IEEE 754 does, rounding to nearest even, with subnormals.
func want(op int, isInt bool, a, b uint32) uint32 {
	switch {
	case isInt && op == sum:
		return a + b
	case isInt && (int32(a) < int32(b)) == (op == minimum):
		return a
	case isInt:
		return b
	}
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if x != x || y != y {
		return canonical
	}
	if op == sum {
		s := x + y
		if s != s {
			return canonical
		}
		return math.Float32bits(s)
	}
	below := x < y
	if x == y { // equal, or zeros of two signs
		below = math.Signbit(float64(x))
	}
	if below == (op == minimum) {
		return a
	}
	return b
}

// special are the values where cases change: both signs of zeros, the ends of the subnormals, normal numbers round
// powers of two and about half a unit in the last place of others, the largest numbers, infinities, and NaN with payloads.
func special() []uint32 {
	positive := []uint32{
		0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x003FFFFF, 0x00400000, 0x00400001, 0x007FFFFE, 0x007FFFFF, // subnormal
		0x00800000, 0x00800001, 0x00800002, 0x00FFFFFF, 0x01000000, 0x01000001, 0x017FFFFF, 0x01800000, // just above
		0x0B800000, 0x0C000000, 0x0C000001, 0x0C7FFFFF, 0x0C800000, 0x0C800001, 0x0D000000, // 2**24 to 2**27 above the smallest normal
		0x32800000, 0x33000000, 0x33000001, 0x337FFFFF, 0x33800000, 0x33800001, 0x33FFFFFF, 0x34000000, 0x34000001, 0x34800000, // ties of 1
		0x3EFFFFFF, 0x3F000000, 0x3F000001, 0x3F7FFFFE, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3F800002, 0x3FFFFFFF, // near 1
		0x3FAAAAAA, 0x3FAAAAAB, 0x3FD55555, 0x40000000, 0x40000001, 0x40490FDB, 0x4B000000, 0x4B000001, 0x4B7FFFFF, 0x4B800000,
		0x4B800001, 0x4C000000, 0x4C000001, 0x72FFFFFF, 0x73000000, 0x737FFFFF, 0x73800000, // half a unit of the largest
		0x7E800000, 0x7EFFFFFF, 0x7F000000, 0x7F000001, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000, // largest, infinity
		0x7F800001, 0x7F8FEDCB, 0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF, // NaN, signalling and quiet
	}
	var out []uint32
	for _, v := range positive {
		out = append(out, v, v|1<<31)
	}
	return out
}

// pair draws two operands from one of several distributions.
func pair(r *rand.Rand) (a, b uint32) {
	bits := r.Uint64()
	a, b = uint32(bits), uint32(bits>>32)
	const exp, frac = 0xFF << 23, 1<<23 - 1
	switch k := r.Uint32(); k % 9 {
	case 1: // exponents a few apart: alignment
		e := (a>>23&0xFF + (k>>8)%64 - 32) & 0xFF
		b = b&^uint32(exp) | e<<23
	case 2: // opposite signs, close: cancellation
		b = (a ^ 1<<31) + (k>>8)%16 - 8
	case 3: // equal exponents, opposite signs
		b = b&frac | (a^1<<31)&^uint32(frac)
	case 4: // near the subnormals
		a = a&^uint32(exp) | (k>>8)%28<<23
		b = b&^uint32(exp) | (k>>16)%28<<23
	case 5: // ties: the small operand is a power of two, or nearly, below the last place
		e := a >> 23 & 0xFF
		b = b&(1<<31) | (e-min(e, 20+(k>>8)%8))<<23 | uint32(int32(k>>16%3)-1)&frac&-(k>>24&1)
	case 6: // few bits set or clear
		a = a&^uint32(frac) | sparse(k>>8)&frac
		b = b&^uint32(frac) | sparse(k>>20)&frac
	case 7: // near overflow
		a |= 0x7E << 24
		b |= 0x7E << 24
	case 8:
		s := special()
		a = s[int(a)%len(s)]
		if k>>8&1 != 0 {
			b = s[int(b)%len(s)]
		}
	}
	return a, b
}

// sparse is a run of equal bits, or one bit, or their complement.
func sparse(k uint32) uint32 {
	v := uint32(1) << (k % 24)
	if k>>5&1 != 0 {
		v--
	}
	if k>>6&1 != 0 {
		v = ^v
	}
	return v
}
