// SPDX-License-Identifier: Apache-2.0

package inc

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// The arithmetic of protocol.md section 3. Every element is kept and reduced as a word of 32 bits: an INT32 as it is, FP32
// as its IEEE 754 encoding, FP16 and BF16 widened to FP32. So a 16-bit type takes two bits for each bit of payload while
// it is in a slot, and is rounded once, when it leaves.
//
// An element that meets no other goes through as it came, the payload bits of a NaN included; every operation that
// yields a NaN yields the canonical one.

// canonicalNaN is the one NaN that operations make, in FP32. Rounded it is 0x7E00 in FP16 and 0x7FC0 in BF16.
const canonicalNaN = 0x7FC00000

// Wide tells whether elements of this type, DTypeFP16 or DTypeBF16, are kept as FP32, so that a packet takes two slots of
// the buffer.
func Wide(dtype uint8) bool { return dtype == DTypeFP16 || dtype == DTypeBF16 }

// ElementBytes is the size of an element of this type in a payload, 2 or 4.
func ElementBytes(dtype uint8) int {
	if Wide(dtype) {
		return 2
	}
	return 4
}

// Reduce gives what an in-place engine makes of contributions accepted in this order: each is added to the sum of those
// before it, and 16-bit types are rounded once at the end. One contribution is its own result. dtype and op are the
// constants of this package. It gives nil for no contributions, and panics if they differ in length or are no whole
// number of elements.
func Reduce(dtype, op uint8, bigEndian bool, contributions [][]byte) []byte {
	if len(contributions) == 0 {
		return nil
	}
	a := arithmeticOf(dtype, op, bigEndian)
	length := len(contributions[0])
	sum, addend := make([]uint32, a.elements(length)), make([]uint32, a.elements(length))
	for i, c := range contributions {
		a.mustFit(c, length)
		if i == 0 {
			a.decode(sum, c)
			continue
		}
		a.decode(addend, c)
		a.add(sum, addend)
	}
	result := make([]byte, length)
	a.encode(result, sum)
	return result
}

// ReduceTree gives what a reproducible engine makes of contributions, which are indexed by endpoint and nil where there
// is none: the fixed binary tree in which every level joins nodes 2i and 2i+1 and an absent node passes its sibling
// through. 16-bit types are rounded once at the root. It gives nil if all are nil, and panics as Reduce does.
func ReduceTree(dtype, op uint8, bigEndian bool, contributions [][]byte) []byte {
	a := arithmeticOf(dtype, op, bigEndian)
	first := slices.IndexFunc(contributions, func(c []byte) bool { return c != nil })
	if first < 0 {
		return nil
	}
	length := len(contributions[first])
	nodes := make([][]uint32, len(contributions))
	for i, c := range contributions {
		if c != nil {
			a.mustFit(c, length)
			nodes[i] = make([]uint32, a.elements(length))
			a.decode(nodes[i], c)
		}
	}
	result := make([]byte, length)
	a.encode(result, a.tree(nodes))
	return result
}

// arithmetic is what a group does to elements.
type arithmetic struct {
	// add reduces the elements of sum with those of addend, one by one.
	add func(sum, addend []uint32)
	// widen and narrow lead from a 16-bit element to a word and back; nil for types of 32 bits.
	widen     func(h uint16) uint32
	narrow    func(w uint32) uint16
	bigEndian bool
}

// arithmeticOf panics for a dtype or op that does not exist.
func arithmeticOf(dtype, op uint8, bigEndian bool) arithmetic {
	a := arithmetic{bigEndian: bigEndian}
	switch dtype {
	case DTypeFP32:
	case DTypeFP16:
		a.widen, a.narrow = widenFP16, narrowFP16
	case DTypeBF16:
		a.widen, a.narrow = widenBF16, narrowBF16
	case DTypeINT32:
		a.add = [...]func(sum, addend []uint32){OpSum: addSumINT32, OpMin: addMinINT32, OpMax: addMaxINT32}[op]
		return a
	default:
		panic(fmt.Sprintf("there is no dtype %d", dtype))
	}
	a.add = [...]func(sum, addend []uint32){OpSum: addSumFP32, OpMin: addMinFP32, OpMax: addMaxFP32}[op]
	return a
}

// mustFit panics unless a contribution has that length and is a whole number of elements: whoever compares an engine with
// something an engine cannot hold should hear of it.
func (a *arithmetic) mustFit(contribution []byte, length int) {
	if len(contribution) != length || length%a.elementBytes() != 0 {
		panic(fmt.Sprintf("a contribution of %d bytes among those of %d, in elements of %d", len(contribution), length, a.elementBytes()))
	}
}

func (a *arithmetic) elementBytes() int {
	if a.widen != nil {
		return 2
	}
	return 4
}

// elements is the number of elements in a payload of length bytes.
func (a *arithmetic) elements(length int) int { return length / a.elementBytes() }

// decode makes words of a payload. The byte order decides which bytes an element is made of and which way carry runs, so
// it is the group's and not the machine's.
func (a *arithmetic) decode(words []uint32, payload []byte) {
	switch {
	case a.widen == nil:
		for i := range words {
			w := binary.LittleEndian.Uint32(payload[4*i:])
			if a.bigEndian {
				w = bits.ReverseBytes32(w)
			}
			words[i] = w
		}
	default:
		for i := range words {
			h := binary.LittleEndian.Uint16(payload[2*i:])
			if a.bigEndian {
				h = bits.ReverseBytes16(h)
			}
			words[i] = a.widen(h)
		}
	}
}

// encode makes a payload of words: the one rounding of 16-bit types.
func (a *arithmetic) encode(payload []byte, words []uint32) {
	switch {
	case a.narrow == nil:
		for i, w := range words {
			if a.bigEndian {
				w = bits.ReverseBytes32(w)
			}
			binary.LittleEndian.PutUint32(payload[4*i:], w)
		}
	default:
		for i, w := range words {
			h := a.narrow(w)
			if a.bigEndian {
				h = bits.ReverseBytes16(h)
			}
			binary.LittleEndian.PutUint16(payload[2*i:], h)
		}
	}
}

// tree reduces nodes, indexed by endpoint and nil where there is none, by the fixed tree (see ReduceTree) and gives what is
// at its root. It works in the nodes' own memory. There must be at least one.
func (a *arithmetic) tree(nodes [][]uint32) []uint32 {
	for len(nodes) > 1 {
		above := nodes[:(len(nodes)+1)/2] // its node i is written when nodes 2i and 2i+1 have been read
		for i := range above {
			left, right := nodes[2*i], []uint32(nil)
			if 2*i+1 < len(nodes) {
				right = nodes[2*i+1]
			}
			switch {
			case left == nil:
				left = right
			case right != nil:
				a.add(left, right)
			}
			above[i] = left
		}
		nodes = above
	}
	return nodes[0]
}

// One loop an operation, so that the compiler sees what is in it.

func addSumINT32(sum, addend []uint32) {
	for i, w := range addend {
		sum[i] = sumINT32(sum[i], w)
	}
}

func addMinINT32(sum, addend []uint32) {
	for i, w := range addend {
		sum[i] = minINT32(sum[i], w)
	}
}

func addMaxINT32(sum, addend []uint32) {
	for i, w := range addend {
		sum[i] = maxINT32(sum[i], w)
	}
}

func addSumFP32(sum, addend []uint32) {
	for i, w := range addend {
		sum[i] = sumFP32(sum[i], w)
	}
}

func addMinFP32(sum, addend []uint32) {
	for i, w := range addend {
		sum[i] = minFP32(sum[i], w)
	}
}

func addMaxFP32(sum, addend []uint32) {
	for i, w := range addend {
		sum[i] = maxFP32(sum[i], w)
	}
}

// INT32: two's complement; a sum wraps, which makes signed and unsigned addition the same.

func sumINT32(a, b uint32) uint32 { return a + b }
func minINT32(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }
func maxINT32(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }

// sumFP32 is IEEE 754 addition, round to nearest, ties to even, with subnormals, infinities and signed zeros: Go's float32
// is just that. Go may fuse several operations into one, and so skip a rounding; here is a single addition between
// encodings, and the explicit conversion, which the language says rounds, keeps it single wherever the compiler inlines
// it. What the hardware makes of NaNs differs between machines, so that is decided here: any NaN out is the canonical one.
func sumFP32(a, b uint32) uint32 {
	sum := math.Float32bits(float32(math.Float32frombits(a) + math.Float32frombits(b)))
	if isNaN(sum) {
		return canonicalNaN
	}
	return sum
}

// minFP32 is IEEE 754-2019 minimum: a NaN on either side yields a NaN, and −0 is less than +0.
func minFP32(a, b uint32) uint32 {
	switch {
	case isNaN(a) || isNaN(b):
		return canonicalNaN
	case rank(b) < rank(a):
		return b
	}
	return a
}

// maxFP32 is IEEE 754-2019 maximum, the mirror image of minFP32.
func maxFP32(a, b uint32) uint32 {
	switch {
	case isNaN(a) || isNaN(b):
		return canonicalNaN
	case rank(b) > rank(a):
		return b
	}
	return a
}

// isNaN tells whether w encodes a NaN: the exponent all ones and the significand not zero.
func isNaN(w uint32) bool { return w&0x7FFFFFFF > 0x7F800000 }

// rank orders encodings that are no NaNs as their values, −0 just below +0: within a sign the encodings are in order
// already, upside down for the negative ones.
func rank(w uint32) int32 {
	if w>>31 != 0 {
		return ^int32(w & 0x7FFFFFFF)
	}
	return int32(w)
}

// What sets FP16 (IEEE 754 binary16) and BF16 apart, as FP32 is 23 bits of significand after the point and a bias of 127.
const (
	fp16Fraction, fp16Bias = 10, 15
	bf16Fraction, bf16Bias = 7, 127
	fp32Fraction, fp32Bias = 23, 127
)

// widenFP16 is the FP32 of the same value. Every FP16 has one; a NaN keeps its sign and its bits, moved up.
func widenFP16(h uint16) uint32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>fp16Fraction&0x1F), uint32(h&0x3FF)
	switch exponent {
	case 0x1F: // infinity or NaN
		exponent = 0xFF
	case 0: // fraction · 2^−24, which is zero or a normal number in FP32
		if fraction == 0 {
			return sign
		}
		up := fp16Fraction + 1 - bits.Len32(fraction) // until the leading one stands where normal numbers have it, implied
		fraction = fraction << up & 0x3FF
		exponent = uint32(1 - up + fp32Bias - fp16Bias)
	default:
		exponent += fp32Bias - fp16Bias
	}
	return sign | exponent<<fp32Fraction | fraction<<(fp32Fraction-fp16Fraction)
}

// widenBF16 is the FP32 of the same value, of which a BF16 is the upper half.
func widenBF16(h uint16) uint32 { return uint32(h) << 16 }

func narrowFP16(w uint32) uint16 { return narrow(w, fp16Fraction, fp16Bias) }
func narrowBF16(w uint32) uint16 { return narrow(w, bf16Fraction, bf16Bias) }

// narrow rounds an FP32 to the nearest number, ties to even, of a 16-bit format with a sign, so many bits of fraction and
// that bias, subnormals included; what rounds beyond the largest number is infinite.
//
// A NaN is cut, not rounded: it keeps its sign and the upper bits of its fraction, so that narrowing undoes widening. One
// that has nothing there, which neither widening nor an operation makes, becomes a quiet one lest it turn into infinity.
func narrow(w uint32, fraction, bias int) uint16 {
	sign := uint16(w >> 31 << 15)
	exponent, significand := int(w>>fp32Fraction&0xFF), w&(1<<fp32Fraction-1)
	infinity := uint16(1<<15 - 1<<fraction)
	if exponent == 0xFF {
		if significand == 0 {
			return sign | infinity
		}
		cut := uint16(significand >> (fp32Fraction - fraction))
		if cut == 0 {
			cut = 1 << (fraction - 1)
		}
		return sign | infinity | cut
	}

	// The value is significand · 2^scale, of which scale+fp32Fraction is the leading bit's power unless it is subnormal.
	if exponent == 0 {
		exponent = 1
	} else {
		significand |= 1 << fp32Fraction
	}
	scale := exponent - fp32Bias - fp32Fraction

	// The target's numbers near it are multiples n of 2^quantum: fraction bits below the leading one, but never finer than
	// the subnormals.
	finest := 1 - bias - fraction
	quantum := max(scale+fp32Fraction-fraction, finest)
	cut := min(quantum-scale, 31) // at least 13; from 25 on there is nothing but zero to round to
	n, rest, half := significand>>cut, significand&(1<<cut-1), uint32(1)<<(cut-1)
	if rest > half || rest == half && n&1 != 0 {
		n++
	}

	// Encodings follow each other as the numbers do, so n is the distance from the first encoding with this quantum; that
	// of the finest is 0. A carry out of n is thereby the next power of two, and from the largest one infinity.
	encoding := uint32(quantum-finest)<<fraction + n
	return sign | uint16(min(encoding, uint32(infinity)))
}
