// SPDX-License-Identifier: Apache-2.0

package ecc

import (
	"fmt"

	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/page"
	"incforge/hdl/ram"
	"incforge/hdl/thread"
)

// PortMemory is inc_ecc_port or inc_ecc_port_2c: the memory of a port's queue, with check bits. Its contract is the head of its file.
type PortMemory struct {
	// In is the name of the memory without check bits: inc_ram_1r1w or inc_ram_2c.
	In string
	// Words: number of words, at least 2. Bits of a word, without check bits and err. AddrW: bits of an address.
	Words, Bits, AddrW int
}

// ofPort are the memories of queues with check bits, by the name of the one inside.
func ofPort() map[string]string {
	return map[string]string{"inc_ram_1r1w": "inc_ecc_port", "inc_ram_2c": "inc_ecc_port_2c"}
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortMemory) Module() (*graph.Module, error) {
	name, ok := ofPort()[p.In]
	if !ok {
		return nil, fmt.Errorf("there is no memory of a port's queue with check bits for %q", p.In)
	}
	stored := Beat.Stored(p.Bits + 1)
	memory, err := inside(p.In, ram.RAM{Words: p.Words, Bits: stored, AddrW: p.AddrW})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	source, err := leaf.Source(files, name)
	if err != nil {
		return nil, err
	}
	m := &graph.Module{
		Name: name, Block: "", Source: source, Latency: memory.Latency, Purpose: memory.Purpose + ", and check bits",
		Params:     []graph.Param{{Name: "WORDS", Value: p.Words}, {Name: "BITS", Value: p.Bits}, {Name: "ADDR_W", Value: p.AddrW}},
		Memories:   []graph.Memory{{Path: "u_ram", Words: p.Words, Bits: stored, Role: "memory", Module: memory.Name}},
		Submodules: []*graph.Module{memory},
	}
	for _, port := range memory.Ports {
		if port.Name == "wdata" || port.Name == "rdata" {
			port.Width = p.Bits
		}
		m.Ports = append(m.Ports, port)
	}
	mark, rest := leaf.In("ecc_mark", 1), []graph.Port{leaf.In("ecc_rst", 1), leaf.Out("ecc_fixed", 1), leaf.Out("ecc_lost", 1), leaf.Out("ecc_err", 1)}
	if p.In == "inc_ram_2c" {
		mark = leaf.On("wclk", mark)
		for i := range rest {
			rest[i] = leaf.On("rclk", rest[i])
		}
	}
	m.Ports = append(append(m.Ports, mark), rest...)
	coders, err := Beat.coders(p.Bits + 1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.Submodules = append(m.Submodules, coders...)
	return m, nil
}

// ProtectQueue puts a memory with check bits in the place of that of a port's queue, and leads what it says, and err of the frames, out of it.
// write and read are the clocks in which the queue's memory is written and read.
func ProtectQueue(m *graph.Module, write, read string) (*graph.Module, error) {
	out, err := thread.Through(m, thread.Spec{
		Signals: []thread.Signal{
			{Name: "ecc_mark", Width: 1, Doc: "the frame that enters has err, with its last beat"},
			{Name: "ecc_rst", Width: 1, Doc: "nothing has been read"},
			{Name: "ecc_fixed", Out: true, Doc: "a word was read and corrected"},
			{Name: "ecc_lost", Out: true, Doc: "a word was read that could not be corrected"},
			{Name: "ecc_err", Out: true, Doc: "the frame of the word that was read has err, with its last word"},
		},
		End: func(_, m *graph.Module) (*graph.Module, error) {
			if _, ok := ofPort()[m.Name]; !ok {
				return nil, nil
			}
			p := PortMemory{In: m.Name}
			for _, param := range m.Params {
				switch param.Name {
				case "WORDS":
					p.Words = param.Value
				case "BITS":
					p.Bits = param.Value
				case "ADDR_W":
					p.AddrW = param.Value
				}
			}
			return p.Module()
		},
		Memory: func(_ string, mem graph.Memory) graph.Memory {
			mem.Path += ".u_ram"
			mem.Bits = Beat.Stored(mem.Bits + 1)
			return mem
		},
	})
	if err != nil || out == m {
		return out, err
	}
	for i, p := range out.Ports {
		switch p.Name {
		case "ecc_mark":
			out.Ports[i].Clock = write
		case "ecc_rst", "ecc_fixed", "ecc_lost", "ecc_err":
			out.Ports[i].Clock = read
		}
	}
	return out, nil
}

// Leave is inc_ecc_leave: err of a frame that leaves by a port. Its contract is the head of inc_ecc_leave.v.
type Leave struct{}

// Module describes it.
func (Leave) Module() (*graph.Module, error) {
	source, err := leaf.Source(files, "inc_ecc_leave")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_ecc_leave", Block: "", Source: source, Latency: "1 cycle", Purpose: "err of a frame that leaves by a port",
		Ports: []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("err", 1), leaf.In("valid", 1), leaf.In("ready", 1), leaf.Out("user", 1)},
	}, nil
}

// portPageW is log2 of the bytes of the page of the ports' counters.
const portPageW = 8

// PortRegs is inc_ecc_port_regs: how many words of the ports' queues were corrected and lost. Its contract is the head of inc_ecc_port_regs.v.
type PortRegs struct {
	// AxilW: bits of a byte address, 16 to 22.
	AxilW int
	// Page: number of the page of 256 bytes.
	Page int
	// Ports: number of ports, 1 to 32.
	Ports int
}

// At are the registers whose page begins at a byte address.
func (p PortRegs) At(address uint32) PortRegs {
	p.Page = page.At(p.AxilW, address, portPageW).Page
	return p
}

// Module describes it, or says every reason why the parameters are illegal.
func (p PortRegs) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ecc_port_regs")
	front := page.Page{AxilW: p.AxilW, PageW: portPageW, Page: p.Page}
	front.Refuse(rules)
	rules.Refuse(p.Ports < 1 || p.Ports > 32, "PORTS must be 1 to 32")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_ecc_port_regs")
	if err != nil {
		return nil, err
	}
	inside, err := front.Module()
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_ecc_port_regs", Block: "", Source: source, Latency: "1 cycle",
		Purpose:    "how many words of the ports' queues were corrected and lost, by port",
		Params:     []graph.Param{{Name: "AXIL_W", Value: p.AxilW}, {Name: "PAGE", Value: p.Page}, {Name: "PORTS", Value: p.Ports}},
		Ports:      append(page.Bus(p.AxilW), leaf.In("fixed", p.Ports), leaf.In("lost", p.Ports)),
		Submodules: []*graph.Module{inside},
	}, nil
}
