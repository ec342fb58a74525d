// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"slices"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/interrupts"
	"incforge/hdl/leaf"
	"incforge/rtlgen/params"
)

// irqPort is the name of the interrupt line in both tops.
const irqPort = "irq"

// registerBus joins the register bus of a core with the first of its blocks of registers, behind those of the memories' errors and of the interrupts, if there are any.
func (b *blocks) registerBus(c *graph.Composite, first *graph.Instance) {
	all := []*graph.Instance{first}
	if b.interrupts != nil {
		all = append([]*graph.Instance{b.interrupts}, all...)
	}
	if b.guard != nil { // accesses wait until it has cleared the memories
		all = append([]*graph.Instance{b.guard.regs}, all...)
	}
	chain(c, all...)
}

// chain joins the register bus of a top with blocks of registers, one behind the other.
func chain(c *graph.Composite, blocks ...*graph.Instance) {
	c.Link(c, blocks[0], "s_axil_")
	c.Link(blocks[0], c, "s_axil_")
	for i, next := range blocks[1:] {
		c.LinkAs(blocks[i], "m_axil_", next, "s_axil_")
		c.LinkAs(next, "s_axil_", blocks[i], "m_axil_")
	}
}

// irqOutput is the interrupt line out of a top.
func irqOutput(c *graph.Composite) graph.Pin {
	return c.Output(irqPort, 1, graph.Doc("interrupt: high while a cause is set that is enabled"))
}

// addInterrupts adds the registers of an engine's interrupts.
func addInterrupts(c *graph.Composite, p params.Params, addrBits int) *graph.Instance {
	return c.Add("u_interrupts", interrupts.At(addrBits, contract.InterruptBase, len(p.Contract().Causes())))
}

// calls connects the causes of an engine's interrupts with the blocks that report them, and the line.
func (b *blocks) calls(c *graph.Composite, p params.Params, refused, failed *graph.Instance) {
	names := blockCounters(p)
	count := b.count()
	if b.tags != nil {
		count = b.tags.check.Pin("counted")
	}
	of := map[string]graph.Pin{"ECC_CORRECTED": b.aggregate.Pin("count_corrected"), "ECC_DOUBLE": b.aggregate.Pin("count_double")}
	if b.tags != nil {
		of["DROP_VLAN"] = b.tags.check.Pin("dropped")
	}
	var events []graph.Pin
	for _, cause := range p.Contract().Causes() {
		var from []graph.Pin
		rise := false
		switch cause.Name {
		case contract.CauseRefused:
			from = []graph.Pin{refused.Pin("grp_refused"), refused.Pin("grp_overlap")}
		case contract.CauseFailed:
			from, rise = []graph.Pin{failed.Pin("grp_failed")}, true
		}
		for _, name := range cause.Counters {
			pin, ok := of[name]
			if !ok {
				pin = count.Bit(slices.Index(names, name))
			}
			from = append(from, pin)
			if name == "ECC_CORRECTED" && b.guard != nil {
				from = append(from, b.guard.regs.Pin("any_fixed"))
			}
			if name == "ECC_DOUBLE" && b.guard != nil {
				from = append(from, b.guard.regs.Pin("any_lost"))
			}
		}
		events = append(events, happens(c, "u_event_"+cause.Name, rise, from...))
	}
	slices.Reverse(events) // bit 0 is the last of a concatenation
	c.Connect(graph.Concat(events...), b.interrupts.Pin("events"))
	c.Connect(b.interrupts.Pin(irqPort), irqOutput(c))
}

// happens is one event of several.
func happens(c *graph.Composite, name string, rise bool, from ...graph.Pin) graph.Pin {
	all := graph.Concat(from...)
	event := c.Add(name, interrupts.Event{Width: all.Width(), Rise: leaf.Bit(rise)})
	c.Connect(all, event.Pin("from"))
	return event.Pin("happens")
}

// line leads the interrupt lines of a switch's engines out, and that of its ports' queues, if they have one.
func line(c *graph.Composite, p params.Params, engines []*graph.Instance, q *portQueues) {
	if !p.Interrupts {
		return
	}
	var lines []graph.Pin
	for _, e := range engines {
		lines = append(lines, e.Pin(irqPort))
	}
	if q != nil {
		lines = append(lines, q.interrupts.Pin(irqPort))
	}
	if len(lines) == 1 {
		c.Connect(lines[0], irqOutput(c))
		return
	}
	c.Connect(happens(c, "u_irq", false, lines...), irqOutput(c))
}

// calls connects the causes of the ports' interrupts with what their queues count.
func (q *portQueues) calls(c *graph.Composite, p params.Params) {
	var events []graph.Pin
	for _, cause := range p.Contract().PortCauses() {
		var from []graph.Pin
		for i := range q.rx {
			for _, name := range cause.Counters {
				from = append(from, q.count(i, name))
			}
		}
		events = append(events, happens(c, "u_event_"+cause.Name, false, from...))
	}
	slices.Reverse(events)
	c.Connect(graph.Concat(events...), q.interrupts.Pin("events"))
}
