// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// selector is the name of the chosen mutant's number in every module.
const selector = "mutant"

// Choose is the plusarg that selects a mutant when a simulation begins. Without it the design is what it was.
func Choose(number int) string { return selector + "=" + strconv.Itoa(number) }

// chooser declares the number in a module. It is read before the first clock.
const chooser = `
    integer mutant;
    initial if (!$value$plusargs("mutant=%d", mutant)) mutant = 0;
`

// way is how the chosen mutants are told from the others.
type way struct {
	chosen func(index int, m Mutant) string // a condition
	body   string                           // what every module declares
	port   string                           // an input of every module, empty if there is none
	pass   string                           // its connection
}

// Plant writes the design with mutants in it into a folder that has its other files. One is selected by Choose.
func (d *Design) Plant(dir string, mutants []Mutant) error {
	return d.plant(dir, mutants, way{body: chooser, chosen: func(_ int, m Mutant) string { return selector + " == " + strconv.Itoa(m.Number) }})
}

// Bits is the name of the input that Open gives to every module.
const Bits = "mutant_on"

// Open writes the design with mutants in it, each of which is on while its bit of the input Bits is high: the first mutant has bit 0.
func (d *Design) Open(dir string, mutants []Mutant) error {
	return d.plant(dir, mutants, way{
		chosen: func(i int, _ Mutant) string { return fmt.Sprintf("%s[%d]", Bits, i) },
		port:   fmt.Sprintf("\n    input  wire [%d:0] %s,", max(len(mutants), 1)-1, Bits),
		pass:   fmt.Sprintf("\n        .%s(%s),", Bits, Bits),
	})
}

// edit is a change of a file: text[from:to] becomes one of the choices, or, if it is an insertion, gets text before it.
type edit struct {
	from, to int
	insert   string
	mutants  []int
}

func (d *Design) plant(dir string, mutants []Mutant, w way) error {
	for i, f := range d.files {
		var edits []edit
		here := map[int]bool{}
		for n, m := range mutants {
			if m.file == i {
				edits = append(edits, edit{from: m.from, to: m.to, mutants: []int{n}})
				here[n] = true
			}
		}
		for _, m := range f.modules {
			if w.port != "" {
				edits = append(edits, edit{from: m.ports, to: m.ports, insert: w.port})
				for _, inst := range m.instances {
					if d.modules[inst.module] != nil {
						edits = append(edits, edit{from: inst.head, to: inst.head, insert: w.pass})
					}
				}
			}
			if w.body != "" && len(here) > 0 {
				edits = append(edits, edit{from: m.body, to: m.body, insert: w.body})
			}
		}
		p := planter{text: f.text, all: mutants, way: w}
		path := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("mutant: %w", err)
		}
		if err := os.WriteFile(path, []byte(p.file(edits)), 0o644); err != nil {
			return fmt.Errorf("mutant: %w", err)
		}
	}
	return nil
}

// planter writes a file with mutants in it.
type planter struct {
	text string
	all  []Mutant
	way
}

// file applies the edits to the whole text. Those of the same place become one.
func (p *planter) file(edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var merged []edit
	for _, e := range edits {
		if n := len(merged); n > 0 && merged[n-1].from == e.from && merged[n-1].to == e.to && e.insert == "" && merged[n-1].insert == "" {
			merged[n-1].mutants = append(merged[n-1].mutants, e.mutants...)
			continue
		}
		merged = append(merged, e)
	}
	var b strings.Builder
	p.write(&b, 0, len(p.text), merged)
	return b.String()
}

// write writes text[from:to] with the edits in it. An edit around others comes before them.
func (p *planter) write(b *strings.Builder, from, to int, edits []edit) {
	for len(edits) > 0 {
		e := edits[0]
		inner := 1
		for inner < len(edits) && edits[inner].from < e.to {
			inner++
		}
		b.WriteString(p.text[from:e.from])
		switch {
		case e.insert != "":
			b.WriteString(e.insert)
		case p.all[e.mutants[0]].statement:
			b.WriteString("begin if (!(" + p.chosen(e.mutants[0], p.all[e.mutants[0]]) + ")) ")
			p.write(b, e.from, e.to, edits[1:inner])
			b.WriteString(" end")
		default:
			b.WriteString("(")
			for _, n := range e.mutants {
				b.WriteString(p.chosen(n, p.all[n]) + " ? (" + p.all[n].After + ") : ")
			}
			b.WriteString("(")
			p.write(b, e.from, e.to, edits[1:inner])
			b.WriteString("))")
		}
		from, edits = e.to, edits[inner:]
	}
	b.WriteString(p.text[from:to])
}
