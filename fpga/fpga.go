// SPDX-License-Identifier: Apache-2.0

// Package fpga counts what a generated engine needs on an FPGA: Yosys maps the
// Verilog beside a manifest onto a family's primitives, and Run adds them up.
//
// The counts are those of Yosys before placement and before a vendor's tool
// packs two small functions into one LUT: +/-15 %. Of timing Yosys knows the
// levels of the longest path; a clock is found by place and route (nextpnr), or
// by the vendor's tool.
package fpga

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"incforge/fpga/netlist"
	"incforge/fpga/place"
	"incforge/internal/clocked"
	"incforge/internal/tool"
	"incforge/synth/design"
	"incforge/synth/yosys"
)

// Error is the relative error of LUT and flop counts, before placement.
const Error = 0.15

// ErrFamily means that a family is not known.
var ErrFamily = errors.New("unknown FPGA family")

// Options say how to run.
type Options struct {
	// Top is "core", "switch" or a module name; "" is the core.
	Top string
	// WorkDir keeps the tools' files; "" uses a temporary folder that is removed.
	WorkDir string
	// Timeout bounds each run of a tool; 0 is two hours.
	Timeout time.Duration
	// Levels are what the longest path may have: of the ways of mapping with no more, that with the fewest LUTs is kept. If none has so few, or it is
	// 0, the one with the shortest longest path is.
	Levels int
	// Over, if above 0, asks for the pairs of blocks with paths of more levels.
	Over int
	// Place asks for place and route, where the family has it.
	Place *place.Options
}

// Resources are counts of one design.
type Resources struct {
	LUT    float64 `json:"lut"`    // all look-up tables, LUTRAM included
	LUTRAM float64 `json:"lutram"` // of it used as memory or shift register
	FF     float64 `json:"ff"`
	BRAM36 float64 `json:"bram36"` // block RAM in units of 36 Kbit
	URAM   float64 `json:"uram"`   // of 288 Kbit (xcup, nexus), single-port RAM of 256 Kbit (ice40)
	DSP    float64 `json:"dsp"`
	Carry  float64 `json:"carry"` // carry primitives as Yosys emits them
	Mux    float64 `json:"mux"`   // dedicated multiplexers
	Latch  float64 `json:"latch"`
}

func (r *Resources) add(n float64, u Resources) {
	r.LUT += n * u.LUT
	r.LUTRAM += n * u.LUTRAM
	r.FF += n * u.FF
	r.BRAM36 += n * u.BRAM36
	r.URAM += n * u.URAM
	r.DSP += n * u.DSP
	r.Carry += n * u.Carry
	r.Mux += n * u.Mux
	r.Latch += n * u.Latch
}

// Way is what came of one way of mapping the same logic.
type Way struct {
	Name   string  `json:"name"` // area, or levels
	Levels int     `json:"levels"`
	LUT    float64 `json:"lut"`
}

// Metrics is the record of one run.
type Metrics struct {
	Bench     string             `json:"bench"` // "fpga"
	Config    string             `json:"config"`
	Digest    string             `json:"digest"`
	Top       string             `json:"top"`
	Family    Family             `json:"family"`
	Basis     string             `json:"basis"`
	Clock     clocked.Clock      `json:"clock"`           // found by place and route alone
	Lanes     int                `json:"lanes,omitempty"` // of the core
	Unit      string             `json:"unit,omitempty"`  // what Resources.LUT counts, if not LUTs
	Metrics   map[string]float64 `json:"metrics"`
	Resources Resources          `json:"resources"`
	Longest   *netlist.Path      `json:"longest,omitempty"` // in LUT levels
	Ways      []Way              `json:"ways,omitempty"`    // what came of each way of mapping, of which the best is kept (Options.Levels): Way is its name
	Way       string             `json:"way,omitempty"`
	Over      int                `json:"over,omitempty"` // Pairs are those with paths of more levels
	Pairs     []netlist.Pair     `json:"pairs,omitempty"`
	Place     *place.Result      `json:"place,omitempty"`
	Cells     map[string]int     `json:"cells"` // primitives by type
	Paper     *Published         `json:"paper,omitempty"`
	NotPaper  []string           `json:"not_paper,omitempty"` // why no row of the paper may stand beside it
	Tools     map[string]string  `json:"tools"`
}

// Run synthesises the design beside the manifest in dir for a family. A cell
// that the family's table does not know is an error.
func Run(ctx context.Context, dir string, family Family, o Options) (*Metrics, error) {
	if !slices.Contains(Families(), family) {
		return nil, fmt.Errorf("fpga: %w %q, must be one of %v", ErrFamily, family, Families())
	}
	d, err := design.Load(dir)
	if err != nil {
		return nil, err
	}
	choice, err := d.Choose(o.Top)
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Hour
	}
	work := o.WorkDir
	if work == "" {
		if work, err = os.MkdirTemp("", "incforge-fpga-"); err != nil {
			return nil, fmt.Errorf("fpga: %w", err)
		}
		defer os.RemoveAll(work)
	} else if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, fmt.Errorf("fpga: %w", err)
	}
	if work, err = filepath.Abs(work); err != nil { // the tools run there
		return nil, fmt.Errorf("fpga: %w", err)
	}
	n, err := synthesise(ctx, d, choice, family, work, o)
	if err != nil {
		return nil, err
	}
	r := n.resources
	version, err := o.mapper(family).Version(ctx)
	if err != nil {
		return nil, err
	}
	m := &Metrics{Bench: "fpga", Config: d.Name, Digest: d.Digest, Top: n.top, Family: family, Clock: clocked.Clock{AskedMHz: d.Clock.MHz},
		Basis: fmt.Sprintf("Yosys before placement, +/-%.0f %%; a LUT is a level, a carry chain two for every %d bits, a multiplier %d; what a level takes only place and route can say",
			100*Error, netlist.CarryBits, multiplierLevels),
		Resources: r, Longest: n.levels, Ways: n.ways, Over: o.Over, Pairs: n.pairs, Cells: n.cells, Tools: map[string]string{"yosys": tool.Number(version)},
		Metrics: map[string]float64{
			"fpga__lut": r.LUT, "fpga__lut__low": r.LUT * (1 - Error), "fpga__lut__high": r.LUT * (1 + Error),
			"fpga__lutram": r.LUTRAM, "fpga__ff": r.FF, "fpga__ff__low": r.FF * (1 - Error), "fpga__ff__high": r.FF * (1 + Error),
			"fpga__bram36": r.BRAM36, "fpga__uram": r.URAM, "fpga__dsp": r.DSP, "fpga__carry": r.Carry, "fpga__levels": float64(n.levels.Levels),
		}}
	if len(n.ways) > 0 {
		m.Way = n.ways[n.way].Name
	}
	if o.Place != nil {
		if err := m.place(ctx, d, choice, n, work, o); err != nil {
			return nil, err
		}
	}
	if choice.Inside != "" { // how much of the memory is in the module the manifest does not say
		m.NotPaper = []string{n.top + " is not the core"}
		return m, nil
	}
	m.Lanes = d.Params.Lanes
	m.Metrics["fpga__lanes"] = float64(m.Lanes)
	m.Metrics["fpga__memory__bits"] = float64(d.MemoryBits())
	if p := d.PayloadBits(); p > 0 {
		m.Metrics["fpga__memory__bits_per_payload_bit"] = float64(d.MemoryBits()) / float64(p)
	}
	m.Paper, m.NotPaper = published(family, d.Params)
	return m, nil
}

// mapped is a top after synthesis.
type mapped struct {
	top       string
	cells     map[string]int
	resources Resources
	// ways are all that it was mapped by, this by the one numbered way.
	ways []Way
	way  int
	// file is the netlist in JSON, levels its longest path, pairs those of Options.Over, hierarchy what it was before it was flattened.
	file      string
	levels    *netlist.Path
	pairs     []netlist.Pair
	hierarchy *netlist.Hierarchy
}

// synthesise maps the chosen top in the folder work, counts its primitives and finds its longest path.
func synthesise(ctx context.Context, d *design.Design, choice design.Choice, family Family, work string, o Options) (*mapped, error) {
	script, err := readSources(d, work)
	if err != nil {
		return nil, err
	}
	top := choice.Tops[0].Module
	if choice.Inside != "" {
		if top, err = enter(ctx, work, script, choice, o.Timeout); err != nil {
			return nil, err
		}
		script = []string{"read_rtlil " + yosys.ReadFile}
	}
	return mapTop(ctx, work, "fpga", top, script, family, o)
}

// readSources reads all files in work, by paths from there: a tool in WebAssembly does not see all others. Modules are elaborated when their
// parameters are known: those that they have by default need not go together.
func readSources(d *design.Design, work string) ([]string, error) {
	var script []string
	for _, s := range d.Sources() {
		file, err := filepath.Rel(work, s)
		if err != nil {
			return nil, fmt.Errorf("fpga: %w", err)
		}
		script = append(script, "read_verilog -sv -defer "+file)
	}
	return script, nil
}

// mapTop runs the family's synthesis on what the script reads. Files are called after name, and after the way of mapping where there is more than one.
func mapTop(ctx context.Context, work, name, top string, script []string, family Family, o Options) (*mapped, error) {
	// Cells get names by the signals near them, which tell the block that they belong to.
	script = append(script, "hierarchy -check -top "+top, "write_rtlil "+name+"-read.il")
	s := family.synthesis(top)
	script = append(script, s.before...)
	write := func(stem string) {
		script = append(script, s.after...)
		script = append(script, "autoname", "tee -q -o "+stem+"-cells.json stat -json", "write_json "+stem+"-net.json")
	}
	stems := []string{name}
	if len(s.ways) == 0 {
		write(name)
	} else {
		stems = nil
		script = append(script, "design -save unmapped")
		for _, w := range s.ways {
			stems = append(stems, name+"-"+w.name)
			script = append(script, "design -load unmapped", w.command)
			write(name + "-" + w.name)
		}
	}
	if err := o.mapper(family).Run(ctx, work, name, script, o.Timeout); err != nil {
		return nil, err
	}
	rtlil, err := os.ReadFile(filepath.Join(work, name+"-read.il"))
	if err != nil {
		return nil, fmt.Errorf("fpga: %w", err)
	}
	hierarchy := netlist.ReadHierarchy(rtlil, top)
	var kept *mapped
	var ways []Way
	for i, stem := range stems {
		m := &mapped{top: top, file: filepath.Join(work, stem+"-net.json"), hierarchy: hierarchy}
		if err := m.read(filepath.Join(work, stem+"-cells.json"), family, o.Over); err != nil {
			return nil, err
		}
		if len(s.ways) > 0 {
			ways = append(ways, Way{s.ways[i].name, m.levels.Levels, m.resources.LUT})
		}
		if kept == nil || m.betterThan(kept, o.Levels) {
			kept = m
			kept.way = i
		}
	}
	kept.ways = ways
	return kept, nil
}

// betterThan tells whether m is kept rather than other, where paths may have so many levels.
func (m *mapped) betterThan(other *mapped, levels int) bool {
	a, b := max(m.levels.Levels, levels), max(other.levels.Levels, levels)
	return a < b || (a == b && m.resources.LUT < other.resources.LUT)
}

// read counts what was mapped, and finds its longest paths.
func (m *mapped) read(cells string, family Family, over int) error {
	stat, err := yosys.ReadStat(cells)
	if err != nil {
		return err
	}
	totals, err := stat.Hierarchy(m.top)
	if err != nil {
		return err
	}
	delete(totals[m.top].All, "$scopeinfo") // newer releases keep a flattened instance's name in a cell
	m.cells = totals[m.top].All
	if m.resources, err = Count(family, m.cells); err != nil {
		return err
	}
	net, err := netlist.Read(m.file, m.top)
	if err != nil {
		return err
	}
	if m.levels, err = net.Longest(family.kinds(), m.hierarchy); err != nil {
		return err
	}
	if over > 0 {
		m.pairs, err = net.Over(family.kinds(), m.hierarchy, over)
	}
	return err
}

// enter leaves the chosen module, with the parameters it has in the design, in yosys.ReadFile.
func enter(ctx context.Context, work string, script []string, choice design.Choice, limit time.Duration) (top string, err error) {
	for _, t := range choice.Tops {
		modules, rerr := yosys.Elaborate(ctx, work, script, t.Module, nil, limit)
		if rerr != nil {
			return "", rerr
		}
		if top, _, err = yosys.Enter(ctx, work, modules, choice.Inside, nil, limit); err == nil || !errors.Is(err, yosys.ErrAbsent) {
			break
		}
	}
	return top, err
}

// WriteJSON writes the record, indented.
func (m *Metrics) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return fmt.Errorf("fpga: %w", err)
	}
	return nil
}

// Count adds up a family's primitives.
func Count(family Family, cells map[string]int) (Resources, error) {
	table := family.primitives()
	if table == nil {
		return Resources{}, fmt.Errorf("fpga: %w %q", ErrFamily, family)
	}
	var r Resources
	var unknown []string
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		u, ok := table[cell]
		if !ok {
			unknown = append(unknown, cell)
			continue
		}
		r.add(float64(cells[cell]), u)
	}
	if len(unknown) > 0 {
		return Resources{}, fmt.Errorf("fpga: primitives of %s that the table does not know: %s", family, strings.Join(unknown, ", "))
	}
	return r, nil
}
