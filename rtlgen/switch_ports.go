// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"

	"incforge/contract"
	"incforge/hdl/cdc"
	"incforge/hdl/graph"
	"incforge/hdl/interrupts"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
	"incforge/rtlgen/params"
)

// portQueues puts a queue of frames between every port and the arbiter or the demultiplexer, and the ports' counters before the engine's
// registers (docs/ports.md). Where ports have clocks, these queues are the only place where clocks meet.
type portQueues struct {
	rx []*graph.Instance
	// tx are the queues on the way out, one a priority, by port.
	tx   [][]*graph.Instance
	regs *graph.Instance
	// interrupts are the registers of what queues dropped, if there is an interrupt line.
	interrupts *graph.Instance
	// priorities are what several queues on the way out need, nil if there is one.
	priorities *priorities
	// codes are what check bits on the queues' memories need, nil without them.
	codes *portCodes
}

func addPortQueues(c *graph.Composite, p params.Params, addrBits int) *portQueues {
	d := p.Derived()
	q := &portQueues{regs: c.Add("u_port_regs", stream.PortRegs{AxilW: addrBits, Ports: p.Ports, Kinds: len(contract.PortCounters())})}
	in := stream.PortRx{Bytes: p.BusBytes, DepthW: d.PortAddrBits, MaxBytes: d.PortFrameBytes, Stall: contract.PortHangCycles,
		Drop: leaf.Bit(p.PortDrop)}
	out := stream.PortTx{Bytes: p.BusBytes, DepthW: d.PortAddrBits, Drop: leaf.Bit(p.PortDrop)}
	cut := stream.PortTxCut{Bytes: p.BusBytes, DepthW: d.PortAddrBits, MaxBytes: d.PortFrameBytes, Start: d.PortStartWords, Drop: leaf.Bit(p.PortDrop)}
	for i := range p.Ports {
		width := p.Contract().PortWidth(i)
		in.PortBytes, out.PortBytes, cut.PortBytes = width, width, width
		var rx, tx graph.Describer = in, out
		clocked := len(p.PortClockMHz) > 0
		switch {
		case clocked && p.PortCutThrough:
			rx, tx = cdc.PortRx(in), cdc.PortTxCut(cut)
		case clocked:
			rx, tx = cdc.PortRx(in), cdc.PortTx(out)
		case p.PortCutThrough:
			tx = cut
		}
		q.rx = append(q.rx, c.Add(fmt.Sprintf("u_rx_p%d", i), rx))
		if p.Priorities == 1 {
			q.tx = append(q.tx, []*graph.Instance{c.Add(fmt.Sprintf("u_tx_p%d", i), tx)})
			continue
		}
		var queues []*graph.Instance
		for k := range p.Priorities {
			queues = append(queues, c.Add(fmt.Sprintf("u_tx_p%d_q%d", i, k), tx))
		}
		q.tx = append(q.tx, queues)
	}
	q.priorities = addPriorities(c, p, addrBits)
	q.addCodes(c, p, addrBits)
	if p.Interrupts {
		q.interrupts = c.Add("u_port_interrupts", interrupts.At(addrBits, contract.PortInterruptBase, len(p.Contract().PortCauses())))
	}
	return q
}

// portSide is what a port has beside its streams, and what puts those in the port's clock.
type portSide struct {
	clock                  *graph.Pin
	pause, high, end, drop graph.Pin
	on                     []graph.PortOption
}

// portSides makes them: signals with a bit a port, or, where ports have clocks, signals of each port.
func portSides(c *graph.Composite, p params.Params) []portSide {
	const pause, high = "while it is high, the port begins no frame; one that has begun goes on", "half of the port's queue on the way in is taken"
	const end, drop = "the end of a frame was seen on the way in", "that frame was dropped"
	each := ""
	if p.Priorities > 1 {
		each = fmt.Sprintf("; %d bits a port, one a priority", p.Priorities)
	}
	sides := make([]portSide, p.Ports)
	if len(p.PortClockMHz) == 0 {
		all := portSide{
			pause: c.Input("port_pause", p.Ports*p.Priorities, graph.Doc("while a port's bit is high, it begins no frame; one that has begun goes on"+each)),
			high:  c.Output("port_high", p.Ports, graph.Doc(high)),
			end:   c.Output("mon_rx_end", p.Ports, graph.Doc(end)),
			drop:  c.Output("mon_rx_drop", p.Ports, graph.Doc(drop)),
		}
		for i := range sides {
			sides[i] = portSide{pause: all.pause.Slice((i+1)*p.Priorities-1, i*p.Priorities), high: all.high.Bit(i), end: all.end.Bit(i), drop: all.drop.Bit(i)}
		}
		return sides
	}
	for i := range sides {
		name := contract.PortClock(i)
		clock, on := c.Clock(name, graph.Doc(fmt.Sprintf("clock of port %d", i))), graph.OnClock(name)
		signal := func(name string) string { return fmt.Sprintf("%s_p%d", name, i) }
		sides[i] = portSide{
			clock: &clock, on: []graph.PortOption{on},
			pause: c.Input(signal("port_pause"), p.Priorities, on, graph.Doc(pause+each)),
			high:  c.Output(signal("port_high"), 1, on, graph.Doc(high)),
			end:   c.Output(signal("mon_rx_end"), 1, on, graph.Doc(end)),
			drop:  c.Output(signal("mon_rx_drop"), 1, on, graph.Doc(drop)),
		}
	}
	return sides
}

// wire connects the queues with the ports outside, with what join joins those of a port to, and with the registers behind the ports'.
func (q *portQueues) wire(c *graph.Composite, p params.Params, join func(port int, rx, tx *graph.Instance), engine *graph.Instance) {
	sides := portSides(c, p)
	for i := range p.Ports {
		width := p.Contract().PortWidth(i)
		beat := graph.Shape{Data: 8 * width, Keep: width, Last: true}
		marked := beat
		marked.User = 1
		rx, side := q.rx[i], sides[i]
		enter, leave := q.out(c, i, side)
		c.ConnectStream(c.InputStream(fmt.Sprintf("s_axis_p%d", i), marked, append(side.on, graph.Doc(fmt.Sprintf("frames in from port %d, tuser = err", i)))...),
			rx.Stream("s_axis"))
		q.send(c, i, leave, beat, side)
		if side.clock != nil {
			c.Connect(*side.clock, rx.Pin("port_clk"))
		}
		c.Connect(rx.Pin("high"), side.high)
		c.Connect(rx.Pin("mon_end"), side.end)
		c.Connect(rx.Pin("mon_drop"), side.drop)
		join(i, rx, enter)
		for k, counter := range contract.PortCounters() {
			c.Connect(q.count(i, counter.Name), q.regs.Pin("count").Bit(i*len(contract.PortCounters())+k))
		}
	}
	q.bus(c, p)
	c.LinkAs(q.regs, "m_axil_", engine, "s_axil_")
	c.LinkAs(engine, "s_axil_", q.regs, "m_axil_")
}

// send leads what leaves by a port out of the top; with check bits on the queues it has err beside it.
func (q *portQueues) send(c *graph.Composite, port int, leave graph.StreamEnd, beat graph.Shape, side portSide) {
	name, doc := fmt.Sprintf("m_axis_p%d", port), fmt.Sprintf("frames out to port %d", port)
	if q.codes == nil {
		c.ConnectStream(leave, c.OutputStream(name, beat, append(side.on, graph.Doc(doc))...))
		return
	}
	beat.User = 1
	out := c.OutputStream(name, beat, append(side.on, graph.Doc(doc+", tuser = err"))...)
	for _, signal := range []string{"tdata", "tkeep", "tvalid", "tlast"} {
		c.Connect(leave.Pin(signal), out.Pin(signal))
	}
	c.Connect(out.Pin("tready"), leave.Pin("tready"))
	q.codes.wire(c, q, port, side)
}

// count is what steps a counter of a port.
func (q *portQueues) count(port int, counter string) graph.Pin {
	switch counter {
	case "PORT_TX_FRAMES":
		return q.sent(port, "count_frame")
	case "PORT_TX_FULL":
		return q.sent(port, "count_full")
	case contract.PortMemories().CorrectedRegister():
		return q.codes.fixed[port]
	case contract.PortMemories().LostRegister():
		return q.codes.lost[port]
	}
	return q.rx[port].Pin(map[string]string{"PORT_RX_FRAMES": "count_frame", "PORT_RX_ERROR": "count_error", "PORT_RX_LONG": "count_long",
		"PORT_RX_HUNG": "count_hung", "PORT_RX_FULL": "count_full"}[counter])
}

// turns joins the queues of a port with the arbiter and the demultiplexer of one engine.
func (q *portQueues) turns(c *graph.Composite, arbiter, demux *graph.Instance) func(port int, rx, tx *graph.Instance) {
	return func(i int, rx, tx *graph.Instance) {
		for _, signal := range []string{"tdata", "tkeep", "tvalid", "tlast"} {
			at := func(inst *graph.Instance, name string) graph.Pin {
				w := rx.Pin("m_axis_" + signal).Width()
				return inst.Pin(name+signal).Slice((i+1)*w-1, i*w)
			}
			c.Connect(rx.Pin("m_axis_"+signal), at(arbiter, "s_axis_"))
			c.Connect(at(demux, "m_axis_"), tx.Pin("s_axis_"+signal))
		}
		q.entersWith(c, i, arbiter.Pin("s_axis_tuser").Bit(i))
		q.leavesWith(c, i, demux.Pin("m_axis_tuser").Bit(i), "no frame with err reaches the engine")
		c.Connect(arbiter.Pin("s_axis_tready").Bit(i), rx.Pin("m_axis_tready"))
		c.Connect(tx.Pin("s_axis_tready"), demux.Pin("m_axis_tready").Bit(i))
	}
}
