// SPDX-License-Identifier: Apache-2.0

package page

import (
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
)

// Page is inc_page: a page of registers before others. Its contract is the head of inc_page.v.
type Page struct {
	// AxilW: bits of a byte address, 16 to 22.
	AxilW int
	// PageW: log2 of the page's bytes, 3 to 12. Page: its number.
	PageW, Page int
}

// At is the page of that many bytes at a byte address, which must be a multiple of them.
func At(axilW int, address uint32, pageW int) Page {
	return Page{AxilW: axilW, PageW: pageW, Page: int(address >> pageW)}
}

// Bus are the clock, the reset and both sides of the register bus, as every block before others has them.
func Bus(axilW int) []graph.Port {
	ports := []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1)}
	ports = append(ports, stream.AxilPorts("s_axil_", axilW, 1, false)...)
	return append(ports, stream.AxilPorts("m_axil_", axilW, 1, true)...)
}

// Refuse adds to the rules of a module with a page inside what a page refuses.
func (p Page) Refuse(rules *leaf.Rules) {
	rules.Refuse(p.AxilW < 16 || p.AxilW > 22, "AXIL_W must be 16 to 22")
	rules.Refuse(p.PageW < 3 || p.PageW > 12, "PAGE_W must be 3 to 12")
	legal := p.AxilW >= 16 && p.AxilW <= 22 && p.PageW >= 3 && p.PageW <= 12
	rules.Refuse(legal && (p.Page < 0 || p.Page >= 1<<(p.AxilW-p.PageW)), "PAGE must be one of the pages of AXIL_W bits")
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Page) Module() (*graph.Module, error) {
	rules := leaf.NewRules("inc_page")
	p.Refuse(rules)
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, "inc_page")
	if err != nil {
		return nil, err
	}
	return &graph.Module{
		Name: "inc_page", Block: "", Source: source, Latency: "4 cycles",
		Purpose: "a page of registers before others on the register bus",
		Params:  []graph.Param{{Name: "AXIL_W", Value: p.AxilW}, {Name: "PAGE_W", Value: p.PageW}, {Name: "PAGE", Value: p.Page}},
		Ports: append(Bus(p.AxilW), leaf.Out("we", 1), leaf.Out("wword", p.PageW-2), leaf.Out("wdata", 32), leaf.In("exists", 1),
			leaf.Out("rword", p.PageW-2), leaf.In("rdata", 32), leaf.In("known", 1)),
	}, nil
}
