// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"slices"
	"strings"
)

// Names of element types and operations, for code that is about one of them.
const (
	FP32  = "FP32"
	FP16  = "FP16"
	BF16  = "BF16"
	INT32 = "INT32"

	SUM = "SUM"
	MIN = "MIN"
	MAX = "MAX"
)

// LaneBits is the width of an adder, and of an element as the payload memory keeps it.
const LaneBits = 32

// Element is an element type.
type Element struct {
	// Name is how parameter files and the manifest call it.
	Name string
	// Bits is the size of an element in a packet, at most LaneBits.
	Bits int
	// Exponent is the number of bits of a floating-point number's exponent; what is left beside it and the sign is the fraction. It is 0
	// for an integer.
	Exponent int
	Doc      string
}

// elements are the element types in the order of their codes.
//
// A control's immediate has two bits for the code (protocol: docs/engine.md section 3.3), and they are full: a fifth type and those after
// it can be chosen by GROUP_COLLECTIVE alone. That register's field is as wide as this list needs, and the Go code follows an entry's bits;
// the Verilog's data path does not yet: dtype ports are two bits wide, and AggregateData knows elements of 32 and of 16 bits alone.
func elements() []Element {
	return []Element{
		{Name: FP32, Bits: 32, Exponent: 8, Doc: "IEEE 754 binary32."},
		{Name: FP16, Bits: 16, Exponent: 5, Doc: "IEEE 754 binary16, added as binary32 and rounded once."},
		{Name: BF16, Bits: 16, Exponent: 8, Doc: "The upper half of binary32, added as binary32 and rounded once."},
		{Name: INT32, Bits: 32, Doc: "32-bit integers, two's complement; sums wrap."},
	}
}

// Elements returns all element types in the order of their codes.
func Elements() []Element { return elements() }

// ElementNames returns the names of all element types in the order of their codes.
func ElementNames() []string {
	var out []string
	for _, e := range elements() {
		out = append(out, e.Name)
	}
	return out
}

// ElementNamed returns the element type of that name and its code.
func ElementNamed(name string) (e Element, code int, ok bool) {
	all := elements()
	code = slices.IndexFunc(all, func(e Element) bool { return e.Name == name })
	if code < 0 {
		return Element{}, -1, false
	}
	return all[code], code, true
}

// Float tells that it is no integer.
func (e Element) Float() bool { return e.Exponent > 0 }

// Bytes is the size of an element in a packet.
func (e Element) Bytes() int { return e.Bits / 8 }

// Widened tells that an element is narrower than a lane: it is kept and added as binary32.
func (e Element) Widened() bool { return e.Bits > 0 && e.Bits < LaneBits }

// Units is the number of units of the payload memory that a packet of such elements takes: bits kept for a bit of payload.
func (e Element) Units() int { return LaneBits / e.Bits }

// Operation is a reduction.
type Operation struct {
	// Name is how parameter files and the manifest call it.
	Name string
	Doc  string
}

// Operations returns all reductions in the order of their codes.
func Operations() []Operation {
	return []Operation{
		{SUM, "Sum."},
		{MIN, "Smallest; of floating-point numbers IEEE 754-2019 minimum."},
		{MAX, "Largest; of floating-point numbers IEEE 754-2019 maximum."},
	}
}

// OperationNames returns the names of all reductions in the order of their codes.
func OperationNames() []string {
	var out []string
	for _, o := range Operations() {
		out = append(out, o.Name)
	}
	return out
}

// Collectives returns the collectives in the order of their codes.
func Collectives() []Operation {
	return []Operation{
		{"allreduce", "AllReduce; the only one of an in-band group."},
		{"reduce", "Reduce: the result goes to the parent alone."},
		{"broadcast", "Broadcast: data from the parent goes to all others."},
		{"barrier", "Barrier: packets without payload."},
	}
}

// CollectiveNames returns the names of the collectives in the order of their codes.
func CollectiveNames() []string {
	var out []string
	for _, o := range Collectives() {
		out = append(out, o.Name)
	}
	return out
}

// mask has bit i set if names[i] is in list.
func mask(list, names []string) uint32 {
	var m uint32
	for i, n := range names {
		if slices.Contains(list, n) {
			m |= 1 << i
		}
	}
	return m
}

// values are the values of an enumeration for those of names that are in list; docs is as long as names.
func values(list, names, docs []string) []Value {
	var out []Value
	for i, n := range names {
		if slices.Contains(list, n) {
			out = append(out, Value{strings.ToLower(n), uint32(i), docs[i]})
		}
	}
	return out
}
