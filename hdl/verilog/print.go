// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"incforge/hdl/graph"
)

const (
	columns = 100 // longest line that is not one long name
	indent  = "    "
)

// Printer prints modules. The zero value is ready to use.
type Printer struct {
	// Command is what made the file, for its header, for example
	// "incforge gen mini"; empty leaves it out. It must not hold paths or dates.
	Command string
}

// Print returns the text of a module: the source of a leaf as it is, a composite
// as Verilog-2005.
func Print(m *graph.Module) ([]byte, error) { return Printer{}.Print(m) }

// Print returns the text of a module: the source of a leaf as it is, a composite
// as Verilog-2005.
func (p Printer) Print(m *graph.Module) ([]byte, error) {
	if m == nil {
		return nil, errors.New("print: no module")
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("print %s: %w", m.Name, err)
	}
	if m.Composed() == nil {
		return slices.Clone(m.Source), nil
	}
	w := newWriter(m)
	text := fileText{
		Name:      m.Name,
		Header:    p.header(m),
		Ports:     w.portList(),
		Nets:      w.netList(),
		Instances: w.instanceList(),
		Assigns:   w.assignList(),
		Unused:    w.unusedList(),
	}
	var out bytes.Buffer
	if err := composite.Execute(&out, text); err != nil {
		return nil, fmt.Errorf("print %s: %w", m.Name, err)
	}
	return out.Bytes(), nil
}

// fileText is a composite's file in finished pieces; the template only puts them
// one after the other.
type fileText struct {
	Name, Header, Ports, Nets, Instances, Assigns, Unused string
}

var composite = template.Must(template.New("composite").Parse(`{{.Header -}}
` + "`default_nettype none" + `

module {{.Name}} (
{{.Ports -}}
);
{{with .Nets}}
{{.}}{{end}}{{with .Instances}}
{{.}}{{end}}{{with .Assigns}}
{{.}}{{end}}{{with .Unused}}
{{.}}{{end}}
endmodule

` + "`default_nettype wire" + `
`))

// writer holds the names of one composite's nets.
type writer struct {
	m    *graph.Module
	body *graph.Structure

	nets   map[net]string // name of the wire or port that carries an instance's output
	direct map[string]bool
	taken  map[string]bool
}

// net is an output of an instance.
type net struct {
	inst *graph.Instance
	port string
}

func newWriter(m *graph.Module) *writer {
	w := &writer{m: m, body: m.Composed(), nets: map[net]string{}, direct: map[string]bool{}, taken: map[string]bool{}}
	for _, p := range m.Ports {
		w.taken[p.Name] = true
	}
	for _, inst := range w.body.Instances {
		w.taken[inst.Name] = true
	}
	// An output driven by one whole instance output is connected to it directly;
	// further readers of that output read the port.
	for _, p := range m.Ports {
		if p.Dir != graph.Out {
			continue
		}
		parts := w.body.Drivers(nil, p.Name)
		if len(parts) != 1 || parts[0].Inst == nil {
			continue
		}
		src, _ := parts[0].Inst.Module.Port(parts[0].Port)
		key := net{parts[0].Inst, parts[0].Port}
		if _, named := w.nets[key]; !named && src.Width == parts[0].Width() {
			w.nets[key] = p.Name
			w.direct[p.Name] = true
		}
	}
	for _, inst := range w.body.Instances {
		for _, p := range inst.Module.Ports {
			key := net{inst, p.Name}
			if _, named := w.nets[key]; named || p.Dir != graph.Out {
				continue
			}
			name := strings.TrimPrefix(inst.Name, "u_") + "_" + p.Name
			if !w.anyUsed(inst, p) {
				name = "unused_" + name
			}
			w.nets[key] = w.unique(name)
		}
	}
	return w
}

// unique returns the name itself, or the name with the first free number.
func (w *writer) unique(name string) string {
	free := name
	for n := 2; w.taken[free] || graph.CheckName(free) != ""; n++ {
		free = fmt.Sprintf("%s_%d", name, n)
	}
	w.taken[free] = true
	return free
}

func (w *writer) anyUsed(inst *graph.Instance, p graph.Port) bool {
	for b := range p.Width {
		if w.body.Used(inst, p.Name, b) {
			return true
		}
	}
	return false
}

// portList prints the ANSI port declarations.
func (w *writer) portList() string {
	var rows [][]string
	for i, p := range w.m.Ports {
		end := ","
		if i == len(w.m.Ports)-1 {
			end = ""
		}
		rows = append(rows, []string{p.Dir.String() + "put", "wire", vector(p.Width), p.Name + end})
	}
	return table(indent, rows)
}

// vector prints a range, nothing for one bit.
func vector(width int) string {
	if width == 1 {
		return ""
	}
	return fmt.Sprintf("[%d:0]", width-1)
}

// netList prints the wires, those of one instance together.
func (w *writer) netList() string {
	var blocks []string
	for _, inst := range w.body.Instances {
		var rows [][]string
		for _, p := range inst.Module.Ports {
			name := w.nets[net{inst, p.Name}]
			if p.Dir == graph.Out && !w.isPort(name) {
				rows = append(rows, []string{"wire", vector(p.Width), name + ";"})
			}
		}
		if len(rows) > 0 {
			blocks = append(blocks, indent+"// from "+inst.Name+"\n"+table(indent, rows))
		}
	}
	return strings.Join(blocks, "\n")
}

func (w *writer) isPort(name string) bool {
	_, ok := w.m.Port(name)
	return ok
}

// instanceList prints the instances with aligned named connections.
func (w *writer) instanceList() string {
	var blocks []string
	for _, inst := range w.body.Instances {
		var b strings.Builder
		b.WriteString(comment(indent, "", instanceComment(inst.Module)))
		b.WriteString(indent + inst.Module.Name)
		if n := len(inst.Module.Params); n > 0 && inst.Module.Composed() == nil {
			b.WriteString(" #(\n")
			names, values := make([]string, n), make([]string, n)
			for i, p := range inst.Module.Params {
				names[i], values[i] = p.Name, parameter(p.Value)
			}
			connections(&b, names, values)
			b.WriteString(indent + ")")
		}
		b.WriteString(" " + inst.Name + " (\n")
		names, exprs := make([]string, 0, len(inst.Module.Ports)), make([]string, 0, len(inst.Module.Ports))
		for _, p := range inst.Module.Ports {
			names = append(names, p.Name)
			if p.Dir == graph.Out {
				exprs = append(exprs, w.nets[net{inst, p.Name}])
				continue
			}
			exprs = append(exprs, w.expr(w.body.Drivers(inst, p.Name), columns-8-len(p.Name)-5, 2))
		}
		connections(&b, names, exprs)
		b.WriteString(indent + ");\n")
		blocks = append(blocks, b.String())
	}
	return strings.Join(blocks, "\n")
}

func instanceComment(m *graph.Module) string {
	text := sentence(m.Purpose)
	if m.Block != "" {
		text = strings.TrimSpace(m.Block + ": " + text)
	}
	if m.Latency != "" {
		text = strings.TrimSpace(text + " Latency: " + sentence(m.Latency))
	}
	return text
}

// sentence ends a text with a full stop, if there is any text.
func sentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// connections prints .name(value) lines, values aligned.
func connections(b *strings.Builder, names, values []string) {
	longest := 0
	for _, n := range names {
		longest = max(longest, len(n))
	}
	for i, n := range names {
		end := ",\n"
		if i == len(names)-1 {
			end = "\n"
		}
		fmt.Fprintf(b, "%s.%-*s (%s)%s", indent+indent, longest, n, values[i], end)
	}
}

// parameter prints a parameter's value. Verilog's plain integers have 32 bits and
// Yosys and Verilator differ beyond, so wider values carry their width.
func parameter(v int) string {
	switch {
	case v == int(int32(v)):
		return fmt.Sprint(v)
	case v < 0:
		return fmt.Sprintf("-64'sd%d", -v)
	default:
		return fmt.Sprintf("64'd%d", v)
	}
}

// expr prints bits as an expression; a concatenation that is longer than room
// columns is broken into one line a part at the given depth.
func (w *writer) expr(parts []graph.Part, room, depth int) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = w.part(p)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	if line := "{" + strings.Join(texts, ", ") + "}"; len(line) <= room {
		return line
	}
	in := strings.Repeat(indent, depth+1)
	return "{\n" + in + strings.Join(texts, ",\n"+in) + "\n" + strings.Repeat(indent, depth) + "}"
}

func (w *writer) part(p graph.Part) string {
	if p.IsConst() {
		return constant(p.Width(), p.Value)
	}
	name, width := p.Port, 0
	if p.Inst != nil {
		name = w.nets[net{p.Inst, p.Port}]
		port, _ := p.Inst.Module.Port(p.Port)
		width = port.Width
	} else {
		port, _ := w.m.Port(p.Port)
		width = port.Width
	}
	switch {
	case p.Width() == width:
		return name
	case p.Width() == 1:
		return fmt.Sprintf("%s[%d]", name, p.Lo)
	default:
		return fmt.Sprintf("%s[%d:%d]", name, p.Hi, p.Lo)
	}
}

// constant prints a sized literal: decimal while a reader can tell it at a glance.
func constant(width int, value uint64) string {
	switch {
	case width == 1:
		return fmt.Sprintf("1'b%d", value)
	case value < 1000:
		return fmt.Sprintf("%d'd%d", width, value)
	default:
		return fmt.Sprintf("%d'h%x", width, value)
	}
}

// assignList prints the outputs that are not one whole output of an instance.
func (w *writer) assignList() string {
	var b strings.Builder
	for _, p := range w.m.Ports {
		if p.Dir != graph.Out || w.direct[p.Name] {
			continue
		}
		head := indent + "assign " + p.Name + " = "
		b.WriteString(head + w.expr(w.body.Drivers(nil, p.Name), columns-len(head)-1, 1) + ";\n")
	}
	return b.String()
}

// unusedList prints what was left open on purpose: bits of nets and inputs that
// are read elsewhere or not at all are gathered in wires whose names lint tools
// know to be unused; an output of which nothing is read has such a name already.
func (w *writer) unusedList() string {
	var order []string
	parts := map[string][]graph.Part{}
	for _, o := range w.body.Opened {
		if _, ok := parts[o.Reason]; !ok {
			order = append(order, o.Reason)
		}
		parts[o.Reason] = append(parts[o.Reason], o.Part)
	}
	var b strings.Builder
	for _, reason := range order {
		var names []string
		var gather []graph.Part
		for _, p := range parts[reason] {
			if p.Inst != nil && strings.HasPrefix(w.nets[net{p.Inst, p.Port}], "unused_") {
				if name := w.nets[net{p.Inst, p.Port}]; !slices.Contains(names, name) {
					names = append(names, name)
				}
				continue
			}
			gather = append(gather, p)
		}
		text := "nothing reads this: " + reason
		if len(names) > 0 {
			text += " (" + strings.Join(names, ", ") + ")"
		}
		b.WriteString(comment(indent, "", text))
		if len(gather) > 0 {
			head := indent + "wire " + w.unique("unused_bits") + " = &"
			gather = append([]graph.Part{{Hi: 0}}, gather...)
			b.WriteString(head + w.expr(gather, columns-len(head)-1, 1) + ";\n")
		}
	}
	return b.String()
}

// header prints the comment above the module.
func (p Printer) header(m *graph.Module) string {
	var b strings.Builder
	b.WriteString("// SPDX-License-Identifier: Apache-2.0\n//\n")
	b.WriteString(comment("", "", m.Name+": "+sentence(m.Purpose)))
	b.WriteString("//\n")
	by := "Generated by incforge"
	if p.Command != "" {
		by = "Generated by `" + p.Command + "`"
	}
	b.WriteString(comment("", "", by+"; do not edit: change the parameters or the generator instead."))
	if m.Latency != "" {
		b.WriteString("//\n" + comment("", "", "Latency: "+sentence(m.Latency)))
	}
	if notes := m.Composed().Notes; len(notes) > 0 {
		b.WriteString("//\n")
		for _, n := range notes {
			b.WriteString(comment("", "  ", n))
		}
	}
	if len(m.Streams) > 0 {
		b.WriteString("//\n// Streams\n")
		var rows [][]string
		for _, s := range m.Streams {
			rows = append(rows, []string{s.Dir.String(), s.Name, shape(m.ShapeOf(s.Name)), s.Doc})
		}
		b.WriteString(table("//   ", rows))
	}
	b.WriteString("//\n// Ports\n")
	var rows [][]string
	for _, q := range m.Ports {
		rows = append(rows, []string{q.Dir.String(), fmt.Sprintf("%4d", q.Width), q.Name, q.Doc})
	}
	b.WriteString(table("//   ", rows))
	return b.String()
}

// shape says how wide a stream is.
func shape(s graph.Shape) string {
	var words []string
	for _, f := range []struct {
		name  string
		width int
	}{{"tdata", s.Data}, {"tid", s.ID}, {"tdest", s.Dest}, {"tuser", s.User}, {"tside", s.Side}} {
		if f.width > 0 {
			words = append(words, fmt.Sprintf("%s [%d:0]", f.name, f.width-1))
		}
	}
	if len(words) == 0 {
		return "handshake only"
	}
	return strings.Join(words, ", ")
}

// comment prints text as // lines of at most columns characters; lines after the
// first hang by hang.
func comment(lead, hang, text string) string {
	var b strings.Builder
	line, first := lead+"//", true
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > columns && !first {
			b.WriteString(line + "\n")
			line = lead + "//" + hang
		}
		line += " " + word
		first = false
	}
	if first {
		return ""
	}
	return b.String() + line + "\n"
}

// table prints rows with aligned columns and no trailing space. Columns in which
// every cell is empty vanish.
func table(lead string, rows [][]string) string {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		line := lead
		for i, cell := range r {
			if widths[i] > 0 {
				line += fmt.Sprintf("%-*s ", widths[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
