// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"incforge/synth"
)

// priceView is one synthesis.
type priceView struct {
	Title     string
	Basis     string
	Estimates []estimateView
	Facts     []factView
	Modules   []barView
	Memories  []memoryPriceView
	Path      string // one line
	Trace     string // the tool's own report
	Paper     string
	Warnings  []string
}

// estimateView is a figure and its error bar, as positions 0…100 on a scale of its own that begins at zero.
type estimateView struct {
	Label, Value, Range, Basis, Class string
	Low, At, High                     float64
}

// factView is a figure of timing or a count.
type factView struct{ Label, Value, Class string }

type memoryPriceView struct{ Shape, Storage, Macro, Area, Access string }

// maxModules bounds the plot of areas; the rest are one bar.
const maxModules = 14

func prices(d *Design) []priceView {
	var all []priceView
	for _, m := range d.Synth {
		all = append(all, price(m))
	}
	return all
}

func price(m *synth.Metrics) priceView {
	v := priceView{Title: strings.TrimSpace(m.Top + " in " + m.Tech + " " + m.Corner), Basis: m.Basis, Warnings: m.Warnings}
	for _, e := range m.Estimates {
		value, low, high, unit := e.Value, e.Low, e.High, e.Unit
		switch {
		case e.Key == "synth__lane__area":
			unit = "µm²"
		case unit == "um2":
			value, low, high, unit = value/1e6, low/1e6, high/1e6, "mm²"
		}
		ev := estimateView{Label: estimateLabel(e.Key), Value: figure(value, unit), Range: figure(low, "") + " – " + figure(high, unit), Basis: e.Basis}
		if e.Key == "synth__timing__fmax__mhz" {
			ev.Class = missedClass(m.Clock.Missed())
		}
		if full := high * 1.05; full > 0 {
			ev.Low, ev.At, ev.High = 100*low/full, 100*value/full, 100*high/full
		}
		v.Estimates = append(v.Estimates, ev)
	}
	for _, f := range []struct{ key, label, unit string }{
		{"synth__timing__clock__mhz", "clock asked for", "MHz"},
		{"synth__timing__setup__ws", "worst slack", "ns"},
		{"synth__timing__setup__ws__reg2reg", "worst slack, register to register", "ns"},
		{"synth__timing__fmax__mhz", "highest clock", "MHz"},
		{"synth__timing__critical_path__fo4", "critical path", "FO4"},
		{"synth__lane__count", "lanes", ""},
		{"synth__lane__nand2", "gates of one lane", "NAND2"},
		{"synth__lane__cells__share", "lanes' part of the cells' area", ""},
		{"synth__design__instance__count__stdcell", "standard cells", ""},
		{"synth__design__instance__count__flops", "flip-flops", ""},
		{"synth__design__instance__count__macros", "SRAM macros", ""},
		{"synth__memory__bits", "memory bits", ""},
		{"synth__memory__bits_per_payload_bit", "memory bits per payload bit", ""},
	} {
		if x, ok := m.Metrics[f.key]; ok {
			missed := m.Clock.Missed() && strings.HasPrefix(f.key, "synth__timing__") && f.key != "synth__timing__clock__mhz"
			v.Facts = append(v.Facts, factView{f.label, figure(x, f.unit), missedClass(missed)})
		}
	}
	own := v.modules(m.Modules)
	scale(v.Modules, func(i int) float64 { return own[i] })
	for _, a := range m.Memories {
		mv := memoryPriceView{Shape: fmt.Sprintf("%d × %d, %d times", a.Words, a.Bits, a.Instances), Storage: a.Storage, Macro: a.Shape}
		if a.Area > 0 {
			mv.Area, mv.Access = figure(a.Area, "µm²"), figure(a.AccessNS, "ns")
		}
		v.Memories = append(v.Memories, mv)
	}
	if p := m.CriticalPath; p.Start != "" {
		v.Path = fmt.Sprintf("%s → %s, %s in %d stages", p.Start, p.End, figure(p.DelayPS/1e3, "ns"), p.Stages)
		v.Trace = p.Trace
	}
	if m.Paper.AreaMM2 > 0 {
		v.Paper = fmt.Sprintf("The paper's %s is not the same configuration: %s.", figure(m.Paper.AreaMM2, "mm²"), strings.Join(m.Paper.Because, "; "))
		if m.Paper.Comparable {
			v.Paper = fmt.Sprintf("%s of the paper's %s (28 nm, basis unstated).", figure(m.Paper.Ratio, ""), figure(m.Paper.AreaMM2, "mm²"))
		}
	}
	return v
}

// modules fills in the plot of areas: for each module the area of all its instances without submodules, largest
// first. It returns the areas in the order of the bars.
func (v *priceView) modules(all []synth.ModuleArea) []float64 {
	areas, instances := map[string]float64{}, map[string]int{}
	for _, a := range all {
		areas[a.Source] += a.Own * float64(a.Instances)
		instances[a.Source] += a.Instances
	}
	names := sorted(areas)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(areas[b], areas[a]) })
	var own []float64
	rest := 0.0
	for i, n := range names {
		if i >= maxModules {
			rest += areas[n]
			continue
		}
		label := n
		if instances[n] > 1 {
			label += " ×" + strconv.Itoa(instances[n])
		}
		v.Modules = append(v.Modules, barView{Label: label, Value: figure(areas[n], "µm²"), Class: "ours"})
		own = append(own, areas[n])
	}
	if more := len(names) - maxModules; more > 0 {
		v.Modules = append(v.Modules, barView{Label: fmt.Sprintf("%d more modules", more), Value: figure(rest, "µm²"), Class: "paper"})
		own = append(own, rest)
	}
	return own
}

func estimateLabel(key string) string {
	switch key {
	case "synth__design__instance__area":
		return "area, cells and macros"
	case "synth__design__instance__area__stdcell":
		return "of it cells"
	case "synth__design__instance__area__macros":
		return "of it macros"
	case "synth__design__instance__area__placed":
		return "area, as if placed"
	case "synth__design__nand2_equivalents":
		return "gates (NAND2)"
	case "synth__lane__area":
		return "area of one lane"
	case "synth__timing__fmax__mhz":
		return "highest clock"
	}
	return key
}

func priceTiles(d *Design) []tile {
	var all []tile
	for _, m := range d.Synth {
		class := "good"
		if m.Clock.Missed() {
			class = "missed"
		}
		all = append(all, tile{figure(m.Metrics["synth__design__instance__area"]/1e6, "mm²"), "estimated, " + m.Tech, ""},
			tile{figure(m.Clock.FoundMHz, "MHz"), "clock found, asked for " + figure(m.Clock.AskedMHz, "MHz") + ", " + m.Clock.By, class})
	}
	for _, m := range d.FPGA {
		if m.Longest != nil {
			all = append(all, tile{figure(float64(m.Longest.Levels), ""), "LUT levels, " + string(m.Family), ""})
		}
		if m.Clock.Found() {
			class := "good"
			if m.Clock.Missed() {
				class = "missed"
			}
			all = append(all, tile{figure(m.Clock.FoundMHz, "MHz"), "clock found, asked for " + figure(m.Clock.AskedMHz, "MHz") + ", " + m.Clock.By, class})
		}
	}
	return all
}
