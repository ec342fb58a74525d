// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"
)

// Part is a run of bits of one port, or a constant.
type Part struct {
	Inst   *Instance // nil for a port of the composite itself and for a constant
	Port   string    // empty for a constant
	Hi, Lo int       // bits; a constant has Lo 0
	Value  uint64    // of a constant; bits above 63 are zero
}

// IsConst tells whether the part is a constant.
func (p Part) IsConst() bool { return p.Port == "" }

// Width returns the number of bits.
func (p Part) Width() int { return p.Hi - p.Lo + 1 }

// slice returns bits hi..lo of the part, counted from its own bit 0.
func (p Part) slice(hi, lo int) Part {
	if !p.IsConst() {
		p.Hi, p.Lo = p.Lo+hi, p.Lo+lo
		return p
	}
	v := uint64(0)
	if lo < 64 {
		v = p.Value >> lo
	}
	if w := hi - lo + 1; w < 64 {
		v &= 1<<w - 1
	}
	return Part{Hi: hi - lo, Value: v}
}

// Pin is bits to connect: a port of an instance or of the composite, a slice of
// one, a constant, or a concatenation of them. It is a value; a Pin that came from
// a mistake (no such port) has been reported and is ignored by later calls.
type Pin struct {
	c     *Composite // where mistakes are reported; nil for constants
	parts []Part     // most significant first
	bad   bool       // the mistake is on record, or in late
	late  []*Error   // mistakes made before a composite was known
}

// Width returns the number of bits, 0 for a Pin that came from a mistake.
func (p Pin) Width() int {
	w := 0
	for _, part := range p.parts {
		w += part.Width()
	}
	return w
}

// fail records a mistake and returns the Pin that stands for it.
func (p Pin) fail(format string, args ...any) Pin {
	if p.bad {
		return p
	}
	e := &Error{Pos: caller(), Text: fmt.Sprintf(format, args...)}
	if p.c != nil {
		p.c.errs = append(p.c.errs, e)
		return Pin{c: p.c, bad: true}
	}
	return Pin{bad: true, late: []*Error{e}}
}

// Slice returns bits hi down to lo, both included, counted from the pin's own bit 0.
func (p Pin) Slice(hi, lo int) Pin {
	if p.bad {
		return p
	}
	if lo < 0 || hi < lo || hi >= p.Width() {
		return p.fail("slice [%d:%d] of %s: must lie within its %d bits", hi, lo, p, p.Width())
	}
	return Pin{c: p.c, parts: sliceParts(p.parts, hi, lo)}
}

// Bit returns bit i.
func (p Pin) Bit(i int) Pin { return p.Slice(i, i) }

// sliceParts cuts bits hi..lo out of parts, most significant first.
func sliceParts(parts []Part, hi, lo int) []Part {
	var out []Part
	base := 0
	for i := len(parts) - 1; i >= 0; i-- {
		w := parts[i].Width()
		from, to := max(lo, base), min(hi, base+w-1)
		if from <= to {
			out = append([]Part{parts[i].slice(to-base, from-base)}, out...)
		}
		base += w
	}
	return out
}

// Concat joins pins, the first one most significant, as Verilog's braces do.
func Concat(pins ...Pin) Pin {
	var out Pin
	for _, p := range pins {
		if out.c == nil {
			out.c = p.c
		}
		out.bad = out.bad || p.bad
		out.late = append(out.late, p.late...)
		out.parts = append(out.parts, p.parts...)
	}
	if out.bad {
		out.parts = nil
	}
	return out
}

// Const returns a constant of the given width in bits. The value must fit; wider
// values than 64 bits are made with Concat.
func Const(width int, value uint64) Pin {
	if width < 1 {
		return Pin{}.fail("constant %d: width is %d bits, must be at least 1", value, width)
	}
	if width < 64 && value>>width != 0 {
		return Pin{}.fail("constant %d does not fit in %d bits", value, width)
	}
	return Pin{parts: []Part{{Hi: width - 1, Value: value}}}
}

// String returns the path of the pin as error messages show it, for example
// "mini_core/u_parser.hdr_psn[23:0]".
func (p Pin) String() string {
	if len(p.parts) == 1 {
		return p.partPath(p.parts[0])
	}
	names := make([]string, len(p.parts))
	for i, part := range p.parts {
		names[i] = p.partPath(part)
	}
	return "{" + strings.Join(names, ", ") + "}"
}

func (p Pin) partPath(part Part) string {
	if part.IsConst() {
		return fmt.Sprintf("%d'd%d", part.Width(), part.Value)
	}
	name := p.c.name
	if part.Inst != nil {
		name = part.Inst.path()
	}
	if part.Width() == 1 && p.c.portOf(part).Width == 1 {
		return name + "." + part.Port
	}
	if part.Width() == 1 {
		return fmt.Sprintf("%s.%s[%d]", name, part.Port, part.Lo)
	}
	return fmt.Sprintf("%s.%s[%d:%d]", name, part.Port, part.Hi, part.Lo)
}
