// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Simplify carries across the modules' boundaries what Yosys sees only within one: a bit that has the same constant at every instance
// of a module is one inside it and behind it, and what drives nothing at any instance goes. It changes the modules, which are of
// Yosys's own gates, and keeps their ports. Modules hold the top first and every module before those in it; outputs names the output
// pins of cells that are neither gates nor modules.
func Simplify(modules []*Module, outputs func(typ string) []string) {
	s := newAcross(modules, outputs)
	s.constants()
	s.live()
	for _, in := range s.all {
		in.rewrite()
	}
}

// Sweep drops mapped cells that drive nothing at any instance of their module, and returns their number: while it maps, Yosys does not
// know cells, and keeps a flop that nobody reads any more. Cells of which stays is true are kept. Modules are as Simplify takes them.
func Sweep(modules []*Module, outputs func(typ string) []string, stays func(typ string) bool) int {
	s := newAcross(modules, outputs)
	for _, in := range s.all {
		for ci := range in.cells {
			if stays(in.cells[ci].Type) {
				in.keep[ci] = true
			}
		}
	}
	s.live()
	gone := 0
	for _, in := range s.all {
		ci := -1
		before := len(in.cells)
		in.cells = slices.DeleteFunc(in.cells, func(c Cell) bool {
			ci++
			_, isModule := s.index[c.Type]
			return !isModule && !in.keep[ci]
		})
		gone += before - len(in.cells)
	}
	return gone
}

func newAcross(modules []*Module, outputs func(typ string) []string) *across {
	s := &across{outputs: outputs, index: map[string]int{}}
	for i, m := range modules {
		s.index[m.Name] = i
	}
	for _, m := range modules {
		s.all = append(s.all, newInside(m))
	}
	s.connect()
	return s
}

// across is a design while it is simplified.
type across struct {
	all     []*inside
	index   map[string]int // of modules by name
	outputs func(typ string) []string
	todo    []place
}

// place is a net of a module.
type place struct {
	module int
	net    bit
}

// Values of nets.
const (
	varies uint8 = iota
	isZero
	isOne
)

// inside is a module while it is simplified.
type inside struct {
	*Module
	net     []bit
	value   []uint8   // by net
	alive   []bool    // by net
	readers [][]int32 // cells that read a net
	driver  []int32   // cell that drives a net, -1 if none does
	keep    []bool    // by cell: what stays whatever it drives
	outs    [][]bool  // by cell and pin: it is an output
	users   []user    // instances of this module
	port    map[string]*Wire
	inputs  map[bit][]portBit // input bits by net
	leaves  map[bit]bool      // nets of output bits
}

type user struct {
	module int
	cell   int32
}

type portBit struct {
	name string
	bit  int
}

func newInside(m *Module) *inside {
	in := &inside{Module: m, net: m.nets(), value: make([]uint8, m.bits), alive: make([]bool, m.bits), readers: make([][]int32, m.bits),
		driver: make([]int32, m.bits), keep: make([]bool, len(m.cells)), outs: make([][]bool, len(m.cells)), port: map[string]*Wire{}, inputs: map[bit][]portBit{}, leaves: map[bit]bool{}}
	for i := range in.driver {
		in.driver[i] = -1
	}
	for _, w := range m.Ports {
		name := strings.TrimPrefix(w.Name, `\`)
		in.port[name] = w
		for k := range w.Width {
			if w.Input {
				n := in.net[int(w.first)+k]
				in.inputs[n] = append(in.inputs[n], portBit{name, k})
			} else {
				in.leaves[in.net[int(w.first)+k]] = true
			}
		}
	}
	return in
}

// connect fills in who drives and who reads.
func (s *across) connect() {
	for mi, in := range s.all {
		for ci := range in.cells {
			c := &in.cells[ci]
			var outs []string
			below, isModule := s.index[c.Type]
			switch {
			case isModule:
				s.all[below].users = append(s.all[below].users, user{mi, int32(ci)})
			case strings.HasPrefix(c.Type, "$_"):
				outs = []string{"Y", "Q"}
			default:
				if outs = s.outputs(c.Type); outs == nil {
					in.keep[ci] = true
				}
			}
			in.outs[ci] = make([]bool, len(c.pins))
			for pi, p := range c.pins {
				out := slices.Contains(outs, p.name)
				if isModule {
					w := s.all[below].port[p.name]
					out = w != nil && w.Output
				}
				in.outs[ci][pi] = out
				for _, b := range p.bits {
					switch {
					case b < 0:
					case out:
						in.driver[in.net[b]] = int32(ci)
					default:
						n := in.net[b]
						in.readers[n] = append(in.readers[n], int32(ci))
					}
				}
			}
		}
	}
}

func literal(b bit) uint8 {
	if b == one {
		return isOne
	}
	return isZero
}

// at is the value of a bit.
func (in *inside) at(b bit) uint8 {
	if b < 0 {
		return literal(b)
	}
	return in.value[in.net[b]]
}

// is notes that a net is constant.
func (s *across) is(module int, net bit, v uint8) {
	in := s.all[module]
	if v == varies || in.value[net] != varies {
		return
	}
	in.value[net] = v
	s.todo = append(s.todo, place{module, net})
}

// constants finds all nets that are constant.
func (s *across) constants() {
	for mi, in := range s.all {
		for _, j := range in.joins {
			if j[0] >= 0 && j[1] < 0 {
				s.is(mi, in.net[j[0]], literal(j[1]))
			}
		}
		for ci := range in.cells {
			s.evaluate(mi, int32(ci))
		}
	}
	for len(s.todo) > 0 {
		p := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		in := s.all[p.module]
		for _, ci := range in.readers[p.net] {
			s.evaluate(p.module, ci)
		}
		if in.leaves[p.net] {
			for _, u := range in.users {
				s.evaluate(u.module, u.cell)
			}
		}
	}
}

// evaluate looks at a cell whose inputs may have become constant.
func (s *across) evaluate(module int, ci int32) {
	in := s.all[module]
	c := &in.cells[ci]
	below, isModule := s.index[c.Type]
	if !isModule {
		if v, out := in.gate(c); v != varies && out >= 0 {
			s.is(module, in.net[out], v)
		}
		return
	}
	child := s.all[below]
	for pi, p := range c.pins {
		w := child.port[p.name]
		if w == nil {
			continue
		}
		for k, b := range p.bits {
			if k >= w.Width {
				break
			}
			n := child.net[int(w.first)+k]
			if in.outs[ci][pi] {
				if b >= 0 {
					s.is(module, in.net[b], child.value[n])
				}
			} else if v := in.at(b); v != varies && s.everywhere(below, p.name, k, v) {
				s.is(below, n, v)
			}
		}
	}
}

// everywhere tells whether an input bit of a module has a value at each of its instances.
func (s *across) everywhere(module int, port string, k int, v uint8) bool {
	for _, u := range s.all[module].users {
		in := s.all[u.module]
		pins := in.cells[u.cell].pins
		i := slices.IndexFunc(pins, func(p pin) bool { return p.name == port })
		if i < 0 || k >= len(pins[i].bits) || in.at(pins[i].bits[k]) != v {
			return false
		}
	}
	return true
}

var flop = regexp.MustCompile(`^\$_(S?DFF(?:C?E)?)_[NP]([NP]([01]))?([NP])?_$`)

// gate returns the value of a gate's output, and the output.
func (in *inside) gate(c *Cell) (uint8, bit) {
	val := func(name string) uint8 {
		for i := range c.pins {
			if c.pins[i].name == name && len(c.pins[i].bits) == 1 {
				return in.at(c.pins[i].bits[0])
			}
		}
		return varies
	}
	out := func(name string) bit {
		for i := range c.pins {
			if c.pins[i].name == name && len(c.pins[i].bits) == 1 {
				return c.pins[i].bits[0]
			}
		}
		return zero
	}
	not := func(v uint8) uint8 { return [...]uint8{varies, isOne, isZero}[v] }
	either := func(a, b, strong uint8) uint8 { // strong at one input decides
		switch {
		case a == strong || b == strong:
			return strong
		case a == varies || b == varies:
			return varies
		}
		return not(strong)
	}
	a, b := val("A"), val("B")
	v := varies
	switch c.Type {
	case "$_NOT_":
		v = not(a)
	case "$_AND_":
		v = either(a, b, isZero)
	case "$_OR_":
		v = either(a, b, isOne)
	case "$_XOR_", "$_XNOR_":
		if a != varies && b != varies {
			if v = isZero; (a != b) == (c.Type == "$_XOR_") {
				v = isOne
			}
		}
	case "$_MUX_":
		switch sel := val("S"); {
		case sel == isZero:
			v = a
		case sel == isOne:
			v = b
		case a == b:
			v = a
		}
	default:
		if kind := flop.FindStringSubmatch(c.Type); kind != nil {
			return flopValue(kind, val), out("Q")
		}
	}
	return v, out("Y")
}

// flopValue is the value of a flop that can hold no other: one that begins undefined may begin with it.
func flopValue(kind []string, val func(string) uint8) uint8 {
	data, reset := val("D"), varies
	switch kind[3] {
	case "0":
		reset = isZero
	case "1":
		reset = isOne
	}
	if enable := val("E"); kind[4] != "" && enable != varies && (enable == isOne) == (kind[4] == "N") { // never
		if reset != varies && kind[1] != "SDFFCE" {
			return reset
		}
		return isZero
	}
	if reset == varies || data == reset {
		return data
	}
	return varies
}

// live marks the nets that something at the top's outputs depends on.
func (s *across) live() {
	mark := func(module int, n bit) {
		in := s.all[module]
		if in.alive[n] || in.value[n] != varies {
			return
		}
		in.alive[n] = true
		s.todo = append(s.todo, place{module, n})
	}
	inputs := func(module int, ci int32) {
		in := s.all[module]
		for pi, p := range in.cells[ci].pins {
			if in.outs[ci][pi] {
				continue
			}
			for _, b := range p.bits {
				if b >= 0 {
					mark(module, in.net[b])
				}
			}
		}
	}
	for mi, in := range s.all {
		if mi == 0 {
			for _, w := range in.Ports {
				for k := range w.Width {
					if w.Output {
						mark(mi, in.net[int(w.first)+k])
					}
				}
			}
		}
		for ci, keep := range in.keep {
			if keep {
				inputs(mi, int32(ci))
			}
		}
	}
	for len(s.todo) > 0 {
		p := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		in := s.all[p.module]
		for _, port := range in.inputs[p.net] { // up
			for _, u := range in.users {
				for _, pin := range s.all[u.module].cells[u.cell].pins {
					if pin.name == port.name && port.bit < len(pin.bits) && pin.bits[port.bit] >= 0 {
						mark(u.module, s.all[u.module].net[pin.bits[port.bit]])
					}
				}
			}
		}
		ci := in.driver[p.net]
		if ci < 0 {
			continue
		}
		below, isModule := s.index[in.cells[ci].Type]
		if !isModule {
			in.keep[ci] = true
			inputs(p.module, ci)
			continue
		}
		child := s.all[below]
		for pi, pin := range in.cells[ci].pins { // down
			if !in.outs[ci][pi] {
				continue
			}
			w := child.port[pin.name]
			for k, b := range pin.bits {
				if b >= 0 && k < w.Width && in.net[b] == p.net {
					mark(below, child.net[int(w.first)+k])
				}
			}
		}
	}
}

// nothing returns a new bit that nobody reads.
func (in *inside) nothing() bit {
	w := &Wire{Name: fmt.Sprintf("$across$%d", in.bits), Width: 1, first: bit(in.bits)}
	in.wires = append(in.wires, w)
	in.bits++
	return w.first
}

// rewrite drops dead cells and puts constants where they are read. Instances stay: they hold what is alive in them.
func (in *inside) rewrite() {
	fixed := func(b bit) bit {
		if b < 0 {
			return b
		}
		switch in.value[in.net[b]] {
		case isZero:
			return zero
		case isOne:
			return one
		}
		return b
	}
	cells := in.cells[:0]
	for ci, c := range in.cells {
		if strings.HasPrefix(c.Type, "$_") && !in.keep[ci] {
			continue
		}
		for pi := range c.pins {
			if in.outs[ci][pi] {
				for k, b := range c.pins[pi].bits {
					if b >= 0 && (in.value[in.net[b]] != varies || !in.alive[in.net[b]]) {
						c.pins[pi].bits[k] = in.nothing() // the net may be a port's, which gets a constant
					}
				}
				continue
			}
			for k, b := range c.pins[pi].bits {
				if b = fixed(b); b >= 0 && !in.alive[in.net[b]] {
					b = zero // nothing drives it any more, and nobody below looks
				}
				c.pins[pi].bits[k] = b
			}
		}
		cells = append(cells, c)
	}
	in.cells = cells
	// Outputs that are constant: their drivers are gone. So are those of outputs that nobody reads.
	joins := in.joins[:0]
	for _, j := range in.joins {
		if j[0] >= 0 && in.value[in.net[j[0]]] == varies && in.alive[in.net[j[0]]] {
			joins = append(joins, [2]bit{j[0], fixed(j[1])})
		}
	}
	in.joins = joins
	for _, w := range in.Ports {
		for k := range w.Width {
			b := w.first + bit(k)
			if !w.Output {
				continue
			}
			switch n := in.net[b]; {
			case in.value[n] != varies:
				in.joins = append(in.joins, [2]bit{b, fixed(b)})
			case !in.alive[n]:
				in.joins = append(in.joins, [2]bit{b, zero})
			}
		}
	}
}
