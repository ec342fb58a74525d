// SPDX-License-Identifier: Apache-2.0

// Package mutant makes small mistakes in Verilog. It reads the text that the generator prints, says what could be mistaken in it, and puts any
// number of such mutants into one copy of the text. Each is a choice between the changed and the original expression, made once, when a
// simulation begins.
package mutant

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is a mistake.
type Mutant struct {
	// Number names the mutant among all of its design; they begin at 1.
	Number int `json:"mutant"`
	// Module is the block it is in, File the file, as the design was given it, Line the line in which the changed text begins.
	Module string `json:"block"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	// Operator is the kind of mistake, one of Operators.
	Operator string `json:"operator"`
	// Before is what stands there, After what the mutant has in its place; nothing for a statement that is left out.
	Before string `json:"before"`
	After  string `json:"after,omitempty"`
	// Context is the line, with the changed text between « and »: of one of several lines its first.
	Context string `json:"context"`

	file      int
	from, to  int
	statement bool
}

// Design is the Verilog of a design, read.
type Design struct {
	files   []file
	modules map[string]*module
}

type file struct {
	name    string
	text    string
	modules []*module
}

// Read reads files of a folder.
func Read(dir string, names []string) (*Design, error) {
	d := &Design{modules: map[string]*module{}}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("mutant: %w", err)
		}
		f := file{name: name, text: string(text)}
		if f.modules, err = parse(f.text); err != nil {
			return nil, fmt.Errorf("mutant: %s: %w", name, err)
		}
		for _, m := range f.modules {
			if m.variables[selector] {
				return nil, fmt.Errorf("mutant: %s: module %s has a %s of its own", name, m.name, selector)
			}
			d.modules[m.name] = m
		}
		d.files = append(d.files, f)
	}
	return d, nil
}

// Memories are the modules that have memories of their own.
func (d *Design) Memories() (names []string) {
	for _, f := range d.files {
		for _, m := range f.modules {
			if m.memory {
				names = append(names, m.name)
			}
		}
	}
	return names
}

// Mutants are all mistakes that can be made in the design, in the order of the files and their text.
func (d *Design) Mutants() []Mutant {
	var all []Mutant
	for i, f := range d.files {
		for _, m := range f.modules {
			w := &writer{module: m, text: f.text}
			for _, u := range m.uses {
				if u.function == "" || !m.fixed[u.function] {
					w.use(u)
				}
			}
			for _, inst := range m.instances {
				into := d.modules[inst.module]
				for _, c := range inst.inputs {
					if into != nil && into.inputs[c.port] && c.port != clockInput {
						w.use(use{expr: c.expr})
					}
				}
			}
			for _, a := range m.drops {
				w.drop(a)
			}
			for j := range w.made {
				w.made[j].Module, w.made[j].File, w.made[j].file = m.name, f.name, i
				w.made[j].Line = lineAt(f.text, w.made[j].from)
				w.made[j].Context = context(f.text, w.made[j].from, w.made[j].to)
			}
			slices.SortStableFunc(w.made, func(a, b Mutant) int { return cmp.Compare(a.from, b.from) })
			all = append(all, w.made...)
		}
	}
	for i := range all {
		all[i].Number = i + 1
	}
	return all
}

// clockInput is the name that the generator gives to the clock of every module.
const clockInput = "clk"

// context is the line in which text[from:to] begins, with that between « and ».
func context(text string, from, to int) string {
	begin := strings.LastIndexByte(text[:from], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	end := from + len(line)
	to = min(to, end)
	return one(text[begin:from] + "«" + text[from:to] + "»" + text[to:end])
}

// one is a text in one line.
func one(text string) string { return strings.Join(strings.Fields(text), " ") }
