// SPDX-License-Identifier: Apache-2.0

package abuse

import (
	"slices"

	"incforge/contract"
	"incforge/inc"
	"incforge/roce"
	"incforge/verify/rig"
)

// needInterrupts is for scenarios of the interrupt line.
func needInterrupts(p contract.Params) string {
	if !p.Interrupts {
		return "needs interrupts"
	}
	return ""
}

// caller watches a page of interrupts: IRQ of an engine, or PORT_IRQ.
type caller struct {
	e      *rig.Engine
	page   string
	engine int
}

// interrupts has everything happen that a scenario can bring about, one after the other. Each sets its own cause and no other; ECC's are the
// business of scenario ecc, and time-outs of pipe-timers, after which the scoreboard compares the causes as after every scenario.
func interrupts(t *rig.T) {
	g := t.Star()
	c := &caller{e: g.E, page: "IRQ", engine: g.Index / t.Params.Groups}
	c.onlyThese()
	send := func(f rig.Frame) func() { return func() { g.E.Exchange(f) } }
	for _, x := range []struct {
		cause inc.Cause
		does  func()
	}{
		{inc.CauseDamaged, send(damaged(first(g), func(f *rig.Frame) { f.Data[24] ^= 1 }))},
		{inc.CauseForeign, send(first(g, func(p *roce.Packet) { p.SrcIP[3] ^= 1 }))},
		{inc.CauseIllegal, send(first(g, func(p *roce.Packet) { p.TVer = 1 }))},
		{inc.CauseRefused, func() { c.refusedGroup(g) }},
		{inc.CauseFailed, func() { c.ends(g) }},
	} {
		if !slices.ContainsFunc(t.Params.Causes(), func(known contract.Cause) bool { return known.Name == x.cause.String() }) {
			continue
		}
		t.In(x.cause.String(), func() {
			x.does()
			c.onlyThese(x.cause.String())
			c.raises(x.cause.String())
			c.onlyThese()
		})
	}
	for _, m := range g.Members() { // and nothing of what goes well is a cause
		g.E.Put(g.Data(m, g.Start(), g.Noise(16)))
	}
	g.E.Settle()
	c.onlyThese()
}

// refusedGroup starts the group with slots that there are not, and then as it was.
func (c *caller) refusedGroup(g *rig.Group) {
	legal := g.Set
	g.Set.SlotBase = c.e.T.Params.Slots()
	if g.TryProgram() {
		c.e.T.Fatalf("a group without slots was enabled")
	}
	g.Set = legal
	g.Program()
}

// ends has endpoint 0 of the group refuse what it was sent, and starts the group anew.
func (c *caller) ends(g *rig.Group) {
	for _, m := range g.Members() {
		c.e.Put(g.Data(m, g.Start(), g.Noise(16)))
	}
	for _, o := range c.e.SettleAsIs() {
		if p, err := o.Packet(); err == nil && p.Op.IsSend() && g.Addressee(o.Port, p) == 0 {
			c.e.Put(g.AETH(0, p.PSN, roce.NAKRemoteOperational))
			break
		}
	}
	c.e.SettleAsIs()
	if c.e.Read("GROUP_FAILED", g.Index) != 1 {
		c.e.T.Fatalf("GROUP_FAILED is not endpoint 0")
	}
	g.Program()
}

// onlyThese checks which causes are set.
func (c *caller) onlyThese(names ...string) {
	var want uint32
	for _, name := range names {
		want |= c.e.T.Field(c.page+"_CAUSE", name).Put(1)
	}
	if got := c.e.Read(c.page+"_CAUSE", c.engine); got != want {
		c.e.T.Fatalf("%s_CAUSE is %#x, expected %#x", c.page, got, want)
	}
}

// raises checks that the line follows a cause that is set: enabled, all others enabled, cleared.
func (c *caller) raises(name string) {
	bit := c.e.T.Field(c.page+"_CAUSE", name).Put(1)
	line := func(when string, want bool) {
		c.e.StepTo(c.e.Now() + 8)
		if c.e.Interrupt() != want {
			c.e.T.Fatalf("%s %s: the line is high: %v", name, when, !want)
		}
	}
	set := c.e.Read(c.page+"_CAUSE", c.engine)
	line("is not enabled", false)
	c.e.Write(c.page+"_ENABLE", c.engine, ^set)
	line("is the only one that is not enabled", false)
	c.e.Write(c.page+"_ENABLE", c.engine, bit)
	line("is enabled", true)
	c.e.Write(c.page+"_CLEAR", c.engine, ^bit)
	line("was not cleared", true)
	c.e.Write(c.page+"_CLEAR", c.engine, bit)
	line("was cleared", false)
	c.e.Write(c.page+"_ENABLE", c.engine, 0)
}
