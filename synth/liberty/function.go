// SPDX-License-Identifier: Apache-2.0

package liberty

import (
	"fmt"
	"slices"
	"strings"
)

// Function is a Liberty Boolean expression: names, 0, 1, ! and ' for not,
// ^, & or * or a blank for and, | or + for or, parentheses. Not binds
// tightest, then exclusive or, then and, then or (Liberty reference, "function").
type Function struct {
	root   *node
	inputs []string
}

type node struct {
	op   byte // 'v' variable, '0', '1', '!', '^', '&', '|'
	name string
	a, b *node
}

// ParseFunction reads an expression.
func ParseFunction(text string) (*Function, error) {
	p := &functionParser{text: text}
	root, err := p.or()
	if err != nil {
		return nil, fmt.Errorf("liberty: function %q: %w", text, err)
	}
	if p.peek() != 0 {
		return nil, fmt.Errorf("liberty: function %q: unexpected %q at %d", text, p.peek(), p.pos)
	}
	slices.Sort(p.names)
	return &Function{root: root, inputs: slices.Compact(p.names)}, nil
}

// Inputs returns the names in the expression, sorted.
func (f *Function) Inputs() []string { return slices.Clone(f.inputs) }

// Eval returns the value for the inputs that are true.
func (f *Function) Eval(value func(name string) bool) bool { return f.root.eval(value) }

func (n *node) eval(value func(string) bool) bool {
	switch n.op {
	case 'v':
		return value(n.name)
	case '1':
		return true
	case '!':
		return !n.a.eval(value)
	case '^':
		return n.a.eval(value) != n.b.eval(value)
	case '&':
		return n.a.eval(value) && n.b.eval(value)
	case '|':
		return n.a.eval(value) || n.b.eval(value)
	}
	return false
}

// Verilog returns the expression in Verilog, fully bracketed.
func (f *Function) Verilog() string { return f.root.verilog() }

func (n *node) verilog() string {
	switch n.op {
	case 'v':
		return n.name
	case '0', '1':
		return "1'b" + string(n.op)
	case '!':
		return "~" + n.a.verilog()
	}
	return "(" + n.a.verilog() + " " + string(n.op) + " " + n.b.verilog() + ")"
}

// maxTable bounds the inputs of a function whose truth table is looked at.
const maxTable = 12

// Table returns the truth table over the sorted inputs, input 0 the lowest
// index bit; nil when there are more than twelve.
func (f *Function) Table() []bool {
	if len(f.inputs) > maxTable {
		return nil
	}
	t := make([]bool, 1<<len(f.inputs))
	for i := range t {
		t[i] = f.Eval(func(name string) bool { return i>>slices.Index(f.inputs, name)&1 == 1 })
	}
	return t
}

// Sense returns the Liberty timing sense of the function in an input.
func (f *Function) Sense(input string) string {
	k := slices.Index(f.inputs, input)
	t := f.Table()
	if k < 0 || t == nil {
		return "non_unate"
	}
	var up, down bool
	for i := range t {
		if i>>k&1 == 0 {
			up = up || !t[i] && t[i|1<<k]
			down = down || t[i] && !t[i|1<<k]
		}
	}
	switch {
	case up && !down:
		return "positive_unate"
	case down && !up:
		return "negative_unate"
	}
	return "non_unate"
}

type functionParser struct {
	text  string
	pos   int
	names []string
}

// peek skips blanks and returns the next character, 0 at the end.
func (p *functionParser) peek() byte {
	for p.pos < len(p.text) && strings.IndexByte(" \t\n\r\\", p.text[p.pos]) >= 0 {
		p.pos++
	}
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *functionParser) or() (*node, error) {
	return p.chain('|', "|+", p.and)
}

func (p *functionParser) and() (*node, error) {
	a, err := p.xor()
	for err == nil {
		c := p.peek()
		if c == '&' || c == '*' {
			p.pos++
		} else if !isName(c) && c != '(' && c != '!' {
			// Two operands side by side are an and too.
			return a, nil
		}
		var b *node
		b, err = p.xor()
		a = &node{op: '&', a: a, b: b}
	}
	return nil, err
}

func (p *functionParser) xor() (*node, error) {
	return p.chain('^', "^", p.not)
}

func (p *functionParser) chain(op byte, signs string, next func() (*node, error)) (*node, error) {
	a, err := next()
	for err == nil && p.peek() != 0 && strings.IndexByte(signs, p.peek()) >= 0 {
		p.pos++
		var b *node
		b, err = next()
		a = &node{op: op, a: a, b: b}
	}
	return a, err
}

func (p *functionParser) not() (*node, error) {
	var n *node
	var err error
	switch c := p.peek(); {
	case c == '!':
		p.pos++
		if n, err = p.not(); err != nil {
			return nil, err
		}
		n = &node{op: '!', a: n}
	case c == '(':
		p.pos++
		if n, err = p.or(); err != nil {
			return nil, err
		}
		if p.peek() != ')' {
			return nil, fmt.Errorf("missing ) at %d", p.pos)
		}
		p.pos++
	case isName(c):
		start := p.pos
		for p.pos < len(p.text) && isName(p.text[p.pos]) {
			p.pos++
		}
		switch name := p.text[start:p.pos]; name {
		case "0", "1":
			n = &node{op: name[0]}
		default:
			n = &node{op: 'v', name: name}
			p.names = append(p.names, name)
		}
	default:
		return nil, fmt.Errorf("operand expected at %d", p.pos)
	}
	for p.peek() == '\'' {
		p.pos++
		n = &node{op: '!', a: n}
	}
	return n, nil
}

func isName(c byte) bool {
	return c == '_' || c == '[' || c == ']' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
