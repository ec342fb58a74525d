// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"fmt"
	"slices"
	"strings"
)

// Merge makes one of flops that always hold the same, wherever in the design they are: what Yosys does within a module. Their inputs
// come from the same nets through the same gates. What the first of them holds gets to the others' modules through new ports. Only
// modules with one instance take part. Modules are as Simplify takes them; the result is the number of flops that went.
func Merge(modules []*Module) int {
	g := newMerger(modules)
	g.connect()
	gone := 0
	for _, pair := range g.equal() {
		g.replace(pair[0], pair[1])
		gone++
	}
	for i, m := range g.all {
		if g.dead[i] != nil {
			n := 0
			m.cells = slices.DeleteFunc(m.cells, func(Cell) bool { n++; return g.dead[i][n-1] })
		}
	}
	return gone
}

// merger is a design whose nets go through the ports of modules that have one instance.
type merger struct {
	all    []*Module
	nets   [][]bit
	first  []int32 // of each module: the number of its bit 0 in the design
	holder []user  // of each module: its one instance; the cell is -1 without one
	chain  [][]int // of each module: itself and those around it, up to the top; nil if it does not take part
	set    []int32 // disjoint sets of the design's bits: nets
	value  []uint8 // of nets that are constant
	driver []user  // of nets, the cell -1 if none that is known
	class  []int32 // of nets: those of one class are equal
	types  map[string]int32
	dead   [][]bool
	seen   map[spot]bit // where nets are known, once one is asked for
	names  int
}

// spot is a net of the design in a module.
type spot struct {
	net    int32
	module int
}

func newMerger(modules []*Module) *merger {
	g := &merger{all: modules, holder: make([]user, len(modules)), chain: make([][]int, len(modules)), types: map[string]int32{}, dead: make([][]bool, len(modules))}
	index := map[string]int{}
	bits := int32(0)
	for i, m := range modules {
		index[m.Name] = i
		g.nets = append(g.nets, m.nets())
		g.first = append(g.first, bits)
		bits += int32(m.bits)
	}
	users := make([]int, len(modules))
	for mi, m := range modules {
		for ci := range m.cells {
			if below, ok := index[m.cells[ci].Type]; ok {
				users[below]++
				g.holder[below] = user{mi, int32(ci)}
			}
		}
	}
	for i := range modules { // every module after those that hold it
		switch {
		case i == 0:
			g.chain[i], g.holder[i] = []int{0}, user{0, -1}
		case users[i] == 1 && g.chain[g.holder[i].module] != nil:
			g.chain[i] = append([]int{i}, g.chain[g.holder[i].module]...)
		}
	}
	g.set, g.value, g.class = make([]int32, bits), make([]uint8, bits), make([]int32, bits)
	g.driver = make([]user, bits)
	for i := range g.set {
		g.set[i], g.driver[i].cell = int32(i), -1
	}
	return g
}

func (g *merger) find(n int32) int32 {
	for g.set[n] != n {
		g.set[n] = g.set[g.set[n]]
		n = g.set[n]
	}
	return n
}

// at is the net of a module's bit, which is no constant.
func (g *merger) at(module int, b bit) int32 {
	return g.find(g.first[module] + int32(g.nets[module][b]))
}

// connect joins nets through ports and finds their drivers.
func (g *merger) connect() {
	for mi, m := range g.all {
		if g.chain[mi] == nil || g.holder[mi].cell < 0 {
			continue
		}
		above := g.holder[mi].module
		for _, p := range g.all[above].cells[g.holder[mi].cell].pins {
			w := m.port(p.name)
			for k, b := range p.bits {
				if w != nil && k < w.Width && b >= 0 {
					g.set[g.at(mi, w.first+bit(k))] = g.at(above, b)
				}
			}
		}
	}
	for mi, m := range g.all {
		if g.chain[mi] == nil {
			continue
		}
		for _, j := range m.joins {
			if j[0] >= 0 && j[1] < 0 {
				g.value[g.at(mi, j[0])] = literal(j[1])
			}
		}
		for ci := range m.cells {
			if out := g.out(&m.cells[ci]); out >= 0 {
				g.driver[g.at(mi, out)] = user{mi, int32(ci)}
			}
		}
		if g.holder[mi].cell >= 0 { // constants from above
			above := g.holder[mi].module
			for _, p := range g.all[above].cells[g.holder[mi].cell].pins {
				w := m.port(p.name)
				for k, b := range p.bits {
					if w != nil && w.Input && k < w.Width && b < 0 {
						g.value[g.at(mi, w.first+bit(k))] = literal(b)
					}
				}
			}
		}
	}
}

// out is the bit that one of Yosys's gates drives, a negative number if it is none.
func (g *merger) out(c *Cell) bit {
	if strings.HasPrefix(c.Type, "$_") {
		for _, p := range c.pins {
			if (p.name == "Y" || p.name == "Q") && len(p.bits) == 1 {
				return p.bits[0]
			}
		}
	}
	return zero
}

// gateKey is a gate and the classes of its inputs; no gate has more than five.
type gateKey [6]int32

// key returns a gate's.
func (g *merger) key(mi int, c *Cell) gateKey {
	kind, ok := g.types[c.Type]
	if !ok {
		kind = int32(len(g.types)) + 1
		g.types[c.Type] = kind
	}
	k := gateKey{kind}
	n := 1
	for _, p := range c.pins { // Yosys writes a type's pins in one order
		if p.name == "Y" || p.name == "Q" || n == len(k) {
			continue
		}
		if b := p.bits[0]; b < 0 {
			k[n] = -int32(literal(b))
		} else if net := g.at(mi, b); g.value[net] != varies {
			k[n] = -int32(g.value[net])
		} else {
			k[n] = g.class[net]
		}
		n++
	}
	switch c.Type {
	case "$_AND_", "$_OR_", "$_XOR_", "$_XNOR_", "$_NAND_", "$_NOR_":
		if k[1] > k[2] {
			k[1], k[2] = k[2], k[1]
		}
	}
	return k
}

// order lists the nets that gates drive, each after the inputs of its gate. A loop is cut anywhere: a net that has no class yet is equal
// to none.
func (g *merger) order() []int32 {
	done := make([]bool, len(g.set))
	var all, stack []int32
	for root := range g.set {
		stack = append(stack, int32(root))
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if n < 0 { // inputs are done
				all = append(all, ^n)
				continue
			}
			d := g.driver[n]
			if done[n] || d.cell < 0 {
				continue
			}
			done[n] = true
			c := &g.all[d.module].cells[d.cell]
			if flop.MatchString(c.Type) {
				continue
			}
			stack = append(stack, ^n)
			for _, p := range c.pins {
				if p.name != "Y" && p.bits[0] >= 0 {
					stack = append(stack, g.at(d.module, p.bits[0]))
				}
			}
		}
	}
	return all
}

// equal returns pairs of flops: one that stays and one that holds the same.
func (g *merger) equal() [][2]user {
	gates := g.order()
	for i := range g.class {
		g.class[i] = int32(i) + 1 // 0 is no input, negative numbers are constants
	}
	var flops []user
	for mi, m := range g.all {
		if g.chain[mi] == nil {
			continue
		}
		for ci := range m.cells {
			if c := &m.cells[ci]; flop.MatchString(c.Type) && g.out(c) >= 0 {
				flops = append(flops, user{mi, int32(ci)})
			}
		}
	}
	same := map[user]user{}
	var pairs [][2]user
	for {
		found := false
		known := map[gateKey]int32{}
		for _, n := range gates {
			d := g.driver[n]
			k := g.key(d.module, &g.all[d.module].cells[d.cell])
			if class, ok := known[k]; ok {
				g.class[n] = class
			} else {
				known[k] = g.class[n]
			}
		}
		held := map[gateKey]user{}
		for _, f := range flops {
			if _, ok := same[f]; ok {
				continue
			}
			c := &g.all[f.module].cells[f.cell]
			k := g.key(f.module, c)
			one, ok := held[k]
			if !ok {
				held[k] = f
				continue
			}
			same[f] = one
			pairs = append(pairs, [2]user{one, f})
			g.class[g.at(f.module, g.out(c))] = g.class[g.at(one.module, g.out(&g.all[one.module].cells[one.cell]))]
			found = true
		}
		if !found {
			return pairs
		}
	}
}

// replace puts one flop's output in the place of another's.
func (g *merger) replace(stays, goes user) {
	if g.seen == nil {
		g.see()
	}
	to := g.out(&g.all[goes.module].cells[goes.cell])
	from := g.bring(g.at(stays.module, g.out(&g.all[stays.module].cells[stays.cell])), stays.module, goes.module)
	m := g.all[goes.module]
	m.joins = append(m.joins, [2]bit{to, from})
	if g.dead[goes.module] == nil {
		g.dead[goes.module] = make([]bool, len(m.cells))
	}
	g.dead[goes.module][goes.cell] = true
}

// see notes where nets are known.
func (g *merger) see() {
	g.seen = map[spot]bit{}
	for mi := range g.all {
		if g.chain[mi] == nil {
			continue
		}
		for b, n := range g.nets[mi] {
			if bit(b) == n {
				s := spot{g.at(mi, n), mi}
				if _, ok := g.seen[s]; !ok {
					g.seen[s] = n
				}
			}
		}
	}
}

// bring makes a net that a module drives known in another, and returns its bit there.
func (g *merger) bring(net int32, from, to int) bit {
	down := g.chain[to]
	up := g.chain[from]
	common := slices.IndexFunc(up, func(m int) bool { return slices.Contains(down, m) })
	for i, m := range up[1 : common+1] {
		if _, ok := g.seen[spot{net, m}]; ok {
			continue
		}
		below := up[i]
		wire, port := g.wire(m), g.port(below, false)
		g.all[below].joins = append(g.all[below].joins, [2]bit{port.first, g.seen[spot{net, below}]})
		g.pin(below, port, wire.first)
		g.seen[spot{net, m}] = wire.first
	}
	for i := slices.Index(down, up[common]) - 1; i >= 0; i-- {
		m := down[i]
		if _, ok := g.seen[spot{net, m}]; ok {
			continue
		}
		port := g.port(m, true)
		g.pin(m, port, g.seen[spot{net, down[i+1]}])
		g.seen[spot{net, m}] = port.first
	}
	return g.seen[spot{net, to}]
}

// wire adds one of a bit to a module.
func (g *merger) wire(module int) *Wire {
	m := g.all[module]
	g.names++
	w := &Wire{Name: fmt.Sprintf(`\merged$%d`, g.names), Width: 1, first: bit(m.bits)}
	m.wires = append(m.wires, w)
	m.bits++
	return w
}

// port adds one.
func (g *merger) port(module int, input bool) *Wire {
	w, m := g.wire(module), g.all[module]
	m.Ports = append(m.Ports, w)
	w.Input, w.Output, w.order = input, !input, len(m.Ports)
	return w
}

// pin connects a new port at the module's instance.
func (g *merger) pin(module int, port *Wire, to bit) {
	h := g.holder[module]
	c := &g.all[h.module].cells[h.cell]
	c.pins = append(c.pins, pin{strings.TrimPrefix(port.Name, `\`), []bit{to}})
}
