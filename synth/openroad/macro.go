// SPDX-License-Identifier: Apache-2.0

package openroad

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/synth"
	"incforge/synth/design"
	"incforge/synth/liberty"
)

// pin is one bit of a macro's port.
type pin struct {
	name  string
	input bool
	clock bool
	right bool // at the right edge, else the left one
}

// macro is a memory macro with its outline.
type macro struct {
	synth.Macro
	width, height int // nm
	step          int // tracks from pin to pin
	pins          []pin
	places        []string // instances by path from the top
}

// pinsOf lists the pins of a macro: the writing side is at the left, the reading side at the right. Names and widths are those of the
// RAM leaf.
func pinsOf(s liberty.SRAM) []pin {
	var all []pin
	bus := func(name string, width int, input, right bool) {
		for i := range width {
			all = append(all, pin{name: fmt.Sprintf("%s[%d]", name, i), input: input, right: right})
		}
	}
	one := func(name string, right bool) { all = append(all, pin{name: name, input: true, right: right}) }
	address := liberty.AddressBits(s.Words)
	all = append(all, pin{name: contract.ClockPort, input: true, clock: true})
	if s.Ports == liberty.OneRW {
		one("en", false)
		one("we", false)
		bus("addr", address, true, false)
		bus("wdata", s.Bits, true, false)
	} else {
		one("we", false)
		bus("waddr", address, true, false)
		bus("wdata", s.Bits, true, false)
		one("re", true)
		bus("raddr", address, true, true)
	}
	bus("rdata", s.Bits, false, true)
	return all
}

// Pins have at least every second track, so that wires between them can turn; the first leaves room for the corner.
const (
	leastStep = 2
	firstPin  = 4
)

// outlined gives a macro its outline: a square of the model's area, or higher where the pins of an edge need it.
func outlined(m synth.Macro, p Platform) macro {
	out := macro{Macro: m, pins: pinsOf(m.SRAM)}
	area := (m.Area + m.BankMuxArea) * 1e6 // nm2
	edge := max(out.edge(false), out.edge(true))
	out.height = up(max(int(math.Sqrt(area)), (2*firstPin+leastStep*edge)*p.pins.pitch), p.rowY)
	// A narrow macro still has a pair of straps between its pins.
	least := 2*(p.pinLength+p.space) + 2*p.power.step
	out.width = up(max(int(math.Ceil(area/float64(out.height))), least), p.siteX)
	out.step = max(leastStep, (out.height/p.pins.pitch-2*firstPin)/max(edge, 1))
	return out
}

// edge counts the pins of an edge.
func (m macro) edge(right bool) int {
	n := 0
	for _, p := range m.pins {
		if p.right == right {
			n++
		}
	}
	return n
}

// up is the next multiple of a grid.
func up(x, grid int) int { return (x + grid - 1) / grid * grid }

// um prints nm as um.
func um(nm int) string { return fmt.Sprintf("%d.%03d", nm/1000, nm%1000) }

// area in um2 of the outline.
func (m macro) area() float64 { return float64(m.width) * float64(m.height) / 1e6 }

// macrosOf returns the macros of a design with the paths of their instances below a top.
func macrosOf(d *design.Design, plan *synth.MacroPlan, p Platform, key string) []macro {
	var all []macro
	for _, m := range plan.Macros() {
		all = append(all, outlined(m, p))
	}
	for _, mem := range d.Memories {
		path := mem.Path
		if key == contract.TopCore { // the manifest's paths begin at the switch, if there is one
			path = strings.TrimPrefix(path, "u_core.")
		}
		size := design.Size{Words: mem.Words, Bits: mem.Bits, Module: mem.Module}
		if i := slices.IndexFunc(all, func(m macro) bool { return m.Size == size }); i >= 0 {
			all[i].places = append(all[i].places, path+"."+synth.MacroInstance(size))
		}
	}
	return all
}

// spot is where an instance goes: the lower left corner, from that of the core, in nm.
type spot struct {
	macro *macro
	path  string
	x, y  int
}

// floor is an arrangement of all instances.
type floor struct {
	spots         []spot
	width, height int
	area          float64 // of the macros, um2
}

// arrange puts the instances onto shelves, the highest first, with the halo on every side.
func arrange(macros []macro, halo int) floor {
	var f floor
	var total float64
	for i := range macros {
		m := &macros[i]
		for _, path := range m.places {
			f.spots = append(f.spots, spot{macro: m, path: path})
			f.area += m.area()
			total += float64(m.width+2*halo) * float64(m.height+2*halo)
		}
	}
	slices.SortStableFunc(f.spots, func(a, b spot) int { return b.macro.height - a.macro.height })
	limit := int(1.1 * math.Sqrt(total))
	for _, s := range f.spots {
		limit = max(limit, s.macro.width+2*halo)
	}
	x, y, shelf := 0, 0, 0
	for i := range f.spots {
		s := &f.spots[i]
		if x+s.macro.width+2*halo > limit {
			x, y, shelf = 0, y+shelf, 0
		}
		s.x, s.y = x+halo, y+halo
		x += s.macro.width + 2*halo
		shelf = max(shelf, s.macro.height+2*halo)
		f.width, f.height = max(f.width, x), max(f.height, y+shelf)
	}
	return f
}

// maxUtilization leaves room for cells and wires in a first run.
const maxUtilization = 40

// utilization in per cent is what a square core may have so that the arrangement fits, however few cells there are.
func (f floor) utilization(margin int) int {
	if len(f.spots) == 0 {
		return maxUtilization
	}
	side := float64(max(f.width, f.height)+margin) / 1e3
	return max(1, min(maxUtilization, int(100*f.area/(side*side))))
}
