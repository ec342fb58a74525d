// SPDX-License-Identifier: Apache-2.0

package arith

import (
	"math"
	"math/rand/v2"

	"incforge/internal/splitmix"
)

// Noise is a payload of n bytes of hard cases: NaNs with payloads, infinities, subnormals, zeros of both signs, numbers
// close to each other and ties. Its sums depend on the order of addition.
func (k Kind) Noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	for i := range k.Elements(n) {
		if !k.DType.Float() {
			if rng.IntN(3) == 0 {
				k.SetBits(b, i, []uint32{0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x00FFFFFF, 0x0000FFFF, 0xFF}[rng.IntN(8)])
			}
			continue
		}
		k.SetBits(b, i, k.DType.format().hard(rng))
	}
	return b
}

// hard is an element of Noise.
func (f format) hard(rng *rand.Rand) uint32 {
	one := uint32(f.bias()) << f.mantissa
	sign := f.sign() * uint32(rng.IntN(2))
	low := rng.Uint32() & (1<<f.mantissa - 1)
	switch rng.IntN(13) {
	case 0: // anything
		return sign | rng.Uint32()&(f.sign()-1)
	case 1:
		return sign | []uint32{0, 0, 1, 1<<f.mantissa - 1, 1 << f.mantissa, f.inf() - 1, f.inf(), f.nan}[rng.IntN(8)]
	case 2:
		return sign
	case 3: // a NaN, signalling or not
		return sign | f.inf() | max(low, 1)
	case 4:
		return sign | low // subnormal
	case 5, 6: // few bits, far apart: the bits shifted out are often exactly one half
		return sign | one + uint32(rng.IntN(f.mantissa+3))<<f.mantissa - uint32(f.mantissa/2)<<f.mantissa | low&(3<<(f.mantissa-2))
	case 7: // large
		return sign | f.inf() - 1<<f.mantissa | low
	case 8, 9: // one large number: it cancels with its negative, and whether what was added in between is lost depends on the order
		return sign | f.inf() - 4<<f.mantissa
	}
	return sign | one + uint32(rng.IntN(4))<<f.mantissa | low
}

// Values is a payload of n bytes whose reduction with up to ranks−1 others of the same salt is the same in any order
// and with any number of roundings. Payloads of float SUMs are integers times one power of two for each element,
// subnormal and large ones among them, and infinities, NaNs and zeros; for other kinds Values is Noise.
func (k Kind) Values(rng *rand.Rand, salt uint64, ranks, n int) []byte {
	if !k.DType.Float() || k.Op != Sum {
		return k.Noise(rng, n)
	}
	f := k.DType.format()
	limit := 1 << (f.mantissa + 1) / max(ranks, 1)
	lowest, highest := f.minimum()-f.mantissa, f.bias()-f.mantissa-1
	b := make([]byte, n)
	for i := range k.Elements(n) {
		h := splitmix.At(salt, uint64(i)) // which numbers element i may hold, the same for all payloads of one salt
		e := -f.mantissa/2 - 3 + int(h>>8%8)
		switch h % 16 {
		case 0:
			e = lowest + int(h>>8%3)
		case 1:
			e = highest - int(h>>8%3)
		case 2:
			e = lowest + int(h>>8%uint64(highest-lowest))
		case 3: // zeros
			k.SetBits(b, i, f.sign()*uint32(rng.IntN(2)))
			continue
		case 4:
			if v, ok := f.special(rng); ok {
				k.SetBits(b, i, v)
				continue
			}
		}
		k.Set(b, i, math.Ldexp(float64(rng.IntN(2*limit+1)-limit), e))
	}
	return b
}

// special is, in one case of four, an infinity or a NaN.
func (f format) special(rng *rand.Rand) (uint32, bool) {
	switch rng.IntN(16) {
	case 0, 1:
		return f.inf(), true
	case 2:
		return f.inf() | f.sign(), true
	case 3:
		return f.inf() | f.sign()*uint32(rng.IntN(2)) | 1 + rng.Uint32()&(1<<f.mantissa-2), true
	}
	return 0, false
}

// Smooth is a payload of n bytes of positive numbers between 1 and 4, of which hardly any sum is exact. Only sums of floats may be
// judged by Near.
func (k Kind) Smooth(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range k.Elements(n) {
		k.Set(b, i, 1+3*rng.Float64())
	}
	return b
}
