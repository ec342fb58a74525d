// SPDX-License-Identifier: Apache-2.0

// Package arith is the arithmetic of verification: it makes payloads and computes the results to expect. It is
// written from the specification with Go's float32 and float64 and shares no code with the reference engine, so that
// arith, reference and Verilog are three independent implementations.
package arith

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"incforge/contract"
)

// DType is an element type; its value is the code in GROUP_COLLECTIVE.
type DType uint8

// The element types that code is about.
const (
	FP32 DType = iota
	FP16
	BF16
	INT32
)

// elements are what the contract says of the types, by code. Nothing writes to it.
var elements = contract.Elements()

// element is what the type is.
func (d DType) element() contract.Element {
	if int(d) >= len(elements) {
		return contract.Element{Name: fmt.Sprintf("type %d", uint8(d)), Bits: contract.LaneBits}
	}
	return elements[d]
}

// String is the name as in parameter files.
func (d DType) String() string { return d.element().Name }

// Size is the number of bytes of an element.
func (d DType) Size() int { return d.element().Bytes() }

// Wide tells that the engine keeps elements as FP32: two bits of buffer for a bit of payload, or more.
func (d DType) Wide() bool { return d.element().Widened() }

// Float tells that elements are no integers.
func (d DType) Float() bool { return d.element().Float() }

// Op is an operation; its value is the code in GROUP_COLLECTIVE.
type Op uint8

// The operations.
const (
	Sum Op = iota
	Min
	Max
	ops
)

// String is the name as in parameter files.
func (o Op) String() string { return [...]string{"SUM", "MIN", "MAX", "op 3"}[o&3] }

// Kind is what a group computes: element type, operation, byte order on the wire.
type Kind struct {
	DType     DType
	Op        Op
	BigEndian bool
}

// String is for messages and names: FP16/MAX/big.
func (k Kind) String() string {
	order := "little"
	if k.BigEndian {
		order = "big"
	}
	return k.DType.String() + "/" + k.Op.String() + "/" + order
}

// Kinds are all combinations of the included element types and operations, given as masks with one bit per code, in
// both byte orders.
func Kinds(dtypeMask, opMask uint32) []Kind {
	var all []Kind
	for d := range DType(len(elements)) {
		for o := range ops {
			if dtypeMask>>d&1 != 0 && opMask>>o&1 != 0 {
				all = append(all, Kind{d, o, false}, Kind{d, o, true})
			}
		}
	}
	return all
}

func (k Kind) order() binary.ByteOrder {
	if k.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Bits is the encoding of element i of a payload.
func (k Kind) Bits(b []byte, i int) uint32 {
	switch k.DType.Size() {
	case 1:
		return uint32(b[i])
	case 2:
		return uint32(k.order().Uint16(b[2*i:]))
	}
	return k.order().Uint32(b[4*i:])
}

// SetBits writes element i.
func (k Kind) SetBits(b []byte, i int, v uint32) {
	switch k.DType.Size() {
	case 1:
		b[i] = uint8(v)
	case 2:
		k.order().PutUint16(b[2*i:], uint16(v))
	default:
		k.order().PutUint32(b[4*i:], v)
	}
}

// Set writes a number to element i, rounded to nearest, ties to even; an integer takes its low bits.
func (k Kind) Set(b []byte, i int, v float64) {
	if !k.DType.Float() {
		k.SetBits(b, i, uint32(int64(v)))
		return
	}
	k.SetBits(b, i, k.DType.format().round(v))
}

// Elements is the number of elements in n bytes.
func (k Kind) Elements(n int) int { return n / k.DType.Size() }

// format is a binary interchange format.
type format struct {
	mantissa int // stored bits
	exponent int
	nan      uint32 // the canonical one
}

// format is the type's if it is a floating-point one, and that of FP32 for integers, which are kept as they are.
func (d DType) format() format {
	e := d.element()
	if !e.Float() {
		e = elements[FP32]
	}
	fraction := e.Bits - 1 - e.Exponent
	return format{fraction, e.Exponent, (1<<(e.Exponent+1) - 1) << (fraction - 1)} // the canonical NaN is positive and quiet, its payload 0
}

func (f format) sign() uint32 { return 1 << (f.mantissa + f.exponent) }
func (f format) inf() uint32  { return (1<<f.exponent - 1) << f.mantissa }
func (f format) bias() int    { return 1<<(f.exponent-1) - 1 }

// minimum is the exponent of the smallest normal number.
func (f format) minimum() int { return 1 - f.bias() }

func (f format) isNaN(v uint32) bool { return v&^f.sign() > f.inf() }

// value is the number that bits stand for.
func (f format) value(v uint32) float64 {
	m := float64(v & (1<<f.mantissa - 1))
	e := int(v>>f.mantissa) & (1<<f.exponent - 1)
	var x float64
	switch {
	case f.isNaN(v):
		return math.NaN()
	case v&^f.sign() == f.inf():
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(m, f.minimum()-f.mantissa)
	default:
		x = math.Ldexp(m+float64(uint32(1)<<f.mantissa), e-f.bias()-f.mantissa)
	}
	if v&f.sign() != 0 {
		x = -x
	}
	return x
}

// quantum is the distance of the format's numbers around x, which is finite.
func (f format) quantum(x float64) float64 {
	e := f.minimum()
	if x != 0 {
		e = max(e, math.Ilogb(x))
	}
	return math.Ldexp(1, e-f.mantissa)
}

// round makes bits of a number: to nearest, ties to even, a NaN becomes the canonical one.
func (f format) round(x float64) uint32 {
	var sign uint32
	if math.Signbit(x) {
		sign = f.sign()
	}
	switch {
	case math.IsNaN(x):
		return f.nan
	case math.IsInf(x, 0):
		return sign | f.inf()
	}
	q := f.quantum(x)
	units := math.RoundToEven(math.Abs(x) / q) // exact: a division by a power of two
	if units == 0 {
		return sign
	}
	e := math.Ilogb(units * q)
	if e > f.bias() {
		return sign | f.inf()
	}
	if e < f.minimum() {
		return sign | uint32(units)
	}
	m := uint32(math.Ldexp(units*q, f.mantissa-e)) // with the leading one
	return sign | uint32(e+f.bias()-1)<<f.mantissa + m
}

// widen is an element as the engine keeps it: FP32, NaN payloads in the upper bits, or the integer.
func (d DType) widen(v uint32) uint32 {
	f := d.format()
	switch {
	case !d.Wide():
		return v
	case f.isNaN(v):
		return v&f.sign()<<(31-f.mantissa-f.exponent) | FP32.format().inf() | v&(1<<f.mantissa-1)<<(23-f.mantissa)
	}
	return math.Float32bits(float32(f.value(v)))
}

// narrow is the element that leaves.
func (d DType) narrow(v uint32) uint32 {
	f, single := d.format(), FP32.format()
	switch {
	case !d.Wide():
		return v
	case single.isNaN(v):
		low := v >> (23 - f.mantissa) & (1<<f.mantissa - 1)
		return v&single.sign()>>(31-f.mantissa-f.exponent) | f.inf() | low
	}
	return f.round(float64(math.Float32frombits(v)))
}

// apply applies the operation to two elements as the engine keeps them.
func (k Kind) apply(a, b uint32) uint32 {
	if !k.DType.Float() {
		x, y := int32(a), int32(b)
		return uint32([...]int32{x + y, min(x, y), max(x, y)}[k.Op])
	}
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	var z float32
	switch k.Op {
	case Sum:
		z = x + y
	case Min:
		z = min(x, y) // the built-ins are IEEE 754's minimum and maximum: a NaN stays, −0 < +0
	default:
		z = max(x, y)
	}
	if z != z {
		return FP32.format().nan
	}
	return math.Float32bits(z)
}

// InOrder reduces payloads of equal length one after the other, as an engine that adds in place does in the order of arrival.
func (k Kind) InOrder(payloads ...[]byte) []byte {
	return k.reduce(payloads, func(v []uint32) uint32 {
		acc := v[0]
		for _, x := range v[1:] {
			acc = k.apply(acc, x)
		}
		return acc
	})
}

// Tree reduces the payloads by the fixed tree over the endpoints: node (2i, 2i+1) at each level; a node with one
// operand passes it on. parts[e] is endpoint e's payload, nil for an endpoint that has none.
func (k Kind) Tree(parts [][]byte) []byte {
	var payloads [][]byte
	index := make([]int, len(parts)) // of endpoint e's element among those there are, −1: none
	for e, p := range parts {
		if index[e] = -1; p != nil {
			index[e] = len(payloads)
			payloads = append(payloads, p)
		}
	}
	width := 1
	for width < len(parts) {
		width *= 2
	}
	return k.reduce(payloads, func(v []uint32) uint32 {
		r, _ := k.node(v, index, 0, width)
		return r
	})
}

// node is the tree's node over endpoints first to first+width−1, false if none of them is there.
func (k Kind) node(v []uint32, index []int, first, width int) (uint32, bool) {
	switch {
	case first >= len(index):
		return 0, false
	case width == 1 && index[first] < 0:
		return 0, false
	case width == 1:
		return v[index[first]], true
	}
	a, left := k.node(v, index, first, width/2)
	b, right := k.node(v, index, first+width/2, width/2)
	switch {
	case left && right:
		return k.apply(a, b), true
	case left:
		return a, true
	}
	return b, right
}

func (k Kind) reduce(payloads [][]byte, join func(v []uint32) uint32) []byte {
	out := make([]byte, len(payloads[0]))
	v := make([]uint32, len(payloads))
	for i := range k.Elements(len(out)) {
		for r, p := range payloads {
			v[r] = k.DType.widen(k.Bits(p, i))
		}
		k.SetBits(out, i, k.DType.narrow(join(v)))
	}
	return out
}

// ErrInexact means that payloads do not have an exact sum, though their maker claimed so.
var ErrInexact = errors.New("the sum depends on the order of addition")

// Exact reduces payloads whose result does not depend on order or number of roundings: everything but sums of floats, and those
// that Values makes. The arithmetic is float64's. One payload alone stays as it is.
func (k Kind) Exact(payloads ...[]byte) ([]byte, error) {
	if len(payloads) == 1 || !k.DType.Float() || k.Op != Sum {
		return k.InOrder(payloads...), nil
	}
	f := k.DType.format()
	out := make([]byte, len(payloads[0]))
	for i := range k.Elements(len(out)) {
		s, size := math.Copysign(0, -1), 0.0
		unit := math.Inf(1)
		for _, p := range payloads {
			x := f.value(k.Bits(p, i))
			s += x
			if x != 0 {
				size += math.Abs(x)
				unit = min(unit, lowest(x))
			}
		}
		r := f.round(s)
		// Every partial sum, in any order, is a multiple of unit and no larger than size. If there are few enough of
		// those, the format represents all of them.
		if !math.IsNaN(s) && !math.IsInf(s, 0) && size > 0 && (size/unit > float64(uint32(1)<<(f.mantissa+1)) || f.round(size) == f.inf()) {
			return nil, fmt.Errorf("%w: element %d, %s", ErrInexact, i, k)
		}
		k.SetBits(out, i, r)
	}
	return out, nil
}

// lowest is the place value of the lowest bit set in a finite number; it is infinite for an infinity or a NaN.
func lowest(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.Inf(1)
	}
	frac, e := math.Frexp(math.Abs(x))
	m := uint64(math.Ldexp(frac, 53))
	return math.Ldexp(1, e-53+bits.TrailingZeros64(m))
}

// Near compares a sum of finite floats with float64's. They may differ by as many units in the last place as there
// are payloads.
func (k Kind) Near(got []byte, payloads ...[]byte) error {
	f := k.DType.format()
	if len(got) != len(payloads[0]) {
		return fmt.Errorf("%d bytes, expected %d", len(got), len(payloads[0]))
	}
	for i := range k.Elements(len(got)) {
		s := 0.0
		for _, p := range payloads {
			s += f.value(k.Bits(p, i))
		}
		x := f.value(k.Bits(got, i))
		if off := math.Abs(x-s) / f.quantum(s); !(off <= float64(len(payloads))) {
			return fmt.Errorf("element %d is %g, float64 has %g: %.1f units in the last place of %s, allowed are %d", i, x, s, off, k.DType,
				len(payloads))
		}
	}
	return nil
}

// Difference describes where a result differs from the expected one.
func (k Kind) Difference(got, want []byte) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, expected %d", len(got), len(want))
	}
	for i := range k.Elements(len(want)) {
		if a, b := k.Bits(got, i), k.Bits(want, i); a != b {
			return fmt.Sprintf("element %d of %d is %#x, expected %#x", i, k.Elements(len(want)), a, b)
		}
	}
	return "the same elements"
}

// Contribution is what one endpoint sent for a PSN.
type Contribution struct {
	End     int
	Payload []byte
}

// Combine is the result of contributions: in the order in which they stand, or, where sums are reproducible, by the fixed tree.
func (k Kind) Combine(all []Contribution, tree bool) []byte {
	if tree {
		parts := make([][]byte, 32)
		for _, x := range all {
			parts[x.End] = x.Payload
			if x.Payload == nil {
				parts[x.End] = []byte{}
			}
		}
		return k.Tree(parts)
	}
	var payloads [][]byte
	for _, x := range all {
		payloads = append(payloads, x.Payload)
	}
	return k.InOrder(payloads...)
}
