// SPDX-License-Identifier: Apache-2.0

// Package design reads generated Verilog as synthesis needs it: the manifest
// (docs/engine.md section 8), its sources and its memories.
package design

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"incforge/contract"
)

// Every memory of an engine is an instance of one of two leaf modules: RAM has a write and a read port, OnePortRAM a port that
// reads or writes.
const (
	RAM        = "inc_ram_1r1w"
	OnePortRAM = "inc_ram_1rw"
)

// Design is a manifest and the folder it lies in.
type Design struct {
	contract.Manifest
}

// Load reads DIR/manifest.json; dir may also be the file itself.
func Load(dir string) (*Design, error) {
	m, err := contract.Read(dir)
	if err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	// Yosys runs in a folder of its own, so the sources need absolute paths.
	if m.Dir, err = filepath.Abs(m.Dir); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	d := &Design{Manifest: *m}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("design: %s: %w", contract.Path(dir), err)
	}
	return d, nil
}

// plainPath keeps out what Yosys's script language would take apart.
var plainPath = regexp.MustCompile(`^[^\s"';#]+$`)

func (d *Design) check() error {
	if d.Clock.Port == "" {
		return errors.New("no clock port")
	}
	for _, m := range d.Memories {
		if m.Module != RAM && m.Module != OnePortRAM {
			return fmt.Errorf("memory %s is a %s; only %s and %s are known", m.Path, m.Module, RAM, OnePortRAM)
		}
		if m.Words < 1 || m.Bits < 1 {
			return fmt.Errorf("memory %s has %d words of %d bits", m.Path, m.Words, m.Bits)
		}
	}
	for _, f := range d.Sources() {
		if !plainPath.MatchString(f) {
			return fmt.Errorf("file %q: blanks, quotes, ; and # cannot be passed to Yosys", f)
		}
		if _, err := os.Stat(f); err != nil {
			return err
		}
	}
	return nil
}

// Top returns a top by its key in the manifest ("core", "switch") or its module
// name; "" is the core or, if there is none, the only top.
func (d *Design) Top(name string) (contract.Top, error) {
	if name == "" {
		if t, ok := d.Tops[contract.TopCore]; ok {
			return t, nil
		}
		if keys := slices.Collect(maps.Keys(d.Tops)); len(keys) == 1 {
			name = keys[0]
		}
	}
	t, err := d.Manifest.Top(name)
	if err != nil {
		return contract.Top{}, fmt.Errorf("design: %s: %w", d.Name, err)
	}
	return t, nil
}

// Choice is what a user's name for a top stands for.
type Choice struct {
	// Tops are to be elaborated, one after the other until one has the module Inside.
	Tops []contract.Top
	// Inside is a module that becomes the top itself, with the parameters that it has in the design; "" is none.
	Inside string
}

// Choose finds what a name stands for: a top, by its key in the manifest or its module name, or any module of the sources. A number
// after two underscores, as reports give it, tells one set of a module's parameters from another.
func (d *Design) Choose(name string) (Choice, error) {
	top, err := d.Top(name)
	if err == nil {
		return Choice{Tops: []contract.Top{top}}, nil
	}
	base, _, _ := strings.Cut(name, "__")
	declaration := regexp.MustCompile(`\bmodule\s+` + regexp.QuoteMeta(base) + `\b`)
	for _, f := range d.Sources() {
		text, rerr := os.ReadFile(f)
		if rerr != nil {
			return Choice{}, fmt.Errorf("design: %w", rerr)
		}
		if base != "" && declaration.Match(lineComment.ReplaceAll(text, nil)) {
			return Choice{Tops: d.tops(), Inside: name}, nil
		}
	}
	return Choice{}, fmt.Errorf("%w, and no such module", err)
}

// tops are all tops, the core first.
func (d *Design) tops() []contract.Top {
	keys := slices.Sorted(maps.Keys(d.Tops))
	slices.SortStableFunc(keys, func(a, b string) int {
		switch {
		case a == "core":
			return -1
		case b == "core":
			return 1
		}
		return 0
	})
	var all []contract.Top
	for _, k := range keys {
		all = append(all, d.Tops[k])
	}
	return all
}

// MemoryBits is the sum over all memories.
func (d *Design) MemoryBits() int {
	n := 0
	for _, m := range d.Memories {
		n += m.Words * m.Bits
	}
	return n
}

// PayloadBits is the size of the payload buffer as its parameter states it.
func (d *Design) PayloadBits() int { return 8 * d.Params.BufferBytes }

// Size is a memory's leaf module and parameter set.
type Size struct {
	Words, Bits int
	Module      string
}

// Sizes returns the parameter sets of the memories and how often each occurs,
// in ascending order.
func (d *Design) Sizes() ([]Size, map[Size]int) {
	count := map[Size]int{}
	for _, m := range d.Memories {
		count[Size{m.Words, m.Bits, m.Module}]++
	}
	sizes := make([]Size, 0, len(count))
	for s := range count {
		sizes = append(sizes, s)
	}
	slices.SortFunc(sizes, func(a, b Size) int {
		return cmp.Or(cmp.Compare(a.Words, b.Words), cmp.Compare(a.Bits, b.Bits), cmp.Compare(a.Module, b.Module))
	})
	return sizes, count
}

// RAMSource is the file that defines a RAM leaf, taken apart.
type RAMSource struct {
	Module     string   // RAM or OnePortRAM
	File       string   // path
	Text       string   // whole file
	Header     string   // "module inc_ram_... );"
	Parameters []string // names
}

var (
	ramHeader    = regexp.MustCompile(`(?s)\bmodule\s+(` + RAM + `|` + OnePortRAM + `)\b.*?\)\s*;`)
	ramParameter = regexp.MustCompile(`\bparameter\s+(?:(?:integer|int|signed|unsigned)\s+)*(?:\[[^\]]*\]\s*)?(\w+)`)
	lineComment  = regexp.MustCompile(`//[^\n]*`)
)

// RAMs finds the definitions of the RAM leaves among the sources. Each leaf that the manifest lists a memory of must be there.
func (d *Design) RAMs() ([]*RAMSource, error) {
	var found []*RAMSource
	for _, f := range d.Sources() {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("design: %w", err)
		}
		// Comments may hold brackets and semicolons.
		header := ramHeader.FindStringSubmatch(lineComment.ReplaceAllString(string(text), ""))
		if header == nil {
			continue
		}
		r := &RAMSource{Module: header[1], File: f, Text: string(text), Header: header[0]}
		for _, m := range ramParameter.FindAllStringSubmatch(r.Header, -1) {
			r.Parameters = append(r.Parameters, m[1])
		}
		for _, p := range []string{"WORDS", "BITS"} {
			if !slices.Contains(r.Parameters, p) {
				return nil, fmt.Errorf("design: %s: module %s has no parameter %s", f, r.Module, p)
			}
		}
		found = append(found, r)
	}
	for _, m := range d.Memories {
		if !slices.ContainsFunc(found, func(r *RAMSource) bool { return r.Module == m.Module }) {
			return nil, fmt.Errorf("design: the manifest lists memories, but no file defines %s", m.Module)
		}
	}
	return found, nil
}

// Renamed returns the source with the module under another name.
func (r *RAMSource) Renamed(name string) string {
	return regexp.MustCompile(`\bmodule\s+`+r.Module+`\b`).ReplaceAllString(r.Text, "module "+name)
}
