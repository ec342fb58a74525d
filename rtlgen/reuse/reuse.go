// SPDX-License-Identifier: Apache-2.0

// Package reuse tells how much Verilog designs have in common.
package reuse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"incforge/rtlgen"
)

// Pair says how much of one design's leaf Verilog another one instantiates unchanged, byte for byte. The composites, NAME_core and
// NAME_switch, are printed for each design and count in neither.
type Pair struct {
	From string `json:"from"`
	In   string `json:"in"`
	// Modules and Lines are of From's leaves: modules, and lines of code without comments and empty lines.
	Modules int `json:"modules"`
	Lines   int `json:"lines"`
	// SameModules and SameLines of them are in the other design too.
	SameModules int `json:"same_modules"`
	SameLines   int `json:"same_lines"`
	// Changed are the leaves that both have and that differ, Dropped those that only From has, Added those that only In has, in order.
	Changed []string `json:"changed"`
	Dropped []string `json:"dropped"`
	Added   []string `json:"added"`
	// AddedLines is the code of Added.
	AddedLines int `json:"added_lines"`
}

// Of compares the leaf Verilog of two designs, from's with in's.
func Of(from, in *rtlgen.Design) Pair {
	r := Pair{From: from.Params.Name, In: in.Params.Name, Changed: []string{}, Dropped: []string{}, Added: []string{}}
	a, b := leaves(from), leaves(in)
	for name, text := range a {
		lines := codeLines(text)
		r.Modules++
		r.Lines += lines
		switch other, ok := b[name]; {
		case !ok:
			r.Dropped = append(r.Dropped, name)
		case !bytes.Equal(text, other):
			r.Changed = append(r.Changed, name)
		default:
			r.SameModules++
			r.SameLines += lines
		}
	}
	for name, text := range b {
		if _, ok := a[name]; !ok {
			r.Added = append(r.Added, name)
			r.AddedLines += codeLines(text)
		}
	}
	slices.Sort(r.Changed)
	slices.Sort(r.Dropped)
	slices.Sort(r.Added)
	return r
}

// ModuleShare is the part of From's leaf modules that In has unchanged, 0 to 1.
func (r Pair) ModuleShare() float64 { return share(r.SameModules, r.Modules) }

// LineShare is the part of From's lines of code, 0 to 1.
func (r Pair) LineShare() float64 { return share(r.SameLines, r.Lines) }

// MarshalJSON has the shares beside the counts.
func (r Pair) MarshalJSON() ([]byte, error) {
	type counts Pair
	return json.Marshal(struct {
		counts
		ModuleShare float64 `json:"module_share"`
		LineShare   float64 `json:"line_share"`
	}{counts(r), r.ModuleShare(), r.LineShare()})
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// Text returns the figures in words, a few lines that end in LF.
func (r Pair) Text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s instantiates unchanged %d of %d leaf modules of %s (%.1f %%), %d of %d lines of code (%.1f %%)\n", r.In, r.SameModules, r.Modules, r.From,
		100*r.ModuleShare(), r.SameLines, r.Lines, 100*r.LineShare())
	for _, l := range []struct {
		what  string
		names []string
	}{{"changed", r.Changed}, {"not in " + r.In, r.Dropped}, {fmt.Sprintf("only in %s, %d lines", r.In, r.AddedLines), r.Added}} {
		if len(l.names) > 0 {
			fmt.Fprintf(&s, "  %s: %s\n", l.what, strings.Join(l.names, ", "))
		}
	}
	return s.String()
}

// Table says of several designs, such as one in each mode, how much of each one's leaf Verilog each other one has unchanged, and how
// much all have.
type Table struct {
	Designs []string `json:"designs"`
	// Pairs has a row for each design: its leaves, as found in each, in the order of Designs.
	Pairs [][]Pair `json:"pairs"`
	// Common are the leaves that all have, All those that some have; of two texts of one name each counts.
	CommonModules int `json:"common_modules"`
	CommonLines   int `json:"common_lines"`
	AllModules    int `json:"all_modules"`
	AllLines      int `json:"all_lines"`
	// CommonShare is the part of AllLines that is in CommonLines, 0 to 1.
	CommonShare float64 `json:"common_share"`
}

// Among compares each design with each.
func Among(designs ...*rtlgen.Design) Table {
	type leaf struct{ name, text string }
	var t Table
	has := map[leaf]int{}
	for _, from := range designs {
		var row []Pair
		for _, in := range designs {
			row = append(row, Of(from, in))
		}
		t.Designs, t.Pairs = append(t.Designs, from.Params.Name), append(t.Pairs, row)
		for name, text := range leaves(from) {
			has[leaf{name, string(text)}]++
		}
	}
	for l, n := range has {
		lines := codeLines([]byte(l.text))
		t.AllModules++
		t.AllLines += lines
		if n == len(designs) {
			t.CommonModules++
			t.CommonLines += lines
		}
	}
	t.CommonShare = share(t.CommonLines, t.AllLines)
	return t
}

// Text returns the table, a line for each design, and what all have.
func (t Table) Text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "leaf Verilog unchanged, modules and lines of code\n%-12s %16s", "of", "has")
	for _, in := range t.Designs {
		fmt.Fprintf(&s, " %26s", "in "+in)
	}
	s.WriteByte('\n')
	for i, row := range t.Pairs {
		fmt.Fprintf(&s, "%-12s %16s", t.Designs[i], fmt.Sprintf("%d, %d", row[i].Modules, row[i].Lines))
		for _, r := range row {
			fmt.Fprintf(&s, " %26s", fmt.Sprintf("%d, %d (%.1f %%)", r.SameModules, r.SameLines, 100*r.LineShare()))
		}
		s.WriteByte('\n')
	}
	fmt.Fprintf(&s, "in all of them %d modules, %d lines; together they have %d modules, %d lines: %.1f %% are common\n", t.CommonModules, t.CommonLines, t.AllModules, t.AllLines,
		100*t.CommonShare)
	return s.String()
}

// leaves are the texts of the modules of the library, by name.
func leaves(d *rtlgen.Design) map[string][]byte {
	all := map[string][]byte{}
	for _, f := range d.Files {
		name, ok := strings.CutSuffix(path.Base(f.Path), ".v")
		if ok && name != d.Core.Name && name != d.Switch.Name {
			all[name] = f.Data
		}
	}
	return all
}

// codeLines counts the lines of Verilog that hold something but comments. The library has no string with a comment's mark in it.
func codeLines(text []byte) int {
	n, block := 0, false
	for _, line := range strings.Split(string(text), "\n") {
		code := ""
		for line != "" {
			if block {
				_, rest, found := strings.Cut(line, "*/")
				line, block = rest, !found
				continue
			}
			at := strings.Index(line, "/")
			switch {
			case at < 0:
				code, line = code+line, ""
			case strings.HasPrefix(line[at:], "//"):
				code, line = code+line[:at], ""
			case strings.HasPrefix(line[at:], "/*"):
				code, line, block = code+line[:at], line[at+2:], true
			default:
				code, line = code+line[:at+1], line[at+1:]
			}
		}
		if strings.TrimSpace(code) != "" {
			n++
		}
	}
	return n
}
