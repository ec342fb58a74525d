// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/hex"
	"fmt"
	"slices"
	"unsafe"
)

// Port is a port of one model instance, a window on memory shared with it. Reads of
// an output give the value just before the last rising edge; writes to an input count
// for the next one. A Port must not be used after its Model was closed.
type Port struct {
	ptr   unsafe.Pointer
	size  int    // bytes of memory: 1, 2, 4, 8, or a multiple of 4
	mask  uint64 // of the low 64 bits
	spec  PortSpec
	model *Model
}

func newPort(m *Model, p portInfo, ptr unsafe.Pointer) *Port {
	mask := ^uint64(0)
	if p.Width < 64 {
		mask = 1<<p.Width - 1
	}
	return &Port{ptr: ptr, size: p.size, mask: mask, spec: p.PortSpec, model: m}
}

// Name returns the port's name.
func (p *Port) Name() string { return p.spec.Name }

// Width returns the port's width in bits.
func (p *Port) Width() int { return p.spec.Width }

// Dir returns the port's direction.
func (p *Port) Dir() Dir { return p.spec.Dir }

// Uint64 returns the port's value, of a port wider than 64 bits the low 64.
func (p *Port) Uint64() uint64 {
	switch p.size {
	case 1:
		return uint64(*(*uint8)(p.ptr))
	case 2:
		return uint64(*(*uint16)(p.ptr))
	case 4:
		return uint64(*(*uint32)(p.ptr))
	}
	return *(*uint64)(p.ptr)
}

// SetUint64 drives an input; bits beyond 64 become zero. A value that does not fit the
// width, or a port that is an output, fails the test (Model.Fail) and changes nothing.
func (p *Port) SetUint64(v uint64) {
	if v&^p.mask != 0 || p.spec.Dir != In {
		p.refuse(fmt.Sprintf("%#x", v))
		return
	}
	switch p.size {
	case 1:
		*(*uint8)(p.ptr) = uint8(v)
	case 2:
		*(*uint16)(p.ptr) = uint16(v)
	case 4:
		*(*uint32)(p.ptr) = uint32(v)
	case 8:
		*(*uint64)(p.ptr) = v
	default:
		clear(p.memory()[8:])
		*(*uint64)(p.ptr) = v
	}
}

func (p *Port) refuse(value string) {
	if p.spec.Dir != In {
		p.model.Fail(fmt.Errorf("port %s is an output and cannot be driven", p.spec.Name))
		return
	}
	p.model.Fail(fmt.Errorf("value %s does not fit port %s of %d bits", value, p.spec.Name, p.spec.Width))
}

// Bool reports whether bit 0 is set.
func (p *Port) Bool() bool { return *(*uint8)(p.ptr)&1 != 0 }

// SetBool drives an input with 0 or 1.
func (p *Port) SetBool(v bool) {
	if v {
		p.SetUint64(1)
	} else {
		p.SetUint64(0)
	}
}

func (p *Port) memory() []byte { return unsafe.Slice((*byte)(p.ptr), p.size) }

// Bytes returns the port's memory as bytes: byte i holds bits 8i+7 to 8i. Writing to
// it drives an input; of the last byte, only bits inside the width may be set.
func (p *Port) Bytes() []byte { return p.memory()[:(p.spec.Width+7)/8] }

// Words returns the memory of a port wider than 32 bits as 32-bit words, word 0
// holding bits 31 to 0, and nil for a narrower port.
func (p *Port) Words() []uint32 {
	if p.spec.Width <= 32 {
		return nil
	}
	return unsafe.Slice((*uint32)(p.ptr), (p.spec.Width+31)/32)
}

// Set drives an input with bytes, least significant first; missing ones are zero. A
// value that does not fit fails the test and changes nothing.
func (p *Port) Set(value []byte) {
	fits := len(value) <= len(p.Bytes()) || !slices.ContainsFunc(value[len(p.Bytes()):], func(b byte) bool { return b != 0 })
	if top := (p.spec.Width - 1) / 8; fits && p.spec.Width%8 != 0 && top < len(value) {
		fits = value[top]>>(p.spec.Width%8) == 0
	}
	if !fits || p.spec.Dir != In {
		big := slices.Clone(value)
		slices.Reverse(big)
		p.refuse("0x" + hex.EncodeToString(big))
		return
	}
	n := copy(p.Bytes(), value)
	clear(p.memory()[n:])
}

// Bits returns bits lo+width-1 to lo, width at most 64. Bits beyond the port are zero.
func (p *Port) Bits(lo, width int) uint64 {
	if lo < 0 || width <= 0 {
		return 0
	}
	mem := p.memory()
	var v uint64
	for got := 0; got < min(width, 64); {
		at := lo + got
		if at/8 >= len(mem) {
			break
		}
		v |= uint64(mem[at/8]>>(at%8)) << got
		got += 8 - at%8
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// SetBits drives bits lo+width-1 to lo of an input and leaves the others. Bits beyond
// the port or a value beyond width (at most 64) fail the test and change nothing.
func (p *Port) SetBits(lo, width int, v uint64) {
	if lo < 0 || width <= 0 || width > 64 || lo+width > p.spec.Width || (width < 64 && v>>width != 0) || p.spec.Dir != In {
		p.refuse(fmt.Sprintf("%#x at bits %d+:%d", v, lo, width))
		return
	}
	mem := p.memory()
	for put := 0; put < width; {
		at := lo + put
		n := min(8-at%8, width-put)
		mask := byte(1<<n-1) << (at % 8)
		mem[at/8] = mem[at/8]&^mask | byte(v>>put)<<(at%8)&mask
		put += n
	}
}

// Hex returns the value in hexadecimal, most significant digit first.
func (p *Port) Hex() string {
	big := slices.Clone(p.Bytes())
	slices.Reverse(big)
	return hex.EncodeToString(big)
}
