// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"fmt"
	"slices"
)

// role is what an expression is there for.
type role int

const (
	roleValue     role = iota // on the right of an assignment, or at an input of an instance
	roleCondition             // of an if or a case: true or false
	roleSubject               // what a case looks at
	rolePlace                 // on the left of an assignment in an always block: its indices may vary
)

// use is an expression that is worked out while the design runs, and may therefore be changed.
type use struct {
	*expr
	role     role
	function string // that it is in, if any
}

// assignment is one in a clocked block, with its semicolon.
type assignment struct {
	from, to int
	reset    bool // under if (rst)
}

// instance is one of another module.
type instance struct {
	module string
	head   int // behind the bracket that opens its connections
	inputs []connection
}

// connection is that of a port.
type connection struct {
	port string
	*expr
}

// module is what there is to change in one.
type module struct {
	name      string
	ports     int // behind the bracket that opens its ports
	body      int // behind the semicolon of its header
	inputs    map[string]bool
	constants map[string]bool // parameters, genvars, and the variables of loops
	variables map[string]bool // names that must not be taken for others
	uses      []use
	drops     []assignment
	instances []instance
	memory    bool            // it has an array of words
	fixed     map[string]bool // functions that constants are worked out with
}

// parser reads the part of Verilog-2005 that the generator prints.
type parser struct {
	all    []token
	at     int
	levels [][]string
	*module
	function string // that the parser is in
	clocked  bool   // in an always block at a clock's edge
	reset    bool   // under if (rst)
}

// syntaxError is what a text has that the parser does not know.
type syntaxError struct {
	token
	want string
}

func (p *parser) fail(t token, want string) { panic(syntaxError{t, want}) }

// parse reads the modules of a file.
func parse(text string) (all []*module, err error) {
	words, err := tokens(text)
	if err != nil {
		return nil, err
	}
	defer func() {
		if s, is := recover().(syntaxError); is {
			err = fmt.Errorf("line %d: %q, want %s", lineAt(text, s.from), s.text, s.want)
		}
	}()
	p := &parser{all: words, levels: levels()}
	for p.here().class != classEnd {
		p.module = &module{inputs: map[string]bool{}, constants: map[string]bool{}, variables: map[string]bool{}, fixed: map[string]bool{}}
		p.header()
		for !p.is("endmodule") {
			p.item()
		}
		p.take()
		all = append(all, p.module)
	}
	return all, nil
}

func (p *parser) here() token { return p.all[p.at] }

// is tells whether the next word is that one.
func (p *parser) is(text string) bool {
	t := p.here()
	return t.text == text && (t.class == classSign || t.class == className)
}

func (p *parser) take() token {
	t := p.here()
	if t.class == classEnd {
		p.fail(t, "more")
	}
	p.at++
	return t
}

func (p *parser) want(text string) token {
	if !p.is(text) {
		p.fail(p.here(), text)
	}
	return p.take()
}

// option takes the next word if it is one of those.
func (p *parser) option(words ...string) bool {
	if p.here().class != className || !slices.Contains(words, p.here().text) {
		return false
	}
	p.take()
	return true
}

func (p *parser) name() token {
	if p.here().class != className {
		p.fail(p.here(), "a name")
	}
	return p.take()
}

// constant takes an expression that must be constant.
func (p *parser) constant() *expr {
	e := p.expression()
	p.pin(e)
	return e
}

// pin notes what functions a constant needs.
func (p *parser) pin(e *expr) {
	if e.form == formCall {
		p.fixed[e.sign] = true
	}
	for _, k := range e.kids {
		p.pin(k)
	}
}

// use notes an expression that may be changed.
func (p *parser) use(e *expr, r role) {
	p.uses = append(p.uses, use{e, r, p.function})
}

// header takes module NAME #(parameters) (ports);
func (p *parser) header() {
	p.want("module")
	p.module.name = p.name().text
	if p.is("#") {
		p.take()
		p.want("(")
		for !p.is(")") {
			p.option("parameter")
			p.parameters()
			if p.is(",") {
				p.take()
			}
		}
		p.take()
	}
	p.ports = p.want("(").to
	in := false
	for !p.is(")") {
		switch {
		case p.option("input"):
			in = true
		case p.option("output"):
			in = false
		}
		p.kind()
		name := p.name().text
		p.variables[name] = true
		if in {
			p.inputs[name] = true
		}
		if p.is(",") {
			p.take()
		}
	}
	p.take()
	p.body = p.want(";").to
}

// kind takes wire, reg, signed and ranges.
func (p *parser) kind() {
	for p.option("wire", "reg", "signed", "integer", "automatic") {
	}
	p.dimensions()
}

func (p *parser) dimensions() {
	for p.is("[") {
		p.take()
		p.constant()
		p.want(":")
		p.constant()
		p.want("]")
	}
}

// parameters takes constants and their values, up to what is not one.
func (p *parser) parameters() {
	p.kind()
	for {
		name := p.name().text
		p.constants[name], p.variables[name] = true, true
		p.want("=")
		p.constant()
		if !p.is(",") || p.all[p.at+1].text == "parameter" || p.all[p.at+1].text == ")" {
			return
		}
		p.take()
	}
}

// item takes what may stand in a module or a generate block.
func (p *parser) item() {
	t := p.here()
	switch {
	case p.option("generate"):
		for !p.option("endgenerate") {
			p.item()
		}
	case p.option("parameter", "localparam"):
		p.parameters()
		p.want(";")
	case t.text == "wire" || t.text == "reg" || t.text == "integer":
		p.declaration()
	case p.option("genvar"):
		for {
			name := p.name().text
			p.constants[name], p.variables[name] = true, true
			if !p.is(",") {
				break
			}
			p.take()
		}
		p.want(";")
	case p.option("assign"):
		p.assigns()
	case p.option("always"):
		p.always()
	case p.option("initial"):
		uses, drops := len(p.uses), len(p.drops)
		p.statement()
		p.uses, p.drops = p.uses[:uses], p.drops[:drops] // how a memory begins is not the design's behaviour
	case p.option("function"):
		p.functionItem()
	case p.option("begin"):
		p.label()
		for !p.option("end") {
			p.item()
		}
	case p.option("if"):
		p.want("(")
		p.constant()
		p.want(")")
		p.item()
		if p.option("else") {
			p.item()
		}
	case p.option("for"):
		p.loopHead()
		p.item()
	case t.class == classSystem:
		p.expression()
		p.want(";")
	case t.class == className:
		p.instance()
	default:
		p.fail(t, "an item of a module")
	}
}

func (p *parser) label() {
	if p.is(":") {
		p.take()
		p.name()
	}
}

// declaration takes nets and variables, with the values of nets.
func (p *parser) declaration() {
	integer := p.is("integer")
	p.kind()
	for {
		name := p.name().text
		p.variables[name] = true
		if integer {
			p.constants[name] = true // the generator counts loops with integers, and nothing else
		}
		if p.is("[") {
			p.memory = true
			p.dimensions()
		}
		if p.is("=") {
			p.take()
			p.use(p.expression(), roleValue)
		}
		if !p.is(",") {
			break
		}
		p.take()
	}
	p.want(";")
}

func (p *parser) assigns() {
	for {
		p.place()
		p.want("=")
		p.use(p.expression(), roleValue)
		if !p.is(",") {
			break
		}
		p.take()
	}
	p.want(";")
}

// place takes what is assigned to. It is not read as an expression, where <= would compare.
func (p *parser) place() *expr { return p.primary() }

// loopHead takes (i = 0; i < n; i = i + 1).
func (p *parser) loopHead() {
	p.want("(")
	p.name()
	p.want("=")
	p.constant()
	p.want(";")
	p.constant()
	p.want(";")
	p.name()
	p.want("=")
	p.constant()
	p.want(")")
}

// functionItem takes a function; its body may be changed unless a constant needs it.
func (p *parser) functionItem() {
	p.kind()
	p.function = p.name().text
	p.variables[p.function] = true
	if p.is("(") {
		p.take()
		for !p.is(")") {
			p.want("input")
			p.kind()
			p.variables[p.name().text] = true
			if p.is(",") {
				p.take()
			}
		}
		p.take()
	}
	p.want(";")
	for p.is("input") || p.is("reg") || p.is("integer") {
		p.option("input")
		p.declaration()
	}
	p.statement()
	p.want("endfunction")
	p.function = ""
}

// instance takes MODULE #(parameters) NAME (connections);
func (p *parser) instance() {
	i := instance{module: p.name().text}
	if p.is("#") {
		p.take()
		p.connections(func(_ string, e *expr) { p.pin(e) })
	}
	p.name()
	i.head = p.connections(func(port string, e *expr) { i.inputs = append(i.inputs, connection{port, e}) })
	p.want(";")
	p.instances = append(p.instances, i)
}

// connections takes (.port(expression), …) and returns where the bracket has opened.
func (p *parser) connections(each func(port string, e *expr)) int {
	open := p.want("(").to
	for !p.is(")") {
		p.want(".")
		port := p.name().text
		p.want("(")
		if !p.is(")") {
			each(port, p.expression())
		}
		p.want(")")
		if p.is(",") {
			p.take()
		}
	}
	p.take()
	return open
}
