// SPDX-License-Identifier: Apache-2.0

package netlist

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Pair is what leads from one block of the top into another, or back into itself.
type Pair struct {
	// From and To are instances in the top, "" for the top's own registers and ports.
	From string `json:"from"`
	To   string `json:"to"`
	// Levels are those of the longest path, counted as Path's; Ends is how many inputs of registers and memories are over the limit.
	Levels int `json:"levels"`
	Ends   int `json:"ends"`
	// Start and End are signals of the longest path, Pin is where it ends: a register's data or its enable.
	Start string `json:"start"`
	End   string `json:"end"`
	Pin   string `json:"pin"`
}

// ending is an input of a cell that ends a path of too many levels.
type ending struct {
	cell, port   string
	start        bit
	outputs      []bit
	levels, bits int
}

// Over lists the pairs of blocks with paths of more than limit levels between registers and memories, the longest first.
func (n *Netlist) Over(kinds Kinds, h *Hierarchy, limit int) ([]Pair, error) {
	s := &search{n: n, kinds: kinds, at: map[pin]*arrival{}}
	ends, err := s.over(limit)
	if err != nil {
		return nil, err
	}
	var nets []bit
	for _, e := range ends {
		nets = append(append(nets, e.start), e.outputs...)
	}
	names := n.names(nets)
	first := func(name string) string {
		block, _ := h.Block(name)
		block, _, _ = strings.Cut(block, "/")
		return block
	}
	type key struct{ from, to string }
	found := map[key]*Pair{}
	for _, e := range ends {
		start, end := h.own(names[e.start]), e.cell
		for _, b := range e.outputs {
			if name := h.own(names[b]); name != "" {
				end = name
				break
			}
		}
		k := key{first(start), first(end)}
		p := found[k]
		if p == nil {
			p = &Pair{From: k.from, To: k.to}
			found[k] = p
		}
		if p.Ends += e.bits; e.levels > p.Levels {
			p.Levels, p.Start, p.End, p.Pin = e.levels, start, end, e.port
		}
	}
	pairs := make([]Pair, 0, len(found))
	for _, p := range found {
		pairs = append(pairs, *p)
	}
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Levels, a.Levels), cmp.Compare(b.Ends, a.Ends), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return pairs, nil
}

// over finds the ends of paths of more than limit levels, one for each port of a cell.
func (s *search) over(limit int) ([]ending, error) {
	var ends []ending
	for _, name := range sortedKeys(s.n.Cells) {
		c := s.n.Cells[name]
		kind, through := s.kinds[c.Type]
		if through && kind.From == nil {
			continue // a path goes on behind it
		}
		for _, port := range sortedKeys(c.Bits) {
			if c.Directions[port] != "input" || through && kind.read(c, port) {
				continue
			}
			e := ending{cell: name, port: port, start: constant}
			for _, b := range c.Bits[port] {
				if b == constant {
					continue
				}
				a, err := s.arrive(b)
				if err != nil {
					return nil, err
				}
				if a.levels <= limit {
					continue
				}
				if e.bits++; a.levels > e.levels {
					way := s.back(b)
					e.levels, e.start = a.levels, way[len(way)-1]
				}
			}
			if e.bits > 0 {
				e.outputs = s.outputs(name)
				ends = append(ends, e)
			}
		}
	}
	return ends, nil
}

// read tells whether a memory's outputs depend on a port without a clock.
func (k Kind) read(c *cell, port string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(c.Bits)), func(output string) bool {
		return c.Directions[output] == "output" && k.depends(output, port)
	})
}
