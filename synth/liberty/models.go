// SPDX-License-Identifier: Apache-2.0

package liberty

import (
	"fmt"
	"strings"
)

// Models returns Verilog simulation models of the usable cells of a library,
// without delays, so that a mapped netlist can be simulated. A cell that the
// models cannot express (a flop with both clear and preset) is an error only
// if it is in use: cells lists those, nil means all that can be expressed.
func (l *Library) Models(cells map[string]bool) ([]byte, error) {
	w := new(writer)
	for _, c := range l.Cells {
		if cells != nil && !cells[c.Name] {
			continue
		}
		text, err := c.model()
		if err != nil {
			if cells == nil {
				continue
			}
			return nil, fmt.Errorf("liberty: model of %s: %w", c.Name, err)
		}
		w.WriteString(text)
	}
	return w.Bytes(), nil
}

func (c Cell) model() (string, error) {
	w := new(writer)
	var ports []string
	for _, p := range c.Pins {
		if p.Direction == "input" || p.Direction == "output" {
			ports = append(ports, p.Direction+" wire "+p.Name)
		}
	}
	w.line("module %s (%s);", c.Name, strings.Join(ports, ", "))
	w.indent++
	if c.Sequential {
		if err := c.state(w); err != nil {
			return "", err
		}
	}
	if c.ClockGate {
		w.line("reg IQ;")
		w.line("always @* if (~%s) IQ = %s;", c.GateClock, c.GateEnable)
		w.line("assign %s = %s & IQ;", c.GateOut, c.GateClock)
	}
	for _, p := range c.Pins {
		if p.Direction != "output" || p.Function == "" {
			continue
		}
		f, err := ParseFunction(p.Function)
		if err != nil {
			return "", err
		}
		w.line("assign %s = %s;", p.Name, f.Verilog())
	}
	w.indent--
	w.line("endmodule")
	return w.String(), nil
}

// state prints the storage element. Its names are those that Liberty files give
// the state and its complement everywhere, IQ and IQN.
func (c Cell) state(w *writer) error {
	expr := func(text string) (string, error) {
		f, err := ParseFunction(text)
		if err != nil {
			return "", err
		}
		return f.Verilog(), nil
	}
	next, err := expr(c.NextState)
	if err != nil {
		return err
	}
	clock, err := expr(c.Clock)
	if err != nil {
		return err
	}
	if c.Clear != "" && c.Preset != "" {
		return fmt.Errorf("both clear and preset")
	}
	async, value := c.Clear, "1'b0"
	if c.Preset != "" {
		async, value = c.Preset, "1'b1"
	}
	w.line("reg IQ;")
	w.line("wire IQN = ~IQ;")
	if !c.FF {
		if async != "" {
			return fmt.Errorf("latch with clear or preset")
		}
		w.line("always @* if (%s) IQ = %s;", clock, next)
		return nil
	}
	w.line("wire clock = %s;", clock)
	if async == "" {
		w.line("always @(posedge clock) IQ <= %s;", next)
		return nil
	}
	now, err := expr(async)
	if err != nil {
		return err
	}
	w.line("wire force_state = %s;", now)
	w.line("always @(posedge clock or posedge force_state)")
	w.line("  if (force_state) IQ <= %s; else IQ <= %s;", value, next)
	return nil
}

// BlackBox returns the cell's ports as a black box in Yosys's text, "" of no cell.
func (c Cell) BlackBox() string {
	if c.Name == "" {
		return ""
	}
	w := new(writer)
	w.line("attribute \\blackbox 1\nmodule \\%s", c.Name)
	n := 0
	for _, p := range c.Pins {
		if p.Direction == "input" || p.Direction == "output" {
			n++
			w.line("  wire %s %d \\%s", p.Direction, n, p.Name)
		}
	}
	w.line("end")
	return w.String()
}
