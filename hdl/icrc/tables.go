// SPDX-License-Identifier: Apache-2.0

package icrc

import (
	"bytes"
	"fmt"
	"math/big"
	"math/bits"
	"strings"
	"text/template"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
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
	var m, step matrix // step is what 1, 2, 4, … bytes do
	for i := range m {
		m[i] = 1 << i
		step[i] = m[i]
		for range 8 {
			if n < 0 {
				step[i] = unzeroBit(step[i])
			} else {
				step[i] = zeroBit(step[i])
			}
		}
	}
	for n = max(n, -n); n > 0; n /= 2 {
		if n&1 != 0 {
			m = *step.after(&m)
		}
		step = *step.after(&step)
	}
	return &m
}

// after is what m does to what first has done.
func (m *matrix) after(first *matrix) *matrix {
	var r matrix
	for i := range r {
		r[i] = m.times(first[i])
	}
	return &r
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
//   latency     {{.Latency}}
//   throughput  one a cycle
//   stall       {{.Stall}}
//   bits        reflected CRC-32, polynomial 0xEDB88320: bit 0 of byte 0 first
//   reset       none
//   not done    the CRC register is outside
` + "`default_nettype none\n\n"

const tail = "\nendmodule\n\n`default_nettype wire\n"

func render(name, purpose, latency, stall, body string) ([]byte, error) {
	t, err := template.New(name).Parse(head + "{{.Body}}" + tail)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, struct{ Name, Purpose, Latency, Stall, Body string }{name, purpose, latency, stall, body}); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b.Bytes(), nil
}

func refuseBytes(name string, bytes int) error {
	rules := leaf.NewRules(name)
	rules.Refuse(bytes < 8 || bytes > 2048 || leaf.Pow2(leaf.Clog2(bytes)) != bytes, bytesRule)
	return rules.Err()
}

const bytesRule = "BYTES must be a power of two, 8 to 2048"

// wide says that a beat is too wide for its bytes to reach the CRC register in one cycle.
func wide(bytes int) bool { return bytes > 64 }

// latency is the first up to 64 bytes a beat and the second above.
func latency(narrow, broad string, bytes int) string {
	if wide(bytes) {
		return broad
	}
	return narrow
}

// CheckDelay is how many cycles later icrc_ok is valid at that bus width than in the cycle after the beat with the datagram's
// last byte: EOF_DELAY of the parser. One cycle is the parser's, which masks wide beats in a second cycle; one is the step's.
func CheckDelay(bytes int) int {
	if wide(bytes) {
		return 2
	}
	return 0
}

// foldTo is how many bits a wide beat is folded to before the register in its step.
const foldTo = 600

// folds are multiples of the polynomial with four or five terms, as exponents, for folding a wide beat with three or four gates
// a bit; a table of all its bits takes three times as many. There are no trinomials of a useful degree: those were found by
// looking through all of four terms below 12,000 and all of five below 3,000, and have a large gap behind the first exponent,
// so that few levels of gates are needed. The polynomial divides each of them, which a test sees.
func folds() [][]int {
	return [][]int{
		{9001, 968, 531, 0},
		{5807, 2567, 1101, 0},
		{4018, 2091, 1837, 0},
		{2246, 396, 128, 48, 0},
		{1123, 198, 64, 24, 0},
		{852, 317, 108, 56, 0},
		{515, 234, 230, 171, 0},
	}
}

// fold writes the wires that fold n bits of data, the highest power first, and returns the last one's name and width.
func fold(b *strings.Builder, n int) (string, int) {
	from := "data"
	for _, terms := range folds() {
		for n > foldTo && n > terms[0] {
			// Bits of power n-1 down to n-cut are replaced by bits of lower powers, none of which is among them.
			cut := min(n-terms[0], terms[0]-terms[1])
			n -= cut
			to := fmt.Sprintf("fold%d", n)
			fmt.Fprintf(b, "    wire [%d:0] %s = %s[%d:%d]", n-1, to, from, n+cut-1, cut)
			for _, e := range terms[1:] {
				low := terms[0] - e - cut
				b.WriteString("\n        ^ {")
				if high := n - low - cut; high > 0 {
					fmt.Fprintf(b, "{%d{1'b0}}, ", high)
				}
				fmt.Fprintf(b, "%s[%d:0]", from, cut-1)
				if low > 0 {
					fmt.Fprintf(b, ", {%d{1'b0}}", low)
				}
				b.WriteString("}")
			}
			b.WriteString(";\n")
			from = to
		}
	}
	return from, n
}

// sparse is how many low bits of a wide beat's tail move the residue on by one zero byte and by two, which takes few gates,
// instead of making its table larger. At 1,024 bytes the table alone has twice the area of both; at 64 it is faster.
const sparse = 2

// Step is inc_crc32_BYTES: the CRC register after BYTES more bytes.
type Step struct {
	// Bytes of a beat; a power of two, 8 to 2048.
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
	fmt.Fprintf(&b, "module %s (\n    input  wire clk,\n    input  wire en,\n    input  wire [%d:0] data,\n    input  wire [31:0] state,\n    output wire [31:0] next\n);\n\n", name, width-1)
	from, n := "data", width
	if wide(p.Bytes) {
		from, n = fold(&b, width)
		fmt.Fprintf(&b, "\n    reg [%d:0] data_reg;\n    always @(posedge clk) begin\n        if (en) begin\n            data_reg <= %s;\n        end\n    end\n\n", n-1, from)
		from = "data_reg"
	} else {
		b.WriteString("    // a beat of this width needs no register\n    wire unused_bits = &{1'b0, clk, en};\n\n")
	}
	past := advance(p.Bytes)
	columns := make([]uint32, n)
	// Bit i of data is followed by n-i-1 others.
	for i, v := n-1, zeroBit(1); i >= 0; i, v = i-1, zeroBit(v) {
		columns[i] = v
	}
	for i := range 32 {
		mask := new(big.Int)
		for k, column := range columns {
			mask.SetBit(mask, k, uint(column>>i&1))
		}
		fmt.Fprintf(&b, "    assign next[%d] = ^(state & 32'h%08x)\n        ^ ^(%s & %d'h%0*x);\n", i, past.row(i), from, n, (n+3)/4, mask)
	}
	purpose := fmt.Sprintf("the CRC register after %d more bytes.", p.Bytes)
	delay := latency("0 cycles", "1 cycle from data, 0 from state", p.Bytes)
	source, err := render(name, purpose, delay, "en low holds the data in the register of wide beats", b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: delay, Ports: []graph.Port{
		leaf.In("clk", 1), leaf.In("en", 1), leaf.In("data", width), leaf.In("state", 32), leaf.Out("next", 32),
	}}, nil
}

// Residue is inc_crc32_residue_BYTES: the register behind a datagram whose ICRC is right and a number of zero bytes.
type Residue struct {
	// Bytes of a beat; a power of two, 8 to 2048.
	Bytes int
}

// Module describes it, or says why Bytes is illegal.
func (p Residue) Module() (*graph.Module, error) {
	name := fmt.Sprintf("inc_crc32_residue_%d", p.Bytes)
	if err := refuseBytes(name, p.Bytes); err != nil {
		return nil, err
	}
	w, doublings := leaf.Clog2(p.Bytes), 0
	if wide(p.Bytes) {
		doublings = sparse
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s (\n    // zero bytes behind the datagram\n    input  wire [%d:0] tail,\n    output wire [31:0] residue\n);\n\n", name, w-1)
	fmt.Fprintf(&b, "    reg [31:0] by%d;\n    always @* begin\n        case (tail[%d:%d])\n", 1<<doublings, w-1, doublings)
	for n := range p.Bytes >> doublings {
		label := fmt.Sprintf("%d'd%d", w-doublings, n)
		if n == p.Bytes>>doublings-1 {
			label = "default"
		}
		fmt.Fprintf(&b, "            %s: by%d = 32'h%08x;\n", label, 1<<doublings, remainder(n<<doublings))
	}
	b.WriteString("        endcase\n    end\n")
	for k := doublings - 1; k >= 0; k-- {
		n := 1 << k
		past := advance(n)
		fmt.Fprintf(&b, "\n    wire [31:0] past%d, by%d;\n    assign by%d = tail[%d] ? past%d : by%d;\n", n, n, n, k, n, 2*n)
		for i := range 32 {
			fmt.Fprintf(&b, "    assign past%d[%d] = ^(by%d & 32'h%08x);\n", n, i, 2*n, past.row(i))
		}
	}
	b.WriteString("\n    assign residue = by1;\n")
	purpose := "the CRC register behind a datagram whose ICRC is right, and so many zero bytes."
	source, err := render(name, purpose, "0 cycles", "never", b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: "0 cycles", Ports: []graph.Port{
		leaf.In("tail", w), leaf.Out("residue", 32),
	}}, nil
}

// Tail is inc_crc32_tail_BYTES: takes 4·index + 2 trailing zero bytes back out of the register and inverts it, which makes the ICRC.
type Tail struct {
	// Bytes of a beat; a power of two, 8 to 2048.
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
	fmt.Fprintf(&b, `module %s (
    input  wire clk,
    input  wire en,
    // the register will have seen 4 * index + 2 zero bytes behind the last covered one
    input  wire [%d:0] index,
    // a cycle later than index
    input  wire [31:0] state,
    output wire [31:0] crc
);

`, name, w-1)
	if p.Bytes/4 <= places {
		p.each(&b, w)
	} else {
		p.product(&b, w)
	}
	purpose := "the ICRC, from a CRC register that also saw zeros behind the covered bytes."
	delay := "1 cycle from index, 0 from state"
	source, err := render(name, purpose, delay, "en low holds what index said", b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: delay, Ports: []graph.Port{
		leaf.In("clk", 1), leaf.In("en", 1), leaf.In("index", w), leaf.In("state", 32), leaf.Out("crc", 32),
	}}, nil
}

// places is up to how many numbers of zeros have a table of their own: with two it is as small as a product of polynomials, of half
// the depth.
const places = 2

// each writes a table of the register's bits for each number of zeros.
func (p Tail) each(b *strings.Builder, w int) {
	fmt.Fprintf(b, "    reg [%d:0] index_reg;\n    always @(posedge clk) begin\n        if (en) begin\n            index_reg <= index;\n        end\n    end\n\n", w-1)
	for n := range p.Bytes / 4 {
		back := advance(-(4*n + 2))
		fmt.Fprintf(b, "    wire [31:0] back%d;\n", n)
		for i := range 32 {
			fmt.Fprintf(b, "    assign back%d[%d] = ~^(state & 32'h%08x);\n", n, i, back.row(i))
		}
	}
	last := p.Bytes/4 - 1
	b.WriteString("    assign crc = ")
	for n := range last {
		fmt.Fprintf(b, "index_reg == %d'd%d ? back%d : ", w, n, n)
	}
	fmt.Fprintf(b, "back%d;\n", last)
}

// product writes the product of the register and of a power of x for the number of zeros, each a polynomial.
func (p Tail) product(b *strings.Builder, w int) {
	b.WriteString(`    // x to the power of minus 8 * (4 * index + 2): bit i is the coefficient of x to the power of i
    reg [31:0] power, power_reg;
    always @* begin
        case (index)
`)
	for n := range p.Bytes / 4 {
		label := fmt.Sprintf("%d'd%d", w, n)
		if n == p.Bytes/4-1 {
			label = "default"
		}
		one := uint32(1) << 31
		fmt.Fprintf(b, "            %s: power = 32'h%08x;\n", label, bits.Reverse32(advance(-(4*n + 2)).times(one)))
	}
	b.WriteString("        endcase\n    end\n    always @(posedge clk) begin\n        if (en) begin\n            power_reg <= power;\n        end\n    end\n\n")
	// The register holds the highest power in bit 0, so bits of equal distance belong to one power of the product.
	b.WriteString("    // their product, then its remainder\n    wire [62:0] product;\n")
	for k := range 63 {
		low, high := max(0, 31-k), min(31, 62-k)
		fmt.Fprintf(b, "    assign product[%d] = ^(state[%d:%d] & power_reg[%d:%d]);\n", k, high, low, high+k-31, low+k-31)
	}
	for i := range 32 {
		mask, v := uint32(0), uint32(1) // bit 0 is x to the power of 31
		for k := range 31 {
			v = zeroBit(v)
			mask |= v >> i & 1 << k
		}
		fmt.Fprintf(b, "    assign crc[%d] = ~(product[%d] ^ ^(product[62:32] & 31'h%08x));\n", i, 31-i, mask)
	}
}
