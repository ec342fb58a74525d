// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"

	"incforge/contract"
	"incforge/hdl/engines"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/rtlgen/params"
)

// crossbar is what joins several engines with one set of ports (docs/engines.md). A frame goes from its port's steer to the output of the
// crossbar that leads into its engine, or round the engines; what leaves goes from each engine's fan to the output that leads onto its port.
type crossbar struct {
	p      params.Params
	d      params.Derived
	c      *graph.Composite
	steers []*graph.Instance // by port
	into   []*graph.Instance // by engine; the last leads round them
	fans   []*graph.Instance // by engine; the last is of what went round
	onto   []*graph.Instance // by port
}

// withEngines wraps several of a core: one pair of streams a port, a crossbar to all of them and one register space.
func withEngines(p params.Params, model contract.Model, core *graph.Module) (*graph.Module, error) {
	d := p.Derived()
	c := graph.NewComposite(p.Name+"_switch", fmt.Sprintf("%d of %s with one pair of AXI4-Streams for each of %d ports", p.Engines, core.Name, p.Ports))
	c.Change(withQueueCodes(p))
	ports(c, model.AddrBits)
	cores := make([]*graph.Instance, p.Engines)
	for e := range cores {
		cores[e] = c.Instance(fmt.Sprintf("u_e%d", e), core)
	}
	x := newCrossbar(c, p, d)
	regs, err := engineRegs(c, p, model)
	if err != nil {
		return nil, err
	}
	round := c.Add("u_round", engines.Round{Ports: p.Ports, PortW: d.PortBits, Bytes: p.BusBytes})
	for e, engine := range append(cores, round) {
		c.ConnectStream(x.into[e].Stream("m_axis"), engine.Stream("s_axis"))
		c.ConnectStream(engine.Stream("m_axis"), x.fans[e].Stream("s_axis"))
	}
	c.Connect(round.Pin("count_frame"), regs.Pin("count_round"))
	c.Connect(regs.Pin("exits"), round.Pin("exits"))
	for e, engine := range cores {
		windowOf(c, regs, engine, e)
	}
	var q *portQueues
	if p.PortBytes > 0 {
		q = addPortQueues(c, p, model.AddrBits)
		q.wire(c, p, func(port int, rx, tx *graph.Instance) { x.queued(q, port, rx, tx) }, regs)
	} else {
		x.plain()
		c.Link(c, regs, "s_axil_")
		c.Link(regs, c, "s_axil_")
	}
	line(c, p, cores, q)
	x.wire()
	x.monitor(cores)
	pins(c, p)
	return c.Build()
}

func newCrossbar(c *graph.Composite, p params.Params, d params.Derived) *crossbar {
	x := &crossbar{p: p, d: d, c: c}
	for i := range p.Ports {
		x.steers = append(x.steers, c.Add(fmt.Sprintf("u_steer_p%d", i), engines.Steer{Bytes: p.BusBytes, Engines: p.Engines, EIW: d.EIBits, Tags: p.VLAN}))
		x.onto = append(x.onto, c.Add(fmt.Sprintf("u_onto_p%d", i),
			engines.Cross{Inputs: p.Engines + 1, InputW: leaf.IndexBits(p.Engines + 1), Bytes: p.BusBytes}))
	}
	for e := range p.Engines + 1 {
		name := fmt.Sprintf("e%d", e)
		if e == p.Engines {
			name = "round"
		}
		x.into = append(x.into, c.Add("u_into_"+name, engines.Cross{Inputs: p.Ports, InputW: d.PortBits, Bytes: p.BusBytes}))
		x.fans = append(x.fans, c.Add("u_from_"+name, engines.Fan{Ports: p.Ports, PortW: d.PortBits, Bytes: p.BusBytes}))
	}
	return x
}

// engineRegs adds what makes one register space of the engines'.
func engineRegs(c *graph.Composite, p params.Params, model contract.Model) (*graph.Instance, error) {
	one, err := contract.NewModel(p.OneEngine().Contract())
	if err != nil {
		return nil, err
	}
	snapshot, err := one.Registers.Register("COUNTER_SNAPSHOT")
	if err != nil {
		return nil, err
	}
	return c.Add("u_engine_regs", engines.Regs{AxilW: model.AddrBits, EngW: one.AddrBits, Engines: p.Engines, Ports: p.Ports, PortW: p.Derived().PortBits,
		Counters: len(model.Counters), RX: contract.CounterIndex(p.Mode, "RX_FRAMES"), Bypass: contract.CounterIndex(p.Mode, "BYPASS"),
		Snapshot: int(snapshot.Offset)}), nil
}

// windowOf connects an engine's registers.
func windowOf(c *graph.Composite, regs, engine *graph.Instance, e int) {
	for _, s := range axil {
		at := regs.Pin("m_axil_" + s.name)
		shared := !s.out && s.bits != 1 // an address or data of a request
		if w := engine.Pin("s_axil_" + s.name).Width(); !shared {
			at = at.Slice((e+1)*w-1, e*w)
		}
		if s.out {
			c.Connect(engine.Pin("s_axil_"+s.name), at)
		} else {
			c.Connect(at, engine.Pin("s_axil_"+s.name))
		}
	}
}

// wire connects what leads in and out of the crossbar with each other.
func (x *crossbar) wire() {
	x.join(x.steers, x.into)
	x.join(x.fans, x.onto)
}

// join connects every source with every output of the crossbar that it may want.
func (x *crossbar) join(sources, outputs []*graph.Instance) {
	for to, output := range outputs {
		for from, source := range sources {
			for _, signal := range []string{"tdata", "tkeep", "tlast", "tuser"} {
				w := source.Pin("m_" + signal).Width()
				x.c.Connect(source.Pin("m_"+signal), output.Pin("s_"+signal).Slice((from+1)*w-1, from*w))
			}
			x.c.Connect(source.Pin("want").Bit(to), output.Pin("want").Bit(from))
			x.c.Connect(output.Pin("take").Bit(from), source.Pin("take").Bit(to))
		}
	}
}

// plain leads the streams of ports as wide as the bus to and from the crossbar.
func (x *crossbar) plain() {
	beat := graph.Shape{Data: 8 * x.p.BusBytes, Keep: x.p.BusBytes, Last: true, User: 1}
	for i := range x.p.Ports {
		in := x.c.InputStream(fmt.Sprintf("s_axis_p%d", i), beat, graph.Doc(fmt.Sprintf("frames in from port %d, tuser = err", i)))
		x.c.ConnectStream(in, x.steers[i].Stream("s_axis"))
		out := x.c.OutputStream(fmt.Sprintf("m_axis_p%d", i), beat, graph.Doc(fmt.Sprintf("frames out to port %d, tuser = err", i)))
		x.leave(i, out.Pin, "")
		x.c.Connect(x.onto[i].Pin("m_axis_tuser").Bit(0), out.Pin("tuser"))
	}
}

// leave connects the output of the crossbar that leads onto a port, but for the error bit, and leaves open who it was that sent.
func (x *crossbar) leave(port int, to func(signal string) graph.Pin, prefix string) {
	onto := x.onto[port]
	for _, signal := range []string{"tdata", "tkeep", "tvalid", "tlast"} {
		x.c.Connect(onto.Pin("m_axis_"+signal), to(prefix+signal))
	}
	x.c.Connect(to(prefix+"tready"), onto.Pin("m_axis_tready"))
	sender := onto.Pin("m_axis_tuser")
	x.c.Open(sender.Slice(sender.Width()-1, 1), "a port does not know of engines")
	x.c.Open(onto.Pin("mon_valid"), "of the ways in alone")
	x.c.Open(onto.Pin("mon_port"), "of the ways in alone")
}

// queued joins the queues of a port with the crossbar.
func (x *crossbar) queued(q *portQueues, port int, rx, tx *graph.Instance) {
	steer := x.steers[port]
	for _, signal := range []string{"tdata", "tkeep", "tvalid", "tlast"} {
		x.c.Connect(rx.Pin("m_axis_"+signal), steer.Pin("s_axis_"+signal))
	}
	x.c.Connect(steer.Pin("s_axis_tready"), rx.Pin("m_axis_tready"))
	q.entersWith(x.c, port, steer.Pin("s_axis_tuser"))
	x.leave(port, tx.Pin, "s_axis_")
	q.leavesWith(x.c, port, x.onto[port].Pin("m_axis_tuser").Bit(0), "no frame with err reaches an engine")
}

// monitor leads out what the engines report, engine 0 lowest; of the frames that enter, those that go round are the highest.
func (x *crossbar) monitor(cores []*graph.Instance) {
	packed := func(from []*graph.Instance, name string) graph.Pin {
		pins := make([]graph.Pin, len(from))
		for i, inst := range from {
			pins[len(from)-1-i] = inst.Pin(name)
		}
		return graph.Concat(pins...)
	}
	n := x.p.Engines + 1
	x.c.Connect(packed(x.into, "mon_valid"), x.c.Output("mon_valid", n, graph.Doc("a frame's last beat enters an engine, or goes round them")))
	x.c.Connect(packed(x.into, "mon_port"), x.c.Output("mon_port", n*x.d.PortBits, graph.Doc("the port that it came from")))
	if x.p.Mode != 2 {
		for _, o := range monitor(x.d) {
			x.c.Connect(packed(cores, o.name), x.c.Output(o.name, x.p.Engines*o.bits, graph.Doc(o.doc+", engine by engine")))
		}
	}
}
