// SPDX-License-Identifier: Apache-2.0

package icrc

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"incforge/hdl/leaf"
	"incforge/rtlgen/graph"
)

// The CRC-32 of the ICRC: reflected, so bit 0 of a byte goes in first and bit 0 of the register comes out (IBTA A17.3.3 over
// IEEE 802.3's polynomial).
const (
	polynomial = 0xEDB88320
	allOnes    = 0xFFFFFFFF
	// headBytes of Ethernet header come before the covered bytes; the hardware feeds zeros in their place.
	headBytes = 14
	// onesBytes of 0xFF stand before the IP header.
	onesBytes = 8
)

// matrix is a linear map of the 32-bit register over GF(2): column i is the image of bit i.
type matrix [32]uint32

// times is the image of v.
func (m *matrix) times(v uint32) uint32 {
	var r uint32
	for i := range m {
		if v>>i&1 != 0 {
			r ^= m[i]
		}
	}
	return r
}

// row is which input bits make output bit i.
func (m *matrix) row(i int) uint32 {
	var r uint32
	for c := range m {
		r |= m[c] >> i & 1 << c
	}
	return r
}

// zeroBit is what one zero bit does to the register; unzeroBit takes it back.
func zeroBit(v uint32) uint32 { return v>>1 ^ polynomial&-(v&1) }

// The bit that left was 1 if and only if the polynomial was added, whose top bit says so.
func unzeroBit(v uint32) uint32 {
	out := v >> 31
	return (v^polynomial&-out)<<1 | out
}

// advance is what n zero bytes do; n below 0 takes them back.
func advance(n int) *matrix {
	var m matrix
	for i := range m {
		v := uint32(1) << i
		for range 8 * n {
			v = zeroBit(v)
		}
		for range -8 * n {
			v = unzeroBit(v)
		}
		m[i] = v
	}
	return &m
}

// feed is the register after b from v.
func feed(v uint32, b byte) uint32 {
	v ^= uint32(b)
	for range 8 {
		v = zeroBit(v)
	}
	return v
}

// Init is the register before the Ethernet header's zeros: behind them it is what onesBytes of 0xFF leave.
func Init() uint32 {
	v := uint32(allOnes)
	for range onesBytes {
		v = feed(v, 0xFF)
	}
	return advance(-headBytes).times(v)
}

// remainder is the register behind a datagram whose ICRC is right, and n zero bytes.
func remainder(n int) uint32 {
	v := uint32(allOnes)
	for range 4 { // the CRC of nothing is 0: four zero bytes
		v = feed(v, 0)
	}
	return advance(n).times(v)
}

const head = `// SPDX-License-Identifier: Apache-2.0
//
// {{.Name}}: {{.Purpose}}
//
// Contract
//   latency     0 cycles: combinational
//   throughput  follows its inputs
//   stall       never
//   bits        reflected CRC-32, polynomial 0xEDB88320: bit 0 of byte 0 first; one row of ones and zeros an output bit
//   reset       none
//   not done    nothing is kept: the register is outside
` + "`default_nettype none\n\n"

const tail = "\nendmodule\n\n`default_nettype wire\n"

func render(name, purpose, body string) ([]byte, error) {
	t, err := template.New(name).Parse(head + "{{.Body}}" + tail)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, struct{ Name, Purpose, Body string }{name, purpose, body}); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b.Bytes(), nil
}

func refuseBytes(name string, bytes int) error {
	rules := leaf.NewRules(name)
	rules.Refuse(bytes < 8 || bytes > 256 || leaf.Pow2(leaf.Clog2(bytes)) != bytes, "BYTES must be a power of two, 8 to 256")
	return rules.Err()
}

// Step is inc_crc32_BYTES: the CRC register after BYTES more bytes.
type Step struct {
	// Bytes of a beat; a power of two, 8 to 256.
	Bytes int
}

// Module describes it, with its equations computed here, or says why Bytes is illegal.
func (p Step) Module() (*graph.Module, error) {
	name := fmt.Sprintf("inc_crc32_%d", p.Bytes)
	if err := refuseBytes(name, p.Bytes); err != nil {
		return nil, err
	}
	width := 8 * p.Bytes
	var b strings.Builder
	fmt.Fprintf(&b, "module %s (\n    input  wire [31:0]  state,\n    input  wire [%d:0] data,\n    output wire [31:0]  next\n);\n\n", name, width-1)
	past := advance(p.Bytes)
	// Bit k of byte j is still in the register for the bytes behind j, as bit k would be before j+1 … : feeding a byte adds it
	// to the register's low byte and then moves on by one byte of zeros.
	columns := make([]uint32, width)
	for j := range p.Bytes {
		from := advance(p.Bytes - j)
		for k := range 8 {
			columns[8*j+k] = from.times(1 << k)
		}
	}
	for i := range 32 {
		var row strings.Builder
		for digit := width/4 - 1; digit >= 0; digit-- {
			v := 0
			for k := range 4 {
				v |= int(columns[4*digit+k]>>i&1) << k
			}
			fmt.Fprintf(&row, "%x", v)
		}
		fmt.Fprintf(&b, "    assign next[%d] = ^(state & 32'h%08x)\n        ^ ^(data & %d'h%s);\n", i, past.row(i), width, row.String())
	}
	purpose := fmt.Sprintf("the CRC register after %d more bytes.", p.Bytes)
	source, err := render(name, purpose, b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: "0 cycles", Ports: []graph.Port{
		leaf.In("state", 32), leaf.In("data", width), leaf.Out("next", 32),
	}}, nil
}

// Residue is inc_crc32_residue_BYTES: the register behind a datagram whose ICRC is right and a number of zero bytes.
type Residue struct {
	// Bytes of a beat; a power of two, 8 to 256.
	Bytes int
}

// Module describes it, or says why Bytes is illegal.
func (p Residue) Module() (*graph.Module, error) {
	name := fmt.Sprintf("inc_crc32_residue_%d", p.Bytes)
	if err := refuseBytes(name, p.Bytes); err != nil {
		return nil, err
	}
	w := leaf.Clog2(p.Bytes)
	var b strings.Builder
	fmt.Fprintf(&b, "module %s (\n    // zero bytes behind the datagram\n    input  wire [%d:0] tail,\n    output reg  [31:0] residue\n);\n\n", name, w-1)
	b.WriteString("    always @* begin\n        case (tail)\n")
	for n := range p.Bytes {
		label := fmt.Sprintf("%d'd%d", w, n)
		if n == p.Bytes-1 {
			label = "default"
		}
		fmt.Fprintf(&b, "            %s: residue = 32'h%08x;\n", label, remainder(n))
	}
	b.WriteString("        endcase\n    end\n")
	purpose := "the CRC register behind a datagram whose ICRC is right, and so many zero bytes."
	source, err := render(name, purpose, b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: "0 cycles", Ports: []graph.Port{
		leaf.In("tail", w), leaf.Out("residue", 32),
	}}, nil
}

// Tail is inc_crc32_tail_BYTES: takes 4·index + 2 trailing zero bytes back out of the register and inverts it, which makes the ICRC.
type Tail struct {
	// Bytes of a beat; a power of two, 8 to 256.
	Bytes int
}

// Module describes it, or says why Bytes is illegal.
func (p Tail) Module() (*graph.Module, error) {
	name := fmt.Sprintf("inc_crc32_tail_%d", p.Bytes)
	if err := refuseBytes(name, p.Bytes); err != nil {
		return nil, err
	}
	w := leaf.Clog2(p.Bytes) - 2
	var b strings.Builder
	fmt.Fprintf(&b, "module %s (\n    input  wire [31:0] state,\n    // the register saw 4 * index + 2 zero bytes behind the last covered one\n    input  wire [%d:0] index,\n    output reg  [31:0] crc\n);\n\n", name, w-1)
	b.WriteString("    always @* begin\n        case (index)\n")
	for n := range p.Bytes / 4 {
		label := fmt.Sprintf("%d'd%d", w, n)
		if n == p.Bytes/4-1 {
			label = "default"
		}
		back := advance(-(4*n + 2))
		fmt.Fprintf(&b, "            %s: begin\n", label)
		for i := range 32 {
			fmt.Fprintf(&b, "                crc[%d] = ~^(state & 32'h%08x);\n", i, back.row(i))
		}
		b.WriteString("            end\n")
	}
	b.WriteString("        endcase\n    end\n")
	purpose := "the ICRC, from a CRC register that also saw zeros behind the covered bytes."
	source, err := render(name, purpose, b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: "0 cycles", Ports: []graph.Port{
		leaf.In("state", 32), leaf.In("index", w), leaf.Out("crc", 32),
	}}, nil
}
