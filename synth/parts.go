// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"incforge/internal/cache"
	"incforge/synth/design"
	"incforge/synth/rtlil"
	"incforge/synth/yosys"
)

// pipelineCut is a place for registers inside a lane, which may be wires. Paths run through those, and ABC, which sees one module at
// a time, would give a whole period to the logic on either side; so the module is dissolved into the lane.
const pipelineCut = "inc_lane_cut"

// tableIndex gives the place of an endpoint in a table. Merge compares what makes addresses, and looks into no module of several instances.
const tableIndex = "inc_endpoint_index"

// tableRAM is a table in a memory of one port or of two.
const tableRAM = "inc_table"

// part is a module of the elaborated design with one set of parameters: what one Yosys process synthesises.
type part struct {
	// id is the module's name in all texts, the same in every design that has this module with these parameters; name is for people.
	id, name string
	// text is all that generic synthesis reads: the module, those dissolved in it, and the others in it as black boxes.
	text string
	// boxes are those black boxes by id.
	boxes map[string]string
	// wrapper says that it only holds other modules, remembers that it has memories of its own.
	wrapper, remembers bool
	// gone are the modules dissolved in it, by id.
	gone []string
}

// front reads a design's sources and takes it apart.
type front struct {
	d      *design.Design
	choice design.Choice
	leaves []*design.RAMSource
	ram    map[string]string // files in place of the leaves' and the commands that read them
	flat   bool
	limit  time.Duration
	store  cache.Store
	yosys  string // version
}

// elaborated is a design taken apart.
type elaborated struct {
	top     string  // its readable name
	parts   []*part // the top first, every module before those in it
	names   map[string]string
	clocked bool // the top has the design's clock
}

// script returns the commands that read the sources, which a folder holds under their base names, and their texts.
func (e *front) script() (script []string, files map[string]string, err error) {
	files = map[string]string{}
	placed := false
	for _, s := range e.d.Sources() {
		if slices.ContainsFunc(e.leaves, func(r *design.RAMSource) bool { return r.File == s }) {
			if !placed {
				for _, command := range slices.Sorted(maps.Keys(e.ram)) {
					name := filepath.Base(strings.Fields(command)[len(strings.Fields(command))-1])
					files[name] = e.ram[command]
					script = append(script, command)
				}
			}
			placed = true
			continue
		}
		text, err := os.ReadFile(s)
		if err != nil {
			return nil, nil, fmt.Errorf("synth: %w", err)
		}
		name := filepath.Base(s)
		if _, ok := files[name]; ok {
			return nil, nil, fmt.Errorf("synth: two sources are called %s", name)
		}
		files[name] = string(text)
		// Deferred, or Yosys would also elaborate every module with its default
		// parameters, and with it memories of sizes that nobody uses.
		script = append(script, "read_verilog -sv -defer "+name)
	}
	return script, files, nil
}

// read elaborates a top and returns its modules.
func (e *front) read(ctx context.Context, top string) ([]*rtlil.Module, error) {
	script, files, err := e.script()
	if err != nil {
		return nil, err
	}
	script = append(script, "hierarchy -check -top "+top, "write_rtlil read.il")
	key := cache.NewKey()
	key.Add("incforge elaboration 1", e.yosys)
	key.Add(script...)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		key.Add(name, files[name])
	}
	dir, _, err := e.store.Get(ctx, "read-"+key.Sum(), func(dir string) error {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		if err := yosys.Run(ctx, dir, "read", script, e.limit); err != nil {
			return err
		}
		for name := range files {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "read.il"))
	if err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	return rtlil.Split(text), nil
}

// run elaborates the chosen top and takes it apart.
func (e *front) run(ctx context.Context) (*elaborated, error) {
	var err error
	for _, t := range e.choice.Tops {
		var modules []*rtlil.Module
		if modules, err = e.read(ctx, t.Module); err != nil {
			return nil, err
		}
		s := newSplitter(modules, e.flat)
		top := `\` + t.Module
		if e.choice.Inside != "" {
			if top, err = yosys.Find(s.named(), e.choice.Inside); errors.Is(err, yosys.ErrAbsent) {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		return s.split(top, e.d.Clock.Port)
	}
	return nil, err
}

// splitter takes a design apart.
type splitter struct {
	modules map[string]*rtlil.Module
	names   map[string]string // readable, by name in the text
	flat    bool
}

func newSplitter(modules []*rtlil.Module, flat bool) *splitter {
	s := &splitter{modules: map[string]*rtlil.Module{}, flat: flat}
	var all []string
	for _, m := range modules {
		s.modules[m.Name] = m
		all = append(all, yosys.Plain(m.Name))
	}
	slices.Sort(all)
	s.names = yosys.ReadableNames(all)
	return s
}

// named lists the modules as yosys.Find wants them.
func (s *splitter) named() []yosys.Module {
	var all []yosys.Module
	for _, m := range slices.Sorted(maps.Keys(s.modules)) {
		all = append(all, yosys.Module{Name: s.name(m), Derived: yosys.Plain(m)})
	}
	return all
}

// name is a module's readable name.
func (s *splitter) name(module string) string {
	if n, ok := s.names[yosys.Plain(module)]; ok {
		return n
	}
	return yosys.Plain(module)
}

// id is a module's name in texts: it depends on the module and its parameters alone.
func id(module string) string {
	base := yosys.BaseName(module)
	if base == module {
		return yosys.Plain(module)
	}
	sum := sha256.Sum256([]byte(module))
	return base + "__p" + hex.EncodeToString(sum[:6])
}

// dissolves tells whether a module becomes a part of those that hold it.
func (s *splitter) dissolves(module string) bool {
	m := s.modules[module]
	return m != nil && !m.BlackBox && (s.flat || yosys.Plain(yosys.BaseName(module)) == pipelineCut || s.table(module))
}

// table tells whether a module is a memory of flops, or the choice of one. Tables side by side are read at one address, and share what
// decodes it only within one module; and what is never read of one may be read of another with the same parameters.
func (s *splitter) table(module string) bool {
	switch base := yosys.Plain(yosys.BaseName(module)); base {
	case design.RAM + asFlops, design.OnePortRAM + asFlops, tableIndex:
		return true
	case design.RAM, design.OnePortRAM, tableRAM:
		return slices.ContainsFunc(s.modules[module].Types(), s.table)
	}
	return false
}

// rename gives types of cells their ids; a cell of Yosys's own is no module.
func (s *splitter) rename(typ string) string {
	if s.modules[typ] == nil {
		return typ
	}
	return `\` + id(typ)
}

func (s *splitter) split(top, clock string) (*elaborated, error) {
	if s.modules[top] == nil {
		return nil, fmt.Errorf("synth: no module %s in the elaborated design", top)
	}
	e := &elaborated{top: s.name(top), names: map[string]string{}, clocked: s.modules[top].HasInput(clock)}
	for m := range s.modules {
		e.names[id(m)] = s.name(m)
	}
	// After all that is in it; reversed at the end.
	seen := map[string]bool{}
	var visit func(module string)
	visit = func(module string) {
		if seen[module] {
			return
		}
		seen[module] = true
		for _, b := range s.below(module) {
			if !s.modules[b].BlackBox {
				visit(b)
			}
		}
		e.parts = append(e.parts, s.part(module))
	}
	visit(top)
	slices.Reverse(e.parts)
	return e, nil
}

// below returns the modules in a module and in those dissolved in it that stay modules or are black boxes.
func (s *splitter) below(module string) []string {
	var all []string
	for _, t := range s.modules[module].Types() {
		switch {
		case s.modules[t] == nil:
		case s.dissolves(t):
			all = append(all, s.below(t)...)
		default:
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// dissolved returns the modules dissolved in a module.
func (s *splitter) dissolved(module string) []string {
	var all []string
	for _, t := range s.modules[module].Types() {
		if s.dissolves(t) {
			all = append(append(all, t), s.dissolved(t)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *splitter) part(module string) *part {
	p := &part{id: id(module), name: s.name(module)}
	var b strings.Builder
	// Numbers of the names that Yosys makes begin here in every process.
	b.WriteString("autoidx 1000\n")
	b.WriteString(s.modules[module].Canonical(`\`+p.id, s.rename))
	whole := append([]string{module}, s.dissolved(module)...)
	p.remembers = slices.ContainsFunc(whole, func(m string) bool { return s.modules[m].Remembers() })
	p.wrapper = len(whole) == 1 && s.modules[module].Wraps(func(typ string) bool { return s.modules[typ] != nil })
	for _, m := range whole[1:] {
		p.gone = append(p.gone, id(m))
		b.WriteString(s.modules[m].Canonical(`\`+id(m), s.rename))
	}
	p.boxes = map[string]string{}
	for _, m := range s.below(module) {
		p.boxes[id(m)] = s.modules[m].Interface(`\` + id(m))
		b.WriteString(p.boxes[id(m)])
	}
	p.text = b.String()
	return p
}
