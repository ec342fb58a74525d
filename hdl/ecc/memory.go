// SPDX-License-Identifier: Apache-2.0

package ecc

import (
	"fmt"
	"math/bits"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/ram"
)

// Kind says what a word is that has more wrong bits than can be corrected. inc_ecc_out has the same numbers.
type Kind int

const (
	// Zero: it reads 0.
	Zero Kind = iota
	// Beat of a frame, err on top and last below: its frame has err.
	Beat
	// Flagged: a bit above it says so.
	Flagged
	// Marked: its own highest bit says so.
	Marked
)

// frame is how many bits of a beat say where its frame ends: those above the data, which are a power of two of bits.
func (k Kind) frame(width int) int {
	if k != Beat {
		return 0
	}
	return width - 1<<(bits.Len(uint(width))-1)
}

// above tells that what is read has a bit more than what was written.
func (k Kind) above() bool { return k == Flagged }

// checks are the check bits of so many data bits: 9 for each 128 of them, and of what is left 7 up to 32, 8 up to 64, 9 above.
func checks(data int) int {
	n := data / 128 * 9
	switch rest := data % 128; {
	case rest == 0:
	case rest <= 32:
		n += 7
	case rest <= 64:
		n += 8
	default:
		n += 9
	}
	return n
}

// Stored is how many bits a word of a memory of that kind takes with its check bits.
func (k Kind) Stored(width int) int {
	frame := k.frame(width)
	stored := width - frame + checks(width-frame)
	if frame > 0 {
		stored += 2 * (frame + checks(frame))
	}
	return stored
}

// Memory is inc_ecc_1r1w or inc_ecc_1rw: a memory with check bits. Its contract is the head of its file.
type Memory struct {
	// In is the name of the memory without check bits: inc_ram_1r1w or inc_ram_1rw.
	In string
	// Words: number of words, at least 2. Bits of a word, without check bits, at least 1. AddrW: bits of an address, at most 16.
	Words, Bits, AddrW int
	Kind               Kind
	// Style and Apart as of ram.RAM; inc_ecc_1r1w alone has them.
	Style, Apart int
}

// protected are the memories with check bits, by the name of the one inside.
func protected() map[string]string {
	return map[string]string{"inc_ram_1r1w": "inc_ecc_1r1w", "inc_ram_1rw": "inc_ecc_1rw"}
}

// inside describes the memory of that name without check bits. Of the fields of "of" it takes those that this memory has: Style and Apart are
// inc_ram_1r1w's alone.
func inside(name string, of ram.RAM) (*graph.Module, error) {
	switch name {
	case "inc_ram_1rw":
		return ram.OnePort{Words: of.Words, Bits: of.Bits, AddrW: of.AddrW}.Module()
	case "inc_ram_2c":
		return ram.TwoClocks{Words: of.Words, Bits: of.Bits, AddrW: of.AddrW}.Module()
	default:
		return of.Module()
	}
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Memory) Module() (*graph.Module, error) {
	name, ok := protected()[p.In]
	if !ok {
		return nil, fmt.Errorf("there is no memory with check bits for %q", p.In)
	}
	rules := leaf.NewRules(name)
	rules.Refuse(p.AddrW > 16, "ADDR_W must be at most 16")
	rules.Refuse(p.Bits < 1, "BITS must be at least 1")
	rules.Refuse(p.Kind < Zero || p.Kind > Marked, "KIND must be 0 to 3")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	memory, err := inside(p.In, ram.RAM{Words: p.Words, Bits: p.Kind.Stored(p.Bits), AddrW: p.AddrW, Style: p.Style, Apart: p.Apart})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: name, Block: "", Source: source, Latency: memory.Latency, Purpose: memory.Purpose + ", and check bits",
		Params: []graph.Param{{Name: "WORDS", Value: p.Words}, {Name: "BITS", Value: p.Bits}, {Name: "ADDR_W", Value: p.AddrW}, {Name: "KIND", Value: int(p.Kind)}},
		Memories: []graph.Memory{{Path: "u_ram", Words: p.Words, Bits: p.Kind.Stored(p.Bits), Role: "memory", Module: memory.Name,
			OnePort: p.In == "inc_ram_1rw"}},
		Submodules: []*graph.Module{memory},
	}
	if p.In == "inc_ram_1r1w" {
		m.Params = append(m.Params, graph.Param{Name: "STYLE", Value: p.Style}, graph.Param{Name: "APART", Value: p.Apart})
	}
	for _, port := range memory.Ports {
		switch port.Name {
		case "wdata":
			port.Width = p.Bits
		case "rdata":
			port.Width = p.Bits + leaf.Bit(p.Kind.above())
		}
		m.Ports = append(m.Ports, port)
	}
	m.Ports = append(m.Ports, leaf.In("ecc_rst", 1), leaf.In("ecc_init", 1), leaf.In("ecc_at", AddressBits), leaf.Out("ecc_fixed", 1), leaf.Out("ecc_lost", 1))
	coders, err := p.Kind.coders(p.Bits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.Submodules = append(m.Submodules, coders...)
	return m, nil
}

// AddressBits is the width of the address that ecc_init comes with.
const AddressBits = 16

// coders are the modules that add check bits and take them off, with the codes of all widths: one text serves all memories of a design.
func (k Kind) coders(width int) (out []*graph.Module, err error) {
	frame, stored := k.frame(width), k.Stored(width)
	shared := []graph.Param{{Name: "BITS", Value: width}, {Name: "KIND", Value: int(k)}, {Name: "FRAME", Value: frame}, {Name: "CODE", Value: stored}}
	in := &graph.Module{Name: "inc_ecc_in", Purpose: "the check bits of a memory's word", Latency: "0 cycles",
		Params: []graph.Param{shared[0], shared[2], shared[3]}, Ports: []graph.Port{leaf.In("data", width), leaf.Out("code", stored)}}
	back := &graph.Module{Name: "inc_ecc_out", Purpose: "what a memory's word was, of its stored bits", Latency: "0 cycles", Params: shared,
		Ports: []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("re", 1), leaf.In("code", stored),
			leaf.Out("word", width+leaf.Bit(k.above())), leaf.Out("fixed", 1), leaf.Out("lost", 1)}}
	for _, data := range []int{32, 64, 128} {
		encode, err := ram.Encode{Data: data}.Module()
		if err != nil {
			return nil, err
		}
		decode, err := ram.Decode{Data: data}.Module()
		if err != nil {
			return nil, err
		}
		in.Submodules, back.Submodules = append(in.Submodules, encode), append(back.Submodules, decode)
	}
	for _, m := range []*graph.Module{in, back} {
		if m.Source, err = leaf.Source(files, m.Name); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
