// SPDX-License-Identifier: Apache-2.0

package rtlil

import (
	"fmt"
	"regexp"
	"strings"
)

// ClockGate is a cell that passes its clock in cycles that begin with a high enable.
type ClockGate struct {
	Cell               string
	Clock, Enable, Out string // pins
	// Least is the number of flops with one enable from which on the cell takes less than their multiplexers, Most the number that
	// one cell drives.
	Least, Most int
}

// enabled are Yosys's gates of flops with an enable: clock's edge, then what an asynchronous or synchronous reset has, then the
// enable's level.
var enabled = regexp.MustCompile(`^\$_(DFFE|SDFFE|SDFFCE)_P([NP][01])?([NP])_$`)

// bank is a set of flops that one enable lets change.
type bank struct {
	clock, enable string // nets
	enableLow     bool
	reset         string // a synchronous reset that comes before the enable; "" is none
	resetLow      bool
}

// GateClocks gives every bank of enough flops clock gates in place of enables, and returns how many flops no longer have one.
func (m *Module) GateClocks(g ClockGate) int {
	banks := map[bank][]int{}
	var order []bank
	for i, it := range m.items {
		b, ok := bankOf(it)
		if !ok {
			continue
		}
		if banks[b] == nil {
			order = append(order, b)
		}
		banks[b] = append(banks[b], i)
	}
	var wires, cells []item
	gated := 0
	for n, b := range order {
		flops := banks[b]
		if len(flops) < g.Least {
			continue
		}
		gated += len(flops)
		name := func(what string) string { return fmt.Sprintf("$gate$%d$%s", n, what) }
		net := func(what string) string {
			wires = append(wires, item{kind: "wire", name: name(what), lines: []string{"  wire " + name(what)}})
			return name(what)
		}
		cell := func(what, typ string, pins ...string) {
			lines := []string{"  cell " + typ + " " + name(what+"_cell")}
			for k := 0; k < len(pins); k += 2 {
				lines = append(lines, fmt.Sprintf("    connect \\%s %s", pins[k], pins[k+1]))
			}
			cells = append(cells, item{kind: "cell", typ: typ, name: name(what + "_cell"), lines: append(lines, "  end")})
		}
		invert := func(what, from string, low bool) string {
			if !low {
				return from
			}
			to := net(what)
			cell(what, "$_NOT_", "A", from, "Y", to)
			return to
		}
		open := invert("on", b.enable, b.enableLow)
		if b.reset != "" {
			reset := invert("reset", b.reset, b.resetLow)
			either := net("open")
			cell("open", "$_OR_", "A", open, "B", reset, "Y", either)
			open = either
		}
		for first := 0; first < len(flops); first += g.Most {
			what := fmt.Sprintf("clock%d", first/g.Most)
			clock := net(what)
			cell(what, `\`+g.Cell, g.Clock, b.clock, g.Enable, open, g.Out, clock)
			for _, i := range flops[first:min(first+g.Most, len(flops))] {
				m.items[i] = ungated(m.items[i], clock)
			}
		}
	}
	if gated > 0 {
		// A name is known from its declaration on.
		m.items = append(append(wires, m.items...), cells...)
	}
	return gated
}

// bankOf returns the bank of a flop with an enable.
func bankOf(it item) (bank, bool) {
	if it.kind != "cell" {
		return bank{}, false
	}
	kind := enabled.FindStringSubmatch(it.typ)
	if kind == nil {
		return bank{}, false
	}
	b := bank{clock: it.pin("C"), enable: it.pin("E"), enableLow: kind[3] == "N"}
	if kind[1] == "SDFFE" {
		b.reset, b.resetLow = it.pin("R"), kind[2][0] == 'N'
	}
	return b, b.clock != "" && b.enable != ""
}

// pin returns the net at a pin.
func (it item) pin(name string) string {
	for _, line := range it.lines {
		if rest, ok := strings.CutPrefix(line, "    connect \\"+name+" "); ok {
			return rest
		}
	}
	return ""
}

// ungated returns a flop without its enable at another clock.
func ungated(it item, clock string) item {
	kind := enabled.FindStringSubmatch(it.typ)
	typ := "$_DFF_P" + kind[2] + "_"
	if kind[1] != "DFFE" {
		typ = "$_SDFF_P" + kind[2] + "_"
	}
	out := item{kind: it.kind, typ: typ, name: it.name}
	for _, line := range it.lines {
		switch {
		case strings.HasPrefix(line, "  cell "):
			line = "  cell " + typ + " " + it.name
		case strings.HasPrefix(line, `    connect \C `):
			line = `    connect \C ` + clock
		case strings.HasPrefix(line, `    connect \E `):
			continue
		}
		out.lines = append(out.lines, line)
	}
	return out
}
