// SPDX-License-Identifier: Apache-2.0

package mutant

import "slices"

// form is how an expression is built.
type form int

const (
	formName    form = iota // a name, with what hangs on it by dots
	formNumber              // a literal, also a string
	formUnary               // sign and operand
	formBinary              // left, right
	formChoice              // condition, then, else
	formConcat              // operands
	formRepeat              // count, operand (a concatenation)
	formIndex               // value, index
	formRange               // value, two bounds, of which sign says the kind; the first may vary if sign is not ":"
	formCall                // arguments; of a function or a system function
	formBracket             // operand
)

// expr is an expression: text[from:to], and text[at:until] is its operator.
type expr struct {
	form      form
	sign      string // operator, name or literal
	from, to  int
	at, until int
	kids      []*expr
}

// levels are the binary operators, those that bind least first.
func levels() [][]string {
	return [][]string{{"||"}, {"&&"}, {"|"}, {"^", "~^", "^~"}, {"&"}, {"==", "!=", "===", "!=="}, {"<", "<=", ">", ">="},
		{"<<", ">>", "<<<", ">>>"}, {"+", "-"}, {"*", "/", "%"}, {"**"}}
}

// expression takes an expression.
func (p *parser) expression() *expr {
	c := p.binary(0)
	if !p.is("?") {
		return c
	}
	e := &expr{form: formChoice, sign: "?", from: c.from, at: p.here().from, until: p.here().to}
	p.want("?")
	then := p.expression()
	p.want(":")
	other := p.expression()
	e.kids, e.to = []*expr{c, then, other}, other.to
	return e
}

func (p *parser) binary(level int) *expr {
	if level == len(p.levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for p.here().class == classSign && slices.Contains(p.levels[level], p.here().text) {
		op := p.take()
		right := p.binary(level + 1)
		left = &expr{form: formBinary, sign: op.text, from: left.from, to: right.to, at: op.from, until: op.to, kids: []*expr{left, right}}
	}
	return left
}

func (p *parser) unary() *expr {
	t := p.here()
	if t.class == classSign && slices.Contains([]string{"!", "~", "&", "|", "^", "-", "+", "~&", "~|", "~^"}, t.text) {
		p.take()
		of := p.unary()
		return &expr{form: formUnary, sign: t.text, from: t.from, to: of.to, at: t.from, until: t.to, kids: []*expr{of}}
	}
	return p.primary()
}

func (p *parser) primary() *expr {
	t := p.take()
	e := &expr{sign: t.text, from: t.from, to: t.to}
	switch {
	case t.class == classNumber, t.class == classString:
		e.form = formNumber
		return e
	case t.class == classSystem:
		e.form = formCall
		if p.is("(") {
			p.arguments(e)
		}
		return e
	case t.text == "(":
		e.form, e.kids = formBracket, []*expr{p.expression()}
		e.to = p.want(")").to
		return e
	case t.text == "{":
		return p.braces(e)
	case t.class != className:
		p.fail(t, "an expression")
	}
	if p.is("(") {
		e.form = formCall
		p.arguments(e)
		return e
	}
	return p.selects(e)
}

func (p *parser) arguments(e *expr) {
	p.want("(")
	for {
		e.kids = append(e.kids, p.expression())
		if !p.is(",") {
			break
		}
		p.take()
	}
	e.to = p.want(")").to
}

// braces takes a concatenation or a repetition, behind its first brace.
func (p *parser) braces(e *expr) *expr {
	e.form, e.sign = formConcat, "{}"
	e.kids = []*expr{p.expression()}
	if p.is("{") {
		e.form = formRepeat
		inner := p.take()
		e.kids = append(e.kids, p.braces(&expr{from: inner.from}))
		e.to = p.want("}").to
		return e
	}
	for p.is(",") {
		p.take()
		e.kids = append(e.kids, p.expression())
	}
	e.to = p.want("}").to
	return e
}

// selects takes the indices and ranges behind a name, and the names in generate blocks, as in gen_port[p].ready.
func (p *parser) selects(e *expr) *expr {
	for p.is("[") || p.is(".") {
		if p.take().text == "." {
			inner := p.name()
			e = &expr{form: formName, sign: inner.text, from: e.from, to: inner.to}
			continue
		}
		s := &expr{form: formIndex, sign: "[]", from: e.from, kids: []*expr{e, p.expression()}}
		if p.is(":") || p.is("+:") || p.is("-:") {
			s.form, s.sign = formRange, p.take().text
			s.kids = append(s.kids, p.expression())
		}
		s.to = p.want("]").to
		e = s
	}
	return e
}
