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
	magnitude := v &^ f.sign()
	x := math.Ldexp(math.Float64frombits(uint64(magnitude)<<(52-f.mantissa)), 1023-f.bias()) // subnormals, too, are in place but for the bias
	switch {
	case magnitude > f.inf():
		return math.NaN()
	case magnitude == f.inf():
		x = math.Inf(1)
	}
	if v != magnitude {
		return -x
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
	// The units of a normal number have the leading one in them, which adds 1 to the exponent; a round-up may carry into it likewise.
	q := f.quantum(x)
	units := math.RoundToEven(math.Abs(x) / q) // exact: a division by a power of two
	e := math.Ilogb(q) + f.mantissa - f.minimum()
	return sign | uint32(min(uint64(e)<<f.mantissa+uint64(units), uint64(f.inf())))
}

// Number is element i of a payload as a number; an INT32's is exact.
func (k Kind) Number(b []byte, i int) float64 {
	if !k.DType.Float() {
		return float64(int32(k.Bits(b, i)))
	}
	return k.DType.format().value(k.Bits(b, i))
}

// Ulp is the distance of the type's numbers around x, which is finite; 1 for INT32.
func (d DType) Ulp(x float64) float64 {
	if !d.Float() {
		return 1
	}
	return d.format().quantum(x)
}

// overflows tells that x, rounded, is no finite number of the type.
func (d DType) overflows(x float64) bool {
	if !d.Float() {
		return x < -1<<31 || x >= 1<<31
	}
	f := d.format()
	return f.round(x)&^f.sign() >= f.inf()
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
	z := [...]float32{x + y, min(x, y), max(x, y)}[k.Op] // the built-ins are IEEE 754's minimum and maximum: a NaN stays, −0 < +0
	if z != z {
		return FP32.format().nan
	}
	return math.Float32bits(z)
}

// operand is an element as the engine keeps it, or none.
type operand struct {
	v     uint32
	there bool
}

// InOrder reduces payloads of equal length one after the other, as an engine that adds in place does in the order of arrival.
func (k Kind) InOrder(payloads ...[]byte) []byte {
	return k.reduce(payloads, func(v []operand) operand {
		acc := v[0]
		for _, x := range v[1:] {
			acc = k.join(acc, x)
		}
		return acc
	})
}

// Tree reduces the payloads by the fixed tree over the endpoints: node (2i, 2i+1) at each level; a node with one
// operand passes it on. parts[e] is endpoint e's payload, nil for an endpoint that has none.
func (k Kind) Tree(parts [][]byte) []byte {
	return k.reduce(parts, func(v []operand) operand {
		for n := len(v); n > 1; n = (n + 1) / 2 {
			for i := 0; i < n; i += 2 {
				if v[i/2] = v[i]; i+1 < n {
					v[i/2] = k.join(v[i], v[i+1])
				}
			}
		}
		return v[0]
	})
}

// join applies the operation to what is there.
func (k Kind) join(a, b operand) operand {
	switch {
	case !a.there:
		return b
	case !b.there:
		return a
	}
	return operand{k.apply(a.v, b.v), true}
}

// reduce reduces payloads element by element; some may be nil.
func (k Kind) reduce(payloads [][]byte, join func(v []operand) operand) []byte {
	size := 0
	for _, p := range payloads {
		size = max(size, len(p))
	}
	out := make([]byte, size)
	v := make([]operand, len(payloads))
	for i := range k.Elements(size) {
		for r, p := range payloads {
			if v[r] = (operand{}); p != nil {
				v[r] = operand{k.DType.widen(k.Bits(p, i)), true}
			}
		}
		k.SetBits(out, i, k.DType.narrow(join(v).v))
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
		s, size, unit := math.Copysign(0, -1), 0.0, math.Inf(1)
		for _, p := range payloads {
			x := f.value(k.Bits(p, i))
			s, size, unit = s+x, size+math.Abs(x), min(unit, lowest(x))
		}
		// Every partial sum, in any order, is a multiple of unit and no larger than size. If there are few enough of
		// those, the format represents all of them.
		if finite := size <= math.MaxFloat64; finite && (size/unit > float64(uint32(1)<<(f.mantissa+1)) || f.round(size) == f.inf()) {
			return nil, fmt.Errorf("%w: element %d, %s", ErrInexact, i, k)
		}
		k.SetBits(out, i, f.round(s))
	}
	return out, nil
}

// lowest is the place value of the lowest bit set in a finite number; 0 has none, and it is infinite.
func lowest(x float64) float64 {
	if x == 0 {
		return math.Inf(1)
	}
	frac, e := math.Frexp(math.Abs(x))
	return math.Ldexp(1, e-53+bits.TrailingZeros64(uint64(math.Ldexp(frac, 53))))
}

// Near compares a sum of floats with float64's. It may be as many units in the last place of the sum of absolute values apart as there are
// payloads, which is more than their roundings, in any order, and one at each switch, come to. Where the sum may overflow in some order it
// may be infinite, or no number after that.
func (k Kind) Near(got []byte, payloads ...[]byte) error {
	if len(got) != len(payloads[0]) {
		return fmt.Errorf("%d bytes, expected %d", len(got), len(payloads[0]))
	}
	none := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
	for i := range k.Elements(len(got)) {
		x, sum, size := k.Number(got, i), 0.0, 0.0
		for _, p := range payloads {
			v := k.Number(p, i)
			sum, size = sum+v, size+math.Abs(v)
		}
		allowed := float64(len(payloads)) * k.DType.Ulp(size)
		within := math.Abs(x-sum) <= allowed || k.DType.overflows(size) && none(x)
		if none(sum) {
			within = x == sum || math.IsNaN(x) && math.IsNaN(sum)
		}
		if !within {
			return fmt.Errorf("element %d of %d is %g, float64 has %g, which is %g apart; %g is allowed", i, k.Elements(len(got)), x, sum,
				math.Abs(x-sum), allowed)
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
			return fmt.Sprintf("element %d of %d is %#x (%g), expected %#x (%g)", i, k.Elements(len(want)), a, k.Number(got, i), b,
				k.Number(want, i))
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
	inOrder, byEnd := make([][]byte, len(all)), make([][]byte, 32)
	for i, x := range all {
		inOrder[i], byEnd[x.End] = x.Payload, x.Payload
	}
	if tree {
		return k.Tree(byEnd)
	}
	return k.InOrder(inOrder...)
}
