// SPDX-License-Identifier: Apache-2.0

package ecc

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/page"
)

// Any is inc_ecc_any: one of several. Its contract is the head of inc_ecc_any.v.
type Any struct {
	// Width: number of inputs, at least 1.
	Width int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Any) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ecc_any")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_ecc_any")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_ecc_any", Block: "", Source: source, Latency: "0 cycles", Purpose: "what the memories of one kind say",
		Params: []graph.Param{{Name: "WIDTH", Value: p.Width}},
		Ports:  []graph.Port{leaf.In("each", p.Width), leaf.Out("any", 1)},
	}, nil
}

// Contain is inc_ecc_contain: keeps what was made of a lost word inside. Its contract is the head of inc_ecc_contain.v.
type Contain struct {
	// Width: bits of a beat with all its sidebands but its end.
	Width int
	// Groups: number of groups.
	Groups int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Contain) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ecc_contain")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	rules.Refuse(p.Groups < 1, "GROUPS must be at least 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_ecc_contain")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_ecc_contain", Block: "", Source: source, Latency: "0 cycles",
		Purpose: "keeps an engine that lost a word of a table or of its state from doing anything with it",
		Params:  []graph.Param{{Name: "WIDTH", Value: p.Width}, {Name: "GROUPS", Value: p.Groups}},
		Ports: []graph.Port{
			leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("halt", 1),
			leaf.In("live_in", p.Groups), leaf.Out("live", p.Groups),
			leaf.In("look_lost", 1), leaf.In("bypass_in", 1), leaf.Out("bypass", 1),
			leaf.In("s_valid", 1), leaf.Out("s_ready", 1), leaf.In("s_last", 1), leaf.In("s_data", p.Width),
			leaf.Out("m_valid", 1), leaf.In("m_ready", 1), leaf.Out("m_last", 1), leaf.Out("m_data", p.Width),
		},
	}, nil
}

// pageW is log2 of the bytes of the registers' page.
const pageW = 6

// Regs is inc_ecc_regs: counters of corrected and lost words by kind of memory, and the stop. Its contract is the head of inc_ecc_regs.v.
type Regs struct {
	// AxilW: bits of a byte address, 16 to 22.
	AxilW int
	// Page: number of the page of 64 bytes.
	Page int
	// Kinds: kinds of memories, 1 to 6. Halts: those, by bit, of which a lost word stops the engine.
	Kinds, Halts int
	// Groups: number of groups.
	Groups int
	// AtW: bits of the longest memory's address, 2 to 16.
	AtW int
	// IdleW: log2 of the cycles after which an engine that makes no frame has none inside, 2 to 16.
	IdleW int
}

// At are the registers whose page begins at a byte address.
func (p Regs) At(address uint32) Regs {
	p.Page = page.At(p.AxilW, address, pageW).Page
	return p
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Regs) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_ecc_regs")
	front := page.Page{AxilW: p.AxilW, PageW: pageW, Page: p.Page}
	front.Refuse(rules)
	rules.Refuse(p.Kinds < 1 || p.Kinds > 6, "KINDS must be 1 to 6")
	rules.Refuse(p.Halts < 0 || p.Halts >= leaf.Pow2(p.Kinds), "HALTS must be some of the KINDS")
	rules.Refuse(p.Groups < 1, "GROUPS must be at least 1")
	rules.Refuse(p.IdleW < 2 || p.IdleW > 16, "IDLE_W must be 2 to 16")
	rules.Refuse(p.AtW < 2 || p.AtW > AddressBits, "AT_W must be 2 to 16")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_ecc_regs")
	if err != nil {
		return nil, err
	}
	inside, err := front.Module()
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_ecc_regs", Block: "", Source: source, Latency: "1 cycle",
		Purpose: "how many words of an engine's memories were corrected and lost, by kind, and what the engine stops for",
		Params: []graph.Param{{Name: "AXIL_W", Value: p.AxilW}, {Name: "PAGE", Value: p.Page}, {Name: "KINDS", Value: p.Kinds},
			{Name: "HALTS", Value: p.Halts}, {Name: "GROUPS", Value: p.Groups}, {Name: "AT_W", Value: p.AtW}, {Name: "IDLE_W", Value: p.IdleW}},
		Ports: append(page.Bus(p.AxilW),
			leaf.In("fixed", p.Kinds), leaf.In("lost", p.Kinds), leaf.In("live", p.Groups), leaf.In("moves", 1), leaf.Out("halt", 1), leaf.Out("any_fixed", 1), leaf.Out("any_lost", 1),
			leaf.In("tables_ready", 1), leaf.Out("ready", 1), leaf.Out("mem_rst", 1), leaf.Out("init", 1), leaf.Out("at", AddressBits)),
		Submodules: []*graph.Module{inside},
	}, nil
}
