// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"

	"incforge/contract"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/stream"
	"incforge/rtlgen/params"
)

// portQueues puts a queue of frames between every port and the arbiter or the demultiplexer, and the ports' counters before the engine's
// registers (docs/ports.md).
type portQueues struct {
	rx, tx []*graph.Instance
	regs   *graph.Instance
}

func addPortQueues(c *graph.Composite, p params.Params, addrBits int) portQueues {
	d := p.Derived()
	q := portQueues{regs: c.Add("u_port_regs", stream.PortRegs{AxilW: addrBits, Ports: p.Ports, Kinds: len(contract.PortCounters())})}
	for i := range p.Ports {
		q.rx = append(q.rx, c.Add(fmt.Sprintf("u_rx_p%d", i), stream.PortRx{PortBytes: p.PortBytes, Bytes: p.BusBytes, DepthW: d.PortAddrBits,
			MaxBytes: d.PortFrameBytes, Stall: contract.PortHangCycles, Drop: leaf.Bit(p.PortDrop)}))
		q.tx = append(q.tx, c.Add(fmt.Sprintf("u_tx_p%d", i), stream.PortTx{PortBytes: p.PortBytes, Bytes: p.BusBytes, DepthW: d.PortAddrBits,
			Drop: leaf.Bit(p.PortDrop)}))
	}
	return q
}

// wire connects the queues with the ports outside, the arbiter, the demultiplexer and the registers of the engine.
func (q portQueues) wire(c *graph.Composite, p params.Params, arbiter, demux, engine *graph.Instance) {
	beat := graph.Shape{Data: 8 * p.PortBytes, Keep: p.PortBytes, Last: true}
	marked := beat
	marked.User = 1
	pause := c.Input("port_pause", p.Ports, graph.Doc("while a port's bit is high, it begins no frame; one that has begun goes on"))
	high := c.Output("port_high", p.Ports, graph.Doc("half of the port's queue on the way in is taken"))
	end := c.Output("mon_rx_end", p.Ports, graph.Doc("the end of a frame was seen on the way in"))
	drop := c.Output("mon_rx_drop", p.Ports, graph.Doc("that frame was dropped"))
	for i := range p.Ports {
		rx, tx := q.rx[i], q.tx[i]
		c.ConnectStream(c.InputStream(fmt.Sprintf("s_axis_p%d", i), marked, graph.Doc(fmt.Sprintf("frames in from port %d, tuser = err", i))), rx.Stream("s_axis"))
		c.ConnectStream(tx.Stream("m_axis"), c.OutputStream(fmt.Sprintf("m_axis_p%d", i), beat, graph.Doc(fmt.Sprintf("frames out to port %d", i))))
		c.Connect(pause.Bit(i), tx.Pin("pause"))
		c.Connect(rx.Pin("high"), high.Bit(i))
		c.Connect(rx.Pin("mon_end"), end.Bit(i))
		c.Connect(rx.Pin("mon_drop"), drop.Bit(i))
		for _, signal := range []string{"tdata", "tkeep", "tvalid", "tlast"} {
			at := func(inst *graph.Instance, name string) graph.Pin {
				w := rx.Pin("m_axis_" + signal).Width()
				return inst.Pin(name+signal).Slice((i+1)*w-1, i*w)
			}
			c.Connect(rx.Pin("m_axis_"+signal), at(arbiter, "s_axis_"))
			c.Connect(at(demux, "m_axis_"), tx.Pin("s_axis_"+signal))
		}
		c.Tie(arbiter.Pin("s_axis_tuser").Bit(i), 0)
		c.Open(demux.Pin("m_axis_tuser").Bit(i), "no frame with err reaches the engine")
		c.Connect(arbiter.Pin("s_axis_tready").Bit(i), rx.Pin("m_axis_tready"))
		c.Connect(tx.Pin("s_axis_tready"), demux.Pin("m_axis_tready").Bit(i))
		for k, pin := range []graph.Pin{rx.Pin("count_frame"), rx.Pin("count_error"), rx.Pin("count_long"), rx.Pin("count_hung"), rx.Pin("count_full"),
			tx.Pin("count_frame"), tx.Pin("count_full")} {
			c.Connect(pin, q.regs.Pin("count").Bit(i*len(contract.PortCounters())+k))
		}
	}
	c.Link(c, q.regs, "s_axil_")
	c.Link(q.regs, c, "s_axil_")
	c.LinkAs(q.regs, "m_axil_", engine, "s_axil_")
	c.LinkAs(engine, "s_axil_", q.regs, "m_axil_")
}
