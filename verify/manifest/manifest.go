// SPDX-License-Identifier: Apache-2.0

// Package manifest reads the manifest.json that lies beside generated Verilog (docs/engine.md section 8). It is all that
// verification knows of a design: nothing here reaches the generator.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
)

// FileName is the manifest's name in a generated folder.
const FileName = "manifest.json"

// ErrUnknownRegister means that the manifest has no register, field or index of that name.
var ErrUnknownRegister = errors.New("unknown register")

// Params are the parameters of the design as the generator resolved them, as far as verification needs them.
type Params struct {
	Mode          int  `json:"mode"`
	BusBytes      int  `json:"bus_bytes"`
	Lanes         int  `json:"lanes"`
	BufferBytes   int  `json:"buffer_bytes"`
	Groups        int  `json:"groups"`
	Members       int  `json:"members"`
	Ports         int  `json:"ports"`
	MTUBytes      int  `json:"mtu_bytes"`
	WindowPackets int  `json:"window_packets"`
	HopRTTNS      int  `json:"hop_rtt_ns"`
	ClockMHz      int  `json:"clock_mhz"`
	ICRCCheck     bool `json:"icrc_check"`
	// DTypes are the element types included, of FP32, FP16, BF16, INT32; Ops the operations, of SUM, MIN, MAX.
	DTypes []string `json:"dtypes"`
	Ops    []string `json:"ops"`
	// Accumulate is in_place or reproducible.
	Accumulate string `json:"accumulate"`
	// ECC tells that the payload memory corrects single errors.
	ECC bool `json:"ecc"`
	// InBand tells that groups may be told by their ranks what to do next.
	InBand bool `json:"in_band"`
}

// Names of element types and operations; the index is the code in GROUP_COLLECTIVE.
func dtypeNames() []string { return []string{"FP32", "FP16", "BF16", "INT32"} }
func opNames() []string    { return []string{"SUM", "MIN", "MAX"} }

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

// DTypeMask has bit i set if the element type of code i is included, OpMask likewise for operations.
func (p Params) DTypeMask() uint32 { return mask(p.DTypes, dtypeNames()) }

// OpMask has bit i set if the operation of code i is included.
func (p Params) OpMask() uint32 { return mask(p.Ops, opNames()) }

// Reproducible tells that sums do not depend on the order of arrival.
func (p Params) Reproducible() bool { return p.Accumulate == "reproducible" }

// Planes is how many payloads a slot holds: one, or one for every pair of members where sums are reproducible.
func (p Params) Planes() int {
	if p.Reproducible() {
		return (p.Members + 1) / 2
	}
	return 1
}

// CyclesPerBeat is how many cycles a beat of payload keeps the adders busy at most, the reduction of a result that is sent
// again included.
func (p Params) CyclesPerBeat() int {
	row := min(4*p.Lanes, p.BusBytes)
	if p.Reproducible() {
		row = min(2*p.Lanes, p.BusBytes)
	}
	cycles := max(p.BusBytes/max(row, 1), 1)
	if p.DTypeMask()&0b0110 != 0 && 4*p.Lanes <= p.BusBytes {
		cycles *= 2 // 16-bit elements are worked on as FP32
	}
	if p.Reproducible() {
		cycles += cycles * 3 * ceilPow2(p.Planes()) / 2
	}
	return cycles
}

// EPS is the number of endpoint records of a group: MEMBERS+1 rounded up to a power of two.
func (p Params) EPS() int { return ceilPow2(p.Members + 1) }

// Records is the size of the endpoint table: GROUPS rounded up to a power of two, times EPS. QPN mod Records is the index.
func (p Params) Records() int { return ceilPow2(p.Groups) * p.EPS() }

// Slots is the number of slots in the buffer.
func (p Params) Slots() int { return p.BufferBytes / p.MTUBytes / p.Planes() }

// PIPE_TIMEOUT counts microseconds: CyclesPerMicrosecond of the clock, at least 1.
func (p Params) CyclesPerMicrosecond() uint64 { return uint64(max(p.ClockMHz, 1)) }

// GroupSlots is the number of slots a group needs for its window: 2·window_packets. A group of a 16-bit type takes twice as many.
func (p Params) GroupSlots() int { return 2 * p.WindowPackets }

func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// Port is one port of a top.
type Port struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Width int    `json:"width"`
}

// Top is one of the generated tops.
type Top struct {
	Module string `json:"module"`
	Ports  []Port `json:"ports"`
}

// Field is a part of a register.
type Field struct {
	Name  string `json:"name"`
	LSB   int    `json:"lsb"`
	Width int    `json:"width"`
	Doc   string `json:"doc"`
}

// Mask covers the field's bits in its register.
func (f Field) Mask() uint32 {
	if f.Width >= 32 {
		return 0xFFFFFFFF
	}
	return (1<<f.Width - 1) << f.LSB
}

// Register is one register, or an array of Count of them Stride bytes apart.
type Register struct {
	Name   string `json:"name"`
	Offset uint32 `json:"offset"`
	Count  int    `json:"count"`
	Stride uint32 `json:"stride"`
	Access string `json:"access"`
	// Reset is the value after reset of the first element, ResetStep what each further one has more.
	Reset     uint32  `json:"reset"`
	ResetStep uint32  `json:"reset_step"`
	Doc       string  `json:"doc"`
	Fields    []Field `json:"fields"`
}

// ResetValue is the value of element i after reset.
func (r *Register) ResetValue(i int) uint32 { return r.Reset + uint32(i)*r.ResetStep }

// Size is the number of elements, 1 for a register that is no array.
func (r *Register) Size() int { return max(r.Count, 1) }

// Writable reports whether the register takes writes.
func (r *Register) Writable() bool { return r.Access == "rw" || r.Access == "wo" }

// Mask covers the bits of all fields.
func (r *Register) Mask() uint32 {
	var m uint32
	for _, f := range r.Fields {
		m |= f.Mask()
	}
	return m
}

// Field returns the field of that name.
func (r *Register) Field(name string) (Field, bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Clock names the clock and the reset and gives the frequency the design is meant for.
type Clock struct {
	Port  string `json:"port"`
	Reset string `json:"reset"`
	MHz   int    `json:"mhz"`
}

// Manifest is the whole file.
type Manifest struct {
	Schema    int            `json:"schema"`
	Name      string         `json:"name"`
	Digest    string         `json:"digest"`
	Params    Params         `json:"params"`
	Clock     Clock          `json:"clock"`
	Tops      map[string]Top `json:"tops"`
	Files     []string       `json:"files"`
	Registers []Register     `json:"registers"`
	Counters  []string       `json:"counters"`

	// Dir is the folder the file was read from; Files are relative to it.
	Dir string `json:"-"`
}

// Load reads DIR/manifest.json; dir may also be the file itself.
func Load(dir string) (*Manifest, error) {
	if filepath.Base(dir) == FileName {
		dir = filepath.Dir(dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	m, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, FileName), err)
	}
	m.Dir = dir
	return m, nil
}

// Parse reads the text of a manifest and refuses one that cannot describe an engine.
func Parse(b []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if m.Schema != 1 {
		return nil, fmt.Errorf("manifest: schema %d, this program reads 1", m.Schema)
	}
	p := m.Params
	for _, v := range []struct {
		name  string
		value int
	}{{"bus_bytes", p.BusBytes}, {"groups", p.Groups}, {"members", p.Members}, {"ports", p.Ports}, {"mtu_bytes", p.MTUBytes},
		{"window_packets", p.WindowPackets}, {"buffer_bytes", p.BufferBytes}} {
		if v.value < 1 {
			return nil, fmt.Errorf("manifest: params.%s is %d, it must be at least 1", v.name, v.value)
		}
	}
	if p.Mode != 0 && p.Mode != 2 && p.Mode != 3 { // 0: a manifest that does not say
		return nil, fmt.Errorf("manifest: params.mode is %d, this program knows 2 and 3", p.Mode)
	}
	if p.DTypeMask() == 0 || p.OpMask() == 0 || bits.OnesCount32(p.DTypeMask()) != len(p.DTypes) || bits.OnesCount32(p.OpMask()) != len(p.Ops) {
		return nil, fmt.Errorf("manifest: params.dtypes is %v and params.ops %v, known are %v and %v", p.DTypes, p.Ops, dtypeNames(), opNames())
	}
	if len(m.Registers) == 0 || len(m.Counters) == 0 {
		return nil, errors.New("manifest: no registers or no counters")
	}
	return m, nil
}

// Register returns the register of that name.
func (m *Manifest) Register(name string) (*Register, error) {
	for i := range m.Registers {
		if m.Registers[i].Name == name {
			return &m.Registers[i], nil
		}
	}
	return nil, fmt.Errorf("%w %s", ErrUnknownRegister, name)
}

// Addr is the byte address of element i of a register.
func (m *Manifest) Addr(name string, i int) (uint32, error) {
	r, err := m.Register(name)
	if err != nil {
		return 0, err
	}
	if i < 0 || i >= r.Size() {
		return 0, fmt.Errorf("%w %s[%d]: it has %d elements", ErrUnknownRegister, name, i, r.Size())
	}
	return r.Offset + uint32(i)*r.Stride, nil
}

// Find is the register and element at a byte address.
func (m *Manifest) Find(addr uint32) (*Register, int, bool) {
	for i := range m.Registers {
		r := &m.Registers[i]
		if addr == r.Offset {
			return r, 0, true
		}
		if r.Stride == 0 || addr < r.Offset || (addr-r.Offset)%r.Stride != 0 {
			continue
		}
		if n := int((addr - r.Offset) / r.Stride); n < r.Size() {
			return r, n, true
		}
	}
	return nil, 0, false
}
