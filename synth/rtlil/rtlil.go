// SPDX-License-Identifier: Apache-2.0

// Package rtlil takes Yosys's text of a design apart by module, writes a module so that the same Verilog always gives the same
// text, and puts clock gates into it.
package rtlil

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Module is one module of a design.
type Module struct {
	// Name as in the text: with a backslash, or as Yosys derived it, "$paramod...".
	Name     string
	BlackBox bool
	dynamic  bool // ports of a black box whose parameters give them their widths
	items    []item
}

// item is a statement of a module with its attributes: wire, memory, cell, process, connect or parameter.
type item struct {
	kind, typ, name string
	lines           []string // without line ends
}

// Split returns the modules of a text in its order.
func Split(text []byte) []*Module {
	var (
		modules []*Module
		m       *Module
		pending []string // attributes of the next statement
		it      item
		open    bool
	)
	for raw := range strings.Lines(string(text)) {
		line := strings.TrimRight(raw, "\n")
		if open { // inside a cell or process, whose end is indented like its beginning
			it.lines = append(it.lines, line)
			if line == "  end" {
				m.items, open = append(m.items, it), false
			}
			continue
		}
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#" || words[0] == "autoidx":
		case words[0] == "attribute":
			pending = append(pending, line)
		case words[0] == "module" && m == nil:
			m = &Module{Name: words[1], BlackBox: slices.ContainsFunc(pending, func(a string) bool { return strings.HasPrefix(a, `attribute \blackbox`) }),
				dynamic: slices.ContainsFunc(pending, func(a string) bool { return strings.HasPrefix(a, `attribute \dynports`) })}
			pending = nil
		case words[0] == "end" && !strings.HasPrefix(line, " "):
			modules, m, pending = append(modules, m), nil, nil
		default:
			it = item{kind: words[0], lines: append(pending, line)}
			pending = nil
			switch it.kind {
			case "cell":
				it.typ, it.name = words[1], words[2]
				open = true
			case "process":
				it.name = words[1]
				open = true
			case "wire", "memory":
				it.name = words[len(words)-1]
			}
			if !open {
				m.items = append(m.items, it)
			}
		}
	}
	return modules
}

// Types returns the types of the module's cells, each once, in order.
func (m *Module) Types() []string {
	var types []string
	for _, it := range m.items {
		if it.kind == "cell" {
			types = append(types, it.typ)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// Remembers tells whether the module has memories.
func (m *Module) Remembers() bool {
	return slices.ContainsFunc(m.items, func(it item) bool { return it.kind == "memory" })
}

// Wraps tells whether there is nothing in the module but wires and cells of the types that are modules.
func (m *Module) Wraps(isModule func(typ string) bool) bool {
	for _, it := range m.items {
		switch it.kind {
		case "wire", "connect", "parameter":
		case "cell":
			if !isModule(it.typ) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// HasInput tells whether the module has an input of a name, which is without its backslash.
func (m *Module) HasInput(name string) bool {
	for _, it := range m.items {
		if it.kind == "wire" && it.name == `\`+name {
			return slices.Contains(strings.Fields(it.lines[len(it.lines)-1]), "input")
		}
	}
	return false
}

// Text writes the module as it was read, under another name.
func (m *Module) Text(name string) string {
	var b strings.Builder
	m.head(&b, name)
	for _, it := range m.items {
		for _, line := range it.lines {
			b.WriteString(line + "\n")
		}
	}
	b.WriteString("end\n")
	return b.String()
}

func (m *Module) head(b *strings.Builder, name string) {
	if m.BlackBox {
		b.WriteString("attribute \\blackbox 1\n")
	}
	b.WriteString("module " + name + "\n")
}

// Interface writes the module as a black box under another name: its ports alone.
func (m *Module) Interface(name string) string {
	var b strings.Builder
	b.WriteString("attribute \\blackbox 1\n")
	if m.dynamic {
		b.WriteString("attribute \\dynports 1\n")
	}
	b.WriteString("module " + name + "\n")
	for _, it := range m.items {
		line := it.lines[len(it.lines)-1]
		if words := strings.Fields(line); it.kind == "wire" && (slices.Contains(words, "input") || slices.Contains(words, "output") || slices.Contains(words, "inout")) {
			b.WriteString(line + "\n")
		}
	}
	b.WriteString("end\n")
	return b.String()
}

var counter = regexp.MustCompile(`\$([0-9]+)`)

// age is the number in a name that Yosys made, which counts all that it makes: of a later thing it is larger. Names without it,
// which are those of the source and what Yosys derives from them alone, are older than all.
func age(name string) int {
	if !strings.HasPrefix(name, "$") {
		return -2
	}
	all := counter.FindAllStringSubmatch(name[1:], -1)
	if len(all) == 0 {
		return -1
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		return -1
	}
	return n
}

// sourceOnly are attributes that say where something was in the source, or how Yosys came to it.
var sourceOnly = regexp.MustCompile(`^\s*attribute \\(src|hdlname|module_not_derived|cells_not_processed|dynports|top) `)

// Canonical writes the module such that the text depends on the module's Verilog and parameters alone, and not on comments, lines, or
// what else is in the design: statements in a fixed order, Yosys's own names numbered from 1, types of cells as rename has them.
func (m *Module) Canonical(name string, rename func(typ string) string) string {
	items := slices.Clone(m.items)
	rank := map[string]int{"parameter": 0, "wire": 1, "memory": 2, "cell": 3, "process": 4, "connect": 5}
	slices.SortStableFunc(items, func(a, b item) int {
		if a.kind != b.kind {
			return cmp.Compare(rank[a.kind], rank[b.kind])
		}
		if a.kind == "connect" || a.kind == "parameter" {
			return 0
		}
		return cmp.Or(cmp.Compare(age(a.name), age(b.name)), strings.Compare(a.name, b.name))
	})
	names := map[string]string{}
	for _, it := range items {
		if it.kind == "memory" { // parameters of other cells call it by its name
			names[it.name] = it.name
		}
	}
	private := func(word string) string {
		if !strings.HasPrefix(word, "$") {
			return word
		}
		to, ok := names[word]
		if !ok {
			to = fmt.Sprintf("$c%d", len(names)+1)
			names[word] = to
		}
		return to
	}
	var b strings.Builder
	m.head(&b, name)
	for _, it := range items {
		if it.kind == "parameter" { // already applied
			continue
		}
		for _, line := range it.lines {
			words := strings.Fields(line)
			switch {
			case sourceOnly.MatchString(line):
				continue
			case words[0] == "attribute" || words[0] == "parameter" || words[0] == "memory":
				b.WriteString(line + "\n") // may hold strings with blanks
				continue
			case words[0] == "cell":
				words[1], words[2] = rename(words[1]), private(words[2])
			case words[0] == "process":
				words[1] = private(words[1])
			default:
				for i := 1; i < len(words); i++ {
					words[i] = private(words[i])
				}
			}
			b.WriteString(line[:len(line)-len(strings.TrimLeft(line, " "))] + strings.Join(words, " ") + "\n")
		}
	}
	b.WriteString("end\n")
	return b.String()
}
