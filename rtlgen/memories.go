// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"slices"

	"incforge/contract"
	"incforge/hdl/ecc"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/parser"
	"incforge/hdl/thread"
	"incforge/rtlgen/params"
)

// changes is what becomes of the blocks of a top: check bits on their memories, except those of inc_csr and what protects itself, and pins on all.
func changes(p params.Params) func(*graph.Module) (*graph.Module, error) {
	return func(m *graph.Module) (*graph.Module, error) {
		var err error
		if p.ECCAll && m.Name != contract.Unprotected {
			if m, err = ecc.Protect(m); err != nil {
				return nil, err
			}
		}
		return withMemoryPins(p)(m)
	}
}

// withMemoryPins is what becomes of the blocks of a top whose memories get pins alone.
func withMemoryPins(p params.Params) func(*graph.Module) (*graph.Module, error) {
	return func(m *graph.Module) (*graph.Module, error) {
		if p.MemoryPins == 0 {
			return m, nil
		}
		return withPins(m, p.MemoryPins)
	}
}

// withPins leads further pins to all memories in a block.
func withPins(m *graph.Module, n int) (*graph.Module, error) {
	pins := []thread.Signal{{Name: contract.MemoryPort, Width: n, Doc: "further pins of all memories"}}
	return thread.Through(m, thread.Spec{Signals: pins, End: func(_, m *graph.Module) (*graph.Module, error) {
		if !slices.Contains([]string{"inc_ram_1r1w", "inc_ram_1rw", "inc_ram_2c"}, m.Name) {
			return nil, nil
		}
		return thread.Ended(m, pins)
	}})
}

// pins leads the further pins of all memories in a top out of it.
func pins(c *graph.Composite, p params.Params) {
	if p.MemoryPins == 0 {
		return
	}
	from := c.Input(contract.MemoryPort, p.MemoryPins, graph.OnClock(graph.Async), graph.Doc("further pins of all memories, for tests and power"))
	for _, inst := range c.Instances() {
		if _, ok := inst.Module.Port(contract.MemoryPort); ok {
			c.Connect(from, inst.Pin(contract.MemoryPort))
		}
	}
}

// guard is what stands beside the blocks of an engine with check bits on all memories. A nil one stands for an engine without, in which
// what it stands between is joined directly.
type guard struct {
	regs, contain *graph.Instance
}

// idleBits is log2 of the cycles after which an engine that makes no frame has none inside: more than the longest payload takes to be added,
// reduced and written.
const idleBits = 11

// addGuard adds the registers and what contains lost words, when all blocks with memories but Control are there.
func addGuard(c *graph.Composite, p params.Params, addrBits int) *guard {
	if !p.ECCAll {
		return nil
	}
	d := p.Derived()
	halts, longest := 0, max(d.EIBits, 2) // Control, which comes later, has a word an endpoint
	for i, k := range contract.MemoryKinds() {
		halts |= leaf.Bit(k.Halts) << i
	}
	for _, inst := range c.Instances() {
		for _, mem := range inst.Module.Memories {
			if _, ok := inst.Module.Port("ecc_at"); ok && mem.Role != "payload" {
				longest = max(longest, leaf.Clog2(mem.Words))
			}
		}
	}
	return &guard{
		regs:    c.Add("u_ecc", ecc.Regs{AxilW: addrBits, Kinds: len(contract.MemoryKinds()), Halts: halts, Groups: p.Groups, AtW: longest, IdleW: idleBits}.At(contract.MemoryBase)),
		contain: c.Add("u_contain", ecc.Contain{Width: 8*p.BusBytes + leaf.Clog2(p.BusBytes) + d.PortBits + tagBits(p), Groups: p.Groups}),
	}
}

// live is which groups live, for the blocks that decide.
func (b *blocks) live() graph.Pin {
	if b.guard == nil {
		return b.slots.Pin("grp_live")
	}
	return b.guard.contain.Pin("live")
}

// bypass is whether a frame that was looked up leaves unchanged. The other blocks take it for bypassed even if it does not.
func (b *blocks) bypass() graph.Pin {
	if b.guard == nil {
		return b.lookup.Pin("fwd_bypass")
	}
	return b.guard.contain.Pin("bypass")
}

// ways connects where frames go that are not the engine's.
func (b *blocks) ways(c *graph.Composite) {
	if b.guard == nil {
		c.Link(b.lookup, b.send, "fwd_")
		return
	}
	c.Connect(b.lookup.Pin("fwd_valid"), b.send.Pin("fwd_valid"))
	c.Connect(b.bypass(), b.send.Pin("fwd_bypass"))
	c.Connect(b.lookup.Pin("fwd_port"), b.send.Pin("fwd_port"))
}

// rooms are the signals that tell that a frame may come in.
func (b *blocks) rooms() graph.Pin {
	all := []graph.Pin{b.csrs.Pin("ready"), b.send.Pin("room"), b.packets.Pin("room"), b.lookup.Pin("room")}
	if b.guard != nil {
		all = append([]graph.Pin{b.guard.regs.Pin("ready")}, all...)
	}
	if b.turn != nil {
		all = append(all, b.turn.Pin("room"))
	}
	return graph.Concat(all...)
}

// leave connects what puts the ICRC on the engine's frames with what shares the output.
func (b *blocks) leave(c *graph.Composite) {
	from, to := b.icrcInsert, b.send
	if b.guard == nil {
		c.LinkAs(from, "m_", to, "eng_")
		c.LinkAs(to, "eng_", from, "m_")
		return
	}
	through := b.guard.contain
	c.Connect(from.Pin("m_valid"), through.Pin("s_valid"), b.guard.regs.Pin("moves"))
	c.Connect(through.Pin("s_ready"), from.Pin("m_ready"))
	c.Connect(from.Pin("m_last"), through.Pin("s_last"))
	c.Connect(graph.Concat(from.Pin("m_port"), from.Pin("m_size"), from.Pin("m_data")), through.Pin("s_data"))
	c.Connect(through.Pin("m_valid"), to.Pin("eng_valid"))
	c.Connect(to.Pin("eng_ready"), through.Pin("m_ready"))
	c.Connect(through.Pin("m_last"), to.Pin("eng_last"))
	c.Connect(through.Pin("m_data"), graph.Concat(to.Pin("eng_port"), to.Pin("eng_size"), to.Pin("eng_data")))
}

// protect connects the memories of all blocks with what counts their errors, and what stops the engine.
func (g *guard) protect(c *graph.Composite, b *blocks) {
	if g == nil {
		return
	}
	fixed, lost := map[string][]graph.Pin{}, map[string][]graph.Pin{}
	for _, inst := range c.Instances() {
		if _, ok := inst.Module.Port("ecc_lost"); !ok {
			continue
		}
		kind := contract.MemoryKindOf(inst.Name)
		one, two := inst.Pin("ecc_fixed"), inst.Pin("ecc_lost")
		if inst == b.lookup || b.tags != nil && inst == b.tags.check { // they read for every frame
			one, two = b.where(c, inst.Name+"_fixed", one), b.where(c, inst.Name+"_lost", two)
		}
		if inst == b.lookup {
			c.Connect(two, g.contain.Pin("look_lost"))
		}
		fixed[kind], lost[kind] = append(fixed[kind], one), append(lost[kind], two)
		c.Connect(g.regs.Pin("mem_rst"), inst.Pin("ecc_rst"))
		c.Connect(g.regs.Pin("init"), inst.Pin("ecc_init"))
		c.Connect(g.regs.Pin("at"), inst.Pin("ecc_at"))
	}
	for i, k := range contract.MemoryKinds() {
		if len(lost[k.Name]) == 0 { // its queue is in flip-flops
			c.Tie(g.regs.Pin("fixed").Bit(i), 0)
			c.Tie(g.regs.Pin("lost").Bit(i), 0)
			continue
		}
		anyOf(c, "u_fixed_"+k.Name, fixed[k.Name], g.regs.Pin("fixed").Bit(i))
		anyOf(c, "u_lost_"+k.Name, lost[k.Name], g.regs.Pin("lost").Bit(i))
	}
	c.Connect(b.slots.Pin("grp_live"), g.regs.Pin("live"), g.contain.Pin("live_in"))
	c.Connect(g.regs.Pin("halt"), g.contain.Pin("halt"))
	c.Connect(b.csrs.Pin("ready"), g.regs.Pin("tables_ready"))
	c.Connect(b.lookup.Pin("fwd_bypass"), g.contain.Pin("bypass_in"))
	if b.interrupts == nil {
		c.Open(g.regs.Pin("any_fixed"), "no interrupts")
		c.Open(g.regs.Pin("any_lost"), "no interrupts")
	}
}

// where is what tables say of a frame's header, where somebody looks.
func (b *blocks) where(c *graph.Composite, name string, says graph.Pin) graph.Pin {
	both := c.Add(name, parser.Gate{Width: 2})
	c.Connect(graph.Concat(says, b.lookup.Pin("looked")), both.Pin("each"))
	return both.Pin("all")
}

// anyOf drives a pin with what any of several says, and returns what drives it.
func anyOf(c *graph.Composite, name string, of []graph.Pin, to graph.Pin) graph.Pin {
	any := c.Add(name, ecc.Any{Width: len(of)})
	c.Connect(graph.Concat(of...), any.Pin("each"))
	c.Connect(any.Pin("any"), to)
	return any.Pin("any")
}
