// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"errors"
	"fmt"
)

// Access says what software may do with a register or a field.
type Access string

const (
	// RO is read only: writes are ignored.
	RO Access = "ro"
	// RW is read and written.
	RW Access = "rw"
)

// ErrUnknownRegister means that there is no register, field or index of that name.
var ErrUnknownRegister = errors.New("unknown register")

// Layout of the map, in bytes.
const (
	GlobalBase  = 0x0000
	BypassBase  = 0x0400
	CounterBase = 0x0800
	// CounterHighBase is where the counters' high words are, at the distance at which the low words are from CounterBase.
	CounterHighBase = 0x0C00
	GroupBase       = 0x1000
	GroupStride     = 64
	EndpointBase    = 0x8000
	EndpointStep    = 64
	// GROUP_PIPE and GROUP_FAILED, of Modes III and I, and the three of Mode I alone: a word a group.
	PipeBase     = 0x2000
	FailedBase   = 0x2100
	MessagesBase = 0x2200
	ReleaseBase  = 0x2300
	RefusedBase  = 0x2400
	// PortBase is where the ports' counters are, PortStride apart by kind: a word a port.
	PortBase   = 0x4000
	PortStride = 0x80
)

// PipeWord is the number of the table word as which inc_csr sends GROUP_PIPE to the blocks that keep it. It is GROUP_STATUS's, which is read
// only and therefore never sent.
const PipeWord = 1

// Roots is the number of ranks that can be the root of a Reduce or Broadcast in an in-band group; a register GROUP_ROUTE has
// RoutesPerWord of them.
const (
	Roots         = 32
	RoutesPerWord = 5
)

// Identity of the engine, as read from registers ID and VERSION.
const (
	Magic        = 0x494E4331 // "INC1"
	VersionMajor = 1
	VersionMinor = 3
	// DefaultIPID is the reset value of IP_ID.
	DefaultIPID = 0x1111
)

// Value is a named value of a field.
type Value struct {
	Name  string `json:"name"`
	Value uint32 `json:"value"`
	Doc   string `json:"doc"`
}

// Field is a run of bits in a register. Bits in no field read 0 and ignore writes.
type Field struct {
	Name string `json:"name"`
	// LSB is the number of the lowest bit, Width the number of bits.
	LSB   int    `json:"lsb"`
	Width int    `json:"width"`
	Doc   string `json:"doc"`
	// Reset is the field's value after reset, not shifted.
	Reset uint32 `json:"-"`
	// Max is the largest value that means something; nil if all that fit do.
	Max *uint32 `json:"max,omitempty"`
	// SelfClearing marks bits that start something when written and always read 0.
	SelfClearing bool `json:"self_clearing,omitempty"`
	// Values are the named values, if the field is an enumeration; no other is legal.
	Values []Value `json:"values,omitempty"`

	// widthParam is the parameter of inc_csr that is the field's width, for a field whose width is not the same in every engine.
	widthParam string
	// resetText says what Reset is, for a field whose reset value is not the same in every engine.
	resetText string
}

// Mask returns the field's bits in place.
func (f Field) Mask() uint32 { return uint32((uint64(1)<<f.Width - 1) << f.LSB) }

// Get returns the field's value out of its register's.
func (f Field) Get(register uint32) uint32 { return register & f.Mask() >> f.LSB }

// Put returns a value of the field in place. What does not fit the field is cut off.
func (f Field) Put(value uint32) uint32 { return value << f.LSB & f.Mask() }

// Register is one register or, with Count above 1, an array of equal ones at Offset + i·Stride. Where a switch has several engines, those of
// an engine's own have Per elements in the window of each: the i-th is at Offset + (i/Per)·Window + (i mod Per)·Stride. The JSON form is that
// of the manifest (docs/engine.md section 8).
type Register struct {
	Name string `json:"name"`
	// Offset is the byte address of the first; Stride is 4 for a single register.
	Offset uint32 `json:"offset"`
	Count  int    `json:"count"`
	Stride uint32 `json:"stride"`
	Per    int    `json:"per,omitempty"`
	Window uint32 `json:"window,omitempty"`
	Access Access `json:"access"`
	// Reset is the value after reset of the first; the i-th has Reset + i·ResetStep.
	Reset     uint32 `json:"reset"`
	ResetStep uint32 `json:"reset_step,omitempty"`
	// Volatile marks registers that the hardware changes.
	Volatile bool `json:"volatile,omitempty"`
	// Index names the index of an array: port, dscp, pcp, i (counter), g (group), ei (endpoint) n (counter, engine after engine) or engine. Empty for a register that is no array.
	Index string `json:"index,omitempty"`
	// Top is the key of the only top that has the register, empty if all have it.
	Top    string  `json:"top,omitempty"`
	Doc    string  `json:"doc"`
	Fields []Field `json:"fields"`

	// valueParam is the parameter of inc_csr that is the value of a register that never changes.
	valueParam string
	// general is Doc without the numbers of one engine, where Doc has some.
	general string
	// word is the number of the table word as which inc_csr sends the register to the blocks that keep it, if it is one of an array.
	word int
}

// Addr returns the byte address of the i-th register of the array.
func (r Register) Addr(i int) (uint32, error) {
	if i < 0 || i >= r.Size() {
		return 0, fmt.Errorf("address register %s: index %d is not from 0 to %d: %w", r.Name, i, r.Size()-1, ErrUnknownRegister)
	}
	return r.At(i), nil
}

// At is Addr for an element that there is.
func (r Register) At(i int) uint32 {
	if r.Per > 0 {
		return r.Offset + uint32(i/r.Per)*r.Window + uint32(i%r.Per)*r.Stride
	}
	return r.Offset + uint32(i)*r.Stride
}

// index is the element at an address.
func (r Register) index(addr uint32) (int, bool) {
	if addr < r.Offset {
		return 0, false
	}
	from, first, n := addr-r.Offset, 0, r.Size()
	if r.Per > 0 {
		first, n = int(from/r.Window)*r.Per, r.Per
		from %= r.Window
	}
	if from == 0 {
		return first, first < r.Size()
	}
	if r.Stride == 0 || from%r.Stride != 0 || int(from/r.Stride) >= n {
		return 0, false
	}
	i := first + int(from/r.Stride)
	return i, i < r.Size()
}

// ResetValue returns the value of the i-th register after reset.
func (r Register) ResetValue(i int) uint32 { return r.Reset + uint32(i)*r.ResetStep }

// Size is the number of elements, 1 for a register that is no array.
func (r Register) Size() int { return max(r.Count, 1) }

// Word is the number of the table word as which inc_csr sends the register to the blocks that keep it, if it is one of an array.
func (r Register) Word() int { return r.word }

// Field returns the field of that name.
func (r Register) Field(name string) (Field, bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Mask returns the bits of the register that are in some field.
func (r Register) Mask() uint32 {
	var m uint32
	for _, f := range r.Fields {
		m |= f.Mask()
	}
	return m
}

// Registers are those of an engine, in the order of docs/engine.md; those of one index are neighbours.
type Registers []Register

// Register returns the register of that name.
func (rs Registers) Register(name string) (*Register, error) {
	for i := range rs {
		if rs[i].Name == name {
			return &rs[i], nil
		}
	}
	return nil, fmt.Errorf("%w %s", ErrUnknownRegister, name)
}

// Addr is the byte address of element i of a register.
func (rs Registers) Addr(name string, i int) (uint32, error) {
	r, err := rs.Register(name)
	if err != nil {
		return 0, err
	}
	return r.Addr(i)
}

// Field returns a register's field.
func (rs Registers) Field(register, field string) (Field, error) {
	r, err := rs.Register(register)
	if err != nil {
		return Field{}, err
	}
	f, ok := r.Field(field)
	if !ok {
		return Field{}, fmt.Errorf("%w %s.%s", ErrUnknownRegister, register, field)
	}
	return f, nil
}

// Find is the register and element at a byte address.
func (rs Registers) Find(addr uint32) (*Register, int, bool) {
	for i := range rs {
		if k, ok := rs[i].index(addr); ok {
			return &rs[i], k, true
		}
	}
	return nil, 0, false
}

// Model is the register map of one engine. Registers are in the order of docs/engine.md; those of one index are neighbours.
type Model struct {
	// Name is the engine's name.
	Name string
	// AddrBits is the width of the AXI4-Lite byte address: the smallest that reaches every register, at most 18.
	AddrBits int
	// Registers is the map.
	Registers Registers
	// Counters names COUNTER[i], in order.
	Counters []Counter
}

// block is a run of registers that repeat together.
type block struct {
	name string // GROUP, EP, or empty for registers that stand alone
	regs []Register
}

// blocks splits the map into registers that stand alone and the two interleaved arrays.
func (m Model) blocks() []block {
	names := map[string]string{"g": "GROUP", "ei": "EP"}
	var out []block
	for _, r := range m.Registers {
		name := names[r.Index]
		if r.Stride == 4 {
			name = "" // an array of its own: GROUP_PIPE
		}
		if n := len(out); n > 0 && out[n-1].name == name {
			out[n-1].regs = append(out[n-1].regs, r)
			continue
		}
		out = append(out, block{name, []Register{r}})
	}
	return out
}
