// SPDX-License-Identifier: Apache-2.0

package synth

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/internal/clocked"
	"incforge/synth/liberty"
	"incforge/synth/yosys"
)

// Factors from synthesis to layout: standard cells grow by 8 % (median over the
// published results of OpenROAD's flow) and are placed at 75 % density, macros
// lose 5 % to channels and halos.
const (
	cellGrowth   = 1.08
	cellDensity  = 0.75
	macroDensity = 0.95
)

// PaperArea is the one published figure, in mm2: an engine of 512 FP32 and 512
// UINT ALUs, 1 MB of payload, 3.2 Tb/s in 28 nm (EPIC, SIGCOMM '26, evaluation of
// the chip). Its basis is not stated; most likely cells and macros as synthesised.
const (
	PaperArea   = 4.89
	paperLanes  = 512
	paperBuffer = 1 << 20 // bytes
	paperGbps   = 3200
)

// Metrics is the record of one synthesis. The keys of Metrics follow METRICS2.1
// (stage__category__quantity): areas in um2, times in ns, frequencies in MHz.
type Metrics struct {
	Bench        string             `json:"bench"` // "synth"
	Config       string             `json:"config"`
	Digest       string             `json:"digest"` // of the design, from its manifest
	Top          string             `json:"top"`
	Tech         string             `json:"tech"`
	Corner       string             `json:"corner"`
	Basis        string             `json:"basis"`
	Clock        clocked.Clock      `json:"clock"`
	Metrics      map[string]float64 `json:"metrics"`
	Estimates    []Estimate         `json:"estimates"`
	Modules      []ModuleArea       `json:"modules"`
	Memories     []MemoryArea       `json:"memories"`
	Lanes        *LaneArea          `json:"lanes,omitempty"` // none if the hierarchy was dissolved
	CriticalPath Path               `json:"critical_path"`
	Paper        Comparison         `json:"paper"`
	Warnings     []string           `json:"warnings,omitempty"`
	Tools        map[string]string  `json:"tools"`
}

// Estimate is a figure with what it rests on and its error bar, about one sigma.
type Estimate struct {
	Key   string  `json:"key"` // in Metrics
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Basis string  `json:"basis"`
}

// ModuleArea is the area of one module; areas are in um2 for one instance.
type ModuleArea struct {
	Module    string  `json:"module"`
	Source    string  `json:"source"` // name in the Verilog
	Instances int     `json:"instances"`
	Own       float64 `json:"own_area"`   // without submodules
	Area      float64 `json:"area"`       // with everything below
	Total     float64 `json:"total_area"` // of all instances
	Flops     int     `json:"flops"`      // with everything below
}

// MemoryArea is one size of memory.
type MemoryArea struct {
	Words     int     `json:"words"`
	Bits      int     `json:"bits"`
	Ports     string  `json:"ports"`     // "1r1w": a read and a write port; "1rw": one for both
	Instances int     `json:"instances"` // in the netlist
	Listed    int     `json:"listed"`    // in the manifest
	Storage   string  `json:"storage"`   // "macro" or "flops"
	Shape     string  `json:"shape,omitempty"`
	Area      float64 `json:"area,omitempty"` // um2 of one, macros only
	AccessNS  float64 `json:"access_ns,omitempty"`
	CycleNS   float64 `json:"cycle_ns,omitempty"`
}

// LaneArea is the area of the lanes: the arithmetic of one 32-bit element, its registers included.
type LaneArea struct {
	Count int     `json:"count"`
	Area  float64 `json:"area"`  // um2 of one, the mean if they differ
	Share float64 `json:"share"` // of all standard cells, 0 to 1
}

// laneModule is the Verilog module of a lane.
const laneModule = "inc_lane"

// lanes finds the lanes among the modules; cells is the area of all standard cells in um2.
func lanes(modules []ModuleArea, cells float64) *LaneArea {
	var l LaneArea
	total := 0.0
	for _, a := range modules {
		if a.Source == laneModule {
			l.Count += a.Instances
			total += a.Total
		}
	}
	if l.Count == 0 || total <= 0 {
		return nil
	}
	l.Area, l.Share = total/float64(l.Count), total/cells
	return &l
}

// Comparison sets the result beside the paper's area, or says why it cannot be.
type Comparison struct {
	AreaMM2    float64  `json:"area_mm2"`
	Comparable bool     `json:"comparable"`
	Ratio      float64  `json:"ratio,omitempty"` // ours over the paper's
	Because    []string `json:"because,omitempty"`
}

// WriteJSON writes the record, indented.
func (m *Metrics) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return fmt.Errorf("synth: %w", err)
	}
	return nil
}

// measure turns statistics and timing into the record.
func (f *flow) measure(stat *yosys.Stat, t *timing) (*Metrics, error) {
	totals, err := stat.Hierarchy(f.top)
	if err != nil {
		return nil, err
	}
	areas := f.t.lib.Areas()
	flops, gates := map[string]bool{}, map[string]bool{}
	for _, c := range f.t.lib.Cells {
		flops[c.Name], gates[c.Name] = c.Sequential, c.ClockGate
	}
	macros := map[string]bool{}
	for _, m := range f.memories {
		if m.macro != nil {
			areas[m.macro.Name()] = m.macro.Area + m.macro.BankMuxArea
			macros[m.macro.Name()] = true
		}
	}
	m := &Metrics{Bench: "synth", Config: f.d.Name, Digest: f.d.Digest, Top: f.top, Tech: f.t.name, Corner: f.t.corner, Basis: f.t.basis}
	if err := m.addModules(totals, areas, flops); err != nil {
		return nil, err
	}
	var n counts
	for _, cell := range slices.Sorted(maps.Keys(totals[f.top].All)) { // in order: sums of floats depend on it
		k := totals[f.top].All[cell]
		switch {
		case macros[cell]:
			n.macroArea += float64(k) * areas[cell]
			n.macros += k
			continue
		case flops[cell]:
			n.flops += k
		case gates[cell]:
			n.gates += k
		}
		n.area += float64(k) * areas[cell]
		n.cells += k
	}
	minCycle := m.addMemories(f, totals[f.top].All)
	m.Lanes = lanes(m.Modules, n.area)
	m.addFigures(f, n, t, minCycle)
	m.addLanes(f)
	m.addQueues(f)
	if p := f.d.PayloadBits(); p > 0 {
		m.Metrics["synth__memory__bits_per_payload_bit"] = float64(f.d.MemoryBits()) / float64(p)
	}
	if f.choice.Inside != "" { // these are the whole design's
		maps.DeleteFunc(m.Metrics, func(key string, _ float64) bool { return strings.HasPrefix(key, "synth__memory__") })
	}
	for k, v := range m.Metrics {
		m.Metrics[k] = math.Round(v*1e6) / 1e6
	}
	m.CriticalPath = t.path
	m.addEstimates(f)
	m.compare(f)
	return m, nil
}

// counts are the cells and macros below the top, and their areas.
type counts struct {
	area, macroArea      float64
	cells, macros, flops int
	gates                int // clock gates
}

// addFigures fills in the figures of area and timing.
func (m *Metrics) addFigures(f *flow, n counts, t *timing, minCycle float64) {
	period := 1e3 / f.o.ClockMHz
	slack := t.slack / 1e3
	// A macro's cycle time is a bound of its own that no path shows.
	shortest := max(t.period/1e3, minCycle)
	if minCycle > period {
		m.Warnings = append(m.Warnings, fmt.Sprintf("an SRAM macro needs %.3f ns a cycle, the clock has %.3f ns", minCycle, period))
	}
	raw, placed := n.area+n.macroArea, Placed(n.area, n.macroArea)
	m.Metrics = map[string]float64{
		"synth__design__instance__area":               raw,
		"synth__design__instance__area__stdcell":      n.area,
		"synth__design__instance__area__macros":       n.macroArea,
		"synth__design__instance__area__placed":       placed,
		"synth__design__nand2_equivalents":            n.area / f.t.nand2,
		"synth__design__nand2_equivalents__total":     raw / f.t.nand2,
		"synth__design__nand2__area":                  f.t.nand2,
		"synth__design__instance__count":              float64(n.cells + n.macros),
		"synth__design__instance__count__stdcell":     float64(n.cells),
		"synth__design__instance__count__macros":      float64(n.macros),
		"synth__design__instance__count__flops":       float64(n.flops),
		"synth__design__instance__count__clock_gates": float64(n.gates),
		"synth__memory__bits":                         float64(f.d.MemoryBits()),
		"synth__memory__instances":                    float64(len(f.d.Memories)),
		"synth__timing__clock__period":                period,
		"synth__timing__clock__mhz":                   f.o.ClockMHz,
		"synth__timing__setup__ws":                    slack,
		"synth__timing__setup__tns":                   t.tns / 1e3,
		"synth__timing__fmax__mhz":                    1e3 / shortest,
		"synth__timing__sram__min_period":             minCycle,
		"synth__timing__late_derate":                  Derate,
		"synth__timing__fo4":                          f.t.fo4 / 1e3,
		"synth__timing__critical_path__fo4":           t.path.DelayPS / f.t.fo4,
		"synth__timing__critical_path__gate_stages":   float64(t.path.Stages),
	}
	m.Clock = clocked.Clock{AskedMHz: f.o.ClockMHz, FoundMHz: m.Metrics["synth__timing__fmax__mhz"], By: strings.TrimSpace(m.Tech + " " + m.Corner)}
	if t.hasReg {
		m.Metrics["synth__timing__setup__ws__reg2reg"] = t.regSlack / 1e3
	}
}

// addLanes fills in the figures of the lanes, if there are any.
func (m *Metrics) addLanes(f *flow) {
	l := m.Lanes
	if l == nil {
		return
	}
	m.Metrics["synth__lane__area"] = l.Area
	m.Metrics["synth__lane__count"] = float64(l.Count)
	m.Metrics["synth__lane__nand2"] = l.Area / f.t.nand2
	m.Metrics["synth__lane__cells__share"] = l.Share
	if top, err := f.d.Top("core"); err == nil && top.Module == f.top && l.Count != f.d.Params.Lanes {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%d lanes in the manifest, %d %s in the netlist", f.d.Params.Lanes, l.Count, laneModule))
	}
}

// addQueues fills in what a switch takes beside its core.
func (m *Metrics) addQueues(f *flow) {
	top, err := f.d.Top(contract.TopSwitch)
	if err != nil || top.Module != f.top {
		return // another top, or a design without a switch
	}
	core, err := f.d.Top(contract.TopCore)
	if err != nil {
		return
	}
	for _, a := range m.Modules {
		if a.Module == core.Module {
			m.Metrics["synth__switch__queues__area"] = m.Metrics["synth__design__instance__area"] - a.Total
		}
	}
}

// addModules fills in the areas by module. A cell that no library gives an area
// would silently shrink the result, so it is an error.
func (m *Metrics) addModules(totals map[string]*yosys.Total, areas map[string]float64, flops map[string]bool) error {
	var missing []string
	sum := func(module string, cells map[string]int) (area float64, ff int) {
		for _, cell := range slices.Sorted(maps.Keys(cells)) {
			n := cells[cell]
			a, ok := areas[cell]
			if !ok {
				missing = append(missing, cell+" in "+module)
			}
			area += float64(n) * a
			if flops[cell] {
				ff += n
			}
		}
		return area, ff
	}
	for name, t := range totals {
		own, _ := sum(name, t.Own)
		all, ff := sum(name, t.All)
		source, _, _ := strings.Cut(name, "__")
		m.Modules = append(m.Modules, ModuleArea{Module: name, Source: source, Instances: t.Instances,
			Own: own, Area: all, Total: all * float64(t.Instances), Flops: ff})
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		missing = slices.Compact(missing)
		return fmt.Errorf("synth: cells without an area, the total would be too small: %s", strings.Join(missing, ", "))
	}
	slices.SortFunc(m.Modules, func(a, b ModuleArea) int {
		switch {
		case a.Total > b.Total:
			return -1
		case a.Total < b.Total:
			return 1
		}
		return strings.Compare(a.Module, b.Module)
	})
	return nil
}

// addMemories fills in the memories and returns the longest macro cycle in ns.
func (m *Metrics) addMemories(f *flow, cells map[string]int) float64 {
	longest := 0.0
	for _, k := range f.memories {
		a := k.area()
		if s := k.macro; s != nil {
			if a.Instances = cells[s.Name()]; a.Instances > 0 {
				longest = max(longest, a.CycleNS)
			}
			if f.choice.Inside == "" && a.Instances != a.Listed {
				m.Warnings = append(m.Warnings, fmt.Sprintf("memory %dx%d: %d in the manifest, %d in the netlist of %s", k.Words, k.Bits, a.Listed, a.Instances, f.top))
			}
		}
		if f.choice.Inside != "" { // the manifest does not say which memories it has
			if a.Listed = a.Instances; k.macro == nil || a.Instances == 0 {
				continue
			}
		}
		m.Memories = append(m.Memories, a)
	}
	return longest
}

// Error bars, about one sigma, from predicting three real libraries out of the
// others and from the spread of the published 28 nm figures.
const (
	logicLow, logicHigh = 0.20, 0.30 // NAND2 area 0.316-0.49 um2 and the flow
	sramLow, sramHigh   = 0.20, 0.40 // bit cell, macro efficiency, ports, self test
	gateError           = 0.10       // gate counts of this flow between libraries
	delayError          = 0.30       // FO4 25 %, method 10 %, wires 10 %
)

func (m *Metrics) addEstimates(f *flow) {
	add := func(key, unit string, low, high float64, basis string) {
		v, ok := m.Metrics[key]
		if !ok {
			return
		}
		m.Estimates = append(m.Estimates, Estimate{Key: key, Value: v, Unit: unit, Low: v * (1 - low), High: v * (1 + high), Basis: basis})
	}
	low, high := logicLow, logicHigh
	if !f.t.node28 {
		// Areas of a real library are what they are: only the mapping is uncertain.
		low, high = gateError, gateError
	}
	cells, macros := m.Metrics["synth__design__instance__area__stdcell"], m.Metrics["synth__design__instance__area__macros"]
	bothLow, bothHigh := low, high
	if sum := cells + macros; sum > 0 {
		bothLow = (low*cells + sramLow*macros) / sum
		bothHigh = (high*cells + sramHigh*macros) / sum
	}
	add("synth__design__instance__area", "um2", bothLow, bothHigh, "raw: cells and macros as synthesised; "+f.t.basis)
	add("synth__design__instance__area__stdcell", "um2", low, high, "standard cells as synthesised")
	add("synth__design__instance__area__macros", "um2", sramLow, sramHigh, "SRAM geometry model, "+f.cellBasis())
	add("synth__design__instance__area__placed", "um2", bothLow, bothHigh,
		fmt.Sprintf("not placed: cells x %g / %g + macros / %g", cellGrowth, cellDensity, macroDensity))
	add("synth__design__nand2_equivalents", "NAND2", gateError, gateError, "standard cells over the area of the smallest NAND2; carries over between libraries")
	add("synth__switch__queues__area", "um2", low, high, "what the switch holds beside the core: a queue at each port, what picks and what distributes")
	add("synth__lane__area", "um2", low, high, "one "+laneModule+": "+strings.Join(f.d.Params.DTypes, ", ")+", "+strings.Join(f.d.Params.Ops, ", ")+", with its registers")
	wires := "wires " + f.t.wires
	add("synth__timing__fmax__mhz", "MHz", 1-1/(1+delayError), 1/(1-delayError)-1, fmt.Sprintf("OpenSTA, %s corner, %s, late derate %g, ideal clock and reset", f.t.corner, wires, Derate))
}

func (f *flow) cellBasis() string {
	for _, m := range f.memories {
		if s := m.macro; s != nil {
			return fmt.Sprintf("%s cell %.3f um2, 8T factor for the second port", s.Cell.Name, s.Cell.Area)
		}
	}
	return "no macro in the design"
}

// compare decides whether the paper's figure may stand beside ours: only for
// the same lanes, buffer, throughput and node. What is there beyond the paper's
// (16-bit types, more throughput) makes ours larger and is no obstacle; what the
// paper leaves unsaid (protected memory) must be there.
func (m *Metrics) compare(f *flow) {
	p := f.d.Params
	c := &m.Paper
	c.AreaMM2 = PaperArea
	differ := func(format string, args ...any) { c.Because = append(c.Because, fmt.Sprintf(format, args...)) }
	if !f.t.node28 {
		differ("technology %s, the paper's is 28 nm", f.t.name)
	}
	if top, err := f.d.Top("core"); err != nil || top.Module != f.top {
		differ("%s is not the core", f.top)
	}
	if p.Lanes != paperLanes {
		differ("%d lanes, the paper has %d FP32 and %[2]d UINT", p.Lanes, paperLanes)
	}
	for _, t := range []string{"FP32", "INT32"} {
		if !slices.Contains(p.DTypes, t) {
			differ("no %s (types %s), the paper has FP32 and UINT", t, strings.Join(p.DTypes, ", "))
		}
	}
	if !slices.Contains(p.Ops, "SUM") {
		differ("no SUM (operations %s)", strings.Join(p.Ops, ", "))
	}
	if p.BufferBytes != paperBuffer {
		differ("%d KiB of payload, the paper has 1 MB", p.BufferBytes>>10)
	}
	if !p.ECC {
		differ("no ecc; the paper does not say, a chip's buffer has it")
	}
	rate := clocked.BitsPerCycle(8*float64(payloadBytes(p)), m.Clock)
	if gbps, ok := rate.Real(); !ok || gbps < paperGbps {
		differ("%s; the paper has 3,200 Gb/s", rate)
	}
	if f.t.corner != liberty.Typical().Name && f.t.node28 {
		differ("%s corner", f.t.corner)
	}
	if m.Clock.Missed() {
		differ("the clock of %g MHz is not met", f.o.ClockMHz)
	}
	if c.Comparable = len(c.Because) == 0; c.Comparable {
		c.Ratio = m.Metrics["synth__design__instance__area"] / 1e6 / PaperArea
	}
}

// payloadBytes is how many bytes of 32-bit elements an engine takes a cycle: a
// bus word, or what its lanes add if that is less. Half the lanes of a
// reproducible engine add what arrives, the others reduce the tree.
func payloadBytes(p contract.Params) int {
	bytes := 4 * p.Lanes
	if p.Accumulate == "reproducible" {
		bytes /= 2
	}
	return min(p.BusBytes, bytes)
}
