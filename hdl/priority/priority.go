// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/page"
	"incforge/hdl/stream"
)

// pageW is log2 of the bytes of the table's page.
const pageW = 9

// Regs is inc_priority_regs: the table on the register bus. Its contract is the head of inc_priority_regs.v.
type Regs struct {
	// AxilW: bits of a byte address, 16 to 22.
	AxilW int
	// Page: number of the page of 512 bytes.
	Page int
	// Width: bits of a priority, 1 to 3.
	Width int
}

// At is the table at a byte address.
func At(axilW int, address uint32, width int) Regs {
	return Regs{AxilW: axilW, Page: page.At(axilW, address, pageW).Page, Width: width}
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Regs) Module() (*graph.Module, error) {
	front := page.Page{AxilW: p.AxilW, PageW: pageW, Page: p.Page}
	m := part{name: "inc_priority_regs", purpose: "the table that gives a frame its priority, on the register bus", latency: "4 cycles", inside: []graph.Describer{front},
		params: []graph.Param{{Name: "AXIL_W", Value: p.AxilW}, {Name: "PAGE", Value: p.Page}, {Name: "WIDTH", Value: p.Width}},
		ports:  append(page.Bus(p.AxilW), leaf.Out("priorities", contract.PriorityEntries*p.Width))}
	rules := leaf.NewRules(m.name)
	front.Refuse(rules)
	refuseWidth(rules, p.Width)
	return m.module(rules)
}

// Class is inc_priority_class: finds a frame's priority. Its contract is the head of inc_priority_class.v.
type Class struct {
	// Bytes: bytes of a beat, a power of two, at least 8.
	Bytes int
	// Width: bits of a priority, 1 to 3.
	Width int
	// Err: 1 if a frame has err beside its last beat, else 0.
	Err int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Class) Module() (*graph.Module, error) {
	m := part{name: "inc_priority_class", purpose: "finds a frame's priority", latency: "1 cycle",
		params: []graph.Param{{Name: "BYTES", Value: p.Bytes}, {Name: "WIDTH", Value: p.Width}, {Name: "ERR", Value: p.Err}}}
	rules := leaf.NewRules(m.name)
	refuseErr(rules, p.Err)
	rules.Refuse(p.Bytes < 8 || p.Bytes != leaf.Pow2(leaf.Clog2(p.Bytes)), "BYTES must be a power of two, at least 8")
	refuseWidth(rules, p.Width)
	n := 1 << min(max(p.Width, 0), 3)
	depth := 1
	if p.Bytes == 8 {
		depth = 2
	}
	m.inside = []graph.Describer{stream.FIFO{Width: 9*p.Bytes + 1 + p.Err, DepthW: depth}, stream.FIFO{Width: 7, DepthW: depth}}
	m.ports = []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1),
		leaf.In("s_axis_tdata", 8*p.Bytes), leaf.In("s_axis_tkeep", p.Bytes), leaf.In("s_axis_tvalid", 1), leaf.Out("s_axis_tready", 1), leaf.In("s_axis_tlast", 1), leaf.In("s_err", 1),
		leaf.In("priorities", contract.PriorityEntries*p.Width),
		leaf.Out("m_axis_tdata", 8*p.Bytes), leaf.Out("m_axis_tkeep", p.Bytes), leaf.Out("m_axis_tvalid", n), leaf.In("m_axis_tready", n), leaf.Out("m_axis_tlast", 1), leaf.Out("m_err", 1)}
	return m.module(rules)
}

// Pick is inc_priority_pick: which frame leaves next. Its contract is the head of inc_priority_pick.v.
type Pick struct {
	// Bytes: bytes of a beat, at least 1.
	Bytes int
	// Priorities: 2 to 8.
	Priorities int
	// Err: 1 if a frame has err beside its last beat, else 0.
	Err int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Pick) Module() (*graph.Module, error) {
	n := p.Priorities
	m := part{name: "inc_priority_pick", purpose: "which frame leaves next", latency: "0 cycles", streams: []graph.Stream{{Name: "m_axis", Dir: graph.Out}},
		params: []graph.Param{{Name: "BYTES", Value: p.Bytes}, {Name: "PRIORITIES", Value: n}, {Name: "ERR", Value: p.Err}},
		ports: []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1),
			leaf.In("s_axis_tdata", n*8*p.Bytes), leaf.In("s_axis_tkeep", n*p.Bytes), leaf.In("s_axis_tvalid", n), leaf.Out("s_axis_tready", n), leaf.In("s_axis_tlast", n), leaf.In("s_err", n),
			leaf.In("pause", n),
			leaf.Out("m_axis_tdata", 8*p.Bytes), leaf.Out("m_axis_tkeep", p.Bytes), leaf.Out("m_axis_tvalid", 1), leaf.In("m_axis_tready", 1), leaf.Out("m_axis_tlast", 1), leaf.Out("m_err", 1)}}
	rules := leaf.NewRules(m.name)
	refuseErr(rules, p.Err)
	rules.Refuse(p.Bytes < 1, "BYTES must be at least 1")
	refuseNumber(rules, n)
	return m.module(rules)
}

// Count is inc_priority_count: the events of several queues for one counter. Its contract is the head of inc_priority_count.v.
type Count struct {
	// Priorities: 2 to 8.
	Priorities int
}

// Module describes it, or says every reason why the parameters are illegal.
func (p Count) Module() (*graph.Module, error) {
	m := part{name: "inc_priority_count", purpose: "the events of several queues for one counter", latency: "1 cycle",
		params: []graph.Param{{Name: "PRIORITIES", Value: p.Priorities}},
		ports:  []graph.Port{leaf.In("clk", 1), leaf.In("rst", 1), leaf.In("events", p.Priorities), leaf.Out("count", 1)}}
	rules := leaf.NewRules(m.name)
	refuseNumber(rules, p.Priorities)
	return m.module(rules)
}

func refuseWidth(rules *leaf.Rules, width int) {
	rules.Refuse(width < 1 || width > 3, "WIDTH must be 1 to 3")
}

func refuseErr(rules *leaf.Rules, err int) {
	rules.Refuse(err < 0 || err > 1, "ERR must be 0 or 1")
}

func refuseNumber(rules *leaf.Rules, n int) {
	rules.Refuse(n < 2 || n > 8, "PRIORITIES must be 2 to 8")
}

// part is a module of this folder.
type part struct {
	name, purpose, latency string
	params                 []graph.Param
	ports                  []graph.Port
	inside                 []graph.Describer
	streams                []graph.Stream
}

func (p part) module(rules *leaf.Rules) (*graph.Module, error) {
	if err := rules.Err(); err != nil {
		return nil, err
	}
	source, err := leaf.Source(files, p.name)
	if err != nil {
		return nil, err
	}
	m := &graph.Module{Name: p.name, Block: "", Source: source, Latency: p.latency, Purpose: p.purpose, Params: p.params, Ports: p.ports, Streams: p.streams}
	for _, d := range p.inside {
		sub, err := d.Module()
		if err != nil {
			return nil, err
		}
		m.Submodules = append(m.Submodules, sub)
	}
	return m, nil
}
