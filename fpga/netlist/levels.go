// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CarryBits is how many bits of a carry chain count CarryLevels levels.
const (
	CarryBits   = 32
	CarryLevels = 2
)

// Kind is what a primitive adds to a path. A primitive without a kind starts and ends paths.
type Kind struct {
	// Levels is what a path through it counts.
	Levels int
	// From are the inputs that an output depends on without a clock, as prefixes; nil are all inputs.
	From func(output string) []string
	// Carry names the chain's input and output, Bits how many bits of a chain the primitive is.
	CarryIn, CarryOut string
	Bits              int
}

// Kinds are the primitives of a family that paths run through.
type Kinds map[string]Kind

// Path is the longest path of a netlist, between registers, memories, inputs and outputs.
type Path struct {
	// Levels is the number of LUTs, CarryLevels for each CarryBits of a chain, and what the family's table says of other primitives.
	Levels int `json:"levels"`
	// LUTs are the primitives that count a level, Chains the carry chains.
	LUTs   int `json:"luts"`
	Chains int `json:"chains"`
	// Start and End are signals.
	Start string `json:"start"`
	End   string `json:"end"`
	// Blocks are the instances that it runs through, in order; a LUT is counted to the instance of the nearest named signal.
	Blocks []string `json:"blocks"`
}

// String names the blocks: "u_lookup/u_entries → u_check".
func (p *Path) String() string { return strings.Join(p.Blocks, " → ") }

// ErrLoop means that a path bites its tail.
var ErrLoop = errors.New("a combinational loop")

// arrival is the longest way to an output of a cell.
type arrival struct {
	levels int
	// entry is the levels before a chain, bits how far along the chain this is.
	entry, bits int
	from        bit // the input that it came by, constant at the start
	open        bool
}

// search finds the longest path.
type search struct {
	n     *Netlist
	kinds Kinds
	at    map[pin]*arrival
}

// Longest returns the longest path.
func (n *Netlist) Longest(kinds Kinds, h *Hierarchy) (*Path, error) {
	s := &search{n: n, kinds: kinds, at: map[pin]*arrival{}}
	worst, end, last := -1, "", constant
	look := func(name string, bits []bit) error {
		for _, b := range bits {
			if b == constant {
				continue
			}
			a, err := s.arrive(b)
			if err != nil {
				return err
			}
			if a.levels > worst {
				worst, end, last = a.levels, name, b
			}
		}
		return nil
	}
	// Any input of any cell ends a path; where a path goes on behind it, that one is longer.
	for _, name := range sortedKeys(n.Cells) {
		c := n.Cells[name]
		for _, port := range sortedKeys(c.Bits) {
			if c.Directions[port] == "input" {
				if err := look(name, c.Bits[port]); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, name := range sortedKeys(n.Ports) {
		if n.Ports[name].Direction == "output" {
			if err := look("", n.Ports[name].Bits); err != nil {
				return nil, err
			}
		}
	}
	p := &Path{}
	if last == constant {
		return p, nil
	}
	p.Levels = worst
	s.trace(p, end, last, h)
	return p, nil
}

// arrive returns the longest way to a net.
func (s *search) arrive(b bit) (*arrival, error) {
	from, ok := s.n.drivers[b]
	if !ok {
		return &arrival{from: constant}, nil
	}
	if a, ok := s.at[from]; ok {
		if a.open {
			return nil, fmt.Errorf("netlist: %w at %s", ErrLoop, from.cell)
		}
		return a, nil
	}
	a := &arrival{from: constant, open: true}
	s.at[from] = a
	c := s.n.Cells[from.cell]
	kind, through := s.kinds[c.Type]
	if !through {
		a.open = false
		return a, nil
	}
	for _, port := range sortedKeys(c.Bits) {
		if c.Directions[port] != "input" || !kind.depends(from.port, port) {
			continue
		}
		for _, in := range c.Bits[port] {
			if in == constant {
				continue
			}
			before, err := s.arrive(in)
			if err != nil {
				return nil, err
			}
			next := kind.pass(before, port == kind.CarryIn && s.inChain(in, c.Type))
			if next.from = in; a.from == constant || next.levels > a.levels || next.levels == a.levels && next.bits > a.bits {
				next.open = true
				*a = next
			}
		}
	}
	if a.from == constant && kind.CarryOut == "" {
		a.levels = 0 // all inputs are constants
	}
	a.open = false
	return a, nil
}

// inChain tells whether a net is the carry of another primitive of the type.
func (s *search) inChain(b bit, kind string) bool {
	from, ok := s.n.drivers[b]
	return ok && s.n.Cells[from.cell].Type == kind && from.port == s.kinds[kind].CarryOut
}

// depends tells whether an output depends on an input without a clock.
func (k Kind) depends(output, input string) bool {
	if k.From == nil {
		return true
	}
	return slices.ContainsFunc(k.From(output), func(prefix string) bool { return strings.HasPrefix(input, prefix) })
}

// pass takes a way on through a primitive.
func (k Kind) pass(before *arrival, chained bool) arrival {
	if k.Bits == 0 {
		return arrival{levels: before.levels + k.Levels}
	}
	next := arrival{entry: before.levels, bits: k.Bits}
	if chained {
		next.entry, next.bits = before.entry, before.bits+k.Bits
	}
	// The carry runs past all primitives but the first; families spend one more where it leaves the chain.
	next.levels = next.entry + CarryLevels*max(1, (next.bits-k.Bits+CarryBits-1)/CarryBits)
	return next
}

// back are the nets of the longest way to a net, from that one to where it begins.
func (s *search) back(last bit) []bit {
	nets := []bit{last}
	for {
		from, ok := s.n.drivers[nets[len(nets)-1]]
		if !ok {
			return nets
		}
		a := s.at[from]
		if _, through := s.kinds[s.n.Cells[from.cell].Type]; !through || a.from == constant {
			return nets
		}
		nets = append(nets, a.from)
	}
}

// trace says what lies on the way to the end.
func (s *search) trace(p *Path, end string, last bit, h *Hierarchy) {
	nets := s.back(last)
	for _, b := range nets {
		from, ok := s.n.drivers[b]
		if !ok {
			continue
		}
		switch kind := s.kinds[s.n.Cells[from.cell].Type]; {
		case kind.Bits > 0:
			if s.at[from].bits == kind.Bits {
				p.Chains++
			}
		case kind.Levels > 0:
			p.LUTs++
		}
	}
	slices.Reverse(nets)
	names := s.n.names(append(slices.Clone(nets), s.outputs(end)...))
	p.Start = h.own(names[nets[0]])
	for _, b := range nets {
		p.add(h.blockOf(names[b]))
	}
	if end == "" { // an output of the top
		p.End = h.own(names[last])
		return
	}
	p.End = end
	for _, b := range s.outputs(end) {
		if _, through := s.kinds[s.n.Cells[end].Type]; !through && len(names[b]) > 0 {
			p.End = h.own(names[b])
			p.add(h.blockOf(names[b]))
			return
		}
	}
	block, _ := h.Block(end)
	p.add(block)
}

// outputs are the nets that a cell drives, the first of each port.
func (s *search) outputs(name string) []bit {
	var all []bit
	c, ok := s.n.Cells[name]
	if !ok {
		return nil
	}
	for _, port := range sortedKeys(c.Bits) {
		if c.Directions[port] == "output" && len(c.Bits[port]) > 0 && c.Bits[port][0] != constant {
			all = append(all, c.Bits[port][0])
		}
	}
	return all
}

// add appends a block unless the path is in it already.
func (p *Path) add(block string) {
	if block != "" && (len(p.Blocks) == 0 || p.Blocks[len(p.Blocks)-1] != block) {
		p.Blocks = append(p.Blocks, block)
	}
}

// names returns the names of some nets, in order.
func (n *Netlist) names(nets []bit) map[bit][]string {
	wanted := map[bit][]string{}
	for _, b := range nets {
		wanted[b] = nil
	}
	for _, name := range sortedKeys(n.Nets) {
		for _, b := range n.Nets[name].Bits {
			if _, ok := wanted[b]; ok && !slices.Contains(wanted[b], name) {
				wanted[b] = append(wanted[b], name)
			}
		}
	}
	return wanted
}

// own is the name by which the signal is known to the instance that makes it: the innermost one of which it is no input.
func (h *Hierarchy) own(names []string) string {
	best, depth := "", -1
	for _, name := range names {
		block, isInput := h.Block(name)
		d := 0
		if block != "" {
			d = strings.Count(block, "/") + 1
		}
		if !isInput && d > depth {
			best, depth = name, d
		}
	}
	if best == "" && len(names) > 0 {
		return names[0]
	}
	return best
}

func (h *Hierarchy) blockOf(names []string) string {
	block, _ := h.Block(h.own(names))
	return block
}
