// SPDX-License-Identifier: Apache-2.0

package mutant

// resetInput is the name that the generator gives to the reset of every module.
const resetInput = "rst"

// always takes a block behind its first word.
func (p *parser) always() {
	p.want("@")
	if p.is("*") {
		p.take()
	} else {
		p.want("(")
		p.clocked = p.option("posedge")
		for !p.is(")") {
			p.take()
		}
		p.take()
	}
	p.statement()
	p.clocked = false
}

// statement takes one.
func (p *parser) statement() {
	t := p.here()
	switch {
	case p.option("begin"):
		p.label()
		for p.is("reg") || p.is("integer") {
			p.declaration()
		}
		for !p.option("end") {
			p.statement()
		}
	case p.option("if"):
		p.ifStatement()
	case p.option("case", "casez"):
		p.caseStatement()
	case p.option("for"):
		p.loopHead()
		p.statement()
	case t.class == classSystem:
		p.expression()
		p.want(";")
	case t.text == ";":
		p.take()
	default:
		p.assignment()
	}
}

func (p *parser) ifStatement() {
	p.want("(")
	c := p.expression()
	p.want(")")
	resets := c.form == formName && c.sign == resetInput
	p.use(c, roleCondition)
	before := p.reset
	p.reset = p.reset || resets
	p.statement()
	p.reset = before
	if p.option("else") {
		p.statement()
	}
}

func (p *parser) caseStatement() {
	p.want("(")
	p.use(p.expression(), roleSubject)
	p.want(")")
	for !p.option("endcase") {
		if p.option("default") {
			if p.is(":") {
				p.take()
			}
			p.statement()
			continue
		}
		for {
			p.constant()
			if !p.is(",") {
				break
			}
			p.take()
		}
		p.want(":")
		p.statement()
	}
}

func (p *parser) assignment() {
	from := p.here().from
	place := p.place()
	p.use(place, rolePlace)
	if p.is("<=") {
		p.take()
	} else {
		p.want("=")
	}
	p.use(p.expression(), roleValue)
	to := p.want(";").to
	if p.clocked {
		p.drops = append(p.drops, assignment{from, to, p.reset})
	}
}
