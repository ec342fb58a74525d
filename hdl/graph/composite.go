// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Composite is a module under construction. Its calls never fail at once: they
// record what is wrong, and Build reports all of it.
//
// Latency, Block, Notes and Docs of streams are plain data that may be set at any
// time before Build.
type Composite struct {
	Latency string   // as in Module
	Block   string   // as in Module
	Notes   []string // lines for the header comment: the parameters this was made from

	name, purpose string
	ports         []Port
	streams       []Stream
	instances     []*Instance
	broadcast     []string              // clocks and resets, joined by name at Build
	clocks        map[string]bool       // ports made by Clock
	sinks         map[portKey][]segment // what drives the bits of each sink
	used          map[portKey][]bool    // which bits of each source are read
	opened        []Opened
	links         []StreamLink
	bundles       []Bundle
	errs          Errors
	change        func(*Module) (*Module, error)
	built         bool
	refused       bool // an instance was refused; what only it would read is not reported
}

// Instance is one use of a module inside a composite.
type Instance struct {
	Name   string
	Module *Module

	c   *Composite
	bad bool
	pos string
}

// Node is what a bundle of like-named ports can start or end at: an *Instance, or
// the *Composite itself.
type Node interface {
	// Pin returns the named port.
	Pin(name string) Pin

	node() (c *Composite, inst *Instance)
}

// Describer is a leaf's parameter struct: it knows its module, or why its
// parameters are illegal.
type Describer interface {
	Module() (*Module, error)
}

// DescriberFunc makes a function a Describer.
type DescriberFunc func() (*Module, error)

// Module calls the function.
func (f DescriberFunc) Module() (*Module, error) { return f() }

type portKey struct {
	inst *Instance // nil: a port of the composite
	port string
}

// segment says what drives bits hi..lo of a sink.
type segment struct {
	hi, lo int
	src    []Part // most significant first; nil after a mistake, so that it is reported once
	from   string
	pos    string
}

// Opened is a run of bits left unread on purpose.
type Opened struct {
	Part   Part
	Reason string
	pos    string
}

// NewComposite starts a module that joins instances of others.
func NewComposite(name, purpose string) *Composite {
	return &Composite{
		name: name, purpose: purpose,
		clocks: map[string]bool{},
		sinks:  map[portKey][]segment{},
		used:   map[portKey][]bool{},
	}
}

// PortOption refines a port of a composite.
type PortOption func(*Port)

// Doc sets the line that describes the port.
func Doc(text string) PortOption { return func(p *Port) { p.Doc = text } }

// OnClock sets the port's clock, a port of the composite made by Clock, or Async.
func OnClock(name string) PortOption { return func(p *Port) { p.Clock = name } }

func (c *Composite) fail(format string, args ...any) {
	c.failAt(caller(), format, args...)
}

func (c *Composite) failAt(pos, format string, args ...any) {
	c.errs = append(c.errs, &Error{Pos: pos, Text: fmt.Sprintf(format, args...)})
}

// Input declares an input of the composite; its Pin drives things inside.
func (c *Composite) Input(name string, width int, opts ...PortOption) Pin {
	return c.addPort(name, In, width, opts)
}

// Output declares an output of the composite; its Pin is to be driven from inside.
func (c *Composite) Output(name string, width int, opts ...PortOption) Pin {
	return c.addPort(name, Out, width, opts)
}

// Clock declares a clock input. Build joins it to every like-named input that
// nothing else drives.
func (c *Composite) Clock(name string, opts ...PortOption) Pin {
	c.clocks[name] = true
	c.broadcast = append(c.broadcast, name)
	return c.addPort(name, In, 1, opts)
}

// Reset declares a reset input, synchronous to its clock. Build joins it to every
// like-named input that nothing else drives.
func (c *Composite) Reset(name string, opts ...PortOption) Pin {
	c.broadcast = append(c.broadcast, name)
	return c.addPort(name, In, 1, opts)
}

func (c *Composite) addPort(name string, dir Dir, width int, opts []PortOption) Pin {
	p := Port{Name: name, Dir: dir, Width: width}
	for _, o := range opts {
		o(&p)
	}
	if why := CheckName(name); why != "" {
		return Pin{c: c}.fail("port of %s: %s", c.name, why)
	}
	if width < 1 {
		return Pin{c: c}.fail("port %s.%s: width is %d bits, must be at least 1", c.name, name, width)
	}
	if slices.ContainsFunc(c.ports, func(q Port) bool { return q.Name == name }) {
		return Pin{c: c}.fail("port %s.%s: the name is taken by another port", c.name, name)
	}
	c.ports = append(c.ports, p)
	return c.whole(nil, p)
}

func (c *Composite) whole(inst *Instance, p Port) Pin {
	return Pin{c: c, parts: []Part{{Inst: inst, Port: p.Name, Hi: p.Width - 1}}}
}

// Pin returns a port of the composite itself.
func (c *Composite) Pin(name string) Pin {
	if p, ok := c.ownPort(name); ok {
		return c.whole(nil, p)
	}
	return Pin{c: c}.fail("%s has no port %q", c.name, name)
}

func (c *Composite) ownPort(name string) (Port, bool) {
	for _, p := range c.ports {
		if p.Name == name {
			return p, true
		}
	}
	return Port{}, false
}

func (c *Composite) node() (*Composite, *Instance) { return c, nil }

// Instance adds an instance of a module.
func (c *Composite) Instance(name string, m *Module) *Instance {
	inst := &Instance{Name: name, Module: m, c: c, pos: caller()}
	if m == nil {
		c.fail("instance %s/%s: the module is nil", c.name, name)
		return c.badInstance(inst)
	}
	if why := CheckName(name); why != "" {
		c.fail("instance of %s in %s: %s", m.Name, c.name, why)
		return c.badInstance(inst)
	}
	if slices.ContainsFunc(c.instances, func(o *Instance) bool { return o.Name == name }) {
		c.fail("instance %s/%s: the name is taken by another instance", c.name, name)
		return c.badInstance(inst)
	}
	if err := m.Check(); err != nil {
		c.fail("instance %s/%s: %v", c.name, name, err)
		return c.badInstance(inst)
	}
	c.instances = append(c.instances, inst)
	return inst
}

// Change has Add take, in the place of a module, what f makes of it.
func (c *Composite) Change(f func(*Module) (*Module, error)) { c.change = f }

// Instances are those added so far, in their order.
func (c *Composite) Instances() []*Instance { return slices.Clone(c.instances) }

// Add adds an instance of the module that d describes, or records why d is illegal.
func (c *Composite) Add(name string, d Describer) *Instance {
	m, err := d.Module()
	if err == nil && c.change != nil {
		m, err = c.change(m)
	}
	if err != nil {
		inst := &Instance{Name: name, Module: m, c: c, pos: caller()}
		c.fail("instance %s/%s: %v", c.name, name, err)
		return c.badInstance(inst)
	}
	return c.Instance(name, m)
}

func (c *Composite) badInstance(inst *Instance) *Instance {
	inst.bad = true
	c.refused = true
	if inst.Module == nil {
		inst.Module = &Module{Name: "?"}
	}
	return inst
}

func (i *Instance) path() string { return i.c.name + "/" + i.Name }

func (i *Instance) node() (*Composite, *Instance) { return i.c, i }

// Pin returns a port of the instance.
func (i *Instance) Pin(name string) Pin {
	if i.bad {
		return Pin{c: i.c, bad: true}
	}
	if p, ok := i.Module.Port(name); ok {
		return i.c.whole(i, p)
	}
	return Pin{c: i.c}.fail("%s (%s) has no port %q", i.path(), i.Module.Name, name)
}

// portOf returns the declaration of the port that a part is taken from.
func (c *Composite) portOf(part Part) Port {
	var p Port
	if part.Inst != nil {
		p, _ = part.Inst.Module.Port(part.Port)
	} else {
		p, _ = c.ownPort(part.Port)
	}
	return p
}

// Connect drives every pin of to from the bits of from. Widths must be equal.
func (c *Composite) Connect(from Pin, to ...Pin) {
	pos := caller()
	if len(to) == 0 {
		c.failAt(pos, "connect %s: nothing to connect it to", from)
	}
	for _, t := range to {
		c.connect(pos, from, t)
	}
}

// Tie drives a pin with a constant.
func (c *Composite) Tie(pin Pin, value uint64) {
	pos := caller()
	if pin.bad {
		c.connect(pos, Pin{c: c, bad: true}, pin)
		return
	}
	if w := pin.Width(); w < 64 && value>>w != 0 {
		c.failAt(pos, "tie %s to %d: the value does not fit in %d bits", pin, value, w)
		c.poison(Pin{}, pin)
		return
	}
	c.connect(pos, Const(pin.Width(), value), pin)
}

func (c *Composite) connect(pos string, from, to Pin) {
	c.errs = append(c.errs, from.late...)
	c.errs = append(c.errs, to.late...)
	if from.bad || to.bad || !c.owns(pos, from) || !c.owns(pos, to) {
		c.poison(from, to)
		return
	}
	ok := true
	for _, part := range from.parts {
		if p := c.portOf(part); !part.IsConst() && (p.Dir == Out) != (part.Inst != nil) {
			c.failAt(pos, "connect %s to %s: %s cannot drive, it is an %s", from, to, from.partPath(part), role(part, p))
			ok = false
		}
	}
	for _, part := range to.parts {
		if part.IsConst() {
			c.failAt(pos, "connect %s to %s: a constant cannot be driven", from, to)
			ok = false
		} else if p := c.portOf(part); (p.Dir == In) != (part.Inst != nil) {
			c.failAt(pos, "connect %s to %s: %s cannot be driven, it is an %s", from, to, to.partPath(part), role(part, p))
			ok = false
		}
	}
	if ok && from.Width() != to.Width() {
		c.failAt(pos, "connect %s to %s: widths differ (%s and %s)", from, to, bits(from.Width()), bits(to.Width()))
		ok = false
	}
	if !ok {
		c.poison(from, to)
		return
	}
	c.markUsed(from.parts)
	lo := to.Width()
	for _, part := range to.parts {
		hi := lo - 1
		lo -= part.Width()
		c.drive(part, segment{hi: part.Hi, lo: part.Lo, src: sliceParts(from.parts, hi, lo), from: from.String(), pos: pos}, to)
	}
}

// owns refuses pins of another composite: instances belong to one.
func (c *Composite) owns(pos string, p Pin) bool {
	foreign := p.c != nil && p.c != c
	for _, part := range p.parts {
		foreign = foreign || part.Inst != nil && part.Inst.c != c
	}
	if foreign {
		c.failAt(pos, "%s belongs to another composite than %s", p, c.name)
	}
	return !foreign
}

func role(part Part, p Port) string {
	if part.Inst != nil {
		return p.Dir.String() + "put of the instance"
	}
	return p.Dir.String() + "put of the composite"
}

func bits(n int) string {
	if n == 1 {
		return "1 bit"
	}
	return fmt.Sprintf("%d bits", n)
}

func (c *Composite) drive(part Part, seg segment, to Pin) {
	key := portKey{part.Inst, part.Port}
	for _, old := range c.sinks[key] {
		if old.lo <= seg.hi && seg.lo <= old.hi {
			if old.src != nil && seg.src != nil {
				c.failAt(seg.pos, "connect %s to %s: already driven by %s (%s)", seg.from, to, old.from, old.pos)
			}
			return
		}
	}
	c.sinks[key] = append(c.sinks[key], seg)
}

func (c *Composite) markUsed(parts []Part) {
	for _, part := range parts {
		if part.IsConst() {
			continue
		}
		key := portKey{part.Inst, part.Port}
		if c.used[key] == nil {
			c.used[key] = make([]bool, c.portOf(part).Width)
		}
		for b := part.Lo; b <= part.Hi; b++ {
			c.used[key][b] = true
		}
	}
}

// poison marks both ends of a refused connection as dealt with, so that one
// mistake is one message.
func (c *Composite) poison(from, to Pin) {
	for _, p := range []Pin{from, to} {
		for _, part := range p.parts {
			if part.IsConst() || part.Inst != nil && part.Inst.c != c || part.Inst == nil && p.c != c {
				continue
			}
			if p := c.portOf(part); (p.Dir == Out) == (part.Inst != nil) {
				c.markUsed([]Part{part})
				continue
			}
			key := portKey{part.Inst, part.Port}
			c.sinks[key] = append(c.sinks[key], segment{hi: part.Hi, lo: part.Lo})
		}
	}
}

// Open says that nothing reads these bits, and why.
func (c *Composite) Open(pin Pin, reason string) {
	pos := caller()
	c.errs = append(c.errs, pin.late...)
	if pin.bad || !c.owns(pos, pin) {
		return
	}
	if strings.TrimSpace(reason) == "" {
		c.failAt(pos, "open %s: a reason is required", pin)
	}
	for _, part := range pin.parts {
		if p := c.portOf(part); part.IsConst() || (p.Dir == Out) != (part.Inst != nil) {
			c.failAt(pos, "open %s: only outputs of instances and inputs of the composite can be left open", pin)
			c.poison(Pin{}, pin)
			return
		}
		c.opened = append(c.opened, Opened{Part: part, Reason: reason, pos: pos})
	}
}

// Bundle is a group of like-named ports joined by Link.
type Bundle struct {
	From, To *Instance // nil: the composite itself
	Prefix   string
	Bits     int // sum of the widths
}

// Link joins every port of a that can drive and whose name begins with prefix to
// the like-named port of b. A port without partner is an error, and so is a
// prefix that nothing has. Inputs of b that a does not have stay to be driven.
func (c *Composite) Link(a, b Node, prefix string) { c.link(a, b, prefix, prefix) }

// LinkAs is Link where b's names begin with another prefix than a's: port
// PREFIX_A+x goes to PREFIX_B+x.
func (c *Composite) LinkAs(a Node, prefixA string, b Node, prefixB string) {
	c.link(a, b, prefixA, prefixB)
}

func (c *Composite) link(a, b Node, prefixA, prefixB string) {
	pos := caller()
	ca, ia := a.node()
	cb, ib := b.node()
	if ca != c || cb != c {
		c.failAt(pos, "link %q: both ends must belong to %s", prefixA, c.name)
		return
	}
	if ia != nil && ia.bad || ib != nil && ib.bad {
		return
	}
	bundle := Bundle{From: ia, To: ib, Prefix: prefixA}
	for _, p := range c.portsOf(ia) {
		rest, ok := strings.CutPrefix(p.Name, prefixA)
		if !ok || (p.Dir == Out) != (ia != nil) {
			continue
		}
		from := c.whole(ia, p)
		q, ok := findPort(c.portsOf(ib), prefixB+rest)
		if !ok || (q.Dir == In) != (ib != nil) {
			c.failAt(pos, "link %s: %s has no port %s to take it", from, c.pathOf(ib), prefixB+rest)
			c.poison(from, Pin{})
			continue
		}
		bundle.Bits += p.Width
		c.connect(pos, from, c.whole(ib, q))
	}
	if bundle.Bits == 0 {
		c.failAt(pos, "link %q: %s drives no port of that prefix which %s takes", prefixA, c.pathOf(ia), c.pathOf(ib))
		return
	}
	c.bundles = append(c.bundles, bundle)
}

func (c *Composite) portsOf(inst *Instance) []Port {
	if inst != nil {
		return inst.Module.Ports
	}
	return c.ports
}

func (c *Composite) pathOf(inst *Instance) string {
	if inst != nil {
		return inst.path()
	}
	return c.name
}

func findPort(ports []Port, name string) (Port, bool) {
	for _, p := range ports {
		if p.Name == name {
			return p, true
		}
	}
	return Port{}, false
}
