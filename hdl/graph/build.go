// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Structure is what a built composite consists of. It must not be changed.
type Structure struct {
	Instances []*Instance
	Opened    []Opened     // bits left unread on purpose, in call order
	Links     []StreamLink // stream connections, in call order
	Bundles   []Bundle     // port groups joined by Link, in call order
	Notes     []string

	drivers map[portKey][]Part
	used    map[portKey][]bool
}

// Drivers returns what drives a sink, most significant first: an input of an
// instance, or (inst nil) an output of the composite.
func (s *Structure) Drivers(inst *Instance, port string) []Part {
	return s.drivers[portKey{inst, port}]
}

// Used tells whether bit b of a source is read: an output of an instance, or
// (inst nil) an input of the composite.
func (s *Structure) Used(inst *Instance, port string, b int) bool {
	u := s.used[portKey{inst, port}]
	return b < len(u) && u[b]
}

// Build checks the composite and returns it as a module, or every error at once
// (as Errors). A composite can be built once.
func (c *Composite) Build() (*Module, error) {
	if c.built {
		return nil, Errors{{Pos: caller(), Text: "build " + c.name + ": built twice"}}
	}
	c.built = true
	pos := caller()
	if why := CheckName(c.name); why != "" {
		c.failAt(pos, "composite: %s", why)
	}
	if len(c.instances) == 0 && !c.refused {
		c.failAt(pos, "build %s: no instances", c.name)
	}
	for _, s := range c.streams {
		if slices.ContainsFunc(c.instances, func(i *Instance) bool { return i.Name == s.Name }) {
			c.failAt(pos, "stream %s.%s: the name is taken by an instance", c.name, s.Name)
		}
	}
	for _, p := range c.ports {
		if slices.ContainsFunc(c.instances, func(i *Instance) bool { return i.Name == p.Name }) {
			c.failAt(pos, "port %s.%s: the name is taken by an instance", c.name, p.Name)
		}
		if p.Clock != "" && p.Clock != Async && !c.clocks[p.Clock] {
			c.failAt(pos, "port %s.%s: there is no clock %s", c.name, p.Name, p.Clock)
		}
	}
	c.joinBroadcast(pos)
	c.checkDriven(pos)
	c.checkRead(pos)
	c.checkClocks()
	if err := c.errs.Err(); err != nil {
		return nil, err
	}
	body := &Structure{
		Instances: c.instances, Opened: c.opened, Links: c.links, Bundles: c.bundles, Notes: c.Notes,
		drivers: map[portKey][]Part{}, used: c.used,
	}
	for key, segs := range c.sinks {
		var parts []Part
		for _, s := range sorted(segs) {
			parts = append(parts, s.src...)
		}
		body.drivers[key] = merge(parts)
	}
	m := &Module{
		Name: c.name, Purpose: c.purpose, Ports: c.ports, Streams: c.streams,
		Latency: c.Latency, Block: c.Block, body: body,
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, nil
}

// sorted returns segments from the most significant down.
func sorted(segs []segment) []segment {
	out := slices.Clone(segs)
	slices.SortFunc(out, func(a, b segment) int { return b.hi - a.hi })
	return out
}

// merge joins neighbours that are one run of the same port, or two constants that
// fit in 64 bits.
func merge(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if !p.IsConst() && last.Inst == p.Inst && last.Port == p.Port && last.Lo == p.Hi+1 {
				last.Lo = p.Lo
				continue
			}
			if p.IsConst() && last.IsConst() && p.Width()+last.Width() <= 64 {
				last.Value = last.Value<<p.Width() | p.Value
				last.Hi += p.Width()
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// joinBroadcast drives the undriven inputs called like a clock or reset of the
// composite.
func (c *Composite) joinBroadcast(pos string) {
	for _, name := range c.broadcast {
		p, ok := c.ownPort(name)
		if !ok {
			continue
		}
		from := c.whole(nil, p)
		for _, inst := range c.instances {
			q, ok := inst.Module.Port(name)
			if !ok || q.Dir != In || len(c.sinks[portKey{inst, name}]) > 0 {
				continue
			}
			c.connect(pos, from, c.whole(inst, q))
		}
	}
}

// eachPort calls f for every port of every instance and of the composite.
func (c *Composite) eachPort(f func(inst *Instance, p Port, sink bool)) {
	for _, inst := range c.instances {
		for _, p := range inst.Module.Ports {
			f(inst, p, p.Dir == In)
		}
	}
	for _, p := range c.ports {
		f(nil, p, p.Dir == Out)
	}
}

// runs returns the runs [hi, lo] of bits for which missing is true, highest first.
func runs(width int, missing func(b int) bool) [][2]int {
	var out [][2]int
	for b := width - 1; b >= 0; b-- {
		if !missing(b) {
			continue
		}
		if n := len(out); n > 0 && out[n-1][1] == b+1 {
			out[n-1][1] = b
			continue
		}
		out = append(out, [2]int{b, b})
	}
	return out
}

func (c *Composite) posOf(inst *Instance, build string) string {
	if inst != nil {
		return inst.pos
	}
	return build
}

func (c *Composite) checkDriven(build string) {
	c.eachPort(func(inst *Instance, p Port, sink bool) {
		if !sink {
			return
		}
		segs := c.sinks[portKey{inst, p.Name}]
		for _, r := range runs(p.Width, func(b int) bool {
			return !slices.ContainsFunc(segs, func(s segment) bool { return s.lo <= b && b <= s.hi })
		}) {
			c.failAt(c.posOf(inst, build), "%s: nothing drives it", c.whole(inst, p).Slice(r[0], r[1]))
		}
	})
}

func (c *Composite) checkRead(build string) {
	open := map[portKey][]bool{}
	for _, o := range c.opened {
		key := portKey{o.Part.Inst, o.Part.Port}
		p := c.portOf(o.Part)
		if open[key] == nil {
			open[key] = make([]bool, p.Width)
		}
		for b := o.Part.Lo; b <= o.Part.Hi; b++ {
			open[key][b] = true
		}
		used := c.used[key]
		for _, r := range runs(p.Width, func(b int) bool {
			return b >= o.Part.Lo && b <= o.Part.Hi && used != nil && used[b]
		}) {
			c.failAt(o.pos, "open %s: it is connected", c.whole(o.Part.Inst, p).Slice(r[0], r[1]))
		}
	}
	c.eachPort(func(inst *Instance, p Port, sink bool) {
		if sink || c.refused && inst == nil && slices.Contains(c.broadcast, p.Name) {
			return
		}
		key := portKey{inst, p.Name}
		for _, r := range runs(p.Width, func(b int) bool {
			return (c.used[key] == nil || !c.used[key][b]) && (open[key] == nil || !open[key][b])
		}) {
			c.failAt(c.posOf(inst, build), "%s: nothing reads it (Open says so on purpose)", c.whole(inst, p).Slice(r[0], r[1]))
		}
	})
}

// checkClocks refuses a source and a sink in different clock domains. A domain is
// the name of what drives the clock, seen in the composite. An instance without
// the clock its ports name is combinational: its outputs have the domain of its
// inputs, which must all be the same.
func (c *Composite) checkClocks() {
	dom := map[portKey]string{}
	c.eachPort(func(inst *Instance, p Port, sink bool) {
		if !sink {
			return
		}
		to := c.whole(inst, p)
		clockPin := inst != nil && inst.Module.isClock(p.Name)
		want := c.domain(dom, inst, p, nil)
		for _, s := range sorted(c.sinks[portKey{inst, p.Name}]) {
			for _, part := range s.src {
				if part.IsConst() {
					continue
				}
				src := c.portOf(part)
				fromClock := part.Inst == nil && c.clocks[part.Port]
				switch {
				case clockPin && part.Inst == nil && !fromClock:
					c.failAt(s.pos, "connect %s to %s: a clock input driven by a port not declared with Clock", s.from, to)
				case !clockPin && fromClock:
					c.failAt(s.pos, "connect %s to %s: a clock used as data", s.from, to)
				case !clockPin:
					have := c.domain(dom, part.Inst, src, nil)
					if have != want && have != Async && want != Async && have != "" && want != "" {
						c.failAt(s.pos, "connect %s to %s: clocks differ (%s and %s)", s.from, to, have, want)
					}
				}
			}
		}
	})
}

// domain returns the clock domain of a port: the driver of its clock pin, Async,
// or "" when nothing decides it (constants only, or a combinational loop).
func (c *Composite) domain(memo map[portKey]string, inst *Instance, p Port, visiting []*Instance) string {
	if p.Clock == Async {
		return Async
	}
	if inst == nil {
		if !c.clocks[p.clock()] {
			return ""
		}
		return p.clock()
	}
	if _, ok := inst.Module.Port(p.clock()); ok {
		segs := c.sinks[portKey{inst, p.clock()}]
		if len(segs) == 0 || len(segs[0].src) == 0 || segs[0].src[0].IsConst() {
			return ""
		}
		if src := segs[0].src[0]; src.Inst == nil {
			if !c.clocks[src.Port] {
				return "" // reported where it is connected
			}
			return src.Port
		}
		return segs[0].from
	}
	key := portKey{inst, ""}
	if d, ok := memo[key]; ok {
		return d
	}
	if slices.Contains(visiting, inst) {
		return ""
	}
	d := ""
	for _, q := range inst.Module.Ports {
		for _, s := range sorted(c.sinks[portKey{inst, q.Name}]) {
			for _, part := range s.src {
				if d != "" || part.IsConst() || q.Dir != In {
					continue
				}
				if have := c.domain(memo, part.Inst, c.portOf(part), append(visiting, inst)); have != Async {
					d = have
				}
			}
		}
	}
	if len(visiting) == 0 || d != "" {
		memo[key] = d
	}
	return d
}

// Dump writes the structure as text, one connection a line, for debugging. It
// works before Build, with the connections made so far.
func (c *Composite) Dump(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "composite %s\n", c.name)
	for _, p := range c.ports {
		fmt.Fprintf(&b, "  %-3s %s %s\n", p.Dir, p.Name, bits(p.Width))
	}
	for _, inst := range c.instances {
		fmt.Fprintf(&b, "instance %s of %s", inst.Name, inst.Module.Name)
		for _, p := range inst.Module.Params {
			fmt.Fprintf(&b, " %s=%d", p.Name, p.Value)
		}
		b.WriteString("\n")
	}
	c.eachPort(func(inst *Instance, p Port, sink bool) {
		if !sink {
			return
		}
		segs := sorted(c.sinks[portKey{inst, p.Name}])
		if len(segs) == 0 {
			fmt.Fprintf(&b, "  %s <- nothing\n", c.whole(inst, p))
		}
		for _, s := range segs {
			from := "mistake"
			if s.src != nil {
				from = Pin{c: c, parts: s.src}.String() + "  # " + s.pos
			}
			fmt.Fprintf(&b, "  %s <- %s\n", c.whole(inst, p).Slice(s.hi, s.lo), from)
		}
	})
	for _, o := range c.opened {
		fmt.Fprintf(&b, "  %s open: %s\n", Pin{c: c, parts: []Part{o.Part}}, o.Reason)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
