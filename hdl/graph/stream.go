// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"strings"
)

// Shape says which signals a stream has besides tvalid and how wide they are, in
// bits; 0 leaves the signal out.
type Shape struct {
	Data, Keep, Strb, ID, Dest, User, Side int

	Last    bool // tlast
	NoReady bool // no tready: the sink always takes
}

// width returns the width of one signal, 0 when the stream has none.
func (s Shape) width(signal string) int {
	bit := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	switch signal {
	case "tdata":
		return s.Data
	case "tkeep":
		return s.Keep
	case "tstrb":
		return s.Strb
	case "tlast":
		return bit(s.Last)
	case "tid":
		return s.ID
	case "tdest":
		return s.Dest
	case "tuser":
		return s.User
	case "tside":
		return s.Side
	case "tvalid":
		return 1
	case "tready":
		return bit(!s.NoReady)
	default:
		return 0
	}
}

// ShapeOf returns the shape of a module's stream; ports that are missing count as 0.
func (m *Module) ShapeOf(stream string) Shape { return shapeOf(m.StreamPorts(stream), stream) }

func shapeOf(ports []Port, stream string) Shape {
	s := Shape{NoReady: true}
	for _, p := range ports {
		switch strings.TrimPrefix(p.Name, stream+"_") {
		case "tdata":
			s.Data = p.Width
		case "tkeep":
			s.Keep = p.Width
		case "tstrb":
			s.Strb = p.Width
		case "tlast":
			s.Last = true
		case "tid":
			s.ID = p.Width
		case "tdest":
			s.Dest = p.Width
		case "tuser":
			s.User = p.Width
		case "tside":
			s.Side = p.Width
		case "tready":
			s.NoReady = false
		}
	}
	return s
}

// StreamPorts returns the ports of a stream called name with the given shape, seen
// from a module for which it has direction dir, in the order of Module.StreamPorts.
// Leaf descriptions use it to list their ports.
func StreamPorts(name string, dir Dir, shape Shape) []Port {
	var out []Port
	for _, sig := range streamSignals() {
		w := shape.width(sig)
		if w == 0 {
			continue
		}
		d := dir
		if sig == "tready" {
			d = opposite(dir)
		}
		out = append(out, Port{Name: name + "_" + sig, Dir: d, Width: w})
	}
	return out
}

// StreamEnd is a stream of an instance or of the composite, to connect.
type StreamEnd struct {
	c    *Composite
	inst *Instance // nil: the composite itself
	name string
	dir  Dir
	bad  bool
}

// StreamLink is one ConnectStream, for diagrams.
type StreamLink struct {
	From, To             *Instance // nil: the composite itself
	FromStream, ToStream string
	Shape                Shape
}

// InputStream declares the ports of a stream that enters the composite.
func (c *Composite) InputStream(name string, shape Shape, opts ...PortOption) StreamEnd {
	return c.addStream(name, In, shape, opts)
}

// OutputStream declares the ports of a stream that leaves the composite.
func (c *Composite) OutputStream(name string, shape Shape, opts ...PortOption) StreamEnd {
	return c.addStream(name, Out, shape, opts)
}

func (c *Composite) addStream(name string, dir Dir, shape Shape, opts []PortOption) StreamEnd {
	end := StreamEnd{c: c, name: name, dir: dir}
	whole := Port{}
	for _, o := range opts {
		o(&whole)
	}
	for _, p := range StreamPorts(name, dir, shape) {
		if pin := c.addPort(p.Name, p.Dir, p.Width, append(slices.Clone(opts), Doc(streamDoc(p.Name, name)))); pin.bad {
			end.bad = true
		}
	}
	c.streams = append(c.streams, Stream{Name: name, Dir: dir, Doc: whole.Doc})
	return end
}

// streamDoc is the doc line of one stream signal.
func streamDoc(port, stream string) string {
	switch strings.TrimPrefix(port, stream+"_") {
	case "tdata":
		return "bytes of the beat, the first in [7:0]"
	case "tkeep":
		return "one bit a byte that counts"
	case "tstrb":
		return "one bit a byte that is data"
	case "tlast":
		return "last beat of the frame"
	case "tid":
		return "stream identifier"
	case "tdest":
		return "destination"
	case "tuser":
		return "sideband"
	case "tside":
		return "packed sideband"
	case "tvalid":
		return "the beat is offered"
	case "tready":
		return "the beat is taken"
	default:
		return ""
	}
}

// Stream returns a stream of the composite itself.
func (c *Composite) Stream(name string) StreamEnd {
	for _, s := range c.streams {
		if s.Name == name {
			return StreamEnd{c: c, name: name, dir: s.Dir}
		}
	}
	c.fail("%s has no stream %q", c.name, name)
	return StreamEnd{c: c, bad: true}
}

// Stream returns a stream of the instance.
func (i *Instance) Stream(name string) StreamEnd {
	if i.bad {
		return StreamEnd{c: i.c, inst: i, bad: true}
	}
	if s, ok := i.Module.Stream(name); ok {
		return StreamEnd{c: i.c, inst: i, name: name, dir: s.Dir}
	}
	i.c.fail("%s (%s) has no stream %q", i.path(), i.Module.Name, name)
	return StreamEnd{c: i.c, inst: i, bad: true}
}

// String returns the path of the stream, for example "mini_core/u_parser.s_axis".
func (s StreamEnd) String() string { return s.c.pathOf(s.inst) + "." + s.name }

// Shape returns the signals of the stream and their widths.
func (s StreamEnd) Shape() Shape {
	if s.bad {
		return Shape{}
	}
	return shapeOf(s.ports(), s.name)
}

// Pin returns one signal of the stream, for example Pin("tdata").
func (s StreamEnd) Pin(signal string) Pin {
	if s.bad {
		return Pin{c: s.c, bad: true}
	}
	if s.inst != nil {
		return s.inst.Pin(s.name + "_" + signal)
	}
	return s.c.Pin(s.name + "_" + signal)
}

func (s StreamEnd) ports() []Port {
	var out []Port
	for _, sig := range streamSignals() {
		if p, ok := findPort(s.c.portsOf(s.inst), s.name+"_"+sig); ok {
			out = append(out, p)
		}
	}
	return out
}

// drives tells whether beats come out of this end, seen from inside the composite.
func (s StreamEnd) drives() bool { return (s.dir == Out) == (s.inst != nil) }

// ConnectStream joins all signals of two streams; both must have the same ones
// with the same widths. Beats flow from the first to the second, tready back.
func (c *Composite) ConnectStream(from, to StreamEnd) {
	pos := caller()
	if from.c != c || to.c != c {
		c.failAt(pos, "connect stream %s to %s: both must belong to %s", from, to, c.name)
		return
	}
	if from.bad || to.bad {
		c.poisonStream(from)
		c.poisonStream(to)
		return
	}
	before := len(c.errs)
	if !from.drives() {
		c.failAt(pos, "connect stream %s to %s: %s is not a source", from, to, from)
	}
	if to.drives() {
		c.failAt(pos, "connect stream %s to %s: %s is not a sink", from, to, to)
	}
	a, b := from.Shape(), to.Shape()
	for _, sig := range streamSignals() {
		wa, wb := a.width(sig), b.width(sig)
		switch {
		case wa == wb:
		case wb == 0:
			c.failAt(pos, "connect stream %s to %s: %s has %s, %s has not", from, to, from, sig, to)
		case wa == 0:
			c.failAt(pos, "connect stream %s to %s: %s has %s, %s has not", from, to, to, sig, from)
		default:
			c.failAt(pos, "connect stream %s to %s: %s is %s on one side and %s on the other", from, to, sig, bits(wa), bits(wb))
		}
	}
	if len(c.errs) > before {
		c.poisonStream(from)
		c.poisonStream(to)
		return
	}
	for _, sig := range streamSignals() {
		switch {
		case a.width(sig) == 0:
		case sig == "tready":
			c.connect(pos, to.Pin(sig), from.Pin(sig))
		default:
			c.connect(pos, from.Pin(sig), to.Pin(sig))
		}
	}
	c.links = append(c.links, StreamLink{From: from.inst, To: to.inst, FromStream: from.name, ToStream: to.name, Shape: a})
}

func (c *Composite) poisonStream(s StreamEnd) {
	if s.bad {
		return
	}
	for _, p := range s.ports() {
		c.poison(c.whole(s.inst, p), Pin{})
	}
}
