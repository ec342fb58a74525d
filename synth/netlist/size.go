// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	"incforge/synth/liberty"
)

// Library is what sizing knows of the cells.
type Library struct {
	// Wire is the load of a net for each of its sinks, in the library's unit.
	Wire float64
	// BufferGain is the gain up to which a cell that even the strongest of its family leaves too weak gets a buffer: ABC sees one module at
	// a time and does not know that what it maps drives 32 flops in another.
	BufferGain float64
	// unit is the load of the smallest inverter's input.
	unit   float64
	inputs map[string]map[string]float64 // loads by cell and pin
	drives map[string][]drive            // of a cell's family, the weakest first
	outs   map[string]string             // output of each cell of a family
	all    map[string][]string           // outputs of all cells
	gates  map[string]bool               // cells whose output is a clock
	buffer string                        // the weakest buffer, "" if there is none
}

type drive struct {
	name string
	x    float64
}

var strength = regexp.MustCompile(`^(.*X|.*_)([0-9]+)$`)

// NewLibrary reads what sizing needs of the cells' library and of others, which are macros'.
func NewLibrary(cells *liberty.Library, wire float64, macros ...*liberty.Library) *Library {
	l := &Library{Wire: wire, inputs: map[string]map[string]float64{}, drives: map[string][]drive{}, outs: map[string]string{}, all: map[string][]string{}, gates: map[string]bool{}}
	if inv, ok := cells.Inverter(); ok {
		for _, p := range inv.Pins {
			l.unit = max(l.unit, p.Cap)
		}
	}
	families := map[string][]drive{}
	for i, lib := range append([]*liberty.Library{cells}, macros...) {
		for _, c := range lib.Cells {
			loads, outputs, function := map[string]float64{}, []string{}, ""
			for _, p := range c.Pins {
				if p.Direction == "input" {
					loads[p.Name] = p.Cap
				} else if p.Direction == "output" {
					outputs = append(outputs, p.Name)
				}
				function += p.Name + " " + p.Direction + " " + p.Function + ";"
			}
			l.inputs[c.Name], l.all[c.Name], l.gates[c.Name] = loads, outputs, c.ClockGate
			// Macros have no family, nor have cells of two outputs: either may be the one with the load.
			parts := strength.FindStringSubmatch(c.Name)
			if i > 0 || parts == nil || len(outputs) != 1 || c.Unusable != "" && !c.ClockGate {
				continue
			}
			x, err := strconv.ParseFloat(parts[2], 64)
			if err != nil || x <= 0 {
				continue
			}
			family := parts[1] + " " + c.NextState + " " + c.Clear + c.Preset + " " + function
			families[family] = append(families[family], drive{c.Name, x})
			if l.buffer == "" && len(loads) == 1 && !c.Sequential && !c.ClockGate && c.Pins[slices.IndexFunc(c.Pins, func(p liberty.Pin) bool { return p.Name == outputs[0] })].Function == only(loads) {
				l.buffer = c.Name
			}
			l.outs[c.Name] = outputs[0]
		}
	}
	for _, f := range slices.Sorted(maps.Keys(families)) {
		all := families[f]
		slices.SortFunc(all, func(a, b drive) int { return int(a.x - b.x) })
		for _, d := range all {
			l.drives[d.name] = all
		}
	}
	if l.buffer != "" {
		l.buffer = l.drives[l.buffer][0].name
	}
	return l
}

// only is the name of the one pin that there is.
func only(loads map[string]float64) string {
	for name := range loads {
		return name
	}
	return ""
}

// Outputs returns the output pins of a cell or macro, nil if there is none of that name.
func (l *Library) Outputs(cell string) []string { return l.all[cell] }

// sized is a module while loads are added up.
type sized struct {
	*Module
	net     []bit     // of each bit: the bit that stands for its net
	load    []float64 // of each net, its sinks in the module and below
	outside []float64 // of each net, its sinks above
}

func (m *Module) nets() []bit {
	net := make([]bit, m.bits)
	for i := range net {
		net[i] = bit(i)
	}
	find := func(b bit) bit {
		for net[b] != b {
			net[b] = net[net[b]]
			b = net[b]
		}
		return b
	}
	for _, j := range m.joins {
		if j[0] >= 0 && j[1] >= 0 {
			net[find(j[0])] = find(j[1])
		}
	}
	for i := range net {
		net[i] = find(bit(i))
	}
	return net
}

// Size gives every cell whose output drives more than gain inverters for each unit of its drive a stronger one of its family, in the
// modules for which gain is above 0. Modules hold the top first and every module before those in it. load is what is at an output of
// the top. The result is the number of cells changed.
func (l *Library) Size(modules []*Module, load float64, gain func(module string) float64) int {
	changed := 0
	// Stronger cells are a larger load: twice around is enough, as a stronger cell's input grows less than its drive.
	for range 2 {
		all := map[string]*sized{}
		for i := len(modules) - 1; i >= 0; i-- {
			m := modules[i]
			s := &sized{Module: m, net: m.nets(), load: make([]float64, m.bits), outside: make([]float64, m.bits)}
			all[m.Name] = s
			l.add(s, all)
		}
		for i, m := range modules {
			s := all[m.Name]
			if i == 0 {
				for _, w := range m.Ports {
					for k := range w.Width {
						if w.Output {
							s.outside[s.net[int(w.first)+k]] = load
						}
					}
				}
			}
			s.pass(all)
			if g := gain(m.Name); g > 0 {
				changed += l.choose(s, g)
			}
		}
	}
	return changed
}

// add fills in the loads of a module; those below it are done.
func (l *Library) add(s *sized, all map[string]*sized) {
	for i := range s.cells {
		c := &s.cells[i]
		inputs, leaf := l.inputs[c.Type]
		below := all[c.Type]
		for _, p := range c.pins {
			if leaf {
				if capacity, ok := inputs[p.name]; ok {
					for _, b := range p.bits {
						if b >= 0 {
							s.load[s.net[b]] += capacity + l.Wire
						}
					}
				}
				continue
			}
			if below == nil {
				continue
			}
			if w := below.port(p.name); w != nil && w.Input {
				for k, b := range p.bits {
					if b >= 0 && k < w.Width {
						s.load[s.net[b]] += below.load[below.net[int(w.first)+k]]
					}
				}
			}
		}
	}
}

// pass tells the modules in a module what their outputs drive.
func (s *sized) pass(all map[string]*sized) {
	for i := range s.cells {
		below := all[s.cells[i].Type]
		if below == nil {
			continue
		}
		for _, p := range s.cells[i].pins {
			w := below.port(p.name)
			if w == nil || !w.Output {
				continue
			}
			for k, b := range p.bits {
				if b >= 0 && k < w.Width {
					n, at := s.net[b], below.net[int(w.first)+k]
					below.outside[at] = max(below.outside[at], s.load[n]+s.outside[n])
				}
			}
		}
	}
}

func (m *Module) port(name string) *Wire {
	for _, w := range m.Ports {
		if w.Name == `\`+name {
			return w
		}
	}
	return nil
}

// overload is how many times its strongest cell's share a family drives before it gets a buffer.
const overload = 2

// choose changes the cells of a module.
func (l *Library) choose(s *sized, gain float64) int {
	changed := 0
	for i := range len(s.cells) { // buffers that come do not need one
		c := &s.cells[i]
		family := l.drives[c.Type]
		if len(family) == 0 {
			continue
		}
		out := l.outs[c.Type]
		at := slices.IndexFunc(c.pins, func(p pin) bool { return p.name == out })
		if at < 0 || c.pins[at].bits[0] < 0 {
			continue
		}
		n := s.net[c.pins[at].bits[0]]
		need := (s.load[n] + s.outside[n]) / (gain * l.unit)
		if need > overload*family[len(family)-1].x && gain <= l.BufferGain && l.buffer != "" && !l.gates[c.Type] {
			need = l.relieve(s, i, at, need) / (gain * l.unit)
			c = &s.cells[i]
			changed++
		}
		if typ := strongEnough(family, c.Type, need); c.Type != typ {
			c.Type = typ
			changed++
		}
	}
	return changed
}

// strongEnough is the first cell of a family that has the drive, from the one on that is there; the strongest if none has.
func strongEnough(family []drive, typ string, need float64) string {
	k := slices.IndexFunc(family, func(d drive) bool { return d.name == typ })
	for k+1 < len(family) && family[k].x < need {
		k++
	}
	return family[k].name
}

// relieve puts a buffer of that drive behind a cell's output. The result is the load that the cell has then.
func (l *Library) relieve(s *sized, cell, out int, need float64) float64 {
	typ := strongEnough(l.drives[l.buffer], l.buffer, need)
	w := &Wire{Name: "$driven" + strconv.Itoa(s.bits), Width: 1, first: bit(s.bits)}
	s.wires = append(s.wires, w)
	s.bits++
	driven := s.cells[cell].pins[out].bits[0]
	s.cells[cell].pins[out].bits = []bit{w.first}
	in := only(l.inputs[typ])
	s.cells = append(s.cells, Cell{Type: typ, Name: "$drives" + strconv.Itoa(int(w.first)),
		pins: []pin{{in, []bit{w.first}}, {l.outs[typ], []bit{driven}}}})
	load := l.inputs[typ][in] + l.Wire
	s.net, s.load, s.outside = append(s.net, w.first), append(s.load, load), append(s.outside, 0)
	return load
}
