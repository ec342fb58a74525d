// SPDX-License-Identifier: Apache-2.0

package ram

import (
	"fmt"
	"slices"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
)

// Memory is one of the wrappers inc_mem_*: a big memory of the engine in a module of its own, so that one file is replaced to
// build it from a foundry's macros. Its contract is the head of its file; docs/memories.md lists them.
type Memory struct {
	// Name of the wrapper: one of Wrappers.
	Name string
	// Words: number of words, at least 2.
	Words int
	// Bits of a word, at least 1.
	Bits int
	// AddrW: bits of an address; 2**ADDR_W >= WORDS.
	AddrW int
	// Style as in RAM; only the payload's wrappers have the parameter.
	Style int
	// Flag: what is read has a bit above it that says that it is lost. Only inc_mem_packets has it, around a memory with check bits
	// (package ecc).
	Flag bool
}

// wrapper says what a wrapper is for.
type wrapper struct {
	name, purpose              string
	onePort, twoClocks, styled bool
	// No address is read in the cycle in which it is written.
	apart bool
}

func wrappers() []wrapper {
	return []wrapper{
		{name: "inc_mem_payload_2p", purpose: "the payload rows of all slots, in one memory", styled: true},
		{name: "inc_mem_payload_1p", purpose: "one bank of the payload rows of all slots", styled: true, onePort: true},
		{name: "inc_mem_packets", purpose: "beats of frames that came in, a part of each", apart: true},
		{name: "inc_mem_replay", purpose: "payload words of results, until their last copy has left", apart: true},
		{name: "inc_mem_port", purpose: "frames in the queues of the ports"},
		{name: "inc_mem_port_2c", purpose: "frames in the queues of ports that have a clock of their own", twoClocks: true},
		{name: "inc_mem_slots", purpose: "the state words of all slots"},
	}
}

// Wrappers are the names of all wrappers.
func Wrappers() []string {
	var names []string
	for _, w := range wrappers() {
		names = append(names, w.name)
	}
	return names
}

func (p Memory) wrapper() (wrapper, bool) {
	all := wrappers()
	i := slices.IndexFunc(all, func(w wrapper) bool { return w.name == p.Name })
	if i < 0 {
		return wrapper{}, false
	}
	return all[i], true
}

// leaf is the memory inside.
func (w wrapper) leaf() string {
	switch {
	case w.onePort:
		return "inc_ram_1rw"
	case w.twoClocks:
		return "inc_ram_2c"
	default:
		return "inc_ram_1r1w"
	}
}

// At is how a module describes that it holds this memory: path is the wrapper's instance in it.
func (p Memory) At(path, role string) graph.Memory {
	w, _ := p.wrapper()
	return graph.Memory{Path: path + ".u_ram", Words: p.Words, Bits: p.Bits, Role: role, Module: w.leaf(), OnePort: w.onePort}
}

// inside describes the memory inside.
func (p Memory) inside(w wrapper) (*graph.Module, error) {
	if w.leaf() == "inc_ram_1r1w" {
		return RAM{Words: p.Words, Bits: p.Bits, AddrW: p.AddrW, Style: p.Style, Apart: leaf.Bit(w.apart)}.Module()
	}
	return ramModule(w.leaf(), p.Words, p.Bits, p.AddrW, p.Style)
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Memory) Module() (*graph.Module, error) {
	w, ok := p.wrapper()
	if !ok {
		return nil, fmt.Errorf("there is no wrapper %q", p.Name)
	}
	inside, err := p.inside(w)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	macros, ports := []string{}, slices.Clone(inside.Ports)
	if p.Flag {
		macros = append(macros, leaf.ECCMacro)
		ports[slices.IndexFunc(ports, func(port graph.Port) bool { return port.Name == "rdata" })].Width++
	}
	source, err := leaf.SourceWith(files, w.name, macros...)
	if err != nil {
		return nil, err
	}
	params := inside.Params[:3]
	if w.styled {
		params = inside.Params[:4]
	}
	return &graph.Module{
		Name: w.name, Block: "", Source: source, Latency: inside.Latency, Purpose: w.purpose,
		Params: slices.Clone(params), Ports: ports,
		Memories:   []graph.Memory{{Path: "u_ram", Words: p.Words, Bits: p.Bits, Role: "memory", Module: inside.Name, OnePort: w.onePort}},
		Submodules: []*graph.Module{inside},
	}, nil
}
