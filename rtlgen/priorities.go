// SPDX-License-Identifier: Apache-2.0

package rtlgen

import (
	"fmt"

	"incforge/contract"
	"incforge/hdl/cdc"
	"incforge/hdl/graph"
	"incforge/hdl/leaf"
	"incforge/hdl/priority"
	"incforge/rtlgen/params"
)

// priorities are what a port with a queue for each priority has beside them: before the queues what finds a frame's priority, behind them what
// chooses whose turn it is, and for all ports the table (docs/ports.md).
type priorities struct {
	regs        *graph.Instance
	class, pick []*graph.Instance
	// resets take the reset to a port's clock, where it has one.
	resets []*graph.Instance
	// counts are the queues' events of a port as one, by the name of their pin.
	counts map[string][]*graph.Instance
}

func addPriorities(c *graph.Composite, p params.Params, addrBits int) *priorities {
	if p.Priorities == 1 {
		return nil
	}
	width := p.Contract().PriorityBits()
	x := &priorities{regs: c.Add("u_priority_regs", priority.At(addrBits, contract.PriorityBase, width)), counts: map[string][]*graph.Instance{}}
	for i := range p.Ports {
		x.class = append(x.class, c.Add(fmt.Sprintf("u_class_p%d", i), priority.Class{Bytes: p.BusBytes, Width: width, Err: leaf.Bit(p.ECCAll)}))
		x.pick = append(x.pick, c.Add(fmt.Sprintf("u_pick_p%d", i), priority.Pick{Bytes: p.Contract().PortWidth(i), Priorities: p.Priorities, Err: leaf.Bit(p.ECCAll)}))
		c.Connect(x.regs.Pin("priorities"), x.class[i].Pin("priorities"))
		if len(p.PortClockMHz) > 0 {
			x.resets = append(x.resets, c.Add(fmt.Sprintf("u_reset_p%d", i), cdc.Reset{}))
		}
		for _, name := range []string{"count_frame", "count_full"} {
			x.counts[name] = append(x.counts[name], c.Add(fmt.Sprintf("u_%s_p%d", name, i), priority.Count{Priorities: p.Priorities}))
		}
	}
	return x
}

// out connects a port's queues on the way out, and returns what frames enter by and the stream by which they leave.
func (q *portQueues) out(c *graph.Composite, port int, side portSide) (enter *graph.Instance, leave graph.StreamEnd) {
	for _, tx := range q.tx[port] {
		if side.clock != nil {
			c.Connect(*side.clock, tx.Pin("port_clk"))
		}
	}
	x := q.priorities
	if x == nil {
		tx := q.tx[port][0]
		c.Connect(side.pause, tx.Pin("pause"))
		return tx, tx.Stream("m_axis")
	}
	class, pick := x.class[port], x.pick[port]
	if q.codes == nil {
		c.Tie(class.Pin("s_err"), 0)
		c.Tie(pick.Pin("s_err"), 0)
		c.Open(class.Pin("m_err"), "no frame has err")
		c.Open(pick.Pin("m_err"), "no frame has err")
	}
	if side.clock != nil {
		reset := x.resets[port]
		c.Connect(*side.clock, pick.Pin("clk"), reset.Pin("far_clk"))
		c.Connect(reset.Pin("far_rst"), pick.Pin("rst"))
		c.Open(reset.Pin("near_rst"), "the queues have their own")
	}
	c.Connect(side.pause, pick.Pin("pause"))
	for k, tx := range q.tx[port] {
		c.Tie(tx.Pin("pause"), 0)
		for _, signal := range []string{"tdata", "tkeep", "tlast"} {
			c.Connect(class.Pin("m_axis_"+signal), tx.Pin("s_axis_"+signal))
			w := tx.Pin("m_axis_" + signal).Width()
			c.Connect(tx.Pin("m_axis_"+signal), pick.Pin("s_axis_"+signal).Slice((k+1)*w-1, k*w))
		}
		c.Connect(class.Pin("m_axis_tvalid").Bit(k), tx.Pin("s_axis_tvalid"))
		c.Connect(tx.Pin("s_axis_tready"), class.Pin("m_axis_tready").Bit(k))
		c.Connect(tx.Pin("m_axis_tvalid"), pick.Pin("s_axis_tvalid").Bit(k))
		c.Connect(pick.Pin("s_axis_tready").Bit(k), tx.Pin("m_axis_tready"))
		for name, of := range x.counts {
			c.Connect(tx.Pin(name), of[port].Pin("events").Bit(k))
		}
	}
	return class, pick.Stream("m_axis")
}

// sent is what the queues of a port on the way out count.
func (q *portQueues) sent(port int, name string) graph.Pin {
	if q.priorities == nil {
		return q.tx[port][0].Pin(name)
	}
	return q.priorities.counts[name][port].Pin("count")
}

// bus joins the register bus of the top with the ports' registers, behind the blocks of registers that there are besides.
func (q *portQueues) bus(c *graph.Composite, p params.Params) {
	var blocks []*graph.Instance
	if q.priorities != nil {
		blocks = append(blocks, q.priorities.regs)
	}
	if q.interrupts != nil {
		blocks = append(blocks, q.interrupts)
		q.calls(c, p)
	}
	if q.codes != nil {
		blocks = append(blocks, q.codes.regs)
	}
	blocks = append(blocks, q.regs)
	chain(c, blocks...)
}
