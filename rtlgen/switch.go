// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/stream"
	"incforge/rtlgen/params"
)

// withPorts wraps a core: one pair of streams a port, a fair arbiter in, a demultiplexer out.
func withPorts(p params.Params, model contract.Model, core *graph.Module) (*graph.Module, error) {
	d := p.Derived()
	if p.Engines > 1 {
		return withEngines(p, model, core)
	}
	c := graph.NewComposite(p.Name+"_switch", fmt.Sprintf("%s with one pair of AXI4-Streams for each of %d ports", core.Name, p.Ports))
	c.Change(withQueueCodes(p))
	ports(c, model.AddrBits)
	engine := c.Instance("u_core", core)
	arbiter := c.Add("u_arbiter", stream.PortArbiter{Ports: p.Ports, PortW: d.PortBits, Bytes: p.BusBytes})
	demux := c.Add("u_demux", stream.PortDemux{Ports: p.Ports, PortW: d.PortBits, Bytes: p.BusBytes})
	var q *portQueues
	if p.PortBytes > 0 {
		q = addPortQueues(c, p, model.AddrBits)
		q.wire(c, p, q.turns(c, arbiter, demux), engine)
	} else {
		plainPorts(c, p, arbiter, demux)
		c.Link(c, engine, "s_axil_")
		c.Link(engine, c, "s_axil_")
	}
	line(c, p, []*graph.Instance{engine}, q)
	c.ConnectStream(arbiter.Stream("m_axis"), engine.Stream("s_axis"))
	c.ConnectStream(engine.Stream("m_axis"), demux.Stream("s_axis"))
	c.Output("mon_valid", 1, graph.Doc("a frame's last beat enters the core"))
	c.Output("mon_port", d.PortBits, graph.Doc("the port that it came from"))
	c.Link(arbiter, c, "mon_")
	if p.Mode != 2 {
		for _, o := range monitor(d) {
			c.Connect(engine.Pin(o.name), c.Output(o.name, o.bits, graph.Doc(o.doc)))
		}
	}
	pins(c, p)
	return c.Build()
}

// plainPorts leads the streams of ports as wide as the bus to the arbiter and from the demultiplexer.
func plainPorts(c *graph.Composite, p params.Params, arbiter, demux *graph.Instance) {
	beat := graph.Shape{Data: 8 * p.BusBytes, Keep: p.BusBytes, Last: true, User: 1}
	in := make([]graph.StreamEnd, p.Ports)
	out := make([]graph.StreamEnd, p.Ports)
	for i := range p.Ports {
		in[i] = c.InputStream(fmt.Sprintf("s_axis_p%d", i), beat, graph.Doc(fmt.Sprintf("frames in from port %d, tuser = err", i)))
		out[i] = c.OutputStream(fmt.Sprintf("m_axis_p%d", i), beat, graph.Doc(fmt.Sprintf("frames out to port %d, tuser = err", i)))
	}
	// port p at [p·width +: width], so the highest comes first
	packed := func(ends []graph.StreamEnd, signal string) graph.Pin {
		pins := make([]graph.Pin, len(ends))
		for i, end := range ends {
			pins[len(ends)-1-i] = end.Pin(signal)
		}
		return graph.Concat(pins...)
	}
	forward := []string{"tdata", "tkeep", "tvalid", "tlast", "tuser"}
	for _, signal := range forward {
		c.Connect(packed(in, signal), arbiter.Pin("s_axis_"+signal))
	}
	c.Connect(packed(out, "tready"), demux.Pin("m_axis_tready"))
	for i := range p.Ports {
		c.Connect(arbiter.Pin("s_axis_tready").Bit(i), in[i].Pin("tready"))
		for _, signal := range forward {
			w := out[i].Pin(signal).Width()
			c.Connect(demux.Pin("m_axis_"+signal).Slice((i+1)*w-1, i*w), out[i].Pin(signal))
		}
	}
}
