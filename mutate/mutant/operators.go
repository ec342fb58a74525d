// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The kinds of mistakes.
const (
	OpNegated  = "negated"    // a condition's opposite
	OpStuck    = "stuck"      // a condition that always or never holds
	OpDropped  = "dropped"    // a part of && or || missing
	OpLogic    = "logic"      // && for ||, & for |, and the like
	OpCompare  = "comparison" // == for !=, < for <=, and the like
	OpArith    = "arithmetic" // + for -, << for >>, and the like
	OpConstant = "constant"   // a literal of another value
	OpSwapped  = "swapped"    // the two arms of ?: exchanged
	OpWidth    = "width"      // the top bit lost
	OpLost     = "lost"       // an assignment at a clock's edge missing
	OpReset    = "reset"      // the same, of a reset
)

// writer makes the mutants of a module.
type writer struct {
	*module
	text string
	made []Mutant
}

func (w *writer) of(e *expr) string { return w.text[e.from:e.to] }

// change makes a mutant of an expression.
func (w *writer) change(e *expr, operator, after string) {
	w.made = append(w.made, Mutant{Operator: operator, Before: one(w.of(e)), After: one(after), from: e.from, to: e.to})
}

// drop makes the mutant without an assignment.
func (w *writer) drop(a assignment) {
	operator := OpLost
	if a.reset {
		operator = OpReset
	}
	w.made = append(w.made, Mutant{Operator: operator, Before: one(w.text[a.from:a.to]), from: a.from, to: a.to, statement: true})
}

// use makes the mutants of an expression and of what it is made of.
func (w *writer) use(u use) {
	switch u.role {
	case roleCondition:
		w.condition(u.expr)
	case roleSubject:
		w.value(u.expr)
	case rolePlace:
		w.place(u.expr)
	case roleValue:
		if !w.varies(u.expr) {
			w.value(u.expr)
			return
		}
		if !truth(u.expr) {
			w.change(u.expr, OpWidth, "(("+w.of(u.expr)+") << 1) >> 1")
		}
		w.value(u.expr)
	}
}

// place changes what the left side of an assignment reads.
func (w *writer) place(e *expr) {
	switch e.form {
	case formIndex:
		w.place(e.kids[0])
		w.index(e.kids[1])
	case formRange:
		w.place(e.kids[0])
		if e.sign != ":" {
			w.index(e.kids[1])
		}
	case formConcat:
		for _, k := range e.kids {
			w.place(k)
		}
	}
}

// index changes an index, unless the text needs it to be constant.
func (w *writer) index(e *expr) {
	if w.varies(e) {
		w.value(e)
	}
}

// varies tells whether an expression depends on what happens.
func (w *writer) varies(e *expr) bool {
	if e.form == formName {
		return !w.constants[e.sign]
	}
	return slices.ContainsFunc(e.kids, w.varies)
}

// truth tells whether an expression is of one bit that says yes or no.
func truth(e *expr) bool {
	switch e.form {
	case formBracket:
		return truth(e.kids[0])
	case formUnary:
		return e.sign == "!"
	case formBinary:
		return slices.Contains([]string{"&&", "||", "==", "!=", "===", "!==", "<", "<=", ">", ">="}, e.sign)
	}
	return false
}

// condition changes what is taken as yes or no.
func (w *writer) condition(e *expr) {
	for e.form == formBracket {
		e = e.kids[0]
	}
	if !w.varies(e) {
		return // the configuration's choice
	}
	w.change(e, OpNegated, w.negated(e))
	w.change(e, OpStuck, "1'b0")
	w.change(e, OpStuck, "1'b1")
	w.parts(e)
}

// negated is the opposite of a condition.
func (w *writer) negated(e *expr) string {
	if e.form == formUnary && e.sign == "!" {
		return "1'b1 && " + w.of(e.kids[0])
	}
	if op := opposite(e); op != "" {
		return w.sign(e, op)
	}
	if e.form == formName {
		return "!" + w.of(e)
	}
	return "!(" + w.of(e) + ")"
}

// sign is a binary expression with another operator, which may bind more than the one that was there: a || b || c becomes (a || b) && c.
func (w *writer) sign(e *expr, other string) string {
	left, between := w.of(e.kids[0]), w.text[e.kids[0].to:e.at]
	if e.kids[0].form == formBinary && e.kids[0].sign == e.sign {
		left = "(" + left + ")"
	}
	return left + between + other + w.text[e.until:e.to]
}

func opposite(e *expr) string {
	if e.form != formBinary {
		return ""
	}
	return map[string]string{"==": "!=", "!=": "==", "===": "!==", "!==": "==="}[e.sign]
}

// parts changes what a condition is made of.
func (w *writer) parts(e *expr) {
	switch {
	case e.form == formBinary && (e.sign == "&&" || e.sign == "||"):
		for i, k := range e.kids {
			if w.varies(k) && w.varies(e.kids[1-i]) {
				w.change(e, OpDropped, "1'b1 && "+w.of(e.kids[1-i]))
			}
		}
		w.change(e, OpLogic, w.sign(e, map[string]string{"&&": "||", "||": "&&"}[e.sign]))
		for _, k := range e.kids {
			w.operand(k)
		}
	case e.form == formUnary && e.sign == "!":
		w.inner(e.kids[0])
	default:
		w.operators(e)
	}
}

// operand changes one of && or ||; that it is stuck is what dropping it means.
func (w *writer) operand(e *expr) {
	for e.form == formBracket {
		e = e.kids[0]
	}
	if !w.varies(e) {
		return
	}
	if !(e.form == formBinary && (e.sign == "&&" || e.sign == "||")) {
		w.change(e, OpNegated, w.negated(e))
	}
	w.parts(e)
}

// inner changes what stands behind a !, which was negated already.
func (w *writer) inner(e *expr) {
	for e.form == formBracket {
		e = e.kids[0]
	}
	if w.varies(e) {
		w.parts(e)
	}
}

// value changes an expression that is more than yes or no.
func (w *writer) value(e *expr) {
	if truth(e) {
		w.condition(e)
		return
	}
	w.operators(e)
}

// operators changes an expression's operator and goes on to its operands.
func (w *writer) operators(e *expr) {
	switch e.form {
	case formNumber:
		w.number(e)
	case formUnary:
		w.unary(e)
		w.value(e.kids[0])
	case formBinary:
		w.binary(e)
		w.value(e.kids[0])
		w.value(e.kids[1])
	case formChoice:
		w.change(e, OpSwapped, w.of(e.kids[0])+" ? "+w.of(e.kids[2])+" : "+w.of(e.kids[1]))
		w.condition(e.kids[0])
		w.value(e.kids[1])
		w.value(e.kids[2])
	case formConcat, formBracket:
		for _, k := range e.kids {
			w.value(k)
		}
	case formRepeat:
		w.value(e.kids[1])
	case formIndex:
		w.index(e.kids[1])
	case formRange:
		if e.sign != ":" {
			w.index(e.kids[1])
		}
	case formCall:
		if e.sign[0] != '$' || e.sign == "$signed" || e.sign == "$unsigned" {
			for _, k := range e.kids {
				w.value(k)
			}
		}
	}
}

func (w *writer) unary(e *expr) {
	if !w.varies(e) {
		return
	}
	operator := OpLogic
	if e.sign == "-" {
		operator = OpArith
	}
	if other, ok := map[string]string{"&": "|", "|": "&", "^": "|", "~&": "~|", "~|": "~&", "~^": "|", "~": "", "-": ""}[e.sign]; ok {
		w.change(e, operator, other+w.text[e.until:e.to])
	}
}

func (w *writer) binary(e *expr) {
	if !w.varies(e) {
		return
	}
	with := func(operator, other string) { w.change(e, operator, w.sign(e, other)) }
	switch e.sign {
	case "<", "<=", ">", ">=":
		with(OpCompare, map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[e.sign])
	case "&", "|":
		with(OpLogic, map[string]string{"&": "|", "|": "&"}[e.sign])
	case "^", "~^", "^~":
		with(OpLogic, "|")
	case "+", "-":
		with(OpArith, map[string]string{"+": "-", "-": "+"}[e.sign])
	case "<<", ">>":
		with(OpArith, map[string]string{"<<": ">>", ">>": "<<"}[e.sign])
	case "*":
		with(OpArith, "+")
	}
}

// literal is a number of decimal, binary or hexadecimal digits, which _ may separate; base and width may be missing.
var literal = regexp.MustCompile(`^(?:([0-9]*)'([bdhBDH]))?([0-9a-fA-F_]+)$`)

// number makes the mutant of a literal: its lowest bit is the other one.
func (w *writer) number(e *expr) {
	m := literal.FindStringSubmatch(e.sign)
	if m == nil {
		return
	}
	base := map[string]int{"": 10, "b": 2, "d": 10, "h": 16, "B": 2, "D": 10, "H": 16}[m[2]]
	digits := strings.ReplaceAll(m[3], "_", "")
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return
	}
	text := strconv.FormatUint(n^1, base)
	if base == 2 || base == 16 { // as wide as it was
		for len(text) < len(digits) {
			text = "0" + text
		}
	}
	if m[2] != "" {
		text = m[1] + "'" + m[2] + text
	}
	w.change(e, OpConstant, text)
}
