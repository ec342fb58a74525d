// SPDX-License-Identifier: Apache-2.0

// Package design reads generated Verilog as synthesis needs it: the manifest
// (docs/engine.md section 8), its sources and its memories.
package design

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Every memory of an engine is an instance of one of two leaf modules: RAM has a write and a read port, OnePortRAM a port that
// reads or writes.
const (
	RAM        = "inc_ram_1r1w"
	OnePortRAM = "inc_ram_1rw"
)

// ErrNoTop means that a design has neither a top nor a module of a name.
var ErrNoTop = errors.New("no top")

// Design is a manifest and the folder it lies in.
type Design struct {
	Schema   int             `json:"schema"`
	Name     string          `json:"name"`
	Digest   string          `json:"digest"`
	Params   Params          `json:"params"`
	Clock    Clock           `json:"clock"`
	Tops     map[string]Top  `json:"tops"`
	Files    []string        `json:"files"`
	Memories []Memory        `json:"memories"`
	Derived  json.RawMessage `json:"derived"`

	// Dir is the folder of the manifest; Files are relative to it.
	Dir string `json:"-"`
}

// Params are the parameters that tell whether two designs may be compared.
// Fields absent from the manifest stay zero.
type Params struct {
	Mode        int      `json:"mode"`
	BusBytes    int      `json:"bus_bytes"`
	Lanes       int      `json:"lanes"`
	DTypes      []string `json:"dtypes"`
	Ops         []string `json:"ops"`
	Accumulate  string   `json:"accumulate"`
	Memory      string   `json:"memory"`
	BufferBytes int      `json:"buffer_bytes"`
	Groups      int      `json:"groups"`
	Members     int      `json:"members"`
	ClockMHz    int      `json:"clock_mhz"`
	ECC         bool     `json:"ecc"`
}

// Clock names clock and reset; MHz is the frequency the design is meant for.
type Clock struct {
	Port  string  `json:"port"`
	Reset string  `json:"reset"`
	MHz   float64 `json:"mhz"`
}

// Top is one of the top modules.
type Top struct {
	Module string `json:"module"`
	Ports  []Port `json:"ports"`
}

// Port is a port of a top; Dir is "in" or "out".
type Port struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Width int    `json:"width"`
}

// Memory is one instance of a RAM leaf.
type Memory struct {
	Module string `json:"module"`
	Path   string `json:"path"`
	Words  int    `json:"words"`
	Bits   int    `json:"bits"`
	Role   string `json:"role"`
}

// Load reads DIR/manifest.json; dir may also be the file itself.
func Load(dir string) (*Design, error) {
	if filepath.Base(dir) == "manifest.json" {
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	// Yosys runs in a folder of its own, so the sources need absolute paths.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	d := &Design{Dir: dir}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("design: %s: %w", filepath.Join(dir, "manifest.json"), err)
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("design: %s: %w", filepath.Join(dir, "manifest.json"), err)
	}
	return d, nil
}

// plainPath keeps out what Yosys's script language would take apart.
var plainPath = regexp.MustCompile(`^[^\s"';#]+$`)

func (d *Design) check() error {
	switch {
	case d.Schema != 1:
		return fmt.Errorf("schema %d, this program reads 1", d.Schema)
	case len(d.Files) == 0:
		return errors.New("no files")
	case len(d.Tops) == 0:
		return errors.New("no tops")
	case d.Clock.Port == "":
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

// Sources returns the paths of the Verilog files.
func (d *Design) Sources() []string {
	s := make([]string, 0, len(d.Files))
	for _, f := range d.Files {
		if strings.HasSuffix(f, ".v") || strings.HasSuffix(f, ".sv") {
			s = append(s, filepath.Join(d.Dir, filepath.FromSlash(f)))
		}
	}
	return s
}

// Top returns a top by its key in the manifest ("core", "switch") or its module
// name; "" is the core or, if there is none, the only top.
func (d *Design) Top(name string) (Top, error) {
	keys := make([]string, 0, len(d.Tops))
	for k, t := range d.Tops {
		keys = append(keys, k)
		if k == name || t.Module == name {
			return t, nil
		}
	}
	slices.Sort(keys)
	if name == "" {
		if t, ok := d.Tops["core"]; ok {
			return t, nil
		}
		if len(keys) == 1 {
			return d.Tops[keys[0]], nil
		}
	}
	return Top{}, fmt.Errorf("design: %s has %w %q (%s)", d.Name, ErrNoTop, name, strings.Join(keys, ", "))
}

// Choice is what a user's name for a top stands for.
type Choice struct {
	// Tops are to be elaborated, one after the other until one has the module Inside.
	Tops []Top
	// Inside is a module that becomes the top itself, with the parameters that it has in the design; "" is none.
	Inside string
}

// Choose finds what a name stands for: a top, by its key in the manifest or its module name, or any module of the sources. A number
// after two underscores, as reports give it, tells one set of a module's parameters from another.
func (d *Design) Choose(name string) (Choice, error) {
	top, err := d.Top(name)
	if err == nil {
		return Choice{Tops: []Top{top}}, nil
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
func (d *Design) tops() []Top {
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
	var all []Top
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
