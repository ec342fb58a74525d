// SPDX-License-Identifier: Apache-2.0

package interrupts

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/page"
)

// pageW is log2 of the bytes of the three registers' page.
const pageW = 4

// Interrupts is inc_interrupts: causes, which of them raise the line, and the line. Its contract is the head of inc_interrupts.v.
type Interrupts struct {
	// AxilW: bits of a byte address, 16 to 22.
	AxilW int
	// Page: number of the page of 16 bytes.
	Page int
	// Causes: 1 to 32.
	Causes int
}

// At are the interrupts whose page begins at a byte address.
func At(axilW int, address uint32, causes int) Interrupts {
	return Interrupts{AxilW: axilW, Page: page.At(axilW, address, pageW).Page, Causes: causes}
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Interrupts) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_interrupts")
	front := page.Page{AxilW: p.AxilW, PageW: pageW, Page: p.Page}
	front.Refuse(rules)
	rules.Refuse(p.Causes < 1 || p.Causes > 32, "CAUSES must be 1 to 32")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_interrupts")
	if err != nil {
		return nil, err
	}
	inside, err := front.Module()
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_interrupts", Block: "", Source: source, Latency: "2 cycles",
		Purpose:    "what happened, what of it raises the interrupt line, and the line",
		Params:     []graph.Param{{Name: "AXIL_W", Value: p.AxilW}, {Name: "PAGE", Value: p.Page}, {Name: "CAUSES", Value: p.Causes}},
		Ports:      append(page.Bus(p.AxilW), leaf.In("events", p.Causes), leaf.Out("irq", 1)),
		Submodules: []*graph.Module{inside},
	}, nil
}

// Event is inc_event: one event of several. Its contract is the head of inc_event.v.
type Event struct {
	// Width: number of bits, at least 1.
	Width int
	// Rise: 1 if a bit counts when it rises, 0 as long as it is high.
	Rise int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Event) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_event")
	rules.Refuse(p.Width < 1, "WIDTH must be at least 1")
	rules.Refuse(p.Rise < 0 || p.Rise > 1, "RISE must be 0 or 1")
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_event")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_event", Block: "", Source: source, Latency: "1 cycle", Purpose: "one event of several",
		Params: []graph.Param{{Name: "WIDTH", Value: p.Width}, {Name: "RISE", Value: p.Rise}},
		Ports:  []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("from", p.Width), leaf.Out("happens", 1)},
	}, nil
}
