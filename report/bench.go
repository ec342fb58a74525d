// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	"incforge/internal/clocked"
)

// Endings of a metric's key. What ends in ns or gbps is a figure at some clock and is never printed as it stands: it is made again from
// the cycles, with the clock beside it.
const (
	endCycles = "_cycles"
	endRate   = "_bits_per_cycle"
	endNS     = "_ns"
	endGbps   = "_gbps"
)

// atClock returns a metric as a figure at a clock; none if it counts neither cycles nor bits a cycle.
func atClock(key string, value float64, c clocked.Clock) (clocked.Figure, bool) {
	switch {
	case strings.HasSuffix(key, endCycles):
		return clocked.Cycles(value, c), true
	case strings.HasSuffix(key, endRate):
		return clocked.BitsPerCycle(value, c), true
	}
	return clocked.Figure{}, false
}

// clocks are those that flows found for the design that a benchmark measured.
func (d *Design) clocks(b Bench) []clocked.Clock {
	var all []clocked.Clock
	add := func(digest string, whole bool, c clocked.Clock) {
		if c.Found() && digest == b.Digest && digest != "" && whole && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	add(b.Digest, true, b.Clock)
	for _, m := range d.Synth {
		add(m.Digest, d.isTop(m.Top), m.Clock)
	}
	for _, m := range d.FPGA {
		add(m.Digest, d.isTop(m.Top), m.Clock)
	}
	return all
}

// isTop tells whether a module is a top of the design; without a manifest nobody knows, and a name that is not the design's own is none.
func (d *Design) isTop(module string) bool {
	if d.Manifest == nil {
		return module == d.Name || module == d.Name+"_core"
	}
	for _, t := range d.Manifest.Tops {
		if t.Module == module {
			return true
		}
	}
	return false
}

func bench(b Bench, clocks []clocked.Clock) benchView {
	v := benchView{Name: b.Bench}
	done := map[string]bool{}
	var plotted []float64
	for _, ref := range references() {
		ours, ok := b.Metrics[ref.key]
		if ref.bench != b.Bench || !ok {
			continue
		}
		done[ref.key] = true
		if x, ok := b.Metrics[ref.paperKey()]; ok {
			ref.paper = x
		}
		row := benchRow{Key: ref.key, Label: ref.label, Ours: figure(ours, ref.unit), Basis: ref.basis, Held: held(ref.key, ours, clocks)}
		if ref.paper > 0 {
			row.Paper = figure(ref.paper, ref.paperUnit)
			var bars []barView
			for _, c := range clocks {
				f, _ := atClock(ref.key, ours, c)
				real, _ := f.Real()
				bars, plotted = append(bars, barView{Label: ref.name() + ", " + c.By, Value: f.At(), Class: barClass(f)}), append(plotted, real)
			}
			if len(bars) > 0 {
				v.Plot = append(v.Plot, append(bars, barView{Label: ref.name() + ", paper", Value: row.Paper + " (paper)", Class: "paper"})...)
				plotted = append(plotted, ref.paper)
			}
		}
		if ref.goal > 0 {
			sign, met := "≤ ", ours <= ref.goal
			if ref.atLeast {
				sign, met = "≥ ", ours >= ref.goal
			}
			row.Goal, row.Verdict, row.Class = sign+figure(ref.goal, ref.unit), "missed", "bad"
			if met {
				row.Verdict, row.Class = "met", "good"
			}
		}
		v.Rows = append(v.Rows, row)
	}
	for _, k := range sorted(b.Metrics) {
		if done[k] || strings.HasSuffix(k, endNS) || strings.HasSuffix(k, endGbps) {
			continue
		}
		v.Rows = append(v.Rows, benchRow{Key: k, Ours: figure(b.Metrics[k], ""), Held: held(k, b.Metrics[k], clocks)})
	}
	scale(v.Plot, func(i int) float64 { return plotted[i] })
	return v
}

// held is a metric at each clock.
func held(key string, value float64, clocks []clocked.Clock) []heldView {
	var all []heldView
	for _, c := range clocks {
		if f, ok := atClock(key, value, c); ok {
			all = append(all, heldView{f.At(), c.By, missedClass(f.Missed())})
		}
	}
	return all
}

// missedClass is the style of a figure whose clock was missed: red.
func missedClass(missed bool) string {
	if missed {
		return "missed"
	}
	return ""
}

func barClass(f clocked.Figure) string {
	if f.Missed() {
		return "missed"
	}
	return "ours"
}

// benchTiles are the figures that the paper gives too: at each clock found, or in cycles alone.
func benchTiles(b Bench, clocks []clocked.Clock) []tile {
	var all []tile
	for _, ref := range references() {
		ours, ok := b.Metrics[ref.key]
		if ref.bench != b.Bench || !ok || ref.paper == 0 {
			continue
		}
		paper := " (paper " + figure(ref.paper, ref.paperUnit) + ")"
		if len(clocks) == 0 {
			all = append(all, tile{Value: figure(ours, ref.unit), Label: ref.name() + ", no clock found" + paper})
		}
		for _, c := range clocks {
			f, _ := atClock(ref.key, ours, c)
			all = append(all, tile{Value: f.At(), Label: ref.name() + ", " + c.By + paper, Class: missedClass(f.Missed())})
		}
	}
	return all
}
