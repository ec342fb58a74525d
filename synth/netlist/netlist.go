// SPDX-License-Identifier: Apache-2.0

// Package netlist holds mapped modules: reads them from Yosys's text, counts their cells, gives cells the drive that their loads
// need, and writes the whole as Verilog that a timer reads.
package netlist

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A bit is the number of a wire's bit in its module, or a constant.
type bit = int32

const (
	zero bit = -1
	one  bit = -2
)

// Module is a mapped module.
type Module struct {
	Name  string
	Ports []*Wire // in the order of their numbers
	wires []*Wire
	cells []Cell
	joins [][2]bit // bits that are one net: driven, driving
	bits  int
}

// Wire is a wire or port.
type Wire struct {
	Name   string // as in the text
	Input  bool
	Output bool
	Width  int
	order  int
	first  bit
}

// Cell is an instance of a cell of the library, a macro or a module.
type Cell struct {
	Type, Name string
	pins       []pin
}

type pin struct {
	name string
	bits []bit // the lowest first
}

// Parse reads the module of a name from a text that may hold black boxes too. Instances of modules get the types that rename has.
func Parse(text []byte, name string, rename func(typ string) string) (*Module, error) {
	p := parser{m: &Module{Name: rename(name)}, wires: map[string]*Wire{}, types: map[string]string{}, rename: rename}
	inside, n := false, 0
	for raw := range bytes.Lines(text) {
		n++
		line := strings.TrimRight(string(raw), "\n")
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "attribute" || words[0] == "autoidx" || words[0] == "#" {
			continue
		}
		if words[0] == "module" {
			inside = words[1] == `\`+name
			continue
		}
		if line == "end" {
			if inside {
				return p.done()
			}
			continue
		}
		if !inside {
			continue
		}
		if err := p.line(words); err != nil {
			return nil, fmt.Errorf("netlist: %s, line %d: %w", name, n, err)
		}
	}
	return nil, fmt.Errorf("netlist: no module %s in the text", name)
}

type parser struct {
	m      *Module
	wires  map[string]*Wire
	types  map[string]string
	rename func(string) string
	cell   *Cell
}

func (p *parser) line(words []string) error {
	switch words[0] {
	case "wire":
		return p.wire(words)
	case "cell":
		typ, ok := p.types[words[1]]
		if !ok {
			typ = p.rename(strings.TrimPrefix(words[1], `\`))
			p.types[words[1]] = typ
		}
		p.m.cells = append(p.m.cells, Cell{Type: typ, Name: words[2]})
		p.cell = &p.m.cells[len(p.m.cells)-1]
	case "end":
		p.cell = nil
	case "parameter": // of a module: its name, without a meaning any more
	case "connect":
		if p.cell != nil {
			bits, _, err := p.signal(words[2:])
			if err != nil {
				return err
			}
			p.cell.pins = append(p.cell.pins, pin{strings.TrimPrefix(words[1], `\`), bits})
			return nil
		}
		to, rest, err := p.signal(words[1:])
		if err != nil {
			return err
		}
		from, _, err := p.signal(rest)
		if err != nil {
			return err
		}
		if len(to) != len(from) {
			return fmt.Errorf("connect of %d and %d bits", len(to), len(from))
		}
		for i := range to {
			p.m.joins = append(p.m.joins, [2]bit{to[i], from[i]})
		}
	default:
		return fmt.Errorf("%q in a mapped module", words[0])
	}
	return nil
}

func (p *parser) wire(words []string) error {
	w := &Wire{Name: words[len(words)-1], Width: 1, first: bit(p.m.bits)}
	for i, word := range words[:len(words)-1] {
		var err error
		switch word {
		case "width":
			w.Width, err = strconv.Atoi(words[i+1])
		case "input", "output":
			w.Input, w.Output = word == "input", word == "output"
			w.order, err = strconv.Atoi(words[i+1])
		case "inout":
			return fmt.Errorf("wire %s is %s", w.Name, word)
		}
		if err != nil {
			return err
		}
	}
	p.m.bits += w.Width
	p.wires[w.Name] = w
	p.m.wires = append(p.m.wires, w)
	return nil
}

// signal reads a signal at the beginning of words and returns its bits and what follows.
func (p *parser) signal(words []string) (bits []bit, rest []string, err error) {
	if len(words) == 0 {
		return nil, nil, fmt.Errorf("signal missing")
	}
	head := words[0]
	switch {
	case head == "{":
		// The highest part comes first.
		var parts [][]bit
		rest = words[1:]
		for len(rest) > 0 && rest[0] != "}" {
			var part []bit
			if part, rest, err = p.signal(rest); err != nil {
				return nil, nil, err
			}
			parts = append(parts, part)
		}
		if len(rest) == 0 {
			return nil, nil, fmt.Errorf("} missing")
		}
		for i := len(parts) - 1; i >= 0; i-- {
			bits = append(bits, parts[i]...)
		}
		return bits, rest[1:], nil
	case head[0] == '\\' || head[0] == '$':
		w, ok := p.wires[head]
		if !ok {
			return nil, nil, fmt.Errorf("unknown wire %s", head)
		}
		low, high := 0, w.Width-1
		rest = words[1:]
		if len(rest) > 0 && rest[0][0] == '[' {
			if low, high, err = slice(rest[0]); err != nil {
				return nil, nil, err
			}
			if low < 0 || high >= w.Width || low > high {
				return nil, nil, fmt.Errorf("%s %s: it has %d bits", head, rest[0], w.Width)
			}
			rest = rest[1:]
		}
		for i := low; i <= high; i++ {
			bits = append(bits, w.first+bit(i))
		}
		return bits, rest, nil
	}
	bits, err = constant(head)
	return bits, words[1:], err
}

// slice reads [7:4] or [7].
func slice(text string) (low, high int, err error) {
	a, b, ranged := strings.Cut(strings.Trim(text, "[]"), ":")
	if high, err = strconv.Atoi(a); err != nil {
		return 0, 0, err
	}
	if !ranged {
		return high, high, nil
	}
	low, err = strconv.Atoi(b)
	return low, high, err
}

// constant reads 4'0101 or a decimal number of 32 bits. What is undefined is 0.
func constant(text string) ([]bit, error) {
	width, digits, ok := strings.Cut(text, "'")
	if !ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("signal %q is not understood", text)
		}
		bits := make([]bit, 32)
		for i := range bits {
			bits[i] = zero - bit(n>>i&1)
		}
		return bits, nil
	}
	n, err := strconv.Atoi(width)
	if err != nil || len(digits) == 0 || n < len(digits) {
		return nil, fmt.Errorf("constant %q is not understood", text)
	}
	bits := make([]bit, n)
	for i := range bits {
		// What is left out above the digits is 0, or undefined.
		bits[i] = zero
		if i < len(digits) && digits[len(digits)-1-i] == '1' {
			bits[i] = one
		}
	}
	return bits, nil
}

func (p *parser) done() (*Module, error) {
	m := p.m
	for _, w := range m.wires {
		if w.order == 0 {
			continue
		}
		for len(m.Ports) < w.order {
			m.Ports = append(m.Ports, nil)
		}
		m.Ports[w.order-1] = w
	}
	for i, w := range m.Ports {
		if w == nil {
			return nil, fmt.Errorf("netlist: %s has no port %d", m.Name, i+1)
		}
	}
	return m, nil
}

// Count returns how often each type of cell occurs in the module.
func (m *Module) Count() map[string]int {
	n := map[string]int{}
	for _, c := range m.cells {
		n[c.Type]++
	}
	return n
}

// Instances returns the types of the module's cells by their names.
func (m *Module) Instances() map[string]string {
	all := make(map[string]string, len(m.cells))
	for _, c := range m.cells {
		all[strings.TrimPrefix(c.Name, `\`)] = c.Type
	}
	return all
}

// A module whose gates are mostly exclusive or is a parity tree (CRC, ECC).
const (
	xorShare = 0.5
	xorGates = 100
)

// MostlyXOR tells whether a module of Yosys's own gates, which are counted by type, is a parity tree.
func MostlyXOR(gates map[string]int) bool {
	all, xors := 0, 0
	for gate, n := range gates {
		if !strings.HasPrefix(gate, "$_") || strings.Contains(gate, "DFF") {
			continue
		}
		all += n
		if gate == "$_XOR_" || gate == "$_XNOR_" {
			xors += n
		}
	}
	return all >= xorGates && float64(xors) >= xorShare*float64(all)
}
