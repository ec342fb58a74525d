// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"text/template"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// checkBits is how many check bits go with so many data bits; 0 for a codeword that there is none of.
func checkBits(data int) int {
	switch data {
	case 32:
		return 7
	case 64:
		return 8
	case 128:
		return 9
	case 1024:
		return 12
	}
	return 0
}

// code is a minimum odd-weight-column code (M. Y. Hsiao, IBM Journal of Research and Development 14(4), 1970): the syndrome of a
// single error has an odd number of ones, that of a double error an even number above 0.
type code struct {
	data, check int
	// column is the syndrome of each data bit, all of odd weight above 1, different, and as light as can be. Check bit i's is 1<<i.
	column []uint
	// poison are the two check bits that are inverted to spoil a codeword.
	poison [2]int
}

// newCode chooses the columns: all of weight 3, then of weight 5 and of 7, each time the one that adds to the emptiest rows. Every row is
// then the parity of about as many bits, which is the depth of the logic.
func newCode(data int) code {
	c := code{data: data, check: checkBits(data)}
	used := map[uint]bool{}
	load := make([]int, c.check)
	for weight := 3; len(c.column) < data; weight += 2 {
		var candidates []uint
		for v := range uint(1) << c.check {
			if bits.OnesCount(v) == weight {
				candidates = append(candidates, v)
			}
		}
		for range min(len(candidates), data-len(c.column)) {
			best, least := uint(0), -1
			for _, v := range candidates {
				// Squares: one full row weighs more than two that are half full.
				sum := 0
				for i, n := range load {
					if v>>i&1 != 0 {
						sum += 2*n + 1
					}
				}
				if !used[v] && (least < 0 || sum < least) {
					best, least = v, sum
				}
			}
			used[best] = true
			c.column = append(c.column, best)
			for i := range load {
				load[i] += int(best >> i & 1)
			}
		}
	}
	var found bool
	if c.poison, found = c.poisonBits(used); !found {
		// All columns of data bit 0's weight and of two more are taken: it gets one of the heaviest.
		c.column[0], c.column[data-1] = c.column[data-1], c.column[0]
		c.poison, _ = c.poisonBits(used)
	}
	return c
}

// poisonBits are the first two check bits whose inversion is still seen as more than a single error when data bit 0, or bits 0
// and 1, are inverted besides: what is injected into a poisoned row does not heal it.
func (c *code) poisonBits(used map[uint]bool) (pair [2]int, found bool) {
	for j := range c.check {
		for i := range j {
			two := uint(1)<<i | uint(1)<<j
			one := two ^ c.column[0]
			if !used[one] && bits.OnesCount(one) > 1 && two != c.column[0]^c.column[1] {
				return [2]int{i, j}, true
			}
		}
	}
	return [2]int{0, 1}, false
}

// row is which data bits make check bit i, as a Verilog number's hexadecimal digits.
func (c *code) row(i int) string {
	var b strings.Builder
	for digit := c.data/4 - 1; digit >= 0; digit-- {
		v := uint(0)
		for k := range 4 {
			v |= c.column[4*digit+k] >> i & 1 << k
		}
		fmt.Fprintf(&b, "%x", v)
	}
	return b.String()
}

// singles is a bit for each syndrome, set if it is that of a single error, as a Verilog number's hexadecimal digits.
func (c *code) singles() string {
	set := make([]uint, 1<<c.check/4)
	mark := func(v uint) { set[v/4] |= 1 << (v % 4) }
	for i := range c.check {
		mark(1 << i)
	}
	for _, v := range c.column {
		mark(v)
	}
	var b strings.Builder
	for _, digit := range slices.Backward(set) {
		fmt.Fprintf(&b, "%x", digit)
	}
	return b.String()
}

const secdedHead = `// SPDX-License-Identifier: Apache-2.0
//
// {{.Name}}: {{.Purpose}}.
//
// Contract
//   latency     0 cycles: combinational
//   throughput  follows its inputs
//   stall       never
//   code        minimum odd-weight columns (Hsiao): {{.Data}} data bits below, {{.Check}} check bits above; one line a check bit
//   reset       none
//   not done    {{.NotDone}}
` + "`default_nettype none\n\n"

const secdedTail = "\nendmodule\n\n`default_nettype wire\n"

func (c *code) render(name, purpose, notDone, body string) ([]byte, error) {
	t, err := template.New(name).Parse(secdedHead + "{{.Body}}" + secdedTail)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Name, Purpose, NotDone, Body string
		Data, Check                  int
	}{name, purpose, notDone, body, c.data, c.check})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b.Bytes(), nil
}

func refuseData(name string, data int) error {
	rules := leaf.NewRules(name)
	rules.Refuse(checkBits(data) == 0, "a codeword has 32, 64, 128 or 1,024 data bits")
	return rules.Err()
}

// Encode is inc_secded_encode_DATA: adds the check bits.
type Encode struct {
	// Data: data bits of a codeword: 32, 64, 128 or 1,024.
	Data int
}

// Module describes it, with its equations computed here, or says why Data is illegal.
func (p Encode) Module() (*graph.Module, error) {
	name := fmt.Sprintf("inc_secded_encode_%d", p.Data)
	if err := refuseData(name, p.Data); err != nil {
		return nil, err
	}
	c := newCode(p.Data)
	var b strings.Builder
	fmt.Fprintf(&b, "module %s (\n    input  wire [%d:0] data,\n    // spoils the codeword: it decodes as a double error\n    input  wire%*s poison,\n    output wire [%d:0] code\n); /* verilator no_inline_module */\n\n",
		name, c.data-1, 4+len(fmt.Sprint(c.data-1)), "", c.data+c.check-1)
	fmt.Fprintf(&b, "    wire [%d:0] check;\n\n", c.check-1)
	for i := range c.check {
		fmt.Fprintf(&b, "    assign check[%d] = ^(data & %d'h%s)", i, c.data, c.row(i))
		if i == c.poison[0] || i == c.poison[1] {
			b.WriteString(" ^ poison")
		}
		b.WriteString(";\n")
	}
	b.WriteString("    assign code = {check, data};\n")
	purpose := fmt.Sprintf("%d check bits for %d data bits", c.check, c.data)
	source, err := c.render(name, purpose, "nothing", b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: "0 cycles", Ports: []graph.Port{
		leaf.In("data", c.data), leaf.In("poison", 1), leaf.Out("code", c.data+c.check),
	}}, nil
}

// Decode is inc_secded_decode_DATA: corrects one error, finds two.
type Decode struct {
	// Data: data bits of a codeword: 32, 64, 128 or 1,024.
	Data int
}

// Module describes it, with its equations computed here, or says why Data is illegal.
func (p Decode) Module() (*graph.Module, error) {
	name := fmt.Sprintf("inc_secded_decode_%d", p.Data)
	if err := refuseData(name, p.Data); err != nil {
		return nil, err
	}
	c := newCode(p.Data)
	var b strings.Builder
	pad := 4 + len(fmt.Sprint(c.data-1))
	fmt.Fprintf(&b, "module %s (\n    input  wire [%d:0] code,\n    output wire [%d:0] data,\n", name, c.data+c.check-1, c.data-1)
	fmt.Fprintf(&b, "    // one bit was wrong, of data or of the check bits\n    output wire%*s corrected,\n", pad, "")
	fmt.Fprintf(&b, "    // more than one bit was wrong: data means nothing\n    output wire%*s poison\n); /* verilator no_inline_module */\n\n", pad, "")
	fmt.Fprintf(&b, "    wire [%d:0] seen = code[%d:0];\n    wire [%d:0] syndrome;\n    wire [%d:0] wrong;\n\n", c.data-1, c.data-1, c.check-1, c.data-1)
	for i := range c.check {
		fmt.Fprintf(&b, "    assign syndrome[%d] = code[%d] ^ ^(seen & %d'h%s);\n", i, c.data+i, c.data, c.row(i))
	}
	b.WriteString("\n")
	for i, v := range c.column {
		fmt.Fprintf(&b, "    assign wrong[%d] = syndrome == %d'b%0*b;\n", i, c.check, c.check, v)
	}
	// A table of the syndromes maps to less logic than asking whether any bit was found wrong.
	fmt.Fprintf(&b, "\n    // the syndromes of single errors; the others but 0 are those of more\n    wire [%d:0] single = %d'h%s;\n", 1<<c.check-1, 1<<c.check, c.singles())
	b.WriteString("    assign data      = seen ^ wrong;\n")
	b.WriteString("    assign corrected = single[syndrome];\n")
	fmt.Fprintf(&b, "    assign poison    = syndrome != %d'd0 && !corrected;\n", c.check)
	purpose := fmt.Sprintf("corrects one error in %d data bits and their %d check bits, finds two", c.data, c.check)
	source, err := c.render(name, purpose, "three errors and more may look like one", b.String())
	if err != nil {
		return nil, err
	}
	return &graph.Module{Name: name, Purpose: purpose, Source: source, Latency: "0 cycles", Ports: []graph.Port{
		leaf.In("code", c.data+c.check), leaf.Out("data", c.data), leaf.Out("corrected", 1), leaf.Out("poison", 1),
	}}, nil
}
