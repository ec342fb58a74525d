// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// WriteVerilog writes modules as Verilog that OpenSTA reads: it takes no concatenation on the left of an assign.
func WriteVerilog(w io.Writer, modules []*Module) error {
	out := bufio.NewWriterSize(w, 1<<20)
	for _, m := range modules {
		m.write(out)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("netlist: %w", err)
	}
	return nil
}

var plainName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// keywords are words of Verilog that a name of a netlist might be.
func keyword(name string) bool {
	return slices.Contains([]string{"input", "output", "wire", "reg", "assign", "module", "end", "begin", "and", "or", "not", "buf", "table", "event", "signed", "do", "bit", "byte", "final"}, name)
}

// verilogNames gives names as Verilog writes them; names that Yosys made become _1_, _2_ and so on.
type verilogNames struct {
	made  map[string]string
	taken map[string]bool
	last  int
}

func (n *verilogNames) name(id string) string {
	if made, ok := n.made[id]; ok {
		return made
	}
	var text string
	if strings.HasPrefix(id, `\`) {
		text = escape(id[1:])
	} else {
		for text == "" || n.taken[text] {
			n.last++
			text = fmt.Sprintf("_%d_", n.last)
		}
	}
	n.made[id] = text
	return text
}

func escape(name string) string {
	if plainName.MatchString(name) && !keyword(name) {
		return name
	}
	return `\` + name + " "
}

func (m *Module) write(b *bufio.Writer) {
	n := verilogNames{made: map[string]string{}, taken: map[string]bool{}}
	for _, w := range m.wires {
		n.taken[strings.TrimPrefix(w.Name, `\`)] = true
	}
	for _, c := range m.cells {
		n.taken[strings.TrimPrefix(c.Name, `\`)] = true
	}
	// Names of bits, for all of a wire at once.
	bits := make([]string, m.bits)
	for _, w := range m.wires {
		name := n.name(w.Name)
		for i := range w.Width {
			if bits[int(w.first)+i] = name; w.Width > 1 {
				bits[int(w.first)+i] = fmt.Sprintf("%s[%d]", name, i)
			}
		}
	}
	text := func(x bit) string {
		switch x {
		case zero:
			return "1'b0"
		case one:
			return "1'b1"
		}
		return bits[x]
	}
	ports := make([]string, len(m.Ports))
	for i, w := range m.Ports {
		ports[i] = n.name(w.Name)
	}
	fmt.Fprintf(b, "module %s(%s);\n", escape(m.Name), strings.Join(ports, ", "))
	for _, w := range m.wires {
		span := ""
		if w.Width > 1 {
			span = fmt.Sprintf("[%d:0] ", w.Width-1)
		}
		kind := "wire"
		if w.Input {
			kind = "input"
		} else if w.Output {
			kind = "output"
		}
		fmt.Fprintf(b, "  %s %s%s;\n", kind, span, n.name(w.Name))
	}
	for _, c := range m.cells {
		fmt.Fprintf(b, "  %s %s (", escape(c.Type), n.name(c.Name))
		for i, p := range c.pins {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("." + escape(p.name) + "(")
			if len(p.bits) == 1 {
				b.WriteString(text(p.bits[0]))
			} else {
				b.WriteString(m.whole(p.bits, n.name, text))
			}
			b.WriteString(")")
		}
		b.WriteString(");\n")
	}
	for _, j := range m.joins {
		fmt.Fprintf(b, "  assign %s = %s;\n", text(j[0]), text(j[1]))
	}
	b.WriteString("endmodule\n")
}

// whole writes several bits: as the wire if they are all of one, else one by one.
func (m *Module) whole(bits []bit, name func(string) string, text func(bit) string) string {
	if i, ok := slices.BinarySearchFunc(m.wires, bits[0], func(w *Wire, b bit) int { return int(w.first) - int(b) }); ok && m.wires[i].Width == len(bits) {
		run := true
		for k, b := range bits {
			run = run && b == bits[0]+bit(k)
		}
		if run {
			return name(m.wires[i].Name)
		}
	}
	parts := make([]string, len(bits))
	for i, b := range bits {
		parts[len(bits)-1-i] = text(b)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// RTLIL writes the module as text for Yosys.
func (m *Module) RTLIL() string {
	var b strings.Builder
	b.WriteString("module \\" + m.Name + "\n")
	bits := make([]string, m.bits)
	for _, w := range m.wires {
		b.WriteString("  wire width " + strconv.Itoa(w.Width))
		switch {
		case w.Input:
			fmt.Fprintf(&b, " input %d", w.order)
		case w.Output:
			fmt.Fprintf(&b, " output %d", w.order)
		}
		b.WriteString(" " + w.Name + "\n")
		for k := range w.Width {
			if bits[int(w.first)+k] = w.Name; w.Width > 1 {
				bits[int(w.first)+k] = w.Name + " [" + strconv.Itoa(k) + "]"
			}
		}
	}
	text := func(x bit) string {
		switch x {
		case zero:
			return "1'0"
		case one:
			return "1'1"
		}
		return bits[x]
	}
	for _, c := range m.cells {
		typ := c.Type
		if !strings.HasPrefix(typ, "$") {
			typ = `\` + typ
		}
		b.WriteString("  cell " + typ + " " + c.Name + "\n")
		for _, p := range c.pins {
			b.WriteString("    connect \\" + p.name + " ")
			if len(p.bits) == 1 {
				b.WriteString(text(p.bits[0]))
			} else {
				name := m.whole(p.bits, func(id string) string { return id }, text)
				if strings.HasPrefix(name, "{") {
					// RTLIL has blanks where Verilog has commas.
					parts := make([]string, len(p.bits))
					for i, x := range p.bits {
						parts[len(p.bits)-1-i] = text(x)
					}
					name = "{ " + strings.Join(parts, " ") + " }"
				}
				b.WriteString(name)
			}
			b.WriteString("\n")
		}
		b.WriteString("  end\n")
	}
	for _, j := range m.joins {
		b.WriteString("  connect " + text(j[0]) + " " + text(j[1]) + "\n")
	}
	b.WriteString("end\n")
	return b.String()
}

// Interface writes the module as a black box for Yosys: its ports alone.
func (m *Module) Interface() string {
	var b strings.Builder
	b.WriteString("attribute \\blackbox 1\nmodule \\" + m.Name + "\n")
	for _, w := range m.Ports {
		kind := "output"
		if w.Input {
			kind = "input"
		}
		fmt.Fprintf(&b, "  wire width %d %s %d %s\n", w.Width, kind, w.order, w.Name)
	}
	b.WriteString("end\n")
	return b.String()
}
