// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// netlist is what Yosys writes as JSON, as far as it is read or changed here; the rest is kept as it is.
type netlist struct {
	Creator string             `json:"creator"`
	Modules map[string]*module `json:"modules"`
}

type module struct {
	Attributes json.RawMessage `json:"attributes"`
	Ports      map[string]port `json:"ports"`
	Cells      map[string]cell `json:"cells"`
	Netnames   map[string]net  `json:"netnames"`
	last       int             // the highest number of a net
}

type port struct {
	Direction string `json:"direction"`
	Bits      []any  `json:"bits"` // a net's number, or a constant's text
}

type cell struct {
	HideName    int                        `json:"hide_name"`
	Type        string                     `json:"type"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	Attributes  json.RawMessage            `json:"attributes"`
	Directions  map[string]string          `json:"port_directions"`
	Connections map[string][]any           `json:"connections"`
}

type net struct {
	HideName   int             `json:"hide_name"`
	Bits       []any           `json:"bits"`
	Attributes json.RawMessage `json:"attributes"`
}

// noAttributes is an empty list of them.
var noAttributes = json.RawMessage("{}")

// errClocks means that a design has more than one clock.
var errClocks = errors.New("mutate: the design has more than one clock")

// readNetlist reads a file of Yosys's, and finds the module top in it.
func readNetlist(file, top string) (n netlist, m *module, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return n, nil, fmt.Errorf("mutate: %w", err)
	}
	if err := json.Unmarshal(text, &n); err != nil {
		return n, nil, fmt.Errorf("mutate: what Yosys left: %w", err)
	}
	m = n.Modules[top]
	if m == nil {
		return n, nil, fmt.Errorf("mutate: what Yosys left has no module %s", top)
	}
	return n, m, nil
}

// openMemories makes the memories of a flat module its ports: what they are given goes out as far as it counts (an address where something is read or
// written, bits that are written), what they answer comes in. Two copies of the module whose outputs are the same whatever comes in have
// memories that hold the same. The reset is made to stand in the first cycle.
func openMemories(from, to, top string) error {
	n, m, err := readNetlist(from, top)
	if err != nil {
		return err
	}
	if err := m.count(); err != nil {
		return err
	}
	for i, name := range slices.Sorted(maps.Keys(m.Cells)) {
		c := m.Cells[name]
		switch {
		case c.Type == "$mem_v2":
			delete(m.Cells, name)
			if err := m.open(fmt.Sprintf("memory_%d", i), c); err != nil {
				return err
			}
		case strings.HasPrefix(c.Type, "$mem"):
			return fmt.Errorf("mutate: a memory that is %s", c.Type)
		}
	}
	m.begin("rst", "clk")
	m.rename()
	out, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("mutate: %w", err)
	}
	if err := os.WriteFile(to, out, 0o644); err != nil {
		return fmt.Errorf("mutate: %w", err)
	}
	return nil
}

// count finds the highest net, and sees that all registers and memories have one clock.
func (m *module) count() error {
	var clock any
	look := func(bits []any) {
		for _, b := range bits {
			if f, ok := b.(float64); ok {
				m.last = max(m.last, int(f))
			}
		}
	}
	for _, p := range m.Ports {
		look(p.Bits)
	}
	for _, n := range m.Netnames {
		look(n.Bits)
	}
	for _, c := range m.Cells {
		for pin, bits := range c.Connections {
			look(bits)
			if pin != "CLK" && pin != "RD_CLK" && pin != "WR_CLK" {
				continue
			}
			for _, b := range bits {
				if !isNet(b) {
					continue // of a port without a clock
				}
				if clock != nil && clock != b {
					return errClocks
				}
				clock = b
			}
		}
	}
	return nil
}

// fresh are so many nets more.
func (m *module) fresh(n int) []any {
	bits := make([]any, n)
	for i := range bits {
		m.last++
		bits[i] = m.last
	}
	return bits
}

func (m *module) port(name, direction string, bits []any) {
	m.Ports[name] = port{Direction: direction, Bits: bits}
	m.Netnames[name] = net{Bits: bits, Attributes: noAttributes}
}

// add puts a cell in whose output is Y or Q.
func (m *module) add(kind string, parameters map[string]int, pins map[string][]any) {
	c := cell{HideName: 1, Type: kind, Attributes: noAttributes, Connections: pins, Directions: map[string]string{}, Parameters: map[string]json.RawMessage{}}
	for name, v := range parameters {
		c.Parameters[name] = json.RawMessage(fmt.Sprintf("%q", fmt.Sprintf("%032b", v)))
	}
	for pin := range pins {
		c.Directions[pin] = "input"
		if pin == "Y" || pin == "Q" {
			c.Directions[pin] = "output"
		}
	}
	m.last++
	m.Cells[fmt.Sprintf("$open$%d", m.last)] = c
}

func (m *module) and(a, b []any) []any {
	y, n := m.fresh(len(a)), len(a)
	m.add("$and", map[string]int{"A_SIGNED": 0, "B_SIGNED": 0, "A_WIDTH": n, "B_WIDTH": n, "Y_WIDTH": n}, map[string][]any{"A": a, "B": b, "Y": y})
	return y
}

func (m *module) or(a, b []any) []any {
	y, n := m.fresh(len(a)), len(a)
	m.add("$or", map[string]int{"A_SIGNED": 0, "B_SIGNED": 0, "A_WIDTH": n, "B_WIDTH": n, "Y_WIDTH": n}, map[string][]any{"A": a, "B": b, "Y": y})
	return y
}

// choose is a while s is low, b while it is high.
func (m *module) choose(s, a, b []any) []any {
	y := m.fresh(len(a))
	m.add("$mux", map[string]int{"WIDTH": len(a)}, map[string][]any{"S": s, "A": a, "B": b, "Y": y})
	return y
}

// isNet tells a net from a constant.
func isNet(b any) bool {
	_, ok := b.(float64)
	return ok
}

// number is a parameter's value, digit i one bit of it.
func (c cell) number(name string) (int, error) {
	v, err := strconv.ParseInt(c.text(name), 2, 64)
	if err != nil {
		return 0, fmt.Errorf("mutate: a memory's %s: %w", name, err)
	}
	return int(v), nil
}

func (c cell) text(name string) string { return strings.Trim(string(c.Parameters[name]), `"`) }

func (c cell) digit(name string, i int) byte { t := c.text(name); return t[len(t)-1-i] }

// constant are n bits of a parameter from one on, 0 where it says nothing.
func (c cell) constant(name string, from, n int) []any {
	bits := make([]any, n)
	for i := range bits {
		bits[i] = "0"
		if c.digit(name, from+i) == '1' {
			bits[i] = "1"
		}
	}
	return bits
}

// open makes ports of what a memory is connected to.
func (m *module) open(name string, c cell) error {
	var sizes [4]int
	for i, parameter := range []string{"WIDTH", "ABITS", "RD_PORTS", "WR_PORTS"} {
		var err error
		if sizes[i], err = c.number(parameter); err != nil {
			return err
		}
	}
	width, abits, reads, writes := sizes[0], sizes[1], sizes[2], sizes[3]
	part := func(pin string, i, n int) []any { return c.Connections[pin][i*n : (i+1)*n] }
	for i := range reads {
		address, data, enable := part("RD_ADDR", i, abits), part("RD_DATA", i, width), part("RD_EN", i, 1)
		in := fmt.Sprintf("%s_data_%d", name, i)
		if c.digit("RD_CLK_ENABLE", i) == '0' {
			m.port(in, "input", data)
			m.port(fmt.Sprintf("%s_read_%d", name, i), "output", address)
			continue
		}
		answer := m.fresh(width)
		m.port(in, "input", answer)
		loads, next := enable, answer
		if reset := part("RD_SRST", i, 1); isNet(reset[0]) {
			next = m.choose(reset, answer, c.constant("RD_SRST_VALUE", i*width, width))
			if c.digit("RD_CE_OVER_SRST", i) == '0' {
				loads = m.or(enable, reset)
			}
		}
		m.add("$dffe", map[string]int{"WIDTH": width, "CLK_POLARITY": 1, "EN_POLARITY": 1},
			map[string][]any{"CLK": part("RD_CLK", i, 1), "EN": loads, "D": next, "Q": data})
		m.port(fmt.Sprintf("%s_enable_%d", name, i), "output", enable)
		m.port(fmt.Sprintf("%s_read_%d", name, i), "output", m.and(address, slices.Repeat(enable, abits)))
	}
	for i := range writes {
		address, data, enable := part("WR_ADDR", i, abits), part("WR_DATA", i, width), part("WR_EN", i, width)
		some := m.fresh(1)
		m.add("$reduce_or", map[string]int{"A_SIGNED": 0, "A_WIDTH": width, "Y_WIDTH": 1}, map[string][]any{"A": enable, "Y": some})
		m.port(fmt.Sprintf("%s_bits_%d", name, i), "output", enable)
		m.port(fmt.Sprintf("%s_put_%d", name, i), "output", m.and(data, enable))
		m.port(fmt.Sprintf("%s_write_%d", name, i), "output", m.and(address, slices.Repeat(some, abits)))
	}
	return nil
}

// begin has the reset, if there is one, stand in the first cycle, whatever its input says.
func (m *module) begin(reset, clock string) {
	r, ok := m.Ports[reset]
	if !ok {
		return
	}
	pin, began, first := m.fresh(1), m.fresh(1), m.fresh(1)
	m.port(reset, "input", pin)
	m.add("$dff", map[string]int{"WIDTH": 1, "CLK_POLARITY": 1}, map[string][]any{"CLK": m.Ports[clock].Bits, "D": {"1"}, "Q": began})
	m.add("$not", map[string]int{"A_SIGNED": 0, "A_WIDTH": 1, "Y_WIDTH": 1}, map[string][]any{"A": began, "Y": first})
	m.add("$or", map[string]int{"A_SIGNED": 0, "B_SIGNED": 0, "A_WIDTH": 1, "B_WIDTH": 1, "Y_WIDTH": 1}, map[string][]any{"A": pin, "B": first, "Y": r.Bits})
}

// rename gives cells names that Yosys, which begins to number anew, does not give; nets without a name get new ones.
func (m *module) rename() {
	cells := map[string]cell{}
	for i, name := range slices.Sorted(maps.Keys(m.Cells)) {
		cells[fmt.Sprintf("cell_%d", i)] = m.Cells[name]
	}
	m.Cells = cells
	maps.DeleteFunc(m.Netnames, func(_ string, n net) bool { return n.HideName != 0 })
}
