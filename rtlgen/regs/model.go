// SPDX-License-Identifier: Apache-2.0

// Package regs is the register map of an engine: one model, built from the parameters, from which the decoder in the hardware,
// the C header, the SystemRDL description, the Markdown page, the Go driver and the manifest are all made.
//
// Registers are 32 bits wide and lie at byte addresses. What they mean is docs/engine.md, sections 6 and 7.
package regs

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"incforge/rtlgen/params"
)

// Access says what software may do with a register or a field.
type Access string

const (
	// RO is read only: writes are ignored.
	RO Access = "ro"
	// RW is read and written.
	RW Access = "rw"
)

// Layout of the map, in bytes.
const (
	GlobalBase   = 0x0000
	BypassBase   = 0x0400
	CounterBase  = 0x0800
	GroupBase    = 0x1000
	GroupStride  = 64
	EndpointBase = 0x8000
	EndpointStep = 64
	// GROUP_PIPE and GROUP_FAILED, of Mode III: a word a group.
	PipeBase   = 0x2000
	FailedBase = 0x2100
)

// PipeWord is the number of the table word in which inc_csr sends GROUP_PIPE to the blocks that keep it (tbl_word, with tbl_grp_we). The
// others are (offset - GroupBase) % GroupStride / 4 of their register; this one is GROUP_STATUS's, which is read only and never sent in Mode III.
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
	VersionMinor = 2
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
}

// Mask returns the field's bits in place.
func (f Field) Mask() uint32 { return uint32((uint64(1)<<f.Width - 1) << f.LSB) }

// Register is one register or, with Count above 1, an array of equal ones at Offset + i·Stride. The JSON form is that of the
// manifest (docs/engine.md section 8).
type Register struct {
	Name string `json:"name"`
	// Offset is the byte address of the first; Stride is 4 for a single register.
	Offset uint32 `json:"offset"`
	Count  int    `json:"count"`
	Stride uint32 `json:"stride"`
	Access Access `json:"access"`
	// Reset is the value after reset of the first; the i-th has Reset + i·ResetStep.
	Reset     uint32 `json:"reset"`
	ResetStep uint32 `json:"reset_step,omitempty"`
	// Volatile marks registers that the hardware changes.
	Volatile bool `json:"volatile,omitempty"`
	// Index names the index of an array: port, i, g (group) or ei (endpoint). Empty for a register that is no array.
	Index  string  `json:"index,omitempty"`
	Doc    string  `json:"doc"`
	Fields []Field `json:"fields"`
}

// Addr returns the byte address of the i-th register of the array.
func (r Register) Addr(i int) (uint32, error) {
	if i < 0 || i >= r.Count {
		return 0, fmt.Errorf("address register %s: index %d is not from 0 to %d", r.Name, i, r.Count-1)
	}
	return r.Offset + uint32(i)*r.Stride, nil
}

// ResetOf returns the value of the i-th register after reset.
func (r Register) ResetOf(i int) uint32 { return r.Reset + uint32(i)*r.ResetStep }

// Mask returns the bits of the register that are in some field.
func (r Register) Mask() uint32 {
	var m uint32
	for _, f := range r.Fields {
		m |= f.Mask()
	}
	return m
}

// Model is the register map of one engine. Registers are in the order of docs/engine.md; those of one index are neighbours.
type Model struct {
	// Name is the engine's name.
	Name string
	// AddrBits is the width of the AXI4-Lite byte address: the smallest that reaches every register, at most 18.
	AddrBits int
	// Registers is the map.
	Registers []Register
	// Counters names COUNTER[i], in order.
	Counters []Counter
}

// New builds the map for p. The error is that of p.Validate.
func New(p params.Params) (Model, error) {
	if err := p.Validate(); err != nil {
		return Model{}, fmt.Errorf("build the register map: %w", err)
	}
	d := p.Derived()
	m := Model{Name: p.Name, Counters: Counters(p.Mode)}

	next := uint32(GlobalBase)
	global := func(r Register) {
		r.Offset, r.Count, r.Stride = next, 1, 4
		next += 4
		m.add(r)
	}
	constant := func(name, doc string, value int) {
		global(Register{Name: name, Access: RO, Doc: doc, Fields: []Field{{Name: "value", Width: 32, Reset: uint32(value), Doc: doc}}})
	}
	constant("ID", `Identity: "INC1".`, Magic)
	global(Register{Name: "VERSION", Access: RO, Doc: "Version of this register map.", Fields: []Field{
		{Name: "minor", LSB: 0, Width: 16, Reset: VersionMinor, Doc: "Raised when registers or fields are added; single registers behind an added one move."},
		{Name: "major", LSB: 16, Width: 16, Reset: VersionMajor, Doc: "Raised when registers change their meaning, or arrays move."},
	}})
	constant("PARAM_MODE", "Parameter mode.", p.Mode)
	constant("PARAM_BUS_BYTES", "Parameter bus_bytes.", p.BusBytes)
	constant("PARAM_LANES", "Parameter lanes.", p.Lanes)
	constant("PARAM_GROUPS", "Parameter groups.", p.Groups)
	constant("PARAM_MEMBERS", "Parameter members.", p.Members)
	constant("PARAM_PORTS", "Parameter ports.", p.Ports)
	constant("PARAM_MTU_BYTES", "Parameter mtu_bytes.", p.MTUBytes)
	constant("PARAM_SLOTS", "Number of slots: buffer_bytes / mtu_bytes / PARAM_ARITH.planes.", d.Slots)
	constant("PARAM_WINDOW_PACKETS", "Parameter window_packets.", p.WindowPackets)
	global(Register{Name: "PARAM_ARITH", Access: RO, Doc: "What the engine computes with.", Fields: []Field{
		{Name: "dtypes", LSB: 0, Width: 4, Reset: uint32(d.DTypeMask), Doc: "Parameter dtypes, one bit a type: FP32, FP16, BF16, INT32 from bit 0."},
		{Name: "ops", LSB: 8, Width: 3, Reset: uint32(d.OpMask), Doc: "Parameter ops, one bit an operation: SUM, MIN, MAX from bit 0."},
		{Name: "reproducible", LSB: 16, Width: 1, Reset: asBit(p.Accumulate == params.Reproducible), Doc: "Sums do not depend on the order of arrival."},
		{Name: "ecc", LSB: 17, Width: 1, Reset: asBit(p.ECC), Doc: "The payload memory has check bits."},
		{Name: "planes", LSB: 24, Width: 8, Reset: uint32(d.Planes), Doc: "Payloads of a slot: 1, or one for every pair of members if reproducible."},
	}})
	global(Register{Name: "CTRL", Access: RW, Doc: "Options of the whole engine.", Fields: []Field{
		{Name: "gap_nak", LSB: 0, Width: 1, Reset: 1, Doc: "Answer a gap in a host's data with one NAK."},
		{Name: "foreign_bypass", LSB: 1, Width: 1, Doc: "Bypass frames with a known QPN and a foreign address instead of dropping them."},
	}})
	global(Register{Name: "IP_ID", Access: RW, Doc: "Identification of the IPv4 headers that the engine makes.", Fields: []Field{
		{Name: "value", LSB: 0, Width: 16, Reset: DefaultIPID, Doc: "IPv4 identification."},
	}})
	global(Register{Name: "ECC_INJECT", Access: RW, Volatile: true, Doc: "Makes errors in the payload memory, to see them corrected; without check bits it does nothing.", Fields: []Field{
		{Name: "flips", LSB: 0, Width: 2, Max: maximum(2), SelfClearing: true,
			Doc: "The next row written to the payload memory has so many of its lowest stored bits inverted."},
	}})

	if p.Mode == 3 {
		global(Register{Name: "PIPE_CTRL", Access: RW, Doc: "Mode III: how a full pipe is answered.", Fields: []Field{
			{Name: "rnr_timer", LSB: 0, Width: 5, Reset: 1, Doc: "Timer code of RNR NAKs: 1 is 10 us, 0 is 655.36 ms."},
			{Name: "rnr", LSB: 8, Width: 1, Reset: 1, Doc: "Answer data that finds its pipe full with an RNR NAK."},
			{Name: "cnp", LSB: 9, Width: 1, Doc: "Send a host that overran its pipe a congestion notification too."},
		}})
		global(Register{Name: "PIPE_TIMEOUT", Access: RW, Doc: "Mode III: time after which unacknowledged data is sent again.", Fields: []Field{
			{Name: "microseconds", LSB: 0, Width: 16, Reset: uint32(d.PipeTimeoutUS), Doc: "Time-out; 0 stands for 1. It doubles, at most three times, while nothing is acknowledged."},
		}})
	}

	port := maximum(p.Ports - 1)
	m.add(Register{Name: "BYPASS_PORT", Offset: BypassBase, Count: p.Ports, Stride: 4, Access: RW, ResetStep: 1, Index: "port",
		Doc: "Port by which frames that are not the engine's leave, by the port they came in on.", Fields: []Field{
			{Name: "port", LSB: 0, Width: 8, Max: port, Doc: "Output port."},
		}})
	m.add(Register{Name: "COUNTER", Offset: CounterBase, Count: len(m.Counters), Stride: 4, Access: RO, Volatile: true, Index: "i",
		Doc: "Event counters; they wrap.", Fields: []Field{{Name: "count", LSB: 0, Width: 32, Doc: "Events since reset, modulo 2^32."}}})

	off := uint32(GroupBase)
	group := func(r Register) {
		r.Offset, r.Count, r.Stride, r.Index = off, p.Groups, GroupStride, "g"
		off += 4
		m.add(r)
	}
	mask := func(name, doc string) {
		group(Register{Name: name, Access: RW, Doc: doc,
			Fields: []Field{{Name: "mask", LSB: 0, Width: d.MaskBits, Doc: "One bit an endpoint, endpoint 0 in bit 0."}}})
	}
	group(Register{Name: "GROUP_CTRL", Access: RW, Volatile: true, Doc: "Starts and stops a group.", Fields: []Field{
		{Name: "enable", LSB: 0, Width: 1, Doc: "Set while it was clear: start the group. Clear: stop it. Does not stick while another register of the group is illegal."},
		{Name: "reset", LSB: 1, Width: 1, SelfClearing: true, Doc: "Written 1: start the group again."},
	}})
	group(Register{Name: "GROUP_STATUS", Access: RO, Volatile: true, Doc: "State of a group.", Fields: []Field{
		{Name: "busy", LSB: 0, Width: 1, Doc: "The group is starting; its frames are dropped."},
		{Name: "enabled", LSB: 1, Width: 1, Doc: "The group is enabled."},
		{Name: "overlap", LSB: 2, Width: 1, Doc: "The last start was refused: another group that is enabled has some of the slots."},
	}})
	group(Register{Name: "GROUP_START", Access: RW, Doc: "First PSN of both directions of every queue pair of a group.", Fields: []Field{
		{Name: "psn", LSB: 0, Width: d.PSNBits, Doc: "START."},
	}})
	group(Register{Name: "GROUP_SLOTS", Access: RW, Doc: slotsDoc(p), Fields: []Field{
		{Name: "base", LSB: 0, Width: 24, Max: maximum(d.Slots - 1), Doc: "First slot."},
		{Name: "log2_n", LSB: 24, Width: d.Log2NBits, Max: maximum(d.MaxLog2N), Doc: "Logarithm of the number of packets kept, twice the senders' window."},
	}})
	mask("GROUP_IN_MASK", "Endpoints whose data is up data.")
	mask("GROUP_OUT_MASK", "Endpoints that get results or copies of down data.")
	mask("GROUP_ACK_MASK", "Endpoints whose acknowledgements count.")
	group(Register{Name: "GROUP_PARENT", Access: RW, Doc: "The parent of a group; none at the root of the tree.", Fields: []Field{
		{Name: "endpoint", LSB: 0, Width: 8, Max: maximum(p.Members), Doc: "Endpoint number."},
		{Name: "valid", LSB: 31, Width: 1, Doc: "There is a parent."},
	}})
	group(Register{Name: "GROUP_COLLECTIVE", Access: RW, Doc: "What a group computes.", Fields: []Field{
		{Name: "collective", LSB: 0, Width: 3, Doc: "Collective operation.", Values: []Value{
			{"allreduce", 0, "AllReduce; the only one of an in-band group."}, {"reduce", 1, "Reduce: the result goes to the parent alone."},
			{"broadcast", 2, "Broadcast: data from the parent goes to all others."}, {"barrier", 3, "Barrier: packets without payload."}}},
		{Name: "op", LSB: 8, Width: 2, Doc: "Reduction.", Values: opValues(p.Ops)},
		{Name: "dtype", LSB: 16, Width: 2, Doc: "Element type.", Values: dtypeValues(p.DTypes)},
		{Name: "big_endian", LSB: 24, Width: 1, Doc: "Elements have their most significant byte first."},
		{Name: "in_band", LSB: 25, Width: 1, Doc: "Ranks say by controls what comes next. Legal with parameter in_band alone."},
		{Name: "root_sends", LSB: 26, Width: 1, Doc: "In-band: the root rank of a Reduce sends its contribution too."},
	}})
	for i := 0; i*RoutesPerWord < Roots; i++ {
		first := i * RoutesPerWord
		last := min(first+RoutesPerWord, Roots) - 1
		r := Register{Name: fmt.Sprintf("GROUP_ROUTE_%d", i), Access: RW,
			Doc: fmt.Sprintf("In-band: where ranks %d to %d are, as roots of a Reduce or Broadcast.", first, last)}
		for j := range last - first + 1 {
			r.Fields = append(r.Fields,
				Field{Name: fmt.Sprintf("endpoint_%d", j), LSB: 6 * j, Width: 5, Max: maximum(p.Members), Doc: fmt.Sprintf("Endpoint toward rank %d.", first+j)},
				Field{Name: fmt.Sprintf("valid_%d", j), LSB: 6*j + 5, Width: 1, Doc: fmt.Sprintf("There is a way to rank %d.", first+j)})
		}
		group(r)
	}

	if p.Mode == 3 {
		m.add(Register{Name: "GROUP_PIPE", Offset: PipeBase, Count: p.Groups, Stride: 4, Access: RW, Index: "g",
			Doc: "Mode III: size of a group's pipes.", Fields: []Field{
				{Name: "n", LSB: 0, Width: 24, Max: maximum(1 << d.MaxLog2N / 2),
					Doc: "Slots of a pipe, at most 2^log2_n / 2, which 0 stands for; more is illegal."},
			}})
		m.add(Register{Name: "GROUP_FAILED", Offset: FailedBase, Count: p.Groups, Stride: 4, Access: RO, Volatile: true, Index: "g",
			Doc: "Mode III: endpoints that answered a NAK which ends the connection; nothing is sent to them until the group is started.", Fields: []Field{
				{Name: "mask", LSB: 0, Width: d.MaskBits, Doc: "One bit an endpoint, endpoint 0 in bit 0."},
			}})
	}

	off = EndpointBase
	endpoint := func(r Register) {
		r.Offset, r.Count, r.Stride, r.Index, r.Access = off, p.Groups*d.EPs, EndpointStep, "ei", RW
		off += 4
		m.add(r)
	}
	word := func(name, field string, width int, doc string) {
		endpoint(Register{Name: name, Doc: doc, Fields: []Field{{Name: field, LSB: 0, Width: width, Doc: doc}}})
	}
	endpoint(Register{Name: "EP_CTRL",
		Doc: fmt.Sprintf("An endpoint; ei = %d g + e with e from 0 to %d.", d.EPs, p.Members), Fields: []Field{
			{Name: "valid", LSB: 0, Width: 1, Doc: "The endpoint is in use."},
			{Name: "host", LSB: 1, Width: 1, Doc: "A host is at the other end, not a switch."},
			{Name: "port", LSB: 8, Width: 8, Max: port, Doc: "Port it is reached by."},
		}})
	word("EP_LOCAL_QPN", "qpn", d.QPNBits, "Queue pair number of this end; its low bits are ei.")
	word("EP_REMOTE_QPN", "qpn", d.QPNBits, "Queue pair number of the other end.")
	word("EP_LOCAL_IP", "address", 32, "IPv4 address of this end, first octet in the highest byte.")
	word("EP_REMOTE_IP", "address", 32, "IPv4 address of the other end, first octet in the highest byte.")
	word("EP_LOCAL_MAC_LO", "octets", 32, "Last four octets of this end's MAC address, the earliest in the highest byte.")
	word("EP_LOCAL_MAC_HI", "octets", 16, "First two octets of this end's MAC address.")
	word("EP_REMOTE_MAC_LO", "octets", 32, "Last four octets of the other end's MAC address, the earliest in the highest byte.")
	word("EP_REMOTE_MAC_HI", "octets", 16, "First two octets of the other end's MAC address.")
	endpoint(Register{Name: "EP_HEADER", Doc: "Header fields of frames sent to the endpoint.", Fields: []Field{
		{Name: "udp_source_port", LSB: 0, Width: 16, Doc: "UDP source port."},
		{Name: "ttl", LSB: 16, Width: 8, Doc: "IPv4 time to live."},
		{Name: "tos", LSB: 24, Width: 8, Doc: "IPv4 type of service: DSCP and, in the low two bits, ECN."},
	}})
	return m, nil
}

// slotsDoc says which slots a group has, for the types built in.
func slotsDoc(p params.Params) string {
	const narrow, wide = "base to base + 2^log2_n - 1", "base to base + 2^(log2_n+1) - 1: elements are kept as FP32"
	inBand := ""
	if p.InBand {
		inBand = ", and in-band whatever the type,"
	}
	isWide := func(t params.DType) bool { return t.Wide() }
	switch {
	case !slices.ContainsFunc(p.DTypes, isWide):
		return "The slots of a group: " + narrow + ", all below PARAM_SLOTS."
	case slices.IndexFunc(p.DTypes, func(t params.DType) bool { return !isWide(t) }) < 0:
		return "The slots of a group: " + wide + ". All are below PARAM_SLOTS."
	default:
		return "The slots of a group: " + narrow + "; of a 16-bit type" + inBand + " " + wide + ". All are below PARAM_SLOTS."
	}
}

// opValues are the values of GROUP_COLLECTIVE.op for the reductions built in.
func opValues(ops []params.Op) []Value {
	docs := map[params.Op]string{
		params.SUM: "Sum.",
		params.MIN: "Smallest; of floating-point numbers IEEE 754-2019 minimum.",
		params.MAX: "Largest; of floating-point numbers IEEE 754-2019 maximum.",
	}
	var out []Value
	for _, o := range ops {
		out = append(out, Value{strings.ToLower(o.String()), uint32(o.Code()), docs[o]})
	}
	return out
}

// dtypeValues are the values of GROUP_COLLECTIVE.dtype for the element types built in.
func dtypeValues(types []params.DType) []Value {
	docs := map[params.DType]string{
		params.FP32:  "IEEE 754 binary32.",
		params.FP16:  "IEEE 754 binary16, added as binary32 and rounded once.",
		params.BF16:  "The upper half of binary32, added as binary32 and rounded once.",
		params.INT32: "32-bit integers, two's complement; sums wrap.",
	}
	var out []Value
	for _, t := range types {
		out = append(out, Value{strings.ToLower(t.String()), uint32(t.Code()), docs[t]})
	}
	return out
}

// asBit is a truth as a number.
func asBit(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

// maximum makes a Max.
func maximum(n int) *uint32 {
	v := uint32(n)
	return &v
}

// add appends a register, with its reset value made from its fields, and widens the address to reach it.
func (m *Model) add(r Register) {
	for _, f := range r.Fields {
		r.Reset |= f.Reset << f.LSB
	}
	last := r.Offset + uint32(r.Count-1)*r.Stride
	m.AddrBits = max(m.AddrBits, bits.Len32(last))
	m.Registers = append(m.Registers, r)
}

// Register returns the register of that name.
func (m Model) Register(name string) (Register, bool) {
	for _, r := range m.Registers {
		if r.Name == name {
			return r, true
		}
	}
	return Register{}, false
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
